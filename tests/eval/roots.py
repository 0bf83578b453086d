#!/usr/bin/env python3
"""Finds real sources on this machine, to make cases of: one `--root LANG=DIR::GLOBS` a language.

    roots.py            prints the arguments, one a line, and on standard error what is missing

It searches Python's own library, cargo's registry, the tests' npm packages and a Go tree.
"""
import glob, os, shutil, subprocess, sys, sysconfig

LANGUAGES = ('py', 'rs', 'md', 'ts', 'go')
HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.environ.get('CARGO_TARGET_DIR') or os.path.join(HERE, '..', '..', 'target')
NODE = os.environ.get('LOCKGATE_TEST_NODE') or os.path.join(TARGET, 'node')
VENV = os.environ.get('LOCKGATE_TEST_VENV') or os.path.join(TARGET, 'venv')
CARGO = os.environ.get('CARGO_HOME') or os.path.expanduser('~/.cargo')

# Named one by one, so that installed packages and the library's tests stay out.
PYTHON = ','.join(['*.py'] + [f'{p}/*.py' for p in (
    'asyncio', 'collections', 'concurrent/futures', 'ctypes', 'curses', 'distutils', 'email', 'encodings', 'html', 'http',
    'idlelib', 'importlib', 'json', 'lib2to3', 'logging', 'multiprocessing', 'unittest', 'urllib', 'wsgiref', 'xml/dom', 'xml/sax')])


def go_trees():
    """Every place where the library's sources of Go may lie, the tests' own first."""
    for go in (os.path.join(VENV, 'bin', 'go'), shutil.which('go')):
        if go and os.path.exists(go):
            output = subprocess.run([go, 'env', 'GOROOT'], capture_output=True, text=True)
            if output.returncode == 0 and output.stdout.strip(): yield os.path.join(output.stdout.strip(), 'src')
    for pattern in (os.path.join(VENV, 'lib', 'python*', 'site-packages', '*', 'src'), os.path.join(VENV, 'lib', 'python*', 'site-packages', '*', '*', 'src'),
                    '/usr/share/go*/src', '/usr/lib/go*/src', '/usr/local/go/src'):
        yield from sorted(glob.glob(pattern))


def candidates():
    """(language, folder, globs), the better ones first; the first that holds a file is taken."""
    packages, registry = os.path.join(NODE, 'node_modules'), os.path.join(CARGO, 'registry', 'src')
    yield 'py', sysconfig.get_path('stdlib'), PYTHON
    yield 'rs', registry, '*/*/src/**/*.rs'
    yield 'md', packages, '**/*.md'
    yield 'md', registry, '*/*/*.md'
    yield 'ts', packages, '**/*.ts,**/*.mts'
    for tree in go_trees(): yield 'go', tree, '*/*.go,*/*/*.go'


def found():
    """-> ({language: 'LANG=DIR::GLOBS'}, [missing languages])"""
    roots = {}
    for lang, folder, globs in candidates():
        if lang in roots or not folder: continue
        if any(next(glob.iglob(os.path.join(folder, g), recursive=True), None) for g in globs.split(',')):
            roots[lang] = f'{lang}={os.path.normpath(folder)}::{globs}'
    return roots, [x for x in LANGUAGES if x not in roots]


def arguments(languages=LANGUAGES):
    roots, _ = found()
    return [x for lang in languages if lang in roots for x in ('--root', roots[lang])]


if __name__ == '__main__':
    roots, missing = found()
    for lang in LANGUAGES:
        if lang in roots: print('--root', f"'{roots[lang]}'")
    for lang in missing: print(f'missing: sources of {lang}', file=sys.stderr)
    sys.exit(0 if roots else 1)
