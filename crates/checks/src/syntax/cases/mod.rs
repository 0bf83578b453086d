//! Tests of edits that keep, fix or break the syntax of a file.

mod broken;
mod sound;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Draft, ExecPermission, GateEnv, GateRuntime, InputLocation, Outcome, Severity, Verdict, Watch, judge,
};
use lockgate_policy::{Catalogue, EffectiveRules, Gate, Level, Rule, language_of};
use lockgate_sandbox::Isolation;
use lockgate_text::{Buffer, Hints, LineMap};

pub(super) fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

/// Judges a text with the syntax gate alone, against the text before it.
pub(super) fn judged(path: &str, before: Option<&str>, after: &str) -> Verdict {
    judged_by(path, before, after, Level::Block, Duration::from_secs(60), &Watch::idle())
}

pub(super) fn judged_by(
    path: &str,
    before: Option<&str>,
    after: &str,
    level: Level,
    timeout: Duration,
    watch: &Watch,
) -> Verdict {
    let rule = Rule { level, timeout, ..Rule::plain(syntax()) };
    let (old, new) = (before.map(buffer), buffer(after));
    let map =
        old.as_ref().map_or_else(LineMap::default, |old| old.rewrite(after).unwrap().line_map(old, &new));
    let language = language_of(path, after.lines().next());
    let files_exist = |_: &str| false;
    let draft = Draft {
        path,
        language,
        before: old.as_ref(),
        after: &new,
        map: &map,
        input_location: InputLocation::of_file(old.as_ref()),
        files_exist: &files_exist,
    };
    let rules = EffectiveRules::new(&rule, timeout);
    let (permission, runtime) =
        (ExecPermission::Untrusted("no program runs here".to_owned()), GateRuntime::default());
    let env = GateEnv {
        root: Path::new("/"),
        exec_permission: &permission,
        runtime: &runtime,
        isolation: Isolation::None,
        cache: None,
    };
    judge(&draft, &rules, &env, watch)
}

fn syntax() -> Arc<Gate> {
    Arc::clone(Catalogue::embedded().find("syntax").unwrap())
}

/// A path, a description, the file before and after, and the lines with blocking findings.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static [usize]);

fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (path, what, before, after, refused) in cases {
        let verdict = judged(path, Some(before), after);
        let lines: Vec<_> = verdict.blocking().map(|finding| finding.line).collect();
        if lines != *refused {
            wrong.push(format!(
                "{path}: {what}: wanted {refused:?}, got {lines:?} of {:#?}",
                verdict.findings
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_parsed_before_must_parse_after() {
    check(sound::CASES);
}

#[test]
fn a_file_that_did_not_parse_can_be_repaired_in_steps_and_not_made_worse() {
    check(broken::CASES);
}

#[test]
fn what_a_grammar_says_of_good_files_too_only_warns() {
    let verdict = judged("a.c", None, "int f(void) {\n  return 1\n}\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && !finding.blocking));
    let verdict = judged("a.c", None, "int f(void) {\n  return 1;\n");
    assert_eq!(verdict.blocking().count(), 1);
}

#[test]
fn a_rule_that_warns_does_not_block() {
    let watch = Watch::idle();
    let verdict = judged_by("a.py", None, "x = (]\n", Level::Warn, Duration::from_secs(9), &watch);
    assert_eq!(verdict.blocking().count(), 0);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && finding.severity == Severity::Warning));
}

#[test]
fn the_outcome_tells_of_old_faults_too() {
    let verdict = judged("a.py", Some("x = (]\n"), "x = (]\ny = 1\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| !finding.fresh && !finding.blocking));
}

#[test]
fn every_fault_of_a_new_file_is_new() {
    let verdict = judged("a.py", None, "x = (]\n");
    assert_eq!(verdict.blocking().count(), verdict.findings.len());
    assert!(verdict.blocking().count() > 0);
}

const CHART: &str = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ include \"chart.name\" . }}\n  labels:\n    \
                     {{- include \"chart.labels\" . | nindent 4 }}\nspec:\n  {{- if .Values.ports }}\n  ports: []\n  \
                     {{- end }}\n";

/// Returns the outcome of the gate for a new file, and the number of blocking findings.
fn outcome(path: &str, text: &str) -> (Outcome, usize) {
    let verdict = judged(path, None, text);
    (verdict.runs[0].outcome, verdict.blocking().count())
}

#[test]
fn a_template_is_not_judged_as_what_becomes_of_it() {
    let unavailable = (Outcome::Unavailable, 0);
    for (path, text) in [
        ("chart/templates/service.yaml", CHART),
        ("deploy/service.yaml", CHART),
        ("a.yaml", "{% if a %}\na: 1\n{% endif %}\n"),
        ("a.yaml", "a: {{ .Values.a }}-x\n"),
        ("templates/a.yml", "name: {{ name }}-x\n"),
        ("{{cookiecutter.slug}}/a.yaml", "name: {{ cookiecutter.name }} x\n"),
        ("{{cookiecutter.slug}}/a.json", "{\"a\": {{ cookiecutter.number }}}\n"),
        ("a.json", "{\n{% if a %}\n\"a\": 1\n{% endif %}\n}\n"),
        ("a.toml", "[a]\nb = {{ .B }}\n{{- if .C }}\nc = 1\n{{- end }}\n"),
        ("{{cookiecutter.slug}}/a.py", "import {{ cookiecutter.slug }}.core\n"),
        ("a.py", "{% if a %}\nimport a\n{% endif %}\n"),
        ("a.go", "package a\n\n{{ range .Types }}\nfunc f() {}\n{{ end }}\n"),
    ] {
        assert_eq!(outcome(path, text), unavailable, "{path}\n{text}");
    }
    // Faults of the CSS grammar at the tags only warn.
    let css = "a {\n  {% if a %}\n  color: red;\n  {% endif %}\n}\n";
    assert_eq!(outcome("a.css", css), (Outcome::Found, 0));
    // An edit of a template is not judged either.
    let verdict = judged("a.yaml", Some("name: {{ a }}-x\n"), "name: {{ b }}-x\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Unavailable);
}

#[test]
fn a_fault_next_to_the_tags_of_a_template_is_found() {
    let found = (Outcome::Found, 1);
    for (path, text) in [
        // Ansible requires quotes around such a value.
        ("playbook.yaml", "- name: {{ user }}-x\n"),
        ("rules.yaml", "a: \"{{ $labels.a }}\"\nb: [1\n"),
        ("rules.yaml", "a: |\n  {{- range .Alerts }}\n  {{ end }}\nb: c: d\n"),
        (".github/workflows/a.yaml", "a: ${{ b }}\nc: [1\n"),
        ("a.json", "{{\"a\": 1}}\n"),
        ("a.json", "{\"a\": \"{{ .b }}\",}\n"),
        ("a.py", "t = '''\n{% if a %}\n{{ .b }}\n'''\nx = (\n"),
        ("templates/a.py", "t = '{{ a }}'\nx = (\n"),
    ] {
        assert_eq!(outcome(path, text), found, "{path}\n{text}");
    }
    for (path, text) in [
        ("a.yaml", "a: \"{{ $labels.a }}\"\nb: |\n  {{- if .x }}\n"),
        (".github/workflows/a.yaml", "a: ${{ b }}\n"),
        ("a.py", "t = '{% if %} {{ .a }}'\n"),
    ] {
        assert_eq!(outcome(path, text), (Outcome::Passed, 0), "{path}\n{text}");
    }
    let verdict = judged("a.yaml", Some("name: a\n"), "name: {{ b }}-x\n");
    assert_eq!(verdict.blocking().count(), 1, "it was YAML before");
}

#[test]
fn duplicate_keys_only_warn() {
    for (path, before, after) in [
        ("a.yaml", "a: 1\n", "a: 1\nb: 2\na: 3\n"),
        ("tsconfig.json", "{\"a\": 1}\n", "{\"a\": 1,\n // b\n \"a\": 2}\n"),
        ("a.json", "{\"a\": 1}\n", "{\"a\": 1,\n \"a\": 2}\n"),
    ] {
        let verdict = judged(path, Some(before), after);
        let [found] = &verdict.findings[..] else { panic!("{path}: {:?}", verdict.findings) };
        assert_eq!((found.severity, found.fresh, found.blocking), (Severity::Warning, true, false), "{path}");
        assert!(found.message.contains("duplicate key `a`"), "{}", found.message);
        let verdict = judged(path, Some(after), &format!("{after}\n"));
        assert!(verdict.findings.iter().all(|found| !found.fresh), "{path}: it stood there before");
        assert_eq!(judged(path, None, before).runs[0].outcome, Outcome::Passed, "{path}");
    }
}

#[test]
fn good_files_of_uncommon_sorts_pass() {
    for (path, text) in [
        ("template.yaml", "A: !Ref B\nC: !Sub\n  - a\n  - { b: !GetAtt c.d }\nE: !!binary aGk=\n"),
        ("mkdocs.yml", "x: !!python/name:material.emoji ''\ny: !ENV [A, b]\n"),
        ("a.yaml", "---\na: 1\n---\na: 2\n...\n"),
        ("a.yaml", "%YAML 1.2\n---\na: 1\n"),
        ("a.yaml", ""),
        ("a.yaml", "# nothing yet\n"),
        ("a.toml", ""),
        ("tsconfig.json", ""),
        ("tsconfig.base.json", "{\n  // a\n  \"a\": 1,\n}\n"),
        ("base.tsconfig.json", "{ /* a */ }\n"),
        ("appsettings.Development.json", "{ // a\n}\n"),
        ("a.d.ts", "declare module 'a' {\n  export const b: number;\n  export default b;\n}\n"),
        (
            "a.d.ts",
            "export declare function f(a?: string): asserts a is string;\ndeclare global { var x: number }\n",
        ),
        ("a.pyi", "def f(a: int = ...) -> str: ...\nclass A:\n    b: int\n    def c(self) -> None: ...\n"),
        ("a.ipynb", "{\"cells\": [{\"source\": [\"%matplotlib inline\\n\"]}], \"nbformat\": 4}\n"),
        (
            ".github/ISSUE_TEMPLATE/bug.yml",
            "name: Bug\nbody:\n  - type: markdown\n    attributes:\n      value: |\n        Thanks!\n",
        ),
        ("Cargo.toml", "[target.'cfg(unix)'.dependencies]\na = { version = \"1\", features = [\"b\"] }\n"),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.9\"\n[[tool.x]]\na.b = 1979-05-27\n"),
    ] {
        assert_eq!(outcome(path, text), (Outcome::Passed, 0), "{path}\n{text}");
    }
    let verdict = judged("a.json", None, "\n");
    assert_eq!((verdict.runs[0].outcome, verdict.blocking().count()), (Outcome::Found, 0), "still empty");
    assert_eq!(judged("a.json", None, "{").blocking().count(), 1, "the control");
    for path in ["a.vue", "a.svelte", "a.mdx", "a.json5", "a.yaml.j2", "a.tmpl"] {
        assert_eq!(outcome(path, "{{ a }} <b>"), (Outcome::Skipped, 0), "{path}");
    }
}
