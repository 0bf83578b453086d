//! `list_content`: lists files or entities, one row for each.

use super::entity::AnyEntityArgs;
use super::fields::parse_number;
use super::request::ToolRequest;
use crate::answer::{FieldNames, ToolProfile, counted, result_name};
use lockgate_edit::request::EntityKind;
use lockgate_engine::ListRequest;
use lockgate_error::Error;
use lockgate_protocol::{ListResponse, ListRow};

read_tool! {
    ListContent => ListRequest => text, "list_content", "List files",
    &[Toolset::Look, Toolset::Content], Effect::Reads, RepeatEffect::NoChange, PROFILE
}

const PROFILE: ToolProfile =
    ToolProfile { names: FieldNames { path: "path_prefix", ..FieldNames::PLAIN }, ..ToolProfile::PLAIN };

/// Lists files by path, with size and `version`, without hidden and ignored ones.
#[derive(Deserialize, JsonSchema)]
struct ListContent {
    /// A folder, a glob (`*.py`), or the start of paths.
    path_prefix: Option<String>,
    /// Maximum number, 200 unless given.
    max_results: Option<i64>,
    #[serde(flatten)]
    entity: AnyEntityArgs,
}

impl TryFrom<ListContent> for ListRequest {
    type Error = Error;

    fn try_from(input: ListContent) -> Result<ListRequest, Error> {
        let max_entries = parse_number(input.max_results, 200, &(1..=5000), "max_results")?;
        let (prefix, scope) = (input.path_prefix.unwrap_or_default(), input.entity.fields().into_scope()?);
        Ok(ListRequest { prefix, scope, max_entries })
    }
}

fn text(ListResponse { entries, truncated, key, notes }: &ListResponse) -> String {
    let noun = key.entity_type.as_deref().unwrap_or(EntityKind::FILE);
    let mut text = counted(entries.len(), noun) + "\n";
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
    use crate::answer::Answer;
    use lockgate_error::Code;
    use lockgate_protocol::EntityKey;
    use lockgate_text::Version;
    use serde_json::json;

    #[test]
    fn a_number_of_results_is_within_bounds() {
        let most = |value: serde_json::Value| {
            let input = parse_input(json!({"max_results": value}).as_object().cloned().unwrap());
            let request = input.and_then(ListRequest::try_from);
            request.map(|request| request.max_entries).map_err(|error| (error.code, error.field))
        };
        assert_eq!((most(json!(null)), most(json!(5000))), (Ok(200), Ok(5000)));
        for wrong in [0, 5001] {
            assert_eq!(most(json!(wrong)), Err((Code::InvalidInput, Some("max_results".into()))));
        }
    }

    #[test]
    fn both_forms_have_every_file() {
        let version = Version::hash(b"one").to_string();
        let listed =
            |path: &str, version| ListRow { path: path.into(), size: 3, key: EntityKey::default(), version };
        let entries = vec![listed("a", Some(version.clone())), listed("b", None)];
        let (key, notes) = (EntityKey::default(), vec!["a note".into()]);
        let found = ListResponse { entries, truncated: true, key, notes };
        let answer = Answer::from_response(&found, text(&found));
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
