//! Updates the search index of lines after an edit.
//!
//! Indexing the whole text again would add thousands of entries for a one-line change. So a text is
//! indexed in parts: one part with all of its lines, and one part for each later edit with that edit's
//! new lines.
//!
//! Invariant: one of the parts contains each line of a stored text completely. Parts may also contain
//! lines that the text no longer has.

use super::super::columns::count;
use super::prepare::{NewContent, OriginalRow, PreparedRow};
use super::statement::{Statement, UnboundStatement};
use crate::tenant::Tenant;
use std::collections::HashSet;

/// The approximate overhead of a part in bytes: its key, the key's index entry and the row header.
const PART_OVERHEAD: usize = 160;
/// New lines get no part of their own if they exceed the text's size divided by this.
const MAX_NEW_SHARE: usize = 4;

/// Returns the statements that update the index for one row's change in this edit.
pub(super) fn index_changes(tenant: &Tenant, row: &PreparedRow<'_>, edit: i64, at: i64) -> Vec<Statement> {
    let none = || UnboundStatement::new("DELETE FROM lines").of_row(tenant, row.key);
    let part = |text: &str| {
        let part =
            UnboundStatement::new("INSERT INTO lines(kind, organization, app, path, part, text) VALUES (");
        part.key(row.key).bind_next(at).bind_next(text).push(")").without_scope()
    };
    match (row.before, &row.after) {
        (None, None) => Vec::new(),
        (None, Some(after)) => vec![part(&after.text)],
        (Some(_), None) => vec![none()],
        (Some(before), Some(after)) => {
            match added(before, after).filter(|lines| is_own_part(lines, after, edit)) {
                Some(lines) if lines.is_empty() => Vec::new(),
                Some(lines) => vec![part(&lines)],
                None => vec![none(), part(&after.text)],
            }
        }
    }
}

/// Returns the new lines, if they are few.
fn added(before: OriginalRow<'_>, after: &NewContent) -> Option<String> {
    // The decoded bytes and the stored text have the same lines, except where the stored form replaces
    // characters.
    let before: HashSet<&str> = std::str::from_utf8(before.bytes).ok()?.split('\n').collect();
    let new: Vec<&str> = after.text.split('\n').filter(|line| !before.contains(line)).collect();
    let lines = new.join("\n");
    (lines.len() * MAX_NEW_SHARE <= after.text.len()).then_some(lines)
}

/// True if new lines become a part of their own. One edit in N replaces all parts with a single new
/// one, where N such parts are together as large as the text. So the cost of an edit does not grow with
/// the text, and the index stays below about twice the text's size. Edit numbers are random.
fn is_own_part(lines: &str, after: &NewContent, edit: i64) -> bool {
    let part_count = count(after.text.len() / (lines.len() + PART_OVERHEAD));
    part_count > 1 && edit % part_count != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_location::RowKey;
    use lockgate_text::Version;

    const KEY: RowKey<'_> = RowKey { kind: "module", organization: "", app: "", path: "a" };
    const SAME: &str = "same and same again\n";

    fn changed_statements(before: Option<&[u8]>, after: Option<&str>, edit: i64) -> Vec<String> {
        let version = Version::hash(b"");
        let after = after.map(|text| NewContent {
            version,
            size: 0,
            encoding: String::new(),
            text: text.to_owned(),
            raw: None,
            packed: None,
        });
        let before = before.map(|bytes| OriginalRow { version, bytes, changed: 0 });
        let row =
            PreparedRow { position: 0, key: KEY, before, after, added: 0, removed: 0, keeps_texts: false };
        let statement_start =
            |statement: Statement| statement.text().split('(').next().unwrap().trim().to_owned();
        index_changes(&Tenant::Global, &row, edit, 1).into_iter().map(statement_start).collect()
    }

    #[test]
    fn an_edit_adds_the_lines_that_are_new() {
        let text = |line: &str| format!("{}{line}\nz\n", SAME.repeat(99));
        let (a, b) = (text("a\u{fffd}"), text("b"));
        let (insert, delete) = ("INSERT INTO lines", "DELETE FROM lines WHERE organization = ''");
        for (before, after, edit, expected) in [
            (None, Some(&a), 1, vec![insert]),
            (Some(a.as_bytes()), None, 1, vec![delete]),
            (Some(a.as_bytes()), Some(&b), 1, vec![insert]),
            // Twelve parts of this size add up to the size of the text.
            (Some(a.as_bytes()), Some(&b), 61, vec![insert]),
            (Some(a.as_bytes()), Some(&b), 60, vec![delete, insert]),
            (Some(b"all else"), Some(&b), 1, vec![delete, insert]),
            (Some(b"\xff"), Some(&b), 1, vec![delete, insert]),
        ] {
            let statements = changed_statements(before, after.map(String::as_str), edit);
            assert!(statements.len() == expected.len(), "{statements:?}");
            assert!(
                statements.iter().zip(expected).all(|(statement, start)| statement.starts_with(start)),
                "{statements:?}"
            );
        }
        let reordered = format!("z\n{}", SAME.repeat(99));
        assert!(
            changed_statements(Some(a.as_bytes()), Some(&reordered), 1).is_empty(),
            "all lines were there"
        );
    }

    #[test]
    fn what_is_added_are_whole_lines() {
        let before = OriginalRow {
            version: Version::hash(b""),
            bytes: b"one\ntwo\r\nthree\nfour\nfive\nsix",
            changed: 0,
        };
        let text = "one\ntwo\nthree and more\nfour\nfive\nsix\none\ntwo\r\nthree\nfour\nfive\nsix".to_owned();
        let (version, encoding) = (before.version, String::new());
        let after = NewContent { version, size: 0, encoding, text, raw: None, packed: None };
        assert_eq!(added(before, &after).as_deref(), None, "much of it is new");
        let text = format!("{}{}", after.text, "\none".repeat(30));
        assert_eq!(added(before, &NewContent { text, ..after }).as_deref(), Some("two\nthree and more"));
    }
}
