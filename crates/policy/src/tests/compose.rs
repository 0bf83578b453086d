//! Policies that are laid over others, and what changes their version.

use super::*;

/// A policy in a folder, laid over another.
fn over(parent: &Policy, folder: &str, text: &str) -> Result<Policy, lockgate_error::Error> {
    let name = if folder.is_empty() { "quality.yaml".to_owned() } else { format!("{folder}/quality.yaml") };
    let origin = PolicyOrigin { name: name.clone(), in_root: name, folder: folder.to_owned() };
    PolicySource::read(origin, text)?.into_policy(parent)
}

fn child(parent: &str, text: &str) -> Policy {
    over(&read(parent), "sub", text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

const PARENT: &str = "quality_gates:\n  python: [{ tool: syntax, level: warn }]\n  go: [{ tool: syntax }]\nlimits: { file: 1KiB, lock_wait: 1s }\nbaseline: file\nmodes: { interactive: deny }\n";

#[test]
fn a_policy_that_extends_none_knows_nothing_of_the_one_above() {
    let policy = child(PARENT, "quality_gates: {}\n");
    assert_eq!(
        (policy.limits, policy.baseline, policy.demands),
        (Limits::default(), Baseline::New, Demands::default())
    );
    assert!(policy.effective_rules("sub/a.py", language_named("python"), Profile::Edit).rules.is_empty());
    assert_eq!(child(PARENT, "limits: { file: 1KiB }").limits.lock_wait, Limits::default().lock_wait);
}

#[test]
fn lists_replace_by_language_and_other_keys_one_by_one() {
    let policy = child(
        PARENT,
        "extends: parent\nquality_gates: { go: [{ tool: markdown-structure }] }\nlimits: { lock_wait: 2s }\nguards: { overwrite: required }\n",
    );
    assert_eq!(
        policy.effective_rules("sub/a.py", language_named("python"), Profile::Edit).rules[0].level,
        Level::Warn
    );
    assert_eq!(names(&policy, "sub/a.go", "go"), ["markdown-structure"]);
    assert_eq!((policy.limits.file, policy.limits.lock_wait.as_secs()), (1024, 2));
    let expected =
        Demands { interactive: Interactive::Deny, overwrite: Guard::Required, ..Demands::default() };
    assert_eq!((policy.baseline, policy.demands), (Baseline::File, expected));
    let same = child(PARENT, "extends: parent\nquality_gates: {}\n");
    assert_eq!(names(&same, "sub/a.go", "go"), ["syntax"], "no list is replaced");
}

#[test]
fn the_default_is_the_built_in_policy_whatever_is_above() {
    let policy = child(PARENT, "extends: default\nquality_gates: { go: [{ tool: syntax, level: warn }] }\n");
    assert_eq!(policy.limits, Limits::default());
    assert_eq!(names(&policy, "sub/a.md", "markdown"), ["markdown-structure", "damage", "syntax"]);
    assert_eq!(
        policy.effective_rules("sub/a.go", language_named("go"), Profile::Edit).rules[0].level,
        Level::Warn
    );
}

#[test]
fn paths_of_the_child_come_last_and_each_is_relative_to_its_own_folder() {
    let policy = child(
        "paths: [{ match: '/gen/**', access: read }, { match: 'sub/lib/**', access: read }, { match: '*.x', gates: [] }]\n",
        "extends: parent\npaths: [{ match: '/lib/own/**', access: write }, { match: '/gen/**', access: read }]\n",
    );
    let by =
        |path: &str| policy.protection(path).map(|found| (found.policy.to_owned(), found.pattern.to_owned()));
    assert_eq!(by("gen/a"), Some(("quality.yaml".into(), "/gen/**".into())));
    assert_eq!(by("sub/gen/a"), Some(("sub/quality.yaml".into(), "/gen/**".into())));
    assert_eq!(by("sub/lib/a"), Some(("quality.yaml".into(), "sub/lib/**".into())));
    assert_eq!((by("sub/lib/own/a"), by("lib/own/a"), by("subs/gen/a")), (None, None, None));
    assert!(names(&policy, "sub/a.x", "markdown").is_empty());
}

#[test]
fn publishing_is_laid_over_key_by_key_and_what_no_journal_keeps_is_added() {
    let parent = "durability: process\nhard_links: split\nnever_journal: ['/a', 'sub/b']\n";
    let policy = child(parent, "extends: parent\nhard_links: in_place\nnever_journal: ['/c']\n");
    let expected = Publishing { durability: Durability::Process, hard_links: HardLinks::InPlace };
    assert_eq!(policy.publishing, expected);
    for (path, journals) in [("a", false), ("sub/b", false), ("sub/c", false), ("c", true), ("sub/a", true)] {
        assert_eq!(policy.journals(path), journals, "{path}");
    }
    let alone = child(parent, "never_journal: ['/c']\n");
    assert_eq!(alone.publishing, Publishing::default());
    assert!(alone.journals("sub/b") && !alone.journals("sub/c") && !alone.journals("sub/x.pem"));
}

#[test]
fn definitions_merge_by_name() {
    let define = |pattern: &str| {
        format!(
            "define: {{ own: {{ kind: pattern, languages: [go], must_match: {pattern}, message: m }} }}\n"
        )
    };
    let parent = define("a")
        + "quality_gates: { go: [{ tool: own, level: warn }] }\npaths: [{ match: x, gates: [own] }]\n";
    let used = |policy: &Policy| -> Vec<(Level, lockgate_text::Version)> {
        let rules = policy.effective_rules("sub/a.go", language_named("go"), Profile::Edit).rules.into_iter();
        let rules = rules.chain(policy.effective_rules("x", None, Profile::Edit).rules);
        rules.map(|rule| (rule.level, rule.gate.version)).collect()
    };
    let unchanged = child(&parent, "extends: parent\nquality_gates: { rust: [{ tool: own }] }\n");
    assert_eq!(used(&unchanged), used(&read(&parent)));
    let anew = child(&parent, &(String::from("extends: parent\n") + &define("b")));
    assert_eq!(names(&anew, "sub/a.go", "go"), ["own"]);
    let versions = used(&anew);
    assert!(
        versions.iter().zip(used(&unchanged)).all(|(new, old)| new.0 == old.0 && new.1 != old.1),
        "{versions:?}"
    );
    let other = over(&read(&parent), "sub", "quality_gates: { go: [{ tool: own }] }").unwrap_err();
    assert!(other.message.starts_with("sub/quality.yaml:1:31: unknown tool `own`"), "{}", other.message);
}

#[test]
fn a_new_definition_must_bear_the_options_of_the_lists() {
    let parent =
        with_commands("quality_gates: { python: [{ tool: lint, args: [-x] }, { tool: form, role: fix }] }\n");
    let refused = |name: &str| {
        let text = format!(
            "extends: parent\ndefine:\n  {name}: {{ kind: pattern, languages: [go], must_match: a, message: m }}\n"
        );
        over(&read(&parent), "sub", &text).unwrap_err().message
    };
    assert!(refused("lint").contains(
        "sub/quality.yaml:3:3: `lint` is redefined here, and cannot keep `args` in a list that is extended"
    ));
    assert!(refused("form").contains("`form` is redefined here, and cannot keep `role: fix`"));
    read(&parent);
}

#[test]
fn what_extends_says_is_known_before_the_rest_is_understood() {
    let extends =
        |text: &str| PolicySource::read(PolicyOrigin::top("q.yaml"), text).map(|source| source.extends());
    assert_eq!(extends("extends: parent\nlimits: 5\n").unwrap(), Extends::Parent);
    assert_eq!(extends("extends: default\n").unwrap(), Extends::Default);
    for text in ["", "limits: {}", "[1]", "a"] {
        assert_eq!(extends(text).unwrap(), Extends::Nothing, "{text}");
    }
    assert!(
        extends("extends: [parent]")
            .unwrap_err()
            .message
            .contains("1:10: `extends` must be one of `parent`, `default`, not a list")
    );
}

#[test]
fn the_version_changes_with_every_text_and_name_and_definition() {
    let (parent, text) = ("limits: { file: 1KiB }\n", "extends: parent\nlimits: { total: 1s }\n");
    let policy = child(parent, text);
    let version = policy.version;
    assert_eq!(child(parent, text).version, version);
    assert_ne!(child("limits: { file: 1KiB } # other\n", text).version, version, "the parent's text");
    assert_ne!(child(parent, &format!("{text}# other\n")).version, version, "the child's text");
    assert_ne!(over(&read(parent), "other", text).unwrap().version, version, "the child's name");
    assert_ne!(child(parent, "limits: { total: 1s }\n").version, version);
    let alone = |parent: &str| child(parent, "quality_gates: {}\n").version;
    assert_eq!(
        alone("limits: { file: 1KiB }"),
        alone("limits: { file: 2KiB }"),
        "what is not included changes nothing"
    );
    let elsewhere = PolicyOrigin {
        name: "/somewhere/else/sub/quality.yaml".into(),
        in_root: "sub/quality.yaml".into(),
        folder: "sub".into(),
    };
    let renamed = PolicySource::read(elsewhere, text).unwrap().into_policy(&read(parent)).unwrap();
    assert_eq!(renamed.version, version, "how the file is told says nothing");
}

#[test]
fn the_version_of_a_definition_is_that_of_its_content() {
    let version = |definition: &str| {
        let text = format!(
            "# {}\ndefine:\n  own: {definition}\nquality_gates: {{ go: [{{ tool: own }}] }}\n",
            definition.len()
        );
        read(&text).effective_rules("a.go", language_named("go"), Profile::Edit).rules[0].gate.version
    };
    let plain = "{ kind: pattern, languages: [go], must_match: a, message: m }";
    let laid_out = "\n    kind: pattern\n    languages: [go]\n    must_match: 'a'\n    message: m";
    assert_eq!(version(plain), version(laid_out));
    for other in [
        "{ kind: pattern, languages: [go], must_match: b, message: m }",
        "{ kind: pattern, languages: [go], must_not_match: a, message: m }",
        "{ kind: pattern, languages: [go, rust], must_match: a, message: m }",
        "{ kind: pattern, languages: [go], must_match: a, message: m, timeout: 5s }",
    ] {
        assert_ne!(version(plain), version(other), "{other}");
    }
}
