//! The content of a fixture before the calls: global entities, and those of the other organisation.

use serde_json::{Value, json};

use super::calls::{ACTORS_APP, CallState, FOREIGN, FOREIGN_APP, FREE_APP, text};
use super::fixture::{Actor, Caller, IsolationFixture};
use crate::suite::wire::Answer;

/// Makes something.
pub fn make(server: &mut Caller, calls: &mut Vec<(String, Value)>, arguments: Value) -> Answer {
    let answer = server.call("replace_content", &arguments);
    assert_eq!(answer.status(), "written", "{arguments}: {}", answer.text);
    calls.push(("replace_content".to_owned(), arguments));
    answer
}

pub fn app_file(app: &str, path: &str, content: &str) -> Value {
    json!({"entity_type": "app_file", "app_id": app, "path": path, "content": content})
}

pub fn workflow(organization: Option<&str>, path: &str, content: &str) -> Value {
    let mut fields = json!({"entity_type": "workflow", "path": path, "content": content});
    if let Some(organization) = organization {
        fields["organization_id"] = json!(organization);
    }
    fields
}

/// What nobody has, and what the actor has where it is an organisation.
pub fn settle(fixture: &mut IsolationFixture, actor: Actor) {
    let mut nobody = fixture.caller(Actor::Nobody);
    let calls = &mut Vec::new();
    let module = text("module", "everybody", 2);
    let mut made = vec![
        make(&mut nobody, calls, workflow(None, "flows/everybody.py", &text("workflow", "everybody", 1))),
        make(
            &mut nobody,
            calls,
            json!({"entity_type": "module", "path": "mods/everybody.py", "content": module}),
        ),
        make(&mut nobody, calls, app_file(FREE_APP, "src/both.py", &text("file", "everybody", 3))),
    ];
    if let Actor::Organization(name) = actor {
        let mut own = fixture.caller(actor);
        for path in ["src/own.py", "src/both.py", "lib/own.txt"] {
            made.push(make(&mut own, calls, app_file(ACTORS_APP, path, &text("file", name, 1))));
        }
        made.push(make(&mut own, calls, workflow(None, "flows/own.py", &text("workflow", name, 2))));
        made.push(make(&mut own, calls, workflow(Some(name), "flows/both.py", &text("workflow", name, 3))));
    }
    let ids = made.iter().map(|answer| answer.structured["edit_id"].as_str().unwrap().to_owned());
    fixture.edits.extend(ids);
}

/// What somebody else has and does.
pub fn settle_foreign(server: &mut Caller, state: &mut CallState, round: usize) {
    let calls = &mut state.foreign_calls;
    let mut answers = Vec::new();
    for path in ["src/theirs.py", "src/both.py", "lib/theirs.txt"] {
        answers.push(make(server, calls, app_file(FOREIGN_APP, path, &text("file", FOREIGN, round))));
    }
    for path in ["flows/theirs.py", "flows/both.py", "flows/everybody.py"] {
        let content = text("workflow", FOREIGN, round);
        answers.push(make(server, calls, workflow(Some(FOREIGN), path, &content)));
    }
    let arguments = json!({"entity_type": "app_file", "app_id": FOREIGN_APP, "path": "src/theirs.py",
        "old_string": "return x", "new_string": format!("return {round}  # umbra")});
    answers.push(server.call("patch_content", &arguments));
    calls.push(("patch_content".to_owned(), arguments));
    let removed_file = json!({"entity_type": "app_file", "app_id": FOREIGN_APP, "path": "lib/theirs.txt"});
    answers.push(server.call("delete_content", &removed_file));
    let last = answers.last().unwrap().structured["edit_id"].clone();
    answers.push(server.call("undo_edit", &json!({"edit_id": last})));
    for answer in answers {
        assert!(!answer.is_error, "{}", answer.text);
        state.foreign_edits.push(answer.structured["edit_id"].as_str().unwrap().to_owned());
        state.foreign_versions.extend(answer.structured["version"].as_str().map(str::to_owned));
    }
}
