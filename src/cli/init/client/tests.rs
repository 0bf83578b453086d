//! Tests of merging with fixed texts; `random` has random ones, and `hooks` those of hooks.

mod hooks;
mod random;

use serde_json::{Map, Value, json};

use super::config_text::exceeds;
use super::hooks::Owner;
use super::kinds::JsonDialect;
use super::merge::{ContainerPath, MergeResult, find, merge, new_containers, remove};
use super::wanted::{Wanted, WantedValue};

fn entry() -> Map<String, Value> {
    let Value::Object(entry) = json!({"command": "lockgate", "args": ["serve", "--root", "."]}) else {
        panic!()
    };
    entry
}

fn server() -> [Wanted; 1] {
    [Wanted { path: vec!["mcpServers", "lockgate"], value: WantedValue::Object(entry()) }]
}

fn merged(text: &str) -> Result<MergeResult, (String, (usize, usize))> {
    merge(text, &server()).map_err(|error| (error.problem, error.at))
}

#[track_caller]
fn adds(before: &str, after: &str) {
    assert_eq!(merged(before), Ok(MergeResult::Added(after.to_owned())), "{before}");
    assert_eq!(merged(after), Ok(MergeResult::Unchanged), "{after}");
}

#[track_caller]
fn refuses(text: &str, problem: &str, at: (usize, usize)) {
    assert_eq!(merged(text), Err((problem.to_owned(), at)), "{text}");
}

const LINES: &str = "\"lockgate\": {\n      \"command\": \"lockgate\",\n      \"args\": [\"serve\", \"--root\", \".\"]\n    }";
const ONE_LINE: &str = r#""lockgate": { "command": "lockgate", "args": ["serve", "--root", "."] }"#;

#[test]
fn a_text_without_servers_gets_them() {
    let whole = format!("{{\n  \"mcpServers\": {{\n    {LINES}\n  }}\n}}");
    for (before, after) in [
        ("", format!("{whole}\n")),
        ("{}", whole.clone()),
        ("{ }", whole.clone()),
        ("{}\n", format!("{whole}\n")),
        ("\u{feff}{}", format!("\u{feff}{whole}")),
        ("\u{feff}", format!("\u{feff}{whole}\n")),
        ("// mine\n", format!("// mine\n{whole}\n")),
        ("/* mine */", format!("/* mine */\n{whole}\n")),
        ("{\n  // none yet\n}\n", format!("{{\n  // none yet\n  {}\n", whole.trim_start_matches("{\n  "))),
        ("{ /* none */ }", format!("{{ /* none */\n  {}", whole.trim_start_matches("{\n  "))),
    ] {
        adds(before, &after);
    }
}

#[test]
fn other_servers_their_comments_and_their_layout_stay() {
    adds(
        "{\n  \"mcpServers\": {\n    \"a\": {} // mine\n    // and this\n  },\n  \"z\": 1\n}\n",
        &format!(
            "{{\n  \"mcpServers\": {{\n    \"a\": {{}}, // mine\n    // and this\n    {LINES}\n  }},\n  \"z\": 1\n}}\n"
        ),
    );
    adds(
        "{\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}\n",
        &format!("{{\n  \"mcpServers\": {{\n    \"a\": {{}},\n    {LINES},\n  }},\n}}\n"),
    );
    adds(
        r#"{"mcpServers": {"a": {}, "b": {} /* two */ }, "z": 1}"#,
        &format!(r#"{{"mcpServers": {{"a": {{}}, "b": {{}}, /* two */ {ONE_LINE} }}, "z": 1}}"#),
    );
    adds(r#"{"mcpServers":{"a":{},}}"#, &format!(r#"{{"mcpServers":{{"a":{{}}, {ONE_LINE},}}}}"#));
    let tabs = LINES.replace("\n    ", "\r\n\t\t").replace("\t\t  ", "\t\t\t");
    adds(
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
        &format!("{{\r\n\t\"mcpServers\": {{\r\n\t\t\"a\": {{}},\r\n\t\t{tabs}\r\n\t}}\r\n}}\r\n"),
    );
    let wide = LINES.replace("\n      ", "\n            ").replace("\n    }", "\n        }");
    adds(
        "{\n    \"theme\": \"x\",\n    \"mcpServers\": {}\n}",
        &format!("{{\n    \"theme\": \"x\",\n    \"mcpServers\": {{\n        {wide}\n    }}\n}}"),
    );
    // A line comment that ends in a lone carriage return is ended before the entry.
    assert!(
        matches!(merged("{\"mcpServers\": {\"a\": {} // x\r}}"), Ok(MergeResult::Added(text)) if merged(&text) == Ok(MergeResult::Unchanged))
    );
}

#[test]
fn an_existing_server_keeps_its_other_settings() {
    let config = |server: &str| format!("{{\n  \"mcpServers\": {{\n    \"lockgate\": {server}\n  }}\n}}\n");
    let same = r#"{ "env": {"A": "b"}, "args": ["serve", /* here */ "--root", "."], "disabled": true, "command": "lockgate" }"#;
    assert_eq!(merged(&config(same)), Ok(MergeResult::Unchanged));
    let other = r#"{ "command": "/opt/lockgate" /* own */, "args": ["serve"], "env": {} }"#;
    let wanted = r#"{ "command": "lockgate" /* own */, "args": ["serve", "--root", "."], "env": {} }"#;
    assert_eq!(merged(&config(other)), Ok(MergeResult::Replaced(config(wanted), (3, 5))));
    let lacking = "{\n      \"env\": {}, // mine\n    }";
    let whole = "{\n      \"env\": {}, // mine\n      \"command\": \"lockgate\",\n      \"args\": [\"serve\", \"--root\", \".\"],\n    }";
    assert_eq!(merged(&config(lacking)), Ok(MergeResult::Replaced(config(whole), (3, 5))));
}

#[test]
fn a_server_in_the_network_loses_the_fields_of_one() {
    let config = |server: &str| format!("{{\n  \"mcpServers\": {{\n    \"lockgate\": {server}\n  }}\n}}\n");
    let remote = "{\n      \"type\": \"http\",\n      \"env\": {}, // mine\n      \"url\": \"https://a.example\",\n      \"headers\": {\"A\": \"b\"}\n    }";
    let wanted = "{\n      \"env\": {}, // mine\n      \"command\": \"lockgate\",\n      \"args\": [\"serve\", \"--root\", \".\"]\n    }";
    assert_eq!(merged(&config(remote)), Ok(MergeResult::Replaced(config(wanted), (3, 5))));
    assert_eq!(merged(&config(wanted)), Ok(MergeResult::Unchanged));
    // Beside the wanted command, the client would still not start it.
    let both = r#"{ "type": "sse", "command": "lockgate", "args": ["serve", "--root", "."], "url": "x" }"#;
    let wanted = r#"{ "command": "lockgate", "args": ["serve", "--root", "."] }"#;
    assert_eq!(merged(&config(both)), Ok(MergeResult::Replaced(config(wanted), (3, 5))));
    let stdio = r#"{ "type": "stdio", "command": "lockgate", "args": ["serve", "--root", "."] }"#;
    assert_eq!(merged(&config(stdio)), Ok(MergeResult::Unchanged));
}

#[test]
fn an_existing_server_is_found_with_its_place() {
    const PATH: [&str; 2] = ["mcpServers", "lockgate"];
    let text = "\u{feff}{\n  \"mcpServers\": {\n    \"lockgate\": {\"command\": \"x\"} // mine\n  }\n}";
    let found = find(text, &PATH).unwrap().unwrap();
    assert_eq!((Value::Object(found.fields), found.at), (json!({"command": "x"}), (3, 5)));
    for text in ["", "{}", "{\"mcpServers\": {\"other\": {}}}"] {
        assert_eq!(find(text, &PATH), Ok(None), "{text}");
    }
    let error = find("{\"mcpServers\": {\"lockgate\": 1}}", &PATH).unwrap_err();
    assert_eq!((error.problem.as_str(), error.at), ("`lockgate` is not an object", (1, 29)));
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_place() {
    refuses("[]", "the text is not an object", (1, 1));
    refuses("{\"mcpServers\": []}", "`mcpServers` is not an object", (1, 16));
    refuses("{\n  \"mcpServers\": null\n}", "`mcpServers` is not an object", (2, 17));
    refuses("{\"mcpServers\": {\"lockgate\": \"x\"}}", "the server `lockgate` is not an object", (1, 29));
    refuses("{\"mcpServers\": {},\n \"mcpServers\": {}}", "`mcpServers` occurs twice", (2, 2));
    refuses("{\"mcpServers\": {\"lockgate\": {}, \"lockgate\": {}}}", "`lockgate` occurs twice", (1, 33));
    refuses("{\"mcpServers\": {\"lockgate\": {\"args\": 1, \"args\": 2}}}", "`args` occurs twice", (1, 41));
    let same = r#""command": "lockgate", "args": ["serve", "--root", "."]"#;
    refuses(
        &format!(r#"{{"mcpServers": {{"lockgate": {{"env": {{}}, "env": {{}}, {same}}}}}}}"#),
        "`env` occurs twice",
        (1, 41),
    );
    // Another server is not changed.
    let others = r#"{"mcpServers": {"a": {}, "a": {"env": 1, "env": 2}}, "z": 1, "z": 2}"#;
    assert!(matches!(merged(others), Ok(MergeResult::Added(_))));
    for text in [
        "{",
        "{\"a\" 1}",
        "{a: 1}",
        "{\"a\": 'x'}",
        "{\"a\": 1 \"b\": 2}",
        "{} {}",
        "{\"a\": \"\\x\"}",
        "/*",
        "\0",
        "{\"a\": 0x1}",
        "x",
    ] {
        assert!(merged(text).is_err(), "{text}");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(merged(&format!("{{\"a\": {deep}}}")).is_err());
    let exceeded = |text| {
        use JsonDialect::{Comments, CommentsAndCommas, Strict};
        [Strict, Comments, CommentsAndCommas].map(|dialect| exceeds(text, dialect))
    };
    assert_eq!(exceeded("\u{feff}{\"a\": 1}"), [false; 3]);
    assert_eq!(exceeded("{} // x"), [true, false, false]);
    assert_eq!(exceeded("{\"a\": 1,}"), [true, true, false]);
}
