"""Requests confirmation before a write, through the Python SDK of the protocol, in both of its eras.

  confirm_client.py BINARY [http]

With `http` the client speaks to the server over HTTP, else over pipes.

Exits with 1 and a trace at the first thing that is not as it should be.
"""

import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from sdk_checks import Person, run, same, server

TOOL = "safe_edit_file"
LONG = "".join(f"line {number}\n" for number in range(100))


@asynccontextmanager
async def client(mode, confirm, person):
    """A client in `mode` of a server on a folder whose policy says `confirm`."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        (root / "quality.yaml").write_text(f"confirm: {confirm}\nquality_gates: {{ '*': [{{ tool: syntax }}] }}\n")
        env = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "PATH": "/usr/bin:/bin"}
        async with (
            server(["--tools", "all", "--root", str(root)], env) as transport,
            Client(transport, mode=mode, read_timeout_seconds=60, elicitation_callback=person) as connected,
        ):
            yield connected, root


def refused(answer, words):
    assert answer.is_error, answer
    content = answer.structured_content
    same(content["code"], "NOT_CONFIRMED")
    assert "nothing was written" in content["message"] and words in content["message"], content


async def writes_what_was_agreed_to(mode):
    person = Person("accept")
    async with client(mode, "always", person) as (connected, root):
        answer = await connected.call_tool(TOOL, dict(path="a.txt", content="a\n"))
        same(answer.structured_content["status"], "written")
        same((root / "a.txt").read_text(), "a\n")
        assert len(person.questions) == 1 and "a.txt (+1 -0)" in person.questions[0], person.questions


async def writes_nothing_that_was_declined_or_left(mode):
    for action, words in [("decline", "declined"), ("cancel", "did not answer")]:
        person = Person(action)
        async with client(mode, "always", person) as (connected, root):
            refused(await connected.call_tool(TOOL, dict(path="a.txt", content="a\n")), words)
            assert not (root / "a.txt").exists()
            same(len(person.questions), 1)


async def refuses_where_nobody_can_be_asked(mode):
    async with client(mode, "always", None) as (connected, root):
        refused(await connected.call_tool(TOOL, dict(path="a.txt", content="a\n")), "cannot ask")
        assert not (root / "a.txt").exists()
        preview = await connected.call_tool(TOOL, dict(path="a.txt", content="a\n", mode="verify_only"))
        same(preview.structured_content["status"], "verified")


async def asks_about_what_is_risky_only(mode):
    person = Person("accept", "accept", "accept")
    async with client(mode, "risky", person) as (connected, root):
        (root / "a.txt").write_text(LONG)
        answer = await connected.call_tool(TOOL, dict(path="a.txt", search="line 7\n", replace="seven\n"))
        same((answer.structured_content["status"], person.questions), ("written", []))
        answer = await connected.call_tool(TOOL, dict(path="a.txt", content="short\n"))
        same((root / "a.txt").read_text(), "short\n")
        assert "less than a quarter" in person.questions[0], person.questions
        answer = await connected.call_tool(TOOL, dict(path="b.py", content="def f(:\n", mode="interactive"))
        same(answer.structured_content["status"], "written")
        assert "reject in strict" in person.questions[1], person.questions
        answer = await connected.call_tool("undo_edit", dict(edit_id=answer.structured_content["edit_id"]))
        assert not answer.is_error and not (root / "b.py").exists(), answer
        assert "removes the file" in person.questions[2], person.questions


async def asks_once_about_several_files(mode):
    person = Person("accept")
    async with client(mode, "always", person) as (connected, root):
        edits = [dict(path=f"{name}.txt", content="x\n") for name in "abc"]
        answer = await connected.call_tool("edit_files", dict(edits=edits))
        assert not answer.is_error, answer
        same(sorted(path.name for path in root.glob("*.txt")), ["a.txt", "b.txt", "c.txt"])
        same(len(person.questions), 1)
        assert all(f"{name}.txt" in person.questions[0] for name in "abc"), person.questions


async def an_answer_holds_for_one_write_only(mode):
    """A change during the confirmation needs another one."""
    person = Person("accept", "decline")
    async with client(mode, "always", person) as (connected, root):
        (root / "a.txt").write_text("one\n")
        person.before_answer = lambda: (root / "a.txt").write_text("one\ntwo\n")
        refused(await connected.call_tool(TOOL, dict(path="a.txt", search="one\n", replace="1\n")), "declined")
        same((root / "a.txt").read_text(), "one\ntwo\n")
        same(len(person.questions), 2)


async def asks_about_what_runs_whatever_confirm_says(mode):
    """A file that starts a program when the folder is used, and one that does not."""
    person = Person("decline", "accept")
    async with client(mode, "never", person) as (connected, root):
        hook = dict(path=".githooks/pre-commit", content="#!/bin/sh\n")
        refused(await connected.call_tool(TOOL, hook), "declined")
        assert not (root / ".githooks").exists()
        answer = await connected.call_tool(TOOL, hook)
        same(answer.structured_content["status"], "written")
        assert all("can start a program" in question for question in person.questions), person.questions
        answer = await connected.call_tool(TOOL, dict(path="a.txt", content="a\n"))
        same((answer.structured_content["status"], len(person.questions)), ("written", 2))
    async with client(mode, "never", None) as (connected, root):
        refused(await connected.call_tool(TOOL, hook), "`runnable: ask`")
        assert not (root / ".githooks").exists()


CHECKS = (
    writes_what_was_agreed_to,
    writes_nothing_that_was_declined_or_left,
    refuses_where_nobody_can_be_asked,
    asks_about_what_is_risky_only,
    asks_once_about_several_files,
    an_answer_holds_for_one_write_only,
    asks_about_what_runs_whatever_confirm_says,
)

run(lambda _: CHECKS)
