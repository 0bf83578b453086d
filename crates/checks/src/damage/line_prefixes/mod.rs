//! Finds line numbers and diff marks before new lines, copied from the output of a tool, and Markdown fences around them.
//!
//! Numbers must ascend line by line, and one of these must hold as well: they are the actual line numbers, the text after
//! them was in the file before, or that text is indented. The keys of a table ascend, too. In code that the grammar reads as
//! valid, they are line numbers only if most of the lines had these numbers in the text before.

mod closing_tags;
mod diff;
mod fences;
mod keys;
mod numbered_diff;

use super::lexical_syntax::TextKind;
use super::lexis::LexicalPart;
use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair, indent};
use crate::pieces::ReplacedLines;

/// The most lines that are judged together.
const LONGEST_RUN: usize = 10_000;

/// The separator between a line number and its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Arrow,
    Tab,
    Bar,
    Colon,
    Dot,
    Spaces,
}

/// A line with a number in front.
#[derive(Debug, Clone, Copy)]
struct PrefixedLine<'t> {
    line: usize,
    /// The byte offset of the number in the line.
    at: usize,
    number: usize,
    separator: Separator,
    rest: &'t str,
}

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    if texts.kind == TextKind::Patch {
        return Vec::new();
    }
    let mut findings = fences::look(texts);
    findings.extend(numbered_diff::look(texts));
    findings.extend(closing_tags::look(texts));
    for piece in &texts.pieces {
        if findings.len() >= MAX_FINDINGS {
            break;
        }
        let lines = piece.new_lines().map(|line| (line, texts.after.text(line)));
        let mut run: Vec<PrefixedLine<'_>> = Vec::new();
        for (line, text) in lines {
            match numbered(line, text) {
                Some(next) if follows(&run, &next) => run.push(next),
                _ if findings.len() >= MAX_FINDINGS => break,
                Some(next) => findings.extend(close(texts, piece, std::mem::replace(&mut run, vec![next]))),
                None if text.trim().is_empty() => {}
                None => findings.extend(close(texts, piece, std::mem::take(&mut run))),
            }
        }
        findings.extend(close(texts, piece, run));
        findings.extend(diff::look(texts, piece));
    }
    findings
}

fn follows(run: &[PrefixedLine<'_>], next: &PrefixedLine<'_>) -> bool {
    run.len() < LONGEST_RUN
        && run.last().is_some_and(|last| last.number + 1 == next.number && last.separator == next.separator)
}

fn close(texts: &TextPair<'_>, piece: &ReplacedLines, run: Vec<PrefixedLine<'_>>) -> Option<DamageFinding> {
    let (first, last) = (run.first()?, run.last()?);
    let run = AscendingLines { texts, piece, first, last, lines: &run };
    run.is_accident().then(|| {
        let text = texts.after.text(first.line);
        let prefix = text.strip_suffix(first.rest).unwrap_or(text).trim();
        let message = match run.lines.len() {
            1 => format!("the line number `{prefix}` is at the start of a new line; send the line without it"),
            _ => format!(
                "line numbers such as `{prefix}` are at the start of lines {}-{}; send the lines without them",
                first.line, last.line
            ),
        };
        texts.finding_at(first.line, first.at, message)
    })
}

/// Lines whose numbers ascend one by one, with the same separator.
struct AscendingLines<'r, 's> {
    texts: &'r TextPair<'s>,
    piece: &'r ReplacedLines,
    first: &'r PrefixedLine<'r>,
    last: &'r PrefixedLine<'r>,
    lines: &'r [PrefixedLine<'r>],
}

impl AscendingLines<'_, '_> {
    /// True if the numbers are line numbers.
    fn is_accident(&self) -> bool {
        // In valid code they are keys, patterns or members, unless they are the numbers of the very lines behind them.
        if self.lines.iter().all(|line| self.texts.is_sound(line.line)) {
            return self.quotes_lines();
        }
        !self.is_list() && !self.are_patterns() && (self.is_known() || self.is_of_a_tool())
    }

    /// True if most lines are lines of the text before, each with its number there.
    fn quotes_lines(&self) -> bool {
        let Some(before) = self.texts.before else { return false };
        let is_quoted = |line: &&PrefixedLine<'_>| {
            let rest = line.rest.trim();
            rest.len() > 2 && line.number <= before.count() && before.text(line.number).trim() == rest
        };
        self.lines.iter().filter(is_quoted).count() * 2 > self.lines.len()
    }

    /// True for the items of a list in prose, in a comment or in a string: no tool writes line numbers with a dot or a bracket.
    fn is_list(&self) -> bool {
        let is_prose = matches!(self.texts.kind, TextKind::Prose | TextKind::Unknown) || self.is_inside();
        is_prose && self.first.separator == Separator::Dot
    }

    /// True if the first line and the last are in a comment or in a string.
    fn is_inside(&self) -> bool {
        let ends = [self.first, self.last];
        ends.into_iter().all(|line| self.texts.part_of_line(line.line) != LexicalPart::Code)
    }

    /// True for the patterns of a `case` in a shell script, such as `1|one)`.
    fn are_patterns(&self) -> bool {
        let is_pattern = |line: &PrefixedLine<'_>| {
            line.rest.split_once(')').is_some_and(|(pattern, _)| !pattern.contains(['(', ' ', '$']))
        };
        self.texts.language() == "bash"
            && self.first.separator == Separator::Bar
            && self.lines.iter().all(is_pattern)
    }

    /// True if the text before had the lines without their numbers.
    fn is_known(&self) -> bool {
        let (known, all) =
            (self.known(), self.lines.iter().filter(|line| !line.rest.trim().is_empty()).count());
        known * 2 >= all && (known > 1 || known > 0 && self.is_in_place())
    }

    fn is_of_a_tool(&self) -> bool {
        let (known, many) = (self.known(), self.lines.len() > 1);
        let first = self.first.line;
        let is_example =
            self.texts.part_of_line(first) == LexicalPart::Text || self.is_inside() && known == 0;
        if is_example || self.texts.is_fenced(first) {
            return false;
        }
        let code = match self.texts.kind {
            TextKind::Code => true,
            TextKind::Data => matches!(self.texts.language(), "json" | "jsonc" | "toml"),
            TextKind::Prose => self.texts.language() == "html",
            TextKind::Patch | TextKind::Unknown => false,
        };
        if self.is_table() || self.are_keys() {
            return false;
        }
        match self.first.separator {
            Separator::Arrow => code || many,
            // What a page shows may have numbers, and rows of a dump have tabs.
            Separator::Tab | Separator::Bar | Separator::Colon | Separator::Spaces
                if matches!(self.texts.language(), "html" | "sql") && known == 0 && !self.is_in_place() =>
            {
                false
            }
            Separator::Tab | Separator::Bar if code => many || self.is_in_place(),
            Separator::Colon if code && many => {
                known > 0 || self.is_in_place() || self.is_indented() || self.lines.len() > 3
            }
            Separator::Colon if code => self.is_in_place(),
            Separator::Spaces if code => self.lines.len() > 2 && (self.is_in_place() || self.is_indented()),
            Separator::Dot => false,
            Separator::Tab | Separator::Bar | Separator::Colon | Separator::Spaces => {
                self.lines.len() > 2 && self.is_in_place() && (self.is_indented() || self.is_aligned())
            }
        }
    }

    /// Returns the number of lines that the text before had without their number.
    fn known(&self) -> usize {
        let tells = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count() > 2;
        self.lines.iter().filter(|line| tells(line.rest) && self.texts.was_there(line.rest)).count()
    }

    /// True if the numbers are the actual line numbers, before or after the edit.
    fn is_in_place(&self) -> bool {
        let first = self.first;
        let words = self.lines.iter().any(|line| line.rest.chars().any(char::is_alphabetic));
        let old = (self.piece.old.0..=self.piece.old.1.max(self.piece.old.0)).contains(&first.number);
        words && (first.number == first.line || old && self.texts.before.is_some())
    }

    /// True if the text after the numbers is indented, as in code.
    fn is_indented(&self) -> bool {
        let lines = self.lines.iter().map(|line| line.rest).filter(|rest| !rest.trim().is_empty());
        let indents = lines.map(|rest| indent(rest).len());
        indents.clone().min().zip(indents.max()).is_some_and(|(least, most)| most > least + 1)
    }

    /// True if the numbers are right-aligned: `  9` and ` 10`.
    fn is_aligned(&self) -> bool {
        self.first.at > self.last.at
    }

    /// True if the grammar reads the numbers as keys: of a type (`1: string;`) or of a value.
    fn are_keys(&self) -> bool {
        self.first.separator == Separator::Colon
            && keys::are_keys(self.texts, self.lines.iter().map(|line| (line.line, line.at)))
    }

    /// True if the lines are entries of a table with numeric keys.
    fn is_table(&self) -> bool {
        let entry = |line: &&PrefixedLine<'_>| {
            let rest = without_comment(line.rest).trim_end();
            rest.ends_with(',') || rest.ends_with('{') || rest.ends_with('[') || rest.ends_with('(')
        };
        let entries = self.lines.iter().filter(entry).count();
        self.first.separator == Separator::Colon
            && !self.is_indented()
            && entries + 1 >= self.lines.len()
            && (entries > 0 || self.lines.len() == 1)
    }
}

/// Returns a line without the comment at its end.
fn without_comment(line: &str) -> &str {
    let end = [" #", "\t#", " //", "\t//"].iter().filter_map(|mark| line.find(mark)).min();
    end.and_then(|end| line.get(..end)).unwrap_or(line)
}

/// Parses a line number and its separator, in one of the formats of common tools.
fn numbered(line: usize, text: &str) -> Option<PrefixedLine<'_>> {
    let body = text.trim_start_matches(' ');
    let body = body.strip_prefix('L').unwrap_or(body);
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let number =
        body.get(..digits).filter(|digits| digits.len() < 8)?.parse().ok().filter(|number| *number > 0)?;
    let behind = body.get(digits..)?;
    let spaces = behind.len() - behind.trim_start_matches(' ').len();
    let tail = behind.get(spaces..)?;
    let mut characters = tail.chars();
    let separator = match characters.next() {
        Some('→') => Separator::Arrow,
        Some('\t') if spaces == 0 => Separator::Tab,
        Some('|' | '│') if !tail.starts_with("||") => Separator::Bar,
        Some(':') if spaces == 0 && !tail.starts_with("::") => Separator::Colon,
        Some('.' | ')') if spaces == 0 && behind.get(1..2) == Some(" ") => Separator::Dot,
        _ if spaces > 1 || behind.is_empty() => Separator::Spaces,
        _ => return None,
    };
    let after = characters.as_str();
    let rest = match separator {
        Separator::Spaces => tail,
        Separator::Arrow | Separator::Tab => after,
        Separator::Bar | Separator::Colon | Separator::Dot => after.strip_prefix(' ').unwrap_or(after),
    };
    Some(PrefixedLine { line, at: text.len() - body.len(), number, separator, rest })
}
