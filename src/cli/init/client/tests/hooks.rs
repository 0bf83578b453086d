//! Tests of adding hooks to a configuration and cutting them out again.

use super::*;

fn group(program: &str) -> Value {
    json!({"matcher": "Edit", "hooks": [{"type": "command", "command": program, "timeout": 30}]})
}

fn hooks() -> Vec<Wanted> {
    let part =
        |event| Wanted { path: vec!["hooks", event], value: WantedValue::Element(group("lockgate hook")) };
    vec![part("PreToolUse"), part("PostToolUse")]
}

#[track_caller]
fn added(text: &str, wanted: &[Wanted]) -> String {
    match merge(text, wanted) {
        Ok(MergeResult::Added(after)) => {
            assert_eq!(merge(&after, wanted), Ok(MergeResult::Unchanged), "{after}");
            after
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn hooks_are_written_as_the_text_around_them_is() {
    assert_eq!(
        added("{\n    \"model\": \"opus\"\n}\n", &hooks()[..1]),
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Edit\",\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"lockgate hook\",\n                        \"timeout\": 30\n                    }\n                ]\n            }\n        ]\n    }\n}\n"
    );
    let one_line = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]}}"#;
    assert_eq!(
        added(one_line, &hooks()[..1]),
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}, { "matcher": "Edit", "hooks": [{ "type": "command", "command": "lockgate hook", "timeout": 30 }] }]}}"#
    );
}

#[test]
fn hooks_with_a_key_that_occurs_twice_are_left_alone() {
    let twice = |text: &str, name: &str| {
        for error in [merge(text, &hooks()).unwrap_err(), remove(text, &hooks(), &[]).unwrap_err()] {
            assert_eq!(error.problem, format!("`{name}` occurs twice"), "{text}");
        }
    };
    let list = r#"[{"hooks": [{"command": "lockgate hook"}], "hooks": []}]"#;
    twice(&format!(r#"{{"hooks": {{"PreToolUse": {list}}}}}"#), "hooks");
    twice(r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "a", "command": "b"}]}]}}"#, "command");
    twice(r#"{"hooks": {"PreToolUse": [], "PreToolUse": []}}"#, "PreToolUse");
    twice(r#"{"hooks": {}, "hooks": {}}"#, "hooks");
    // The hooks of another event are not changed.
    added(&format!(r#"{{"hooks": {{"Stop": {list}}}}}"#), &hooks());
}

/// Cuts what was added to a text, and what was made for it.
#[track_caller]
fn cut(before: &str, after: &str, wanted: &[Wanted]) -> Option<String> {
    remove(after, wanted, &new_containers(before, wanted).unwrap()).unwrap()
}

/// Texts from which the cut restores every byte.
#[test]
fn what_was_added_leaves_no_trace_when_it_is_cut() {
    for before in [
        "{}",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\r\n\t\"model\": \"opus\", // mine\r\n}\r\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  },\n  \"a\": 1\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"./check\" }] }\n    ]\n  }\n}\n",
        "{\"hooks\": {\"PreToolUse\": [{\"hooks\": []}]}, \"a\": [1, 2]}",
        "{\n  \"hooks\": {\n    // none yet\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": []}, // mine\n      // and this\n    ],\n  },\n}\n",
        "\u{feff}{\n  \"a\": 1\n}",
    ] {
        let after = added(before, &hooks());
        assert_eq!(cut(before, &after, &hooks()).as_deref(), Some(before), "{after}");
        assert_eq!(remove(before, &hooks(), &[]), Ok(None));
    }
}

#[test]
fn empty_objects_and_arrays_of_a_person_stay() {
    let path = |names: &[&str]| -> ContainerPath { names.iter().map(|name| (*name).to_owned()).collect() };
    for (before, made) in [
        ("{}", vec![path(&["hooks"]), path(&["hooks", "PreToolUse"]), path(&["hooks", "PostToolUse"])]),
        ("", vec![path(&["hooks"]), path(&["hooks", "PreToolUse"]), path(&["hooks", "PostToolUse"])]),
        ("{\"hooks\": {}}", vec![path(&["hooks", "PreToolUse"]), path(&["hooks", "PostToolUse"])]),
        ("{\"a\": {}, \"hooks\": {\"PreToolUse\": []}}", vec![path(&["hooks", "PostToolUse"])]),
        ("{\"hooks\": {\"PreToolUse\": [], \"PostToolUse\": []}}", Vec::new()),
    ] {
        assert_eq!(new_containers(before, &hooks()), Ok(made.clone()), "{before}");
        if before.is_empty() {
            continue;
        }
        let after = added(before, &hooks());
        let left = |made: &[ContainerPath]| -> Value {
            serde_json::from_str(&remove(&after, &hooks(), made).unwrap().unwrap()).unwrap()
        };
        assert_eq!(left(&made), serde_json::from_str::<Value>(before).unwrap(), "{after}");
        // Without a record of it, nothing that is empty goes.
        assert_eq!(left(&[])["hooks"], json!({"PreToolUse": [], "PostToolUse": []}), "{after}");
    }
    let before = "{\"mcpServers\": {}}";
    let Ok(MergeResult::Added(after)) = merged(before) else { panic!() };
    assert_eq!(cut(before, &after, &server()).as_deref(), Some(before));
    let Ok(MergeResult::Added(after)) = merged("{}") else { panic!() };
    assert_eq!(cut("{}", &after, &server()).as_deref(), Some("{}"));
    let text = remove(&after, &server(), &[]).unwrap().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"mcpServers": {}}));
}

#[test]
fn a_hook_that_a_person_moved_is_found() {
    // Among programs of others it stays when hooks are added, and goes alone.
    let mixed = r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"command": "other"}, {"command": "/opt/bin/lockgate hook"}]}]}}"#;
    assert_eq!(merge(mixed, &hooks()[..1]), Ok(MergeResult::Unchanged));
    assert_eq!(
        remove(mixed, &hooks(), &[]),
        Ok(Some(
            r#"{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"command": "other"}]}]}}"#.to_owned()
        ))
    );
    // One with another timeout is replaced, and the result says so.
    let older = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Edit\", \"hooks\": [{ \"command\": \"lockgate\", \"args\": [\"hook\"] }] },\n      { \"hooks\": [] }\n    ]\n  }\n}\n";
    let Ok(MergeResult::Replaced(text, place)) = merge(older, &hooks()[..1]) else { panic!() };
    assert_eq!((place, merge(&text, &hooks()[..1])), ((4, 7), Ok(MergeResult::Unchanged)));
    let without = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n";
    assert_eq!(remove(older, &hooks(), &[]), Ok(Some(without.to_owned())));
    // Programs with such words in their names are not lockgate's hook.
    for other in ["notlockgate hook", "lockgate hooks", "lockgate check", "echo lockgate"] {
        let text = json!({"hooks": {"PreToolUse": [group(other)]}}).to_string();
        assert_eq!(remove(&text, &hooks(), &[]), Ok(None), "{other}");
    }
}

#[test]
fn a_hook_in_a_group_for_other_tools_is_moved_to_a_group_of_its_own() {
    let own = r#"{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "lockgate hook", "timeout": 30 }] }"#;
    let group =
        |matcher: &str, programs: &str| format!(r#"{{"matcher": "{matcher}", "hooks": [{programs}]}}"#);
    let config = |groups: &str| format!(r#"{{"hooks": {{"PreToolUse": [{groups}]}}}}"#);
    let (hook, other) = (r#"{"command": "lockgate hook"}"#, r#"{"command": "mine.sh"}"#);
    for programs in [format!("{hook}, {other}"), format!("{other}, {hook}")] {
        let before = config(&group("Bash", &programs));
        let after = config(&format!("{}, {own}", group("Bash", other)));
        assert_eq!(merge(&before, &hooks()[..1]), Ok(MergeResult::Replaced(after.clone(), (1, 27))));
        assert_eq!(merge(&after, &hooks()[..1]), Ok(MergeResult::Unchanged));
        // A group that is for the wanted tools among others keeps it, and so does one beside the wanted group.
        for kept in
            [config(&group("Bash|Edit", &programs)), config(&format!("{}, {own}", group("Bash", &programs)))]
        {
            assert_eq!(merge(&kept, &hooks()[..1]), Ok(MergeResult::Unchanged), "{kept}");
        }
    }
}

#[test]
fn the_owner_of_the_hooks_of_all_events_is_found() {
    let object = |value: Value| value.as_object().cloned().unwrap();
    let (own, other) = (group("lockgate hook"), group("./check"));
    for (events, expected) in [
        (json!({"PreToolUse": [own], "PostToolUse": [own, own], "enabled": false}), Owner::Own),
        (json!({"PreToolUse": [own], "Stop": [other]}), Owner::Mixed),
        (json!({"PreToolUse": [other]}), Owner::Other),
        (json!({"PreToolUse": []}), Owner::Own),
    ] {
        assert_eq!(Owner::from_events(&object(events.clone())), expected, "{events}");
    }
}

#[test]
fn scalars_of_a_list_and_single_values_are_added_and_cut() {
    let deny =
        |tool: &str| Wanted { path: vec!["permissions", "deny"], value: WantedValue::Element(json!(tool)) };
    let wanted = [deny("Edit"), deny("Write")];
    let before = "{\n  \"permissions\": {\n    \"deny\": [\"Read(.env)\"]\n  }\n}\n";
    let after = added(before, &wanted);
    assert_eq!(after, before.replace("(.env)\"", "(.env)\", \"Edit\", \"Write\""));
    assert_eq!(cut(before, &after, &wanted).as_deref(), Some(before));
    let value = [Wanted { path: vec!["permission", "edit"], value: WantedValue::Exact(json!("deny")) }];
    let before = "{\n  \"permission\": {\n    \"bash\": \"ask\"\n  }\n}\n";
    let after = added(before, &value);
    assert_eq!(cut(before, &after, &value).as_deref(), Some(before));
    let asks = before.replace("bash", "edit");
    assert!(matches!(merge(&asks, &value), Ok(MergeResult::Replaced(_, (3, 5)))));
    assert_eq!(remove(&asks, &value, &[]), Ok(None));
    assert!(merge("{\"permission\": \"allow\"}", &value).is_err());
}

#[test]
fn a_default_is_added_once_and_stays() {
    let version = [Wanted { path: vec!["version"], value: WantedValue::Default(json!(1)) }];
    assert_eq!(added("", &version), "{\n  \"version\": 1\n}\n");
    assert_eq!(merge("{\"version\": 2}", &version), Ok(MergeResult::Unchanged));
    assert_eq!(remove("{\"version\": 1}", &version, &[]), Ok(None));
}
