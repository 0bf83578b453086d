#!/usr/bin/env python3
"""Measures the memory of calls with texts that take a parser much memory.

    memory.py --binary LOCKGATE [--megabytes 10] [--together 8] [--calls create,edit,...] [--only WORD] [--sources FOLDER]

Every call goes to a server of its own, with `verify_only`. The figures are resident memory above that of the idle server, with
the processes that it starts, as /proc has them every few milliseconds: the most while the call runs, and what stays a second
after the answer. The bound is 12 times the text and 64 MiB.

The calls:

    create     the text is the content of a new file
    edit       one word of the text on disk is replaced
    break      one word of the text on disk is replaced by an error, so that both texts are parsed
    replace    the text on disk is replaced by another one, in which every line differs
    quote      search text that is not in the text on disk is searched for
    regex      a pattern that matches very often is replaced
    search     the text is searched by a pattern that matches very often
    context    the symbols of the text are shown

`--sources` measures `edit` with the files of a folder instead, ordinary sources for example, and fails where the syntax gate
does not judge one. `--together N` sends N calls at once to one server; the bound is then that
of one call, N times. The exit code is 1 where a bound is exceeded.
"""

import argparse
import os
import pathlib
import queue
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Gone, Server  # noqa: E402

MIB = 1 << 20
CALLS = ["create", "edit", "break", "replace", "quote", "regex", "search", "context"]

# Name, path, the text before, the repeated text, the text after. An edit replaces "first".
TEXTS = [
    ("TOML stanzas", "a.toml", "first = 1\n", "[a{n}]\nb = 1\n", ""),
    ("TOML tables", "a.toml", "[first]\n", "[[a]]\nb=1\n", ""),
    ("TOML array", "a.toml", "first = [", "1, ", "]\n"),
    ("TOML keys", "a.toml", "first = 1\n", "k{n} = 1\n", ""),
    ("Python list", "a.py", "first = [", "1,", "]\n"),
    ("Python calls", "a.py", "first = 1\n", "f(1, 2, a=3)\n", ""),
    ("Python comments", "a.py", "first = 1\n", "#\n", ""),
    ("JavaScript array", "a.js", "first = [", "1,", "]\n"),
    ("JavaScript statements", "a.js", "first = 1\n", "a;", "\n"),
    ("JavaScript faults", "a.js", "first = 1\n", "let = ;\n", ""),
    ("TypeScript types", "a.ts", "let first = 1\n", "type A{n} = B<C>;\n", ""),
    ("TypeScript templates", "a.ts", "first = 1\n", "`${{a}}`;\n", ""),
    ("JSX", "a.jsx", "first = <>", "<a b='c'/>", "</>\n"),
    ("Rust functions", "a.rs", "fn first() {}\n", "fn f{n}(a: u8) -> u8 { a + 1 }\n", ""),
    ("Rust array", "a.rs", "const first: &[u8] = &[", "1,", "];\n"),
    ("Rust macro", "a.rs", "first! {", "a,", "}\n"),
    ("Go table", "a.go", "package a\n\nvar first = []T{\n", "\t{a: 1, b: \"x\"},\n", "}\n"),
    ("Java array", "A.java", "class A { int[][] first = {\n", "{1, 2},\n", "};}\n"),
    ("C table", "a.c", "struct s first[] = {\n", "{1, \"x\"},\n", "};\n"),
    ("C header", "a.h", "int first;\n", "int a{n}(int b);\n", ""),
    ("C++ templates", "a.cpp", "int first;\n", "template<class T> T f{n}(T a) { return a; }\n", ""),
    ("CSS rules", "a.css", "first{b:1}\n", "a{b:1}\n", ""),
    ("HTML elements", "a.html", "<p>first</p>\n", "<p a=b>c</p>\n", ""),
    ("Bash commands", "a.sh", "first\n", "a | b; c\n", ""),
    ("JSON array", "a.json", "[\"first\",", "1,", "1]\n"),
    ("JSON keys", "a.json", "{\"first\": 1", ",\"k{n}\":1", "}\n"),
    ("JSON maps", "a.json", "[\"first\"", ",{\"a\":1}", "]\n"),
    ("JSON open maps", "a.json", "[\"first\",", "{\"a\":", "\n"),
    ("JSON with comments", "tsconfig.json", "[\"first\",", "1,", "1]\n"),
    ("YAML list", "a.yaml", "- first\n", "- a: 1\n", ""),
    ("YAML keys", "a.yaml", "first: 1\n", "k{n}: 1\n", ""),
    ("YAML flow list", "a.yaml", "first: [", "a,", "]\n"),
    ("YAML flow map", "a.yaml", "first: {{", "k{n},", "}}\n"),
    ("Markdown emphasis", "a.md", "# first\n\n", "*a* ", "\n"),
    ("Markdown list", "a.md", "# first\n\n", "- a\n", ""),
    ("Markdown links", "a.md", "# first\n\n", "[a](b{n})", "\n"),
    ("Markdown definitions", "a.md", "# first\n\n", "[a{n}]: b\n", ""),
    ("Markdown rows", "a.md", "# first\n\n|a|b|\n|-|-|\n", "|c\n", ""),
    ("Markdown stars", "a.md", "# first\n\n", "*a **b ", "\n"),
    ("Python conflict markers", "a.py", "first = 1\n", "<<<<<<< a\n", ""),
    ("Python line ends", "a.py", "first = 1\n", "\n", ""),
    ("Python closing brackets", "a.py", "first = 1\n", ")\n", ""),
    ("Rust closing brackets", "a.rs", "fn first() {}\n", ") ", ""),
    ("CSS closing braces", "a.css", "first{b:1}\n", "}", ""),
    ("C closing braces", "a.c", "int first;\n", "}\n", ""),
    ("C open branches", "a.c", "int first;\n", "#if A\n{\n#endif\n", ""),
    ("Java constructor calls", "A.java", "class A{int first;", ";super(", ""),
    ("YAML open lists", "a.yaml", "first: ", "[", "\n"),
    ("Bash here-documents", "a.sh", "first\n", "a<<E\nE\n", ""),
    ("text of short lines", "a.txt", "first\n", "a\n", ""),
    ("text of one line", "a.txt", "first ", "a", "\n"),
]


def text(before, piece, after, size):
    if "{n}" not in piece:
        piece = piece.replace("{{", "{").replace("}}", "}") if "{{" in piece else piece
        return before + piece * ((size - len(before) - len(after)) // len(piece)) + after
    plain = lambda words: words.replace("{{", "{").replace("}}", "}")  # noqa: E731
    parts, length, number = [plain(before)], len(before), 0
    while length < size - len(after):
        parts.append(piece.replace("{n}", str(number)))
        length += len(parts[-1])
        number += 1
    return "".join(parts) + plain(after)


def call(kind, path, content):
    """The tool, its arguments, and what is on disk before."""
    arguments = {"path": path, "mode": "verify_only"}
    edit = "safe_edit_file"
    if kind == "create":
        return edit, {**arguments, "content": content}, None
    if kind == "edit":
        return edit, {**arguments, "search": "first", "replace": "other", "search_count": 1}, content
    if kind == "break":
        return edit, {**arguments, "search": "first", "replace": "other ) ] } = <(", "search_count": 1}, content
    if kind == "replace":
        return edit, {**arguments, "content": content.replace("a", "c").replace("1", "7"), "show_diff": True}, content
    if kind == "quote":
        search_text = content[:200].replace("first", "fist") + "nothing like it\n" * 3
        return "edit_code", {"file_path": path, "mode": "verify_only", "search_context": search_text, "new_content": "b\n"}, content
    if kind == "regex":
        return edit, {**arguments, "search": "[a1b]", "replace": "\\g<0>x", "regex": True}, content
    if kind == "search":
        return "search_content", {"pattern": "[a-z0-9]", "path": path, "max_results": 1000}, content
    return "ai_get_code_context", {"target_file": path, "max_tokens": 50000}, content


def processes(pid):
    """A process and those that it started."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    found += processes(child)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def command_line(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as command:
        return command.read()


def resident(pid):
    """The resident memory of a process and of those that it started, in bytes.

    Pages of the program's file are left out: all share them. So is a child that has not started its program yet: its pages are its parent's.
    """
    total = 0
    for process in processes(pid):
        try:
            if process != pid and command_line(process) == command_line(pid):
                continue
            with open(f"/proc/{process}/status") as status:
                kilobytes = dict(line.split(":", 1) for line in status)
            total += sum(int(kilobytes.get(name, "0 kB").split()[0]) for name in ("RssAnon", "RssShmem")) << 10
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total


class Watch:
    """The most memory of a process and of those that it starts while this is open."""

    def __init__(self, pid):
        self.pid, self.most, self.ended = pid, 0, False

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.ended:
            self.most = max(self.most, resident(self.pid))
            time.sleep(0.002)

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


class Lab:
    """A server with a folder of its own."""

    def __init__(self, binary, debug):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="memory-"))
        limits = "file: 16MiB" + (", total: 300s" if debug else "")
        (self.root / "tree").mkdir()
        (self.root / "tree" / "quality.yaml").write_text(f"extends: default\nlimits: {{ {limits} }}\n")
        environment = {**os.environ, "XDG_STATE_HOME": str(self.root / "state"), "XDG_CACHE_HOME": str(self.root / "cache")}
        command = [binary, "serve", "--root", str(self.root / "tree"), "--tools", "all"]
        self.server = Server(command, environment, str(self.root / "tree"))
        self.server.call("safe_edit_file", {"path": "small.py", "content": "a = 1\n", "mode": "verify_only"})
        time.sleep(0.1)
        self.pid = self.server.process.pid
        self.idle = resident(self.pid)

    def write(self, path, content):
        (self.root / "tree" / path).write_text(content)

    def stop(self, answers=True):
        self.server.stop() if answers else self.server.kill()
        shutil.rmtree(self.root)


def outcomes(answer):
    gates = answer.get("gates") or answer.get("details", {}).get("gates") or []
    listed = ", ".join(f"{gate['gate']} {gate['outcome']}" for gate in gates if gate["outcome"] != "passed" or gate["gate"] == "syntax")
    return listed or answer.get("code") or ""


def measure(binary, debug, name, kind, path, content):
    """Measures one call; returns whether it stayed within the bound."""
    lab = Lab(binary, debug)
    tool, arguments, before = call(kind, path, content)
    if before is not None:
        lab.write(path, before)
    start = time.time()
    with Watch(lab.pid) as watch:
        try:
            answer = lab.server.call(tool, arguments, 120)
        except queue.Empty:
            answer = {"code": "no answer within 120 s"}
    taken = time.time() - start
    time.sleep(1)
    later, most = resident(lab.pid) - lab.idle, watch.most - lab.idle
    left = len(processes(lab.pid)) - 1
    size = len(content.encode())
    bound = 12 * size + 64 * MIB
    print(f"| {name} | {kind} | {size / 1e6:.1f} | {outcomes(answer)} | {most // MIB} | {most / bound:.2f} | {later // MIB} | {taken:.1f} |", flush=True)
    lab.stop(taken < 120)
    judged = any(gate["gate"] == "syntax" and gate["outcome"] in ("passed", "found") for gate in answer.get("gates", []))
    return most <= bound and left == 0 and taken < 120, judged, answer


def together(binary, debug, count, kind, path, content):
    """Sends so many calls at once; returns whether they stayed within the bound."""
    lab = Lab(binary, debug)
    names = [f"{n}-{path}" for n in range(count)]
    calls = [call(kind, name, content) for name in names]
    for name, (_, _, before) in zip(names, calls):
        if before is not None:
            lab.write(name, before)
    start, answers = time.time(), []

    def send(tool, arguments):
        try:
            answers.append(lab.server.call(tool, arguments, 600))
        except Gone:
            answers.append({"code": "the server ended"})

    with Watch(lab.pid) as watch:
        threads = [threading.Thread(target=send, args=(tool, arguments)) for tool, arguments, _ in calls]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    taken, most = time.time() - start, watch.most - lab.idle
    time.sleep(1)
    later, size = resident(lab.pid) - lab.idle, len(content.encode())
    bound = count * (12 * size + 64 * MIB)
    listed = ", ".join(sorted({outcomes(answer) for answer in answers}))
    print(f"| {path} | {kind} | {count} | {listed} | {most // MIB} | {most / bound:.2f} | {later // MIB} | {taken:.1f} |", flush=True)
    lab.stop()
    return most <= bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--together", type=int, default=0)
    parser.add_argument("--calls", default=",".join(CALLS))
    parser.add_argument("--only", default="", help="texts with this word in their name")
    parser.add_argument("--sources", type=pathlib.Path)
    parser.add_argument("--debug", action="store_true", help="the binary is a debug build: it has 300 s for a call")
    options = parser.parse_args()
    binary, size, kinds = str(options.binary.resolve()), int(options.megabytes * 1_000_000), options.calls.split(",")
    texts = [(name, path, text(before, piece, after, size)) for name, path, before, piece, after in TEXTS if options.only in name]
    over = []
    if options.together:
        print("| file | call | at once | outcome | most, MiB | of the bound | a second later, MiB | seconds |\n|---|---|---|---|---|---|---|---|")
        for name, path, content in texts:
            for kind in kinds:
                if not together(binary, options.debug, options.together, kind, path, content):
                    over.append(f"{name}, {kind}")
    else:
        print("| text | call | MB | outcome | most, MiB | of the bound | a second later, MiB | seconds |\n|---|---|---|---|---|---|---|---|")
        if options.sources:
            for file in sorted(options.sources.iterdir()):
                if options.only not in file.name:
                    continue
                content = file.read_text()
                within_bound, judged, answer = measure(binary, options.debug, file.name, "create", file.name, content)
                if not within_bound or not judged:
                    over.append(f"{file.name}: {answer.get('gates')}")
        else:
            for name, path, content in texts:
                for kind in kinds:
                    within_bound, _, _ = measure(binary, options.debug, name, kind, path, content)
                    if not within_bound:
                        over.append(f"{name}, {kind}")
    print("over the bound:", "; ".join(over) or "none")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
