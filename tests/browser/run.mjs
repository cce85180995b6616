// The page of `git proof report --html` in headless Chromium: node run.mjs PROGRAM MODULES [SCREENSHOTS]
//
// PROGRAM is git-proof, MODULES the directory where playwright-core was installed; pictures are written to SCREENSHOTS.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { open, start } from "./chromium.mjs";
import { Project, story } from "./project.mjs";
import { checkVectors } from "./vectors.mjs";

const [program, modules, pictures] = process.argv.slice(2);
assert(modules, "usage: node run.mjs PROGRAM MODULES [SCREENSHOTS]");

const projects = [];
const kept = (project) => { projects.push(project); return project; };
const state = (page) => page.locator("#state").textContent();
const quiet = ({ said, asked }) => { assert.deepEqual(said, []); assert.deepEqual(asked, []); };
const good = async (opened) => {
  assert.match(await state(opened.page), /^✓ All of it adds up: /);
  assert.equal(await opened.page.locator("#check").getAttribute("class"), "good");
  assert.equal(await opened.page.locator(".ticks .broken, .state.broken, .round.broken, .mismatch").count(), 0);
  quiet(opened);
};

// The data block of a page, and the page with another one.
const dataOf = (html) => JSON.parse(/<script type="application\/json" id="data">([^]*?)<\/script>/.exec(html)[1]);
const escaped = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
function altered(file, change) {
  const html = readFileSync(file, "utf8"), data = dataOf(html);
  change(data);
  const other = join(dirname(file), `altered-${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(other, html.replace(/(<script type="application\/json" id="data">)[^]*?(<\/script>)/, (_, head, tail) => head + escaped(data) + tail));
  return other;
}

// Opens the first trail of a session and gives the numbers of the lines that are red.
async function redLines(page, session) {
  await page.locator(`.session[data-session="${session}"] details.trail > summary`).first().click();
  await page.locator(`.session[data-session="${session}"] .entry`).first().waitFor({ state: "attached" });
  return page.locator(`.session[data-session="${session}"] .entry.broken`).evaluateAll((all) => all.map((one) => Number(one.dataset.line)));
}

const tests = {
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
    assert.equal(await session.locator(".entry.lit").count(), 1, "a click leads to the entry");
    assert(!(await page.content()).includes("customer list"), "private text is not in the file");
    quiet(opened);
  },

  async "what was rejected is brought out, from the text and from metadata"({ browser, file }) {
    const { page } = await open(browser, file);
    assert.equal(await page.locator(".story .rejected").first().textContent(), "Rejected a counter in the store because every attempt would be a write.");
    assert.deepEqual(await page.locator(".story .listed li").allTextContents(), ["Magic link: scanners use it up", "TOTP: needs an app before the first login"]);
  },

  async "one character changed in one line makes that line red, and no other"({ browser, file }) {
    const lines = dataOf(readFileSync(file, "utf8")).sessions[1].lines;
    for (let number = 1; number < lines.length; number++) {
      const withheld = lines[number].includes('"withheld":');
      const places = withheld ? ['"withheld":"'] : ['"content":"', '"attest":"', '"prev_hash":"', '"timestamp":"'];
      for (const place of places.filter((place) => lines[number].includes(place))) {
        const changed = altered(file, ({ sessions }) => {
          const line = sessions[1].lines[number], at = line.indexOf(place) + place.length + (place === '"attest":"' ? 30 : 0);
          sessions[1].lines[number] = line.slice(0, at) + (line[at] === "1" ? "2" : "1") + line.slice(at + 1);
        });
        const opened = await open(browser, changed);
        assert.deepEqual(await redLines(opened.page, 1), [number], `${place} of line ${number}`);
        assert.deepEqual(await redLines(opened.page, 0), []);
        assert.match(await state(opened.page), /^This page does not add up: 1 place broken\./);
        assert.equal(await opened.page.locator("h1").textContent(), "✕ Does not add up");
        assert.equal(await opened.page.locator("#breaks > li").count(), 1);
        const why = await opened.page.locator("#breaks > li").textContent();
        assert.match(why, new RegExp(`^Session t-89-login, line ${number}: the line is not the one that was hashed\\.expected [0-9a-f]{64}found    [0-9a-f]{64}`));
        quiet(opened);
        await opened.page.close();
      }
    }
  },

  async "an opening, a leaf, an anchor, a root or a seal that was changed is found"({ browser, file }) {
    const flip = (text, at) => text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
    for (const [what, change, expected] of [
      ["opening", ({ sessions }) => { sessions[0].lines[0] = sessions[0].lines[0].replace("Limit", "Limits"); }, /opening: the hash of the opening is not the genesis/],
      ["line and leaf alike", ({ sessions }) => { const other = sessions[0]; other.lines.pop(); other.leaves.pop(); }, /the lines do not add up to the root/],
      ["anchor", ({ sessions }) => { sessions[0].anchors[0].text = sessions[0].anchors[0].text.replace('"count":3', '"count":4'); }, /says otherwise: anchor id/],
      ["root", ({ sessions }) => { sessions[0].root = flip(sessions[0].root, 5); }, /do not add up to the root/],
      ["seal", ({ seals }) => { seals[1].text = seals[1].text.replace('"round":2', '"round":3'); }, /Round 2: the seal is not the one that was hashed/],
      ["chain of seals", ({ seals }) => { seals.shift(); seals[0].hash = flip(seals[0].hash, 0); }, /Round 2: /],
    ]) {
      const opened = await open(browser, altered(file, change));
      assert.match(await opened.page.locator("#breaks").textContent(), expected, what);
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
    const { page } = await open(browser, other);
    assert.match(await page.locator("#breaks").textContent(), /line 1: the text shown above its trail is not that of the evidence/);
    assert.equal(await page.locator(".mismatch").count(), 1);
  },

  async "all four schemes are computed"({ browser }) {
    const project = kept(new Project(program));
    const schemes = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];
    for (const scheme of schemes) {
      project.proven({
        session: `s-${scheme}`, scheme, intent: `hash by ${scheme}`, message: `By ${scheme}`, files: { [scheme]: "x\n" },
        entries: [["plan", "p"], ["decision", "naïve 🙂 \u{1d54f}"], ["analysis", "kept back", "--private"], ["decision", "branch", "--parent", (records) => [records[0].id]], ["reflection", "done"]],
      });
    }
    const file = project.page("HEAD~4..HEAD");
    const opened = await open(browser, file);
    // In schemes that do not cover everything a proof-grade session holds nothing; their lines add up all the same.
    assert.equal(await opened.page.locator("#breaks > li").count(), 0, await state(opened.page));
    assert.equal(await opened.page.locator(".state.good").count(), 4);
    quiet(opened);
    for (const at of schemes.keys()) {
      const changed = await open(browser, altered(file, ({ sessions }) => { sessions[at].lines[2] = sessions[at].lines[2].replace("naïve", "native"); }));
      assert.deepEqual(await redLines(changed.page, at), [2], schemes[at]);
      assert.equal(await changed.page.locator(".state.broken").count(), 1);
      await changed.page.close();
    }
  },

  async "hostile text is shown, and does nothing"({ browser }) {
    const hostile = [
      "<script>window.pwned = 1; alert(1)</script>", "</script><script>window.pwned = 2</script>", "<!-- <script>", "]]> --> </style>",
      "<img src=x onerror=\"window.pwned = 3\"> <svg/onload=window.pwned=4>", "javascript:window.pwned=5", "<a href=\"javascript:window.pwned=6\">x</a>",
      "\u202egpj.exe\u202c \u2066a\u2069", "\u001b[31mred\u001b[0m \u001b]8;;http://evil.example\u0007link", "{{script}} {{data}} ${window.pwned=7}",
      "&lt;b&gt; &amp; \u2028 \u2029 \ufeff \u200b", "<base href=http://evil.example/> <link rel=stylesheet href=//evil.example/x.css>", "https://evil.example/ \u{e0041}",
    ].join("\n");
    const project = kept(new Project(program));
    project.proven({
      session: "s-hostile", intent: hostile, message: "<script>window.pwned = 8</script> \u202e </title>", files: { "a<b>&\"'\u202e.js": "x\n" },
      entries: [["plan", hostile], ["decision", hostile + "\nRejected: <b onclick=alert(1)>bold</b>", "--metadata", JSON.stringify({ "</script>": hostile, rejected: [hostile] })], ["reflection", hostile]],
    });
    const opened = await open(browser, project.page("HEAD"));
    const { page } = opened;
    await good(opened);
    assert.deepEqual(await redLines(page, 0), []);
    await page.locator(".entry details summary").first().click();
    await page.locator("#query").fill("<script>");
    assert.equal(await page.locator("#hits > li").count(), 3);
    const shown = await page.locator(".entry.plan .text").textContent();
    assert(shown.includes("<script>window.pwned = 1; alert(1)</script>") && shown.includes("⟨U+202E⟩gpj.exe") && shown.includes("⟨U+001B⟩[31mred"), shown);
    assert.equal(await page.locator("h3").first().evaluate((title) => title.textContent), "What it proves by itself");
    assert.equal(await page.locator(".commit h3").textContent(), "<script>window.pwned = 8</script> ⟨U+202E⟩ </title>");
    assert.equal(await page.locator(".files code").textContent(), "a<b>&\"'⟨U+202E⟩.js");
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("img, base, link, iframe, object, embed, form, a[href^='javascript']").count(), 0);
    const raw = (await page.locator("body").innerText()) + (await page.title());
    assert(!/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(raw), "an active character is in the text");
    assert.deepEqual([opened.said, opened.asked], [[], []]);
  },

  async "the policy stops what is not the page's own"({ browser, file }) {
    const other = join(dirname(file), "injected.html");
    writeFileSync(other, readFileSync(file, "utf8").replace("<main>", "<main><script>window.pwned = 1</script><img src=\"https://evil.example/x.png\"><style>h1 { display: none }</style><p onclick=\"window.pwned = 2\" id=\"p\">x</p>"));
    const opened = await open(browser, other);
    await opened.page.locator("#p").click();
    assert.equal(await opened.page.evaluate(() => window.pwned), undefined);
    assert(await opened.page.locator("h1").isVisible());
    assert(opened.said.filter((line) => line.includes("Content Security Policy")).length >= 3, opened.said.join("\n"));
    const failed = await opened.page.evaluate(() => { try { document.body.innerHTML = "<b>x</b>"; return "done"; } catch (error) { return error.name; } });
    assert.equal(failed, "TypeError", "markup cannot be set from a script");
  },

  async "without JavaScript the verdict, the commits and the decisions can be read"({ file }) {
    const { browser, stop } = await start(modules, { javaScriptEnabled: false });
    const opened = await open(browser, file, { javaScript: false });
    const text = await opened.page.locator("body").innerText();
    for (const part of ["Verified", "Limit attempts by address", "A token bucket in memory", "Rejected a counter", "Six digits, ten minutes", "Magic link: scanners use it up", "Works with the three mail providers", "Round 2", "that takes JavaScript", "git proof verify "]) assert(text.includes(part), part);
    assert(!(await opened.page.locator("#search").isVisible()) && !(await opened.page.locator("#again").isVisible()));
    quiet(opened);
    await stop();
  },

  async "without WebCrypto the page's own SHA-256 does it alone"({ browser, file }) {
    const before = (page) => page.addInitScript(() => Object.defineProperty(globalThis.crypto, "subtle", { value: undefined }));
    const opened = await open(browser, file, { before });
    await good(opened);
    assert.match(await state(opened.page), /by the SHA-256 in this file/);
  },

  async "a hash that the browser computes otherwise stops the check"({ browser, file }) {
    const before = (page) => page.addInitScript(() => { crypto.subtle.constructor.prototype.digest = async () => new ArrayBuffer(32); });
    const { page } = await open(browser, file, { before });
    assert.match(await state(page), /could not be finished: this browser's two SHA-256 do not agree/);
    assert.equal(await page.locator("#check").getAttribute("class"), "broken");
  },

  async "a broken proof is shown as broken, with the reason"({ browser }) {
    const project = kept(new Project(program));
    project.proven({ session: "s1", intent: "one", message: "One", files: { a: "x\n" }, entries: [["decision", "d"], ["reflection", "r"]] });
    const from = project.git("rev-parse", "HEAD");
    project.commit("b", "y\n", "Two\n\nAssisted-by: an agent");
    project.git("notes", "--ref=proof", "copy", from, "HEAD");
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await opened.page.locator("h1").textContent(), "✕ Broken");
    assert.match(await opened.page.locator(".finding.error").first().textContent(), /BINDING_MISMATCH/);
    quiet(opened);
  },

  async "evidence that was forged in the repository is red where it breaks, and the verdict stays"({ browser }) {
    const project = kept(new Project(program));
    project.proven({ session: "s1", intent: "one", message: "One", files: { a: "x\n" }, entries: [["plan", "p"], ["decision", "this and not that"], ["analysis", "a"], ["reflection", "r"]] });
    project.forge("s1", (text) => text.replace("this and not that", "that and not this"));
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await opened.page.locator("h1").textContent(), "✕ Broken");
    assert.match(await state(opened.page), /^What the verdict calls broken does not add up here either/);
    // Nobody knows the hash of the line that was there: the line after it hangs on nothing.
    assert.deepEqual(await redLines(opened.page, 0), [3]);
    assert.match(await opened.page.locator("#breaks").textContent(), /line 3: its prev_hash is the chain hash of no line before it/);
    quiet(opened);
  },

  async "a session that explains two commits is told once, and drawn with both"({ browser }) {
    const project = kept(new Project(program));
    project.proven({ session: "s1", intent: "one", message: "One", files: { a: "x\n" }, entries: [["decision", "only once"], ["reflection", "r"]] });
    project.commit("b", "y\n", "Two");
    project.proof("anchor", "--session", "s1", "--commit", "HEAD");
    const opened = await open(browser, project.page("HEAD~2..HEAD"));
    await good(opened);
    const { page } = opened;
    assert.equal(await page.locator(".story").count(), 1);
    assert.equal(await page.getByText("Its decisions are shown with").count(), 1);
    for (const summary of await page.locator("details.trail > summary").all()) await summary.click();
    await page.waitForFunction(() => document.querySelectorAll(".timeline").length === 2);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, "an id stands in the page twice");
    quiet(opened);
  },

  async "the page is walked with the keyboard, and its parts have names"({ browser, file }) {
    const { page } = await open(browser, file);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const summary = page.locator("details.trail > summary").first();
    await summary.focus();
    await page.keyboard.press("Enter");
    assert(await page.locator(".timeline").first().isVisible());
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    assert.equal(await page.getByRole("searchbox", { name: "Search the records" }).count(), 1);
    const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
    assert.equal(levels.filter((level) => level === 1).length, 1);
    levels.reduce((before, level) => { assert(level <= before + 1, "a level of headings is left out"); return level; });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const low = await page.evaluate(lowContrast);
      assert.deepEqual(low, [], colorScheme);
    }
  },

  async "2,000 records stay usable"({ browser }) {
    const project = kept(new Project(program));
    const page = await large(project, 2000);
    const empty = join(project.home, "empty.html");
    writeFileSync(empty, "<!doctype html><html lang=en><title>empty</title><p>nothing");
    const paint = async (file, check) => {
      const opened = await open(browser, file, { javaScript: check });
      const first = await opened.page.evaluate(() => new Promise((resolve) => {
        const known = performance.getEntriesByName("first-contentful-paint")[0];
        if (known) resolve(known.startTime);
        else new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true });
      }));
      return { first, opened };
    };
    const runs = async (file, check) => { const all = []; for (let run = 0; run < 3; run++) { const { first, opened } = await paint(file, check); all.push(first); if (run < 2) await opened.page.close(); else return { first: all.sort((a, b) => a - b)[1], opened }; } };
    const nothing = await runs(empty, false), full = await runs(page, true);
    await good(full.opened);
    const view = full.opened.page;
    const check = Number(/in ([\d,]+) ms/.exec(await state(view))[1].replace(",", ""));
    const timed = (body) => view.evaluate(body);
    const search = await timed(() => new Promise((resolve) => {
      const box = document.querySelector("#query"), from = performance.now();
      box.value = "needle 1777";
      box.dispatchEvent(new Event("input"));
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)));
    }));
    assert.equal(await view.locator("#hits > li").count(), 1);
    const again = await timed(() => new Promise((resolve) => {
      const box = document.querySelector("#query"), from = performance.now();
      box.value = "needle";
      box.dispatchEvent(new Event("input"));
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)));
    }));
    assert.match(await view.locator("#found").textContent(), /^2,000 records; the first 50 are shown$/);
    const trail = await timed(() => new Promise((resolve) => {
      const from = performance.now(), details = document.querySelector("details.trail");
      details.addEventListener("toggle", () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from))), { once: true });
      details.open = true;
    }));
    assert.equal(await view.locator(".entry").count(), 2002);
    const figures = { "first paint, empty page": nothing.first, "first paint": full.first, "check": check, "first search": search, "next search": again, "whole trail opened": trail };
    for (const [what, ms] of Object.entries(figures)) console.log(`    ${what}: ${Math.round(ms)} ms`);
    assert(full.first < 20 * nothing.first + 1000, "first paint");
    assert(search < 1000 && again < 500, "search");
    assert(check < 15_000 && trail < 5000, "check, trail");
  },

  async "pictures can be taken of it, wide and narrow, light and dark, and on paper"({ browser, file }) {
    const { page } = await open(browser, file);
    for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]]) {
      await page.setViewportSize({ width, height: 860 });
      await page.emulateMedia({ colorScheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert(wide <= width, `${wide} wide on a screen of ${width}`);
      if (pictures) { mkdirSync(pictures, { recursive: true }); await page.screenshot({ path: join(pictures, `report-${width}-${colorScheme}.png`), fullPage: true }); }
    }
    await page.emulateMedia({ media: "print" });
    assert(!(await page.locator("#query").isVisible()) && (await page.locator(".story").first().isVisible()));
    const paper = await page.pdf({ format: "A4" });
    assert(paper.length > 10_000);
    if (pictures) writeFileSync(join(pictures, "report.pdf"), paper);
  },
};

// Texts whose contrast with what is behind them is below 4.5, in the page.
function lowContrast() {
  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const behind = (element) => { for (let at = element; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); if (color.length === 3 || color[3] > 0) return color; } return [255, 255, 255]; };
  const low = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || ![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || element.closest("svg, script")) continue;
    const [one, two] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...low];
}

// A page with so many records in one session, made through the MCP server: a process for each would take minutes.
async function large(project, records) {
  const { spawn } = await import("node:child_process");
  project.write("big", "x\n");
  project.proof("start", "--intent", "Very many records", "--session-id", "s-big");
  const server = spawn(project.program, ["mcp"], { cwd: project.place, env: project.environment, stdio: ["pipe", "pipe", "inherit"] });
  let answers = 0, rest = "", done;
  const all = new Promise((resolve) => { done = resolve; });
  server.stdout.on("data", (bytes) => { rest += bytes; const lines = rest.split("\n"); rest = lines.pop(); for (const line of lines) if (JSON.parse(line).id !== undefined && ++answers === records + 1) done(); });
  const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  send({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
  send({ method: "notifications/initialized" });
  const kinds = ["plan", "analysis", "decision", "analysis"];
  for (let at = 1; at <= records; at++) {
    const content = `needle ${at}: a thought about the work at hand, as long as such thoughts are. ` + "It weighs one thing against another and says why. ".repeat(4) + (at % 4 === 3 ? "\nRejected: the other thing." : "");
    send({ id: at, method: "tools/call", params: { name: "thought_record", arguments: { session_id: "s-big", type: kinds[at % 4], content } } });
  }
  await all;
  server.stdin.end();
  project.record("reflection", "Closed.");
  project.proof("finalize");
  project.git("commit", "--quiet", "--no-verify", "-m", "Big");
  project.proof("anchor", "--session", "s-big");
  return project.page("HEAD");
}

const only = process.env.ONLY;
const shared = kept(story(program));
const file = shared.page("HEAD~3..HEAD");
let { browser, stop } = await start(modules);
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    await test({ browser, file });
    console.log(`ok   ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
  for (const page of browser.pages().slice(1)) await page.close();
}
await stop();
for (const project of projects) project.remove();
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
