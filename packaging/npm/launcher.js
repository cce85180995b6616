#!/usr/bin/env node
// Runs the binary that npm installed for this machine, as if it had been called itself: its input and output are ours, it gets
// the signals that we get, and we end as it ends.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;

function find() {
  try {
    return require.resolve(`@git-proof/${platform}/bin/git-proof`);
  } catch {
    console.error(`error: git-proof is installed without a binary for ${platform}`);
    console.error("hint: install it without --omit=optional, or build it: cargo install git-proof --locked");
    process.exit(3); // could not
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of signals) process.on(signal, () => child.kill(signal));

child.on("error", (error) => {
  console.error(`error: git-proof cannot be started: ${error.message}`);
  console.error("hint: reinstall it: npm install git-proof");
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const name of signals) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
