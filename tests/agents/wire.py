"""The wire formats of models: each is read into a Request, and an answer is written in the same format.

This module knows the formats and nothing of scripts; `model.py` decides what to answer.
"""

import dataclasses
import itertools
import json

NUMBERS = itertools.count(1)


@dataclasses.dataclass
class Tool:
    """A tool that the agent offers to the model."""

    name: str
    schema: dict
    kind: str = "function"  # or "custom", which takes free text
    namespace: str | None = None


@dataclasses.dataclass
class Message:
    """A message of a conversation; what the model said in one go is one message."""

    role: str  # user, model or tool
    text: str


@dataclasses.dataclass
class Request:
    """What an agent asked the model."""

    body: dict
    model: str
    stream: bool
    messages: list
    tools: list

    def text(self):
        """Everything that the model can read, as it was sent."""
        return json.dumps(self.body, ensure_ascii=False)


def form_of(path):
    """The format of a path, or None."""
    if path.endswith("/messages"):
        return Anthropic
    if path.endswith("/responses"):
        return Responses
    if path.endswith("/chat/completions"):
        return Chat
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini
    return None


def count_of(path):
    """The answer to a question that is not for the model: how many tokens a text has, or anything else."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": 10}
    if path.endswith(":countTokens"):
        return {"totalTokens": 10}
    return {}


def merged(messages):
    """Joins what the model said in one go, which some formats spread over several messages."""
    result = []
    for message in messages:
        if result and message.role == result[-1].role == "model":
            result[-1] = Message("model", result[-1].text + message.text)
        else:
            result.append(message)
    return result


def texts(content):
    """The text of a content that is a string or a list of parts; results of tools are not text."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


def events(items, named):
    """Server-sent events, with or without a name each."""
    lines = []
    for item in items:
        if named:
            lines.append(f"event: {item['type']}\n")
        lines.append(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n")
    return "text/event-stream", "".join(lines).encode()


def whole(value):
    return "application/json", json.dumps(value).encode()


class Anthropic:
    """Anthropic Messages, of Claude Code."""

    @staticmethod
    def read(body, _path):
        messages = []
        for message in body.get("messages", []):
            role = "model" if message["role"] == "assistant" else "user"
            messages.append(Message(role, texts(message["content"])))
        tools = [Tool(tool["name"], tool.get("input_schema") or {}) for tool in body.get("tools") or [] if "name" in tool]
        return Request(body, body.get("model"), bool(body.get("stream")), merged(messages), tools)

    @staticmethod
    def write(request, text, calls):
        blocks = [{"type": "text", "text": text}] if text or not calls else []
        for tool, arguments in calls:
            blocks.append({"type": "tool_use", "id": f"toolu_{next(NUMBERS)}", "name": tool.name, "input": arguments})
        reason = "tool_use" if calls else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {
            "id": f"msg_{next(NUMBERS)}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }
        if not request.stream:
            return whole(message)
        items = [{"type": "message_start", "message": message | {"content": [], "stop_reason": None}}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            items.append({"type": "content_block_start", "index": index, "content_block": block | empty})
            items.append({"type": "content_block_delta", "index": index, "delta": delta})
            items.append({"type": "content_block_stop", "index": index})
        ending = {"stop_reason": reason, "stop_sequence": None}
        items.append({"type": "message_delta", "delta": ending, "usage": usage})
        items.append({"type": "message_stop"})
        return events(items, named=True)


class Responses:
    """OpenAI Responses, of Codex."""

    @staticmethod
    def read(body, _path):
        items = body.get("input") or []
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        messages = []
        offers = list(body.get("tools") or [])
        for item in items:
            kind = item.get("type", "message")
            if kind == "additional_tools":
                offers += item["tools"]
            elif kind.endswith("_output"):
                messages.append(Message("tool", str(item.get("output"))))
            elif kind.endswith("_call") or kind == "reasoning" or item.get("role") == "assistant":
                messages.append(Message("model", texts(item.get("content"))))
            elif kind == "agent_message":  # the prompt of a subagent, and what a subagent reports
                parts = item.get("content") or []
                messages.append(Message("user", texts(parts) + "".join(part.get("encrypted_content", "") for part in parts)))
            else:
                messages.append(Message("user" if item.get("role") == "user" else "system", texts(item.get("content"))))
        tools = []
        for offer in offers:
            inside = offer.get("type") == "namespace"
            for tool in offer["tools"] if inside else [offer]:
                if tool.get("type") in ("function", "custom"):
                    namespace = offer["name"] if inside else None
                    tools.append(Tool(tool["name"], tool.get("parameters") or {}, tool["type"], namespace))
        return Request(body, body.get("model"), bool(body.get("stream")), merged(messages), tools)

    @staticmethod
    def write(request, text, calls):
        output = []
        if text or not calls:
            part = {"type": "output_text", "text": text, "annotations": []}
            output.append({"type": "message", "id": f"msg_{next(NUMBERS)}", "role": "assistant", "content": [part]})
        for tool, arguments in calls:
            number = next(NUMBERS)
            call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": tool.name}
            if tool.kind == "custom":
                call |= {"type": "custom_tool_call", "input": arguments["input"]}
            else:
                call["arguments"] = json.dumps(arguments)
            if tool.namespace:
                call["namespace"] = tool.namespace
            output.append(call)
        output = [item | {"status": "completed"} for item in output]
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20,
        }
        response = {
            "id": f"resp_{next(NUMBERS)}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": request.model,
            "output": output,
            "usage": usage,
        }
        if not request.stream:
            return whole(response)
        items = [{"type": "response.created", "response": response | {"status": "in_progress", "output": []}}]
        for index, item in enumerate(output):
            place = {"output_index": index}
            items.append({"type": "response.output_item.added", "item": item | {"status": "in_progress"}} | place)
            if item["type"] == "message":
                at = place | {"item_id": item["id"], "content_index": 0}
                items.append({"type": "response.output_text.delta", "delta": text} | at)
                items.append({"type": "response.output_text.done", "text": text} | at)
            items.append({"type": "response.output_item.done", "item": item} | place)
        items.append({"type": "response.completed", "response": response})
        return events([item | {"sequence_number": number} for number, item in enumerate(items)], named=True)


class Chat:
    """OpenAI Chat Completions, of Copilot CLI, opencode and Qwen Code."""

    @staticmethod
    def read(body, _path):
        roles = {"assistant": "model", "tool": "tool", "user": "user"}
        messages = [
            Message(roles.get(message["role"], "system"), texts(message.get("content"))) for message in body.get("messages", [])
        ]
        tools = []
        for tool in body.get("tools") or []:
            kind = tool.get("type", "function")
            described = tool.get(kind) or {}
            tools.append(Tool(described.get("name"), described.get("parameters") or {}, kind))
        return Request(body, body.get("model"), bool(body.get("stream")), merged(messages), tools)

    @staticmethod
    def write(request, text, calls):
        tool_calls = []
        for tool, arguments in calls:
            inner = {"name": tool.name, "arguments": json.dumps(arguments)}
            if tool.kind == "custom":
                inner = {"name": tool.name, "input": arguments["input"]}
            tool_calls.append({"id": f"call_{next(NUMBERS)}", "type": tool.kind, tool.kind: inner})
        message = {"role": "assistant", "content": text or None}
        if tool_calls:
            message["tool_calls"] = tool_calls
        reason = "tool_calls" if tool_calls else "stop"
        common = {"id": f"chatcmpl-{next(NUMBERS)}", "created": 0, "model": request.model}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        if not request.stream:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return whole(common | {"object": "chat.completion", "choices": [choice], "usage": usage})
        common["object"] = "chat.completion.chunk"
        if tool_calls:
            message["tool_calls"] = [call | {"index": index} for index, call in enumerate(tool_calls)]
        chunks = [
            common | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            common | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        return events([*chunks, "[DONE]"], named=False)


class Gemini:
    """Gemini generateContent, of Gemini CLI."""

    @staticmethod
    def read(body, path):
        messages = []
        for content in body.get("contents") or []:
            role = "model" if content.get("role") == "model" else "user"
            messages.append(Message(role, texts(content.get("parts"))))
        tools = [
            Tool(tool["name"], tool.get("parametersJsonSchema") or tool.get("parameters") or {})
            for group in body.get("tools") or []
            for tool in group.get("functionDeclarations") or []
        ]
        settings = body.get("generationConfig") or {}
        if settings.get("responseJsonSchema") or settings.get("responseMimeType") == "application/json":
            tools = []  # a question of the agent's own, such as which model to use
        model = path.rpartition("/")[2].partition(":")[0]
        return Request(body, model, path.endswith(":streamGenerateContent"), merged(messages), tools)

    @staticmethod
    def write(request, text, calls):
        schema = (request.body.get("generationConfig") or {}).get("responseJsonSchema")
        if schema:
            text = json.dumps(example_of(schema))
        parts = [{"text": text}] if text or not calls else []
        parts += [{"functionCall": {"name": tool.name, "args": arguments}} for tool, arguments in calls]
        answer = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
            "modelVersion": request.model,
        }
        return events([answer], named=False) if request.stream else whole(answer)


def example_of(schema):
    """The smallest value that fits a JSON schema of the simple kinds."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: example_of(inner) for name, inner in schema.get("properties", {}).items()}
    return {"array": [], "number": 1, "integer": 1, "boolean": False}.get(schema.get("type"), "none")
