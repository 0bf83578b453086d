//! `list_edits`: lists the edits, newest first.

use super::entity::{EntityArgs, target};
use super::fields::parse_number;
use super::request::ToolRequest;
use crate::answer::{self, ToolProfile};
use lockgate_edit::request::HistoryRequest;
use lockgate_error::Error;

tool! {
    ListEdits => "list_edits", "List edits",
    &[Toolset::History], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// Lists the edits that lockgate wrote, newest first: each with its `edit_id`, time, author and changes to each file,
/// and whether it was undone.
#[derive(Deserialize, JsonSchema)]
struct ListEdits {
    /// Only those of this file or entity.
    path: Option<String>,
    /// Maximum number, 20 unless given; fewer if they have more than 8 KB.
    #[schemars(range(min = 1, max = 100))]
    max_results: Option<i64>,
    /// Skip this many edits, at most 899.
    offset: Option<i64>,
    #[serde(flatten)]
    entity: EntityArgs,
}

fn into_request(input: ListEdits) -> Result<ToolRequest, Error> {
    let target = target(input.path, input.entity.fields())?;
    let most = parse_number(input.max_results, 20, &(1..=100), "max_results")?;
    let is_too_large = input.offset.is_some_and(|offset| offset > 0);
    let hint = if target.is_none() { OLDER_HINT } else { NEWEST_HINT };
    let offset = parse_number(input.offset, 0, &(0..=MAX_OFFSET), "offset");
    let offset = offset.map_err(|error| if is_too_large { error.hint(hint) } else { error })?;
    // One more entry than is shown tells if there are more.
    let request = HistoryRequest { target, max_entries: offset + most + 1 };
    Ok(ToolRequest::read(request, move |entries, options| {
        let entries = entries.get(offset..).unwrap_or_default();
        answer::history(entries, most, |shown| next_step(offset, shown, hint), options)
    }))
}

/// Returns the next step after a list that is not complete; `hint` is that for edits that no offset reaches.
fn next_step(offset: usize, shown: usize, hint: &'static str) -> &'static str {
    if offset.saturating_add(shown) <= MAX_OFFSET {
        "there are more edits; `offset` skips these"
    } else {
        hint
    }
}

/// The maximum number of skipped edits: with those that are shown, as many as one request may have.
const MAX_OFFSET: usize = HistoryRequest::MAX_ENTRIES - 101;

/// The next step after a larger offset in the list of all edits.
const OLDER_HINT: &str = "only the newest edits can be listed; `path` lists older ones of one file or entity";

/// The next step after a larger offset in the list of one file or entity.
const NEWEST_HINT: &str = "at most the 999 newest edits of a file or entity can be listed, the last 100 with `offset` 899; on the command line, \
    `lockgate log -n 999 PATH` lists those of a file";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_next_step_is_possible() {
        let skips = "there are more edits; `offset` skips these";
        for (offset, shown, step) in
            [(0, 20, skips), (879, 20, skips), (880, 20, OLDER_HINT), (899, 1, OLDER_HINT)]
        {
            assert_eq!(next_step(offset, shown, OLDER_HINT), step, "{offset} and {shown}");
        }
    }

    #[test]
    fn a_number_of_results_is_within_bounds() {
        let asked = |arguments: serde_json::Value| {
            let arguments = arguments.as_object().cloned().unwrap();
            parse(arguments).map(|request| format!("{request:?}")).map_err(|error| error.field)
        };
        for (arguments, max_entries) in [
            (json!({"max_results": null}), 21),
            (json!({"max_results": 1}), 2),
            (json!({"max_results": 100}), 101),
            (json!({"offset": 40}), 61),
            (json!({"max_results": 100, "offset": MAX_OFFSET}), HistoryRequest::MAX_ENTRIES),
        ] {
            let wanted = HistoryRequest { target: None, max_entries };
            assert_eq!(asked(arguments), Ok(format!("Read({wanted:?})")));
        }
        for wrong in [json!(0), json!(101), json!(-1), json!("x")] {
            assert_eq!(asked(json!({"max_results": wrong})), Err(Some("max_results".into())));
        }
        assert_eq!(MAX_OFFSET, 899, "the description of the field has the number");
        let hint = |arguments: serde_json::Value| {
            parse(arguments.as_object().cloned().unwrap()).unwrap_err().hint.map(String::from)
        };
        assert_eq!(hint(json!({"offset": MAX_OFFSET + 1})).as_deref(), Some(OLDER_HINT));
        assert_eq!(hint(json!({"offset": MAX_OFFSET + 1, "path": "a"})).as_deref(), Some(NEWEST_HINT));
        assert!(NEWEST_HINT.contains(&format!("the {} newest", MAX_OFFSET + 100)));
        for arguments in [json!({"offset": -1}), json!({"offset": -1, "path": "a"})] {
            assert_eq!(hint(arguments), None);
        }
        for wrong in [json!(-1), json!(MAX_OFFSET + 1)] {
            assert_eq!(asked(json!({"offset": wrong})), Err(Some("offset".into())));
        }
    }
}
