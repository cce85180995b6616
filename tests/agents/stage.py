"""The stage of one test: a remote, a clone in which an agent works, a home folder, and fresh clones to look from.

A test calls `expect` for everything that must hold; it goes on after a failure, so that one run shows all of them.
"""

import json
import os
import pathlib
import shutil
import signal
import string
import subprocess

from model import AFTER_THE_END, Conversation

SCRIPTS = pathlib.Path(__file__).parent / "scripts"
SECRET = "ghp_" + "".join(f"{number:02d}Xy" for number in range(9))  # looks like a token of a forge
AGENT_SECONDS = 600  # an agent that hangs fails its test


class Refused(Exception):
    """A command failed that had to succeed for the test to go on."""


class Stage:
    def __init__(self, root, binary, modules, server, agent, test):
        self.agent = agent
        self.root = root
        self.modules = modules
        self.failures = []
        self.runs = []
        self.clones = 0
        self.home, self.bin, self.remote, self.repo = root / "home", root / "bin", root / "remote.git", root / "repo"
        for folder in (self.home, self.bin):
            folder.mkdir(parents=True)
        os.link(binary, self.bin / "git-proof")
        self.conversation = Conversation()
        self.url = server.open(f"{agent.name}-{test}", self.conversation)
        self.folders = [self.repo]
        self.make_repository()

    def make_repository(self):
        (self.home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n")
        self.git("init", "-q", "--bare", str(self.remote), cwd=self.root)
        self.git("clone", "-q", str(self.remote), str(self.repo), cwd=self.root)
        self.identify(self.repo)
        # `make test` passes once the importer is there; `make check` fails.
        (self.repo / "Makefile").write_text("test:\n\t@test -e importer.txt\ncheck:\n\t@exit 3\n")
        self.add_agent(self.agent)

    def add_agent(self, agent):
        """Sets the repository up for an agent, and the agent up for the repository."""
        for name in (agent.name, *agent.beside):
            self.proof("init", "--agent", name)
        self.git("add", "--all")
        self.git("commit", "-qm", f"Set up {agent.name}")
        self.git("push", "-q", "origin", "HEAD")
        agent.prepare(self.home, self.folders, self.url)

    def identify(self, folder):
        # In the repository's own configuration: the shell of Gemini CLI hides the global one.
        self.git("config", "user.name", "Ada", cwd=folder)
        self.git("config", "user.email", "ada@example.com", cwd=folder)

    def add_folder(self, folder):
        """Lets the agent trust another folder."""
        self.folders.append(folder)
        self.agent.prepare(self.home, self.folders, self.url)

    # What people and agents do

    def environment(self):
        """What a shell of the user has; nothing of the environment of this test gets in."""
        path = [str(self.bin), str(self.modules / ".bin"), "/usr/local/bin", "/usr/bin", "/bin"]
        home = {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        return home | {"PATH": ":".join(path), "TERM": "dumb", "LANG": "C.UTF-8"}

    def git(self, *arguments, cwd=None, check=True):
        """Runs git as a person would, and returns what it printed."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.repo,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if check and done.returncode != 0:
            raise Refused(f"git {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def proof(self, *arguments, cwd=None, check=True):
        return self.git("proof", *arguments, cwd=cwd, check=check)

    def commit(self, path, message):
        """A person's commit."""
        (self.repo / path).write_text(f"{message}\n")
        self.git("add", path)
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def start(self, name, script=None, folder=None, session=None, more=(), agent=None):
        """Starts the agent with a prompt for the script; `name` tells apart several of one script, `more` are arguments."""
        folder = folder or self.repo
        self.add_script(name, script, folder)
        agent = agent or self.agent
        command = [*agent.command(f"[script {name}] Work on {name}.", session), *more]
        run = Run(self, name, command, agent.environment(self.home, self.url), folder)
        self.runs.append(run)
        return run

    def add_script(self, name, script=None, folder=None):
        """Gives the model a script to follow."""
        text = (SCRIPTS / f"{script or name}.json").read_text()
        steps = json.loads(string.Template(text).substitute({"NAME": name, "STAGE": str(self.root), "SECRET": SECRET}))
        self.conversation.add(name, steps, folder or self.repo)

    def run(self, name, script=None, **how):
        """Runs the agent to its end, which must be a good one."""
        return self.start(name, script, **how).finish()

    def requests(self, name):
        """What the model was asked while it followed a script."""
        return [request for script, request in self.conversation.requests if script == name]

    def clone(self):
        """A fresh clone with the proofs fetched, as a reviewer has it."""
        self.clones += 1
        folder = self.root / f"clone-{self.clones}"
        self.git("clone", "-q", str(self.remote), str(folder), cwd=self.root)
        self.proof("sync", cwd=folder)
        return Clone(self, folder)

    # Expectations

    def expect(self, what, holds, seen=None):
        if not holds:
            self.failures.append(what if seen is None else f"{what}; seen: {seen}")
        return holds

    def expect_equal(self, what, seen, wanted):
        return self.expect(f"{what}: {wanted!r}", seen == wanted, repr(seen))

    def expect_no_open_session(self):
        status = self.proof("status", "--json", check=False)
        if self.expect("git proof status --json answers", status):
            self.expect_equal("open sessions at the end", json.loads(status)["open_sessions"], [])

    def finish(self):
        """Ends what is still running and says which expectations failed."""
        for run in self.runs:
            run.kill()
        self.failures += [f"the model: {problem}" for problem in self.conversation.problems]
        return self.failures

    def keep_logs(self):
        """Writes down what the model was asked, beside what the agents printed."""
        for number, (name, request) in enumerate(self.conversation.requests):
            (self.root / f"request-{number:03}-{name}.json").write_text(json.dumps(request.body, indent=1))

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Run:
    """A run of an agent, in a process group of its own."""

    def __init__(self, stage, name, command, environment, folder):
        self.stage, self.name = stage, name
        self.files = [stage.root / f"{name}.{kind}" for kind in ("out", "err")]
        out, err = (open(file, "wb") for file in self.files)
        with out, err:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=stage.environment() | environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def wait_for(self, hold):
        """Waits until the model is asked for the step with that hold."""
        return self.stage.expect(f"{self.name} reaches {hold}", self.stage.conversation.wait_for(hold))

    def is_up(self):
        """Waits until the agent asks the model for the first time, and returns the run."""
        self.wait_for(f"{self.name}-asked")
        return self

    def release(self, hold):
        self.stage.conversation.release(hold)

    def finish(self):
        """Waits for the end of the agent, which must be a good one and without a word that the script does not have."""
        try:
            code = self.process.wait(AGENT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            code = "it did not end"
        self.stage.expect_equal(f"{self.name}: exit code", code, 0)
        self.stage.expect(f"{self.name}: the model was asked for an answer too many", AFTER_THE_END not in self.output())
        return self

    def kill(self):
        """Ends the agent and what it started, without a chance to clean up."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def output(self):
        return self.files[0].read_text(errors="replace")

    def errors(self):
        return self.files[1].read_text(errors="replace")


class Clone:
    """What a reviewer sees."""

    def __init__(self, stage, folder):
        self.stage, self.folder = stage, folder

    def commit(self, subject):
        """The commit with that subject; None if there is not exactly one."""
        log = self.stage.git("log", "--format=%H %s", "--branches", "--remotes", cwd=self.folder)
        ids = [line[:40] for line in log.splitlines() if line[41:] == subject]
        return ids[0] if self.stage.expect_equal(f"commits with the subject {subject}", len(ids), 1) else None

    def verdict(self, commit):
        """How the commit stands."""
        return json.loads(self.stage.proof("verify", "--json", commit, cwd=self.folder, check=False))["commits"][0]

    def show(self, commit):
        return json.loads(self.stage.proof("show", "--json", commit, cwd=self.folder, check=False))

    def records(self, commit):
        """The published evidence of each session of the commit, read with plain git."""
        return [Record(self.evidence(session["root"])) for session in self.verdict(commit)["sessions"]]

    def evidence(self, root):
        return self.stage.git("cat-file", "blob", f"refs/proof/evidence:{root[:2]}/{root}.jsonl", cwd=self.folder)

    def proven(self, subject):
        """Expects the commit with that subject to be proven by one session that covers it, and returns the session."""
        commit = self.commit(subject)
        if commit is None:
            return None
        verdict = self.verdict(commit)
        expect, where = self.stage.expect_equal, f"{subject}:"
        expect(f"{where} verdict", verdict["verdict"], "pass")
        if not expect(f"{where} sessions", len(verdict["sessions"]), 1):
            return None
        expect(f"{where} the session covers it", verdict["sessions"][0]["rooted"], True)
        record = self.records(commit)[0]
        record.verdict = verdict["sessions"][0]
        record.commit = commit
        return record

    def nobodys(self, commit):
        """Expects that no session claims a commit, neither in its message nor in a note."""
        verdict = self.verdict(commit)
        message = self.stage.git("log", "-1", "--format=%B", commit, cwd=self.folder)
        self.stage.expect(f"{verdict['subject']}: no trailer", "Proof-" not in message, message)
        self.stage.expect_equal(f"{verdict['subject']}: sessions", verdict["sessions"], [])


class Record:
    """The published evidence of a session."""

    def __init__(self, text):
        self.text = text
        self.opening, *self.lines = [json.loads(line) for line in text.splitlines()]

    def observed(self, what):
        """The values of the observed entries of one kind."""
        found = []
        for line in self.lines:
            value = json.loads(line["attest"]) if "attest" in line else {}
            if what in value.get("observed", {}):
                found.append(value["observed"][what])
        return found

    def commits(self):
        """The commits that it attests."""
        values = [json.loads(line["attest"]) for line in self.lines if "attest" in line]
        return [value["git"]["commit"] for value in values if "git" in value]

    def closing(self):
        """The closing reflection: its text, and the event if it was observed."""
        line = self.lines[-1]
        return line.get("content"), event(line)

    def texts(self, kind):
        return [line["content"] for line in self.lines if line.get("type") == kind]

    def withheld(self):
        return [line for line in self.lines if "withheld" in line]

    def continues(self):
        return (self.lines[0].get("metadata") or {}).get("continues")


def event(line):
    """The event of an observed record; None for a stated one."""
    return ((line.get("metadata") or {}).get("observed") or {}).get("event")
