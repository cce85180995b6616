// That the program and the script of its page spell out the same characters: every code point is recorded, and the file is
// looked through for those that stand in it as they are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Project } from "./project.mjs";

const LAST = 0x10ffff;
const isSurrogate = (number) => number >= 0xd800 && number <= 0xdfff;

export const characters = {
  async "the script of the page spells out what the program spells out, of all code points"({ program, kept }) {
    const project = kept(new Project(program));
    const entries = [];
    for (let from = 1; from <= LAST; from += 0x20000) {
      let text = "";
      for (let number = from; number < Math.min(from + 0x20000, LAST + 1); number++)
        if (!isSurrogate(number)) text += String.fromCodePoint(number);
      entries.push(["analysis", text]);
    }
    project.proven({
      session: "s1",
      intent: "every code point but NUL",
      message: "All",
      files: { a: "x\n" },
      entries: [...entries, ["reflection", "r"]],
    });
    const html = readFileSync(project.page("HEAD"), "utf8");
    const block = /id="data">([^]*?)<\/script>/.exec(html)[1];
    const plain = new Set();
    for (const character of block) plain.add(character.codePointAt(0));
    const active = new Function(/const ACTIVE = .*;\n/.exec(html)[0] + "return ACTIVE;")();
    const differ = [];
    // Written as escapes for other reasons: they mean something in JSON or HTML.
    const also = new Set([..."\"\\<>&"].map((character) => character.codePointAt(0)));
    for (let number = 1; number <= LAST; number++) {
      if (isSurrogate(number)) {
        active.lastIndex = 0;
        assert(active.test(String.fromCharCode(number)), "a surrogate is spelled out");
        continue;
      }
      active.lastIndex = 0;
      const inScript = active.test(String.fromCodePoint(number));
      // Line ends and tabs are kept by the script, and by the program where a text has several lines.
      if (number === 9 || number === 10) assert(!inScript);
      else if (!also.has(number) && inScript === plain.has(number)) differ.push("U+" + number.toString(16));
    }
    assert.deepEqual(differ, []);
    assert(plain.size > 1_000_000, "the records are in the page");
  },
};
