//! Lists of gates, definitions, and rules for paths.

use std::time::Duration;

use super::*;

#[test]
fn the_embedded_policy_judges_markdown_and_code() {
    let policy = Policy::embedded();
    assert_eq!(policy.limits, Limits::default());
    assert_eq!(names(&policy, "a.md", "markdown"), ["markdown-structure", "damage", "syntax"]);
    assert_eq!(names(&policy, "a.py", "python"), ["damage", "syntax"]);
    let terms = policy.effective_rules("a", None, Profile::Edit);
    assert!(terms.rules.iter().all(|rule| rule.level == Level::Block && rule.enabled));
}

#[test]
fn an_entry_says_what_becomes_of_its_gate() {
    let policy = read(&with_commands(
        "quality_gates:\n  python:\n    - { tool: lint, enabled: false, level: warn, fail_on: info, on: [check], args: [-x, a b], timeout: 7s, required: true }\n    - { tool: form, role: fix }\n",
    ));
    let terms = policy.effective_rules("a.py", language_named("python"), Profile::Edit);
    let [lint, form] = terms.rules[..] else { panic!("two rules") };
    assert_eq!(
        (lint.enabled, lint.level, lint.fail_on, lint.required),
        (false, Level::Warn, Severity::Info, true)
    );
    assert_eq!(
        (lint.profiles, &lint.args[..]),
        (Profiles { edit: false, check: true }, &["-x".to_owned(), "a b".to_owned()][..])
    );
    assert_eq!((lint.timeout, lint.role), (Duration::from_secs(7), Role::Check));
    assert_eq!(
        (form.role, form.profiles, form.timeout),
        (Role::Fix, Profiles::default(), Duration::from_secs(5))
    );
}

#[test]
fn the_short_form_is_enough() {
    let policy = read("quality_gates:\n  python:\n    - tool: syntax\n      enabled: true\n");
    assert_eq!(names(&policy, "a.py", "python"), ["syntax"]);
    assert!(policy.effective_rules("a.go", language_named("go"), Profile::Edit).rules.is_empty());
}

#[test]
fn options_that_a_gate_could_not_keep_are_refused() {
    let entry = |options: &str| with_commands(&format!("quality_gates: {{ python: [{{ {options} }}] }}\n"));
    refused(&entry("tool: syntax, args: [-x]"), "4:49: `syntax` runs no program, so `args` have no effect");
    refused(
        &entry("tool: syntax, role: fix"),
        "`syntax` returns no formatted text, so `check` is its only role",
    );
    refused(&entry("tool: lint, role: fix"), "`lint` returns no formatted text");
    refused(&entry("tool: form, role: check, scope: file"), "`scope` has no effect with `role: check`");
    refused(
        &entry("tool: lint, on: []"),
        "`on` is empty: name `edit`, `check` or both, or set `enabled: false`",
    );
    refused(
        &entry("tool: lint, on: [chekc]"),
        "unknown profile `chekc`, did you mean `check`? (known: edit, check)",
    );
    refused(&entry("tool: lint, on: check"), "`on` must be a list");
    refused(&entry("tool: lint, timeout: 0"), "`timeout` must be at least 1ms");
    refused(&entry("tool: lint, args: [\"a\\0\"]"), "`args` holds a NUL");
    refused(&entry("tool: lint, args: [1]"), "`args` must be a text, not the number 1");
    read(&entry("tool: syntax, role: check"));
    read(&entry("tool: form, args: [-x], role: fix, on: [edit, check]"));
}

#[test]
fn gates_of_the_language_come_first_and_replace_those_of_every_language() {
    let policy = read(
        "quality_gates:\n  '*': [{ tool: syntax }, { tool: markdown-structure }]\n  markdown: [{ tool: markdown-structure, level: warn }]\n",
    );
    assert_eq!(names(&policy, "a.md", "markdown"), ["markdown-structure", "syntax"]);
    assert_eq!(
        policy.effective_rules("a.md", language_named("markdown"), Profile::Edit).rules[0].level,
        Level::Warn
    );
    assert_eq!(names(&policy, "a.go", "go"), ["syntax", "markdown-structure"]);
}

#[test]
fn lists_are_neither_empty_nor_double() {
    refused(
        "quality_gates:\n  python: []\n",
        "quality.yaml:2:3: `python` has no gates: name one, or leave `python` out (`quality_gates: {}` means no gates at all)\n 2 |   python: []\n   |   ^",
    );
    refused("quality_gates:\n  python:\n", ":2:3: `python` has no gates");
    refused("quality_gates:\n", ":1:14: `quality_gates` is empty: write `quality_gates: {}`");
    refused(
        "quality_gates:\n  go:\n    - tool: syntax\n    - tool: syntax\n",
        "quality.yaml:4:13: tool `syntax` is already in this list, on line 3\n 4 |     - tool: syntax\n   |             ^",
    );
    refused("quality_gates: { go: [{ level: warn }] }", "1:23: the key `tool` is missing");
}

#[test]
fn unknown_languages_are_refused_and_extensions_are_understood() {
    for (name, expected) in [
        ("pyhton", "quality.yaml:2:3: unknown language `pyhton`, did you mean `python`?"),
        ("py", "unknown language `py`, did you mean `python`?"),
        ("Rust", "unknown language `Rust`, did you mean `rust`?"),
        ("sh", "unknown language `sh`, did you mean `bash`?"),
        ("cobol", "unknown language `cobol` (known: "),
    ] {
        refused(&format!("quality_gates:\n  {name}: [{{ tool: syntax }}]\n"), expected);
    }
}

#[test]
fn a_policy_defines_gates_of_its_own() {
    let policy = read(
        "define:\n  licence: { kind: pattern, languages: ['*'], must_match: '^// SPDX-', message: no SPDX line }\nquality_gates: { go: [{ tool: licence, level: warn }] }\n",
    );
    assert_eq!(names(&policy, "a.go", "go"), ["licence"]);
    assert_eq!(
        policy.effective_rules("a.go", language_named("go"), Profile::Edit).rules[0].level,
        Level::Warn
    );
    let licence = "kind: pattern, languages: [go], must_match: a, message: m";
    for (text, expected) in [
        (format!("define: {{ syntax: {{ {licence} }} }}"), "1:11: `syntax` is a gate of the catalogue: choose another name"),
        (format!("define: {{ My gate: {{ {licence} }} }}"), "1:11: `My gate` is not a gate name: at most 64 lower-case letters"),
        (format!("define: {{ -x: {{ {licence} }} }}"), "1:11: `-x` is not a gate name"),
        (format!("define: {{ {}: {{ {licence} }} }}", "x".repeat(65)), "at most 64"),
        ("define: { x: { kind: pattern } }".to_owned(), "1:22: a pattern gate needs"),
        ("define: { x: { kind: patern } }".to_owned(), "unknown kind `patern`, did you mean `pattern`?"),
        ("define: { x: { languages: [go] } }".to_owned(), "the key `kind` is missing"),
        (format!("define: {{ x: {{ {licence} }} }}\nquality_gates: {{ go: [{{ tool: y }}] }}"), "2:31: unknown tool `y`"),
        (format!("define: {{ licence: {{ {licence} }} }}\nquality_gates: {{ go: [{{ tool: licens }}] }}"), "did you mean `licence`? (known: licence, "),
        ("define: { x: { kind: command, languages: [go], input: stdin, command: [x], output: { text: exit, message: m }, role: fix } }".to_owned(), "`role: fix` needs `output: { text: formatted }`"),
    ] {
        refused(&text, expected);
    }
    read(&format!("define: {{ {}: {{ {licence} }} }}", "x".repeat(64)));
}

#[test]
fn a_path_can_be_read_only_and_the_last_entry_that_speaks_of_it_counts() {
    let policy = read(
        "paths:\n  - { match: 'vendor/**', access: read }\n  - { match: 'vendor/own/**', access: write }\n  - { match: '*.lock', access: read }\n  - { match: '*.lock', gates: [] }\n",
    );
    let by =
        |path: &str| policy.protection(path).map(|found| (found.policy.to_owned(), found.pattern.to_owned()));
    let read = |pattern: &str| Some(("quality.yaml".to_owned(), pattern.to_owned()));
    assert_eq!(by("vendor/a.py"), read("vendor/**"));
    assert_eq!(by("vendor/own/a.py"), None);
    assert_eq!(by("vendor/own/a.lock"), read("*.lock"));
    assert_eq!((by("a.lock"), by("src/vendor/a.py"), by("vendors/a")), (read("*.lock"), None, None));
}

#[test]
fn the_gates_of_a_path_are_those_of_its_last_entry_that_names_some() {
    let policy = read(&with_commands(
        "quality_gates:\n  python: [{ tool: lint, level: warn }, { tool: form }]\n  '*': [{ tool: syntax, level: warn }]\npaths:\n  \
         - { match: 'migrations/*.py', gates: [markdown-structure, syntax, lint] }\n  - { match: 'migrations/old_*', gates: [form] }\n  \
         - { match: 'migrations/old_gen*', access: read }\n  - { match: 'migrations/none.py', gates: [] }\n",
    ));
    assert_eq!(names(&policy, "a.py", "python"), ["lint", "form", "syntax"]);
    assert_eq!(names(&policy, "migrations/a.py", "python"), ["markdown-structure", "syntax", "lint"]);
    assert_eq!(names(&policy, "migrations/old_gen.py", "python"), ["form"]);
    assert_eq!(names(&policy, "migrations/none.py", "python"), Vec::<String>::new());
    let terms = policy.effective_rules("migrations/a.py", language_named("python"), Profile::Edit);
    let levels: Vec<Level> = terms.rules.iter().map(|rule| rule.level).collect();
    assert_eq!(levels, [Level::Block, Level::Warn, Level::Warn], "listed ones keep their options");
    let other = policy.effective_rules("migrations/a.py", language_named("go"), Profile::Edit);
    assert_eq!(other.rules[2].level, Level::Block, "the list of another language says nothing");
}

#[test]
fn entries_of_paths_say_something_that_can_be_understood() {
    for (entry, expected) in [
        ("{ match: a }", "1:9: an entry of `paths` has no effect without `access` or `gates`"),
        ("{ access: read }", "1:9: the key `match` is missing"),
        ("{ match: '[', access: read }", "1:18: `match` is not a pattern: unclosed character class"),
        ("{ match: '!a', access: read }", "`match` is not a pattern: `!` negates"),
        (
            "{ match: a, access: reed }",
            "1:29: unknown access `reed`, did you mean `read`? (known: read, write, deny)",
        ),
        ("{ match: a, gates: [sintax] }", "1:29: unknown tool `sintax`, did you mean `syntax`?"),
        ("{ match: a, gates: [syntax, syntax] }", "1:37: duplicate tool `syntax`"),
        ("{ match: a, gates: syntax }", "`gates` must be a list"),
        ("{ match: a, tools: [syntax] }", "unknown key `tools`"),
    ] {
        refused(&format!("paths: [{entry}]"), expected);
    }
    let many = |count: usize| format!("paths: [{}]", "{match: a, access: read},".repeat(count));
    read(&many(1000));
    refused(&many(1001), "`paths` has more than 1000 entries");
}

#[test]
fn commands_are_listed_once_for_each_gate() {
    let policy = read(&with_commands(
        "quality_gates:\n  python: [{ tool: syntax }, { tool: form, enabled: false }]\n  go: [{ tool: lint, args: [-a] }]\n  rust: [{ tool: lint }]\npaths: [{ match: a, gates: [syntax] }]\n",
    ));
    let gate_names =
        |policy: &Policy| policy.commands().map(|rule| rule.gate.name.clone()).collect::<Vec<_>>();
    assert_eq!(gate_names(&policy), ["lint"]);
    assert_eq!(gate_names(&read(&with_commands("paths: [{ match: a, gates: [form] }]\n"))), ["form"]);
    assert!(gate_names(&read("")).is_empty());
}

#[test]
fn a_list_of_programs_without_syntax_has_it_as_a_fallback() {
    let fallback = |text: &str, path: &str| {
        let policy = read(&with_commands(text));
        let rules = policy.effective_rules(path, language_named("python"), Profile::Edit);
        let fallback = rules.fallback.as_ref()?;
        Some((fallback.programs.join(" "), fallback.rule.level))
    };
    let of = |programs: &str, level| Some((programs.to_owned(), level));
    for (lists, path, expected) in [
        ("python: [{ tool: lint }, { tool: form }]", "a.py", of("lint form", Level::Block)),
        ("python: [{ tool: lint }], '*': [{ tool: damage }]", "a.py", of("lint", Level::Block)),
        ("python: [{ tool: lint }, { tool: syntax }]", "a.py", None),
        ("python: [{ tool: lint }, { tool: syntax, enabled: false }]", "a.py", None),
        ("python: [{ tool: lint }], '*': [{ tool: syntax, level: warn }]", "a.py", None),
        ("python: [{ tool: damage }]", "a.py", None),
        ("python: [{ tool: lint, enabled: false }]", "a.py", None),
        ("python: [{ tool: lint, on: [check] }]", "a.py", None),
        ("python: [{ tool: gofmt }]", "a.py", None),
        ("python: [{ tool: lint, enabled: false }, { tool: form }]", "a.py", of("form", Level::Block)),
        ("python: [{ tool: lint, level: warn }]", "a.py", of("lint", Level::Warn)),
        ("python: [{ tool: lint, level: warn }, { tool: form }]", "a.py", of("lint form", Level::Block)),
        ("'*': [{ tool: lint }]", "a.py", None),
        ("go: [{ tool: gofmt }]", "a.py", None),
        ("python: [{ tool: lint }]", "b/a.py", None),
        ("python: [{ tool: lint }]", "c/a.py", None),
    ] {
        let paths = "[{ match: 'b/*', gates: [form] }, { match: 'c/*', gates: [] }]";
        let text = format!("quality_gates: {{ {lists} }}\npaths: {paths}\n");
        assert_eq!(fallback(&text, path), expected, "{lists} {path}");
    }
}
