//! Values, words and types.

use std::time::Duration;

use super::*;

#[test]
fn what_is_left_out_is_the_default() {
    for text in ["", "# nothing\n", "---\n", "limits: {}\n", "\u{feff}limits: {}\r\n", "{}"] {
        let policy = read(text);
        assert_eq!(
            names(&policy, "a.md", "markdown"),
            ["markdown-structure", "damage", "syntax"],
            "{text:?}"
        );
        assert_eq!((policy.limits, policy.demands), (Limits::default(), Demands::default()), "{text:?}");
        assert_eq!((policy.baseline, &policy.toolsets), (Baseline::New, &None), "{text:?}");
        assert_eq!(policy.protection("a.md"), None);
    }
    assert!(
        read("quality_gates: {}\n")
            .effective_rules("a.md", language_named("markdown"), Profile::Edit)
            .rules
            .is_empty()
    );
}

#[test]
fn every_limit_takes_effect() {
    let limits = read("limits: { file: 2KiB, lock_wait: 10ms, queue_wait: 3s, total: 3m, regex_steps: 1000, journal: 1GiB, journal_age: 12h }").limits;
    let expected = Limits {
        file: 2048,
        lock_wait: Duration::from_millis(10),
        queue_wait: Duration::from_secs(3),
        total: Duration::from_secs(180),
        regex_steps: 1000,
        journal: 1 << 30,
        journal_age: Duration::from_secs(12 * 60 * 60),
    };
    assert_eq!(limits, expected);
    assert_eq!(
        read("limits: { total: 3m }").effective_rules("a", None, Profile::Edit).total,
        Duration::from_secs(180)
    );
    let largest =
        read("limits: { file: 4294967295, lock_wait: 0, total: 60m, regex_steps: 1000000000 }").limits;
    assert_eq!((largest.file, largest.lock_wait), (u64::from(u32::MAX), Duration::ZERO));
    assert_eq!(largest.queue_wait, Duration::ZERO, "the one wait that is set is meant for both");
    let longest = read("limits: { queue_wait: 60m }").limits;
    assert_eq!((longest.queue_wait.as_secs(), longest.lock_wait.as_secs()), (3600, 20));
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (value, expected) in [
        ("file: true", "1:17: `file` must be a whole number of bytes"),
        ("file: 0", "1:17: `file` must be at least 1 byte"),
        ("file: 4GiB", "1:17: `file` must be at least 1 byte and less than 4GiB"),
        ("file: 4294967296", "less than 4GiB"),
        ("file: 99999999999999999999999", "not the number 1"),
        ("file: 1e6", "or no unit, as in `10MiB`, not the number 1000000.0: write `1000000`"),
        (
            "regex_steps: 1e6",
            "`regex_steps` must be a whole number, not the number 1000000.0: write `1000000`",
        ),
        ("regex_steps: 1000.5", "`regex_steps` must be a whole number, not the number 1000.5\n"),
        ("file: 1.5MiB", "not the text `1.5MiB`"),
        ("lock_wait: 20", "1:22: `lock_wait` needs a unit, as in `20s` or `20ms`"),
        ("lock_wait: 61m", "1:22: `lock_wait` must be at most 60m"),
        ("lock_wait: 1h", "must be a whole number with ms, s or m, as in `20s`, not the text `1h`"),
        ("total: 0", "1:18: `total` must be at least 1ms and at most 60m"),
        ("total: 61m", "at most 60m"),
        ("regex_steps: 999", "1:24: `regex_steps` must be from 1000 to 1000000000"),
        ("regex_steps: 1000000001", "from 1000 to"),
        ("regex_steps: 5s", "`regex_steps` must be a whole number, not the text `5s`"),
        ("journal: 1025GiB", "`journal` must be at most 1024GiB"),
        ("journal_age: 1w", "with ms, s, m, h or d, as in `20s`, not the text `1w`"),
        ("journal_age: 4000d", "`journal_age` must be at most 3650d"),
    ] {
        refused(&format!("limits: {{ {value} }}"), expected);
    }
}

#[test]
fn unknown_words_are_refused_with_the_word_that_was_meant() {
    for (text, expected) in [
        (
            "quality_gates: {}\nlimit: {}\n",
            "quality.yaml:2:1: unknown key `limit`, did you mean `limits`? (known: extends, quality_gates, ",
        ),
        (
            "quality_gates:\n  python:\n    - tool: sintax\n",
            "quality.yaml:3:13: unknown tool `sintax`, did you mean `syntax`? (known: actionlint, ",
        ),
        (
            "quality_gates:\n  python:\n    - tool: qqq\n      levle: warn\n",
            "4:7: unknown key `levle`, did you mean `level`? (known: tool, enabled, level, fail_on, on, args, timeout, required, role, scope)\n 4 |       levle: warn\n   |       ^",
        ),
        (
            "quality_gates: { python: [{ tool: syntax, level: error }] }\n",
            "1:50: unknown level `error` (known: block, warn)\n 1 | quality_gates: { python: [{ tool: syntax, level: error }] }\n   |                                                  ^",
        ),
        (
            "baseline: edited",
            "1:11: unknown baseline `edited`, did you mean `edited_lines`? (known: new, edited_lines, file, all)",
        ),
        (
            "extends: parents",
            "1:10: unknown extends `parents`, did you mean `parent`? (known: parent, default)",
        ),
        (
            "modes: { interactive: dney }",
            "1:23: unknown interactive `dney`, did you mean `deny`? (known: allow, deny)",
        ),
        ("modes: { strict: deny }", "1:10: unknown key `strict` (known: interactive)"),
        ("guards: { line_edits: yes }", "1:23: unknown line_edits `yes` (known: optional, required)"),
        (
            "server: { tools: [edti] }",
            "1:19: unknown tools `edti`, did you mean `edit`? (known: edit, look, text, code, ai, content, history,",
        ),
        ("damage: { qqq: off }", "1:11: unknown key `qqq` (known: line_prefixes, "),
    ] {
        refused(text, expected);
    }
}

#[test]
fn a_long_list_of_known_words_is_cut() {
    let names: Vec<String> = (0..45).map(|number| format!("gate-{number}")).collect();
    let defined: String = names
        .iter()
        .map(|name| format!("  {name}: {{ kind: pattern, languages: [go], must_match: a, message: m }}\n"))
        .collect();
    let text = format!("define:\n{defined}quality_gates: {{ go: [{{ tool: gate-99 }}] }}\n");
    refused(&text, "unknown tool `gate-99`, did you mean `gate-9`? (known: gate-0, gate-1, ");
    refused(&text, "gate-19 and ");
}

#[test]
fn values_of_a_wrong_type_are_named() {
    for (text, expected) in [
        ("[1]", "1:1: the policy must be a map, not a list"),
        ("quality_gates: yes", "1:16: `quality_gates` must be a map, not the text `yes`"),
        ("quality_gates: { go: syntax }", "1:22: `go` must be a list, not the text `syntax`"),
        ("quality_gates: { go: [syntax] }", "1:23: a gate must be a map, not the text `syntax`"),
        ("quality_gates: { go: [gofmtt] }", "not the text `gofmtt`: write `{ tool: gofmt }`"),
        ("quality_gates: { go: [gofmt] }", "not the text `gofmt`: write `{ tool: gofmt }`"),
        ("quality_gates: { go: [what-is-this] }", "not the text `what-is-this`: write `{ tool: ruff }`"),
        ("quality_gates: { go: [{ tool: 5 }] }", "1:31: `tool` must be a text, not the number 5"),
        (
            "quality_gates: { go: [{ tool: syntax, enabled: yes }] }",
            "1:48: `enabled` must be `true` or `false`, not the text `yes`",
        ),
        ("modes: { interactive: false }", "1:23: `interactive` must be one of `allow`, `deny`, not `false`"),
        ("limits: 5", "1:9: `limits` must be a map, not the number 5"),
        ("modes:", "1:6: `modes` must be a map, not nothing"),
        ("paths: {}", "1:8: `paths` must be a list, not a map"),
        ("validate_commands: [go]", "1:21: a command must be a list, not the text `go`"),
        ("validate_commands: [[]]", "1:21: a command is empty: the first word must be the program"),
        ("validate_commands: [['']]", "1:21: a command is empty"),
        ("never_journal: ['[']", "1:17: `never_journal` is not a pattern: unclosed character class"),
        ("server: { tools: [] }", "1:18: `tools` is empty"),
    ] {
        refused(text, expected);
    }
    read("validate_commands: [[go, vet, ./...]]\nnever_journal: ['.env*', '*.pem']\n");
}

#[test]
fn unsupported_values_are_refused_and_supported_ones_are_read() {
    read("paths: [{ match: a, access: read }]");
    refused(
        "baseline: new\npaths: [{ match: a, access: deny }]\n",
        "2:29: this version does not support `access: deny`: use one of `read`, `write`\n 2 | paths: [{ match: a, access: deny }]\n   |                             ^",
    );
    read("server: { tools: [ai, content, all] }");
    refused("confirm: often", "unknown confirm `often` (known: never, risky, always)");
}

#[test]
fn demands_and_isolation_are_read() {
    assert_eq!(read("").demands.confirm, Confirm::Never);
    assert_eq!(read("confirm: risky").demands.confirm, Confirm::Risky);
    assert_eq!(read("").isolation, RequiredIsolation::None);
    assert_eq!(read("require_isolation: landlock").isolation, RequiredIsolation::Landlock);
    assert!(
        RequiredIsolation::None < RequiredIsolation::Landlock
            && RequiredIsolation::Landlock < RequiredIsolation::Bubblewrap
    );
    for (text, runnable) in [
        ("", Runnable::Ask),
        ("runnable: ask", Runnable::Ask),
        ("runnable: refuse", Runnable::Refuse),
        ("runnable: allow", Runnable::Allow),
    ] {
        assert_eq!(read(text).demands.runnable, runnable, "{text}");
    }
    refused("runnable: yes", "1:11: unknown runnable `yes` (known: ask, refuse, allow)");
    refused(
        "require_isolation: jail",
        "unknown require_isolation `jail` (known: none, landlock, bubblewrap)",
    );
}

#[test]
fn each_accident_has_a_weight_of_its_own() {
    let damage = read("damage: { nul_bytes: warn, shrunk_file: off }").damage;
    assert_eq!(damage.weight(Accident::NulBytes), Weight::Warn);
    assert_eq!(damage.weight(Accident::ShrunkFile), Weight::Off);
    assert_eq!(damage.weight(Accident::ElidedCode), read("").damage.weight(Accident::ElidedCode));
    refused("damage: { nul_bytes: yes }", "unknown nul_bytes `yes` (known: block, warn, off)");
}

#[test]
fn commands_that_a_request_may_name_are_read() {
    let policy = read("validate_commands: [[go, vet, './...'], [/usr/bin/make, check]]");
    let names: Vec<_> = policy.validators.iter().map(|known| known.rule.gate.name.as_str()).collect();
    assert_eq!(names, ["validate_command: go vet ./...", "validate_command: /usr/bin/make check"]);
    assert_eq!(policy.commands().filter(|rule| names.contains(&rule.gate.name.as_str())).count(), 2);
    refused("validate_commands: [[]]", "a command");
    refused("validate_commands: [['']]", "a command is empty");
    refused("validate_commands: [[./build.sh]]", "a plain name or an absolute path");
    refused("validate_commands: [[/bin/../x]]", "a plain name or an absolute path");
}

#[test]
fn how_a_change_is_published_is_read() {
    let of = |text: &str| read(text).publishing;
    assert_eq!(of(""), Publishing { durability: Durability::Full, hard_links: HardLinks::Refuse });
    let process = Publishing { durability: Durability::Process, hard_links: HardLinks::Split };
    assert_eq!(of("durability: process\nhard_links: split\n"), process);
    assert_eq!(of("hard_links: in_place").hard_links, HardLinks::InPlace);
    assert_eq!(of("hard_links: in_place").durability, Durability::Full);
    refused("durability: none", "1:13: unknown durability `none` (known: full, process)");
    refused(
        "hard_links: spilt",
        "1:13: unknown hard_links `spilt`, did you mean `split`? (known: refuse, split, in_place)",
    );
}

#[test]
fn what_no_journal_keeps_is_named_by_patterns() {
    let secrets = [
        "a.pem",
        "keys/a.key",
        "d/.env.local",
        "x.p12",
        "id_rsa.pub",
        "h/.ssh/config",
        "h/id_ed25519",
        "h/.docker/config.json",
        ".npmrc",
        ".aws/credentials",
        "d/.env.example.local",
        ".ssh/.env.example",
    ];
    for template in [".env.example", "d/.env.sample", ".env.template"] {
        assert!(read("").journals(template), "{template}");
        assert!(!read("never_journal: ['.env*']").journals(template), "{template}");
    }
    let plain = read("");
    assert!(plain.journals("app.py") && plain.journals("a.pem.txt") && plain.journals("ssh/config"));
    let policy = read("never_journal: ['/secrets/', '*.tfstate']\n");
    for path in secrets {
        assert!(!plain.journals(path) && !policy.journals(path), "{path}");
    }
    for path in ["secrets/a", "secrets/b/c.txt", "infra/prod.tfstate"] {
        assert!(plain.journals(path) && !policy.journals(path), "{path}");
    }
    assert!(policy.journals("d/secrets/a") && policy.journals("secrets"));
    assert!(read("never_journal: []").journals("secrets/a"));
    let many = format!("never_journal: [{}]", "a,".repeat(1001));
    refused(&many, "`never_journal` has more than 1000 patterns");
}

#[test]
fn toolsets_and_demands_are_read() {
    let policy = read(
        "server: { tools: [edit, legacy] }\nmodes: { interactive: deny }\nguards: { line_edits: required, overwrite: required }\nbaseline: edited_lines\n",
    );
    assert_eq!(policy.toolsets, Some(vec!["edit".to_owned(), "legacy".to_owned()]));
    let expected = Demands {
        interactive: Interactive::Deny,
        line_edits: Guard::Required,
        overwrite: Guard::Required,
        confirm: Confirm::Never,
        runnable: Runnable::Ask,
    };
    assert_eq!((policy.demands, policy.baseline), (expected, Baseline::EditedLines));
    assert_eq!(policy.effective_rules("a", None, Profile::Edit).baseline, Baseline::EditedLines);
}
