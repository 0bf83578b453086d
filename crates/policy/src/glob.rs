//! Patterns for paths, with the meaning that gitignore gives them.
//!
//! Invariant: a pattern means what git would take it for, or is refused; none can be written that finds nothing whatever
//! the path, because of a form that git does not have.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::node::{PolicyError, YamlNode};
use lockgate_text::fold;

/// The longest pattern, in characters.
const MAX_CHARS: usize = 1000;

/// A pattern for the paths below a folder.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    text: String,
    matcher: Gitignore,
    /// The same without regard to how a name is spelled; absent where that is no pattern.
    folded: Option<Gitignore>,
}

impl Glob {
    /// The pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// True if it matches a file, or a folder above it; the path is relative to the folder of the pattern, with plain names
    /// between its `/`. Any other path is found by no pattern: the matcher panics over some of them.
    pub(super) fn matches(&self, path: &str) -> bool {
        found(&self.matcher, path)
    }

    /// The same, also for a path that some file system would take for one that it finds: in other case, in another
    /// normal form, with characters that are not seen, or with dots and blanks at the end of a name.
    pub(super) fn matches_ignoring_case(&self, path: &str) -> bool {
        let names: Vec<String> =
            path.split('/').map(|name| fold(name).trim_end_matches(['.', ' ']).to_owned()).collect();
        self.matches(path) || self.folded.as_ref().is_some_and(|folded| found(folded, &names.join("/")))
    }
}

fn found(matcher: &Gitignore, path: &str) -> bool {
    let is_plain = path.split('/').all(|name| !matches!(name, "" | "." | ".."));
    // The folder of the pattern is not among them: `*/` would match it, and with it every file.
    let mut folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    is_plain
        && (matcher.matched(path, false).is_ignore()
            || folders.any(|folder| matcher.matched(folder, true).is_ignore()))
}

pub(super) fn glob(node: &YamlNode, what: &str) -> Result<Glob, PolicyError> {
    let text = node.text(what)?;
    if let Some(why) = unlike_git(text) {
        return Err(node.fault(format!("{what} is not a pattern: {why}")));
    }
    match matcher(text) {
        Ok(matcher) if matcher.num_ignores() == 1 => {
            Ok(Glob { text: text.to_owned(), matcher, folded: folded(text) })
        }
        Ok(_) => Err(node.fault(format!("{what} is not a pattern: it would match nothing"))),
        Err(ignore::Error::Glob { err, .. }) => Err(node.fault(format!("{what} is not a pattern: {err}"))),
        Err(_) => Err(node.fault(format!("{what} is not a pattern"))),
    }
}

/// Patterns of lockgate's own, matched together.
#[derive(Debug, Clone)]
pub(super) struct OwnGlobs(Gitignore);

impl OwnGlobs {
    /// Reads the patterns; a test of each table sees that none is invalid.
    pub(super) fn new(texts: &[&str]) -> OwnGlobs {
        let mut builder = GitignoreBuilder::new("");
        let read: Result<(), ignore::Error> =
            texts.iter().try_for_each(|text| builder.add_line(None, text).map(drop));
        OwnGlobs(read.and_then(|()| builder.build()).unwrap_or_else(|_| Gitignore::empty()))
    }

    /// True if one of them matches a file, or a folder above it.
    pub(super) fn any_matches(&self, path: &str) -> bool {
        found(&self.0, path)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> u64 {
        self.0.num_ignores()
    }
}

fn folded(text: &str) -> Option<Gitignore> {
    matcher(&fold(text)).ok().filter(|matcher| matcher.num_ignores() == 1)
}

fn matcher(text: &str) -> Result<Gitignore, ignore::Error> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    builder.add_line(None, text).and_then(|builder| builder.build())
}

/// Returns the reason why git reads a pattern differently, or never matches it.
fn unlike_git(text: &str) -> Option<&'static str> {
    let reasons = [
        (text.trim().trim_matches('/').is_empty(), "it is empty"),
        (text.chars().count() > MAX_CHARS, "it is longer than 1000 characters"),
        (text.contains(char::is_control), "it contains a control character"),
        (
            text.starts_with('!'),
            "`!` negates an earlier line of a .gitignore; write a separate entry (`\\!` is the character)",
        ),
        (text.starts_with('#'), "`#` starts a comment in a .gitignore (`\\#` is the character)"),
        (
            text.split('/').any(|part| part == "." || part == ".."),
            "it is relative to the folder of the policy, and `.` and `..` match nothing",
        ),
        (text.contains("//"), "`//` matches nothing: write `/`"),
        (
            unescaped(text, &['{', '}']),
            "`{a,b}` is not supported in gitignore patterns: write an entry for each (`\\{` is the character)",
        ),
        (text.contains("***"), "`***` is not supported: write `**`"),
        (text.contains("[:"), "classes such as `[:alpha:]` are not supported"),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
}

/// True if a text has one of these characters without a backslash before it.
fn unescaped(text: &str, characters: &[char]) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let found = !escaped && characters.contains(&c);
        escaped = c == '\\' && !escaped;
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{TextPosition, YamlValue};

    fn read(text: &str) -> Result<Glob, PolicyError> {
        glob(&YamlNode { position: TextPosition::START, value: YamlValue::Text(text.to_owned()) }, "`match`")
    }

    #[test]
    fn patterns_mean_what_git_takes_them_for() {
        for (pattern, found, passed) in [
            (
                "vendor/**",
                &["vendor/a.py", "vendor/a/b.py"][..],
                &["a/vendor/b.py", "vendor", "vendors/a.py"][..],
            ),
            ("vendor/", &["vendor/a.py", "a/vendor/b.py"], &["vendor", "a/vendor"]),
            ("vendor", &["vendor/a.py", "a/vendor/b.py", "vendor"], &["vendor.py"]),
            ("/vendor", &["vendor/a.py", "vendor"], &["a/vendor/b.py"]),
            ("*.py", &["a.py", "a/b/c.py", ".py"], &["a.pyi", "a.py.txt"]),
            ("**/*.py", &["a.py", "a/b/c.py"], &["a.pyi"]),
            ("/*.py", &["a.py"], &["a/b.py"]),
            ("migrations/*.py", &["migrations/a.py"], &["a/migrations/b.py", "migrations/a/b.py"]),
            ("a/**/z", &["a/z", "a/b/c/z", "a/b/z/more"], &["z", "b/a/z"]),
            ("[ab]?.txt", &["ax.txt", "d/bz.txt"], &["a.txt", "cx.txt"]),
            ("[!a].txt", &["b.txt"], &["a.txt"]),
            ("*/", &["a/b", "a/b/c"], &["a"]),
            ("**/", &["a/b"], &["a"]),
            ("\\#a", &["#a"], &["\\#a"]),
            ("\\!a", &["!a"], &["a"]),
            ("\\{a,b\\}", &["{a,b}"], &["a", "b"]),
            ("a b.txt  ", &["a b.txt"], &["a b.txt  "]),
            ("Ä*", &["Äpfel/x"], &["äpfel"]),
            ("**", &["a", "a/b"], &[]),
        ] {
            let glob = read(pattern).unwrap();
            found.iter().for_each(|path| assert!(glob.matches(path), "{pattern} does not find {path}"));
            passed.iter().for_each(|path| assert!(!glob.matches(path), "{pattern} finds {path}"));
        }
    }

    #[test]
    fn what_git_takes_otherwise_is_refused() {
        for (pattern, why) in [
            ("", "it is empty"),
            ("  ", "it is empty"),
            ("/", "it is empty"),
            ("!a", "`!` negates"),
            ("#a", "`#` starts a comment"),
            ("[a", "unclosed character class"),
            ("a\\", "dangling '\\'"),
            ("./a", "`.` and `..` match nothing"),
            ("a/../b", "`.` and `..` match nothing"),
            ("a//b", "`//` matches nothing"),
            ("a//", "`//` matches nothing"),
            ("*.{js,ts}", "`{a,b}` is not supported"),
            ("[[:alpha:]]", "classes such as"),
            ("a\nb", "control character"),
            (&"a".repeat(1001), "longer than 1000"),
            ("[z-a]", "invalid range"),
            ("a/***/b", "`***` is not supported"),
            ("[!]", "unclosed character class"),
        ] {
            let message = format!("{:?}", read(pattern).unwrap_err());
            assert!(
                message.contains(&format!("{why:?}").trim_matches('"').to_owned()),
                "{pattern}: {message}"
            );
        }
    }

    #[test]
    fn an_absolute_path_is_found_by_nothing() {
        assert!(!read("**").unwrap().matches("/etc/passwd"));
    }
}
