"""Has the Python SDK of the protocol use every tool, in both of its eras: the calls stand in every_tool.json.

  sdk_client.py BINARY [http]

With `http` the client speaks to the server over HTTP, else over pipes.

Exits with 1 and a trace at the first thing that is not as it should be.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

BINARY, OVER = sys.argv[1], sys.argv[2:]
OLD, NEW = "legacy", "2026-07-28"
PLAN = json.loads(Path(__file__).with_name("every_tool.json").read_text())
TOOL = "safe_edit_file"


@asynccontextmanager
async def server(arguments, env):
    """What a client speaks through to a server of its own."""
    if OVER == ["http"]:
        from over_http import served

        async with served(BINARY, arguments, env) as transport:
            yield transport
    else:
        yield StdioServerParameters(command=BINARY, args=["serve", *arguments], env=env)


@asynccontextmanager
async def client(mode):
    """A client in `mode` of a server with every tool, on a project of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        for path, text in PLAN["files"].items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        env = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "PATH": "/usr/bin:/bin"}
        for command in PLAN["before"]:
            subprocess.run([BINARY, *command], env=env, check=True, capture_output=True)
        async with (
            server(["--tools", "all", "--root", str(root), *PLAN["serve"]], env) as transport,
            Client(transport, mode=mode, read_timeout_seconds=60) as connected,
        ):
            yield connected, root


def same(seen, wanted):
    assert seen == wanted, f"saw {seen!r}, wanted {wanted!r}"


def filled(value, known):
    """The value with what earlier steps answered in the place of `{name.field}`."""
    if isinstance(value, dict):
        return {name: filled(one, known) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, known) for one in value]
    if isinstance(value, str) and (reference := re.fullmatch(r"\{(\w+(?:\.\w+)+)\}", value)):
        for name in reference[1].split("."):
            known = known[int(name)] if isinstance(known, list) else known[name]
        return known
    return value


def fits(seen, wanted):
    """Whether an answer is what is wanted, or has it."""
    if isinstance(wanted, dict) and set(wanted) == {"contains"}:
        return isinstance(seen, list) and all(any(fits(one, some) for one in seen) for some in wanted["contains"])
    if isinstance(wanted, dict):
        return isinstance(seen, dict) and all(name in seen and fits(seen[name], one) for name, one in wanted.items())
    if isinstance(wanted, list):
        return isinstance(seen, list) and len(seen) == len(wanted) and all(map(fits, seen, wanted))
    if isinstance(wanted, str) and wanted.startswith("~ "):
        return isinstance(seen, str) and re.search(wanted[2:], seen) is not None
    return type(seen) is type(wanted) and seen == wanted


async def listed(connected):
    return [tool.name for tool in (await connected.list_tools()).tools]


async def has_a_call_for_every_tool(mode):
    async with client(mode) as (connected, _):
        names = await listed(connected)
        unknown = set(names) - {step["tool"] for step in PLAN["steps"]}
        assert not unknown, f"listed, and not called: {unknown}"
        missing = set(PLAN["planned"]) - set(names)
        assert not missing or not PLAN["strict"], f"planned, and not listed: {missing}"
        return names


async def uses_every_tool(mode):
    async with client(mode) as (connected, root):
        names, known, called = await listed(connected), {}, set()
        for number, step in enumerate(PLAN["steps"]):
            if step["tool"] not in names:
                continue
            where = f"step {number}, {step['tool']}"
            answer = await connected.call_tool(step["tool"], filled(step["arguments"], known))
            told, text = answer.structured_content, answer.content[0].text
            assert isinstance(told, dict) and told, f"{where}: {answer}"
            same((where, answer.is_error or False), (where, "refused" in step))
            if "refused" in step:
                same((where, told["code"]), (where, step["refused"]))
            if "as" in step:
                known[step["as"]] = told
            wanted = filled(step.get("answer", {}), known)
            assert fits(told, wanted), f"{where}: saw {told}, wanted {wanted}"
            for said in filled(step["text"], known):
                assert said in text, f"{where}: {said!r} is not in {text!r}"
            for path, content in step.get("files", {}).items():
                there = (root / path).read_text() if (root / path).exists() else None
                same((where, path, there), (where, path, content))
            called.add(step["tool"])
        same(called, set(names))


async def is_refused_by_every_tool_what_it_does_not_know(mode):
    async with client(mode) as (connected, _):
        for name in await listed(connected):
            answer = await connected.call_tool(name, {"no_such_argument": 1})
            same((name, answer.is_error, answer.structured_content["code"]), (name, True, "INVALID_INPUT"))
            assert "INVALID_INPUT" in answer.content[0].text, answer


async def hears_of_progress(mode):
    async with client(mode) as (connected, _):
        steps = []

        async def note(done, total, message):
            steps.append((done, total, message))

        await connected.call_tool(TOOL, dict(path="a.py", content="x = 1\n"), progress_callback=note)
        assert any(message == "syntax" and done <= total for done, total, message in steps), steps


def large(value):
    """A file whose syntax takes a while to check."""
    return f"x = {value}\n" + "def f(a, b):\n    return [a, b, (a, b), {a: b}]\n" * 8_000


async def can_cancel_a_call(mode):
    async with client(mode) as (connected, root):
        begun = time.monotonic()
        await connected.call_tool(TOOL, dict(path="a.py", content=large(1), show_diff=False))
        took = time.monotonic() - begun
        with anyio.move_on_after(took / 8) as scope:
            await connected.call_tool(TOOL, dict(path="a.py", content=large(2), show_diff=False))
        assert scope.cancelled_caught, f"the edit took {took} s at first and was not slow enough to be cancelled"
        answer = await connected.call_tool(TOOL, dict(path="a.py", search="x = 1", replace="x = 3", mode="verify_only"))
        same(answer.structured_content["status"], "verified")
        same((root / "a.py").read_text(), large(1))


async def main():
    for mode in (OLD, NEW):
        for check in (
            has_a_call_for_every_tool,
            uses_every_tool,
            is_refused_by_every_tool_what_it_does_not_know,
            hears_of_progress,
            can_cancel_a_call,
        ):
            await check(mode)
            print(f"ok  {mode:10} {check.__name__}", flush=True)


anyio.run(main)
