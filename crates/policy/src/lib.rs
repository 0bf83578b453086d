//! Policies: the gates of each file, their levels and their limits.
//!
//! A [`Policy`] is what a `quality.yaml` says; the [`Catalogue`] has the gates that lockgate knows; [`Serving`] is the
//! configuration of a server. Texts come from the caller: this crate opens no file itself. A policy file is untrusted
//! input, so parsing is limited in size, nesting and time, and an error has the line, the column and an excerpt.
//!
//! Invariant: a [`Policy`] names only gates and languages of the catalogue, and every limit in it is within its range.
//!
//! ```
//! use lockgate_policy::{Level, Policy, language_named};
//!
//! let policy = Policy::parse("quality.yaml", "quality_gates: { python: [{ tool: ruff, level: warn }] }")?;
//! let rules = policy.rules_for(language_named("python"));
//! assert_eq!((rules[0].gate.name.as_str(), rules[0].level), ("ruff", Level::Warn));
//! # Ok::<(), lockgate_error::Error>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod catalogue;
mod damage;
mod definition;
mod demands;
mod entity;
mod glob;
mod hooks;
mod isolation;
mod keys;
mod language;
mod limits;
mod lists;
mod node;
mod origin;
mod paths;
mod policy;
mod policy_error;
mod publishing;
mod quantity;
mod rule;
mod server_toolsets;
mod serving;
mod severity;
mod source;
#[cfg(test)]
mod tests;
mod tools;
mod validators;
mod value_shape;
mod words;
mod yaml;

pub use catalogue::Catalogue;
pub use damage::{Accident, Damage, Weight};
pub use definition::{
    CacheScope, Canary, CanaryKind, CanaryText, Columns, CommandSpec, CommandWord, Configuration, Demand,
    DependencyPatterns, DiagnosticsSpec, Expected, FileFilter, FindingPaths, Gate, GateKind, HeaderRule,
    Hole, InSteps, Input, Manager, Message, Missing, NewFiles, Offer, OlderRelease, OutputForm, OutputSpec,
    Packages, PatternRules, Pointer, ProgramSpec, ProjectValue, Release, Role, RunEnvironment, Sample,
    Scaffold, ScaffoldLayout, ServerSpec, StatusPatterns, Stream, Transitional, Unconfigured, WordPart,
};
pub use demands::{Confirm, Demands, Guard, Interactive, Runnable};
pub use entity::{EntityOwner, EntityType, is_id};
pub use hooks::{BytesAtRisk, ClineAnswer, DriftedQuote, HookSettings, OnFailure};
pub use isolation::RequiredIsolation;
pub use keys::settings;
pub use language::{Language, Languages, language_named, language_of, languages};
pub use limits::Limits;
pub use origin::{Extends, PolicyOrigin};
pub use paths::Protection;
pub use policy::Policy;
pub use publishing::{Durability, HardLinks, Publishing};
pub use rule::{
    Baseline, EffectiveRules, Explicit, FixScope, Level, Profile, Profiles, Rule, StepMode, SyntaxFallback,
};
pub use serving::{Host, Readers, ServerLimits, Serving, Token, WebOrigin};
pub use severity::Severity;
pub use source::PolicySource;
pub use validators::Validator;
pub use value_shape::{Absent, Range, Setting, ValueShape};
pub use yaml::yaml_texts;
