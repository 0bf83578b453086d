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
    /// Matches the comment with which a draft switches the program off although it finds `append` after it.
    pub switch: Option<Regex>,
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
    /// the draft may end where nothing is analysed. Then the text that only shows that the file is read, and last
    /// without the part that `keep` matches, which may be what switches the program off.
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
        let reading = |text: String| CanaryText { text, kind: CanaryKind::Reading };
        let mut attempts = Vec::new();
        if !self.is_switched_off(draft) {
            attempts.push(analysis(format!("{prefix}{insert}{rest}{newline}{append}")));
            attempts.extend(self.alone(draft));
        }
        attempts.push(reading(own));
        // A file that the project does not include is no file that is switched off.
        if !prefix.is_empty() && self.unreached.is_none() {
            attempts.push(reading(self.text.clone()));
        }
        attempts
    }

    /// Returns the text that tells if an edit adds the comment that switches the program off in the text after it: a program
    /// that finds the mistake in this text was not switched off before. `None` if the edit adds no such comment. `before` is
    /// empty for a new file.
    pub fn attempt_before(&self, before: &str, after: &str) -> Option<CanaryText> {
        let is_same = self.kept_prefix(before) == self.kept_prefix(after);
        if is_same || self.is_switched_off(before) { None } else { self.alone(before) }
    }

    /// True if a finding with this code and message is the expected one.
    pub fn is_found_by(&self, shows: CanaryKind, code: Option<&str>, message: &str) -> bool {
        match (shows, &self.finds) {
            (CanaryKind::Analysis, Some(finds)) => {
                finds.is_match(&format!("{} {message}", code.unwrap_or_default()))
            }
            (CanaryKind::Analysis, None) | (CanaryKind::Reading, _) => true,
        }
    }

    /// Returns `append` after nothing but the part of a text that `keep` matches; `None` if nothing can be appended.
    fn alone(&self, text: &str) -> Option<CanaryText> {
        let (prefix, append) = (self.kept_prefix(text), self.append.as_ref()?);
        let insert = if prefix.is_empty() { "" } else { &self.insert };
        Some(CanaryText { text: format!("{prefix}{insert}\n{append}"), kind: CanaryKind::Analysis })
    }

    /// True if a text has the comment that `switch` matches.
    fn is_switched_off(&self, text: &str) -> bool {
        self.switch.as_ref().is_some_and(|switch| switch.is_match(text))
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
        switch: fields.read_optional("switch")?,
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
        "switch": Regex, Described("nothing") => "a comment in the draft that switches the tool off although it finds `append` there";
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
            switch: None,
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
            switch: None,
            unreached: None,
        };
        assert_eq!(
            texts(&canary, "package a // why\nvar b = 1"),
            [
                "package a; import x // why\nvar b = 1\nbad()\n",
                "package a; import x\nbad()\n",
                "package a\n(\n",
                "(\n"
            ]
        );
        assert_eq!(texts(&canary, "b\n"), ["b\nbad()\n", "\nbad()\n", "(\n"]);
        let switched = Canary { switch: regex::Regex::new("^package a # off$").ok(), ..canary };
        assert_eq!(texts(&switched, "package a # off"), ["package a\n(\n", "(\n"]);
        let canary = Canary { unreached: Some("why".to_owned()), switch: None, ..switched };
        assert_eq!(texts(&canary, "package a").last().unwrap(), "package a\n(\n");
        let shows: Vec<CanaryKind> = canary.attempts("").iter().map(|attempt| attempt.kind).collect();
        assert_eq!(shows, [CanaryKind::Analysis, CanaryKind::Analysis, CanaryKind::Reading]);
        assert!(canary.is_found_by(CanaryKind::Analysis, Some("E1"), "m"));
        assert!(!canary.is_found_by(CanaryKind::Analysis, None, "E1 m"));
        assert!(canary.is_found_by(CanaryKind::Reading, None, "m"));
    }

    #[test]
    fn a_text_before_that_was_switched_off_is_not_tried() {
        let canary = Canary {
            append: Some("bad\n".to_owned()),
            keep: regex::Regex::new(r"\A(?s:.*\n)?# off\n").ok(),
            switch: regex::Regex::new(r"(?m)^# no errors$").ok(),
            ..Canary::default()
        };
        let text = |before, after| canary.attempt_before(before, after).map(|attempt| attempt.text);
        assert_eq!(text("", "a\n# off\n"), Some("\nbad\n".to_owned()));
        assert_eq!(text("a\n# off\n", "b\n# off\n"), Some("a\n# off\n\nbad\n".to_owned()));
        assert_eq!(text("# off\na\n", "# off\nb\n"), None);
        assert_eq!(text("# no errors\n", "# no errors\n# off\n"), None);
        assert_eq!(Canary { append: None, ..canary }.attempt_before("", "# off\n"), None);
    }
}
