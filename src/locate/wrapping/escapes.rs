//! Text that was escaped once too often.

use super::Reading;

/// What an escape stands for, by the letter behind the backslash.
type Table = &'static [(char, char)];

/// The readings that are tried, each alike on both sides.
const TABLES: [Table; 5] = [
    &[('n', '\n'), ('t', '\t')],
    &[('"', '"'), ('\'', '\'')],
    &[('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\'')],
    &[('\\', '\\')],
    &[('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\''), ('\\', '\\'), ('r', '\r')],
];

/// Takes one layer of escapes off both sides.
pub(super) fn off(search: &str, replace: &str) -> Vec<Reading> {
    if !search.contains('\\') {
        return Vec::new();
    }
    // A text with real newlines was not escaped as a whole: its escaped ones are text.
    let text_newlines = search.trim_matches('\n').contains('\n') && search.contains("\\n");
    let fits = |table: &&Table| !(text_newlines && table.contains(&('n', '\n')));
    let read = |table: &Table| {
        let plain = unescaped(search, table);
        (plain != search).then(|| {
            Reading::new(plain.replace("\r\n", "\n"), unescaped(replace, table).replace("\r\n", "\n"))
        })
    };
    TABLES.iter().filter(fits).filter_map(read).collect()
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
            // A pair that is not in the table stays together: the second backslash of two escapes nothing.
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
    fn beside_real_newlines_an_escaped_one_is_text() {
        assert!(off("a\n\\n\n", "b").is_empty());
        assert_eq!(off("a\\nb\n", "b")[0].search, "a\nb\n");
        assert_eq!(off("p(\\\"a\\n\\\")\nb", "b")[0].search, "p(\"a\\n\")\nb");
    }

    #[test]
    fn one_layer_is_taken_off_both_sides() {
        let found = off(r#"a = \"x\"\nb"#, r#"a = \"y\"\nb"#);
        let pairs: Vec<_> = found.iter().map(|one| (one.search.as_str(), one.replace.as_str())).collect();
        assert!(pairs.contains(&("a = \"x\"\nb", "a = \"y\"\nb")), "{pairs:?}");
        assert!(pairs.contains(&(r#"a = "x"\nb"#, r#"a = "y"\nb"#)), "{pairs:?}");
    }

    #[test]
    fn doubled_backslashes_become_single_ones() {
        assert!(off(r"\\d+", r"\\w+").contains(&Reading::new(r"\d+".into(), r"\w+".into())));
    }

    #[test]
    fn without_a_backslash_there_is_nothing_to_read() {
        assert_eq!(off("a", r"\n"), []);
    }
}
