//! What holds wherever texts are kept: the same requests get the same answers over files, SQLite and PostgreSQL.

mod asked;
mod editing;
mod looking;
mod past;
mod texts;
mod together;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::world::{Kept, World};

/// Something that is done in a world.
type Scene = fn(&World);

/// What is done in a world, and must be answered alike in each.
const SCENES: &[(&str, Scene)] = &[
    ("the four modes of an edit", editing::the_four_modes),
    ("strict, interactive and verify_only", editing::the_modes_of_checking),
    ("what a caller expects", editing::what_a_caller_expects),
    ("an edit is carried over or refused", editing::carried_over_or_refused),
    ("removing", editing::removing),
    ("a batch is whole or nothing", editing::a_batch_is_whole_or_nothing),
    ("the same request again", editing::the_same_request_again),
    ("taking back and making again", past::taking_back_and_making_again),
    ("taking back what made and what removed", past::taking_back_what_made_and_what_removed),
    ("taking back one of many", past::taking_back_one_of_many),
    ("what is remembered", past::what_is_remembered),
    ("every text byte for byte", texts::every_text_byte_for_byte),
    ("names that look like a statement", texts::names_that_look_like_a_statement),
    ("more statements than are remembered", texts::more_statements_than_are_remembered),
    ("what is no text", texts::what_is_no_text),
    ("what is too large", texts::what_is_too_large),
    ("lines and whole texts", looking::lines_and_whole_texts),
    ("searching", looking::searching),
    ("listing", looking::listing),
    ("many servers at one text", together::many_servers_at_one_text),
    ("many servers making one text", together::many_servers_making_one_text),
];

#[test]
fn files_sqlite_and_postgresql_answer_alike() {
    let mut wrong = Vec::new();
    for (name, scene) in SCENES {
        let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for kept in [Kept::Files, Kept::Sqlite, Kept::Postgres] {
            let Some(world) = World::new(kept) else { continue };
            if catch_unwind(AssertUnwindSafe(|| scene(&world))).is_err() {
                wrong.push(format!("{name}, {kept:?}"));
            }
            told.insert(format!("{kept:?}"), world.told());
        }
        let files = told.remove("Files").unwrap();
        for (kept, told) in told {
            for (number, (told, files)) in told.iter().zip(&files).enumerate() {
                if told != files {
                    wrong.push(format!(
                        "{name}, {kept}, answer {number}:\n  {told}\nbut of files:\n  {files}"
                    ));
                }
            }
            if told.len() != files.len() {
                wrong.push(format!("{name}, {kept}: {} answers, but {} of files", told.len(), files.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
