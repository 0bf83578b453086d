//! The tables of docs/policy.md are what the code says.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use lockgate_policy::{Absent, Catalogue, GateKind, Languages, Setting, ValueShape, settings};

/// A line of a table of keys: path, type, default, meaning.
pub type Row = [String; 4];

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/policy.md")
}

/// What stands for the default of a key that must be given.
const MUST: &str = "must be given";

/// Adds the rows of some tables of keys below a path.
pub fn rows(tables: &[&[Setting]], above: &str, out: &mut Vec<Row>) {
    for setting in tables.iter().copied().flatten() {
        let path =
            if above.is_empty() { setting.name.to_owned() } else { format!("{above}.{}", setting.name) };
        let row =
            [path.clone(), describe(&setting.shape), absent(setting.absent), setting.meaning.to_owned()];
        if path.contains(".output.jsonl.") {
            continue;
        }
        out.push(row);
        below(&setting.shape, &path, out);
    }
}

fn below(value_shape: &ValueShape, path: &str, out: &mut Vec<Row>) {
    match value_shape {
        ValueShape::Map(tables) => rows(tables, path, out),
        ValueShape::List(item, _) => below(item, &format!("{path}[]"), out),
        ValueShape::ByLanguage(item) => below(item, &format!("{path}.<language>"), out),
        ValueShape::ByName(_, item) => below(item, &format!("{path}.<name>"), out),
        ValueShape::Either(shapes) => alternatives(shapes, path, out),
        ValueShape::Words(_)
        | ValueShape::Flag
        | ValueShape::Text
        | ValueShape::Whole(_)
        | ValueShape::Size(_)
        | ValueShape::Duration(_)
        | ValueShape::Age(_)
        | ValueShape::Regex
        | ValueShape::Glob
        | ValueShape::Tool
        | ValueShape::Language => {}
    }
}

/// What must be given in some of the alternatives only, is told to be so.
fn alternatives(shapes: &[ValueShape], path: &str, out: &mut Vec<Row>) {
    let each: Vec<Vec<Row>> = shapes
        .iter()
        .map(|value_shape| {
            let mut rows = Vec::new();
            below(value_shape, path, &mut rows);
            rows
        })
        .collect();
    for mut row in each.iter().flatten().cloned() {
        let everywhere = each.iter().all(|rows| rows.iter().any(|other| other[0] == row[0]));
        if !everywhere && row[2] == MUST {
            row[2] = "must be given, in this form".to_owned();
        }
        match out.iter_mut().find(|other| other[0] == row[0]) {
            Some(other) => {
                add_alternative(&mut other[1], &row[1]);
                add_alternative(&mut other[2], &row[2]);
            }
            None => out.push(row),
        }
    }
}

fn add_alternative(cell: &mut String, other: &str) {
    if cell != other && !cell.split(" or ").any(|known| known == other) {
        *cell = format!("{cell} or {other}");
    }
}

fn describe(value_shape: &ValueShape) -> String {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match value_shape {
        ValueShape::Words(words) => quoted(words),
        ValueShape::Flag => quoted(&["true", "false"]),
        ValueShape::Text => "text".to_owned(),
        ValueShape::Whole(range) => format!("number {}", range.description),
        ValueShape::Size(range) => format!("size, {}", range.description),
        ValueShape::Duration(range) => format!("duration, {}", range.description),
        ValueShape::Age(range) => format!("age, {}", range.description),
        ValueShape::Regex => "regular expression".to_owned(),
        ValueShape::Glob => "pattern".to_owned(),
        ValueShape::Tool => "gate".to_owned(),
        ValueShape::Language => "language or `*`".to_owned(),
        ValueShape::List(ValueShape::List(item, _), _) => format!("list of lists: {}", describe(item)),
        ValueShape::List(item, _) => format!("list: {}", describe(item)),
        ValueShape::Map(_) => "map".to_owned(),
        ValueShape::ByLanguage(_) => "map by language".to_owned(),
        ValueShape::ByName(..) => "map by name".to_owned(),
        ValueShape::Either(shapes) => {
            let mut descriptions: Vec<String> = shapes.iter().map(describe).collect();
            descriptions.dedup();
            descriptions.join(" or ")
        }
    }
}

fn absent(absent: Absent) -> String {
    match absent {
        Absent::Required => MUST.to_owned(),
        Absent::Is("") => "`\"\"`".to_owned(),
        Absent::Is(default) => format!("`{default}`"),
        Absent::Described(words) => words.to_owned(),
    }
}

pub fn keys(rows: &[Row]) -> String {
    let mut text = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
    for [path, value_shape, default, meaning] in rows {
        writeln!(text, "| `{path}` | {} | {default} | {meaning} |", value_shape.replace('|', "\\|")).unwrap();
    }
    text
}

fn gates() -> String {
    let mut text = "| tool | languages | runs | what it is for |\n|---|---|---|---|\n".to_owned();
    for gate in Catalogue::embedded().gates() {
        let languages = match &gate.languages {
            Languages::Every => "all".to_owned(),
            Languages::Only(names) if names.len() > 6 => format!("{} languages", names.len()),
            Languages::Only(names) => names.join(", "),
        };
        let runs = match &gate.kind {
            GateKind::Syntax | GateKind::Damage | GateKind::Pattern(_) => "in lockgate".to_owned(),
            GateKind::Command(command) => format!("the program `{}`", command.program.name),
            GateKind::Server(server) => format!("the server `{}`", server.program.name),
        };
        writeln!(text, "| `{}` | {languages} | {runs} | {} |", gate.name, gate.about.replace('|', "\\|"))
            .unwrap();
    }
    text
}

/// The page with its generated parts as they should be.
fn generated(page: &str) -> String {
    let mut all = Vec::new();
    rows(&[settings()], "", &mut all);
    let (definition, policy): (Vec<Row>, Vec<Row>) =
        all.into_iter().partition(|[path, ..]| path.starts_with("define.<name>."));
    let definition: Vec<Row> = definition
        .into_iter()
        .map(|[path, rest @ ..]| join(path.trim_start_matches("define.<name>."), rest))
        .collect();
    let parts = [("keys", keys(&policy)), ("definition", keys(&definition)), ("gates", gates())];
    parts.iter().fold(page.to_owned(), |page, (name, text)| replaced(&page, name, text))
}

fn join(path: &str, [value_shape, default, meaning]: [String; 3]) -> Row {
    [path.to_owned(), value_shape, default, meaning]
}

pub fn replaced(page: &str, name: &str, text: &str) -> String {
    let (opening, closing) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&opening).unwrap_or_else(|| panic!("the page has no {opening}"));
    let (_, after) = rest.split_once(&closing).unwrap_or_else(|| panic!("the page has no {closing}"));
    format!("{before}{opening}\n{text}\n{closing}{after}")
}

#[test]
fn the_tables_of_the_page_are_those_of_the_code() {
    let page_text = fs::read_to_string(page()).unwrap();
    let expected = generated(&page_text);
    if std::env::var_os("UPDATE").is_some() && page_text != expected {
        fs::write(page(), &expected).unwrap();
    }
    let page_text = fs::read_to_string(page()).unwrap();
    assert!(
        page_text == expected,
        "docs/policy.md is out of step; rewrite it with UPDATE=1 cargo test --test all suite::policy::page"
    );
}

#[test]
fn a_key_that_the_page_does_not_have_is_noticed() {
    let page_text = fs::read_to_string(page()).unwrap();
    let row = page_text.lines().find(|line| line.starts_with("| `limits.total` |")).unwrap();
    let without = page_text.replace(&format!("{row}\n"), "");
    assert!(generated(&without) != without && generated(&without) == generated(&page_text));
}
