//! What the store holds in the end, against what the clients were told.

use std::collections::{HashMap, HashSet};
use std::fs;

use super::entities::Kind;
use super::load::Load;
use super::postgres::Postgres;
use super::seed::key;
use super::servers::RunDir;

/// Looks at every text; gives the number of edits that are there, and says what is broken by way of `load`.
pub fn verify(load: &Load, place: &RunDir) -> usize {
    let mut texts = vec![None; load.options.entities];
    match &place.database {
        None => {
            for entity in load.entities.borrow().iter() {
                let of = (entity.kind != Kind::Module).then_some(entity.organization);
                texts[entity.number] = fs::read_to_string(place.root(of).join(&entity.path)).ok();
            }
        }
        Some(database) => rows(load, database, &mut texts),
    }
    let mut entity_of_edit: HashMap<usize, usize> = HashMap::new();
    for (entity, text) in load.entities.borrow().iter().zip(&texts) {
        let Some(marks) = text.as_ref().and_then(|text| entity.marks_in(text)) else {
            load.broken(format!("{}: the text in the store is not what whole edits make", entity.path));
            continue;
        };
        for (_, edit) in marks {
            if entity_of_edit.insert(edit, entity.number).is_some() {
                load.broken(format!("edit {edit} is there twice, in {}", entity.path));
            }
        }
    }
    for (edit, entity, _) in load.seen.acknowledged.borrow().iter() {
        if entity_of_edit.get(edit) != Some(entity) {
            load.broken(format!("edit {edit} was acknowledged and is not there"));
        }
    }
    for (edit, _) in load.seen.refused.borrow().iter() {
        if entity_of_edit.contains_key(edit) {
            load.broken(format!("edit {edit} was refused and is there"));
        }
    }
    if let Some(database) = &place.database {
        journal(load, database, entity_of_edit.len());
    }
    entity_of_edit.len()
}

/// The texts of all rows, each of which must be known.
fn rows(load: &Load, database: &Postgres, texts: &mut [Option<String>]) {
    let stored_rows: HashMap<String, usize> =
        load.entities.borrow().iter().map(|entity| (key(entity), entity.number)).collect();
    database.copy("SELECT kind, organization, app, path, encode(stamp, 'hex'), text FROM entities FULL JOIN contents USING (kind, organization, app, path)", |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        match stored_rows.get(&fields[..4].join("\t")) {
            Some(&number) => {
                let text = unescaped(fields[5]);
                if fields[4] != blake3::hash(text.as_bytes()).to_hex().as_str() {
                    load.broken(format!("{}: the stamp in the row is another text's", fields[3]));
                }
                texts[number] = Some(text);
            }
            None => load.broken(format!("a row that nobody made: {}", fields[..4].join(" "))),
        }
    });
}

/// Every acknowledged edit is in the journal once, and the versions of each entity are a chain without a gap.
fn journal(load: &Load, database: &Postgres, edits: usize) {
    let mut ids = HashSet::new();
    for (edit, _, id) in load.seen.acknowledged.borrow().iter() {
        if let Some(id) = id
            && !ids.insert(id.clone())
        {
            load.broken(format!("edit {edit} has the name of another in the journal"));
        }
    }
    let written = database.ask("SELECT count(*) FROM edits").concat();
    if written != edits.to_string() {
        load.broken(format!("the journal has {written} edits, and {edits} were made"));
    }
    // Each version came from one that was there: so many changes as edges, and no version is left twice.
    let forks =
        "SELECT kind, path FROM changes GROUP BY kind, organization, app, path, before HAVING count(*) > 1";
    let ends_query = "SELECT c.kind, c.path FROM entities e JOIN changes c USING (kind, organization, app, path) \
                GROUP BY c.kind, c.organization, c.app, c.path, e.stamp HAVING count(*) FILTER (WHERE c.after = e.stamp) <> 1";
    for (what, statement) in
        [("two edits were made of one version", forks), ("the last version is not the journal's", ends_query)]
    {
        for row in database.ask(statement).iter().take(5) {
            load.broken(format!("{what}: {row}"));
        }
    }
}

/// A text as it was before `COPY` wrote it.
fn unescaped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        whole.push(match one {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    whole
}
