//! Collects the matches that an answer shows.

use std::ops::{ControlFlow, Range};

use super::clip::{clip, clip_line};
use super::results::{distinct_key, shared_key, skipped_notes};
use lockgate_checks::Watch;
use lockgate_edit::request::{Entity, EntityKind, SearchScope};
use lockgate_protocol::{EntityKey, FileMatches, NumberedText, SearchResponse, SearchRow};
use lockgate_store::{Clock, Finder, MAX_COUNTED_FILES, SearchEnd, SearchPattern, Skipped};
use lockgate_text::Buffer;

/// The most characters of an answer: lines with their overhead.
const MAX_PAGE_BYTES: usize = 50_000;
/// The overhead of a match beside its lines, in characters.
const MATCH_OVERHEAD: usize = 80;

/// A request for the lines that a pattern matches, in files or entities.
///
/// Errors: `BAD_PATTERN`, `FILE_NOT_FOUND`, `PROTECTED`, `STORE_UNAVAILABLE`; for a single file those of reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The pattern, in the syntax of the crate `regex`.
    pub pattern: String,
    /// A file, a folder, or a glob of files relative to the first root; every root, where it is absent.
    pub path: Option<String>,
    /// The scope of the search.
    pub entity_scope: SearchScope,
    /// Lines shown before and after each match.
    pub context: usize,
    /// The most matches that are shown, from 1.
    pub max_matches: usize,
    /// True if hidden files are searched, too.
    pub hidden: bool,
    /// True if a match may span lines.
    pub multiline: bool,
    /// The number of matches that are skipped before the first one that is shown.
    pub offset: usize,
}

/// The matches that an answer shows, as they are found.
pub(super) struct MatchPage<'p> {
    pub(super) request: &'p SearchRequest,
    pub(super) pattern: &'p SearchPattern,
    pub(super) clock: &'p Clock<'p>,
    finder: Finder<'p>,
    remaining: usize,
    /// The number of matches that are still to be skipped.
    to_skip: usize,
    pub(super) response: SearchResponse,
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
            response: SearchResponse { key: shared_key(&request.entity_scope), ..SearchResponse::default() },
        }
    }

    /// Returns the matches, with notes on what was left out.
    pub(super) fn finish(self, watch: &Watch) -> SearchResponse {
        let mut response = self.response;
        let total = response.total_matches;
        let next = response.matches.len() + self.request.offset.min(total);
        response.truncated |= total > next;
        response.next_offset = (total > next && !response.matches.is_empty()).then_some(next);
        if self.clock.is_stopped() {
            let why = if watch.cancelled() { "it was cancelled" } else { "it took too long" };
            response.truncated = true;
            response.notes.push(format!(
                "the search stopped because {why}: total_matches is a lower bound; narrow it by path, or make the pattern \
                 more literal"
            ));
        }
        if !response.truncated {
            response.counts.clear();
        }
        response
    }

    pub(super) fn is_full(&self) -> bool {
        self.remaining == 0 || self.response.matches.len() >= self.request.max_matches
    }

    /// Lists the number of matches of a file or an entity, if it is one of the first.
    pub(super) fn count(&mut self, path: &str, matches: usize, key: EntityKey) {
        if matches > 0 && self.response.counts.len() < MAX_COUNTED_FILES {
            self.response.counts.push(FileMatches { path: path.to_owned(), matches, key });
        }
    }

    /// Shows the matches of one file while there is space, and counts all of them.
    pub(super) fn show(&mut self, path: &str, entity: Option<&Entity>, text: &Buffer) -> usize {
        let (mut count, mut first) = (0, Vec::new());
        let remaining = self.request.max_matches.saturating_sub(self.response.matches.len());
        let to_skip = self.to_skip;
        let end = self.finder.each(text.view().as_bytes(), self.clock, |lines| {
            count += 1;
            if count > to_skip && first.len() < remaining {
                first.push(lines);
            }
            ControlFlow::Continue(())
        });
        self.to_skip = to_skip.saturating_sub(count);
        self.count(path, count, distinct_key(entity));
        if end == SearchEnd::Slow {
            self.response.truncated = true;
            let skipped = Skipped { slow: 1, ..Skipped::default() };
            let noun = entity.map_or(EntityKind::FILE, |entity| entity.kind.name());
            self.response.notes.extend(skipped_notes(&skipped, 0, noun));
        }
        for lines in first {
            let found = self.found(path, entity, text, lines);
            let cost = cost(&found);
            if cost > self.remaining && !self.response.matches.is_empty() {
                self.remaining = 0;
                break;
            }
            self.remaining = self.remaining.saturating_sub(cost);
            self.response.matches.push(found);
        }
        count
    }

    fn found(&self, path: &str, entity: Option<&Entity>, text: &Buffer, span: Range<usize>) -> SearchRow {
        let lines = text.lines();
        let (line, last) = (lines.line_at(span.start), lines.line_at(span.end.saturating_sub(1)));
        let numbered = |line| NumberedText { line, text: clip(lines.text(line), 0..0) };
        let mut shown: Vec<String> =
            (line..=last).take(SearchRow::MAX_LINES).map(|line| clip(lines.text(line), 0..0)).collect();
        let long = lines.text(line);
        if line == last && clip_line(long) {
            let matched = self.pattern.find_at(long, 0).unwrap_or_default();
            shown = vec![clip(long, matched)];
        } else if last - line >= SearchRow::MAX_LINES {
            shown.push("...".to_owned());
        }
        let context = self.request.context;
        let context_after =
            (last + 1..=last.saturating_add(context).min(lines.count())).map(numbered).collect();
        SearchRow {
            path: path.to_owned(),
            line_number: line,
            end_line: (last > line).then_some(last),
            text: shown.join("\n"),
            context_before: (line.saturating_sub(context).max(1)..line).map(numbered).collect(),
            context_after,
            version: text.version().to_string(),
            key: distinct_key(entity),
        }
    }
}

/// Estimates the characters that a match takes in an answer.
fn cost(found: &SearchRow) -> usize {
    let around = found.context_before.iter().chain(&found.context_after);
    let around = around.map(|line| line.text.chars().count() + 8);
    MATCH_OVERHEAD + found.path.chars().count() + found.text.chars().count() + around.sum::<usize>()
}
