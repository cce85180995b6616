// The page of `git proof report --html` in headless Chromium: node run.mjs PROGRAM MODULES [PICTURES]
//
// PROGRAM is git-proof, MODULES the directory where playwright-core was installed; pictures of the page are written to
// PICTURES. With ONLY=words in the environment, only the tests whose name has these words are run.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { addingUp } from "./adding-up.mjs";
import { characters } from "./characters.mjs";
import { start } from "./chromium.mjs";
import { edited } from "./edited.mjs";
import { story } from "./project.mjs";
import { layout } from "./layout.mjs";
import { reading } from "./reading.mjs";
import { speed } from "./speed.mjs";

const [given, modules, pictures] = process.argv.slice(2);
assert(modules, "usage: node run.mjs PROGRAM MODULES [PICTURES]");
const program = resolve(given);

const projects = [];
const kept = (project) => {
  projects.push(project);
  return project;
};
const only = process.env.ONLY;
const shared = kept(story(program));
const file = shared.page("HEAD~3..HEAD");
const { browser, stop } = await start(modules);
let failed = 0;
for (const [name, test] of Object.entries({ ...addingUp, ...edited, ...characters, ...reading, ...layout, ...speed })) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    await test({ browser, file, program, modules, pictures, kept, shared });
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
