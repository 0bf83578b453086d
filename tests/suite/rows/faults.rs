//! What becomes of edits when the database, its disk or the wire to it fails: each is there once or not at all, the answer
//! says no more than is known, and the same server serves again when the trouble is over.

mod file;
mod full;
mod killed;
mod migration;
mod unavailable;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use lockgate_checks::Watch;
use lockgate_edit::request::{Direction, Entity, Expect, HistoryRequest, Request, SearchScope, Target};
use lockgate_edit::{Edit, Insertion, LineEditNames};
use lockgate_engine::{EntityDatabase, Entry, LinesRequest, Report, SearchRequest, Tenant, Workspace};
use lockgate_error::{Code, Disk, Error};
use lockgate_text::Version;
use tokio::runtime::Runtime;

use super::fixture::{APP, OWNER, kind};
use super::postgres::PASSWORD;
use crate::suite::edits;

/// A server of this process, with records of its own.
#[derive(Clone)]
pub struct Client {
    pub workspace: Arc<Workspace>,
    runtime: Arc<Runtime>,
}

impl Client {
    pub fn new(url: &str, own: &Path) -> Client {
        let database = Arc::new(EntityDatabase::from_url(url).unwrap());
        let tenant = Tenant::Organization(OWNER.to_owned());
        let workspace = Workspace::without_roots()
            .with_state_dir(own)
            .with_database(database)
            .with_tenant(tenant)
            .open()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        Client { workspace, runtime: Arc::new(runtime.unwrap()) }
    }

    pub fn edit(&self, path: &str, edit: Edit, expect: Expect) -> Result<Report, Error> {
        self.runtime.block_on(self.workspace.edit(request(path, edit, expect), Watch::idle()))
    }

    pub fn append(&self, path: &str, line: &str) -> Result<Report, Error> {
        let edit = Edit::Insert(vec![Insertion {
            at_line: Insertion::END,
            content: line.to_owned(),
            expect: None,
            names: LineEditNames::Lists,
        }]);
        self.edit(path, edit, Expect::Anything)
    }

    pub fn put(&self, path: &str, text: &str) -> Result<Report, Error> {
        self.edit(path, Edit::Content(text.to_owned()), Expect::Anything)
    }

    pub fn edit_all(&self, requests: Vec<Request>) -> Result<Vec<Report>, Error> {
        self.runtime.block_on(self.workspace.edit_all(requests, Watch::idle()))
    }

    pub fn undo(&self, edit_id: &str) -> Result<Vec<Report>, Error> {
        let revert = edits::revert(Direction::Undo, Some(edit_id.to_owned()));
        self.runtime.block_on(self.workspace.undo_or_redo(revert, Watch::idle()))
    }

    /// What stands there; `None` where nothing does.
    pub fn try_text(&self, path: &str) -> Result<Option<String>, Error> {
        match self.runtime.block_on(self.workspace.read(LinesRequest::from(target(path)), Watch::idle())) {
            Ok(reading) => Ok(Some(reading.text.view().to_owned())),
            Err(rejection) if rejection.code == Code::FileNotFound => Ok(None),
            Err(rejection) => Err(rejection),
        }
    }

    #[track_caller]
    pub fn text(&self, path: &str) -> Option<String> {
        self.try_text(path).unwrap()
    }

    /// How many lines of the app match a pattern.
    #[track_caller]
    pub fn matches(&self, pattern: &str) -> usize {
        let request = SearchRequest {
            pattern: pattern.to_owned(),
            path: None,
            entity_scope: SearchScope::Entities {
                kind: kind("app_file"),
                app_id: Some(APP.to_owned()),
                organization_id: None,
            },
            context: 0,
            max_matches: 100,
            hidden: false,
            multiline: false,
            offset: 0,
        };
        self.runtime.block_on(self.workspace.read(request, Watch::idle())).unwrap().matches.len()
    }

    #[track_caller]
    pub fn history(&self, path: &str) -> Vec<Entry> {
        let history = HistoryRequest { target: Some(target(path)), max_entries: 1000 };
        self.runtime.block_on(self.workspace.read(history, Watch::idle())).unwrap()
    }

    /// Whether every text of every edit is remembered.
    #[track_caller]
    pub fn remembers(&self, entries: &[Entry]) {
        for entry in entries {
            let remembered = self.runtime.block_on(self.workspace.entry_diffs(entry.id.to_string())).unwrap();
            assert!(remembered.diffs.iter().all(Option::is_some), "{entry:?}");
        }
    }
}

pub fn target(path: &str) -> Target {
    Target::Entity(Entity {
        kind: kind("app_file"),
        path: path.to_owned(),
        app_id: Some(APP.to_owned()),
        organization_id: None,
    })
}

pub fn request(path: &str, edit: Edit, expect: Expect) -> Request {
    Request { expect, ..Request::new(target(path), edit) }
}

/// The statement that makes the app of the tests.
pub fn the_app() -> String {
    format!("INSERT INTO apps(id, organization, at) VALUES ('{APP}', '{OWNER}', 0)")
}

/// The outcome of a write, as its answer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    There,
    Absent,
    /// It may be there or not.
    Unknown,
}

/// What an answer says of an edit; a rejection must be one of a store that fails, and must say nothing of how it is reached.
#[track_caller]
pub fn write_outcome<T>(answer: &Result<T, Error>) -> WriteOutcome {
    match answer {
        Ok(_) => WriteOutcome::There,
        Err(rejection) => {
            clear(rejection);
            match rejection.disk {
                Disk::Untouched => WriteOutcome::Absent,
                Disk::Unknown => WriteOutcome::Unknown,
            }
        }
    }
}

#[track_caller]
pub fn clear(rejection: &Error) {
    assert!(matches!(rejection.code, Code::StoreUnavailable | Code::NoSpace), "{rejection:?}");
    assert!(!rejection.message.is_empty(), "{rejection:?}");
    let message = format!("{rejection:?}");
    for secret in [PASSWORD, "s3cret", "keeper", "INSERT", "SELECT"] {
        assert!(!message.contains(secret), "{message}");
    }
}

/// The lines that were sent to one text, one by one, and what was answered.
#[derive(Debug)]
pub struct WriteLog {
    pub path: String,
    sent: Vec<(String, WriteOutcome)>,
}

impl WriteLog {
    /// Begins a text.
    #[track_caller]
    pub fn begin(client: &Client, path: &str) -> WriteLog {
        client.put(path, "begin\n").unwrap();
        WriteLog { path: path.to_owned(), sent: Vec::new() }
    }

    #[track_caller]
    pub fn note<T>(&mut self, line: &str, answer: &Result<T, Error>) -> WriteOutcome {
        let outcome = write_outcome(answer);
        self.sent(line, outcome);
        outcome
    }

    pub fn sent(&mut self, line: &str, outcome: WriteOutcome) {
        self.sent.push((line.to_owned(), outcome));
    }

    /// Holds what stands there against what was answered: each edit once or not at all, and each of them remembered.
    #[track_caller]
    pub fn check(&self, witness: &Client) {
        // The database may still commit what a killed server has sent, between the reading of text and history.
        let read = || (witness.text(&self.path).expect("it is there"), witness.history(&self.path));
        let mut both = read();
        while witness.text(&self.path).as_ref() != Some(&both.0) {
            both = read();
        }
        let (text, history) = both;
        let mut lines: Vec<&str> = text.lines().skip(1).collect();
        for (sent, outcome) in &self.sent {
            let count = lines.iter().filter(|line| *line == sent).count();
            let holds = match outcome {
                WriteOutcome::There => count == 1,
                WriteOutcome::Absent => count == 0,
                WriteOutcome::Unknown => count <= 1,
            };
            assert!(holds, "{sent} stands there {count} times, and was {outcome:?}\n{self:#?}\n{text}");
        }
        assert_eq!(history.len(), lines.len() + 1, "{self:#?}\n{text}\n{history:#?}");
        assert_eq!(history[0].changes[0].after, Some(Version::hash(text.as_bytes())));
        let chained = history.windows(2).all(|two| two[0].changes[0].before == two[1].changes[0].after);
        assert!(chained && history.last().unwrap().changes[0].before.is_none(), "{history:#?}");
        witness.remembers(&history);
        lines.retain(|line| !self.sent.iter().any(|(sent, _)| sent == line));
        assert!(lines.is_empty(), "nobody sent {lines:?}");
    }
}

/// The control: what is lost, made twice or half there is seen.
#[test]
fn a_ledger_that_does_not_hold_is_caught() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("content.db");
    let client = Client::new(&format!("sqlite:{}", file.display()), &dir.path().join("own"));
    assert_eq!(client.text("src/a.txt"), None);
    let database = rusqlite::Connection::open(&file).unwrap();
    database.execute_batch(&the_app()).unwrap();
    let holds = |path: &str, change: &dyn Fn(&mut WriteLog)| {
        let mut ledger = WriteLog::begin(&client, path);
        for line in ["one.", "two."] {
            ledger.note(line, &client.append(path, line));
        }
        ledger.sent("never.", WriteOutcome::Absent);
        ledger.sent("perhaps.", WriteOutcome::Unknown);
        change(&mut ledger);
        catch_unwind(AssertUnwindSafe(|| ledger.check(&client))).is_ok()
    };
    assert!(holds("src/a.txt", &|_| ()));
    assert!(!holds("src/lost.txt", &|ledger| ledger.sent("three.", WriteOutcome::There)));
    assert!(!holds("src/there.txt", &|ledger| ledger.sent[0].1 = WriteOutcome::Absent));
    assert!(!holds("src/twice.txt", &|ledger| drop(client.append(&ledger.path, "one.").unwrap())));
    assert!(!holds("src/nobody.txt", &|ledger| drop(client.append(&ledger.path, "three.").unwrap())));
    for (path, table) in [("src/journal.txt", "changes"), ("src/text.txt", "texts")] {
        let forget =
            format!("DELETE FROM {table} WHERE path = '{path}' AND at = (SELECT max(at) FROM {table})");
        assert!(!holds(path, &|_| database.execute_batch(&forget).unwrap()), "{table}");
    }
}
