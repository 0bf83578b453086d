"""What the measurements over real projects share: results in a file that a broken-off run continues, and parallel jobs."""

import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading


class Results:
    """One JSON object for each result, also in a file, if there is one. What the file had before counts as done."""

    def __init__(self, path=None):
        self.lock, self.path = threading.Lock(), path
        self.all = [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []

    def add(self, result):
        with self.lock:
            self.all.append(result)
            if self.path:
                with open(self.path, "a") as file:
                    file.write(json.dumps(result) + "\n")

    def where(self, **values):
        """The results that have these values."""
        with self.lock:
            return [result for result in self.all if all(result.get(key) == value for key, value in values.items())]


def in_parallel(jobs, work, items):
    """Calls `work` on each item, `jobs` at a time, and raises the first exception that there was."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(work, item) for item in items]:
            future.result()


def laid_out(root, files):
    """Writes files, path to bytes, below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Scratch:
    """A folder that is gone afterwards, also where a tool has left files that cannot be listed."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="measuring-")).resolve()
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def version(command):
    """The first line that a program prints on `--version`, or nothing."""
    try:
        return subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout.split("\n")[0]
    except OSError:
        return None
