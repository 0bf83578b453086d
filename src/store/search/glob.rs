//! A glob of paths, with the meaning that a line of a .gitignore has, but for files alone.

use crate::error::{Code, Error};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// A glob that was understood.
#[derive(Debug)]
pub struct SearchGlob(Gitignore);

impl SearchGlob {
    /// Whether a path can be one.
    pub fn is_meant_by(path: &str) -> bool {
        path.contains(['*', '?', '[', '{'])
    }

    /// Reads a glob; one of one name finds it in every folder. `path` is how it was named.
    ///
    /// Errors: `BAD_PATTERN`.
    pub fn read(text: &str, path: &str) -> Result<SearchGlob, Error> {
        let climbs = text.split('/').any(|name| name == "..");
        read(text).filter(|_| !climbs).ok_or_else(|| {
            Error::new(Code::BadPattern, format!("{path} is no glob that can be understood"))
                .field("path")
                .hint("name a file or a folder, or give a glob such as `*.py` or `src/**/*.rs`")
        })
    }

    /// Whether it finds this path.
    pub fn finds(&self, path: &str) -> bool {
        self.0.matched(path, false).is_ignore()
    }

    /// A path as a glob that finds nothing else.
    pub fn escaped(path: &str) -> String {
        let escape = |c: char| if "*?[]{}!\\".contains(c) { vec!['\\', c] } else { vec![c] };
        path.chars().flat_map(escape).collect()
    }
}

fn read(text: &str) -> Option<SearchGlob> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    let line = if text.starts_with(['!', '#']) { format!("\\{text}") } else { text.to_owned() };
    builder.add_line(None, &line).ok()?;
    builder.build().ok().filter(|glob| glob.num_ignores() == 1).map(SearchGlob)
}

/// The refusal of a path at which there is nothing to search.
pub fn nothing_at(path: &str) -> Error {
    Error::new(Code::FileNotFound, format!("there is nothing at {path}"))
        .field("path")
        .hint("name a file, a folder, or a glob such as `*.py` or `src/**/*.rs`; without a path everything is searched")
}
