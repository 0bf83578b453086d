#!/usr/bin/env python3
"""Provokes rejections of different kinds, and makes the next call that each answer alone suggests.

    rejections.py [--binary target/debug/lockgate] [--least 90] [--only NAME] [--verbose]

Each case of rejections.json is a few files, perhaps the calls `first` and what somebody else then wrote (`then`), and one
call, which must be refused with the named code. The next call is built
from the text of the answer and from the refused call, by the rules of `suggested`; nothing else is known. A proposed read
or list must succeed; a proposed edit must succeed and write. Exits with 1 if fewer than `--least` of 100 succeed, or if a
rejection writes.
"""
import argparse, json, os, re, shutil, sys, tempfile
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), 'trials'))
import client

READS = ('read_content_lines', 'get_content', 'search_content', 'list_content', 'ai_get_code_context', 'list_edits')


class Server(client.Server):
    """A server over a folder of its own; it has every tool and sends the text alone, unless other arguments are given."""

    def __init__(self, binary, arguments=('--tools', 'all', '--structured', 'off'), name='rejections'):
        self.dir = tempfile.mkdtemp(prefix='rejections'); self.root = os.path.join(self.dir, 'root'); os.mkdir(self.root)
        environment = dict(os.environ, HOME=self.dir, XDG_STATE_HOME=os.path.join(self.dir, 'state'),
                           XDG_CACHE_HOME=os.path.join(self.dir, 'cache'), XDG_CONFIG_HOME=os.path.join(self.dir, 'config'))
        super().__init__([binary, 'serve', '--root', self.root, *arguments], environment, name=name)

    def call(self, tool, arguments):
        """-> (whether it succeeded, the text)"""
        result = self.ask('tools/call', dict(name=tool, arguments=arguments))
        return not result.get('isError'), '\n'.join(part.get('text', '') for part in result['content'])

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, 'rb') as f: found[os.path.relpath(path, self.root)] = f.read()
        return found

    def close(self):
        self.stop(); shutil.rmtree(self.dir)


def edits_of(arguments):
    """-> the object of the call that says what to edit: the call itself, or its only entry"""
    edits = arguments.get('edits')
    return edits[0] if isinstance(edits, list) and len(edits) == 1 and isinstance(edits[0], dict) else arguments


def suggested(text, tool, arguments):
    """-> (tool, arguments) of the next call that an answer suggests, or None"""
    for line in text.split('\n'):
        if line.startswith('next: '):
            call = json.loads(line[len('next: '):])
            return call['tool'], call['arguments']
    again = json.loads(json.dumps(arguments)); fields = edits_of(again)
    narrowed = re.search(r'`within: ("(?:[^"\\]|\\.)*")`', text)
    if narrowed:
        fields['within'] = json.loads(narrowed.group(1))
        return tool, again
    before = re.search(r'for line (\d+) that is ("(?:[^"\\]|\\.)*")', text)
    if before:
        for search, replace in (('search', 'replace'), ('old_string', 'new_string'), ('search_context', 'new_content')):
            if search in fields:
                line = json.loads(before.group(2)) + '\n'
                fields[search], fields[replace] = line + fields[search], line + fields[replace]
                return tool, again
    sent = re.search(r'\bsend (?:it again with )?`?([a-z_]+)`?: ([^\s;,]+)', text)
    if sent:
        value = sent.group(2).strip('`')
        fields[sent.group(1)] = int(value) if re.fullmatch(r'-?\d+', value) else value
        return tool, again
    older = re.search(r'undo the next older edit, (\S+) of', text)
    if older: return tool, dict(again, edit_id=older.group(1))
    if 'send the request again' in text: return tool, again
    return None


def judge(server, case):
    """-> the fault of a case, or None"""
    for name in os.listdir(server.root):
        path = os.path.join(server.root, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    for path, text in case.get('files', {}).items():
        whole = os.path.join(server.root, path); os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, 'wb') as f: f.write(text.encode('latin-1') if path.endswith('.bin') else text.encode())
    known = dict(root=server.root)
    fill = lambda value: json.loads(re.sub(r'\{(root|version)\}', lambda m: known[m.group(1)], json.dumps(value)))
    for tool, arguments in case.get('first', []):
        succeeded, text = server.call(tool, fill(arguments))
        if not succeeded: return f'the call before it is refused: {text}'
        version = re.search(r'\bversion ([0-9a-f]{12})\b', text)
        if version: known['version'] = version.group(1)
    for path, text in case.get('then', {}).items():
        with open(os.path.join(server.root, path), 'w', encoding='utf8') as f: f.write(text)
    before = server.files()
    tool, arguments = case['call']; arguments = fill(arguments)
    succeeded, text = server.call(tool, arguments)
    if succeeded: return f'not refused: {text}'
    if case['code'] not in text: return f'not {case["code"]}: {text}'
    if server.files() != before: return 'the rejection wrote'
    call = suggested(text, tool, arguments)
    if call is None: return f'no next call: {text}'
    succeeded, answer = server.call(*call)
    if not succeeded: return f'{json.dumps(call)[:300]} is refused: {answer}'
    if call[0] not in READS and server.files() == before: return f'{json.dumps(call)[:300]} wrote nothing: {answer}'
    return None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = os.environ.get('CARGO_TARGET_DIR') or os.path.join(HERE, '..', '..', 'target')
    ap.add_argument('--binary', default=os.path.join(target, 'debug', 'lockgate'))
    ap.add_argument('--least', type=int, default=90); ap.add_argument('--only'); ap.add_argument('--verbose', action='store_true')
    o = ap.parse_args()
    cases = json.load(open(os.path.join(HERE, 'rejections.json'), encoding='utf8'))
    if o.only: cases = [case for case in cases if o.only in case['name']]
    server = Server(o.binary); failed = 0
    for case in cases:
        fault = judge(server, case)
        if fault is not None: failed += 1
        if fault is not None or o.verbose: print(f'{"FAULT" if fault else "right"} {case["name"]}' + (f': {fault}' if fault else ''))
    server.close()
    print(f'{len(cases) - failed} of {len(cases)} rejections lead to a next call that succeeds')
    sys.exit(1 if (len(cases) - failed) * 100 < o.least * len(cases) else 0)


if __name__ == '__main__':
    main()
