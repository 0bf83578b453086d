//! The table of keys is what the reader knows.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Explicit, Rule};

/// The table of the keys below a path such as `limits`.
fn settings_of(key: &str) -> &'static [Setting] {
    let found = settings().iter().find(|setting| setting.name == key).unwrap();
    match &found.shape {
        ValueShape::Map(tables) => tables.first().copied().unwrap_or_default(),
        ValueShape::List(ValueShape::Map(tables), _)
        | ValueShape::ByLanguage(ValueShape::List(ValueShape::Map(tables), _)) => tables[0],
        other => panic!("{key} is no map: {other:?}"),
    }
}

#[test]
fn every_default_is_what_holds_without_the_key() {
    let plain = format!("{:?}", read("").effective_rules("a.md", language_named("markdown"), Profile::Edit));
    for setting in settings() {
        let Absent::Is(default) = setting.absent else { continue };
        let policy = read(&format!("{}: {default}\n", setting.name));
        assert_eq!(
            (policy.limits, policy.demands, policy.baseline),
            (Limits::default(), Demands::default(), Baseline::New)
        );
        assert_eq!(
            format!("{:?}", policy.effective_rules("a.md", language_named("markdown"), Profile::Edit)),
            plain,
            "{}",
            setting.name
        );
    }
    for key in ["limits", "modes", "guards", "server", "damage"] {
        for setting in settings_of(key) {
            let Absent::Is(default) = setting.absent else {
                assert_eq!(setting.name, "queue_wait", "only this one follows another key");
                continue;
            };
            let policy = read(&format!("{key}: {{ {}: {default} }}\n", setting.name));
            let mut limits = Limits::default();
            if setting.name == "lock_wait" {
                limits.queue_wait = limits.lock_wait;
            }
            assert_eq!(
                (policy.limits, policy.demands),
                (limits, Demands::default()),
                "{key}.{}",
                setting.name
            );
        }
    }
}

#[test]
fn every_default_of_an_entry_is_that_of_a_plain_one() {
    let entry = |options: &str| {
        let policy =
            read(&with_commands(&format!("quality_gates: {{ python: [{{ tool: form{options} }}] }}\n")));
        let rules = policy.effective_rules("a.py", language_named("python"), Profile::Edit).rules;
        // That it stands in the policy is all that tells a default that is written down from one that is not.
        let plain = |rule: &Rule| Rule { explicit: Explicit::default(), ..rule.clone() };
        format!("{:?}", rules.into_iter().map(plain).collect::<Vec<_>>())
    };
    let plain = entry("");
    for setting in settings_of("quality_gates") {
        if let Absent::Is(default) = setting.absent {
            assert_eq!(entry(&format!(", {}: {default}", setting.name)), plain, "{}", setting.name);
        }
    }
    assert_ne!(entry(", level: warn"), plain);
}

#[test]
fn every_word_of_the_table_is_read_and_no_other() {
    for key in ["", "modes", "guards", "damage"] {
        for setting in if key.is_empty() { settings() } else { settings_of(key) } {
            let ValueShape::Words(words) = setting.shape else { continue };
            let with_word = |word: &str| match key {
                "" => format!("{}: {word}\n", setting.name),
                key => format!("{key}: {{ {}: {word} }}\n", setting.name),
            };
            words.iter().for_each(|word| drop(read(&with_word(word))));
            refused(&with_word("never-a-word"), "unknown ");
        }
    }
}

/// Adds each key with a range of numbers: its path, a value above the range, and the range.
fn add_ranges(path: &str, shape: &'static ValueShape, found: &mut BTreeMap<String, (String, &'static str)>) {
    match shape {
        ValueShape::Whole(range) | ValueShape::Size(range) => {
            found.insert(path.to_owned(), (format!("{}", range.max + 1), range.description));
        }
        ValueShape::Duration(range) | ValueShape::Age(range) => {
            found.insert(path.to_owned(), (format!("{}ms", range.max + 1), range.description));
        }
        ValueShape::List(item, _) | ValueShape::ByLanguage(item) | ValueShape::ByName(_, item) => {
            add_ranges(path, item, found);
        }
        ValueShape::Map(tables) => tables
            .iter()
            .copied()
            .flatten()
            .for_each(|setting| add_ranges(&format!("{path}.{}", setting.name), &setting.shape, found)),
        ValueShape::Either(shapes) => shapes.iter().for_each(|shape| add_ranges(path, shape, found)),
        ValueShape::Words(_)
        | ValueShape::Flag
        | ValueShape::Text
        | ValueShape::Regex
        | ValueShape::Glob
        | ValueShape::Tool
        | ValueShape::Language => {}
    }
}

#[test]
fn every_number_is_read_with_the_range_of_its_row() {
    let lint = "kind: command, languages: [python], input: stdin, command: [lint], output: { text: exit }";
    let server = "kind: server, languages: [python], server: { command: [lint], memory: VALUE }";
    let token = "{ name: a, hash: 'blake3:ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff', roots: [/p] }";
    let mut texts = vec![
        ("hooks.deadline".to_owned(), "hooks: { deadline: VALUE }".to_owned()),
        (
            "quality_gates.timeout".to_owned(),
            "quality_gates: { python: [{ tool: syntax, timeout: VALUE }] }".to_owned(),
        ),
        ("define.server.memory".to_owned(), format!("define: {{ own: {{ {server} }} }}")),
    ];
    for (key, options) in [
        ("timeout", "timeout: VALUE"),
        ("ran", "ran: [VALUE]"),
        ("samples.exit", "samples: [{ path: a, draft: a, exit: VALUE }]"),
        ("samples.finds.line", "samples: [{ path: a, draft: a, finds: [{ line: VALUE }] }]"),
        ("samples.finds.column", "samples: [{ path: a, draft: a, finds: [{ line: 1, column: VALUE }] }]"),
    ] {
        texts.push((format!("define.{key}"), format!("define: {{ own: {{ {lint}, {options} }} }}")));
    }
    for key in ["file", "lock_wait", "queue_wait", "total", "regex_steps", "journal", "journal_age"] {
        texts.push((format!("limits.{key}"), format!("limits: {{ {key}: VALUE }}")));
    }
    for key in [
        "body",
        "headers_within",
        "body_within",
        "read_within",
        "idle",
        "connections",
        "requests",
        "sessions",
        "session_idle",
    ] {
        texts.push((format!("serve.limits.{key}"), format!("tokens: [{token}]\nlimits: {{ {key}: VALUE }}")));
    }
    let mut found = BTreeMap::new();
    for setting in settings() {
        add_ranges(setting.name, &setting.shape, &mut found);
    }
    for setting in Serving::settings() {
        add_ranges(&format!("serve.{}", setting.name), &setting.shape, &mut found);
    }
    for (path, text) in texts {
        let (value, range) = found.remove(&path).unwrap_or_else(|| panic!("{path} has no range"));
        let text = text.replace("VALUE", &value);
        let parsed = match path.starts_with("serve.") {
            true => Serving::parse("q.yaml", &text).map(|_| ()),
            false => Policy::parse("q.yaml", &text).map(|_| ()),
        };
        let message = parsed.expect_err(&text).message;
        assert!(message.contains(&format!(" must be {range}")), "{text}\n{message}");
    }
    assert!(found.is_empty(), "without a text: {found:?}");
}

proptest! {
    #[test]
    fn random_yaml_of_known_words_gives_a_policy_or_a_rejection(text in yaml()) {
        if let Err(error) = Policy::parse("q.yaml", &text) {
            prop_assert_eq!(error.code, Code::PolicyInvalid);
            prop_assert!(error.message.starts_with("q.yaml:"), "{}", error.message);
        }
    }

    #[test]
    fn random_patterns_are_read_or_refused_and_find_without_a_panic(pattern in r"[\[\]{}!#*?./\\ a-cÄ-]{0,12}", path in "[a-c./Ä ]{0,12}") {
        let pattern = pattern.replace('\\', "\\\\");
        if let Ok(policy) = Policy::parse("q.yaml", &format!("paths: [{{ match: \"{pattern}\", access: read }}]")) {
            let _ = policy.protection(&path);
        }
    }
}

/// Values that may or may not fit where they stand.
const VALUES: &str = "syntax own python '*' read required deny 1s 10MiB 30d true 0 -1 ~ x '[a' '*.py' [] {} parent \
    default never off edit command pattern stdin";

/// Keys of a policy, at any level of it.
const KEYS: &str = "quality_gates define extends baseline paths limits modes guards validate_commands server damage \
    confirm runnable never_journal entities owner language global app tool match access gates file total regex_steps interactive line_edits tools own kind \
    languages command input output text message must_match python '*' level on args timeout";

/// YAML of the keys of a policy, each with a value that may or may not fit it.
fn yaml() -> impl Strategy<Value = String> {
    let one_of = |words: &'static str| prop::sample::select(words.split_whitespace().collect::<Vec<_>>());
    one_of(VALUES).prop_map(str::to_owned).prop_recursive(4, 40, 6, move |inner| {
        let entry = (one_of(KEYS), inner.clone()).prop_map(|(key, value)| format!("{key}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(entry, 0..6).prop_map(|entries| format!("{{ {} }}", entries.join(", "))),
        ]
    })
}
