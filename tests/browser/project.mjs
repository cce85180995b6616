// A scratch repository with recorded sessions, made by the real git and the program under test.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export class Project {
  constructor(program) {
    this.program = program;
    this.home = mkdtempSync(join(tmpdir(), "git-proof-browser-"));
    this.place = join(this.home, "place");
    mkdirSync(this.place);
    this.environment = {
      PATH: process.env.PATH,
      HOME: this.home,
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CEILING_DIRECTORIES: this.home,
      GIT_AUTHOR_NAME: "Ada Lovelace",
      GIT_AUTHOR_EMAIL: "ada@example.org",
      GIT_COMMITTER_NAME: "Ada Lovelace",
      GIT_COMMITTER_EMAIL: "ada@example.org",
      GIT_AUTHOR_DATE: "1772355660 +0000",
      GIT_COMMITTER_DATE: "1772355660 +0000",
    };
    this.git("init", "--quiet", "--initial-branch=main");
    this.commit("README.md", "hello\n", "First commit");
  }

  remove() {
    rmSync(this.home, { recursive: true, force: true });
  }

  run(program, given, options = {}) {
    return execFileSync(program, given, {
      cwd: this.place,
      env: this.environment,
      encoding: "utf8",
      stdio: "pipe",
      maxBuffer: 1 << 28,
      ...options,
    });
  }

  git(...given) {
    return this.run("git", given).trimEnd();
  }

  // The program with --json; its answer.
  proof(...given) {
    return JSON.parse(this.run(this.program, ["--json", ...given]));
  }

  write(file, text) {
    const path = join(this.place, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    this.git("add", "--", file);
  }

  commit(file, text, message) {
    this.write(file, text);
    this.git("commit", "--quiet", "--no-verify", "-m", message);
    return this.git("rev-parse", "HEAD");
  }

  record(type, content, ...more) {
    return JSON.parse(
      this.run(this.program, ["--json", "record", "--type", type, "--content-file", "-", ...more], { input: content }),
    );
  }

  // A session whose entries are [type, content, ...more arguments], and the commit that it explains. A function in the
  // place of the more arguments gets the records so far.
  proven({ session, intent, scheme = "v1", entries, files, message }) {
    for (const [file, text] of Object.entries(files)) this.write(file, text);
    this.proof(
      "start",
      "--intent",
      intent,
      "--session-id",
      session,
      "--scheme",
      scheme,
      "--caller",
      "agent 1.0 for Ada <ada@example.org>",
    );
    const records = [];
    for (const [type, content, ...more] of entries) {
      const extra = more.flatMap((one) => (typeof one === "function" ? one(records) : [one]));
      records.push(this.record(type, content, ...extra));
    }
    this.proof("finalize");
    this.git("commit", "--quiet", "--no-verify", "-m", message);
    this.proof("anchor", "--session", session);
    return this.git("rev-parse", "HEAD");
  }

  // Puts other evidence in the place of a session's.
  forge(session, change) {
    const { root } = this.proof("root", "--session", session);
    const name = `${root.slice(0, 2)}/${root}.jsonl`;
    const text = this.run("git", ["cat-file", "blob", `refs/proof/evidence:${name}`]);
    const put = (given, input) => this.run("git", given, { input }).trimEnd();
    const blob = put(["hash-object", "-w", "--stdin"], change(text));
    const inner = put(["mktree"], `100644 blob ${blob}\t${root}.jsonl\n`);
    const tree = put(["mktree"], `040000 tree ${inner}\t${root.slice(0, 2)}\n`);
    this.git("update-ref", "refs/proof/evidence", this.git("commit-tree", "-m", "forged", tree));
  }

  // The page of a commit that is other than what was proven, has its note all the same, and that Ada vouches for.
  vouched() {
    const key = join(this.home, "ada");
    this.run("ssh-keygen", ["-q", "-N", "", "-C", "", "-t", "ed25519", "-f", key]);
    this.git("checkout", "--quiet", "-b", "topic");
    const proven = this.proven({
      session: "s1",
      intent: "one",
      message: "One",
      files: { a: "x\n" },
      entries: [
        ["decision", "d"],
        ["reflection", "r"],
      ],
    });
    this.git("checkout", "--quiet", "main");
    const base = this.git("rev-parse", "HEAD");
    this.write(".proof/policy.toml", '[proof]\nvouchers = ["ada@x"]\n');
    this.write(".proof/allowed_signers", "ada@x " + readFileSync(`${key}.pub`, "utf8"));
    this.git("commit", "--quiet", "--no-verify", "-m", "Who may vouch");
    this.commit("a", "something else\n", "Squash (#7)\n\nProof-Grade: true");
    this.git("notes", "--ref=proof", "copy", proven, "HEAD");
    this.git("config", "gpg.format", "ssh");
    this.git("config", "user.signingkey", key);
    this.proof("vouch", "HEAD", "--for", `${base}..topic`, "--reason", "We both read it.");
    return this.page("HEAD");
  }

  // The page of a range. A verdict that is not yes is no error here.
  page(range, name = "report.html") {
    const file = join(this.home, name);
    try {
      this.run(this.program, ["report", range, "--html", file]);
    } catch (error) {
      if (![1, 3].includes(error.status)) throw error;
    }
    return file;
  }
}

// A small story, as a reviewer would get it.
export function story(program) {
  const project = new Project(program);
  project.proven({
    session: "t-88-store",
    intent: "Keep sessions across restarts",
    message: "Store sessions in SQLite",
    files: { "src/store.rs": "pub struct Store;\n", "migrations/0001.sql": "CREATE TABLE s (id);\n" },
    entries: [
      [
        "plan",
        "Sessions live in memory and are lost when the server restarts. Find a store that survives kill -9, without a service of its own.",
      ],
      [
        "analysis",
        "Measured on the target machine:\n- a JSON file rewritten per append: 4 ms at 100 sessions, 380 ms at 10,000\n- SQLite in WAL mode with synchronous=FULL: 0.32 ms, whatever the size",
      ],
      [
        "decision",
        "SQLite in WAL mode, one file per clone, synchronous=FULL.\nRejected: a JSON file per session; two writers lose a record, and a listing reads all of them.\nRejected: sled; no stable file format, and nobody here has debugged it at night.",
        "--metadata",
        '{"confidence":0.9}',
      ],
      ["reflection", "Survives kill -9 in 400 of 400 runs. Not tried: a full disk while the log is folded in."],
    ],
  });
  project.commit("docs/notes.md", "notes\n", "Fix a typo in the notes");
  project.proven({
    session: "t-89-login",
    intent: "Log in with a one-time code",
    message: "Log in with a one-time code\n\nAssisted-by: an agent",
    files: { "src/login.rs": "pub fn login() {}\n", "src/code.rs": "pub fn code() {}\n", "README.md": "hello again\n" },
    entries: [
      ["plan", "Replace passwords by a code that is sent by mail and holds for ten minutes."],
      [
        "analysis",
        "Magic links would be opened by mail scanners before the person does: three of the five largest providers prefetch.",
      ],
      ["decision", "Try a magic link with a confirmation button first.", "--parent", (records) => [records[0].id]],
      ["reflection", "Dead end: the button needs a page that works without cookies, and scanners press it as well."],
      [
        "decision",
        "Six digits, ten minutes, five attempts, then a new code. Compared in constant time.",
        "--parent",
        (records) => [records[1].id],
        "--metadata",
        '{"rejected":[{"option":"Magic link","reason":"scanners use it up"},{"option":"TOTP","reason":"needs an app before the first login"}]}',
      ],
      ["analysis", "The customer list that the load test used, with addresses.", "--private"],
      [
        "reflection",
        "Works with the three mail providers we have accounts at. Not tried: a clock that is wrong by more than ten minutes.",
      ],
    ],
  });
  project.proof("seal");
  project.proven({
    session: "t-90-limit",
    intent: "Limit attempts by address",
    message: "Limit attempts by address",
    files: { "src/limit.rs": "pub fn limit() {}\n" },
    entries: [
      [
        "decision",
        "A token bucket in memory, per /64 for IPv6. Rejected a counter in the store because every attempt would be a write.",
      ],
      ["reflection", "Holds 20,000 attempts/s on one core. A restart forgives everybody; that is accepted."],
    ],
  });
  project.proof("seal");
  return project;
}
