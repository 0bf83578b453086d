#!/usr/bin/env python3
"""Judges how often a drifted edit of a host's own tool lands right with `lockgate hook` in front of it.

    hooks.py                                   2,000 cases of drift.py as events of Codex, Gemini CLI and opencode
    hooks.py --count 200                       as many cases for each host as `tests/run` takes
    hooks.py --only codex --show 10            one host, with the first ten faults
    hooks.py --ends mixed                      the same files with LF and CRLF in turn; no line outside of the edit may change

Each case is one event before the call. A model of the host's tool then makes the call: as it was, or as the answer
rewrote it. A denial that proposes a call of lockgate's own is counted apart: that call is made, too.

The models take a quote only as the tool's strictest step does, except that of Codex, which has all four steps of its
search. Cases and results stay in --dir. Exits with 1 below the bar, with 2 when nothing could be run.
"""
import argparse, collections, concurrent.futures, difflib, json, os, random, re, shutil, subprocess, sys, tempfile, time, unicodedata
sys.dont_write_bytecode = True
import eval as generators, kinds, roots

HARM = ('WRONG', 'UNSAFE', 'carried', 'damaged')
APPLY = 0.95
score = kinds.load('score')


class Refused(Exception):
    """The tool refuses the call."""


def unix(text): return text.replace('\r\n', '\n')


def once(text, old, new):
    if not old or text.count(old) != 1: raise Refused(f'{text.count(old)} occurrences')
    return text.replace(old, new, 1)


class Gemini:
    """`replace`: compares with LF, and writes CRLF everywhere if the file has any."""
    name = 'gemini'

    def event(self, root, path, case, number):
        edit = case['op']['edits'][0]
        return dict(session_id='s', cwd=root, hook_event_name='BeforeTool', timestamp=str(number), tool_name='replace',
                    tool_input=dict(file_path=path, instruction='edit', old_string=edit['old'], new_string=edit['new']))

    def call(self, event, answer):
        return (answer.get('hookSpecificOutput') or {}).get('tool_input') or event['tool_input']

    def denial(self, answer): return answer.get('reason') if answer.get('decision') == 'deny' else None

    def apply(self, text, call):
        after = once(unix(text), unix(call['old_string']), unix(call['new_string']))
        return after.replace('\n', '\r\n') if '\r\n' in text else after


class OpenCode:
    """`edit`: gives both texts CRLF if the file has any, and compares with the file as it is."""
    name = 'opencode'

    def event(self, root, path, case, number):
        edit = case['op']['edits'][0]
        return dict(hook_event_name='tool.execute.before', tool='edit', sessionID='s', callID=str(number), directory=root,
                    args=dict(filePath=path, oldString=edit['old'], newString=edit['new']))

    def call(self, event, answer): return answer.get('args') or event['args']

    def denial(self, answer): return answer.get('deny')

    def apply(self, text, call):
        end = lambda part: unix(part).replace('\n', '\r\n') if '\r\n' in text else unix(part)
        return once(text, end(call['oldString']), end(call['newString']))


class Codex:
    """`apply_patch`: looks for the lines in four steps, each more tolerant, and takes the first place."""
    name = 'codex'

    def event(self, root, path, case, number):
        edit = case['op']['edits'][0]
        lines = lambda text: unix(text).removesuffix('\n').split('\n')
        old, new, body = lines(edit['old']), lines(edit['new']), []
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == 'equal': body += [' ' + line for line in old[a:b]]
            else: body += ['-' + line for line in old[a:b]] + ['+' + line for line in new[c:d]]
        patch = '\n'.join(['*** Begin Patch', '*** Update File: ' + os.path.basename(path), '@@', *body, '*** End Patch'])
        return dict(session_id='s', turn_id='t', cwd=root, hook_event_name='PreToolUse', tool_name='apply_patch', model='m',
                    permission_mode='default', tool_input=dict(command=patch), tool_use_id=str(number))

    def call(self, event, answer):
        specific = answer.get('hookSpecificOutput') or {}
        if 'updatedInput' in specific and specific.get('permissionDecision') != 'allow': raise Refused('Codex reads a rewrite only with `allow`')
        return specific.get('updatedInput') or event['tool_input']

    def denial(self, answer):
        specific = answer.get('hookSpecificOutput') or {}
        return specific.get('permissionDecisionReason') if specific.get('permissionDecision') == 'deny' else None

    def chunks(self, patch):
        found = []
        for line in patch.split('\n')[2:-1]:
            if line.startswith('@@') or not found: found.append(dict(header=line[3:] or None, lines=[], end=False))
            if line.startswith('@@'): continue
            if line == '*** End of File': found[-1]['end'] = True
            elif line[:1] in (' ', '-', '+') or line == '': found[-1]['lines'].append((line[:1] or ' ', line[1:]))
            else: raise Refused(f'not a line of a patch: {line}')
        return found

    def apply(self, text, call):
        patch = call['command']
        if not patch.startswith('*** Begin Patch\n') or not patch.endswith('\n*** End Patch'): raise Refused('no patch')
        ends = re.findall(r'\r?\n', text)
        end = ends[0] if ends else '\n'
        whole = text.split('\n')
        if whole[-1] == '': whole.pop()
        lines = [line.removesuffix('\r') for line in whole]
        at, changes = 0, []
        for chunk in self.chunks(patch):
            if chunk['header']:
                place = self.seek(lines, [chunk['header']], at, False)
                if place is None: raise Refused('no header')
                at = place + 1
            parts, quoted = list(chunk['lines']), lambda: [text for mark, text in parts if mark != '+']
            if not quoted():
                changes.append((len(lines), 0, parts)); continue
            place = self.seek(lines, quoted(), at, chunk['end'])
            if place is None and quoted()[-1] == '':
                last = lambda but: max((i for i, (mark, _) in enumerate(parts) if mark != but), default=None)
                old, new = last('+'), last('-')
                if new is not None and parts[new][1] != '': new = None
                # A line of the context that only one side loses is added or removed.
                kept = lambda i, mark: mark if i not in (old, new) else '' if old == new or mark != ' ' else '+' if i == old else '-'
                parts = [(kept(i, mark), text) for i, (mark, text) in enumerate(parts) if kept(i, mark)]
                place = self.seek(lines, quoted(), at, chunk['end'])
            if place is None: raise Refused('lines not found')
            changes.append((place, len(quoted()), parts)); at = place + len(quoted())
        kept = list(whole)
        for place, length, parts in sorted(changes, key=lambda change: change[0], reverse=True):
            # Lines of the context stay as they are in the file; added ones get the first line end.
            new, next_old = [], place
            for mark, text in parts:
                if mark == '+': new.append(text + end.removesuffix('\n')); continue
                if mark == ' ': new.append(whole[next_old])
                next_old += 1
            kept[place:place + length] = new
        return '\n'.join(kept) + '\n'

    STEPS = (lambda s: s, lambda s: s.rstrip(), lambda s: s.strip(), lambda s: Codex.plain(s.strip()))

    @staticmethod
    def plain(text):
        dashes, single, double = '\u2010\u2011\u2012\u2013\u2014\u2015\u2212', '\u2018\u2019\u201a\u201b', '\u201c\u201d\u201e\u201f'
        table = {ord(c): '-' for c in dashes} | {ord(c): "'" for c in single} | {ord(c): '"' for c in double}
        return ''.join(' ' if unicodedata.category(c) == 'Zs' else c for c in text.translate(table))

    def seek(self, lines, old, start, at_end):
        if len(old) > len(lines): return None
        first = len(lines) - len(old) if at_end else start
        for step in self.STEPS:
            wanted = [step(line) for line in old]
            for at in range(first, len(lines) - len(old) + 1):
                if [step(line) for line in lines[at:at + len(old)]] == wanted: return at
        return None


def mixed(case):
    """The case with a file whose line ends differ from line to line, and with quotes that have LF."""
    rng = random.Random(case['id'])
    lines = unix(case['before']).split('\n')
    before = ''.join(line + rng.choice(('\n', '\r\n')) for line in lines[:-1]) + lines[-1]
    edits = [dict(old=unix(edit['old']), new=unix(edit['new'])) for edit in case['op']['edits']]
    return dict(case, before=before, lf=dict(case, before=unix(case['before']), expect=with_lf(case['expect'])), op=dict(case['op'], edits=edits))


def with_lf(value):
    if isinstance(value, str): return unix(value)
    if isinstance(value, list): return [with_lf(item) for item in value]
    return {key: with_lf(item) for key, item in value.items()} if isinstance(value, dict) else value


def outcome(case, result):
    """The outcome of the text; with mixed line ends, lines outside of the edit must also keep theirs."""
    if 'lf' not in case: return score.outcome(case, result)
    found = score.outcome(case['lf'], dict(result, after=with_lf(result['after'])))
    if found not in ('right', 'right~') or not case['expect'].get('true_range'): return found
    first, last = case['expect']['true_range']
    before, after = case['before'].splitlines(True), result['after'].splitlines(True)
    tail = before[last + 1:]
    # Blank lines beside the edit may come or go.
    is_kept = after[:max(0, first - 1)] == before[:max(0, first - 1)] and (not tail or [x.rstrip('\r\n') + '|' + x[-2:] for x in after[-len(tail):]] == [x.rstrip('\r\n') + '|' + x[-2:] for x in tail])
    return found if is_kept else 'damaged'


HOSTS = {host.name: host for host in (Codex(), Gemini(), OpenCode())}


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--seed', default='1')
    ap.add_argument('--count', type=int, default=2000, help='cases for each host')
    ap.add_argument('--only', choices=sorted(HOSTS), help='one of the hosts')
    ap.add_argument('--dir', default=os.path.join(roots.TARGET, 'eval'))
    ap.add_argument('--keep', action='store_true', help='do not make a corpus anew that is there')
    ap.add_argument('--binary', default=os.path.join(roots.TARGET, 'release', 'lockgate'))
    ap.add_argument('--show', type=int, default=0, help='faults to show for each host')
    ap.add_argument('--ends', choices=('same', 'mixed'), default='same')
    ap.add_argument('--jobs', type=int, default=2)
    return ap.parse_args()


class Project:
    """A project and a user of its own, for one worker."""

    def __init__(self, binary):
        self.dir = tempfile.mkdtemp(prefix='hooks')
        self.root = os.path.join(self.dir, 'root'); os.mkdir(self.root)
        self.binary = os.path.abspath(binary)
        self.env = dict(os.environ, HOME=self.dir, XDG_STATE_HOME=os.path.join(self.dir, 'state'), NO_COLOR='1')
        with open(os.path.join(self.root, 'quality.yaml'), 'w') as f: f.write('quality_gates: {}\nhooks: { bytes: deny }\n')

    def run(self, arguments, text):
        return subprocess.run([self.binary, *arguments], input=text, capture_output=True, text=True, cwd=self.root, env=self.env)

    def case(self, host, case, number):
        path = os.path.join(self.root, 'case' + (os.path.splitext(case['path'])[1] or '.txt'))
        with open(path, 'w', encoding='utf8', newline='') as f: f.write(case['before'])
        read = lambda: open(path, encoding='utf8', newline='').read()
        event = host.event(self.root, path, case, number)
        started = time.perf_counter()
        output = self.run(['hook'], json.dumps(event))
        took = (time.perf_counter() - started) * 1000
        result = dict(id=case['id'], ms=took, status='rejected', after=None, way='refused', answer=output.stdout[:3000], error=output.stderr[:300])
        if output.returncode != 0 or read() != case['before']: result['way'] = 'failed'
        answer = json.loads(output.stdout) if output.stdout.strip() else {}
        denial = host.denial(answer)
        if denial is None:
            try:
                call = host.call(event, answer)
                after = host.apply(case['before'], call)
                changed = after != case['before']
                result.update(status='applied' if changed else 'rejected', after=after if changed else None,
                              way='rewritten' if answer else 'as called')
            except Refused as rejection: result['rejection'] = str(rejection)
        else:
            own = re.search(r'on standard input:\n(\{.*\})', denial)
            if own and self.run(['edit', '--file', '-'], own[1]).returncode == 0 and read() != case['before']:
                result.update(status='applied', after=read(), way='own call')
            else: result['way'] = 'denied'
        os.unlink(path)
        return result


def judge(host, cases, o):
    """Runs all cases as events of one host, prints a line, and says whether it reaches the bar."""
    free = [Project(o.binary) for _ in range(o.jobs)]

    def one(numbered):
        number, case = numbered
        project = free.pop()
        try: return case, project.case(host, case, number)
        finally: free.append(project)
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool: results = list(pool.map(one, enumerate(cases)))
    for project in free: shutil.rmtree(project.dir)
    total, own, must, ways, faults, by_kind = collections.Counter(), 0, 0, collections.Counter(), [], collections.defaultdict(collections.Counter)
    with open(os.path.join(o.dir, f'hooks_{host.name}.results.jsonl'), 'w', encoding='utf8') as f:
        for case, result in results:
            found = outcome(case, result)
            f.write(json.dumps(dict(result, outcome=found, kind=case['kind'])) + '\n')
            is_own = result['way'] == 'own call'
            total[found] += 1; ways[result['way']] += 1
            if case['expect']['should'] == 'apply':
                must += 1
                is_right = found in ('right', 'right~')
                own += is_right and is_own
                total['applied'] += is_right and not is_own
                by_kind[case['kind']]['applied' if is_right and not is_own else 'own call' if is_right else found] += 1
            if found in HARM or result['way'] == 'failed': faults.append(f'{found:8s}{case["id"]} ({case["lang"]}, {case["kind"]}, {case["variant"]}) {result["way"]}')
    share = total['applied'] / max(1, must)
    times = sorted(result['ms'] for _, result in results)
    # In a mixed file, many tools would change other line ends, so only the call of the denial is right.
    reached = share if o.ends == 'same' else (total['applied'] + own) / max(1, must)
    ok = reached >= APPLY and not any(total[k] for k in HARM) and not ways['failed']
    print(f'{host.name:9s} applied {100 * share:.1f}% of {must} (with the call of the denial {100 * (total["applied"] + own) / max(1, must):.1f}%)  '
          f'wrong {total["WRONG"]}  unsafe {total["UNSAFE"]}  harmed {total["carried"] + total["damaged"]}  '
          f'p50 {times[len(times) // 2]:.1f} ms  p99 {times[int(len(times) * .99)]:.1f} ms  {dict(ways)}  {"OK" if ok else "BELOW THE BAR"}', flush=True)
    for fault in faults[:max(10, o.show)]: print('    ' + fault)
    if o.show:
        for kind, counts in sorted(by_kind.items()): print(f'    {kind:20s}{dict(counts)}')
    return ok


def main():
    o = arguments()
    if not os.path.exists(o.binary): print(f'no binary at {o.binary}', file=sys.stderr); sys.exit(2)
    root_arguments, (_, missing) = roots.arguments(), roots.found()
    for lang in missing: print(f'missing: sources of {lang}', file=sys.stderr)
    if not root_arguments: sys.exit(2)
    os.makedirs(o.dir, exist_ok=True)
    corpus = generators.generate('drift', o.seed, o, root_arguments)
    cases = [json.loads(line) for line in open(corpus, encoding='utf8')][:o.count]
    if o.ends == 'mixed': cases = [mixed(case) for case in cases]
    good = [judge(host, cases, o) for name, host in HOSTS.items() if o.only in (None, name)]
    sys.exit(0 if all(good) else 1)


if __name__ == '__main__':
    main()
