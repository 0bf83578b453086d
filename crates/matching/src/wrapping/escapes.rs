//! Text that was escaped once too often.

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
/// A text that contains unescaped characters of those that are escaped was not escaped as a whole.
pub(super) fn remove(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    if !search.contains('\\') {
        return Vec::new();
    }
    TABLES.iter().filter_map(|table| read(search, replace, table)).collect()
}

fn read(search: &str, replace: &str, table: Table) -> Option<AlternativeEdit> {
    let used: Vec<(char, char)> = table.iter().filter(|(letter, _)| has(search, *letter)).copied().collect();
    if used.is_empty() || is_bare(search, &used) {
        return None;
    }
    let escaped = table.iter().any(|(letter, _)| has(replace, *letter));
    let plain = match (escaped, is_bare(replace, &used)) {
        (true, false) => unescaped(replace, table),
        (true, true) => return None,
        (false, _) => replace.to_owned(),
    };
    let search = unescaped(search, table);
    let broken = breaks_string(&plain, &used) && !breaks_string(&search, &used);
    (!broken).then(|| AlternativeEdit::new(search.replace("\r\n", "\n"), plain.replace("\r\n", "\n")))
}

/// Returns true if a text contains this escape.
fn has(text: &str, letter: char) -> bool {
    let mut letters = text.chars();
    while let Some(character) = letters.next() {
        if character == '\\' && letters.next() == Some(letter) {
            return true;
        }
    }
    false
}

/// Returns true if a text contains one of these characters without a backslash before it, or a newline inside.
fn is_bare(text: &str, used: &[(char, char)]) -> bool {
    let mut letters = text.trim_matches('\n').chars();
    while let Some(character) = letters.next() {
        if character == '\\' {
            letters.next();
        } else if used.iter().any(|(_, stands_for)| *stands_for == character && character != '\'') {
            return true;
        }
    }
    false
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
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let next = rest.clone().next();
        let known = table.iter().find(|(letter, _)| character == '\\' && Some(*letter) == next);
        plain.push(known.map_or(character, |(_, stands_for)| *stands_for));
        match (known, character, next) {
            (Some(_), _, _) => {
                rest.next();
            }
            // A pair outside the table is kept: the second backslash of two escapes nothing.
            (None, '\\', Some(next)) => {
                plain.push(next);
                rest.next();
            }
            (None, _, _) => {}
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
        assert!(remove("a = 1\\nb = 2", "a = 1\nb = \"p\\nq\"").is_empty());
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
    fn doubled_backslashes_become_single_ones() {
        assert!(remove(r"\\d+", r"\\w+").contains(&AlternativeEdit::new(r"\d+".into(), r"\w+".into())));
    }

    #[test]
    fn without_a_backslash_there_is_nothing_to_read() {
        assert_eq!(remove("a", r"\n"), []);
    }
}
