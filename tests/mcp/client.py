"""The official Python SDK as a client: the sequence of a proof-grade task, and its root recomputed with hashlib.

    python tests/mcp/client.py path/to/git-proof

Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile

from mcp import Client, Implementation, MCPError, StdioServerParameters

passed = failed = 0


def expect(what, condition):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}")


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def merkle_root(leaves):
    """Raw pairs, level by level; the last node of an odd level is paired with itself."""
    while len(leaves) > 1:
        leaves = [sha256(leaves[at], leaves[min(at + 1, len(leaves) - 1)]) for at in range(0, len(leaves), 2)]
    return leaves[0].hex()


def flat(tree):
    """The entries of thought_tree in order of recording, nested or not."""
    if "entries" in tree:
        return tree["entries"]
    found, waiting = [], list(tree["children"])
    while waiting:
        node = waiting.pop()
        waiting.extend(node["children"])
        found.append(node)
    return sorted(found, key=lambda entry: entry["index"])


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content
    expect(f"{tool}: text and structured content are the same", json.loads(result.content[0].text) == answer)
    expect(f"{tool}: is_error goes with ok", result.is_error == (not answer["ok"]))
    return answer


async def ok(client, tool, **arguments):
    answer = await call(client, tool, **arguments)
    expect(f"{tool} succeeds: {answer}", answer["ok"])
    return answer.get("data")


async def refused(client, code, tool, **arguments):
    answer = await call(client, tool, **arguments)
    expect(f"{tool} is refused with {code}: {answer}", not answer["ok"] and answer["error"]["code"] == code)


async def writeback(server, mode):
    info = Implementation(name="client.py", version="1")
    async with Client(server, mode=mode, client_info=info, read_timeout_seconds=30) as client:
        version = client.protocol_version
        expect(f"the version {version}", (version >= "2026-07-28") == (mode == "auto"))
        expect("the server's name", client.server_info.name == "git-proof")
        expect("instructions", "audit_session_start" in client.instructions)
        expect("fifteen tools", len((await client.list_tools()).tools) == 15)

        started = await ok(client, "audit_session_start", intent="a task in Python", task_id="T-1")
        session = started["session_id"]
        expect("the caller", started["caller"] == "client.py/1 (A U Thor <a@example.com>)")
        opening = {key: started[key] for key in ("caller", "intent", "proof_grade", "scheme", "started_at", "task_id")}
        genesis = sha256(canonical(opening | {"session_id": session}))
        expect("the genesis", started["genesis"] == genesis.hex())

        for kind, content in [
            ("plan", "read first, then write"),
            ("analysis", "ünïcödé is fine 🙂\n\ttabs too"),
            ("decision", "WAL; rejected: a rollback journal"),
        ]:
            await ok(client, "thought_record", session_id=session, type=kind, content=content, metadata={"n": 1.5})
        await refused(client, "ERR_REFLECTION_REQUIRED", "merkle_finalize", session_id=session)
        await refused(client, "ERR_NOT_FINALIZED", "merkle_root", session_id=session)
        await refused(client, "INVALID_PARAMS", "thought_record", session_id=session, type="plan", content=1)
        verified = await ok(client, "audit_verify_chain", session_id=session)
        expect("the chain holds", verified["valid"] and verified["chain_length"] == 3)
        await ok(client, "thought_record", session_id=session, type="reflection", content="done")
        finalized = await ok(client, "merkle_finalize", session_id=session)
        root = await ok(client, "merkle_root", session_id=session)
        expect("merkle_root is what merkle_finalize said", root == finalized)
        ended = await ok(client, "audit_session_end", session_id=session)
        expect("it is ended and finalized", ended["finalized"] and ended["ended_at"])

        entries = flat(await ok(client, "thought_tree", session_id=session))
        chain = genesis
        for entry in entries:
            body = {key: entry[key] for key in ("content", "id", "prev_hash", "task_id", "timestamp", "type")}
            if entry["metadata"]:
                body["metadata"] = entry["metadata"]
            content = sha256(canonical(body))
            expect("the parent's hash", entry["prev_hash"] == chain.hex())
            expect("the content hash", entry["content_hash"] == content.hex())
            chain = sha256(content, chain)
            expect("the chain hash", entry["chain_hash"] == chain.hex())
        leaves = [bytes.fromhex(entry["content_hash"]) for entry in entries]
        expect("the head", chain.hex() == root["head"])
        expect("the count", root["record_count"] == len(leaves) == 4)
        expect("the root", merkle_root(leaves) == root["root"])

        proof = await ok(client, "merkle_proof", record_id=entries[2]["id"])
        node = bytes.fromhex(proof["leaf_hash"])
        for step in proof["proof"]:
            other = bytes.fromhex(step["hash"])
            node = sha256(node, other) if step["position"] == "right" else sha256(other, node)
        expect("the inclusion proof", node.hex() == root["root"])

        resource = await client.read_resource(f"proof://session/{session}")
        expect("the resource", json.loads(resource.contents[0].text)["root"]["root"] == root["root"])
        prompt = await client.get_prompt("close-task", {"session_id": session})
        expect("the prompt", "merkle_finalize" in prompt.messages[0].content.text)
        try:
            await client.call_tool("no_such_tool", {})
            expect("an unknown tool is an error of the protocol", False)
        except MCPError as error:
            expect("an unknown tool is an error of the protocol", error.error.code == -32602)


async def main(program):
    with tempfile.TemporaryDirectory() as home:
        for arguments in (
            ["init", "-q"],
            ["config", "user.name", "A U Thor"],
            ["config", "user.email", "a@example.com"],
        ):
            subprocess.run(["git", *arguments], cwd=home, check=True)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CEILING_DIRECTORIES": home}
        server = StdioServerParameters(command=program, args=["mcp"], cwd=home, env=environment)
        for mode in ("legacy", "auto"):
            await writeback(server, mode)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(os.path.abspath(sys.argv[1]))))
