//! The tables of a journal.
//!
//! Texts have small numeric ids, and their bytes are in a table of their own, so that frequent updates
//! of a row do not rewrite a text. `texts.last` is the last edit that refers to the text, 0 for a text
//! that was only read. The oldest edits are removed first, so a text is needed while that edit exists
//! or another text is packed against it.
//!
//! Invariant: the application id identifies a database, and its lower half is the journal's name. The
//! version says which tables the database has.

use crate::staged_name::random_number;
use rusqlite::Connection;

/// The version of the tables below.
pub const VERSION: i64 = 1;

/// The upper half of the application id.
const APPLICATION: i64 = 0x4c6b;

const TABLES: &str = include_str!("journal/tables.sql");

/// The columns of `changes` for the inodes of the staged copy and of the file before. Earlier versions neither know nor
/// fill them, and need not: they are added if missing, and null means unknown inodes.
const INODES: &str = include_str!("journal/inodes.sql");

/// The table in which an earlier version records the same; it is read as well, and created if missing.
const COPIES: &str = include_str!("journal/copies.sql");

/// The state of a database's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// The database has no tables yet.
    New,
    /// A journal of this name whose tables this lockgate knows.
    Ours(u16),
    /// A journal with tables of this newer version.
    Newer(i64),
    /// A database of another program.
    Foreign,
}

/// Reads the state of the schema.
pub fn read_state(connection: &Connection) -> rusqlite::Result<SchemaState> {
    let number = |pragma| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let (id, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    let tables = number("SELECT count(*) FROM sqlite_master")?;
    Ok(match (id >> 16, version) {
        (0, 0) if id == 0 && tables == 0 => SchemaState::New,
        (APPLICATION, version) if version > VERSION => SchemaState::Newer(version),
        (APPLICATION, VERSION) => SchemaState::Ours((id & 0xffff) as u16),
        _ => SchemaState::Foreign,
    })
}

/// Adds the table and the columns that journals of an earlier version lack.
pub fn add_missing_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(COPIES)?;
    let has_inodes = "SELECT 1 FROM pragma_table_info('changes') WHERE name = 'in_place'";
    if connection.prepare(has_inodes)?.exists([])? {
        return Ok(());
    }
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {INODES} COMMIT;"))
}

/// Creates the tables and names the journal. A new name keeps a journal from answering to the edit ids
/// of the one that it replaces.
pub fn create(connection: &Connection) -> rusqlite::Result<()> {
    let name = random_number() & 0xffff;
    let id = (APPLICATION << 16) | i64::try_from(name).unwrap_or(0);
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {INODES} {COPIES} PRAGMA application_id = {id}; PRAGMA user_version = {VERSION}; COMMIT;"
    ))
}
