"""A file system that is full: small tmpfs of many sizes, below the root and lockgate's own folder, or below the root."""

import ctypes
import os
import subprocess
import sys

import kills
import lab
import ways

PAGE = 4096
NEWNS = 0x20000
LIBC = ctypes.CDLL(None, use_errno=True)
# No room for another file, rather than for more bytes.
INODES = range(6)
WAYS = ("create", "replace", "undo", "batch")


def own_mounts():
    """Gives this process a table of mounts of its own, so that nothing stays mounted; says why it cannot."""
    if LIBC.unshare(NEWNS):
        return f"unshare: {os.strerror(ctypes.get_errno())}"
    return "" if mount("--make-rprivate", "/") else "mount --make-rprivate failed"


def mount(*words):
    return subprocess.run(["mount", *words], capture_output=True).returncode == 0


class Full(kills.KillRunner):
    """One way of writing, in a file system whose size can be set."""

    def __init__(self, options, name, everything):
        self.everything = everything
        super().__init__(options, name)

    def mounted(self):
        return self.lab.folder if self.everything else self.lab.root

    def prepare(self):
        """The beginning of the way, on a tmpfs with room; how many bytes and files it holds."""
        subprocess.run(["umount", str(self.mounted())], capture_output=True)
        if not self.everything:
            self.lab.reset()
        assert mount("-t", "tmpfs", "none", str(self.mounted()))
        target = self.lab.snapshot if self.everything else self.lab.snapshot / "root"
        subprocess.run(["cp", "-a", f"{target}/.", str(self.mounted())], check=True)
        found = os.statvfs(self.mounted())
        return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree

    def limit(self, **limits):
        words = ",".join(f"{name}={value}" for name, value in limits.items())
        return mount("-o", f"remount,{words}", str(self.mounted()))

    def squeeze(self, room, inodes=None):
        used, files = self.prepare()
        bounds = {"size": used + room * PAGE} if inodes is None else {"nr_inodes": files + inodes}
        assert self.limit(**bounds), bounds
        result = self.lab.run(*self.way.words, stdin=self.way.stdin)
        answer = lab.answer(result) or {}
        is_written = result.exit == 0 and answer.get("success") is True
        old, new, wrong = ways.found(self.lab, self.way)
        if is_written and old:
            wrong.append(f"it said {answer.get('status')}, but {old} are old")
        if not is_written and not self.control and (new or answer.get("code") != "NO_SPACE"):
            wrong.append(f"{new} are new: {result.exit} {result.stdout[:300]}{result.stderr[:300]}")
        wrong += [f"left behind: {name}" for name in self.lab.staged()]
        if not self.control and not wrong:
            assert self.limit(size="64m", nr_inodes=10000)
            is_new, wrong = ways.restarted(self.lab, self.way)
            remembered = is_new and bool(answer.get("edit_id"))
            wrong += ways.goes_on(self.lab, self.way, remembered)
        at = f"{self.way.name}, {'all' if self.everything else 'root'}, {room} pages, {inodes} files of room: "
        return is_written, [at + line for line in wrong]


def unit(options, name, everything, sizes):
    why = own_mounts()
    assert not why, why
    runner = Full(options, name, everything)
    figures = {"sizes": 0, "written": 0, "refused": 0, "wrong": []}
    for room, inodes in sizes:
        is_written, wrong = runner.squeeze(room, inodes)
        figures["sizes"] += 1
        figures["written" if is_written else "refused"] += 1
        figures["wrong"] += wrong
    subprocess.run(["umount", str(runner.mounted())], capture_output=True)
    runner.lab.remove()
    return figures


def jobs(options):
    for everything in (True, False):
        for name in lab.names(options, WAYS, ("create", "batch")):
            steps = range(0, options.sizes, 1 if not options.quick else max(1, options.sizes // options.count))
            sizes = [(room, None) for room in steps] + [(0, inodes) for inodes in INODES[::3 if options.quick else 1]]
            for start in range(0, len(sizes), kills.CHUNK):
                label = f"{name} {'all' if everything else 'root'} from {start}"
                yield label, (options, name, everything, sizes[start:start + kills.CHUNK])


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--sizes", type=int, default=200, help="so many sizes, a page more each")
    parser.add_argument("--count", type=int, default=4, help="sizes of each way in a sample")
    options = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import full; raise SystemExit(full.own_mounts() or 0)"],
                      cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True).returncode:
        lab.skip("no file system can be mounted here")
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        complete = progress.work(unit, jobs(options), options.workers)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
