#!/usr/bin/env python3
"""Compares the models of hosts' tools in tests/eval/hooks.py with the real tools, on drifted edits with lockgate's hook.

  drifted.py --binary LOCKGATE --modules NODE_MODULES [--client NAME]... [--seed N] [--keep DIR]

Each client makes the calls of 17 cases of drift.py in one session, each on a file of its own: calls that the hook
rewrites, passes and denies, and calls in files whose line ends differ from line to line. The bytes of each file must be
those that the model predicts. Two controls: one more call whose prediction is altered in one byte must differ, and
without the hook some of the rewritten calls must end otherwise. Exits with 1 if a file or a control is not as it must be.
"""

import argparse
import collections
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parents[1] / "eval"))
import eval as generators  # noqa: E402
import hooks  # noqa: E402
import roots  # noqa: E402
from clients import Codex, GeminiCli, OpenCode  # noqa: E402
from run import Bench, isolate  # noqa: E402

CLIENTS = [Codex, GeminiCli, OpenCode]
# Cases of each host, by what becomes of the call.
QUOTAS = {"rewritten": 7, "passed": 4, "denied": 3, "mixed line ends": 3}
# Enough cases of drift.py to fill the quotas with different kinds.
CANDIDATES = 200
# The line-end rules of a tool show only where the hook does not deny such an edit.
POLICY = "quality_gates: {}\nhooks: { bytes: report }\n"


class Pick:
    """A case, what becomes of its call, and the bytes that the model of the tool predicts."""

    def __init__(self, case, fate, predicted):
        self.case, self.fate, self.predicted = case, fate, predicted.encode()
        self.label = f"{case['kind']}: {case['variant']}"


def predict(project, host, case, number):
    """What becomes of the call of a case, and the text after it."""
    result = project.case(host, case, number)
    fate = {"rewritten": "rewritten", "as called": "passed", "denied": "denied", "own call": "denied"}.get(result["way"])
    # The call that a denial proposes is not made here.
    text = result["after"] if fate in ("rewritten", "passed") and result["after"] is not None else case["before"]
    return fate, text


def pick(host, cases, binary):
    """Fills the quotas; each next case of a quota is of the kind that it has least often."""
    project = hooks.Project(binary)
    Path(project.root, "quality.yaml").write_text(POLICY)
    found = collections.defaultdict(list)
    for number, case in enumerate(cases):
        fate, text = predict(project, host, case, number)
        found[fate].append(Pick(case, fate, text))
        altered = hooks.mixed(case)
        fate, text = predict(project, host, altered, f"mixed-{number}")
        if fate in ("rewritten", "passed") and text != altered["before"]:
            found["mixed line ends"].append(Pick(altered, "mixed line ends", text))
    shutil.rmtree(project.dir)
    picked = []
    for fate, quota in QUOTAS.items():
        kinds = collections.Counter()
        for _ in range(min(quota, len(found[fate]))):
            one = min(found[fate], key=lambda pick: kinds[pick.case["kind"]])
            found[fate].remove(one)
            kinds[one.case["kind"]] += 1
            picked.append(one)
    return picked


def call_of(host, event):
    if host.name == "codex":
        return {"name": "apply_patch", "custom": event["tool_input"]["command"]}
    return {"name": event.get("tool_name") or event["tool"], "input": event.get("tool_input") or event["args"]}


def play(client, host, picks, binary, is_guarded):
    """The bytes of each file after the client made the calls of all cases, and its run."""
    folder = Path(tempfile.mkdtemp(prefix="agent-"))
    bench = Bench(client, binary, folder)
    bench.write(bench.project / "quality.yaml", POLICY)
    if is_guarded:
        bench.init("--hooks")
    files, steps = [], []
    for number, one in enumerate(picks):
        file = bench.project / f"case{number}{Path(one.case['path']).suffix or '.txt'}"
        bench.write(file, one.case["before"])
        files.append(file)
        steps.append(call_of(host, host.event(str(bench.project), str(file), one.case, number)))
    run = bench.play(*steps)
    after = [file.read_bytes() for file in files]
    shutil.rmtree(folder, ignore_errors=True)
    return after, run


def altered(one):
    """The same case with a prediction that is wrong in its last byte."""
    wrong = Pick(one.case, one.fate, "")
    wrong.predicted = one.predicted[:-1] + bytes([one.predicted[-1] ^ 1])
    return wrong


def confirm(client, host, cases, options):
    """Runs one client, prints what differs and one line in the end, and says whether all is as it must be."""
    picks = pick(host, cases, options.binary)
    rewritten = [one for one in picks if one.fate == "rewritten"]
    everything = [*picks, altered(rewritten[0])]
    after, run = play(client, host, everything, options.binary, True)
    bare, _ = play(client, host, rewritten, options.binary, False)
    results = run.model.results()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{client.name}-drifted.json").write_text(json.dumps(run.model.requests, indent=1, ensure_ascii=False))
    same = collections.Counter()
    for number, (one, found) in enumerate(zip(picks, after)):
        same[one.fate] += found == one.predicted
        if found != one.predicted:
            told = results[number] if number < len(results) else None
            print(f"DIFFERS  {client.name} {one.fate} {one.case['id']} {one.label}\n    predicted {one.predicted!r}\n    found {found!r}\n    the model was sent {told!r}")
    is_control_good = after[-1] != everything[-1].predicted
    needed = sum(found != one.predicted for one, found in zip(rewritten, bare))
    of = collections.Counter(one.fate for one in picks)
    counts = "  ".join(f"{fate} {same[fate]}/{of[fate]}" for fate in QUOTAS)
    is_good = same == of and dict(of) == QUOTAS and len(results) == len(everything) and is_control_good and needed > 0
    print(f"{'passed' if is_good else 'FAILED':8} {client.name} {client.version()}  {counts}  calls answered {len(results)}/{len(everything)}  "
          f"altered prediction {'differs' if is_control_good else 'AGREES'}  rewritten ones that end otherwise without the hook {needed}/{len(rewritten)}", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("--modules", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    isolate()
    root_arguments, _ = roots.arguments(), roots.found()
    with tempfile.TemporaryDirectory(prefix="lockgate-drifted-") as folder:
        corpus = argparse.Namespace(dir=folder, keep=False, count=CANDIDATES)
        path = generators.generate("drift", options.seed, corpus, root_arguments)
        cases = [json.loads(line) for line in Path(path).read_text(encoding="utf8").splitlines()]
    clients = [kind(options.modules) for kind in CLIENTS if not options.client or kind.name in options.client]
    good = [confirm(client, hooks.HOSTS[client.name], cases, options) for client in clients]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
