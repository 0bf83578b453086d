"""Measures a call of edit_files against the tool's own run, and counts the processes that a call starts.

    tool_runs.py --binary LOCKGATE [--bin FOLDER]... [--pairs 7] [--only TOOL]... [--most RATIO]

Three projects are made up: a crate of Rust, a project of TypeScript and a module of Go, each with 40 files and several
thousand lines. For each tool and for 1, 5 and 20 files, `edit_files` changes one line of each file. In turns with that the
tool is run as a person runs it, in the project as the call left it, with the same words and a folder of its own for what it
keeps. Both are warm. The answer is the median of the pairs' ratios, with both medians.

`serve`: all calls go to one server, and tsc is run as a command. `edit`: each call is a process of its own (`lockgate edit`).
`stale`: one server, and two other files change between the calls, as happens when a person edits at the same time.
`server`: one server, which uses the language server of tsc.

Processes are counted in a second run, under strace: each execve of the tool itself that succeeds.
With --most, the exit code is 1 where a ratio is higher.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402

FILES = 40
BLOCKS = 24
"""Functions of each file."""


def rust(root):
    (root / "src").mkdir()
    (root / "Cargo.toml").write_text('[package]\nname = "made"\nversion = "0.1.0"\nedition = "2021"\n')
    (root / "Cargo.lock").write_text('version = 4\n\n[[package]]\nname = "made"\nversion = "0.1.0"\n')
    for file in range(FILES):
        before = "" if file == 0 else f"use crate::m{file - 1:02} as before;\n\n"
        body = "".join(
            f"/// Adds up what the text number {block} counts.\n"
            f"pub fn count_{block}(words: &[String]) -> BTreeMap<String, usize> {{\n"
            f"    let mut counts = BTreeMap::new();\n"
            f"    for word in words.iter().filter(|word| word.len() > {block}) {{\n"
            f"        *counts.entry(word.to_lowercase()).or_insert(0) += {block};\n"
            f"    }}\n    counts\n}}\n\n"
            for block in range(BLOCKS)
        )
        call = "0" if file == 0 else "before::marker()"
        text = f"use std::collections::BTreeMap;\n\n{before}{body}pub fn marker() -> u64 {{\n    {call} + 1000\n}}\n"
        (root / f"src/m{file:02}.rs").write_text(text)
    (root / "src/lib.rs").write_text("".join(f"pub mod m{file:02};\n" for file in range(FILES)))
    return [f"src/m{file:02}.rs" for file in range(FILES)]


def typescript(root):
    (root / "src").mkdir()
    (root / "tsconfig.json").write_text(
        '{ "compilerOptions": { "strict": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler" }, "include": ["src"] }\n'
    )
    for file in range(FILES):
        before = "" if file == 0 else f'import {{ marker as before }} from "./m{file - 1:02}";\n\n'
        body = "".join(
            f"/** Adds up what the text number {block} counts. */\n"
            f"export function count{block}(words: readonly string[]): Map<string, number> {{\n"
            f"    const counts = new Map<string, number>();\n"
            f"    for (const word of words.filter((word) => word.length > {block})) {{\n"
            f"        counts.set(word.toLowerCase(), (counts.get(word) ?? 0) + {block});\n"
            f"    }}\n    return counts;\n}}\n\n"
            for block in range(BLOCKS)
        )
        call = "0" if file == 0 else "before()"
        (root / f"src/m{file:02}.ts").write_text(
            f"{before}{body}export function marker(): number {{\n    return {call} + 1000;\n}}\n"
        )
    return [f"src/m{file:02}.ts" for file in range(FILES)]


def go(root):
    (root / "go.mod").write_text("module example.org/made\n\ngo 1.19\n")
    names = []
    for file in range(FILES):
        # Ten packages of four files.
        package = f"p{file // 4}"
        (root / package).mkdir(exist_ok=True)
        body = "".join(
            f"// Count{file}x{block} adds up what the text counts.\n"
            f"func Count{file}x{block}(words []string) map[string]int {{\n"
            f"\tcounts := make(map[string]int)\n"
            f"\tfor _, word := range words {{\n"
            f"\t\tif len(word) > {block} {{\n\t\t\tcounts[strings.ToLower(word)] += {block}\n\t\t}}\n"
            f"\t}}\n\treturn counts\n}}\n\n"
            for block in range(BLOCKS)
        )
        name = f"{package}/m{file:02}.go"
        (root / name).write_text(
            f'package {package}\n\nimport "strings"\n\n{body}func Marker{file}() int {{\n\treturn 1000\n}}\n'
        )
        names.append(name)
    return names


class Tool:
    def __init__(self, name, language, make, program, command, env):
        self.name, self.language, self.make, self.program, self.command, self.env = name, language, make, program, command, env


def tools():
    """The tools, with the words that their gates use; `command` and `env` are made for the edited files and a folder."""
    cargo = ["cargo", "check", "--frozen", "--quiet", "--all-targets", "--message-format", "short", "--color", "never"]
    tsc = ["tsc", "--noEmit", "--pretty", "false", "--incremental", "false", "--composite", "false", "--tsBuildInfoFile", "null", "--project", "."]
    folders = lambda names: sorted({f"./{os.path.dirname(name)}" for name in names})
    build = ["go", "build", "-o", "/dev/null", "-gcflags=-e"]
    return [
        Tool("cargo-check", "rust", rust, "cargo", lambda _: cargo, lambda own: {"CARGO_TARGET_DIR": str(own / "target")}),
        Tool("tsc", "typescript", typescript, "tsc", lambda _: tsc, lambda _: {}),
        Tool("go-build", "go", go, "go", lambda names: build + folders(names), lambda own: {"GOFLAGS": "-buildvcs=false", "GOCACHE": str(own / "go")}),
    ]


class Project:
    """One project with its gate, and what both sides keep of it."""

    def __init__(self, tool, options, count, folder, as_command):
        self.tool, self.options, self.count, self.value = tool, options, count, 1000
        self.root, self.own = folder / "project", folder / "own"
        self.root.mkdir()
        self.own.mkdir()
        self.names = tool.make(self.root)
        # Spread over the project, and the others left to change next to them.
        self.edited = [self.names[at * FILES // count] for at in range(count)]
        self.others = [name for name in self.names if name not in self.edited]
        policy = f"quality_gates: {{ {tool.language}: [{{ tool: {tool.name}, timeout: 120s }}] }}\nlimits: {{ total: 120s }}\n"
        if as_command and tool.name == "tsc":
            policy = tsc_as_command(options.binary) + policy.replace("tool: tsc", "tool: tsc-command")
        (self.root / "quality.yaml").write_text(policy)
        search = os.pathsep.join([*map(str, options.bin), os.environ["PATH"]])
        self.env = {**os.environ, "PATH": search, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}

    def request(self):
        old, self.value = self.value, self.value + 1
        return {"edits": [{"path": name, "search": str(old), "replace": str(self.value)} for name in self.edited], "show_diff": False, "max_bytes": 200_000}

    def serve(self, before=()):
        return Server([*before, str(self.options.binary), "serve", "--root", str(self.root), "--tools", "edit", "--trust"], self.env)

    def by_command_line(self, request, before=()):
        command = [*before, str(self.options.binary), "edit", "--root", str(self.root), "--trust", "--json", "--file", "-"]
        result = subprocess.run(command, env=self.env, input=json.dumps(request), capture_output=True, text=True)
        return json.loads(result.stdout)

    def change_others(self):
        for name in self.others[:2]:
            path = self.root / name
            path.write_text(path.read_text().replace(str(self.value_of(path)), str(self.value_of(path) + 1)))

    @staticmethod
    def value_of(path):
        return int(re.search(r"(1\d{3})\b(?!.*1\d{3}\b)", path.read_text(), re.S).group(1))

    def tool_itself(self):
        result = subprocess.run(self.tool.command(self.edited), cwd=self.root, env={**self.env, **self.tool.env(self.own)}, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{self.tool.name} itself ended with {result.returncode}: {result.stdout}{result.stderr}")


def tsc_as_command(binary):
    """The gate tsc without its server, as it is where a process does not last."""
    own = "about: tsc without a server.\n    languages: [typescript]\n    kind: command\n    input: staged\n"
    words = "command: [tsc, --noEmit, --pretty, 'false', --incremental, 'false', --composite, 'false', --tsBuildInfoFile, 'null', '{args}', --project, '{root}']\n"
    output = "output: { regex: '^(?P<file>.+?)\\((?P<line>\\d+),(?P<column>\\d+)\\): (?P<severity>error|warning) (?P<code>TS\\d+): (?P<message>.*)$', ignore: '^ ' }\n"
    canary = "canary: { append: \"\\nconst lockgate_canary: number = '';\\n\", finds: '^TS2322 ', text: 'let x = (;' }\n"
    rest = ["cwd: [tsconfig.json]\n", "ran: [0, 1, 2]\n", output, "scope: project\n", "config: [tsconfig.json, package.json]\n", canary]
    return "define:\n  tsc-command:\n    " + own + "    " + words + "".join(f"    {line}" for line in rest)


def edit_files(server, request):
    return server.call("edit_files", request, timeout=600)


def passed(answer, tool):
    gates = [gate for file in answer.get("files", []) for gate in file.get("gates", []) if gate["gate"].startswith(tool.name)]
    if answer.get("status") != "written" or not gates or any(gate["outcome"] != "passed" for gate in gates):
        sys.exit(f"{tool.name}: {json.dumps(answer)[:2000]}")


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(tool, options, count, interface):
    with tempfile.TemporaryDirectory(prefix="tool-runs-") as folder:
        project = Project(tool, options, count, pathlib.Path(folder).resolve(), interface != "server")
        server = project.serve() if interface != "edit" else None
        edit = (lambda request: edit_files(server, request)) if server else project.by_command_line
        calls, runs = [], []
        for pair in range(options.pairs + 2):
            if interface == "stale":
                project.change_others()
            request = project.request()
            took, answer = timed(lambda: edit(request))
            passed(answer, tool)
            itself, _ = timed(project.tool_itself)
            if pair >= 2:
                calls.append(took)
                runs.append(itself)
        if server:
            server.stop()
    ratio = statistics.median(call / run for call, run in zip(calls, runs))
    return statistics.median(calls), statistics.median(runs), ratio


def count_processes(tool, options, count, interface):
    """Processes of the tool that the first call starts, and those of a later one."""
    with tempfile.TemporaryDirectory(prefix="tool-runs-") as folder:
        folder = pathlib.Path(folder).resolve()
        project = Project(tool, options, count, folder, interface != "server")
        trace = folder / "trace"
        strace = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", str(trace)]
        # The tool by its own name, not by that of the program that starts it (rustup's cargo, npm's tsc).
        named = re.compile(r'execve\("([^"]*/)?' + {"cargo": r"toolchains/[^\"]*/bin/cargo", "tsc": r"\.bin/tsc"}.get(tool.program, tool.program) + '"')
        # Who traces a program of many threads may see a start in two lines.
        completed = re.compile(r'execve\("[^"]+".* = 0$|execve\("[^"]+".*<unfinished')
        process_count = lambda: sum(1 for line in trace.read_text().splitlines() if named.search(line) and completed.search(line) and "-version" not in line and " version" not in line and "\"version\"" not in line)
        counts, last = [], 0
        server = project.serve(strace) if interface != "edit" else None
        for _ in range(2):
            request = project.request()
            if server:
                passed(edit_files(server, request), tool)
            else:
                trace.unlink(missing_ok=True)
                last = 0
                passed(project.by_command_line(request, strace), tool)
            counts.append(process_count() - last)
            last = process_count()
        if server:
            server.stop()
        return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, action="append", default=[], help="folder of tools, before the search path")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", action="append", help="a tool")
    parser.add_argument("--way", action="append", choices=["serve", "edit", "stale", "server"])
    parser.add_argument("--no-count", action="store_true", help="leaves out the count of processes")
    parser.add_argument("--most", type=float, help="the highest ratio that is accepted")
    options = parser.parse_args()
    options.binary = options.binary.resolve()
    options.bin = [folder.resolve() for folder in options.bin]
    print("| tool | way | files | call | the tool itself | ratio | processes, first call | later |\n|---|---|---|---|---|---|---|---|", flush=True)
    worst = 0.0
    for tool in tools():
        if options.only and tool.name not in options.only:
            continue
        if not shutil.which(tool.program, path=os.pathsep.join([*map(str, options.bin), os.environ["PATH"]])):
            print(f"{tool.name}: not here", file=sys.stderr)
            continue
        for interface in options.way or ["serve", "edit"]:
            for count in (1, 5, 20):
                call, itself, ratio = measure(tool, options, count, interface)
                first, later = ("", "") if options.no_count else count_processes(tool, options, count, interface)
                worst = max(worst, ratio)
                print(f"| {tool.name} | {interface} | {count} | {call * 1000:.0f} ms | {itself * 1000:.0f} ms | {ratio:.2f} | {first} | {later} |", flush=True)
    if options.most and worst > options.most:
        sys.exit(f"the highest ratio is {worst:.2f}, more than {options.most}")


if __name__ == "__main__":
    main()
