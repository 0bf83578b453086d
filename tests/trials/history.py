"""Random edits, batches, undoing and redoing, over the wire, against a model in memory.

A file is a list of slots with fixed lines between them; an edit gives one slot another value. Undoing gives it back, and
nothing else, whatever was done to other slots; where the slot moved on, it is refused and nothing changes.
"""

import os
import random
import shutil
import time

import client
import lab

SLOTS, FILES = 12, ("a.txt", "sub/b.txt")
STEPS = 6
POLICY = "quality_gates: {}\ndurability: process\n"


class Change:
    """What an edit did to one slot of each of its files; of a file that it made, `slot` is `None`."""

    def __init__(self, number, parts, edit_id):
        self.number, self.parts, self.edit_id, self.is_undone = number, parts, edit_id, False


class Sequence:
    """Some steps on files of their own, each compared with the model."""

    def __init__(self, root, call, number):
        self.root, self.call, self.number = root, call, number
        self.dice = random.Random(number)
        self.folder = f"s{number}"
        self.model, self.changes, self.count = {}, [], 0
        self.figures = {"sequences": 1, "edits": 0, "undone": 0, "redone": 0, "refused": 0, "foreign": 0, "made": 0, "batches": 0}
        for name in FILES:
            self.model[f"{self.folder}/{name}"] = [f"value {slot}" for slot in range(SLOTS)]
        for path in list(self.model):
            self.foreign(path)

    def text(self, path):
        slots = self.model.get(path)
        if slots is None:
            return None
        return "".join(f"[{slot}]\n{value}\n.\n.\n.\n" for slot, value in enumerate(slots))

    def foreign(self, path):
        """Another program writes what the model has."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(self.text(path))

    def run(self):
        for _ in range(STEPS):
            step = self.dice.choices((self.edit, self.batch, self.make, self.undo, self.redo, self.write_foreign),
                                     (30, 10, 6, 30, 18, 6))[0]
            failure = step()
            self.count += 1
            if failure:
                return [f"sequence {self.number}, step {self.count}, {step.__name__}: {failure}"]
            wrong = self.compare()
            if wrong:
                return [f"sequence {self.number}, step {self.count}, {step.__name__}: {line}" for line in wrong]
        return []

    def compare(self):
        paths = set(self.model) | {path for change in self.changes for path, *_ in change.parts}
        wrong = []
        for path in sorted(paths):
            expected, place = self.text(path), self.root / path
            now = place.read_text() if place.exists() else None
            if now != expected:
                wrong.append(f"{path} is {now!r}, should be {expected!r}")
        return wrong

    def fresh(self, path):
        slot = self.dice.randrange(SLOTS)
        return path, slot, self.model[path][slot], f"changed {self.number} {self.count} {slot}"

    def written(self, tool, arguments, parts, figure):
        answer = self.call(tool, {**arguments, "show_diff": False})
        if not answer.get("success"):
            return f"refused: {answer}"
        edit_id = answer.get("edit_id")
        if not edit_id:
            return f"no edit_id: {answer}"
        self.changes.append(Change(len(self.changes), parts, edit_id))
        self.apply(parts, 3)
        self.figures[figure] += 1
        return None

    def apply(self, parts, index):
        for part in parts:
            path, slot = part[:2]
            if slot is not None:
                self.model[path][slot] = part[index]
            elif part[index] is None:
                self.model.pop(path)
            else:
                self.model[path] = list(part[index])

    @staticmethod
    def arguments_for(part):
        path, slot, old, new = part
        return {"path": path, "search": f"[{slot}]\n{old}\n", "replace": f"[{slot}]\n{new}\n"}

    def edit(self):
        part = self.fresh(self.dice.choice(list(self.model)))
        return self.written("safe_edit_file", self.arguments_for(part), [part], "edits")

    def batch(self):
        parts = [self.fresh(path) for path in self.model]
        if len(parts) < 2:
            return None
        return self.written("edit_files", {"edits": [self.arguments_for(part) for part in parts]}, parts, "batches")

    def make(self):
        path = f"{self.folder}/new{self.count}/deep/{self.count}.txt"
        slots = [f"made {slot}" for slot in range(SLOTS)]
        self.model[path] = slots
        content = self.text(path)
        del self.model[path]
        return self.written("safe_edit_file", {"path": path, "content": content}, [(path, None, None, slots)], "made")

    def write_foreign(self):
        """Another program changes a slot: edits of it can no longer be undone."""
        path, slot, _, _ = self.fresh(self.dice.choice(list(self.model)))
        self.model[path][slot] = f"theirs {self.count}"
        self.foreign(path)
        self.figures["foreign"] += 1
        return None

    def has_values(self, parts, index):
        """Whether each slot holds what the edit left there, and whether the whole files do."""
        for part in parts:
            path, slot = part[:2]
            now = self.model.get(path)
            if (now if slot is None else now and now[slot]) != part[index]:
                return False
        return True

    def turn(self, tool, is_undo):
        ready = [change for change in self.changes if change.is_undone != is_undo]
        if not ready:
            return None
        change = self.dice.choice(ready) if self.dice.random() < 0.5 else max(ready, key=lambda it: it.number)
        from_, to = (3, 2) if is_undo else (2, 3)
        must, before = self.has_values(change.parts, from_), self.contents()
        answer = self.call(tool, {"edit_id": change.edit_id})
        if answer.get("success"):
            if not must:
                return f"it was done although the slot moved on: {answer}"
            change.is_undone = is_undo
            self.apply(change.parts, to)
            self.figures["undone" if is_undo else "redone"] += 1
            return None
        self.figures["refused"] += 1
        if answer.get("code") != "EDIT_CONFLICT":
            return f"refused with {answer.get('code')}: {answer}"
        if must and not self.was_touched(change):
            return f"refused although nobody touched it: {answer}"
        return None if self.contents() == before else "it was refused, and something changed"

    def was_touched(self, change):
        """Returns whether later changes touched the same slots, so that a rejection is right even if the value is there."""
        own = {part[:2] for part in change.parts}
        paths = {path for path, slot in own if slot is None}
        later = [other for other in self.changes if other is not change]
        slots = {part[:2] for other in later for part in other.parts}
        created_paths = {part[0] for other in later for part in other.parts if part[1] is None}
        return bool(own & slots or paths & {path for path, _ in slots} or {path for path, _ in own} & created_paths
                    or self.figures["foreign"])

    def contents(self):
        return {path: self.text(path) for path in self.model}

    def undo(self):
        return self.turn("undo_edit", True)

    def redo(self):
        return self.turn("redo_edit", False)


class Naive:
    """The control: it remembers whole files, and puts them back whole."""

    def __init__(self, root):
        self.root, self.history = root, {}

    def call(self, tool, arguments):
        if tool in ("undo_edit", "redo_edit"):
            for path, texts in self.history[arguments["edit_id"]]:
                text = texts[tool == "redo_edit"]
                path.unlink() if text is None else path.write_text(text)
            return {"success": True}
        changes = []
        for edit in arguments.get("edits", [arguments]):
            path = self.root / edit["path"]
            old = path.read_text() if path.exists() else None
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edit["content"] if "content" in edit else old.replace(edit["search"], edit["replace"]))
            changes.append((path, (old, path.read_text())))
        self.history[str(len(self.history))] = changes
        return {"success": True, "edit_id": str(len(self.history) - 1)}


def unit(options, first, count):
    runner = lab.Lab(options)
    (runner.root / "quality.yaml").write_text(POLICY)
    if options.control:
        server = Naive(runner.root)
    else:
        server = client.Server(runner.command("serve", "--tools", "all"), runner.env, str(runner.root))
    total, start = {"wrong": [], "steps": 0}, time.monotonic()
    for number in range(first, first + count):
        sequence = Sequence(runner.root, server.call, number)
        total["wrong"] += sequence.run()
        total["steps"] += sequence.count
        total = lab.sum_up({1: total, 2: sequence.figures})
        shutil.rmtree(runner.root / sequence.folder)
    if not options.control:
        server.stop()
        total["wrong"] += [f"left behind: {name}" for name in runner.staged()] + runner.journal_errors()
        total["max journal bytes"] = sum(os.path.getsize(path) for path in runner.state.rglob("journal.db*"))
    runner.remove()
    return {**total, "seconds": round(time.monotonic() - start, 1)}


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--unit", type=int, default=2000, help="sequences in one root")
    options = parser.parse_args()
    if options.quick:
        options.sequences, options.unit = 150, 75
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        jobs = [(f"from {first}", (options, first, options.unit)) for first in range(0, options.sequences, options.unit)]
        complete = progress.work(unit, jobs, options.workers)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
