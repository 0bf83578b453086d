//! Collects the matches that an answer shows.

use std::ops::{ControlFlow, Range};

use super::clip::{clip, clip_line};
use super::matches::{LineMatch, MatchCount, Matches, NumberedLine, SearchRequest, skipped_notes};
use lockgate_checks::Watch;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_store::{Clock, Finder, SearchEnd, SearchPattern, Skipped};
use lockgate_text::Buffer;

/// The most characters of an answer: lines with their overhead.
const MAX_PAGE_BYTES: usize = 50_000;
/// The overhead of a match beside its lines, in characters.
const MATCH_OVERHEAD: usize = 80;
/// The most lines of one match that are shown.
const MAX_MATCH_LINES: usize = 50;

/// The matches that an answer shows, as they are found.
pub(super) struct MatchPage<'p> {
    pub(super) request: &'p SearchRequest,
    pub(super) pattern: &'p SearchPattern,
    pub(super) clock: &'p Clock<'p>,
    finder: Finder<'p>,
    remaining: usize,
    /// The number of matches that are still to be skipped.
    to_skip: usize,
    pub(super) matches: Matches,
}

impl<'p> MatchPage<'p> {
    pub(super) fn new(
        request: &'p SearchRequest,
        pattern: &'p SearchPattern,
        clock: &'p Clock<'p>,
    ) -> MatchPage<'p> {
        MatchPage {
            request,
            pattern,
            clock,
            finder: Finder::new(pattern),
            remaining: MAX_PAGE_BYTES,
            to_skip: request.offset,
            matches: Matches { scope: request.entity_scope.clone(), ..Matches::default() },
        }
    }

    /// Returns the matches, with notes on what was left out.
    pub(super) fn finish(self, watch: &Watch) -> Matches {
        let mut matches = self.matches;
        matches.truncated |= matches.total > matches.found.len() + self.request.offset.min(matches.total);
        if self.clock.is_stopped() {
            let why = if watch.cancelled() { "it was cancelled" } else { "it took too long" };
            matches.truncated = true;
            matches.notes.push(format!(
                "the search stopped because {why}: total_matches is a lower bound; narrow it by path, or make the pattern \
                 more literal"
            ));
        }
        matches
    }

    pub(super) fn is_full(&self) -> bool {
        self.remaining == 0 || self.matches.found.len() >= self.request.max_matches
    }

    /// Shows the matches of one file while there is space, and counts all of them.
    pub(super) fn show(&mut self, path: &str, entity: Option<&Entity>, text: &Buffer) -> usize {
        let (mut count, mut first) = (0, Vec::new());
        let remaining = self.request.max_matches.saturating_sub(self.matches.found.len());
        let to_skip = self.to_skip;
        let end = self.finder.each(text.view().as_bytes(), self.clock, |lines| {
            count += 1;
            if count > to_skip && first.len() < remaining {
                first.push(lines);
            }
            ControlFlow::Continue(())
        });
        self.to_skip = to_skip.saturating_sub(count);
        if count > 0 {
            self.matches.counts.push(MatchCount {
                path: path.to_owned(),
                entity: entity.cloned(),
                matches: count,
            });
        }
        if end == SearchEnd::Slow {
            self.matches.truncated = true;
            let skipped = Skipped { slow: 1, ..Skipped::default() };
            let noun = entity.map_or(EntityKind::FILE, |entity| entity.kind.name());
            self.matches.notes.extend(skipped_notes(&skipped, 0, noun));
        }
        for lines in first {
            let found = self.found(path, entity, text, lines);
            let cost = cost(&found);
            if cost > self.remaining && !self.matches.found.is_empty() {
                self.remaining = 0;
                break;
            }
            self.remaining = self.remaining.saturating_sub(cost);
            self.matches.found.push(found);
        }
        count
    }

    fn found(&self, path: &str, entity: Option<&Entity>, text: &Buffer, span: Range<usize>) -> LineMatch {
        let lines = text.lines();
        let (line, last) = (lines.line_at(span.start), lines.line_at(span.end.saturating_sub(1)));
        let numbered = |line| NumberedLine { line, text: clip(lines.text(line), 0..0) };
        let mut shown: Vec<String> =
            (line..=last).take(MAX_MATCH_LINES).map(|line| clip(lines.text(line), 0..0)).collect();
        let long = lines.text(line);
        if line == last && clip_line(long) {
            let matched = self.pattern.find_at(long, 0).unwrap_or_default();
            shown = vec![clip(long, matched)];
        } else if last - line >= MAX_MATCH_LINES {
            shown.push("...".to_owned());
        }
        let context = self.request.context;
        LineMatch {
            path: path.to_owned(),
            entity: entity.cloned(),
            version: text.version(),
            line,
            end_line: last,
            text: shown.join("\n"),
            before: (line.saturating_sub(context).max(1)..line).map(numbered).collect(),
            after: (last + 1..=last.saturating_add(context).min(lines.count())).map(numbered).collect(),
        }
    }
}

/// Estimates the characters that a match takes in an answer.
fn cost(found: &LineMatch) -> usize {
    let around = found.before.iter().chain(&found.after).map(|line| line.text.chars().count() + 8);
    MATCH_OVERHEAD + found.path.chars().count() + found.text.chars().count() + around.sum::<usize>()
}
