//! `list_edits`: lists the edits, newest first.

use super::entity::{EntityArgs, target};
use super::request::{ToolRequest, parse_number};
use crate::answer::{self, Answer, ResponseOptions, ToolProfile};
use lockgate_edit::request::HistoryRequest;
use lockgate_engine::Entry;
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
    let (hint, cut_hint) = if target.is_none() { (OLDER_HINT, OLDER_HINT) } else { (NEWEST_HINT, CUT_HINT) };
    let offset = parse_number(input.offset, 0, &(0..=MAX_OFFSET), "offset");
    let offset = offset.map_err(|error| if is_too_large { error.hint(hint) } else { error })?;
    // One more entry than is shown tells if there are more.
    let request = HistoryRequest { target, max_entries: offset + most + 1 };
    let page = EditsPage { offset, most, hint, cut_hint };
    Ok(ToolRequest::read(request, move |entries, options| page.render(entries, options)))
}

/// A part of the list of edits.
struct EditsPage {
    /// The number of skipped edits.
    offset: usize,
    /// The most edits that are shown.
    most: usize,
    /// The next step for edits that no offset reaches.
    hint: &'static str,
    /// The same, if the list ends before the last edit that can be listed.
    cut_hint: &'static str,
}

impl EditsPage {
    fn render(&self, entries: &[Entry], options: &ResponseOptions) -> Answer {
        let truncated = |shown| {
            let is_cut = self.offset + shown < MAX_LISTED;
            let hint = if is_cut { self.cut_hint } else { self.hint };
            next_step(self.offset, shown, hint)
        };
        answer::history(entries.get(self.offset..).unwrap_or_default(), self.most, truncated, options)
    }
}

/// Returns the next step after a list that is not complete; `hint` is that for edits that no offset reaches.
fn next_step(offset: usize, shown: usize, hint: &'static str) -> &'static str {
    if offset.saturating_add(shown) <= MAX_OFFSET {
        "there are more edits; `offset` skips these"
    } else {
        hint
    }
}

/// The number of the newest edits that can be listed: one more tells if there are others.
const MAX_LISTED: usize = HistoryRequest::MAX_ENTRIES - 1;

/// The maximum number of skipped edits: with those that are shown, as many as one request may have.
const MAX_OFFSET: usize = HistoryRequest::MAX_ENTRIES - 101;

/// The next step after a larger offset in the list of all edits.
const OLDER_HINT: &str = "only the newest edits can be listed; `path` lists older ones of one file or entity";

/// The next step after a larger offset in the list of one file or entity.
const NEWEST_HINT: &str = "at most the 999 newest edits of a file or entity can be listed";

/// The next step after a list of one file or entity that ends before the last of these, if no offset reaches the rest.
const CUT_HINT: &str = "there are more edits, and no `offset` reaches them; on the command line, \
    `lockgate log -n 999 PATH` lists those of a file";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::Forms;
    use lockgate_engine::{EditMeta, EntryKind};
    use lockgate_text::Version;

    #[test]
    fn a_list_whose_rest_does_not_fit_says_how_to_get_it() {
        let meta = EditMeta {
            tool: "edit_file".to_owned(),
            author: "client".to_owned(),
            request: Version::hash(b""),
            kind: EntryKind::Edit,
            gates: String::new(),
        };
        let id = |number: usize| format!("7f3a-{number}").parse().unwrap();
        let at = std::time::SystemTime::UNIX_EPOCH;
        let entry = |number: usize| Entry {
            id: id(number),
            at,
            meta: meta.clone(),
            undone: false,
            changes: Vec::new(),
        };
        let entries: Vec<Entry> = (1..=HistoryRequest::MAX_ENTRIES).rev().map(entry).collect();
        for (offset, most, forms, step) in [
            (MAX_OFFSET, 100, Forms::Both, CUT_HINT),
            (MAX_OFFSET - 10, 20, Forms::Both, CUT_HINT),
            (MAX_OFFSET, 2, Forms::Both, CUT_HINT),
            (MAX_OFFSET, 100, Forms::Text, NEWEST_HINT),
            (0, 100, Forms::Both, "there are more edits; `offset` skips these"),
        ] {
            let page = EditsPage { offset, most, hint: NEWEST_HINT, cut_hint: CUT_HINT };
            let options = ResponseOptions { forms, ..ResponseOptions::default() };
            let answer = page.render(&entries, &options);
            assert!(answer.text.ends_with(&format!("\ntruncated: {step}")), "{offset}: {}", answer.text);
            let json = if forms == Forms::Both { answer.json.to_string() } else { String::new() };
            assert!(answer.text.len() + json.len() < options.limit, "{offset}");
        }
    }

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
