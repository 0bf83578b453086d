"""A language server that finds each word that begins with `bad`, and misbehaves in the way that its first argument names.

usage: lsp_server.py WAY LOG

Each message that it receives is written to LOG, a line each: the method and its subject.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time

WAY, LOG = sys.argv[1:3]
OUT = threading.Lock()
documents = {}
# Requests that are answered once there is another one.
awaited = []
# The files that it was asked about.
seen = set()


def note(*words):
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(" ".join(words) + "\n")


def write(data):
    with OUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def read():
    length = None
    while line := sys.stdin.buffer.readline().strip():
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    return None if length is None else json.loads(sys.stdin.buffer.read(length))


def units(text):
    return len(text.encode("utf-16-le")) // 2


def found(text):
    items = []
    for number, line in enumerate(text.split("\n")):
        for match in re.finditer(r"\bbad\w*", line):
            start, end = units(line[: match.start()]), units(line[: match.end()])
            items.append(
                {
                    "range": {
                        "start": {"line": number, "character": start},
                        "end": {"line": number, "character": end},
                    },
                    "severity": 1,
                    "code": match[0],
                    "message": "seen " + match[0],
                }
            )
    return items


def publish(uri, version, items):
    about = {} if version is None else {"version": version}
    send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": items, **about})


def changed(uri, version, before, text):
    """How a server that publishes diagnostics handles a new text."""
    if WAY in ("push", "flood"):
        publish(uri, version, found(text))
    elif WAY == "bare":
        publish(uri, None, found(text))
    elif WAY == "drip":
        publish(uri, None, found(before))
        threading.Timer(0.1, publish, (uri, None, found(text))).start()
    elif WAY == "late":
        threading.Timer(4, publish, (uri, version, found(text))).start()
    elif WAY == "late_bare":
        threading.Timer(4, publish, (uri, None, found(text))).start()
    elif WAY == "stale":
        publish(uri, version - 1, found(before))
        publish(uri, version - 1, [])


def flood():
    for _ in range(400):
        sys.stderr.write("x" * 100_000 + "\n")


def dies():
    """Ends itself in the middle of a question: once, or each time."""
    once = LOG + ".died"
    if WAY == "mortal" or not os.path.exists(once):
        open(once, "w").close()
        sys.stderr.write("I give up\n")
        sys.stderr.flush()
        os._exit(3)


def grow():
    blocks = []
    while True:
        blocks.append(bytearray(8 << 20))
        time.sleep(0.005)


def referenced_findings(uri):
    """What it sees of the file that the text's first line names, as an open document or on disk."""
    text = documents[uri]
    name = text.split("\n")[0].removeprefix("see ")
    other = os.path.join(os.path.dirname(uri), name)
    content = documents.get(other)
    if content is None:
        try:
            with open(other.removeprefix("file://"), encoding="utf-8") as file:
                content = file.read()
        except OSError:
            content = "nothing"
    item = {"severity": 1, "code": "sees", "message": content.strip()}
    item["range"] = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    is_first = WAY == "first" and uri not in seen
    seen.add(uri)
    if is_first:
        item["message"] = "only this time"
    return found(text) + ([item] if is_first or text.startswith("see ") else [])


def pulled(message):
    uri = message["params"]["textDocument"]["uri"]
    note("diagnostic", uri.rsplit("/", 1)[1])
    if WAY == "together":
        awaited.append(message)
        if len(awaited) > 1:
            for other in awaited:
                other_uri = other["params"]["textDocument"]["uri"]
                send(id=other["id"], result={"kind": "full", "items": referenced_findings(other_uri)})
            awaited.clear()
        return
    if WAY in ("once", "mortal"):
        dies()
    if WAY == "silent":
        return
    if WAY == "grow":
        grow()
    if WAY == "again" and not os.path.exists(LOG + ".again"):
        open(LOG + ".again", "w").close()
        send(id=message["id"], error={"code": -32802, "message": "later"})
        return
    if WAY == "refresh" and not os.path.exists(LOG + ".again"):
        open(LOG + ".again", "w").close()
        send(id="r", method="workspace/diagnostic/refresh")
        send(id=message["id"], result={"kind": "full", "items": []})
        return
    send(id=message["id"], result={"kind": "full", "items": referenced_findings(uri)})


def greeted():
    if WAY == "flood":
        flood()
    if WAY == "children":
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        note("child", str(child.pid))
    if WAY == "asks":
        send(id="a", method="workspace/applyEdit", params={"edit": {"changes": {}}})
        send(id="b", method="workspace/configuration", params={"items": [{"section": "x.y"}, {}, {"section": "z"}]})
        send(id="c", method="window/reboot", params={})
    if WAY == "dynamic":
        registration = {"id": "d", "method": "textDocument/diagnostic"}
        time.sleep(0.3)
        send(id="d", method="client/registerCapability", params={"registrations": [registration]})
    if WAY == "loading":
        time.sleep(0.5)
        progress = {"kind": "end", "message": "loaded all"}
        note("loaded")
        send(method="$/progress", params={"token": 1, "value": progress})


def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    document = params.get("textDocument", {})
    uri, version = document.get("uri"), document.get("version")
    if method == "initialize":
        pushes = ("push", "flood", "bare", "drip", "late", "late_bare", "stale", "dynamic")
        offers = {} if WAY in pushes else {"diagnosticProvider": {"interFileDependencies": True}}
        send(id=message["id"], result={"capabilities": offers})
    elif method == "initialized":
        greeted()
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        text = document["text"] if "text" in document else params["contentChanges"][0]["text"]
        before, documents[uri] = documents.get(uri, ""), text
        note(method.split("/")[1], uri.rsplit("/", 1)[1], str(version), repr(text))
        if WAY == "missing" and not os.path.exists(uri.removeprefix("file://")):
            sys.stderr.write("no such file\n")
            sys.stderr.flush()
            os._exit(1)
        if "languageId" in document:
            note("language", uri.rsplit("/", 1)[1], document["languageId"])
        changed(uri, version, before, text)
    elif method == "textDocument/didClose":
        note("didClose", uri.rsplit("/", 1)[1])
        del documents[uri]
    elif method == "textDocument/diagnostic":
        pulled(message)
    elif method == "workspace/didChangeWatchedFiles":
        for change in params["changes"]:
            note("watched", change["uri"].rsplit("/", 1)[1], str(change["type"]))
    elif method is None:
        answer = {key: message[key] for key in ("result", "error") if key in message}
        note("answer", str(message["id"]), json.dumps(answer))


note("started", str(os.getpid()))
if WAY == "garbage":
    write(b"Welcome to the language server\n")
    time.sleep(1000)
if WAY == "none":
    sys.stderr.write("error: unrecognized subcommand 'server'\n")
    sys.exit(2)
if WAY == "huge":
    write(b"Content-Length: 99999999999\r\n\r\n")
    time.sleep(1000)
if WAY == "refuses":
    message = read()
    send(id=message["id"], error={"code": 1, "message": "no licence"})
while (message := read()) is not None:
    handle(message)
