//! What policies mean, and what is refused.

mod compose;
mod entities;
mod gates;
mod table;
mod values;

use super::*;
use lockgate_error::Code;

/// A policy that reads.
fn read(text: &str) -> Policy {
    Policy::parse("quality.yaml", text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The whole message of a policy that is refused.
fn rejection(text: &str) -> String {
    message_of(Policy::parse("quality.yaml", text), text)
}

fn message_of(read: Result<Policy, lockgate_error::Error>, text: &str) -> String {
    let error = read.map(|_| ()).expect_err(text);
    assert_eq!(error.code, Code::PolicyInvalid, "{text}");
    error.message
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let message = rejection(text);
    assert!(message.contains(expected), "{text}\n{message}\n{expected}");
}

/// The names of the gates that judge a file.
fn names(policy: &Policy, path: &str, language: &str) -> Vec<String> {
    let terms = policy.effective_rules(path, language_named(language), Profile::Edit);
    terms.rules.iter().map(|rule| rule.gate.name.clone()).collect()
}

/// A policy that defines a linter and a formatter, with something added.
fn with_commands(rest: &str) -> String {
    format!(
        "define:\n  lint: {{ kind: command, languages: [python], input: stdin, command: [lint], output: {{ text: exit, message: bad }} }}\n  \
         form: {{ kind: command, languages: [python], input: stdin, command: [form], output: {{ text: formatted }} }}\n{rest}"
    )
}
