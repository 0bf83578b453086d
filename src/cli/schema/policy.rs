//! Generates the JSON Schema of a policy file from the table of its keys.
//!
//! Invariant: every valid policy matches the schema. The reverse does not hold: a schema cannot require unique tools
//! in a list or limit the value of `10MiB`.

use serde_json::{Map, Value, json};

use lockgate_policy::{Absent, Catalogue, Range, Setting, ValueShape, languages, settings};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Name of the shared definition of a language's gates.
const GATES: &str = "gates";
/// Pattern of the names that a policy may give to its own gates.
const OWN_NAME: &str = "^[a-z0-9][a-z0-9_-]{0,63}$";

/// Returns the schema of a policy file.
pub(super) fn schema() -> Value {
    let mut shared = Map::new();
    let mut schema = with(
        json!({
            "$schema": DIALECT,
            "$id": "urn:lockgate:policy",
            "title": "lockgate policy",
            "description": "What must hold after every edit: quality.yaml of lockgate",
            "examples": [example()],
        }),
        object(&[settings()], &mut shared),
    );
    // An empty file is a valid policy.
    schema = with(schema, json!({ "type": ["object", "null"] }));
    with(schema, json!({ "$defs": shared }))
}

fn example() -> Value {
    let (python, every) = (json!([{ "tool": "syntax" }]), json!([{ "tool": "syntax", "level": "warn" }]));
    json!({ "quality_gates": { "python": python, "*": every } })
}

fn object(tables: &[&[Setting]], shared: &mut Map<String, Value>) -> Value {
    let all = || tables.iter().copied().flatten();
    let required: Vec<&str> =
        all().filter(|setting| setting.absent == Absent::Required).map(|setting| setting.name).collect();
    let properties: Map<String, Value> =
        all().map(|setting| (setting.name.to_owned(), property(setting, shared))).collect();
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if required.is_empty() { schema } else { with(schema, json!({ "required": required })) }
}

fn property(setting: &Setting, shared: &mut Map<String, Value>) -> Value {
    let schema = with(json!({ "description": setting.meaning }), shaped(&setting.shape, shared));
    match setting.absent {
        Absent::Is(default) => with(schema, json!({ "default": written(default) })),
        Absent::Required | Absent::Described(_) => schema,
    }
}

/// Parses a default value; the table writes lists of words without quotes.
fn written(default: &str) -> Value {
    let words = default.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match (serde_json::from_str(default), words) {
        (Ok(value), _) => value,
        (Err(_), Some(words)) => json!(words.split(", ").collect::<Vec<_>>()),
        (Err(_), None) => json!(default),
    }
}

fn shaped(shape: &ValueShape, shared: &mut Map<String, Value>) -> Value {
    match shape {
        ValueShape::Words(words) => json!({ "enum": words }),
        ValueShape::Flag => json!({ "type": "boolean" }),
        ValueShape::Text | ValueShape::Regex => json!({ "type": "string" }),
        ValueShape::Whole(range) => whole(range),
        ValueShape::Size(range) => {
            let text = json!({ "type": "string", "pattern": "^[0-9]+(B|KB|KiB|MB|MiB|GB|GiB)$" });
            json!({ "anyOf": [text, whole(range)], "examples": ["10MiB"] })
        }
        ValueShape::Duration(range) => duration(range, "ms|s|m", "20s"),
        ValueShape::Age(range) => duration(range, "ms|s|m|h|d", "30d"),
        ValueShape::Glob => {
            json!({ "type": "string", "pattern": "^[^!#]", "maxLength": 1000, "examples": ["vendor/**", "*.lock"] })
        }
        ValueShape::Tool => tool(),
        ValueShape::Language => json!({ "enum": named_languages() }),
        ValueShape::List(item, least) => {
            json!({ "type": "array", "items": shaped(item, shared), "minItems": least })
        }
        ValueShape::Map(tables) => object(tables, shared),
        ValueShape::ByLanguage(item) => by_language(item, shared),
        ValueShape::ByName(pattern, item) => {
            json!({ "type": "object", "propertyNames": { "pattern": pattern }, "additionalProperties": shaped(item, shared) })
        }
        ValueShape::Either(shapes) => {
            json!({ "anyOf": shapes.iter().map(|shape| shaped(shape, shared)).collect::<Vec<_>>() })
        }
    }
}

fn whole(range: &Range) -> Value {
    json!({ "type": "integer", "minimum": range.min, "maximum": range.max })
}

fn duration(range: &Range, units: &str, example: &str) -> Value {
    let text = json!({ "type": "string", "pattern": format!("^[0-9]+({units})$"), "examples": [example] });
    if range.min > 0 { text } else { json!({ "anyOf": [text, { "const": 0 }] }) }
}

/// Returns the schema of a tool name: a gate of the catalogue or any name that `define` may use.
fn tool() -> Value {
    let known = Catalogue::embedded().gates().iter();
    let named = known.map(|gate| json!({ "const": gate.name, "description": gate.about }));
    let own = json!({ "type": "string", "pattern": OWN_NAME, "description": "a gate of `define`" });
    json!({ "anyOf": named.chain([own]).collect::<Vec<_>>() })
}

fn named_languages() -> Vec<&'static str> {
    languages().iter().map(|language| language.name.as_str()).chain(["*"]).collect()
}

fn by_language(item: &ValueShape, shared: &mut Map<String, Value>) -> Value {
    let list = shaped(item, shared);
    shared.insert(GATES.to_owned(), list);
    let each = |name: &str| (name.to_owned(), json!({ "$ref": format!("#/$defs/{GATES}") }));
    let properties: Map<String, Value> = named_languages().into_iter().map(each).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Adds keys to a schema, replacing existing ones.
fn with(schema: Value, more: Value) -> Value {
    match (schema, more) {
        (Value::Object(mut schema), Value::Object(more)) => {
            schema.extend(more);
            Value::Object(schema)
        }
        (schema, _) => schema,
    }
}
