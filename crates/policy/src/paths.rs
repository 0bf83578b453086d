//! Rules for paths: write access, and the gates that judge them.

use std::sync::Arc;

use super::definition::Gate;
use super::glob::{Glob, glob};
use super::node::{PolicyError, YamlNode, unknown};
use super::origin::PolicyOrigin;
use super::rule::Rule;
use super::tools::find_gate;
use super::value_shape::tables;
use super::words::words;

/// The most entries that one policy may have, with those that it extends.
const MAX_PATHS: usize = 1000;

/// An entry of `paths`, with the policy that contains it.
#[derive(Debug, Clone)]
pub(super) struct PathRule {
    glob: Glob,
    origin: Arc<PolicyOrigin>,
    access: Option<Access>,
    /// Each as if it were listed without options.
    gates: Option<Vec<Rule>>,
}

words! {
    /// The access to a file.
    enum Access {
        Read = "read",
        Write = "write",
    }
}

/// The entry that forbids writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection<'a> {
    /// The policy file that contains it, as messages name it.
    pub policy: &'a str,
    /// Its pattern, as the policy has it.
    pub pattern: &'a str,
}

impl PathRule {
    fn covers(&self, path: &str) -> bool {
        self.origin.relative_path(path).is_some_and(|below| self.glob.matches(below))
    }

    /// True if the entry covers a spelling of the path that some file system treats as equal.
    fn covers_ignoring_case(&self, path: &str) -> bool {
        self.origin
            .relative_path_ignoring_case(path)
            .is_some_and(|below| self.glob.matches_ignoring_case(below))
    }

    /// True if it denies or allows writing to a path. A denial covers every spelling of the path; a
    /// permission covers the exact name only.
    fn rules_access(&self, path: &str) -> bool {
        match self.access {
            Some(Access::Read) => self.covers_ignoring_case(path),
            Some(Access::Write) => self.covers(path),
            None => false,
        }
    }

    /// Returns every rule that the entry adds.
    pub(super) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.gates.iter().flatten()
    }

    /// Uses this gate instead of the ones of the same name.
    pub(super) fn rebind(&mut self, gate: &Arc<Gate>) {
        let same = |rule: &&mut Rule| rule.gate.name == gate.name;
        self.gates.iter_mut().flatten().filter(same).for_each(|rule| *rule = Rule::plain(Arc::clone(gate)));
    }
}

/// Returns the last entry that sets the access to a path, if it forbids writing.
pub(super) fn protection<'a>(rules: &'a [PathRule], path: &str) -> Option<Protection<'a>> {
    let last = rules.iter().rev().find(|rule| rule.rules_access(path))?;
    let is_protected = last.access == Some(Access::Read);
    is_protected.then(|| Protection { policy: &last.origin.name, pattern: last.glob.text() })
}

/// Returns the gates of the last entry that names the gates of a path, in its order.
pub(super) fn gates<'a>(rules: &'a [PathRule], path: &str) -> Option<&'a [Rule]> {
    rules.iter().rev().filter(|rule| rule.gates.is_some()).find(|rule| rule.covers(path))?.gates.as_deref()
}

/// Parses `paths`; its entries come after those of `base`.
pub(super) fn paths(
    node: &YamlNode,
    own: &[Arc<Gate>],
    origin: &Arc<PolicyOrigin>,
    base: Vec<PathRule>,
) -> Result<Vec<PathRule>, PolicyError> {
    let items = node.list("`paths`")?;
    if items.len() + base.len() > MAX_PATHS {
        return Err(node.fault(format!("`paths` has more than {MAX_PATHS} entries")));
    }
    base.into_iter().map(Ok).chain(items.iter().map(|item| path_rule(item, own, origin))).collect()
}

fn path_rule(
    item: &YamlNode,
    own: &[Arc<Gate>],
    origin: &Arc<PolicyOrigin>,
) -> Result<PathRule, PolicyError> {
    let fields = item.settings("an entry of `paths`", &[PATH])?;
    let rule = PathRule {
        glob: glob(fields.require("match")?, "`match`")?,
        origin: Arc::clone(origin),
        access: fields.optional("access", access)?,
        gates: fields.optional("gates", |node, what| parse_gates(node, what, own))?,
    };
    if rule.access.is_none() && rule.gates.is_none() {
        return Err(item.fault("an entry of `paths` has no effect without `access` or `gates`"));
    }
    Ok(rule)
}

fn access(node: &YamlNode, what: &str) -> Result<Access, PolicyError> {
    match node.text(what)? {
        "deny" => Err(node.fault("this version does not support `access: deny`: use one of `read`, `write`")),
        other => Access::named(other)
            .ok_or_else(|| node.fault(unknown("access", other, &[Access::WORDS, &["deny"]].concat()))),
    }
}

fn parse_gates(node: &YamlNode, what: &str, own: &[Arc<Gate>]) -> Result<Vec<Rule>, PolicyError> {
    let mut rules: Vec<Rule> = Vec::new();
    for item in node.list(what)? {
        let gate = find_gate(item, "a tool", own)?;
        if rules.iter().any(|rule| rule.gate.name == gate.name) {
            return Err(item.fault(format!("duplicate tool `{}`", gate.name)));
        }
        rules.push(Rule::plain(gate));
    }
    Ok(rules)
}

tables! {
    /// The keys of each entry in `paths`.
    PATH {
        "match": Glob, Required => "the files to which the entry applies";
        "access": Words(Access::WORDS), Described("that of the entries before, else `write`")
            => "`read`: every edit of such a file is rejected with `PROTECTED`";
        "gates": List(&Tool, 0), Described("those of the entries before, else those of the language")
            => "the only gates for such a file, in this order";
    }
}
