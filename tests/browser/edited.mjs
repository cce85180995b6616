// Pages that someone edited: whatever was changed, the headline says that the page does not add up.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { open } from "./chromium.mjs";
import { BROKEN, altered, broken, claim, dataOf, escaped, good, openEverything, quiet, title } from "./page.mjs";
import { Project } from "./project.mjs";

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// The page with some of its text replaced; every replacement must find something.
const retold =
  (...replacements) =>
  (file) => {
    let html = readFileSync(file, "utf8");
    for (const [from, to] of replacements) {
      const other = html.replace(from, to);
      assert.notEqual(other, html, `${from} is not in the page`);
      html = other;
    }
    return written(file, html);
  };

const changed = (change) => (file) => altered(file, change);

function written(file, html) {
  const other = join(dirname(file), `edited-${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(other, html);
  return other;
}

// An anchor with other fields, and the id that it then has wherever it is named.
function reanchored(data, change) {
  const anchor = data.sessions[0].anchors[0],
    before = anchor.id;
  const value = JSON.parse(anchor.text);
  change(value);
  anchor.text = JSON.stringify(value);
  anchor.id = sha256(anchor.text);
  for (const bound of data.commits.flatMap(({ sessions }) => sessions)) if (bound.anchor === before) bound.anchor = anchor.id;
}

// What a reader goes by. Each of these is found even by a page whose hash of itself was made anew.
const EDITS = {
  "a line of evidence": changed(({ sessions }) => {
    sessions[1].lines[3] = sessions[1].lines[3].replace("confirmation button", "conformation button");
  }),
  "a line of evidence and its leaf": changed(({ sessions }) => {
    sessions[1].lines[3] = sessions[1].lines[3].replace("confirmation button", "conformation button");
    sessions[1].leaves[2] = sha256(sessions[1].lines[3]);
  }),
  "a line of evidence, with anchors that no longer hold": changed(({ commits, sessions }) => {
    sessions[1].lines[3] = sessions[1].lines[3].replace("confirmation button", "conformation button");
    for (const bound of commits.flatMap((commit) => commit.sessions)) bound.holds = false;
  }),
  "all records of a session": changed(({ sessions }) => {
    sessions[0] = { ...sessions[0], absent: "not here", lines: undefined, leaves: undefined };
  }),
  "an anchor that names another count": changed((data) => reanchored(data, (anchor) => anchor.count++)),
  "an anchor that names another root": changed((data) =>
    reanchored(data, (anchor) => (anchor.root = anchor.root.replace(/^./, (digit) => (digit === "0" ? "1" : "0")))),
  ),
  "the number of entries in the table": retold([/<td class="number">3</, '<td class="number">4<']),
  "the number of entries at the session": retold(["<li>3 entries</li>", "<li>30 entries</li>"]),
  "a session's id": retold(["<td><code>t-90-limit</code>", "<td><code>t-91-limit</code>"]),
  "the root in the table": retold([/(<td class="root"><code class="hash" title=")[0-9a-f]{64}">[0-9a-f]{12}/, `$1${"ab".repeat(32)}">${"ab".repeat(6)}`]),
  "the address of a session": retold([/(class="session" id="s-)[0-9a-f]{12}/, `$1${"ab".repeat(6)}`]),
  "the root behind its first digits": retold([/(<td class="root"><code class="hash" title="[0-9a-f]{12})[0-9a-f]{52}/, `$1${"ab".repeat(26)}`]),
  "a commit's id": retold([/(id="c-)[0-9a-f]{40}/, `$1${"ab".repeat(20)}`]),
  "a subject": retold(['<span class="subject" dir="auto">Limit attempts by address', '<span class="subject" dir="auto">Limit attempts by user']),
  "a commit's id in its line": retold([/(<code class="id">)[0-9a-f]{12}/, `$1${"ab".repeat(6)}`]),
  "a commit that moves to another session": retold([/(<li data-commit=")[0-9a-f]{40}/, `$1${"ab".repeat(20)}`]),
  "a subject in the data": changed(({ commits }) => {
    commits[0].subject = "Limit attempts by user";
  }),
  "an intent": retold(['<h3 dir="auto">Limit attempts', '<h3 dir="auto">Log attempts']),
  "a decision": retold(["<span>A token bucket in memory", "<span>A token bucket on disk"]),
  "a reflection that becomes a decision": retold(['<p class="label">Reflection', '<p class="label">Decision']),
  "the time of a decision": retold([/(<p class="label">Decision <time datetime="[^"]*">)\d{4}/, "$11999"]),
  "a verdict's word": retold(['<b class="word">not required', '<b class="word">proven']),
  "a verdict's sign": retold(['<span class="mark exempt" aria-hidden="true">·', '<span class="mark exempt" aria-hidden="true">✔']),
  "a verdict's colour": retold(['<details class="commit exempt"', '<details class="commit pass"']),
  "a verdict in the data": changed(({ commits }) => {
    commits.find(({ verdict }) => verdict === "exempt").verdict = "pass";
  }),
  "a verdict in the data and in the page": (file) =>
    retold(
      ['<details class="commit exempt"', '<details class="commit pass"'],
      ['<span class="mark exempt" aria-hidden="true">·', '<span class="mark pass" aria-hidden="true">✔'],
      ['<b class="word">not required', '<b class="word">proven'],
      ["2 of 3 proven · 1 not required · 1 open question", "3 of 3 proven · 1 open question"],
    )(
      changed(({ commits }) => {
        commits.find(({ verdict }) => verdict === "exempt").verdict = "pass";
      })(file),
    ),
  "a verdict that is none": changed(({ commits }) => {
    commits[0].verdict = "certified";
  }),
  "the headline": retold(['<span class="mark unchecked" aria-hidden="true">?</span> Not checked yet', "✔ Proven"]),
  "the headline, taken out": retold([/<h1>.*?<\/h1>/, "<p>✔ Proven</p>"]),
  "the whole top, taken out": retold([/<header class="top">[^]*?<\/header>/, "<h1>✔ Proven</h1>"]),
  "what git proof found": retold(['<b id="verdict">Proven', '<b id="verdict">Proven and signed']),
  "the number of commits": retold(["2 of 3 proven", "29 of 30 proven"]),
  "the command for a clone": retold([/(<p id="claim"[^>]*>[^<]*<code>git proof verify )[^<]*/, "$1--quiet HEAD"]),
  "a session, taken out of the data": changed(({ sessions }) => sessions.pop()),
  "a session, taken out of the page": retold([/<section class="session"[^]*?<\/section>\n/, ""]),
  "a session, taken out of the table": retold([/<tr data-ledger="0">.*?<\/tr>\n/, ""]),
  "sessions that were swapped in the data": changed(({ sessions }) => sessions.reverse()),
  "sessions that were swapped in the page": retold(
    ['" data-session="0"', '" data-session="x"'],
    ['" data-session="1"', '" data-session="0"'],
    ['" data-session="x"', '" data-session="1"'],
  ),
  "an anchor that no longer holds": changed(({ commits }) => {
    commits[0].sessions[0].holds = false;
  }),
  "an anchor that no longer holds, in the page": retold([
    "<li>covers this change</li>",
    '<li>covers this change</li><li><b class="bad">its anchor does not hold</b></li>',
  ]),
  "an anchor that is not in the data": changed(({ sessions }) => sessions[0].anchors.pop()),
  "a finding that says otherwise": changed(({ commits }) => commits[0].findings.push("error")),
  "a commit, taken out of the data": changed(({ commits }) => commits.pop()),
  "a commit, taken out of the page": retold([/<li><details class="commit exempt"[^]*?<\/details>\n<\/details>\n<\/li>\n/, ""]),
  "a data block that is cut off": (file) => {
    const html = readFileSync(file, "utf8");
    return written(file, html.replace(/(id="data">[^]{500})[^]*?<\/script>/, "$1</script>"));
  },
  "a data block with nothing in it": changed((data) => {
    for (const key of Object.keys(data)) delete data[key];
  }),
  "a data block without sessions": changed((data) => delete data.sessions),
};

// What is only found because the page has a hash of all of itself.
const SMALL = {
  "an author": retold(["Ada Lovelace", "Bob Lovelace"]),
  "the day of a commit": retold([/<li><time datetime="2026-03-01">2026-03-01/, '<li><time datetime="2025-03-01">2025-03-01']),
  "the name of a file": retold(["<code>src/limit.rs</code>", "<code>src/limits.rs</code>"]),
  "how a commit is bound": retold(["<li>bound: exact</li>", "<li>bound: moved</li>"]),
  "a round": retold([">2 sessions<", ">3 sessions<"]),
  "the policy": retold(["judged by the default policy", "judged by the strictest policy"]),
  "something that is hidden": retold(['<details class="commit exempt"', '<details hidden class="commit exempt"']),
  "something added above": retold(["<header", "<h1>✔ Proven</h1><header"]),
  "something added below": retold(["</html>", "<p>Checked by hand, Bob</p></html>"]),
  "a comment": retold(["<main>", "<main><!-- x -->"]),
  "the title": retold(["<title>git proof report", "<title>Proven: git proof report"]),
  "a place of what was rejected": changed(({ sessions }) => {
    sessions[0].marked = {};
  }),
  "white space in the data": (file) => {
    const html = readFileSync(file, "utf8");
    return written(file, html.replace('id="data">{', 'id="data"> {'));
  },
};

// The page's own function for what it hashes of itself, to make the hash anew.
const AS_WRITTEN = /function asWritten\(\) \{[^]*?\n\}/.exec(
  readFileSync(new URL("../../src/present/html/shown.js", import.meta.url), "utf8"),
)[0];

// The same page with the hash that it should have.
async function resealed(browser, file) {
  const before = (page) =>
    page.addInitScript(`addEventListener("DOMContentLoaded", () => { window.asItIs = (${AS_WRITTEN})(); });`);
  const { page } = await open(browser, file, { before });
  const text = await page.evaluate(() => window.asItIs);
  await page.close();
  const html = readFileSync(file, "utf8");
  const hash = sha256(text);
  return written(file, html.replace(/(<meta name="git-proof-page" content=")[0-9a-f]{64}/, (_, head) => head + hash));
}

export const edited = {
  async "a hash that is made anew is the one that the page has"({ browser, file }) {
    const html = readFileSync(file, "utf8");
    assert.equal(readFileSync(await resealed(browser, written(file, html)), "utf8"), html);
  },

  async "whatever is edited breaks the headline"({ browser, file }) {
    for (const [what, edit] of Object.entries({ ...EDITS, ...SMALL })) {
      const opened = await open(browser, edit(file));
      await broken(opened, what);
      await opened.page.close();
    }
    console.log(`    ${Object.keys(EDITS).length + Object.keys(SMALL).length} edits`);
  },

  async "what a reader goes by breaks the headline even where the hash of the page was made anew"({ browser, file }) {
    for (const [what, edit] of Object.entries(EDITS)) {
      const opened = await open(browser, await resealed(browser, edit(file)));
      const breaks = await broken(opened, what);
      assert(!breaks.includes("changed after it was written"), `${what}: ${breaks}`);
      await opened.page.close();
    }
  },

  async "a broken headline stands first and can be seen, whatever was put above it"({ browser, file }) {
    const { page } = await open(browser, retold(["<header", "<h1>✔ Proven</h1><header hidden"])(file));
    const first = page.locator("h1").first();
    assert.equal(await first.textContent(), BROKEN);
    assert(await first.isVisible());
    assert.equal((await page.locator("body").innerText()).indexOf("GIT PROOF · REPORT"), 0);
  },

  async "a page whose records are not all in it says so, and claims no proof"({ browser, program, kept }) {
    const project = kept(new Project(program));
    project.write(".proof/policy.toml", '[proof]\nevidence = "optional"\nrooted = false\n');
    project.git("commit", "--quiet", "--no-verify", "-m", "a policy");
    project.proven({
      session: "s1",
      intent: "one",
      message: "One\n\nAssisted-by: an agent",
      files: { a: "x\n" },
      entries: [["reflection", "r"]],
    });
    const empty = project.git("hash-object", "-t", "tree", "-w", "/dev/null");
    project.git("update-ref", "refs/proof/evidence", project.git("commit-tree", "-m", "none", empty));
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await title(opened.page), "? 1 commit · 1 could not be checked");
    assert.match(await claim(opened.page), /^There are no records in this file that could be added up\. /);
    assert.match(await opened.page.locator(".counts").textContent(), /git proof found: Proven\. 1 of 1 proven\.$/);
    quiet(opened);
  },

  async "pages of every verdict are fine as they are, and have its words"({ browser, program, kept }) {
    const project = kept(new Project(program));
    const first = project.git("rev-parse", "HEAD");
    project.proven({
      session: "s1",
      intent: "one",
      message: "One\n\nAssisted-by: an agent",
      files: { a: "x\n" },
      entries: [["decision", "d"], ["reflection", "r"]],
    });
    await good(await open(browser, project.page("HEAD")));
    const opened = async (range, headline, counts) => {
      const opened = await open(browser, project.page(range));
      assert.equal(await title(opened.page), headline);
      assert.equal(await opened.page.locator("#breaks > li").count(), 0);
      assert((await opened.page.locator(".counts").textContent()).endsWith(counts));
      quiet(opened);
    };
    await opened(first, "· 1 commit · 1 not required", "No proof required. 1 commit · 1 not required.");
    await opened("HEAD..HEAD", "· no commits", "Nothing to judge. no commits.");
    const proven = project.git("rev-parse", "HEAD");
    project.commit("b", "y\n", "Two\n\nAssisted-by: an agent");
    project.git("notes", "--ref=proof", "copy", proven, "HEAD");
    await opened("HEAD", "✘ 1 commit · 1 failed", "Failed. 1 commit · 1 failed.");
    project.git("update-ref", "-d", "refs/proof/evidence");
    await opened("HEAD~1", "? 1 commit · 1 could not be checked", "Could not check. 1 commit · 1 could not be checked.");
  },

  async "a page of a vouched commit says vouched, and has no check mark"({ browser, program, kept }) {
    const project = kept(new Project(program));
    const opened = await open(browser, project.vouched());
    assert.equal(await title(opened.page), "~ 1 commit · 1 vouched");
    assert.match(await opened.page.locator(".counts").textContent(), /: Vouched for, not proven\. 1 commit · 1 vouched\.$/);
    await openEverything(opened.page);
    await opened.page.locator(".entry").first().waitFor();
    const text = (await opened.page.locator("body").innerText()).toLowerCase().replaceAll("not proven", "");
    assert(text.includes("vouched by ada@x: a person's word, not a proof"), text);
    assert(text.includes("the chain of") && text.includes("adds up"), text);
    for (const word of ["proven", "verified", "✓", "✔", "☑", "✅"]) assert(!text.includes(word), `${word} in ${text}`);
    quiet(opened);
  },
};
