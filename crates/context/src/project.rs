//! A summary of a project: its folders with their files and languages, and its key files.

use std::collections::BTreeMap;

use lockgate_policy::language_of;
use lockgate_protocol::{ContextFolder, ContextProject};

/// Deeper folders are counted for the folders above them.
const DEEPEST: usize = 4;
/// The maximum number of languages reported for a folder.
const MAX_LANGUAGES: usize = 4;

/// The names of a project's key files, most informative first. A `*` matches any characters.
const IMPORTANT: [&str; 34] = [
    "README*",
    "AGENTS.md",
    "CLAUDE.md",
    "CONTRIBUTING*",
    "ARCHITECTURE*",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle*",
    "setup.py",
    "setup.cfg",
    "requirements*.txt",
    "CMakeLists.txt",
    "Makefile",
    "meson.build",
    "configure.ac",
    "tsconfig.json",
    "deno.json",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "*.csproj",
    "go.work",
    "pnpm-workspace.yaml",
    "lerna.json",
    "tox.ini",
    "noxfile.py",
    "Dockerfile",
    "compose*.y*ml",
    "docker-compose*.y*ml",
    "justfile",
    "CHANGELOG*",
];

/// The names of a README in any case. Other names that begin with `readme` may be those of code.
const READMES: [&str; 5] = ["readme", "readme.md", "readme.rst", "readme.txt", "readme.adoc"];

#[derive(Default)]
struct LanguageCount {
    files: usize,
    languages: BTreeMap<String, usize>,
}

/// Summarizes the project with these files. Each path comes with the number of its bytes that name its
/// root.
pub fn project<'p>(paths: impl IntoIterator<Item = (usize, &'p str)>) -> ContextProject {
    let mut folders: BTreeMap<&str, LanguageCount> = BTreeMap::new();
    let mut important: Vec<(usize, usize, &str)> = Vec::new();
    let mut files = 0;
    for (root, path) in paths {
        files += 1;
        let language = language_of(path, None).map(|language| language.name.clone());
        for folder in above(root, path) {
            let count = folders.entry(folder).or_default();
            count.files += 1;
            if let Some(language) = &language {
                *count.languages.entry(language.clone()).or_default() += 1;
            }
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_readme = READMES.iter().any(|readme| name.eq_ignore_ascii_case(readme));
        let name = if is_readme { "README" } else { name };
        let rank = IMPORTANT.iter().position(|pattern| fits(pattern, name));
        important.extend(rank.map(|rank| (depth(path.get(root..).unwrap_or_default()), rank, path)));
    }
    important.sort_unstable();
    let mut folders: Vec<ContextFolder> =
        folders.into_iter().map(|(path, count)| folder(path, count)).collect();
    folders.sort_by_key(|folder| (depth(&folder.path), std::cmp::Reverse(folder.files)));
    let important = important.into_iter().map(|(.., path)| path.to_owned()).collect();
    ContextProject { files, folders, important }
}

fn folder(path: &str, count: LanguageCount) -> ContextFolder {
    let mut languages: Vec<(String, usize)> = count.languages.into_iter().collect();
    languages.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
    languages.truncate(MAX_LANGUAGES);
    ContextFolder { path: path.to_owned(), files: count.files, languages }
}

/// Returns the folders above a file, from the top of its root down to the maximum depth.
fn above(root: usize, path: &str) -> impl Iterator<Item = &str> {
    let top = path.get(..root).unwrap_or_default().trim_end_matches('/');
    let folder_ends = path.match_indices('/').map(|(at, _)| at).filter(move |at| *at > root).take(DEEPEST);
    std::iter::once(top).chain(folder_ends.filter_map(|at| path.get(..at)))
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { 1 + path.matches('/').count() }
}

/// True if a name matches a pattern with asterisks.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, pattern)) = pattern.split_once('*') else { return name == pattern };
    let Some(rest) = name.strip_prefix(start) else { return false };
    (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|end| fits(pattern, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_counted_with_what_is_below() {
        let paths = [
            "README.md",
            "src/a.py",
            "src/b/c.py",
            "src/b/d.js",
            "src/b/requirements-dev.txt",
            "x/y/z/w/v/u.c",
        ];
        let ContextProject { files, folders, important } = project(paths.map(|path| (0, path)));
        assert_eq!(files, 6);
        let counts: Vec<(&str, usize)> = folders.iter().map(|it| (it.path.as_str(), it.files)).collect();
        assert_eq!(
            counts,
            [("", 6), ("src", 4), ("x", 1), ("src/b", 3), ("x/y", 1), ("x/y/z", 1), ("x/y/z/w", 1)]
        );
        assert_eq!(folders[1].languages[0], ("python".to_owned(), 2));
        assert_eq!(important, ["README.md", "src/b/requirements-dev.txt"]);
    }

    #[test]
    fn a_readme_is_found_in_any_case() {
        let paths =
            ["Readme.md", "a/readme", "b/ReadMe.RST", "c/readme.py", "c/Readme.tsx", "d/changelog.ts"];
        let ContextProject { important, .. } = project(paths.map(|path| (0, path)));
        assert_eq!(important, ["Readme.md", "a/readme", "b/ReadMe.RST"]);
    }

    #[test]
    fn names_fit_patterns() {
        for (pattern, name, fit) in [
            ("README*", "README.rst", true),
            ("README*", "MYREADME", false),
            ("compose*.y*ml", "compose.dev.yaml", true),
            ("compose*.y*ml", "compose.json", false),
            ("go.mod", "go.mod", true),
            ("go.mod", "go.modx", false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }
}
