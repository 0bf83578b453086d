//! Applies the difference between quote and replacement to the tokens of a match.

use std::ops::Range;

use super::code::{CodeMatch, SourceCode};
use super::hunks::{TokenHunk, hunks};
use super::match_context::MatchContext;
use super::tokens::Tokens;
use crate::exact::{is_line_end, is_line_start};
use lockgate_text::Change;

/// Returns the changes of an edit; `None` if the replacement would not be in the place of the match token for token.
pub(super) fn rebase(
    code: SourceCode<'_>,
    one: &CodeMatch,
    quote: &Tokens<'_>,
    replacement: &Tokens<'_>,
) -> Option<Vec<Change>> {
    let context = MatchContext::new(&code, one, quote, replacement);
    if replacement.len() == 0 {
        return Some(vec![context.removal()]);
    }
    let changes = context.changes()?;
    let (source, rules, view, span) = (code.source, code.rules, code.file.text, one.span(&code));
    // The tree takes much memory, and the one of the result takes as much.
    drop(code);
    let (result, place) = apply(view, span, &changes)?;
    let result = SourceCode::parse(source, &result, rules)?;
    has_match(&result, replacement, place).then_some(changes)
}

/// Applies changes to a text. Returns the result, and the range in it from the first change or the start of the match to
/// the end of the match; `None` if a change is outside of the text.
fn apply(view: &str, matched: Range<usize>, changes: &[Change]) -> Option<(String, Range<usize>)> {
    let (mut result, mut end) = (view.to_owned(), matched.end);
    for change in changes.iter().rev() {
        view.get(change.span.clone())?;
        result.replace_range(change.span.clone(), &change.text);
        end = (end + change.text.len()).saturating_sub(change.span.len());
    }
    let start = changes.first().map_or(matched.start, |first| first.span.start.min(matched.start));
    Some((result, start..end))
}

impl MatchContext<'_> {
    /// Removes the match: with its lines if nothing else is on them.
    fn removal(&self) -> Change {
        let (view, span) = (self.code.file.text, self.one.span(self.code));
        let before = view.get(..span.start).unwrap_or_default();
        let after = view.get(span.end..).unwrap_or_default();
        let start = before.trim_end_matches([' ', '\t']).len();
        let end = span.end + after.len() - after.trim_start_matches([' ', '\t']).len();
        let is_whole = is_line_start(view, start) && is_line_end(view, end);
        let whole = start..(end + 1).min(view.len());
        Change { span: if is_whole { whole } else { span }, text: String::new() }
    }

    fn changes(&self) -> Option<Vec<Change>> {
        let mut changes = Vec::new();
        let (mut from, mut row) = (0, 0);
        let hunks = hunks(self.quote, self.replacement);
        changes.extend(self.reindented_first(hunks.first())?);
        for hunk in &hunks {
            let TokenHunk { removed, added } = hunk;
            self.keep_layout(from..removed.start, row, &mut changes)?;
            changes.push(self.change(hunk)?);
            changes.extend(self.reindented(removed.end, self.replacement.gap(added.end))?);
            (from, row) = (removed.end, added.end);
        }
        self.keep_layout(from..self.quote.len(), row, &mut changes)?;
        changes.sort_by_key(|change| change.span.start);
        let is_apart =
            changes.windows(2).all(|two| matches!(two, [one, other] if one.span.end <= other.span.start));
        (is_apart && !changes.is_empty()).then_some(changes)
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
            let end = self.start_of(at)?;
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
            let end = self.start_of(*at)?;
            let text = format!("{wanted}{}", indent.strip_prefix(before)?);
            Some(Change { span: end - indent.len()..end, text })
        };
        breaks.iter().map(reindent).collect()
    }

    /// Returns the changes that give the first quoted line another indentation, with those of its further lines in the
    /// file; `None` if the file does not show how. `hunk` is the first one.
    fn reindented_first(&self, hunk: Option<&TokenHunk>) -> Option<Vec<Change>> {
        let wanted = self.replacement.indent(0).unwrap_or_default();
        if self.quote.indent(0) == Some(wanted) {
            return Some(Vec::new());
        }
        let at = self.file_token(0)?;
        let end = self.start_of(at)?;
        let span = end - self.code.file.indent(at)?.len()..end;
        let first = Change { span, text: self.indent_map()?.apply(wanted)? };
        let further = self.reindented(0, &format!("\n{wanted}"))?;
        match hunk.filter(|hunk| hunk.removed.start == 0 && hunk.added.start == 0) {
            None => Some(std::iter::once(first).chain(further).collect()),
            // The lines behind removed ones take their place, with the indentation that the edit gives them.
            Some(hunk) if hunk.added.is_empty() => {
                (self.quote.indent(hunk.removed.end) == Some(wanted)).then(Vec::new)
            }
            // The line that stays behind added ones has its own change.
            Some(hunk) if hunk.removed.is_empty() => Some(vec![first]),
            Some(_) => further.is_empty().then(|| vec![first]),
        }
    }
}

/// True if a text has the tokens of the replacement, and no others, in the place of the match. Removed lines begin before
/// their first token.
fn has_match(code: &SourceCode<'_>, replacement: &Tokens<'_>, place: Range<usize>) -> bool {
    let is_inside = |at: &usize| code.file.token(*at).is_some_and(|token| token.span.start >= place.start);
    let first = (0..code.file.len()).find(is_inside);
    let matched = first.and_then(|first| code.match_from(replacement, first));
    matched.is_some_and(|matched| matched.span(code).end == place.end)
}
