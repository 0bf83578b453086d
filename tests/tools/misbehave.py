#!/usr/bin/env python3
"""Programs that misbehave, to test what runs the programs of gates.

    python3 misbehave.py WHAT [ARGUMENT ...] TAG

TAG does nothing: it is what the tests find these processes by, in their command lines. Whatever waits here gives up
after a minute, so that a test that fails leaves nothing for long.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import time


def sleep():
    time.sleep(60)
    sys.exit("nobody ended this")


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def fork(child):
    """Starts `child` in a process of its own, and returns its number."""
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    return pid


def daemonise(child):
    """Starts `child` in a session of its own, without a parent, and returns its number once it has closed `writer`."""
    reader, writer = os.pipe()

    def between():
        os.setsid()
        fork(lambda: (os.write(writer, b"%d" % os.getpid()), child(writer)))

    os.waitpid(fork(between), 0)
    os.close(writer)
    with open(reader) as pid:
        return int(pid.read())


def daemon(writer):
    os.close(writer)
    sleep()


def bare(*_):
    """Goes on without an environment; descriptors of Python's own are closed by that."""
    os.execve(sys.executable, [sys.executable, __file__, "sleep", sys.argv[-1]], {})


def exit_with(code):
    say("out")
    sys.stderr.write("err")
    sys.exit(int(code))


def die_of(name):
    os.kill(os.getpid(), getattr(signal, name))
    sleep()


def stubborn():
    for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    sleep()


def polite():
    signal.signal(signal.SIGTERM, lambda *_: (open("asked", "w").close(), os._exit(0)))
    sleep()


def flood(stream, mebibytes):
    chunk = b"x" * (1 << 20)
    for _ in range(int(mebibytes)):
        os.write({"stdout": 1, "stderr": 2}[stream], chunk)


def close_and_sleep():
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    sleep()


def close_and_exit():
    os.close(1)
    os._exit(0)


def child(kind, ending):
    """A child in the same group or in a session of its own, with the environment or without."""
    reader, writer = os.pipe()

    def run():
        if "session" in kind:
            os.setsid()
        if "bare" in kind:
            bare()
        os.close(writer)
        sleep()

    pid = fork(run)
    os.close(writer)
    os.read(reader, 1)
    say(str(pid))
    if ending == "exit":
        os._exit(0)
    sleep()


def leave_chatter():
    """The child goes on writing to the pipe that it shares with its parent."""
    reader, writer = os.pipe()

    def chatter():
        signal.alarm(60)
        while True:
            os.write(1, b"x" * 4096)
            os.write(writer, b"x")

    pid = fork(chatter)
    os.read(reader, 1)
    sys.stderr.write(str(pid))
    sys.stderr.flush()
    os._exit(0)


def leave_daemon(kind):
    """Ends at once, or, if `kind` says so, when the file `go` is there."""
    pid = daemonise(bare if kind.startswith("bare") else daemon)
    until = time.monotonic() + 60
    if kind.endswith("wait"):
        try:
            open("ready", "w").close()
        except OSError:
            pass  # In a sandbox it may write nothing here, and no process waits for it.
        while not os.path.exists("go") and time.monotonic() < until:
            time.sleep(0.005)
    say(str(pid))
    os._exit(0)


def tree(size, ending):
    """Two chains of forks, half as long as `size` each, in which every other one leaves the group."""
    reader, writer = os.pipe()

    def grow(left):
        if left % 2:
            os.setsid()
        os.write(writer, b"x")
        if left > 1:
            fork(lambda: grow(left - 1))
        sleep()

    for _ in range(2):
        fork(lambda: grow(int(size) // 2))
    received = 0
    while received < int(size):
        received += len(os.read(reader, 1000))
    say(str(received))
    if ending == "exit":
        os._exit(0)
    sleep()


def bomb(processes, ending):
    """Forks from one session into the next, each process ending as soon as it has a child."""
    def hop(left):
        while left and os.fork() == 0:
            os.setsid()
            left -= 1
        os._exit(0)

    for _ in range(4):
        fork(lambda: hop(int(processes) // 4))
    if ending == "exit":
        os._exit(0)
    sleep()


def echo():
    while chunk := os.read(0, 1 << 16):
        os.write(1, chunk)


def environment(*_):
    say(json.dumps({"variables": dict(os.environ), "folder": os.getcwd(), "words": sys.argv[1:]}))


def fork_bomb():
    """Starts a thousand processes that wait."""
    for _ in range(1000):
        try:
            fork(sleep)
        except OSError:
            break
    sleep()


def orphans(number):
    """Starts processes that wait in sessions of their own, without an environment and without a parent."""
    for _ in range(int(number)):
        def between():
            os.setsid()
            fork(bare)
        os.waitpid(fork(between), 0)
    sleep()


def memory_file(mebibytes):
    """Fills a file in memory that no process has mapped."""
    file = os.memfd_create("x")
    for _ in range(int(mebibytes)):
        os.write(file, bytes(1 << 20))
    sleep()


def shared_memory(mebibytes):
    """Fills a shared mapping, and leaves it to a process that never touches it."""
    import mmap

    shared = mmap.mmap(-1, int(mebibytes) << 20)
    fork(sleep)
    for start in range(0, len(shared), 4096):
        shared[start] = 1
    shared.close()
    sleep()


def hoard(mebibytes):
    """Takes memory, and touches all of it."""
    blocks = [bytearray(os.urandom(1 << 20)) for _ in range(int(mebibytes))]
    sleep()
    return blocks


def fill(mebibytes):
    """Writes files where temporary files go."""
    for number in range(int(mebibytes)):
        with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), "fill-%d-%d" % (os.getpid(), number)), "wb") as file:
            file.write(os.urandom(1 << 20))
    sleep()


def attempts(setup):
    """Tries one thing after the other that a gate must not do, and says which of them seemed to succeed."""
    # Loaded here, as the memory of the other programs is bounded closely.
    import mmap
    import resource

    setup = json.loads(setup)
    outcomes = {}

    def attempt(name):
        def decorate(action):
            try:
                outcomes[name] = action() is not False
            except Exception as error:
                outcomes[name] = False
                outcomes[name + ": why"] = str(error)
        return decorate

    def write(name, path, mode, text="misdeed"):
        @attempt(name)
        def _():
            with open(path, mode) as file:
                file.write(text)

    def read(name, path):
        @attempt(name)
        def _():
            with open(path, "rb") as file:
                return b"a secret" in file.read()

    def connect(name, family, kind, address):
        @attempt(name)
        def _():
            with socket.socket(family, kind) as own:
                own.settimeout(5)
                own.connect(address)
                own.send(b"misdeed")

    write("change a file", setup["tree"] + "/a.txt", "r+")
    write("make a file", setup["tree"] + "/made.txt", "x")
    write("write a hook", setup["tree"] + "/.git/hooks/pre-commit", "w")
    write("write to the home", setup["home"] + "/.profile", "a")
    attempt("cut a file short")(lambda: os.truncate(setup["tree"] + "/b.txt", 0))
    attempt("remove a file")(lambda: os.unlink(setup["tree"] + "/c.txt"))
    read("read a key", setup["home"] + "/.ssh/id")
    read("read the state", setup["state"] + "/journal")
    read("read a temporary file", setup["temporary"])
    read("read an environment", "/proc/%d/environ" % setup["victim"])

    @attempt("trace a process")
    def _():
        seize = 0x4206
        # By a child, whose end lets go of it; and before it is signalled, as a dead process cannot be traced.
        child = os.fork()
        if child == 0:
            traced = ctypes.CDLL(None).ptrace(seize, setup["victim"], None, None) == 0
            os._exit(0 if traced else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long

    def call(number, *arguments):
        """A system call by its number; whole registers, so that nothing is cut off on the way."""
        words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
        answer = libc.syscall(ctypes.c_long(number), *words)
        if answer < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return answer

    x86 = os.uname().machine == "x86_64"

    def number(on_x86, elsewhere):
        return on_x86 if x86 else elsewhere

    own = os.environ.get("TMPDIR", "/tmp")

    def by_link(path):
        link = own + "/link-%d" % os.getpid()
        os.symlink(path, link)
        try:
            os.chmod(link, 0o777)
        finally:
            os.unlink(link)

    # Each by a file of its own, so that one that succeeds does not count for another.
    for name, path in setup["modes"].items():
        attempt("change the mode of " + name)(lambda: os.chmod(path, 0o777))
    for name, change in {
        "fchmod": lambda path: os.fchmod(os.open(path, os.O_RDONLY), 0o777),
        "fchmodat2": lambda path: call(452, -100, ctypes.c_char_p(path.encode()), 0o777, 0),
        # By a link in a folder of its own, and by one that leads there by way of proc(5).
        "a link": by_link,
        "proc": lambda path: os.chmod("/proc/self/fd/%d" % os.open(path, os.O_RDONLY), 0o777),
    }.items():
        attempt("change the mode by " + name)(lambda: change(setup["ways"][name]))
    attempt("change a setting of the kernel")(lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
    attempt("change the times of a file")(lambda: os.utime(setup["times"], (1, 1)))
    attempt("set an attribute of a file")(lambda: os.setxattr(setup["attribute"], "user.misdeed", b"x"))
    group = 65534 if os.getuid() == 0 else os.getgid()
    attempt("change the owner of a file")(lambda: os.chown(setup["owner"], -1, group))

    @attempt("set a flag of a file")
    def _():
        import fcntl
        no_dump = 0x40
        with open(setup["flag"], "rb") as file:
            fcntl.ioctl(file, 0x40086602, no_dump.to_bytes(8, "little"))

    victim = setup["victim"]
    byte = ctypes.create_string_buffer(1)
    try:
        with open("/proc/%d/maps" % victim) as maps:
            stack = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith("[stack]"))
    except (OSError, StopIteration):
        stack = 0
    attempt("limit a process")(lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (6, 6)))
    attempt("slow a process down")(lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
    attempt("bind a process to a core")(lambda: os.sched_setaffinity(victim, {min(os.sched_getaffinity(0))}))
    attempt("reschedule a process")(lambda: os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0)))
    attempt("delay what a process reads")(lambda: call(number(251, 30), 1, victim, 3 << 13))

    def ipc(get, control, remove):
        def action():
            identifier = call(get, setup["key"], *remove[1])
            call(control, identifier, *remove[0])
        return action

    create = 0o1600
    segments = ipc(number(29, 194), number(31, 195), ((0, 0), (4096, create)))
    semaphores = ipc(number(64, 190), number(66, 191), ((0, 0, 0), (1, create)))
    queues = ipc(number(68, 186), number(71, 187), ((0, 0), (create,)))

    @attempt("use System V IPC")
    def _():
        tried = []
        for action in segments, semaphores, queues:
            try:
                action()
                tried.append(True)
            except OSError:
                tried.append(False)
        return any(tried)

    @attempt("make a message queue")
    def _():
        # Landlock lets one be made and not be removed: what is left is removed from outside.
        name = ctypes.c_char_p(b"lockgate-test-%d" % setup["key"])
        os.close(call(number(240, 180), name, os.O_CREAT | os.O_RDWR, 0o600, 0))
        with contextlib.suppress(OSError):
            call(number(241, 181), name)

    @attempt("leave a key in a keyring")
    def _():
        session, timeout, seconds = -3, 15, 60
        description = ctypes.c_char_p(setup["key description"].encode())
        key = call(number(248, 217), ctypes.c_char_p(b"user"), description, ctypes.c_char_p(b"misdeed"), 7, session)
        call(number(250, 219), timeout, key, seconds)

    @attempt("set up io_uring")
    def _():
        os.close(call(425, 4, ctypes.create_string_buffer(120)))

    def by_child(name, action):
        """By a process of its own, which may be killed for it."""
        @attempt(name)
        def _():
            child = os.fork()
            if child == 0:
                try:
                    os._exit(0 if action() is not False else 1)
                finally:
                    os._exit(1)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def by_32_bits():
        # mov eax, 20; int 0x80; ret: getpid of 32-bit x86.
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return x86 and ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid()

    by_child("make a 32-bit call", by_32_bits)
    by_child("make a namespace", lambda: call(number(272, 97), 0x10000000))

    @attempt("write another's memory")
    def _():
        with open("/proc/%d/mem" % victim, "r+b", 0) as file:
            file.seek(stack)
            file.write(byte)

    class Words(ctypes.Structure):
        _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    @attempt("write another's memory by a call")
    def _():
        local, remote = Words(ctypes.addressof(byte), 1), Words(stack, 1)
        return call(number(311, 271), victim, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) == 1

    @attempt("take a descriptor")
    def _():
        os.close(call(438, os.pidfd_open(victim), 1, 0))

    # It lets the signal pass.
    attempt("signal by a pidfd")(lambda: signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGWINCH))
    attempt("signal another gate")(lambda: os.kill(setup["sibling"], signal.SIGUSR1))
    write("choose who is killed", "/proc/%d/oom_score_adj" % victim, "w", "500")
    attempt("compare processes")(lambda: call(number(312, 272), os.getpid(), victim, 1, 0, 0))

    @attempt("measure a process")
    def _():
        software, size, task_clock = 1, 112, 1
        attributes = software.to_bytes(4, "little") + size.to_bytes(4, "little") + task_clock.to_bytes(8, "little")
        os.close(call(number(298, 241), ctypes.create_string_buffer(attributes, size), victim, -1, -1, 0))

    @attempt("make a BPF map")
    def _():
        array = b"".join(word.to_bytes(4, "little") for word in (2, 4, 4, 1))
        os.close(call(number(321, 280), 0, ctypes.create_string_buffer(array, 72), 72))

    @attempt("make a userfaultfd")
    def _():
        user_mode_only = 1
        os.close(call(number(323, 282), user_mode_only | os.O_NONBLOCK))

    @attempt("read a terminal")
    def _():
        own = os.open(setup["terminal"], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        read, end = b"", time.monotonic() + 3
        while b"a secret" not in read and time.monotonic() < end:
            try:
                read += os.read(own, 64)
            except BlockingIOError:
                time.sleep(0.01)
        return b"a secret" in read

    @attempt("write to a terminal")
    def _():
        os.write(os.open(setup["terminal"], os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK), b"misdeed")

    @attempt("type into a terminal")
    def _():
        import fcntl
        tiocsti = 0x5412
        fcntl.ioctl(os.open(setup["terminal"], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK), tiocsti, b"x")

    read("read shared memory", setup["shared"])
    attempt("take an inotify instance")(lambda: os.close(call(number(294, 26), 0)))

    attempt("signal a process")(lambda: os.kill(setup["victim"], signal.SIGUSR1))

    connect("connect by TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", setup["tcp"]))
    connect("send by UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", setup["udp"]))
    connect("connect to an abstract socket", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + setup["abstract"])
    connect("connect to a socket beside the project", socket.AF_UNIX, socket.SOCK_STREAM, setup["socket"])
    connect("connect to a socket in the project", socket.AF_UNIX, socket.SOCK_STREAM, setup["tree"] + "/socket")

    @attempt("listen by TCP")
    def _():
        with socket.socket() as own:
            own.bind(("127.0.0.1", setup["free"]))
            own.listen()
            own.settimeout(3)
            own.accept()

    mptcp = 262

    @attempt("connect by MPTCP")
    def _():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, mptcp) as own:
            own.settimeout(5)
            own.connect(("127.0.0.1", setup["mptcp"]))

    @attempt("send by TCP fast open")
    def _():
        # With a time limit the call would come back before the connection is there.
        with socket.socket() as own:
            own.sendto(b"misdeed", socket.MSG_FASTOPEN, ("127.0.0.1", setup["fast open"]))

    @attempt("listen without an address")
    def _():
        with socket.socket() as own:
            own.listen()
            # Where the kernel shows it, it can be reached.
            outcomes["inode"] = os.fstat(own.fileno()).st_ino
            time.sleep(0.3)

    say(json.dumps(outcomes))


def own_files():
    """Does with its own files and itself what compilers, linkers and builds do; any error ends it."""
    import resource

    own = os.environ["TMPDIR"]
    path = own + "/program"
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 7\n")
        os.fchmod(file.fileno(), 0o600)
    mode = lambda: os.stat(path).st_mode & 0o7777
    assert mode() == 0o600
    os.chmod(path, 0o755)
    assert mode() == 0o755
    os.symlink("program", own + "/link")
    os.chmod(own + "/link", 0o700)
    assert mode() == 0o700
    folder = os.open(own, os.O_RDONLY)
    os.chmod("program", 0o750, dir_fd=folder)
    assert mode() == 0o750
    os.utime(path, ns=(5, 1_000_000_007))
    assert os.stat(path).st_mtime_ns == 1_000_000_007
    with open(path) as file:
        os.utime(file.fileno())
    assert os.stat(path).st_mtime > 1_000_000_000
    os.utime("program", (3, 4), dir_fd=folder)
    assert os.stat(path).st_mtime == 4
    os.utime(own + "/link", (8, 9), follow_symlinks=False)
    assert (os.lstat(own + "/link").st_mtime, os.stat(path).st_mtime) == (9, 4)
    try:
        os.chmod(own + "/nothing", 0o755)
        raise AssertionError("there is no such file")
    except FileNotFoundError:
        pass
    assert os.waitstatus_to_exitcode(os.spawnl(os.P_WAIT, path, path) << 8) == 7
    resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.nice(1)
    for end in socket.socketpair():
        end.close()
    if is_sandboxed():
        try:
            os.chmod(path, 0o4755)
            raise AssertionError("set-user-ID was set")
        except PermissionError:
            pass
    say("done")


def is_sandboxed():
    """Under Landlock alone the supervisor is in between."""
    return os.environ.get("SUPERVISED") == "1"


WHAT = {
    "own-files": own_files,
    "attempts": attempts,
    "fork-bomb": fork_bomb,
    "memory-file": memory_file,
    "orphans": orphans,
    "shared-memory": shared_memory,
    "hoard": hoard,
    "fill": fill,
    "bomb": bomb,
    "close-and-exit": close_and_exit,
    "close-and-sleep": close_and_sleep,
    "deaf": lambda: None,
    "die-of": die_of,
    "echo": echo,
    "environment": environment,
    "exit": exit_with,
    "flood": flood,
    "leave-chatter": leave_chatter,
    "child": child,
    "leave-daemon": leave_daemon,
    "polite": polite,
    "sleep": sleep,
    "stop": lambda: die_of("SIGSTOP"),
    "stubborn": stubborn,
    "tree": tree,
}

if __name__ == "__main__":
    WHAT[sys.argv[1]](*sys.argv[2:-1])
