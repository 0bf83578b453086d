//! Detects the layout of a JSON text and formats values to match it.

use serde_json::Value;

/// Indentation for a text that has none.
const PLAIN: &str = "  ";

/// The layout of a text.
#[derive(Debug)]
pub(super) struct TextLayout<'a> {
    text: &'a str,
    pub(super) line_end: &'static str,
    /// The indentation of one level: that of the first indented line, or [`PLAIN`].
    unit: &'a str,
}

impl<'a> TextLayout<'a> {
    /// Detects the layout of a text.
    pub(super) fn detect(text: &'a str) -> TextLayout<'a> {
        let indented = text.lines().map(blanks_before).find(|blanks| !blanks.is_empty());
        TextLayout { text, line_end: line_end(text), unit: indented.unwrap_or(PLAIN) }
    }

    /// Returns the indentation of the line at an offset.
    pub(super) fn indentation(&self, at: usize) -> &'a str {
        blanks_before(self.text.get(self.line_start(at)..).unwrap_or_default())
    }

    /// Returns the blanks before an offset if the line has nothing else before it.
    pub(super) fn indentation_if_first(&self, at: usize) -> Option<&'a str> {
        let before = self.text.get(self.line_start(at)..at)?;
        (blanks_before(before) == before).then_some(before)
    }

    fn line_start(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// Returns the indentation one level below `base`; `sample` is the indentation of an existing property at that
    /// level.
    pub(super) fn inner_indentation(&self, base: &str, sample: Option<&str>) -> String {
        sample.map_or_else(|| format!("{base}{}", self.unit), str::to_owned)
    }

    /// Formats a value over several lines; `indent` is the indentation of its first line. A list without objects stays
    /// on one line.
    pub(super) fn multi_line(&self, value: &Value, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let line = |label: String, value: &Value| {
            format!("{}{inner}{label}{}", self.line_end, self.multi_line(value, &inner))
        };
        let (open, lines, close): (char, Vec<String>, char) = match value {
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| line(format!("{}: ", quoted(name)), value);
                ('{', fields.iter().map(field).collect(), '}')
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                ('[', items.iter().map(|item| line(String::new(), item)).collect(), ']')
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Default::default()
            }
        };
        if lines.is_empty() {
            return single_line(value);
        }
        format!("{open}{}{}{indent}{close}", lines.join(","), self.line_end)
    }
}

/// Returns the end of the first line, or a newline.
pub(super) fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Formats a value on one line.
pub(super) fn single_line(value: &Value) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", quoted(name), single_line(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(single_line).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// Formats the name of a property.
pub(super) fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

fn blanks_before(line: &str) -> &str {
    line.find(|character| !matches!(character, ' ' | '\t'))
        .map_or(line, |end| line.get(..end).unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_written_as_the_text_around_it_is() {
        let value = json!({"command": "it", "args": ["a", "\"b\""], "env": {}, "more": {"x": null}});
        assert_eq!(
            TextLayout::detect("{\r\n\t\"a\": 1\r\n}").multi_line(&value, "\t"),
            "{\r\n\t\t\"command\": \"it\",\r\n\t\t\"args\": [\"a\", \"\\\"b\\\"\"],\r\n\t\t\"env\": {},\r\n\t\t\"more\": {\r\n\t\t\t\"x\": null\r\n\t\t}\r\n\t}"
        );
        assert_eq!(
            single_line(&value),
            r#"{ "command": "it", "args": ["a", "\"b\""], "env": {}, "more": { "x": null } }"#
        );
    }

    #[test]
    fn a_property_on_its_own_line_shows_its_indentation() {
        let layout = TextLayout::detect("{\n    \"a\": { \"b\": 1 }\n}");
        assert_eq!(
            (layout.indentation_if_first(6), layout.indentation_if_first(13), layout.indentation(13)),
            (Some("    "), None, "    ")
        );
        assert_eq!(layout.inner_indentation("", None), "    ");
        assert_eq!(TextLayout::detect("{}").inner_indentation("", None), PLAIN);
    }
}
