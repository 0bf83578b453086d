//! The same place to edit, kept in files, in SQLite or in PostgreSQL, with two servers at it.

mod answer_log;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Entity, EntityKind, Expect, HistoryRequest, Mode, Request, SearchScope, Target,
    UndoRequest,
};
use lockgate_engine::{
    EntityDatabase, Entry, EntryDiffs, LinesRequest, ListRequest, ReadRequest, Report, SearchRequest, Tenant,
    Workspace,
};
use lockgate_error::{Code, Error};
use lockgate_protocol::{ListResponse, SearchResponse};
use regex::Regex;
use tempfile::TempDir;

use super::postgres::{Database, Postgres};
use crate::suite::edits;
use answer_log::AnswerLog;

/// Where texts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Files,
    Sqlite,
    Postgres,
}

/// The app whose files are edited, and whose it is.
pub const APP: &str = "app-1";
pub const OWNER: &str = "acme";

/// The policy of every fixture.
const POLICY: &str =
    "quality_gates: { python: [{ tool: syntax }], '*': [{ tool: damage }] }\nlimits: { file: 20KiB }\n";

/// Two servers over one place.
pub struct EntityFixture {
    pub kept: Storage,
    pub servers: [Arc<Workspace>; 2],
    pub runtime: tokio::runtime::Runtime,
    /// What was answered so far, with the names of edits as the numbers of their coming.
    pub log: AnswerLog,
    pub dir: TempDir,
    database: Option<Database<'static>>,
}

impl EntityFixture {
    /// A fixture; `None` if PostgreSQL is needed and not installed.
    pub fn new(storage: Storage) -> Option<EntityFixture> {
        let dir = tempfile::tempdir().unwrap();
        let database = match storage {
            Storage::Files | Storage::Sqlite => None,
            Storage::Postgres => Some(Postgres::shared()?.database()),
        };
        let url = match &database {
            Some(database) => database.url(),
            None => format!("sqlite:{}", dir.path().join("content.db").display()),
        };
        let root = dir.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("quality.yaml"), POLICY).unwrap();
        let servers = [0, 1].map(|number| {
            // Servers of files share their records; those of a database may run on different machines.
            let own = dir.path().join(if storage == Storage::Files {
                "own".to_owned()
            } else {
                format!("own{number}")
            });
            let roots: [PathBuf; 1] = [root.clone()];
            let database = Arc::new(EntityDatabase::from_url(&url).unwrap());
            let tenant = Tenant::Organization(OWNER.to_owned());
            Workspace::at(&roots)
                .with_state_dir(&own)
                .with_database(database)
                .with_tenant(tenant)
                .open()
                .unwrap()
        });
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let fixture =
            EntityFixture { kept: storage, servers, runtime, log: AnswerLog::default(), dir, database };
        if storage != Storage::Files {
            // The first look makes the tables.
            assert_eq!(
                fixture.read(LinesRequest::from(fixture.target("src/a.txt"))).unwrap_err().code,
                Code::FileNotFound
            );
            fixture.sql(&format!("INSERT INTO apps(id, organization, at) VALUES ('{APP}', '{OWNER}', 0)"));
        }
        Some(fixture)
    }

    /// Runs a statement in the database, past lockgate.
    pub fn sql(&self, sql: &str) {
        match &self.database {
            Some(database) => drop(database.boss(sql)),
            None => {
                let database = rusqlite::Connection::open(self.dir.path().join("content.db")).unwrap();
                database.execute_batch(sql).unwrap();
            }
        }
    }

    /// What PostgreSQL answers to the role of the servers.
    pub fn query_as_server(&self, sql: &str) -> String {
        self.database.as_ref().map_or_else(String::new, |database| database.query_as_server(sql))
    }

    /// What a path names.
    pub fn target(&self, path: &str) -> Target {
        match self.kept {
            Storage::Files => Target::File(path.to_owned()),
            Storage::Sqlite | Storage::Postgres => Target::Entity(Entity {
                kind: kind("app_file"),
                path: path.to_owned(),
                app_id: Some(APP.to_owned()),
                organization_id: None,
            }),
        }
    }

    /// Where a search or a list looks.
    pub fn search_scope(&self) -> SearchScope {
        match self.kept {
            Storage::Files => SearchScope::Files,
            Storage::Sqlite | Storage::Postgres => SearchScope::Entities {
                kind: kind("app_file"),
                app_id: Some(APP.to_owned()),
                organization_id: None,
            },
        }
    }

    pub fn request(&self, path: &str, edit: Edit, mode: Mode, expect: Expect) -> Request {
        Request { mode, expect, author: author(), ..Request::new(self.target(path), edit) }
    }

    /// Edits, and writes down what was answered.
    pub fn edit_as(&self, path: &str, edit: Edit, mode: Mode, expect: Expect) -> Result<Report, Error> {
        let request = self.request(path, edit, mode, expect);
        let answer = self.runtime.block_on(self.servers[0].edit(request, Watch::idle()));
        self.log.record("edit", answer.as_ref().map(|report| self.log.report(report)));
        answer
    }

    pub fn edit(&self, path: &str, edit: Edit, expect: Expect) -> Result<Report, Error> {
        self.edit_as(path, edit, Mode::Strict, expect)
    }

    pub fn edit_all(&self, requests: Vec<Request>) -> Result<Vec<Report>, Error> {
        let answer = self.runtime.block_on(self.servers[0].edit_all(requests, Watch::idle()));
        self.log.record("edit_all", answer.as_ref().map(|reports| self.log.reports(reports)));
        answer
    }

    pub fn revert(
        &self,
        direction: Direction,
        edit_id: Option<&str>,
        path: Option<&str>,
    ) -> Result<Vec<Report>, Error> {
        let (target, author) = (path.map(|path| self.target(path)), author());
        let revert = UndoRequest { target, author, ..edits::revert(direction, edit_id.map(str::to_owned)) };
        let answer = self.runtime.block_on(self.servers[0].undo_or_redo(revert, Watch::idle()));
        self.log.record("revert", answer.as_ref().map(|reports| self.log.reports(reports)));
        answer
    }

    pub fn undo(&self, report: &Report) -> Result<Vec<Report>, Error> {
        self.revert(Direction::Undo, Some(&report.edit_id.unwrap().to_string()), None)
    }

    pub fn redo(&self, report: &Report) -> Result<Vec<Report>, Error> {
        self.revert(Direction::Redo, Some(&report.edit_id.unwrap().to_string()), None)
    }

    pub fn history(&self, path: Option<&str>, most: usize) -> Vec<Entry> {
        let history = HistoryRequest { target: path.map(|path| self.target(path)), max_entries: most };
        let entries = self.runtime.block_on(self.servers[0].read(history, Watch::idle())).unwrap();
        let shown: Vec<String> = entries.iter().map(|entry| self.log.entry(entry)).collect();
        self.log.record("history", Ok(shown.join("; ")));
        entries
    }

    pub fn remembered(&self, report: &Report) -> EntryDiffs {
        let id = report.edit_id.unwrap().to_string();
        let remembered = self.runtime.block_on(self.servers[0].entry_diffs(id)).unwrap();
        self.log.record(
            "remembered",
            Ok(format!("{} {:?}", self.log.entry(&remembered.entry), remembered.diffs)),
        );
        remembered
    }

    pub fn read<R: ReadRequest>(&self, request: R) -> Result<R::Output, Error> {
        self.runtime.block_on(self.servers[0].read(request, Watch::idle()))
    }

    /// The bytes that stand there.
    #[track_caller]
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let response = match self.read(LinesRequest::from(self.target(path))) {
            Ok(reading) => Some(reading.text.bytes().to_vec()),
            Err(rejection) if rejection.code == Code::FileNotFound => None,
            Err(rejection) => panic!("{path}: {rejection:?}"),
        };
        if self.kept == Storage::Files {
            assert_eq!(std::fs::read(self.dir.path().join("root").join(path)).ok(), response, "{path}");
        }
        response
    }

    #[track_caller]
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path).expect("it is there")).unwrap()
    }

    /// Has these bytes stand there, where nothing stands yet.
    #[track_caller]
    pub fn put(&self, path: &str, bytes: &[u8]) -> Report {
        self.edit_as(path, Edit::Restore(bytes.to_vec()), Mode::Interactive, Expect::Absent).unwrap()
    }

    pub fn search(&self, pattern: &str, path: Option<&str>, most: usize) -> Result<SearchResponse, Error> {
        let request = SearchRequest {
            pattern: pattern.to_owned(),
            path: path.map(str::to_owned),
            entity_scope: self.search_scope(),
            context: 1,
            max_matches: most,
            hidden: false,
            multiline: false,
            offset: 0,
        };
        self.read(request)
    }

    pub fn list(&self, prefix: &str, most: usize) -> Result<ListResponse, Error> {
        let (prefix, scope) = (prefix.to_owned(), self.search_scope());
        self.read(ListRequest { prefix, scope, max_entries: most })
    }

    /// What was answered so far.
    pub fn into_answers(self) -> Vec<String> {
        let lines = self.log.lines().into_iter();
        lines.map(|line| EDIT_ID.replace_all(&line, "edit ID of").into_owned()).collect()
    }
}

/// The id of an edit in a message, which differs between stores.
static EDIT_ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"edit [0-9a-f]{4}-[0-9]+ of").unwrap());

fn author() -> Author {
    Author { tool: "suite".to_owned(), name: "tester".to_owned(), confirmation_id: None }
}

/// The sort of entity of that name.
pub fn kind(name: &str) -> EntityKind {
    EntityKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap()
}

pub fn version(report: &Report) -> Expect {
    Expect::Version(report.version.unwrap().hex())
}
