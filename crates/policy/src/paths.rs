//! Rules for paths: write access, and the gates that judge them.

use std::sync::Arc;

use super::definition::Gate;
use super::glob::{Glob, glob};
use super::node::{PolicyError, YamlNode};
use super::origin::PolicyOrigin;
use super::rule::Rule;
use super::tools::GateDefinitions;
use super::unsupported;
use super::value_shape::Absent::{Described, Refused};
use super::value_shape::ValueShape::{List, Tool, Words};
use super::value_shape::{Setting, ValueShape, names_of, tables};

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

/// The access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

pub(super) const ACCESS: [(&str, Access); 2] = [("read", Access::Read), ("write", Access::Write)];

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
    match last.access {
        Some(Access::Read) => Some(Protection { policy: &last.origin.name, pattern: last.glob.text() }),
        Some(Access::Write) | None => None,
    }
}

/// Returns the gates of the last entry that names the gates of a path, in its order.
pub(super) fn gates<'a>(rules: &'a [PathRule], path: &str) -> Option<&'a [Rule]> {
    rules.iter().rev().filter(|rule| rule.gates.is_some()).find(|rule| rule.covers(path))?.gates.as_deref()
}

/// Parses `paths`; its entries come after those of `base`.
pub(super) fn paths(
    node: &YamlNode,
    tools: GateDefinitions<'_>,
    origin: &Arc<PolicyOrigin>,
    base: Vec<PathRule>,
) -> Result<Vec<PathRule>, PolicyError> {
    let items = node.list("`paths`")?;
    if items.len() + base.len() > MAX_PATHS {
        return Err(node.fault(format!("`paths` has more than {MAX_PATHS} entries")));
    }
    let own = items.iter().map(|item| path_rule(item, tools, origin)).collect::<Result<Vec<_>, _>>()?;
    Ok(base.into_iter().chain(own).collect())
}

fn path_rule(
    item: &YamlNode,
    tools: GateDefinitions<'_>,
    origin: &Arc<PolicyOrigin>,
) -> Result<PathRule, PolicyError> {
    let fields = item.settings("an entry of `paths`", &[PATH])?;
    let rule = PathRule {
        glob: glob(fields.require("match")?, "`match`")?,
        origin: Arc::clone(origin),
        access: fields
            .optional("access", |node, _| unsupported::choice(node, "access", &ACCESS, &["deny"]))?,
        gates: fields.optional("gates", |node, what| parse_gates(node, what, tools))?,
    };
    if rule.access.is_none() && rule.gates.is_none() {
        return Err(item.fault("an entry of `paths` has no effect without `access` or `gates`"));
    }
    Ok(rule)
}

fn parse_gates(node: &YamlNode, what: &str, tools: GateDefinitions<'_>) -> Result<Vec<Rule>, PolicyError> {
    let mut rules: Vec<Rule> = Vec::new();
    for item in node.list(what)? {
        let gate = tools.find(item, "a tool")?;
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
        "match": ValueShape::Glob, Refused => "the files to which the entry applies";
        "access": Words(&names_of(&ACCESS)), Described("that of the entries before, else `write`")
            => "`read`: every edit of such a file is rejected with `PROTECTED`";
        "gates": List(&Tool, 0), Described("those of the entries before, else those of the language")
            => "the only gates for such a file, in this order";
    }
}
