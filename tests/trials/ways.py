"""The six ways in which lockgate writes, each from a settled beginning to its command."""

import json
import os
import sys
from dataclasses import dataclass

NAIVE = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "naive.py")]


def text(word, lines=400):
    """A text of some blocks of a disk, of which no line is in another text."""
    return "".join(f"{word} line {line} of {lines}\n" for line in range(lines)).encode()


OLD, NEW, OTHER = text("old"), text("new", 900), text("another", 300)


@dataclass
class Way:
    """A command, and what each file may hold: before it and after it."""
    name: str
    words: list
    stdin: bytes
    files: dict
    back: str = "undo"


def request(*edits):
    edits_sent = [{"path": path, "content": content.decode()} for path, content in edits]
    return json.dumps(edits_sent[0] if len(edits_sent) == 1 else {"edits": edits_sent}).encode()


EDIT = ["edit", "--json", "--file", "-"]


def must(result):
    assert result.exit == 0, (result.exit, result.stdout, result.stderr)


def begin(lab, policy="quality_gates: {}\n"):
    (lab.root / "quality.yaml").write_text(policy)
    for name in ("a.txt", "b.txt", "bystander.txt"):
        (lab.root / name).write_bytes(OLD)
    os.chmod(lab.root / "a.txt", 0o640)
    if os.geteuid() == 0:
        os.chown(lab.root / "a.txt", 12345, 23456)
    try:
        os.setxattr(lab.root / "a.txt", "user.note", b"kept")
    except OSError:
        pass


def create(lab):
    begin(lab)
    return Way("create", EDIT, request(("new/deep/c.txt", NEW)), {"new/deep/c.txt": (None, NEW)})


def replace(lab):
    begin(lab)
    must(lab.edit(path="b.txt", content=OTHER.decode()))
    return Way("replace", EDIT, request(("a.txt", NEW)), {"a.txt": (OLD, NEW)})


def removal(lab):
    begin(lab)
    must(lab.edit(path="new/deep/c.txt", content=NEW.decode()))
    return Way("removal", ["undo", "--json"], b"", {"new/deep/c.txt": (NEW, None)}, back="redo")


def undo(lab):
    begin(lab)
    must(lab.edit(path="a.txt", content=NEW.decode()))
    return Way("undo", ["undo", "--json"], b"", {"a.txt": (NEW, OLD)}, back="redo")


def batch(lab):
    begin(lab)
    arguments = request(("new/c.txt", NEW), ("a.txt", NEW), ("b.txt", OTHER))
    return Way("batch", EDIT, arguments, {"new/c.txt": (None, NEW), "a.txt": (OLD, NEW), "b.txt": (OLD, OTHER)})


def tidy(lab):
    """The journal is full, so that the edit makes it forget."""
    begin(lab)
    for number in range(12):
        noise = "".join(f"{number * line * 7919 % 1000003}\n" for line in range(6000))
        must(lab.edit(path=f"filler{number % 3}.txt", content=noise))
    begin(lab, "quality_gates: {}\nlimits: { journal: 256KiB }\n")
    return Way("tidy", EDIT, request(("a.txt", NEW)), {"a.txt": (OLD, NEW)})


WAYS = {way.__name__: way for way in (create, replace, removal, undo, batch, tidy)}


def naive(way):
    """The control: the same change by a writer that opens each file and writes into it."""
    changes = {path: after and after.decode() for path, (_, after) in way.files.items()}
    return Way(way.name, NAIVE, json.dumps(changes).encode(), way.files, way.back)


def found(lab, way):
    """The state of the folder: the files that are old, those that are new, and others."""
    old, new, wrong = [], [], []
    for path, (before, after) in way.files.items():
        now = lab.text(path)
        if now == before:
            old.append(path)
        elif now == after:
            new.append(path)
        else:
            wrong.append(f"{path} is {'missing' if now is None else f'torn: {len(now)} bytes'}")
    for path in ("bystander.txt",):
        if lab.text(path) != OLD:
            wrong.append(f"{path} was touched")
    return old, new, wrong


def restarted(lab, way, may_leave=False):
    """What is wrong once lockgate has been started again: `(whether the change is there, violations)`.

    What could not be unlinked is swept when it is a day old, so that it may be left.
    """
    log = lab.run("log", "--json")
    wrong = [] if log.exit == 0 else [f"log: {log.exit} {log.stdout}{log.stderr}"]
    old, new, torn = found(lab, way)
    wrong += torn
    if old and new:
        wrong.append(f"half a batch: {new} are new, {old} are old")
    wrong += [f"left behind: {name}" for name in lab.staged() if not may_leave]
    wrong += [f"taken for somebody else's: {name}" for name in lab.set_aside()]
    if old and not new and not way.files[old[0]][0]:
        wrong += [f"folder left behind: {path}" for path in ["new"] if (lab.root / path).exists()]
    return bool(new), wrong


def goes_on(lab, way, is_new, may_leave=False):
    """What is wrong with the next edit, with taking it back, and with taking back the one that was interfered with."""
    wrong = []
    follow = text("follow")
    for path in ("bystander.txt", next(iter(way.files)))[0 if lab.is_thorough else 1:]:
        stood = lab.text(path)
        result = lab.edit(path=path, content=follow.decode())
        if result.exit or lab.text(path) != follow:
            wrong.append(f"the next edit of {path}: {result.exit} {result.stdout}{result.stderr}")
        result = lab.run("undo", "--json")
        if result.exit or lab.text(path) != stood:
            wrong.append(f"taking back the next edit of {path}: {result.exit} {result.stdout}{result.stderr}")
    if is_new:
        result = lab.run(way.back, "--json")
        if way.back == "undo" and (result.exit or found(lab, way)[1]):
            wrong.append(f"taking it back: {result.exit} {result.stdout}{result.stderr}")
    wrong += [f"left behind later: {name}" for name in lab.staged() if not may_leave]
    return wrong + lab.journal_errors()
