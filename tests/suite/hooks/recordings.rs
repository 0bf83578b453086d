//! The events and answers in `tests/hooks`: every host in its own format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lockgate_hosts::host::Host;
use serde_json::{Value, json};

use super::{Project, answer};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks")
}

fn recordings() -> BTreeMap<String, Value> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect()
}

/// The answer, the text on standard error and the exit code for a payload in a new project with these files.
fn outcome(files: &Value, payload: &Value) -> (Value, String, i32) {
    let project = Project::new();
    for (path, text) in files.as_object().unwrap() {
        project.write(path, text.as_str().unwrap());
    }
    let root = project.root().to_str().unwrap().to_owned();
    let payload = payload.to_string().replace("{root}", &root);
    let outcome = project.call(&["hook"], &payload);
    let without_root = |text: &str| text.replace(&root, "{root}");
    for (path, text) in files.as_object().unwrap() {
        assert_eq!(project.text(path), text.as_str().unwrap(), "a hook writes nothing: {path}");
    }
    let rendered = serde_json::from_str(&without_root(&answer(&outcome).to_string())).unwrap();
    (rendered, without_root(&outcome.stderr), outcome.exit)
}

#[test]
fn every_event_has_its_answer() {
    let is_update = std::env::var_os("UPDATE").is_some();
    for (name, mut recording) in recordings() {
        let (actual, error, exit) = outcome(&recording["files"], &recording["payload"]);
        if is_update {
            recording["answer"] = actual;
            recording["error"] = error.into();
            recording["exit"] = exit.into();
            fs::write(folder().join(&name), pretty(&recording)).unwrap();
            continue;
        }
        assert_eq!(actual, recording["answer"], "{name}: {error}");
        assert_eq!(
            (json!(error), json!(exit)),
            (recording["error"].clone(), recording["exit"].clone()),
            "{name}"
        );
    }
}

fn pretty(value: &Value) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
    serde::Serialize::serialize(value, &mut serde_json::Serializer::with_formatter(&mut bytes, formatter))
        .unwrap();
    String::from_utf8(bytes).unwrap() + "\n"
}

/// The control: an event whose fields have other names has another answer, so each of these fields is really read.
#[test]
fn a_renamed_field_changes_the_answer() {
    let mut tried = 0;
    for (name, recording) in recordings() {
        for field in recording["fields"].as_array().unwrap() {
            let mut payload = recording["payload"].clone();
            let field = field.as_str().unwrap();
            assert!(rename(&mut payload, field), "{name} has no {field}");
            let (actual, error, exit) = outcome(&recording["files"], &payload);
            let recorded = [&recording["answer"], &recording["error"], &recording["exit"]];
            assert_ne!(recorded, [&actual, &json!(error), &json!(exit)], "{name}: {field} is not read");
            tried += 1;
        }
    }
    assert!(tried >= 50, "only {tried} fields were tried");
}

/// Renames the field at a path such as `a.b`; false if there is none.
fn rename(payload: &mut Value, path: &str) -> bool {
    let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
    let object =
        above.split('.').filter(|part| !part.is_empty()).try_fold(payload, |value, part| value.get_mut(part));
    let Some(fields) = object.and_then(Value::as_object_mut) else { return false };
    match fields.remove(name) {
        Some(value) => fields.insert(format!("{name}_of_a_later_version"), value).is_none(),
        None => false,
    }
}

#[test]
fn every_host_is_recorded_with_a_good_and_a_bad_edit() {
    let names: Vec<String> = recordings().into_keys().collect();
    for host in Host::ALL {
        for case in ["good", "bad"] {
            let is_case =
                |name: &&String| name.starts_with(host.name()) && name.ends_with(&format!("{case}.json"));
            assert!(names.iter().any(|name| is_case(&name)), "{} {case}", host.name());
        }
    }
    for (name, recording) in recordings() {
        let is_silent = recording["answer"].is_null() && recording["exit"] == 0 && recording["error"] == "";
        assert_eq!(is_silent, name.ends_with(".good.json"), "{name}: {recording:#}");
        let facts = recording["facts"].as_str().unwrap();
        assert!(["run", "recording", "documentation", "source"].contains(&facts), "{name}");
    }
}
