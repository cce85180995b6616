"""What must hold, scenario by scenario. Each function gets a stage on which nothing has happened yet."""

import json
import subprocess

from agents import ALL as AGENTS
from agents import EVERY
from expectations import (
    appears,
    hook_commands,
    named,
    once,
    own_reasoning,
    prompt_is_withheld,
    script,
    told_at_start,
    transcript,
)
from stage import SECRET

SILENT = "Finished: the importer uses one transaction. I rejected savepoints."
SUBJECT = "Importer: one transaction"


def silent(stage):
    """The model works and never calls a tool of ours; the record makes itself."""
    run = stage.run("silent")
    stage.expect_equal("the answer on standard output", stage.agent.answer(run.output()), SILENT)
    stage.expect_equal("requests to the model", len(stage.requests("silent")), 5)
    told_at_start(stage, "silent")
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    record = clone.proven(SUBJECT)
    if record is None:
        return
    stage.expect_equal("reflection", record.verdict.get("reflection"), "observed")
    stage.expect_equal("the closing reflection", record.closing(), (SILENT, "final_message"))
    named(stage, record, "silent")
    blob = stage.git("rev-parse", f"{record.commit}:importer.txt")
    stage.expect("which file a call wrote", [blob] in record.observed("wrote"), record.observed("wrote"))
    checks = [{"command": "make check", "exit": stage.agent.failed_exit}, {"command": "make test", "exit": 0}]
    stage.expect_equal("the checks", record.observed("check"), checks)
    tools = record.observed("tools")
    stage.expect("the tools", len(tools) == 1 and tools[0]["calls"] == 4, tools)
    transcript(stage, record)
    shown = json.dumps(clone.show(record.commit), ensure_ascii=False)
    for what in (SILENT, stage.agent.name, "make test"):
        stage.expect(f"show has {what}", what in shown)
    stage.expect("show has what was written", "importer.txt" in shown or blob in shown)
    prompt_is_withheld(stage, record, SUBJECT)


def cooperative(stage):
    """The model states a decision and a reflection: one session, and it is stated."""
    stage.run("cooperative")
    told_at_start(stage, "cooperative")
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    record = stage.clone().proven(SUBJECT)
    if record is None:
        return
    stage.expect_equal("reflection", record.verdict.get("reflection"), "stated")
    actions = [action for step in script(stage, "cooperative") for action in step.get("do", [])]
    decision, reflection = [action["record"]["content"] for action in actions if "record" in action]
    stage.expect_equal("the decisions", record.texts("decision"), [decision])
    text, how = record.closing()
    stage.expect_equal("the closing reflection", text, reflection)
    stage.expect("the closing reflection is stated", how in (None, "restated"), how)
    named(stage, record, "cooperative")


def recall(stage):
    """What one agent decided reaches the next one that reads the file, before it edits, and one that writes it unread, with
    the result; nobody else hears of it."""
    stage.run("cooperative")
    stage.git("push", "-q", "origin", "HEAD")
    decision = next(
        action["record"]["content"]
        for step in script(stage, "cooperative")
        for action in step.get("do", [])
        if "record" in action
    )
    stage.run("reads")
    heard = [decision in request.text() for request in stage.requests("reads")]
    stage.expect_equal("which requests have the decision", heard, [False, True, True])
    once = stage.requests("reads")[-1].text().count(decision)
    stage.expect_equal("how often the decision is told", once, 1)
    # Agents refuse to write a file unread, unless it is gone.
    (stage.repo / "importer.txt").unlink()
    stage.run("writes")
    heard = [decision in request.text() for request in stage.requests("writes")]
    stage.expect_equal("which requests of one that writes have the decision", heard, [False, True])
    stage.run("question")
    stage.expect("who reads nothing hears nothing", not any(decision in asked.text() for asked in stage.requests("question")))


def question(stage):
    """A turn that changes nothing records nothing, publishes nothing, and the answer is the model's own."""
    before = stage.git("ls-remote", str(stage.remote))
    run = stage.run("question")
    answer = script(stage, "question")[-1]["say"]
    stage.expect_equal("the answer on standard output", stage.agent.answer(run.output()), answer)
    stage.expect_equal("requests to the model", len(stage.requests("question")), 2)
    stage.expect_no_open_session()
    stage.commit("person.txt", "Of a person")
    stage.git("push", "-q", "origin", "HEAD")
    after = [line for line in stage.git("ls-remote", str(stage.remote)).splitlines() if "proof" in line]
    stage.expect_equal("what was published", after, [line for line in before.splitlines() if "proof" in line])
    clone = stage.clone()
    clone.nobodys(clone.commit("Of a person"))


def together(stage):
    """Two of the same agent in one worktree, and calls of the two that overlap."""
    # One after the other: two that make the database of opencode at the same moment get in each other's way.
    interleave(stage, stage.start("alpha", "pair").is_up(), stage.start("beta", "pair").is_up())


def mixed(stage):
    """Two agents of different makers in one worktree, in the same way."""
    other = next(agent for agent in AGENTS if agent.name in ("claude-code", "codex") and agent is not stage.agent)
    stage.add_agent(other)
    interleave(stage, stage.start("alpha", "pair").is_up(), stage.start("beta", "pair", agent=other).is_up())


def interleave(stage, alpha, beta):
    """Lets two runs of the script `pair` take turns; each commit must have the reasoning of the one that made it."""
    for run in (alpha, beta):
        run.wait_for(f"{run.name}-first")
    for run in (beta, alpha):
        run.release(f"{run.name}-first")
        run.wait_for(f"{run.name}-write")
    for run in (alpha, beta):
        run.release(f"{run.name}-write")
        run.wait_for(f"{run.name}-second")
    # The call of alpha begins before that of beta, and ends after it.
    for run in (alpha, beta):
        run.release(f"{run.name}-second")
        appears(stage, f"{run.name}-called")
    for run in (beta, alpha):
        (stage.root / f"{run.name}-go").touch()
        run.wait_for(f"{run.name}-end")
    for run in (alpha, beta):
        run.release(f"{run.name}-end")
        run.finish()
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    for name in ("alpha", "beta"):
        for subject in (f"First of {name}", f"Second of {name}"):
            own_reasoning(stage, clone, subject, name, required=stage.agent.gives_id)


def worktrees(stage):
    """The same agent in two worktrees of one repository at the same time."""
    runs = []
    for name in ("gamma", "delta"):
        folder = stage.root / name
        stage.git("worktree", "add", "-q", "-b", name, str(folder))
        stage.add_folder(folder)
    for name in ("gamma", "delta"):
        runs.append(stage.start(name, "single", folder=stage.root / name).is_up())
    for run in runs:
        run.finish()
    stage.git("push", "-q", "origin", "gamma", "delta")
    stage.expect_no_open_session()
    clone = stage.clone()
    for name in ("gamma", "delta"):
        own_reasoning(stage, clone, f"Work of {name}", name, required=True)


def subagents(stage):
    """A subagent that works in the background beside the agent that started it: each has its own reasoning."""
    stage.add_script("helper")
    run = stage.start("main")
    for hold in ("main-write", "helper-commit"):
        run.wait_for(hold)
    for hold, then in (("main-write", "main-commit"), ("helper-commit", "helper-end"), ("main-commit", "main-end")):
        run.release(hold)
        run.wait_for(then)
    run.release("main-end")
    run.release("helper-end")
    run.finish()
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    for name in ("main", "helper"):
        own_reasoning(stage, clone, f"Work of {name}", name, required=True)


def rewrites(stage):
    """Amend, rebase, reset and commit again: every commit that is left is proven, and none is attested twice."""
    stage.run("rewrites")
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    for subject in ("Amended", "Rebased", "Committed again"):
        record = clone.proven(subject)
        if record is not None:
            stage.expect_equal(f"{subject}: reflection", record.closing()[0], script(stage, "rewrites")[-1]["say"])
            once(stage, record)


def pushes(stage):
    """A push in the middle of a turn closes what was pushed; the session goes on in a successor, also when it is resumed."""
    run = stage.start("pushes")
    run.wait_for("pushed")
    stage.clone().proven("First push")
    run.release("pushed")
    run.finish()
    stage.run("resumed", "single", session=stage.agent.session(stage.home))
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    records = [clone.proven(subject) for subject in ("First push", "Second push", "After the pushes", "Work of resumed")]
    if None in records:
        return
    stage.expect("the first session continues nothing", records[0].continues() is None)
    for record in records[1:]:
        stage.expect("a later session continues one before", record.continues() is not None, record.opening)
    for record in records:
        once(stage, record)
    stage.expect_equal("the last reflection", records[3].closing(), ("Finished the work of resumed.", "final_message"))
    sessions = {record.verdict["root"]: record for record in records}
    attested = [commit for record in sessions.values() for commit in record.commits()]
    stage.expect_equal("commits attested in two sessions", sorted(attested), sorted(set(attested)))


def killed(stage):
    """The session of an agent that was killed is closed by whatever comes next, with the message of its commit."""
    run = stage.start("killed")
    run.wait_for("killed")
    run.kill()
    stage.expect_no_open_session()
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    record = stage.clone().proven("Before the kill")
    if record is not None:
        stage.expect_equal("reflection", record.verdict.get("reflection"), "observed")
        stage.expect("the closing reflection", "Before the kill" in record.closing()[0], record.closing())
        stage.expect_equal("its event", record.closing()[1], "commit_message")


def no_hooks(stage):
    """Commits that no git hook saw are found and proven, and so are commits of an agent whose own hooks are off."""
    stage.run("no-hooks")
    stage.run("unheard", "single", more=stage.agent.without_hooks)
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    for subject in ("Without hooks", "Without verify", "Work of unheard"):
        record = clone.proven(subject)
        if record is not None:
            once(stage, record)


def secret(stage):
    """A last message with a credential is not published; the messages of the commits close the session instead."""
    run = stage.run("secret")
    stage.expect("the answer is left alone", SECRET in run.output(), run.output())
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    record = stage.clone().proven("Work of secret")
    if record is not None:
        stage.expect("the credential is not published", SECRET not in record.text)
        stage.expect_equal("the event of the closing reflection", record.closing()[1], "commit_message")
        stage.expect("it is counted", record.withheld())


def person(stage):
    """A person commits while the agent thinks, while a call of the agent is open, and after it: none is the agent's."""
    run = stage.start("interrupted")
    run.wait_for("between")
    commits = [stage.commit("person-1.txt", "A person, while the agent thinks")]
    run.release("between")
    appears(stage, "called")
    commits.append(stage.commit("person-2.txt", "A person, during a call"))
    (stage.root / "go").touch()
    run.finish()
    commits.append(stage.commit("person-3.txt", "A person, afterwards"))
    stage.git("push", "-q", "origin", "HEAD")
    stage.expect_no_open_session()
    clone = stage.clone()
    for commit in commits:
        clone.nobodys(commit)
    record = clone.proven("Of the agent")
    if record is not None:
        stage.expect_equal("what the session attests", record.commits(), [record.commit])


def colleague(stage):
    """Somebody without git-proof clones and works with the same agent: no error anywhere."""
    folder = stage.root / "colleague"
    stage.git("clone", "-q", str(stage.remote), str(folder), cwd=stage.root)
    stage.identify(folder)
    stage.add_folder(folder)
    (stage.bin / "git-proof").unlink()
    run = stage.run("silent", folder=folder)
    stage.expect_equal("the answer on standard output", stage.agent.answer(run.output()), SILENT)
    # The folder of the test has the name in its path.
    said = run.errors().replace(str(stage.root), "")
    stage.expect("no word of git-proof on standard error", "git-proof" not in said, run.errors())
    for request in stage.requests("silent"):
        stage.expect("the model hears of no failed hook", "'proof' is not a git command" not in request.text())
    for command in hook_commands(folder):
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=stage.environment(), input="{}", capture_output=True, text=True
        )
        said = (done.returncode, done.stdout, done.stderr)
        stage.expect_equal(f"what the hook {command!r} says without git-proof", said, (0, "", ""))
    stage.git("push", "-q", "origin", "HEAD", cwd=folder)
    stage.expect_equal("its commit", stage.git("log", "-1", "--format=%B", cwd=folder), SUBJECT)


FOR_ALL = ("silent", "cooperative", "question", "recall", "worktrees", "together")
PAIRS = {"together", "worktrees", "mixed"}  # run two agents at once
ALL = {
    name.replace("_", "-"): scenario
    for name, scenario in list(globals().items())
    if name.replace("_", "-") in FOR_ALL + EVERY
}
