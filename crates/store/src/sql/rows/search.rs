//! Lists rows and reads their texts for a search.
//!
//! A search first queries the keys, then a few texts at a time. So no transaction stays open while
//! texts are processed, and memory use does not grow with the database.
//!
//! Invariant: an index narrows the result to rows that contain a required piece of every match; it
//! never drops a row that could match.

use super::super::columns::count;
use super::database::EntityDatabase;
use super::dialect::SqlDialect;
use super::statement::{Statement, UnboundStatement};
use super::value::Row;
use super::{EntityStoreError, Paths, RowFound, Span};
use crate::search::{Cell, NeedlePiece};
use crate::tenant::Tenant;
use std::collections::HashMap;

/// The batch sizes for texts. The smallest sufficient one is used, so that few distinct statements are
/// prepared.
const TEXTS: [usize; 3] = [1, 8, 64];
/// The maximum number of trigrams sent to SQLite's index, and of characters sent to PostgreSQL's.
const GRAMS: usize = 16;
const LIKE: usize = 200;

/// The row after which a listing continues: its path and its owner.
type ListingCursor<'a> = Option<(&'a str, &'a str)>;

impl EntityDatabase {
    /// Returns the rows in the span, ordered by path and then by owner, at most `most`. An index
    /// narrows them to rows that contain the most selective of these pieces, as far as it can.
    pub(crate) fn find(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        pieces: &[NeedlePiece],
        after: ListingCursor<'_>,
        most: usize,
    ) -> Result<Vec<RowFound>, EntityStoreError> {
        let most = count(most);
        let piece = most_selective(pieces);
        let like = piece.filter(|piece| known_chars(piece) > 0).map(like);
        let narrow = match self.dialect() {
            SqlDialect::Sqlite => piece.map(|piece| Narrow::Grams(grams(piece))),
            SqlDialect::Postgres => like.as_ref().map(|_| Narrow::Like),
        };
        let keys = keys(tenant, span, narrow.as_ref(), after, most);
        let rows = match &like {
            Some(like) => self.search(tenant, like, keys)?,
            None => self.read(tenant, keys)?,
        };
        rows.iter().map(found).collect()
    }

    /// Returns the texts of rows of one type and app, in the requested order; `None` for a row that is
    /// gone.
    pub(crate) fn texts(
        &self,
        tenant: &Tenant,
        span: Span<'_>,
        rows: &[RowFound],
    ) -> Result<Vec<Option<Vec<u8>>>, EntityStoreError> {
        let mut rest: Vec<&RowFound> = rows.iter().collect();
        rest.sort_by_key(|row| &row.organization);
        let of_one = rest.chunk_by(|one, other| one.organization == other.organization);
        let batches = of_one.flat_map(|of_one| of_one.chunks(TEXTS[2]));
        let statements: Vec<Statement> = batches.map(|batch| contents(tenant, span, batch)).collect();
        let mut texts: HashMap<(String, String), Vec<u8>> = HashMap::new();
        for row in self.read_all(tenant, &statements)?.iter().flatten() {
            texts.insert((row.get(0)?, row.get(1)?), row.content(2, 3)?.unwrap_or_default());
        }
        let text = |row: &RowFound| texts.remove(&(row.organization.clone(), row.path.clone()));
        Ok(rows.iter().map(text).collect())
    }
}

/// The condition that narrows a search through an index.
#[derive(Debug)]
enum Narrow {
    /// A query for SQLite's trigram index.
    Grams(String),
    /// The policy of the table contains the pattern.
    Like,
}

fn keys(
    tenant: &Tenant,
    span: Span<'_>,
    narrow: Option<&Narrow>,
    after: ListingCursor<'_>,
    most: i64,
) -> Statement {
    const COLUMNS: &str = "SELECT e.organization, e.path, e.size, e.stamp FROM ";
    let Span { kind, app, organization, paths } = span;
    let mut keys = match narrow {
        None => UnboundStatement::new(COLUMNS).push("entities e").in_scope(tenant, "e.organization"),
        Some(narrow) => {
            let join = "c JOIN entities e USING (kind, organization, app, path) WHERE ";
            keys_by_index(tenant, narrow).push(COLUMNS).push(join).push_scope(tenant, "e.organization")
        }
    };
    keys = keys.push(" AND e.kind = ").bind(kind).push(" AND e.app = ").bind(app);
    if let Some(organization) = organization {
        keys = keys.push(" AND e.organization = ").bind(organization);
    }
    keys = match paths {
        Paths::All => keys,
        Paths::Only(path) => keys.push(" AND e.path = ").bind(path),
        Paths::Prefix(prefix) => {
            let from = keys.push(" AND e.path >= ").bind(prefix);
            match successor(prefix) {
                Some(end) => from.push(" AND e.path < ").bind(end.as_str()),
                None => from,
            }
        }
    };
    if let Some((path, organization)) = after {
        keys = keys.push(" AND (e.path, e.organization) > (").bind(path).bind_next(organization).push(")");
    }
    if let Some(Narrow::Like) = narrow {
        // The best plan depends on the number of matching lines.
        keys = keys.plan_each_time();
    }
    keys.push(" ORDER BY e.path, e.organization LIMIT ").bind(most)
}

/// Returns the smallest text after all texts with this prefix, in byte order; `None` if there is none.
fn successor(beginning: &str) -> Option<String> {
    let mut characters: Vec<char> = beginning.chars().collect();
    while let Some(last) = characters.pop() {
        // Skips the surrogates, which are not characters.
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

/// Selects the keys of texts that may match, before any other condition. The other conditions give the
/// planner wrong row estimates, and it would scan the lines one by one.
fn keys_by_index(tenant: &Tenant, narrow: &Narrow) -> Statement {
    const SAME: &str = "WITH c AS MATERIALIZED (SELECT DISTINCT kind, organization, app, path FROM ";
    let lines = match narrow {
        // `CROSS JOIN` fixes this order of evaluation in SQLite.
        Narrow::Grams(grams) => {
            let lines = UnboundStatement::new(SAME).push("grams CROSS JOIN lines ON lines.id = grams.rowid");
            lines.in_scope(tenant, "organization").push(" AND grams MATCH ").bind(grams.as_str())
        }
        Narrow::Like => UnboundStatement::new(SAME).push("lines").in_scope(tenant, "organization"),
    };
    lines.push(") ")
}

fn found(row: &Row) -> Result<RowFound, EntityStoreError> {
    Ok(RowFound {
        organization: row.get(0)?,
        path: row.get(1)?,
        size: u64::try_from(row.get::<i64>(2)?).unwrap_or(u64::MAX),
        version: row.get(3)?,
    })
}

/// Selects the texts of some rows of one organisation.
fn contents(tenant: &Tenant, span: Span<'_>, rows: &[&RowFound]) -> Statement {
    let placeholders = TEXTS.into_iter().find(|number| *number >= rows.len()).unwrap_or(rows.len());
    let mut text = UnboundStatement::new(
        "SELECT organization, path, CASE WHEN raw IS NULL THEN text END, raw FROM contents",
    )
    .in_scope(tenant, "organization")
    .push(" AND kind = ")
    .bind(span.kind)
    .push(" AND app = ")
    .bind(span.app)
    .push(" AND organization = ")
    .bind(rows.first().map_or("", |row| row.organization.as_str()))
    .push(" AND path IN (");
    // Repeat the last row to fill the batch.
    for (at, row) in rows.iter().chain(rows.last().into_iter().cycle()).take(placeholders).enumerate() {
        text = text.push(if at == 0 { "" } else { ", " }).bind(row.path.as_str());
    }
    text.push(")")
}

/// Returns the most selective piece. One piece lies within one line and so in one part of a text; two
/// pieces may not.
fn most_selective(pieces: &[NeedlePiece]) -> Option<&NeedlePiece> {
    pieces.iter().max_by_key(|piece| (known_chars(piece), piece.len()))
}

/// The number of known characters.
fn known_chars(piece: &NeedlePiece) -> usize {
    piece.iter().filter(|cell| matches!(cell, Cell::Exact(_))).count()
}

/// Returns the `LIKE` pattern for a piece.
fn like(piece: &NeedlePiece) -> String {
    let mut like = "%".to_owned();
    for cell in piece.iter().take(LIKE) {
        match cell {
            Cell::Exact(character @ ('%' | '_' | '\\')) => like.extend(['\\', *character]),
            Cell::Exact(character) => like.push(*character),
            Cell::EitherCase(_) => like.push('_'),
        }
    }
    like + "%"
}

/// Returns the query for SQLite's trigram index, which ignores case.
fn grams(piece: &NeedlePiece) -> String {
    let mut grams: Vec<String> = Vec::new();
    for three in piece.windows(3) {
        let gram: String = three
            .iter()
            .map(|cell| match cell {
                Cell::Exact(c) | Cell::EitherCase(c) => *c,
            })
            .collect();
        let gram = format!("\"{}\"", gram.replace('"', "\"\""));
        if !grams.contains(&gram) {
            grams.push(gram);
        }
    }
    // Omitted trigrams overlap with the ones that are queried.
    let step = grams.len().div_ceil(GRAMS).max(1);
    grams.into_iter().step_by(step).collect::<Vec<String>>().join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_that_begins_so_comes_behind() {
        for (beginning, after) in [
            ("a/", Some("a0")),
            ("a", Some("b")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(successor(beginning).as_deref(), after);
        }
    }

    proptest! {
        #[test]
        fn what_lies_between_begins_so(beginning in "\\PC{1,4}", other in "\\PC{0,6}") {
            let after = successor(&beginning);
            for text in [other.clone(), format!("{beginning}{other}")] {
                let between = text >= beginning && after.as_ref().is_none_or(|after| text < *after);
                prop_assert_eq!(between, text.starts_with(&beginning));
            }
        }
    }
}
