#!/usr/bin/env python3
"""Runs real coding agents offline against a scripted model: what reaches the model, and what lockgate's hooks do.

  run.py --binary LOCKGATE --modules NODE_MODULES [--client NAME]... [--case NAME]... [--keep DIR]

The agents run in a network namespace with nothing but loopback, with a temporary home and a made-up key. The hooks are
those that `lockgate init --client NAME --hooks` writes. Prints one line for each case, and exits with 1 if one fails.
With `--keep`, what the model was sent is written there.
"""

import argparse
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from clients import CLIENTS

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
PROBE = [sys.executable, str(Path(__file__).parent / "probe_server.py")]
# The parts of an answer that a client passes on to the model: of a success, and of an error.
TEXT, STRUCTURE, BOTH = {"text"}, {"structure"}, {"text", "structure"}
PASSED_ON = {
    "claude-code": (STRUCTURE, TEXT),
    "codex": (STRUCTURE, STRUCTURE),
    "codex-code-mode": (BOTH, BOTH),
    "gemini": (TEXT, BOTH),
    "opencode": (TEXT, TEXT),
    "copilot": (BOTH, BOTH),
    "cline": (BOTH, BOTH),
}
# The clients that offer the tools of a server only after a search for them.
LATE = {"claude-code", "codex", "codex-code-mode"}
# Those that do not tell the model the instructions of a server.
NO_INSTRUCTIONS = {"copilot", "cline"}
# Those that let an edit pass when its hook is killed or too slow, and those that block it.
BLOCKS_ON_CRASH = {"copilot"}
# Those whose denial ends the task: a bad edit passes there, and the model is told.
WARNS = {"cline"}
# Those that wait for a hook without a limit.
NO_TIMEOUT = {"cline"}
# Those that look for the quote before they ask the hook: a drifted one cannot be rewritten.
LOOKS_FIRST = {"claude-code"}

BEFORE = "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n"
GOOD = BEFORE.replace("item.price", "item.price * item.count")
QUOTE, GOOD_QUOTE = "        result += item.price", "        result += item.price * item.count"
BROKEN_QUOTE = "        result += (item.price"
DRIFTED_QUOTE = "      result  +=  item.price"
FINDING = ("syntax",)


class Failure(Exception):
    """What a case expected and did not find."""


def expect(condition, message):
    if not condition:
        raise Failure(message)


class Bench:
    """A project with one file, and the client that edits it."""

    def __init__(self, client, binary, folder):
        self.client, self.binary = client, binary
        self.project, self.home = folder / "project", folder / "home"
        self.programs = folder / "bin"
        for made in (self.project, self.home, self.programs):
            made.mkdir()
        (self.programs / "lockgate").symlink_to(binary)
        self.file = self.project / "total.py"
        self.write(self.file, BEFORE)
        self.file.chmod(0o640)
        os.utime(self.file, (1_700_000_000, 1_700_000_000))
        self.before = self.state()

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def state(self):
        found = self.file.stat()
        return self.file.read_bytes(), found.st_mode, found.st_mtime_ns, found.st_ino

    def text(self):
        return self.file.read_bytes().decode()

    def environment(self):
        return {"PATH": f"{self.programs}:{os.environ['PATH']}"}

    def init(self, *arguments):
        """Calls `lockgate init` for the client, as a person does."""
        name = {"claude-code": "claude", "codex-code-mode": "codex"}.get(self.client.name, self.client.name)
        command = [self.binary, "init", "--client", name, "--json", *arguments]
        environment = {**os.environ, **self.environment(), "HOME": str(self.home)}
        done = subprocess.run(command, cwd=self.project, env=environment, capture_output=True, text=True)
        expect(done.returncode == 0, f"init failed: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def play(self, *steps, server=(), more=None):
        return self.client.play(list(steps), self.project, server, more, environment=self.environment(), home=self.home)

    def replace(self, old, new):
        return self.client.edit(self.file, old, new)


def case_answers(bench):
    """The parts of an answer that reach the model, when a tool is offered, and whether the instructions are."""
    client = bench.client
    run = bench.play(client.server_call("probe", {}), client.server_call("probe_error", {}), server=PROBE)
    found = [{part for part in BOTH if f"mark-of-{part}" in result} for result in run.model.results()]
    expect(tuple(found) == PASSED_ON[client.name], f"the model was sent {found}: {run.model.results()}{run.output}")
    tools = " ".join(run.model.tools())
    expect(("probe" not in tools) == (client.name in LATE), f"the first turn offered {tools}")
    instructions = "mark-of-instructions" in json.dumps(run.model.conversations()[0][1])
    expect(instructions != (client.name in NO_INSTRUCTIONS), f"instructions: {instructions}")
    return " and ".join("+".join(sorted(parts)) for parts in found)


def case_always_load(bench):
    """The mark that makes Claude Code offer a tool at once; no other client needs it."""
    run = bench.play(bench.client.server_call("probe", {}), server=[*PROBE, "zeta", "+alpha", "probe"])
    offered = [name for name in ("zeta", "alpha", "probe") if any(name in tool for tool in run.model.tools())]
    expected = ["alpha"] if bench.client.name == "claude-code" else [] if bench.client.name in LATE else ["zeta", "alpha", "probe"]
    expect(offered == expected, f"the first turn offered {offered}")
    return f"offered {offered}"


def case_server(bench):
    """An edit and a rejected edit by lockgate's own tool."""
    bench.init(*(["--user"] if bench.client.name == "cline" else []))
    edit = {"file_path": str(bench.file), "old_string": QUOTE, "new_string": GOOD_QUOTE}
    broken = {**edit, "old_string": GOOD_QUOTE, "new_string": BROKEN_QUOTE}
    call = bench.client.server_call
    server = [bench.binary, "serve", "--root", bench.project]
    run = bench.play(call("edit_file", edit), call("edit_file", broken), server=[str(word) for word in server])
    results = run.model.results()
    expect(bench.text() == GOOD, f"the file is {bench.text()!r}: {results}{run.output}")
    expect(len(results) == 2 and "version" in results[0], f"the model was sent {results}")
    expect("nothing was written" in results[1] and "syntax" in results[1], f"the model was sent {results}")
    # A client that shows one form of an answer is sent one form. In code mode a script reads the whole answer.
    if bench.client.name != "codex-code-mode":
        twice = [result for result in results if '"version"' in result or result.count("nothing was written") > 1]
        expect(not twice, f"the model was sent the answer as JSON, or twice: {twice}")
    return "edited, and told why not, as text alone"


def denied(bench, run):
    results = run.model.results()
    if bench.client.name in WARNS:
        expect(bench.text() == BEFORE.replace(QUOTE, BROKEN_QUOTE), f"the file is {bench.text()!r}: {results}{run.output}")
    else:
        expect(bench.state() == bench.before, f"the file changed: {bench.text()!r} {results}{run.output}")
    sent = run.model.sent()
    expect(all(word in sent for word in FINDING) and "lockgate" in sent, f"the model was not told: {results}{run.output}")


def case_broken(bench):
    """An edit that breaks the syntax is denied; bytes, mode and time stay; the model is sent the finding."""
    bench.init("--hooks")
    run = bench.play(bench.replace(QUOTE, BROKEN_QUOTE))
    denied(bench, run)
    return "written, and the model was told" if bench.client.name in WARNS else "denied, file untouched"


def case_cancel(bench):
    """Where a denial ends the task, the policy can choose it."""
    bench.init("--hooks")
    bench.write(bench.project / "quality.yaml", "hooks: { cline: cancel }\n")
    run = bench.play(bench.replace(QUOTE, BROKEN_QUOTE), bench.replace(QUOTE, GOOD_QUOTE))
    expect(bench.state() == bench.before, f"the file changed: {bench.text()!r} {run.model.results()}{run.output}")
    asked = len(run.model.conversations())
    expect(asked == 1 and "aborted" in run.output, f"the task went on, {asked} turns: {run.output}")
    # The client shows its person no reason: that stands in its own log alone.
    log = (run.home / ".cline/data/logs/cline.log").read_text()
    told = [place for place, text in (("output", run.output), ("log", log)) if all(word in text for word in FINDING)]
    expect(told == ["log"], f"the finding is in {told}: {run.output}")
    return "cancelled, the task ended, the finding is in the log of the client"


def case_no_hook(bench):
    """The control: without the hook, the same edit is written."""
    run = bench.play(bench.replace(QUOTE, BROKEN_QUOTE))
    expect(bench.text() == BEFORE.replace(QUOTE, BROKEN_QUOTE), f"the file is {bench.text()!r}: {run.output}")
    return "written"


def case_good(bench):
    """A good edit passes, and the model is not sent a word about it."""
    bench.init("--hooks")
    run = bench.play(bench.replace(QUOTE, GOOD_QUOTE))
    expect(bench.text() == GOOD, f"the file is {bench.text()!r}: {run.model.results()}{run.output}")
    expect("lockgate" not in " ".join(run.model.results()), f"the model was sent {run.model.results()}")
    return "written"


def case_log(bench):
    """A host's edit is in the journal, and can be undone."""
    bench.init("--hooks")
    bench.play(bench.replace(QUOTE, GOOD_QUOTE))
    expect(bench.text() == GOOD, "the edit was not written")
    environment = {**os.environ, "HOME": str(bench.home)}
    undo = subprocess.run([bench.binary, "undo"], cwd=bench.project, env=environment, capture_output=True, text=True)
    expect(bench.text() == BEFORE, f"undo did not restore the file: {undo.stdout}{undo.stderr}")
    return "undone"


def case_drifted(bench):
    """A drifted quote is rewritten to the exact one, or the model is sent the nearest lines."""
    bench.init("--hooks")
    drifted = GOOD_QUOTE.replace("        ", "      ")
    run = bench.play(bench.replace(DRIFTED_QUOTE, drifted))
    if bench.client.name in LOOKS_FIRST:
        expect(bench.state() == bench.before, f"the file changed: {bench.text()!r}")
        expect("result += item.price" in run.model.sent(), f"the model was not helped: {run.model.results()}{run.output}")
        return "helped"
    expect(bench.text() == GOOD, f"the file is {bench.text()!r}: {run.model.results()}{run.output}")
    return "rewritten"


def case_doctor(bench):
    """`lockgate hook --doctor` says of the configured hooks what the client then does, and without hooks that there are none."""
    works = "warns of a broken edit" if bench.client.name in WARNS else "denies a broken edit"
    host = {"codex-code-mode": "codex"}.get(bench.client.name, bench.client.name)
    environment = {**os.environ, **bench.environment(), "HOME": str(bench.home)}

    def doctor():
        command = [bench.binary, "hook", host, "--doctor"]
        return subprocess.run(command, cwd=bench.project, env=environment, capture_output=True, text=True, timeout=60)

    without = doctor()
    expect(without.returncode == 1 and "is not configured" in without.stdout, f"without hooks: {without.stdout}{without.stderr}")
    bench.init("--hooks")
    found = doctor()
    expect(found.returncode == 0 and works in found.stdout, f"{found.stdout}{found.stderr}")
    shim(bench, "exit 0")
    passing = doctor()
    expect(passing.returncode == 1 and "let a broken edit pass" in passing.stdout, f"{passing.stdout}{passing.stderr}")
    return "works"


def packaged(bench, *commands):
    """Installs a package with the client's own commands, and makes a broken edit, which must be denied."""

    def install(run):
        whole = {**os.environ, **bench.environment(), **bench.client.environment(run), "HOME": str(run.home)}
        for command in commands:
            words = [str(word) for word in (*bench.client.program_words(), *command)]
            done = subprocess.run(words, cwd=bench.project, env=whole, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            expect(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")

    run = bench.play(bench.replace(QUOTE, BROKEN_QUOTE), more=install)
    denied(bench, run)
    return "installed, denied"


def case_plugin(bench):
    """The plugin is valid, and installed from its marketplace file it denies a broken edit."""
    market = PACKAGING / "claude-code"
    return packaged(bench, ("plugin", "validate", market / "lockgate", "--strict"), ("plugin", "marketplace", "add", market),
                    ("plugin", "install", "lockgate@lockgate"))


def case_extension(bench):
    """The extension is installed and denies a broken edit."""
    return packaged(bench, ("extensions", "install", PACKAGING / "gemini", "--consent"))


def shim(bench, script):
    """Puts another program in the place of lockgate."""
    program = bench.programs / "lockgate"
    program.unlink()
    bench.write(program, f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def passes_or_blocks(bench, blocks):
    run = bench.play(bench.replace(QUOTE, GOOD_QUOTE))
    expected = BEFORE if blocks else GOOD
    expect(bench.text() == expected, f"the file is {bench.text()!r}: {run.model.results()}{run.output}")
    return "blocked" if blocks else "passed"


def case_killed(bench):
    """The hook is killed: the edit passes, except where the client blocks it."""
    bench.init("--hooks")
    shim(bench, "kill -9 $$")
    return passes_or_blocks(bench, bench.client.name in BLOCKS_ON_CRASH)


def case_slow(bench):
    """The hook exceeds the client's timeout: the edit passes. The timeout is shortened to two seconds for this."""
    path = bench.project / bench.init("--hooks")["path"]
    if bench.client.name in NO_TIMEOUT:
        shim(bench, "exec sleep 10")
        passed = passes_or_blocks(bench, False)
        expect(bench.client.last.seconds > 20, f"the client waited {bench.client.last.seconds} s for two hooks of 10 s")
        return f"{passed}, after the end of the hook"
    text = path.read_text()
    for word, short in (("30000", "2000"), ("30_000", "2_000"), (": 30", ": 2")):
        text = text.replace(word, short)
    path.write_text(text)
    shim(bench, "exec sleep 60")
    return passes_or_blocks(bench, False)


def case_policy(bench):
    """A malformed policy: the edit passes."""
    bench.init("--hooks")
    bench.write(bench.project / "quality.yaml", "quality_gates: [\n")
    return passes_or_blocks(bench, False)


def case_uninstalled(bench):
    """The control of the removal: after `--uninstall`, no hook is called."""
    before = sorted(str(path) for path in bench.project.rglob("*"))
    bench.init("--hooks")
    bench.init("--hooks", "--uninstall")
    expect(sorted(str(path) for path in bench.project.rglob("*")) == before, "files are left")
    shim(bench, f"touch {bench.home}/called; exit 1")
    bench.play(bench.replace(QUOTE, GOOD_QUOTE))
    expect(not (bench.home / "called").exists() and bench.text() == GOOD, "the hook was called")
    return "gone"


def case_replace(bench):
    """The client's own edit tools are left out."""
    bench.init("--replace")
    run = bench.play(bench.replace(QUOTE, GOOD_QUOTE))
    expect(bench.state() == bench.before, f"the file changed: {bench.text()!r}")
    edits = {"Edit", "Write", "replace", "write_file", "edit", "write"} & set(run.model.tools())
    expect(not edits, f"the model was offered {edits}")
    return "left out"


CASES = {name.removeprefix("case_"): case for name, case in globals().items() if name.startswith("case_")}
ONLY = {
    "cancel": WARNS,
    "replace": {"claude-code", "gemini", "opencode"},
    "plugin": {"claude-code"},
    "extension": {"gemini"},
}


def isolate():
    """Starts the script again in a network namespace of its own, and switches its loopback on there."""
    if os.environ.get("LOCKGATE_HOSTS_ISOLATED") != "1":
        unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
        os.environ["LOCKGATE_HOSTS_ISOLATED"] = "1"
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        request = struct.pack("16sH14x", b"lo", 0x1 | 0x40)  # IFF_UP and IFF_RUNNING
        fcntl.ioctl(link, 0x8914, request)  # SIOCSIFFLAGS
    with socket.socket() as outside:
        outside.settimeout(2)
        if outside.connect_ex(("192.0.2.1", 80)) == 0:
            sys.exit("the network is reachable")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=Path)
    parser.add_argument("--modules", required=True, type=Path)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    isolate()
    failed = 0
    for kind in CLIENTS:
        client = kind(options.modules.resolve())
        if options.client and client.name not in options.client:
            continue
        if not client.path.exists():
            print(f"missing  {client.name}: {client.path}")
            failed += 1
            continue
        for name, case in CASES.items():
            if (options.case and name not in options.case) or client.name not in ONLY.get(name, {client.name}):
                continue
            folder = Path(tempfile.mkdtemp(prefix="agent-"))
            bench = Bench(client, options.binary.resolve(), folder)
            try:
                print(f"passed   {client.name} {client.version()} {name}: {case(bench)}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"FAILED   {client.name} {client.version()} {name}: {failure}", flush=True)
            finally:
                if options.keep and client.last:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    sent = json.dumps(client.last.model.requests, indent=1, ensure_ascii=False)
                    (options.keep / f"{client.name}-{name}.json").write_text(sent)
                shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
