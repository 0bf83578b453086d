//! Reads a formatter's output: as a new text, or as findings where it differs from the draft.
//!
//! A formatter that prints half a text, a text twice, another text or a message would destroy a file. So its
//! output is compared with its input: formatting keeps most words, and adds no copy and no line of natural
//! language.
//!
//! Invariant: a text is returned only after the exit code 0, and it has at least half of the draft's words.

use std::collections::HashSet;

use regex::Regex;

use super::program_output::{MAX_READ, ProgramOutput, check_no_crash, check_ran};
use super::raw_finding::RawFinding;
use super::value::excerpt;
use super::{lines, notes, repetition};
use crate::error::GateError;
use crate::finding::sanitize;
use crate::wording::counted;
use lockgate_policy::{Columns, CommandSpec, OutputForm};
use lockgate_text::{Buffer, Hints, Region};

/// The smallest size of a result: one part in this many of the draft's non-space characters.
const LEAST_SIZE: usize = 4;
/// The smallest number of common words: one part in this many of the draft's.
const LEAST_WORDS: usize = 2;
/// A line in the middle of a text is foreign if it has at least this many words and none of them is the
/// draft's.
const LEAST_FOREIGN: usize = 3;
/// The number of letters that make a word, as opposed to a number or a row of brackets.
const LEAST_LETTERS: usize = 3;

/// Returns the formatted view.
///
/// Errors: `Unread` if the program could not parse the text.
pub(crate) fn formatted(
    command: &CommandSpec,
    run: &ProgramOutput<'_>,
    text: &Buffer,
) -> Result<String, GateError> {
    let OutputForm::Formatted { errors } = &command.output.form else {
        return Err(GateError::Broken("returns no text according to its definition".to_owned()));
    };
    check_ran(command, run)?;
    check_no_crash(command, run)?;
    if run.code == 0 {
        return formatted_text(run, text.view()).map_err(|why| run.gate_error(why));
    }
    let errors = reported_errors(command, errors.as_ref(), run).map_err(GateError::Broken)?;
    let first = errors.first().map_or_else(String::new, |error| sanitize(&error.message));
    Err(GateError::Unread(format!("could not read the draft: {first}")))
}

/// Returns a finding for each range of lines that the program would change, or its errors about the text.
pub(super) fn findings(
    command: &CommandSpec,
    errors: Option<&Regex>,
    run: &ProgramOutput<'_>,
    text: &Buffer,
) -> Result<Vec<RawFinding>, String> {
    if run.code != 0 {
        return reported_errors(command, errors, run);
    }
    hunks(text.view(), &formatted_text(run, text.view())?, &command.program.name)
}

/// Reads errors about an unreadable text from standard error.
fn reported_errors(
    command: &CommandSpec,
    errors: Option<&Regex>,
    run: &ProgramOutput<'_>,
) -> Result<Vec<RawFinding>, String> {
    let text = String::from_utf8_lossy(run.stderr).replace("\r\n", "\n");
    let errors =
        errors.map_or(Ok(Vec::new()), |errors| lines::among(&text, errors, command.output.columns))?;
    if errors.is_empty() { Err(run.failure_message()) } else { Ok(errors) }
}

/// Returns the program's output if it can be a formatted version of the draft.
fn formatted_text(run: &ProgramOutput<'_>, view: &str) -> Result<String, String> {
    let text = std::str::from_utf8(run.stdout).map_err(|_| "returned a text that is not UTF-8")?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A carriage return of the view's own before a line end is not part of that line end.
    let text = if view.contains('\r') { text.to_owned() } else { text.replace("\r\n", "\n") };
    if text.trim().is_empty() && !view.trim().is_empty() {
        return Err("returned an empty text for one that is not empty".to_owned());
    }
    if text.contains('\0') && !view.contains('\0') {
        return Err("returned a text with NUL characters".to_owned());
    }
    let size = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
    if size(&text).saturating_mul(LEAST_SIZE) < size(view) {
        return Err("returned less than a quarter of the text".to_owned());
    }
    let (words_before, words_after) = (words(view), words(&text));
    if words_before.intersection(&words_after).count().saturating_mul(LEAST_WORDS) < words_before.len() {
        return Err("returned a text that lacks half of the words of the draft".to_owned());
    }
    if repetition::has_added_copy(&text, view) {
        return Err("returned the text of the draft more than once".to_owned());
    }
    match foreign_line(&text, view, &words_before).filter(|_| notes::is_on()) {
        Some(line) => Err(format!("added a line that is not part of the text: {}", excerpt(line))),
        None => Ok(text),
    }
}

/// Returns the first line of a formatted text that cannot come from the draft with these words: a note or a
/// banner of the program.
///
/// A line whose words are all in the draft may be the draft's own. A known note with another word is foreign.
/// The first and the last line, where banners are, are foreign if most of their words are and the draft's own
/// first or last line is also present. A line between them is foreign if all of its words are, and there are
/// at least [`LEAST_FOREIGN`]. Formatters add imports and comments, which are not foreign.
fn foreign_line<'t>(text: &'t str, view: &str, known_words: &HashSet<String>) -> Option<&'t str> {
    if known_words.is_empty() {
        return None;
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.len().saturating_sub(1);
    let is_beside = |at: usize| {
        let mut draft_lines = view.lines().filter(|line| !line.trim().is_empty());
        let edge = if at == 0 { draft_lines.next() } else { draft_lines.next_back() };
        let edge = words(edge.unwrap_or_default());
        let other_words = lines.iter().enumerate().filter(|(other, _)| *other != at);
        let other_words: HashSet<String> = other_words.flat_map(|(_, line)| words(line)).collect();
        edge.is_subset(&other_words)
    };
    let is_foreign = |(at, line): (usize, &str)| {
        let own = words(line);
        let known = own.intersection(known_words).count();
        if known == own.len() {
            return false;
        }
        if notes::is_note(line) || notes::is_crash(line) {
            return true;
        }
        let is_word = |word: &&String| word.chars().filter(|c| c.is_alphabetic()).count() >= LEAST_LETTERS;
        let unknown = own.difference(known_words).filter(is_word).count();
        if may_be_added(line) || unknown == 0 {
            return false;
        }
        let at_edge = at == 0 || at == last;
        let is_other = known == 0 && unknown >= LEAST_FOREIGN;
        is_other || (at_edge && known * 2 < own.len() && is_beside(at))
    };
    let at = lines.iter().enumerate().position(|(at, line)| is_foreign((at, *line)))?;
    lines.get(at).copied()
}

/// Returns true for a line that formatters add by themselves: an import, a comment, a declaration, a pragma.
fn may_be_added(line: &str) -> bool {
    let line = line.trim_start();
    let marks = ["#", "//", "/*", "*", "--", ";", "%", "@", "<?", "<!", "{/*", "\"use ", "'use "];
    let keywords = ["import", "from", "use", "using", "include", "require", "package", "extern"];
    let word: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    marks.iter().any(|mark| line.starts_with(mark)) || keywords.contains(&word.as_str())
}

/// The words of a text in lower case, because some formatters change the case of keywords and numbers.
fn words(text: &str) -> HashSet<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns a finding for each range of lines that differs, at its first line.
fn hunks(view: &str, output: &str, program: &str) -> Result<Vec<RawFinding>, String> {
    let before = Buffer::read(view.into(), Hints::default()).map_err(|error| error.message)?;
    let plan = before.rewrite(output).map_err(|error| error.message)?;
    let after = before.apply(&plan).map_err(|error| error.message)?;
    let regions = plan.regions(&before, &after).into_iter().take(MAX_READ);
    let raw = |region: Region| RawFinding {
        line: Some(region.start_line),
        end_line: (region.end_line >= region.start_line).then_some(region.end_line),
        code: Some("format".to_owned()),
        columns: Columns::Characters,
        ..RawFinding::whole_text(format!(
            "not formatted as {program} would: {}",
            difference(&region, &before, &after)
        ))
    };
    Ok(regions.map(raw).collect())
}

fn difference(region: &Region, before: &Buffer, after: &Buffer) -> String {
    let count = |first: usize, last: usize| (last + 1).saturating_sub(first);
    let old = count(region.start_line, region.end_line);
    let new = count(region.new_start_line, region.new_end_line);
    let expected = after.lines().text(region.new_start_line);
    if new == 0 {
        return format!("{} too many", counted(old, "line"));
    }
    if (old, new) == (1, 1) && before.lines().text(region.start_line) == expected {
        let end = if after.lines().ends_with_newline() { "is missing" } else { "is superfluous" };
        return format!("the newline at the end of the text {end}");
    }
    let verb = if old.max(new) == 1 { "differs" } else { "differ" };
    format!("{} {verb}, expected `{}`", counted(old.max(new), "line"), expected.replace('\t', "\\t"))
}
