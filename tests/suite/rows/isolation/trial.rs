//! The same calls in two fixtures, and whether the answers differ.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::calls::{CallState, FOREIGN, call, own};
use super::fixture::{Actor, Caller, Front, IsolationFixture, Store};
use super::setup::{settle, settle_foreign};
use crate::suite::random::Random;
use crate::suite::wire::Answer;

/// What an answer says differently each time, and what stands for it.
static MASKS: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (r#""ms":[0-9]+"#, "\"ms\":0"),
        // The text names the time of a gate only if it took some.
        (r" [0-9]+(?:\.[0-9])? m?s\b", ""),
        (r"[0-9]+ seconds? ago", "0 seconds ago"),
        (r"\b20[0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9:.]+Z?", "TIME"),
    ]
    .map(|(pattern, word)| (Regex::new(pattern).unwrap(), word))
});

/// The name of an edit.
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9a-f]{4}-[0-9]+").unwrap());

/// An answer without the parts that differ between two fixtures in any case.
fn masked(answer: &Answer, fixture: &IsolationFixture) -> String {
    let answer = json!({"is_error": answer.is_error, "structured": answer.structured, "text": answer.text});
    let mut text = answer.to_string().replace(fixture.dir.path().to_str().unwrap(), "WORLD");
    for (pattern, word) in MASKS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    let name = |found: &regex::Captures<'_>| {
        fixture.edits.iter().position(|name| *name == found[0]).map_or_else(|| found[0].to_owned(), own)
    };
    NAME.replace_all(&text, name).into_owned()
}

/// The arguments with the names that edits have in this fixture.
fn named(arguments: &Value, fixture: &IsolationFixture) -> Value {
    let mut text = arguments.to_string();
    for (number, name) in fixture.edits.iter().enumerate() {
        if text.contains("{own:") {
            text = text.replace(&own(number), name);
        }
    }
    serde_json::from_str(&text).unwrap()
}

/// Tools that reach for entities come more often.
pub const OFTEN: [&str; 7] = [
    "get_content",
    "search_content",
    "patch_content",
    "replace_content",
    "undo_edit",
    "redo_edit",
    "list_edits",
];

/// Calls after which somebody else goes on working.
const ROUND: usize = 250;

/// A run of calls in two fixtures: the real one, and its twin without the other organisation.
pub struct Trial {
    seed: u64,
    dice: Random,
    worlds: [IsolationFixture; 2],
    callers: [Caller; 2],
    foreigner: Caller,
    /// What is somebody else's.
    foreign: BTreeSet<String>,
    known: CallState,
    /// How often each tool was answered in which way.
    answers: HashMap<String, usize>,
}

impl Trial {
    pub fn new(seed: u64, front: Front, actors: [Actor; 2], store: fn(&Path) -> Store) -> Trial {
        let mut worlds = [IsolationFixture::new(front, store), IsolationFixture::new(front, store)];
        worlds[0].set_up(true);
        worlds[1].set_up(false);
        let mut state = CallState::default();
        let mut foreigner = worlds[0].caller(Actor::Organization(FOREIGN));
        settle_foreign(&mut foreigner, &mut state, 0);
        worlds.iter_mut().for_each(|fixture| settle(fixture, actors[1]));
        let callers = [0, 1].map(|at| worlds[at].caller(actors[at]));
        let foreign = worlds[0].store.rows_of(FOREIGN);
        Trial {
            seed,
            dice: Random(seed),
            worlds,
            callers,
            foreigner,
            foreign,
            known: state,
            answers: HashMap::new(),
        }
    }

    /// Makes so many calls; `Err` describes the first whose answers differ between the two fixtures, or changed what is
    /// somebody else's.
    pub fn run(mut self, count: usize) -> Result<HashMap<String, usize>, String> {
        for number in 0..count {
            if number % ROUND == ROUND - 1 {
                self.guard(number)?;
                settle_foreign(&mut self.foreigner, &mut self.known, number);
                self.foreign = self.worlds[0].store.rows_of(FOREIGN);
            }
            self.call(number)?;
        }
        self.guard(count)?;
        let [real, twin] =
            [&self.worlds[0], &self.worlds[1]].map(|fixture| fixture.store.entities_but_of(FOREIGN));
        if real == twin {
            return Ok(self.answers);
        }
        Err(format!("seed {}: what is there in the end differs: {real:#?}\n{twin:#?}", self.seed))
    }

    /// Sees that what is somebody else's is as it was.
    fn guard(&self, number: usize) -> Result<(), String> {
        let now = self.worlds[0].store.rows_of(FOREIGN);
        let changed: Vec<&String> = now.symmetric_difference(&self.foreign).take(4).collect();
        if changed.is_empty() {
            Ok(())
        } else {
            Err(format!("seed {}, by call {number}: {changed:#?}", self.seed))
        }
    }

    /// Makes the next call in both fixtures.
    pub fn call(&mut self, number: usize) -> Result<(), String> {
        let tools = lockgate_mcp::tools::TOOLS;
        let often = self.dice.one_in(2);
        let tool = if often { self.dice.pick(&OFTEN) } else { tools[self.dice.below(tools.len())].name };
        let arguments = call(&mut self.dice, &self.known, tool, number);
        let what = format!("seed {}, call {number}: {tool} {arguments}", self.seed);
        let ids = [0, 1].map(|at| self.callers[at].post(tool, &named(&arguments, &self.worlds[at])));
        let answers = [0, 1].map(|at| self.callers[at].wait(ids[at]));
        let [Ok(real), Ok(twin)] = answers else {
            // What is no call of the tool is refused by the protocol, in both.
            return if answers.iter().all(Result::is_err) {
                Ok(())
            } else {
                Err(format!("{what}: {answers:#?}"))
            };
        };
        for (fixture, answer) in self.worlds.iter_mut().zip([&real, &twin]) {
            let new = answer.structured["edit_id"].as_str().map(str::to_owned);
            fixture.edits.extend(new.filter(|id| !answer.is_error && !fixture.edits.contains(id)));
        }
        let (actual, expected) = (masked(&real, &self.worlds[0]), masked(&twin, &self.worlds[1]));
        if actual != expected {
            return Err(format!("{what}\n{}", describe_difference(&actual, &expected)));
        }
        self.known.own_edits = self.worlds[0].edits.len();
        self.known.own_versions.extend(real.structured["version"].as_str().map(str::to_owned));
        let outcome = match (real.is_error, real.status()) {
            (true, _) => real.code(),
            (false, "") => "seen",
            (false, status) => status,
        };
        *self.answers.entry(format!("{tool} {outcome}")).or_default() += 1;
        Ok(())
    }
}

/// Where two answers part.
fn describe_difference(actual: &str, expected: &str) -> String {
    let common_length = actual.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let bytes = &text.as_bytes()[common_length.saturating_sub(300).min(text.len())..];
        String::from_utf8_lossy(&bytes[..bytes.len().min(900)]).into_owned()
    };
    format!("...{}...\nbut without them\n...{}...", excerpt(actual), excerpt(expected))
}
