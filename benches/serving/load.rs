//! The load: clients that each have their calls to make at their times, whether the last one was answered or not.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use memchr::memmem;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::entities::{Entity, Kind, organization, version};
use super::options::{Options, Storage};
use super::peer::{Peer, PeerResponse};
use super::random::Random;
use super::report::{CallKind, Record};
use super::wire::{field, quoted};

/// How often an edit that met another one is built anew.
const AGAIN: u32 = 20;
/// Of a hundred edits, how many are of the few entities that all edit.
const HOT: usize = 5;
/// How many these are, for each organisation.
const HOT_ENTITIES: usize = 4;

/// What all clients share.
pub struct Load {
    pub options: Options,
    /// The folder of the files, if the entities are files.
    pub roots: std::path::PathBuf,
    pub entities: RefCell<Vec<Entity>>,
    /// What each organisation reaches.
    pub reach: Vec<Vec<usize>>,
    pub seen: LoadResults,
    pub begun: Cell<Option<Instant>>,
    /// Edits that were begun.
    pub edits: Cell<usize>,
}

/// What the clients saw.
#[derive(Default)]
pub struct LoadResults {
    pub records: RefCell<Vec<Record>>,
    /// Edits that were acknowledged: number, entity, and the journal's name for each where the answer told it.
    pub acknowledged: RefCell<Vec<(usize, usize, Option<String>)>>,
    /// Edits that were refused, by entity: their marks must be nowhere.
    pub refused: RefCell<Vec<(usize, usize)>>,
    /// What must not be.
    pub broken: RefCell<Vec<String>>,
    pub conflicts: Cell<usize>,
    pub rebased: Cell<usize>,
    pub resent: Cell<usize>,
    /// Resent edits that had been made when no answer came.
    pub already_applied: Cell<usize>,
    /// How late the clients themselves were.
    pub late: RefCell<Vec<Duration>>,
}

fn count(counter: &Cell<usize>) {
    counter.set(counter.get() + 1);
}

impl Load {
    pub fn new(options: &Options, roots: std::path::PathBuf) -> Load {
        let entities: Vec<Entity> =
            (0..options.entities).map(|number| Entity::new(number, options.organizations)).collect();
        let reached = |own: usize| {
            let within = |one: &&Entity| one.kind == Kind::Module || one.organization == own;
            entities.iter().filter(within).map(|one| one.number).collect()
        };
        Load {
            options: options.clone(),
            roots,
            reach: (0..options.organizations).map(reached).collect(),
            entities: RefCell::new(entities),
            seen: LoadResults::default(),
            begun: Cell::new(None),
            edits: Cell::new(0),
        }
    }

    /// The fields that name an entity.
    pub fn entity_fields(&self, entity: &Entity) -> String {
        if self.options.storage == Storage::Files {
            let of = match entity.kind {
                Kind::Module => "global".to_owned(),
                Kind::AppFile | Kind::Workflow => organization(entity.organization),
            };
            return format!(r#""path":"{}/{of}/{}""#, self.roots.display(), entity.path);
        }
        let more = match entity.kind {
            Kind::AppFile => format!(r#","app_id":"{}""#, entity.app()),
            Kind::Workflow => format!(r#","organization_id":"{}""#, organization(entity.organization)),
            Kind::Module => String::new(),
        };
        format!(r#""path":"{}","entity_type":"{}"{more}"#, entity.path, entity.kind.name())
    }

    /// One client's calls, until all edits are made.
    pub async fn client(self: Rc<Load>, number: usize, own: usize, mut peer: Peer) {
        let options = &self.options;
        let rate = options.edits_a_second + options.reads_a_second;
        let period = options.clients as f64 / rate;
        let edits = options.edits_a_second / rate;
        let mut dice = Random(number as u64 * 7919 + 1);
        let start = self.begun.get().expect("it has begun");
        for turn in 0.. {
            let part = number as f64 / options.clients as f64 + dice.below(500) as f64 / 1000.0;
            let due = start + Duration::from_secs_f64(period * (f64::from(turn) + part));
            let idle = Instant::now() < due;
            sleep_until(due).await;
            if idle {
                self.seen.late.borrow_mut().push(due.elapsed());
            }
            if self.edits.get() >= options.edits {
                return;
            }
            // So many of the turns are edits, and another client's are others.
            let share = |turn: f64| (turn * edits).floor();
            let turn = f64::from(turn) + number as f64;
            let (sort, code) = if share(turn + 1.0) > share(turn) {
                self.edit(&mut peer, own, &mut dice).await
            } else {
                self.read(&mut peer, own, &mut dice).await
            };
            let record = Record { sort, due: due - start, took: due.elapsed(), code };
            self.seen.records.borrow_mut().push(record);
        }
    }

    async fn edit(&self, peer: &mut Peer, own: usize, dice: &mut Random) -> (CallKind, Option<String>) {
        let reachable = &self.reach[own];
        let bound = if dice.below(100) < HOT { HOT_ENTITIES } else { reachable.len() };
        let entity_number = reachable[dice.below(bound)];
        let sort = if dice.below(10) < 3 { CallKind::Replace } else { CallKind::Patch };
        let number = self.edits.replace(self.edits.get() + 1);
        let part = dice.below(self.entities.borrow()[entity_number].parts);
        let code = self.execute(peer, own, (entity_number, part, number), sort).await;
        (sort, code.err())
    }

    /// Makes one edit, and makes it anew from what is there where another came before it.
    async fn execute(
        &self,
        peer: &mut Peer,
        own: usize,
        (entity_number, part, number): (usize, usize, usize),
        sort: CallKind,
    ) -> Result<(), String> {
        let mut resent = 0;
        for _ in 0..AGAIN {
            let Some((tool, arguments)) = self.instruction(entity_number, part, number, sort) else {
                self.read_again(peer, own, entity_number).await?;
                continue;
            };
            let response = self.call(peer, own, tool, &arguments).await?;
            resent += response.resent;
            match response.code().as_deref() {
                None => {
                    self.acknowledge(&response, entity_number, part, number);
                    return Ok(());
                }
                Some("EDIT_CONFLICT") => {
                    count(&self.seen.conflicts);
                    self.read_again(peer, own, entity_number).await?;
                    // It may be one's own edit that it met, of which no answer came.
                    if self.entities.borrow()[entity_number].marks.iter().any(|(_, edit)| *edit == number) {
                        count(&self.seen.already_applied);
                        self.seen.acknowledged.borrow_mut().push((number, entity_number, None));
                        return Ok(());
                    }
                }
                Some(code) => {
                    if resent == 0 && memmem::find(&response.body, b"\"written\":false").is_some() {
                        self.seen.refused.borrow_mut().push((number, entity_number));
                    }
                    return Err(code.to_owned());
                }
            }
        }
        Err("ALWAYS_A_CONFLICT".to_owned())
    }

    /// The call that makes an edit; nothing where the text that it would replace is not known.
    pub fn instruction(
        &self,
        entity_number: usize,
        part: usize,
        number: usize,
        sort: CallKind,
    ) -> Option<(&'static str, String)> {
        let entity = &self.entities.borrow()[entity_number];
        let (fields, expected) = (self.entity_fields(entity), &entity.version);
        if sort == CallKind::Patch {
            let (old, mark) = (entity.anchor(part), entity.mark_line(number));
            let (old, new) = (quoted(&old), quoted(&(mark + &old)));
            let arguments = format!(
                r#"{{{fields},"old_string":{old},"new_string":{new},"expected_version":"{expected}"}}"#
            );
            return Some(("patch_content", arguments));
        }
        if version(&entity.text()) != *expected {
            return None;
        }
        let mut marks = entity.marks.clone();
        marks.push((part, number));
        let content = quoted(&entity.text_with(&marks));
        Some((
            "replace_content",
            format!(r#"{{{fields},"content":{content},"expected_version":"{expected}"}}"#),
        ))
    }

    pub fn acknowledge(&self, response: &PeerResponse, entity_number: usize, part: usize, number: usize) {
        let entity = &mut self.entities.borrow_mut()[entity_number];
        entity.marks.push((part, number));
        if let Some(version) = field(&response.body, "version") {
            version.clone_into(&mut entity.version);
        }
        let made_already = field(&response.body, "status") == Some("already_applied");
        if made_already {
            count(&self.seen.already_applied);
            if response.resent == 0 {
                self.broken(format!("edit {number} was there before it was made"));
            }
        }
        if memmem::find(&response.body, b"rebased from").is_some() {
            count(&self.seen.rebased);
        }
        let id = field(&response.body, "edit_id").map(str::to_owned);
        self.seen.acknowledged.borrow_mut().push((number, entity_number, id));
    }

    /// Reads an entity anew.
    async fn read_again(&self, peer: &mut Peer, own: usize, entity_number: usize) -> Result<(), String> {
        let fields = self.entity_fields(&self.entities.borrow()[entity_number]);
        let response = self.call(peer, own, "get_content", &format!("{{{fields}}}")).await?;
        response.code().map_or(Ok(()), Err)?;
        let message: Value = serde_json::from_slice(json(&response.body)).map_err(|_| "NO_JSON")?;
        let document = &message["result"]["structuredContent"];
        let (text, now) =
            (document["content"].as_str().unwrap_or(""), document["version"].as_str().unwrap_or(""));
        let entity = &mut self.entities.borrow_mut()[entity_number];
        match entity.marks_in(text) {
            Some(marks) => (entity.marks, entity.version) = (marks, now.to_owned()),
            None => self.broken(format!("{} is no text that the edits make", entity.path)),
        }
        Ok(())
    }

    /// Calls, and looks whether the answer shows what is another's.
    pub async fn call(
        &self,
        peer: &mut Peer,
        own: usize,
        tool: &str,
        arguments: &str,
    ) -> Result<PeerResponse, String> {
        let response = peer.call(tool, arguments).await?;
        self.seen.resent.set(self.seen.resent.get() + response.resent as usize);
        self.inspect(tool, own, &response.body);
        Ok(response)
    }

    /// Looks whether an answer to an organisation shows what is another's.
    pub fn inspect(&self, tool: &str, own: usize, body: &[u8]) {
        let scope = format!("{own:02}");
        for at in memmem::find_iter(body, b"@@o") {
            let escape = body.get(at + 3..at + 5).unwrap_or_default();
            if escape != scope.as_bytes() && escape != b"gl" {
                let shown = String::from_utf8_lossy(body);
                self.broken(format!("{tool} showed organisation {own} what is another's: {shown:.300}"));
            }
        }
    }

    pub fn broken(&self, what: String) {
        self.seen.broken.borrow_mut().push(what);
    }
}

/// The message of an answer, which is a line of its own where it came as an event.
fn json(body: &[u8]) -> &[u8] {
    let mut lines = body.split(|byte| *byte == b'\n');
    lines.find_map(|line| line.strip_prefix(b"data: ").filter(|data| data.starts_with(b"{"))).unwrap_or(body)
}
