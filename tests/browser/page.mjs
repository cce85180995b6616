// What the tests ask a page, and how they alter one.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const state = (page) => page.locator("#state").textContent();
export const quiet = ({ said, asked }) => {
  assert.deepEqual(said, []);
  assert.deepEqual(asked, []);
};
export const good = async (opened) => {
  assert.match(await state(opened.page), /^✓ All of it adds up: /);
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

// Opens the first trail of a session and gives the numbers of the lines that are red.
export async function redLines(page, session) {
  await page.locator(`.session[data-session="${session}"] details.trail > summary`).first().click();
  await page.locator(`.session[data-session="${session}"] .entry`).first().waitFor({ state: "attached" });
  return page
    .locator(`.session[data-session="${session}"] .entry.broken`)
    .evaluateAll((all) => all.map((one) => Number(one.dataset.line)));
}
