"""Drives the real server with the Python SDK of the protocol, in both of its eras.

  mcp_client.py BINARY

Exits with 1 and a trace at the first thing that is not as it should be.
"""

import json
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters

from sdk_checks import BINARY, NEW, OLD, SLOW_PROJECT, cancels_a_call, run, same

TOOL = "safe_edit_file"
READER = "read_content_lines"


@asynccontextmanager
async def client(mode, *arguments, files=None):
    """A client in `mode` of a server on a folder of its own, with these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for path, text in (files or {}).items():
            (root / path).write_text(text)
        command = StdioServerParameters(command=BINARY, args=["serve", "--root", str(root), *arguments])
        async with Client(command, mode=mode, read_timeout_seconds=60) as connected:
            yield connected, root


def offered(*arguments):
    """The names of the tools that the command line says are offered."""
    output = subprocess.run([BINARY, "schema", *arguments], check=True, capture_output=True).stdout
    return sorted(tool["name"] for tool in json.loads(output)["tools"])


async def lists_its_tools(mode):
    async with client(mode, "--tools", "all") as (connected, _):
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
        same(sorted(tools), offered("--tools", "all"))
        # The default of the protocol, so it is not listed.
        same(tools[TOOL].annotations.destructive_hint, None)
        same(tools["create_file"].annotations.idempotent_hint, True)
        if mode != NEW:  # A client with a given version requests no other one.
            assert "Quality gates" in connected.instructions
    async with client(mode, "--read-only") as (connected, _):
        left = (await connected.list_tools()).tools
        same(sorted(tool.name for tool in left), offered("--read-only"))
        assert all(tool.annotations.read_only_hint for tool in left) and READER in [tool.name for tool in left]


async def edits_in_every_mode(mode):
    async with client(mode) as (connected, root):
        steps = [
            (dict(content="x = 1\ny = 2\n"), "x = 1\ny = 2\n"),
            (dict(line_edits=[dict(start_line=2, end_line=2, new_content="y = 3\n")]), "x = 1\ny = 3\n"),
            (dict(insert_lines=[dict(at_line=1, content="w = 0\n")]), "w = 0\nx = 1\ny = 3\n"),
            (dict(search=r"= (\d)", replace=r"= 1\1", regex=True), "w = 10\nx = 11\ny = 13\n"),
        ]
        version = None
        for fields, text in steps:
            guard = dict(expected_version=version) if version else {}
            answer = await connected.call_tool(TOOL, dict(path="app.py", **fields, **guard))
            assert not answer.is_error, answer
            data = answer.structured_content
            same((data["status"], data["written"], data["bytes_outside_edit"]), ("written", True, "unchanged"))
            same((root / "app.py").read_text(), text)
            assert data["version"] in answer.content[0].text and "app.py" in answer.content[0].text, answer
            version = data["version"]
        preview = await connected.call_tool(TOOL, dict(path="app.py", content="x = 2\n", mode="verify_only"))
        same(preview.structured_content["status"], "verified")
        same((root / "app.py").read_text(), steps[-1][1])


async def edits_what_is_quoted_and_reads_it_back(mode):
    async with client(mode, "--tools", "all") as (connected, root):
        (root / "app.py").write_text("x = 1\ny = 1\n")
        for tool, fields, expected_text in [
            ("edit_file", dict(old_string="x = 1", new_string="x = 2"), "Successfully replaced 1 occurrence(s) in app.py"),
            ("edit_code", dict(search_context="y = 1", new_content="y = 2"), "Replaced block at line 2 (Match Score: 100%)"),
        ]:
            answer = await connected.call_tool(tool, dict(file_path="app.py", **fields))
            same((answer.is_error, answer.structured_content["message"]), (False, expected_text))
        lines_read = await connected.call_tool(READER, dict(path="app.py", start_line=2))
        data = lines_read.structured_content
        same((data["content"], data["total_lines"]), ("2: y = 2", 2))
        same(data["version"], answer.structured_content["version"])
        assert data["content"] in lines_read.content[0].text, lines_read


async def refuses_where_the_model_sees_it(mode):
    async with client(mode) as (connected, root):
        (root / "app.py").write_text("x = 1\n")
        for fields, code in [
            (dict(content="def f(:\n"), "GATE_REFUSED"),
            (dict(search="y", replace="z"), "NO_MATCH"),
            (dict(content="x", contents="y"), "INVALID_INPUT"),
            (dict(line_edits=[dict(start_line=1, end_line="x", new_content="")]), "INVALID_INPUT"),
            (dict(content="x", expected_version="000000000000"), "EDIT_CONFLICT"),
        ]:
            answer = await connected.call_tool(TOOL, dict(path="app.py", **fields))
            data, text = answer.structured_content, answer.content[0].text
            same((answer.is_error, data["success"], data["written"], data["code"]), (True, False, False, code))
            for expected_text in (data["message"], text):
                assert expected_text.startswith("nothing was written: "), expected_text
            assert code in text and data["hint"] in text, text
            same((root / "app.py").read_text(), "x = 1\n")
        try:
            await connected.call_tool("no_such_tool", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            same(error.error.code, -32602)


async def answers_in_the_form_that_was_asked_for(mode):
    for choice, structured in [("on", True), ("compact", True), ("off", False), ("auto", True)]:
        async with client(mode, "--structured", choice) as (connected, _):
            answer = await connected.call_tool(TOOL, dict(path="a.txt", content="a\n"))
            same(answer.structured_content is not None, structured)
            assert answer.content[0].text.startswith("created a.txt (+1 -0) version "), answer


async def tells_its_progress(mode):
    async with client(mode) as (connected, _):
        steps = []

        async def note(progress, total, message):
            steps.append((progress, total, message))

        await connected.call_tool(TOOL, dict(path="a.py", content="x = 1\n"), progress_callback=note)
        assert any(message == "syntax" and progress <= total for progress, total, message in steps), steps


async def leaves_the_file_alone_when_cancelled(mode):
    async with client(mode, "--trust", files=SLOW_PROJECT) as (connected, root):
        await cancels_a_call(connected, root)


CHECKS = (
    lists_its_tools,
    edits_in_every_mode,
    edits_what_is_quoted_and_reads_it_back,
    refuses_where_the_model_sees_it,
    answers_in_the_form_that_was_asked_for,
    tells_its_progress,
    leaves_the_file_alone_when_cancelled,
)

run(lambda _: CHECKS, (OLD, NEW, "auto"))
