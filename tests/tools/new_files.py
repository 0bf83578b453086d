#!/usr/bin/env python3
"""Measures calls that create files, judged by pyright, in a project whose language server runs already.

    new_files.py --binary LOCKGATE --bin FOLDER [--modules 200] [--rounds 3]

FOLDER has pyright and pyright-langserver. Each line is a kind of call: the median of its rounds, the longest, and who judged it.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402

POLICY = "quality_gates: { python: [{ tool: pyright }] }\nlimits: { total: 60s }\n"
FUNCTION = """def g{k}(a: int, b: str) -> dict[str, list[int]]:
    c = [a + {k}, *range({k})]
    return {{b: sorted(c)}}

"""


def project(root, modules):
    """A chain of modules, each of which imports the one before."""
    for number in range(modules):
        folder = root / "pkg" / f"m{number // 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        before = f"from pkg.m{(number - 1) // 20}.f{number - 1} import g0 as before\n" if number else ""
        (folder / f"f{number}.py").write_text(before + "".join(FUNCTION.format(k=k) for k in range(60)))
    (root / "pkg" / "__init__.py").touch()
    (root / "quality.yaml").write_text(POLICY)


def calls(round_):
    def edit(number, more=""):
        search = f"    c = [a + {round_ + number}, *range({round_ + number})]\n"
        return {"path": "pkg/m0/f1.py", "search": search, "replace": more + search.replace("[a", "[1 + a")}

    def new(name, text):
        return {"path": f"pkg/m1/{name}{round_}.py", "content": text}

    uses = "from .f21 import g0\n\nx = g0(1, 'a')\n"
    fresh = "def fresh() -> int:\n    return 1\n"
    importer = f"    from pkg.m1.imported{round_} import fresh\n    fresh()\n"
    return {
        "an edit": [edit(0)],
        "a new file": [new("single", uses)],
        "a new file in a new folder": [{"path": f"pkg/n{round_}/new.py", "content": "from pkg.m0.f1 import g0\n"}],
        "a new file and an edit": [new("beside", uses), edit(10)],
        "two new files": [new("one", uses), new("two", uses)],
        "a new file and its importer": [new("imported", fresh), edit(20, importer)],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve() / "project"
        root.mkdir()
        project(root, options.modules)
        path = os.path.abspath(options.bin) + os.pathsep + os.environ["PATH"]
        env = {**os.environ, "PATH": path, "XDG_STATE_HOME": folder, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        server = Server([os.path.abspath(options.binary), "serve", "--root", str(root), "--trust"], env, root)
        server.call("edit_files", {"edits": [{"path": "pkg/m0/f0.py", "search": "[a + 0", "replace": "[0 + a"}]}, 120)
        times, judges = {}, {}
        for number in range(options.rounds):
            for name, edits in calls(number).items():
                start = time.monotonic()
                answer = server.call("edit_files", {"edits": edits}, 120)
                times.setdefault(name, []).append(time.monotonic() - start)
                assert answer["status"] == "written", answer
                whys = " ".join(run.get("why", "") for file in answer["files"] for run in file["gates"])
                judges[name] = "command" if "its command ran" in whys else "server"
        server.stop()
    for name, taken in times.items():
        print(f"| {name} | {statistics.median(taken):.2f} s | {max(taken):.2f} s | {judges[name]} |")


main()
