#!/usr/bin/env python3
"""What `lockgate hook` costs: whole processes, from the start to the end, beside `true` and loki-guardrails.

    benches/hooks.py [--count 100] [--binary target/release/lockgate] [--loki PATH/TO/loki] [--ruff PATH/TO/ruff]

The programs alternate within one run, with the same event of Claude Code on standard input. p50 and p95 are in milliseconds.
`pip install loki-guardrails==0.1.6` in an environment of its own gives `loki`; without it, its rows are left out.
"""
import argparse, json, os, shutil, statistics, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
LINES = 1000


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--count', type=int, default=100)
    ap.add_argument('--binary', default=os.path.join(HERE, '..', 'target', 'release', 'lockgate'))
    ap.add_argument('--loki', default=shutil.which('loki'))
    ap.add_argument('--ruff', default=shutil.which('ruff'))
    return ap.parse_args()


def source():
    body = ''.join(f'def f{n}(a, b):\n    """Adds {n}."""\n    return a + b + {n}\n\n\n' for n in range(LINES // 5))
    return body


class Project:
    """A git repository with one Python file of 1,000 lines."""

    def __init__(self, o, policy=None):
        self.dir = tempfile.mkdtemp(prefix='hooks')
        self.root = os.path.join(self.dir, 'root'); os.mkdir(self.root)
        # Of the folder of ruff, no other program is found.
        programs = os.path.join(self.dir, 'bin'); os.mkdir(programs)
        if o.ruff: os.symlink(os.path.abspath(o.ruff), os.path.join(programs, 'ruff'))
        self.env = dict(os.environ, HOME=self.dir, XDG_STATE_HOME=os.path.join(self.dir, 'state'),
                        XDG_CACHE_HOME=os.path.join(self.dir, 'cache'), PATH=programs + ':' + os.environ['PATH'])
        with open(os.path.join(self.root, 'app.py'), 'w') as f: f.write(source())
        if policy:
            with open(os.path.join(self.root, 'quality.yaml'), 'w') as f: f.write(policy)
        subprocess.run(['git', 'init', '-q', self.root], check=True)
        if policy: subprocess.run([o.binary, 'trust', '--yes', '.'], cwd=self.root, env=self.env, check=True, capture_output=True)

    def event(self, number, tool='Edit'):
        edit = dict(file_path=os.path.join(self.root, 'app.py'), old_string='return a + b + 77\n', new_string=f'return a * b + {number}\n', replace_all=False)
        return json.dumps(dict(session_id='s', transcript_path='', cwd=self.root, permission_mode='default', hook_event_name='PreToolUse',
                               tool_name=tool, tool_input=edit if tool == 'Edit' else dict(file_path=edit['file_path']), tool_use_id=f't{number}'))

    def run(self, command, text):
        started = time.perf_counter()
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.root, env=self.env)
        return (time.perf_counter() - started) * 1000, done


def main():
    o = arguments()
    o.binary = os.path.abspath(o.binary)
    plain = Project(o)
    rows = [('true', plain, ['true'], 'Edit'), ('lockgate, an event that is no edit', plain, [o.binary, 'hook'], 'Read'),
            ('lockgate, built-in gates', plain, [o.binary, 'hook'], 'Edit')]
    if o.ruff:
        ruff = Project(o, 'quality_gates:\n  python:\n    - tool: syntax\n    - tool: ruff\n')
        rows.append(('lockgate, ruff as well', ruff, [o.binary, 'hook'], 'Edit'))
    if o.loki:
        loki = [os.path.abspath(o.loki), 'protect', '--harness', 'claude']
        rows += [('loki-guardrails, an event that is no edit', plain, loki, 'Read'), ('loki-guardrails, protect', plain, loki, 'Edit')]
    times = {name: [] for name, *_ in rows}
    for number in range(o.count + 3):
        for name, project, command, tool in rows:
            took, done = project.run(command, project.event(number, tool))
            if done.returncode not in (0, 2): raise SystemExit(f'{name}: {done.returncode} {done.stderr}')
            # The first rounds fill the caches of the system.
            if number >= 3: times[name].append(took)
    # The daemon that loki-guardrails starts for a repository stays until it is stopped.
    if o.loki: plain.run([os.path.abspath(o.loki), '--root', plain.root, 'daemon', 'stop'], '')
    for project in {id(project): project for _, project, *_ in rows}.values(): shutil.rmtree(project.dir, ignore_errors=True)
    base = statistics.median(times['true'])
    print('| process | p50 | p95 | p50 above `true` |\n|---|---|---|---|')
    for name, took in times.items():
        took.sort()
        print(f'| {name} | {statistics.median(took):.1f} | {took[int(len(took) * .95)]:.1f} | {statistics.median(took) - base:.1f} |')
    print(f'\n{o.count} rounds, {LINES} lines')


if __name__ == '__main__':
    main()
