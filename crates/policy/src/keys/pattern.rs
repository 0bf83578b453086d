//! The keys of definitions of the kind `pattern`.

use super::super::definition::HEADERS;
use super::super::value_shape::Absent::{Described, Is, Refused};
use super::super::value_shape::ValueShape::{ByName, List, Map, Regex, Text, Words};
use super::super::value_shape::{Setting, words};

tables! {
    /// Definitions of the kind `pattern`.
    PATTERN {
        "must_match": Regex, Described("nothing must") => "`pattern`: what the text must contain";
        "must_not_match": Regex, Described("anything may") => "`pattern`: what the text must not contain";
        "message": Text, Described("none") => "`pattern`: the message of a finding; required with a regular expression or a query";
        "query": Map(&[QUERY]), Described("none") => "`pattern`: queries for tree-sitter, instead of regular expressions";
        "structure": Words(&["markdown", "scaffold"]), Described("none")
            => "`pattern`: `markdown`: a title and working links; `scaffold`: a header that names a template, and what the template requires";
        "header": Words(&words(&HEADERS)), Is("optional")
            => "`structure: scaffold`: whether a file without a header is skipped, or is an error";
        "templates": ByName("^[A-Za-z0-9][A-Za-z0-9_.-]*$", &Map(&[LAYOUT])), Is("{}")
            => "`structure: scaffold`: the requirements of each template";
    }
    QUERY {
        "must_match": Text, Described("nothing must") => "a query that must match";
        "must_not_match": Text, Described("anything may") => "a query that must not match; a finding is at the first capture";
    }
    /// The keys of each entry in `templates`.
    LAYOUT {
        "sections": List(&Text, 0), Is("[]") => "headings that a page must have, at any level";
        "symbols": List(&Text, 0), Is("[]") => "functions, classes and other symbols that must be defined";
        "required": List(&Map(&[DEMAND]), 0), Is("[]") => "other text that is required or forbidden; a violation is an error";
        "guidelines": List(&Map(&[DEMAND]), 0), Is("[]") => "text that is recommended or discouraged; a warning, checked if all else passes";
    }
    DEMAND {
        "must_match": Regex, Described("nothing must") => "what the text must contain";
        "must_not_match": Regex, Described("anything may") => "what the text must not contain";
        "message": Text, Refused => "the message of the finding";
    }
}
