//! Renders the answer of a list: one row for each file or entity.

use serde_json::{Value, json};

use super::super::entity::{EntityKeyParts, result_name};
use super::Answer;
use crate::engine::{Entries, ListedText};
use crate::request::{EntityKind, SearchScope};

pub(super) fn entries(found: &Entries) -> Answer {
    let Entries { scope, entries, truncated, notes } = found;
    let rows: Vec<Value> = entries.iter().map(row).collect();
    let mut json = json!({ "entries": rows, "truncated": truncated });
    if let Some(fields) = json.as_object_mut() {
        EntityKeyParts::shared(scope).add_to(fields);
        if !notes.is_empty() {
            fields.insert("notes".to_owned(), json!(notes));
        }
    }
    let noun = match scope {
        SearchScope::Files => EntityKind::FILE,
        SearchScope::Entities { kind, .. } => kind.name(),
    };
    let mut text = match entries.len() {
        1 => format!("1 {noun}\n"),
        count => format!("{count} {noun}s\n"),
    };
    if *truncated {
        text += &format!("truncated: not all {noun}s are shown\n");
    }
    notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    for ListedText { path, entity, size, version } in entries {
        let version = version.map(|version| format!(", version {version}")).unwrap_or_default();
        text += &format!("{}: {size} bytes{version}\n", result_name(path, entity.as_ref()));
    }
    Answer { success: true, json, text }
}

fn row(ListedText { path, entity, size, version }: &ListedText) -> Value {
    let mut row = json!({ "path": path, "size": size });
    if let Some(fields) = row.as_object_mut() {
        EntityKeyParts::distinct(entity.as_ref()).add_to(fields);
        fields.extend(version.map(|version| ("version".to_owned(), version.to_string().into())));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Version;

    #[test]
    fn both_forms_have_every_file() {
        let listed = |path: &str, version| ListedText { path: path.into(), entity: None, size: 3, version };
        let entries_ = vec![listed("a", Some(Version::hash(b"one"))), listed("b", None)];
        let answer = entries(&Entries {
            scope: SearchScope::Files,
            entries: entries_,
            truncated: true,
            notes: vec!["a note".into()],
        });
        let version = Version::hash(b"one").to_string();
        assert_eq!(
            answer.json,
            json!({"entries": [{"path": "a", "size": 3, "version": version}, {"path": "b", "size": 3}],
                "truncated": true, "notes": ["a note"]})
        );
        let wanted = format!(
            "2 files\ntruncated: not all files are shown\nnote: a note\na: 3 bytes, version {version}\nb: 3 bytes\n"
        );
        assert_eq!(answer.text, wanted);
    }
}
