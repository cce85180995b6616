// A range as reviewers get it: sessions of an agent whose hooks were seen, several commits each, some that nobody proved.

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Project } from "./project.mjs";

const WORK = [
  {
    intent: "Keep sessions across restarts",
    decided:
      "SQLite in WAL mode, one file a clone, synchronous=FULL.\nRejected: a JSON file a session; two writers lose a record.\nRejected: sled; no stable file format.",
    done: "Survives kill -9 in 400 of 400 runs. Uncertain: a full disk while the log is folded in.",
    commits: ["Store sessions in SQLite", "Migrate the old files", "Test the store against kill -9"],
  },
  {
    intent: "Log in with a one-time code",
    decided:
      "Six digits, ten minutes, five attempts, then a new code. Compared in constant time.\nRejected: a magic link; mail scanners use it up.",
    done: "Works with three mail providers. Not tried: a clock that is wrong by more than ten minutes.",
    commits: ["Send a one-time code", "Compare codes in constant time", "Expire codes after ten minutes"],
  },
  {
    intent: "Limit attempts by address",
    decided: "A token bucket in memory, per /64 for IPv6. Rejected a counter in the store because every attempt would be a write.",
    done: "Holds 20,000 attempts a second on one core. Uncertain: addresses behind one carrier's NAT.",
    commits: ["Limit attempts by address", "Answer 429 with Retry-After", "Log refused attempts"],
  },
  {
    intent: "Make the importer idempotent",
    decided: "One transaction a file, keyed by its hash.\nRejected: savepoints a row; a crash leaves half of a file.",
    done: "Importing twice changes nothing.",
    commits: ["Import in one transaction", "Skip files that were imported", "Report what was skipped"],
  },
  {
    intent: "Show invoices in the customer's time zone",
    decided: "Keep UTC in the store and convert at the edge.\nRejected: local times in the store; they repeat in autumn.",
    done: "All reports agree. Uncertain: customers without a time zone get UTC for now.",
    commits: ["Convert invoice times at the edge", "Ask for the time zone", "Print the zone beside each time"],
  },
  {
    intent: "Retry webhooks with backoff",
    decided: "Five attempts with full jitter, then a dead letter.\nRejected: retry for ever; a dead endpoint fills the queue.",
    done: "Delivered 10,000 of 10,000 with a third of the endpoints down.",
    commits: ["Retry webhooks with backoff", "Keep dead letters for a week", "Count retries"],
  },
];

// `full` sends every event; without it only what makes commits proven, which is faster.
export function range(program, sessions, { full = true, unproven = 2 } = {}) {
  const project = new Project(program);
  project.environment.PATH = `${dirname(program)}:${project.environment.PATH}`;
  project.run(program, ["init"]);
  project.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "Begin");
  const base = project.git("rev-parse", "HEAD");
  let made = 0;
  for (let number = 0; number < sessions; number++) {
    const work = WORK[number % WORK.length];
    const id = `agent-${number + 1}`;
    const transcript = join(project.home, `${id}.jsonl`);
    writeFileSync(transcript, '{"model":"m-1","version":"1.2","message":{"model":"m-1"}}\n');
    const shell = { env: { ...project.environment, CLAUDE_CODE_SESSION_ID: id } };
    let calls = 0;
    const send = (name, more) =>
      project.run(program, ["hook", "claude-code"], {
        input: JSON.stringify({
          hook_event_name: name,
          session_id: id,
          cwd: project.place,
          transcript_path: transcript,
          ...more,
        }),
      });
    const tool = (tool_name, tool_input, tool_response) => {
      const call = { tool_name, tool_input, tool_use_id: `call-${++calls}` };
      if (tool_name === "Bash") send("PreToolUse", call);
      send("PostToolUse", { ...call, tool_response });
    };
    const proof = (...given) => project.run(program, given, shell);
    project.git("config", "proof.prompts", "publish");
    send("SessionStart", { source: "startup" });
    send("UserPromptSubmit", { prompt: work.intent });
    if (number < unproven) project.commit(`alone-${number}`, "x\n", `Tidy up ${number + 1}\n\nAssisted-by: an agent`), made++;
    work.commits.forEach((message, at) => {
      const file = `src/part-${number}-${at}.rs`;
      project.write(file, `// ${message}\n`);
      if (full) {
        tool("Write", { file_path: join(project.place, file) }, { type: "create" });
        if (at === 0) proof("decide", work.decided);
        if (at === 1 || number % 2 === 0) tool("Bash", { command: "cargo test" }, { stdout: "", interrupted: false });
      }
      project.run("git", ["commit", "--quiet", "-m", message], shell);
      made++;
    });
    if (!full) proof("decide", work.decided);
    proof("done", work.done);
    send("SessionEnd", { reason: "other" });
  }
  return { project, range: `${base}..HEAD`, commits: made };
}
