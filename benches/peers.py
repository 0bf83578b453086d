#!/usr/bin/env python3
"""lockgate beside other servers that edit files, in one run: wall time, processor time and peak memory of each call.

    benches/peers.py --binary target/release/lockgate --install /tmp/peers [--cargo] [--lines 1000 10000 100000]
    benches/peers.py --binary target/release/lockgate --before FILE --rounds 300

`--before` is an earlier build of lockgate, which gets rows of its own. `--install` is a folder for the other servers: @modelcontextprotocol/server-filesystem and @wonderwhy-er/desktop-commander
(npm), mcp-text-editor (PyPI), and with `--cargo` rust-mcp-filesystem and rust-fs-mcp (crates.io). What is there already is
not installed again. A server that is not there, or offers no such call, is left out of its row.

The servers take turns, so that other load of the machine slows all. Processor time is that of the process and its
children, threads that ended included, with the kernel's work for it. Peak memory is the largest resident size. The first
call of each kind does not count. `lockgate, process` has `durability: process` in its policy: like the other servers, it
then waits for no sync of the folder and the journal, but still for that of the file.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

NPM = {"server-filesystem": "@modelcontextprotocol/server-filesystem", "desktop-commander": "@wonderwhy-er/desktop-commander"}
PYPI = {"mcp-text-editor": "mcp-text-editor"}
CRATES = ("rust-mcp-filesystem", "rust-fs-mcp")
CALLS = ("exact edit", "line edit", "range read after a change", "search")
RANGE = 60
PATIENCE = 60
TICK = os.sysconf("SC_CLK_TCK")


class NoAnswer(Exception):
    """The server rejected a call, or gave no answer in time."""


class Server:
    """A server over standard input and output."""

    def __init__(self, command, env, folder):
        self.child = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
        self.number = 0
        try:
            self.ask("initialize", {"protocolVersion": "2025-03-26", "capabilities": {"roots": {}},
                                    "clientInfo": {"name": "bench", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self.tools = {tool["name"]: tool for tool in self.ask("tools/list", {})["tools"]}
        except Exception:
            self.end()
            raise

    def send(self, message):
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        timer = threading.Timer(PATIENCE, self.child.kill)
        timer.start()
        try:
            for line in self.child.stdout:
                answer = json.loads(line)
                if answer.get("method") == "roots/list":
                    self.send({"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32601, "message": "none"}})
                elif answer.get("id") == self.number and "method" not in answer:
                    if "result" not in answer:
                        raise NoAnswer(answer.get("error"))
                    return answer["result"]
        finally:
            timer.cancel()
        raise NoAnswer("the server ended")

    def call(self, tool, arguments, is_structured=False):
        """The text of the result, or its structured form as JSON."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            raise NoAnswer(text[:200])
        return json.dumps(result["structuredContent"]) if is_structured else text

    def processor(self):
        """Seconds of the process, by its clock, and of its children that have ended, in ticks."""
        words = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return time.clock_gettime(~self.child.pid << 3 | 2) + sum(int(word) for word in words[13:15]) / TICK

    def peak(self):
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024

    def end(self):
        self.child.kill()
        self.child.wait()


def lockgate(server, path, kind, number):
    name = path.name
    if kind == "exact edit":
        server.call("edit_file", {"file_path": name, "old_string": f"mark {number}\n", "new_string": f"mark {number + 1}\n"})
    elif kind == "line edit":
        server.call("safe_edit_file", {"path": name, "show_diff": False, "line_edits": [
            {"start_line": 5, "end_line": 5, "new_content": f"line {number}\n"}]})
    elif kind == "range read after a change":
        return server.call("read_content_lines", {"path": name, "start_line": 500, "end_line": 500 + RANGE - 1})
    else:
        return server.call("search_content", {"pattern": "needle_in_the_text"})


def filesystem(server, path, kind, number):
    """server-filesystem and rust-mcp-filesystem, whose tools have the same names."""
    if kind == "exact edit":
        server.call("edit_file", {"path": str(path), "edits": [{"oldText": f"mark {number}", "newText": f"mark {number + 1}"}]})
    elif kind == "range read after a change" and "read_file_lines" in server.tools:
        return server.call("read_file_lines", {"path": str(path), "offset": 499, "limit": RANGE})
    elif kind == "range read after a change":
        return server.call("read_text_file", {"path": str(path), "head": 500 + RANGE - 1})
    elif kind == "search" and "search_files_content" in server.tools:
        return server.call("search_files_content", {"path": str(path.parent), "pattern": "*", "query": "needle_in_the_text"})
    else:
        raise NoAnswer("no such tool")


def desktop_commander(server, path, kind, number):
    if kind == "exact edit":
        server.call("edit_block", {"file_path": str(path), "old_string": f"mark {number}\n", "new_string": f"mark {number + 1}\n"})
    elif kind == "range read after a change":
        return server.call("read_file", {"path": str(path), "offset": 499, "length": RANGE})
    elif kind == "search":
        text = server.call("start_search", {"path": str(path.parent), "pattern": "needle_in_the_text", "searchType": "content",
                                            "timeout_ms": 10000})
        words = text.replace(":", " ").split()
        session = next((word for word in words if word.startswith("search_")), None)
        while "needle_in_the_text" not in text.split("Results", 1)[-1] and session and "COMPLETED" not in text.upper():
            text = server.call("get_more_search_results", {"sessionId": session})
        return text
    else:
        raise NoAnswer("no such tool")


def text_editor(server, path, kind, number):
    def read(first, last):
        return json.loads(server.call("get_text_file_contents", {"files": [
            {"file_path": str(path), "ranges": [{"start": first, "end": last}]}]}))[str(path)]

    if kind == "line edit":
        found = read(5, 5)
        server.call("edit_text_file_contents", {"files": [{"path": str(path), "file_hash": found["file_hash"], "patches": [
            {"line_start": 5, "line_end": 5, "contents": f"line {number}\n", "range_hash": found["ranges"][0]["range_hash"]}]}]})
    elif kind == "range read after a change":
        return read(500, 500 + RANGE - 1)["ranges"][0]["content"]
    else:
        raise NoAnswer("no such tool")


def fs_mcp(server, path, kind, number):
    """rust-fs-mcp."""
    if kind == "exact edit":
        item = {"file_path": str(path), "old_string": f"mark {number}\n", "new_string": f"mark {number + 1}\n"}
        server.call("file-edit", {"items": [item]})
    elif kind == "line edit":
        item = {"file_path": str(path), "start_line": 5, "end_line": 5, "replacement": f"line {number}"}
        server.call("file-edit-lines", {"items": [item]})
    elif kind == "range read after a change":
        return server.call("file-read-line-range", {"items": [{"path": str(path), "start_line": 500, "line_count": RANGE}]}, True)
    else:
        return server.call("fs-search", {"items": [{"path": str(path.parent), "pattern": "needle_in_the_text"}]}, True)


def install(folder, with_cargo):
    """Installs what is missing. Returns the command of each server that is there, without the folder that it may edit."""
    folder.mkdir(parents=True, exist_ok=True)
    npm, venv, cargo = folder / "npm", folder / "py", folder / "cargo"
    missing = [package for package in NPM.values() if not (npm / "node_modules" / package).is_dir()]
    if missing and shutil.which("npm"):
        # desktop-commander would load a browser, which none of these calls uses.
        env = {**os.environ, "PUPPETEER_SKIP_DOWNLOAD": "1"}
        subprocess.run(["npm", "install", "--prefix", npm, "--no-audit", "--no-fund", *missing], env=env, check=False)
    for name, package in PYPI.items():
        if not (venv / "bin" / name).exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=False)
            # It is written for the first version of the library.
            subprocess.run([venv / "bin/pip", "install", "-q", package, "mcp<2"], check=False)
    for crate in CRATES if with_cargo else ():
        if not (cargo / "bin" / crate).exists():
            subprocess.run(["cargo", "install", "--locked", "--root", cargo, crate], check=False)
    commands = {}
    for name, package in NPM.items():
        manifest = npm / "node_modules" / package / "package.json"
        if manifest.exists():
            programs = json.loads(manifest.read_text())["bin"]
            program = programs if isinstance(programs, str) else next(iter(programs.values()))
            commands[name] = ["node", str(manifest.parent / program)]
    commands.update({name: [str(venv / "bin" / name)] for name in PYPI if (venv / "bin" / name).exists()})
    commands.update({name: [str(cargo / "bin" / name)] for name in CRATES if (cargo / "bin" / name).exists()})
    return commands


class Peer:
    """A server with a root of its own and the way in which it is called."""

    def __init__(self, name, command, call, base, lines, policy=None):
        self.name, self.call = name, call
        place = Path(tempfile.mkdtemp(dir=base))
        self.root, home = place / "root", place / "home"
        self.root.mkdir()
        home.mkdir()
        if policy is not None:
            (self.root / "quality.yaml").write_text(policy)
        rows = [f"value_{number} = compute({number})\n" for number in range(lines)]
        rows[lines // 2] = "mark 0\n"
        rows[lines // 3] = "needle_in_the_text\n"
        self.path = self.root / "a.txt"
        self.path.write_text("".join(rows))
        for other in range(20):
            (self.root / f"other{other}.txt").write_text("".join(rows[:1000]).replace("needle_in_the_text", "hay"))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        self.server = Server([word.replace("{root}", str(self.root)) for word in command], self.env, str(self.root))
        self.marks = 0

    def change(self, number):
        """Another program saves the file."""
        text = self.path.read_text()
        head, rest = text.split("\n", 1)
        staged = self.root / ".saved"
        staged.write_text(f"saved {number}\n{rest}")
        staged.rename(self.path)

    def once(self, kind, number):
        """Makes one call; returns its seconds of wall time and of processor time."""
        if kind == "range read after a change":
            self.change(number)
        count = self.marks if kind == "exact edit" else number
        began, processor = time.perf_counter(), self.server.processor()
        answer = self.call(self.server, self.path, kind, count)
        wall, processor = time.perf_counter() - began, self.server.processor() - processor
        if kind == "exact edit":
            self.marks += 1
            if f"\nmark {self.marks}\n" not in self.path.read_text():
                raise NoAnswer("the edit is not there")
        elif kind == "line edit" and f"line {number}" not in self.path.read_text():
            raise NoAnswer("the edit is not there")
        elif kind == "search" and "needle_in_the_text" not in answer:
            raise NoAnswer("nothing was found")
        elif kind.startswith("range") and "value_510 " not in answer:
            raise NoAnswer("the lines are not there")
        return wall, processor


def peers(options, commands, base, lines):
    def serve(binary):
        return [str(Path(binary).resolve()), "serve", "--tools", "all", "--root", "{root}"]

    wanted = [("lockgate", serve(options.binary), lockgate, "quality_gates: {}\n"),
              ("lockgate, process", serve(options.binary), lockgate, "quality_gates: {}\ndurability: process\n")]
    if options.before:
        wanted.append(("lockgate, before", serve(options.before), lockgate, "quality_gates: {}\n"))
    calls = {"server-filesystem": (filesystem, ["{root}"]), "desktop-commander": (desktop_commander, []),
             "mcp-text-editor": (text_editor, []), "rust-mcp-filesystem": (filesystem, ["--allow-write", "{root}"]),
             "rust-fs-mcp": (fs_mcp, ["{root}"])}
    wanted += [(name, command + calls[name][1], calls[name][0], None) for name, command in commands.items()]
    started = []
    for name, command, call, policy in wanted:
        try:
            started.append(Peer(name, command, call, base, lines, policy))
        except Exception as error:
            print(f"{name} did not start: {error}", file=sys.stderr)
    return started


def measure(started, kind, rounds):
    """Returns the wall times, the processor seconds of all calls, and the peak memory, of each server that has the call."""
    figures, left_out = {peer.name: ([], []) for peer in started}, set()
    for number in range(1, rounds + 2):
        for peer in started:
            if peer.name in left_out:
                continue
            try:
                wall, processor = peer.once(kind, number)
            except Exception as error:
                left_out.add(peer.name)
                print(f"{peer.name}, {kind}: {error!r}"[:300], file=sys.stderr)
                continue
            if number > 1:
                figures[peer.name][0].append(wall)
                figures[peer.name][1].append(processor)
    return {peer.name: (*figures[peer.name], peer.server.peak()) for peer in started if peer.name not in left_out}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/lockgate")
    parser.add_argument("--before", help="an earlier build of lockgate")
    parser.add_argument("--install", type=Path, help="the folder of the other servers")
    parser.add_argument("--cargo", action="store_true", help="build the servers of crates.io as well")
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10000, 100000])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--dir", default=None, help="where the files are edited")
    options = parser.parse_args()
    commands = install(options.install.resolve(), options.cargo) if options.install else {}
    print("| call | lines | server | wall ms, median | own CPU ms | peak MiB |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.dir) as base:
        for lines in options.lines:
            started = peers(options, commands, base, lines)
            for kind in CALLS:
                for name, (wall, processor, peak) in measure(started, kind, options.rounds).items():
                    times = f"{statistics.median(wall) * 1e3:.1f} | {sum(processor) / len(processor) * 1e3:.1f}"
                    print(f"| {kind} | {lines} | {name} | {times} | {peak:.0f} |", flush=True)
            for peer in started:
                peer.server.end()


if __name__ == "__main__":
    sys.exit(main())
