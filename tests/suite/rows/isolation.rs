//! What an organisation has is nobody else's: whoever reaches for it is answered to the byte as if it were not there.
//!
//! Each call is made in two worlds, of which one has somebody else's entities and the other has not. What was answered is
//! compared, and what is somebody else's must be as it was.

#[path = "isolation/calls.rs"]
mod calls;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::postgres::{Database, Postgres};
use crate::suite::http::raw::{Client, Era, Served, entry, written};
use crate::suite::wire::{Answer, Server, lockgate};
use calls::{ACTOR, ACTORS_APP, Dice, FOREIGN, FOREIGN_APP, FREE_APP, Known, call, own, text};

/// The tables of PostgreSQL whose rows are somebody's.
const OWNED: &str = "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND \
     column_name = 'organization' ORDER BY 1";

/// A database, as one of the two kinds.
enum Store {
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

    fn run(&self, sql: &str) {
        match self {
            Store::Sqlite(file) => rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap(),
            Store::Postgres(database) => drop(database.boss(sql)),
        }
    }

    /// Every row that is of an organisation, in every table that knows one.
    fn rows_of(&self, organization: &str) -> BTreeSet<String> {
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
    fn entities_but_of(&self, organization: &str) -> Vec<String> {
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
enum Actor {
    Organization(&'static str),
    Nobody,
}

/// How servers are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Front {
    /// One server for each who calls, told by a flag whose entities it reaches.
    Pipes,
    /// One server for all, which sees by the token.
    Http,
}

/// One who calls.
enum Caller {
    Pipes(Server),
    Http(Client),
}

impl Caller {
    fn post(&mut self, tool: &str, arguments: &Value) -> u64 {
        match self {
            Caller::Pipes(server) => server.post_call(tool, arguments),
            Caller::Http(client) => client.post_call(tool, arguments),
        }
    }

    fn wait(&mut self, id: u64) -> Result<Answer, String> {
        match self {
            Caller::Pipes(server) => server.wait_answer(id),
            Caller::Http(client) => {
                let message = client.raw.response()?.answer();
                let result = message.get("result").ok_or_else(|| message.to_string())?;
                let parts = result["content"].as_array().cloned().unwrap_or_default();
                let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
                Ok(Answer {
                    is_error: result["isError"] == json!(true),
                    structured: result["structuredContent"].clone(),
                    text: texts.join("\n"),
                })
            }
        }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let id = self.post(tool, arguments);
        self.wait(id).unwrap_or_else(|why| panic!("{tool} {arguments}: {why}"))
    }
}

/// A database with the servers at it, and a name for each edit that the actor made.
struct World {
    dir: TempDir,
    store: Store,
    served: Option<Served>,
    edits: Vec<String>,
}

impl World {
    fn new(front: Front, store: impl FnOnce(&Path) -> Store) -> World {
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
            Served::by(command, home)
        });
        World { dir, store, served, edits: Vec::new() }
    }

    fn caller(&self, actor: Actor) -> Caller {
        if let Some(served) = &self.served {
            let name = match actor {
                Actor::Organization(name) => name,
                Actor::Nobody => "nobody",
            };
            return Caller::Http(served.client(&token(name), Era::New));
        }
        let (name, arguments) = match actor {
            Actor::Organization(name) => (name, vec!["--tools", "all", "--organization", name]),
            Actor::Nobody => ("nobody", vec!["--tools", "all"]),
        };
        let mut command = lockgate(&self.dir.path().join(name));
        command.env("LOCKGATE_STORE", self.store.url());
        Caller::Pipes(Server::start_by(command, &self.dir.path().join("root"), &arguments))
    }

    /// Makes the tables, and the apps: those that are there in both worlds, and somebody else's.
    fn found(&self, foreign: bool) {
        let mut server = self.caller(Actor::Nobody);
        let seen = server.call("get_content", &json!({"entity_type": "module", "path": "none.py"}));
        assert_eq!(seen.code(), "FILE_NOT_FOUND", "{}", seen.text);
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

/// Makes something.
fn make(server: &mut Caller, known: &mut Vec<(String, Value)>, arguments: Value) -> Answer {
    let answer = server.call("replace_content", &arguments);
    assert_eq!(answer.status(), "written", "{arguments}: {}", answer.text);
    known.push(("replace_content".to_owned(), arguments));
    answer
}

fn app_file(app: &str, path: &str, content: &str) -> Value {
    json!({"entity_type": "app_file", "app_id": app, "path": path, "content": content})
}

fn workflow(organization: Option<&str>, path: &str, content: &str) -> Value {
    let mut fields = json!({"entity_type": "workflow", "path": path, "content": content});
    if let Some(organization) = organization {
        fields["organization_id"] = json!(organization);
    }
    fields
}

/// What nobody has, and what the actor has where it is an organisation.
fn settle(world: &mut World, actor: Actor) {
    let mut nobody = world.caller(Actor::Nobody);
    let known = &mut Vec::new();
    let module = text("module", "everybody", 2);
    let mut made = vec![
        make(&mut nobody, known, workflow(None, "flows/everybody.py", &text("workflow", "everybody", 1))),
        make(
            &mut nobody,
            known,
            json!({"entity_type": "module", "path": "mods/everybody.py", "content": module}),
        ),
        make(&mut nobody, known, app_file(FREE_APP, "src/both.py", &text("file", "everybody", 3))),
    ];
    if let Actor::Organization(name) = actor {
        let mut own = world.caller(actor);
        for path in ["src/own.py", "src/both.py", "lib/own.txt"] {
            made.push(make(&mut own, known, app_file(ACTORS_APP, path, &text("file", name, 1))));
        }
        made.push(make(&mut own, known, workflow(None, "flows/own.py", &text("workflow", name, 2))));
        made.push(make(&mut own, known, workflow(Some(name), "flows/both.py", &text("workflow", name, 3))));
    }
    let ids = made.iter().map(|answer| answer.structured["edit_id"].as_str().unwrap().to_owned());
    world.edits.extend(ids);
}

/// What somebody else has and does.
fn settle_foreign(server: &mut Caller, known: &mut Known, round: usize) {
    let calls = &mut known.foreign_calls;
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
    let gone = json!({"entity_type": "app_file", "app_id": FOREIGN_APP, "path": "lib/theirs.txt"});
    answers.push(server.call("delete_content", &gone));
    let last = answers.last().unwrap().structured["edit_id"].clone();
    answers.push(server.call("undo_edit", &json!({"edit_id": last})));
    for answer in answers {
        assert!(!answer.is_error, "{}", answer.text);
        known.foreign_edits.push(answer.structured["edit_id"].as_str().unwrap().to_owned());
        known.foreign_versions.extend(answer.structured["version"].as_str().map(str::to_owned));
    }
}

/// What an answer says differently each time, and what stands for it.
static MASKS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        (r#""ms":[0-9]+"#, "\"ms\":0"),
        (r"[0-9]+ ms\b", "0 ms"),
        (r"\b20[0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9:.]+Z?", "TIME"),
    ]
    .map(|(pattern, word)| (Regex::new(pattern).unwrap(), word))
});

/// The name of an edit.
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9a-f]{4}-[0-9]+").unwrap());

/// An answer without what differs from world to world whoever is in it.
fn masked(answer: &Answer, world: &World) -> String {
    let answer = json!({"is_error": answer.is_error, "structured": answer.structured, "text": answer.text});
    let mut text = answer.to_string().replace(world.dir.path().to_str().unwrap(), "WORLD");
    for (pattern, word) in MASKS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    let name = |found: &regex::Captures<'_>| {
        world.edits.iter().position(|name| *name == found[0]).map_or_else(|| found[0].to_owned(), own)
    };
    NAME.replace_all(&text, name).into_owned()
}

/// The arguments with the names that edits have in this world.
fn named(arguments: &Value, world: &World) -> Value {
    let mut text = arguments.to_string();
    for (number, name) in world.edits.iter().enumerate() {
        if text.contains("{own:") {
            text = text.replace(&own(number), name);
        }
    }
    serde_json::from_str(&text).unwrap()
}

/// Tools that reach for entities come more often.
const OFTEN: [&str; 7] = [
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

/// A run of calls in two worlds: the real one, and its twin in which nobody else is.
struct Trial {
    seed: u64,
    dice: Dice,
    worlds: [World; 2],
    callers: [Caller; 2],
    foreigner: Caller,
    /// What is somebody else's.
    foreign: BTreeSet<String>,
    known: Known,
    /// How often each tool was answered in which way.
    answers: HashMap<String, usize>,
}

impl Trial {
    fn new(seed: u64, front: Front, actors: [Actor; 2], store: fn(&Path) -> Store) -> Trial {
        let mut worlds = [World::new(front, store), World::new(front, store)];
        worlds[0].found(true);
        worlds[1].found(false);
        let mut known = Known::default();
        let mut foreigner = worlds[0].caller(Actor::Organization(FOREIGN));
        settle_foreign(&mut foreigner, &mut known, 0);
        worlds.iter_mut().for_each(|world| settle(world, actors[1]));
        let callers = [0, 1].map(|at| worlds[at].caller(actors[at]));
        let foreign = worlds[0].store.rows_of(FOREIGN);
        Trial { seed, dice: Dice(seed), worlds, callers, foreigner, foreign, known, answers: HashMap::new() }
    }

    /// Makes so many calls; `Err` tells of the first that was answered otherwise in the two worlds, or changed what is
    /// somebody else's.
    fn run(mut self, count: usize) -> Result<HashMap<String, usize>, String> {
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
            [&self.worlds[0], &self.worlds[1]].map(|world| world.store.entities_but_of(FOREIGN));
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

    /// Makes the next call in both worlds.
    fn call(&mut self, number: usize) -> Result<(), String> {
        let tools = lockgate::front::tools::TOOLS;
        let often = self.dice.one_in(2);
        let tool = if often { *self.dice.of(&OFTEN) } else { self.dice.of(tools).name };
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
        for (world, answer) in self.worlds.iter_mut().zip([&real, &twin]) {
            let new = answer.structured["edit_id"].as_str().map(str::to_owned);
            world.edits.extend(new.filter(|id| !answer.is_error && !world.edits.contains(id)));
        }
        let (told, wanted) = (masked(&real, &self.worlds[0]), masked(&twin, &self.worlds[1]));
        if told != wanted {
            return Err(format!("{what}\n{}", apart(&told, &wanted)));
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
fn apart(told: &str, wanted: &str) -> String {
    let apart = told.bytes().zip(wanted.bytes()).take_while(|(one, other)| one == other).count();
    let near = |text: &str| {
        let bytes = &text.as_bytes()[apart.saturating_sub(300).min(text.len())..];
        String::from_utf8_lossy(&bytes[..bytes.len().min(900)]).into_owned()
    };
    format!("...{}...\nbut without them\n...{}...", near(told), near(wanted))
}

fn sqlite(dir: &Path) -> Store {
    Store::Sqlite(dir.join("content.db"))
}

fn postgres(_: &Path) -> Store {
    Store::Postgres(Postgres::shared().unwrap().database())
}

/// How many calls are made, together.
const CALLS: usize = 10_000;

#[track_caller]
fn holds(seed: u64, count: usize, front: Front, actor: Actor, store: fn(&Path) -> Store) {
    let codes =
        Trial::new(seed, front, [actor, actor], store).run(count).unwrap_or_else(|wrong| panic!("{wrong}"));
    let mut told: Vec<String> = codes.iter().map(|(code, count)| format!("{count} {code}")).collect();
    told.sort();
    println!("{}", told.join("\n"));
    // The calls reach what they are about: edits are written, and what is out of reach is not found.
    for tool in ["get_content", "patch_content", "replace_content", "delete_content"] {
        assert!(codes.contains_key(&format!("{tool} FILE_NOT_FOUND")), "{tool}: {told:?}");
    }
    for outcome in
        ["patch_content written", "replace_content written", "undo_edit written", "search_content seen"]
    {
        assert!(codes.contains_key(outcome), "{outcome}: {told:?}");
    }
}

#[test]
fn no_call_of_an_organisation_learns_of_another_in_postgresql_over_http() {
    if Postgres::shared().is_some() {
        holds(1, CALLS * 4 / 10, Front::Http, Actor::Organization(ACTOR), postgres);
    }
}

#[test]
fn no_call_of_nobody_learns_of_an_organisation_in_postgresql() {
    if Postgres::shared().is_some() {
        holds(2, CALLS / 10, Front::Pipes, Actor::Nobody, postgres);
    }
}

#[test]
fn no_call_of_an_organisation_learns_of_another_in_sqlite() {
    holds(3, CALLS * 4 / 10, Front::Pipes, Actor::Organization(ACTOR), sqlite);
}

#[test]
fn no_call_of_nobody_learns_of_an_organisation_in_sqlite_over_http() {
    holds(4, CALLS / 10, Front::Http, Actor::Nobody, sqlite);
}

/// The control: who reaches what is somebody else's is caught, whatever is reached for first.
#[test]
fn a_call_that_learns_of_another_organisation_is_caught() {
    let actors = [Actor::Organization(FOREIGN), Actor::Organization(ACTOR)];
    for (seed, front) in [(0, Front::Pipes), (1, Front::Http), (2, Front::Pipes)] {
        let caught = Trial::new(seed, front, actors, sqlite).run(60);
        assert!(caught.is_err(), "{caught:?}");
    }
}

/// Who forgets early forgets nothing but its own.
#[test]
fn a_small_journal_forgets_no_edit_of_another_organisation() {
    for store in [sqlite, postgres] {
        if Postgres::shared().is_none() {
            return;
        }
        let mut world = World::new(Front::Pipes, store);
        world.found(true);
        let mut foreigner = world.caller(Actor::Organization(FOREIGN));
        let mut known = Known::default();
        settle_foreign(&mut foreigner, &mut known, 0);
        settle(&mut world, Actor::Organization(ACTOR));
        let before = world.store.rows_of(FOREIGN);
        std::fs::write(world.dir.path().join("root/quality.yaml"), "limits: { journal: 4KiB }\n").unwrap();
        let mut forgetful = world.caller(Actor::Organization(ACTOR));
        let edits = |caller: &mut Caller| {
            let told = caller.call("list_edits", &json!({"max_results": 100}));
            let edits =
                told.structured["edits"].as_array().unwrap_or_else(|| panic!("{}", told.text)).clone();
            edits.iter().map(|edit| edit["edit_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // It forgets while nobody waits for it.
        for number in 0.. {
            if number > 20 && edits(&mut forgetful).len() < 20 {
                break;
            }
            make(
                &mut forgetful,
                &mut Vec::new(),
                app_file(ACTORS_APP, "src/own.py", &text("file", ACTOR, number)),
            );
        }
        assert_eq!(world.store.rows_of(FOREIGN), before);
        let kept = edits(&mut foreigner);
        assert!(known.foreign_edits.iter().all(|id| kept.contains(id)), "{kept:?}");
    }
}

/// Runs a statement in a session as a server has it, scoped to an organisation or to nobody.
fn scoped(database: &Database<'_>, organization: Option<&str>, sql: &str) -> Result<String, String> {
    let scope =
        organization.map_or_else(String::new, |name| format!("SET LOCAL lockgate.organization = '{name}';"));
    database.try_keeper(&format!("BEGIN; {scope} {sql}; COMMIT;"))
}

/// Also a statement that forgot whose rows are meant sees, changes and makes nothing of another organisation.
#[test]
fn row_level_security_holds_where_a_statement_is_wrong() {
    if Postgres::shared().is_none() {
        return;
    }
    let mut world = World::new(Front::Pipes, postgres);
    world.found(true);
    let mut known = Known::default();
    settle_foreign(&mut world.caller(Actor::Organization(FOREIGN)), &mut known, 0);
    settle(&mut world, Actor::Organization(ACTOR));
    let Store::Postgres(database) = &world.store else { unreachable!() };
    let tables = database.boss(OWNED);
    let tables: Vec<&str> = tables.lines().collect();
    assert!(tables.contains(&"entities") && tables.contains(&"apps") && tables.len() >= 5, "{tables:?}");
    let owners = |organization: Option<&str>, table: &str| {
        let all = format!("SELECT DISTINCT organization FROM {table} ORDER BY 1");
        scoped(database, organization, &all).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let before = world.store.rows_of(FOREIGN);
    for table in &tables {
        let all = database.boss(&format!("SELECT DISTINCT organization FROM {table}"));
        assert!(all.lines().any(|owner| owner == FOREIGN), "{table}: there is something to be seen");
        assert!(owners(Some(ACTOR), table).iter().all(|owner| owner.is_empty() || owner == ACTOR), "{table}");
        assert!(owners(Some(ACTOR), table).contains(&ACTOR.to_owned()), "{table}");
        assert!(owners(None, table).iter().all(String::is_empty), "{table}");
        // Nor by a setting that was left behind empty.
        assert!(owners(Some(""), table).iter().all(String::is_empty), "{table}");
        let took = format!("UPDATE {table} SET organization = '{FOREIGN}'");
        let refused = scoped(database, Some(ACTOR), &took).unwrap_err();
        assert!(refused.contains("row-level security"), "{table}: {refused}");
        let made = format!(
            "INSERT INTO {table} SELECT (jsonb_populate_record(t, '{{\"organization\": \"{FOREIGN}\"}}')).* FROM {table} t"
        );
        let refused = scoped(database, Some(ACTOR), &made).unwrap_err();
        assert!(refused.contains("row-level security"), "{table}: {refused}");
    }
    assert_eq!(world.store.rows_of(FOREIGN), before);
    // The control: where it is off, the same statements see and change what is somebody else's.
    for table in &tables {
        database.boss(&format!("ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"));
        assert!(
            owners(Some(ACTOR), table).contains(&FOREIGN.to_owned()),
            "{table}: its owner is held by force alone"
        );
        database.boss(&format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY"));
    }
    let delete_all = |table: &str| scoped(database, Some(ACTOR), &format!("DELETE FROM {table}")).unwrap();
    tables.iter().for_each(|table| drop(delete_all(table)));
    assert_eq!(world.store.rows_of(FOREIGN), before);
    for table in &tables {
        database.boss(&format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"));
        delete_all(table);
    }
    assert!(world.store.rows_of(FOREIGN).is_empty());
}
