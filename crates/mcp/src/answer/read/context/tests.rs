//! Tests that no answer exceeds the requested size.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use lockgate_context::{AnswerInput, ContextQuery, Index, VersionedText, answer, project, reading};
use lockgate_text::{Version, escape_name};

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

fn answer_for(files: &BTreeMap<String, String>, wish: u8, tokens: usize) -> CodeContext {
    let page = |path: &str| {
        let text = files.get(path)?;
        Some(Arc::new(VersionedText::new(text.clone(), Version::hash(text.as_bytes()))))
    };
    let first = files.keys().next().filter(|_| wish & 1 == 1).map(String::as_str);
    let target = first.and_then(page);
    let tags = first.and_then(|path| reading(|reader| reader.tags("python", path, &files[path])).unwrap());
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
    answer(&index(files), &question, input, &mut |path| page(path))
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
        let counted = json_size(&response(&found));
        // Only mandatory fields may exceed the size.
        prop_assert!(counted <= tokens * 4 || tokens <= 300, "{counted} of {}", tokens * 4);
        let answer = context(&found);
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
    let answer = context(&answer_for(&files, 3, 4_000));
    for list in ["outline", "definitions", "references"] {
        let entries = answer.json[list].as_array().unwrap();
        assert!(!entries.is_empty(), "{list}: {}", answer.json);
        for entry in entries {
            for (name, value) in entry.as_object().unwrap() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let value = if name == "path" { escape_name(&value).into_owned() } else { value };
                assert!(answer.text.contains(&value), "{list}: {name} {value:?} is not in\n{}", answer.text);
            }
        }
    }
    for version in answer.json["versions"].as_object().unwrap().values() {
        assert!(answer.text.contains(version.as_str().unwrap()));
    }
}
