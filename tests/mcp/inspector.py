"""The MCP Inspector's command line as a client, one server a call: the sequence of a proof-grade task in both eras of
the protocol, and its root recomputed with hashlib.

    python tests/mcp/inspector.py path/to/mcp-inspector path/to/git-proof

Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed.
"""

import json
import os
import subprocess
import sys
import tempfile

from expectations import commit, expect, flat, merkle_root, sha256, stage, tally

CORE = [
    "audit_session_start",
    "thought_record",
    "audit_verify_chain",
    "audit_session_end",
    "merkle_finalize",
    "merkle_root",
    "decisions_for",
    "why",
]


class Inspector:
    def __init__(self, inspector, program, home, era):
        self.command = [inspector, "--cli", program, "mcp", "--protocol-era", era]
        self.home = home
        self.environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CEILING_DIRECTORIES": home}

    def ask(self, method, *arguments):
        """The result of a request, and what the inspector says of it."""
        command = [*self.command, "--method", method, *arguments]
        run = subprocess.run(command, cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=60)
        expect(f"{method} {arguments} ends well: {run.returncode} {run.stderr[:500]}", run.returncode == 0)
        return json.loads(run.stdout), run.stderr

    def call(self, tool, **arguments):
        """What a tool answers that must succeed."""
        result, _ = self.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        answer = result["structuredContent"]
        expect(f"{tool}: text and structured content are the same", json.loads(result["content"][0]["text"]) == answer)
        expect(f"{tool} succeeds: {answer}", answer["ok"] and not result["isError"])
        return answer["data"]


def writeback(client):
    """The sequence as the instructions of the server state it. One more step is one more call."""
    session = client.call("audit_session_start", intent="a task through the inspector", task_id="T-1")["session_id"]

    def record(kind, content):
        return client.call("thought_record", session_id=session, type=kind, content=content)

    record("plan", "read first, then write")
    record("decision", "a log; rejected: a journal")
    verified = client.call("audit_verify_chain", session_id=session)
    expect("the chain holds", verified["valid"] and verified["chain_length"] == 2)
    put = client.call("memory_put", session_id=session, text="a note")
    expect("the hash of the note", put["text_hash"] == sha256(b"a note").hex())
    packed = client.call("memory_pack", session_id=session)
    expect("the note is packed", [note["text_hash"] for note in packed["packed"]] == [put["text_hash"]])
    stage(client.home)
    last = record("reflection", "it went well")
    finalized = client.call("merkle_finalize", session_id=session)
    root = client.call("merkle_root", session_id=session)
    expect("merkle_root is what merkle_finalize said", root == finalized)
    leaves = [bytes.fromhex(entry["content_hash"]) for entry in flat(client.call("thought_tree", session_id=session))]
    expect("the count", root["record_count"] == len(leaves) == 6)
    expect("the root", root["root"] == merkle_root(leaves))
    link = sha256(bytes.fromhex(last["content_hash"]), bytes.fromhex(last["prev_hash"]))
    expect("the head", root["head"] == last["chain_hash"] == link.hex())
    ended = client.call("audit_session_end", session_id=session)
    expect("it is ended and finalized", ended["finalized"] and ended["ended_at"] is not None)
    commit(client.home)
    anchored = client.call("anchor_commit", session_id=session)
    expect("it is anchored", [anchor["created"] for anchor in anchored["anchors"]] == [True])
    verified = client.call("verify_commits")
    expect(f"the commit is proven: {verified}", verified["verdict"] == "pass")
    sealed = client.call("round_seal")
    expect("the session is sealed", [one["session_id"] for one in sealed["sessions"]] == [session])
    return session


def listings(client, session):
    tools, remarks = client.ask("tools/list", "--strict")
    names = [tool["name"] for tool in tools["tools"]]
    expect(f"the tools: {names}", names[:8] == CORE and len(names) == 23)
    expect(f"no schema is refused: {remarks[:500]}", "Error: tool" not in remarks)
    expect("every tool says what it answers", all("data" in json.dumps(tool["outputSchema"]) for tool in tools["tools"]))
    resources, _ = client.ask("resources/list")
    expect("the session is a resource", any(one["uri"] == f"proof://session/{session}" for one in resources["resources"]))
    prompts, _ = client.ask("prompts/list")
    expect("the prompts", [prompt["name"] for prompt in prompts["prompts"]] == ["why", "close-task"])


def main(inspector, program):
    with tempfile.TemporaryDirectory() as home:
        for arguments in (
            ["init", "-q"],
            ["config", "user.name", "A U Thor"],
            ["config", "user.email", "a@example.com"],
        ):
            subprocess.run(["git", *arguments], cwd=home, check=True)
        for era in ("legacy", "modern"):
            client = Inspector(inspector, program, home, era)
            listings(client, writeback(client))
    return tally()


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
