//! Looking through rows: which there are within some bounds, and their texts.
//!
//! A search asks for the keys first, and then for a few texts at a time: no transaction waits for what is done with them,
//! and memory does not grow with what there is.
//!
//! Invariant: an index narrows what is found to rows that hold what every match holds; none that could match is left out.

use super::connection::{SqlDialect, get, stamp};
use super::database::EntityDatabase;
use super::statement::{Statement, UnboundStatement};
use super::{EntityStoreError, Paths, RowFound, Span};
use crate::store::rows::Tenant;
use crate::store::search::{Cell, NeedlePiece};
use std::collections::HashMap;

/// Texts that one statement asks for: the least of these numbers that is enough, so that few statements are remembered.
const TEXTS: [usize; 3] = [1, 8, 64];
/// Sequences of three characters that SQLite's index is asked for, and characters that PostgreSQL's is.
const GRAMS: usize = 16;
const LIKE: usize = 200;

/// Behind which row to go on: its path, and whose it is.
type Behind<'a> = Option<(&'a str, &'a str)>;

impl EntityDatabase {
    /// The rows that are meant, by path and then by whose they are, so many at most; those alone that hold one of these
    /// pieces, the one that says most, as far as an index knows.
    pub(in crate::store) fn among(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        pieces: &[NeedlePiece],
        behind: Behind<'_>,
        most: usize,
    ) -> Result<Vec<RowFound>, EntityStoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let piece = telling(pieces);
        let like = piece.filter(|piece| says(piece) > 0).map(like);
        let narrow = match self.dialect() {
            SqlDialect::Sqlite => piece.map(|piece| Narrow::Grams(grams(piece))),
            SqlDialect::Postgres => like.as_ref().map(|_| Narrow::Like),
        };
        let keys = keys(tenant, span, narrow.as_ref(), behind, most);
        let rows = match &like {
            Some(like) => self.search(tenant, like, keys)?,
            None => self.read(tenant, keys)?,
        };
        rows.iter().map(found).collect()
    }

    /// The texts of rows of one kind and app, in the order in which they are asked for; nothing for one that is gone.
    pub(in crate::store) fn texts(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        rows: &[RowFound],
    ) -> Result<Vec<Option<Vec<u8>>>, EntityStoreError> {
        let mut rest: Vec<&RowFound> = rows.iter().collect();
        rest.sort_by_key(|row| &row.organization);
        let of_one = rest.chunk_by(|one, other| one.organization == other.organization);
        let some = of_one.flat_map(|of_one| of_one.chunks(TEXTS[2]));
        let asked: Vec<Statement> = some.map(|some| contents(tenant, span, some)).collect();
        let mut texts: HashMap<(String, String), Vec<u8>> = HashMap::new();
        for row in self.read_all(tenant, &asked)?.iter().flatten() {
            let (text, raw): (Option<&str>, Option<&[u8]>) = (get(row, 2)?, get(row, 3)?);
            let bytes = raw.or(text.map(str::as_bytes)).unwrap_or_default().to_vec();
            texts.insert((get(row, 0)?, get(row, 1)?), bytes);
        }
        let text = |row: &RowFound| texts.remove(&(row.organization.clone(), row.path.clone()));
        Ok(rows.iter().map(text).collect())
    }
}

/// By what an index narrows what is looked for.
#[derive(Debug)]
enum Narrow {
    /// What SQLite's index is asked.
    Grams(String),
    /// The pattern stands in the policy of the table.
    Like,
}

fn keys(
    tenant: &Tenant,
    span: Span<'_>,
    narrow: Option<&Narrow>,
    behind: Behind<'_>,
    most: i64,
) -> Statement {
    const COLUMNS: &str = "SELECT e.organization, e.path, e.size, e.stamp FROM ";
    let Span { kind, app, organization, paths } = span;
    let mut keys = match narrow {
        None => UnboundStatement::new(COLUMNS).push("entities e").within(tenant, "e.organization"),
        Some(narrow) => {
            let said = "c JOIN entities e USING (kind, organization, app, path) WHERE ";
            narrowed(tenant, narrow).push(COLUMNS).push(said).reaching(tenant, "e.organization")
        }
    };
    keys = keys.push(" AND e.kind = ").bind(kind).push(" AND e.app = ").bind(app);
    if let Some(organization) = organization {
        keys = keys.push(" AND e.organization = ").bind(organization);
    }
    keys = match paths {
        Paths::All => keys,
        Paths::Only(path) => keys.push(" AND e.path = ").bind(path),
        Paths::From(first, behind) => {
            let from = keys.push(" AND e.path >= ").bind(first);
            match behind {
                Some(behind) => from.push(" AND e.path < ").bind(behind),
                None => from,
            }
        }
    };
    if let Some((path, organization)) = behind {
        keys =
            keys.push(" AND (e.path, e.organization) > (").bind(path).push(", ").bind(organization).push(")");
    }
    if let Some(Narrow::Like) = narrow {
        // How many lines are like it tells how they are best looked for.
        keys = keys.thought_over();
    }
    keys.push(" ORDER BY e.path, e.organization LIMIT ").bind(most)
}

/// The keys of texts that may hold what is looked for. They are found before anything else: which rows are meant tells the
/// database nothing that is true of how many there are, and it would go through their lines one by one.
fn narrowed(tenant: &Tenant, narrow: &Narrow) -> Statement {
    const SAME: &str = "WITH c AS MATERIALIZED (SELECT DISTINCT kind, organization, app, path FROM ";
    let lines = match narrow {
        // The order in which they are asked, too.
        Narrow::Grams(grams) => {
            let lines = UnboundStatement::new(SAME).push("grams CROSS JOIN lines ON lines.id = grams.rowid");
            lines.within(tenant, "organization").push(" AND grams MATCH ").bind(grams.as_str())
        }
        Narrow::Like => UnboundStatement::new(SAME).push("lines").within(tenant, "organization"),
    };
    lines.push(") ")
}

fn found(row: &sqlx::any::AnyRow) -> Result<RowFound, EntityStoreError> {
    Ok(RowFound {
        organization: get(row, 0)?,
        path: get(row, 1)?,
        size: u64::try_from(get::<i64>(row, 2)?).unwrap_or(u64::MAX),
        stamp: stamp(row, 3)?.ok_or_else(|| EntityStoreError::Other("a row has no stamp".to_owned()))?,
    })
}

/// The texts of some rows of one organisation.
fn contents(tenant: &Tenant, span: Span<'_>, rows: &[&RowFound]) -> Statement {
    let asked = TEXTS.into_iter().find(|number| *number >= rows.len()).unwrap_or(rows.len());
    let mut text = UnboundStatement::new(
        "SELECT organization, path, CASE WHEN raw IS NULL THEN text END, raw FROM contents",
    )
    .within(tenant, "organization")
    .push(" AND kind = ")
    .bind(span.kind)
    .push(" AND app = ")
    .bind(span.app)
    .push(" AND organization = ")
    .bind(rows.first().map_or("", |row| row.organization.as_str()))
    .push(" AND path IN (");
    // The last one stands for those that are too few.
    for (at, row) in rows.iter().chain(rows.last().into_iter().cycle()).take(asked).enumerate() {
        text = text.push(if at == 0 { "" } else { ", " }).bind(row.path.as_str());
    }
    text.push(")")
}

/// The piece that says most. It stands within one line, and so in one part of a text, which is not true of two pieces.
fn telling(pieces: &[NeedlePiece]) -> Option<&NeedlePiece> {
    pieces.iter().max_by_key(|piece| (says(piece), piece.len()))
}

/// How many of its characters are known.
fn says(piece: &NeedlePiece) -> usize {
    piece.iter().filter(|cell| matches!(cell, Cell::Exact(_))).count()
}

/// The pattern of `LIKE` for a piece.
fn like(piece: &NeedlePiece) -> String {
    let mut like = "%".to_owned();
    for cell in piece.iter().take(LIKE) {
        match cell {
            Cell::Exact(character @ ('%' | '_' | '\\')) => like.extend(['\\', *character]),
            Cell::Exact(character) => like.push(*character),
            Cell::Letter(_) => like.push('_'),
        }
    }
    like + "%"
}

/// What SQLite's index of three characters in a row is asked: it knows letters of both sizes as one.
fn grams(piece: &NeedlePiece) -> String {
    let mut grams: Vec<String> = Vec::new();
    for three in piece.windows(3) {
        let gram: String = three
            .iter()
            .map(|cell| match cell {
                Cell::Exact(c) | Cell::Letter(c) => *c,
            })
            .collect();
        let gram = format!("\"{}\"", gram.replace('"', "\"\""));
        if !grams.contains(&gram) {
            grams.push(gram);
        }
    }
    // Those that are left out stand among those that are asked for.
    let step = grams.len().div_ceil(GRAMS).max(1);
    grams.into_iter().step_by(step).collect::<Vec<String>>().join(" AND ")
}
