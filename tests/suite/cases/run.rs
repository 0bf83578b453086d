//! Running one case: its blocks in their order, against a real front.

use serde_json::{Map, Value, json};

use super::compare;
use super::entry::CaseEntry;
use super::invariants;
use super::scan::{Case, Fence, Role};
use super::update::{self, Rewrite};
use super::workspace::{CaseWorkspace, State};
use crate::suite::wire::{self, Answer, Server};

/// What a case showed.
#[derive(Debug, Default)]
pub struct Findings {
    /// Each difference, with the line of the block that it concerns.
    pub failures: Vec<(usize, String)>,
    /// How the file of cases would have to be rewritten for the case to hold.
    pub rewrites: Vec<Rewrite>,
}

/// A call with what is said about it.
struct Group<'a> {
    call: &'a Fence,
    answer: Option<&'a Fence>,
    after: Vec<(&'a Fence, CaseEntry)>,
}

/// A call, read from its block.
#[derive(Debug)]
enum Call {
    Tool { name: String, arguments: Value },
    CommandLine { arguments: Vec<String>, input: String },
}

/// The surroundings of a case while it runs.
struct Stage {
    world: CaseWorkspace,
    serve: Vec<String>,
    server: Option<Server>,
    /// What was seen of each call so far.
    answers: Vec<Value>,
    found: Findings,
}

/// Runs a case from its first block to its last.
pub fn case(case: &Case) -> Findings {
    let mut stage = Stage {
        world: CaseWorkspace::new(),
        serve: Vec::new(),
        server: None,
        answers: Vec::new(),
        found: Findings::default(),
    };
    let mut at = 0;
    while let Some(fence) = case.fences.get(at) {
        let taken = stage.step(&case.fences[at..]);
        if let Err(why) = taken {
            stage.found.failures.push((fence.line, why));
            break;
        }
        at += taken.unwrap_or(1);
    }
    stage.found
}

impl Stage {
    /// Carries out the first block, and with a call all that is said about it; gives the number of blocks taken.
    fn step(&mut self, fences: &[Fence]) -> Result<usize, String> {
        let fence = &fences[0];
        match fence.role {
            Role::Serve => self.serve = self.strings(&yaml(&fence.text)?)?,
            Role::Before => {
                let entry = CaseEntry::read(fence)?;
                self.world.put(&entry).map_err(|error| format!("{}: {error}", entry.path))?;
            }
            Role::Answer | Role::After => return Err("this block follows no call".to_owned()),
            Role::Call => {
                let group = Group::read(fences)?;
                let taken = 1 + usize::from(group.answer.is_some()) + group.after.len();
                self.act(&group)?;
                return Ok(taken);
            }
        }
        Ok(1)
    }

    fn act(&mut self, group: &Group) -> Result<(), String> {
        let call = self.read_call(&group.call.text)?;
        let before = self.read_state()?;
        let actual = match &call {
            Call::Tool { name, arguments } => {
                let answer = self.call(name, arguments)?;
                let mut broken = Vec::new();
                invariants::check_answer(&answer, &self.world, &before, &mut broken);
                self.fail(group.call.line, broken);
                response_json(&answer)
            }
            Call::CommandLine { arguments, input } => self.command(arguments, input),
        };
        self.judge_answer(group, &actual)?;
        self.judge_state(group, &before)?;
        self.answers.push(actual);
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Result<Answer, String> {
        let more: Vec<&str> = self.serve.iter().map(String::as_str).collect();
        let (root, user) = (self.world.root(), self.world.user());
        let start = || Server::start_for(&user, root, &[&["--tools", "all"][..], &more].concat());
        let server = self.server.get_or_insert_with(start);
        server.try_call(name, arguments)
    }

    fn command(&self, arguments: &[String], input: &str) -> Value {
        let outcome = wire::run_for(&self.world.user(), arguments, self.world.root(), input);
        let parsed = serde_json::from_str::<Value>(&outcome.stdout).unwrap_or(Value::Null);
        json!({"exit": outcome.exit, "stdout": outcome.stdout, "stderr": outcome.stderr, "json": parsed})
    }

    fn judge_answer(&mut self, group: &Group, actual: &Value) -> Result<(), String> {
        let expected = match group.answer {
            Some(fence) => self.filled(yaml(&fence.text)?),
            None => json!({}),
        };
        let line = group.answer.map_or(group.call.line, |fence| fence.line);
        let mut differences = Vec::new();
        let mut expected_fields = expected.as_object().cloned().ok_or("an answer is a mapping")?;
        if let Some(keys) = expected_fields.shift_remove("same_as_previous") {
            self.same_as_previous(&self.strings(&keys)?, actual, &mut differences);
        }
        compare::answer(&Value::Object(expected_fields.clone()), actual, "", &mut differences);
        if let Some(why) = unnamed_rejection(&expected_fields, actual) {
            differences.push(why);
        }
        if !differences.is_empty() {
            self.found.rewrites.push(update::answer(group.answer, group.call, expected_fields, actual));
        }
        self.fail(line, differences);
        Ok(())
    }

    fn same_as_previous(&self, keys: &[String], actual: &Value, differences: &mut Vec<String>) {
        let before = self.answers.last().unwrap_or(&Value::Null);
        for key in keys {
            if actual[key] != before[key] {
                let previous = &before[key];
                differences
                    .push(format!("{key}: is {}, and in the call before it was {previous}", actual[key]));
            }
        }
    }

    fn judge_state(&mut self, group: &Group, before: &State) -> Result<(), String> {
        let after: Vec<CaseEntry> = group.after.iter().map(|(_, entry)| entry.clone()).collect();
        let now = self.read_state()?;
        let mut differences = Vec::new();
        compare::state(before, &after, &now, &mut differences);
        if !differences.is_empty() {
            let fences: Vec<&Fence> = group.after.iter().map(|(fence, _)| *fence).collect();
            let last = group.answer.into_iter().chain(fences.iter().copied()).next_back();
            let rewrites = update::state(&fences, last.unwrap_or(group.call), before, &now);
            self.found.rewrites.extend(rewrites);
        }
        let line = group.after.first().map_or(group.call.line, |(fence, _)| fence.line);
        self.fail(line, differences);
        Ok(())
    }

    fn fail(&mut self, line: usize, differences: Vec<String>) {
        self.found.failures.extend(differences.into_iter().map(|why| (line, why)));
    }

    fn read_state(&self) -> Result<State, String> {
        self.world.read_state().map_err(|error| format!("the root cannot be looked at: {error}"))
    }

    fn read_call(&self, text: &str) -> Result<Call, String> {
        let call = self.filled(yaml(text)?);
        let fields = call.as_object().ok_or("a call is a mapping from a tool to its arguments")?;
        if let Some(arguments) = fields.get("lockgate") {
            let input = match fields.get("input") {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            return Ok(Call::CommandLine { arguments: self.strings(arguments)?, input });
        }
        let mut fields = fields.iter();
        match (fields.next(), fields.next()) {
            (Some((name, arguments)), None) => {
                Ok(Call::Tool { name: name.clone(), arguments: arguments.clone() })
            }
            _ => Err("a call names one tool".to_owned()),
        }
    }

    fn strings(&self, value: &Value) -> Result<Vec<String>, String> {
        let list = value.as_array().ok_or("a list of texts is wanted")?;
        let text = |value: &Value| value.as_str().map(|text| self.fill(text));
        list.iter().map(|value| text(value).ok_or_else(|| format!("{value} is no text"))).collect()
    }

    /// Puts what the case's words in braces stand for in their places: those of the workspace, and `{1.edit_id}` for a field
    /// of the answer to the first call.
    fn fill(&self, text: &str) -> String {
        let mut filled = self.world.fill(text);
        for (number, answer) in (1..).zip(&self.answers) {
            let opening = format!("{{{number}.");
            while let Some((head, tail)) = filled.split_once(&opening) {
                let Some((path, tail)) = tail.split_once('}') else { break };
                let found = answer.pointer(&format!("/{}", path.replace('.', "/")));
                let value = found.map_or_else(
                    || format!("(answer {number} has no {path})"),
                    |value| value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                );
                filled = format!("{head}{value}{tail}");
            }
        }
        filled
    }

    fn filled(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(&text)),
            Value::Array(list) => list.into_iter().map(|value| self.filled(value)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(key, value)| (key, self.filled(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }
}

impl<'a> Group<'a> {
    fn read(fences: &'a [Fence]) -> Result<Group<'a>, String> {
        let mut group = Group { call: &fences[0], answer: None, after: Vec::new() };
        for fence in &fences[1..] {
            match fence.role {
                Role::Answer if group.answer.is_none() => group.answer = Some(fence),
                Role::Answer => return Err("a second answer to one call".to_owned()),
                Role::After => group.after.push((fence, CaseEntry::read(fence)?)),
                Role::Serve | Role::Before | Role::Call => break,
            }
        }
        Ok(group)
    }
}

/// A rejection that the case does not name by its code: one for another reason would pass as well.
fn unnamed_rejection(expected: &Map<String, Value>, actual: &Value) -> Option<String> {
    let refused = actual["status"] == "refused" || actual["success"] == false || actual["is_error"] == true;
    if refused && !expected.get("code").is_some_and(Value::is_string) {
        return Some(format!(
            "was refused, and the case names no code: {} {}",
            actual["code"], actual["message"]
        ));
    }
    let failed = actual["exit"].as_i64().is_some_and(|exit| exit != 0);
    (failed && !expected.contains_key("exit"))
        .then(|| format!("ended with {}, and the case does not say so: {}", actual["exit"], actual["stderr"]))
}

fn response_json(answer: &Answer) -> Value {
    let mut actual = answer.structured.clone();
    if let Some(fields) = actual.as_object_mut() {
        fields.insert("text".to_owned(), json!(answer.text));
        fields.insert("is_error".to_owned(), json!(answer.is_error));
        return actual;
    }
    json!({"text": answer.text, "is_error": answer.is_error})
}

/// The codes that an answer block names; where a tool has few codes of its own, the precise one stands beside it.
pub fn named_codes(fence: &Fence) -> Vec<String> {
    if !matches!(fence.role, Role::Answer) {
        return Vec::new();
    }
    let Ok(answer) = yaml(&fence.text) else { return Vec::new() };
    let values = ["code", "detail"].into_iter().map(|field| &answer[field]);
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Reads a block of YAML.
pub fn yaml(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    let strict = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, strict)
        .map_err(|error| format!("the block is not YAML: {error}"))
}
