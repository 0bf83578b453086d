"""Holds the definitions and references that ai_get_code_context gives against those of language servers.

    definitions.py --binary LOCKGATE --bin FOLDER_OF_TOOLS --archives FOLDER [--sample N] [--show] [--only NAME]

Two Python projects, from their source archives, are looked at with pyright, and a part of the library that comes with Go
with gopls. Definitions: every function, class, method and type anywhere, and every variable and constant that is not
inside of one, of `textDocument/documentSymbol`, against the outline of each file; the same is what has the same name on the
same line. References: `textDocument/references` of a sample of the definitions that both know, against the references
of the same symbol, line by line; without the line of the definition.

The exit status is 1 when definitions have a precision below 95 % or a recall below 90 % in any project, and 3 when
something could not be fetched or is not installed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import urllib.parse

NOT_TO_BE_HAD = 3
PRECISION, RECALL = 95.0, 90.0
PYTHON = [("flask", "3.0.3", "src"), ("rich", "13.9.4", "rich")]
GO = "net/http"

# Kinds of the protocol.
CLASS, METHOD, PROPERTY, FIELD, CONSTRUCTOR, ENUM, INTERFACE, FUNCTION, VARIABLE, CONSTANT, STRUCT = 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 23
TYPES = {CLASS, ENUM, INTERFACE, STRUCT}
CALLED = {METHOD, PROPERTY, CONSTRUCTOR, FUNCTION}
VALUES = {VARIABLE, CONSTANT}

Ours = collections.namedtuple("Ours", "name line path kind whole")


class Refused(Exception):
    """What a server does not answer."""


class Wire:
    """A program that is spoken to in JSON-RPC, framed by headers or by lines."""

    def __init__(self, command, framed, **more):
        self.framed, self.number, self.answers = framed, 0, {}
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more
        )
        self.news = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def receive(self):
        out = self.process.stdout
        if not self.framed:
            line = out.readline()
            return json.loads(line) if line else None
        length = None
        while line := out.readline().strip():
            name, value = line.split(b":", 1)
            length = int(value) if name.lower() == b"content-length" else length
        return None if length is None else json.loads(out.read(length))

    def listen(self):
        while message := self.receive():
            if "method" in message and "id" in message:
                is_request = message["method"] == "workspace/configuration"
                result = [None] * len(message["params"]["items"]) if is_request else None
                self.write({"id": message["id"], "result": result})
            elif "id" in message:
                with self.news:
                    self.answers[message["id"]] = message
                    self.news.notify_all()
        with self.news:
            self.answers[None] = True
            self.news.notify_all()

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        framed = b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self.framed else body + b"\n"
        self.process.stdin.write(framed)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.write({"method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        self.write({"id": self.number, "method": method, "params": params})
        with self.news:
            is_answered = self.news.wait_for(lambda: self.number in self.answers or None in self.answers, timeout=600)
            if not is_answered or self.number not in self.answers:
                sys.exit(f"{self.process.args[0]} did not answer {method}")
            answer = self.answers.pop(self.number)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']}")
        return answer["result"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Server(Wire):
    """A language server on one folder."""

    def __init__(self, command, root, language, **more):
        super().__init__(command, framed=True, cwd=root, **more)
        self.root, self.language = root, language
        symbols = {"hierarchicalDocumentSymbolSupport": True}
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "root"}],
                "capabilities": {"textDocument": {"documentSymbol": symbols}, "workspace": {"configuration": True}},
            },
        )
        self.tell("initialized", {})

    def open(self, path):
        text = (self.root / path).read_text(encoding="utf-8")
        document = {"uri": (self.root / path).as_uri(), "languageId": self.language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def symbols(self, path):
        """Each symbol with its name, line, kind, place, and the kinds of those around it."""

        def walk(items, around):
            for item in items or []:
                start = item["selectionRange"]["start"]
                name = re.sub(r"^\(.*\)\.", "", item["name"])
                yield name, start["line"] + 1, item["kind"], start, around
                yield from walk(item.get("children"), [*around, item["kind"]])

        uri = (self.root / path).as_uri()
        return list(walk(self.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}), []))

    def references(self, path, place):
        params = {"textDocument": {"uri": (self.root / path).as_uri()}, "position": place, "context": {"includeDeclaration": False}}
        found = set()
        for it in self.ask("textDocument/references", params) or []:
            target = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(it["uri"]).path))
            if target.is_relative_to(self.root):
                found.add((str(target.relative_to(self.root)), it["range"]["start"]["line"] + 1))
        return found


class Lockgate(Wire):
    """Our server on the same folder."""

    def __init__(self, binary, root, state):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(state), "XDG_STATE_HOME": str(state), "XDG_CACHE_HOME": str(state)}
        super().__init__([binary, "serve", "--root", root, "--tools", "look"], framed=False, env=env)
        client = {"name": "definitions", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.tell("notifications/initialized", {})

    def context(self, **arguments):
        answer = self.ask("tools/call", {"name": "ai_get_code_context", "arguments": {"max_tokens": 50_000, **arguments}})
        if answer.get("isError"):
            sys.exit(f"{arguments}: {answer['content']}")
        return answer["structuredContent"]

    def symbols(self, path):
        answer = self.context(target_file=path)
        if any("of the outline" in note for note in answer.get("notes", [])):
            print(f"  the outline of {path} is cut: {answer['notes']}")
        return [Ours(re.split(r"[.]", it["name"])[-1], it["line"], path, it["kind"], it["name"]) for it in answer["outline"]]


def wanted(kind, around):
    return kind in TYPES | CALLED or (kind in VALUES and not around)


def counts(kind, text):
    free = "." not in text and kind in ("variable", "constant")
    return free or kind in ("function", "method", "class", "struct", "interface", "enum", "type", "trait")


def share(part, total):
    return 100.0 * part / total if total else 100.0


def definitions(server, ours, files, show):
    """Compares the definitions of all files; gives the figures, and those that both know."""
    theirs_all, ours_all, both, confirmed = 0, 0, 0, []
    for path in files:
        server.open(path)
        symbols = server.symbols(path)
        theirs = {(name, line): place for name, line, kind, place, around in symbols if wanted(kind, around)}
        mine = {(it.name, it.line): it for it in ours.symbols(path) if counts(it.kind, it.whole)}
        shared = theirs.keys() & mine.keys()
        theirs_all, ours_all, both = theirs_all + len(theirs), ours_all + len(mine), both + len(shared)
        confirmed.extend((path, theirs[key], mine[key]) for key in sorted(shared, key=lambda key: key[1]))
        if show:
            for name, line in sorted(mine.keys() - theirs.keys(), key=lambda key: key[1]):
                print(f"  only ours: {path}:{line} {name} ({mine[name, line].kind})")
            for name, line in sorted(theirs.keys() - mine.keys(), key=lambda key: key[1]):
                print(f"  only theirs: {path}:{line} {name}")
    return share(both, ours_all), share(both, theirs_all), (theirs_all, ours_all, both), confirmed


def references(server, ours, definitions_known, sample, show):
    """Compares the references of a sample, spread over all of them."""
    chosen = definitions_known[:: max(1, len(definitions_known) // sample)]
    theirs_all, ours_all, both, cut, exact, left_out = 0, 0, 0, 0, 0, 0
    for path, place, it in chosen:
        declaration = {(path, it.line)}
        try:
            theirs = server.references(path, place) - declaration
        except Refused:
            # gopls does not build what is meant for another system.
            left_out += 1
            continue
        answer = ours.context(symbol=it.whole, target_file=path)
        mine = {(use["path"], use["line"]) for use in answer["references"]} - declaration
        cut += any("references" in note for note in answer.get("notes", []))
        shared = theirs & mine
        theirs_all, ours_all, both = theirs_all + len(theirs), ours_all + len(mine), both + len(shared)
        exact += theirs == mine
        if show and theirs != mine:
            print(f"  {path}:{it.line} {it.whole} ({it.kind}): only ours {sorted(mine - theirs)[:6]}, only theirs {sorted(theirs - mine)[:6]}")
    return share(both, ours_all), share(both, theirs_all), (len(chosen) - left_out, theirs_all, ours_all, both, exact, cut)


def archive(folder, python, name, version):
    archives = sorted(folder.glob(f"{name}-{version}.tar.gz"))
    if not archives:
        folder.mkdir(parents=True, exist_ok=True)
        pip = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, f"{name}=={version}", "-d", folder]
        if subprocess.run([str(word) for word in pip], check=False).returncode != 0:
            sys.exit(NOT_TO_BE_HAD)
        archives = sorted(folder.glob(f"{name}-{version}.tar.gz"))
    return archives[0]


def unpack(source, root):
    with tarfile.open(source) as tar:
        for member in tar.getmembers():
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if parts and member.isfile():
                member.name = str(pathlib.PurePosixPath(*parts))
                tar.extract(member, root, filter="data")


def python_project(options, work, name, version, folder):
    root = work / name
    root.mkdir(parents=True)
    unpack(archive(options.archives, options.bin / "python", name, version), root)
    # What is meant for another system is code as well.
    (root / "pyrightconfig.json").write_text('{"pythonPlatform": "All"}')
    files = sorted(str(path.relative_to(root)) for path in (root / folder).rglob("*.py"))
    path = f"{options.bin}:{os.environ['PATH']}"
    server = Server([options.bin / "pyright-langserver", "--stdio"], root, "python", env={**os.environ, "PATH": path})
    return root, files, server


def go_project(options, work):
    go, gopls = shutil.which("go", path=f"{options.bin}:{os.environ['PATH']}"), shutil.which("gopls")
    if not go or not gopls:
        sys.exit(NOT_TO_BE_HAD)
    home = pathlib.Path(subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip())
    # A library of its own, so that nothing outside of the folder is looked at and no link is followed.
    mine = work / "go"
    shutil.copytree(home.resolve(), mine, symlinks=False, ignore=shutil.ignore_patterns("test", "testdata", "doc", "misc", "*.a"))
    root = mine / "src" / GO
    files = sorted(str(path.relative_to(root)) for path in root.glob("*.go"))
    env = {**os.environ, "GOROOT": str(mine), "PATH": f"{mine}/bin:{os.environ['PATH']}", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    return root, files, Server([gopls], root, "go", env={**env, "GOTOOLCHAIN": "local"})


def main():
    parser = argparse.ArgumentParser()
    for name in ["binary", "bin", "archives"]:
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).absolute(), required=True)
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    work = options.archives / "definitions"
    shutil.rmtree(work, ignore_errors=True)
    projects = [(f"{name} {version}", lambda it=(name, version, folder): python_project(options, work, *it)) for name, version, folder in PYTHON]
    projects.append((f"Go's {GO}", lambda: go_project(options, work)))
    status = 0
    for name, prepare in projects:
        if options.only not in name:
            continue
        root, files, server = prepare()
        ours = Lockgate(options.binary, root, work / "state")
        precision, recall, (theirs, mine, both), confirmed = definitions(server, ours, files, options.show)
        print(f"{name}: {len(files)} files; definitions: precision {precision:.1f} %, recall {recall:.1f} % ({theirs} theirs, {mine} ours, {both} both)", flush=True)
        found, reported, (chosen, theirs, mine, both, exact, cut) = references(server, ours, confirmed, options.sample, options.show)
        print(f"{name}: references of {chosen} definitions: precision {found:.1f} %, recall {reported:.1f} % ({theirs} theirs, {mine} ours, {both} both; all of {exact} the same, {cut} cut)", flush=True)
        if precision < PRECISION or recall < RECALL:
            status = 1
        server.end()
        ours.end()
    return status


if __name__ == "__main__":
    sys.exit(main())
