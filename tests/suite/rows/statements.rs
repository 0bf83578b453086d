//! What reaches PostgreSQL as the text of a statement, and what as a value.

use super::faults::{Client, the_app};
use super::fixture::OWNER;
use super::postgres::{KEEPER, Postgres};

/// Stands in every text of the test, with characters that would end a literal.
const MARK: &str = "zq7'\\\u{fffd}";

#[test]
fn no_value_is_part_of_a_statement() {
    // The values of a statement are left out, and each line begins with the role.
    let settings = [
        ("log_statement", "all"),
        ("log_parameter_max_length", "0"),
        ("log_parameter_max_length_on_error", "0"),
        ("log_line_prefix", "%u "),
    ];
    let Some(postgres) = Postgres::start(&settings) else { return };
    let database = postgres.database();
    let dir = tempfile::tempdir().unwrap();
    let client = Client::new(&database.url(), dir.path());
    assert_eq!(client.text("src/a.txt"), None);
    database.boss(&the_app());
    let path = "src/zq7'.txt";
    let edits: Vec<String> = (0..8)
        .map(|number| {
            let report = client.put(path, &format!("{MARK} {number}\n")).unwrap();
            report.edit_id.unwrap().to_string()
        })
        .collect();
    client.undo(&edits[7]).unwrap();
    assert_eq!(client.text(path), Some(format!("{MARK} 6\n")));
    client.remembers(&client.history(path));
    assert_eq!(client.matches(r"zq7'\\\u{fffd}"), 1);
    let log = std::fs::read_to_string(postgres.folder().join("log")).unwrap();
    let (own, values): (Vec<&str>, Vec<&str>) = log
        .lines()
        .filter(|line| line.starts_with(&format!("{KEEPER} ")) || line.starts_with('\t'))
        .partition(|line| {
            !line.contains("zq7") && !line.contains(&format!("'{OWNER}'")) && !line.contains(&edits[0][5..])
        });
    let statements = own.iter().filter(|line| line.contains("execute")).count();
    let with_placeholders = own.iter().filter(|line| line.contains("$1")).count();
    assert!(statements > 50 && with_placeholders > 50, "the control: {statements}, {with_placeholders}");
    assert!(values.is_empty(), "{values:#?}");
}
