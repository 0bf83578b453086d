//! The change of one hunk in the file.

use std::ops::Range;

use super::hunks::TokenHunk;
use super::match_context::{Edges, MatchContext};
use lockgate_text::Change;

/// A hunk with the tokens of the file around it.
struct HunkSite<'a> {
    context: &'a MatchContext<'a>,
    hunk: &'a TokenHunk,
    before: Option<KeptToken<'a>>,
    after: Option<KeptToken<'a>>,
}

/// A token that stays next to a hunk, and the blanks between them.
struct KeptToken<'a> {
    /// Its index in the file.
    index: usize,
    /// The blanks in the quote.
    quoted: &'a str,
    /// The blanks in the replacement.
    wanted: &'a str,
}

impl KeptToken<'_> {
    /// Returns true if the edit changes the blanks.
    fn is_changed(&self) -> bool {
        self.quoted != self.wanted
    }
}

impl MatchContext<'_> {
    /// Returns the change of a hunk. The blanks around it stay those of the file, unless the edit changes them and the file
    /// has those of the quote; `None` if it has others.
    pub(super) fn change(&self, hunk: &TokenHunk) -> Option<Change> {
        let site = HunkSite::new(self, hunk);
        let own: Vec<usize> = hunk.removed.clone().filter_map(|index| self.file_token(index)).collect();
        match (own.first().zip(own.last()), hunk.added.is_empty()) {
            (Some((first, last)), false) => site.replaced(*first, *last),
            (Some((first, last)), true) => site.removed(*first, *last),
            (None, false) => site.added(),
            // The file has none of the removed tokens.
            (None, true) => {
                let at = self.one.span(self.code).start;
                Some(Change { span: at..at, text: String::new() })
            }
        }
    }
}

impl<'a> HunkSite<'a> {
    fn new(context: &'a MatchContext<'a>, hunk: &'a TokenHunk) -> HunkSite<'a> {
        let TokenHunk { removed, added } = hunk;
        let kept = |token: usize, quoted: usize, wanted: usize| {
            let (quoted, wanted) = (context.quote.gap(quoted), context.replacement.gap(wanted));
            Some(KeptToken { index: context.file_token(token)?, quoted, wanted })
        };
        let before = removed.start.checked_sub(1).and_then(|token| kept(token, removed.start, added.start));
        let after = kept(removed.end, removed.end, added.end);
        HunkSite { context, hunk, before, after }
    }

    /// Replaces the tokens of the file from `first` to `last`.
    fn replaced(&self, first: usize, last: usize) -> Option<Change> {
        let context = self.context;
        let has_gaps = |fits: fn(&KeptToken<'_>, Option<&str>) -> bool| {
            let (before, after) = (self.before.as_ref(), self.after.as_ref());
            before.is_none_or(|kept| fits(kept, context.file_gap(kept.index, first)))
                && after.is_none_or(|kept| fits(kept, context.file_gap(last, kept.index)))
        };
        let (start, end) = (context.start_of(first)?, context.end_of(last)?);
        let (edges, span) = if has_gaps(|kept, gap| !kept.is_changed() || gap == Some(kept.wanted)) {
            (Edges::None, start..end)
        } else if has_gaps(|kept, gap| gap == Some(kept.quoted)) {
            match (&self.before, &self.after) {
                (Some(before), Some(after)) => {
                    (Edges::Both, context.end_of(before.index)?..context.start_of(after.index)?)
                }
                (Some(before), None) => (Edges::Before, context.end_of(before.index)?..end),
                (None, Some(after)) => (Edges::Behind, start..context.start_of(after.index)?),
                (None, None) => (Edges::None, start..end),
            }
        } else {
            return None;
        };
        self.with_added(edges, first, span)
    }

    /// Removes the tokens of the file from `first` to `last`.
    fn removed(&self, first: usize, last: usize) -> Option<Change> {
        let context = self.context;
        let removal = |span: Range<usize>| Some(Change { span, text: String::new() });
        let last = self.end_of_entry(last);
        // The token before the first removed one may be a comma that the formatter added; it stays.
        let Some((before, start)) = self.before.as_ref().zip(first.checked_sub(1)) else {
            return removal(self.up_to_next(first)?);
        };
        match self.after.as_ref().filter(|after| after.is_changed()) {
            // The blanks before the removed tokens stay, and those behind them go.
            Some(after) if before.quoted == after.wanted => {
                removal(context.start_of(first)?..context.start_of(after.index)?)
            }
            Some(after) => {
                let is_quoted = context.file_gap(before.index, first) == Some(before.quoted)
                    && context.file_gap(last, after.index) == Some(after.quoted);
                let text = context.indented(after.wanted)?;
                let span = context.end_of(start)?..context.start_of(after.index)?;
                is_quoted.then_some(Change { span, text })
            }
            None => removal(context.end_of(start)?..context.end_of(last)?),
        }
    }

    /// Returns the bytes from a token of the file to the one that stays behind the hunk. Whole lines go with their
    /// indentation, unless the next one takes that of the first.
    fn up_to_next(&self, first: usize) -> Option<Range<usize>> {
        let (context, next) = (self.context, self.after.as_ref()?.index);
        let TokenHunk { removed, added } = self.hunk;
        let stays = context.quote.indent(removed.end) == context.replacement.indent(added.end);
        let file = &context.code.file;
        let indents = file.indent(first).zip(file.indent(next)).filter(|_| stays);
        let (from, to) = indents.map_or((0, 0), |(one, other)| (one.len(), other.len()));
        Some(context.start_of(first)? - from..context.start_of(next)? - to)
    }

    /// Returns the last token of a removed entry: the comma that the formatter added behind it, unless the entry goes with
    /// the comma before it.
    fn end_of_entry(&self, last: usize) -> usize {
        let context = self.context;
        let end = self.after.as_ref().map_or(context.one.last + 1, |after| after.index);
        let is_added = last + 1 < end && context.code.file.text(last + 1) == ",";
        if is_added && context.quote.text(self.hunk.removed.start) != "," { last + 1 } else { last }
    }

    /// Adds tokens where the file has none of the removed ones.
    fn added(&self) -> Option<Change> {
        let context = self.context;
        match (&self.before, &self.after) {
            // Between two tokens that stay, one of the two blanks is that of the quote.
            (Some(before), Some(after)) if after.is_changed() && before.is_changed() => {
                let is_quoted = context.file_gap(before.index, after.index) == Some(after.quoted);
                let span = context.end_of(before.index)?..context.start_of(after.index)?;
                self.with_added(Edges::Both, before.index, span).filter(|_| is_quoted)
            }
            (Some(before), after) if after.as_ref().is_none_or(|after| !after.is_changed()) => {
                // New lines come behind a parenthesis that the formatter added at the end.
                let is_behind = after.is_none() && context.replacement.breaks_before(self.hunk.added.start);
                let at = context.end_of(if is_behind { context.one.last } else { before.index })?;
                self.with_added(Edges::Before, before.index, at..at)
            }
            (_, after) => {
                let after = after.as_ref()?.index;
                let at = context.start_of(after)?;
                self.with_added(Edges::Behind, after, at..at)
            }
        }
    }

    /// Returns the change that puts the added tokens in the place of some bytes.
    fn with_added(&self, edges: Edges, near: usize, span: Range<usize>) -> Option<Change> {
        Some(Change { span, text: self.context.added_text(self.hunk.added.clone(), edges, near)? })
    }
}
