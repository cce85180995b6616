// The official TypeScript SDK as a client: a proof-grade task, and lines that are no message. Every request is answered.
//
//     node tests/mcp/client.mjs path/to/node_modules path/to/git-proof
//
// Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, program] = process.argv.slice(2).map((path) => resolve(path));
const sdk = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm", path)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");

const PATIENCE = 60_000; // milliseconds; an answer that takes longer is none
let passed = 0;
let failed = 0;

function expect(what, condition) {
  if (condition) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED: ${what}`);
  }
}

/** A client with a server of its own, and every line that the server says. */
async function connect(home) {
  const env = { PATH: process.env.PATH, HOME: home, GIT_CEILING_DIRECTORIES: home };
  const transport = new StdioClientTransport({ command: program, args: ["mcp"], cwd: home, env, stderr: "pipe" });
  const client = new Client({ name: "client.mjs", version: "1" });
  const complaints = [];
  transport.stderr.on("data", (text) => complaints.push(text));
  await client.connect(transport);
  let closed = false;
  client.onclose = () => (closed = true);
  // The SDK hands over only what it waits for. The same bytes are looked at here; nothing of them is taken away.
  const said = [];
  let [rest, wake] = ["", () => {}];
  transport._process.stdout.on("data", (bytes) => {
    const lines = (rest + bytes).split("\n");
    rest = lines.pop();
    said.push(...lines.map((line) => JSON.parse(line)));
    wake();
  });
  const answer = async () => {
    const deadline = Date.now() + PATIENCE;
    while (said.length === 0 && Date.now() < deadline) {
      await new Promise((done) => {
        wake = done;
        setTimeout(done, deadline - Date.now()).unref();
      });
    }
    return said.shift();
  };
  const write = (line) => transport._process.stdin.write(`${line}\n`);
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE });
    expect(`${name}: text and structured content are the same`, result.content[0].text === JSON.stringify(result.structuredContent));
    said.length = 0;
    return result.structuredContent;
  };
  const ok = async (name, args) => {
    const envelope = await call(name, args);
    expect(`${name} succeeds: ${JSON.stringify(envelope)}`, envelope.ok);
    return envelope.data;
  };
  return { client, answer, write, call, ok, said, isClosed: () => closed, complaints: () => complaints.join("") };
}

/** The sequence as the instructions of the server state it, and a proof in the form of the source documents. */
async function writeback({ ok, call }) {
  const { session_id } = await ok("audit_session_start", { intent: "a task in TypeScript" });
  const plan = await ok("thought_record", { session_id, type: "plan", content: "read first, then write" });
  await ok("thought_record", { session_id, type: "decision", content: "a log; rejected: a journal" });
  await ok("memory_put", { session_id, text: "a note" });
  const packed = await ok("memory_pack", { session_id });
  expect("packing records an analysis", packed.analysis.type === "analysis");
  const early = await call("merkle_finalize", { session_id });
  expect("packing does not close a session", early.error?.code === "ERR_REFLECTION_REQUIRED");
  await ok("thought_record", { session_id, type: "reflection", content: "it went well" });
  const { root, record_count } = await ok("merkle_finalize", { session_id });
  const { leaf_hash, proof } = await ok("merkle_proof", { record_id: plan.id });
  const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
  let node = Buffer.from(leaf_hash, "hex");
  for (const { hash, position } of proof) {
    const other = Buffer.from(hash, "hex");
    node = position === "right" ? sha256(node, other) : sha256(other, node);
  }
  expect("the path leads to the root", node.toString("hex") === root);
  const led = await ok("merkle_verify", { leaf_hash, proof, root });
  expect("without a count the answer says so", led.valid && led.count_checked === false && led.not_checked.length > 0);
  const held = await ok("merkle_verify", { leaf_hash, proof, root, count: record_count });
  expect("with a count it is checked", held.valid && held.count_checked && held.index === 0);
  await ok("audit_session_end", { session_id });
}

/** What the SDK itself sends without a second thought. */
async function careless({ client, ok }) {
  const { session_id } = await ok("audit_session_start", { intent: "careless" });
  const deep = (levels) => (levels === 0 ? 1 : { a: deep(levels - 1) });
  for (const [what, args, code] of [
    ["half an emoji", { content: "🙂".slice(0, 1) }, -32700],
    ["deep nesting", { content: "x", metadata: deep(200) }, -32700],
    ["a long line", { content: "x".repeat(17 << 20) }, -32600],
  ]) {
    const call = { name: "thought_record", arguments: { session_id, type: "plan", ...args } };
    const error = await client.callTool(call, undefined, { timeout: PATIENCE }).catch((error) => error);
    expect(`${what}: the call fails with ${code}: ${error}`, error.code === code);
  }
}

/** What no client library sends: raw bytes to the same process. */
async function malformed({ client, answer, write, said, isClosed }) {
  let reported = 0;
  for (const { what, line, code, ids } of JSON.parse(readFileSync(new URL("malformed.json", import.meta.url), "utf8"))) {
    said.length = 0;
    write(line.map(([text, times]) => text.repeat(times)).join(""));
    for (const id of ids) {
      const found = await answer();
      expect(`${what}: answered to ${id}: ${JSON.stringify(found)}`, found?.id === id);
      const error = (found?.result?.structuredContent ?? found)?.error;
      expect(`${what}: refused with ${code}: ${JSON.stringify(found)}`, error?.code === code);
    }
    reported += typeof code === "number" ? 1 : 0;
    const pong = await client.ping({ timeout: PATIENCE }).catch((error) => error);
    expect(`${what}: the server goes on, and so does the client: ${pong}`, Object.keys(pong).length === 0 && !isClosed());
  }
  return reported;
}

const home = mkdtempSync(join(tmpdir(), "client-"));
try {
  for (const args of [["init", "-q"], ["config", "user.name", "A U Thor"], ["config", "user.email", "a@example.com"]]) {
    execFileSync("git", args, { cwd: home });
  }
  const connection = await connect(home);
  await writeback(connection);
  await careless(connection);
  const reported = (await malformed(connection)) + 3; // and those of careless
  await connection.client.close();
  const lines = connection.complaints().split("\n").length - 1;
  expect(`each line is reported once: ${lines} of ${reported}`, lines === reported);
} finally {
  rmSync(home, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
