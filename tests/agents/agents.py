"""The agents: how each of them is pointed at the scripted model, and how it is started.

What concerns git-proof is not set up here: that is the task of `git proof init --agent NAME`.
"""

import json

# What Claude Code and Codex play besides the scenarios that all agents play.
EVERY = ("mixed", "subagents", "rewrites", "pushes", "killed", "no-hooks", "secret", "person", "colleague")


class Agent:
    """An agent from npm. A subclass says what differs."""

    name = ""  # as in `git proof init --agent`
    program = ""
    package = ""
    gives_id = True  # whether its shell tells the id of its session
    takes_context = True  # whether the answer of the hook of session start reaches the model
    tells_version = True  # whether its version can be known
    failed_exit = 2  # the exit code of a failed `make`, where it can be known
    transcripts = ""  # where it keeps transcripts below the home folder
    beside = ()  # other agents whose hooks it runs too: they are set up with it, and nothing may be recorded twice
    without_hooks = []  # arguments that switch its own hooks off
    more_scenarios = ()  # what it plays besides those that all agents play

    def prepare(self, home, folders, url):
        """Writes what a person who uses this agent has in the home folder."""

    def environment(self, home, url):
        """The variables that it needs."""
        return {}

    def command(self, prompt, session=None):
        """The command line; with `session`, a session that was run before goes on."""
        raise NotImplementedError

    def session(self, home):
        """The id of the newest session, for `command`."""
        return newest(home.glob(self.transcripts)).stem

    def answer(self, output):
        """What the agent printed as its answer."""
        return output.strip()


class ClaudeCode(Agent):
    name = "claude-code"
    more_scenarios = EVERY
    program = "claude"
    package = "@anthropic-ai/claude-code"
    transcripts = ".claude/projects/*/*.jsonl"
    without_hooks = ["--settings", '{"disableAllHooks": true}']

    def prepare(self, home, folders, url):
        # The permission rules and the servers of a repository count only where the folder is trusted.
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        projects = {str(folder): trusted for folder in folders}
        write(home, ".claude.json", {"hasCompletedOnboarding": True, "projects": projects})

    def environment(self, home, url):
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # allows to run without permission prompts as root
        }

    def command(self, prompt, session=None):
        more = ["--resume", session] if session else []
        return ["claude", "-p", prompt, "--permission-mode", "bypassPermissions", *more]


class Codex(Agent):
    name = "codex"
    more_scenarios = EVERY
    program = "codex"
    package = "@openai/codex"
    transcripts = ".codex/sessions/**/*.jsonl"
    without_hooks = ["--disable", "hooks"]

    def prepare(self, home, folders, url):
        config = f"""
            model = "gpt-6.1-sol"
            model_provider = "scripted"
            check_for_update_on_startup = false
            [model_providers.scripted]
            name = "scripted"
            base_url = "{url}/v1"
            wire_api = "responses"
            [analytics]
            enabled = false
        """
        trusted = "".join(f'[projects."{folder}"]\ntrust_level = "trusted"\n' for folder in folders)
        write(home, ".codex/config.toml", config + trusted)

    def environment(self, home, url):
        return {"CODEX_HOME": f"{home}/.codex", "OPENAI_API_KEY": "none"}

    def command(self, prompt, session=None):
        flags = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
        return ["codex", "exec", *flags, *(["resume", session] if session else []), prompt]

    def session(self, home):
        return newest(home.glob(self.transcripts)).stem[-36:]


class Gemini(Agent):
    name = "gemini"
    more_scenarios = ("pushes",)  # it commits and pushes without git's hooks
    program = "gemini"
    package = "@google/gemini-cli"
    gives_id = False
    tells_version = False
    transcripts = ".gemini/**/chats/*.jsonl"

    def prepare(self, home, folders, url):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        write(home, ".gemini/settings.json", settings)
        write(home, ".gemini/trustedFolders.json", {str(folder): "TRUST_FOLDER" for folder in folders})

    def environment(self, home, url):
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"}

    def command(self, prompt, session=None):
        more = ["--resume", "latest"] if session else []
        return ["gemini", "-p", prompt, "--yolo", "-m", "gemini-2.5-pro", *more]


class Copilot(Agent):
    name = "copilot"
    more_scenarios = ("colleague",)
    program = "copilot"
    package = "@github/copilot"
    transcripts = ".copilot/session-state/*/events.jsonl"
    beside = ("claude-code",)

    def prepare(self, home, folders, url):
        write(home, ".copilot/config.json", {"trusted_folders": [str(folder) for folder in folders]})

    def environment(self, home, url):
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def command(self, prompt, session=None):
        return ["copilot", "-s", "-p", prompt, "--allow-all-tools"]


class Opencode(Agent):
    name = "opencode"
    more_scenarios = ("colleague",)
    program = "opencode"
    package = "opencode-ai"

    def prepare(self, home, folders, url):
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
            "models": {"scripted": {"name": "scripted", "tool_call": True}},
        }
        config = {"autoupdate": False, "model": "scripted/scripted", "provider": {"scripted": provider}}
        write(home, ".config/opencode/opencode.json", config)
        # It installs a package for any plugin, and would wait more than a minute for a network that is not there.
        write(home, ".npmrc", "fetch-retries=0\nfetch-timeout=1000\noffline=true\n")

    def environment(self, home, url):
        off = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"]
        return {f"OPENCODE_DISABLE_{what}": "1" for what in off}

    def command(self, prompt, session=None):
        return ["opencode", "run", "--auto", prompt]


class Qwen(Agent):
    name = "qwen"
    program = "qwen"
    package = "@qwen-code/qwen-code"
    transcripts = ".qwen/projects/*/chats/*.jsonl"

    def environment(self, home, url):
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "scripted"}

    def command(self, prompt, session=None):
        return ["qwen", "--yolo", "--auth-type", "openai", "-p", prompt]


ALL = [ClaudeCode(), Codex(), Gemini(), Copilot(), Opencode(), Qwen()]


def write(home, path, content):
    """Writes a file below the home folder: text as it is, anything else as JSON."""
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def newest(files):
    return max(files, key=lambda file: file.stat().st_mtime_ns)
