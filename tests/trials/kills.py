"""SIGKILL at every system call of each way of writing, then a restart."""

import lab
import tracer
import ways

CHUNK = 40
# System calls that change, sync or lock something.
MATTERS = {"openat", "openat2", "write", "pwrite64", "fsync", "fdatasync", "renameat", "renameat2", "linkat", "unlinkat", "unlink",
           "mkdirat", "fcntl", "flock", "ftruncate", "fchmod"}


class KillRunner:
    """One way of writing, ready to be run again and again."""

    def __init__(self, options, name):
        self.lab = lab.Lab(options)
        self.way = ways.WAYS[name](self.lab)
        self.control = options.control
        if self.control:
            self.way = ways.naive(self.way)
            self.lab.command = lambda *words: [*words, "--root", str(self.lab.root)] if words[0] == ways.NAIVE[0] \
                else lab.Lab.command(self.lab, *words)
        self.lab.keep()

    def run(self, act):
        self.lab.reset()
        return self.lab.traced(self.way.words, self.way.stdin, act)

    def calls(self):
        traced = self.run(lambda *_: None)
        assert traced.exit == 0 and ways.found(self.lab, self.way)[1], (traced.exit, traced.stdout, traced.stderr)
        return traced.calls

    def kill(self, number):
        """Kills at that call; `None` when the program had ended before."""
        traced = self.run(lambda call, *_: "kill" if call == number else None)
        if not traced.acted:
            return None
        if traced.hang:
            return ["hangs"]
        at = f"{self.way.name}, call {number} ({traced.calls[number - 1]}): "
        wrong = ways.found(self.lab, self.way)[2]
        if not self.control:
            is_new, more = ways.restarted(self.lab, self.way)
            wrong += more
            answer = lab.answer(traced)
            if answer and answer.get("written") and not is_new:
                wrong.append("it said written, and is not")
            wrong += ways.goes_on(self.lab, self.way, is_new) if not wrong else []
        return [at + line for line in wrong]


def unit(options, name, numbers):
    runner = KillRunner(options, name)
    figures = {"kills": 0, "wrong": [], "ended": 0}
    for number in numbers:
        wrong = runner.kill(number)
        if wrong is None:
            figures["ended"] += 1
            continue
        figures["kills"] += 1
        figures["wrong"] += wrong
    runner.lab.remove()
    return figures


def sample(calls, most):
    """The last calls of each name that matters: before them is the start of the program, which is the same each time."""
    places = [number for number, name in enumerate(calls, 1) if name in MATTERS]
    places = places[len(places) // 3:]
    step = max(1, len(places) // most)
    return places[::-step][:most][::-1]


def jobs(options, names):
    """Chunks of numbers with a name each, which is the same whenever the trial is continued."""
    for name in names:
        runner = KillRunner(options, name)
        calls = runner.calls()
        runner.lab.remove()
        # Threads do not take the same turns each time: some numbers more, until all have ended before.
        numbers = sample(calls, options.count) if options.quick else range(1, len(calls) + len(calls) // 10)
        for start in range(0, len(numbers), CHUNK):
            yield f"{name} from {numbers[start]}", (options, name, list(numbers[start:start + CHUNK]))


def main():
    parser = lab.options(__doc__)
    parser.add_argument("--count", type=int, default=6, help="kills of each way in a sample")
    options = parser.parse_args()
    if tracer.available():
        lab.skip(tracer.available())
    with lab.workplace(options):
        progress = lab.Progress(options.progress, options.minutes)
        complete = progress.work(unit, jobs(options, lab.names(options, ways.WAYS, ways.WAYS)), options.workers)
    lab.finish(progress, complete, options.control)


if __name__ == "__main__":
    main()
