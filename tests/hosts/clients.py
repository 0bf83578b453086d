"""Real coding agents, each set up so that it runs offline with a scripted model: programs, configuration, environment.

The facts about each client are those of its documentation and of these runs; docs/clients.md has the versions.
"""

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from model import Model

# A run of a client with a scripted model takes 2 to 15 s; a stuck one is ended.
TIMEOUT = 120


@dataclass
class Run:
    """One run of a client: its folders, its output, and what the model was sent."""

    home: Path
    project: Path
    port: int = 0
    server: list = field(default_factory=list)
    status: int = 0
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    model: Model = None

    def write(self, path, value):
        """Writes a file of the configuration unless it is there; JSON unless the value is a text."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))

    @property
    def output(self):
        return f"status {self.status}\n{self.stdout}\n{self.stderr}"


class Client:
    """A client: subclasses say how it is started, and in which words it edits."""

    name = ""
    package = ""
    program = ""

    def __init__(self, modules):
        self.path = modules / self.program
        self.last = None
        self.manifest = modules / self.package / "package.json"

    def version(self):
        return json.loads(self.manifest.read_text())["version"].removesuffix("-linux-x64")

    def configure(self, run):
        """Writes the configuration into the home and the project."""

    def command(self, run):
        raise NotImplementedError

    def program_words(self):
        """The words that start the client."""
        return [self.path]

    def environment(self, run):
        return {}

    def edit(self, path, old, new):
        """The call of the client's own tool that replaces whole lines."""
        raise NotImplementedError

    def server_call(self, tool, arguments):
        """The call of a tool of the MCP server."""
        return {"name": f"mcp:{tool}", "input": arguments}

    def play(self, steps, project, server=(), more=None, environment=None, home=None):
        """Runs the client in a project with a script, and returns the run; `more` may add to the configuration."""
        with tempfile.TemporaryDirectory(prefix="lockgate-host-") as folder, Model(steps) as model:
            run = Run(home or Path(folder), project, model.port, list(server), model=model)
            self.configure(run)
            if more:
                more(run)
            everyone = {"HOME": str(run.home), "PATH": os.environ["PATH"], "TERM": "dumb", "NO_COLOR": "1", "LANG": "C.UTF-8"}
            whole = {**everyone, **self.environment(run), **(environment or {})}
            started = time.monotonic()
            with subprocess.Popen(self.command(run), cwd=project, env=whole, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as child:
                try:
                    stdout, stderr = child.communicate(timeout=TIMEOUT)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, 9)
                    stdout, stderr = child.communicate()
            run.seconds = time.monotonic() - started
            self.last = run
            run.status, run.stdout, run.stderr = child.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace")
            return run


class ClaudeCode(Client):
    name, package, program = "claude-code", "@anthropic-ai/claude-code-linux-x64", "@anthropic-ai/claude-code-linux-x64/claude"

    def configure(self, run):
        run.write(run.home / ".claude/settings.json", {"enableAllProjectMcpServers": True, "permissions": {"allow": ["mcp__lockgate"]}})
        # A stored approval of the made-up key spares the question at the start.
        run.write(run.home / ".claude.json", {"hasCompletedOnboarding": True,
                  "customApiKeyResponses": {"approved": ["sk-ant-fake"], "rejected": []}})
        if run.server:
            entry = {"command": run.server[0], "args": run.server[1:]}
            run.write(run.project / ".mcp.json", {"mcpServers": {"lockgate": entry}})

    def command(self, run):
        return [self.path, "-p", "edit", "--permission-mode", "acceptEdits", "--output-format", "stream-json", "--verbose"]

    def environment(self, run):
        return {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{run.port}", "ANTHROPIC_API_KEY": "sk-ant-fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1"}

    def edit(self, path, old, new):
        return {"name": "Edit", "input": {"file_path": str(path), "old_string": old, "new_string": new}}


class Codex(Client):
    name, package = "codex", "@openai/codex"
    program = "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex"
    # The model's name decides which tools Codex offers; with this one, those of MCP servers are found by a search.
    model = "gpt-5.5"

    def configure(self, run):
        lines = [
            f'model = "{self.model}"', 'model_provider = "scripted"', 'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"', "[model_providers.scripted]", 'name = "scripted"',
            f'base_url = "http://127.0.0.1:{run.port}/v1"', 'wire_api = "responses"', 'env_key = "MODEL_KEY"',
            "requires_openai_auth = false", f"[projects.{json.dumps(str(run.project))}]", 'trust_level = "trusted"',
        ]
        if run.server:
            lines += ["[mcp_servers.lockgate]", f"command = {json.dumps(str(run.server[0]))}",
                      f"args = {json.dumps(run.server[1:])}", 'default_tools_approval_mode = "approve"']
        run.write(run.home / ".codex/config.toml", "\n".join(lines) + "\n")

    def command(self, run):
        return [self.path, "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-hook-trust", "edit"]

    def environment(self, run):
        return {"MODEL_KEY": "fake"}

    def edit(self, path, old, new):
        removed = "".join(f"-{line}\n" for line in old.splitlines())
        added = "".join(f"+{line}\n" for line in new.splitlines())
        return self.patch(f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch")

    def patch(self, text):
        return {"name": "apply_patch", "custom": text}


class CodexCodeMode(Codex):
    """Codex with a model that calls tools from JavaScript."""

    name, model = "codex-code-mode", "gpt-6-sol"

    def patch(self, text):
        return {"name": "functions/exec", "custom": f"text(await tools.apply_patch({json.dumps(text)}))"}

    def server_call(self, tool, arguments):
        return {"name": "functions/exec", "custom": f"text(await tools.mcp__lockgate__{tool}({json.dumps(arguments)}))"}


class GeminiCli(Client):
    name, package, program = "gemini", "@google/gemini-cli", "@google/gemini-cli/bundle/gemini.js"

    def configure(self, run):
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False},
                    "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
        if run.server:
            entry = {"command": run.server[0], "args": run.server[1:], "trust": True}
            settings["mcpServers"] = {"lockgate": entry}
        run.write(run.home / ".gemini/settings.json", settings)

    def program_words(self):
        return ["node", self.path]

    def command(self, run):
        # Gemini CLI offers the tools of a server that no person trusts only in this mode.
        return [*self.program_words(), "-m", "gemini-2.5-pro", "--approval-mode", "yolo" if run.server else "auto_edit", "-o", "stream-json", "-p", "edit"]

    def environment(self, run):
        return {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{run.port}", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def edit(self, path, old, new):
        return {"name": "replace", "input": {"file_path": str(path), "instruction": "edit", "old_string": old, "new_string": new}}


class OpenCode(Client):
    name, package, program = "opencode", "opencode-linux-x64", "opencode-linux-x64/bin/opencode"

    def configure(self, run):
        model = {"name": "m1", "tool_call": True, "limit": {"context": 100000, "output": 4000}}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"http://127.0.0.1:{run.port}/v1", "apiKey": "x"},
                    "models": {"m1": model}}
        settings = {"provider": {"scripted": provider}, "permission": "allow", "autoupdate": False, "share": "disabled"}
        if run.server:
            settings["mcp"] = {"lockgate": {"type": "local", "command": [str(word) for word in run.server], "enabled": True}}
        run.write(run.home / ".config/opencode/opencode.json", settings)

    def command(self, run):
        return [self.path, "run", "-m", "scripted/m1", "edit"]

    def environment(self, run):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}

    def edit(self, path, old, new):
        return {"name": "edit", "input": {"filePath": str(path), "oldString": old, "newString": new}}


class CopilotCli(Client):
    name, package, program = "copilot", "@github/copilot-linux-x64", "@github/copilot-linux-x64/copilot"

    def configure(self, run):
        # Hooks and servers of a project are read in a trusted folder only.
        run.write(run.home / ".copilot/config.json", {"trusted_folders": [str(run.project)]})
        if run.server:
            entry = {"type": "local", "command": str(run.server[0]), "args": run.server[1:], "tools": ["*"]}
            run.write(run.home / ".copilot/mcp-config.json", {"mcpServers": {"lockgate": entry}})

    def command(self, run):
        return [self.path, "-p", "edit", "--allow-all-tools"]

    def environment(self, run):
        return {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{run.port}/v1",
                "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "claude-sonnet-4.5",
                "COPILOT_PROVIDER_WIRE_API": "completions"}

    def edit(self, path, old, new):
        return {"name": "edit", "input": {"path": str(path), "old_str": old, "new_str": new}}


class ClineCli(Client):
    name, package, program = "cline", "@cline/cli-linux-x64", "@cline/cli-linux-x64/bin/cline"

    def configure(self, run):
        # The client's own command writes the provider and its address into the home.
        words = ["auth", "-p", "openai", "-k", "x", "-m", "m1", "-b", f"http://127.0.0.1:{run.port}/v1"]
        environment = {"HOME": str(run.home), "PATH": os.environ["PATH"], "TERM": "dumb"}
        subprocess.run([self.path, *words], cwd=run.project, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=TIMEOUT, check=True)
        if run.server:
            entry = {"command": str(run.server[0]), "args": run.server[1:], "disabled": False}
            run.write(run.home / ".cline/data/settings/cline_mcp_settings.json", {"mcpServers": {"lockgate": entry}})

    def command(self, run):
        return [self.path, "--json", "-P", "openai", "-m", "m1", "edit the file"]

    def environment(self, run):
        # Otherwise a daemon is started that outlives the run.
        return {"CLINE_SESSION_BACKEND_MODE": "local"}

    def edit(self, path, old, new):
        return {"name": "editor", "input": {"path": str(path), "old_text": old, "new_text": new}}


CLIENTS = [ClaudeCode, Codex, CodexCodeMode, GeminiCli, OpenCode, CopilotCli, ClineCli]
