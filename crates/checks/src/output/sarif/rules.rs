//! Looks up the rules of a run, for data that its results omit.

use std::collections::HashMap;

use serde_json::Value;

use super::super::value::{text_at, truncate};
use crate::output::value::list;

/// The rules of a run's tool (3.19.23).
pub(super) struct RuleTable<'v> {
    rules: &'v [Value],
    by_id: HashMap<&'v str, &'v Value>,
    /// Message texts shared by the rules (3.19.22).
    texts: Option<&'v Value>,
}

/// The rule of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResultRule<'v> {
    pub(super) id: Option<&'v str>,
    rule: Option<&'v Value>,
    texts: Option<&'v Value>,
}

impl<'v> RuleTable<'v> {
    pub(super) fn from_run(run: &'v Value) -> RuleTable<'v> {
        let driver = run.pointer("/tool/driver").unwrap_or(&Value::Null);
        let rules = list(driver, "rules").unwrap_or_default();
        let by_id = rules.iter().filter_map(|rule| Some((rule.get("id")?.as_str()?, rule))).collect();
        RuleTable { rules, by_id, texts: driver.get("globalMessageStrings") }
    }

    /// Finds a result's rule by its index or by its id (3.27.5 to 3.27.7). For a hierarchical id, the longest
    /// known prefix counts (3.52.4).
    pub(super) fn rule_for(&self, result: &'v Value) -> ResultRule<'v> {
        let nested = result.get("rule").unwrap_or(&Value::Null);
        let id = [result.get("ruleId"), nested.get("id")].into_iter().flatten().find_map(Value::as_str);
        let index = [result.get("ruleIndex"), nested.get("index")].into_iter().flatten();
        let by_index =
            index.filter_map(Value::as_u64).find_map(|at| self.rules.get(usize::try_from(at).ok()?));
        let own = by_index.or_else(|| id.and_then(|id| self.rule_by_id(id)));
        let id = id.or_else(|| own?.get("id")?.as_str()).map(truncate);
        ResultRule { id, rule: own, texts: self.texts }
    }

    fn rule_by_id(&self, id: &str) -> Option<&'v Value> {
        let beginnings = std::iter::successors(Some(id), |id| id.rsplit_once('/').map(|(before, _)| before));
        // Ids with more components than this are not looked up.
        beginnings.take(16).find_map(|id| self.by_id.get(id).copied())
    }
}

impl<'v> ResultRule<'v> {
    /// The result's level, else its rule's, else `warning`; a result that is not a failure has none
    /// (3.27.10).
    pub(super) fn level(&self, result: &'v Value) -> &'v str {
        let text = |value: Option<&'v Value>| value.and_then(Value::as_str);
        let fails = text(result.get("kind")).is_none_or(|kind| kind == "fail");
        let rules = self.rule.and_then(|rule| rule.pointer("/defaultConfiguration/level"));
        match text(result.get("level")) {
            Some(level) => level,
            None if !fails => "none",
            None => text(rules).unwrap_or("warning"),
        }
    }

    /// The message text, from the result or from its rule; else the rule's name (3.11).
    pub(super) fn message(&self, result: &'v Value) -> Option<String> {
        let message = result.get("message").unwrap_or(&Value::Null);
        let text = |value: &'v Value, keys: &[&str]| text_at(value, keys).ok().flatten();
        let by_id = || {
            let id = message.get("id")?.as_str()?;
            let own = self.rule.and_then(|rule| rule.get("messageStrings"));
            [own, self.texts].into_iter().flatten().find_map(|texts| text(texts, &[id, "text"]))
        };
        let found = text(message, &["text"]).or_else(by_id).or_else(|| text(message, &["markdown"]));
        let described = || self.rule.and_then(|rule| text(rule, &["shortDescription", "text"]));
        match found {
            Some(found) => Some(fill_arguments(found, list(message, "arguments").unwrap_or_default())),
            None => described().or(self.id).map(str::to_owned),
        }
    }
}

/// Fills in the arguments of a message (3.11.5): `{0}` stands for the first one, and a doubled brace for a
/// brace. The result is truncated if it is too long.
fn fill_arguments(text: &str, arguments: &[Value]) -> String {
    if arguments.is_empty() {
        return text.to_owned();
    }
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{')
        && filled.len() == truncate(&filled).len()
    {
        filled.push_str(before);
        let hole = after.split_once('}');
        let argument = hole.and_then(|(digits, _)| arguments.get(digits.parse::<usize>().ok()?)?.as_str());
        match (argument, hole) {
            (Some(argument), Some((_, behind))) => {
                filled.push_str(truncate(argument));
                rest = behind;
            }
            (Some(_), None) | (None, _) => {
                filled.push('{');
                rest = after.strip_prefix('{').unwrap_or(after);
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_filled_in() {
        let arguments = json!(["x", "y{0}"]);
        for (text, expected) in
            [("`{0}` and {1}", "`x` and y{0}"), ("{2} {a} {", "{2} {a} {"), ("{{0}", "{0}"), ("", "")]
        {
            assert_eq!(fill_arguments(text, arguments.as_array().unwrap()), expected, "{text}");
        }
        assert_eq!(fill_arguments("{0}", &[]), "{0}");
        let long = fill_arguments(&"{0}".repeat(1000), &[json!("x".repeat(100_000))]);
        assert!(long.len() < 20_000, "{}", long.len());
    }
}
