"""Counts the system calls of a warm edit: those of 200 edits minus those of 100, divided by 100.

Not counted is what depends on the scheduler or the build: futexes and wake-ups between threads, the allocator's calls,
and the check of a descriptor before its close that only debug builds make.
"""

import collections
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import lab
import tracer

FEW, MANY = 100, 200
# SQLite's pages and locks, with those of leases. Their number depends on which pages an edit touches, and SQLite asks for
# a lock again while the thread that compresses texts has it: 45 to 50 were seen, the latter on a busy machine.
DATABASE = {"fcntl", "pread64", "pwrite64"}
# The most calls of an edit in the root folder, of the database's kinds and of all others, and for each folder level below
# it. The others are 63.3 with five folders above the root and 65.5 with seven, because git could find a repository in each.
# Every eighth edit looks at the size of the journal.
MOST_OF_DATABASE, MOST_OTHERS, MOST_FOR_LEVEL = 52, 66.5, 6
# The most that a repository in the root folder adds, as `git init` makes it.
MOST_FOR_REPOSITORY = 24
LEVELS = 3
UNSTEADY = {"futex", "call_232", "call_24", "mmap", "munmap", "mprotect", "madvise", "brk"}
WAKE_UP, GETFD = 8, 1
# The time after which a file counts as unchanged by its times alone.
SETTLED = 2.2


def is_counted(name, arguments):
    if name == "fcntl":
        return arguments[1] != GETFD
    return name not in UNSTEADY and not (name == "write" and arguments[2] == WAKE_UP)


class Dialogue(threading.Thread):
    """Sends one edit after the other, each after the answer to the last one."""

    def __init__(self, requests, answers, path, edits):
        super().__init__(daemon=True)
        self.requests, self.answers, self.path, self.edits = requests, answers, path, edits
        self.error = None

    def ask(self, number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.requests.write(json.dumps(message).encode() + b"\n")
        for line in self.answers:
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer["result"]
        raise AssertionError("the server ended")

    def run(self):
        try:
            self.ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                       "clientInfo": {"name": "trial", "version": "1"}})
            self.requests.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            for number in range(self.edits):
                edit = {"file_path": self.path, "old_string": f"mark {number}\n", "new_string": f"mark {number + 1}\n"}
                result = self.ask(number + 1, "tools/call", {"name": "edit_file", "arguments": edit})
                if result["structuredContent"]["status"] != "written":
                    raise AssertionError(result["structuredContent"])
        except Exception as error:
            self.error = error
        finally:
            self.requests.close()


def count(options, levels, edits, in_repository=False):
    """The number of each call in a process that makes so many edits, this many folders below the root."""
    place = lab.Lab(options)
    if in_repository:
        subprocess.run(["git", "init", "--quiet", str(place.root)], check=True)
    folder = place.root.joinpath(*(f"level{number}" for number in range(levels)))
    folder.mkdir(parents=True, exist_ok=True)
    (place.root / "quality.yaml").write_text("quality_gates: {}\n")
    lines = "".join(f"value_{number} = compute({number})\n" for number in range(1000))
    (folder / "a.txt").write_text(lines + "mark 0\n")
    time.sleep(SETTLED)
    calls = collections.Counter()

    def act(_number, name, arguments, _thread):
        calls[name] += is_counted(name, arguments)

    (stdin, requests), (answers, stdout) = os.pipe(), os.pipe()
    for end in (requests, answers):
        os.set_inheritable(end, False)
    with tempfile.TemporaryFile() as errors:
        pid = tracer.start(place.command("serve"), place.env, str(place.folder), [stdin, stdout, errors.fileno()])
        os.close(stdin)
        os.close(stdout)
        path = str((folder / "a.txt").relative_to(place.root))
        dialogue = Dialogue(os.fdopen(requests, "wb", buffering=0), os.fdopen(answers, "rb"), path, edits)
        trace = tracer.Trace(pid, act)
        dialogue.start()
        trace.follow()
        dialogue.join()
    place.remove()
    if dialogue.error:
        raise dialogue.error
    return calls


def for_each_edit(options, levels, in_repository=False):
    few, many = (count(options, levels, edits, in_repository) for edits in (FEW, MANY))
    return {name: (many[name] - few[name]) / (MANY - FEW) for name in many if many[name] - few[name] > 5}


def measure(options):
    """Counts, and where that is too much, once more: work in the background is in one count, a call of each edit in both."""
    figures = compare(options)
    return compare(options) if figures["wrong"] else figures


def compare(options):
    # The control has more lookups than the ceiling allows: an edit one level down, as if it were at the top.
    top = for_each_edit(options, 1 if options.control else 0)
    total = sum(top.values())
    others = sum(value for name, value in top.items() if name not in DATABASE)
    kinds = [("of the database", total - others, MOST_OF_DATABASE), ("others", others, MOST_OTHERS)]
    figures = {"calls": round(total, 1), "each": sorted(f"{value:.1f} {name}" for name, value in top.items()),
               "wrong": [f"{value:.1f} calls {kind}, at most {most}" for kind, value, most in kinds if value > most]}
    if not options.control:
        deep = (sum(for_each_edit(options, LEVELS).values()) - total) / LEVELS
        figures["for_level"] = round(deep, 1)
        if deep > MOST_FOR_LEVEL:
            figures["wrong"].append(f"{deep:.1f} calls for each folder level, at most {MOST_FOR_LEVEL}")
        repository = for_each_edit(options, 0, in_repository=True)
        more = sum(value for name, value in repository.items() if name not in DATABASE) - others
        figures["for_repository"] = round(more, 1)
        if more > MOST_FOR_REPOSITORY:
            figures["wrong"].append(f"{more:.1f} calls for a repository, at most {MOST_FOR_REPOSITORY}")
    return figures


def main():
    options = lab.options(__doc__).parse_args()
    if tracer.available():
        lab.skip(tracer.available())
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        complete = progress.work(measure, [("edit", (options,))], 1)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
