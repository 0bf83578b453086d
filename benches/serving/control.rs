//! Damage that is done to the store after a run, each sort of which must be found.

use super::load::Load;
use super::postgres::Postgres;
use super::servers::RunDir;
use super::verify;

/// Does the damage, and says what was not found.
pub fn unseen(load: &Load, place: &RunDir) -> Vec<&'static str> {
    let database = place.database.as_ref().expect("the control is for a database");
    let expected = damage(load, database);
    let body = br#"{"content":"    # @@o99-0000001."}"#;
    load.inspect("get_content", 0, body);
    verify::verify(load, place);
    let broken = load.seen.broken.borrow();
    expected.into_iter().filter(|what| !broken.iter().any(|found| found.contains(what))).collect()
}

/// Does each sort of damage to another entity; gives what is to be said of them.
fn damage(load: &Load, database: &Postgres) -> Vec<&'static str> {
    let entities = load.entities.borrow();
    let mut edited = entities.iter().filter(|entity| entity.marks.len() > 1);
    let mut next = || edited.next().expect("some entities have two edits: make more of them");
    let key = |path: &str| format!("path = '{path}'");

    let lost = next();
    let line = lost.mark_line(lost.marks[0].1);
    write(database, &key(&lost.path), &format!("replace(text, E'{}', '')", line.replace('\n', "\\n")));

    let twice = next();
    let (line, anchor) = (twice.mark_line(twice.marks[0].1), twice.anchor(twice.parts - 1));
    let [line, anchor] = [line, anchor].map(|text| text.replace('\n', "\\n"));
    write(database, &key(&twice.path), &format!("replace(text, E'{anchor}', E'{line}{anchor}')"));

    write(database, &key(&next().path), "left(text, length(text) - 30)");
    database.ask(&format!("UPDATE entities SET stamp = sha256('other') WHERE {}", key(&next().path)));
    database.ask("DELETE FROM edits WHERE id = (SELECT min(id) FROM edits)");
    let forked = key(&next().path);
    let first =
        format!("(SELECT before FROM changes WHERE {forked} AND before IS NOT NULL ORDER BY at LIMIT 1)");
    database.ask(&format!("UPDATE changes SET before = {first} WHERE {forked} AND before IS NOT NULL"));
    database.ask(
        "INSERT INTO contents(kind, organization, app, path, text) VALUES ('module', '', '', 'other.py', '')",
    );
    vec![
        "was acknowledged and is not there",
        "is there twice",
        "is not what whole edits make",
        "the stamp in the row is another text's",
        "edits, and",
        "two edits were made of one version",
        "the last version is not the journal's",
        "a row that nobody made",
        "what is another's",
    ]
}

/// Changes a text past lockgate.
fn write(database: &Postgres, of: &str, text: &str) {
    database.ask(&format!("UPDATE contents SET text = {text} WHERE {of}"));
}
