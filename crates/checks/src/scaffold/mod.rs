//! Checks files made from a template: their header, the parts that the template requires, and those that it
//! recommends.
//!
//! The checks have three stages, and an error in one hides the later ones. Without a readable header the
//! requirements are unknown, and recommendations would distract from missing parts.
//!
//! Invariant: a file without a header is an error only if the definition requires one.

mod header;

use std::collections::HashSet;

use self::header::{FoundHeader, HeaderProblem};
use super::error::GateError;
use super::finding::Severity;
use super::markdown_page::{headings, normalize};
use super::rule_match::{MAX_MATCHES, PatternInput, QUERY_STEPS, RuleMatch};
use super::syntax::child::{self, Reply, Task};
use super::syntax::unreadable;
use lockgate_policy::{self as policy, Demand, Scaffold, ScaffoldLayout};
use lockgate_syntax::{self as grammar, WalkStep};

/// Returns the findings of a file.
///
/// Errors: `Skipped` if it has no header and needs none.
pub(super) fn check(rules: &Scaffold, page: PatternInput<'_>) -> Result<Vec<RuleMatch>, GateError> {
    let Some(header) = FoundHeader::parse(page.text) else {
        return match rules.header {
            policy::HeaderRule::Optional => Err(GateError::Skipped("has no scaffold header".to_owned())),
            policy::HeaderRule::Required => {
                let message =
                    "no scaffold header in the first lines, as in `SCAFFOLD: template=module version=1.0.0`";
                Ok(vec![rule_match(0, "scaffold-header", message.to_owned())])
            }
        };
    };
    let problems = header.problems();
    if !problems.is_empty() {
        let into_match =
            |HeaderProblem { at, message }| rule_match(header.start + at, "scaffold-header", message);
        return Ok(problems.into_iter().map(into_match).collect());
    }
    let template = header.value("template").unwrap_or_default();
    let layout = rules.templates.iter().find(|(name, _)| name == template).map(|(_, layout)| layout);
    let Some(layout) = layout else { return Ok(recommendations(&header, None, page)) };
    let structure = missing_required(&header, layout, page)?;
    Ok(if structure.is_empty() { recommendations(&header, Some(layout), page) } else { structure })
}

fn rule_match(offset: usize, code: &'static str, message: String) -> RuleMatch {
    RuleMatch { offset, code: Some(code), severity: Severity::Error, message }
}

/// Returns the required parts that the text lacks, as findings at the header.
fn missing_required(
    header: &FoundHeader<'_>,
    layout: &ScaffoldLayout,
    page: PatternInput<'_>,
) -> Result<Vec<RuleMatch>, GateError> {
    let template = header.value("template").unwrap_or_default();
    let mut matches = Vec::new();
    if !layout.sections.is_empty() {
        let existing = sections(page)?;
        let missing = layout.sections.iter().filter(|section| !existing.contains(&normalize(section)));
        matches.extend(missing.map(|section| {
            let message =
                format!("the section `{section}`, which the template `{template}` requires, is missing");
            rule_match(header.start, "scaffold-section", message)
        }));
    }
    if !layout.symbols.is_empty() {
        let existing = symbols(page)?;
        let missing = layout.symbols.iter().filter(|symbol| !existing.contains(*symbol));
        matches.extend(missing.map(|symbol| {
            let message = format!("`{symbol}`, which the template `{template}` requires, is not defined");
            rule_match(header.start, "scaffold-symbol", message)
        }));
    }
    matches.extend(
        layout
            .required
            .iter()
            .flat_map(|demand| missing_parts(demand, header, page))
            .map(|(offset, message)| rule_match(offset, "scaffold-structure", message)),
    );
    Ok(matches)
}

/// Returns the recommended parts that the text lacks, and a path in the header that differs from the file's.
fn recommendations(
    header: &FoundHeader<'_>,
    layout: Option<&ScaffoldLayout>,
    page: PatternInput<'_>,
) -> Vec<RuleMatch> {
    let warning = |(offset, message)| RuleMatch {
        severity: Severity::Warning,
        ..rule_match(offset, "scaffold-guideline", message)
    };
    let moved = header
        .value("path")
        .filter(|path| path.trim_start_matches("./") != page.path)
        .map(|path| (header.start, format!("the header names this file {path}; it is {}", page.path)));
    let advised = layout.into_iter().flat_map(|layout| &layout.guidelines);
    moved
        .into_iter()
        .chain(advised.flat_map(|demand| missing_parts(demand, header, page)))
        .map(warning)
        .collect()
}

/// Returns findings for the parts of a requirement that are missing.
fn missing_parts(demand: &Demand, header: &FoundHeader<'_>, page: PatternInput<'_>) -> Vec<(usize, String)> {
    let at_offset = |offset| (offset, demand.message.clone());
    match demand.wanted {
        true if demand.pattern.is_match(page.text) => Vec::new(),
        true => vec![at_offset(header.start)],
        false => demand
            .pattern
            .find_iter(page.text)
            .take(MAX_MATCHES)
            .map(|found| at_offset(found.start()))
            .collect(),
    }
}

/// Returns the headings of a page; for other texts, all lines without comment signs at their ends.
fn sections(page: PatternInput<'_>) -> Result<HashSet<String>, GateError> {
    if page.language != "markdown" {
        let bare = |line: &str| normalize(line.trim_matches(|c: char| "#/*-=;%<!> \t".contains(c)));
        return Ok(page.text.lines().map(bare).collect());
    }
    let Some(program) = child::program_for(page.text.len()) else { return Ok(headings(page.text)) };
    match child::ask(program, Task::Headings, ("markdown", page.path), page.text, page.limit) {
        Ok(Reply::Headings(headings)) => Ok(headings),
        other => Err(child::failure("pulldown-cmark", other).into()),
    }
}

/// The names that a text defines: those of all syntax nodes with a field `name`.
fn symbols(page: PatternInput<'_>) -> Result<HashSet<String>, GateError> {
    let tree = grammar::read(page.language, page.path, page.text, QUERY_STEPS).map_err(unreadable)?;
    let mut names = HashSet::new();
    grammar::walk(&tree, |node, _| {
        let name = node.child_by_field_name("name").and_then(|name| page.text.get(name.byte_range()));
        let kind = node.kind();
        if ["definition", "declaration", "item", "spec", "declarator", "signature"]
            .iter()
            .any(|end| kind.ends_with(end))
        {
            names.extend(name.map(str::to_owned));
        }
        WalkStep::Enter
    });
    Ok(names)
}
