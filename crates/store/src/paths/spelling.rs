//! Validates paths, and folds their spellings into one form for comparison.
//!
//! A file system may find `.git` under `.GIT`, under a name with a zero-width joiner in it, or under `GIT~1`;
//! the rules of [`access`](super::access) must match all of them.
//!
//! Invariant: nothing here touches a file; folding only ever makes more rules match.

use lockgate_error::{Code, Error};
use lockgate_text::{fold, is_control_or_bidi};

const LONGEST_PATH: usize = 4095;
const LONGEST_NAME: usize = 255;

/// The start of a URL of a file.
const FILE_SCHEME: &str = "file://";

/// Returns the path in a `file:` URL, as it is written there; `None` for a path.
pub fn path_of_url(path: &str) -> Option<&str> {
    let (scheme, rest) = path.split_at_checked(FILE_SCHEME.len())?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or_default());
    let local = host.eq_ignore_ascii_case("localhost").then_some(path);
    scheme.eq_ignore_ascii_case(FILE_SCHEME).then_some(local.unwrap_or(rest))
}

/// Fails for an invalid path: empty, a URL, with a NUL, or longer than the system allows.
pub(crate) fn check(path: &str) -> Result<(), Error> {
    if let Some(plain) = path_of_url(path) {
        let error = Error::new(Code::InvalidInput, format!("{path} is a URL, not a path")).field("path");
        // The URL has escapes, and the path has not.
        let is_path = !plain.is_empty() && !plain.contains('%');
        let hint = if is_path { format!("use the path {plain}") } else { "use the file's path".to_owned() };
        return Err(error.hint(hint));
    }
    let message = if path.is_empty() {
        "the path is empty"
    } else if path.contains('\0') {
        "the path contains a NUL character"
    } else if path.len() > LONGEST_PATH {
        "the path is longer than 4095 bytes"
    } else if path.split('/').any(|name| name.len() > LONGEST_NAME) {
        "a name in the path is longer than 255 bytes"
    } else {
        return Ok(());
    };
    Err(Error::new(Code::InvalidInput, message).named_field("path"))
}

/// Fails for a misleading new name: one with invisible characters, or characters that reorder others.
pub(crate) fn check_new(name: &str) -> Result<(), Error> {
    match name.chars().find(|&c| is_control_or_bidi(c) || c.is_control()) {
        None => Ok(()),
        Some(c) => {
            let message = format!("the new name {name:?} contains the character U+{:04X}", u32::from(c));
            let hint = "choose a name without control, bidirectional or invisible characters";
            Err(Error::new(Code::InvalidInput, message).field("path").hint(hint))
        }
    }
}

/// Resolves `.` and `..` in a relative path by its text alone; `None` if it climbs above its start.
pub(crate) fn normal(path: &str) -> Option<String> {
    let mut resolved: Vec<&str> = Vec::new();
    for name in names(path) {
        if name == ".." {
            resolved.pop()?;
        } else {
            resolved.push(name);
        }
    }
    Some(resolved.join("/"))
}

/// The names of a relative path, without `.` and empty ones.
pub(crate) fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

/// Removes `.` and empty names from a relative path.
pub(crate) fn without_idle_dots(path: &str) -> String {
    names(path).collect::<Vec<&str>>().join("/")
}

/// The folded names of a path, in each reading of a colon: the start of a stream's name, and a separator.
pub(crate) fn folded(path: &str) -> Vec<Vec<String>> {
    let folded = fold(path);
    let names = |separators: &[char], streams: bool| {
        folded
            .split(separators)
            .map(|name| if streams { name.split(':').next().unwrap_or(name) } else { name })
            .map(|name| name.trim_end_matches(['.', ' ']).to_owned())
            .filter(|name| !name.is_empty())
            .collect()
    };
    let mut readings = vec![names(&['/', '\\'], true)];
    if folded.contains(':') {
        readings.push(names(&['/', '\\', ':'], false));
    }
    readings
}

/// A name as file systems may compare it: ignoring case, width, invisible characters, and characters that
/// Windows drops.
pub(crate) fn folded_name(name: &str) -> String {
    let folded = fold(name);
    let stem = folded.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' ']).to_owned()
}

/// True if a path begins with these names, under any spelling.
pub(crate) fn begins_with(path: &str, names: &str) -> bool {
    let names = folded(names);
    folded(path).iter().any(|path| names.iter().any(|names| path.starts_with(names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_path_may_hold_is_refused_with_its_field() {
        let long = "x".repeat(256);
        let deep = "x/".repeat(2048);
        for path in ["", "a\0b", long.as_str(), deep.as_str()] {
            let error = check(path).unwrap_err();
            assert_eq!(
                (error.code, error.field.as_deref()),
                (Code::InvalidInput, Some("path")),
                "{path:.20}"
            );
        }
        assert!(check(&"x".repeat(255)).is_ok());
    }

    #[test]
    fn a_url_of_a_file_is_refused_with_its_path() {
        for (url, hint) in [
            ("file:///p/a.txt", "use the path /p/a.txt"),
            ("FILE:///p/a.txt", "use the path /p/a.txt"),
            ("file://localhost/p/a.txt", "use the path /p/a.txt"),
            ("file://a.txt", "use the path a.txt"),
            ("file:///p/a%20b.txt", "use the file's path"),
            ("file://", "use the file's path"),
        ] {
            let error = check(url).unwrap_err();
            assert_eq!((error.code, error.hint.as_deref()), (Code::InvalidInput, Some(hint)), "{url}");
        }
        for path in ["file:", "file:/a", "file:a//b", "a/file://b", "files://a", "größe//a"] {
            assert!(check(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn new_names_with_unseen_characters_are_refused() {
        for name in [
            "a\nb",
            "a\tb",
            "a\u{7f}",
            "a\u{202e}txt.exe",
            "\u{200f}a",
            "a\u{2066}b",
            "a\u{85}b",
            "a\u{2028}b",
            "a\u{200b}b",
        ] {
            assert_eq!(check_new(name).unwrap_err().code, Code::InvalidInput, "{name:?}");
        }
        for name in ["naïve.py", "файл.rs", "ملف.txt", "a b.md", "日本.c"] {
            assert!(check_new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn dots_are_taken_out_by_text_alone() {
        assert_eq!(normal("a/./b/../c").as_deref(), Some("a/c"));
        assert_eq!(normal("a//b/").as_deref(), Some("a/b"));
        assert_eq!(normal("a/../../c"), None);
        assert_eq!(without_idle_dots("./a//../b/."), "a/../b");
    }

    #[test]
    fn spellings_of_one_name_fold_to_one_form() {
        for path in [
            ".git",
            ".GIT",
            ".g\u{200c}it",
            ".gıt",
            "．ｇｉｔ",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            ".ＧＩＴ",
        ] {
            assert_eq!(folded(path)[0], [".git"], "{path}");
        }
        assert_eq!(folded(".git\\config")[0], [".git", "config"]);
        assert_eq!(folded("C:.git\\config")[1], ["c", ".git", "config"]);
    }
}
