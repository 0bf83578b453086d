//! Types of entities: what a policy can say of them, and what is refused.

use super::*;
use lockgate_text::Version;

/// Gates of a policy's own that could say what a text must be, or not.
const GATES: &str = "define:\n  titled: { kind: pattern, languages: ['*'], must_match: '^# ', message: no title }\n  \
    pythonic: { kind: pattern, languages: [python], must_match: def, message: no def }\n  \
    lint: { kind: command, languages: [python], input: stdin, command: [lint], output: { text: exit, message: bad } }\n";

fn with_gates(rest: &str) -> String {
    format!("{GATES}{rest}")
}

fn types(policy: &Policy) -> Vec<&str> {
    policy.entity_types().map(|known| known.name.as_str()).collect()
}

#[test]
fn what_is_compiled_in_is_there_whatever_the_policy_says() {
    for text in ["", "entities: {}", "extends: default", "quality_gates: {}"] {
        let policy = read(text);
        assert_eq!(types(&policy), ["app_file", "workflow", "module"]);
        let built_in: Vec<_> = policy
            .entity_types()
            .map(|known| {
                (known.owner, known.language.map(|language| language.name.as_str()), known.rules.len())
            })
            .collect();
        let (app, own, global) = (EntityOwner::App, EntityOwner::Organization, EntityOwner::Global);
        assert_eq!(built_in, [(app, None, 0), (own, Some("python"), 1), (global, Some("python"), 1)]);
    }
    assert_eq!(Policy::embedded().entity_type("workflow").unwrap().rules[0].gate.name, "entity-workflow");
    assert!(Policy::embedded().entity_type("file").is_none());
}

#[test]
fn a_policy_adds_types_of_its_own() {
    let policy = read(&with_gates(
        "entities:\n  page: { owner: app, gates: [titled] }\n  job_2: { owner: global, language: python, gates: [syntax, pythonic] }\n  \
         note: { owner: organization, language: '*' }\n",
    ));
    assert_eq!(types(&policy), ["app_file", "workflow", "module", "page", "job_2", "note"]);
    let describe = |name: &str| {
        let known = policy.entity_type(name).unwrap();
        let gates: Vec<&str> = known.rules.iter().map(|rule| rule.gate.name.as_str()).collect();
        (known.owner, known.language.map(|language| language.name.as_str()), gates)
    };
    assert_eq!(describe("page"), (EntityOwner::App, None, vec!["titled"]));
    assert_eq!(describe("job_2"), (EntityOwner::Global, Some("python"), vec!["syntax", "pythonic"]));
    assert_eq!(describe("note"), (EntityOwner::Organization, None, vec![]));
}

#[test]
fn invalid_types_are_refused_at_their_position() {
    for (entities, expected) in [
        ("[]", "`entities` must be a map"),
        ("{ page: {} }", "the key `owner` is missing"),
        ("{ page: ~ }", "a type of entities must be a map, not nothing"),
        ("{ page: { owner: nobody } }", "unknown owner `nobody` (known: app, organization, global)"),
        ("{ page: { owner: app, key: path } }", "unknown key `key`"),
        ("{ page: { owner: app, language: py } }", "unknown language `py`"),
        ("{ page: { owner: app, gates: titled } }", "`gates` must be a list"),
        ("{ page: { owner: app, gates: [tidled] } }", "unknown tool `tidled`, did you mean `titled`?"),
        ("{ page: { owner: app, gates: [titled, titled] } }", "duplicate gate `titled`"),
        (
            "{ page: { owner: app, language: python, gates: [lint] } }",
            "`lint` cannot check `page`: only gates of the kinds",
        ),
        (
            "{ page: { owner: app, gates: [damage] } }",
            "`damage` cannot check `page`: only gates of the kinds",
        ),
        ("{ page: { owner: app, gates: [pythonic] } }", "it does not support every language"),
        ("{ page: { owner: app, gates: [syntax] } }", "it does not support every language"),
        ("{ page: { owner: app, language: go, gates: [pythonic] } }", "it does not support go"),
        ("{ Page: { owner: app } }", "a type name may contain only lower-case letters"),
        ("{ '': { owner: app } }", "a type name may contain only lower-case letters"),
        ("{ a-b: { owner: app } }", "a type name may contain only lower-case letters"),
        ("{ \"a\\u202e\": { owner: app } }", "a type name may contain only lower-case letters"),
        ("{ file: { owner: app } }", "`file` is a built-in type"),
        ("{ workflow: { owner: global } }", "`workflow` is a built-in type: choose another name"),
        ("{ page: { owner: app }, page: { owner: app } }", "duplicate key `page`"),
    ] {
        refused(&with_gates(&format!("entities: {entities}\n")), expected);
    }
    let (long, longer) = ("a".repeat(40), "a".repeat(41));
    read(&format!("entities: {{ {long}: {{ owner: app }} }}"));
    refused(&format!("entities: {{ {longer}: {{ owner: app }} }}"), "at most 40 of them");
}

#[test]
fn a_hostile_policy_is_refused_in_a_few_words() {
    let types = |count: usize| {
        let each: String = (0..count).map(|number| format!("  t{number}: {{ owner: app }}\n")).collect();
        format!("entities:\n{each}")
    };
    assert_eq!(read(&types(100)).entity_types().count(), 103);
    for (text, expected) in [
        (types(101), "102:3: there are more than 100 entity types"),
        (types(4_000), "there are more than 100 entity types"),
        (types(10_000), "quality.yaml:"),
        (format!("entities: {{ {}: {{ owner: app }} }}", "a".repeat(1_000)), "at most 40 of them"),
        (format!("entities: {{ {}: {{ owner: app }} }}", "a".repeat(500_000)), "quality.yaml:"),
        (format!("entities: {{ p: {{ owner: {} }} }}", "a".repeat(500_000)), "unknown owner `a"),
        (
            format!("entities: {{ p: {{ owner: app, gates: [{}] }} }}", "x, ".repeat(5_000)),
            "unknown tool `x`",
        ),
        (format!("entities: {}", "{ a: ".repeat(5_000)), "quality.yaml:"),
    ] {
        let message = rejection(&text);
        assert!(message.contains(expected) && message.len() < 1_000, "{message}");
    }
    let many: String = (0..21)
        .map(|number| {
            format!("  g{number}: {{ kind: pattern, languages: ['*'], must_match: a, message: m }}\n")
        })
        .collect();
    let names: Vec<String> = (0..21).map(|number| format!("g{number}")).collect();
    let list = |count: usize| {
        format!("define:\n{many}entities: {{ p: {{ owner: app, gates: [{}] }} }}", names[..count].join(", "))
    };
    read(&list(20));
    refused(&list(21), "a type has at most 20 gates");
}

#[test]
fn types_come_down_with_what_is_extended() {
    let above =
        read(&with_gates("entities: { page: { owner: app, gates: [titled] }, note: { owner: global } }\n"));
    let laid = |text: &str| {
        let source = PolicySource::read(PolicyOrigin::top("quality.yaml"), text).unwrap();
        source.into_policy(&above).map_err(|error| error.message)
    };
    assert_eq!(types(&laid("extends: parent").unwrap())[3..], ["page", "note"]);
    assert_eq!(types(&laid("extends: default").unwrap())[3..], [""; 0]);
    let anew = laid("extends: parent\nentities: { page: { owner: global }, form: { owner: app } }").unwrap();
    assert_eq!(types(&anew)[3..], ["note", "page", "form"]);
    assert_eq!(anew.entity_type("page").unwrap().owner, EntityOwner::Global);
    let bound = "extends: parent\ndefine: { titled: { kind: pattern, languages: ['*'], must_match: '^= ', message: no title } }";
    let bound = laid(bound).unwrap();
    let version = |policy: &Policy| policy.entity_type("page").unwrap().rules[0].gate.version;
    assert_ne!(version(&bound), version(&above));
    let narrowed = "extends: parent\ndefine: { titled: { kind: pattern, languages: [go], must_match: '^= ', message: no title } }";
    let refused = laid(narrowed).unwrap_err();
    assert!(refused.contains("2:11: `titled` cannot check `page`: it does not support"), "{refused}");
}

#[test]
fn a_policy_with_another_rule_of_a_type_is_another() {
    let version = |pattern: &str| -> Version {
        let define = format!(
            "define: {{ rule: {{ kind: pattern, languages: ['*'], must_match: {pattern}, message: m }} }}\n"
        );
        let above = read(&format!("{define}entities: {{ page: {{ owner: app, gates: [rule] }} }}"));
        PolicySource::read(PolicyOrigin::top("q"), "extends: parent")
            .unwrap()
            .into_policy(&above)
            .unwrap()
            .version
    };
    assert_eq!(version("a"), version("a"));
    assert_ne!(version("a"), version("b"));
}
