"""The real server over HTTP, for clients of the Python SDK of the protocol that else speak to it over pipes."""

import subprocess
from contextlib import asynccontextmanager

import httpx2
from mcp.client.streamable_http import streamable_http_client

TOKEN = "a-token-of-the-tests-alone"


def started(command, env):
    """A server that listens, and its address."""
    server = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if line.startswith("listening on "):
            return server, line.split()[-1]
    raise AssertionError(f"the server ended with {server.wait()}")


def transport(url, token=TOKEN):
    """What a client speaks through that shows this token."""
    headers = {"Authorization": f"Bearer {token}"}
    return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


@asynccontextmanager
async def served(binary, arguments, env):
    """What a client speaks through to a server of its own."""
    command = [binary, "serve", "--http", "127.0.0.1:0", *arguments]
    server, url = started(command, {**env, "LOCKGATE_TOKEN": TOKEN})
    try:
        yield transport(url)
    finally:
        server.terminate()
        assert server.wait(30) == 0, "the server did not end in order"
        server.stderr.close()
