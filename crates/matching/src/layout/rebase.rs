//! Applies the difference between quote and replacement to the tokens of a match.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::code::{CodeMatch, SourceCode};
use super::tokens::Tokens;
use crate::indent::IndentMap;
use crate::quotes::PlainString;
use lockgate_text::{Change, differing_lines};

/// Returns the changes of an edit; `None` if the replacement would not be in the place of the match token for token.
pub(super) fn rebase(
    code: &SourceCode<'_>,
    one: &CodeMatch,
    quote: &Tokens<'_>,
    replacement: &Tokens<'_>,
) -> Option<Vec<Change>> {
    let rebase = LayoutRebase { code, one, quote, replacement, quotes: other_quotes(code, one, quote) };
    let changes = if replacement.len() == 0 { vec![rebase.removal()] } else { rebase.changes()? };
    rebase.is_proved(&changes).then_some(changes)
}

/// Returns the texts of some tokens.
fn texts<'t>(tokens: &Tokens<'t>, range: Range<usize>) -> Vec<&'t str> {
    range.map(|index| tokens.text(index)).collect()
}

/// Returns the index of the first token of each line, and the number of tokens.
fn line_starts(tokens: &Tokens<'_>) -> Vec<usize> {
    (0..=tokens.len())
        .filter(|index| *index == 0 || *index == tokens.len() || tokens.breaks_before(*index))
        .collect()
}

/// Returns the tokens of the line between two starts.
fn line(pair: &[usize]) -> Range<usize> {
    pair.first().copied().unwrap_or_default()..pair.last().copied().unwrap_or_default()
}

/// A line of the quote or of the replacement.
struct QuotedLine<'t> {
    indent: &'t str,
    /// Its tokens, separated by NUL.
    tokens: String,
}

/// Returns the lines that begin with these tokens.
fn quoted_lines<'t>(tokens: &Tokens<'t>, starts: &[usize]) -> Vec<QuotedLine<'t>> {
    let quoted_line = |pair: &[usize]| {
        let line = line(pair);
        let indent = tokens.indent(line.start).unwrap_or_default();
        QuotedLine { indent, tokens: texts(tokens, line).join("\0") }
    };
    starts.windows(2).map(quoted_line).collect()
}

/// Returns the differing lines. Two lines that differ only in their indentation are different if that leaves no line of
/// which only the indentation changed: so of two equal lines that one stays whose indentation stays.
fn differing(old: &[QuotedLine<'_>], new: &[QuotedLine<'_>]) -> Vec<(Range<usize>, Range<usize>)> {
    let (old_texts, new_texts) = (indented_lines(old), indented_lines(new));
    let [old_keys, new_keys] =
        [&old_texts, &new_texts].map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>());
    let exact = differing_lines(&old_keys, &new_keys);
    let (old_bare, new_bare) = (bare_lines(old), bare_lines(new));
    let removed: HashSet<&str> =
        exact.iter().filter_map(|(gone, _)| old_bare.get(gone.clone())).flatten().copied().collect();
    let mut added = exact.iter().filter_map(|(_, fresh)| new_bare.get(fresh.clone())).flatten();
    if added.any(|line| removed.contains(line)) { differing_lines(&old_bare, &new_bare) } else { exact }
}

fn indented_lines(lines: &[QuotedLine<'_>]) -> Vec<String> {
    lines.iter().map(|line| format!("{}\0{}", line.indent, line.tokens)).collect()
}

fn bare_lines<'l>(lines: &'l [QuotedLine<'_>]) -> Vec<&'l str> {
    lines.iter().map(|line| line.tokens.as_str()).collect()
}

/// Divides differing lines where a line only became another: such a pair is a part of its own, and so is what lies
/// between two pairs.
fn pair_lines(
    old: &[QuotedLine<'_>],
    removed: Range<usize>,
    new: &[QuotedLine<'_>],
    added: Range<usize>,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut parts = Vec::new();
    let (mut from, mut row) = (removed.start, added.start);
    for index in removed.clone() {
        let Some(line) = old.get(index) else { continue };
        let alike =
            |other: &usize| new.get(*other).is_some_and(|other| is_alike(&line.tokens, &other.tokens));
        let Some(other) = (row..added.end).find(alike) else { continue };
        parts.push((from..index, row..other));
        parts.push((index..index + 1, other..other + 1));
        (from, row) = (index + 1, other + 1);
    }
    parts.push((from..removed.end, row..added.end));
    parts.retain(|(gone, fresh)| !gone.is_empty() || !fresh.is_empty());
    parts
}

/// Returns true if more than half of the tokens of two lines are the same, in order.
fn is_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|line| line.split('\0').collect::<Vec<_>>());
    let removed: usize = differing_lines(&one, &other).iter().map(|(gone, _)| gone.len()).sum();
    2 * (one.len() - removed) > one.len().max(other.len())
}

/// The blanks that belong to added tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// The blanks between them.
    None,
    /// Also the blanks before the first one.
    Before,
    /// Also the blanks behind the last one.
    Behind,
    /// Also the blanks on both sides.
    Both,
}

struct LayoutRebase<'a> {
    code: &'a SourceCode<'a>,
    one: &'a CodeMatch,
    quote: &'a Tokens<'a>,
    replacement: &'a Tokens<'a>,
    quotes: Option<OtherQuotes>,
}

/// The quotes of strings in a quote, and the other ones that the file has for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OtherQuotes {
    quoted: char,
    actual: char,
}

/// Returns the quotes of the file if each matched string without quotes inside has the other ones.
fn other_quotes(code: &SourceCode<'_>, one: &CodeMatch, quote: &Tokens<'_>) -> Option<OtherQuotes> {
    let mut pairs = one.tokens.iter().enumerate().filter_map(|(row, at)| {
        let quoted = PlainString::new(quote.text(row))?.quote;
        Some(OtherQuotes { quoted, actual: PlainString::new(code.file.text((*at)?))?.quote })
    });
    let first = pairs.next().filter(|first| first.quoted != first.actual)?;
    pairs.all(|other| other == first).then_some(first)
}

impl LayoutRebase<'_> {
    /// Removes the match: with its lines if nothing else is on them.
    fn removal(&self) -> Change {
        let (view, span) = (self.code.file.text, self.one.span(self.code));
        let before = view.get(..span.start).unwrap_or_default();
        let after = view.get(span.end..).unwrap_or_default();
        let start = before.trim_end_matches([' ', '\t']).len();
        let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
        let rest = after.get(blanks..).unwrap_or_default();
        let is_whole = (start == 0 || before.get(..start).is_some_and(|text| text.ends_with('\n')))
            && (rest.is_empty() || rest.starts_with('\n'));
        let end = span.end + blanks + usize::from(rest.starts_with('\n'));
        Change { span: if is_whole { start..end } else { span }, text: String::new() }
    }

    fn changes(&self) -> Option<Vec<Change>> {
        let mut changes = Vec::new();
        let (mut from, mut row) = (0, 0);
        let hunks = self.hunks();
        changes.extend(self.reindented_first(hunks.first())?);
        let end = (self.quote.len()..self.quote.len(), self.replacement.len()..self.replacement.len());
        for (removed, added) in hunks.into_iter().chain([end]) {
            self.keep_layout(from..removed.start, row, &mut changes)?;
            if !removed.is_empty() || !added.is_empty() {
                changes.push(self.change(&removed, &added)?);
                changes.extend(self.reindented(removed.end, self.replacement.gap(added.end))?);
            }
            (from, row) = (removed.end, added.end);
        }
        changes.sort_by_key(|change| change.span.start);
        let is_apart =
            changes.windows(2).all(|two| matches!(two, [one, other] if one.span.end <= other.span.start));
        (is_apart && !changes.is_empty()).then_some(changes)
    }

    /// Returns the differing tokens of quote and replacement: those of differing lines, so that a line that stays is not
    /// taken apart.
    fn hunks(&self) -> Vec<(Range<usize>, Range<usize>)> {
        let (old, new) = (line_starts(self.quote), line_starts(self.replacement));
        let (old_lines, new_lines) = (quoted_lines(self.quote, &old), quoted_lines(self.replacement, &new));
        let offset = |starts: &[usize], index: usize| starts.get(index).copied().unwrap_or_default();
        let mut hunks = Vec::new();
        for (removed, added) in differing(&old_lines, &new_lines) {
            for (gone, fresh) in pair_lines(&old_lines, removed, &new_lines, added) {
                hunks.extend(self.token_hunks(
                    offset(&old, gone.start)..offset(&old, gone.end),
                    offset(&new, fresh.start)..offset(&new, fresh.end),
                ));
            }
        }
        self.joined(hunks)
    }

    /// Joins a hunk that only removes tokens with an adjacent one that only adds some: a token that both have stays.
    fn joined(&self, hunks: Vec<(Range<usize>, Range<usize>)>) -> Vec<(Range<usize>, Range<usize>)> {
        let mut joined: Vec<(Range<usize>, Range<usize>)> = Vec::with_capacity(hunks.len());
        for (removed, added) in hunks {
            let adjacent = joined.pop_if(|(gone, fresh)| {
                let is_adjacent = gone.end == removed.start && fresh.end == added.start;
                is_adjacent
                    && (Range::is_empty(fresh) && removed.is_empty()
                        || Range::is_empty(gone) && added.is_empty())
            });
            match adjacent {
                Some((gone, fresh)) => {
                    joined.extend(self.token_hunks(gone.start..removed.end, fresh.start..added.end));
                }
                None => joined.push((removed, added)),
            }
        }
        joined
    }

    /// Returns the differing tokens of a part of the quote and a part of the replacement.
    fn token_hunks(&self, removed: Range<usize>, added: Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let (one, other) = (texts(self.quote, removed.clone()), texts(self.replacement, added.clone()));
        let inside = differing_lines(&one, &other).into_iter();
        inside.map(|(gone, fresh)| (moved(gone, removed.start), moved(fresh, added.start))).collect()
    }

    /// Applies the changes of the layout between tokens that stay: possible only where the file has the quoted layout, or
    /// has the wanted one already.
    fn keep_layout(&self, kept: Range<usize>, row: usize, changes: &mut Vec<Change>) -> Option<()> {
        for (offset, index) in kept.clone().enumerate().skip(1) {
            let (quoted, wanted) = (self.quote.gap(index), self.replacement.gap(row + offset));
            if quoted == wanted {
                continue;
            }
            let (before, at) = (self.file_token(index - 1)?, self.file_token(index)?);
            let own = self.code.file.gap(at);
            let in_file = |gap: &str| self.indented(gap).unwrap_or_else(|| gap.to_owned());
            let text = in_file(wanted);
            if at == before + 1 && own == text {
                continue;
            }
            if at != before + 1 || own != in_file(quoted) {
                return None;
            }
            changes.extend(self.reindented(index, wanted)?);
            let end = self.code.file.token(at)?.span.start;
            changes.push(Change { span: end - own.len()..end, text });
        }
        Some(())
    }

    /// Returns the changes that give a quoted line, which the file has on several lines, another indentation: those of its
    /// further lines. `wanted` is the text before its first token in the replacement. `None` if they are not indented by that
    /// of its first line.
    fn reindented(&self, index: usize, wanted: &str) -> Option<Vec<Change>> {
        let file = &self.code.file;
        let end = (index + 1..self.quote.len()).find(|index| self.quote.breaks_before(*index));
        let line = index..end.unwrap_or(self.quote.len());
        let own: Vec<usize> = line.filter_map(|index| self.file_token(index)).collect();
        let Some((first, last)) = own.first().zip(own.last()) else { return Some(Vec::new()) };
        let breaks: Vec<usize> = (first + 1..=*last).filter(|at| file.breaks_before(*at)).collect();
        if breaks.is_empty() || !wanted.contains('\n') || self.quote.gap(index) == wanted {
            return Some(Vec::new());
        }
        let wanted = self.indented(wanted)?;
        let (before, wanted) = (file.indent(*first)?, wanted.rsplit('\n').next()?);
        let reindent = |at: &usize| {
            let indent = file.indent(*at)?;
            let end = file.token(*at)?.span.start;
            let text = format!("{wanted}{}", indent.strip_prefix(before)?);
            Some(Change { span: end - indent.len()..end, text })
        };
        breaks.iter().map(reindent).collect()
    }

    /// Returns the changes that give the first quoted line another indentation, with those of its further lines in the
    /// file; `None` if the file does not show how. `hunk` is the first one.
    fn reindented_first(&self, hunk: Option<&(Range<usize>, Range<usize>)>) -> Option<Vec<Change>> {
        let wanted = self.replacement.indent(0).unwrap_or_default();
        if self.quote.indent(0) == Some(wanted) {
            return Some(Vec::new());
        }
        let at = self.file_token(0)?;
        let end = self.code.file.token(at)?.span.start;
        let span = end - self.code.file.indent(at)?.len()..end;
        let first = Change { span, text: self.indent_map()?.apply(wanted)? };
        let further = self.reindented(0, &format!("\n{wanted}"))?;
        match hunk.filter(|(removed, added)| removed.start == 0 && added.start == 0) {
            None => Some(std::iter::once(first).chain(further).collect()),
            // The lines behind removed ones take their place, with the indentation that the edit gives them.
            Some((removed, added)) if added.is_empty() => {
                (self.quote.indent(removed.end) == Some(wanted)).then(Vec::new)
            }
            // The line that stays behind added ones has its own change.
            Some((removed, _)) if removed.is_empty() => Some(vec![first]),
            Some(_) => further.is_empty().then(|| vec![first]),
        }
    }

    fn file_token(&self, index: usize) -> Option<usize> {
        self.one.tokens.get(index).copied().flatten()
    }

    /// Returns the change of one hunk of tokens. The blanks around it stay those of the file, unless the edit changes them
    /// and the file has those of the quote; `None` if it has others.
    fn change(&self, removed: &Range<usize>, added: &Range<usize>) -> Option<Change> {
        let file = &self.code.file;
        let own: Vec<usize> = removed.clone().filter_map(|index| self.file_token(index)).collect();
        let before = removed.start.checked_sub(1).and_then(|before| self.file_token(before));
        let after = self.file_token(removed.end);
        let (quote, replacement) = (self.quote, self.replacement);
        let quoted = [before.map(|_| quote.gap(removed.start)), after.map(|_| quote.gap(removed.end))];
        let wanted =
            [before.map(|_| replacement.gap(added.start)), after.map(|_| replacement.gap(added.end))];
        let first = own.first().copied();
        let last =
            own.last().map(|last| if added.is_empty() { self.end_of_entry(*last, removed) } else { *last });
        // The token before the first removed one may be a comma that the formatter added; it stays.
        let start = first.map_or(before, |first| first.checked_sub(1)).filter(|_| before.is_some());
        let end_of = |index: usize| file.token(index).map(|token| token.span.end);
        let start_of = |index: usize| file.token(index).map(|token| token.span.start);
        let own_gaps = [before.zip(first), last.zip(after)]
            .map(|pair| pair.filter(|(one, other)| one + 1 == *other).map(|(_, other)| file.gap(other)));
        let has_wanted_gaps = quoted
            .iter()
            .zip(&own_gaps)
            .zip(&wanted)
            .all(|((quoted, own), wanted)| quoted == wanted || own == wanted);
        match (first.zip(last), added.is_empty()) {
            (Some((first, last)), false) if has_wanted_gaps => {
                let text = self.added_text(added.clone(), Edges::None, first)?;
                Some(Change { span: start_of(first)?..end_of(last)?, text })
            }
            (Some((first, last)), true) => {
                let Some(start) = start else {
                    let next = after?;
                    // Whole lines go with their indentation, unless the next one takes that of the first.
                    let stays = quote.indent(removed.end) == replacement.indent(added.end);
                    let indents = file.indent(first).zip(file.indent(next)).filter(|_| stays);
                    let (from, to) = indents.map_or((0, 0), |(one, other)| (one.len(), other.len()));
                    return Some(Change {
                        span: start_of(first)? - from..start_of(next)? - to,
                        text: String::new(),
                    });
                };
                let left = replacement.gap(added.end);
                match after {
                    // The blanks before the removed tokens stay, and those behind them go.
                    Some(next) if quote.gap(removed.end) != left && quote.gap(removed.start) == left => {
                        Some(Change { span: start_of(first)?..start_of(next)?, text: String::new() })
                    }
                    Some(next) if quote.gap(removed.end) != left => {
                        let is_quoted = before? + 1 == first
                            && last + 1 == next
                            && file.gap(first) == quote.gap(removed.start)
                            && file.gap(next) == quote.gap(removed.end);
                        let text = self.indented(left)?;
                        is_quoted.then_some(Change { span: end_of(start)?..start_of(next)?, text })
                    }
                    Some(_) | None => {
                        Some(Change { span: end_of(start)?..end_of(last)?, text: String::new() })
                    }
                }
            }
            (None, false) => match (before, after) {
                // Between two tokens that stay, one of the two blanks is that of the quote.
                (Some(before), Some(next)) if wanted[1] != quoted[1] => {
                    if wanted[0] == quoted[0] {
                        let at = start_of(next)?;
                        return Some(Change {
                            span: at..at,
                            text: self.added_text(added.clone(), Edges::Behind, next)?,
                        });
                    }
                    let is_quoted = before + 1 == next && file.gap(next) == quote.gap(removed.end);
                    let text = self.added_text(added.clone(), Edges::Both, before)?;
                    is_quoted.then_some(Change { span: end_of(before)?..start_of(next)?, text })
                }
                (Some(before), _) => {
                    // New lines come behind a parenthesis that the formatter added at the end.
                    let is_behind = after.is_none() && replacement.breaks_before(added.start);
                    let at = end_of(if is_behind { self.one.last } else { before })?;
                    Some(Change {
                        span: at..at,
                        text: self.added_text(added.clone(), Edges::Before, before)?,
                    })
                }
                (None, next) => {
                    let at = start_of(next?)?;
                    Some(Change { span: at..at, text: self.added_text(added.clone(), Edges::Behind, next?)? })
                }
            },
            (Some((first, last)), false) => {
                // The edit changes blanks around the tokens, so the file must have those of the quote.
                let is_before_quoted = before
                    .is_none_or(|before| before + 1 == first && file.gap(first) == quote.gap(removed.start));
                let is_after_quoted =
                    after.is_none_or(|next| last + 1 == next && file.gap(next) == quote.gap(removed.end));
                let (edges, span) = match (before, after) {
                    (Some(before), Some(next)) => (Edges::Both, end_of(before)?..start_of(next)?),
                    (Some(before), None) => (Edges::Before, end_of(before)?..end_of(last)?),
                    (None, Some(next)) => (Edges::Behind, start_of(first)?..start_of(next)?),
                    (None, None) => (Edges::None, start_of(first)?..end_of(last)?),
                };
                let text = self.added_text(added.clone(), edges, first)?;
                (is_before_quoted && is_after_quoted).then_some(Change { span, text })
            }
            (None, true) => {
                let at = self.one.span(self.code).start;
                Some(Change { span: at..at, text: String::new() })
            }
        }
    }

    /// Returns the last token of a removed entry: the comma that the formatter added behind it, unless the entry goes with
    /// the comma before it.
    fn end_of_entry(&self, last: usize, removed: &Range<usize>) -> usize {
        let end = self.file_token(removed.end).unwrap_or(self.one.last + 1);
        let is_added = last + 1 < end && self.code.file.text(last + 1) == ",";
        if is_added && self.quote.text(removed.start) != "," { last + 1 } else { last }
    }

    /// Returns the text of added tokens with the indentation of the file. Where the list around a token of the file has
    /// each entry on a line of its own, so have the added entries.
    fn added_text(&self, added: Range<usize>, edges: Edges, near: usize) -> Option<String> {
        let entry_gap = self.code.entry_gap(near);
        let gaps = match edges {
            Edges::None => added.start + 1..added.end,
            Edges::Before => added.start..added.end,
            Edges::Behind => added.start + 1..added.end + 1,
            Edges::Both => added.start..added.end + 1,
        };
        let (mut text, mut depth) = (String::new(), 0_usize);
        for index in added.start..=added.end {
            if gaps.contains(&index) {
                let gap = self.replacement.gap(index);
                let is_entry = depth == 0 && index > 0 && self.replacement.text(index - 1) == ",";
                match entry_gap.filter(|_| is_entry && !gap.contains('\n')) {
                    Some(entry_gap) => text.push_str(entry_gap),
                    None => text.push_str(&self.indented(gap)?),
                }
            }
            if index < added.end {
                let token = self.replacement.text(index);
                match token {
                    // The commas between arguments of a type are none of the list.
                    "(" | "[" | "{" | "<" => depth += 1,
                    ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                text.push_str(&self.with_quotes_of_file(token));
            }
        }
        Some(text)
    }

    /// Returns an added string with the quotes of the file's strings; every other token stays.
    fn with_quotes_of_file<'t>(&self, token: &'t str) -> Cow<'t, str> {
        match self.quotes.zip(PlainString::new(token)) {
            Some((OtherQuotes { quoted, actual }, PlainString { prefix, quote, inside }))
                if quote == quoted && !inside.contains('\\') =>
            {
                format!("{prefix}{actual}{inside}{actual}").into()
            }
            Some(_) | None => token.into(),
        }
    }

    /// Returns a text of the replacement with the indentation of the file; `None` if no rule maps it.
    fn indented(&self, text: &str) -> Option<String> {
        let Some((first, rest)) = text.split_once('\n') else { return Some(text.to_owned()) };
        let map = self.indent_map()?;
        let mut out = first.to_owned();
        let mut lines = rest.split('\n').peekable();
        while let Some(line) = lines.next() {
            out.push('\n');
            let bare = line.trim_start_matches([' ', '\t']);
            let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
            // The last one is the indentation of the token behind the text, and the empty ones before it are blank lines.
            if !line.is_empty() || lines.peek().is_none() {
                out.push_str(&map.apply(indent)?);
            }
            out.push_str(bare);
        }
        Some(out)
    }

    /// Returns the rule that maps the indentation of the quoted lines that begin with the same token as a line of the file.
    /// Lines inside of parentheses do not count, because a formatter indents them in its own way.
    fn indent_map(&self) -> Option<IndentMap> {
        let mut depth = 0_usize;
        let mut pairs = Vec::new();
        for index in 0..self.quote.len() {
            let text = self.quote.text(index);
            if matches!(text, ")" | "]") {
                depth = depth.saturating_sub(1);
            }
            let begins = index == 0 || self.quote.breaks_before(index);
            if let Some(at) = self.file_token(index).filter(|_| depth == 0 && begins) {
                pairs.extend(self.quote.indent(index).zip(self.code.file.indent(at)));
            }
            if matches!(text, "(" | "[") {
                depth += 1;
            }
        }
        let indents: Vec<&str> =
            (0..self.replacement.len()).filter_map(|index| self.replacement.indent(index)).collect();
        IndentMap::explaining(&pairs, &indents)
    }

    /// Parses the result, and returns true if it has the replacement in the place of the match.
    fn is_proved(&self, changes: &[Change]) -> bool {
        let mut view = self.code.file.text.to_owned();
        let span = self.one.span(self.code);
        let mut length = span.len();
        for change in changes.iter().rev() {
            if view.get(change.span.clone()).is_none() {
                return false;
            }
            view.replace_range(change.span.clone(), &change.text);
            length = (length + change.text.len()).saturating_sub(change.span.len());
        }
        if self.replacement.len() == 0 {
            return true;
        }
        let Some(after) =
            SourceCode::parse(self.code.language, self.code.path, &view, self.code.rules, self.code.syntax)
        else {
            return false;
        };
        // Removed lines begin before their first token.
        let begin = changes.first().map_or(span.start, |change| change.span.start.min(span.start));
        let mut starts =
            (0..after.file.len()).filter(|at| after.file.token(*at).is_some_and(|it| it.span.start >= begin));
        let matched = starts.next().and_then(|at| after.match_from(self.replacement, at));
        matched.is_some_and(|matched| matched.span(&after).end == span.start + length)
    }
}
