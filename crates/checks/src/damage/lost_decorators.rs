//! Finds a decorator, attribute, annotation or directive that is missing above a symbol that the edit rewrote, or that now
//! belongs to a symbol that the edit inserted below it.
//!
//! An edit that removes only the decorator is intended.

use std::collections::{HashMap, HashSet};

use super::lexis::LexicalPart;
use super::symbols::{LineSymbol, is_mark, symbols};
use super::text_pair::{DamageFinding, TextPair, excerpt, indent};
use crate::pieces::{ReplacedLines, piece_at};
use lockgate_text::Lines;

/// The most blank lines between a decorator and its symbol.
const MAX_ABOVE: usize = 10;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let Some(before) = texts.before else { return Vec::new() };
    let language = texts.language();
    let is_decorator = |line: usize| is_mark(before.text(line).trim(), language);
    let removes = texts.pieces.iter().any(|piece| piece.old_lines().any(is_decorator));
    if !removes && !texts.pieces.iter().any(|piece| may_be_below_a_mark(texts, piece)) {
        return Vec::new();
    }
    let new = symbols(texts.after, language);
    let new_symbols = DecoratedSymbols::new(texts, &new);
    let old = symbols(before, language);
    let mut findings: Vec<Vec<DamageFinding>> = old
        .iter()
        .map(|symbol| lost(texts, before, symbol, &new_symbols))
        .filter(|lost| !lost.is_empty())
        .collect();
    findings.dedup_by_key(|lost| lost.first().map(|finding| finding.line));
    let marks = new.iter().flat_map(|symbol| symbol.above.iter().map(move |(line, _)| (*line, symbol)));
    let owners: HashMap<usize, &LineSymbol<'_>> = marks.collect();
    let taken = old.iter().filter_map(|symbol| taken(texts, before, symbol, &new_symbols, &owners));
    findings.into_iter().flatten().chain(taken).collect()
}

/// True if a decorator, or the end of one over several lines, may be directly above a piece.
fn may_be_below_a_mark(texts: &TextPair<'_>, piece: &ReplacedLines) -> bool {
    let above = (1..piece.new.0).rev().map(|line| texts.after.text(line).trim());
    let above = above.take(MAX_ABOVE).find(|text| !text.is_empty());
    above.is_some_and(|text| is_mark(text, texts.language()) || text.ends_with([')', ']']))
}

/// Returns a finding for the first decorator that stayed, but is now above a symbol that the edit inserted, while the symbol
/// that it was above remains without it.
fn taken(
    texts: &TextPair<'_>,
    before: Lines<'_>,
    old: &LineSymbol<'_>,
    new_symbols: &DecoratedSymbols<'_, '_>,
    owners: &HashMap<usize, &LineSymbol<'_>>,
) -> Option<DamageFinding> {
    if old.above.is_empty() {
        return None;
    }
    let new = new_symbols.partner(texts, old)?;
    let is_code = |line: usize| texts.part_of_line(line) == LexicalPart::Code;
    let (decorator, owner) = missing(texts, old, new).into_iter().find_map(|(line, decorator)| {
        let owner = owners.get(&texts.draft.map.new_line_of(*line)?)?;
        let is_inserted = owner.line < new.line && owner.name != old.name && texts.draft.wrote(owner.line);
        (is_inserted && is_code(owner.line) && is_code(new.line)).then_some((decorator, owner))
    })?;
    // The symbol itself may have moved to another block.
    let depth = |line: usize| indent(texts.after.text(line)).len();
    let is_deep = |line: usize| depth(line) >= depth(owner.line) || texts.after.text(line).trim().is_empty();
    let are_siblings = depth(owner.line) == depth(new.line) && (owner.line..new.line).all(is_deep);
    // A wrapper of the symbol takes over its decorator.
    let is_wrapper = (owner.line + 1..=owner.end).any(|line| texts.after.text(line).contains(&*old.name));
    if !are_siblings || is_wrapper || has_body(texts, before, old, owner, new) {
        return None;
    }
    let message = format!(
        "`{}` was above `{}` before the edit and is now above `{}`; insert `{}` above that line",
        excerpt(decorator, 60),
        old.name,
        owner.name,
        owner.name,
    );
    Some(texts.finding_at(owner.line, indent(texts.after.text(owner.line)).len(), message))
}

/// True if more lines of an old body are in the first of two new symbols than in the second: the symbol was renamed.
fn has_body(
    texts: &TextPair<'_>,
    before: Lines<'_>,
    old: &LineSymbol<'_>,
    first: &LineSymbol<'_>,
    second: &LineSymbol<'_>,
) -> bool {
    let body: HashSet<&str> = (old.line + 1..=old.end).map(|line| before.text(line).trim()).collect();
    let count = |symbol: &LineSymbol<'_>| {
        let lines = (symbol.line + 1..=symbol.end).map(|line| texts.after.text(line).trim());
        lines.filter(|text| text.len() > 2 && body.contains(text)).count()
    };
    count(first) > count(second)
}

/// The symbols after the edit, by their line and by their name.
struct DecoratedSymbols<'k, 't> {
    by_line: HashMap<usize, &'k LineSymbol<'t>>,
    /// Those that the edit wrote, in text order.
    by_name: HashMap<&'t str, Vec<&'k LineSymbol<'t>>>,
}

impl<'k, 't> DecoratedSymbols<'k, 't> {
    fn new(texts: &TextPair<'_>, new: &'k [LineSymbol<'t>]) -> DecoratedSymbols<'k, 't> {
        let mut by_name: HashMap<&str, Vec<&LineSymbol<'_>>> = HashMap::new();
        for symbol in new.iter().filter(|symbol| texts.draft.wrote(symbol.line)) {
            by_name.entry(symbol.name).or_default().push(symbol);
        }
        DecoratedSymbols { by_line: new.iter().map(|symbol| (symbol.line, symbol)).collect(), by_name }
    }

    /// Returns the symbol after the edit that corresponds to an old one: the one on its line, else the one with its name in
    /// the replacing lines.
    fn partner(&self, texts: &TextPair<'_>, old: &LineSymbol<'_>) -> Option<&'k LineSymbol<'t>> {
        if let Some(line) = texts.draft.map.new_line_of(old.line) {
            return self.by_line.get(&line).copied().filter(|symbol| symbol.name == old.name);
        }
        let piece = piece_at(&texts.pieces, |piece| piece.old, old.line)?;
        let named = self.by_name.get(old.name)?;
        let first = named.partition_point(|symbol| symbol.line < piece.new.0);
        named.get(first).copied().filter(|symbol| symbol.line <= piece.new.1)
    }
}

/// Returns a finding for each decorator that is missing above a symbol.
fn lost(
    texts: &TextPair<'_>,
    before: Lines<'_>,
    old: &LineSymbol<'_>,
    new_symbols: &DecoratedSymbols<'_, '_>,
) -> Vec<DamageFinding> {
    let is_removed = |(line, _): &(usize, &str)| texts.draft.map.new_line_of(*line).is_none();
    if !old.above.iter().any(is_removed) {
        return Vec::new();
    }
    let Some(new) = new_symbols.partner(texts, old) else { return Vec::new() };
    if texts.part_of_line(new.line) != LexicalPart::Code || !wrote(texts, before, old) {
        return Vec::new();
    }
    let text = texts.after.text(new.line);
    missing(texts, old, new)
        .into_iter()
        .map(|(line, decorator)| {
            let message = format!(
                "`{}`, on line {line} before the edit, is missing above `{}`; send it with the symbol",
                excerpt(decorator, 60),
                new.name
            );
            texts.finding_at(new.line, indent(text).len(), message)
        })
        .collect()
}

/// Returns the decorators above an old symbol that are missing above the new one.
fn missing<'o, 't>(
    texts: &TextPair<'_>,
    old: &'o LineSymbol<'t>,
    new: &LineSymbol<'_>,
) -> Vec<&'o (usize, &'t str)> {
    let name_of = |decorator: &str| decorator.split(['(', ' ', '=']).next().unwrap_or(decorator).to_owned();
    let mut unmatched: Vec<String> = new.above.iter().map(|(_, decorator)| name_of(decorator)).collect();
    let missing = old.above.iter().filter(|(_, decorator)| {
        let partner = unmatched.iter().position(|other| *other == name_of(decorator));
        partner.map(|partner| unmatched.swap_remove(partner)).is_none()
    });
    let missing: Vec<_> = missing.collect();
    let text = texts.after.text(new.line);
    // A new decorator may replace a missing one.
    let missing = missing.into_iter().skip(unmatched.len());
    // A decorator may now be on the symbol's own line.
    missing.filter(|(_, decorator)| !text.contains(decorator)).collect()
}

/// True if the edit changed more of the symbol than its decorators.
fn wrote(texts: &TextPair<'_>, before: Lines<'_>, old: &LineSymbol<'_>) -> bool {
    let body = old.line..=old.end;
    texts.pieces.iter().any(|piece| {
        let mut changed = piece.old.0.max(old.line)..=piece.old.1.min(old.end);
        let is_inserted = piece.is_insertion() && piece.old.0 > old.line && body.contains(&piece.old.0);
        is_inserted || changed.any(|line| !before.text(line).trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(path: &str, before: &str, after: &str) -> Vec<(usize, bool)> {
        let findings = findings(Accident::LostDecorators, path, Some(before), after);
        findings.iter().map(|finding| (finding.line, finding.message.contains("now above"))).collect()
    }

    const PYTHON: &str = "import pytest\n\n\n@pytest.fixture\ndef db():\n    return open(1)\n";
    const TYPESCRIPT: &str = "class A {\n  @Listen({\n    a: 1,\n  })\n  onKey() {\n    this.f();\n  }\n}\n";
    const RUST: &str = "#[test]\nfn a() {\n    assert!(f());\n}\n";

    #[test]
    fn a_symbol_between_a_decorator_and_its_own_is_found() {
        for (path, before, after, line) in [
            ("a.py", PYTHON, PYTHON.replace("def db", "def cache():\n    return {}\n\n\ndef db"), 5),
            ("a.py", PYTHON, PYTHON.replace("def db", "\n# A cache.\ndef cache():\n    return {}\n\n\ndef db"), 7),
            ("a.py", PYTHON, PYTHON.replace("def db()", "def cache():\n    return {}\n\n\ndef db(a)"), 5),
            ("a.py", PYTHON, PYTHON.replace("def db", "@cached\ndef cache():\n    return {}\n\n\ndef db"), 6),
            ("a.ts", TYPESCRIPT, TYPESCRIPT.replace("  onKey", "  g() {\n    return 1;\n  }\n\n  onKey"), 5),
            ("a.js", TYPESCRIPT, TYPESCRIPT.replace("  onKey", "  g() {\n    return 1;\n  }\n\n  onKey"), 5),
            ("a.rs", RUST, RUST.replace("fn a", "fn g() -> bool {\n    true\n}\n\nfn a"), 2),
            (
                "a.rs",
                "struct A {\n    #[serde(default)]\n    a: u8,\n}\n",
                "struct A {\n    #[serde(default)]\n    b: u8,\n    a: u8,\n}\n".to_owned(),
                3,
            ),
            (
                "A.java",
                "class A {\n    @Override\n    public void f() {\n        g();\n    }\n}\n",
                "class A {\n    @Override\n    public int h() {\n        return 1;\n    }\n\n    public void f() {\n        g();\n    }\n}\n"
                    .to_owned(),
                3,
            ),
            (
                "a.go",
                "package a\n\n//go:noinline\nfunc f() {\n\tg()\n}\n",
                "package a\n\n//go:noinline\nfunc h() int {\n\treturn 1\n}\n\nfunc f() {\n\tg()\n}\n".to_owned(),
                4,
            ),
        ] {
            assert_eq!(found(path, before, &after), [(line, true)], "{path}: {after}");
        }
    }

    #[test]
    fn a_decorator_that_keeps_its_symbol_is_not() {
        for (path, before, after) in [
            // Another symbol above the decorator, or with its own.
            ("a.py", PYTHON, PYTHON.replace("@pytest", "def cache():\n    return {}\n\n\n@pytest")),
            ("a.py", PYTHON, PYTHON.replace("def db", "def cache():\n    return {}\n\n\n@pytest.fixture\ndef db")),
            ("a.rs", RUST, RUST.replace("fn a", "fn g() {\n    f();\n}\n\n#[test]\nfn a")),
            // Another decorator takes its place.
            ("a.py", PYTHON, PYTHON.replace("def db", "def cache():\n    return {}\n\n\n@cached\ndef db")),
            // A symbol that is renamed, with its body; the old name is that of another one.
            ("a.py", PYTHON, PYTHON.replace("def db", "def database")),
            ("a.py", PYTHON, PYTHON.replace("db", "_db") + "\n\ndef db():\n    return next(_db)\n"),
            // One that is removed, or moved with its decorator.
            ("a.py", PYTHON, PYTHON.replace("def db():\n    return open(1)", "def cache():\n    return {}")),
            ("a.py", PYTHON, "import pytest\n\n\n@pytest.fixture\ndef cache():\n    return {}\n\n\n@pytest.fixture\ndef db():\n    return open(1)\n".to_owned()),
            // One that is moved to another type.
            (
                "a.rs",
                "struct A {\n    #[serde(skip)]\n    a: u8,\n}\n",
                "struct A {\n    #[serde(skip)]\n    b: B,\n}\n\nstruct B {\n    a: u8,\n}\n".to_owned(),
            ),
            // An overload.
            ("a.ts", TYPESCRIPT, TYPESCRIPT.replace("  onKey", "  onKey(a: string): void;\n  onKey")),
            // An example in a string.
            (
                "a.py",
                "A = \"\"\"\n@a\ndef f():\n    pass\n\"\"\"\n",
                "A = \"\"\"\n@a\ndef g():\n    return 1\ndef f():\n    pass\n\"\"\"\n".to_owned(),
            ),
        ] {
            assert_eq!(found(path, before, &after), [], "{path}: {after}");
        }
    }
}
