"""Requests confirmation at a terminal before a write.

  at_terminal.py BINARY

Exits with 1 and a trace at the first thing that is not as it should be.
"""

import os
import pty
import select
import subprocess
import sys
import tempfile
from pathlib import Path

BINARY = sys.argv[1]


def run(root, answer, *arguments):
    """Runs a command whose three streams are a terminal; gives its exit code and what the terminal shows.

    Our own end of the command's side stays open until all is read: so nothing is lost by the end of the command.
    """
    main, side = pty.openpty()
    env = {"HOME": str(root.parent), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    child = subprocess.Popen([BINARY, *arguments, "--root", str(root)], stdin=side, stdout=side, stderr=side, env=env)
    screen, is_answered = b"", False
    while True:
        has_ended = child.poll() is not None
        if select.select([main], [], [], 0 if has_ended else 0.02)[0]:
            screen += os.read(main, 4096)
        elif has_ended:
            break
        if not is_answered and b"[y/N]" in screen:
            os.write(main, answer)
            is_answered = True
    os.close(side)
    os.close(main)
    return child.returncode, screen.decode(), is_answered


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder).resolve() / "project"
    root.mkdir()
    (root / "quality.yaml").write_text("confirm: always\nquality_gates: {}\n")
    edit = ("edit", "--path", "a.txt", "--content", "a\n")
    for answer in (b"n\n", b"\n", b"maybe\n", b"\x04"):
        code, screen, is_answered = run(root, answer, *edit)
        assert (code, is_answered) == (4, True) and "NOT_CONFIRMED" in screen, (code, screen)
        assert not (root / "a.txt").exists()
    code, screen, is_answered = run(root, b"y\n", *edit)
    assert (code, is_answered) == (0, True) and "a.txt (+1 -0)" in screen, (code, screen)
    assert (root / "a.txt").read_text() == "a\n"
    code, screen, is_answered = run(root, b"yes\n", "undo")
    assert (code, is_answered) == (0, True) and "removes the file" in screen, (code, screen)
    assert not (root / "a.txt").exists()
    piped = subprocess.run([BINARY, *edit, "--root", str(root)], input=b"y\n", capture_output=True)
    assert piped.returncode == 4 and b"NOT_CONFIRMED" in piped.stderr, piped
    assert not (root / "a.txt").exists()
with tempfile.TemporaryDirectory() as folder:
    root = Path(folder).resolve() / "project"
    root.mkdir()
    edit = ("edit", "--path", ".githooks/pre-commit", "--content", "x\n")
    code, screen, is_answered = run(root, b"n\n", *edit)
    assert (code, is_answered) == (4, True) and "can start a program" in screen, (code, screen)
    assert not (root / ".githooks").exists()
    piped = subprocess.run([BINARY, *edit, "--root", str(root)], input=b"y\n", capture_output=True)
    assert piped.returncode == 4 and b"`runnable: ask`" in piped.stderr, piped
    code, screen, is_answered = run(root, b"y\n", *edit)
    assert (code, is_answered) == (0, True) and (root / ".githooks/pre-commit").read_text() == "x\n", (code, screen)
print("ok")
