//! Rewriting a file of cases with what was seen, for `UPDATE=1`.

use serde_json::{Map, Value};

use super::compare;
use super::entry::Kind;
use super::scan::{Fence, escape};
use super::workspace::{Entry, State};

/// Lines of a file, as indices from 0, and what is to stand in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The first line that goes.
    pub start: usize,
    /// The first line that stays.
    pub end: usize,
    /// The new lines.
    pub lines: Vec<String>,
}

/// Rewrites the answer block of a call, or adds one: the keys that the case names, with what was seen.
pub fn answer(
    block: Option<&Fence>,
    call: &Fence,
    mut expected: Map<String, Value>,
    actual: &Value,
) -> Rewrite {
    for key in ["status", "code", "exit"] {
        let refused = actual["code"].is_string() && !expected.contains_key(key) && key == "code";
        if (block.is_none() || refused) && !actual[key].is_null() {
            expected.insert(key.to_owned(), Value::Null);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (key, value) in &expected {
        let mut differences = Vec::new();
        compare::answer(value, &actual[key], key, &mut differences);
        let value = if differences.is_empty() { value } else { &actual[key] };
        lines.push(format!("{key}: {value}"));
    }
    match block {
        Some(block) => Rewrite { start: block.body.start, end: block.body.end, lines },
        None => {
            let at = call.body.end + 1;
            lines.splice(0..0, [String::new(), "```yaml answer".to_owned()]);
            lines.push("```".to_owned());
            Rewrite { start: at, end: at, lines }
        }
    }
}

/// Rewrites the `after` blocks of a call, and adds one after `last` for each file that has none and was changed.
pub fn state(blocks: &[&Fence], last: &Fence, before: &State, now: &State) -> Vec<Rewrite> {
    let mut rewrites = Vec::new();
    let path_of =
        |fence: &&&Fence, path: &str| fence.words.iter().any(|word| *word == format!("path={path}"));
    let changed = now.iter().filter(|(path, entry)| {
        entry.kind != Kind::Folder && before.get(*path).is_none_or(|old| old.kind != entry.kind)
    });
    for (path, entry) in changed {
        match blocks.iter().find(|fence| path_of(fence, path)) {
            Some(block) => {
                let rewrite =
                    Rewrite { start: block.line - 1, end: block.body.end, lines: file(path, entry) };
                rewrites.push(rewrite);
            }
            None => {
                let mut lines = vec![String::new()];
                lines.extend(file(path, entry));
                lines.push("```".to_owned());
                rewrites.push(Rewrite { start: last.body.end + 1, end: last.body.end + 1, lines });
            }
        }
    }
    let is_removed = |fence: &&&Fence| !now.keys().any(|path| path_of(fence, path));
    for block in blocks.iter().filter(is_removed) {
        let has_path = |word: &&String| word.starts_with("path=");
        let path = block.words.iter().find(has_path).map_or("", |word| &word["path=".len()..]);
        let lines = vec![format!("```text after path={} absent", quoted(path))];
        rewrites.push(Rewrite { start: block.line - 1, end: block.body.end, lines });
    }
    rewrites
}

fn quoted(path: &str) -> String {
    if path.contains([' ', '"']) { format!("{path:?}") } else { path.to_owned() }
}

/// A block for a file, without its closing fence: plain where that says all, else with escapes.
fn file(path: &str, entry: &Entry) -> Vec<String> {
    let path = quoted(path);
    let Kind::File(bytes) = &entry.kind else { return vec![format!("```text after path={path} absent")] };
    let plain = |text: &str| text.is_empty() || text.ends_with('\n') && !text.contains("```");
    let shown = |c: char| c == '\n' || c == ' ' || c.is_alphanumeric() || c.is_ascii_graphic();
    match std::str::from_utf8(bytes) {
        Ok(text) if plain(text) && text.chars().all(shown) => {
            let info = format!("```text after path={path}");
            std::iter::once(info).chain(text.lines().map(str::to_owned)).collect()
        }
        _ => {
            let info = format!("```text after path={path} bytes");
            std::iter::once(info).chain(escape(bytes).lines().map(str::to_owned)).collect()
        }
    }
}

/// Carries rewrites out on a text.
pub fn apply(text: &str, mut rewrites: Vec<Rewrite>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    rewrites.sort_by_key(|rewrite| (rewrite.start, rewrite.end));
    for rewrite in rewrites.into_iter().rev() {
        lines.splice(rewrite.start..rewrite.end, rewrite.lines);
    }
    lines.join("\n") + "\n"
}
