//! The keys of definitions of the kind `pattern`.

use super::super::definition::HEADERS;
use super::super::value_shape::Absent::{Described, Is, Refused};
use super::super::value_shape::ValueShape::{ByName, List, Map, Regex, Text, Words};
use super::super::value_shape::{Setting, words};

tables! {
    /// Definitions of the kind `pattern`.
    PATTERN {
        "must_match": Regex, Described("nothing must") => "`pattern`: what must stand somewhere in the text";
        "must_not_match": Regex, Described("anything may") => "`pattern`: what may stand nowhere in the text";
        "message": Text, Described("none") => "`pattern`: what a finding says; needed with a regular expression or a query";
        "query": Map(&[QUERY]), Described("none") => "`pattern`: queries for tree-sitter, instead of regular expressions";
        "structure": Words(&["markdown", "scaffold"]), Described("none")
            => "`pattern`: `markdown`: a title and links that lead somewhere; `scaffold`: a header that names a template, and what that asks for";
        "header": Words(&words(&HEADERS)), Is("optional")
            => "`structure: scaffold`: whether a file without a header is passed over, or at fault";
        "templates": ByName("^[A-Za-z0-9][A-Za-z0-9_.-]*$", &Map(&[LAYOUT])), Is("{}")
            => "`structure: scaffold`: what the files must have that name one of these templates";
    }
    QUERY {
        "must_match": Text, Described("nothing must") => "a query that must find something";
        "must_not_match": Text, Described("anything may") => "a query that must find nothing; a finding stands at the first capture";
    }
    /// One template.
    LAYOUT {
        "sections": List(&Text, 0), Is("[]") => "headings that a page must have, at any level";
        "symbols": List(&Text, 0), Is("[]") => "functions, classes and other symbols that must be defined";
        "required": List(&Map(&[DEMAND]), 0), Is("[]") => "what else must be, or must not; an error where it is not so";
        "guidelines": List(&Map(&[DEMAND]), 0), Is("[]") => "what should be, or should not; a warning, looked at when all else is right";
    }
    DEMAND {
        "must_match": Regex, Described("nothing must") => "what must stand somewhere in the text";
        "must_not_match": Regex, Described("anything may") => "what may stand nowhere in the text";
        "message": Text, Refused => "what a finding says";
    }
}
