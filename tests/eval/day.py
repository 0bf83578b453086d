#!/usr/bin/env python3
"""A fixed script of 60 calls over real projects, run with one or two binaries: how many bytes do the answers take?

    day.py NEW [OLD] [--client claude-code] [--calls FILE] [--text 0.55] [--all 0.50]

Twelve files of the sources that roots.py finds are copied into a folder. For each, five calls follow: a search, a read of
what it found, an edit, and two more that differ by file: a wrong quote and what its answer proposes, a broken edit and its
repair, many matches, several files, a quote of a wrapped call. Each call is built from the answers before it alone: paths,
line numbers, versions and quotes come from their text. Two binaries get the same script.

It prints the bytes of the text of the edit answers, and of everything that a model is sent: for Claude Code and Codex the
JSON where there is one, else the text; for Gemini CLI and opencode the text; for Copilot CLI both. With two binaries, it
exits with 1 if the first takes more than the given shares of the second.
"""
import argparse, glob, json, os, re, shutil, sys, tempfile
sys.dont_write_bytecode = True
import rejections, roots

FILES, PER_LANGUAGE = 12, 3
SIZES = range(3_000, 25_000)
EDITS = ('edit_file', 'safe_edit_file', 'edit_files', 'undo_edit')
COMMENT = dict(py='#', rs='//', ts='//', go='//')
FUNCTION = dict(py=r'^( *)def (\w+)\(.*:$', rs=r'^( *)(?:pub )?fn (\w+)\(.*\{$', ts=r'^( *)(?:export )?(?:declare )?(?:function|interface|class) (\w+).*$', go=r'^()func (\w+)\(.*\{$')


def sources():
    """-> [(language, path)]: the first files of each language, by name, that have functions"""
    found = []
    for language, root in sorted(roots.found()[0].items()):
        if language not in COMMENT: continue
        folder, globs = root.split('=', 1)[1].split('::')
        chosen = []
        for pattern in globs.split(','):
            for path in sorted(glob.iglob(os.path.join(folder, pattern), recursive=True)):
                if len(chosen) == PER_LANGUAGE: break
                if not os.path.isfile(path) or os.path.getsize(path) not in SIZES or any(os.path.basename(path) == os.path.basename(p) for _, p in chosen): continue
                with open(path, encoding='utf8', errors='replace') as f: text = f.read()
                if '\ufffd' in text or '\r' in text or places(language, text) < 3: continue
                chosen.append((language, path))
        found += chosen
    return found[:FILES]


def places(language, text):
    return len(re.findall(FUNCTION[language], text, re.M))


class Recorder:
    """A client that counts what it gets."""

    def __init__(self, binary, client):
        self.server = rejections.Server(binary, ['--tools', 'edit,text,look'], client)
        self.root, self.rows = self.server.root, []

    def call(self, tool, arguments):
        """-> (whether it succeeded, the text)"""
        result = self.server.ask('tools/call', dict(name=tool, arguments=arguments))
        text = '\n'.join(part.get('text', '') for part in result['content'])
        structured = result.get('structuredContent')
        data = json.dumps(structured, ensure_ascii=False, separators=(',', ':')) if structured is not None else ''
        size = lambda value: len(value.encode())
        self.rows.append(dict(tool=tool, edit=tool in EDITS, refused=bool(result.get('isError')), text=size(text), data=size(data), arguments=arguments, answer=text))
        return not result.get('isError'), text

    def close(self): self.server.close()


def numbered(text):
    """-> {line: text} of the numbered lines of an answer"""
    return {int(n): line for n, line in re.findall(r'^(?:\S+:)?(\d+): ?(.*)$', text, re.M)}


def task(client, language, name, kind):
    """Makes the five calls about one file."""
    comment = COMMENT[language]
    # What a person asks: the first functions of a file.
    pattern = FUNCTION[language].replace(r'^( *)', r'^ *').replace('^()', '^').replace(r'(\w+)', r'\w+')
    _, text = client.call('search_content', dict(pattern=pattern, path=name, context_lines=0, max_results=5))
    lines = numbered(text) or {int(n): '' for n in re.findall(r'(?:line |:)(\d+)', text)}
    first = min(lines) if lines else 1
    _, text = client.call('read_content_lines', dict(path=name, start_line=first, end_line=first + 14))
    read = {n: line for n, line in numbered(text).items() if first <= n <= first + 14}
    if len(read) < 4: read = {first + i: '' for i in range(15)}
    head = [read[n] for n in sorted(read)][:3]
    indent = re.match(r'\s*', head[1] if head[1].strip() else head[0]).group()
    note = f'{indent}{comment} Checked by the day.'
    quote = '\n'.join(head) + '\n'
    changed = '\n'.join([note[len(indent):] if not indent else re.match(r'\s*', head[0]).group() + note.strip()] + head) + '\n'
    _, text = client.call('edit_file', dict(file_path=name, old_string=quote, new_string=changed))
    body = [read[n] for n in sorted(read)]
    if kind == 0:
        # A wrong word in the quote; the answer names the next call.
        wrong = body[0].replace('(', '_of(', 1) + '\n' + '\n'.join(body[1:3]) + '\n'
        arguments = dict(file_path=name, old_string=wrong, new_string=wrong + f'{indent}{comment} Seen.\n')
        _, text = client.call('edit_file', arguments)
        call = rejections.suggested(text, 'edit_file', arguments) or ('read_content_lines', dict(path=name, start_line=first, end_line=first + 5))
        client.call(*call)
    elif kind == 1:
        # A broken edit, and its repair.
        broken = body[0].replace('(', '((', 1) + '\n'
        client.call('edit_file', dict(file_path=name, old_string=body[0] + '\n', new_string=broken))
        client.call('edit_file', dict(file_path=name, old_string=body[0] + '\n', new_string=body[0] + f'\n{indent}{comment} Kept.\n'))
    elif kind == 2:
        # A word in many places: first tried, then done.
        word = (re.findall(r'\b[a-z]{5,}\b', '\n'.join(body)) or ['return'])[0]
        wanted = dict(path=name, search=rf'\b{word}\b', replace=word.upper() + '_', regex=True)
        client.call('safe_edit_file', dict(wanted, mode='verify_only'))
        client.call('undo_edit', {})
    elif kind == 3:
        # Two edits in one call, and one of them taken back.
        client.call('edit_files', dict(edits=[dict(path=name, insert_lines=[dict(at_line=first, content=f'{re.match(" *", head[0]).group()}{comment} One.\n')]),
                                              dict(path='NOTES.md', content=f'# Notes\n\nSee {name}.\n')]))
        client.call('undo_edit', {})


def day(binary, client_name):
    """-> the rows of the 60 calls"""
    client = Recorder(binary, client_name)
    chosen = sources(); names = []
    for language, path in chosen:
        name = f'{language}/{os.path.basename(path)}'; names.append(name)
        os.makedirs(os.path.join(client.root, language), exist_ok=True)
        shutil.copy(path, os.path.join(client.root, name)); os.chmod(os.path.join(client.root, name), 0o644)
    try:
        for at, ((language, _), name) in enumerate(zip(chosen, names)): task(client, language, name, at % 4)
    finally:
        client.close()
    return client.rows


def sums(rows):
    edits = [row for row in rows if row['edit']]
    return {
        'text of edit answers': sum(row['text'] for row in edits),
        'a model in Claude Code or Codex': sum(row['data'] or row['text'] for row in rows),
        'a model in Gemini CLI or opencode': sum(row['text'] for row in rows),
        'a model in Copilot CLI': sum(row['data'] + row['text'] for row in rows),
    }


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('new'); ap.add_argument('old', nargs='?'); ap.add_argument('--client', default='claude-code')
    ap.add_argument('--calls', help='a file for the calls and their answers, one JSON object a line')
    ap.add_argument('--text', type=float, default=0.55); ap.add_argument('--all', type=float, default=0.50)
    o = ap.parse_args()
    rows = day(o.new, o.client)
    print(f'{len(rows)} calls, {sum(row["edit"] for row in rows)} of them edits, {sum(row["refused"] for row in rows)} refused')
    if o.calls:
        with open(o.calls, 'w', encoding='utf8') as out: out.writelines(json.dumps(row, ensure_ascii=False) + '\n' for row in rows)
    new = sums(rows); old = sums(day(o.old, o.client)) if o.old else None
    missed = False
    for what, size in new.items():
        if old is None: print(f'{what:36s} {size:9d}'); continue
        share = size / max(old[what], 1)
        bar = o.text if what.startswith('text') else o.all if 'Copilot' in what or 'Claude' in what else None
        missed |= bar is not None and share > bar
        print(f'{what:36s} {size:9d} of {old[what]:9d}: {share:.0%}' + (f' (at most {bar:.0%})' if bar else ''))
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
