"""The power is cut while lockgate writes: images of the disk at random moments, mounted and looked at.

At each cut, of each file one of the versions must be there that were written up to then, and none that is older than the
last one that was answered; once lockgate has been started again, batches are whole.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import blocklog
import client
import full
import lab
import ways

AT_FDCWD, EXCHANGE = -100, 2


@dataclass
class Version:
    """The contents of the files of a group; the edit began and was answered when the log had so many entries."""
    texts: dict
    begun: int
    answered: int


class Load:
    """Edits, batches and their undoing, with a record of what was answered when."""

    def __init__(self, runner, disk, seed):
        self.lab, self.disk, self.dice = runner, disk, random.Random(seed)
        self.groups, self.server, self.last = {}, None, None
        for files in (["f0.txt"], ["f1.txt"], ["f2.txt"], ["g0.txt", "g1.txt", "d/g2.txt"]):
            self.groups[files[0]] = [Version(dict.fromkeys(files), 0, 0)]

    def text(self, path, number):
        return ways.text(f"{path} version {number}", self.dice.randrange(1, 400)).decode()

    def call(self, tool, arguments):
        """One call, now of the command line, now of a server that stays."""
        if self.dice.random() < 0.5:
            words = ["undo", "--json", arguments["edit_id"]] if tool == "undo_edit" else ways.EDIT
            result = self.lab.run(*words, stdin=b"" if tool == "undo_edit" else json.dumps(arguments).encode())
            return result.exit == 0, json.loads(result.stdout) if result.exit == 0 else result.stdout + result.stderr
        if not self.server:
            command = self.lab.command("serve", "--tools", "all")
            self.server = client.Server(command, self.lab.env, str(self.lab.root))
        answer = self.server.call(tool, arguments)
        return answer.get("success") is True, answer

    def change(self, name, texts, tool, arguments):
        start_position = self.disk.position()
        is_done, answer = self.call(tool, arguments)
        assert is_done, answer
        # Without an id, each side undoes only its own edits.
        self.last = answer["edit_id"]
        self.groups[name].append(Version(texts, start_position, self.disk.position()))

    def step(self, number):
        name = self.dice.choice(list(self.groups))
        stood = self.groups[name][-1].texts
        texts = {path: self.text(path, number) for path in stood}
        edits = [{"path": path, "content": content} for path, content in texts.items()]
        if len(edits) == 1:
            self.change(name, texts, "safe_edit_file", edits[0])
        else:
            self.change(name, texts, "edit_files", {"edits": edits})
        if self.dice.random() < 0.4:
            self.change(name, stood, "undo_edit", {"edit_id": self.last})

    def run(self, steps):
        for number in range(steps):
            self.step(number)
        if self.server:
            self.server.stop()


class NaiveLoad(Load):
    """The control: staged and exchanged without syncing the copy first, as another program syncs a file of its own."""

    def change(self, name, texts, tool, arguments):
        start_position = self.disk.position()
        for path, content in texts.items():
            path = self.lab.root / path
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(exist_ok=True)
            staged = path.with_suffix(".staged")
            staged.write_text(content)
            if path.exists():
                full.LIBC.renameat2(AT_FDCWD, bytes(staged), AT_FDCWD, bytes(path), EXCHANGE)
                staged.unlink()
            else:
                staged.rename(path)
        with open(self.lab.root / "theirs", "w") as theirs:
            theirs.write("x")
            theirs.flush()
            os.fsync(theirs.fileno())
        self.groups[name].append(Version(texts, start_position, self.disk.position()))


def candidates(versions, flushed, cut):
    """The versions that may be there: from the last one that was answered to those begun."""
    possible = [number for number, version in enumerate(versions) if version.answered <= flushed]
    return [version.texts for version in versions[possible[-1]:] if version.begun <= cut]


def describe(path, now, versions):
    if now is None:
        return f"{path} is missing"
    matching = [number for number, version in enumerate(versions) if version.texts[path] == now]
    return f"{path} is version {matching} of {len(versions)}" if matching else f"{path} is torn: {len(now)} bytes"


def judged(runner, load, flushed, cut, is_control):
    """What is wrong in a mounted image."""
    wrong, contents = [], None
    for is_recovered in (False, True):
        if is_recovered:
            log = runner.run("log", "--json")
            wrong += [] if log.exit == 0 else [f"log: {log.exit} {log.stdout}{log.stderr}"]
            wrong += runner.journal_errors()
        for versions in load.groups.values():
            allowed = candidates(versions, flushed, cut)
            contents = {path: content(runner, path) for path in versions[0].texts}
            is_right = contents in allowed if is_recovered else \
                all(any(now == texts[path] for texts in allowed) for path, now in contents.items())
            if not is_right:
                word = "after recovery" if is_recovered else "at once"
                wrong += [f"{word}: {describe(path, now, versions)}" for path, now in contents.items()]
        if wrong or is_control:
            return wrong
    return wrong + goes_on(runner)


def content(runner, path):
    now = runner.text(path)
    return None if now is None else now.decode(errors="replace")


def goes_on(runner):
    before = runner.text("f0.txt")
    result = runner.edit(path="f0.txt", content="after the cut\n")
    back = runner.run("undo", "--json")
    if result.exit or back.exit or runner.text("f0.txt") != before:
        return [f"the next edit: {result.stdout}{result.stderr}; taken back: {back.stdout}{back.stderr}"]
    return []


def record(kind, options, runner, place):
    """Runs the load on a logged disk; gives what was answered when."""
    disk = blocklog.Disk(kind, place, runner.folder)
    try:
        for folder in ("root", "state", "home", "cache", "config", "run"):
            (runner.folder / folder).mkdir()
        (runner.root / "quality.yaml").write_text("quality_gates: {}\n")
        subprocess.run(["sync", "-f", str(runner.folder)], check=True)
        load = (NaiveLoad if options.control else Load)(runner, disk, options.seed)
        start = disk.position()
        load.run(options.steps)
    finally:
        disk.close()
    for versions in load.groups.values():
        versions[0].begun = versions[0].answered = start
    return load, blocklog.Replay(disk), start


def images(options, kind, count):
    """Cuts the power so many times; the figures."""
    why = full.own_mounts()
    assert not why, why
    place = Path(options.dir) / kind
    place.mkdir()
    runner = lab.Lab(argparse.Namespace(**{**vars(options), "dir": place}))
    shutil.rmtree(runner.folder)
    runner.folder.mkdir()
    load, replay, start = record(kind, options, runner, place)
    entries = len(replay.entries)
    where, dice = blocklog.cuts(entries - start, count, options.seed)
    figures = {"images": 0, "log entries": entries, "wrong": [], "staged copies left to be swept": 0,
               "versions": sum(map(len, load.groups.values()))}
    for at, keep in where:
        at += start
        flushed = replay.cut(at, keep, place / "image.raw", dice)
        figures["images"] += 1
        try:
            blocklog.run("mount", "-o", "loop", place / "image.raw", runner.folder)
        except subprocess.CalledProcessError as error:
            figures["wrong"].append(f"{kind} at {at}: cannot be mounted: {error.stderr.decode()}")
            continue
        wrong = judged(runner, load, flushed, at, options.control)
        # The entry that named it can be lost with the power: such a copy is swept when it is a day old.
        figures["staged copies left to be swept"] += len(runner.staged())
        blocklog.unmount(runner.folder)
        figures["wrong"] += [f"{kind}, cut at {at} of {entries}, {keep} kept: {line}" for line in wrong]
    return figures


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--kind", default="ext4,xfs")
    parser.add_argument("--images", type=int, default=300, help="cuts of each file system")
    parser.add_argument("--steps", type=int, default=250, help="edits before the cuts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.quick:
        options.images, options.steps = 20, 40
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kinds = options.kind.split(",")
    lacking = [f"{kind}: {blocklog.lacking(kind)}" for kind in kinds if blocklog.lacking(kind)]
    if lacking:
        lab.skip("; ".join(lacking))
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        jobs = [(kind, (options, kind, options.images)) for kind in kinds]
        complete = progress.work(images, jobs, options.workers)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
