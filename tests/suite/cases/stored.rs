//! The content of the database of a case's user, read without lockgate: each entity as if it were a file under a name such as
//! `{workflow acme}/a.py`.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Row};
use serde_json::Value;

use super::entry::Kind;
use super::workspace::{Entry, State};

/// Puts every entity of this user into a state.
pub fn read_entities(user: &Path, state: &mut State) {
    let Some(file) = database(&user.join("state")) else { return };
    let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let statement =
        "SELECT e.kind, e.organization, e.app, e.path, coalesce(c.raw, CAST(c.text AS BLOB)), e.changed
        FROM entities e JOIN contents c USING(kind, organization, app, path)";
    // One that has no tables yet has no entity.
    let Ok(mut statement) = database.prepare(statement) else { return };
    let entry = |row: &Row<'_>| {
        let part = |at| row.get::<_, String>(at);
        let id = if part(2)?.is_empty() { part(1)? } else { part(2)? };
        let entry = Entry { kind: Kind::File(row.get(4)?), mode: 0, identity: (0, row.get(5)?, 0) };
        Ok((name(&part(0)?, &id, &part(3)?), entry))
    };
    state.extend(statement.query_map((), entry).unwrap().map(Result::unwrap));
}

/// The name of the entity in an answer, if any; `whole` is the complete answer that contains `part`.
pub fn entity_in_answer(part: &Value, whole: &Value) -> Option<String> {
    let field = |name: &str| [part, whole].into_iter().find_map(|answer| answer[name].as_str());
    let kind = field("entity_type").filter(|kind| *kind != "file")?;
    let id = field("app_id").or(field("organization_id")).unwrap_or_default();
    Some(name(kind, id, part["path"].as_str()?))
}

/// True if a name is one of an entity.
pub fn is_name(name: &str) -> bool {
    name.starts_with('{') && !name.starts_with("{outside}/")
}

fn name(kind: &str, id: &str, path: &str) -> String {
    let blank = if id.is_empty() { "" } else { " " };
    format!("{{{kind}{blank}{id}}}/{path}")
}

/// The file of the database, wherever it is among the user's.
fn database(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => database(&path),
        false => path.ends_with("content.db").then_some(path),
    })
}
