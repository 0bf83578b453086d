"""Answers `re.sub` for the parity test: one JSON object a line in, one a line out, after a line with the version.

A request is {"pattern", "template", "flags", "text", "count"}; an answer is {"ok": text}, {"error": message} for what
Python refuses, or {"slow": true} for what it does not finish in time.
"""

import json
import re
import signal
import sys
import warnings

warnings.simplefilter("ignore")


class Slow(Exception):
    pass


def give_up(signum, frame):
    raise Slow


signal.signal(signal.SIGALRM, give_up)


def answer(case):
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    try:
        compiled = re.compile(case["pattern"], case["flags"])
        return {"ok": compiled.sub(case["template"], case["text"], case["count"])}
    except Slow:
        return {"slow": True}
    except (re.error, IndexError, ValueError, OverflowError, RecursionError, SystemError) as error:
        return {"error": str(error), "kind": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps({"version": list(sys.version_info[:3])}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


main()
