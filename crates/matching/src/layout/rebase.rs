//! Applies the difference between quote and replacement to the tokens of a match.

use std::ops::Range;

use super::Tokens;
use super::code::{CodeMatch, SourceCode};
use crate::indent::IndentMap;
use lockgate_text::{Change, differing_lines};

/// Returns the changes of an edit; `None` if the replacement would not be in the place of the match token for token.
pub(super) fn rebase(
    code: &SourceCode<'_>,
    one: &CodeMatch,
    quote: &Tokens<'_>,
    replacement: &Tokens<'_>,
) -> Option<Vec<Change>> {
    let site = Site { code, one, quote, replacement };
    let changes = if replacement.len() == 0 { vec![site.removal()] } else { site.changes()? };
    site.is_proved(&changes).then_some(changes)
}

/// The blanks that belong to added tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// Those between them.
    None,
    /// Those before the first one, too.
    Before,
    /// Those behind the last one, too.
    Behind,
}

struct Site<'a> {
    code: &'a SourceCode<'a>,
    one: &'a CodeMatch,
    quote: &'a Tokens<'a>,
    replacement: &'a Tokens<'a>,
}

impl Site<'_> {
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
        let [old, new] = [self.quote, self.replacement]
            .map(|tokens| (0..tokens.len()).map(|index| tokens.text(index)).collect::<Vec<_>>());
        let hunks = differing_lines(&old, &new);
        let mut changes = Vec::new();
        let (mut from, mut row) = (0, 0);
        let end = (old.len()..old.len(), new.len()..new.len());
        for (removed, added) in hunks.iter().cloned().chain([end]) {
            self.keep_layout(from..removed.start, row, &mut changes)?;
            if !removed.is_empty() || !added.is_empty() {
                changes.push(self.change(&removed, &added)?);
            }
            (from, row) = (removed.end, added.end);
        }
        changes.sort_by_key(|change| change.span.start);
        let is_apart =
            changes.windows(2).all(|two| matches!(two, [one, other] if one.span.end <= other.span.start));
        is_apart.then_some(changes)
    }

    /// Applies the changes of the layout between tokens that stay: possible only where the file has the quoted layout.
    fn keep_layout(&self, kept: Range<usize>, row: usize, changes: &mut Vec<Change>) -> Option<()> {
        for (offset, index) in kept.clone().enumerate().skip(1) {
            let (quoted, wanted) = (self.quote.gap(index), self.replacement.gap(row + offset));
            if quoted == wanted {
                continue;
            }
            let (before, at) = (self.file_token(index - 1)?, self.file_token(index)?);
            if at != before + 1 || self.code.file.gap(at) != quoted {
                return None;
            }
            let token = self.code.file.token(at)?;
            changes.push(Change {
                span: token.span.start - quoted.len()..token.span.start,
                text: wanted.to_owned(),
            });
        }
        Some(())
    }

    fn file_token(&self, index: usize) -> Option<usize> {
        self.one.tokens.get(index).copied().flatten()
    }

    /// Returns the change of one hunk of tokens.
    fn change(&self, removed: &Range<usize>, added: &Range<usize>) -> Option<Change> {
        let file = &self.code.file;
        let own: Vec<usize> = removed.clone().filter_map(|index| self.file_token(index)).collect();
        let before = removed.start.checked_sub(1).and_then(|before| self.file_token(before));
        match (own.first().zip(own.last()), added.is_empty()) {
            (Some((first, last)), false) => {
                let text = self.added_text(added.clone(), Edges::None, *first)?;
                Some(Change { span: file.span(*first, *last)?, text })
            }
            (None, false) => {
                let Some(before) = before else {
                    let next = self.file_token(removed.end)?;
                    let at = file.token(next)?.span.start;
                    return Some(Change {
                        span: at..at,
                        text: self.added_text(added.clone(), Edges::Behind, next)?,
                    });
                };
                // New lines come behind a parenthesis that the formatter added at the end.
                let is_behind =
                    removed.start == self.quote.len() && self.replacement.breaks_before(added.start);
                let at = file.token(if is_behind { self.one.last } else { before })?.span.end;
                Some(Change { span: at..at, text: self.added_text(added.clone(), Edges::Before, before)? })
            }
            (Some((first, last)), true) => {
                let end = file.token(*last)?.span.end;
                let span = match before {
                    Some(before) => file.token(before)?.span.end..end,
                    None => {
                        file.token(*first)?.span.start..file.token(self.file_token(removed.end)?)?.span.start
                    }
                };
                Some(Change { span, text: String::new() })
            }
            (None, true) => {
                let at = self.one.span(self.code).start;
                Some(Change { span: at..at, text: String::new() })
            }
        }
    }

    /// Returns the text of added tokens with the indentation of the file. Where the list around a token of the file has
    /// each entry on a line of its own, so have the added entries.
    fn added_text(&self, added: Range<usize>, edges: Edges, near: usize) -> Option<String> {
        let entry_gap = self.code.entry_gap(near);
        let gaps = match edges {
            Edges::None => added.start + 1..added.end,
            Edges::Before => added.start..added.end,
            Edges::Behind => added.start + 1..added.end + 1,
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
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                text.push_str(token);
            }
        }
        Some(text)
    }

    /// Returns a text of the replacement with the indentation of the file; `None` if no rule maps it.
    fn indented(&self, text: &str) -> Option<String> {
        let Some((first, rest)) = text.split_once('\n') else { return Some(text.to_owned()) };
        let map = self.indent_map()?;
        let mut out = first.to_owned();
        for line in rest.split('\n') {
            out.push('\n');
            let bare = line.trim_start_matches([' ', '\t']);
            let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
            if !bare.is_empty() || !indent.is_empty() {
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
        if pairs.is_empty() { None } else { IndentMap::explaining(&pairs, &[]) }
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
        let starts = (0..after.file.len())
            .filter(|at| after.file.token(*at).is_some_and(|it| it.span.start == span.start));
        let matched = starts.filter_map(|at| after.match_from(self.replacement, at)).next();
        matched.is_some_and(|matched| matched.span(&after) == (span.start..span.start + length))
    }
}
