"""The controls: writers without lockgate's care. Each does the changes that it is given on standard input."""

import json
import os
import sys


def in_place(root, changes):
    for path, content in changes.items():
        path = os.path.join(root, path)
        if content is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", buffering=512) as file:
            file.write(content)


def ignoring(root, changes):
    """Says `written` whatever happened."""
    try:
        in_place(root, changes)
    except OSError:
        pass
    print(json.dumps({"status": "written", "success": True}))


if __name__ == "__main__":
    changes = json.load(sys.stdin)
    root = sys.argv[sys.argv.index("--root") + 1]
    (ignoring if "--ignoring" in sys.argv else in_place)(root, changes)
