//! A canary: a text with a mistake by which a gate shows that it works.

use regex::Regex;

use crate::node::{PolicyError, YamlNode, YamlValue};
use crate::value_shape::tables;

/// A text in which a gate must find a mistake; a gate that finds nothing does not work.
#[derive(Debug, Default)]
pub struct Canary {
    /// A mistake that only the tool's own analysis finds, to be appended to the draft.
    pub append: Option<String>,
    /// Matches the code and message of the finding in `append`; any finding if absent.
    pub finds: Option<Regex>,
    /// The text that `append` needs after the part that `keep` matches.
    pub insert: String,
    /// Matches the beginning of the draft that precedes a standalone text, such as the package clause.
    pub keep: Option<Regex>,
    /// A text that no configuration lets pass.
    pub text: String,
    /// The reason that a program which works may find nothing in its canary: the project does not include the file.
    pub unreached: Option<String>,
}

/// A text to try on a gate's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanaryText {
    /// The complete content of the file that the program checks.
    pub text: String,
    /// The meaning of a finding in it.
    pub kind: CanaryKind,
}

/// The meaning of a finding in a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanaryKind {
    /// The program analyses the file.
    Analysis,
    /// The program reads the file, but the requested analysis may not run.
    Reading,
}

impl Canary {
    /// Returns the texts to try in place of a draft, until one is found. First the draft with the mistake
    /// appended, so that files that need the draft's declarations still have them. Then the mistake alone, as
    /// the draft may end where nothing is analysed. Last the text that only shows that the file is read.
    pub fn attempts(&self, draft: &str) -> Vec<CanaryText> {
        let prefix = self.kept_prefix(draft);
        let own = match prefix {
            "" => self.text.clone(),
            prefix => format!("{prefix}\n{}", self.text),
        };
        let analysis = |text: String| CanaryText { text, kind: CanaryKind::Analysis };
        let Some(append) = &self.append else { return vec![analysis(own)] };
        let insert = if prefix.is_empty() { "" } else { &self.insert };
        let rest = draft.get(prefix.len()..).unwrap_or_default();
        let newline = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
        vec![
            analysis(format!("{prefix}{insert}{rest}{newline}{append}")),
            analysis(format!("{prefix}{insert}\n{append}")),
            CanaryText { text: own, kind: CanaryKind::Reading },
        ]
    }

    /// True if an edit changes the beginning that precedes a standalone text: the comments that may switch a program off.
    pub fn changes_prefix(&self, before: Option<&str>, after: &str) -> bool {
        self.kept_prefix(after) != before.map_or("", |before| self.kept_prefix(before))
    }

    /// True if a finding with this code and message is the expected one.
    pub fn is_found_by(&self, kind: CanaryKind, code: Option<&str>, message: &str) -> bool {
        match (kind, &self.finds) {
            (CanaryKind::Analysis, Some(finds)) => {
                finds.is_match(&format!("{} {message}", code.unwrap_or_default()))
            }
            (CanaryKind::Analysis, None) | (CanaryKind::Reading, _) => true,
        }
    }

    fn kept_prefix<'d>(&self, draft: &'d str) -> &'d str {
        let found = self.keep.as_ref().and_then(|keep| keep.find(draft));
        found.filter(|prefix| prefix.start() == 0).map_or("", |prefix| prefix.as_str())
    }
}

pub(super) fn canary(node: &YamlNode, what: &str) -> Result<Canary, PolicyError> {
    if let YamlValue::Text(text) = &node.value {
        return Ok(Canary { text: text.clone(), ..Canary::default() });
    }
    let fields = node.settings(what, &[CANARY])?;
    let canary = Canary {
        append: fields.read_optional("append")?,
        finds: fields.read_optional("finds")?,
        insert: fields.read("insert", String::new())?,
        keep: fields.read_optional("keep")?,
        text: fields.read_required("text")?,
        unreached: fields.read_optional("unreached")?,
    };
    match ["finds", "insert"].into_iter().find_map(|key| fields.get(key)) {
        Some(extra) if canary.append.is_none() => Err(extra.fault("this key belongs to `append`")),
        Some(_) | None => Ok(canary),
    }
}

tables! {
    CANARY {
        "append": Text, Described("none") => "an error that only the tool's own analysis finds, appended to the draft";
        "finds": Regex, Described("any") => "a pattern on `code message` of the finding there";
        "insert": Text, Described("none") => "what `append` needs, inserted after the match of `keep`";
        "keep": Regex, Described("nothing") => "the beginning of the draft to keep before `text`";
        "unreached": Text, Described("none") => "why the project may not include a file: the gate is `unavailable` with this reason, if it finds the canary in a project of its own";
        "text": Text, Required => "a text that fails under every configuration";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(canary: &Canary, draft: &str) -> Vec<String> {
        canary.attempts(draft).into_iter().map(|attempt| attempt.text).collect()
    }

    #[test]
    fn the_prefix_of_the_draft_precedes_the_canary() {
        let keep = regex::Regex::new(r"(?ms)\A.*?^package\s+\w+").ok();
        let canary = Canary {
            append: None,
            finds: None,
            insert: String::new(),
            keep,
            text: "func f( {\n".to_owned(),
            unreached: None,
        };
        assert_eq!(
            texts(&canary, "//go:build x\n\npackage a\n\nvar b = 1\n"),
            ["//go:build x\n\npackage a\nfunc f( {\n"]
        );
        assert_eq!(texts(&canary, "var b = 1\n"), ["func f( {\n"]);
        assert_eq!(texts(&Canary { keep: None, text: "x".to_owned(), ..canary }, "package a"), ["x"]);
    }

    #[test]
    fn the_mistake_follows_the_draft_and_then_is_alone() {
        let canary = Canary {
            append: Some("bad()\n".to_owned()),
            finds: regex::Regex::new("^E1 ").ok(),
            insert: "; import x".to_owned(),
            keep: regex::Regex::new(r"\Apackage\s+\w+").ok(),
            text: "(\n".to_owned(),
            unreached: None,
        };
        assert_eq!(
            texts(&canary, "package a // why\nvar b = 1"),
            [
                "package a; import x // why\nvar b = 1\nbad()\n",
                "package a; import x\nbad()\n",
                "package a\n(\n"
            ]
        );
        assert_eq!(texts(&canary, "b\n"), ["b\nbad()\n", "\nbad()\n", "(\n"]);
        let shows: Vec<CanaryKind> = canary.attempts("").iter().map(|attempt| attempt.kind).collect();
        assert_eq!(shows, [CanaryKind::Analysis, CanaryKind::Analysis, CanaryKind::Reading]);
        assert!(canary.is_found_by(CanaryKind::Analysis, Some("E1"), "m"));
        assert!(!canary.is_found_by(CanaryKind::Analysis, None, "E1 m"));
        assert!(canary.is_found_by(CanaryKind::Reading, None, "m"));
    }
}
