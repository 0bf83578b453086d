"""Batches over the same files from four servers that are killed now and then: no deadlock, and all or none of each.

And the holder of a lock is killed: how long until the next edit is written. And a batch is killed between its files,
while the lock of one of them is taken: an edit of another one waits until all of the batch can be reverted.
"""

import collections
import fcntl
import json
import queue
import random
import threading
import time

import client
import lab
import servers
import tracer

FILES = [f"file{number}.txt" for number in range(12)]
THREADS = 4
# Longer than any lock is waited for.
STUCK = 45
SLOTS = [f"slot {number}\n" for number in range(100)]
GOAL_MS = 100
SLOW = """define:
  slow:
    about: Takes its time where the text says so.
    languages: ['*']
    kind: command
    input: stdin
    command: [sh, -c, "if grep -q SLOW; then echo begun >> '{log}'; sleep 8; fi"]
    output: {{ text: exit, message: m }}
quality_gates: {{ '*': [{{ tool: slow }}] }}
"""


class Mixed:
    """Clients that ask for batches, edits and undoing, and what must be there afterwards."""

    def __init__(self, group, seed):
        self.group, self.seed, self.over = group, seed, False
        self.guard, self.wrong, self.figures = threading.Lock(), [], collections.Counter()
        # Of each line: the files that it belongs to, and whether it must be there (`None`: no answer came).
        self.lines = {}
        for path in FILES:
            (group.lab.root / path).write_text("".join(SLOTS))

    def client(self, number):
        dice = random.Random(self.seed * 100 + number)
        count = 0
        try:
            while not self.over:
                count += 1
                self.turn(number % servers.SERVERS, dice, f"line {number} {count}\n")
        except queue.Empty:
            self.wrong.append(f"client {number} was not answered within {STUCK} s")
        except Exception as error:
            self.wrong.append(f"client {number}: {type(error).__name__} {error}")

    def turn(self, server, dice, line):
        paths = dice.sample(FILES, dice.choice((1, 2, 3, 5)))
        self.lines[line] = (paths, None)
        slot = dice.choice(SLOTS)
        edits = [{"path": path, "search": slot, "replace": slot + line} for path in paths]
        answer = self.call(server, "edit_files" if len(edits) > 1 else "safe_edit_file",
                         {"edits": edits, "show_diff": False} if len(edits) > 1 else edits[0])
        if answer is None:
            return
        self.lines[line] = (paths, answer.get("success") is True)
        self.figures["batches" if len(edits) > 1 else "edits"] += 1
        if answer.get("edit_id") and dice.random() < 0.2:
            self.lines[line] = (paths, None)
            undo = self.call(server, "undo_edit", {"edit_id": answer["edit_id"]})
            if undo is not None:
                self.lines[line] = (paths, undo.get("success") is not True)
                self.figures["undone"] += undo.get("success") is True

    def call(self, server, tool, arguments):
        """The answer; `None` when the server was killed before it."""
        try:
            answer = self.group.running(server).call(tool, arguments, STUCK)
        except client.Gone:
            self.figures["unanswered"] += 1
            return None
        if answer.get("success") is not True:
            self.figures[f"refused {answer.get('code')}"] += 1
            if answer.get("code") != "EDIT_CONFLICT":
                self.wrong.append(f"{tool}: {answer}")
        return answer

    def run(self, seconds, pause):
        clients = [threading.Thread(target=self.client, args=(number,)) for number in range(servers.SERVERS * THREADS)]
        dice = random.Random(self.seed)
        for one in clients:
            one.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(dice.uniform(0.5, 1.5) * pause)
            self.group.kill(dice.randrange(servers.SERVERS))
        self.over = True
        for one in clients:
            one.join()

    def check(self):
        """What is wrong once lockgate has been started again."""
        texts = {path: collections.Counter((self.group.lab.root / path).read_text().splitlines(keepends=True))
                 for path in FILES}
        for line, (paths, expected) in self.lines.items():
            counts = {path: texts[path].pop(line, 0) for path in FILES}
            inside = [counts[path] for path in paths]
            if any(counts[path] for path in FILES if path not in paths) or set(inside) not in ({0}, {1}) or \
                    expected is not None and inside[0] != expected:
                self.wrong.append(f"{line.strip()} should be {expected} in {paths}, is {counts}")
        self.wrong += [f"{path} has {left}" for path, left in texts.items() if set(left) != set(SLOTS)]
        return self.wrong


class NaiveMixed(Mixed):
    """The control: each file of a batch is read, changed and renamed by itself."""

    def call(self, server, tool, arguments):
        for edit in arguments.get("edits", [arguments]):
            self.group.call("safe_edit_file", edit)
        return {"success": True}


def mixed(options, number):
    runner = lab.Lab(options)
    (runner.root / "quality.yaml").write_text(servers.POLICY)
    group = (servers.NaiveServerGroup if options.control else servers.ServerGroup)(runner)
    one = (NaiveMixed if options.control else Mixed)(group, number)
    one.run(options.seconds, options.pause)
    group.stop()
    if not options.control:
        log = runner.run("log", "--json")
        one.wrong += [] if log.exit == 0 else [f"log: {log.exit} {log.stdout}{log.stderr}"]
        one.wrong += [f"left behind: {name}" for name in runner.staged()] + runner.journal_errors()
    wrong = one.check()
    runner.remove()
    return {**one.figures, "kills": group.kills, "seconds": options.seconds, "wrong": wrong}


def holder(options, rounds):
    """Kills servers that hold a lock; the milliseconds until another's edit is written."""
    runner = lab.Lab(options)
    log = runner.folder / "log"
    (runner.root / "quality.yaml").write_text(SLOW.format(log=log))
    (runner.root / "held.txt").write_text("top\n")
    command = [*runner.command("serve", "--tools", "all", "--trust")]
    other = client.Server(command, runner.env, str(runner.root))
    waits, wrong = [], []
    for number in range(rounds):
        for is_waiting in (False, True):
            log.unlink(missing_ok=True)
            victim = client.Server(command, runner.env, str(runner.root))
            threading.Thread(target=hold, args=(victim,)).start()
            until = time.monotonic() + STUCK
            while not log.exists():
                assert time.monotonic() < until, "the gate that holds the lock has not begun"
                time.sleep(0.005)
            took, answer = after_kill(victim, other, is_waiting, f"{number} {is_waiting}\n")
            waits.append(1000 * took)
            wrong += [] if answer.get("success") else [f"after the kill: {answer}"]
            wrong += [f"the next edit took {1000 * took:.0f} ms"] if 1000 * took > options.goal else []
    other.stop()
    runner.remove()
    waits.sort()
    return {"holders killed": len(waits), "max ms after a holder's kill": round(waits[-1], 1),
            "median ms after a holder's kill": round(waits[len(waits) // 2], 1), "wrong": wrong}


def hold(victim):
    try:
        victim.call("safe_edit_file", {"path": "held.txt", "content": "SLOW\n"})
    except client.Gone:
        pass


def after_kill(victim, other, is_waiting, content):
    """Seconds from the kill to the answer of an edit that waits already, or is sent only then."""
    answers = queue.SimpleQueue()

    def ask():
        answers.put(other.call("safe_edit_file", {"path": "held.txt", "content": content}))
    asking = threading.Thread(target=ask)
    if is_waiting:
        asking.start()
        time.sleep(0.3)
    start = time.monotonic()
    victim.kill()
    if not is_waiting:
        asking.start()
    answer = answers.get(timeout=STUCK)
    return time.monotonic() - start, answer


def interrupted(options):
    """What is wrong with an edit of one file of a batch that was killed between two of its files."""
    runner, names = lab.Lab(options), ("a.txt", "b.txt")
    (runner.root / "quality.yaml").write_text(servers.POLICY)
    locks = []
    for name in names:
        (runner.root / name).write_text("first\n")
        runner.edit(path=name, search="first", replace="old")
        locks.append({path for path in runner.state.rglob("locks/*.lock")})
    exchanges = 0

    def kill(number, call, *_):
        nonlocal exchanges
        exchanges += call == "renameat2"
        return "kill" if exchanges == 2 else None
    batch = {"edits": [{"path": name, "search": "old", "replace": "new"} for name in names]}
    runner.traced(("edit", "--json", "--file", "-"), json.dumps(batch).encode(), kill)
    texts = [(runner.root / name).read_text() for name in names]
    assert sorted(texts) == ["new\n", "old\n"], f"the batch was not killed between its files: {texts}"
    done, other = (names[texts.index(text)] for text in ("new\n", "old\n"))
    [lock] = locks[1] - locks[0] if other == names[1] else locks[0]
    answers = queue.SimpleQueue()
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        server = client.Server(runner.command("serve"), runner.env, str(runner.root))
        edit = {"path": done, "search": "old", "replace": "newer"}
        threading.Thread(target=lambda: answers.put(server.call("safe_edit_file", edit, STUCK))).start()
        time.sleep(1)
        wrong = [] if answers.empty() else [f"answered while the other file was locked: {answers.get()}"]
    answer = answers.get(timeout=STUCK) if not wrong else {"success": True}
    server.stop()
    texts = [(runner.root / name).read_text() for name in (done, other)]
    wrong += [] if answer.get("success") else [f"the edit after an interrupted batch: {answer}"]
    wrong += [] if texts == ["newer\n", "old\n"] else [f"after an interrupted batch and an edit: {texts}"]
    runner.remove()
    return {"interrupted batches": 1, "wrong": wrong}


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--total", type=float, default=600, help="seconds of mixed batches")
    parser.add_argument("--seconds", type=float, default=60, help="seconds until all is looked at")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two kills")
    parser.add_argument("--goal", type=float, default=GOAL_MS, help="milliseconds until the next edit")
    options = parser.parse_args()
    if options.quick:
        options.total, options.seconds, options.pause = 3, 3, 0.4
    rounds = 1 if options.quick else 25
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        units = [(f"mixed {number}", (mixed, options, number)) for number in range(round(options.total / options.seconds))]
        if not options.control:
            units.insert(0, ("holder", (holder, options, rounds)))
            if not tracer.available():
                units.insert(0, ("interrupted", (interrupted, options)))
        complete = progress.work(call, units, 1)
    lab.finish(progress, complete, options.control)


def call(function, *arguments):
    return function(*arguments)


if __name__ == "__main__":
    main()
