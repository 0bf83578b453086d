"""Errors of the system at every call that concerns a file of the root or of lockgate's own, one at a time."""

import errno
import os

import kills
import lab
import tracer
import ways

FULL = ("ENOSPC", "EDQUOT")
ERRORS = {
    "openat": ("EACCES", "EMFILE", "EIO", "EINTR", "EROFS", *FULL),
    "openat2": ("EACCES", "EMFILE", "EIO", "EINTR", "EROFS", "EAGAIN", *FULL),
    "read": ("EIO", "EINTR"), "pread64": ("EIO", "EINTR"),
    "write": ("EIO", "EINTR", *FULL), "pwrite64": ("EIO", "EINTR", *FULL),
    "fsync": ("EIO", "EINTR", *FULL), "fdatasync": ("EIO", "EINTR", *FULL),
    "renameat": ("EACCES", "EIO", "EBUSY", "ENOENT", *FULL),
    "renameat2": ("EACCES", "EIO", "EBUSY", "ENOENT", "EINVAL", "ENOSYS", "EEXIST", *FULL),
    "linkat": ("EACCES", "EIO", "EPERM", "EEXIST", *FULL),
    "rename": ("EACCES", "EIO", *FULL),
    "unlink": ("EACCES", "EIO", "EBUSY"), "unlinkat": ("EACCES", "EIO", "EBUSY"), "rmdir": ("EACCES", "EBUSY"),
    "mkdir": ("EACCES", "EIO", *FULL), "mkdirat": ("EACCES", "EIO", "EMLINK", *FULL),
    "fcntl": ("EACCES", "EAGAIN", "EINTR", "EINVAL", "ENOLCK"), "flock": ("EINTR", "EWOULDBLOCK", "ENOLCK"),
    "fchown": ("EPERM", "EIO", "EDQUOT"), "fchmod": ("EPERM", "EIO"), "chmod": ("EPERM",),
    "fsetxattr": ("ENOTSUP", "EPERM", *FULL), "fgetxattr": ("EIO", "ENOTSUP"), "flistxattr": ("EIO", "ENOTSUP"),
    "fstat": ("EIO",), "statx": ("EACCES", "EIO", "ENOMEM"), "newfstatat": ("EACCES", "EIO"),
    "faccessat2": ("EACCES", "EIO"), "fstatfs": ("EIO",), "lseek": ("EIO",), "getdents64": ("EIO",),
    "ftruncate": ("EIO", "EINTR", *FULL), "fallocate": ("EIO", "EINTR", *FULL),
    "copy_file_range": ("EIO", *FULL),
}
# Every further call of that name fails, too: what fails is likely to go on failing.
LASTING = ("EIO", "ENOSPC", "EACCES")
PATH_FIRST = {"rename", "unlink", "rmdir", "mkdir", "chmod"}
# A database that is locked for good is waited for longer than a trial waits.
FOR_GOOD = {"fcntl"}
ALL_OF_THEM = {"read", "pread64", "fstat", "statx", "newfstatat", "lseek", "openat", "openat2", "faccessat2"}

ONCE = ALL_OF_THEM | FOR_GOOD


class FaultRunner(kills.KillRunner):
    """One way of writing, with the metadata of the files."""

    def __init__(self, options, name):
        super().__init__(options, name)
        if self.control:
            self.way.words.append("--ignoring")
        self.looks = {path: self.lab.looks(path) for path, (before, _) in self.way.files.items() if before}

    def concerns(self, name, arguments, thread):
        """Whether a call is about a file of the root or of lockgate's own."""
        if name not in ERRORS:
            return False
        below = str(self.lab.folder)
        if name in PATH_FIRST:
            return text_at(thread, arguments[0]).startswith(below)
        # A link is made to a file without a name, in the folder that comes third.
        place = arguments[2] if name == "linkat" else arguments[0]
        try:
            if os.readlink(f"/proc/{thread}/fd/{place}").startswith(below):
                return True
        except OSError:
            pass
        return name in ("openat", "mkdirat", "unlinkat", "renameat", "newfstatat", "statx") and \
            text_at(thread, arguments[1]).startswith(below)

    def places(self):
        """How many calls of each name there are that concern files."""
        counts = {}

        def look(_, name, arguments, thread):
            if self.concerns(name, arguments, thread):
                counts[name] = counts.get(name, 0) + 1
        traced = self.run(look)
        assert traced.exit == 0, (traced.exit, traced.stdout, traced.stderr)
        return counts

    def fault(self, name, count, error, lasting):
        """What is wrong when the call of that name and count that concerns a file goes wrong; `None` if there is none."""
        calls_seen = 0

        def act(_, called, arguments, thread):
            nonlocal calls_seen
            if called != name or not self.concerns(called, arguments, thread):
                return None
            calls_seen += 1
            return error if calls_seen == count or lasting and calls_seen > count else None
        traced = self.run(act)
        if not traced.acted:
            return None
        description = errno.errorcode.get(error, error) + (" and on" if lasting else "")
        return [f"{self.way.name}, {name} {count} {description}: {line}" for line in self.judge(traced, name.startswith("unlink"))]

    def judge(self, traced, may_leave):
        answer = lab.answer(traced) or {}
        if traced.hang or traced.signal or "panicked" in traced.stderr or traced.exit in (101, 134):
            return [f"hang {traced.hang}, signal {traced.signal}, exit {traced.exit}: {traced.stderr[:300]}"]
        is_written = traced.exit == 0 and answer.get("success") is True
        old, new, wrong = ways.found(self.lab, self.way)
        unsure = "not known whether" in traced.stdout + traced.stderr
        if is_written and (old or wrong):
            wrong.append(f"it said {answer.get('status')}, but {old} are old")
        if not is_written and new and not unsure:
            wrong.append(f"refused, but {new} are new: {traced.stdout[:300]}{traced.stderr[:300]}")
        if not unsure:
            wrong += self.changed_looks()
        if self.control:
            return wrong
        is_new, more = ways.restarted(self.lab, self.way, may_leave)
        wrong += more
        if is_written and not is_new:
            wrong.append("it said written, and a restart took it back")
        # Without an id it is not remembered, and the answer says why.
        remembered = is_new and bool(answer.get("edit_id"))
        return wrong or self.changed_looks() + ways.goes_on(self.lab, self.way, remembered, may_leave)

    def changed_looks(self):
        now = {path: self.lab.looks(path) for path in self.looks if self.lab.text(path) is not None}
        return [f"{path} was {self.looks[path]}, is {looks}" for path, looks in now.items() if looks != self.looks[path]]


def text_at(thread, address):
    """The path that a call was given."""
    try:
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(256).split(b"\0")[0].decode(errors="replace")
    except (OSError, ValueError):
        return ""


def unit(options, way, faults):
    runner = FaultRunner(options, way)
    figures = {"faults": 0, "wrong": []}
    for name, count, error, lasting in faults:
        wrong = runner.fault(name, count, error, lasting)
        figures["faults"] += wrong is not None
        figures["wrong"] += wrong or []
    runner.lab.remove()
    return figures


def kinds(name):
    once = [(getattr(errno, error), False) for error in ERRORS[name]]
    lasting = [(getattr(errno, error), True) for error in ERRORS[name] if error in LASTING and name not in ONCE]
    return once + lasting + ([("short", False)] if name in ("write", "pwrite64") else [])


def jobs(options):
    for way in lab.names(options, ways.WAYS, ("replace", "batch")):
        runner = FaultRunner(options, way)
        for name, most in sorted(runner.places().items()):
            faults = [(name, count, error, lasting) for count in range(1, most + 2) for error, lasting in kinds(name)]
            if options.quick and name not in ALL_OF_THEM - {"openat2"}:
                faults = faults[::max(1, len(faults) // options.count)]
            elif options.quick:
                continue
            for start in range(0, len(faults), kills.CHUNK):
                yield f"{way} {name} from {start}", (options, way, faults[start:start + kills.CHUNK])
        runner.lab.remove()


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--count", type=int, default=1, help="faults of each call in a sample")
    options = parser.parse_args()
    if tracer.available():
        lab.skip(tracer.available())
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        complete = progress.work(unit, jobs(options), options.workers)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
