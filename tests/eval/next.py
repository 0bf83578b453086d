#!/usr/bin/env python3
"""Judges what rejections propose: a proposed edit, sent back as it is, must do what was meant; a proposed read must work.

    next.py cases.jsonl... [--binary target/release/lockgate] [--limit N] [--kinds a,b]

Every case goes to edit_file, edit_code and safe_edit_file, each time on a fresh file. Where the rejection has `next`:
an edit must be right, and never be proposed where nothing may be applied; a read must succeed and write nothing.
Exits with 1 on any fault, with 2 when nothing could be run.
"""
import argparse, collections, json, os, shutil, sys, tempfile
sys.dont_write_bytecode = True
import kinds, roots

run, score = kinds.load('run'), kinds.load('score')

TOOLS = {
    'edit_file': lambda path, old, new: dict(file_path=path, old_string=old, new_string=new),
    'edit_code': lambda path, old, new: dict(file_path=path, search_context=old, new_content=new),
    'safe_edit_file': lambda path, old, new: dict(path=path, search=old, replace=new, mode='strict'),
}
READ = 'read_content_lines'


class Client:
    """A server over a folder of its own, and one file there at a time."""

    def __init__(self, binary):
        self.root = tempfile.mkdtemp(prefix='next')
        with open(os.path.join(self.root, 'quality.yaml'), 'w') as f: f.write('quality_gates: {}\n')
        self.wire = run.Wire([binary, 'serve', '--tools', 'all', '--root', self.root])
        listed = self.wire.call('tools/list', {})['result']['tools']
        self.tools = {t['name'] for t in listed}

    def put(self, case):
        self.path = os.path.join(self.root, 'case' + (os.path.splitext(case['path'])[1] or '.txt'))
        if os.path.exists(self.path): os.unlink(self.path)
        with open(self.path, 'w', encoding='utf8', newline='') as f: f.write(case['before'])

    def text(self):
        with open(self.path, encoding='utf8', newline='') as f: return f.read()

    def call(self, tool, arguments):
        """-> (whether it succeeded, structuredContent)"""
        m = self.wire.call('tools/call', dict(name=tool, arguments=arguments)); r = m.get('result') or {}
        return 'error' not in m and not r.get('isError'), r.get('structuredContent') or {}

    def close(self):
        self.wire.p.stdin.close(); self.wire.p.wait(10); shutil.rmtree(self.root)


def judge(client, case, tool):
    """-> (what happened, the fault or None)"""
    client.put(case); edit = case['op']['edits'][0]; should = case['expect']['should']
    ok, answer = client.call(tool, TOOLS[tool](client.path, edit['old'], edit['new']))
    if ok: return 'accepted', None
    if client.text() != case['before']: return 'refused', 'a rejection wrote'
    step = answer.get('next')
    if not step: return 'refused', None
    name, arguments = step.get('tool'), step.get('arguments')
    if not isinstance(arguments, dict): return 'refused', f'next has no arguments: {json.dumps(step)[:200]}'
    if name == READ:
        ok, response = client.call(name, arguments)
        if client.text() != case['before']: return 'read', 'the proposed read wrote'
        return 'read', None if ok else f'the proposed read fails: {response.get("code")} {response.get("message")}'
    if name not in TOOLS: return 'refused', f'next is no edit and no read: {name}'
    ok, response_again = client.call(name, arguments)
    if should == 'reject': return 'edit', 'an edit is proposed where nothing may be applied'
    after = client.text()
    if after == case['before']: return 'edit', f'the proposed edit does nothing: {response_again.get("code") or response_again.get("status")} {response_again.get("message")}'
    outcome = score.outcome(case, dict(status='applied', after=after))
    return 'edit', None if ok and outcome in ('right', 'right~') else f'the proposed edit is {outcome}' + ('' if ok else ', and said to be refused')


def report(tool, counts):
    print(f'\n{tool:18s} {"accepted":>9s} {"refused":>9s} {"reads":>7s} {"edits":>7s} {"right":>7s} {"faults":>7s}')
    total = collections.Counter()
    for kind, c in counts.items():
        total.update(c); row(kind, c)
    row('all', total)


def row(name, c):
    print(f'{name:18s} {c["accepted"]:9d} {c["refused"]:9d} {c["read"]:7d} {c["edit"]:7d} {c["edit right"]:7d} {c["fault"]:7d}')


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('cases', nargs='+')
    ap.add_argument('--binary', default=os.path.join(roots.TARGET, 'release', 'lockgate'))
    ap.add_argument('--limit', type=int, help='so many cases of each kind and file'); ap.add_argument('--kinds')
    ap.add_argument('--faults', help='a file for the faults, one JSON object a line')
    o = ap.parse_args()
    if not os.path.exists(o.binary): print(f'no binary at {o.binary}', file=sys.stderr); sys.exit(2)
    client = Client(o.binary)
    tools = [t for t in TOOLS if t in client.tools]
    for t in TOOLS.keys() - client.tools: print(f'missing: the tool {t}', file=sys.stderr)
    if READ not in client.tools: print(f'missing: the tool {READ}', file=sys.stderr)
    counts = {t: collections.defaultdict(collections.Counter) for t in tools}; faults = []
    for path in o.cases:
        kind_counts = collections.Counter()
        for case in map(json.loads, open(path, encoding='utf8')):
            kind = case['kind']; kind_counts[kind] += 1
            if o.kinds and kind not in o.kinds.split(',') or o.limit and kind_counts[kind] > o.limit: continue
            for tool in tools:
                outcome, failure = judge(client, case, tool)
                c = counts[tool][kind]; c[outcome] += 1
                if failure: c['fault'] += 1; faults.append(dict(id=case['id'], tool=tool, fault=failure, variant=case['variant'], lang=case['lang']))
                elif outcome == 'edit': c['edit right'] += 1
    client.close()
    for tool in tools: report(tool, counts[tool])
    for f in faults[:20]: print(f'FAULT {f["tool"]} {f["id"]} ({f["lang"]}, {f["variant"]}): {f["fault"]}')
    if len(faults) > 20: print(f'and {len(faults) - 20} more faults')
    if o.faults:
        with open(o.faults, 'w', encoding='utf8') as out: out.writelines(json.dumps(f, ensure_ascii=False) + '\n' for f in faults)
    sys.exit(2 if not tools else 1 if faults else 0)


if __name__ == '__main__':
    main()
