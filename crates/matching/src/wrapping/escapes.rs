//! Text that was escaped once too often.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::str::Chars;

use super::alternative::AlternativeEdit;

/// The characters of escapes, by the letter behind the backslash.
type Table = &'static [(char, char)];

/// The sets of escapes to try, the same for search and replacement.
const TABLES: [Table; 5] = [
    &[('n', '\n'), ('t', '\t')],
    &[('"', '"'), ('\'', '\'')],
    &[('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\'')],
    &[('\\', '\\')],
    &[('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\''), ('\\', '\\'), ('r', '\r')],
];

/// Removes one layer of escapes from the search, and from the replacement if it has one too.
///
/// A text that contains unescaped characters of those that are escaped was not escaped as a whole. A replacement of that
/// kind stays as it is.
pub(super) fn remove(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    if !search.contains('\\') {
        return Vec::new();
    }
    TABLES.iter().flat_map(|table| read(search, replace, table)).collect()
}

fn read(search: &str, replace: &str, table: Table) -> Vec<AlternativeEdit> {
    let used: Vec<(char, char)> = table.iter().filter(|(letter, _)| has(search, *letter)).copied().collect();
    if used.is_empty() || is_bare(search, &used) {
        return Vec::new();
    }
    let plain_search = unescaped(search, table);
    let edit = |replace: &str| {
        let [search, replace] = [plain_search.as_str(), replace].map(|text| text.replace("\r\n", "\n"));
        AlternativeEdit::new(search, replace)
    };
    let literal = AlternativeEdit { is_unescaped: true, ..edit(replace) };
    let plain_replace = unescaped(replace, table);
    let is_broken = |plain: &str| breaks_string(plain, &used) && !breaks_string(&plain_search, &used);
    let escapes: Vec<char> =
        table.iter().map(|(letter, _)| *letter).filter(|letter| has(replace, *letter)).collect();
    match (escapes.as_slice(), is_bare(replace, &used)) {
        ([], _) if !is_broken(replace) => vec![literal],
        ([_, ..], true) if is_text(replace, &escapes, &used) => vec![literal],
        (['\\'], false) if !is_broken(&plain_replace) => likelier(edit(&plain_replace), literal),
        ([_, ..], false) if !is_broken(&plain_replace) => vec![edit(&plain_replace)],
        _ => Vec::new(),
    }
}

/// Returns the alternative that keeps more lines of the search. If they are alike, returns the unescaped one if it has the
/// backslashes of the search, and both otherwise.
fn likelier(unescaped: AlternativeEdit, literal: AlternativeEdit) -> Vec<AlternativeEdit> {
    match unescaped.common_line_count().cmp(&literal.common_line_count()) {
        Ordering::Greater => vec![unescaped],
        Ordering::Less => vec![literal],
        Ordering::Equal
            if backslash_runs(&unescaped.search).is_subset(&backslash_runs(&unescaped.replace)) =>
        {
            vec![unescaped]
        }
        Ordering::Equal => vec![unescaped, literal],
    }
}

/// Returns the different numbers of adjacent backslashes in a text.
fn backslash_runs(text: &str) -> BTreeSet<usize> {
    text.split(|character| character != '\\').map(str::len).filter(|length| *length > 0).collect()
}

/// Returns true if the escapes of a text with unescaped characters are part of it: it has newlines and tabs as well, and
/// all escapes but those of backslashes are in strings.
fn is_text(text: &str, escapes: &[char], used: &[(char, char)]) -> bool {
    let is_given = |(letter, stands_for): &(char, char)| {
        !matches!(stands_for, '\n' | '\t')
            || !escapes.contains(letter)
            || text.trim_matches('\n').contains(*stands_for)
    };
    used.iter().all(is_given) && text.lines().all(|line| has_escapes_in_strings(line, escapes))
}

/// Returns true if a line has these escapes only in strings that begin and end on the line. Backslashes may be anywhere.
fn has_escapes_in_strings(line: &str, escapes: &[char]) -> bool {
    let (mut open, mut has_escape) = (None, false);
    for unit in EscapeUnits(line.chars()) {
        match (unit, open) {
            (EscapeUnit::Pair(letter), _) if letter != '\\' && escapes.contains(&letter) => {
                if open.is_none() {
                    return false;
                }
                has_escape = true;
            }
            (EscapeUnit::Plain(quote @ ('"' | '\'')), None) => open = Some(quote),
            (EscapeUnit::Plain(quote), Some(opened)) if quote == opened => (open, has_escape) = (None, false),
            (EscapeUnit::Pair(_) | EscapeUnit::Plain(_), _) => {}
        }
    }
    open.is_none() || !has_escape
}

/// A character, or a backslash with the one that it escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EscapeUnit {
    Plain(char),
    Pair(char),
}

/// The units of a text, in order. A backslash at its end is plain.
struct EscapeUnits<'t>(Chars<'t>);

impl Iterator for EscapeUnits<'_> {
    type Item = EscapeUnit;

    fn next(&mut self) -> Option<EscapeUnit> {
        let first = self.0.next()?;
        let escaped = if first == '\\' { self.0.next() } else { None };
        Some(escaped.map_or(EscapeUnit::Plain(first), EscapeUnit::Pair))
    }
}

/// Returns true if a text contains this escape.
fn has(text: &str, letter: char) -> bool {
    EscapeUnits(text.chars()).any(|unit| unit == EscapeUnit::Pair(letter))
}

/// Returns true if a text contains one of these characters without a backslash before it, or a newline inside.
fn is_bare(text: &str, used: &[(char, char)]) -> bool {
    let is_used = |character| used.iter().any(|(_, stands_for)| *stands_for == character);
    EscapeUnits(text.trim_matches('\n').chars()).any(|unit| match unit {
        EscapeUnit::Plain('\\' | '\'') | EscapeUnit::Pair(_) => false,
        EscapeUnit::Plain(character) => is_used(character),
    })
}

/// Returns true if an escaped newline or tab follows an open quote on its line: it belongs to the string.
fn breaks_string(plain: &str, used: &[(char, char)]) -> bool {
    let controls = used.iter().any(|(letter, _)| ['n', 't'].contains(letter));
    let open = |line: &str| {
        let before = line.rsplit_once('\t').map_or("", |(before, _)| before);
        let odd = |text: &str, quote| !text.matches(quote).count().is_multiple_of(2);
        odd(line, '"') || odd(before, '"') || odd(before, '\'')
    };
    controls && plain.lines().any(open)
}

fn unescaped(text: &str, table: Table) -> String {
    let mut plain = String::with_capacity(text.len());
    for unit in EscapeUnits(text.chars()) {
        match unit {
            EscapeUnit::Plain(character) => plain.push(character),
            EscapeUnit::Pair(escaped) => match table.iter().find(|(letter, _)| *letter == escaped) {
                Some((_, stands_for)) => plain.push(*stands_for),
                // A pair outside the table is kept: the second backslash of two escapes nothing.
                None => plain.extend(['\\', escaped]),
            },
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_to_real_newlines_an_escaped_one_is_text() {
        assert!(remove("a\n\\n\n", "b").is_empty());
        assert_eq!(remove("a\\nb\n", "b")[0].search, "a\nb\n");
        assert_eq!(remove("p(\\\"a\\n\\\")\nb", "b")[0].search, "p(\"a\\n\")\nb");
    }

    #[test]
    fn a_replacement_that_was_not_escaped_stays() {
        let found = remove("a = 1\\nb = 2", "a = 1\nb = 3");
        assert_eq!(found[0].replace, "a = 1\nb = 3");
        for (search, plain, replace) in [
            ("a = 1\\nb = 2", "a = 1\nb = 2", "a = 1\nb = \"p\\nq\""),
            (r#"a = \"p\\\\d\"\nb = 2"#, "a = \"p\\\\d\"\nb = 2", "a = \"p\\\\d\"\nb = 3"),
        ] {
            let found = remove(search, replace);
            let mut read = found.iter().filter(|one| one.search == plain).peekable();
            assert!(read.peek().is_some() && read.all(|one| one.replace == replace), "{found:?}");
        }
        assert!(
            remove("a = 1\\nb = 2", "a = 1\\nb = \"p\\nq\"").iter().all(|one| !one.replace.contains("p\nq"))
        );
    }

    #[test]
    fn a_tab_in_a_string_that_is_quoted_too_is_read() {
        let found = remove(r#"say(\"a\tb\")"#, r#"say(\"c\tb\")"#);
        assert!(found.iter().any(|one| one.search == "say(\"a\tb\")"), "{found:?}");
    }

    #[test]
    fn one_layer_is_taken_off_both_sides() {
        let found = remove(r#"a = \"x\"\nb"#, r#"a = \"y\"\nb"#);
        let pairs: Vec<_> = found.iter().map(|one| (one.search.as_str(), one.replace.as_str())).collect();
        assert!(pairs.contains(&("a = \"x\"\nb", "a = \"y\"\nb")), "{pairs:?}");
        assert!(pairs.contains(&(r#"a = "x"\nb"#, r#"a = "y"\nb"#)), "{pairs:?}");
    }

    #[test]
    fn half_of_a_replacement_is_not_escaped_alone() {
        for (search, replace) in [
            (r#"a(\"x\")\nb"#, "a(\\\"y\\\")\nb = \"c\""),
            (r#"a(\"x\")\nb"#, r#"a("y")\nb"#),
            (r#"\ta(\"x\")"#, r#"\ta("y")"#),
            (r"a=1\nb=2", "a=1\nb=3\\nc=4"),
            (r"a=1\nb=2", "don't\nb=3, don't\\nc=4"),
            (r"a=1\nb=2", "a=1\nb=3\\tc"),
            (r#"x = \"a\"\ny"#, "x = \"b\" + \\\"c\\\"\ny"),
        ] {
            let found = remove(search, replace);
            assert!(found.iter().all(|one| one.replace != replace || one.search.contains('\\')), "{found:?}");
        }
    }

    #[test]
    fn doubled_backslashes_become_single_ones() {
        let replacements = |search, replace| -> Vec<String> {
            let mut all: Vec<String> = remove(search, replace).into_iter().map(|one| one.replace).collect();
            all.dedup_by_key(|one| one.clone());
            all.truncate(2);
            all
        };
        assert_eq!(replacements(r"\\d+", r"\\w+"), [r"\w+"]);
        assert_eq!(replacements(r"a \\d+", r"b \w+"), [r"b \w+"], "without escapes");
        let text = "re(\"\\\\d\")\nt = 2";
        assert_eq!(replacements("re(\"\\\\\\\\d\")\nt = 1", text), [text], "the text of the file");
        assert_eq!(replacements(r"a \\\\d", r"b \\w"), [r"b \w", r"b \\w"], "a raw string, or not escaped");
        assert_eq!(
            replacements(r"\\a + \\b", r"\\a \\\\ \\b"),
            [r"\a \\ \b"],
            "with the backslashes of the file"
        );
        assert_eq!(replacements(r"\\d", r"\\\\\\w"), [r"\\\w", r"\\\\\\w"], "either");
    }

    #[test]
    fn without_a_backslash_there_is_nothing_to_read() {
        assert_eq!(remove("a", r"\n"), []);
    }
}
