//! The contract of every store: the same requests get the same answers over files, SQLite and PostgreSQL.

mod common;
mod concurrency;
mod editing;
mod history;
mod reads;
mod texts;

use super::fixture::{EntityFixture, Storage};

/// A test for each of these: the same answers from each store.
macro_rules! alike {
    ($($module:ident::$scenario:ident,)*) => {
        $(
            #[test]
            fn $scenario() {
                answers_are_alike($module::$scenario);
            }
        )*
    };
}

alike! {
    editing::the_four_modes,
    editing::the_modes_of_checking,
    editing::expected_versions,
    editing::rebased_or_refused,
    editing::removing,
    editing::a_batch_is_whole_or_nothing,
    editing::the_same_request_again,
    history::undo_and_redo,
    history::undo_of_creation_and_removal,
    history::undo_of_one_of_many,
    history::recorded_history,
    texts::every_text_byte_for_byte,
    texts::names_that_resemble_a_statement,
    texts::more_statements_than_are_remembered,
    texts::invalid_text,
    texts::too_large_texts,
    reads::lines_and_whole_texts,
    reads::searching,
    reads::listing,
    concurrency::many_servers_at_one_text,
    concurrency::many_servers_making_one_text,
}

/// Does the same in each store, and compares what was answered with what was answered over files.
fn answers_are_alike(scenario: fn(&EntityFixture)) {
    let files = answers(scenario, Storage::Files).expect("files can always be kept");
    for storage in [Storage::Sqlite, Storage::Postgres] {
        let Some(answers) = answers(scenario, storage) else { continue };
        for (number, (answer, of_files)) in answers.iter().zip(&files).enumerate() {
            assert_eq!(answer, of_files, "{storage:?}, answer {number}, beside that of files");
        }
        assert_eq!(answers.len(), files.len(), "the number of answers of {storage:?}, beside that of files");
    }
}

/// The answers of one store; `None` where it cannot be had here.
fn answers(scenario: fn(&EntityFixture), storage: Storage) -> Option<Vec<String>> {
    let fixture = EntityFixture::new(storage)?;
    scenario(&fixture);
    Some(fixture.into_answers())
}
