//! `ai_get_code_context`: returns the outline of a file, the uses of a symbol, or symbols that match words.
//!
//! Invariant: neither form of an answer exceeds the requested size.

use super::fields::parse_number;
use super::request::ToolRequest;
use crate::answer::{FieldNames, ToolProfile, counted};
use lockgate_edit::request::Target;
use lockgate_engine::ContextRequest;
use lockgate_error::{Code, Error};
use lockgate_protocol::{
    ContextFolder, ContextProject, ContextReference, ContextResponse, ContextSymbol, ContextTarget,
};
use lockgate_text::escape_name;

read_tool! {
    GetCodeContext => ContextRequest => text, "ai_get_code_context", "Get the context of code",
    &[Toolset::Look], Effect::Reads, RepeatEffect::NoChange, PROFILE
}

const PROFILE: ToolProfile =
    ToolProfile { names: FieldNames { path: "target_file", ..FieldNames::PLAIN }, ..ToolProfile::PLAIN };

/// Maximum bytes of `query` and of `symbol`.
const MAX_SEARCH_BYTES: usize = 2000;

/// Outlines a file, or finds a symbol with its uses, or symbols by words; without arguments, summarises the
/// project.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCodeContext {
    /// The file to outline; nearby results come first.
    target_file: Option<String>,
    /// Words in names and docs.
    query: Option<String>,
    /// `name` or `Class.method`.
    symbol: Option<String>,
    /// 100 to 50000; 4000 unless given.
    max_tokens: Option<i64>,
}

impl TryFrom<GetCodeContext> for ContextRequest {
    type Error = Error;

    fn try_from(input: GetCodeContext) -> Result<ContextRequest, Error> {
        let tokens = parse_number(input.max_tokens, 4000, &(100..=50_000), "max_tokens")?;
        let query = search_text(input.query, "query", "give only the words that the code may have")?;
        let symbol = search_text(input.symbol, "symbol", "give one name, as in Class.method")?;
        Ok(ContextRequest { target: input.target_file.map(Target::File), query, symbol, tokens })
    }
}

/// Returns the words or the name to search for; `None` if it is blank.
///
/// Errors: `INVALID_INPUT` with the hint for a text of more than [`MAX_SEARCH_BYTES`].
fn search_text(text: Option<String>, field: &str, hint: &'static str) -> Result<Option<String>, Error> {
    let text = text.filter(|text| !text.trim().is_empty());
    match text.as_ref().map_or(0, String::len) {
        0..=MAX_SEARCH_BYTES => Ok(text),
        bytes => {
            let message =
                format!("`{field}` has {bytes} bytes, more than the {MAX_SEARCH_BYTES} of one call");
            Err(Error::new(Code::InvalidInput, message).named_field(field).hint(hint))
        }
    }
}

/// Renders the text form, with the same content as the JSON form, within its size.
fn text(response: &ContextResponse) -> String {
    let ContextResponse { target, definitions, references, symbols, uses, project, .. } = response;
    let mut lines = Vec::new();
    if let Some(ContextTarget { path, version, total_lines, outline }) = target {
        let count = counted(*total_lines, "line");
        lines.push(format!("{}: {count}, version {version}", escape_name(path)));
        section(&mut lines, "outline", Some(outline), symbol_lines);
    }
    section(&mut lines, "definitions", definitions.as_ref(), symbol_lines);
    section(&mut lines, "references", references.as_ref(), reference_lines);
    section(&mut lines, "symbols", symbols.as_ref(), symbol_lines);
    let uses = Some(uses).filter(|uses| !uses.is_empty());
    section(&mut lines, "uses, defined elsewhere", uses, symbol_lines);
    if let Some(ContextProject { files, folders, important }) = project {
        lines.push(format!("files: {files}"));
        lines.extend(important.iter().map(|path| format!("important: {path}")));
        for ContextFolder { path, files, languages } in folders {
            let languages: Vec<String> =
                languages.iter().map(|(name, files)| format!("{name} {files}")).collect();
            lines.push(format!("{path}/: {}: {}", counted(*files, "file"), languages.join(", ")));
        }
    }
    let versions = response.versions.iter();
    lines.extend(versions.map(|(path, version)| format!("{}: version {version}", escape_name(path))));
    lines.extend(response.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(response.truncated.then(|| "truncated: not all is shown".to_owned()));
    let mut used = 0;
    let fits = |line: &String| {
        used += line.len() + 1;
        used <= response.max_bytes + 1
    };
    lines.into_iter().take_while(fits).collect::<Vec<_>>().join("\n")
}

fn section<T>(lines: &mut Vec<String>, title: &str, list: Option<&Vec<T>>, entry: fn(&T) -> Vec<String>) {
    if let Some(list) = list {
        lines.push(format!("{title}: {}", list.len()));
        lines.extend(list.iter().flat_map(entry));
    }
}

fn symbol_lines(symbol: &ContextSymbol) -> Vec<String> {
    let ContextSymbol { path, name, kind, line, end_line, signature, .. } = symbol;
    let start = symbol.start_line.map(|start| format!(" (from {start})")).unwrap_or_default();
    let mut lines = vec![format!("{}{line}-{end_line}{start} {kind} {name}: {signature}", prefix(path))];
    lines.extend(symbol.doc.as_ref().map(|doc| format!("  {doc}")));
    lines.extend(symbol.code.clone());
    lines
}

fn reference_lines(ContextReference { path, line, text, within }: &ContextReference) -> Vec<String> {
    let within = within.as_ref().map(|within| format!(" ({within})")).unwrap_or_default();
    vec![format!("{}{line}{within}: {text}", prefix(path))]
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{}:", escape_name(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use lockgate_context::{AnswerInput, ContextQuery, Index, VersionedText, project, reading};
    use lockgate_protocol::json_size;
    use lockgate_text::{Version, escape_name};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn it_asks_for_a_look() {
        let arguments =
            rmcp::object!({"target_file": "a.py", "symbol": "A.f", "query": " ", "max_tokens": 500});
        let request = ContextRequest::try_from(parse_input(arguments).unwrap()).unwrap();
        let target = Some(Target::File("a.py".into()));
        assert_eq!(request, ContextRequest { target, query: None, symbol: Some("A.f".into()), tokens: 500 });
        for tokens in [99, 50_001] {
            let error = parse(rmcp::object!({"max_tokens": tokens})).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("max_tokens")));
        }
    }

    #[test]
    fn a_text_to_search_for_has_a_maximum() {
        for field in ["query", "symbol"] {
            let with = |bytes: usize| {
                let text = "x".repeat(bytes).into();
                parse_input([(field.to_owned(), text)].into_iter().collect())
                    .and_then(ContextRequest::try_from)
            };
            assert!(with(MAX_SEARCH_BYTES).is_ok());
            let error = with(MAX_SEARCH_BYTES + 1).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
            assert!(
                error.message.ends_with("2001 bytes, more than the 2000 of one call"),
                "{}",
                error.message
            );
        }
    }

    #[test]
    fn its_listing_is_short() {
        let listed = serde_json::to_string(&SCHEMA.clone()).unwrap();
        assert!(listed.len() <= 520, "{}: {listed}", listed.len());
    }

    /// Returns files whose names and texts need more bytes as JSON than their length suggests.
    fn world(seed: &[(String, String)]) -> BTreeMap<String, String> {
        let long = "n".repeat(240);
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for (at, (name, text)) in seed.iter().enumerate() {
            files.insert(format!("{name}{at}/{long}/a \u{1}\"{at}.py"), text.clone());
        }
        files
    }

    fn index(files: &BTreeMap<String, String>) -> Index {
        let mut index = Index::new("home");
        reading(|reader| {
            for (path, text) in files {
                let tags = reader.tags("python", path, text).unwrap();
                index.put(path, Version::hash(text.as_bytes()), &tags);
            }
        })
        .unwrap();
        index
    }

    fn answer_for(files: &BTreeMap<String, String>, wish: u8, tokens: usize) -> ContextResponse {
        let page = |path: &str| {
            let text = files.get(path)?;
            Some(Arc::new(VersionedText::new(text.clone(), Version::hash(text.as_bytes()))))
        };
        let first = files.keys().next().filter(|_| wish & 1 == 1).map(String::as_str);
        let target = first.and_then(page);
        let tags =
            first.and_then(|path| reading(|reader| reader.tags("python", path, &files[path])).unwrap());
        let question = ContextQuery {
            symbol: (wish & 2 == 2).then_some("f"),
            query: (wish & 4 == 4).then_some("load name of f"),
            near: first,
            tokens,
        };
        let project = question.is_empty().then(|| project(files.keys().map(|path| (0, path.as_str()))));
        let input = AnswerInput {
            target: target.as_deref().map(|page| (page, tags.as_ref())),
            project,
            notes: vec!["something was left out \u{7}".repeat(3)],
        };
        lockgate_context::answer(&index(files), &question, input, &mut |path| page(path))
    }

    const TEXTS: [&str; 6] = [
        "def f(): pass\n",
        "from a import f\nf()  # \"\\ \u{1}\u{2}\n",
        "class A:\n    '''Loads a name. \t \u{8}'''\n    def f(self, x=\"\\\"): return f(x)\n",
        "x = 1\nf = x\nprint(f, '\u{1f600}é')\n",
        "class \u{e9}t\u{e9}:\n    def load_name(self):\n        \"a\tb\"\n        f()\n",
        "def f():\n    return \"\"\"\n\n\n\n\u{1}\u{1}\u{1}\"\"\"\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn no_answer_is_larger_than_requested(
            seed in prop::collection::vec(
                ("[a-c]{1,3}", prop::collection::vec(prop::sample::select(TEXTS.to_vec()), 0..30)), 1..8),
            wish in 0_u8..8,
            tokens in prop::sample::select(vec![100_usize, 101, 120, 150, 200, 300, 500, 1_000, 4_000, 50_000]),
        ) {
            let seed: Vec<(String, String)> = seed.into_iter().map(|(name, texts)| (name, texts.concat())).collect();
            let files = world(&seed);
            let found = answer_for(&files, wish, tokens);
            let counted = json_size(&found);
            // Only mandatory fields may exceed the size.
            prop_assert!(counted <= tokens * 4 || tokens <= 300, "{counted} of {}", tokens * 4);
            let answer = Answer::from_response(&found, text(&found));
            let whole = answer.json.to_string();
            prop_assert!(whole.len() <= tokens * 4, "{} of {}: {whole}", whole.len(), tokens * 4);
            prop_assert!(answer.text.len() <= tokens * 4);
            let cut = answer.json.get("truncated").is_some();
            prop_assert!(cut || counted == whole.len(), "what is cut is said");
        }
    }

    #[test]
    fn both_forms_say_the_same() {
        let own = format!("{}f()\n{}", TEXTS[0], TEXTS[2]);
        let files = world(&[("a".to_owned(), own), ("b".to_owned(), TEXTS[2].to_owned())]);
        let found = answer_for(&files, 3, 4_000);
        let answer = Answer::from_response(&found, text(&found));
        for list in ["outline", "definitions", "references"] {
            let entries = answer.json[list].as_array().unwrap();
            assert!(!entries.is_empty(), "{list}: {}", answer.json);
            for entry in entries {
                for (name, value) in entry.as_object().unwrap() {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let value = if name == "path" { escape_name(&value).into_owned() } else { value };
                    assert!(
                        answer.text.contains(&value),
                        "{list}: {name} {value:?} is not in\n{}",
                        answer.text
                    );
                }
            }
        }
        for version in answer.json["versions"].as_object().unwrap().values() {
            assert!(answer.text.contains(version.as_str().unwrap()));
        }
    }
}
