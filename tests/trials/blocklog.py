"""A block device whose every write is logged, and images of it as a power cut would leave them.

qemu-storage-daemon writes the log (the format of dm-log-writes) and shows the device as a file; it is mounted by a loop.
"""

import ctypes
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

SECTOR = 512
FLUSH, DISCARD = 1, 4
MAKE = {
    "ext4": (64 << 20, ["mkfs.ext4", "-q", "-F"]),
    "xfs": (300 << 20, ["mkfs.xfs", "-q", "-f"]),
}


def lacking(kind):
    """What this machine lacks for it; empty where it lacks nothing."""
    for program in ("qemu-storage-daemon", "losetup", MAKE[kind][1][0]):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"no {program}"
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not os.access(device, os.W_OK):
            return f"{device} cannot be used"
    kinds = Path("/proc/filesystems").read_text().split()
    return "" if kind in kinds or not subprocess.run(["modprobe", kind], capture_output=True).returncode \
        else f"the kernel has no {kind}"


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def unmount(place):
    for _ in range(50):
        if subprocess.run(["umount", str(place)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{place} stays mounted")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Disk:
    """A fresh file system, mounted at `at`, whose writes are logged."""

    def __init__(self, kind, folder, at):
        self.at, self.data, self.log = at, folder / "data.raw", folder / "log.raw"
        self.base, self.shown = folder / "base.raw", folder / "device.raw"
        size, make = MAKE[kind]
        for path, length in ((self.data, size), (self.log, 8 << 30)):
            with open(path, "wb") as file:
                file.truncate(length)
        run(*make, self.data)
        run("cp", "--sparse=always", self.data, self.base)
        self.shown.touch()
        self.daemon = subprocess.Popen([
            "qemu-storage-daemon",
            "--blockdev", f"driver=file,node-name=data,filename={self.data}",
            "--blockdev", f"driver=file,node-name=log,filename={self.log}",
            "--blockdev", f"driver=blklogwrites,node-name=logged,file=data,log=log,log-sector-size={SECTOR}",
            "--export", f"type=fuse,id=export,node-name=logged,mountpoint={self.shown},writable=on",
        ], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        deadline = time.monotonic() + 10
        while self.shown.stat().st_size == 0:
            if time.monotonic() > deadline or self.daemon.poll() is not None:
                raise RuntimeError("qemu-storage-daemon does not show the device")
            time.sleep(0.02)
        run("mount", "-o", "loop", self.shown, at)
        self.is_mounted = True

    def position(self):
        """How many entries the log is known to have: those up to the last flush, at least."""
        with open(self.log, "rb") as log:
            return struct.unpack("<QQQI", log.read(28))[2]

    def close(self):
        if self.is_mounted:
            unmount(self.at)
            self.is_mounted = False
        self.daemon.terminate()
        self.daemon.wait()


class Replay:
    """The log, applied to the empty file system step by step."""

    def __init__(self, disk):
        self.base, self.applied = disk.base, 0
        self.log = open(disk.log, "rb")
        count, self.sector = struct.unpack("<QI", self.log.read(28)[16:])
        self.entries, place = [], self.sector
        for _ in range(count):
            self.log.seek(place)
            at, length, flags, _ = struct.unpack("<QQQQ", self.log.read(32))
            self.entries.append((at, length, flags, place + self.sector))
            place += self.sector + (0 if flags & DISCARD else length * self.sector)

    def cut(self, at, keep, image, dice):
        """Writes the image of a cut after `at` entries; of what was not flushed, each write is there by `keep` of 1.

        Gives how many entries are sure to be there. Cuts must come in order.
        """
        flushed = max((number + 1 for number in range(at) if self.entries[number][2] & FLUSH), default=0)
        with open(self.base, "r+b") as base:
            for number in range(self.applied, flushed):
                self.apply(base, number)
        self.applied = max(self.applied, flushed)
        run("cp", "--sparse=always", self.base, image)
        with open(image, "r+b") as file:
            for number in range(flushed, at):
                if dice.random() < keep:
                    self.apply(file, number)
        return flushed

    def apply(self, file, number):
        at, length, flags, place = self.entries[number]
        if not length:
            return
        file.seek(at * self.sector)
        self.log.seek(place)
        file.write(bytes(length * self.sector) if flags & DISCARD else self.log.read(length * self.sector))


def cuts(entries, count, seed):
    """Where the power is cut, in order, with how much of what was not flushed is kept."""
    dice = random.Random(seed)
    return sorted((dice.randrange(1, entries + 1), dice.choice((0.0, 0.5, 0.5, 0.9, 1.0))) for _ in range(count)), dice
