"""Runs a program and interferes with one of its system calls, counted over all of its threads.

strace counts for each thread by itself, so that a call of a second thread hides behind those of the first; here every
call has one number, and a number is one moment in the life of the whole process.
"""

import ctypes
import errno
import os
import platform
import signal
import tempfile
from dataclasses import dataclass, field

WALL = 0x40000000
TRACEME, GETREGS, SETREGS, CONT, SYSCALL, SETOPTIONS, CALL_INFO = 0, 12, 13, 7, 24, 0x4200, 0x420E
SYSGOOD, FORK, VFORK, CLONE, EXEC, EXITKILL = 1, 2, 4, 8, 16, 1 << 20

NUMBERS = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "ioctl": 16, "pread64": 17,
    "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "madvise": 28, "getpid": 39, "clone": 56, "execve": 59,
    "exit": 60, "fcntl": 72, "flock": 73, "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77, "rename": 82,
    "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87, "symlink": 88, "readlink": 89, "chmod": 90, "fchmod": 91,
    "fchown": 93, "umask": 95, "geteuid": 107, "statfs": 137, "fstatfs": 138, "prctl": 157, "sync": 162, "gettid": 186,
    "setxattr": 188, "fsetxattr": 190, "fgetxattr": 193, "listxattr": 194, "flistxattr": 196, "futex": 202,
    "getdents64": 217, "exit_group": 231, "openat": 257, "mkdirat": 258, "newfstatat": 262, "unlinkat": 263,
    "renameat": 264, "linkat": 265, "readlinkat": 267, "fchmodat": 268, "faccessat": 269, "sync_file_range": 277,
    "utimensat": 280, "fallocate": 285, "renameat2": 316, "getrandom": 318, "copy_file_range": 326, "statx": 332,
    "clone3": 435, "openat2": 437, "faccessat2": 439,
}
NAMES = {number: name for name, number in NUMBERS.items()}


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base "
        "ds es fs gs").split()]


class CallInfo(ctypes.Structure):
    _fields_ = [("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32),
                ("ip", ctypes.c_uint64), ("sp", ctypes.c_uint64), ("nr", ctypes.c_uint64),
                ("args", ctypes.c_uint64 * 6), ("rest", ctypes.c_uint64)]


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Hang(Exception):
    """The program did not end in time."""


@dataclass
class ProcessResult:
    exit: int
    signal: int
    stdout: str
    stderr: str
    calls: list = field(default_factory=list)
    acted: bool = False
    hang: bool = False


def available():
    """Why no program can be traced here; empty where it can."""
    if platform.machine() != "x86_64":
        return "the registers of this machine are not known"
    try:
        result = run(["/bin/true"], dict(os.environ), b"", "/", lambda *_: None)
    except OSError as error:
        return f"ptrace: {error}"
    return "" if result.exit == 0 and result.calls else "ptrace saw nothing"


def ptrace(request, pid, address=0, data=0):
    if LIBC.ptrace(request, pid, address, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace {request}: {os.strerror(number)}")


def run(command, env, stdin, cwd, act, timeout=20):
    """Runs `command`; `act(number, name, arguments, thread)` is called before each system call.

    It answers `None`, `"kill"`, `"short"` (one byte instead of all), or the number of an error that the call is to give
    without being made.
    """
    with tempfile.TemporaryFile() as stdin_file, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin_file.write(stdin)
        stdin_file.seek(0)
        pid = start(command, env, cwd, [stdin_file.fileno(), out.fileno(), err.fileno()])
        trace = Trace(pid, act)
        previous = signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, timeout)
        try:
            status = trace.follow()
        except Hang:
            trace.hang = True
            os.kill(pid, signal.SIGKILL)
            status = reap(pid)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        exited = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        return ProcessResult(exited, killed, *texts, trace.calls, trace.acted, trace.hang)


def too_long(*_):
    raise Hang


def start(command, env, cwd, streams):
    pid = os.fork()
    if pid:
        return pid
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        os.chdir(cwd)
        ptrace(TRACEME, 0)
        os.execve(command[0], command, env)
    finally:
        os._exit(127)


def reap(pid):
    while True:
        stopped, status = os.waitpid(-1, WALL)
        if stopped == pid and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
            return status


class Trace:
    """All threads of one program, and the calls that they made."""

    def __init__(self, pid, act):
        self.pid, self.act = pid, act
        # For each thread, the registers that are set when its call ends.
        self.pending = {}
        self.calls, self.acted, self.hang = [], False, False
        os.waitpid(pid, WALL)
        ptrace(SETOPTIONS, pid, 0, SYSGOOD | FORK | VFORK | CLONE | EXEC | EXITKILL)
        ptrace(SYSCALL, pid)

    def follow(self):
        while True:
            tid, status = os.waitpid(-1, WALL)
            if not os.WIFSTOPPED(status):
                if tid == self.pid:
                    return status
                continue
            try:
                ptrace(SYSCALL, tid, 0, self.stopped(tid, status))
            except OSError as error:
                if error.errno != errno.ESRCH:
                    raise

    def stopped(self, tid, status):
        """Deals with a stop, and gives the signal that is to be passed on."""
        stop = os.WSTOPSIG(status)
        if stop == signal.SIGTRAP | 0x80:
            self.call(tid)
            return 0
        return 0 if status >> 16 or stop in (signal.SIGTRAP, signal.SIGSTOP) else stop

    def call(self, tid):
        info = CallInfo()
        ptrace(CALL_INFO, tid, ctypes.sizeof(info), ctypes.addressof(info))
        if info.op == 1:
            name = NAMES.get(info.nr, f"call_{info.nr}")
            self.calls.append(name)
            action = self.act(len(self.calls), name, info.args, tid)
            if action is not None:
                self.acted = True
                self.interfere(tid, action)
        elif info.op == 2 and tid in self.pending:
            registers = self.registers(tid)
            for name, value in self.pending.pop(tid).items():
                setattr(registers, name, value)
            ptrace(SETREGS, tid, 0, ctypes.addressof(registers))

    def interfere(self, tid, action):
        if action == "kill":
            os.kill(self.pid, signal.SIGKILL)
            return
        registers = self.registers(tid)
        if action == "short":
            # A call preserves this register, and the program may go on using it.
            self.pending[tid] = {"rdx": registers.rdx}
            registers.rdx = min(registers.rdx, 1)
        else:
            registers.orig_rax = ctypes.c_ulonglong(-1).value
            self.pending[tid] = {"rax": ctypes.c_ulonglong(-action).value}
        ptrace(SETREGS, tid, 0, ctypes.addressof(registers))

    def registers(self, tid):
        registers = Registers()
        ptrace(GETREGS, tid, 0, ctypes.addressof(registers))
        return registers
