//! Finds the lines that a pattern matches.
//!
//! Invariant: all that is shown of a file is of one version; `truncated` is set if and only if matches were
//! left out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::services::Services;
use super::page::{MatchPage, SearchRequest};
use super::results::skipped_notes;
use super::{LINE_BYTES, ReadRequest};
use lockgate_checks::Watch;
use lockgate_edit::request::{EntityKind, SearchScope};
use lockgate_error::Error;
use lockgate_policy::{Limits, Policy};
use lockgate_protocol::{EntityKey, SearchResponse};
use lockgate_store::{
    Clock, EntityFilter, FileLocation, Hidden, MatchReach, RowText, SearchClock, SearchLimits, SearchPattern,
    SearchRoots, SearchTarget,
};
use lockgate_text::{Buffer, Hints};

/// The time limit of a search; the answer has what was found until then.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for reading the found files again to show their matches.
const SHOW_TIMEOUT: Duration = Duration::from_secs(5);

impl ReadRequest for SearchRequest {
    type Output = SearchResponse;

    fn path(&self) -> Option<&str> {
        self.path.as_deref().filter(|_| self.entity_scope == SearchScope::Files)
    }

    fn size(output: &SearchResponse) -> Option<usize> {
        Some(output.matches.len().saturating_mul(LINE_BYTES))
    }

    fn read(&self, services: &Arc<Services>, watch: &Watch) -> Result<SearchResponse, Error> {
        services.search_until(self, watch, Instant::now() + TIMEOUT)
    }
}

impl Services {
    fn search_until(
        &self,
        request: &SearchRequest,
        watch: &Watch,
        until: Instant,
    ) -> Result<SearchResponse, Error> {
        let reach = if request.multiline { MatchReach::Lines } else { MatchReach::Line };
        let pattern = SearchPattern::new(&request.pattern, reach)?;
        let follow = SearchWatch(watch);
        let clock = Clock::new(until, &follow);
        let mut page = MatchPage::new(request, &pattern, &clock);
        if let Some(filter) = self.resolve_scope(&request.entity_scope)? {
            self.search_rows(&filter, &mut page)?;
            return Ok(page.finish(watch));
        }
        match self.store.files.search_target(request.path.as_deref())? {
            SearchTarget::File(place) => {
                let text = self.texts.read(&self.store, &place, &self.rules_at(&place))?;
                page.response.total_matches = page.show(place.shown(), None, &text);
            }
            SearchTarget::Roots(below) => self.search_files(&below, &mut page),
        }
        Ok(page.finish(watch))
    }

    /// Shows the first matches in entities.
    fn search_rows(&self, filter: &EntityFilter<'_>, page: &mut MatchPage<'_>) -> Result<(), Error> {
        let rows = &self.store.rows;
        let selected = rows.select(filter, page.request.path.as_deref())?;
        let bounds = self.bounds(page.request.max_matches + page.request.offset, page.clock);
        let mut unreadable = 0;
        let mut skipped =
            rows.each(&selected, page.pattern, bounds, &mut |RowText { location: place, bytes }| {
                match Buffer::read(bytes, Hints::default()) {
                    Ok(text) => {
                        page.response.total_matches += page.show(place.path(), Some(place.entity()), &text)
                    }
                    Err(_) => unreadable += 1,
                }
            })?;
        skipped.unreadable = unreadable;
        let kind = filter.kind.name();
        let is_over = page.clock.is_stopped();
        if page.response.total_matches == 0
            && selected.is_narrowed()
            && !is_over
            && !rows.is_any(&selected)?
        {
            page.response.notes.push(format!("no {kind} was searched: the glob matches none"));
        }
        page.response.truncated |= skipped.any();
        page.response.notes.extend(skipped_notes(&skipped, bounds.largest, kind));
        Ok(())
    }

    /// Shows the first matches in the files below some folders, as the files are now.
    fn search_files(&self, below: &SearchRoots, page: &mut MatchPage<'_>) {
        let hidden = if page.request.hidden { Hidden::Included } else { Hidden::Excluded };
        let bounds = self.bounds(page.request.max_matches + page.request.offset, page.clock);
        let hits = self.store.files.search(below, page.pattern, hidden, bounds);
        page.response.total_matches = hits.total;
        let shown_by = Instant::now() + SHOW_TIMEOUT;
        // The files after those with the matches to show are listed with their counts.
        let more = hits.counted.iter().skip(hits.files.len());
        for (place, counted) in hits.files.iter().chain(more) {
            if page.is_full() || Instant::now() > shown_by {
                page.count(place.shown(), *counted, EntityKey::default());
                continue;
            }
            let text = self.texts.read(&self.store, place, &self.rules_at(place));
            let shown = text.map_or(0, |text| page.show(place.shown(), None, &text));
            page.response.total_matches = (page.response.total_matches + shown).saturating_sub(*counted);
        }
        if hits.searched == 0 && below.is_narrowed() && !page.clock.is_stopped() {
            page.response.notes.push(
                "no file was searched: the glob matches only ignored, hidden or binary files, or none"
                    .to_owned(),
            );
        }
        page.response.truncated |= hits.skipped.any();
        page.response.notes.extend(skipped_notes(&hits.skipped, bounds.largest, EntityKind::FILE));
    }

    /// Returns the policy of a place for reading. An invalid policy stops writes only, so that a person who
    /// repairs it can still read.
    pub(super) fn rules_at(&self, place: &FileLocation) -> Arc<Policy> {
        self.policies.policy(&self.store.files, place).unwrap_or_else(|_| Policy::embedded())
    }

    /// Returns the bounds of a search over many files: the limits of the policy at the top.
    pub(crate) fn bounds<'a>(&self, most: usize, clock: &'a Clock<'a>) -> SearchLimits<'a> {
        let limits = self.policy_at_top().map_or_else(|_| Limits::default(), |policy| policy.limits);
        SearchLimits { most, largest: limits.file, clock }
    }
}

/// Connects a search to the call that waits for it.
pub(super) struct SearchWatch<'w>(pub(super) &'w Watch);

impl SearchClock for SearchWatch<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn report(&self, done: usize, of: usize) {
        self.0.report("texts searched", done, of.max(done));
    }
}
