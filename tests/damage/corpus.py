#!/usr/bin/env python3
"""Honest edits: what people changed, from this repository's history and between releases of packages.

    python3 tests/damage/corpus.py TARGET [--own]

writes TARGET/honest.jsonl, one edit a line: {"of", "path", "before", "after"}; `before` is null for a new file; and
TARGET/files.jsonl, further files for accidents. Packages
are fetched by their ordinary clients (pip, npm, go, and what cargo has fetched already) to TARGET/packages, once; a client
that is not there, or has no network, gives none. With --own, only the history.
"""

import argparse
import io
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LARGEST = 400_000
# Of one file between two releases, and of one package, so many edits count.
MOST_OF_ONE = 120

PYPI = {
    "flask": ["2.2.5", "2.3.3", "3.0.3"],
    "requests": ["2.30.0", "2.31.0", "2.32.3"],
    "attrs": ["22.2.0", "23.2.0", "24.2.0"],
    "rich": ["13.5.3", "13.7.1", "13.9.4"],
    "click": ["8.0.4", "8.1.7"],
    "pyyaml": ["6.0.1", "6.0.2"],
    "httpx": ["0.25.2", "0.27.2"],
    "pytest": ["7.4.4", "8.3.3"],
}
WHEELS = {
    "django": ["4.2.16", "5.0.9"],
    "sqlalchemy": ["2.0.30", "2.0.36"],
    "black": ["23.12.1", "24.10.0"],
}
NPM = {
    "express": ["4.18.2", "4.21.1"],
    "fastify": ["4.26.0", "4.28.1"],
    "zod": ["3.22.4", "3.23.8"],
    "commander": ["11.1.0", "12.1.0"],
    "vite": ["5.2.0", "5.4.0"],
    "bootstrap": ["5.3.2", "5.3.3"],
    "hono": ["4.5.0", "4.6.0"],
    "yargs": ["16.2.0", "17.7.2"],
    "node-gyp": ["9.4.1", "10.2.0"],
}
GO = {
    "github.com/spf13/cobra": ["v1.7.0", "v1.8.1"],
    "github.com/gin-gonic/gin": ["v1.9.1", "v1.10.0"],
    "go.uber.org/zap": ["v1.26.0", "v1.27.0"],
    "github.com/stretchr/testify": ["v1.8.4", "v1.9.0"],
    "github.com/mattn/go-sqlite3": ["v1.14.17", "v1.14.22"],
}


def run(argv, **more):
    try:
        return subprocess.run(argv, capture_output=True, timeout=600, check=True, **more).stdout
    except (OSError, subprocess.SubprocessError) as error:
        stderr = getattr(error, "stderr", b"") or b""
        print(f"not had: {' '.join(map(str, argv))}: {error} {stderr[-300:]!r}", file=sys.stderr)
        return None


def text(data):
    """The text of a file that people write; nothing for others."""
    if data is None or len(data) > LARGEST or b"\0" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    longest = max(map(len, text.split("\n")), default=0)
    return text if longest < 2_000 else None


def history(repository, most=None):
    """The files of every commit, as they were and as they became."""
    log = run(["git", "-C", repository, "log", "--raw", "-r", "-M", "--no-abbrev", "--no-merges", "--root", "--format=%h"])
    changes, commit = [], ""
    for line in (log or b"").decode().splitlines():
        if not line.startswith(":"):
            commit = line or commit
            continue
        header, *paths = line.split("\t")
        _, _, old, new, status = header.split()
        if status[0] in "AMR":
            changes.append((commit, paths[-1], None if status[0] == "A" else old, new))
    changes = changes[:: max(1, len(changes) // most)] if most else changes
    blobs = subprocess.Popen(
        ["git", "-C", repository, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def shown(blob):
        blobs.stdin.write(f"{blob}\n".encode())
        blobs.stdin.flush()
        size = int(blobs.stdout.readline().split()[-1])
        return blobs.stdout.read(size + 1)[:-1]

    for commit, path, old, new in changes:
        before, after = old and text(shown(old)), text(shown(new))
        if after is not None and (before is not None or old is None):
            yield {"of": f"git {commit}", "path": path, "before": before, "after": after}
    blobs.stdin.close()
    blobs.wait()


def members(archive):
    """The files of a source archive or a wheel, without its own folder."""
    files = {}
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                files[name] = packed.read(name)
    else:
        with tarfile.open(archive) as packed:
            for member in packed:
                if member.isfile():
                    files[member.name] = packed.extractfile(member).read()
    tops = {name.split("/")[0] for name in files}
    strip = len(tops) == 1 or archive.suffix == ".tgz"
    return {name.split("/", 1)[-1] if strip else name: data for name, data in files.items()}


def tree(folder):
    files = {}
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            files[str(path.relative_to(folder))] = path.read_bytes()
    return files


def between(name, releases):
    """The edits from each release to the next."""
    for (older, old), (newer, new) in itertools.pairwise(releases):
        count = 0
        for path in sorted(new):
            if "dist-info" in path or ".min." in path or old.get(path) == new[path]:
                continue
            after = text(new[path])
            before = text(old[path]) if path in old else None
            if after is None or (path in old and before is None):
                continue
            count += 1
            if count <= MOST_OF_ONE:
                yield {"of": f"{name} {older}..{newer}", "path": path, "before": before, "after": after}


def archive(folder, fetch):
    """The one archive of a folder, fetched where it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        run(fetch, cwd=folder)
    return next((path for path in folder.iterdir() if path.is_file()), None)


def fetched(packages, kind, packages_wanted, fetch):
    for name, versions in packages_wanted.items():
        releases = []
        for version in versions:
            found = archive(packages / kind / name.replace("/", "_") / version, fetch(name, version))
            if found:
                releases.append((version, members(found)))
        yield from between(f"{kind} {name}", releases)


def modules(packages):
    for name, versions in GO.items():
        releases = []
        for version in versions:
            environment = {**os.environ, "GOPATH": str(packages / "go"), "GOFLAGS": "-modcacherw"}
            output = run(["go", "mod", "download", "-json", f"{name}@{version}"], cwd=packages, env=environment)
            folder = json.loads(output).get("Dir") if output else None
            if folder:
                releases.append((version, tree(folder)))
        yield from between(f"go {name}", releases)


def crates():
    """Crates of which cargo has more than one version."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    found = {}
    for folder in sorted(home.glob("registry/src/*/*")):
        name, _, version = folder.name.rpartition("-")
        while version and not version[0].isdigit():
            name, _, more = name.rpartition("-")
            version = f"{more}-{version}"
        key = [int(part) if part.isdigit() else 0 for part in version.split("+")[0].split("-")[0].split(".")]
        found.setdefault(name, []).append((key, version, folder))
    for name, versions in found.items():
        if len(versions) > 1 and name:
            yield from between(f"crate {name}", [(version, tree(folder)) for _, version, folder in sorted(versions)])


def library():
    """Files of the library that comes with go: for accidents, there is but one version of them."""
    root = run(["go", "env", "GOROOT"])
    folder = pathlib.Path(root.decode().strip(), "src") if root else None
    for path in sorted(folder.rglob("*.go"))[::10] if folder and folder.is_dir() else []:
        if content := text(path.read_bytes()):
            yield {"path": str(path.relative_to(folder)), "after": content}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--most", type=int, default=None, help="how many edits of the history, spread over it")
    options = parser.parse_args()
    packages = options.target / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    sources = [history(HERE.parent.parent, options.most)]
    if not options.own:
        pip = ["pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
        sources += [
            fetched(packages, "pypi", PYPI, lambda name, version: [*pip, "--no-binary", name, f"{name}=={version}"]),
            fetched(packages, "wheel", WHEELS, lambda name, version: [*pip, "--only-binary", ":all:", f"{name}=={version}"]),
            fetched(packages, "npm", NPM, lambda name, version: ["npm", "pack", "--silent", f"{name}@{version}"]),
            modules(packages),
            crates(),
        ]
    with open(options.target / "files.jsonl", "w") as out:
        out.writelines(json.dumps(file) + "\n" for file in ([] if options.own else library()))
    counts = {}
    with open(options.target / "honest.jsonl", "w") as out:
        for edit in itertools.chain(*sources):
            out.write(json.dumps(edit) + "\n")
            kind = edit["of"].split()[0]
            counts[kind] = counts.get(kind, 0) + 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
