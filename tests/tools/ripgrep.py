"""Holds `search_content` against ripgrep on the standard library of Python, in one run and by turns.

  ripgrep.py BINARY [--rounds N] [--most RATIO] [--tree FOLDER]

For each pattern it prints how long both took, and the ratio of their medians. Both search a copy of the library that this
Python has, without what was installed into it, or the tree that `--tree` names. Both must find the same number of matching
lines, but for letters beyond ASCII: what is not UTF-8 is windows-1252 to lockgate, and bytes to ripgrep. The server is started once and called over its standard input and output, as a client does; ripgrep is
started for each search. With `--most` it exits with 1 where a ratio is greater.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "trials"))
from client import Server  # noqa: E402

BEYOND_ASCII = "letters of another script"
PATTERNS = {
    "a word": "DeprecationWarning",
    "a word that is everywhere": "self",
    "a regex with a literal": r"def get_\w*name",
    "a regex without a literal": r"\b[a-z]+_[0-9]{2,}\b",
    "any case": "(?i)deprecationwarning",
    "alternatives": "TypeError|ValueError|KeyError",
    "an anchor": r"^class \w+\(.*Error\):$",
    BEYOND_ASCII: r"\p{Greek}",
    "no match": "zq_no_such_word_qz",
}


def search(server, pattern):
    """The number of matching lines."""
    content = server.call("search_content", {"pattern": pattern})
    if "total_matches" not in content or "notes" in content:
        sys.exit(f"{pattern}: {content.get('notes', content.get('message'))}")
    return content["total_matches"]


def ripgrep(pattern, root):
    """The number of matching lines."""
    command = ["rg", "--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--max-filesize", "10M", "-n"]
    result = subprocess.run([*command, "--", pattern, root], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return result.stdout.count(b"\n") - result.stdout.count(b": binary file matches")


def timed(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def library(folder):
    """A copy of the standard library."""
    source = Path(sysconfig.get_paths()["stdlib"]).resolve()
    copy = Path(folder).resolve() / "library"
    shutil.copytree(source, copy, symlinks=True, ignore=shutil.ignore_patterns("site-packages", "dist-packages"))
    return copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--most", type=float)
    parser.add_argument("--tree")
    options = parser.parse_args()
    if not shutil.which("rg"):
        sys.exit("ripgrep is not installed")
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(options.tree).resolve() if options.tree else library(folder))
        files = [path for path in Path(root).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 1e6
        version = subprocess.run(["rg", "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
        print(f"{len(files)} files, {size:.0f} MB; {version}; medians of {options.rounds} rounds")
        server = Server([options.binary, "serve", "--root", root])
        worst = 0
        for name, pattern in PATTERNS.items():
            ours, theirs = [], []
            for _ in range(options.rounds + 1):
                took, found = timed(search, server, pattern)
                ours.append(took)
                took, expected = timed(ripgrep, pattern, root)
                theirs.append(took)
                if found != expected and name != BEYOND_ASCII:
                    sys.exit(f"{name}: {found} matches, ripgrep has {expected}")
            # The first round fills the caches of both.
            one, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
            worst = max(worst, one / other)
            print(f"{one * 1000:8.1f} ms  ripgrep {other * 1000:8.1f} ms  ratio {one / other:5.2f}  {found:7} matches  {name}")
        server.stop()
        print(f"greatest ratio {worst:.2f}")
        if options.most and worst > options.most:
            sys.exit(1)


if __name__ == "__main__":
    main()
