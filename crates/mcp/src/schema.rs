//! Generates plain JSON Schemas from the wire structs, without features that some clients cannot handle.
//!
//! Invariant: a schema has no reference, no union, no `null`, no number format and no unknown property.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Keywords that no client needs.
const DROPPED: [&str; 4] = ["$schema", "$defs", "title", "format"];

/// Returns the schema of a wire struct; its doc comments become the descriptions.
pub(crate) fn input_schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    let Value::Object(node) = schema else { return JsonObject::new() };
    node
}

/// Rewrites a schema and all nested schemas to the plain form.
fn simplify(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    for word in DROPPED {
        node.remove(word);
    }
    if node.get("default") == Some(&Value::Null) {
        node.remove("default");
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = node.remove(word) {
            merge_union(node, branches);
        }
    }
    if let Some(Value::Array(types)) = node.get("type")
        && let Some(only) = types.iter().find(|name| *name != "null").cloned()
    {
        node.insert("type".into(), only);
    }
    if let Some(Value::Array(names)) = node.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    nested(node).for_each(simplify);
    // A struct with a flattened group of fields lacks it.
    if let Some(at) = node.keys().position(|word| word == "properties")
        && !node.contains_key("additionalProperties")
    {
        node.shift_insert(at, "additionalProperties".into(), Value::Bool(false));
    }
}

/// Returns the schema of a field of an object.
pub(crate) fn field<'a>(node: &'a JsonObject, name: &str) -> Option<&'a Value> {
    node.get("properties")?.get(name)
}

/// Returns the schemas of the fields of an object, and that of the items of an array.
pub(crate) fn nested(node: &mut JsonObject) -> impl Iterator<Item = &mut Value> {
    node.iter_mut().flat_map(|(word, value)| match (word.as_str(), value) {
        ("properties", Value::Object(fields)) => fields.values_mut().collect(),
        ("items", items) => vec![items],
        _ => Vec::new(),
    })
}

/// Replaces the description of every field by a reference to the tool that documents it, and removes the limits and
/// defaults.
pub(crate) fn insert_references(node: &mut JsonObject, reference: &str) {
    for word in ["description", "minimum", "default"] {
        node.remove(word);
    }
    nested(node).filter_map(Value::as_object_mut).for_each(|inner| insert_references(inner, reference));
    if let Some(Value::Object(fields)) = node.get_mut("properties") {
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            field.insert("description".into(), reference.into());
        }
    }
}

/// Merges the branches of a union: the one that is not `null`, or the names of an enum.
fn merge_union(node: &mut JsonObject, branches: Vec<Value>) {
    let mut branches: Vec<JsonObject> = branches
        .into_iter()
        .filter(|branch| branch.get("type") != Some(&json!("null")))
        .filter_map(|mut branch| {
            simplify(&mut branch);
            branch.as_object_mut().map(std::mem::take)
        })
        .collect();
    if branches.len() > 1 {
        let names: Vec<Value> = branches.iter().filter_map(|branch| branch.get("const").cloned()).collect();
        branches = vec![JsonObject::from_iter([
            ("type".into(), json!("string")),
            ("enum".into(), Value::Array(names)),
        ])];
    }
    for (word, value) in branches.into_iter().flatten() {
        node.entry(word).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::TOOLS;

    /// Returns the problems of a schema, at any depth.
    fn schema_problems(value: &Value, depth: usize) -> Vec<String> {
        let mut problems = Vec::new();
        if let Value::Object(node) = value {
            for word in [
                "$ref", "$defs", "$schema", "oneOf", "anyOf", "allOf", "format", "const", "title", "nullable",
            ] {
                if node.get(word).is_some_and(|found| !(word == "title" && found.is_object())) {
                    problems.push(format!("has {word}"));
                }
            }
            if node.get("type").is_some_and(Value::is_array) {
                problems.push("type is a list".into());
            }
            if node
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|names| !names.iter().all(Value::is_string))
            {
                problems.push("enum has more than names".into());
            }
            let closed = node.get("additionalProperties") == Some(&Value::Bool(false));
            if node.get("type") == Some(&json!("object")) && !closed {
                problems.push("is open".into());
            }
            let deeper = depth + usize::from(node.get("type") == Some(&json!("object")));
            if deeper > 3 {
                problems.push("is nested too deeply".into());
            }
            problems.extend(node.values().flat_map(|inner| self::schema_problems(inner, deeper)));
        }
        problems
    }

    /// Returns the fields without a description, at any depth.
    fn undescribed(schema: &Value) -> Vec<String> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let own = fields.clone().filter(|(_, field)| !field["description"].is_string());
        let own: Vec<String> = own.map(|(name, _)| name.clone()).collect();
        let inner =
            fields.map(|(_, field)| field).chain([&schema["items"]]).filter(|inner| inner.is_object());
        own.into_iter().chain(inner.flat_map(undescribed)).collect()
    }

    #[test]
    fn the_tools_have_plain_schemas() {
        for tool in TOOLS {
            let schema = Value::Object((tool.schema)().clone());
            assert_eq!(schema_problems(&schema, 0), Vec::<String>::new(), "{}: {schema:#}", tool.name);
            assert_eq!(undescribed(&schema), Vec::<String>::new(), "{}", tool.name);
        }
    }

    #[test]
    fn the_check_sees_what_schemars_gives() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        enum Way {
            /// One.
            Left,
            /// The other.
            Right,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        enum Bare {
            Left,
            Right,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Inner {
            count: u32,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Outer {
            way: Option<Way>,
            bare: Option<Bare>,
            inner: Option<Vec<Inner>>,
        }
        let raw = schemars::schema_for!(Outer).to_value();
        let inlined = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let inlined = inlined.into_generator().into_root_schema_for::<Outer>().to_value();
        assert!(schema_problems(&inlined, 0).contains(&"enum has more than names".to_owned()), "{inlined:#}");
        for problem in ["has $defs", "has anyOf", "has format", "type is a list", "is open", "has oneOf"] {
            assert!(
                schema_problems(&raw, 0).iter().any(|found| found == problem),
                "{problem} was not seen in {raw:#}"
            );
        }
        let schema = Value::Object(input_schema::<Outer>());
        assert_eq!(schema_problems(&schema, 0), Vec::<String>::new(), "{schema:#}");
        for enumeration in ["way", "bare"] {
            assert_eq!(
                schema["properties"][enumeration],
                json!({"type": "string", "enum": ["Left", "Right"]})
            );
        }
    }
}
