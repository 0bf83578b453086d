"""What all trials share: a root with a state folder of its own, lockgate run in it, progress, and figures."""

import argparse
import contextlib
import json
import multiprocessing
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tracer

NOT_HERE, TO_BE_CONTINUED = 77, 75
TIMEOUT = 60


class Lab:
    """A folder with `root` and `state`; the same path again after each reset, for the journal knows a root by its path."""

    def __init__(self, options):
        self.binary, self.is_thorough = str(Path(options.binary).resolve()), not options.quick
        self.base = Path(tempfile.mkdtemp(prefix="trial-", dir=options.dir))
        self.folder, self.snapshot = self.base / "lab", self.base / "kept"
        self.root, self.state = self.folder / "root", self.folder / "state"
        self.root.mkdir(parents=True)
        # The gates of these trials write down that they run, which a sandbox would prevent.
        self.env = {"PATH": os.environ["PATH"], "NO_COLOR": "1", "RUST_BACKTRACE": "0", "LOCKGATE_ISOLATION": "none"}
        for name, folder in (("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache"),
                             ("XDG_CONFIG_HOME", "config"), ("XDG_RUNTIME_DIR", "run")):
            (self.folder / folder).mkdir(exist_ok=True)
            self.env[name] = str(self.folder / folder)

    def keep(self):
        """Remembers how the folder is now, for `reset`."""
        shutil.rmtree(self.snapshot, ignore_errors=True)
        shutil.copytree(self.folder, self.snapshot, symlinks=True)
        for path in [self.folder, *self.folder.rglob("*")]:
            found = path.lstat()
            os.chown(self.snapshot / path.relative_to(self.folder), found.st_uid, found.st_gid)

    def reset(self):
        shutil.rmtree(self.folder)
        subprocess.run(["cp", "-a", str(self.snapshot), str(self.folder)], check=True)

    def remove(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def command(self, *words):
        command, *rest = words
        return [self.binary, command, "--root", str(self.root), *rest]

    def traced(self, words, stdin, act):
        return tracer.run(self.command(*words), self.env, stdin, str(self.folder), act, TIMEOUT)

    def run(self, *words, stdin=b""):
        result = subprocess.run(self.command(*words), env=self.env, input=stdin, cwd=self.folder, capture_output=True,
                              timeout=TIMEOUT)
        return tracer.ProcessResult(result.returncode, 0, result.stdout.decode(errors="replace"),
                            result.stderr.decode(errors="replace"))

    def edit(self, **request):
        return self.run("edit", "--json", "--file", "-", stdin=json.dumps(request).encode())

    def text(self, path):
        """The bytes of the file; `None` if there is none."""
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None

    def staged(self):
        return [str(path.relative_to(self.root)) for path in self.root.rglob(".*.lockgate")]

    def set_aside(self):
        """The files that were set aside as those of another program."""
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*.kept")]

    def looks(self, path):
        """The metadata to preserve: mode, owner, extended attributes."""
        found = os.lstat(self.root / path)
        xattrs = {name: os.getxattr(self.root / path, name) for name in os.listxattr(self.root / path)}
        return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, tuple(sorted(xattrs.items()))

    def journal_errors(self):
        """What SQLite itself says against the journals."""
        troubles = []
        for path in self.state.rglob("journal.db"):
            with sqlite3.connect(path) as journal:
                troubles += [row[0] for row in journal.execute("PRAGMA integrity_check") if row[0] != "ok"]
            journal.close()
        return troubles + [f"set aside: {path.name}" for path in self.state.rglob("journal.db.corrupt-*")]


def answer(result):
    """The answer that a command printed as JSON; `None` where there is none."""
    try:
        return json.loads(result.stdout)
    except ValueError:
        return None


class Progress:
    """What a trial has found so far, in a file, so that it goes on where it was stopped."""

    def __init__(self, path, minutes):
        self.path = Path(path) if path else None
        self.deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
        self.units = {}
        if self.path and self.path.exists():
            self.units = json.loads(self.path.read_text())

    def have(self, unit):
        return unit in self.units

    def note(self, unit, figures):
        self.units[unit] = figures
        if self.path:
            staged = self.path.with_suffix(".new")
            staged.write_text(json.dumps(self.units, indent=1))
            staged.rename(self.path)

    def work(self, unit, jobs, workers):
        """Does each `name, arguments` that is not done yet by `unit(*arguments)`; returns whether all are."""
        todo = [job for job in jobs if not self.have(job[0])]
        with multiprocessing.Pool(workers) as pool:
            left = len(todo)
            for name, figures in pool.imap_unordered(do, [(unit, *job) for job in todo]):
                self.note(name, figures)
                left -= 1
                if self.is_over():
                    break
            return left == 0

    def is_over(self):
        return time.monotonic() > self.deadline


def do(job):
    unit, name, arguments = job
    return name, unit(*arguments)


@contextlib.contextmanager
def workplace(options):
    """A folder for everything temporary, gone afterwards; `options.dir` becomes it."""
    place = tempfile.mkdtemp(prefix="lockgate-trial-", dir=options.dir)
    options.dir = place
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def options(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--binary", required=True, help="the lockgate to try")
    parser.add_argument("--quick", action="store_true", help="a sample of some seconds")
    parser.add_argument("--control", action="store_true", help="try a naive writer instead, which must fail")
    parser.add_argument("--progress", help="file in which to note what is done")
    parser.add_argument("--minutes", type=float, default=0, help="stop after that, to be continued")
    parser.add_argument("--dir", help="where to make temporary folders")
    parser.add_argument("--ways", help="which ways of writing, with commas between; all unless given")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    return parser


def names(options, all_names, sample):
    """The selected ways of writing."""
    return options.ways.split(",") if options.ways else sample if options.quick else all_names


def sum_up(units):
    """Adds figures up by name: numbers are added, those of `max` are the greatest, lists are joined."""
    total = {}
    for figures in units.values():
        for name, value in figures.items():
            if name.startswith("max"):
                total[name] = max(total.get(name, value), value)
            else:
                total[name] = total[name] + value if name in total else value
    return total


def finish(progress, complete, control=False):
    """Prints the figures, and ends the process: 0 when nothing was violated, 1 when something was."""
    total = sum_up(progress.units)
    wrong = total.pop("wrong", [])
    total["violations"] = len(wrong)
    print(json.dumps(total), flush=True)
    for line in wrong[:20]:
        print("VIOLATION", line, file=sys.stderr)
    if control:
        print("the control is " + ("seen" if wrong else "NOT SEEN"))
    sys.exit((0 if complete else TO_BE_CONTINUED) if not wrong else 1)


def skip(why):
    print(f"NOT RUN: {why}", file=sys.stderr)
    sys.exit(NOT_HERE)
