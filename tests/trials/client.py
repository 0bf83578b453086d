"""A server of lockgate, and a client of it that many threads may use at once."""

import json
import queue
import subprocess
import threading


class Gone(Exception):
    """The server ended before it answered."""


class Server:
    def __init__(self, command, env=None, cwd=None, name="trial"):
        self.process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.writing, self.waiting, self.next, self.gone = threading.Lock(), {}, 0, False
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": name, "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            # A server that was killed leaves a part of a line.
            if not line.endswith(b"\n"):
                break
            message = json.loads(line)
            with self.writing:
                waiting = self.waiting.pop(message.get("id"), None)
            if waiting:
                waiting.put(message)
        with self.writing:
            self.gone = True
            waiting, self.waiting = self.waiting, {}
        for one in waiting.values():
            one.put(None)

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise Gone(str(error)) from error

    def ask(self, method, params, timeout=60):
        """The result of a request. `Gone` when the server ends; `queue.Empty` when it does not answer."""
        answers = queue.SimpleQueue()
        with self.writing:
            if self.gone:
                raise Gone
            self.next += 1
            number = self.next
            self.waiting[number] = answers
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        message = answers.get(timeout=timeout)
        if message is None:
            raise Gone
        if "result" not in message:
            raise AssertionError(f"an error of the protocol: {message['error']}")
        return message["result"]

    def call(self, tool, arguments, timeout=60):
        """What a tool answered, for programs."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, timeout)["structuredContent"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as a client does: by closing its input."""
        self.process.stdin.close()
        self.process.wait(timeout=30)
