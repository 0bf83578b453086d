//! What must hold: which gates judge a file, at which level, and within which limits.
//!
//! The room reads texts that others hand to it: a policy file, the definitions of gates, the table of languages. It
//! opens no file itself. A policy file is untrusted input, so reading one is bounded in size, nesting and time.
//!
//! Invariant: a [`Policy`] names only gates and languages of the catalogue, and every limit in it is within its range.
#![deny(clippy::disallowed_methods)]

mod catalogue;
mod definition;
mod language;
mod node;
#[expect(clippy::module_inception, reason = "the room is named for the one type that leaves it whole")]
mod policy;
mod quantity;
mod yaml;

pub use catalogue::Catalogue;
pub use definition::{Expected, Gate, Kind, Languages, PatternRules, Sample};
pub use language::{Language, language_named, language_of, languages};
pub use policy::{Level, Limits, Policy, Rule};
