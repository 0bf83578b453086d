//! The answer of a list: one row for each text.

use serde_json::{Value, json};

use super::Answer;
use crate::engine::{Entries, Listed};

/// Renders which texts there are.
pub(super) fn entries(found: &Entries) -> Answer {
    let Entries { entries, truncated, notes } = found;
    let rows: Vec<Value> = entries.iter().map(row).collect();
    let mut json = json!({ "entries": rows, "truncated": truncated });
    if let (Some(fields), false) = (json.as_object_mut(), notes.is_empty()) {
        fields.insert("notes".to_owned(), json!(notes));
    }
    let mut text = match entries.len() {
        1 => "1 file\n".to_owned(),
        count => format!("{count} files\n"),
    };
    if *truncated {
        text += "truncated: not all files are shown\n";
    }
    notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    for Listed { path, size, version } in entries {
        let version = version.map(|version| format!(", version {version}")).unwrap_or_default();
        text += &format!("{path}: {size} bytes{version}\n");
    }
    Answer { success: true, json, text }
}

fn row(Listed { path, size, version }: &Listed) -> Value {
    match version {
        Some(version) => json!({ "path": path, "size": size, "version": version.to_string() }),
        None => json!({ "path": path, "size": size }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Stamp;

    #[test]
    fn both_forms_have_every_file() {
        let listed = |path: &str, version| Listed { path: path.into(), size: 3, version };
        let entries_ = vec![listed("a", Some(Stamp::of(b"one"))), listed("b", None)];
        let answer = entries(&Entries { entries: entries_, truncated: true, notes: vec!["a note".into()] });
        let version = Stamp::of(b"one").to_string();
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
