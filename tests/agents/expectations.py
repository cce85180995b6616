"""What several scenarios look at."""

import hashlib
import json
import time

from model import HOLD_SECONDS
from stage import event


def script(stage, name):
    return stage.conversation.scripts[name][0]


def told_at_start(stage, name):
    """The context that the hook of session start gives reaches the model."""
    if not stage.agent.takes_context:
        return
    request = stage.requests(name)[0]
    told = "\n".join(message.text for message in request.messages)
    stage.expect("the model is told of its session", "git-proof" in told)


def named(stage, record, name):
    """The record says which agent it was, in which version, and which model it used."""
    agents = record.observed("agent")
    if not stage.expect("the agent", agents):
        return
    package = json.loads((stage.modules / stage.agent.package / "package.json").read_text())
    model = stage.requests(name)[0].model
    version = package["version"] if stage.agent.tells_version else None
    wanted = {"model": model, "name": stage.agent.name, "version": version}
    stage.expect_equal("the agent, as it is known at the end", agents[-1], wanted)


def transcript(stage, record):
    """The record commits to the first bytes of a transcript that is on the agent's disk."""
    found = record.observed("transcript")
    if not stage.agent.transcripts:
        return stage.expect_equal("a transcript", found, [])
    if not stage.expect("one transcript", len(found) == 1, found):
        return None
    files = list(stage.home.glob(stage.agent.transcripts))
    digests = {hashlib.sha256(file.read_bytes()[: found[0]["bytes"]]).hexdigest(): file for file in files}
    if stage.expect("the transcript is on disk", found[0]["sha256"] in digests, (found, [str(file) for file in files])):
        stage.proof("check-transcript", str(digests[found[0]["sha256"]]))
    return None


def prompt_is_withheld(stage, record, subject):
    """The prompt is not published, and can be disclosed later without a change to what is proven."""
    prompt = "[script silent] Work on silent."
    stage.expect("the prompt is not published", prompt not in record.text)
    if not stage.expect("an entry is withheld", record.withheld()):
        return
    log = json.loads(stage.proof("log", "--json", "--session", record.opening["session_id"]))
    entries = log["entries"] if isinstance(log, dict) else log
    prompts = [entry["id"] for entry in entries if event(entry) == "prompt"]
    if not stage.expect_equal("prompts in the store", len(prompts), 1):
        return
    stage.proof("disclose", prompts[0])
    stage.proof("sync")
    disclosed = stage.clone().proven(subject)
    if disclosed is not None:
        stage.expect("the prompt is published now", prompt in disclosed.text)
        stage.expect_equal("the root", disclosed.verdict["root"], record.verdict["root"])


def own_reasoning(stage, clone, subject, name, required):
    """A commit has the reasoning of the agent that made it, or where the agent gives no id possibly none."""
    commit = clone.commit(subject)
    if commit is None:
        return
    records = clone.records(commit)
    for record in records:
        said = script(stage, name)[-1]["say"]
        stage.expect_equal(f"{subject}: the reasoning of {name}", record.closing()[0], said)
        once(stage, record)
    if required:
        clone.proven(subject)


def once(stage, record):
    """Nothing is attested twice in a session."""
    stage.expect_equal("commits attested once", sorted(record.commits()), sorted(set(record.commits())))


def hook_commands(folder):
    """The commands of all hooks in the JSON files of a repository."""
    found = set()

    def walk(value):
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            found.update(text for key, text in value.items() if key in ("command", "bash") and isinstance(text, str))
            walk(list(value.values()))

    for file in folder.glob("**/*.json"):
        walk(json.loads(file.read_text()).get("hooks", {}))
    return sorted(found)


def appears(stage, name):
    """Waits for a file that an agent's shell makes."""
    deadline = time.monotonic() + HOLD_SECONDS
    while not (stage.root / name).exists():
        if time.monotonic() > deadline:
            return stage.expect(f"{name} appears", False)
        time.sleep(0.05)
    return True
