"""What the clients that use the Python SDK of the protocol have in common."""

import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import StdioServerParameters, types

BINARY, OVER = sys.argv[1], sys.argv[2:]
OLD, NEW = "legacy", "2026-07-28"

# What `cancels_a_call` needs in the project; the server is started with `--trust`.
SLOW_PROJECT = {"quality.yaml": Path(__file__).with_name("slow_gate.yaml").read_text(), "a.txt": "one\n"}


class Person:
    """Answers questions, and records them."""

    def __init__(self, *answers):
        self.answers, self.questions, self.before_answer = list(answers), [], lambda: None

    async def __call__(self, context, params):
        self.questions.append(params.message)
        self.before_answer()
        return types.ElicitResult(action=self.answers.pop(0), content={})


@asynccontextmanager
async def server(arguments, env):
    """What a client speaks through to a server of its own."""
    if OVER == ["http"]:
        from over_http import served

        async with served(BINARY, arguments, env) as transport:
            yield transport
    else:
        yield StdioServerParameters(command=BINARY, args=["serve", *arguments], env=env)


def same(actual, expected):
    assert actual == expected, f"saw {actual!r}, wanted {expected!r}"


async def cancels_a_call(connected, root):
    """Cancels an edit in its gate: nothing is written, and the lock is given back."""
    with anyio.CancelScope() as scope:

        async def cancel(progress, total, message):
            if message == "slow":
                scope.cancel()

        edit = dict(path="a.txt", content="wait\n")
        await connected.call_tool("safe_edit_file", edit, progress_callback=cancel)
    assert scope.cancelled_caught, "the gate was not begun"
    preview = dict(path="a.txt", search="one", replace="two", mode="verify_only")
    answer = await connected.call_tool("safe_edit_file", preview)
    same(answer.structured_content["status"], "verified")
    same((root / "a.txt").read_text(), "one\n")


def run(checks, modes=(OLD, NEW)):
    """Makes the checks of each mode; `checks` returns those of one."""

    async def every():
        for mode in modes:
            for check in checks(mode):
                start = time.monotonic()
                await check(mode)
                print(f"ok  {mode:10} {check.__name__} ({time.monotonic() - start:.1f} s)", flush=True)

    anyio.run(every)
