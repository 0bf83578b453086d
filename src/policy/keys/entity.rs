//! The keys of one type of `entities`.

use super::super::entity::OWNERS;
use super::super::value_shape::Absent::{Is, Refused};
use super::super::value_shape::ValueShape::{Language, List, Tool, Words};
use super::super::value_shape::{Setting, words};

tables! {
    /// One type of `entities`.
    ENTITY {
        "owner": Words(&words(&OWNERS)), Refused
            => "by what one is known, and whose it is: `app`: by `app_id` and `path`, and its app's; `organization`: by `path` and perhaps `organization_id`; `global`: by `path`, and nobody's";
        "language": Language, Is("\"*\"") => "what it is written in, whatever its path says; `\"*\"`: what its path says";
        "gates": List(&Tool, 0), Is("[]")
            => "what its text must be: gates of the kinds `pattern` and `syntax`; what one of them finds refuses the edit in every mode";
    }
}
