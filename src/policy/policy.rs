//! The policy file: which gates judge which language, at which level, and the limits of one edit.
//!
//! Invariant: within one list a gate stands once, and no list is empty.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::catalogue::{Catalogue, compiled_in};
use super::definition::{Gate, unknown_language};
use super::language::{Language, language_named};
use super::node::{Fault, Key, Node, unknown};
use super::{quantity, yaml};
use crate::error::Error;

/// The name of the default policy in messages.
const BUILT_IN: &str = "built-in quality.yaml";
const DEFAULT: &str = include_str!("../../quality.yaml");
/// The key that stands for every language.
const EVERY: &str = "*";
/// The largest file that a policy may admit, in bytes: offsets in a file fit 32 bits.
const LARGEST_FILE: u64 = (4 << 30) - 1;
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The rules of each language, or of `*`.
type Lists = Vec<(String, Vec<Rule>)>;

/// What must hold for the files that it covers.
#[derive(Debug)]
pub struct Policy {
    /// The limits of one edit.
    pub limits: Limits,
    lists: Lists,
}

/// The limits of one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes; 1 to 4 GiB - 1.
    pub file: u64,
    /// How long an edit waits for another edit of the same file; up to one hour.
    pub lock_wait: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { file: 10 << 20, lock_wait: Duration::from_secs(20) }
    }
}

/// One entry of `quality_gates`.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The gate that judges.
    pub gate: Arc<Gate>,
    /// What its new findings do.
    pub level: Level,
    /// False when the policy switches the gate off here; such a gate is reported as skipped.
    pub enabled: bool,
}

/// What a new finding does to an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It refuses the edit.
    Block,
    /// It is reported.
    Warn,
}

impl Policy {
    /// The policy of a root that has none of its own.
    pub fn embedded() -> Arc<Policy> {
        static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
        let read = || {
            let without = |root: &Node| Err(root.fault("the key `quality_gates` is missing"));
            Arc::new(compiled_in(yaml::read(BUILT_IN, DEFAULT, |root| policy(root, without))))
        };
        Arc::clone(POLICY.get_or_init(read))
    }

    /// Reads a policy file; `name` stands in messages. Fails with `POLICY_INVALID`: place, excerpt, what is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Policy, Error> {
        yaml::read(name, text, |root| policy(root, |_| Ok(Policy::embedded().lists.clone())))
    }

    /// The rules for a file: those of its language, then those of `*` whose gate its language does not name itself.
    pub fn rules_for(&self, language: Option<&Language>) -> Vec<&Rule> {
        let own = language.map_or(&[][..], |language| self.list(&language.name));
        let general = self.list(EVERY);
        let is_named = |rule: &&Rule| own.iter().any(|named| named.gate.name == rule.gate.name);
        own.iter().chain(general.iter().filter(|rule| !is_named(rule))).collect()
    }

    fn list(&self, language: &str) -> &[Rule] {
        self.lists.iter().find(|(name, _)| name == language).map_or(&[], |(_, rules)| rules)
    }
}

/// Raises a whole policy; `default` gives the gates of one that does not speak of them.
fn policy(root: &Node, default: impl FnOnce(&Node) -> Result<Lists, Fault>) -> Result<Policy, Fault> {
    if root.is_nothing() {
        return Ok(Policy { limits: Limits::default(), lists: default(root)? });
    }
    let fields = root.fields("the policy", &["quality_gates", "limits"])?;
    let lists = fields.get("quality_gates").map_or_else(|| default(root), gates)?;
    let limits = fields.get("limits").map(limits).transpose()?.unwrap_or_default();
    Ok(Policy { limits, lists })
}

fn limits(node: &Node) -> Result<Limits, Fault> {
    let fields = node.fields("`limits`", &["file", "lock_wait"])?;
    let default = Limits::default();
    Ok(Limits {
        file: fields.optional("file", file_limit)?.unwrap_or(default.file),
        lock_wait: fields.optional("lock_wait", lock_wait)?.unwrap_or(default.lock_wait),
    })
}

fn file_limit(node: &Node, what: &str) -> Result<u64, Fault> {
    match quantity::size(node, what)? {
        0 => Err(node.fault(format!("{what} must be at least 1 byte"))),
        bytes if bytes > LARGEST_FILE => Err(node.fault(format!("{what} must be less than 4GiB"))),
        bytes => Ok(bytes),
    }
}

fn lock_wait(node: &Node, what: &str) -> Result<Duration, Fault> {
    match quantity::duration(node, what)? {
        wait if wait > LONGEST_WAIT => Err(node.fault(format!("{what} must be at most 60m"))),
        wait => Ok(wait),
    }
}

fn gates(node: &Node) -> Result<Lists, Fault> {
    if node.is_nothing() {
        return Err(node.fault("`quality_gates` is empty: write `quality_gates: {}` for no gates, or leave it out for the default ones"));
    }
    let entries = node.entries("`quality_gates`")?;
    entries.iter().map(|(language, list)| Ok((language.name.clone(), rules(language, list)?))).collect()
}

fn rules(language: &Key, list: &Node) -> Result<Vec<Rule>, Fault> {
    let name = &language.name;
    if name != EVERY && language_named(name).is_none() {
        return Err(language.fault(unknown_language(name)));
    }
    if list.is_nothing() || list.list(&format!("`{name}`"))?.is_empty() {
        return Err(language.fault(format!(
            "`{name}` has no gates: name one, or leave `{name}` out (`quality_gates: {{}}` means no gates at all)"
        )));
    }
    let mut rules: Vec<(usize, Rule)> = Vec::new();
    for item in list.list(&format!("`{name}`"))? {
        let (tool, rule) = rule(item)?;
        if let Some((line, _)) = rules.iter().find(|(_, other)| other.gate.name == rule.gate.name) {
            return Err(
                tool.fault(format!("tool `{}` is already in this list, on line {line}", rule.gate.name))
            );
        }
        rules.push((tool.mark.line, rule));
    }
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}

/// One entry of a list, with the node of its tool.
fn rule(item: &Node) -> Result<(&Node, Rule), Fault> {
    let fields = item.fields("a gate", &["tool", "enabled", "level"])?;
    let tool = fields.require("tool")?;
    let gate = find(tool, tool.text("`tool`")?)?;
    let enabled = fields.optional("enabled", Node::flag)?.unwrap_or(true);
    let level = fields.optional("level", level)?.unwrap_or(Level::Block);
    Ok((tool, Rule { gate, level, enabled }))
}

fn find(tool: &Node, name: &str) -> Result<Arc<Gate>, Fault> {
    let catalogue = Catalogue::embedded();
    catalogue.find(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = catalogue.gates().iter().map(|gate| gate.name.as_str()).collect();
        tool.fault(unknown("tool", name, &known))
    })
}

fn level(node: &Node, what: &str) -> Result<Level, Fault> {
    match node.text(what)? {
        "block" => Ok(Level::Block),
        "warn" => Ok(Level::Warn),
        other => Err(node.fault(unknown("level", other, &["block", "warn"]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn refusal(text: &str) -> String {
        let error = Policy::parse("quality.yaml", text).expect_err(text);
        assert_eq!(error.code, Code::PolicyInvalid, "{text}");
        error.message
    }

    fn names(policy: &Policy, language: &str) -> Vec<String> {
        policy.rules_for(language_named(language)).iter().map(|rule| rule.gate.name.clone()).collect()
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        assert_eq!(refusal(text), expected);
    }

    #[test]
    fn the_embedded_policy_reads_and_judges_markdown_and_code() {
        let policy = Policy::embedded();
        assert_eq!(policy.limits, Limits { file: 10 * 1024 * 1024, lock_wait: Duration::from_secs(20) });
        assert_eq!(names(&policy, "markdown"), ["markdown-structure", "syntax"]);
        assert_eq!(names(&policy, "python"), ["syntax"]);
        let rules = policy.rules_for(None);
        assert!(rules.iter().all(|rule| rule.level == Level::Block && rule.enabled));
    }

    #[test]
    fn a_policy_says_tool_level_enabled_and_limits() {
        let text = "quality_gates:\n  python: [{ tool: syntax, level: warn, enabled: false }]\nlimits: { file: 2KiB, lock_wait: 10ms }\n";
        let policy = Policy::parse("q.yaml", text).unwrap();
        let [rule] = policy.rules_for(language_named("python"))[..] else { panic!("one rule") };
        assert_eq!((rule.gate.name.as_str(), rule.level, rule.enabled), ("syntax", Level::Warn, false));
        assert_eq!(policy.limits, Limits { file: 2048, lock_wait: Duration::from_millis(10) });
        assert!(policy.rules_for(language_named("go")).is_empty());
        assert!(policy.rules_for(None).is_empty());
    }

    #[test]
    fn gates_of_the_language_come_first_and_stand_for_those_of_every_language() {
        let text = "quality_gates:\n  '*': [{ tool: syntax }, { tool: markdown-structure }]\n  markdown: [{ tool: markdown-structure, level: warn }]\n";
        let policy = Policy::parse("q.yaml", text).unwrap();
        assert_eq!(names(&policy, "markdown"), ["markdown-structure", "syntax"]);
        assert_eq!(policy.rules_for(language_named("markdown"))[0].level, Level::Warn);
        assert_eq!(names(&policy, "go"), ["syntax", "markdown-structure"]);
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        for text in ["", "# nothing\n", "---\n", "limits: {}\n", "\u{feff}limits: {}\r\n", "{}"] {
            let policy = Policy::parse("q.yaml", text).unwrap();
            assert_eq!(names(&policy, "markdown"), ["markdown-structure", "syntax"], "{text:?}");
            assert_eq!(policy.limits, Limits::default(), "{text:?}");
        }
        let none = Policy::parse("q.yaml", "quality_gates: {}\n").unwrap();
        assert!(none.rules_for(language_named("markdown")).is_empty());
    }

    #[test]
    fn unknown_words_are_refused_with_the_word_that_was_meant() {
        refused(
            "quality_gates: {}\nlimit: {}\n",
            "quality.yaml:2:1: unknown key `limit`, did you mean `limits`? (known: quality_gates, limits)\n 2 | limit: {}\n   | ^",
        );
        refused(
            "quality_gates:\n  python:\n    - tool: sintax\n",
            "quality.yaml:3:13: unknown tool `sintax`, did you mean `syntax`? (known: syntax, markdown-structure)\n 3 |     - tool: sintax\n   |             ^",
        );
        refused(
            "quality_gates:\n  python:\n    - tool: qqq\n      levle: warn\n",
            "quality.yaml:4:7: unknown key `levle`, did you mean `level`? (known: tool, enabled, level)\n 4 |       levle: warn\n   |       ^",
        );
        refused(
            "quality_gates: { python: [{ tool: syntax, level: error }] }\n",
            "quality.yaml:1:50: unknown level `error` (known: block, warn)\n 1 | quality_gates: { python: [{ tool: syntax, level: error }] }\n   |                                                  ^",
        );
        assert!(
            refusal("baseline: new\n").contains("1:1: unknown key `baseline` (known: quality_gates, limits)")
        );
    }

    #[test]
    fn unknown_languages_are_refused_and_extensions_are_understood() {
        let first = |name: &str| {
            let said = refusal(&format!("quality_gates:\n  {name}: [{{ tool: syntax }}]\n"));
            said.lines().next().unwrap().split(" (known").next().unwrap().to_owned()
        };
        assert_eq!(first("pyhton"), "quality.yaml:2:3: unknown language `pyhton`, did you mean `python`?");
        assert_eq!(first("py"), "quality.yaml:2:3: unknown language `py`, did you mean `python`?");
        assert_eq!(first("Rust"), "quality.yaml:2:3: unknown language `Rust`, did you mean `rust`?");
        assert_eq!(first("sh"), "quality.yaml:2:3: unknown language `sh`, did you mean `bash`?");
        assert_eq!(first("cobol"), "quality.yaml:2:3: unknown language `cobol`");
    }

    #[test]
    fn lists_are_neither_empty_nor_double() {
        refused(
            "quality_gates:\n  python: []\n",
            "quality.yaml:2:3: `python` has no gates: name one, or leave `python` out (`quality_gates: {}` means no gates at all)\n 2 |   python: []\n   |   ^",
        );
        assert!(refusal("quality_gates:\n  python:\n").contains(":2:3: `python` has no gates"));
        assert!(
            refusal("quality_gates:\n")
                .contains(":1:14: `quality_gates` is empty: write `quality_gates: {}`")
        );
        refused(
            "quality_gates:\n  go:\n    - tool: syntax\n    - tool: syntax\n",
            "quality.yaml:4:13: tool `syntax` is already in this list, on line 3\n 4 |     - tool: syntax\n   |             ^",
        );
        assert!(
            refusal("quality_gates: { go: [{ level: warn }] }").contains("1:23: the key `tool` is missing")
        );
        let elsewhere =
            Policy::parse("q.yaml", "quality_gates: { python: [{ tool: markdown-structure }] }").unwrap();
        assert_eq!(names(&elsewhere, "python"), ["markdown-structure"]);
    }

    #[test]
    fn values_of_a_wrong_type_are_named() {
        for (text, said) in [
            ("[1]", "1:1: the policy must be a map, not a list"),
            ("quality_gates: yes", "1:16: `quality_gates` must be a map, not the text `yes`"),
            ("quality_gates: { go: syntax }", "1:22: `go` must be a list, not the text `syntax`"),
            ("quality_gates: { go: [syntax] }", "1:23: a gate must be a map, not the text `syntax`"),
            ("quality_gates: { go: [{ tool: 5 }] }", "1:31: `tool` must be a text, not the number 5"),
            (
                "quality_gates: { go: [{ tool: syntax, enabled: yes }] }",
                "1:48: `enabled` must be `true` or `false`, not the text `yes`",
            ),
            ("limits: 5", "1:9: `limits` must be a map, not the number 5"),
            ("limits: { file: true }", "1:17: `file` must be a whole number of bytes"),
            ("limits: { file: 0 }", "1:17: `file` must be at least 1 byte"),
            ("limits: { file: 4GiB }", "1:17: `file` must be less than 4GiB"),
            ("limits: { file: 4294967296 }", "1:17: `file` must be less than 4GiB"),
            ("limits: { file: 99999999999999999999999 }", "not the number 1"),
            ("limits: { file: 1.5MiB }", "not the text `1.5MiB`"),
            ("limits: { lock_wait: 20 }", "1:22: `lock_wait` needs a unit, as in `20s` or `20ms`"),
            ("limits: { lock_wait: 61m }", "1:22: `lock_wait` must be at most 60m"),
        ] {
            let message = refusal(text);
            assert!(message.contains(said), "{text}\n{message}");
        }
        let largest = Policy::parse("q.yaml", "limits: { file: 4294967295, lock_wait: 0 }").unwrap();
        assert_eq!(largest.limits, Limits { file: u64::from(u32::MAX), lock_wait: Duration::ZERO });
    }

    #[test]
    fn the_examples_of_the_page_are_policies_and_its_refusal_is_real() {
        let page = include_str!("../../docs/policy.md");
        let blocks = |kind: &str| -> Vec<String> {
            let opening = format!("```{kind}\n");
            page.split(&opening)
                .skip(1)
                .filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()))
                .collect()
        };
        let examples = blocks("yaml");
        assert!(examples.len() >= 3);
        for example in &examples {
            Policy::parse("quality.yaml", example).unwrap();
        }
        let first = Policy::parse("quality.yaml", &examples[0]).unwrap();
        assert_eq!(format!("{:?}", first.lists), format!("{:?}", Policy::embedded().lists));
        let faulty = "quality_gates:\n  python:\n    - tool: sintax\n";
        assert_eq!(format!("{}\n", refusal(faulty)), blocks("text").concat());
    }
}
