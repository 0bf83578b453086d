//! Finds the lines that a pattern matches.
//!
//! Invariant: all that is shown of a file is of one version; `truncated` is set if and only if matches were
//! left out.

use std::time::{Duration, Instant};

use super::super::Workspace;
use super::page::MatchPage;
use crate::error::Error;
use crate::gate::Watch;
use crate::policy::{Limits, Policy};
use crate::request::{Entity, EntityKind, SearchLook, SearchScope};
use crate::store::{
    Clock, EntityFilter, FilePlace, Hidden, MatchReach, RowText, SearchBounds, SearchClock, SearchPattern,
    SearchRoots, SearchTarget, Skipped,
};
use crate::text::{Buffer, Hints, Version};

/// The time limit of a search; the answer has what was found until then.
const LONGEST: Duration = Duration::from_secs(10);
/// The time limit for reading the found files again to show their matches.
const SHOWING: Duration = Duration::from_secs(5);

/// The result of a search.
#[derive(Debug, Default)]
pub struct Matches {
    /// The scope of the search.
    pub realm: SearchScope,
    /// The first matches, by path and line.
    pub found: Vec<LineMatch>,
    /// The number of all matches.
    pub total: usize,
    /// Set when matches were left out, or were not counted before the time limit.
    pub truncated: bool,
    /// Notes on what was left out.
    pub notes: Vec<String>,
}

/// A matching line, or the lines of a multi-line match.
#[derive(Debug)]
pub struct LineMatch {
    /// The path as lockgate names it.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The version of the whole text.
    pub version: Version,
    /// The line, from 1; the first line of a multi-line match.
    pub line: usize,
    /// The last line of the match, inclusive.
    pub end_line: usize,
    /// The matching text.
    pub text: String,
    /// The lines before the match.
    pub before: Vec<NumberedLine>,
    /// The lines after the match.
    pub after: Vec<NumberedLine>,
}

/// A line with its number, from 1.
#[derive(Debug)]
pub struct NumberedLine {
    /// The 1-based line number.
    pub line: usize,
    /// The text of the line.
    pub text: String,
}

impl Workspace {
    /// Searches files or entities.
    ///
    /// Errors: `BAD_PATTERN`, `FILE_NOT_FOUND`, `PROTECTED`, `STORE_UNAVAILABLE`; for a single file those of
    /// reading it.
    pub(super) fn search(&self, look: &SearchLook, watch: &Watch) -> Result<Matches, Error> {
        self.search_until(look, watch, Instant::now() + LONGEST)
    }

    fn search_until(&self, look: &SearchLook, watch: &Watch, until: Instant) -> Result<Matches, Error> {
        let reach = if look.multiline { MatchReach::Lines } else { MatchReach::Line };
        let pattern = SearchPattern::new(&look.pattern, reach)?;
        let follow = Follow(watch);
        let clock = Clock::new(until, &follow);
        let mut page = MatchPage::new(look, &pattern, &clock);
        if let Some(among) = self.realm(&look.realm)? {
            self.search_rows(&among, &mut page)?;
            return Ok(page.finish(watch));
        }
        match self.store.files.within(look.path.as_deref())? {
            SearchTarget::File(place) => {
                let text = self.text_at(&place, &self.rules_at(&place))?;
                page.matches.total = page.show(place.shown(), None, &text);
            }
            SearchTarget::Below(below) => self.search_below(&below, &mut page),
        }
        Ok(page.finish(watch))
    }

    /// Shows the first matches in entities.
    fn search_rows(&self, among: &EntityFilter<'_>, page: &mut MatchPage<'_>) -> Result<(), Error> {
        let rows = &self.store.rows;
        let meant = rows.within(among, page.look.path.as_deref())?;
        let bounds = self.bounds(page.look.most, page.clock);
        let mut unreadable = 0;
        let mut passed =
            rows.each(&meant, page.pattern, bounds, &mut |RowText { place, bytes }| match Buffer::read(
                bytes,
                Hints::default(),
            ) {
                Ok(text) => page.matches.total += page.show(place.path(), Some(place.entity()), &text),
                Err(_) => unreadable += 1,
            })?;
        passed.unreadable = unreadable;
        let kind = among.kind.name();
        let is_over = page.clock.is_stopped();
        if page.matches.total == 0 && meant.is_narrowed() && !is_over && !rows.is_any(&meant)? {
            page.matches.notes.push(format!("no {kind} was searched: the glob finds none"));
        }
        page.matches.truncated |= passed.any();
        page.matches.notes.extend(passed_over(&passed, bounds.largest, kind));
        Ok(())
    }

    /// Shows the first matches in the files below some folders, as the files are now.
    fn search_below(&self, below: &SearchRoots, page: &mut MatchPage<'_>) {
        let hidden = if page.look.hidden { Hidden::Seen } else { Hidden::LeftOut };
        let bounds = self.bounds(page.look.most, page.clock);
        let hits = self.store.files.search(below, page.pattern, hidden, bounds);
        page.matches.total = hits.total;
        let shown_by = Instant::now() + SHOWING;
        for (place, counted) in &hits.files {
            if page.is_full() || Instant::now() > shown_by {
                break;
            }
            let text = self.text_at(place, &self.rules_at(place));
            let there = text.map_or(0, |text| page.show(place.shown(), None, &text));
            page.matches.total = (page.matches.total + there).saturating_sub(*counted);
        }
        if hits.searched == 0 && below.is_narrowed() && !page.clock.is_stopped() {
            page.matches.notes.push(
                "no file was searched: the glob finds none that is not ignored, hidden or binary".to_owned(),
            );
        }
        page.matches.truncated |= hits.passed.any();
        page.matches.notes.extend(passed_over(&hits.passed, bounds.largest, EntityKind::FILE));
    }

    /// Returns the policy of a place for reading. An invalid policy stops writes only, so that a person who
    /// repairs it can still read.
    pub(super) fn rules_at(&self, place: &FilePlace) -> std::sync::Arc<Policy> {
        self.rules.policy(&self.store.files, place).unwrap_or_else(|_| Policy::embedded())
    }

    /// Returns the bounds of a search over many files: the limits of the policy at the top.
    pub(super) fn bounds<'a>(&self, most: usize, clock: &'a Clock<'a>) -> SearchBounds<'a> {
        let limits = self.policy_at_top().map_or_else(|_| Limits::default(), |policy| policy.limits);
        SearchBounds { most, largest: limits.file, clock }
    }
}

/// Describes the files that were skipped.
pub(super) fn passed_over(passed: &Skipped, largest: u64, noun: &str) -> Vec<String> {
    let Skipped { large, unreadable, unnamed, slow } = *passed;
    let files = |count: usize| match count {
        1 => format!("1 {noun} is"),
        count => format!("{count} {noun}s are"),
    };
    let mut notes = Vec::new();
    if large > 0 {
        notes.push(format!("passed over: {} larger than the limit of {largest} bytes", files(large)));
    }
    if unreadable > 0 {
        let what = if noun == EntityKind::FILE { "files and folders".to_owned() } else { format!("{noun}s") };
        notes.push(format!("passed over: {unreadable} of the {what} cannot be read"));
    }
    if unnamed > 0 {
        notes.push(format!("passed over: {unnamed} of the names are not UTF-8"));
    }
    if slow > 0 {
        notes.push(format!("passed over: {} too large for a pattern as slow as this", files(slow)));
    }
    notes
}

/// Connects a search to the call that waits for it.
pub(super) struct Follow<'w>(pub(super) &'w Watch);

impl SearchClock for Follow<'_> {
    fn has_left(&self) -> bool {
        self.0.cancelled()
    }

    fn hears(&self, done: usize, of: usize) {
        self.0.report("texts searched", done, of.max(done));
    }
}
