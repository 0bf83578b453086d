//! A change of one cell of a Jupyter notebook, as the host's tool makes it and as it should be made.
//!
//! The tool of Claude Code writes the whole notebook anew: it clears the outputs of the cell, makes its source one
//! string, and drops the last line end. Everything but the source can stay as it is instead.
//!
//! Invariant: the faithful text differs from the notebook only in the cell.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::edit::{CellEdit, CellMode};
use super::simulate::{Simulated, Simulation};

/// Changes a cell of a notebook.
pub fn change_cell(before: &[u8], cell: &CellEdit) -> Simulation {
    let Ok(text) = std::str::from_utf8(before) else { return Simulation::Unknown };
    let (Some(faithful), Some(written)) = (faithful(text, cell), written(text, cell)) else {
        return Simulation::Unknown;
    };
    Simulation::Made(Simulated { faithful: faithful.into_bytes(), written: Some(written.into_bytes()) })
}

/// Returns the index of the cell that a call names.
fn index(cells: &[Value], cell: &CellEdit) -> Option<usize> {
    let id = cell.id.as_deref()?;
    let by_id = cells.iter().position(|other| other.get("id").and_then(Value::as_str) == Some(id));
    let by_number = || id.strip_prefix("cell-")?.parse::<usize>().ok().filter(|at| *at < cells.len());
    by_id.or_else(by_number)
}

/// Returns the text that the host's tool writes.
fn written(text: &str, cell: &CellEdit) -> Option<String> {
    let mut notebook: Value = serde_json::from_str(text).ok()?;
    let new_id = new_id(&notebook, cell);
    let cells = notebook.get_mut("cells")?.as_array_mut()?;
    let at = index(cells, cell);
    match cell.mode {
        CellMode::Replace => {
            let fields = cells.get_mut(at?)?.as_object_mut()?;
            fields.insert("source".to_owned(), cell.source.as_str().into());
            if let Some(kind) = &cell.cell_type {
                fields.insert("cell_type".to_owned(), kind.as_str().into());
            }
            if fields.get("cell_type").and_then(Value::as_str) == Some("code") {
                fields.insert("execution_count".to_owned(), Value::Null);
                fields.insert("outputs".to_owned(), json!([]));
            }
        }
        CellMode::Insert => {
            let place = insert_place(at, cell)?;
            cells.insert(place, new_cell(cell, new_id));
        }
        CellMode::Delete => drop(cells.remove(at?)),
    }
    serialized(&notebook, b" ")
}

/// Returns the place of a new cell: after the named one, or at the start.
fn insert_place(at: Option<usize>, cell: &CellEdit) -> Option<usize> {
    match (at, &cell.id) {
        (Some(at), _) => Some(at + 1),
        (None, None) => Some(0),
        (None, Some(_)) => None,
    }
}

/// Returns the id of a new cell. Cells have ids since version 4.5 of the format.
fn new_id(notebook: &Value, cell: &CellEdit) -> Option<String> {
    let number = |name: &str| notebook.get(name).and_then(Value::as_u64).unwrap_or_default();
    let has_ids = (number("nbformat"), number("nbformat_minor")) >= (4, 5);
    has_ids.then(|| lockgate_text::Version::hash(cell.source.as_bytes()).hex().chars().take(8).collect())
}

fn new_cell(cell: &CellEdit, id: Option<String>) -> Value {
    let mut fields = serde_json::Map::new();
    let is_code = cell.cell_type.as_deref() == Some("code");
    fields.insert("cell_type".to_owned(), if is_code { "code" } else { "markdown" }.into());
    if let Some(id) = id {
        fields.insert("id".to_owned(), id.into());
    }
    if is_code {
        fields.insert("execution_count".to_owned(), Value::Null);
    }
    fields.insert("metadata".to_owned(), json!({}));
    if is_code {
        fields.insert("outputs".to_owned(), json!([]));
    }
    fields.insert("source".to_owned(), source_lines(&cell.source));
    Value::Object(fields)
}

fn source_lines(source: &str) -> Value {
    source.split_inclusive('\n').map(Value::from).collect()
}

fn serialized(value: &Value, indent: &[u8]) -> Option<String> {
    let mut bytes = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(indent)))
        .ok()?;
    String::from_utf8(bytes).ok()
}

/// Returns the notebook with the change of this cell only.
fn faithful(text: &str, cell: &CellEdit) -> Option<String> {
    let notebook: Value = serde_json::from_str(text).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let at = index(cells, cell);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let ast::Value::Object(root) = parsed.value.as_ref()? else { return None };
    let list = root.get_array("cells")?;
    let ranges: Vec<Range<usize>> = list.elements.iter().map(span).collect();
    match cell.mode {
        CellMode::Replace => {
            let number = at?;
            let ast::Value::Object(fields) = list.elements.get(number)? else { return None };
            let source = &fields.get("source")?.value;
            let value = match cells.get(number)?.get("source")? {
                Value::Array(_) => source_lines(&cell.source),
                _ => cell.source.as_str().into(),
            };
            let mut changed = replaced(text, span(source), &indented(text, span(source).start, &value)?)?;
            if let (Some(kind), Some(name)) = (&cell.cell_type, fields.get("cell_type"))
                && name.value.as_string_lit().map(|name| name.value.as_ref()) != Some(kind.as_str())
                && name.end() <= source.start()
            {
                changed = replaced(&changed, span(&name.value), &Value::from(kind.as_str()).to_string())?;
            }
            Some(changed)
        }
        CellMode::Insert => {
            let place = insert_place(at, cell)?;
            let value = new_cell(cell, new_id(&notebook, cell));
            match (place.checked_sub(1), ranges.first()) {
                (Some(above), _) => {
                    let above = ranges.get(above)?;
                    let gap = gap(text, above.start)?;
                    let new = indented(text, above.start, &value)?;
                    replaced(text, above.end..above.end, &format!(",{gap}{new}"))
                }
                (None, Some(first)) => {
                    let (gap, new) = (gap(text, first.start)?, indented(text, first.start, &value)?);
                    replaced(text, first.start..first.start, &format!("{new},{gap}"))
                }
                (None, None) => {
                    let new = indented(text, list.start(), &json!([value]))?;
                    replaced(text, list.start()..list.end(), &new)
                }
            }
        }
        CellMode::Delete => {
            let number = at?;
            let own = ranges.get(number)?;
            match (number.checked_sub(1).and_then(|above| ranges.get(above)), ranges.get(number + 1)) {
                (Some(above), _) => replaced(text, above.end..own.end, ""),
                (None, Some(below)) => replaced(text, own.start..below.start, ""),
                (None, None) => replaced(text, list.start()..list.end(), "[]"),
            }
        }
    }
}

fn span(value: &impl Ranged) -> Range<usize> {
    value.start()..value.end()
}

fn replaced(text: &str, span: Range<usize>, new: &str) -> Option<String> {
    Some([text.get(..span.start)?, new, text.get(span.end..)?].concat())
}

/// Returns the blanks in front of an element: a line end and its indentation, or what else is there.
fn gap(text: &str, start: usize) -> Option<&str> {
    let before = text.get(..start)?;
    before.get(before.trim_end().len()..)
}

/// Serializes a value with the indentation of the line where it starts, and that of the notebook.
fn indented(text: &str, start: usize, value: &Value) -> Option<String> {
    let line = text.get(..start)?.rfind('\n').map(|at| at + 1);
    let blanks =
        |line: &str| line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).map(str::to_owned);
    let Some(line) = line else { return serde_json::to_string(value).ok() };
    let own = blanks(text.get(line..start)?)?;
    let unit =
        text.lines().filter_map(blanks).find(|blanks| !blanks.is_empty()).unwrap_or_else(|| " ".to_owned());
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // An empty list stays on its line, as notebooks have it.
    Some(serialized(value, unit.as_bytes())?.replace('\n', &format!("{end}{own}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"text\": [\n      \"é 1.0\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"x = 1\\n\",\n    \"x\"\n   ]\n  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"b2\",\n   \"metadata\": {},\n   \"source\": \"# Title\"\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    fn edit(id: Option<&str>, mode: CellMode, source: &str) -> CellEdit {
        CellEdit {
            id: id.map(str::to_owned),
            source: source.to_owned(),
            cell_type: Some("code".into()),
            mode,
        }
    }

    fn made(cell: &CellEdit) -> (String, Value) {
        let Simulation::Made(made) = change_cell(NOTEBOOK.as_bytes(), cell) else { panic!("{cell:?}") };
        assert!(made.is_at_risk());
        let written = serde_json::from_slice(&made.written.unwrap()).unwrap();
        (String::from_utf8(made.faithful).unwrap(), written)
    }

    #[test]
    fn only_the_source_of_a_replaced_cell_changes() {
        let (faithful, written) = made(&edit(Some("a1"), CellMode::Replace, "y = 2\ny"));
        assert_eq!(faithful, NOTEBOOK.replace("x = 1", "y = 2").replace("\"x\"", "\"y\""));
        assert_eq!(written["cells"][0]["outputs"], json!([]), "what the tool clears");
        assert_eq!(written["cells"][0]["source"], "y = 2\ny");
        let title = CellEdit { cell_type: None, ..edit(Some("cell-1"), CellMode::Replace, "# Other") };
        assert_eq!(made(&title).0, NOTEBOOK.replace("# Title", "# Other"));
    }

    #[test]
    fn cells_are_inserted_and_deleted_in_place() {
        for (id, place) in [(None, 0), (Some("a1"), 1), (Some("b2"), 2)] {
            let (faithful, written) = made(&edit(id, CellMode::Insert, "z = 1\n"));
            let parsed: Value = serde_json::from_str(&faithful).unwrap();
            let cells = parsed["cells"].as_array().unwrap();
            assert_eq!((cells.len(), &cells[place]["source"]), (3, &json!(["z = 1\n"])));
            assert_eq!(written["cells"], parsed["cells"]);
            assert!(faithful.contains("\n  {\n   \"cell_type\": \"code\",\n   \"id\": "), "{faithful}");
            let back = made_from(&faithful, &edit(cells[place]["id"].as_str(), CellMode::Delete, ""));
            assert_eq!(back, NOTEBOOK);
        }
    }

    fn made_from(text: &str, cell: &CellEdit) -> String {
        let Simulation::Made(made) = change_cell(text.as_bytes(), cell) else { panic!("{cell:?}") };
        String::from_utf8(made.faithful).unwrap()
    }

    #[test]
    fn what_is_no_notebook_is_not_known() {
        for text in ["", "{}", "[]", "{\"cells\": 1}", "{\"cells\": [1]}", "\u{0}"] {
            let cell = edit(Some("cell-0"), CellMode::Replace, "x");
            assert_eq!(change_cell(text.as_bytes(), &cell), Simulation::Unknown, "{text}");
        }
        let absent = edit(Some("zz"), CellMode::Delete, "");
        assert_eq!(change_cell(NOTEBOOK.as_bytes(), &absent), Simulation::Unknown);
    }
}
