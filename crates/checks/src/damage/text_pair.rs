//! The input of the rules: a draft, the lines that the edit wrote, and the lexical syntax of its language.
//!
//! Invariant: data that needs a walk over the text is computed once, when a rule first needs it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use super::code_files::is_code_file;
use super::lexical_syntax::{self, LexicalSyntax, TextKind};
use super::lexis::{LexicalPart, Lexis};
use super::parsed_text::{ParsedText, TreePart};
use super::patches;
use crate::draft::Draft;
use crate::lost::Lost;
use crate::pieces::{ReplacedLines, piece_at, pieces};
use lockgate_text::{Buffer, Lines};

/// The most findings of one rule in a text; further ones add no information. A rule ends its search there, because a text
/// can have a finding in each line.
pub(super) const MAX_FINDINGS: usize = 50;

/// A finding of a rule; line and column start at 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DamageFinding {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// A draft with the text before and after the edit, as the rules read it.
pub(super) struct TextPair<'a> {
    pub(super) draft: &'a Draft<'a>,
    /// The definitions that the edit removes and that other files use or a new content drops.
    pub(super) lost: &'a Lost,
    /// The lines after the edit.
    pub(super) after: Lines<'a>,
    /// The lines before the edit; `None` for a new file.
    pub(super) before: Option<Lines<'a>>,
    /// The replaced lines, in text order; a new file is one piece.
    pub(super) pieces: Vec<ReplacedLines>,
    pub(super) kind: TextKind,
    /// Set for a file of code, markup or settings whose language is not in the catalogue.
    pub(super) is_code_file: bool,
    pub(super) syntax: Option<&'static LexicalSyntax>,
    /// The lines as the edit left them, if a formatter changed the text since.
    own_lines: Option<HashSet<&'a str>>,
    old_lines: OnceCell<HashSet<&'a str>>,
    lexis: OnceCell<Lexis>,
    /// The text after, as its grammar reads it.
    pub(super) parsed: ParsedText<'a>,
    fences: OnceCell<Vec<Range<usize>>>,
    patches: OnceCell<Vec<Range<usize>>>,
}

impl<'a> TextPair<'a> {
    pub(super) fn new(draft: &'a Draft<'a>, lost: &'a Lost) -> TextPair<'a> {
        let after = draft.after.lines();
        let before = draft.before.map(Buffer::lines);
        let count = after.count();
        let pieces = match before {
            Some(before) => pieces(draft.map, before.count(), count),
            None if count == 0 => Vec::new(),
            None => vec![ReplacedLines { old: (1, 0), new: (1, count) }],
        };
        let syntax = lexical_syntax::find(draft.language_name());
        TextPair {
            draft,
            lost,
            after,
            before,
            pieces,
            kind: syntax.map_or(TextKind::Unknown, |syntax| syntax.kind),
            is_code_file: is_code_file(draft.path),
            syntax,
            own_lines: None,
            old_lines: OnceCell::new(),
            lexis: OnceCell::new(),
            parsed: ParsedText::new(draft),
            fences: OnceCell::new(),
            patches: OnceCell::new(),
        }
    }

    /// Sets the text as the edit left it, for a draft that a formatter changed since.
    pub(super) fn formatted(self, own: Option<&'a Buffer>) -> TextPair<'a> {
        TextPair { own_lines: own.map(|own| own.lines().iter().collect()), ..self }
    }

    /// True if no formatter changed a line after the edit.
    pub(super) fn is_own(&self, line: usize) -> bool {
        self.own_lines.as_ref().is_none_or(|own| own.contains(self.after.text(line)))
    }

    /// Returns the name of the language; empty if unknown.
    pub(super) fn language(&self) -> &'static str {
        self.draft.language_name()
    }

    /// Iterates over the numbers of the lines that the edit wrote, each with its piece.
    pub(super) fn written(&self) -> impl Iterator<Item = (usize, &ReplacedLines)> {
        self.pieces.iter().flat_map(|piece| piece.new_lines().map(move |line| (line, piece)))
    }

    /// True if the text before had a line with this text, ignoring leading and trailing white space.
    pub(super) fn was_there(&self, text: &str) -> bool {
        let Some(before) = self.before else { return false };
        self.old_lines.get_or_init(|| before.iter().map(str::trim).collect()).contains(text.trim())
    }

    /// True if a piece replaced a line with exactly this text, including its indentation.
    pub(super) fn replaced(&self, piece: &ReplacedLines, text: &str) -> bool {
        let Some(before) = self.before else { return false };
        piece.old_lines().take(1000).any(|line| before.text(line) == text)
    }

    /// True if the edit left a line of the text after as it was, or replaced a line with exactly this text by it.
    pub(super) fn stood_at(&self, line: usize) -> bool {
        match piece_at(&self.pieces, |piece| piece.new, line) {
            Some(piece) => self.replaced(piece, self.after.text(line)),
            None => self.before.is_some() && (1..=self.after.count()).contains(&line),
        }
    }

    /// Returns the lexical part at an offset of the text after the edit.
    pub(super) fn part(&self, offset: usize) -> LexicalPart {
        self.lexis().map_or(LexicalPart::Code, |lexis| lexis.at(offset))
    }

    /// Returns the range of the comment or string around an offset of the text after the edit.
    pub(super) fn part_range(&self, offset: usize) -> Option<Range<usize>> {
        self.lexis()?.range_at(offset)
    }

    fn lexis(&self) -> Option<&Lexis> {
        let syntax = self.syntax?;
        Some(self.lexis.get_or_init(|| Lexis::read(self.draft.after.view(), syntax)))
    }

    /// Returns the lexical part at the start of a line.
    pub(super) fn part_of_line(&self, line: usize) -> LexicalPart {
        self.part(self.after.span(line).start)
    }

    /// True if an offset is code, also by the grammar in languages where the lexical walk may be wrong.
    pub(super) fn is_surely_code(&self, offset: usize) -> bool {
        let is_code = || match self.parsed.part(offset) {
            Some(part) => part == TreePart::Code,
            // A text that is too large or too deep for its grammar is not sure.
            None => !self.parsed.has_grammar(),
        };
        self.part(offset) == LexicalPart::Code && is_code()
    }

    /// True if a line begins inside a string, by the lexical walk or by the grammar, which knows all forms of strings.
    pub(super) fn is_in_string(&self, line: usize) -> bool {
        let start = self.after.span(line).start;
        let began_before = || matches!(self.parsed.part(start), Some(TreePart::Literal(at)) if at < start);
        self.part(start) == LexicalPart::Text || began_before()
    }

    /// True if a line is valid code by the grammar, so that nothing is there that the language forbids, such as a line number
    /// or a typographic quote. False where almost any text is valid: in shell scripts, style sheets, YAML and prose.
    pub(super) fn is_sound(&self, line: usize) -> bool {
        let is_strict = match self.kind {
            TextKind::Code => !matches!(self.language(), "bash" | "css" | "sql"),
            TextKind::Data => matches!(self.language(), "json" | "jsonc" | "toml"),
            TextKind::Prose | TextKind::Patch | TextKind::Unknown => false,
        };
        if !is_strict || self.is_in_macro(line) {
            return false;
        }
        self.parsed.is_valid_at(self.after.span(line))
    }

    /// True for a line of a macro, whose body the grammar does not parse.
    fn is_in_macro(&self, line: usize) -> bool {
        let is_defined = self
            .after
            .text(line)
            .trim_start()
            .strip_prefix('#')
            .is_some_and(|directive| directive.trim_start().starts_with("define"));
        let goes_on = || line > 1 && self.after.text(line - 1).trim_end().ends_with('\\');
        matches!(self.language(), "c" | "cpp") && (is_defined || goes_on())
    }

    /// True if a line is inside a fenced block of a Markdown page; its fences are not.
    pub(super) fn is_fenced(&self, line: usize) -> bool {
        let fences = self.fences.get_or_init(|| match self.language() {
            "markdown" => fences(self.after),
            _ => Vec::new(),
        });
        is_in(fences, line)
    }

    /// True if a line belongs to a patch with its header that a text which is no code shows, such as the expected output of a
    /// test. A patch of the file itself is none of these.
    pub(super) fn is_patched(&self, line: usize) -> bool {
        let is_plain = matches!(self.language(), "" | "text") && !self.is_code_file;
        let patches = self.patches.get_or_init(|| match is_plain {
            true => patches::of_other_files(self.after, self.draft.path),
            false => Vec::new(),
        });
        is_in(patches, line)
    }

    /// Returns the line of the text after that corresponds to a line of the text before, or its replacement.
    pub(super) fn line_after(&self, line: usize) -> usize {
        let replacement = || Some(piece_at(&self.pieces, |piece| piece.old, line)?.new.0);
        self.draft.map.new_line_of(line).or_else(replacement).unwrap_or(1).clamp(1, self.after.count().max(1))
    }

    /// Creates a finding at this byte of a line.
    pub(super) fn finding_at(&self, line: usize, byte: usize, message: String) -> DamageFinding {
        let column = self.after.text(line).get(..byte).map_or(1, |before| before.chars().count() + 1);
        DamageFinding { line, column, message }
    }
}

/// Returns the white space at the start of a line.
pub(super) fn indent(text: &str) -> &str {
    text.get(..text.len() - text.trim_start().len()).unwrap_or_default()
}

/// Returns the start of a line for a message, without the blanks around it.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    text.trim().chars().take(most).collect()
}

/// True if one of these ranges, which are in text order, has the line.
fn is_in(ranges: &[Range<usize>], line: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= line);
    ranges.get(next).is_some_and(|range| range.contains(&line))
}

/// Returns the line ranges inside the fenced blocks, without their fences.
fn fences(lines: Lines<'_>) -> Vec<Range<usize>> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    for (line, text) in (1..).zip(lines.iter()) {
        let text = text.trim_start_matches([' ', '>', '\t']);
        let fence = fence(text);
        open = match (open, fence) {
            (None, Some(fence)) => Some((line, fence)),
            // The fence at the end is at least as long as that at the start.
            (Some((start, delimiter)), Some(fence)) if fence.starts_with(delimiter) && is_bare(text) => {
                fences.push(start + 1..line);
                None
            }
            (open, _) => open,
        };
    }
    fences.extend(open.map(|(start, _)| start + 1..lines.count() + 1));
    fences
}

/// Returns the fence at the start of a line: three or more of its character.
pub(super) fn fence(text: &str) -> Option<&str> {
    let character = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(character).len();
    text.get(..length).filter(|fence| fence.len() >= 3)
}

/// True if a line consists of fence characters only, as a closing fence must.
pub(super) fn is_bare(text: &str) -> bool {
    text.trim_end().chars().all(|c| c == '`' || c == '~')
}
