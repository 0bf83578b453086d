//! The keys of a policy, in one table. The module of each part of a policy has a table of the keys of that part.
//!
//! The reader, the JSON Schema and docs/policy.md are made from these tables.
//!
//! Invariant: every key of a table is read, checked and obeyed. A key that only a later version will obey is listed with
//! the one value that changes nothing.

use super::damage::DAMAGE;
use super::definition::DEFINITION;
use super::demands::{Confirm, GUARDS, MODES, Runnable};
use super::entity::ENTITY;
use super::hooks::HOOKS;
use super::isolation::RequiredIsolation;
use super::limits::LIMITS;
use super::paths::PATH;
use super::publishing::{Durability, HardLinks};
use super::rule::{Baseline, RULE};
use super::server_toolsets::SERVER;
use super::value_shape::{Setting, tables};

tables! {
    /// The keys at the top level of a policy.
    POLICY {
        "extends": Words(&["parent", "default"]), Described("nothing: the policy stands alone")
            => "the base of this policy: the next policy above its folder, or the built-in one";
        "quality_gates": ByLanguage(&List(&Map(&[RULE]), 1)), Described("those of the built-in policy")
            => "the gates for the files of each language, in this order";
        "define": ByName("^[a-z0-9][a-z0-9_-]{0,63}$", &DEFINITION), Is("{}")
            => "definitions of custom gates, by name";
        "baseline": Words(Baseline::WORDS), Is("new")
            => "which findings count; each word includes those of the words before it";
        "paths": List(&Map(&[PATH]), 0), Is("[]") => "rules for single paths";
        "limits": Map(&[LIMITS]), Is("{}") => "limits of size and time";
        "modes": Map(&[MODES]), Is("{}") => "the modes that requests may have";
        "guards": Map(&[GUARDS]), Is("{}") => "what a request must state about the file that it changes";
        "validate_commands": List(&List(&Text, 1), 0), Is("[]")
            => "commands that `validate_command` of a request may name, each as a list of words; a failing command rejects the edit";
        "server": Map(&[SERVER]), Is("{}") => "what `lockgate serve` offers";
        "hooks": Map(&[HOOKS]), Is("{}") => "how `lockgate hook` guards the edit tools of an agent's host";
        "damage": Map(&[DAMAGE]), Is("{}") => "what the findings of each rule of the gate `damage` do: `block`, `warn`, or `off`";
        "confirm": Words(Confirm::WORDS), Is("never")
            => "when a person must confirm a write: `risky` is a removal, a file that shrinks to under a quarter, or findings in `interactive` that would reject the edit in `strict`";
        "runnable": Words(Runnable::WORDS), Is("ask")
            => "how to treat a write to a file that starts a program when a person opens or uses the folder, such as `.githooks/pre-commit`: `ask` a person, `refuse` it, or `allow` it";
        "require_isolation": Words(RequiredIsolation::WORDS), Is("none")
            => "the minimum sandbox for the programs of gates; they do not run where it is unavailable";
        "durability": Words(Durability::WORDS), Is("full")
            => "what is synced to disk before an edit returns: `full`: the file, its folder and the journal; `process`: the file alone";
        "hard_links": Words(HardLinks::WORDS), Is("refuse")
            => "how to treat a hard-linked file: `split` gives the edited name its own file, `in_place` writes all names";
        "never_journal": List(&Glob, 0), Is("[]")
            => "files whose text is not journaled, in addition to secrets such as `.env*`; edits of them cannot be undone";
        "entities": ByName("^[a-z0-9_]{1,40}$", &Map(&[ENTITY])), Is("{}")
            => "entity types in addition to `app_file`, `workflow` and `module`, by name; only in the policy at the top of the first root";
    }
}

/// Every key of a policy.
pub fn settings() -> &'static [Setting] {
    POLICY
}
