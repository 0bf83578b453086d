//! Finds imports that a server resolves on disk only, although the call adds, removes or changes the file.
//!
//! Some servers analyze an open document that is not on disk, but resolve imports only to files on disk. Such
//! a server gives the same result as the command if no file imports one that it cannot find.
//!
//! Invariant: a file that is imported by its name is found; in doubt, the file counts as imported.

use std::collections::BTreeMap;
use std::path::Path;

use crate::command::ProgramInput;
use crate::overlay::DraftOverlay;
use crate::path::file_name;
use crate::regular;
use lockgate_policy::{Language, ServerSpec, language_of};
use lockgate_text::Version;

/// The largest total of project files that are searched for imports, in bytes.
const MAX_READ: u64 = 64 << 20;
/// Languages in which other files use a file through imports only.
const IMPORTING: [&str; 3] = ["python", "javascript", "typescript"];
/// Names of files that stand for their folder.
const FOLDER_FILES: [&str; 3] = ["__init__", "index", "mod"];

/// A file of the call that the server does not find where the draft has it.
#[derive(Debug, Clone, Copy)]
struct Unresolved<'a> {
    path: &'a str,
    why: &'static str,
}

/// Returns why the server would not resolve an import as the command does, as the end of a sentence that
/// begins with `the language server cannot see`; `resolves_new_file` returns true for a new file that
/// the server finds.
pub(super) fn unresolved_import(
    input: &ProgramInput<'_>,
    files: &BTreeMap<String, Version>,
    resolves_new_file: impl Fn(&Path) -> bool,
) -> Option<String> {
    let unresolved = unresolved_files(input, resolves_new_file);
    if unresolved.is_empty() || input.overlays.is_empty() {
        return None;
    }
    let own = (input.path, input.language, input.text.view());
    let overlays =
        input.overlays.iter().filter_map(|other| Some((other.path, other.language, other.text?.view())));
    let drafts: Vec<(&str, Option<&Language>, &str)> = std::iter::once(own).chain(overlays).collect();
    let describe = |file: Unresolved<'_>, importer: &str| {
        format!("{}, which {} and which {importer} may import", file.path, file.why)
    };
    let names: Vec<Vec<&str>> = unresolved.iter().map(|file| import_names(input.root, file.path)).collect();
    let both = || unresolved.iter().zip(&names);
    for (path, language, text) in &drafts {
        let imported = both().find(|(file, names)| file.path != *path && imports(text, *language, names));
        if let Some((file, _)) = imported {
            return Some(describe(*file, path));
        }
    }
    let mut left = MAX_READ;
    for path in files.keys() {
        let relative = Path::new(path).strip_prefix(input.root).ok().and_then(Path::to_str);
        if relative.is_none_or(|path| drafts.iter().any(|(draft, ..)| *draft == path)) {
            continue;
        }
        let Ok(bytes) = regular::read(Path::new(path), left) else { continue };
        left = left.saturating_sub(bytes.len() as u64);
        if left == 0 {
            return Some(format!("added or removed files in a project of more than {MAX_READ} bytes"));
        }
        let text = String::from_utf8_lossy(&bytes);
        let language = language_of(path, text.lines().next());
        if let Some((file, _)) = both().find(|(_, names)| imports(&text, language, names)) {
            return Some(describe(*file, relative.unwrap_or(path)));
        }
    }
    None
}

/// Returns the files of the call that the server does not find where the drafts have them.
fn unresolved_files<'a>(
    input: &ProgramInput<'a>,
    resolves_new_file: impl Fn(&Path) -> bool,
) -> Vec<Unresolved<'a>> {
    let is_found = |root: &Path, path: &str| resolves_new_file(&root.join(path));
    let own = (!input.on_disk && !is_found(input.root, input.path))
        .then_some(Unresolved { path: input.path, why: "is not on disk" });
    let other = |other: &&DraftOverlay<'a>| {
        let why = match other.text {
            None => "the call removes",
            Some(_) if !input.rule.gate.covers(other.language) => "it reads on disk only",
            Some(_) if is_on_disk(other) || is_found(other.root, other.path) => return None,
            Some(_) => "is not on disk",
        };
        Some(Unresolved { path: other.path, why })
    };
    own.into_iter().chain(input.overlays.iter().filter_map(other)).collect()
}

/// Returns true if a file is on disk at the path of a draft.
pub(super) fn is_on_disk(other: &DraftOverlay<'_>) -> bool {
    other.root.join(other.path).symlink_metadata().is_ok()
}

/// Returns true if a draft is of a file that configures the server, which reads it on disk only.
pub(super) fn is_configuration(server: &ServerSpec, other: &DraftOverlay<'_>) -> bool {
    let name = file_name(other.path);
    server.config.iter().filter(|file| file.name == name).any(|file| {
        let on_disk = || regular::read(&other.root.join(other.path), MAX_READ).unwrap_or_default();
        file.contains.is_empty()
            || other.text.is_some_and(|text| text.view().contains(&file.contains))
            || memchr::memmem::find(&on_disk(), file.contains.as_bytes()).is_some()
    })
}

/// The names by which an import can reach a file: its own without extensions, that of the folder that it
/// stands for, and those of new folders above it.
fn import_names<'p>(root: &Path, path: &'p str) -> Vec<&'p str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    let mut names = vec![stem];
    let (mut folder, mut stands_for_it) = (folders, FOLDER_FILES.contains(&stem));
    while !folder.is_empty() {
        if !stands_for_it && root.join(folder).is_dir() {
            break;
        }
        stands_for_it = false;
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        names.push(name);
        folder = above;
    }
    names
}

/// Returns true if a text may import a file by one of these names: in an import of its language, or as a part
/// of a quoted path. In a language whose files see each other without imports, every mention counts.
fn imports(text: &str, language: Option<&Language>, names: &[&str]) -> bool {
    let mentioned: Vec<&str> = names.iter().copied().filter(|name| has_word(text, name)).collect();
    if mentioned.is_empty() {
        return false;
    }
    let Some(language) = language.filter(|language| IMPORTING.contains(&language.name.as_str())) else {
        return true;
    };
    if mentioned.iter().any(|name| is_quoted(text, name)) {
        return true;
    }
    let (mut open, mut goes_on) = (0_usize, false);
    text.lines().any(|line| {
        if open == 0 && !goes_on && !language.imports(line) {
            return false;
        }
        for character in line.chars() {
            match character {
                '(' | '{' => open += 1,
                ')' | '}' => open = open.saturating_sub(1),
                _ => {}
            }
        }
        goes_on = line.trim_end().ends_with('\\');
        mentioned.iter().any(|name| has_word(line, name))
    })
}

fn has_word(text: &str, name: &str) -> bool {
    occurrences(text, name).any(|(before, after)| !is_word(before) && !is_word(after))
}

/// Returns true if a name is a part of a quoted path, as in `"./name"` or `'name.js'`.
fn is_quoted(text: &str, name: &str) -> bool {
    let (opens, closes) = (['"', '\'', '`', '/'], ['"', '\'', '`', '/', '.']);
    occurrences(text, name).any(|(before, after)| {
        before.is_some_and(|before| opens.contains(&before))
            && after.is_some_and(|after| closes.contains(&after))
    })
}

/// The characters before and after each occurrence of a name.
fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (Option<char>, Option<char>)> + 't {
    memchr::memmem::find_iter(text.as_bytes(), name).map(move |at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        (before, text.get(at + name.len()..).and_then(|after| after.chars().next()))
    })
}

fn is_word(character: Option<char>) -> bool {
    character.is_some_and(|character| character == '_' || character.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::language_named;

    #[test]
    fn an_import_is_found_in_every_form() {
        for (language, text) in [
            ("python", "import fresh\n"),
            ("python", "x = 1\nif x:\n    from .pkg.fresh import f\n"),
            ("python", "from pkg import (\n    old,\n    fresh,\n)\n"),
            ("python", "from pkg import old, \\\n    fresh\n"),
            ("python", "__all__ = [\"fresh\"]\n"),
            ("typescript", "import { a } from './fresh';\n"),
            ("typescript", "import {\n  a,\n} from \"./fresh.js\";\n"),
            ("typescript", "const a = await import(`./fresh`);\n"),
            ("typescript", "export * from '../fresh/b';\n"),
            ("java", "new fresh();\n"),
        ] {
            assert!(imports(text, language_named(language), &["fresh"]), "{text}");
            assert!(!imports(&text.replace("fresh", "refreshed"), language_named(language), &["fresh"]));
        }
        assert!(imports("fresh\n", None, &["fresh"]), "the imports of an unknown language are not known");
    }

    #[test]
    fn a_mention_is_no_import() {
        for text in [
            "from pkg import old\n\nfresh = 1\n",
            "from pkg import (\n    old,\n)\nfresh = 1\n",
            "# a fresh start\nx.fresh()\n",
            "def fresh() -> None: ...\n",
        ] {
            assert!(!imports(text, language_named("python"), &["fresh"]), "{text}");
        }
    }

    #[test]
    fn a_file_is_imported_by_its_name_or_that_of_a_new_folder() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("pkg")).unwrap();
        let names = |path: &'static str| import_names(root.path(), path);
        assert_eq!(names("a.py"), ["a"]);
        assert_eq!(names("pkg/a.d.ts"), ["a"]);
        assert_eq!(names("pkg/__init__.py"), ["__init__", "pkg"]);
        assert_eq!(names("pkg/sub/deep/a.py"), ["a", "deep", "sub"]);
        assert_eq!(names("pkg/sub/index.ts"), ["index", "sub"]);
        assert_eq!(names(".rc"), [".rc"]);
    }
}
