#!/usr/bin/env python3
"""Kinds of drift of our own, in the manner and with the command line of ../shared/eval/drift.py, which it imports.

    kinds.py --seed 1 --count 1000 --out own_1.jsonl --root LANG=DIR[::GLOB,GLOB] ... [--kinds a,b]
    LOCKGATE_EVAL names the folder of drift.py where it is not ../shared/eval next to the repository

The truth of every case is known by construction; each kind says why it is `apply`, `reject` or `either`.
"""
import importlib.util, os, re, sys, unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get('LOCKGATE_EVAL') or os.path.join(HERE, '..', '..', '..', 'shared', 'eval')


def load(name):
    """A module of the shared folder, by path: nothing of it is copied."""
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, os.path.join(SHARED, name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


drift = load('drift')
drift.KINDS.clear()
kind, out, base, pick, F, J, splice = drift.kind, drift.out, drift.base, drift.pick, drift.F, drift.J, drift.splice
indent_of, unit_of, change_line, wsnorm, IDENT, KW, WORDS = (drift.indent_of, drift.unit_of, drift.change_line, drift.wsnorm,
                                                           drift.IDENT, drift.KW, drift.WORDS)
MARK = dict(py='# ', md='', rs='// ', ts='// ', go='// ')
REMARKS = ['keep this in step with the table below', 'the order matters here', 'see the note at the top', 'checked by the caller']

# ---------------------------------------------------------------- what several kinds need
def lone(f, lines, a, b, old):
    """Whether nothing else in the file comes near the quoted block, so that the place is beyond doubt."""
    return drift.best_other(F(f.lang, f.path, J(lines)), a, b, old) <= 0.72

def is_present(lines, block):
    """Returns whether the file already has the block, ignoring white space."""
    pat = [wsnorm(l) for l in block if l.strip()]
    seq = [n for n in map(wsnorm, lines) if n]
    return any(seq[i:i+len(pat)] == pat for i in range(len(seq) - len(pat) + 1))

def carry(script, kept_line, changed=lambda t, i: [t], added=lambda t: [t]):
    """The block after the change; kept_line(i), changed(text, i) and added(text) return the lines that replace one."""
    o = []
    for k, t in enumerate(script):
        if t[0] == '=': o += kept_line(t[1])
        elif t[0] == '+': o += changed(t[1], script[k-1][1]) if k and script[k-1][0] == '-' else added(t[1])
    return o

def remark(f, rng, like):
    return indent_of(like) + MARK[f.lang] + rng.choice(REMARKS)

def newcomer(f, rng, like):
    """A line that another author may have written: a comment or a statement, indented as its neighbour; not in the file."""
    if rng.random() < .5: return remark(f, rng, like)
    for _ in range(20):
        l = change_line(rng.choice(f.lines), rng)
        if l and l.strip() and indent_of(like) + l.strip() not in f.lines: return indent_of(like) + l.strip()
    return remark(f, rng, like)

def kept_lines(script, blk): return [t[1] for t in script if t[0] == '=' and blk[t[1]].strip()]

# ---------------------------------------------------------------- the kinds
QUOTED = {'"': re.compile(r'''(?<![\w\\'"])"([^'"\\]*)"(?!['"\w])'''), "'": re.compile(r'''(?<![\w\\'"])'([^'"\\]*)'(?!['"\w])''')}
CALL = re.compile(r'^(\s*)([^()\'"#/|]*\w)\(([\w.&*: =-]+(?:, [\w.&*: =-]+)+)\)(;|:|,|\?;| \{)?$')

def unquoted(l):
    """A line as it was before a formatter changed its quotes."""
    if l.lstrip().startswith(('#', '//', '*', '/*')): return l
    for q, other in (('"', "'"), ("'", '"')):
        if QUOTED[q].search(l): return QUOTED[q].sub(other + r'\1' + other, l)
    return l

def unaligned(l):
    body = l.lstrip(' \t')
    return l if re.search('["\'`]', l) else l[:len(l)-len(body)] + re.sub(r'(?<=\S) {2,}(?=\S)', ' ', body)

def unbulleted(l):
    return re.sub(r'^(\s*)([-*])( +\S)', lambda m: m[1] + ('*' if m[2] == '-' else '-') + m[3], l)

# either: the formatter changed no meaning, so carrying the change onto the formatted text is right; but the text quoted is
# not there, so refusing is right, too. Pasting the old form of lines that the edit does not change undoes the formatter.
@kind('formatted', 'either', 1.5)
def k_formatted(f, rng, fs):
    v = rng.choice({'py': ['quotes', 'quotes', 'comma', 'call broken'], 'ts': ['quotes', 'quotes', 'comma', 'call broken'], 'rs': ['comma', 'call broken', 'aligned'],
                    'go': ['aligned', 'call broken'], 'md': ['bullets', 'bullets', 'aligned']}[f.lang])
    if v == 'call broken': return broken_call(f, rng)
    closer = lambda i, blk: v == 'comma' and i + 1 < len(blk) and blk[i].endswith(',') and re.match(r'\s*[)\]}]', blk[i+1])
    was = {'quotes': unquoted, 'aligned': unaligned, 'bullets': unbulleted, 'comma': lambda l: l}[v]
    if v == 'aligned' and f.lang == 'md': was = lambda l: unaligned(l) if l.lstrip().startswith('|') else l
    form = lambda i, blk: blk[i][:-1] if closer(i, blk) else was(blk[i])
    x = base(f, rng, 3, 9, lambda blk, f, a, b: any(form(i, blk) != blk[i] for i in range(len(blk))))
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]
    old = [form(i, blk) for i in range(len(blk))]
    bare = lambda t, i: [t[:-1] if closer(i, blk) and t.endswith(',') else was(t)]
    mine = carry(s, lambda i: [old[i]], bare, lambda t: [was(t)])
    if old == mine or not lone(f, f.lines, a, b, old) or is_present(f.lines, new): return
    put = lambda changed, added: J(splice(f.lines, a, b, carry(s, lambda i: [blk[i]], changed, added)))
    same = lambda t, i: [t]
    # a line that the edit itself writes may have the edit's quotes and blanks; a comma of the file's must not get lost
    also = [put(same, lambda t: [was(t)])] + ([] if v == 'comma' else [put(bare, lambda t: [was(t)]), put(bare, lambda t: [t])])
    where = 'touched' if any(t[0] == '-' and old[t[1]] != blk[t[1]] for t in s) else 'kept'
    return out(f.text, J(old), J(mine), J(splice(f.lines, a, b, new)), (a, b), f'{v}, {where} line', also=also, carried=J(splice(f.lines, a, b, mine)))

def broken_call(f, rng):
    u = unit_of(f)
    def broken(l):
        m = CALL.match(l)
        return [m[1] + m[2] + '('] + [m[1] + u + p + ',' for p in m[3].split(', ')] + [m[1] + ')' + (m[4] or '')] if m else None
    x = base(f, rng, 3, 8, lambda blk, f, a, b: any(CALL.match(l) for l in blk))
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]
    i = rng.choice([i for i, l in enumerate(blk) if CALL.match(l)])
    form = lambda k: broken(blk[k]) if k == i else [blk[k]]
    lines = splice(f.lines, a, b, [l for k in range(len(blk)) for l in form(k)]); end = b + len(lines) - len(f.lines)
    if not lone(f, lines, a, end, blk): return
    hit = any(t == ('-', i) for t in s)
    change = lambda t, k: broken(t) or [t] if k == i else [t]
    put = lambda changed: J(splice(lines, a, end, carry(s, form, changed)))
    # the touched call may come back in one line, as the edit has it
    return out(J(lines), J(blk), J(new), put(change), (a, end), f'call broken, {"touched" if hit else "kept"} line',
               also=[put(lambda t, k: [t])] if hit else [], carried=None if hit else J(splice(lines, a, end, new)))

# apply: each layer alone must be seen through, and they are independent: white space, look-alike marks and wrapping.
# Two changes surround an unchanged line, so that pasting, or taking one hunk for all, is seen.
@kind('stacked', 'apply', 1.5)
def k_stacked(f, rng, fs):
    p = pick(f, rng, 4, 9, lambda blk, f, a, b: not any(l.lstrip().startswith(('```', '~~~')) for l in blk))
    if not p: return
    a, b = p; blk = f.lines[a:b]; u = unit_of(f)
    at = [i for i, l in enumerate(blk) if l.strip()]
    i, j = sorted(rng.sample(at, 2)); mid = [k for k in at if i < k < j]
    quotes = [k for k in mid if '"' in blk[k] or "'" in blk[k]]
    if not mid: return
    first, second = change_line(blk[i], rng), change_line(blk[j], rng)
    if not first or not second: return
    layers = rng.choice([('tabs', 'curly', 'gutter', 'fence')] * 3 + [('tabs', 'curly'), ('curly', 'gutter'), ('tabs', 'fence'), ('curly', 'fence'),
                         ('gutter', 'fence'), ('tabs', 'gutter'), ('tabs', 'gutter', 'fence'), ('curly', 'gutter', 'fence')])
    if 'curly' in layers and not quotes: return
    keep = rng.choice(quotes if 'curly' in layers else mid)
    grow = rng.random() < .3
    s = [('=', k) for k in range(len(blk))]
    s[j:j+1] = [('=', j), ('+', second)] if grow and j < len(blk) - 1 else [('-', j), ('+', second)]
    s[i:i+1] = [('-', i), ('+', first)]
    new = drift.render(s, blk)
    if is_present(f.lines, new): return
    def tabs(l):
        d = indent_of(l)
        t = d.replace('\t', '    ') if u == '\t' else '\t' * (len(d) // len(u)) + ' ' * (len(d) % len(u))
        return t + l[len(d):]
    def curly(l): return re.sub(r'"([^"]*)"', '\u201c\\1\u201d', l).replace("'", '\u2019')
    alone = rng.random() < .4
    if 'tabs' in layers and all(tabs(l) == l for l in ([blk[keep]] if alone else blk)): return
    def bent(l, k):
        if k == keep and 'curly' in layers: l = curly(l)
        return tabs(l) if 'tabs' in layers and (k == keep or not alone) else l
    old = [bent(l, k) for k, l in enumerate(blk)]
    mine = carry(s, lambda k: [old[k]], lambda t, k: [bent(t, None)], lambda t: [bent(t, None)])
    both = rng.random() < .7
    if 'gutter' in layers:
        st = rng.choice(['{n}: ', '{n:6d}\t', '{n:>5}\u2192', '{n} | ', '{n}|', 'L{n}: '])
        num = lambda ls: [st.format(n=a+1+k) + l for k, l in enumerate(ls)]
        old = num(old); mine = num(mine) if both else mine
    if 'fence' in layers:
        fence = lambda ls: ['```' + rng.choice(['', f.lang])] + ls + ['```']
        old = fence(old); mine = fence(mine) if both else mine
    after = J(splice(f.lines, a, b, new))
    v = '+'.join(layers) + (', tabs on one line' if alone and 'tabs' in layers else '') + ('' if both or not {'gutter', 'fence'} & set(layers) else ', old only')
    return out(f.text, J(old), J(mine), after, (a, b), v, carried=J(splice(f.lines, a, b, mine)))

# Somebody else wrote into the block since it was read.
# reject, in the very gap: two lines now claim one place, and nothing says which comes first; or the same line is there already.
# either, elsewhere: both changes are possible, but the block is not what the caller saw. The other's lines must survive.
@kind('neighbour', 'either', 1.3)
def k_neighbour(f, rng, fs):
    v = rng.choice(['in the very gap', 'the same line there already', 'beside the changed line', 'two lines more'])
    gap = v in ('in the very gap', 'the same line there already')
    x = base(f, rng, 4, 9, None, op='ins' if gap else 'mod')
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]
    if is_present(f.lines, new): return
    if gap:
        k = next(k for k, t in enumerate(s) if t[0] == '+'); i = s[k-1][1] + 1; text = s[k][1]
        extra = [text] if v == 'the same line there already' else [newcomer(f, rng, blk[i-1])]
        if v == 'in the very gap' and wsnorm(extra[0]) == wsnorm(text): return
        lines = splice(f.lines, a, b, blk[:i] + extra + blk[i:])
        return out(J(lines), J(blk), J(new), None, (a, b + 1), v, should='reject')
    t = next(t[1] for t in s if t[0] == '-')
    i = rng.choice([t, t + 1]) if v == 'beside the changed line' else rng.randrange(1, len(blk))
    if not 0 < i < len(blk) or not blk[i-1].strip() or not blk[i].strip(): return
    extra = [newcomer(f, rng, blk[i-1]) for _ in range(2 if v == 'two lines more' else 1)]
    if len(set(extra)) < len(extra): return
    lines = splice(f.lines, a, b, blk[:i] + extra + blk[i:]); end = b + len(extra)
    if not lone(f, lines, a, end, blk): return
    # above the changed line, or the changed line moves down with what is below it
    theirs = carry(s, lambda k: (extra if k == i else []) + [blk[k]], lambda c, k: (extra if k == i else []) + [c])
    return out(J(lines), J(blk), J(new), J(splice(lines, a, end, theirs)), (a, end), v, carried=J(splice(lines, a, end, new)),
               note='carried = the other\'s lines are deleted')

BLURS = {'blank': (re.compile(r'(?<=\w) (?=\w)'), '  '), 'quote': (re.compile(r'"([^"&\\]+)"'), '\u201c\\1\u201d'), 'trailing': (re.compile(r'(?<=\S)$'), '  ')}

# The file has the block twice, once as a copy that differs.
# apply, where the text quoted, but for white space, is that of one of them: the other lacks the line that is to be changed.
# reject, where the quotation differs from both, from each in one place and by as much: nothing says which is meant.
@kind('near_twin', 'reject', 1.5)
def k_twin(f, rng, fs):
    v = rng.choice(['exact', 'dedented', 'twin has the quoted indent', 'blank', 'quote', 'trailing', 'letter'])
    x = base(f, rng, 3, 8, None, op='mod')
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]
    i = next(t[1] for t in s if t[0] == '-'); added = next(t[1] for t in s if t[0] == '+')
    swap = lambda ls, k, l: ls[:k] + [l] + ls[k+1:]
    at = rng.randint(b, len(f.lines))
    both = lambda one, two: f.lines[:a] + one + f.lines[b:at] + [''] + two + [''] + f.lines[at:]
    if v in ('exact', 'dedented', 'twin has the quoted indent'):
        other = change_line(blk[i], rng)
        if not other or wsnorm(other) in (wsnorm(blk[i]), wsnorm(added)): return
        m = 0 if v == 'exact' else min(len(indent_of(l)) for l in blk if l.strip())
        if v != 'exact' and m == 0: return
        cut = lambda ls: [l[m:] if l.strip() else l for l in ls]
        twin = swap(blk, i, other)
        lines = both(blk, cut(twin) if v == 'twin has the quoted indent' else twin); old = J(cut(blk))
        if J(lines).count(old) != (1 if v == 'exact' else 0) or is_present(lines, new): return
        return out(J(lines), old, J(cut(new)), J(splice(lines, a, b, new)), (a, b), v, should='apply')
    if v == 'letter':
        k = rng.choice(kept_lines(s, blk) or [0]); words = [m for m in IDENT.finditer(blk[k]) if len(m.group()) >= 6 and m.group() not in KW]
        if k == 0 or not words: return
        m = rng.choice(words); q = m.start() + rng.randrange(2, len(m.group()) - 1); neighbours = blk[k][q-1] + blk[k][q+1]
        if not blk[k][q].islower() or blk[k][q] in neighbours: return
        less = swap(blk, k, blk[k][:q] + blk[k][q+1:])
        twin = swap(blk, k, blk[k][:q] + rng.choice([c for c in 'aeiorst' if c not in neighbours + blk[k][q]]) + blk[k][q+1:])
        if J(less) in J(both(blk, twin)): return
        return out(J(both(blk, twin)), J(less), J(swap(less, i, added)), None, None, 'one letter less than both')
    rx, form = BLURS[v]
    spots = [(k, m) for k, l in enumerate(blk) for m in rx.finditer(l)]
    if len(spots) < 2: return
    one, two = (swap(blk, k, blk[k][:m.start()] + m.expand(form) + blk[k][m.end():]) for k, m in rng.sample(spots, 2))
    # where the last line alone has more at its end, the block is quoted without it: bytes, found once
    if J(blk)[:-1] in J(both(one, two)): return
    return out(J(both(one, two)), J(blk), J(new), None, None, f'{v} differs at another place in each')

ACCENTS = ['na\u00efve', 'caf\u00e9', 'Gr\u00f6\u00dfe', 'r\u00e9sum\u00e9', 'se\u00f1al', '\u00e5ngstr\u00f6m']
WIDE = str.maketrans({',': '\uff0c', ':': '\uff1a', '(': '\uff08', ')': '\uff09', ';': '\uff1b', '!': '\uff01', '?': '\uff1f'})
ZERO = ['\u200b', '\u200c', '\ufeff', '\u00ad']

# either: the letters are the same to a reader but not to a machine, and only in a comment that the edit keeps. The place is
# beyond doubt, and the file's own letters must stay. A matcher need not know every look-alike, so refusing is right, too.
@kind('unicode', 'either')
def k_unicode(f, rng, fs):
    rx = re.compile(drift.CM[f.lang])
    x = base(f, rng, 3, 9, lambda blk, f, a, b: any(rx.search(l) for l in blk), op=rng.choice(['mod', 'ins', 'mod_ins']))
    if not x: return
    a, b, s, new = x; blk = list(f.lines[a:b]); v = rng.choice(['decomposed', 'zero width', 'full width'])
    pool = [k for k in kept_lines(s, blk) if rx.search(blk[k]) and ' ' in rx.search(blk[k]).group().strip()]
    # an added line that was copied from this one would have its letters, and whose form is right there is not known
    pool = [k for k in pool if not any(t[0] == '+' and q and s[q-1] == ('=', k) for q, t in enumerate(s))]
    if not pool: return
    k = rng.choice(pool); m = rx.search(blk[k]); head, text = blk[k][:m.start()], m.group()
    words = text.split(' '); q = rng.randrange(1, len(words))
    if v == 'decomposed':
        words.insert(q, rng.choice(ACCENTS)); one = head + ' '.join(words); two = unicodedata.normalize('NFD', one)
    elif v == 'zero width':
        if len(words[q]) < 3: return
        z = rng.randrange(1, len(words[q])); one = blk[k]
        words[q] = words[q][:z] + rng.choice(ZERO) + words[q][z:]; two = head + ' '.join(words)
    else:
        one, two = blk[k], head + text[:2] + text[2:].translate(WIDE)
    if rng.random() < .5: one, two = two, one
    if one == two or one != blk[k] and wsnorm(one) in f.norm: return
    theirs = blk[:k] + [one] + blk[k+1:]; lines = splice(f.lines, a, b, theirs)
    old = blk[:k] + [two] + blk[k+1:]; put = lambda ls: carry(s, lambda i: [ls[i]])
    if not lone(f, lines, a, b, old) or is_present(f.lines, new): return
    direction = {True: 'in the file', False: 'in the edit'}[len(one) > len(two) if v != 'full width' else not one.isascii()]
    return out(J(lines), J(old), J(put(old)), J(splice(lines, a, b, put(theirs))), (a, b), f'{v} {direction}', carried=J(splice(lines, a, b, put(old))))

# either: a tool put the marks before every line, and all lines together show which tool it was. Refusing is right
# because such marks also begin lines of texts. Marks in the file are never right.
@kind('prefixed', 'either', 1.3)
def k_prefixed(f, rng, fs):
    v = rng.choice(['diff', 'diff', 'diff, new clean', 'grep', 'grep', 'grep, new clean', 'grep with context', 'mail'])
    x = base(f, rng, 2, 8)
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]
    removed = {t[1] for t in s if t[0] == '-'}
    if v.startswith('diff'):
        if v == 'diff, new clean' and not removed: return
        old = [('-' if k in removed else ' ') + l for k, l in enumerate(blk)]
        mine = carry(s, lambda k: [' ' + blk[k]], lambda t, k: ['+' + t], lambda t: ['+' + t])
    elif v == 'mail':
        old, mine = ['> ' + l for l in blk], ['> ' + l for l in new]
    else:
        name = f.path if rng.random() < .5 else os.path.basename(f.path)
        sep = lambda k, hit: ':' if v != 'grep with context' or hit else '-'
        prefix = lambda n, hit: '{0}{2}{1}{2}'.format(name, a + 1 + n, sep(n, hit))
        old = [prefix(k, k in removed or (not removed and k == 0)) + l for k, l in enumerate(blk)]
        mine = [prefix(k, l not in blk) + l for k, l in enumerate(new)]
    if v.endswith('new clean'): mine = new
    if not lone(f, f.lines, a, b, blk) or is_present(f.lines, new): return
    return out(f.text, J(old), J(mine), J(splice(f.lines, a, b, new)), (a, b), v, carried=J(splice(f.lines, a, b, mine)))

# A rename that is half done.
# reject, where the caller takes for renamed what is not: carrying over leaves half a rename, pasting renames unasked.
# either, where another renamed one of the lines already: both want the same line, so the whole rename is right.
@kind('half_renamed', 'reject', 1.3)
def k_renamed(f, rng, fs):
    p = pick(f, rng, 3, 9)
    if not p: return
    a, b = p; blk = f.lines[a:b]
    count = {}
    for l in blk:
        for w in {m.group() for m in IDENT.finditer(l)} - KW: count[w] = count.get(w, 0) + 1
    names = sorted(w for w, n in count.items() if n >= 2 and len(w) >= 5)
    if not names: return
    w = rng.choice(names); to = rng.choice([w + '_' + rng.choice(WORDS), rng.choice(WORDS) + '_' + w, rng.choice(WORDS).title() + 'Of' + w.title()])
    if to in f.text: return
    rename = lambda l: re.sub(rf'\b{w}\b', to, l)
    at = [k for k, l in enumerate(blk) if rename(l) != l]
    if len(at) < 2: return
    renamed_lines = set(rng.sample(at, rng.randint(1, len(at) - 1)))
    partly_renamed = [rename(l) if k in renamed_lines else l for k, l in enumerate(blk)]; new = [rename(l) for l in blk]
    if rng.random() < .6:
        # one remark that is worded in another way is no sign of another file
        note = re.compile(drift.CM[f.lang])
        if len(renamed_lines) < 2 and all(rename(l) == l for l in (note.sub('', blk[k]) for k in renamed_lines)): return
        if not lone(f, f.lines, a, b, partly_renamed): return
        return out(f.text, J(partly_renamed), J(new), None, (a, b), 'the caller believes a part is renamed')
    lines = splice(f.lines, a, b, partly_renamed)
    # a longer name may end in the old one, and then the block is still there, from the middle of a line on
    if J(blk) in J(lines) or not lone(f, lines, a, b, blk): return
    return out(J(lines), J(blk), J(new), J(splice(lines, a, b, new)), (a, b), 'another renamed a part', should='either')

# apply: the whole block is in one place, one level further in or out; at its old place there is no more than its first
# line or a remark. The change takes the new place's indentation.
@kind('moved', 'apply', 1.3)
def k_moved(f, rng, fs):
    x = base(f, rng, 3, 9)
    if not x: return
    a, b, s, new = x; blk = f.lines[a:b]; u = unit_of(f)
    v = rng.choice(['further in', 'further out']); stub = rng.choice(['remark', 'first line'])
    if v == 'further out' and not all(l.startswith(u) for l in blk + new if l.strip()): return
    to = lambda ls: [(u + l if v == 'further in' else l[len(u):]) if l.strip() else l for l in ls]
    left = [indent_of(blk[0]) + MARK[f.lang] + 'this was moved'] if stub == 'remark' else [blk[0], indent_of(blk[0]) + u + MARK[f.lang] + 'this was moved']
    rest = f.lines[:a] + left + f.lines[b:]
    at = rng.choice([rng.randint(0, a), rng.randint(a + len(left), len(rest))])
    lines = rest[:at] + [''] + to(blk) + [''] + rest[at:]
    if J(blk) in J(lines) or is_present(lines, new) or not lone(f, lines, at + 1, at + 1 + len(blk), blk): return
    return out(J(lines), J(blk), J(new), J(splice(lines, at + 1, at + 1 + len(blk), to(new))), (at + 1, at + 1 + len(blk)), f'{v}, {stub} left')

# apply: line ends are no part of what a caller quotes. Every line keeps its own, a changed one too; an added line has that of
# a neighbour.
@kind('mixed_line_ends', 'apply')
def k_ends(f, rng, fs):
    x = base(f, rng, 3, 9)
    if not x: return
    a, b, s, new = x; v = rng.choice(['two halves', 'scattered']); edit = rng.choice(['LF', 'LF', 'CRLF'])
    cut, flip = rng.randint(a + 1, b - 1), rng.random() < .5
    cr = [((k < cut) != flip) if v == 'two halves' else rng.random() < .5 for k in range(len(f.lines))]
    if len(set(cr[a:b])) < 2: return
    end = lambda l, k: l + '\r' * cr[k]
    lines = [end(l, k) for k, l in enumerate(f.lines)]
    if is_present(f.lines, new) or f.text.count(J(f.lines[a:b])) != 1: return
    def put(like):
        o = []
        for k, t in enumerate(s):
            if t[0] == '=': o.append(lines[a + t[1]])
            elif t[0] == '+' and k and s[k-1][0] == '-': o.append(end(t[1], a + s[k-1][1]))
            elif t[0] == '+': o.append(t[1] + '\r' * like(o))
        return J(splice(lines, a, b, o))
    above = lambda o: o[-1].endswith('\r') if o else cr[a]
    nl = '\n' if edit == 'LF' else '\r\n'
    return out(J(lines), J(f.lines[a:b], nl), J(new, nl), put(above), (a, b), f'{v}, edit {edit}', also=[put(lambda o: not above(o))])


if __name__ == '__main__':
    drift.main()
