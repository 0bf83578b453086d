#!/usr/bin/env python3
"""Draws docs/images/refused.svg: a real refused edit, as a terminal shows it.

    docs/images/refused.py LOCKGATE     the program, for example target/release/lockgate

It makes a file in a temporary folder, runs the edit with colors, and draws what was printed. Times are left out, as they
differ from run to run.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

TEXT = 'def ship(item, quantity):\n    if quantity > item.stock:\n        raise ValueError("not enough")\n    item.stock -= quantity\n'
WORDS = ["edit", "--path", "stock.py", "--lines", "3-3", "--new-content", 'raise ValueError("not enough")']
SHOWN = "lockgate edit --path stock.py --lines 3-3 --new-content 'raise ValueError(\"not enough\")'"
COLORS = {"1": "bold", "2": "dim", "31": "red", "91": "red", "32": "green", "36": "cyan", "94": "blue"}
STYLE = """
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d5dae3; white-space: pre; }
    .bold { font-weight: bold; } .dim { fill: #7d8590; } .red { fill: #ff7b72; } .green { fill: #7ee787; }
    .cyan { fill: #76e3ea; } .blue { fill: #79c0ff; }"""
WIDTH, LINE, COLUMNS = 920, 19, 112


def answer(program):
    """What the edit prints, colors included."""
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "project"
        project.mkdir()
        (project / "stock.py").write_text(TEXT, encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "HOME": folder, "CLICOLOR_FORCE": "1", "XDG_STATE_HOME": folder + "/state"}
        run = subprocess.run([program, *WORDS, "--root", str(project)], cwd=project, env=env, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            sys.exit("the edit was not refused")
        return run.stdout + run.stderr


def wrapped(line):
    """The line in rows of at most `COLUMNS` characters, each row a list of (style, text)."""
    rows, row, room, style = [], [], COLUMNS, set()
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            for number in code.group(1).split(";"):
                style = set() if number in ("", "0") else style | {COLORS.get(number, "")}
            continue
        while part:
            row.append((" ".join(sorted(style - {""})), part[:room]))
            part, room = part[room:], room - len(part[:room])
            if part or room == 0:
                rows.append(row)
                row, room = [("", "          ")], COLUMNS - 10
    rows.append(row)
    return rows


def drawing(text):
    """The SVG of some lines of a terminal."""
    text = re.sub(r" \d+ ms\b", "", re.sub(r" *\x1b\[2m\d+ ms\x1b\[0m", "", text)).rstrip("\n")
    lines = ["\x1b[32m$\x1b[0m " + line if number == 0 else line for number, line in enumerate(SHOWN.split("\n"))]
    rows = [row for line in [*lines, *text.split("\n")] for row in wrapped(line)]
    height = LINE * len(rows) + 32
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
           "  <title>lockgate refuses an edit that loses its indentation</title>", f"  <style>{STYLE}\n  </style>",
           f'  <rect width="{WIDTH}" height="{height}" rx="8" fill="#0d1117"/>']
    for number, row in enumerate(rows):
        spans = "".join(f'<tspan class="{style}">{escape(part)}</tspan>' if style else escape(part) for style, part in row)
        out.append(f'  <text x="16" y="{LINE * number + 29}" xml:space="preserve">{spans}</text>')
    return "\n".join([*out, "</svg>\n"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(__file__).with_name("refused.svg")
    target.write_text(drawing(answer(str(pathlib.Path(sys.argv[1]).resolve()))), encoding="utf-8")


if __name__ == "__main__":
    main()
