#!/usr/bin/env python3
"""Judges how often a drifted edit lands right: makes corpora of this machine's sources and runs each through a server.

    eval.py                                          one seed, 1,000 cases of each generator
    eval.py --seeds 1,2,3,4,5 --count 2000           as many as it takes to be sure
    eval.py --keep                                   takes the corpora that lie in the folder already

Cases and results stay in --dir. Exits with 1 when a corpus misses its bar, with 2 when nothing could be run.
"""
import argparse, collections, json, os, re, subprocess, sys
sys.dont_write_bytecode = True
import kinds, roots

HERE = os.path.dirname(os.path.abspath(__file__))
HARM = ('wrong', 'unsafe', 'harmed', 'lied')
APPLY = 0.99     # the bar of run.py; for the kinds of our own `either` is only reported
score = kinds.load('score')


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--seeds', default='1')
    ap.add_argument('--count', type=int, default=1000, help='cases of drift.py and of kinds.py for each seed')
    ap.add_argument('--only', choices=('drift', 'own'), help='one of the generators')
    ap.add_argument('--dir', default=os.path.join(roots.TARGET, 'eval'))
    ap.add_argument('--keep', action='store_true', help='do not make a corpus anew that is there')
    ap.add_argument('--root', action='append', help='LANG=DIR::GLOBS; otherwise what roots.py finds')
    ap.add_argument('--binary', default=os.path.join(roots.TARGET, 'release', 'lockgate'))
    return ap.parse_args()


def generate(corpus, seed, o, root_arguments):
    """The path of a corpus, made when it is not there."""
    cases = os.path.join(o.dir, f'{corpus}_{seed}.jsonl')
    if o.keep and os.path.exists(cases): return cases
    maker = os.path.join(kinds.SHARED, 'drift.py') if corpus == 'drift' else os.path.join(HERE, 'kinds.py')
    generated = subprocess.run([sys.executable, maker, '--seed', seed, '--count', str(o.count), '--out', cases + '.part', *root_arguments], stderr=subprocess.PIPE, text=True)
    if generated.returncode: sys.exit(f'{maker}: {generated.stderr}')
    os.replace(cases + '.part', cases)
    return cases


def judge(corpus, cases, o):
    """Runs one corpus, prints one line, and says whether it reaches the bar."""
    results = cases.replace('.jsonl', '.results.jsonl')
    run = subprocess.run([sys.executable, os.path.join(kinds.SHARED, 'run.py'), cases, results, '--', o.binary, 'serve', '--tools', 'all', '--root', '{root}'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(cases.replace('.jsonl', '.report.txt'), 'w', encoding='utf8') as f: f.write(run.stdout + run.stderr)
    figures = re.search(r'lied (\d+) .*p99 ([\d.]+) ms', run.stdout)
    if not figures:
        print(f'{os.path.basename(cases):22s} did not run: {(run.stderr.strip() or "no report").splitlines()[-1]}')
        return False
    got = count_kinds(cases, results, int(figures[1]))
    ok = run.returncode == 0 if corpus == 'drift' else got['apply'] >= APPLY and not any(got[k] for k in HARM)
    print(f'{os.path.basename(cases):22s} right apply {100 * got["apply"]:.1f}%  right either {100 * got["either"]:.1f}%  '
          + '  '.join(f'{k} {got[k]}' for k in HARM) + f'  p99 {figures[2]} ms  ({got["cases"]} cases)  {"OK" if ok else "BELOW THE BAR"}', flush=True)
    for line in got['faults'][:10]: print('    ' + line)
    return ok


def count_kinds(cases, results, lied):
    by = {c['id']: c for c in map(json.loads, open(cases, encoding='utf8'))}
    groups, faults = collections.defaultdict(collections.Counter), []
    for r in map(json.loads, open(results, encoding='utf8')):
        c = by[r['id']]; o = score.outcome(c, r)
        groups[c['expect']['should']][o] += 1
        if o in ('WRONG', 'UNSAFE', 'carried', 'damaged'): faults.append(f'{o:8s}{c["id"]} ({c["lang"]}, {c["variant"]})')
    every = sum(groups.values(), collections.Counter())
    share = lambda g: (g['right'] + g['right~']) / max(1, sum(g.values()))
    return dict(apply=share(groups['apply']), either=share(groups['either']), wrong=every['WRONG'], unsafe=every['UNSAFE'],
                harmed=every['carried'] + every['damaged'], lied=lied, cases=sum(every.values()), faults=faults)


def main():
    o = arguments()
    if not os.path.exists(o.binary): print(f'no binary at {o.binary}', file=sys.stderr); sys.exit(2)
    root_arguments, missing = [x for r in o.root or [] for x in ('--root', r)], []
    if not root_arguments:
        root_arguments, (_, missing) = roots.arguments(), roots.found()
        for lang in missing: print(f'missing: sources of {lang}', file=sys.stderr)
    if not root_arguments: sys.exit(2)
    os.makedirs(o.dir, exist_ok=True)
    good = [judge(corpus, generate(corpus, seed, o, root_arguments), o) for corpus in ('drift', 'own') if o.only in (None, corpus) for seed in o.seeds.split(',')]
    sys.exit(0 if all(good) else 1)


if __name__ == '__main__':
    main()
