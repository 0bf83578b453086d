//! The two engines that match a pattern: a light one that is ready at once, and the heavy one of ripgrep,
//! which is faster on large texts, but takes about a millisecond to build.
//!
//! Invariant: both find the same lines.

use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, Sink};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::OnceLock;

/// The bytes that are searched before the heavy engine is built: about as many as can be searched in its
/// build time.
pub(super) const LITTLE: usize = 1 << 20;
/// The size limits of a compiled pattern and of each thread's lazy DFA cache, in bytes.
const LARGEST: usize = 10 << 20;
const MEMORY: usize = 4 << 20;

/// The extent that a match may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchReach {
    /// A match lies within one line.
    Line,
    /// A match may span several lines.
    Lines,
}

/// The engines for one pattern.
#[derive(Debug)]
pub(super) struct Engines {
    pattern: String,
    reach: MatchReach,
    light: Light,
    /// `None` if the compiled pattern would be too large.
    heavy: OnceLock<Option<RegexMatcher>>,
}

/// A reference to one of the engines.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine<'e> {
    Light(&'e Light),
    Heavy(&'e RegexMatcher),
}

/// The light engine, as a matcher for ripgrep's searcher.
#[derive(Debug)]
pub(super) struct Light(Regex);

impl Engines {
    /// Builds the light engine for a parsed pattern; the heavy one as well, if only that confines a match to
    /// its line.
    ///
    /// Errors: the reason, for a pattern that is too large or asks for a line end.
    pub fn new(pattern: &str, reach: MatchReach, is_whole: bool) -> Result<Engines, String> {
        let light =
            RegexBuilder::new(pattern).multi_line(true).size_limit(LARGEST).dfa_size_limit(MEMORY).build();
        let light = Light(light.map_err(|error| unbuilt(&error.to_string()))?);
        let engines = Engines { pattern: pattern.to_owned(), reach, light, heavy: OnceLock::new() };
        if is_whole {
            let heavy = engines.heavy().map_err(|error| unbuilt(&error.to_string()))?;
            engines.heavy.get_or_init(|| Some(heavy));
        }
        Ok(engines)
    }

    /// The engine to use after this many bytes were searched.
    pub fn after(&self, searched: usize) -> Engine<'_> {
        let heavy = match self.heavy.get() {
            None if searched >= LITTLE => self.heavy.get_or_init(|| self.heavy().ok()).as_ref(),
            built => built.and_then(Option::as_ref),
        };
        heavy.map_or(Engine::Light(&self.light), Engine::Heavy)
    }

    fn heavy(&self) -> Result<RegexMatcher, grep_regex::Error> {
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).size_limit(LARGEST).dfa_size_limit(MEMORY);
        if self.reach == MatchReach::Line {
            builder.line_terminator(Some(b'\n'));
        }
        builder.build(&self.pattern)
    }
}

impl Engine<'_> {
    /// Passes the matching lines of a text to a sink.
    pub fn search(self, searcher: &mut Searcher, text: &[u8], sink: impl Sink) {
        // Neither the matchers nor the sinks can fail.
        drop(match self {
            Engine::Light(light) => searcher.search_slice(light, text, sink),
            Engine::Heavy(heavy) => searcher.search_slice(heavy, text, sink),
        });
    }

    /// The first match from an offset on.
    pub fn find_at(self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let found = match self {
            Engine::Light(light) => light.find_at(text, from).ok(),
            Engine::Heavy(heavy) => heavy.find_at(text, from).ok(),
        };
        found.flatten().map(|found| found.start()..found.end())
    }
}

/// Declares no line terminator, so that ripgrep passes the lines one by one, without their ends.
impl Matcher for Light {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], from: usize) -> Result<Option<Match>, NoError> {
        Ok(self.0.find_at(text, from).map(|found| Match::new(found.start(), found.end())))
    }

    fn shortest_match_at(&self, text: &[u8], from: usize) -> Result<Option<usize>, NoError> {
        Ok(self.0.shortest_match_at(text, from))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

fn unbuilt(message: &str) -> String {
    let is_large = message.contains("size limit");
    if is_large { "it is too large after expanding its repetitions".to_owned() } else { message.to_owned() }
}
