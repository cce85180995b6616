// What a reader sees, and what a hostile record cannot do to them.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { open, start } from "./chromium.mjs";
import { broken, good, openEverything, quiet, redLines } from "./page.mjs";
import { Project } from "./project.mjs";

export const reading = {
  async "hostile text is shown, and does nothing"({ browser, program, kept }) {
    const hostile = [
      "<script>window.pwned = 1; alert(1)</script>",
      "</script><script>window.pwned = 2</script>",
      "<!-- <script>",
      "]]> --> </style>",
      '<img src=x onerror="window.pwned = 3"> <svg/onload=window.pwned=4>',
      "javascript:window.pwned=5",
      '<a href="javascript:window.pwned=6">x</a>',
      "\u202egpj.exe\u202c \u2066a\u2069",
      "\u001b[31mred\u001b[0m \u001b]8;;http://evil.example\u0007link",
      "{{script}} {{data}} ${window.pwned=7}",
      "&lt;b&gt; &amp; \u2028 \u2029 \ufeff \u200b",
      "<base href=http://evil.example/> <link rel=stylesheet href=//evil.example/x.css>",
      "https://evil.example/ \u{e0041}",
    ].join("\n");
    const project = kept(new Project(program));
    project.proven({
      session: "s-hostile",
      intent: hostile,
      message: "<script>window.pwned = 8</script> \u202e </title>",
      files: { "a<b>&\"'\u202e.js": "x\n" },
      entries: [
        ["plan", hostile],
        [
          "decision",
          hostile + "\nRejected: <b onclick=alert(1)>bold</b>",
          "--metadata",
          JSON.stringify({ "</script>": hostile, rejected: [hostile] }),
        ],
        ["reflection", hostile],
      ],
    });
    const opened = await open(browser, project.page("HEAD"));
    const { page } = opened;
    await good(opened);
    assert.deepEqual(await redLines(page, 0), []);
    await page.locator(".entry details summary").first().click();
    await page.locator("#query").fill("<script>");
    assert.equal(await page.locator("#hits > li").count(), 3);
    const shown = await page.locator(".entry.plan .text").textContent();
    assert(
      shown.includes("<script>window.pwned = 1; alert(1)</script>") &&
        shown.includes("⟨U+202E⟩gpj.exe") &&
        shown.includes("⟨U+001B⟩[31mred"),
      shown,
    );
    assert.equal(await page.locator(".commit .subject").textContent(), "<script>window.pwned = 8</script> ⟨U+202E⟩ </title>");
    assert.equal(await page.locator(".files code").textContent(), "a<b>&\"'⟨U+202E⟩.js");
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("img, base, link, iframe, object, embed, form, a[href^='javascript']").count(), 0);
    await openEverything(page);
    const raw = (await page.locator("body").innerText()) + (await page.title());
    assert(!/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(raw), "an active character is in the text");
    assert.deepEqual([opened.said, opened.asked], [[], []]);
  },

  async "the policy stops what is not the page's own"({ browser, file }) {
    const other = join(dirname(file), "injected.html");
    writeFileSync(
      other,
      readFileSync(file, "utf8").replace(
        "<main>",
        '<main><script>window.pwned = 1</script><img src="https://evil.example/x.png"><style>h1 { display: none }</style><p onclick="window.pwned = 2" id="p">x</p>',
      ),
    );
    const opened = await open(browser, other);
    assert.match(await broken(opened), /something in it was changed after it was written/);
    await opened.page.locator("#p").click();
    assert.equal(await opened.page.evaluate(() => window.pwned), undefined);
    assert(await opened.page.locator("h1").isVisible());
    assert(opened.said.filter((line) => line.includes("Content Security Policy")).length >= 3, opened.said.join("\n"));
    const failed = await opened.page.evaluate(() => {
      try {
        document.body.innerHTML = "<b>x</b>";
        return "done";
      } catch (error) {
        return error.name;
      }
    });
    assert.equal(failed, "TypeError", "markup cannot be set from a script");
  },

  async "without JavaScript the verdict, the commits and the decisions can be read"({ file, modules }) {
    const { browser, stop } = await start(modules, { javaScriptEnabled: false });
    const opened = await open(browser, file, { javaScript: false });
    await openEverything(opened.page);
    const text = await opened.page.locator("body").innerText();
    for (const part of [
      "Not checked yet",
      "Nothing was checked yet: that takes JavaScript.",
      "When this page was written, git proof found: Proven. 2 of 3 proven · 1 not required · 1 open question.",
      "Limit attempts by address",
      "A token bucket in memory",
      "Rejected a counter",
      "Six digits, ten minutes",
      "Magic link: scanners use it up",
      "Works with the three mail providers",
      "Round 2",
      "git proof verify ",
    ])
      assert(text.includes(part), part);
    assert(!(await opened.page.locator("#search").isVisible()) && !(await opened.page.locator("#again").isVisible()));
    quiet(opened);
    await stop();
  },

  async "a proof that failed is shown as failed, with the reason"({ browser, program, kept }) {
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
    const from = project.git("rev-parse", "HEAD");
    project.commit("b", "y\n", "Two\n\nAssisted-by: an agent");
    project.git("notes", "--ref=proof", "copy", from, "HEAD");
    const opened = await open(browser, project.page("HEAD"));
    assert.equal(await opened.page.locator("h1").textContent(), "✘ 1 commit · 1 failed");
    assert.match(await opened.page.locator(".finding.error").first().textContent(), /BINDING_MISMATCH/);
    quiet(opened);
  },

  async "the page is walked with the keyboard, and its parts have names"({ browser, file }) {
    const { page } = await open(browser, file);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const summary = page.locator("details.trail > summary").first();
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.locator(".timeline").first().waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    assert.equal(await page.getByRole("searchbox", { name: "Filter sessions, commits and records" }).count(), 1);
    const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
    assert.equal(levels.filter((level) => level === 1).length, 1);
    levels.reduce((before, level) => {
      assert(level <= before + 1, "a level of headings is left out");
      return level;
    });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const low = await page.evaluate(lowContrast);
      assert.deepEqual(low, [], colorScheme);
    }
  },

  async "pictures can be taken of it, wide and narrow, light and dark, and on paper"({ browser, file, pictures }) {
    const { page } = await open(browser, file);
    for (const [width, colorScheme] of [
      [1280, "light"],
      [1280, "dark"],
      [390, "light"],
      [390, "dark"],
    ]) {
      await page.setViewportSize({ width, height: 860 });
      await page.emulateMedia({ colorScheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert(wide <= width, `${wide} wide on a screen of ${width}`);
      if (pictures) {
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: join(pictures, `report-${width}-${colorScheme}.png`), fullPage: true });
      }
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
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (
      !element.checkVisibility() ||
      ![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) ||
      element.closest("svg, script")
    )
      continue;
    const [one, two] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...low];
}
