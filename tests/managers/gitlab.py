#!/usr/bin/env python3
"""The job of ci/gitlab.yml, run by gitlab-ci-local: gitlab.py GIT_PROOF GITLAB_CI_LOCAL

A merge request from a fork passes with the proofs of the source project. Without them, and with a commit that nobody proved, the
job fails and says why in its log.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Stage:
    def __init__(self, folder, program, runner):
        self.around, self.runner = Path(folder), runner
        (self.around / "bin").mkdir()
        (self.around / "bin/git-proof").symlink_to(program)
        (self.around / "home").mkdir()
        self.work = self.around / "work"
        self.work.mkdir()
        self.environment = {
            "PATH": f"{self.around}/bin:{Path(runner).parent}:{os.environ['PATH']}", "HOME": str(self.around / "home"),
            "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}

    def run(self, line, at=None):
        ran = subprocess.run(["sh", "-ec", line], cwd=at or self.work, env=self.environment, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"{line} ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout.strip()

    def prove(self, session):
        self.run(f"git proof start 'try it' --session-id {session}; echo {session} >file; git add file; git commit -qm {session}; "
                 "git proof done 'It works.'")

    def job(self, variables):
        """Runs the job in a clone of the base, as a runner has it."""
        place = self.around / "runner"
        self.run(f"rm -rf {place}; git clone -q base.git {place}; cd {place}; git fetch -q origin refs/merge-requests/7/head; "
                 "git checkout -q FETCH_HEAD; git remote set-head origin main", at=self.around)
        (place / ".gitlab-ci.yml").write_text((ROOT / "ci/gitlab.yml").read_text())
        words = [self.runner, "--force-shell-executor", "--shell-isolation=false", "git-proof"]
        for name, value in variables.items():
            words += ["--variable", f"{name}={value}"]
        ran = subprocess.run(words, cwd=place, env=self.environment, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr


def main():
    program, runner = (str(Path(path).absolute()) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, Path(program).resolve(), runner)
        stage.run("git init -q --bare --initial-branch=main ../fork.git; git init -q --initial-branch=main; mkdir .proof; "
                  "printf '[proof_grade]\\nrequire = \"all\"\\n' >.proof/policy.toml; git add .proof; git commit -qm policy; "
                  "git remote add origin ../fork.git; git push -q origin main; git clone -q --bare ../fork.git ../base.git; "
                  "git proof init; git proof sync --fetch-only; git switch -qc topic")
        stage.prove("one")
        publish = "git push -q {} origin topic; git -C ../base.git fetch -q ../fork.git +topic:refs/merge-requests/7/head"
        stage.run(publish.format(""))
        variables = {
            "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_PROJECT_ID": "1",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2", "CI_MERGE_REQUEST_SOURCE_PROJECT_URL": str(stage.around / "fork"),
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": stage.run("git rev-parse topic"), "CI_SERVER_URL": "https://gitlab.invalid",
            "GIT_PROOF_BIN": str(stage.around / "bin/git-proof"), "GIT_PROOF_SCRIPTS": str(ROOT / "ci")}
        code, said = stage.job(variables)
        assert code == 0, said
        assert "<testsuites" in (stage.around / "runner/git-proof.xml").read_text()
        print("ok      merge request of a fork passes with the proofs of its source project")
        code, said = stage.job({**variables, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"})
        assert code != 0 and "missing" in said and "one" in said, said
        print("ok      without them the job fails, and its log says why")
        stage.run("echo unproven >file; git add file; git commit -qm 'nobody proved this'; " + publish.format("--no-verify"))
        code, said = stage.job({**variables, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": stage.run("git rev-parse topic")})
        assert code != 0 and "nobody proved this" in said, said
        print("ok      a commit that nobody proved is named in the log")


if __name__ == "__main__":
    main()
