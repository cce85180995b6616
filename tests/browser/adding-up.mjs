// That the page adds up, and where it does not.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { open } from "./chromium.mjs";
import { BROKEN, altered, broken, claim, dataOf, good, openEverything, openPanel, quiet, redLines, state, title } from "./page.mjs";
import { Project } from "./project.mjs";
import { checkVectors } from "./vectors.mjs";

export const addingUp = {
  async "the page's own hashing agrees with all vectors"() {
    console.log("   ", await checkVectors());
  },

  async "a page opens from a file, silently, and all of it adds up"({ browser, file }) {
    const opened = await open(browser, file);
    await good(opened);
    const { page } = opened;
    assert.match(await state(page), /11 records of 2 sessions, 2 seals, .* by WebCrypto and a second SHA-256\.$/);
    assert.equal(await page.locator(".state.good").count(), 2);
    assert.equal(await page.locator(".round.good").count(), 2);
    assert.deepEqual(await redLines(page, 0), []);
    const entries = page.locator('.session[data-session="0"] .entry');
    assert.equal(await entries.locator(".tick.good").count(), await entries.count());
    assert(!(await page.locator("#check").evaluate((panel) => panel.open)), "the panel is closed");
    await openPanel(page);
    await page.locator("#again").click();
    await page.waitForFunction(() => document.querySelector("#check").className === "good");
    await good(opened);
  },

  async "a session with a branch and a withheld line is drawn as both"({ browser, file }) {
    const opened = await open(browser, file);
    const { page } = opened;
    const session = page.locator('.session[data-session="1"]');
    await session.locator("details.trail > summary").click();
    await session.locator(".entry").first().waitFor();
    assert.equal(await session.locator(".entry.withheld").count(), 1);
    assert.match(await session.locator(".entry.withheld").textContent(), /was not published/);
    assert.equal(await session.locator(".entry .branch").count(), 2);
    await session.getByRole("button", { name: "Tree" }).click();
    assert.equal(await session.locator(".tree a").count(), 8);
    assert.equal(await session.locator(".tree .fork").count(), 2);
    await session.locator(".tree a").nth(1).click();
    await session.locator(".entry.lit").waitFor(); // a click leads to the entry
    assert(!(await page.content()).includes("customer list"), "private text is not in the file");
    quiet(opened);
  },

  async "what was rejected is brought out, from the text and from metadata"({ browser, file }) {
    const { page } = await open(browser, file);
    assert.equal(
      await page.locator(".story span.rejected").first().textContent(),
      "Rejected a counter in the store because every attempt would be a write.",
    );
    assert.deepEqual(await page.locator(".story .listed li").allTextContents(), [
      "Magic link: scanners use it up",
      "TOTP: needs an app before the first login",
    ]);
    assert.deepEqual(await page.locator(".story .uncertain").allTextContents(), [
      "Not tried: a clock that is wrong by more than ten minutes.",
    ]);
    // The trail is made by the script, of the same places.
    const session = page.locator(".session", { has: page.locator(".story span.rejected") }).first();
    await session.locator("details.trail > summary").click();
    await session.locator(".entry").first().waitFor();
    const parts = (where) => session.locator(`${where} span.rejected`).allTextContents();
    assert.deepEqual(await parts(".entry.decision"), await parts(".story"));
  },

  async "one character changed in one line makes that line red, and no other"({ browser, file }) {
    const lines = dataOf(readFileSync(file, "utf8")).sessions[1].lines;
    for (let number = 1; number < lines.length; number++) {
      const withheld = lines[number].includes('"withheld":');
      const places = withheld ? ['"withheld":"'] : ['"content":"', '"attest":"', '"prev_hash":"', '"timestamp":"'];
      for (const place of places.filter((place) => lines[number].includes(place))) {
        const changed = altered(file, ({ sessions }) => {
          const line = sessions[1].lines[number],
            at = line.indexOf(place) + place.length + (place === '"attest":"' ? 30 : 0);
          sessions[1].lines[number] = line.slice(0, at) + (line[at] === "1" ? "2" : "1") + line.slice(at + 1);
        });
        const opened = await open(browser, changed);
        assert.deepEqual(await redLines(opened.page, 1), [number], `${place} of line ${number}`);
        assert.deepEqual(await redLines(opened.page, 0), []);
        assert.match(await state(opened.page), /^This page does not add up: 1 place does not add up, listed below\./);
        assert.equal(await title(opened.page), BROKEN);
        assert.equal(await opened.page.locator("#breaks > li").count(), 1);
        const why = await opened.page.locator("#breaks > li").textContent();
        assert.match(
          why,
          new RegExp(
            `^Session t-89-login, line ${number}: the line is not the one that was hashed\\.expected [0-9a-f]{64}found    [0-9a-f]{64}`,
          ),
        );
        quiet(opened);
        await opened.page.close();
      }
    }
  },

  async "an opening, a leaf, an anchor, a root or a seal that was changed is found"({ browser, file }) {
    const flip = (text, at) => text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
    for (const [what, change, expected] of [
      [
        "opening",
        ({ sessions }) => {
          sessions[0].lines[0] = sessions[0].lines[0].replace("Limit", "Limits");
        },
        /opening: the hash of the opening is not the genesis/,
      ],
      [
        "line and leaf alike",
        ({ sessions }) => {
          const other = sessions[0];
          other.lines.pop();
          other.leaves.pop();
        },
        /the lines do not add up to the root/,
      ],
      [
        "anchor",
        ({ sessions }) => {
          sessions[0].anchors[0].text = sessions[0].anchors[0].text.replace('"count":3', '"count":4');
        },
        /says otherwise: anchor id/,
      ],
      [
        "root",
        ({ sessions }) => {
          sessions[0].root = flip(sessions[0].root, 5);
        },
        /do not add up to the root/,
      ],
      [
        "seal",
        ({ seals }) => {
          seals[1].text = seals[1].text.replace('"round":2', '"round":3');
        },
        /Round 2: the seal is not the one that was hashed/,
      ],
      [
        "chain of seals",
        ({ seals }) => {
          seals.shift();
          seals[0].hash = flip(seals[0].hash, 0);
        },
        /Round 2: /,
      ],
    ]) {
      const opened = await open(browser, altered(file, change));
      assert.match(await broken(opened, what), expected, what);
      assert.equal(await opened.page.locator("#check").getAttribute("class"), "broken", what);
      quiet(opened);
      await opened.page.close();
    }
  },

  async "a text in the page that is not the one of the evidence is found"({ browser, file }) {
    const html = readFileSync(file, "utf8");
    const other = join(dirname(file), "retold.html");
    writeFileSync(other, html.replace("<span>A token bucket in memory", "<span>A token bucket on disk"));
    assert.notEqual(readFileSync(other, "utf8"), html);
    const opened = await open(browser, other);
    assert.match(await broken(opened), /Session t-90-limit, line 1: the text shown is not that of the data\./);
    assert.equal(await opened.page.locator(".mismatch").count(), 1);
  },

  async "all four schemes are computed"({ browser, program, kept }) {
    const project = kept(new Project(program));
    const schemes = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];
    for (const scheme of schemes) {
      project.proven({
        session: `s-${scheme}`,
        scheme,
        intent: `hash by ${scheme}`,
        message: `By ${scheme}`,
        files: { [scheme]: "x\n" },
        entries: [
          ["plan", "p"],
          ["decision", "naïve 🙂 \u{1d54f}"],
          // In ams-v0 a private text could be guessed from its hash, so it is refused there.
          ["analysis", "kept back", ...(scheme === "ams-v0" ? [] : ["--private"])],
          ["decision", "branch", "--parent", (records) => [records[0].id]],
          ["reflection", "done"],
        ],
      });
    }
    const file = project.page("HEAD~4..HEAD");
    const opened = await open(browser, file);
    // In schemes that do not cover everything a proof-grade session holds nothing; their lines add up all the same.
    assert.equal(await opened.page.locator("#breaks > li").count(), 0, await state(opened.page));
    assert.equal(await opened.page.locator(".state.good").count(), 4);
    quiet(opened);
    for (const at of schemes.keys()) {
      const changed = await open(
        browser,
        altered(file, ({ sessions }) => {
          sessions[at].lines[2] = sessions[at].lines[2].replace("naïve", "native");
        }),
      );
      assert.deepEqual(await redLines(changed.page, at), [2], schemes[at]);
      assert.equal(await changed.page.locator(".state.broken").count(), 1);
      await changed.page.close();
    }
  },

  async "without WebCrypto the page's own SHA-256 does it alone"({ browser, file }) {
    const before = (page) =>
      page.addInitScript(() => Object.defineProperty(globalThis.crypto, "subtle", { value: undefined }));
    const opened = await open(browser, file, { before });
    await good(opened);
    assert.match(await state(opened.page), /by the SHA-256 in this file/);
  },

  async "a hash that the browser computes otherwise stops the check"({ browser, file }) {
    const before = (page) =>
      page.addInitScript(() => {
        crypto.subtle.constructor.prototype.digest = async () => new ArrayBuffer(32);
      });
    const { page } = await open(browser, file, { before });
    assert.match(await state(page), /could not be finished: this browser's two SHA-256 do not agree/);
    assert.equal(await title(page), BROKEN);
    assert.equal(await page.locator("#check").getAttribute("class"), "broken");
  },

  async "evidence that was forged in the repository is red where it breaks, and the verdict stays"({
    browser,
    program,
    kept,
  }) {
    const project = kept(new Project(program));
    project.proven({
      session: "s1",
      intent: "one",
      message: "One\n\nAssisted-by: an agent",
      files: { a: "x\n" },
      entries: [
        ["plan", "p"],
        ["decision", "this and not that"],
        ["analysis", "a"],
        ["reflection", "r"],
      ],
    });
    project.forge("s1", (text) => text.replace("this and not that", "that and not this"));
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await title(opened.page), "✘ 1 commit · 1 failed");
    const aside = "Of sessions that do not hold, 1 place does not add up.";
    assert.equal((await claim(opened.page)).indexOf(aside), 0);
    assert((await state(opened.page)).includes(aside));
    // Nobody knows the hash of the line that was there: the line after it hangs on nothing.
    assert.deepEqual(await redLines(opened.page, 0), [3]);
    assert.match(
      await opened.page.locator("#breaks").textContent(),
      /line 3: its prev_hash is the chain hash of no line before it/,
    );
    quiet(opened);
  },

  async "a forged anchor beside a good one takes nothing from it"({ browser, program, kept }) {
    const project = kept(new Project(program));
    project.proven({
      session: "s1",
      intent: "one",
      message: "One",
      files: { a: "x\n" },
      entries: [
        ["decision", "d"],
        ["reflection", "r"],
      ],
    });
    const note = project.git("notes", "--ref=proof", "show", "HEAD");
    const forged = note.replace(/"genesis":"(.)/, (_, digit) => `"genesis":"${digit === "0" ? "1" : "0"}`);
    project.git("notes", "--ref=proof", "add", "-f", "-m", forged + "\n" + note, "HEAD");
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await title(opened.page), "✔ 1 of 1 proven");
    const aside = "The records of sessions that hold add up to the roots shown. Of sessions that do not hold, 1 place does not add up.";
    assert.equal((await claim(opened.page)).indexOf(aside), 0);
    assert.match(await opened.page.locator("#breaks").textContent(), /the anchor [0-9a-f]{12} says otherwise: genesis/);
    assert.deepEqual(await redLines(opened.page, 0), []);
    quiet(opened);
  },

  async "a session that explains two commits is told once, with both below it"({ browser, program, kept }) {
    const project = kept(new Project(program));
    project.proven({
      session: "s1",
      intent: "one",
      message: "One",
      files: { a: "x\n" },
      entries: [
        ["decision", "only once"],
        ["reflection", "r"],
      ],
    });
    project.commit("b", "y\n", "Two");
    project.proof("anchor", "--session", "s1", "--commit", "HEAD");
    const opened = await open(browser, project.page("HEAD~2..HEAD"));
    await good(opened);
    const { page } = opened;
    assert.equal(await page.locator(".session").count(), 1);
    assert.equal(await page.locator(".story").count(), 1);
    const listed = await page.locator(".session > .commits > li").evaluateAll((all) => all.map((one) => one.dataset.commit));
    assert.deepEqual(listed, [project.git("rev-parse", "HEAD~1"), project.git("rev-parse", "HEAD")]);
    await openEverything(page);
    await page.locator(".timeline").first().waitFor();
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, "an id stands in the page twice");
    quiet(opened);
  },
};
