"""Lines that are no message, or not one that can be read exactly, through the transport of the official Python SDK. Every
request in them must be answered, and the answer must be one that the SDK can read."""

import json
import logging
import os
import tempfile

import anyio
from mcp.client.stdio import stdio_client

from expectations import expect

PATIENCE = 60  # seconds; an answer that takes longer is none


class Raw:
    """A line as it is. The SDK prints what it sends with `message.model_dump_json`, and would refuse most of these."""

    def __init__(self, line):
        self.line, self.message = line, self

    def model_dump_json(self, **_):
        return self.line


def table():
    with open(os.path.join(os.path.dirname(__file__), "malformed.json")) as file:
        for case in json.load(file):
            yield case["what"], "".join(text * times for text, times in case["line"]), case["code"], case["ids"]


def call(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


async def malformed(server):
    logging.getLogger("mcp.client.stdio").disabled = True  # it prints a stack for the one answer that the SDK cannot read
    with tempfile.TemporaryFile("w+") as complaints:
        async with stdio_client(server, errlog=complaints) as (answers, lines):

            async def answer():
                with anyio.move_on_after(PATIENCE):
                    message = await answers.receive()
                    return message if isinstance(message, Exception) else message.message.model_dump()
                return None

            client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
            await lines.send(Raw(json.dumps(hello)))
            expect("the handshake", (await answer())["id"] == 1)
            await lines.send(Raw('{"jsonrpc":"2.0","method":"notifications/initialized"}'))
            reported = 0
            for what, line, code, ids in table():
                await lines.send(Raw(line))
                for number in ids:
                    found = await answer()
                    if what == "an id that is a fraction":  # the SDK has no name for such an id
                        expect(f"{what}: the SDK gets an answer", isinstance(found, Exception))
                        continue
                    is_read = isinstance(found, dict) and found.get("id") == number
                    expect(f"{what}: answered to {number}: {found}", is_read)
                    if not is_read:
                        continue
                    result = found.get("result", {}).get("structuredContent", found)
                    expect(f"{what}: refused with {code}: {found}", result["error"]["code"] == code)
                reported += not isinstance(code, str)
                await lines.send(Raw('{"jsonrpc":"2.0","id":"next","method":"ping"}'))
                found = await answer()
                expect(f"{what}: the server goes on: {found}", isinstance(found, dict) and found.get("id") == "next")
            await lines.send(Raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"\\ud800"}}'))
            reported += 1
            await lines.send(Raw(call(2, "audit_session_start", intent="after all that")))
            found = await answer()
            expect(f"a notification is not answered, and a call is: {found}", found["id"] == 2 and not found["result"]["isError"])
        complaints.seek(0)
        said = complaints.read().splitlines()
        expect(f"each line is reported once: {len(said)} of {reported}", len(said) == reported)
