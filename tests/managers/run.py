#!/usr/bin/env python3
"""Managers of git's hooks, as npm and PyPI install them: run.py GIT_PROOF NODE_MODULES PRE_COMMIT [NAME...]

Each is set up before and after git-proof and taken out in both orders. What `init` prints is pasted as a person would. A colleague
without git-proof commits and pushes with exit code 0, and nothing of what others wrote is lost.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HOOKS = ["commit-msg", "post-commit", "post-rewrite", "pre-push"]


class Stage:
    """A repository with a remote, a home of its own, and the programs that are wanted on the path."""

    def __init__(self, folder, program, tools):
        self.around = Path(folder)
        self.place = self.around / "place"
        self.place.mkdir()
        (self.around / "home").mkdir()
        self.with_us = self.around / "with"
        self.with_us.mkdir()
        (self.with_us / "git-proof").symlink_to(program)
        self.tools = tools
        for line in ["init --quiet --bare --initial-branch=main ../remote.git", "init --quiet --initial-branch=main",
                     "config user.name Ada", "config user.email ada@example.org", "remote add origin ../remote.git"]:
            self.git(*line.split())

    def environment(self, us=True):
        path = [str(self.with_us)] if us else []
        path += [str(tool) for tool in self.tools] + [part for part in os.environ["PATH"].split(":") if part
                                                     and not (Path(part) / "git-proof").exists()]
        return {"PATH": ":".join(path), "HOME": str(self.around / "home"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                "GIT_CONFIG_NOSYSTEM": "1", "PRE_COMMIT_HOME": str(self.around / "home/pre-commit"), "CI": ""}

    def run(self, *words, us=True, code=0):
        ran = subprocess.run(words, cwd=self.place, env=self.environment(us), capture_output=True, text=True)
        if code is not None and ran.returncode != code:
            sys.exit(f"{' '.join(words)} ended with {ran.returncode}, not {code}\n{ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def git(self, *words, **more):
        return self.run("git", *words, **more)

    def proof(self, *words, code=0):
        ran = subprocess.run(["git-proof", "--json", *words], cwd=self.place, env=self.environment(), capture_output=True,
                             text=True)
        if code is not None and ran.returncode != code:
            sys.exit(f"git-proof {' '.join(words)} ended with {ran.returncode}, not {code}\n{ran.stdout}{ran.stderr}")
        return json.loads(ran.stdout or "null")

    def write(self, path, text, executable=False):
        path = self.place / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(0o755)


class Manager:
    """What differs between them. `ours` is a hook of the project that must keep running: it writes a file."""

    def __init__(self, stage):
        self.stage = stage

    def paste(self, pastes):
        for paste in pastes:
            path = self.stage.place / paste["file"]
            old = path.read_text() if path.exists() else ""
            self.stage.write(paste["file"], old + paste["lines"], executable=True)


class Husky(Manager):
    name = "husky"

    def install(self):
        self.stage.write(".husky/pre-commit", "touch theirs-ran\n", executable=True)
        self.stage.run("husky")

    def uninstall(self):
        self.stage.git("config", "--unset", "core.hooksPath")
        shutil.rmtree(self.stage.place / ".husky")


class Lefthook(Manager):
    name = "lefthook"

    def install(self):
        self.stage.write("lefthook.yml", "pre-commit: {commands: {theirs: {run: touch theirs-ran}}}\n")
        self.stage.run("lefthook", "install", "--force")

    def after_paste(self):
        self.stage.run("lefthook", "install", "--force")

    def uninstall(self):
        self.stage.run("lefthook", "uninstall")
        (self.stage.place / "lefthook.yml").unlink(missing_ok=True)
        shutil.rmtree(self.stage.place / ".lefthook", ignore_errors=True)


class PreCommit(Manager):
    name = "pre-commit"

    def install(self):
        self.stage.write(".pre-commit-config.yaml", "repos:\n  - repo: local\n    hooks:\n      - {id: theirs, name: theirs, "
                         "entry: touch theirs-ran, language: system, always_run: true, pass_filenames: false}\n")
        self.stage.git("add", ".pre-commit-config.yaml")
        self.stage.run("pre-commit", "install", "--overwrite")

    def after_paste(self):
        self.stage.git("add", ".pre-commit-config.yaml")
        types = [word for hook in HOOKS for word in ("--hook-type", hook)]
        self.stage.run("pre-commit", "install", "--overwrite", "--hook-type", "pre-commit", *types)

    def uninstall(self):
        types = [word for hook in [*HOOKS, "pre-commit"] for word in ("--hook-type", hook)]
        self.stage.run("pre-commit", "uninstall", *types)
        self.stage.git("rm", "--quiet", "-f", "--cached", ".pre-commit-config.yaml")
        (self.stage.place / ".pre-commit-config.yaml").unlink()


class SimpleGitHooks(Manager):
    name = "simple-git-hooks"

    def settings(self, hooks):
        self.stage.write("package.json", json.dumps({"name": "x", "simple-git-hooks": hooks}) + "\n")
        self.stage.run("simple-git-hooks")

    def install(self):
        self.settings({"pre-commit": "touch theirs-ran"})

    def paste(self, pastes):
        package = json.loads((self.stage.place / "package.json").read_text())
        ours = json.loads("{" + pastes[0]["lines"] + "}")
        self.settings({**package["simple-git-hooks"], **ours})

    def uninstall(self):
        self.settings({})
        (self.stage.place / "package.json").unlink()


class HooksPath(Manager):
    name = "hooks-path"

    def install(self):
        self.folder = self.stage.around / "home/hooks"
        self.folder.mkdir()
        hook = self.folder / "pre-commit"
        hook.write_text("#!/bin/sh\ntouch theirs-ran\n")
        hook.chmod(0o755)
        self.stage.git("config", "--global", "core.hooksPath", str(self.folder))

    def uninstall(self):
        self.stage.git("config", "--global", "--unset", "core.hooksPath")
        shutil.rmtree(self.folder)


MANAGERS = [Husky, Lefthook, PreCommit, SimpleGitHooks, HooksPath]


def change(stage, text):
    stage.write("file", text + "\n")
    stage.git("add", "file")


def works(stage, manager, session):
    """A session is recorded, committed, closed, pushed and proven; their own hook runs."""
    stage.proof("start", "--intent", "try it", "--session-id", session)
    change(stage, session)
    (stage.place / "theirs-ran").unlink(missing_ok=True)
    stage.git("commit", "--quiet", "-m", session)
    assert (stage.place / "theirs-ran").exists(), "their hook did not run"
    message = stage.git("log", "-1", "--format=%B")
    assert f"Proof-Session: {session}" in message, message
    stage.proof("record", "--type", "reflection", "--content", "It works.")
    stage.proof("finalize")
    stage.git("push", "--quiet", "-u", "origin", "main")
    assert "refs/notes/proof" in stage.git("ls-remote", "origin"), "pre-push did not share the proofs"
    assert stage.proof("verify")["verdict"] == "pass"
    # A push that changes no file is judged as well: its proofs are shared.
    stage.proof("start", "--intent", "nothing", "--session-id", session + "-empty")
    stage.git("commit", "--quiet", "--allow-empty", "-m", "empty")
    stage.proof("record", "--type", "reflection", "--content", "Nothing changed.")
    stage.proof("finalize")
    stage.git("push", "--quiet")
    assert stage.proof("status")["unpublished"] == [], "pre-push did not run"
    colleague(stage, session)


def colleague(stage, name):
    """Somebody without git-proof commits and pushes."""
    change(stage, f"{name} by a colleague")
    stage.git("commit", "--quiet", "-m", "colleague", us=False)
    said = stage.git("push", "--quiet", us=False)
    assert "git-proof is not found" not in said, said


def set_up(stage, manager):
    """What a person does: runs init, pastes what it prints, and runs it again."""
    outcome = stage.proof("init", code=None)
    if outcome["manager"] and outcome["manager"]["paste"]:
        manager.paste(outcome["manager"]["paste"])
        getattr(manager, "after_paste", lambda: None)()
    outcome = stage.proof("init")
    assert all(hook["by"] != "nothing" for hook in outcome["hooks"]), outcome["hooks"]


def manager_first(stage, manager):
    manager.install()
    set_up(stage, manager)
    works(stage, manager, "manager-first")
    stage.proof("init", "--uninstall")
    manager.uninstall()
    change(stage, "after both")
    assert "git-proof" not in stage.git("commit", "--quiet", "-m", "after both")


def manager_second(stage, manager):
    stage.proof("init")
    before = {hook: (stage.place / ".git/hooks" / hook).read_bytes() for hook in HOOKS}
    manager.install()
    lost = [hook["hook"] for hook in stage.proof("status")["hooks"] if not hook["wired"]]
    if lost:
        stage.proof("start", "--intent", "try it", "--session-id", "lost")
        stage.proof("record", "--type", "reflection", "--content", "It works.")
        said = stage.run("git-proof", "finalize")
        assert "git no longer runs our" in said, said
    set_up(stage, manager)
    works(stage, manager, "manager-second")
    # The other order: the manager goes first.
    manager.uninstall()
    stage.proof("init", code=None)
    stage.proof("init", "--uninstall")
    left = [hook for hook in HOOKS if (stage.place / ".git/hooks" / hook).exists()
            and b"git-proof" in (stage.place / ".git/hooks" / hook).read_bytes()]
    assert not left, left
    assert before
    change(stage, "after both")
    assert "git-proof" not in stage.git("commit", "--quiet", "-m", "after both")


def main():
    program, modules, pre_commit, *names = sys.argv[1:]
    tools = [Path(modules).resolve() / ".bin", Path(pre_commit).resolve().parent]
    failed = 0
    for kind in MANAGERS:
        if names and kind.name not in names:
            continue
        for scene in [manager_first, manager_second]:
            with tempfile.TemporaryDirectory() as folder:
                stage = Stage(folder, Path(program).resolve(), tools)
                label = f"{kind.name}: {scene.__name__.replace('_', ' ')}"
                try:
                    scene(stage, kind(stage))
                    print(f"ok      {label}")
                except (SystemExit, AssertionError) as error:
                    failed += 1
                    print(f"FAILED  {label}: {re.sub(chr(27) + r'.[0-9;]*m', '', str(error))}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
