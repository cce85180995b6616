// Chromium as a reader has it, but for what it would do behind their back; and what a page did that it should not have.

import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// Starts Chromium with a profile of its own; `modules` is where playwright-core was installed.
export async function start(modules, options = {}) {
  const { chromium } = createRequire(resolve(modules, "x"))("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "git-proof-profile-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    ...options,
  });
  return {
    browser,
    stop: async () => {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// Opens a file and waits until the page has checked itself. `said` collects what the console heard, `asked` every request
// but that for the file itself.
export async function open(browser, file, { javaScript = true, before } = {}) {
  const page = await browser.newPage();
  const url = pathToFileURL(file).href;
  const said = [],
    asked = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    said.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) asked.push(request.url());
  });
  if (before) await before(page);
  await page.goto(url);
  if (javaScript) await page.waitForSelector("html[data-checked]", { state: "attached", timeout: 60_000 });
  return { page, said, asked };
}
