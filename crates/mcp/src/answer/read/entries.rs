//! Renders the answer of a list: one row for each file or entity.

use super::super::entity::{distinct_key, result_name, shared_key};
use crate::answer::Answer;
use lockgate_edit::request::EntityKind;
use lockgate_engine::{Entries, ListedText};
use lockgate_protocol::{ListResponse, ListRow, Response};

pub(super) fn entries(found: &Entries) -> Answer {
    let response = ListResponse {
        entries: found.entries.iter().map(row).collect(),
        truncated: found.truncated,
        key: shared_key(&found.scope),
        notes: found.notes.clone(),
    };
    let text = text(&response);
    Answer::new(Response::List(response), text)
}

fn row(ListedText { path, entity, size, version }: &ListedText) -> ListRow {
    ListRow {
        path: path.clone(),
        size: *size,
        key: distinct_key(entity.as_ref()),
        version: version.map(|version| version.to_string()),
    }
}

fn text(ListResponse { entries, truncated, key, notes }: &ListResponse) -> String {
    let noun = key.entity_type.as_deref().unwrap_or(EntityKind::FILE);
    let mut text = match entries.len() {
        1 => format!("1 {noun}\n"),
        count => format!("{count} {noun}s\n"),
    };
    if *truncated {
        text += &format!("truncated: not all {noun}s are shown\n");
    }
    notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    for ListRow { path, size, key, version } in entries {
        let version = version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
        text += &format!("{}: {size} bytes{version}\n", result_name(path, key));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::request::SearchScope;
    use lockgate_text::Version;
    use serde_json::json;

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
