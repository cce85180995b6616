"""A model server that follows a script, so that a real agent can be run without a real model.

It listens on loopback and speaks the four wire formats that the agents use: Anthropic Messages, OpenAI Responses,
OpenAI Chat Completions and Gemini generateContent. `wire.py` translates each of them to one form; this module decides
what the model answers and keeps what it was asked.

One server serves many conversations. The first part of the path names the conversation, so the base URL that an agent
gets is `http://127.0.0.1:PORT/NAME`. A prompt names its script as `[script NAME]`, and the nth answer after that prompt
is the nth step of the script. A step is an object with these fields, all of them optional:

    say    the text of the answer
    do     the tool calls: {"shell": COMMAND}, {"write": PATH, "text": TEXT}, {"record": ARGUMENTS}, {"spawn": PROMPT}
           and {"wait": "subagents"}, which is no call for an agent that waits by itself
    hold   a name: the server waits before it answers until the test calls `release` with that name

After the last step the model says AFTER_THE_END. An agent that asks so often was reminded of something, and no test expects
to see that text.
"""

import http.server
import json
import re
import threading
import traceback

import wire

AFTER_THE_END = "There was nothing left to say."
HOLD_SECONDS = 300  # a guard against a test that hangs, not an expectation
SCRIPT = re.compile(r"\[script ([a-z0-9-]+)\]")

# The names under which agents offer a shell, most specific first.
SHELLS = ["Bash", "exec_command", "shell_command", "run_shell_command", "shell", "bash"]
# The tools that start another agent, and the argument that takes its prompt.
SPAWNERS = {"Agent": "prompt", "Task": "prompt", "task": "prompt", "agent": "prompt", "spawn_agent": "message"}
# The tools that write a whole file, with their arguments for its path and its text.
WRITERS = {
    "Write": ("file_path", "content"),
    "write_file": ("file_path", "content"),
    "write": ("filePath", "content"),
    "create": ("path", "file_text"),
}


class Conversation:
    """What the model does for the agents of one test, and every request that it got from them."""

    def __init__(self):
        self.scripts = {}
        self.requests = []  # pairs of a script's name and a request, in order of arrival
        self.asides = []  # the agent's own small questions, such as for a title: no tools are offered in them
        self.problems = []
        self.lock = threading.Lock()
        self.holds = {}

    def add(self, name, steps, folder):
        """Adds a script; `folder` is where the agent that follows it works."""
        self.scripts[name] = (steps, folder)

    def hold(self, name):
        """The pair of events of a hold: reached, released."""
        with self.lock:
            return self.holds.setdefault(name, (threading.Event(), threading.Event()))

    def wait_for(self, name, seconds=HOLD_SECONDS):
        """Waits until the model was asked for the step with that hold."""
        return self.hold(name)[0].wait(seconds)

    def release(self, name):
        self.hold(name)[1].set()

    def answer(self, request):
        """The answer to a request: text and calls."""
        if not request.tools:
            self.asides.append(request)
            return "A task", []
        name, step, folder = self.step(request)
        self.requests.append((name, request))
        self.hold(f"{name}-asked")[0].set()
        if "hold" in step:
            reached, released = self.hold(step["hold"])
            reached.set()
            if not released.wait(HOLD_SECONDS):
                self.problems.append(f"the hold {step['hold']} was never released")
        calls = [self.call(action, request, folder) for action in step.get("do", [])]
        return step.get("say", ""), [call for call in calls if call]

    def step(self, request):
        """The script and its next step: as many were done as the model has answered since the prompt that names it."""
        prompts = [
            (position, named)
            for position, message in enumerate(request.messages)
            if message.role == "user"
            for named in SCRIPT.findall(message.text)
        ]
        position, name = prompts[-1] if prompts else (0, None)
        if name not in self.scripts:
            self.problems.append(f"a request for the script {name}")
            return name, {"say": AFTER_THE_END}, None
        steps, folder = self.scripts[name]
        done = sum(1 for message in request.messages[position:] if message.role == "model")
        return name, steps[done] if done < len(steps) else {"say": AFTER_THE_END}, folder

    def call(self, action, request, folder):
        """The call of a tool that the agent offers; an offer that is missing is a problem that the tests report."""
        offered = {tool.name: tool for tool in request.tools}
        if "wait" in action:
            return (offered["wait_agent"], {}) if "wait_agent" in offered else None
        if offered.get("exec", wire.Tool("", {})).kind == "custom" and "spawn" not in action:
            return offered["exec"], {"input": program(action)}
        if "shell" in action:
            return self.shell_call(action["shell"], offered)
        if "write" in action:
            return self.write_call(folder, action["write"], action["text"], offered)
        if "spawn" in action:
            for name, field in SPAWNERS.items():
                if name in offered:
                    return offered[name], complete(offered[name], {field: action["spawn"]})
        if "record" in action:
            for name, tool in offered.items():
                if name.endswith("thought_record"):
                    return tool, dict(action["record"])
        self.problems.append(f"no tool for {json.dumps(action)} among {sorted(offered)}")
        return wire.Tool("missing", {}), {}

    def shell_call(self, command, offered):
        for name in SHELLS:
            if name in offered:
                fields = offered[name].schema.get("properties", {})
                field = "cmd" if "cmd" in fields else "command"
                whole = fields.get(field, {}).get("type") != "array"
                return offered[name], complete(offered[name], {field: command if whole else ["bash", "-c", command]})
        self.problems.append(f"no shell among {sorted(offered)}")
        return wire.Tool("missing", {}), {}

    def write_call(self, folder, path, text, offered):
        for name, (where, what) in WRITERS.items():
            if name in offered:
                return offered[name], complete(offered[name], {where: f"{folder}/{path}", what: text})
        if "apply_patch" in offered:
            return offered["apply_patch"], {"input": patch(path, text)}
        self.problems.append(f"no tool to write a file among {sorted(offered)}")
        return wire.Tool("missing", {}), {}


def program(action):
    """The same call for a model that gets one tool, which runs JavaScript that calls all others."""
    if "shell" in action:
        # A command that takes long goes on in the background, unless the model waits for it as models do.
        return (
            '// @exec: {"yield_time_ms": 300000}\n'
            f"let ran = await tools.exec_command({json.dumps({'cmd': action['shell'], 'yield_time_ms': 30000})});"
            "while (ran.session_id !== undefined && ran.exit_code === undefined)"
            " ran = await tools.write_stdin({session_id: ran.session_id, yield_time_ms: 30000});"
            "text(ran);"
        )
    if "write" in action:
        return f"text(await tools.apply_patch({json.dumps(patch(action['write'], action['text']))}));"
    # The tools of servers may be left out of the description, but are always listed.
    find = 'ALL_TOOLS.find((tool) => tool.name.endsWith("thought_record"))'
    return f"text(await tools[{find}.name]({json.dumps(action['record'])}));"


def patch(path, text):
    """A patch that adds a file, in the form of apply_patch."""
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def complete(tool, arguments):
    """Adds a value of the right type for each argument that the tool requires."""
    fields = tool.schema.get("properties", {})
    plain = {"boolean": False, "number": 60000, "integer": 60000, "array": [], "object": {}}
    for name in tool.schema.get("required", []):
        field = fields.get(name, {})
        arguments.setdefault(name, field["enum"][0] if field.get("enum") else plain.get(field.get("type"), "by_the_script"))
    return arguments


class Server:
    """Serves conversations until the program ends."""

    def __init__(self):
        self.conversations = {}
        self.strays = []  # what was asked outside of every conversation
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def open(self, name, conversation):
        """Adds a conversation and returns its base URL."""
        self.conversations[name] = conversation
        return f"http://127.0.0.1:{self.http.server_port}/{name}"


def handler(server):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.send(200, "text/plain", b"")

        def do_GET(self):
            self.send_json({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

        def do_POST(self):
            body = self.read_body()
            name, _, path = self.path.lstrip("/").partition("/")
            path = path.partition("?")[0]
            conversation = server.conversations.get(name)
            form = wire.form_of(path)
            if conversation is None or form is None:
                server.strays.append(f"POST {self.path} {body[:200]}")
                return self.send_json(wire.count_of(path))
            try:
                request = form.read(json.loads(body), path)
                text, calls = conversation.answer(request)
                kind, answer = form.write(request, text, calls)
                self.send(200, kind, answer)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the agent was killed, which some tests do
            except Exception:
                conversation.problems.append(traceback.format_exc())
                self.send_json({"error": {"message": "the scripted model failed"}}, 500)

        def read_body(self):
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            body = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def send_json(self, value, status=200):
            self.send(status, "application/json", json.dumps(value).encode())

        def send(self, status, kind, body):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
