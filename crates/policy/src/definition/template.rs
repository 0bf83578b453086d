//! Words of a command with placeholders.

use crate::node::{MAX_WORD, PolicyError, YamlNode, clipped, unknown};
use crate::words::words;

/// A word of a command: literal text and placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWord {
    /// The parts of the word, in order.
    pub parts: Vec<WordPart>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// Literal text, used as it is.
    Text(String),
    /// A placeholder that is filled for each run.
    Hole(Hole),
    /// A placeholder for a value of the definition itself.
    Value(String),
}

words! {
    /// The placeholders of a word.
    pub enum Hole {
        /// `{path}`: the absolute path of the file.
        Path = "path",
        /// `{folder}`: the absolute path of the file's folder.
        Folder = "folder",
        /// `{paths}`: a whole word for each file of the call that the tool is asked about, as an absolute path.
        Paths = "paths",
        /// `{folders}`: a whole word for each folder of these files.
        Folders = "folders",
        /// `{root}`: the absolute path of the folder that the tool runs in.
        Root = "root",
        /// `{draft}`: the absolute path of a temporary file that holds the draft.
        Draft = "draft",
        /// `{overlay}`: the absolute path of a JSON file that says `{"Replace": {path: draft}}`.
        Overlay = "overlay",
        /// `{cache}`: a folder of lockgate in which the tool may cache data of this project.
        Cache = "cache",
        /// `{project}`: a name for the project of the file, unique below the root.
        Project = "project",
        /// `{args}`: a whole word for the arguments that the policy adds.
        Args = "args",
        /// `{venv}`: the project's Python environment.
        Venv = "venv",
        /// `{node_modules}`: the project's folder of npm packages.
        NodeModules = "node_modules",
    }
}

impl CommandWord {
    /// True if the word has this placeholder.
    pub fn has(&self, hole: Hole) -> bool {
        self.parts.contains(&WordPart::Hole(hole))
    }
}

/// Parses a word with these placeholders and values; any other name in braces is an error, except a number.
pub(super) fn template(
    node: &YamlNode,
    what: &str,
    allowed: &[Hole],
    own: &[&str],
) -> Result<CommandWord, PolicyError> {
    let mut rest = node.text(what)?;
    if rest.contains('\0') {
        return Err(node.fault(format!("{what} holds a NUL")));
    }
    let names: Vec<&str> = allowed.iter().map(|hole| hole.name()).chain(own.iter().copied()).collect();
    let mut parts = Vec::new();
    while let Some(Placeholder { before: text, name, after }) = placeholder(rest, own) {
        if !names.contains(&name) {
            let literal = clipped(name, MAX_WORD);
            return Err(node.fault(format!(
                "{}; other text in braces needs a space, as in `{{ {literal} }}`",
                unknown("placeholder", name, &names)
            )));
        }
        if !text.is_empty() {
            parts.push(WordPart::Text(text.to_owned()));
        }
        parts.push(Hole::named(name).map_or_else(|| WordPart::Value(name.to_owned()), WordPart::Hole));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(WordPart::Text(rest.to_owned()));
    }
    let template = CommandWord { parts };
    let whole = [Hole::Args, Hole::Paths, Hole::Folders];
    if let Some(hole) = whole.iter().find(|hole| template.has(**hole) && template.parts.len() > 1) {
        let (name, text) = (hole.name(), clipped(node.text(what)?, MAX_WORD));
        return Err(node.fault(format!("`{{{name}}}` must be a whole word, not a part of `{text}`")));
    }
    Ok(template)
}

/// A name in braces, and the text around it.
#[derive(Debug, PartialEq, Eq)]
struct Placeholder<'a> {
    before: &'a str,
    name: &'a str,
    after: &'a str,
}

/// Returns the first name in braces. A number there repeats a part of a pattern, unless a value has that name.
fn placeholder<'a>(word: &'a str, own: &[&str]) -> Option<Placeholder<'a>> {
    let is_name = |name: &str| {
        let is_number = name.chars().all(|character| character.is_ascii_digit());
        name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
            && (!is_number || own.contains(&name))
    };
    word.match_indices('{').find_map(|(start, _)| {
        let (before, tail) = word.split_at_checked(start)?;
        let (name, after) = tail.strip_prefix('{')?.split_once('}')?;
        is_name(name).then_some(Placeholder { before, name, after })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_braces_are_filled_in() {
        let found = |before, name, after| Some(Placeholder { before, name, after });
        assert_eq!(placeholder("a{path}b", &[]), found("a", "path", "b"));
        assert_eq!(placeholder("{\"a\": {}} {{draft}}", &[]), found("{\"a\": {}} {", "draft", "}"));
        for text in ["", "{}", "{", "}{", "{ print }", "{a-b}", "s/.*/{\"line\": 1}/", "^.{2}"] {
            assert_eq!(placeholder(text, &[]), None, "{text}");
        }
        assert_eq!(placeholder("^.{2}{path}", &[]), found("^.{2}", "path", ""));
        assert_eq!(placeholder("^.{2}", &["2"]), found("^.", "2", ""));
    }
}
