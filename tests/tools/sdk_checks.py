"""What the clients that use the Python SDK of the protocol have in common."""

import sys
import time
from contextlib import asynccontextmanager

import anyio
from mcp import StdioServerParameters, types

BINARY, OVER = sys.argv[1], sys.argv[2:]
OLD, NEW = "legacy", "2026-07-28"


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


def run(checks, modes=(OLD, NEW)):
    """Makes the checks of each mode; `checks` returns those of one."""

    async def every():
        for mode in modes:
            for check in checks(mode):
                start = time.monotonic()
                await check(mode)
                print(f"ok  {mode:10} {check.__name__} ({time.monotonic() - start:.1f} s)", flush=True)

    anyio.run(every)
