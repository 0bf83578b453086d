#!/usr/bin/env python3
"""What lockgate's hook and loki-guardrails find in the same 60 edits (finding_cases.py), each set up by its own `init`.

    benches/findings.py --loki PATH/TO/loki [--binary target/release/lockgate] [--tools DIR] [--modules NODE_MODULES] [--node PATH/TO/node] [--keep FILE]

Each case is an event of Claude Code before the call, the write if it is not denied, and an event after it, sent to the
commands that stand in `.claude/settings.json`. An edit is denied, or the model is told a finding, or it is told only that
something was not checked, or it is told nothing.
Without --tools, no analyzer is on the PATH. With it, those of DIR are, each guard has its own policy from `init`, and
lockgate's is trusted. --modules is linked into the project, and --node is the program node, 24 for the rules of loki. Nothing may need a network: run it where there is none.
`pip install loki-guardrails==0.1.6` in an environment of its own gives `loki`.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile
sys.dont_write_bytecode = True
import finding_cases as cases

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--binary', default=os.path.join(HERE, '..', 'target', 'release', 'lockgate'))
    ap.add_argument('--loki', required=True)
    ap.add_argument('--tools', help='a folder of programs')
    ap.add_argument('--modules', help='a folder node_modules')
    ap.add_argument('--node', default=shutil.which('node'))
    ap.add_argument('--block', action='store_true', help="lockgate's gates block that its `init` lets only warn")
    ap.add_argument('--only', help='the id of one case')
    ap.add_argument('--keep', help='a file for the answers, as JSON')
    return ap.parse_args()


OUTCOMES = ('denied', 'told', 'not checked', 'silent')
# The lines of an answer that have no finding.
NO_FINDING = re.compile(r'NOT CHECKED|loki: hook command failed|loki: post-write check failed|\s*$')


class Guard:
    """A repository with the files of the cases, guarded by one program."""

    def __init__(self, o, name):
        self.name, self.dir = name, tempfile.mkdtemp(prefix='findings')
        self.root, programs = os.path.join(self.dir, 'shop'), os.path.join(self.dir, 'bin')
        os.mkdir(self.root); os.mkdir(programs)
        os.symlink(os.path.abspath(o.binary), os.path.join(programs, 'lockgate'))
        os.symlink(sys.executable, os.path.join(programs, 'python3'))
        if o.node: os.symlink(os.path.abspath(o.node), os.path.join(programs, 'node'))
        # Without --tools, a folder that the system's own analyzers are not in.
        for program in ('git', 'sh', 'env', 'cat'): os.symlink(shutil.which(program), os.path.join(programs, program))
        path = [programs, *([os.path.abspath(o.tools)] if o.tools else []), *([os.path.abspath(os.path.join(o.modules, '.bin'))] if o.modules else [])]
        self.env = dict(PATH=':'.join(path), HOME=self.dir, LANG='C.UTF-8', LOKI_DAEMON='0', NO_COLOR='1',
                        GIT_AUTHOR_NAME='a', GIT_AUTHOR_EMAIL='a@example.com', GIT_COMMITTER_NAME='a', GIT_COMMITTER_EMAIL='a@example.com')
        before = {path: text for _, _, path, text, *_ in cases.BAD + cases.GOOD if text is not None}
        for path, text in {**cases.SIBLINGS, **before, '.gitignore': 'node_modules\n.loki/state\n'}.items(): self.write(path, text)
        if o.modules: os.symlink(os.path.abspath(o.modules), os.path.join(self.root, 'node_modules'))
        self.run(['git', 'init', '-q'])
        if name == 'lockgate':
            if o.tools: self.run(['lockgate', 'init', '--trust'])
            if o.block: self.block()
            self.run(['lockgate', 'init', '--client', 'claude', '--hooks'])
        else: self.run([os.path.abspath(o.loki), 'init', '--dir', '.'])
        self.run(['git', 'add', '-A']); self.run(['git', 'commit', '-q', '-m', 'start'])
        if name == 'lockgate' and o.tools: self.run(['lockgate', 'trust', '--yes', '.'])
        with open(os.path.join(self.root, '.claude/settings.json')) as f: self.hooks = json.load(f)['hooks']

    def block(self):
        policy = os.path.join(self.root, 'quality.yaml')
        with open(policy) as f: text = re.sub(r'level: warn.*', 'level: block', f.read())
        with open(policy, 'w') as f: f.write(text)

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', newline='') as f: f.write(text)

    def run(self, command):
        subprocess.run(command, cwd=self.root, env=self.env, check=True, capture_output=True)

    def send(self, moment, event):
        """Sends the event to the hooks of a moment: whether it is denied, and what the model reads."""
        denied, texts = False, []
        for group in self.hooks.get(moment, []):
            if not re.fullmatch(group.get('matcher', '.*'), event['tool_name']): continue
            for hook in group['hooks']:
                done = subprocess.run(['sh', '-c', hook['command']], input=json.dumps(dict(event, hook_event_name=moment)), cwd=self.root,
                                      env=self.env, capture_output=True, text=True, timeout=120)
                if done.returncode == 2: denied, texts = True, [*texts, done.stderr]
                try: answer = json.loads(done.stdout)
                except ValueError: continue
                specific = answer.get('hookSpecificOutput') or {}
                if specific.get('permissionDecision') == 'deny' or answer.get('decision') == 'block': denied = True
                texts += [text for text in (specific.get('permissionDecisionReason'), answer.get('reason'), specific.get('additionalContext')) if text]
                if 'updatedInput' in specific: event['tool_input'] = specific['updatedInput']
        return denied, '\n'.join(texts)

    def judge(self, case):
        """One of OUTCOMES, and what the model reads."""
        number, _, path, before, old, new = case
        full = os.path.join(self.root, path)
        call = dict(file_path=full, content=new) if before is None else dict(file_path=full, old_string=old, new_string=new, replace_all=False)
        event = dict(session_id='s', transcript_path='', cwd=self.root, permission_mode='default', tool_name='Write' if before is None else 'Edit',
                     tool_input=call, tool_use_id=number)
        denied, text = self.send('PreToolUse', event)
        if denied: outcome = 'denied'
        else:
            call = event['tool_input']
            self.write(path, call['content'] if before is None else before.replace(call['old_string'], call['new_string']))
            _, later = self.send('PostToolUse', dict(event, tool_response=dict(filePath=full)))
            text = '\n'.join(filter(None, (text, later)))
            has_finding = any(not NO_FINDING.match(line) for line in text.splitlines())
            outcome = 'told' if has_finding else 'not checked' if text.strip() else 'silent'
        self.run(['git', 'reset', '--hard', '-q']); self.run(['git', 'clean', '-fdq'])
        return outcome, text.replace(self.root, '')


def main():
    o = arguments()
    guards = [Guard(o, 'lockgate'), Guard(o, 'loki-guardrails')]
    answers = []
    print('| case | file | edit | ' + ' | '.join(guard.name for guard in guards) + ' |\n|---|---|---|' + '---|' * len(guards))
    for case in cases.BAD + cases.GOOD:
        if o.only not in (None, case[0]): continue
        found = {guard.name: guard.judge(case) for guard in guards}
        answers.append(dict(id=case[0], path=case[2], what=case[1], answers=found))
        print(f'| {case[0]} | {case[2]} | {case[1]} | ' + ' | '.join(outcome for outcome, _ in found.values()) + ' |', flush=True)
    for guard in guards:
        for kind, word in (('b', 'bad'), ('g', 'good')):
            mine = [answer['answers'][guard.name][0] for answer in answers if answer['id'][0] == kind]
            print(f'{guard.name}, {word}: ' + ', '.join(f'{outcome} {mine.count(outcome)}' for outcome in OUTCOMES))
        shutil.rmtree(guard.dir)
    if o.keep:
        with open(o.keep, 'w') as f: json.dump(answers, f, indent=1, ensure_ascii=False)


if __name__ == '__main__':
    main()
