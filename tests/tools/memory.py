#!/usr/bin/env python3
"""Measures the memory of calls with texts that take a parser much memory.

    memory.py --binary LOCKGATE [--megabytes 10] [--together 8]

Each text is sent as the content of a new file with `verify_only` to a server of its own. The figures are resident memory above
that of the idle server, with the processes that it starts, as /proc has them every few milliseconds: the most while the call
runs, and what stays a second after the answer. The bound is 12 times the text and 64 MiB. `--together N` sends N such calls at
once to one server: two large texts are parsed at a time, and every call may hold 12 times its text.
The exit code is 1 where a bound is exceeded.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402

MIB = 1 << 20

# Name, path, what stands before, and what is repeated.
TEXTS = [
    ("TOML stanzas", "a.toml", "", "[a{n}]\nb = 1\n"),
    ("TOML array", "a.toml", "a = [", "1, "),
    ("Python list", "a.py", "x = [", "1,"),
    ("Python calls", "a.py", "", "f(1, 2, a=3)\n"),
    ("JavaScript array", "a.js", "x = [", "1,"),
    ("JavaScript faults", "a.js", "", "let = ;\n"),
    ("TypeScript types", "a.ts", "", "type A{n} = B<C>;\n"),
    ("JSX", "a.jsx", "x = <>", "<a b='c'/>"),
    ("Rust functions", "a.rs", "", "fn f{n}(a: u8) -> u8 { a + 1 }\n"),
    ("Rust array", "a.rs", "const A: &[u8] = &[", "1,"),
    ("Go table", "a.go", "package a\n\nvar t = []T{\n", "\t{a: 1, b: \"x\"},\n"),
    ("Java array", "A.java", "class A { int[][] t = {\n", "{1, 2},\n"),
    ("C table", "a.c", "struct s t[] = {\n", "{1, \"x\"},\n"),
    ("C++ templates", "a.cpp", "", "template<class T> T f{n}(T a) { return a; }\n"),
    ("CSS rules", "a.css", "", "a{b:1}\n"),
    ("HTML elements", "a.html", "", "<p a=b>c</p>\n"),
    ("Bash commands", "a.sh", "", "a | b; c\n"),
    ("JSON array", "a.json", "[", "1,"),
    ("YAML list", "a.yaml", "", "- a: 1\n"),
    ("Markdown emphasis", "a.md", "# a\n\n", "*a* "),
    ("Markdown list", "a.md", "# a\n\n", "- a\n"),
]


def text(before, piece, size):
    if "{n}" not in piece:
        return before + piece * ((size - len(before)) // len(piece))
    parts, length, number = [before], len(before), 0
    while length < size:
        parts.append(piece.replace("{n}", str(number)))
        length += len(parts[-1])
        number += 1
    return "".join(parts)


def resident(pid):
    """The resident memory of a process and of those that it started, in bytes."""
    total = 0
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmRSS:"):
                total += int(line.split()[1]) * 1024
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in open(f"/proc/{pid}/task/{task}/children").read().split():
                total += resident(child)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return total


class Watch:
    """The most memory of a process while this is open."""

    def __init__(self, pid):
        self.pid, self.most, self.ended = pid, 0, False

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.ended:
            self.most = max(self.most, resident(self.pid))
            time.sleep(0.003)

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


def started(binary, environment):
    root = tempfile.mkdtemp(prefix="memory-")
    pathlib.Path(root, "quality.yaml").write_text("extends: default\nlimits: { file: 12MiB, total: 120s }\n")
    server = Server([binary, "serve", "--root", root], {**os.environ, **environment, "XDG_STATE_HOME": root + "-state"}, root)
    server.call("safe_edit_file", {"path": "first.py", "content": "a = 1\n", "mode": "verify_only"})
    time.sleep(0.2)
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--together", type=int, default=8)
    options = parser.parse_args()
    binary, size = str(options.binary.resolve()), int(options.megabytes * 1_000_000)
    bound = 12 * size + 64 * MIB
    over = []
    print("| text | outcome | most, MiB | of the bound | a second later, MiB | seconds |\n|---|---|---|---|---|---|")
    for name, path, before, piece in TEXTS:
        server = started(binary, {})
        pid, content = server.process.pid, text(before, piece, size)
        idle, begun = resident(pid), time.time()
        with Watch(pid) as watch:
            answer = server.call("safe_edit_file", {"path": path, "content": content, "mode": "verify_only"}, 300)
        taken = time.time() - begun
        time.sleep(1)
        later, most = resident(pid) - idle, watch.most - idle
        outcomes = ", ".join(f"{gate['gate']} {gate['outcome']}" for gate in answer.get("gates", [])) or answer.get("code")
        print(f"| {name} | {outcomes} | {most // MIB} | {most / bound:.2f} | {later // MIB} | {taken:.1f} |", flush=True)
        if most > bound:
            over.append(name)
        server.stop()
    if options.together:
        server = started(binary, {})
        pid, content = server.process.pid, text("", "[a{n}]\nb = 1\n", size)
        idle = resident(pid)
        with Watch(pid) as watch:
            threads = [
                threading.Thread(target=server.call, args=("safe_edit_file", {"path": f"a{n}.toml", "content": content, "mode": "verify_only"}, 600))
                for n in range(options.together)
            ]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        most, all_bound = watch.most - idle, 2 * bound + options.together * 12 * size
        print(f"\n{options.together} calls at once: {most // MIB} MiB, bound {all_bound // MIB}")
        if most > all_bound:
            over.append("together")
        server.stop()
    print(f"over the bound: {over or 'none'}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
