#!/usr/bin/env python3
"""How many instructions the program executes, which a busy machine does not change: a regression shows where times only vary.

    benches/instructions.py                           # target/release/git-proof
    benches/instructions.py target/debug/git-proof    # what CI does: it has no release build
    benches/instructions.py --update [BINARY]         # writes what it counts into benches/instructions.json

Counts of start-up, `record` and `gate` are compared with those of the file, of the same profile. They depend on the compiler and on
the libraries of the system, so where those are others, nothing is compared, and it says so. Exit code 1: a count is above its
reference by more than the tolerance. One that is below by as much deserves a new reference, and it says that. Needs valgrind.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "instructions.json"
MOST, LEAST = 1.08, 0.92
# Ids are random, and maps are seeded at random: the counts of two runs differ by a thousandth.
RUNS = 1
CONTENT = (
    "Chose the write-ahead log over the rollback journal: readers go on while a writer commits. "
    "Rejected: one file per record, which would need a directory sync for each."
)


class Scratch:
    """A repository in which nothing depends on who runs this, where, or when."""

    def __init__(self, directory, binary):
        self.path = Path(directory) / "repository"
        self.binary = binary
        self.environment = {
            "GIT_AUTHOR_DATE": "1700000000 +0000",
            "GIT_COMMITTER_DATE": "1700000000 +0000",
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": directory,
            "LC_ALL": "C",
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
        }
        self.path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A U Thor")
        self.git("config", "user.email", "a@example.com")
        self.git("commit", "-q", "--allow-empty", "-m", "the first")

    def run(self, *command):
        done = subprocess.run(command, cwd=self.path, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def git(self, *arguments):
        self.run("git", *arguments)

    def proof(self, *arguments):
        self.run(self.binary, *arguments)

    def anchored_commit(self, number):
        """A commit with a session of its own."""
        self.proof("start", "--intent", "one of ten", "--session-id", f"session-{number}")
        (self.path / f"file-{number}").write_text("".join(f"line {line} of {number}\n" for line in range(20)))
        self.git("add", ".")
        self.proof("record", "--type", "decision", "--content", CONTENT)
        self.proof("record", "--type", "reflection", "--content", "It holds.")
        self.proof("finalize")
        self.git("commit", "-q", "-m", f"change {number}")
        self.proof("anchor")

    def count(self, *arguments):
        """The instructions of a command, without those of the git processes that it starts."""
        valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        found = re.search(r"Collected\s*:\s*(\d+)", self.run(*valgrind, self.binary, *arguments).stderr)
        if not found:
            sys.exit("valgrind did not say what it collected")
        return int(found.group(1))


def counts(binary):
    with tempfile.TemporaryDirectory() as directory:
        scratch = Scratch(directory, binary)
        for number in range(10):
            scratch.anchored_commit(number)
        scratch.proof("start", "--intent", "measure", "--session-id", "open")
        commands = {
            "--version": ("--version",),
            "record": ("record", "--type", "analysis", "--content", CONTENT),
            "gate of 10 commits": ("gate", "--base", "main~10", "--head", "main"),
        }
        # Once is enough: ids and the seeds of maps are random, but the counts of two runs differ by a thousandth.
        return {name: scratch.count(*arguments) for name, arguments in commands.items()}


def toolchain():
    """What the counts depend on, besides the code."""
    rustc = subprocess.run(("rustc", "--version"), capture_output=True, text=True, check=True).stdout.strip()
    valgrind = subprocess.run(("valgrind", "--version"), capture_output=True, text=True, check=True).stdout.strip()
    return {"libc": " ".join(platform.libc_ver()), "machine": platform.machine(), "rustc": rustc, "valgrind": valgrind}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", type=Path, default=HERE.parent / "target/release/git-proof")
    parser.add_argument("--update", action="store_true", help="write the counts as the new reference")
    options = parser.parse_args()
    binary = options.binary.resolve()
    if not binary.is_file():
        sys.exit(f"{options.binary}: there is no such program; build it first")
    profile = binary.parent.name
    stored = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {}
    tools, counted = toolchain(), counts(binary)
    if options.update:
        stored[profile] = {"counts": counted, "toolchain": tools}
        REFERENCE.write_text(json.dumps(stored, indent=2, sort_keys=True) + "\n")
    reference = stored.get(profile)
    if reference is None or reference["toolchain"] != tools:
        why = f"no reference for the profile {profile}" if reference is None else f"the reference is of {reference['toolchain']}"
        print(f"not compared: {why}\nhere: {tools}")
        reference = {"counts": {}}
    ratios = []
    print("| instructions | counted | reference | ratio | target | met |\n|---|--:|--:|--:|--:|---|")
    for name, count in counted.items():
        before = reference["counts"].get(name)
        if before is None:
            print(f"| {name} | {count:,} | – | – | – | – |")
            continue
        ratios.append(count / before)
        met = "yes" if ratios[-1] <= MOST else "**no**"
        print(f"| {name} | {count:,} | {before:,} | {ratios[-1]:.3f} | ≤ {MOST} | {met} |")
    slower = any(ratio > MOST for ratio in ratios)
    if slower or any(ratio < LEAST for ratio in ratios):
        print("If that is meant, run this again with --update: the counts become the reference.", file=sys.stderr)
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
