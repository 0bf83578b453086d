//! The tables of a journal.
//!
//! Texts have small numbers by which others name them, and their bytes lie apart: a row that is often updated must not drag
//! a text along. `texts.last` is the last edit that names the text, 0 for one that was only read; as the oldest edits are
//! forgotten first, a text is needed as long as that edit is there, or another text is packed over it.
//!
//! Invariant: a database is known by its application id, whose lower half is the journal's own name; its version says which
//! tables it has.

use rusqlite::Connection;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The version of the tables below.
pub const VERSION: i64 = 1;

/// The upper half of the application id.
const OURS: i64 = 0x4c6b;

const TABLES: &str = "
CREATE TABLE edits(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    tool TEXT NOT NULL,
    author TEXT NOT NULL,
    request BLOB NOT NULL,
    kind INTEGER NOT NULL,
    of INTEGER NOT NULL,
    gates TEXT NOT NULL,
    undone INTEGER,
    settled INTEGER NOT NULL
) STRICT;
CREATE INDEX edits_begun ON edits(number) WHERE settled = 0;
CREATE INDEX edits_undone ON edits(undone) WHERE undone IS NOT NULL;
CREATE TABLE changes(
    edit INTEGER NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    staged TEXT NOT NULL,
    before BLOB,
    after BLOB,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    mode INTEGER,
    folders INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    PRIMARY KEY(edit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_path ON changes(path, edit);
CREATE TABLE texts(
    id INTEGER PRIMARY KEY,
    stamp BLOB NOT NULL UNIQUE,
    base INTEGER,
    depth INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL
) STRICT;
CREATE INDEX texts_read ON texts(at) WHERE last = 0;
CREATE TABLE bytes(text INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;
";

/// Which files the staged copies of an edit are that is under way, and the files before. Earlier versions know neither the table nor
/// that they should fill it, and need not: it is made where it is missing, and a row that is missing is one that says nothing.
const COPIES: &str = "
CREATE TABLE IF NOT EXISTS copies(
    edit INTEGER NOT NULL,
    position INTEGER NOT NULL,
    copy INTEGER,
    born INTEGER,
    before INTEGER,
    in_place INTEGER NOT NULL,
    PRIMARY KEY(edit, position)
) STRICT, WITHOUT ROWID;
";

/// What a database says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// It has nothing in it yet.
    New,
    /// It is a journal of that name, and this lockgate knows its tables.
    Ours(u16),
    /// It is a journal with tables of a later version.
    Newer(i64),
    /// It is something else.
    Foreign,
}

/// Reads what the database is.
pub fn said(connection: &Connection) -> rusqlite::Result<SchemaState> {
    let number = |pragma| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let (id, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    let tables = number("SELECT count(*) FROM sqlite_master")?;
    Ok(match (id >> 16, version) {
        (0, 0) if id == 0 && tables == 0 => SchemaState::New,
        (OURS, version) if version > VERSION => SchemaState::Newer(version),
        (OURS, VERSION) => SchemaState::Ours((id & 0xffff) as u16),
        _ => SchemaState::Foreign,
    })
}

/// Makes what a journal of an earlier version lacks.
pub fn complete(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(COPIES)
}

/// Makes the tables, and gives the journal a name: one begun in the place of another must not answer to the other's ids.
pub fn make(connection: &Connection) -> rusqlite::Result<()> {
    let name = RandomState::new().build_hasher().finish() & 0xffff;
    let id = (OURS << 16) | i64::try_from(name).unwrap_or(0);
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {COPIES} PRAGMA application_id = {id}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))
}
