#!/usr/bin/env python3
"""Accidents: what happens to an agent's edit on its way, done to real files.

    python3 tests/damage/accidents.py TARGET [--each N] [--seed N]

reads TARGET/honest.jsonl, writes TARGET/accidents.jsonl, one a line: {"rule", "how", "path", "before", "after"}. An edit is
made as an agent makes it: some lines of a file are sent again, with a small change in them; then the accident befalls what
is sent.
"""

import argparse
import json
import pathlib
import random
import re

SLASHED = {"go", "rs", "js", "ts", "tsx", "jsx", "mjs", "cjs", "c", "h", "java", "cc", "cpp"}
HASHED = {"py", "pyi", "sh", "yaml", "yml", "toml", "rb"}
CODE = SLASHED | HASHED - {"yaml", "yml", "toml"}

# How tools show line numbers: cat -n, nl, editors, agents' own readers.
NUMBERED = {
    "cat": lambda n, width, line: f"{n:>6}\t{line}",
    "arrow": lambda n, width, line: f"{n:>6}→{line}",
    "bare arrow": lambda n, width, line: f"{n}→{line}",
    "colon": lambda n, width, line: f"{n}: {line}",
    "wide colon": lambda n, width, line: f"{n:>{width}}: {line}",
    "tight colon": lambda n, width, line: f"{n}:{line}",
    "bar": lambda n, width, line: f"{n} | {line}",
    "wide bar": lambda n, width, line: f"{n:>{width}} | {line}",
    "cursor": lambda n, width, line: f"{n:>6}|{line}",
    "drawn bar": lambda n, width, line: f"{n:>{width}} │ {line}",
    "L": lambda n, width, line: f"L{n}: {line}",
    "zeros": lambda n, width, line: f"{n:04}: {line}",
    "spaces": lambda n, width, line: f"{n:>{width}}  {line}",
}

ELISIONS = """
... rest of code unchanged ...
... rest of the code remains the same ...
... rest of the code stays the same
... rest of the file ...
... rest of file unchanged
... rest of function ...
... rest of the function remains unchanged ...
... rest of the implementation ...
... rest of the class ...
... rest of the method unchanged
... (rest of the code)
... (rest of the file remains unchanged)
... [rest of code] ...
... existing code ...
... existing code here ...
... existing implementation ...
... existing methods ...
... existing imports ...
...existing code...
... keep existing code ...
... keep the rest of the file unchanged ...
... keep existing implementation
... same as before ...
... same as above ...
... (same as before)
... unchanged ...
... unchanged code ...
... (unchanged)
... remaining code ...
... remaining code unchanged ...
... remaining methods unchanged ...
... remaining implementation stays the same ...
... previous code ...
... previous code remains unchanged ...
... previous implementation ...
... other methods ...
... other methods remain the same ...
... other imports ...
... other code ...
... other functions unchanged ...
... original code ...
... original implementation continues ...
... omitted for brevity ...
... (omitted for brevity)
... code omitted ...
... code omitted for brevity ...
... implementation ...
... implementation unchanged ...
... more code ...
... more methods ...
... the rest of the code ...
... the rest remains the same ...
... rest unchanged ...
... no changes ...
... as before ...
... continue with existing code ...
… rest of code unchanged …
… existing code …
…
...
Rest of the code remains the same
Rest of the file remains unchanged
Rest of the code remains unchanged...
Rest of your code here
rest of the code stays the same
rest of the function unchanged
rest of the implementation remains the same
The rest of the code remains the same
The rest of the file is unchanged
the rest of the method stays the same
Existing code here
Existing code remains unchanged
existing code unchanged
existing methods remain unchanged
(existing code)...
[existing code unchanged]
[rest of file unchanged]
[... rest of the code remains the same ...]
Previous code remains the same
previous code unchanged
Remaining code unchanged
Remaining code stays the same
remaining methods unchanged
Remaining implementation unchanged...
Keep the rest of the code unchanged
Keep existing code
Other methods remain unchanged
other code remains the same
code omitted for brevity
Implementation unchanged
Same as before
No changes below this line
(rest of the function is unchanged)
""".strip().split("\n")

LABELS = [
    ("HEAD", "feature"), ("Updated upstream", "Stashed changes"), ("ours", "theirs"), ("SEARCH", "REPLACE"),
    ("HEAD", "3f1c2aa (Mend the reader)"), ("ORIGINAL", "UPDATED"), ("main", "origin/main"), ("HEAD:src/a", "other:src/a"),
    ("", ""),
]


class Maker:
    def __init__(self, files, seed):
        self.random = random.Random(seed)
        self.files = files

    def file(self, kinds=None, least=30, accepts=lambda text: True):
        """A file of one of these kinds, each kind as often as another."""
        by_kind = {kind: files for kind, files in self.files.items() if kinds is None or kind in kinds}
        if not by_kind:
            raise LookupError("no such file")
        for _ in range(500):
            kind = self.random.choice(sorted(by_kind))
            path, text = self.random.choice(by_kind[kind])
            if text.count("\n") >= least and accepts(text):
                return kind, path, text.split("\n")
        raise LookupError("no such file")

    def region(self, lines, least=4, most=25):
        length = self.random.randint(least, min(most, len(lines) - 3))
        start = self.random.randint(1, len(lines) - length - 2)
        return start, start + length

    def changed(self, lines):
        """A small change, as it was meant: a name, a number, or a line more."""
        lines = list(lines)
        words = [at for at, line in enumerate(lines) if re.search(r"[A-Za-z]{4}", line)]
        if not words:
            return lines
        at = self.random.choice(words)
        line = lines[at]
        word = self.random.choice(re.findall(r"[A-Za-z]{4,}", line))
        lines[at] = line.replace(word, word + "Next", 1)
        return lines

    def comment(self, kind, words, indent):
        if kind in SLASHED:
            template = self.random.choice(["// {}", "// {}", "// {}", "/* {} */"])
        elif kind in HASHED:
            template = "# {}"
        elif kind in ("html", "md", "xml"):
            template = "<!-- {} -->"
        elif kind == "css":
            template = "/* {} */"
        else:
            template = "{}"
        if words[:3] in ("...",) and self.random.random() < 0.08:
            template = "{}"
        return indent + template.format(words)

    # Each gives how it happened, the path, and the lines before and after.

    def line_prefixes(self):
        kind, path, lines = self.file(CODE | {"css", "json", "yaml", "toml", "md"} if self.random.random() < 0.9 else None)
        start, end = self.region(lines, 2)
        sent = self.changed(lines[start:end])
        if self.random.random() < 0.7:
            how = self.random.choice(sorted(NUMBERED))
            first = start + 1 if self.random.random() < 0.85 else 1
            if self.random.random() < 0.1:
                start, end, first = 0, len(lines), 1
                sent = self.changed(lines)
            width = self.random.choice([2, 3, 4, 5, 6])
            sent = [NUMBERED[how](n, width, line).rstrip(" ") for n, line in enumerate(sent, first)]
        else:
            how = self.random.choice(["all added", "hunk", "marks"])
            if how == "all added":
                sent = ["+" + line for line in sent]
            else:
                marked = []
                for old, new in zip(lines[start:end], sent):
                    marked += [" " + old] if old == new else ["-" + old, "+" + new]
                head = [f"@@ -{start + 1},{end - start} +{start + 1},{end - start} @@"]
                sent = head + marked if how == "hunk" else marked
        return how, path, lines, lines[:start] + sent + lines[end:]

    def elided_code(self):
        kind, path, lines = self.file(CODE | {"css", "yaml", "toml"})
        start, end = self.region(lines, 8, 40)
        sent = self.changed(lines[start:end])
        top = self.random.randint(1, 3)
        bottom = self.random.randint(0, 3)
        inner = next((line for line in sent[top:] if line.strip()), "")
        indent = inner[: len(inner) - len(inner.lstrip())]
        words = self.random.choice(ELISIONS)
        line = self.comment(kind, words, indent)
        sent = sent[:top] + [line] + (sent[-bottom:] if bottom else [])
        if self.random.random() < 0.1:
            return words, path, lines, lines[:top + 8] + [line]
        return words, path, lines, lines[:start] + sent + lines[end:]

    def conflict_markers(self):
        kind, path, lines = self.file()
        start, end = self.region(lines, 1, 12)
        ours, theirs = self.random.choice(LABELS)
        base = self.random.random() < 0.15
        sent = [f"<<<<<<< {ours}".rstrip(), *lines[start:end]]
        sent += ["||||||| base", *lines[start:end]] if base else []
        sent += ["=======", *self.changed(lines[start:end]), f">>>>>>> {theirs}".rstrip()]
        how = "whole"
        if self.random.random() < 0.15:
            how, sent = "end", sent[sent.index("=======") + 1:]
        elif self.random.random() < 0.1:
            how, sent = "start", sent[: sent.index("=======")]
        return how, path, lines, lines[:start] + sent + lines[end:]

    def doubled_lines(self):
        telling = lambda line: len(re.findall(r"[A-Za-z]", line)) > 5 and not line.strip().startswith(("</", "|"))
        while True:
            kind, path, lines = self.file(CODE | {"css", "md"})
            start, end = self.region(lines, 2, 15)
            count = self.random.choice([1, 1, 1, 2, 3])
            how = self.random.choice(["above", "below"])
            again = lines[max(0, start - count):start] if how == "above" else lines[end:end + count]
            if not any(map(telling, again)) or len(set(again)) < len(again) or not telling(again[-1 if how == "above" else 0]):
                continue
            sent = self.changed(lines[start:end])
            sent = again + sent if how == "above" else sent + again
            return f"{count} {how}", path, lines, lines[:start] + sent + lines[end:]

    def shrunk_file(self):
        kind, path, lines = self.file(least=80)
        start, end = self.region(lines, 3, len(lines) // 5)
        if sum(map(len, lines[start:end])) > sum(map(len, lines)) // 5 or sum(map(len, lines)) < 2000:
            return self.shrunk_file()
        return "part", path, lines, self.changed(lines[start:end])

    def typographic_quotes(self):
        quoted = re.compile(r"""(?<![\w"'`\\])(["'])([\w ./:%-]{1,40})\1(?!["'])""")
        while True:
            kind, path, lines = self.file(CODE - {"sh"} | {"json", "toml"})
            start, end = self.region(lines, 3, 25)
            sent = self.changed(lines[start:end])
            marker = "//" if kind in SLASHED else "#"
            able = [at for at, line in enumerate(sent)
                    if quoted.search(line) and marker not in line and not line.strip().startswith(("*", "/*", '"""', ">", "..", ":"))
                    and re.search(r"[=(,:\[{]\s*[\"']", line) and not self.in_text(lines, start + at, kind)]
            if not able:
                continue
            curl = lambda found: ("“{}”" if found[1] == '"' else "‘{}’").format(found[2])
            some = able if self.random.random() < 0.5 else [self.random.choice(able)]
            for at in some:
                sent[at] = quoted.sub(curl, sent[at])
            return "curled", path, lines, lines[:start] + sent + lines[end:]

    @staticmethod
    def in_text(lines, at, kind):
        """Whether a line lies in a text or comment of several lines, roughly: what befalls it there is no damage."""
        above = "\n".join(lines[:at])
        if kind in ("py", "pyi"):
            return above.count('"""') % 2 == 1 or above.count("'''") % 2 == 1
        return above.count("`") % 2 == 1 or above.rfind("/*") > above.rfind("*/")

    def escaped_newlines(self):
        while True:
            kind, path, lines = self.file(CODE | {"json", "toml", "css"})
            start, end = self.region(lines, 3, 20)
            if self.in_text(lines, start, kind) or self.in_text(lines, end, kind):
                continue
            sent = "\n".join(self.changed(lines[start:end]))
            if '"' in sent and self.random.random() < 0.4:
                how = "json"
                sent = json.dumps(sent, ensure_ascii=False)[1:-1]
            else:
                how = "line ends"
                sent = sent.replace("\n", "\\n")
            first = sent.split("\\n")[0]
            if re.search(r"//|#|/\*|\*|<!--", first) or not first.strip():
                continue
            if self.random.random() < 0.3:
                how, sent = how + " at the end", "\n".join(self.changed(lines[start:end - 1])) + "\n" + lines[end - 1] + "\\n"
                if re.search(r"//|#|\*", lines[end - 1]) or not lines[end - 1].strip():
                    continue
            return how, path, lines, lines[:start] + [sent] + lines[end:]

    def tabs_to_spaces(self):
        tabs = lambda text: text.count("\n\t") > 15 and text.count("\n  ") < text.count("\n\t") // 25
        spaces = lambda text: text.count("\n    ") > 15 and "\n\t" not in text
        to_spaces = self.random.random() < 0.6
        while True:
            kind, path, lines = self.file(CODE | {"mk", "css"}, accepts=tabs if to_spaces else spaces)
            start, end = self.region(lines, 3, 20)
            if any(self.in_text(lines, at, kind) for at in (start, end)) or any("*" in line[:3].strip() for line in lines[start:end]):
                continue
            width = self.random.choice([2, 4, 4, 8])
            sent = self.changed(lines[start:end])
            if to_spaces:
                converted = [re.sub(r"^\t+", lambda found: " " * (width * len(found[0])), line) for line in sent]
            else:
                converted = [re.sub(r"^( {4})+", lambda found: "\t" * (len(found[0]) // 4), line) for line in sent]
            indented = [line for line in converted if line[:1] in " \t" and line.strip() and not line.strip().startswith(("*", "//", "#"))]
            if converted == sent or len(indented) < 2:
                continue
            return "spaces" if to_spaces else "tabs", path, lines, lines[:start] + converted + lines[end:]

    def lost_decorators(self):
        above = {
            "py": r"^\s*@\w", "rs": r"^\s*#\[", "java": r"^\s*@\w", "ts": r"^\s*@\w+\(?.*$", "go": r"^//go:\w", "pyi": r"^\s*@\w",
        }
        head = {
            "py": r"^\s*(async )?(def|class) ", "pyi": r"^\s*(async )?(def|class) ",
            "rs": r"^\s*(pub(\(\w+\))? )?(const |unsafe |async )*(fn|struct|enum|trait|mod) \w",
            "java": r"^\s*(public|private|protected|class|static)\b", "ts": r"^\s*(export|class|async|\w+\()", "go": r"^func ",
        }
        while True:
            kind, path, lines = self.file(set(above))
            places = []
            for at, line in enumerate(lines[:-4]):
                if re.match(head[kind], line) and at and re.match(above[kind], lines[at - 1]):
                    places.append(at)
            if not places:
                continue
            at = self.random.choice(places)
            start = at
            while start and re.match(above[kind], lines[start - 1]) and start > at - 4:
                start -= 1
            indent = len(lines[at]) - len(lines[at].lstrip())
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
                end += 1
            body = [line for line in lines[at + 1:end] if re.search("[A-Za-z]{4}", line)]
            if not body or any(line.strip().startswith(("#[", "@")) for line in lines[start:at] if line.count("(") != line.count(")")):
                continue
            sent = [lines[at]] + self.changed(lines[at + 1:end])
            if sent == lines[at:end]:
                continue
            if at - start > 1 and self.random.random() < 0.3:
                return "one of several", path, lines, lines[:start] + lines[start + 1:at] + sent + lines[end:]
            return "all", path, lines, lines[:start] + sent + lines[end:]

    def nul_bytes(self):
        kind, path, lines = self.file()
        start, end = self.region(lines, 1, 12)
        sent = self.changed(lines[start:end])
        at = self.random.randrange(len(sent))
        line = sent[at]
        cut = self.random.randint(0, len(line))
        how = self.random.choice(["one", "several", "wide"])
        sent[at] = {"one": line[:cut] + "\0" + line[cut:], "several": line + "\0" * 4, "wide": "\0".join(line) + "\0"}[how]
        return how, path, lines, lines[:start] + sent + lines[end:]

    def lost_indentation(self):
        """One line is sent again without its indentation: the last of its block in Python, one in the middle elsewhere."""
        depth = lambda line: len(line) - len(line.lstrip())
        heads = r"(def|class|@|async|else|elif|except|finally|case|if|for|while|with)\b|@"
        for _ in range(200):
            kind, path, lines = self.file(CODE & {"py", "go", "rs", "js", "ts", "java", "c"})
            for _ in range(60):
                at = self.random.randrange(2, len(lines) - 2)
                line, above, below = lines[at], lines[at - 1], lines[at + 1]
                if depth(line) == 0 or depth(above) != depth(line) or not above.strip() or not re.search("[A-Za-z]{4}", line):
                    continue
                if self.in_text(lines, at, kind) or self.in_text(lines, at + 1, kind) or line.lstrip()[:1] in "#/*}\"'`)]":
                    continue
                if kind == "py":
                    rest = [other for other in lines[at + 1:] if other.strip()]
                    fits = not re.match(heads, line.lstrip()) and (not rest or depth(rest[0]) < depth(line))
                    fits = fits and not above.rstrip().endswith(("(", "[", "{", ",", "\\", ":", "+", "="))
                else:
                    fits = below.strip() and depth(below) == depth(line) and not line.rstrip().endswith(":")
                if not fits:
                    continue
                keep = self.random.choice([0, 0, depth(line) // 2])
                sent = self.changed([line])[0]
                if sent == line:
                    continue
                return "all" if keep == 0 else "half", path, lines, lines[:at] + [sent[:keep] + sent.lstrip()] + lines[at + 1:]
        raise LookupError("no such line")


RULES = [
    "line_prefixes", "elided_code", "conflict_markers", "doubled_lines", "shrunk_file", "typographic_quotes",
    "escaped_newlines", "tabs_to_spaces", "lost_decorators", "nul_bytes",
    "lost_indentation",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--each", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    files = {}
    for source in ("honest.jsonl", "files.jsonl"):
        for line in (options.target / source).read_text().splitlines():
            edit = json.loads(line)
            kind = edit["path"].rsplit("/")[-1].rsplit(".", 1)[-1] if "." in edit["path"] else ""
            if kind in ("patch", "diff", "snap", "lock", "csv", "svg", "map", "txt", "log"):
                continue
            files.setdefault(kind, {})[edit["path"]] = edit["after"]
    files = {kind: sorted(texts.items()) for kind, texts in files.items() if len(texts) > 2}
    with open(options.target / "accidents.jsonl", "w") as out:
        for rule in RULES:
            maker = Maker(files, f"{options.seed} {rule}")
            count = failures = 0
            while count < options.each:
                try:
                    how, path, before, after = getattr(maker, rule)()
                except (IndexError, ValueError):
                    continue
                except LookupError:
                    # A small corpus may have no file with tabs.
                    failures += 1
                    if failures > 3:
                        break
                    continue
                if before == after:
                    continue
                edit = {"rule": rule, "how": how, "path": path, "before": "\n".join(before), "after": "\n".join(after)}
                out.write(json.dumps(edit) + "\n")
                count += 1


if __name__ == "__main__":
    main()
