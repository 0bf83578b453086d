//! `search_content`: finds the lines that match a pattern.
//!
//! The text form looks like the output of `grep`.

use super::entity::AnyEntityArgs;
use super::fields::parse_number;
use super::request::ToolRequest;
use crate::answer::{ToolProfile, result_name};
use lockgate_edit::request::FlagsValue;
use lockgate_engine::SearchRequest;
use lockgate_error::{Code, Error};
use lockgate_protocol::{FileMatches, NumberedText, SearchResponse, SearchRow};
use lockgate_python_re::Flags;

read_tool! {
    SearchContent => SearchRequest => text, "search_content", "Search files",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, ToolProfile::PLAIN
}

/// The largest offset of a page.
const MAX_OFFSET: usize = 100_000;

/// Finds the lines that a regex matches, with the lines around them and each file's `version`. Files that git ignores
/// are left out.
#[derive(Deserialize, JsonSchema)]
struct SearchContent {
    /// Regex without look-around; `^` and `$` match at line ends.
    pattern: String,
    /// `pattern` is a text, not a regex.
    literal: Option<bool>,
    /// Sum of I=2, S=16, X=64.
    #[schemars(with = "Option<i64>")]
    search_flags: Option<FlagsValue>,
    /// File, folder or glob (`src/**/*.py`).
    path: Option<String>,
    /// Lines around each match, 3 unless given.
    context_lines: Option<i64>,
    /// Maximum number, 20 unless given.
    max_results: Option<i64>,
    /// Skip this many matches.
    offset: Option<i64>,
    /// Also hidden files.
    hidden: Option<bool>,
    /// A match may span lines.
    multiline: Option<bool>,
    #[serde(flatten)]
    entity: AnyEntityArgs,
}

/// The flags that a search may have.
const FLAGS: &str = "give a sum of I=2, M=8, S=16 and X=64, or their letters, as in `I|M`";

impl TryFrom<SearchContent> for SearchRequest {
    type Error = Error;

    fn try_from(input: SearchContent) -> Result<SearchRequest, Error> {
        if input.pattern.is_empty() {
            return Err(Error::new(Code::InvalidInput, "pattern is empty, so every line would match")
                .named_field("pattern"));
        }
        let context = parse_number(input.context_lines, 3, &(0..=50), "context_lines")?;
        let max_matches = parse_number(input.max_results, 20, &(1..=1000), "max_results")?;
        let offset = parse_number(input.offset, 0, &(0..=MAX_OFFSET), "offset")?;
        let flags = input.search_flags.map(FlagsValue::into_flags);
        let flags = flags.transpose().map_err(|error| error.hint(FLAGS))?.unwrap_or_default();
        if flags.has(Flags::ASCII) {
            let message = "the flag A is only for safe_edit_file; here \\w and \\d match all of Unicode";
            return Err(Error::new(Code::InvalidInput, message).field("search_flags"));
        }
        let pattern = match input.literal {
            // The flag X would leave out the blanks of a text.
            Some(true) => format!("(?-x:{})", regex_syntax::escape(&input.pattern)),
            Some(false) | None => input.pattern,
        };
        Ok(SearchRequest {
            pattern: inline_flags(flags) + &pattern,
            path: input.path,
            entity_scope: input.entity.fields().into_scope()?,
            context,
            max_matches,
            hidden: input.hidden.unwrap_or(false),
            multiline: input.multiline.unwrap_or(false) || flags.has(Flags::DOTALL),
            offset,
        })
    }
}

/// Returns the flags as the beginning of a pattern, as in `(?is)`; empty without flags.
fn inline_flags(flags: Flags) -> String {
    let letters = [(Flags::IGNORECASE, 'i'), (Flags::DOTALL, 's'), (Flags::VERBOSE, 'x')];
    let set: String =
        letters.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| *letter).collect();
    if set.is_empty() { set } else { format!("(?{set})") }
}

fn text(response: &SearchResponse) -> String {
    let SearchResponse { matches, total_matches, truncated, next_offset, counts, notes, .. } = response;
    let mut text = match (matches.len(), *total_matches) {
        (_, 0) => "no matches\n".to_owned(),
        (1, 1) => "1 match\n".to_owned(),
        (shown, total) if shown == total => format!("{total} matches\n"),
        (shown, total) => format!("{shown} of {total} matches are shown\n"),
    };
    if *truncated {
        let next = next_offset
            .filter(|next| *next <= MAX_OFFSET)
            .map(|next| format!("; give offset: {next} for the next ones"));
        text += &format!("truncated: not all matches are shown{}\n", next.unwrap_or_default());
    }
    if !counts.is_empty() {
        let counted = |it: &FileMatches| format!("{} {}", result_name(&it.path, &it.key), it.matches);
        let uncounted = total_matches.saturating_sub(counts.iter().map(|it| it.matches).sum());
        let rest = (uncounted > 0).then(|| format!("{uncounted} elsewhere"));
        let listed: Vec<String> = counts.iter().map(counted).chain(rest).collect();
        text += &format!("matches: {}\n", listed.join(", "));
    }
    notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    let documents = matches.chunk_by(|one, other| (&one.path, &one.key) == (&other.path, &other.key));
    documents.for_each(|matches| text += &document_text(matches));
    text
}

/// Renders the matches in one document. Lines that two matches share are shown once.
fn document_text(matches: &[SearchRow]) -> String {
    let Some(first) = matches.first() else { return String::new() };
    let mut text = format!("\n{} (version {})\n", result_name(&first.path, &first.key), first.version);
    // As in grep, only groups of several lines are divided.
    let has_context =
        matches.iter().any(|one| !one.context_before.is_empty() || !one.context_after.is_empty());
    // The last line that was shown.
    let mut done = 0;
    for (at, one) in matches.iter().enumerate() {
        let start = one.context_before.first().map_or(one.line_number, |first| first.line);
        if has_context && at > 0 && start > done + 1 {
            text += "--\n";
        }
        let until = matches.get(at + 1).map_or(usize::MAX, |next| next.line_number);
        context(&mut text, one.context_before.iter().filter(|line| line.line > done));
        let mut parts = one.text.split('\n');
        for (line, part) in (one.line_number..).zip(parts.by_ref().take(SearchRow::MAX_LINES)) {
            text += &format!("{line}: {part}\n");
        }
        // The mark of the lines that are not shown has no number.
        parts.for_each(|mark| text += &format!("{mark}\n"));
        context(&mut text, one.context_after.iter().filter(|line| line.line < until));
        let end = one.end_line.unwrap_or(one.line_number);
        let last = one.context_after.last().map_or(end, |line| line.line);
        done = last.min(until.saturating_sub(1));
    }
    text
}

fn context<'a>(text: &mut String, lines: impl Iterator<Item = &'a NumberedText>) {
    lines.for_each(|NumberedText { line, text: row }| *text += &format!("{line}- {row}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use lockgate_error::Code;
    use lockgate_protocol::EntityKey;
    use lockgate_text::Version;
    use serde_json::json;

    fn shown(found: &SearchResponse) -> Answer {
        Answer::from_response(found, text(found))
    }

    fn parse_args(arguments: serde_json::Value) -> Result<SearchRequest, Error> {
        SearchRequest::try_from(parse_input(arguments.as_object().cloned().unwrap())?)
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let request = parse_args(json!({"pattern": "a"})).unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.multiline),
            (3, 20, false, false)
        );
        let request =
            parse_args(json!({"pattern": "a", "context_lines": 0, "max_results": 1000, "hidden": true}))
                .unwrap();
        assert_eq!(
            (request.context, request.max_matches, request.hidden, request.path),
            (0, 1000, true, None)
        );
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_by_name() {
        for (field, value) in [
            ("pattern", json!("")),
            ("context_lines", json!(-1)),
            ("context_lines", json!(51)),
            ("max_results", json!(0)),
            ("max_results", json!(1001)),
            ("organization_id", json!("x")),
        ] {
            let mut arguments = json!({"pattern": "a"});
            arguments[field] = value;
            let error = parse_args(arguments).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }

    fn numbered(lines: &[usize]) -> Vec<NumberedText> {
        lines.iter().map(|&line| NumberedText { line, text: format!("line {line}") }).collect()
    }

    fn found(
        path: &str,
        lines: std::ops::RangeInclusive<usize>,
        before: &[usize],
        after: &[usize],
    ) -> SearchRow {
        let (line, end_line) = (*lines.start(), *lines.end());
        let text: Vec<String> = lines.map(|line| format!("line {line}")).collect();
        SearchRow {
            path: path.into(),
            line_number: line,
            end_line: (end_line > line).then_some(end_line),
            text: text.join("\n"),
            context_before: numbered(before),
            context_after: numbered(after),
            version: Version::hash(b"").to_string(),
            key: EntityKey::default(),
        }
    }

    #[test]
    fn the_json_has_each_match_separately() {
        let one = found("a", 3..=3, &[2], &[4]);
        let notes = vec!["a note".to_owned()];
        let (matches, total_matches) = (vec![one], 2);
        let response =
            SearchResponse { matches, total_matches, truncated: true, notes, ..SearchResponse::default() };
        let answer = shown(&response);
        assert_eq!(
            answer.json,
            json!({"matches": [{"path": "a", "line_number": 3, "match": "line 3", "context_before": ["2: line 2"],
                "context_after": ["4: line 4"], "version": "af1349b9f5f9"}], "total_matches": 2, "truncated": true,
                "notes": ["a note"]})
        );
        let wanted = "1 of 2 matches are shown\ntruncated: not all matches are shown\nnote: a note\n\n\
            a (version af1349b9f5f9)\n2- line 2\n3: line 3\n4- line 4\n";
        assert_eq!(answer.text, wanted);
    }

    #[test]
    fn matches_that_are_not_shown_are_counted_and_have_an_offset() {
        let count =
            |path: &str, matches| FileMatches { path: path.into(), matches, ..FileMatches::default() };
        let matches = vec![found("a", 3..=3, &[], &[]), found("a", 9..=9, &[], &[])];
        let (counts, next_offset) = (vec![count("a", 4), count("b", 3)], Some(2));
        let some = SearchResponse {
            matches,
            total_matches: 9,
            truncated: true,
            counts,
            next_offset,
            ..Default::default()
        };
        let start = "2 of 9 matches are shown\ntruncated: not all matches are shown; give offset: 2 for the next ones\n";
        let rows = "\n\na (version af1349b9f5f9)\n3: line 3\n9: line 9\n";
        assert_eq!(shown(&some).text, format!("{start}matches: a 4, b 3, 2 elsewhere{rows}"));
        assert_eq!(shown(&some).json.get("next_offset"), None);
        let all = SearchResponse { total_matches: 7, ..some };
        assert_eq!(shown(&all).text, format!("{start}matches: a 4, b 3{rows}").replace("of 9", "of 7"));
    }

    #[test]
    fn the_mark_of_omitted_lines_has_no_number() {
        let lines = found("a", 1..=SearchRow::MAX_LINES, &[], &[]).text;
        for (mark, end_line, wanted) in
            [("", 50, "50: line 50\n51- line 51\n"), ("\n...", 71, "50: line 50\n...\n72- line 72\n")]
        {
            let text = format!("{lines}{mark}");
            let one = SearchRow { text, ..found("a", 1..=end_line, &[], &[end_line + 1]) };
            let answer =
                shown(&SearchResponse { matches: vec![one], total_matches: 1, ..Default::default() });
            assert!(answer.text.ends_with(&format!("\n49: line 49\n{wanted}")), "{}", answer.text);
        }
    }

    #[test]
    fn readers_are_shown_each_line_once() {
        let matches = vec![
            found("a", 2..=2, &[1], &[3, 4]),
            found("a", 3..=3, &[1, 2], &[4, 5]),
            found("a", 6..=7, &[4, 5], &[8]),
            found("a", 12..=12, &[11], &[]),
            found("b", 1..=1, &[], &[2]),
        ];
        let answer = shown(&SearchResponse { matches, total_matches: 5, ..SearchResponse::default() });
        let wanted = "5 matches\n\na (version af1349b9f5f9)\n1- line 1\n2: line 2\n3: line 3\n4- line 4\n5- line 5\n\
            6: line 6\n7: line 7\n8- line 8\n--\n11- line 11\n12: line 12\n\nb (version af1349b9f5f9)\n1: line 1\n\
            2- line 2\n";
        assert_eq!(answer.text, wanted);
        assert_eq!(answer.json["matches"][2]["end_line"], 7);
        assert_eq!(shown(&SearchResponse::default()).text, "no matches\n");
    }
}
