//! A fixture with two organisations or with one, over PostgreSQL or SQLite, reached over pipes or HTTP.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::calls::{ACTOR, ACTORS_APP, FOREIGN, FOREIGN_APP, FREE_APP};
use crate::suite::http::raw::{Client, ProtocolEra};
use crate::suite::http::server_process::{ServerProcess, entry, written};
use crate::suite::rows::postgres::Database;
use crate::suite::wire::{Answer, Server, lockgate};

/// The tables of PostgreSQL whose rows are somebody's.
pub const OWNED: &str = "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND \
     column_name = 'organization' ORDER BY 1";

/// A database, as one of the two kinds.
pub enum Store {
    Sqlite(PathBuf),
    Postgres(Database<'static>),
}

impl Store {
    fn url(&self) -> String {
        match self {
            Store::Sqlite(file) => format!("sqlite:{}", file.display()),
            Store::Postgres(database) => database.url(),
        }
    }

    pub fn run(&self, sql: &str) {
        match self {
            Store::Sqlite(file) => rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap(),
            Store::Postgres(database) => drop(database.boss(sql)),
        }
    }

    /// Every row that is of an organisation, in every table that knows one.
    pub fn rows_of(&self, organization: &str) -> BTreeSet<String> {
        match self {
            Store::Sqlite(file) => {
                let database = rusqlite::Connection::open(file).unwrap();
                let names = "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' \
                     AND c.name = 'organization'";
                let mut names = database.prepare(names).unwrap();
                let names: Vec<String> =
                    names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
                names.iter().flat_map(|name| rows(&database, name, organization)).collect()
            }
            Store::Postgres(database) => {
                let names = database.boss(OWNED);
                let each = names.lines().map(|name| {
                    format!("SELECT '{name} ' || replace(t::text, E'\\n', '|') FROM {name} t WHERE organization = '{organization}';")
                });
                let all = database.boss(&each.collect::<String>());
                all.lines().map(str::to_owned).collect()
            }
        }
    }
}

impl Store {
    /// Every entity that is not of an organisation, with its version.
    pub fn entities_but_of(&self, organization: &str) -> Vec<String> {
        let fields = "kind || ' ' || organization || ' ' || app || ' ' || path || ' ' || revision || ' '";
        match self {
            Store::Sqlite(file) => {
                let database = rusqlite::Connection::open(file).unwrap();
                let all =
                    format!("SELECT {fields} || hex(stamp) FROM entities WHERE organization <> ? ORDER BY 1");
                let mut all = database.prepare(&all).unwrap();
                all.query_map([organization], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            Store::Postgres(database) => {
                let all = format!(
                    "SELECT {fields} || encode(stamp, 'hex') FROM entities WHERE organization <> '{organization}' ORDER BY 1"
                );
                database.boss(&all).lines().map(str::to_owned).collect()
            }
        }
    }
}

/// The rows of one table that are of an organisation.
fn rows(database: &rusqlite::Connection, table: &str, organization: &str) -> Vec<String> {
    let mut all = database.prepare(&format!("SELECT * FROM {table} WHERE organization = ?")).unwrap();
    let columns = all.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values: Vec<String> = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
        Ok(format!("{table} {}", values.join(", ")))
    };
    all.query_map([organization], row).unwrap().map(Result::unwrap).collect()
}

/// Who makes the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    Organization(&'static str),
    Nobody,
}

/// How servers are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// One server for each who calls, told by a flag whose entities it reaches.
    Pipes,
    /// One server for all, which sees by the token.
    Http,
}

/// One who calls.
pub enum Caller {
    Pipes(Server),
    Http(Client),
}

impl Caller {
    pub fn post(&mut self, tool: &str, arguments: &Value) -> u64 {
        match self {
            Caller::Pipes(server) => server.post_call(tool, arguments),
            Caller::Http(client) => client.post_call(tool, arguments),
        }
    }

    pub fn wait(&mut self, id: u64) -> Result<Answer, String> {
        match self {
            Caller::Pipes(server) => server.wait_answer(id),
            Caller::Http(client) => {
                let message = client.raw.response()?.answer();
                let result = message.get("result").ok_or_else(|| message.to_string())?;
                Ok(Answer::from_result(result))
            }
        }
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let id = self.post(tool, arguments);
        self.wait(id).unwrap_or_else(|why| panic!("{tool} {arguments}: {why}"))
    }
}

/// A database with the servers at it, and a name for each edit that the actor made.
pub struct IsolationFixture {
    pub dir: TempDir,
    pub store: Store,
    served: Option<ServerProcess>,
    pub edits: Vec<String>,
}

impl IsolationFixture {
    pub fn new(front: Front, store: impl FnOnce(&Path) -> Store) -> IsolationFixture {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let root = dir.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let served = (front == Front::Http).then(|| {
            let token = |name: &str, whose: &str| {
                entry(name, &token(name), &format!("roots: ['{}'], tools: [all]{whose}", root.display()))
            };
            let tokens = [
                token(ACTOR, &format!(", organization: {ACTOR}")),
                token(FOREIGN, &format!(", organization: {FOREIGN}")),
                token("nobody", ""),
            ];
            let home = tempfile::tempdir().unwrap();
            let file = written(home.path(), &format!("listen: '127.0.0.1:0'\ntokens:\n{}", tokens.concat()));
            let mut command = lockgate(home.path());
            command.args(["serve", "--config"]).arg(file).env("LOCKGATE_STORE", store.url());
            ServerProcess::by(command, home)
        });
        IsolationFixture { dir, store, served, edits: Vec::new() }
    }

    pub fn caller(&self, actor: Actor) -> Caller {
        if let Some(served) = &self.served {
            let name = match actor {
                Actor::Organization(name) => name,
                Actor::Nobody => "nobody",
            };
            return Caller::Http(served.client(&token(name), ProtocolEra::New));
        }
        let (name, arguments) = match actor {
            Actor::Organization(name) => (name, vec!["--tools", "all", "--organization", name]),
            Actor::Nobody => ("nobody", vec!["--tools", "all"]),
        };
        let mut command = lockgate(&self.dir.path().join(name));
        command.env("LOCKGATE_STORE", self.store.url());
        Caller::Pipes(Server::start_by(command, &self.dir.path().join("root"), &arguments))
    }

    /// Makes the tables, and the apps: those of both fixtures, and those of the other organisation.
    pub fn set_up(&self, foreign: bool) {
        let mut server = self.caller(Actor::Nobody);
        let response = server.call("get_content", &json!({"entity_type": "module", "path": "none.py"}));
        assert_eq!(response.code(), "FILE_NOT_FOUND", "{}", response.text);
        let mut apps = vec![(ACTORS_APP, ACTOR), (FREE_APP, "")];
        if foreign {
            apps.push((FOREIGN_APP, FOREIGN));
        }
        for (app, organization) in apps {
            self.store.run(&format!(
                "INSERT INTO apps(id, organization, at) VALUES ('{app}', '{organization}', 0)"
            ));
        }
    }
}

/// What a client of that name shows.
fn token(name: &str) -> String {
    format!("the-token-of-{name}-0123456789")
}
