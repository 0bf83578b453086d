#!/usr/bin/env python3
"""What the built-in gates add to an edit: processor time, and instructions where the machine counts them.

    benches/gate_instructions.py --binary target/release/lockgate [--lines 1000 10000]

Each figure of an edit is that of a server with many edits minus that of one with few, divided by the difference.
Instructions in user space (`perf stat -e instructions:u`) hardly depend on what else runs, and processor time little;
the wall time is the median of the calls. A broken text has an old syntax error in every hundredth line; the edits are
elsewhere in it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEW, MANY = 6, 16


def python(number):
    return [f"def function_{number}(first, second=None):", f"    total = first + {number}", "    if second is not None:",
            f"        total += len(second[{number}:]) * 2", f"    return {{'total': total, 'name': \"n{number}\"}}"]


def typescript(number):
    return [f"export function function{number}(first: number, second?: string[]): number {{",
            f"  let total = first + {number};", f"  if (second) {{ total += second.slice({number}).length * 2; }}",
            "  return total;", "}"]


def rust(number):
    return [f"pub fn function_{number}(first: usize, second: Option<&[u8]>) -> usize {{",
            f"    let mut total = first + {number};", "    if let Some(second) = second { total += second.len() * 2; }",
            "    total", "}"]


def go(number):
    return [f"func function{number}(first int, second []string) int {{", f"\ttotal := first + {number}",
            f"\tif second != nil {{ total += len(second[{number}:]) * 2 }}", "\treturn total", "}"]


# The extension, the lines of a part, the head, a comment, and a broken line.
LANGUAGES = {
    "python": ("py", python, [], "# mark {}", "    x = = (1"),
    "typescript": ("ts", typescript, [], "// mark {}", "let x = = (1;"),
    "rust": ("rs", rust, [], "// mark {}", "fn x( = {"),
    "go": ("go", go, ["package a"], "// mark {}", "var x = = (1"),
}


def text(language, lines, broken):
    _, part, head, mark, fault = LANGUAGES[language]
    rows = list(head)
    for number in range(lines // 5):
        rows += part(number)
        if broken and number % 20 == 10:
            rows.append(fault)
    middle = len(head) + (lines // 10) * 5
    rows.insert(middle + (middle // 100 if broken else 0), mark.format(0))
    return "\n".join(rows) + "\n"


class Server:
    def __init__(self, binary, root, home, events):
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        words = ["perf", "stat", "-x,", "-e", "instructions:u,task-clock", "-o", str(events), "--", binary, "serve",
                 "--root", str(root)]
        self.child = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.child.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def ask(self, method, params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer["result"]
        raise SystemExit("the server ended")

    def edit(self, path, old, new):
        arguments = {"file_path": path, "old_string": old, "new_string": new}
        return self.ask("tools/call", {"name": "edit_file", "arguments": arguments})["structuredContent"]

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def run(binary, language, content, policy, edits, folder):
    """Makes this many edits; returns the instructions, the processor seconds and the times of the calls."""
    place = Path(tempfile.mkdtemp(dir=folder))
    root, home = place / "root", place / "home"
    root.mkdir()
    home.mkdir()
    path = f"a.{LANGUAGES[language][0]}"
    if policy:
        (root / "quality.yaml").write_text(policy)
    (root / path).write_text(content)
    events = place / "events"
    server, times, mark = Server(binary, root, home, events), [], LANGUAGES[language][3]
    for number in range(edits):
        start = time.perf_counter()
        answer = server.edit(path, mark.format(number) + "\n", mark.format(number + 1) + "\n")
        times.append(time.perf_counter() - start)
        if answer["status"] != "written":
            raise SystemExit(f"{language}: {answer}")
    server.end()
    rows = [line.split(",") for line in events.read_text().splitlines() if "," in line]
    figures = {row[2].split(":")[0]: float(row[0]) for row in rows if row[0][:1].isdigit()}
    return figures.get("instructions", float("nan")), figures["task-clock"], times


def edit_cost(binary, language, content, policy, folder):
    few = run(binary, language, content, policy, FEW, folder)
    many = run(binary, language, content, policy, MANY, folder)
    count = MANY - FEW
    return (many[0] - few[0]) / count / 1e6, (many[1] - few[1]) / count, statistics.median(many[2]) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/lockgate")
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--languages", nargs="+", default=list(LANGUAGES))
    parser.add_argument("--dir", default=None, help="where the files are edited")
    options = parser.parse_args()
    print("| text | lines | none: M instr., CPU ms, wall ms | default gates | added | broken text | broken to valid |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        for language in options.languages:
            for lines in options.lines:
                valid, broken = text(language, lines, False), text(language, lines, True)
                binary = str(Path(options.binary).resolve())
                none = edit_cost(binary, language, valid, "quality_gates: {}\n", folder)
                gates = edit_cost(binary, language, valid, None, folder)
                old = edit_cost(binary, language, broken, None, folder)
                shown = ["{:.1f}, {:.1f}, {:.1f}".format(*figures) for figures in (none, gates, old)]
                added = "{:.1f}, {:.1f}, {:.1f}".format(*(b - a for a, b in zip(none, gates)))
                print(f"| {language} | {lines} | {shown[0]} | {shown[1]} | {added} | {shown[2]} | {old[1] / gates[1]:.2f} |",
                      flush=True)


if __name__ == "__main__":
    sys.exit(main())
