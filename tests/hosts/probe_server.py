"""An MCP server over standard input and output whose answer tells which part of it a client passes on to the model.

  probe_server.py [TOOL]...

Its tool `probe` answers with the text `mark-of-text` and the structured content `{"mark": "mark-of-structure"}`; `probe_error` the same with
`isError`. Each further TOOL is listed as well: the order of the list, and `+` before a name asks Claude Code to load it at once.
"""

import json
import sys

ANSWER = {"content": [{"type": "text", "text": "mark-of-text"}], "structuredContent": {"mark": "mark-of-structure"}}
SCHEMA = {"type": "object", "properties": {}}


def listing(name):
    tool = {"name": name.lstrip("+"), "description": f"Probes {name.lstrip(chr(43))}.", "inputSchema": SCHEMA}
    return {**tool, "_meta": {"anthropic/alwaysLoad": True}} if name.startswith("+") else tool


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "lockgate", "version": "1"}, "instructions": "mark-of-instructions"}
    if method == "tools/list":
        return {"tools": [listing(name) for name in sys.argv[1:] or ["probe", "probe_error"]]}
    if method == "tools/call":
        return {**ANSWER, "isError": params["name"] == "probe_error"}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
