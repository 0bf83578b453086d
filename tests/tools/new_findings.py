"""Holds what `lockgate check` calls new against what the tools themselves find newly.

    new_findings.py --binary LOCKGATE --bin FOLDER_OF_TOOLS --archives FOLDER --schema SARIF_SCHEMA [--package NAME OLD NEW]

Two releases of a package, from their source archives, become two commits of a repository. ruff and pylint check the
changed files of both, started here and not by lockgate; what they find in the second and not in the first is compared with what
`check --base HEAD~1 --trust` says. The two must be the same findings, each with its line and column.

The difference is made here by other means than lockgate's: by the blocks of Python's difflib. A finding of the second
release is old where one of the first has the same code and words (numbers aside), and is on a line of the same text or
in the lines that its block replaced, or where both speak of the file as a whole, at its very start; each old one pardons one.
A file with the very text of one that is gone is that one. So it is the same rule, but nothing of the same code.
"""

import argparse
import collections
import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

NOT_TO_BE_HAD = 3
"""The exit code where a source archive cannot be fetched."""

RULES = "E,F,W,B,UP,SIM,RET,N"

POLICY = f"""\
quality_gates:
  python:
    - {{ tool: ruff, args: [--isolated, --select, "{RULES}"], fail_on: info, timeout: 60s }}
    - {{ tool: pylint, fail_on: info, timeout: 120s }}
limits: {{ total: 300s }}
"""

Found = collections.namedtuple("Found", "tool path line column code message")


def run(command, cwd, ok=(0,), **more):
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, **more)
    if result.returncode not in ok:
        sys.exit(f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def archive(folder: pathlib.Path, python: pathlib.Path, name: str, version: str) -> pathlib.Path:
    archives = sorted(folder.glob(f"{name}-{version}.tar.gz"))
    if not archives:
        folder.mkdir(parents=True, exist_ok=True)
        pip = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, f"{name}=={version}", "-d", folder]
        if subprocess.run(pip, check=False).returncode != 0:
            sys.exit(NOT_TO_BE_HAD)
        archives = sorted(folder.glob(f"{name}-{version}.tar.gz"))
    return archives[0]


def unpack(source: pathlib.Path, root: pathlib.Path) -> None:
    for path in root.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with tarfile.open(source) as tar:
        for member in tar.getmembers():
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if parts and member.isfile():
                member.name = str(pathlib.PurePosixPath(*parts))
                tar.extract(member, root, filter="data")
    (root / "quality.yaml").write_text(POLICY)


def by_ruff(tools, root, paths):
    out = run([tools / "ruff", "check", "--isolated", "--no-cache", "--select", RULES, "--output-format", "json", *paths], root, (0, 1))
    for it in json.loads(out):
        path = str(pathlib.Path(it["filename"]).relative_to(root))
        place = it["location"]
        yield Found("ruff", path, place["row"], place["column"], it["code"] or "", it["message"])


def by_pylint(tools, root, paths):
    for path in paths:
        out = run([tools / "pylint", "--output-format", "json2", path], root, range(32))
        for it in json.loads(out)["messages"]:
            yield Found("pylint", it["path"], it["line"], it["column"] + 1, it["symbol"], it["message"])


def said(found):
    words = re.split(r"[^\w]|(?<!\w)_(?!\w)", found.message)
    return found.tool, found.code, tuple(word for word in words if word and not re.fullmatch(r"[0-9]+", word))


def new_of(before, after, old, new):
    """The findings of `new` that `old` does not account for."""
    left = list(old)
    fresh = []
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()

    def text(lines, found):
        return lines[found.line - 1].strip() if 0 < found.line <= len(lines) else ""

    def carried(found):
        for tag, old_from, old_to, new_from, _ in blocks:
            if old_from < found.line <= old_to and tag == "equal":
                return found.line - old_from + new_from
        return None

    def side(found, key):
        for at, block in enumerate(blocks):
            if block[0] != "equal" and block[key] < found.line <= block[key + 1]:
                return at
        return None

    rules = [
        lambda was, now: (was.line, was.column) == (now.line, now.column) == (1, 1),
        lambda was, now: carried(was) == now.line,
        lambda was, now: text(before, was) == text(after, now),
        lambda was, now: side(was, 1) is not None and side(was, 1) == side(now, 3),
    ]
    todo = list(new)
    for rule in rules:
        rest = []
        for now in todo:
            match = next((was for was in left if said(was) == said(now) and rule(was, now)), None)
            if match is None:
                rest.append(now)
            else:
                left.remove(match)
        todo = rest
    fresh.extend(todo)
    return fresh


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ["binary", "bin", "archives", "schema"]:
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--package", nargs=3, default=["requests", "2.31.0", "2.32.3"])
    options = parser.parse_args()
    name, *versions = options.package
    tools = options.bin.absolute()
    sources = [archive(options.archives.absolute(), tools / "python", name, version) for version in versions]
    work = options.archives.absolute() / "work"
    shutil.rmtree(work, ignore_errors=True)
    root = work / "root"
    root.mkdir(parents=True)
    user = {key: str(work / "user") for key in ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]}
    path = f"{tools}:/usr/local/bin:/usr/bin:/bin"
    env = {"PATH": path, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", **user}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    run([*git, "init", "-q", "-b", "main"], root, env=env)
    texts = [{}, {}]
    for source, text in zip(sources, texts):
        unpack(source, root)
        run([*git, "add", "-A", "-f"], root, env=env)
        run([*git, "commit", "-q", "-m", "x"], root, env=env)
        for file in sorted(root.rglob("*.py")):
            text[str(file.relative_to(root))] = file.read_text(encoding="utf-8").split("\n")
    removed = {tuple(text): path for path, text in texts[0].items() if path not in texts[1]}
    renamed = [path for path, text in texts[1].items() if path not in texts[0] and any(text) and tuple(text) in removed]
    changed = [path for path, text in texts[1].items() if texts[0].get(path) != text and path not in renamed]
    found = []
    for commit, text in zip(["main~1", "main"], texts):
        run([*git, "checkout", "-q", "--detach", commit], root, env=env)
        paths = [path for path in changed if path in text]
        by_file = collections.defaultdict(list)
        for it in [*by_ruff(tools, root, paths), *by_pylint(tools, root, paths)]:
            by_file[it.path].append(it)
        found.append(by_file)
    expected = collections.Counter()
    for path in changed:
        fresh = new_of(texts[0].get(path, []), texts[1][path], found[0][path], found[1][path])
        expected.update((it.tool, it.path, it.line, it.column, it.code) for it in fresh)
    log = root.parent / "log.sarif"
    check = [options.binary.absolute(), "check", "--base", "HEAD~1", "--trust", "--format", "json", "--sarif", log]
    answer = json.loads(run(check, root, (0, 1), env=env))
    gates = {it["gate"]: it for it in answer["gates"]}
    for gate in ["ruff", "pylint"]:
        if set(gates[gate]["outcomes"]) - {"found", "passed", "skipped"}:
            sys.exit(f"{gate} did not look: {gates[gate]}")
    reported = collections.Counter(
        (it["gate"], it["path"], it["line"], it["column"], it.get("code", "")) for it in answer["findings"] if it["new"]
    )
    schema = pathlib.Path(__file__).with_name("sarif_schema.py")
    print(run([tools / "python", schema, options.schema.absolute(), log], root).strip())
    for missing in sorted((expected - reported).elements()):
        print("not told:", *missing)
    for extra in sorted((reported - expected).elements()):
        print("not new:", *extra)
    totals = [sum(len(it) for it in by_file.values()) for by_file in found]
    print(f"{len(changed)} files changed, {len(renamed)} renamed: {' '.join(renamed)}")
    print(f"{name} {versions[0]} -> {versions[1]}: {totals[0]} and {totals[1]} findings, {sum(expected.values())} new;"
          f" check tells {sum(reported.values())}, of {len(answer['files'])} files")
    return 0 if expected == reported and expected else 1


if __name__ == "__main__":
    sys.exit(main())
