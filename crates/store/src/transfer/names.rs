//! Encodes the keys of entities as file names, and decodes them.
//!
//! Ordinary names stay unchanged. Characters with a special meaning for a file system or a program are
//! percent-encoded (`%2E`): a leading dot, so that no row creates a `.git` or an `.envrc`; a slash in
//! an id; and all invisible characters. So are the names that are protected or runnable ([`access`]),
//! such as `quality.yaml`, and `HEAD` and `commondir`, without which git does not recognise a folder as
//! its own.
//!
//! Invariant: two keys have two names, and decoding a name returns the key that it was encoded from. No
//! name is protected or runnable.

use crate::paths::{access, git_layout};
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::{Code, Error};
use percent_encoding::{percent_decode_str, percent_encode_byte};

/// The folder of global entities.
const GLOBAL: &str = "_global";
/// The suffix of a file's name if a folder has the same name; no encoded name ends with it.
pub(super) const FILE_SUFFIX: char = '%';
/// The maximum length in bytes of a name on common file systems.
const LONGEST: usize = 255;

/// The folders of an entity, and the name of its file in the innermost one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntityPath {
    pub folders: Vec<String>,
    pub file: String,
}

/// A decoded key. `scope` is an app or an organisation, depending on the entity type; `None` for a global entity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedKey {
    /// The type of the entity.
    pub kind: EntityKind,
    /// Its app or its organisation; `None` for a global entity.
    pub scope: Option<String>,
    /// The decoded path of the entity.
    pub path: String,
}

/// Encodes the key of an entity.
///
/// Errors: `INVALID_INPUT` if a name would be empty, or too long for a file.
pub(super) fn from_entity(entity: &Entity) -> Result<EntityPath, Error> {
    let scope = entity.app_id.as_ref().or(entity.organization_id.as_ref());
    let scope = scope.map_or_else(|| GLOBAL.to_owned(), |id| encode(id, &['.', '_']));
    let mut names = vec![entity.kind.name().to_owned(), scope];
    names.extend(entity.path.split('/').map(|name| encode(name, &['.'])));
    if names.iter().any(String::is_empty) {
        return Err(cannot_be_file("a part of its key is empty"));
    }
    // The suffix for a folder of the same name may need one more byte.
    if names.iter().any(|name| name.len() >= LONGEST) {
        return Err(cannot_be_file("a part of its key is too long for a file name"));
    }
    let file = names.pop().unwrap_or_default();
    Ok(EntityPath { folders: names, file })
}

/// Decodes the names of an entity.
///
/// Errors: the reason why they are not a key, as the end of a sentence about the file.
pub(super) fn read(names: &[&str]) -> Result<NamedKey, &'static str> {
    let (kind, scope, path) = match names {
        [kind, scope, path @ ..] if !path.is_empty() => (kind, scope, path),
        _ => return Err("is not in a folder of entities: TYPE/SCOPE/PATH"),
    };
    let kind = EntityKind::from_name(kind).ok_or("is in a folder whose name is not an entity type")?;
    let scope = if *scope == GLOBAL { None } else { Some(decode(scope).ok_or(UNREADABLE)?) };
    let mut path: Vec<&str> = path.to_vec();
    if let Some(file) = path.last_mut() {
        *file = file.strip_suffix(FILE_SUFFIX).unwrap_or(file);
    }
    let path: Option<Vec<String>> = path.into_iter().map(decode).collect();
    Ok(NamedKey { kind, scope, path: path.ok_or(UNREADABLE)?.join("/") })
}

const UNREADABLE: &str = "has a name in which `%` is not followed by two hex digits";

fn cannot_be_file(reason: &str) -> Error {
    Error::new(Code::InvalidInput, format!("it cannot be a file: {reason}"))
}

/// Encodes a part of a key as a name without special meaning. The characters in `first` are encoded at
/// the beginning.
fn encode(name: &str, first: &[char]) -> String {
    let is_last_dot = |at: usize| name.rfind('.') == Some(at);
    let attempts: [&dyn Fn(usize, char) -> bool; 4] = [
        &|at, character| at == 0 && first.contains(&character),
        &|at, _| at == 0,
        &|at, _| at == 0 || is_last_dot(at),
        &|_, character| !character.is_alphanumeric(),
    ];
    let mut spellings = attempts.into_iter().map(|is_encoded| encode_where(name, is_encoded));
    spellings.find(|name| !is_special(name)).unwrap_or_else(|| encode_where(name, |_, _| true))
}

/// True for names that have a special meaning for programs.
fn is_special(name: &str) -> bool {
    git_layout::is_entry_point(name)
        || access::rule_for(name).is_some()
        || access::runnable_for(name).is_some()
}

/// Encodes the characters that cannot be in a name, and those for which `is_encoded` is true.
fn encode_where(name: &str, is_encoded: impl Fn(usize, char) -> bool) -> String {
    let mut encoded = String::with_capacity(name.len());
    for (at, character) in name.char_indices() {
        let is_visible = !character.is_control() && !lockgate_text::is_control_or_bidi(character);
        let plain = is_visible && !matches!(character, '%' | '/' | '\\');
        if plain && !is_encoded(at, character) {
            encoded.push(character);
            continue;
        }
        encoded.extend(character.encode_utf8(&mut [0; 4]).bytes().map(percent_encode_byte));
    }
    encoded
}

/// Decodes a name; `None` if a `%` in it is not followed by two hex digits, or it is not UTF-8 then.
fn decode(name: &str) -> Option<String> {
    let is_encoded = |(at, _): (usize, &str)| {
        let digits = name.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let decoded = percent_decode_str(name).decode_utf8().ok()?;
    name.match_indices('%').all(is_encoded).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entity(scope: Option<&str>, path: &str) -> Entity {
        let organization_id = scope.map(str::to_owned);
        Entity {
            kind: EntityKind::from_name("workflow").unwrap(),
            path: path.to_owned(),
            app_id: None,
            organization_id,
        }
    }

    fn file_path(scope: Option<&str>, path: &str) -> String {
        let EntityPath { mut folders, file } = from_entity(&entity(scope, path)).unwrap();
        folders.push(file);
        folders.join("/")
    }

    #[test]
    fn plain_names_stay_and_strange_ones_are_spelt() {
        for (scope, path, name) in [
            (None, "a/b.py", "workflow/_global/a/b.py"),
            (Some("acme"), "flows/sync ü.py", "workflow/acme/flows/sync ü.py"),
            (Some("_global"), "a", "workflow/%5Fglobal/a"),
            (Some("../.."), "a", "workflow/%2E.%2F../a"),
            (Some("."), "a", "workflow/%2E/a"),
            (Some("a"), ".git/config", "workflow/a/%2Egit/config"),
            (Some("a"), "100%/x%41", "workflow/a/100%25/x%2541"),
            (Some("a"), "_global", "workflow/a/_global"),
            (Some("a"), "x\u{202e}y", "workflow/a/x%E2%80%AEy"),
            (Some("HEAD"), "v/HEAD", "workflow/%48EAD/v/%48EAD"),
            (Some("a"), "v/Head./commondir", "workflow/a/v/%48ead./%63ommondir"),
            (Some("a"), "v/HEADER/config", "workflow/a/v/HEADER/config"),
            (Some("a"), "quality.yaml", "workflow/a/%71uality.yaml"),
            (Some("a"), "x/OpenCode.json", "workflow/a/x/%4FpenCode.json"),
            (Some("a"), "app.code-workspace", "workflow/a/%61pp%2Ecode-workspace"),
            (Some("a"), "tls.key", "workflow/a/%74ls%2Ekey"),
        ] {
            assert_eq!(file_path(scope, path), name);
            let names: Vec<&str> = name.split('/').collect();
            let read = read(&names).unwrap();
            assert_eq!((read.scope.as_deref(), read.path.as_str()), (scope, path));
        }
        let suffixed = read(&["workflow", "a", "x", "y%"]).unwrap();
        assert_eq!(suffixed.path, "x/y");
    }

    /// Tests several spellings of names with a special meaning: none of them is ever written.
    #[test]
    fn no_name_is_protected_or_runnable_or_begins_a_git_folder() {
        let special_names = [
            "HEAD",
            "head",
            "HEAD.",
            "\u{ff28}EAD",
            "HEAD:x",
            "commondir",
            "CommonDir ",
            ".git",
            "GIT~1",
            ".env",
            "_netrc",
            "quality.yaml",
            "QUALITY.YAML",
            "qualit~1.yam",
            "C:quality.yaml",
            "quality.yaml::$DATA",
            "a.code-workspace",
            "opencode.jsonc",
            "x.pem",
            "id_rsa",
            ".hg",
            ".vscode",
            "x\\quality.yaml",
            "quality.yaml. ",
            "\u{ff51}uality.yaml",
        ];
        let is_found = |path: &str| {
            access::rule_for(path).is_some()
                || access::runnable_for(path).is_some()
                || path.split('/').any(git_layout::is_entry_point)
        };
        for name in special_names {
            // Control: unencoded, most of them are detected.
            assert!(is_found(name) || name == ".vscode", "{name}");
            for path in [name.to_owned(), format!("a/{name}"), format!("{name}/settings.json")] {
                let path_of_file = file_path(Some("acme"), &path);
                assert!(!is_found(&path_of_file), "{path}: {path_of_file}");
                let names: Vec<&str> = path_of_file.split('/').collect();
                assert_eq!(read(&names).unwrap().path, path);
            }
        }
    }

    #[test]
    fn what_no_key_was_written_for_is_not_read() {
        for names in [
            &["workflow"][..],
            &["workflow", "a"],
            &["Workflow", "a", "b"],
            &["file", "a", "b"],
            &["workflow", "%", "b"],
            &["workflow", "a%2", "b"],
            &["workflow", "a", "b%%"],
            &["workflow", "a", "b%", "c"],
            &["workflow", "a", "b%GG"],
            &["workflow", "a", "b%FF"],
            &["workflow", "a", "%+1"],
        ] {
            assert!(read(names).is_err(), "{names:?}");
        }
    }

    #[test]
    fn what_no_file_can_be_named_for_is_refused() {
        for path in ["", "/a", "a//b", "a/", &"x".repeat(255), &"/".repeat(3), &"\u{1}".repeat(90)] {
            assert_eq!(from_entity(&entity(None, path)).unwrap_err().code, Code::InvalidInput, "{path}");
        }
        assert!(from_entity(&entity(None, &"x".repeat(254))).is_ok());
    }

    proptest! {
        #[test]
        fn every_key_is_read_as_it_was_written(scope in "[^\\x00]{1,20}", path in "[^/\\x00]{1,9}(/[^/\\x00]{1,9}){0,3}") {
            let EntityPath { folders, file } = from_entity(&entity(Some(&scope), &path)).unwrap();
            let mut names: Vec<&str> = folders.iter().map(String::as_str).collect();
            names.push(&file);
            for name in &names {
                prop_assert!(!name.starts_with('.') && !name.contains('/') && !name.ends_with(FILE_SUFFIX));
                prop_assert!(!is_special(name), "{name}");
            }
            let read = read(&names).unwrap();
            prop_assert_eq!((read.scope.as_deref(), &read.path), (Some(scope.as_str()), &path));
        }
    }
}
