"""The official Python SDK as a client: the sequence of a proof-grade task, and its root recomputed with hashlib.

    python tests/mcp/client.py path/to/git-proof

Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

import jsonschema
from mcp import Client, Implementation, MCPError, StdioServerParameters

from expectations import commit, expect, flat, merkle_root, sha256, stage, tally
from malformed import malformed

SCHEMAS = {}  # of the answers, by tool
LONG = 12_000  # entries of a session that takes a while to go over, in a build that is not optimized


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def fits(schema, answer):
    try:
        jsonschema.Draft202012Validator(schema).validate(answer)
        return True
    except jsonschema.ValidationError:
        return False


async def call(client, tool, **arguments):
    # The SDK itself holds the structured content of a success against the schema; so do we, of errors too.
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content
    expect(f"{tool}: the answer is as its schema says: {answer}", fits(SCHEMAS[tool], answer))
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
        tools = (await client.list_tools()).tools
        expect("all tools", len(tools) == 23)
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            SCHEMAS[tool.name] = tool.output_schema

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
        await refused(client, "ERR_NOTHING_TO_PACK", "memory_pack", session_id=session)
        note = "the cache is keyed by path"
        put = await ok(client, "memory_put", session_id=session, text=note, key="suspect")
        expect("the hash of the note", put["text_hash"] == sha256(note.encode()).hex())
        packed = await ok(client, "memory_pack", session_id=session, content="done")
        analysis = packed["analysis"]
        expect("the analysis", (analysis["type"], analysis["content"], len(packed["packed"])) == ("analysis", "done", 1))
        await refused(client, "ERR_REFLECTION_REQUIRED", "merkle_finalize", session_id=session)
        stage(server.cwd)
        await ok(client, "thought_record", session_id=session, type="reflection", content="done")
        await refused(client, "ERR_OPEN_SESSIONS", "round_seal")
        finalized = await ok(client, "merkle_finalize", session_id=session)
        root = await ok(client, "merkle_root", session_id=session)
        # The control: what is not such an answer is not taken for one.
        for wrong in ({}, {"ok": True}, {"ok": True, "data": {}}, {"ok": False, "data": root}, {"ok": False, "error": {}}):
            expect(f"{wrong} is no answer of merkle_root", not fits(SCHEMAS["merkle_root"], wrong))
        for field in root:
            rest = {key: root[key] for key in root if key != field}
            expect(f"an answer without {field} is none", not fits(SCHEMAS["merkle_root"], {"ok": True, "data": rest}))
            other = root | {field: [1]}
            expect(f"nor is one with another {field}", not fits(SCHEMAS["merkle_root"], {"ok": True, "data": other}))
        expect("merkle_root is what merkle_finalize said", root == finalized)
        ended = await ok(client, "audit_session_end", session_id=session)
        expect("it is ended and finalized", ended["finalized"] and ended["ended_at"])
        commit(server.cwd)
        anchored = await ok(client, "anchor_commit", session_id=session)
        expect("it is anchored", [anchor["created"] for anchor in anchored["anchors"]] == [True])
        verified = await ok(client, "verify_commits", commits=["HEAD"])
        expect(f"the commit is proven: {verified}", verified["verdict"] == "pass")

        entries = flat(await ok(client, "thought_tree", session_id=session))
        chain = genesis
        for entry in entries:
            fields = ("content", "id", "prev_hash", "task_id", "timestamp", "type")
            if "attest" in entry:
                fields = ("attest", "id", "prev_hash", "timestamp")
            body = {key: entry[key] for key in fields}
            if entry["metadata"]:
                body["metadata"] = entry["metadata"]
            content = sha256(canonical(body))
            expect("the parent's hash", entry["prev_hash"] == chain.hex())
            expect("the content hash", entry["content_hash"] == content.hex())
            chain = sha256(content, chain)
            expect("the chain hash", entry["chain_hash"] == chain.hex())
        leaves = [bytes.fromhex(entry["content_hash"]) for entry in entries]
        expect("the head", chain.hex() == root["head"])
        expect("the count", root["record_count"] == len(leaves) == 7)
        expect("the root", merkle_root(leaves) == root["root"])

        # The note, from its text to the root: it was packed before the analysis.
        leaf = entries[3]
        commitment = sha256(bytes.fromhex(packed["packed"][0]["salt"]), note.encode()).hex()
        expect("the leaf commits to it", commitment in leaf["attest"] and note not in leaf["attest"])
        expect("the leaf is the one that was packed", leaf["id"] == packed["packed"][0]["record_id"])
        proof = await ok(client, "merkle_proof", record_id=leaf["id"])
        node = bytes.fromhex(proof["leaf_hash"])
        for step in proof["proof"]:
            other = bytes.fromhex(step["hash"])
            node = sha256(node, other) if step["position"] == "right" else sha256(other, node)
        expect("the inclusion proof", node.hex() == root["root"])
        path = {"leaf_hash": proof["leaf_hash"], "proof": proof["proof"], "root": root["root"]}
        led = await ok(client, "merkle_verify", **path)
        expect("without a count the answer says so", led["valid"] and not led["count_checked"] and led["not_checked"])
        held = await ok(client, "merkle_verify", count=root["record_count"], **path)
        expect("with a count it is checked", held["valid"] and held["count_checked"] and held["index"] == 3)

        sealed = await ok(client, "round_seal", defer=True)
        expect("the session is sealed", [one["root"] for one in sealed["sessions"]] == [root["root"]])
        await refused(client, "ERR_NOTHING_TO_SEAL", "round_seal", defer=True)

        resource = await client.read_resource(f"proof://session/{session}")
        expect("the resource", json.loads(resource.contents[0].text)["root"]["root"] == root["root"])
        prompt = await client.get_prompt("close-task", {"session_id": session})
        expect("the prompt", "merkle_finalize" in prompt.messages[0].content.text)
        try:
            await client.call_tool("no_such_tool", {})
            expect("an unknown tool is an error of the protocol", False)
        except MCPError as error:
            expect("an unknown tool is an error of the protocol", error.error.code == -32602)


async def progress(server, mode):
    """Long work is heard of while it goes on, by those who ask, and short work is not."""
    info = Implementation(name="client.py", version="1")
    async with Client(server, mode=mode, client_info=info, read_timeout_seconds=120) as client:
        heard = []

        async def listen(done, total, message):
            heard.append((done, total))

        if mode == "legacy":
            await ok(client, "audit_session_start", intent="a long one", session_id="long", proof_grade=False)
        for _ in range(8):  # how long is long depends on the machine: until something is heard
            await client.call_tool("merkle_attest", {"session_id": "long", "operations": ["x"] * LONG})
            audit = await client.call_tool("merkle_audit", {"session_id": "long"}, progress_callback=listen)
            expect(f"nothing is heard of a short call: {heard}", heard == [])
            count = audit.structured_content["data"]["leaf_count"]
            result = await client.call_tool("audit_verify_chain", {"session_id": "long"}, progress_callback=listen)
            expect("the long chain holds", result.structured_content["data"]["records"] == count)
            if heard:
                break
        expect("something is heard of a long call", len(heard) > 0)
        steps = [done for done, _ in heard]
        expect(f"it only grows: {heard}", steps == sorted(set(steps)) and all(step <= count for step in steps))
        expect("the total is known", all(total == count for _, total in heard))


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
            await progress(server, mode)
        await malformed(server)
    return tally()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(os.path.abspath(sys.argv[1]))))
