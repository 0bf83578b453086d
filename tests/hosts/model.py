"""A scripted model for coding agents: it speaks the streaming APIs of four vendors, plays tool calls, and records requests.

  with Model(steps) as model: ...    serves on 127.0.0.1, at model.port

A step is a list of calls that the model makes in one turn. A call is `{"name": NAME, "input": OBJECT}`, or
`{"name": NAME, "custom": TEXT}` for a custom tool of the Responses API. NAME is the name of a tool, or `mcp:NAME` for
the tool of an MCP server, whose listed name differs from client to client. A step is played once the results of all
steps before it are in the conversation; after the last one the model answers `done`. Only a request that offers tools is
played: clients also ask small questions of their own, such as for a title.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    """The server, and what it was sent: `requests` has the path and the body of each request in order."""

    def __init__(self, steps):
        self.steps = [step if isinstance(step, list) else [step] for step in steps]
        self.requests = []
        self.unknown = []
        self.lock = threading.Lock()
        handler = type("Bound", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next_calls(self, count):
        """The calls of the turn after `count` results, or none at the end of the script."""
        for step in self.steps:
            if count <= 0:
                return step
            count -= len(step)
        return []

    def conversations(self):
        """The requests that offered tools, each with the vendor's API that it used."""
        return [(API[name], body) for name, body in self.requests if name in API and API[name].tools(body)]

    def results(self):
        """What the model was sent as the results of its calls, as text, in the order of the calls."""
        last = self.conversations()
        return last[-1][0].results(last[-1][1]) if last else []

    def sent(self):
        """All that the model was sent in its last turn, as JSON text."""
        last = self.conversations()
        return json.dumps(last[-1][1], ensure_ascii=False) if last else ""

    def tools(self):
        """The names of the tools that the first turn offered."""
        first = self.conversations()
        return first[0][0].tools(first[0][1]) if first else []


def resolve(name, tools, api):
    """The listed name of a tool: `mcp:NAME` is the one that ends in NAME, beside a prefix of the server.

    A tool that the client lists late is called by the name that it will have.
    """
    if not name.startswith("mcp:"):
        return name
    bare = name.removeprefix("mcp:")
    found = [tool for tool in tools if re.search(rf"[_\-./]{re.escape(bare)}$", tool) and "lockgate" in tool]
    late = f"mcp__lockgate/{bare}" if api is Responses else f"mcp__lockgate__{bare}"
    return found[0] if found else late


class Anthropic:
    """Messages: /v1/messages."""

    @staticmethod
    def tools(body):
        return [tool["name"] for tool in body.get("tools", []) if "name" in tool]

    @staticmethod
    def results(body):
        blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return [text_of(block.get("content", "")) for block in blocks if block.get("type") == "tool_result"]

    @staticmethod
    def answer(body, calls, number):
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", "m"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        blocks = [{"type": "tool_use", "id": f"toolu_{number}_{at}", "name": call["name"], "input": call["input"]}
                  for at, call in enumerate(calls)] or [{"type": "text", "text": "done"}]
        stop = "tool_use" if calls else "end_turn"
        if not body.get("stream"):
            return [(None, {**message, "content": blocks, "stop_reason": stop})]
        events = [("message_start", {"type": "message_start", "message": message})]
        for index, block in enumerate(blocks):
            text = block["type"] == "text"
            start = {"type": "text", "text": ""} if text else {**block, "input": {}}
            delta = {"type": "text_delta", "text": block["text"]} if text else {
                "type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [("content_block_start", {"type": "content_block_start", "index": index, "content_block": start}),
                       ("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}),
                       ("content_block_stop", {"type": "content_block_stop", "index": index})]
        delta = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}}
        return [*events, ("message_delta", delta), ("message_stop", {"type": "message_stop"})]


class Responses:
    """Responses: /v1/responses."""

    @staticmethod
    def tools(body):
        # In the newer models' code mode, an input item lists the tools.
        listed = [tool for item in body.get("input", []) if item.get("type") == "additional_tools" for tool in item["tools"]]
        names = []
        for tool in [*body.get("tools", []), *listed]:
            prefix = tool.get("name", "")
            nested = tool.get("tools") or []
            names += [f"{prefix}/{inner['name']}" for inner in nested] if nested else [prefix]
        return [name for name in names if name]

    @staticmethod
    def results(body):
        items = body.get("input", [])
        return [text_of(item.get("output", "")) for item in items if item.get("type", "").endswith("_output")]

    @staticmethod
    def answer(body, calls, number):
        items = []
        for at, call in enumerate(calls):
            one = {"id": f"item_{number}_{at}", "call_id": f"call_{number}_{at}", "status": "completed"}
            namespace, _, name = call["name"].rpartition("/")
            if "custom" in call:
                item = {**one, "type": "custom_tool_call", "name": name, "input": call["custom"]}
            else:
                item = {**one, "type": "function_call", "name": name, "arguments": json.dumps(call["input"])}
            items.append({**item, "namespace": namespace} if namespace else item)
        if not items:
            items = [{"id": f"item_{number}", "type": "message", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": "done", "annotations": []}]}]
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 11}
        response = {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": body.get("model", "m"),
                    "status": "in_progress", "output": []}
        whole = {**response, "status": "completed", "output": items, "usage": usage}
        if not body.get("stream"):
            return [(None, whole)]
        events = [("response.created", {"type": "response.created", "response": response})]
        for index, item in enumerate(items):
            for kind in ("added", "done"):
                name = f"response.output_item.{kind}"
                events.append((name, {"type": name, "output_index": index, "item": item}))
        events.append(("response.completed", {"type": "response.completed", "response": whole}))
        return [(name, {**event, "sequence_number": at}) for at, (name, event) in enumerate(events)]


class Chat:
    """Chat Completions: /v1/chat/completions."""

    @staticmethod
    def tools(body):
        return [tool["function"]["name"] for tool in body.get("tools", []) if "function" in tool]

    @staticmethod
    def results(body):
        return [text_of(message["content"]) for message in body["messages"] if message["role"] == "tool"]

    @staticmethod
    def answer(body, calls, number):
        tool_calls = [{"index": at, "id": f"call_{number}_{at}", "type": "function",
                       "function": {"name": call["name"], "arguments": json.dumps(call["input"])}}
                      for at, call in enumerate(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": tool_calls} if calls else {
            "role": "assistant", "content": "done"}
        finish = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
        one = {"id": f"chat_{number}", "created": 0, "model": body.get("model", "m")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return [(None, {**one, "object": "chat.completion", "choices": [choice], "usage": usage})]
        chunk = {**one, "object": "chat.completion.chunk"}
        first = {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}
        return [(None, first), (None, last), (None, "[DONE]")]


class Gemini:
    """Gemini: models/NAME:streamGenerateContent and :generateContent."""

    @staticmethod
    def tools(body):
        return [function["name"] for tool in body.get("tools", []) for function in tool.get("functionDeclarations", [])]

    @staticmethod
    def results(body):
        parts = [part for content in body["contents"] for part in content.get("parts", [])]
        return [json.dumps(part["functionResponse"]["response"], ensure_ascii=False) for part in parts if "functionResponse" in part]

    @staticmethod
    def answer(body, calls, number):
        parts = [{"functionCall": {"name": call["name"], "args": call["input"]}} for call in calls]
        wants_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
        text = json.dumps({"reasoning": "none", "next_speaker": "user", "model_choice": "pro", "complexity_score": 1,
                           "complexity_reasoning": "none"}) if wants_json else "done"
        candidate = {"content": {"role": "model", "parts": parts or [{"text": text}]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
        return [(None, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"})]


API = {"anthropic": Anthropic, "responses": Responses, "chat": Chat, "gemini": Gemini}


def text_of(content):
    """The text of a result: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part.get("text", json.dumps(part, ensure_ascii=False)) for part in content)
    return json.dumps(content, ensure_ascii=False)


def api_of(path):
    """The API of a path, and whether it streams without being asked to in the body."""
    bare = path.split("?")[0]
    if bare.endswith("/messages"):
        return "anthropic"
    if bare.endswith("/responses"):
        return "responses"
    if bare.endswith("/chat/completions"):
        return "chat"
    if bare.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return None


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    model = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = self.chunked()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply({"input_tokens": 10})
        if path.endswith(":countTokens"):
            return self.reply({"totalTokens": 10})
        name = api_of(path)
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if name is None or not isinstance(body, dict):
            self.model.unknown.append(self.path)
            return self.reply({"error": {"message": f"not scripted: {self.path}"}}, status=404)
        api = API[name]
        tools = api.tools(body)
        with self.model.lock:
            self.model.requests.append((name, body))
            number = len(self.model.requests)
        calls = self.model.next_calls(len(api.results(body))) if tools else []
        calls = [{**call, "name": resolve(call["name"], tools, api)} for call in calls]
        events = api.answer(body, calls, number)
        streams = body.get("stream") or path.endswith(":streamGenerateContent")
        return self.stream(events) if streams else self.reply(events[0][1])

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.endswith("/models"):
            return self.reply({"object": "list", "data": [], "models": []})
        self.model.unknown.append(self.path)
        return self.reply({"error": {"message": f"not scripted: {self.path}"}}, status=404)

    do_HEAD = do_PUT = do_GET

    def chunked(self):
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            line = f"event: {name}\n" if name else ""
            self.wfile.write(f"{line}data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True
