//! The keys of one type of `entities`.

use super::super::entity::OWNERS;
use super::super::value_shape::Absent::{Is, Refused};
use super::super::value_shape::ValueShape::{Language, List, Tool, Words};
use super::super::value_shape::{Setting, words};

tables! {
    /// The keys of each type in `entities`.
    ENTITY {
        "owner": Words(&words(&OWNERS)), Refused
            => "its key and owner: `app`: `app_id` and `path`, owned by the app; `organization`: `path` and optionally `organization_id`; `global`: `path`, without an owner";
        "language": Language, Is("\"*\"") => "its language, whatever its path; `\"*\"`: by its path";
        "gates": List(&Tool, 0), Is("[]")
            => "gates of the kinds `pattern` and `syntax` for its text; a finding of one of them rejects the edit in every mode";
    }
}
