//! The regex engine without backtracking, for patterns that need none. Each examined byte is one step.
//!
//! It finds the start and end of matches. The backtracking engine finds the group spans, from the start of the match.
//!
//! Invariant: it returns the spans that the backtracking engine would return, or gives up.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::look::LookMatcher;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use super::budget::StepBudget;
use super::error::Error;
use super::lower::{LAST_NEWLINE, LineMode, Lowered};

/// The size limit of the compiled pattern, and of the cache of one search, in bytes.
const SIZE: usize = 1 << 20;
/// The number of times that the cache of a search may be filled before the search gives up.
const REFILLS: usize = 4;
/// The cost of a new automaton state, in steps.
const STATE: usize = 200;

/// A pattern compiled for searching without backtracking.
#[derive(Debug)]
pub(super) struct Linear {
    forward: DFA,
    backward: DFA,
    lines: LineMode,
}

/// The result of a search without backtracking, or of one walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinearOutcome<T> {
    Found(T),
    NotFound,
    /// The automaton grew too large; use the backtracking engine.
    GivenUp,
}

/// The caches of a search.
pub(super) struct LinearCaches {
    forward: Cache,
    backward: Cache,
}

impl Linear {
    /// Compiles a pattern; `None` if it would become too large.
    pub(super) fn new(lowered: &Lowered) -> Option<Linear> {
        let mut looks = LookMatcher::new();
        if lowered.lines == LineMode::LastOnly {
            looks.set_line_terminator(LAST_NEWLINE);
        }
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(SIZE))
            .which_captures(WhichCaptures::None)
            .look_matcher(looks);
        let dfa = |nfa: NFA, kind: MatchKind| {
            let config = DFA::config()
                .match_kind(kind)
                .cache_capacity(SIZE)
                .skip_cache_capacity_check(true)
                .minimum_cache_clear_count(Some(REFILLS));
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        let compile = |config| NFA::compiler().configure(config).build_from_hir(&lowered.hir).ok();
        Some(Linear {
            forward: dfa(compile(config.clone())?, MatchKind::LeftmostFirst)?,
            backward: dfa(compile(config.reverse(true))?, MatchKind::All)?,
            lines: lowered.lines,
        })
    }

    /// Creates empty caches for searches.
    pub(super) fn create_caches(&self) -> LinearCaches {
        LinearCaches { forward: self.forward.create_cache(), backward: self.backward.create_cache() }
    }

    /// Returns the start and end of the leftmost match at or after a position.
    pub(super) fn find(
        &self,
        text: &str,
        from: usize,
        caches: &mut LinearCaches,
        budget: &mut StepBudget,
    ) -> Result<LinearOutcome<(usize, usize)>, Error> {
        let text = TextInput { bytes: text.as_bytes(), lines: self.lines };
        let before = from.checked_sub(1).and_then(|at| text.adjacent_byte(at));
        let walk = AutomatonWalk { dfa: &self.forward, cache: &mut caches.forward, budget };
        let config = start::Config::new().look_behind(before).anchored(Anchored::No);
        let advance = |at: usize| (at < text.bytes.len()).then(|| at + 1);
        let end = match walk.run(&config, from, |at| text.byte(at), advance)? {
            LinearOutcome::Found(end) => end,
            LinearOutcome::NotFound => return Ok(LinearOutcome::NotFound),
            LinearOutcome::GivenUp => return Ok(LinearOutcome::GivenUp),
        };
        let walk = AutomatonWalk { dfa: &self.backward, cache: &mut caches.backward, budget };
        let config = start::Config::new().look_behind(text.adjacent_byte(end)).anchored(Anchored::Yes);
        let byte_before = |at: usize| at.checked_sub(1).and_then(|at| text.byte(at));
        let advance = |at: usize| (at > from).then(|| at - 1);
        match walk.run(&config, end, byte_before, advance)? {
            LinearOutcome::Found(start) => Ok(LinearOutcome::Found((start, end))),
            LinearOutcome::NotFound | LinearOutcome::GivenUp => Ok(LinearOutcome::GivenUp),
        }
    }
}

/// The text as the automaton reads it.
#[derive(Clone, Copy)]
struct TextInput<'t> {
    bytes: &'t [u8],
    lines: LineMode,
}

impl TextInput<'_> {
    #[inline]
    fn byte(self, at: usize) -> Option<u8> {
        let byte = *self.bytes.get(at)?;
        let last = byte == b'\n' && self.lines == LineMode::LastOnly && at + 1 == self.bytes.len();
        Some(if last { LAST_NEWLINE } else { byte })
    }

    /// Returns the byte next to the start of a walk. A newline that does not count as a line end is replaced by
    /// another byte, because a backward automaton takes any newline there for a line end, whatever its configuration.
    fn adjacent_byte(self, at: usize) -> Option<u8> {
        let plain = self.lines == LineMode::LastOnly;
        self.byte(at).map(|byte| if plain && byte == b'\n' { b' ' } else { byte })
    }
}

/// A walk through an automaton. A state reports a match one byte late.
struct AutomatonWalk<'d> {
    dfa: &'d DFA,
    cache: &'d mut Cache,
    budget: &'d mut StepBudget,
}

impl AutomatonWalk<'_> {
    /// Walks from a position. `byte` returns the next byte there, or `None` at the end of the text; `advance` returns
    /// the position after it, or `None` at the last one. Returns the last position with a match: its end, or its start if the
    /// walk goes backward.
    fn run(
        mut self,
        config: &start::Config,
        mut at: usize,
        byte: impl Fn(usize) -> Option<u8>,
        advance: impl Fn(usize) -> Option<usize>,
    ) -> Result<LinearOutcome<usize>, Error> {
        let Ok(mut state) = self.dfa.start_state(self.cache, config) else {
            return Ok(LinearOutcome::GivenUp);
        };
        let mut found = LinearOutcome::NotFound;
        loop {
            self.budget.spend(1)?;
            let Some(next) = self.step(state, byte(at))? else { return Ok(LinearOutcome::GivenUp) };
            if next.is_match() {
                found = LinearOutcome::Found(at);
            }
            match advance(at) {
                Some(following) if !next.is_dead() => (state, at) = (next, following),
                _ => return Ok(found),
            }
        }
    }

    /// Returns the state after a byte, or after the end of the text; `None` if the cache is full.
    #[inline]
    fn step(&mut self, state: LazyStateID, byte: Option<u8>) -> Result<Option<LazyStateID>, Error> {
        let Some(byte) = byte else {
            return Ok(self.dfa.next_eoi_state(self.cache, state).ok());
        };
        if !state.is_tagged() {
            let next = self.dfa.next_state_untagged(self.cache, state, byte);
            if !next.is_unknown() {
                return Ok(Some(next));
            }
            self.budget.spend(STATE)?;
            return Ok(self.dfa.next_state(self.cache, state, byte).ok());
        }
        let size = self.cache.memory_usage();
        let next = self.dfa.next_state(self.cache, state, byte).ok();
        if self.cache.memory_usage() != size {
            self.budget.spend(STATE)?;
        }
        Ok(next)
    }
}
