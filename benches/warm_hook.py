#!/usr/bin/env python3
"""What a running server saves: `lockgate hook` with a gate that has a language server, alone and while `lockgate serve` runs.

    benches/warm_hook.py [--binary target/release/lockgate] [--gate pyright] [--bin FOLDER]... [--count 6]

Each event is a process from its start to its end, with an edit of its own, so that no result is cached. The first event of each
row also loads the language server. The last column is an edit that must be denied.
"""
import argparse, json, os, pathlib, subprocess, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent


class Project:
    def __init__(self, options, folder):
        self.binary, self.folder, self.root, self.events = str(options.binary), folder, folder / "root", 0
        self.root.mkdir()
        (self.root / "quality.yaml").write_text(f"quality_gates: {{ python: [{{ tool: {options.gate}, timeout: 60s }}] }}\n")
        body = "".join(f"def f{number}(x: int) -> int:\n    return x + {number}\n\n" for number in range(100))
        (self.root / "app.py").write_text("import json\nimport os\nimport typing\n\n" + body)
        search = os.pathsep.join([*map(str, options.bin), os.environ["PATH"]])
        self.env = {**os.environ, "PATH": search, "XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache")}
        subprocess.run([self.binary, "trust", "--yes"], cwd=self.root, env=self.env, check=True, capture_output=True)

    def hook(self, new):
        """The seconds of one event, and the answer."""
        self.events += 1
        edit = {"file_path": str(self.root / "app.py"), "old_string": "    return x + 50\n", "new_string": new, "replace_all": False}
        event = {"session_id": "s", "transcript_path": "/none", "cwd": str(self.root), "permission_mode": "acceptEdits",
                 "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": f"t{self.events}", "tool_input": edit}
        start = time.perf_counter()
        result = subprocess.run([self.binary, "hook"], cwd=self.root, env=self.env, input=json.dumps(event), capture_output=True, text=True)
        return time.perf_counter() - start, result.stdout + result.stderr

    def row(self, name, count):
        times = []
        for _ in range(count):
            seconds, said = self.hook(f"    return x + {1000 + self.events}\n")
            if said:
                raise SystemExit(f"{name}: a good edit got an answer: {said}")
            times.append(f"{seconds:.2f}")
        seconds, said = self.hook("    return 'a' + 'b'\n")
        if '"deny"' not in said:
            raise SystemExit(f"{name}: a bad edit was not denied: {said}")
        print(f"| {name} | {' '.join(times)} | {seconds:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=HERE.parent / "target" / "release" / "lockgate")
    parser.add_argument("--gate", default="pyright")
    parser.add_argument("--bin", type=pathlib.Path, action="append", default=[], help="folder of tools, before the search path")
    parser.add_argument("--count", type=int, default=6)
    options = parser.parse_args()
    options.binary, options.bin = options.binary.resolve(), [folder.resolve() for folder in options.bin]
    with tempfile.TemporaryDirectory(prefix="warm-hook-") as folder:
        project = Project(options, pathlib.Path(folder).resolve())
        print("| | good edits, s | bad edit, s |\n|---|---|---|")
        project.row("alone", options.count)
        serve = [project.binary, "serve", "--root", str(project.root)]
        server = subprocess.Popen(serve, env=project.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(2)
        project.row("while a server runs", options.count)
        server.stdin.close()
        server.wait()
        project.row("alone again", options.count)


if __name__ == "__main__":
    main()
