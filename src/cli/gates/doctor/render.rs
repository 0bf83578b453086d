//! Renders the results of `lockgate gates doctor` as text and JSON.

use clap::builder::styling::Style;
use serde_json::{Value, json};

use super::checkup::{Checkup, GateState, all_ok};
use crate::cli::gates::gate_list::{GateList, RootPolicy};
use crate::cli::paint::{DONE, FAINT, LABEL, REJECTED, WARNING, labelled, paint, visible_line};
use lockgate_checks::{GateRuntime, Isolation};
use lockgate_engine::ProjectTrial;

/// The scope of the test.
const TESTED: &str = "each program in a sample project of its gate; the gates of a trusted policy also on one file of the project";

/// Renders the root, each gate with its problem, and the summary. `names` are the gates that the command names.
pub(super) fn text(gate_list: &GateList, checkups: &[Checkup], names: &[String]) -> String {
    let mut text = header(gate_list);
    let widest = |width: fn(&Checkup) -> usize| checkups.iter().map(width).max().unwrap_or_default();
    let widths = [
        widest(|checkup| checkup.name.chars().count()),
        widest(|checkup| checkup.state.name().len()),
        widest(|checkup| checkup.version.as_ref().map_or(0, |version| version.chars().count())),
    ];
    text.push('\n');
    checkups.iter().for_each(|checkup| text += &row(checkup, widths));
    text.push('\n');
    text + &summary(checkups, names)
}

fn header(gate_list: &GateList) -> String {
    let mut text = String::new();
    match &gate_list.root_policy {
        Some(root_policy) => {
            text += &labelled(LABEL, "root", visible_line(&root_policy.commands.root.display().to_string()));
            text += &policy(root_policy);
        }
        None => text += &labelled(LABEL, "root", "none: this folder cannot be a root"),
    }
    text += &isolation(&GateRuntime::default());
    text + &labelled(LABEL, "tested", TESTED)
}

/// Renders the isolation of programs and the reason why it is not stronger.
fn isolation(runtime: &GateRuntime) -> String {
    let level = runtime.isolation();
    let description = match level {
        Isolation::None => "programs run with your rights",
        Isolation::Landlock => "programs cannot write to the project, see your keys, or use TCP",
        Isolation::Bubblewrap => "programs see the project read-only, an empty home, and no network",
    };
    let short = runtime.isolation_shortfall().map(|why| format!("\nno bubblewrap: {}", visible_line(&why)));
    let style = if level == Isolation::None { WARNING } else { LABEL };
    labelled(style, "isolation", format!("{}: {description}{}", level.name(), short.unwrap_or_default()))
}

fn policy(root_policy: &RootPolicy) -> String {
    let description = visible_line(root_policy.commands.describe());
    if !root_policy.runs_commands() {
        return labelled(LABEL, "policy", format!("{description}, which runs no commands"));
    }
    match &root_policy.untrusted_reason {
        None => labelled(LABEL, "policy", format!("{description}, trusted")),
        Some(why) => {
            let hint = "review and trust its commands with `lockgate trust`";
            labelled(WARNING, "policy", format!("{description}, not trusted: {}\n{hint}", visible_line(why)))
        }
    }
}

fn row(checkup: &Checkup, [name, state, version]: [usize; 3]) -> String {
    let style = style(&checkup.state);
    let named = paint(LABEL, format!("{:<name$}", visible_line(&checkup.name)));
    let shown = paint(style, format!("{:<state$}", checkup.state.name().replace('_', " ")));
    let number = format!("{:<version$}", visible_line(checkup.version.as_deref().unwrap_or_default()));
    let time = paint(FAINT, format!("{} ms", checkup.ms));
    let mut text = format!("{named}  {shown}  {number}  {time}\n");
    let note = |text: &str| format!("    {}\n", visible_line(text));
    if let Some(why) = checkup.state.why() {
        text += &note(why);
    }
    if let Some(ProjectTrial { path, run }) = checkup.in_project.as_ref().filter(|_| checkup.state.is_ok()) {
        let why = run.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        text += &note(&format!("in this project: {} on {path}{why}", run.outcome.name()));
    }
    if matches!(checkup.state, GateState::Unavailable(_)) && !checkup.install.is_empty() {
        text += &note(&format!("install: {}", checkup.install.join(", or ")));
    }
    text
}

fn style(state: &GateState) -> Style {
    match state {
        GateState::Works => DONE,
        GateState::Broken(_) | GateState::Unavailable(_) => REJECTED,
        GateState::Unproven | GateState::Untrusted(_) | GateState::Unconfigured(_) => WARNING,
    }
}

/// Renders the number of gates that have to work and do, and names those without a proof of that.
fn summary(checkups: &[Checkup], names: &[String]) -> String {
    let (one, many) = match names {
        [] => ("the policy's gate", "gates of the policy"),
        [..] => ("the named gate", "named gates"),
    };
    let wanted: Vec<&Checkup> = checkups.iter().filter(|checkup| checkup.is_required).collect();
    let named = |is_named: fn(&GateState) -> bool| -> Vec<String> {
        let named = wanted.iter().filter(|checkup| is_named(&checkup.state));
        named.map(|checkup| visible_line(&checkup.name)).collect()
    };
    let ill = named(|state| !state.is_ok());
    let unproven = named(|state| matches!(state, GateState::Unproven));
    match (wanted.len(), ill.as_slice(), unproven.as_slice()) {
        (0, ..) => labelled(DONE, "passed", "no gate of the policy runs a program"),
        (1, [], []) => labelled(DONE, "passed", format!("{one} works")),
        (count, [], []) => labelled(DONE, "passed", format!("all {count} {many} work")),
        (1, [], _) => labelled(DONE, "passed", format!("{one} has no known problem, but is unproven")),
        (count, [], unproven) => {
            let (working, unproven) = (count - unproven.len(), unproven.join(", "));
            labelled(DONE, "passed", format!("{working} of {count} {many} work; unproven: {unproven}"))
        }
        (count, ill, _) => {
            labelled(REJECTED, "failed", format!("{} of {count}: {}", ill.len(), ill.join(", ")))
        }
    }
}

/// Renders the same content as JSON.
pub(super) fn json(gate_list: &GateList, checkups: &[Checkup]) -> Value {
    let gate = |checkup: &Checkup| {
        json!({
            "name": checkup.name,
            "state": checkup.state.name(),
            "why": checkup.state.why(),
            "in_project": checkup.in_project.as_ref().map(|ProjectTrial { path, run }| {
                json!({ "path": path, "outcome": run.outcome.name(), "why": run.why })
            }),
            "wanted": checkup.is_required,
            "version": checkup.version,
            "program": checkup.program,
            "ms": checkup.ms,
            "install_hints": checkup.install,
        })
    };
    let root_policy = gate_list.root_policy.as_ref();
    json!({
        "well": all_ok(checkups),
        "root": root_policy.map(|root_policy| root_policy.commands.root.display().to_string()),
        "policy": root_policy.map(|root_policy| root_policy.commands.describe()),
        "trusted": root_policy.map(|root_policy| root_policy.untrusted_reason.is_none()),
        "why": root_policy.and_then(|root_policy| root_policy.untrusted_reason.as_deref()),
        "tested": TESTED,
        "isolation": GateRuntime::default().isolation().name(),
        "short_of_best": GateRuntime::default().isolation_shortfall(),
        "gates": checkups.iter().map(gate).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn working(name: &str) -> Checkup {
        Checkup {
            name: name.to_owned(),
            is_required: true,
            is_enabled: true,
            program: None,
            version: None,
            state: GateState::Works,
            in_project: None,
            ms: 1,
            install: Vec::new(),
        }
    }

    #[test]
    fn the_summary_says_who_names_the_gates() {
        let (policy, named) = (&[][..], &["a".to_owned()][..]);
        for (names, tested, expected) in [
            (&[][..], policy, "no gate of the policy runs a program"),
            (&["a"], policy, "the policy's gate works"),
            (&["a", "b"], policy, "all 2 gates of the policy work"),
            (&["a"], named, "the named gate works"),
            (&["a", "b"], named, "all 2 named gates work"),
        ] {
            let checkups: Vec<Checkup> = names.iter().copied().map(working).collect();
            let text = anstream::adapter::strip_str(&summary(&checkups, tested)).to_string();
            assert_eq!(text, format!("passed    {expected}\n"));
        }
        let unproven = |name: &str| Checkup { state: GateState::Unproven, ..working(name) };
        for (checkups, tested, expected) in [
            (vec![unproven("a")], policy, "the policy's gate has no known problem, but is unproven"),
            (vec![unproven("a")], named, "the named gate has no known problem, but is unproven"),
            (vec![working("a"), unproven("b")], policy, "1 of 2 gates of the policy work; unproven: b"),
            (vec![working("a"), unproven("b")], named, "1 of 2 named gates work; unproven: b"),
        ] {
            let text = anstream::adapter::strip_str(&summary(&checkups, tested)).to_string();
            assert_eq!(text, format!("passed    {expected}\n"));
        }
    }
}
