"""Has the Python SDK of the protocol use every tool, in both of its eras: the calls are in every_tool.json.

  sdk_client.py BINARY [http]

With `http` the client speaks to the server over HTTP, else over pipes.

Exits with 1 and a trace at the first thing that is not as it should be.
"""

import json
import re
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client

from sdk_checks import BINARY, SLOW_PROJECT, cancels_a_call, run, same, server

PLAN = json.loads(Path(__file__).with_name("every_tool.json").read_text())
TOOL = "safe_edit_file"


@asynccontextmanager
async def client(mode, files=PLAN["files"]):
    """A client in `mode` of a server with every tool, on a project of its own with these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        env = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "PATH": "/usr/bin:/bin"}
        for command in PLAN["before"]:
            subprocess.run([BINARY, *command], env=env, check=True, capture_output=True)
        async with (
            server(["--trust", "--tools", "all", "--root", str(root), *PLAN["serve"]], env) as transport,
            Client(transport, mode=mode, read_timeout_seconds=60) as connected,
        ):
            yield connected, root


def filled(value, values):
    """The value with what earlier steps answered in the place of `{name.field}`."""
    if isinstance(value, dict):
        return {name: filled(one, values) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    if isinstance(value, str) and (reference := re.fullmatch(r"\{(\w+(?:\.\w+)+)\}", value)):
        for name in reference[1].split("."):
            values = values[int(name)] if isinstance(values, list) else values[name]
        return values
    return value


def fits(actual, expected):
    """Whether an answer is what is wanted, or has it."""
    if isinstance(expected, dict) and set(expected) == {"contains"}:
        return isinstance(actual, list) and all(any(fits(one, some) for one in actual) for some in expected["contains"])
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(name in actual and fits(actual[name], one) for name, one in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(fits, actual, expected))
    if isinstance(expected, str) and expected.startswith("~ "):
        return isinstance(actual, str) and re.search(expected[2:], actual) is not None
    return type(actual) is type(expected) and actual == expected


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
        names, answers, called = await listed(connected), {}, set()
        for number, step in enumerate(PLAN["steps"]):
            if step["tool"] not in names:
                continue
            where = f"step {number}, {step['tool']}"
            answer = await connected.call_tool(step["tool"], filled(step["arguments"], answers))
            structured, text = answer.structured_content, answer.content[0].text
            assert isinstance(structured, dict) and structured, f"{where}: {answer}"
            same((where, answer.is_error or False), (where, "refused" in step))
            if "refused" in step:
                same((where, structured["code"]), (where, step["refused"]))
            if "as" in step:
                answers[step["as"]] = structured
            expected = filled(step.get("answer", {}), answers)
            assert fits(structured, expected), f"{where}: saw {structured}, wanted {expected}"
            for expected_text in filled(step["text"], answers):
                assert expected_text in text, f"{where}: {expected_text!r} is not in {text!r}"
            for path, content in step.get("files", {}).items():
                text_on_disk = (root / path).read_text() if (root / path).exists() else None
                same((where, path, text_on_disk), (where, path, content))
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

        async def note(progress, total, message):
            steps.append((progress, total, message))

        await connected.call_tool(TOOL, dict(path="a.py", content="x = 1\n"), progress_callback=note)
        assert any(message == "syntax" and progress <= total for progress, total, message in steps), steps


async def can_cancel_a_call(mode):
    async with client(mode, SLOW_PROJECT) as (connected, root):
        await cancels_a_call(connected, root)


CHECKS = (
    has_a_call_for_every_tool,
    uses_every_tool,
    is_refused_by_every_tool_what_it_does_not_know,
    hears_of_progress,
    can_cancel_a_call,
)

run(lambda _: CHECKS)
