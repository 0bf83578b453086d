//! The text as a formatter would have it: as a new text, or as findings where it differs.
//!
//! A formatter that prints half a text, another text or a message would destroy a file, so what it gives is held
//! against what it was given: formatting keeps most of the words.
//!
//! Invariant: a text is given only after the exit code 0, and it has at least half of the words that the draft has.

use std::collections::HashSet;

use regex::Regex;

use super::seen::Raw;
use super::{MOST_READ, Said, lines, looked};
use crate::gate::finding::clean;
use crate::gate::silence::Silence;
use crate::policy::{Columns, Command, Form};
use crate::text::{Buffer, Hints, Region};

/// A result has at least one part in so many of the draft's characters that are no space.
const LEAST_SIZE: usize = 4;
/// And at least one part in so many of its words.
const LEAST_WORDS: usize = 2;

/// Gives the view as the program would have it.
///
/// Skipped where the program says that it could not read the text, which is for the checks to find.
pub(in crate::gate) fn formatted(
    command: &Command,
    said: &Said<'_>,
    text: &Buffer,
) -> Result<String, Silence> {
    let Form::Formatted { errors } = &command.output.form else {
        return Err(Silence::Broken("gives no text, as its definition has it".to_owned()));
    };
    looked(command, said)?;
    if said.code == 0 {
        return made(said, text.view()).map_err(|why| said.broken(why));
    }
    let errors = refusals(command, errors.as_ref(), said).map_err(Silence::Broken)?;
    let first = errors.first().map_or_else(String::new, |error| clean(&error.message));
    Err(Silence::Skipped(format!("could not read the draft: {first}")))
}

/// Gives each stretch of lines that the program would change, or what it says against the text.
pub(super) fn findings(
    command: &Command,
    errors: Option<&Regex>,
    said: &Said<'_>,
    text: &Buffer,
) -> Result<Vec<Raw>, String> {
    if said.code != 0 {
        return refusals(command, errors, said);
    }
    hunks(text.view(), &made(said, text.view())?, &command.program)
}

/// What a program said on standard error about a text that it could not read.
fn refusals(command: &Command, errors: Option<&Regex>, said: &Said<'_>) -> Result<Vec<Raw>, String> {
    let text = String::from_utf8_lossy(said.stderr).replace("\r\n", "\n");
    let errors = errors.map_or(Ok(Vec::new()), |errors| lines::among(&text, errors, command.columns))?;
    if errors.is_empty() { Err(said.trouble()) } else { Ok(errors) }
}

/// What the program wrote, where that can be the draft in another dress.
fn made(said: &Said<'_>, view: &str) -> Result<String, String> {
    let text = std::str::from_utf8(said.stdout).map_err(|_| "gave a text that is not UTF-8")?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A carriage return of the view's own, before a line end, is no part of that line end.
    let text = if view.contains('\r') { text.to_owned() } else { text.replace("\r\n", "\n") };
    if text.trim().is_empty() && !view.trim().is_empty() {
        return Err("gave an empty text for one that is not".to_owned());
    }
    if text.contains('\0') && !view.contains('\0') {
        return Err("gave a text with NUL characters".to_owned());
    }
    let size = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
    if size(&text).saturating_mul(LEAST_SIZE) < size(view) {
        return Err("gave less than a quarter of the text".to_owned());
    }
    let (given, kept) = (words(view), words(&text));
    if given.intersection(&kept).count().saturating_mul(LEAST_WORDS) < given.len() {
        return Err("gave a text without half of the words of the draft".to_owned());
    }
    Ok(text)
}

/// The words of a text, in small letters, since some formatters change that of keywords and of numbers.
fn words(text: &str) -> HashSet<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// One finding for each stretch of lines that differs, at its first line.
fn hunks(view: &str, made: &str, program: &str) -> Result<Vec<Raw>, String> {
    let before = Buffer::read(view.into(), Hints::default()).map_err(|error| error.message)?;
    let plan = before.rewrite(made).map_err(|error| error.message)?;
    let after = before.apply(&plan).map_err(|error| error.message)?;
    let regions = plan.regions(&before, &after).into_iter().take(MOST_READ);
    let raw = |region: Region| Raw {
        line: Some(region.start_line),
        end_line: (region.end_line >= region.start_line).then_some(region.end_line),
        code: Some("format".to_owned()),
        columns: Columns::Characters,
        ..Raw::whole_text(format!(
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
    let lines = |count: usize| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    let expected = after.lines().text(region.new_start_line);
    if new == 0 {
        return format!("{} too many", lines(old));
    }
    if (old, new) == (1, 1) && before.lines().text(region.start_line) == expected {
        let end = if after.lines().ends_with_newline() { "is missing" } else { "is too much" };
        return format!("the newline at the end of the text {end}");
    }
    let verb = if old.max(new) == 1 { "differs" } else { "differ" };
    format!("{} {verb}, expected `{}`", lines(old.max(new)), expected.replace('\t', "\\t"))
}
