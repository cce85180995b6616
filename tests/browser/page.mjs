// What the tests ask a page, and how they alter one.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const state = (page) => page.locator("#state").textContent();
export const quiet = ({ said, asked }) => {
  assert.deepEqual(said, []);
  assert.deepEqual(asked, []);
};
export const title = (page) => page.locator("h1").first().textContent();
export const claim = (page) => page.locator("#claim").textContent();
export const BROKEN = "✘ This page does not add up";
// The headline is broken, in words, and the page does not claim anything.
export const broken = async ({ page }, what) => {
  const breaks = await page.locator("#breaks").textContent();
  assert.equal(await title(page), BROKEN, what);
  assert(await page.locator("h1").first().isVisible(), what);
  assert.match(await claim(page), /^Do not rely on what it shows: .* run git proof verify .* in a clone\.$/, what);
  return breaks;
};
export const good = async (opened) => {
  assert.match(await state(opened.page), /^The records add up to the roots shown: /);
  assert.match(await title(opened.page), /^✔ \d+ of \d+ proven( · \d+ not required)?( · \d+ open questions?)?$/);
  assert.match(
    await claim(opened.page),
    /^The records add up to the roots shown\..* A page cannot vouch for itself: run git proof verify [^ ]+ in a clone\.$/,
  );
  assert.equal(await opened.page.locator("#check").getAttribute("class"), "good");
  assert.equal(await opened.page.locator(".ticks .broken, .state.broken, .round.broken, .mismatch").count(), 0);
  quiet(opened);
};

// The data block of a page, and the page with another one.
export const dataOf = (html) =>
  JSON.parse(/<script type="application\/json" id="data">([^]*?)<\/script>/.exec(html)[1]);
export const escaped = (value) =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
export function altered(file, change) {
  const html = readFileSync(file, "utf8"),
    data = dataOf(html);
  change(data);
  const other = join(dirname(file), `altered-${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(
    other,
    html.replace(
      /(<script type="application\/json" id="data">)[^]*?(<\/script>)/,
      (_, head, tail) => head + escaped(data) + tail,
    ),
  );
  return other;
}

// Opens the panel with what the page computes.
export const openPanel = (page) => page.locator("#check").evaluate((panel) => (panel.open = true));

// Opens whatever is closed, from the top. The next one is looked for after each click: what opens may bring others.
export async function openEverything(page) {
  const closed = page.locator("details:not([open]) > summary");
  while (await closed.count()) await closed.first().click();
}

// Opens the first trail of a session and gives the numbers of the lines that are red.
export async function redLines(page, session) {
  await page.locator(`.session[data-session="${session}"] details.trail > summary`).first().click();
  await page.locator(`.session[data-session="${session}"] .entry`).first().waitFor({ state: "attached" });
  return page
    .locator(`.session[data-session="${session}"] .entry.broken`)
    .evaluateAll((all) => all.map((one) => Number(one.dataset.line)));
}
