//! Looking through rows: which there are within some bounds, and their texts.
//!
//! A search asks for the keys first, and then for a few texts at a time: no transaction waits for what is done with them,
//! and memory does not grow with what there is.
//!
//! Invariant: an index narrows what is found to rows that hold what every match holds; none that could match is left out.

use super::depot::Depot;
use super::dialect::Dialect;
use super::session::{Session, get, stamp};
use super::statement::{Draft, Statement};
use super::{Failure, Paths, RowFound, Span};
use crate::store::rows::Tenant;
use crate::store::search::{Cell, Piece};
use std::collections::HashMap;

/// Texts that one statement asks for: the least of these numbers that is enough, so that few statements are remembered.
const TEXTS: [usize; 3] = [1, 8, 64];
/// Sequences of three characters that SQLite's index is asked for, and characters that PostgreSQL's is.
const GRAMS: usize = 16;
const LIKE: usize = 200;

/// Behind which row to go on: its path, and whose it is.
type Behind<'a> = Option<(&'a str, &'a str)>;

impl Depot {
    /// The rows that are meant, by path and then by whose they are, so many at most; those alone that hold all of these
    /// pieces, as far as an index knows.
    pub(in crate::store) fn among(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        pieces: &[Piece],
        behind: Behind<'_>,
        most: usize,
    ) -> Result<Vec<RowFound>, Failure> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let (like, grams) = (like(pieces), grams(pieces));
        let work = async |session: &mut Session<'_>| {
            let narrow = match session.dialect {
                Dialect::Sqlite => grams.as_deref().map_or(Narrow::Not, Narrow::Grams),
                Dialect::Postgres => like.as_ref().map_or(Narrow::Not, |_| Narrow::Like),
            };
            let rows = session.all(keys(tenant, span, narrow, behind, most)).await?;
            rows.iter().map(found).collect()
        };
        match &like {
            Some(like) => self.search(tenant, like, work),
            None => self.read(tenant, work),
        }
    }

    /// The texts of rows of one kind and app, in the order in which they are asked for; nothing for one that is gone.
    pub(in crate::store) fn texts(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        rows: &[RowFound],
    ) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        self.read(tenant, async |session| {
            let mut texts: HashMap<(String, String), Vec<u8>> = HashMap::new();
            let mut rest: Vec<&RowFound> = rows.iter().collect();
            rest.sort_by_key(|row| &row.organization);
            for of_one in rest.chunk_by(|one, other| one.organization == other.organization) {
                for some in of_one.chunks(TEXTS[2]) {
                    for row in session.all(contents(tenant, span, some)).await? {
                        let (text, raw): (Option<&str>, Option<&[u8]>) = (get(&row, 2)?, get(&row, 3)?);
                        let bytes = raw.or(text.map(str::as_bytes)).unwrap_or_default().to_vec();
                        texts.insert((get(&row, 0)?, get(&row, 1)?), bytes);
                    }
                }
            }
            let text = |row: &RowFound| texts.remove(&(row.organization.clone(), row.path.clone()));
            Ok(rows.iter().map(text).collect())
        })
    }
}

/// By what an index narrows what is looked for.
#[derive(Debug, Clone, Copy)]
enum Narrow<'a> {
    Not,
    /// What SQLite's index is asked.
    Grams(&'a str),
    /// The pattern stands in the policy of the table.
    Like,
}

fn keys(tenant: &Tenant, span: Span<'_>, narrow: Narrow<'_>, behind: Behind<'_>, most: i64) -> Statement {
    const COLUMNS: &str = "SELECT e.organization, e.path, e.size, e.stamp FROM ";
    const SAME: &str =
        "e.kind = c.kind AND e.organization = c.organization AND e.app = c.app AND e.path = c.path";
    let from = match narrow {
        Narrow::Not => "entities e".to_owned(),
        // The order in which they are asked, too.
        Narrow::Grams(_) => {
            format!("grams CROSS JOIN contents c ON c.id = grams.rowid CROSS JOIN entities e ON {SAME}")
        }
        Narrow::Like => format!("contents c JOIN entities e ON {SAME}"),
    };
    let Span { kind, app, organization, paths } = span;
    let mut keys = Draft::new(COLUMNS).push(&from).within(tenant, "e.organization");
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
    keys = match narrow {
        Narrow::Not => keys,
        Narrow::Grams(grams) => keys.push(" AND grams MATCH ").bind(grams),
        // How many texts are like it tells how they are best looked for.
        Narrow::Like => keys.thought_over(),
    };
    keys.push(" ORDER BY e.path, e.organization LIMIT ").bind(most)
}

fn found(row: &sqlx::any::AnyRow) -> Result<RowFound, Failure> {
    Ok(RowFound {
        organization: get(row, 0)?,
        path: get(row, 1)?,
        size: u64::try_from(get::<i64>(row, 2)?).unwrap_or(u64::MAX),
        stamp: stamp(row, 3)?.ok_or_else(|| Failure::Other("a row has no stamp".to_owned()))?,
    })
}

/// The texts of some rows of one organisation.
fn contents(tenant: &Tenant, span: Span<'_>, rows: &[&RowFound]) -> Statement {
    let asked = TEXTS.into_iter().find(|number| *number >= rows.len()).unwrap_or(rows.len());
    let mut text =
        Draft::new("SELECT organization, path, CASE WHEN raw IS NULL THEN text END, raw FROM contents")
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

/// The pattern of `LIKE` for the piece that says most; nothing where no piece says anything.
fn like(pieces: &[Piece]) -> Option<String> {
    let says = |piece: &Piece| piece.iter().filter(|cell| matches!(cell, Cell::Exact(_))).count();
    let most = pieces.iter().max_by_key(|piece| says(piece)).filter(|piece| says(piece) > 0)?;
    let mut like = "%".to_owned();
    for cell in most.iter().take(LIKE) {
        match cell {
            Cell::Exact(character @ ('%' | '_' | '\\')) => like.extend(['\\', *character]),
            Cell::Exact(character) => like.push(*character),
            Cell::Letter(_) => like.push('_'),
        }
    }
    Some(like + "%")
}

/// What SQLite's index of three characters in a row is asked: it knows letters of both sizes as one.
fn grams(pieces: &[Piece]) -> Option<String> {
    let mut grams: Vec<String> = Vec::new();
    for three in pieces.iter().flat_map(|piece| piece.windows(3)) {
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
    let asked: Vec<String> = grams.into_iter().step_by(step).collect();
    (!asked.is_empty()).then(|| asked.join(" AND "))
}
