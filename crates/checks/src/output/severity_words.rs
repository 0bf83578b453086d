//! Parses the severity of a finding from the words and numbers that programs use.

use serde_json::Value;

use lockgate_policy::Severity;

/// Parses a severity word, ignoring case.
pub(super) fn severity(word: &str) -> Option<Severity> {
    match word.trim().to_ascii_lowercase().as_str() {
        "error" | "fatal" | "err" | "high" => Some(Severity::Error),
        "warning" | "warn" | "medium" | "convention" | "refactor" => Some(Severity::Warning),
        "info" | "information" | "note" | "hint" | "style" | "low" => Some(Severity::Info),
        _ => None,
    }
}

/// Parses a severity word, or a number as ESLint defines it:
/// <https://eslint.org/docs/latest/extend/custom-formatters>.
pub(super) fn severity_in(value: &Value) -> Option<Severity> {
    match (value.as_str(), value.as_u64()) {
        (Some(word), _) => severity(word),
        (None, Some(2)) => Some(Severity::Error),
        (None, Some(1)) => Some(Severity::Warning),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_and_numbers_are_understood() {
        let name_of = |severity: Option<Severity>| severity.map(Severity::name);
        for (expected, words) in [
            (Some("error"), "error fatal err high ERROR Fatal"),
            (Some("warning"), "warning warn medium convention refactor Warning"),
            (Some("info"), "info information note hint style low Information"),
            (None, "E critical unknown 2"),
        ] {
            for word in words.split(' ') {
                assert_eq!(name_of(severity(word)), expected, "{word}");
            }
        }
        for (value, expected) in [
            (json!(2), Some("error")),
            (json!(1), Some("warning")),
            (json!(0), None),
            (json!(-2), None),
            (json!(2.5), None),
            (json!(true), None),
            (json!(null), None),
            (json!(["error"]), None),
            (json!("note"), Some("info")),
        ] {
            assert_eq!(name_of(severity_in(&value)), expected, "{value}");
        }
    }
}
