// The hashing of the page, outside of any page, against the vectors of the formats.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const vectors = (name) => JSON.parse(read(`tests/vectors/${name}.json`));
const source = ["sha256.js", "proof.js"].map((name) => read(`src/present/html/${name}`)).join("\n");
const { sha256, checkLines, checkSeals } = new Function(source + "; return { sha256, checkLines, checkSeals };")();

// The lines of a file; `undefined` for one that does not end in a newline.
const linesOf = (text) => (text.endsWith("\n") ? text.slice(0, -1).split("\n") : undefined);

export async function checkVectors() {
  for (let length = 0; length < 300; length++) {
    const bytes = new Uint8Array(length).map((_, at) => at * 7 + length);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"));
  }
  let sessions = 0,
    files = 0,
    seals = 0;
  for (const { schemes } of vectors("sessions")) {
    for (const [scheme, expected] of Object.entries(schemes)) {
      const found = await checkLines(
        linesOf(expected.evidence),
        expected.content_hashes,
        expected.genesis,
        (at, result) => {
          assert(result.ok, `${scheme}, line ${at}: ${result.what}`);
          if (at && expected.withheld.length === 0) assert.equal(result.hash, expected.content_hashes[at - 1]);
          if (at) assert.equal(result.chain, expected.chain_hashes[at - 1]);
        },
      );
      assert.deepEqual(
        [found.root, found.count, found.withheld],
        [expected.root, expected.count, expected.withheld.length],
      );
      sessions++;
    }
  }
  for (const { desc, trusted, evidence, valid } of vectors("evidence")) {
    const lines = linesOf(evidence);
    let holds = lines !== undefined && lines.length > 1;
    if (holds) {
      const found = await checkLines(lines, [], undefined, (_, result) => {
        holds = holds && result.ok;
      });
      holds = holds && found.root === trusted.root && found.count === trusted.count;
    }
    assert.equal(holds, valid, desc);
    files++;
  }
  const rounds = vectors("rounds").map(({ canonical, seal_hash }) => ({ text: canonical, hash: seal_hash }));
  for (let from = 0; from < rounds.length; from++) {
    await checkSeals(rounds.slice(from), (at, result) => {
      assert(result.ok, `seal ${from + at}: ${result.what}`);
      seals++;
    });
  }
  const missing = rounds.filter((_, at) => at !== 1);
  const broken = [];
  await checkSeals(missing, (at, result) => {
    if (!result.ok) broken.push(at);
  });
  assert.equal(broken[0], 1, "a chain with a gap");
  return `${sessions} sessions, ${files} evidence files, ${seals} seals`;
}
