//! How often the rules of `damage` are right: on honest edits they must keep quiet, and accidents they must find.
//!
//! The normal run takes what the repository's own history holds; tests/damage/ fetches more, and
//! `LOCKGATE_TEST_DAMAGE=TARGET` runs that as well.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lockgate_checks::Isolation;
use lockgate_checks::{
    Draft, ExecPermission, Finding, GateEnv, GateRuntime, InputLocation, Severity, Watch, judge,
};
use lockgate_policy::{Accident, Catalogue, EffectiveRules, Rule, Weight, language_of};
use lockgate_text::{Buffer, Hints};
use serde_json::Value;

use super::store::not_run;

/// An edit of the corpus.
struct Sample {
    label: String,
    path: String,
    before: Option<String>,
    after: String,
}

fn samples(file: &Path, label: &[&str]) -> Vec<Sample> {
    let text = std::fs::read_to_string(file).unwrap();
    let sample = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Sample {
            label: label.iter().filter_map(|key| text(key)).collect::<Vec<_>>().join(": "),
            path: text("path").unwrap(),
            before: text("before"),
            after: text("after").unwrap(),
        }
    };
    text.lines().map(sample).collect()
}

/// What the gate finds in an edit.
fn findings_of(rule: &Rule, sample: &Sample) -> Vec<Finding> {
    let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
    let before = sample.before.as_deref().map(read);
    let (empty, after) = (read(""), read(&sample.after));
    let old = before.as_ref().unwrap_or(&empty);
    let draft = Draft {
        path: &sample.path,
        language: language_of(&sample.path, sample.after.lines().next()),
        before: before.as_ref(),
        after: &after,
        map: &old.rewrite(&sample.after).unwrap().line_map(old, &after),
        input_location: InputLocation::of_file(before.as_ref()),
        files_exist: &|_| false,
    };
    let (permission, gate_runtime) = (ExecPermission::Untrusted(String::new()), GateRuntime::default());
    let env = GateEnv {
        root: Path::new("/"),
        exec_permission: &permission,
        runtime: &gate_runtime,
        isolation: Isolation::None,
        cache: None,
    };
    judge(&draft, &EffectiveRules::new(rule, rule.timeout), &env, &Watch::idle()).findings
}

fn gate() -> Rule {
    Rule::plain(Arc::clone(Catalogue::embedded().find("damage").unwrap()))
}

/// Per rule: how many honest edits have a finding of it, and how many of its accidents were found.
#[derive(Default)]
struct RuleCounts {
    honest: usize,
    blocked: usize,
    by_rule: BTreeMap<&'static str, [usize; 3]>,
    shown: String,
}

impl RuleCounts {
    fn honest(&mut self, rule: &Rule, samples: &[Sample]) {
        for sample in samples {
            let findings = findings_of(rule, sample);
            self.honest += 1;
            self.blocked += usize::from(findings.iter().any(|finding| finding.severity == Severity::Error));
            for (accident, _) in Accident::ALL {
                let mut own =
                    findings.iter().filter(|finding| finding.code.as_deref() == Some(accident.name()));
                if let Some(first) = own.next() {
                    self.by_rule.entry(accident.name()).or_default()[0] += 1;
                    let line = sample.after.lines().nth(first.line - 1).unwrap_or_default();
                    let label = (&sample.label, &sample.path, first.line, &first.message);
                    writeln!(self.shown, "{}\thonest\t{label:?}\t{line}", accident.name()).unwrap();
                }
            }
        }
    }

    fn accidents(&mut self, rule: &Rule, samples: &[Sample]) {
        for sample in samples {
            let (name, how) = sample.label.split_once(": ").unwrap();
            let findings = findings_of(rule, sample);
            let accident = Accident::ALL.iter().find(|(accident, _)| accident.name() == name).unwrap().0;
            let counts = self.by_rule.entry(accident.name()).or_default();
            counts[2] += 1;
            if findings.iter().any(|finding| finding.code.as_deref() == Some(name)) {
                counts[1] += 1;
            } else {
                let (path, old) = (&sample.path, sample.before.as_deref().unwrap_or_default());
                let new: Vec<&str> =
                    sample.after.lines().filter(|line| !old.lines().any(|old| old == *line)).collect();
                writeln!(
                    self.shown,
                    "{name}\tmissed\t{how}\t{path}\t{:?}",
                    new.get(..new.len().min(4)).unwrap()
                )
                .unwrap();
            }
        }
    }

    fn table(&self) -> String {
        let mut table = format!("{} honest edits, {} refused\n", self.honest, self.blocked);
        for (accident, weight) in Accident::ALL {
            let [honest, found, all] = self.by_rule.get(accident.name()).copied().unwrap_or_default();
            let share = 100.0 * honest as f64 / self.honest.max(1) as f64;
            writeln!(
                table,
                "{:20} {weight:?}: honest {honest} ({share:.2} %), found {found} of {all}",
                accident.name()
            )
            .unwrap();
        }
        table
    }

    /// No rule that blocks does so on more than so few honest edits of a thousand; each finds so many accidents of a hundred.
    fn assert_limits(&self, refused: usize, least: usize) {
        for (accident, weight) in Accident::ALL {
            let [honest, found, all] = self.by_rule.get(accident.name()).copied().unwrap_or_default();
            let quiet = weight != Weight::Block || honest * 1000 <= self.honest * refused;
            assert!(
                quiet && found * 100 >= all * least,
                "{}:\n{}\n{}",
                accident.name(),
                self.table(),
                self.shown
            );
        }
    }
}

fn script(name: &str, target: &Path, more: &[&str]) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/damage").join(name);
    let output = Command::new("python3").arg("-B").arg(script).arg(target).args(more).output();
    output.is_ok_and(|output| output.status.success())
}

fn count_rules(target: &Path) -> RuleCounts {
    let mut counts = RuleCounts::default();
    let rule = gate();
    counts.honest(&rule, &samples(&target.join("honest.jsonl"), &["of"]));
    counts.accidents(&rule, &samples(&target.join("accidents.jsonl"), &["rule", "how"]));
    counts
}

#[test]
fn rules_keep_quiet_on_the_own_history_and_find_accidents_in_it() {
    let target = tempfile::tempdir().unwrap();
    if !script("corpus.py", target.path(), &["--own", "--most", "400"]) {
        return not_run("the trial of damage: no python3, or no history");
    }
    if !script("accidents.py", target.path(), &["--each", "40"]) {
        return not_run("the trial of damage: no files for accidents in the history");
    }
    // A small sample, which is another one after each commit, hits the mark less closely.
    count_rules(target.path()).assert_limits(10, 80);
}

#[test]
fn rules_keep_quiet_on_packages_and_find_accidents_in_them() {
    let Some(target) = std::env::var_os("LOCKGATE_TEST_DAMAGE").map(PathBuf::from) else { return };
    let counts = count_rules(&target);
    std::fs::write(target.join("report.txt"), format!("{}{}", counts.table(), counts.shown)).unwrap();
    counts.assert_limits(5, 95);
}
