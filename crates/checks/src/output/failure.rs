//! Builds the finding of a program that reports failure only by its exit code: a validating command, a gate
//! with `text: exit`.
//!
//! The first lines of such an output say what was started. The lines that name a failure and the last lines
//! say what went wrong, so the message shows those. Two failures are compared by the lines that name a
//! failure, without times, counts, addresses and paths of temporary files. A number that belongs to a name is
//! kept, because another test has another number.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use super::notes;
use super::program_output::ProgramOutput;
use super::raw_finding::RawFinding;
use crate::constant_pattern::{regex, regex_set};
use crate::finding::{LONGEST_MESSAGE, cut, sanitize};
use lockgate_policy::Stream;

/// The number of lines shown that name a failure, from the first.
const SHOWN_NAMED: usize = 3;
/// The number of last lines shown after those, and the number shown if no line names a failure.
const SHOWN_LAST: usize = 2;
const SHOWN_LAST_ALONE: usize = 4;
/// The largest number of lines by which two failures are compared.
const MAX_PARTS: usize = 500;
/// The smallest number of characters shown of a line.
const LEAST_SHOWN: usize = 24;

/// Patterns of lines that name a failure.
const FAILURE_PATTERNS: [&str; 11] = [
    r"(?i)\berror\b",
    r"(?i)\bfail(?:ed|ures?)?\b",
    r"(?i)\bpanic(?:ked)?\b",
    r"(?i)\bassert(?:ion)?\b|\bAssertionError\b",
    r"^E\s{2,}",
    r"^\s*not ok\b",
    r"^\s*(?:✗|✘|✖|×|✕|❌|⨯)",
    r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b(?::|$)",
    r"(?i)^\s*(?:fatal|undefined reference|segmentation fault|killed|aborted)\b",
    r"^\s+[\w./-]+_test\.go:\d+: ",
    r"^(?:\*\*\*|make(?:\[\d+\])?: \*\*\*) ",
];

/// Patterns of lines with such a word that name none.
const HARMLESS_PATTERNS: [&str; 4] = [
    r"(?:\.\.\. (?:ok|ignored)|\bPASSED(?:\s*\[\s*\d+%\])?)\s*$",
    r"^\s*(?:ok|PASS|---\s+PASS)\b",
    r"^\s*(?:✓|✔)",
    r"^[\s=_-]*(?i:failures?|errors?):?[\s=_-]*$",
];

/// Words that count failures, with a count of zero.
const NONE_FAILED: &str =
    r"(?i)\b(?:0|no) (?:errors?|failed|failures?)\b|\b(?:errors?|failed|failures?)[:=] ?0\b";

/// Patterns of text that differs between two runs with the same failure.
const VARYING_PATTERNS: [&str; 14] = [
    // The number of a process or of a make, and the worker that ran a test.
    r"\w\[\d+\]:",
    r"\[gw\d+\]",
    r"\b\d{8}T\d{6}(?:\.\d+)?Z?\b",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\b",
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    r"\b0x[0-9a-fA-F]+\b",
    r#"(?:/private)?(?:/var)?/tmp/[^\s:'"`,)]*"#,
    r#"(?:/run/user|/var/folders|/dev/shm|/proc/\d+)/[^\s:'"`,)]*"#,
    r"\btmp[\w-]{6,}\b",
    r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|m|min|minutes?|%|[kKMGT]?i?B)\b",
    r"\b(?:\d+(?:\.\d+)?(?:h|ms|us|µs|ns|m|s))+\b",
    r"\b\d+(?:\.\d+)?[eE][+-]?\d+\b",
    r"\b\d+\b",
];

/// Names that may contain numbers: a TAP test, a test case, a path. Other names are words, which the patterns
/// above do not match.
const NAME_PATTERNS: [&str; 3] =
    [r"^\s*not ok \d+\b", r"\w\[[\w.,+-]*\]", r"\b[A-Za-z_][\w.-]*(?:/[\w.#@+-]+)+"];

static NAMING_SET: LazyLock<RegexSet> = LazyLock::new(|| regex_set(&FAILURE_PATTERNS));
static HARMLESS_SET: LazyLock<RegexSet> = LazyLock::new(|| regex_set(&HARMLESS_PATTERNS));
static NONE_REGEX: LazyLock<Regex> = LazyLock::new(|| regex(NONE_FAILED));
static VARYING_REGEX: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!("{}|(?P<name>{})", VARYING_PATTERNS.join("|"), NAME_PATTERNS.join("|"))));

/// Returns the finding for a program that failed with this exit code and output.
pub(super) fn failure(run: &ProgramOutput<'_>) -> RawFinding {
    let output = run.stream_text(Stream::Both);
    let all: Vec<&str> = notes::lines(&output, None).filter(|line| !notes::is_note(line)).collect();
    let clean = |lines: Vec<&str>| -> Vec<String> {
        let plain = |line| sanitize(line).trim_matches(['=', '_', ' ']).to_owned();
        lines.into_iter().map(plain).filter(|line| !line.is_empty()).collect()
    };
    let failures = clean(failure_lines(&all));
    let lines = clean(all);
    let identity = identity(run.code, &failures, &lines);
    RawFinding { identity, ..RawFinding::whole_text(message(run.code, &failures, &lines)) }
}

/// The lines that name a failure, and the line after one that locates a panic.
fn failure_lines<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut says_where = false;
    let names = |line: &&&'t str| {
        let continues = std::mem::take(&mut says_where);
        says_where = line.contains("panicked at ") && line.trim_end().ends_with(':');
        let names = || NAMING_SET.is_match(&NONE_REGEX.replace_all(line, "")) && !HARMLESS_SET.is_match(line);
        continues || names()
    };
    lines.iter().filter(names).copied().collect()
}

/// The exit code, the first lines that name a failure, and the last lines, each truncated so that all fit.
fn message(code: i32, failures: &[String], lines: &[String]) -> String {
    let last = if failures.is_empty() { SHOWN_LAST_ALONE } else { SHOWN_LAST };
    let mut selected: Vec<&String> = failures.iter().take(SHOWN_NAMED).collect();
    let tail = lines.get(lines.len().saturating_sub(last)..).unwrap_or_default();
    selected.extend(
        tail.iter().filter(|line| !failures.iter().take(SHOWN_NAMED).any(|failure| failure == *line)),
    );
    let start = format!("ended with exit code {code}");
    if selected.is_empty() {
        return start;
    }
    let separators = 2 + 3 * (selected.len() - 1);
    let mut room = LONGEST_MESSAGE.saturating_sub(start.chars().count() + separators);
    let mut parts = Vec::new();
    for (at, line) in selected.iter().enumerate() {
        // A short line leaves its space to the next ones.
        let share = (room / (selected.len() - at)).max(LEAST_SHOWN);
        let text = cut(line, share);
        room = room.saturating_sub(text.chars().count());
        parts.push(text);
    }
    format!("{start}: {}", parts.join(" | "))
}

/// Returns the parts that two runs with the same failure share: the lines that name a failure, else the exit
/// code and the last lines.
fn identity(code: i32, failures: &[String], lines: &[String]) -> BTreeSet<String> {
    let stable = |line: &String| without_varying(line);
    if failures.is_empty() {
        let tail = lines.get(lines.len().saturating_sub(SHOWN_LAST_ALONE)..).unwrap_or_default();
        let tail: Vec<String> = tail.iter().map(stable).collect();
        return BTreeSet::from([format!("{code}: {}", tail.join(" | "))]);
    }
    // Lines that differ in numbers only are compared by their count.
    let mut counts: HashMap<String, usize> = HashMap::new();
    let counted = |line: String| {
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        if *count == 1 { line } else { format!("{line} #{count}") }
    };
    failures.iter().map(stable).filter(|line| !line.is_empty()).take(MAX_PARTS).map(counted).collect()
}

/// A line without the parts that vary between runs.
fn without_varying(line: &str) -> String {
    // A path of a temporary file is not kept.
    let stable_part = |found: &Captures<'_>| {
        let name = found.name("name").map(|name| name.as_str());
        name.filter(|name| !name.contains("tmp")).unwrap_or_default().to_owned()
    };
    VARYING_REGEX.replace_all(line, stable_part).split_whitespace().collect::<Vec<_>>().join(" ")
}
