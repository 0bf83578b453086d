//! A glob of paths, with the meaning of a line in a .gitignore, but for files only.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lockgate_error::{Code, Error};

/// A parsed glob that selects files by path.
#[derive(Debug)]
pub struct SearchGlob(Gitignore);

impl SearchGlob {
    /// True if a path contains glob characters.
    pub fn is_glob(path: &str) -> bool {
        path.contains(['*', '?', '[', '{'])
    }

    /// Parses a glob; a glob without `/` matches in every folder. `path` is the argument as the caller gave
    /// it.
    ///
    /// Errors: `BAD_PATTERN`.
    pub fn parse(text: &str, path: &str) -> Result<SearchGlob, Error> {
        let climbs = text.split('/').any(|name| name == "..");
        read(text).filter(|_| !climbs).ok_or_else(|| {
            Error::new(Code::BadPattern, format!("{path} is not a valid glob"))
                .field("path")
                .hint("name a file or a folder, or give a glob such as `*.py` or `src/**/*.rs`")
        })
    }

    /// True if the glob matches this path.
    pub fn matches(&self, path: &str) -> bool {
        self.0.matched(path, false).is_ignore()
    }

    /// Escapes a path, so that as a glob it matches only itself.
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

/// The error for a path at which there is nothing to search.
pub fn nothing_at(path: &str) -> Error {
    Error::new(Code::FileNotFound, format!("{path} does not exist"))
        .field("path")
        .hint("name a file, a folder, or a glob such as `*.py` or `src/**/*.rs`; without a path, all files are searched")
}
