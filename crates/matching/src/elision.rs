//! Elided blocks: a quoted block with a mark such as `...` in place of unchanged lines.

use super::already_applied;
use super::budget::MatchBudget;
use super::comment::OPENING_MARKS;
use super::indent::indent_of;
use super::levels::{self, LevelSearch, MatchSites, Strictness};
use super::line_index::LineIndex;
use super::located::{Located, MatchLevel, UniqueMatch};
use super::rebase::{Block, MatchSite, rebase};
use super::rows::{FoldedLines, NonBlankLines};
use super::search_text::{OnDuplicate, SearchText};
use lockgate_error::Score;
use std::ops::Range;

/// Words that identify an elision mark. A mark with words contains one of them.
const WORDS: [&str; 12] = [
    "existing",
    "rest",
    "unchanged",
    "same",
    "remain",
    "omitted",
    "previous",
    "elided",
    "skipped",
    "truncated",
    "code",
    "as before",
];

/// Words that go on with a block at the depth of its first line.
const CLAUSES: [&str; 11] =
    ["else", "elif", "elsif", "except", "finally", "catch", "rescue", "ensure", "when", "case", "default"];

/// Finds an elided block; `None` if it has no marks, or its parts do not occur in sequence. The result is ambiguous if a
/// changed part has several matches, and a conflict if a part cannot be rebased.
pub(super) fn find(
    search_text: SearchText<'_>,
    line_index: &LineIndex<'_>,
    steps: &mut MatchBudget,
) -> Option<Located> {
    let (marks, parts) = parts(search_text.search, search_text.replace)?;
    if parts.iter().any(|part| line_index.lacks(&part.search)) {
        return None;
    }
    let (folded, text) = (line_index.folded_lines(), line_index.range.text);
    let mut found = Vec::with_capacity(parts.len());
    for part in &parts {
        let touched = part.search.lines != part.replace.lines || part.search.gaps != part.replace.gaps;
        let LevelSearch::Found(MatchSites { at, strictness }) = levels::find(&part.search, folded, steps)
        else {
            return None;
        };
        if touched && at.len() > 1 {
            let lines = at.into_iter().map(|at| folded.number(at)).collect();
            return Some(Located::Ambiguous { level: MatchLevel::Wrapping, lines, is_complete: true });
        }
        found.push(ElisionPart { block: part, touched, at, strictness });
    }
    let chain = chain(&found)?;
    let matched = ElidedMatch {
        folded,
        language: line_index.range.source.map(|source| source.language),
        parts: found.iter().zip(&chain).map(|(part, at)| *at..*at + part.block.search.len()).collect(),
    };
    if matched.leaves_block() || matched.has_mark(&marks) {
        return None;
    }
    let mut changes = Vec::new();
    for (part, &at) in found.iter().zip(&chain).filter(|(part, _)| part.touched) {
        let applied = || {
            already_applied::find_around(part.block, line_index.range, folded.number(at), part.strictness)
                .or_else(|| already_applied::find_replaced(part.block, folded, at, part.strictness))
        };
        if search_text.on_duplicate == OnDuplicate::Reject
            && let Some(line) = applied()
        {
            return Some(Located::AlreadyApplied { line });
        }
        match rebase(part.block, &MatchSite::at(&part.block.search, folded, at), text) {
            Ok(more) => changes.extend(more),
            Err(conflict) => return Some(Located::Conflict(conflict)),
        }
    }
    let (first, last) = (matched.parts.first()?.start, matched.parts.last()?.end - 1);
    let lines = folded.number(first)..=folded.number(last);
    Some(Located::One(UniqueMatch::new(changes, MatchLevel::Wrapping, Score::IDENTICAL, lines)))
}

/// A part between two marks, with its matches.
struct ElisionPart<'a> {
    block: &'a Block<'a>,
    touched: bool,
    at: Vec<usize>,
    strictness: Strictness,
}

/// Returns the marks, and the parts of search and replacement between them; `None` unless both have the same marks in the
/// same order, and no mark at an edge.
fn parts<'a>(search: &'a str, replace: &'a str) -> Option<(Vec<&'a str>, Vec<Block<'a>>)> {
    let (old, new) = (cut(search), cut(replace));
    if old.marks.is_empty() || old.marks != new.marks {
        return None;
    }
    let blocks: Vec<Block<'a>> =
        old.parts.into_iter().zip(new.parts).map(|(search, replace)| Block { search, replace }).collect();
    blocks.iter().all(|block| block.search.len() > 0).then_some((old.marks, blocks))
}

struct ElisionCut<'a> {
    marks: Vec<&'a str>,
    parts: Vec<NonBlankLines<'a>>,
}

fn cut(text: &str) -> ElisionCut<'_> {
    let (mut marks, mut parts, mut part) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if is_mark(line) {
            marks.push(line.trim());
            parts.push(NonBlankLines::from_lines(std::mem::take(&mut part).into_iter()));
        } else {
            part.push(line);
        }
    }
    parts.push(NonBlankLines::from_lines(part.into_iter()));
    ElisionCut { marks, parts }
}

/// Returns true if a line represents omitted lines.
pub(super) fn is_mark(line: &str) -> bool {
    let bare = uncommented(line.trim());
    let dots = |text: &str| text.starts_with("...") || text.starts_with('\u{2026}');
    let dots_at_end = |text: &str| text.ends_with("...") || text.ends_with('\u{2026}');
    if !dots(bare) && !dots_at_end(bare) {
        return false;
    }
    let words = bare.trim_matches(['.', '\u{2026}', ' ', '(', ')', '[', ']']).to_lowercase();
    words.is_empty() || words.len() <= 80 && WORDS.iter().any(|word| words.contains(word)) && is_prose(&words)
}

/// Returns true if a text consists of words only.
fn is_prose(text: &str) -> bool {
    text.chars().all(|character| character.is_alphanumeric() || " -_,'`/".contains(character))
}

fn uncommented(line: &str) -> &str {
    let opened = OPENING_MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let closed = ["-->", "*/}", "*/"].into_iter().find_map(|sign| opened.trim_end().strip_suffix(sign));
    closed.unwrap_or(opened).trim()
}

/// Chooses one match for each part, in order and as close to the changed parts as possible.
fn chain(parts: &[ElisionPart<'_>]) -> Option<Vec<usize>> {
    let pivot = parts.iter().position(|part| part.touched)?;
    let mut chain = vec![0; parts.len()];
    let mut limit = usize::MAX;
    for (slot, part) in chain.iter_mut().zip(parts).take(pivot + 1).rev() {
        let fits = |at: &&usize| at.saturating_add(part.block.search.len()) <= limit;
        *slot = *part.at.iter().rev().find(fits)?;
        limit = *slot;
    }
    let mut end = chain.get(pivot)? + parts.get(pivot)?.block.search.len();
    for (slot, part) in chain.iter_mut().zip(parts).skip(pivot + 1) {
        *slot = *part.at.iter().find(|at| **at >= end)?;
        end = *slot + part.block.search.len();
    }
    Some(chain)
}

/// The lines of the file, and those that the parts of a quote match.
struct ElidedMatch<'a> {
    folded: &'a FoldedLines<'a>,
    language: Option<&'a str>,
    parts: Vec<Range<usize>>,
}

/// What is known of the quoted lines before elided ones.
#[derive(Default)]
struct QuotedBefore {
    /// The lines whose blocks may be open, each deeper than the one before it.
    open: Vec<usize>,
    /// The lowest depth of a line of code that does more than to open or close a block.
    least: Option<usize>,
    /// The last line, but for a `{` that goes with the line above.
    last: Option<usize>,
    /// The rank of the last heading.
    section: Option<usize>,
    /// Set in a block of code in Markdown.
    is_fenced: bool,
    /// The number of open `#if` sections of C.
    conditionals: usize,
}

impl ElidedMatch<'_> {
    /// Returns true if an elided line is outside of the block of the part before it, or of the part behind it.
    fn leaves_block(&self) -> bool {
        let quoted = self.parts.iter().cloned().flatten().filter(|index| !closes(self.line(*index)));
        let least = quoted.map(|index| self.depth(index)).min().unwrap_or(usize::MAX);
        let mut before = QuotedBefore::default();
        self.parts.iter().zip(self.parts.iter().skip(1)).any(|(part, next)| {
            part.clone().for_each(|index| self.add(&mut before, index));
            let elided = part.end..next.start;
            let inner = self.depth(self.beginning(next));
            let is_inner = |index: &&usize| self.depth(**index) < inner && self.opens(**index);
            self.passes_heading(&mut before, elided.clone())
                || self.leaves_macro(elided.clone())
                || self.leaves_conditional(&mut before, elided.clone())
                || self.ends_statement(&before, elided.clone())
                || match before.open.iter().rev().find(is_inner) {
                    Some(opener) => elided.into_iter().any(|index| self.is_behind_block(index, *opener)),
                    // Elided lines open the block of the next part.
                    None if before.least.is_some_and(|least| least < inner) => true,
                    // A comment is that of the one block behind it.
                    None if before.least.is_none() && self.opened(&before, elided.clone()) > 1 => true,
                    None => self.leaves_sequence(&before, least, elided),
                }
        })
    }

    /// Adds a quoted line to what is known.
    fn add(&self, before: &mut QuotedBefore, index: usize) {
        let (line, depth) = (self.line(index), self.depth(index));
        let is_opened = |open: &usize| open + 1 == index && self.depth(*open) == depth;
        let goes_with_line_above = line == "{" && before.open.last().is_some_and(is_opened);
        if !goes_with_line_above {
            while before.open.pop_if(|open| self.depth(*open) >= depth).is_some() {}
            before.open.push(index);
            before.last = Some(index);
        }
        if !closes(line) && line != "{" && !self.is_comment(line) {
            before.least = Some(before.least.map_or(depth, |least| least.min(depth)));
        }
        if let Some(rank) = self.heading(before, index) {
            before.section = Some(rank);
        }
        match self.directive(index) {
            Some("if" | "ifdef" | "ifndef") => before.conditionals += 1,
            Some("endif") => before.conditionals = before.conditionals.saturating_sub(1),
            Some(_) | None => {}
        }
    }

    /// Returns true if the lines in place of a mark contain that mark: then it is a line of the file, and represents no
    /// others.
    fn has_mark(&self, marks: &[&str]) -> bool {
        let mut elided = self.parts.iter().zip(self.parts.iter().skip(1)).zip(marks);
        elided.any(|((before, next), mark)| (before.end..next.start).any(|index| self.line(index) == *mark))
    }

    fn line(&self, index: usize) -> &str {
        self.folded.line(index).trim()
    }

    fn depth(&self, index: usize) -> usize {
        indent_of(self.folded.line(index)).len()
    }

    /// Returns true if the lines behind this one are its block.
    fn opens(&self, index: usize) -> bool {
        let next = index + 1;
        let is_deeper = next < self.folded.len() && self.depth(next) > self.depth(index);
        is_deeper || self.line(index).ends_with(['{', '(', '[', ':']) || self.line(next) == "{"
    }

    /// Returns the first line of a part that does more than to close a block.
    fn beginning(&self, part: &Range<usize>) -> usize {
        part.clone().find(|index| !closes(self.line(*index))).unwrap_or(part.start)
    }

    /// Returns true if a line is not in the block that another one opens.
    fn is_behind_block(&self, index: usize, opener: usize) -> bool {
        let is_case = || {
            let of_switch = ["switch", "select"].iter().any(|word| self.line(opener).contains(word));
            of_switch && ["case ", "default:"].iter().any(|word| self.line(index).starts_with(word))
        };
        self.depth(index) <= self.depth(opener)
            && !self.line(index).starts_with(')')
            && !self.stays_in_block(index)
            && !is_case()
    }

    /// Returns the number of blocks that elided lines open at the depth of the line before them.
    fn opened(&self, before: &QuotedBefore, elided: Range<usize>) -> usize {
        let depth = before.last.map_or(0, |index| self.depth(index));
        let is_block = |index: &usize| {
            self.depth(*index) <= depth
                && self.opens(*index)
                && !self.line(*index).starts_with([')', ']', '}'])
        };
        elided.into_iter().filter(is_block).count()
    }

    fn is_comment(&self, line: &str) -> bool {
        line.starts_with('#') && self.language != Some("markdown")
            || ["//", "/*", "*", "--", "<!--"].iter().any(|sign| line.starts_with(sign))
    }

    /// Returns true for a line that ends no block, however it is indented: a comment, `#ifdef`, a label or `where`.
    fn stays_in_block(&self, index: usize) -> bool {
        let line = self.line(index);
        let label = || line.strip_suffix(':').is_some_and(|name| name.chars().all(char::is_alphanumeric));
        self.is_comment(line)
            || matches!(self.language, Some("c" | "cpp" | "go")) && label()
            || self.language == Some("rust") && line == "where"
    }

    /// Returns true if elided lines between lines of one block are not all in it, or open another one where the line before
    /// them opened one. `} else {` and `except:` go on with a block. `least` is the lowest depth of a quoted line.
    fn leaves_sequence(&self, before: &QuotedBefore, least: usize, elided: Range<usize>) -> bool {
        let opened = before.last.filter(|index| self.opens(*index)).map(|index| self.depth(index));
        let leaves = |index: usize| {
            self.depth(index) < least
                || opened.is_some_and(|opened| self.depth(index) <= opened && self.opens(index))
        };
        let goes_on = |line: &str| {
            let word = line.split(|sign: char| !sign.is_alphabetic()).next().unwrap_or_default();
            line.starts_with([')', ']', '}']) || CLAUSES.contains(&word)
        };
        elided
            .into_iter()
            .any(|index| leaves(index) && !goes_on(self.line(index)) && !self.stays_in_block(index))
    }

    /// Returns true if elided lines have a heading that ends the section of the lines before them.
    fn passes_heading(&self, before: &mut QuotedBefore, mut elided: Range<usize>) -> bool {
        let section = before.section.unwrap_or(usize::MAX);
        elided.any(|index| self.heading(before, index).is_some_and(|rank| rank <= section))
    }

    /// Returns the rank of a heading: of Markdown, TOML, a document of YAML, a stage of a Dockerfile, or INI. Lines are given in
    /// their order.
    fn heading(&self, before: &mut QuotedBefore, index: usize) -> Option<usize> {
        let line = self.folded.line(index);
        match self.language.unwrap_or("text") {
            "markdown" => {
                before.is_fenced ^= ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
                let rank = line.len() - line.trim_start_matches('#').len();
                let is_heading = (1..=6).contains(&rank) && line.get(rank..)?.starts_with([' ', '\t']);
                let follows = index > 0 && self.folded.number(index - 1) + 1 == self.folded.number(index);
                let underlines = |sign: char| follows && line.trim_end().chars().all(|other| other == sign);
                let underlined = underlines('=').then_some(1).or_else(|| underlines('-').then_some(2));
                is_heading.then_some(rank).or(underlined).filter(|_| !before.is_fenced)
            }
            "toml" => {
                let header = line.split('#').next().unwrap_or_default().trim_end();
                (line.starts_with('[') && header.ends_with(']')).then_some(1)
            }
            "yaml" => (line.trim_end() == "---").then_some(1),
            "dockerfile" => line.starts_with("FROM ").then_some(1),
            "text" => self.is_ini_section(index).then_some(1),
            _ => None,
        }
    }

    /// Returns true for a heading of INI with a setting as the next line. Without one, the file may be in any language.
    fn is_ini_section(&self, index: usize) -> bool {
        let is_comment = |line: &&str| line.trim_start().starts_with([';', '#']);
        let mut behind = (index + 1..self.folded.len()).map(|next| self.folded.line(next));
        is_ini_heading(self.folded.line(index))
            && behind.find(|line| !is_comment(line)).is_some_and(is_ini_setting)
    }

    /// Returns the name of a preprocessor directive of C, as in `endif`.
    fn directive(&self, index: usize) -> Option<&str> {
        let line = self.line(index).strip_prefix('#').filter(|_| self.is_c())?;
        line.trim_start().split(|sign: char| !sign.is_alphabetic()).next()
    }

    fn is_c(&self) -> bool {
        matches!(self.language, Some("c" | "cpp"))
    }

    /// Returns true if the line before elided ones, or the last of them, belongs to a macro of C, and the elided lines do not
    /// go on with it.
    fn leaves_macro(&self, elided: Range<usize>) -> bool {
        let Some(before) = elided.start.checked_sub(1).filter(|_| self.is_c()) else { return false };
        let continues = |index: usize| self.line(index).ends_with('\\');
        let is_macro = continues(before) || elided.clone().last().is_some_and(continues);
        is_macro && !(before..elided.end).all(continues)
    }

    /// Returns true if elided lines close an `#if` section of C that was open before the quoted lines, or close one and end
    /// in another. `#else` does not close one: its `#endif` may be quoted.
    fn leaves_conditional(&self, before: &mut QuotedBefore, elided: Range<usize>) -> bool {
        let quoted = before.conditionals;
        let mut least = quoted;
        for directive in elided.filter_map(|index| self.directive(index)) {
            let closed = usize::from(directive == "endif");
            let Some(outer) = before.conditionals.checked_sub(closed) else { return true };
            least = least.min(outer);
            before.conditionals = outer + usize::from(directive.starts_with("if"));
        }
        least < quoted && before.conditionals > least
    }

    /// Returns true if the statement of SQL before elided lines ends in them. Statements of a block may end.
    fn ends_statement(&self, before: &QuotedBefore, mut elided: Range<usize>) -> bool {
        const OPENERS: [&str; 7] = ["BEGIN", "THEN", "ELSE", "LOOP", "DECLARE", "AS", "$$"];
        let Some(last) = before.last.filter(|_| self.language == Some("sql")) else { return false };
        let word = self.line(last).rsplit(' ').next().unwrap_or_default().to_uppercase();
        let is_complete = word.ends_with(';') || word.ends_with("$$") || OPENERS.contains(&word.as_str());
        !is_complete
            && elided.any(|index| {
                let statement = self.line(index).split("--").next().unwrap_or_default();
                statement.trim_end().ends_with(';')
            })
    }
}

/// Returns true for a line such as `[a]` or `[remote "origin"] ; comment`.
fn is_ini_heading(line: &str) -> bool {
    let brackets = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    brackets.is_some_and(|(name, rest)| {
        let quoted = name.strip_suffix('"').and_then(|name| name.split_once(" \""));
        let rest = rest.trim_start();
        is_plain_name(quoted.map_or(name, |(plain, _)| plain))
            && (rest.is_empty() || rest.starts_with([';', '#']))
    })
}

/// Returns true for a line such as `name = value` or `name: value`.
fn is_ini_setting(line: &str) -> bool {
    line.split_once(['=', ':']).is_some_and(|(name, _)| is_plain_name(name.trim()))
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|sign| sign.is_alphanumeric() || "._-:".contains(sign))
}

/// Returns true if a line only closes a block, in any language.
fn closes(line: &str) -> bool {
    is_closer(line) || line.starts_with("</") || matches!(line, "fi" | "done" | "esac")
}

/// Returns true if a line only closes brackets or blocks.
pub(super) fn is_closer(line: &str) -> bool {
    line == "end" || !line.is_empty() && line.chars().all(|sign| ")]}>;,".contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LineRange;
    use lockgate_text::{Buffer, Hints};

    #[test]
    fn marks_are_known_with_and_without_words() {
        for mark in [
            "...",
            "  \u{2026}",
            "# ...",
            "    // ... existing code ...",
            "/* ... rest unchanged ... */",
            "<!-- ... -->",
            "// ... rest of code unchanged",
            "... (unchanged)",
        ] {
            assert!(is_mark(mark), "{mark}");
        }
        for line in ["f(...args)", "# see more...", "x = ...", "....b", "return a...", "let rest = ..."] {
            assert!(!is_mark(line), "{line}");
        }
    }

    /// Returns true if a text in an unknown language has the end of a section between its first and its last line.
    fn ends_section(text: &str) -> bool {
        let buffer = Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let folded = FoldedLines::new(LineRange::new(&buffer, 1, usize::MAX));
        let last = folded.len() - 1;
        let matched = ElidedMatch { folded: &folded, language: None, parts: vec![0..1, last..last + 1] };
        matched.leaves_block()
    }

    #[test]
    fn headings_of_ini_end_a_section() {
        for heading in
            ["[b]", "[b] ; comment", "[b]# comment", "[a.b-c_1:d]", "[remote \"origin\"]", "[b]\n; comment"]
        {
            for setting in ["name = value", "name=", "  a.b: value"] {
                assert!(
                    ends_section(&format!("x = 1\n{heading}\n{setting}\nz = 1\n")),
                    "{heading} {setting}"
                );
            }
        }
    }

    #[test]
    fn lines_in_brackets_that_are_no_headings_end_no_section() {
        for line in ["[see below]", "[<Literal>]", "[Net.X]::Y = [int]", "[[b]]", "[]", "[b] text", " [b]"] {
            assert!(!ends_section(&format!("x = 1\n{line}\nname = value\nz = 1\n")), "{line}");
        }
        for behind in ["Some words.", "let x = 1", "$x = 1", "= 1"] {
            assert!(!ends_section(&format!("x = 1\n[b]\n{behind}\nz = 1\n")), "{behind}");
        }
    }
}
