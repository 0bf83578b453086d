"""Four servers with eight clients each on the same files, killed now and then: nothing acknowledged is lost or doubled.

Each edit adds one line that is nowhere else. A client without an answer sends the same request again; a refused one
then checks whether the line is there, and if not, sends a new request. At the end every line must be there once.
"""

import collections
import random
import threading
import time
from pathlib import Path

import client
import lab

SERVERS, CLIENTS, ROUND = 4, 8, 1000
# The rounds of an edit in one file, and in fifty.
FILES = (1, 50)
# Codes of legitimate rejections, after which a new request is sent.
ANEW = {"EDIT_CONFLICT", "LOCK_TIMEOUT", "AMBIGUOUS_MATCH", "NO_MATCH"}
POLICY = "quality_gates: {}\n"


class ServerGroup:
    """Servers on one root; each is started again when it was killed."""

    def __init__(self, runner):
        self.lab, self.locks = runner, [threading.Lock() for _ in range(SERVERS)]
        self.servers = [None] * SERVERS
        self.kills = 0
        for number in range(SERVERS):
            self.running(number)

    def running(self, number):
        with self.locks[number]:
            if self.servers[number] is None or self.servers[number].gone:
                command = self.lab.command("serve", "--tools", "all")
                self.servers[number] = client.Server(command, self.lab.env, str(self.lab.root))
            return self.servers[number]

    def kill(self, number):
        self.running(number).kill()
        self.kills += 1

    def stop(self):
        for server in self.servers:
            if server and not server.gone:
                server.stop()


class NaiveServerGroup(ServerGroup):
    """The control: each client reads a file, adds its line and renames a new file over it."""

    def running(self, number):
        return self

    def kill(self, number):
        self.kills += 1

    def stop(self):
        pass

    def call(self, tool, arguments, timeout=60):
        path = self.lab.root / arguments["path"]
        if tool == "read_content_lines":
            lines = (self.lab.root / arguments["path"]).read_text().splitlines()
            numbered = "".join(f"{number}: {line}\n" for number, line in enumerate(lines, 1))
            return {"success": True, "version": "", "content": numbered}
        text = path.read_text()
        if "insert_lines" in arguments:
            text = arguments["insert_lines"][0]["content"] + text
        else:
            text = text.replace(arguments["search"], arguments["replace"])
        staged = path.with_name(f"{threading.get_ident()}.staged")
        staged.write_text(text)
        time.sleep(0.0005)
        staged.rename(path)
        return {"success": True, "status": "written"}


class Round:
    """So many edits of so many files by all clients at once."""

    def __init__(self, group, files, edits, seed):
        self.group, self.files, self.seed = group, [f"r{seed}_{number}.txt" for number in range(files)], seed
        self.left, self.guard = list(range(edits)), threading.Lock()
        self.waits, self.acknowledged, self.wrong = [], set(), []
        self.resent = collections.Counter()
        self.fixed = {path: {"top\n", "end\n"} for path in self.files}
        for path in self.files:
            free = [self.free(edit) for edit in range(edits) if self.path(edit) == path]
            (group.lab.root / path).write_text("top\n" + "".join(free) + "end\n")

    def path(self, edit):
        return self.files[edit % len(self.files)]

    @staticmethod
    def free(edit):
        return f"place {edit} is free\n"

    def take(self):
        with self.guard:
            return self.left.pop() if self.left else None

    def client(self, number):
        dice = random.Random(self.seed * 1000 + number)
        try:
            while (edit := self.take()) is not None:
                self.edit(number % SERVERS, dice, edit)
        except Exception as error:
            self.wrong.append(f"client {number}: {type(error).__name__} {error}")

    def edit(self, server, dice, edit):
        """Sends one line until it is acknowledged: instead of another, or next to one."""
        path, line = self.path(edit), f"edit {self.seed} {edit} of client\n"
        is_insertion = dice.random() < 0.5
        for _ in range(100):
            arguments = self.request(server, path, line, edit, is_insertion)
            answer, is_lost = self.insist(server, arguments)
            is_there = answer.get("success") or answer.get("code") == "ALREADY_APPLIED"
            if not is_there and is_lost and line in (self.group.lab.root / path).read_text():
                is_there = True
                self.resent["there already"] += 1
            if is_there:
                with self.guard:
                    self.acknowledged.add((path, line))
                    self.fixed[path] |= {self.free(edit)} if is_insertion else set()
                return
            if answer.get("code") not in ANEW:
                self.wrong.append(f"{line.strip()}: {answer}")
                return
            self.resent[answer["code"]] += 1
        self.wrong.append(f"{line.strip()}: refused each time")

    def request(self, server, path, line, edit, is_insertion):
        if not is_insertion:
            return {"path": path, "search": self.free(edit), "replace": line, "show_diff": False}
        response, _ = self.insist(server, {"path": path, "end_line": 10_000}, "read_content_lines")
        before = next(line for line in response["content"].splitlines() if line.endswith(self.free(edit).rstrip()))
        inserted = {"at_line": int(before.split(":")[0]), "content": line}
        return {"path": path, "insert_lines": [inserted], "show_diff": False, "expected_version": response["version"]}

    def insist(self, number, arguments, tool="safe_edit_file"):
        """The answer, and whether one was lost before it."""
        is_lost = False
        while True:
            start = time.monotonic()
            try:
                answer = self.group.running(number).call(tool, arguments)
            except client.Gone:
                is_lost = True
                self.resent["unanswered"] += tool != "read_content_lines"
                continue
            if tool != "read_content_lines":
                self.waits.append(time.monotonic() - start)
            return answer, is_lost

    def run(self, pause):
        clients = [threading.Thread(target=self.client, args=(number,)) for number in range(SERVERS * CLIENTS)]
        dice = random.Random(self.seed)
        for one in clients:
            one.start()
        due = time.monotonic() + pause / 5
        while any(one.is_alive() for one in clients):
            time.sleep(0.01)
            if time.monotonic() > due:
                self.group.kill(dice.randrange(SERVERS))
                due = time.monotonic() + dice.uniform(0.5, 1.5) * pause
        return self.check()

    def check(self):
        for path in self.files:
            lines = collections.Counter((self.group.lab.root / path).read_text().splitlines(keepends=True))
            expected = {line for place, line in self.acknowledged if place == path}
            expected |= self.fixed[path]
            self.wrong += [f"{path}: lost {line.strip()}" for line in expected - set(lines)]
            self.wrong += [f"{path}: {lines[line]} times {line.strip()}" for line in lines
                           if lines[line] > 1 or line not in expected]
        return self.wrong


def unit(options, files, number):
    runner = lab.Lab(options)
    (runner.root / "quality.yaml").write_text(POLICY)
    group = (NaiveServerGroup if options.control else ServerGroup)(runner)
    one = Round(group, files, options.round, number)
    start = time.monotonic()
    wrong = one.run(options.pause)
    took = time.monotonic() - start
    group.stop()
    if not options.control:
        log = runner.run("log", "--json")
        wrong += [] if log.exit == 0 else [f"log: {log.exit} {log.stdout}{log.stderr}"]
        wrong += [f"left behind: {name}" for name in runner.staged()] + runner.journal_errors()
    runner.remove()
    waits = sorted(one.waits)
    of = f"in {files} files: "
    return {of + "edits": len(one.acknowledged), of + "kills": group.kills, of + "seconds": round(took, 2),
            of + "sent again unanswered": one.resent["unanswered"],
            of + "found there": one.resent["there already"],
            of + "asked anew": sum(one.resent[code] for code in ANEW),
            f"max p50 ms {of}": round(1000 * waits[len(waits) // 2]),
            f"max p99 ms {of}": round(1000 * waits[len(waits) * 99 // 100]),
            f"max ms {of}": round(1000 * waits[-1]), "wrong": wrong}


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--edits", type=int, default=100_000, help="edits in all")
    parser.add_argument("--round", type=int, default=ROUND, help="edits of a round, after which all is looked at")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two kills")
    options = parser.parse_args()
    if options.quick:
        options.edits, options.round, options.pause = 300, 150, 0.7
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        rounds = range(1, options.edits // options.round // len(FILES) + 1)
        jobs = [(f"{files} files, round {number}", (options, files, number)) for number in rounds for files in FILES]
        complete = progress.work(unit, jobs, 1)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
