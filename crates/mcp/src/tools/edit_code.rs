//! `edit_code`: replaces a block of code, even if it is quoted inexactly.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::edit_file;
use super::fields::{WireMode, edit_request};
use super::request::{EditCall, ToolRequest};
use crate::answer::{FieldNames, ResponseOptions, ToolProfile};
use lockgate_edit::request::{BlockFields, GateOptions, Request, Target, ToleranceFields};
use lockgate_edit::{Edit, Occurrences, OnDuplicate};
use lockgate_engine::Report;
use lockgate_error::{Code, Error, Score};

tool! {
    EditCode => "edit_code", "Replace a block of code",
    &[Toolset::Code], Effect::Changes, RepeatEffect::Changes, PROFILE, current_names
}

const PROFILE: ToolProfile = ToolProfile {
    names: FieldNames {
        path: "file_path",
        content: "new_content",
        search: "search_context",
        replace: "new_content",
        start: "start_line",
        end: "end_line",
    },
    success_message: replaced_block,
    rejection_message,
    ..ToolProfile::PLAIN
};

/// Finds the block `search_context` in a file and replaces it by `new_content`. Indentation, blanks and quotes may
/// differ, and one line may have a typo; exactly one block must match, unless `replace_all`. Lines that you do not
/// change keep the file's text. The project's quality gates judge the result before it is written; a rejection leaves
/// the file as it was and shows the nearest lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditCode {
    /// Absolute, or relative to the first root.
    file_path: String,
    /// The block as you know it, whole lines; not for overwrite_file.
    search_context: Option<String>,
    /// The replacement, or the whole file for overwrite_file.
    new_content: String,
    /// single_match (default), replace_all, or overwrite_file, which also creates the file.
    strategy: Option<Strategy>,
    /// Minimum similarity of the block, from 0 to 1; 0.9 unless given.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
    /// First line to search.
    start_line: Option<i64>,
    /// Last line to search.
    end_line: Option<i64>,
    /// Look inside this symbol only, as in Class.method.
    within: Option<String>,
    /// any: one line but the first may differ in any way; needs within or start_line.
    similar: Option<Similar>,
    /// One of the policy's validate_commands, as in go vet ./...; it must succeed on the draft, or nothing is written.
    validate_command: Option<String>,
    /// strict (default) writes unless a new finding blocks; interactive writes and warns; verify_only never writes.
    mode: Option<WireMode>,
    /// The `version` of an earlier answer; rejected if the edited text changed since.
    expected_version: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Strategy {
    #[default]
    SingleMatch,
    ReplaceAll,
    OverwriteFile,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Similar {
    Any,
}

/// The minimum score if the call sets none.
const THRESHOLD: f64 = 0.9;

/// An older name of `single_match` that is accepted but not listed.
const OLD_NAME: &str = "replace_block";

/// Replaces an older name of a strategy.
fn current_names(mut arguments: JsonObject) -> JsonObject {
    if arguments.get("strategy").and_then(Value::as_str) == Some(OLD_NAME) {
        arguments.insert("strategy".to_owned(), "single_match".into());
    }
    arguments
}

fn into_request(input: EditCode) -> Result<ToolRequest, Error> {
    let profile = match input.strategy.unwrap_or_default() {
        Strategy::SingleMatch => PROFILE,
        Strategy::ReplaceAll => ToolProfile { success_message: edit_file::success_message, ..PROFILE },
        Strategy::OverwriteFile => ToolProfile { success_message: |_| None, ..PROFILE },
    };
    let gate_options = GateOptions { validate: input.validate_command.clone(), step: true };
    let (target, mode) = (Target::File(input.file_path.clone()), input.mode);
    let expected_version = input.expected_version.clone();
    let request = edit_request(target, input.edit()?, mode, expected_version);
    Ok(EditCall::new(Request { gate_options, ..request }, profile).into())
}

impl EditCode {
    fn edit(self) -> Result<Edit, Error> {
        let occurrences = match self.strategy.unwrap_or_default() {
            Strategy::SingleMatch => Occurrences::Block,
            Strategy::ReplaceAll => Occurrences::EveryBlock,
            Strategy::OverwriteFile => {
                self.check_whole_file()?;
                return Ok(Edit::Content(self.new_content));
            }
        };
        let search = self.search_context.ok_or_else(|| {
            let message = "`search_context` is missing: only overwrite_file does not need it";
            Error::new(Code::InvalidInput, message).named_field("search_context")
        })?;
        let fields = BlockFields {
            search,
            replace: self.new_content,
            occurrences,
            tolerance: Some(ToleranceFields {
                threshold: self.threshold.unwrap_or(THRESHOLD),
                any_line: self.similar.is_some(),
            }),
            start_line: self.start_line,
            end_line: self.end_line,
            within: self.within,
            on_duplicate: OnDuplicate::from_expected_version(self.expected_version.as_deref()),
        };
        fields.into_edit().map_err(|error| PROFILE.rename_error_field(error))
    }

    /// Rejects the fields that select a part of the file, which is replaced as a whole.
    fn check_whole_file(&self) -> Result<(), Error> {
        let given = [
            ("search_context", self.search_context.is_some()),
            ("start_line", self.start_line.is_some()),
            ("end_line", self.end_line.is_some()),
            ("within", self.within.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!("`{name}` has no effect with overwrite_file, which replaces the whole file");
        let error = Error::new(Code::InvalidInput, message).named_field(name);
        Err(error.hint(match &self.search_context {
            Some(_) => {
                "single_match replaces the block; for the whole file, leave `search_context` out".to_owned()
            }
            None => format!("for the whole file, leave `{name}` out; a block needs search_context"),
        }))
    }
}

fn replaced_block(report: &Report) -> Option<String> {
    let first = report.matches.lines.first().map(|place| place.line);
    let line = report.matches.info.map(|match_info| match_info.line).or(first)?;
    let score = report.matches.info.map_or(Score::IDENTICAL, |match_info| match_info.score);
    Some(format!("Replaced block at line {line} (Match Score: {}%)", score.percent()))
}

fn rejection_message(error: &Error, _: &ResponseOptions) -> Option<String> {
    match error.code {
        Code::MatchNotFound => Some(match &error.best {
            Some(best) => {
                let (line, score) = (best.start_line, best.score.percent());
                format!("No match found. Best candidate at line {line} (Score: {score}%).")
            }
            None => "No match found.".to_owned(),
        }),
        Code::AmbiguousMatch => {
            let lines: Vec<String> = error.places.iter().map(|place| place.line.to_string()).collect();
            let count = error.place_count_text();
            let more = if error.place_count() > lines.len() { ", ..." } else { "" };
            Some(format!("Ambiguous match. Found {count} occurrences at lines {}{more}", lines.join(", ")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::render_error;
    use lockgate_edit::{LineWindow, Search};
    use lockgate_error::{Best, EvidenceLine};
    use lockgate_matching::{MatchTolerance, TypoPolicy};
    use serde_json::json;

    fn parse_args(fields: Value) -> Result<EditCall, Error> {
        let mut arguments = rmcp::object!({"file_path": "a.go", "new_content": "y"});
        arguments.extend(fields.as_object().cloned().unwrap_or_default());
        parse(arguments).map(ToolRequest::into_edit)
    }

    fn search(fields: Value) -> Search {
        parse_args(fields).unwrap().into_search()
    }

    #[test]
    fn each_strategy_becomes_its_edit() {
        for (strategy, occurrences) in [
            (json!(null), Occurrences::Block),
            (json!("single_match"), Occurrences::Block),
            (json!("replace_block"), Occurrences::Block),
            (json!("replace_all"), Occurrences::EveryBlock),
        ] {
            assert_eq!(
                search(json!({"search_context": "x", "strategy": strategy})).occurrences,
                occurrences,
                "{strategy}"
            );
        }
        let overwritten =
            parse_args(json!({"strategy": "overwrite_file", "threshold": 0.9})).unwrap().request;
        assert_eq!(overwritten.edit, Edit::Content("y".into()));
        let wrong = parse_args(json!({"strategy": "first", "search_context": "x"})).unwrap_err();
        assert!(
            !wrong.message.contains(OLD_NAME) && wrong.message.contains("overwrite_file"),
            "{}",
            wrong.message
        );
        assert!(!serde_json::to_string(&*SCHEMA).unwrap().contains(OLD_NAME));
    }

    #[test]
    fn no_part_of_a_file_that_is_overwritten_is_selected() {
        for (fields, field) in [
            (json!({"search_context": "x"}), "search_context"),
            (json!({"search_context": "x", "within": "f"}), "search_context"),
            (json!({"search_context": ""}), "search_context"),
            (json!({"start_line": 1, "end_line": 2}), "start_line"),
            (json!({"end_line": 2}), "end_line"),
            (json!({"within": "f"}), "within"),
        ] {
            let mut arguments = fields.clone();
            arguments["strategy"] = "overwrite_file".into();
            let error = parse_args(arguments).map(|call| call.request).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)), "{fields}");
            assert_eq!(error.next, None, "either may be meant: {fields}");
        }
    }

    #[test]
    fn where_and_how_to_look_is_read() {
        let found =
            search(json!({"search_context": "x", "threshold": 1, "start_line": 3, "expected_version": "0"}));
        assert_eq!(found.lines, Some(LineWindow { start: 3, end: LineWindow::OPEN }));
        assert_eq!(
            found.tolerance,
            MatchTolerance::Similar { threshold: Score::IDENTICAL, typos: TypoPolicy::Certain }
        );
        assert_eq!(found.on_duplicate, OnDuplicate::InsertAgain);
        let found = search(json!({"search_context": "x", "within": "C.m", "similar": "any"}));
        let threshold = Score::from_ratio(THRESHOLD).unwrap();
        assert_eq!(found.tolerance, MatchTolerance::Similar { threshold, typos: TypoPolicy::Any });
    }

    #[test]
    fn a_rejection_names_the_tool_s_own_field() {
        for (fields, code, field) in [
            (json!({}), Code::InvalidInput, "search_context"),
            (json!({"search_context": ""}), Code::InvalidInput, "search_context"),
            (json!({"search_context": "x", "threshold": "0.9"}), Code::InvalidInput, "threshold"),
            (json!({"search_context": "x", "threshold": 90}), Code::InvalidInput, "threshold"),
            (json!({"search_context": "x", "start_line": 0}), Code::RangeOutOfBounds, "start_line"),
            (json!({"search_context": "x", "start_line": 4, "end_line": 3}), Code::InvalidInput, "end_line"),
            (json!({"search_context": "x", "similar": "any"}), Code::InvalidInput, "similar"),
            (json!({"search_context": "x", "similar": "all"}), Code::InvalidInput, "similar"),
            (
                json!({"search_context": "x", "validate_command": ["go", "vet"]}),
                Code::InvalidInput,
                "validate_command",
            ),
        ] {
            let refused = parse_args(fields.clone()).map(|call| call.request).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (code, Some(field)), "{fields}");
        }
    }

    #[test]
    fn a_rejection_is_worded_as_the_tool_words_it() {
        let options =
            ResponseOptions { path: Some("a.go".into()), profile: PROFILE, ..ResponseOptions::default() };
        let rendered =
            |error: Error| render_error(&error, &options).json["message"].as_str().unwrap().to_owned();
        let places: Vec<EvidenceLine> =
            [3, 9].map(|line| EvidenceLine { line, preview: "x".into(), symbol: None }).into();
        let best = Best {
            start_line: 50,
            end_line: 50,
            score: Score::from_distance(3, 20),
            lines: vec!["func Process(data []byte)".into()],
            excerpt: vec![(9, "near".into())],
            first_difference: None,
        };
        let ambiguous = || Error::new(Code::AmbiguousMatch, "m").places(places.clone());
        for (error, message) in [
            (Error::new(Code::MatchNotFound, "m"), "No match found."),
            (
                Error::new(Code::MatchNotFound, "m").best(best),
                "No match found. Best candidate at line 50 (Score: 85%).",
            ),
            (ambiguous(), "Ambiguous match. Found 2 occurrences at lines 3, 9"),
            (ambiguous().with_place_count(12), "Ambiguous match. Found 12 occurrences at lines 3, 9, ..."),
            (Error::new(Code::AlreadyApplied, "m"), "m"),
        ] {
            assert_eq!(rendered(error), format!("nothing was written: {message}"));
        }
    }
}
