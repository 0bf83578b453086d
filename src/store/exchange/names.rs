//! The names of files and folders by which the keys of entities are written down, and read again.
//!
//! A name that nobody would be surprised by stays as it is. What could mean something else to a file system, or to a
//! program that finds the folder, is spelt in signs (`%2E`): a dot at its beginning, so that no row makes a `.git` or an
//! `.envrc`; a slash in an id; whatever is no character to be seen. So is what would make a name one that is protected or
//! runnable ([`access`]), as `quality.yaml` is, and `HEAD` and `commondir`, without which git takes no folder for its own.
//!
//! Invariant: two keys have two names, and a name that was written is read as the key that it was written for; no name is
//! protected or runnable.

use crate::error::{Code, Error};
use crate::request::{Entity, EntityKind};
use crate::store::{access, git_layout};
use std::fmt::Write;

/// The folder of what belongs to nobody.
const GLOBAL: &str = "_global";
/// What stands behind the name of a file where a folder has that name already: no spelling ends so.
pub(super) const BESIDE: char = '%';
/// The longest name that file systems keep, in bytes.
const LONGEST: usize = 255;

/// The folders of an entity, and the name of its file in the last of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntityPath {
    pub folders: Vec<String>,
    pub file: String,
}

/// The key that names were written for. Whose the entity is by its type is known to others: `scope` is an app or an
/// organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedKey {
    /// Its type.
    pub kind: EntityKind,
    /// Its app, or its organisation; nothing where it is nobody's.
    pub scope: Option<String>,
    /// Its path.
    pub path: String,
}

/// The names for an entity.
///
/// Errors: `INVALID_INPUT` where a name would be too long for a file, or empty.
pub(super) fn from_entity(entity: &Entity) -> Result<EntityPath, Error> {
    let scope = entity.app_id.as_ref().or(entity.organization_id.as_ref());
    let scope = scope.map_or_else(|| GLOBAL.to_owned(), |id| spelt(id, &['.', '_']));
    let mut names = vec![entity.kind.name().to_owned(), scope];
    names.extend(entity.path.split('/').map(|name| spelt(name, &['.'])));
    if names.iter().any(String::is_empty) {
        return Err(refusal("a part of its key is empty"));
    }
    // One more byte may be needed where a folder has the name.
    if names.iter().any(|name| name.len() >= LONGEST) {
        return Err(refusal("a part of its key is longer than the name of a file may be"));
    }
    let file = names.pop().unwrap_or_default();
    Ok(EntityPath { folders: names, file })
}

/// The key that these names were written for.
///
/// Errors: why there is none, as the end of a sentence about the file.
pub(super) fn read(names: &[&str]) -> Result<NamedKey, &'static str> {
    let (kind, scope, path) = match names {
        [kind, scope, path @ ..] if !path.is_empty() => (kind, scope, path),
        _ => return Err("lies above the folders of entities: TYPE/SCOPE/PATH"),
    };
    let kind = EntityKind::named(kind).ok_or("lies in a folder that no type of entities is named for")?;
    let scope = if *scope == GLOBAL { None } else { Some(meant(scope).ok_or(UNREADABLE)?) };
    let mut path: Vec<&str> = path.to_vec();
    if let Some(file) = path.last_mut() {
        *file = file.strip_suffix(BESIDE).unwrap_or(file);
    }
    let path: Option<Vec<String>> = path.into_iter().map(meant).collect();
    Ok(NamedKey { kind, scope, path: path.ok_or(UNREADABLE)?.join("/") })
}

const UNREADABLE: &str = "has a name in which `%` is not followed by the two digits of a byte";

fn refusal(why: &str) -> Error {
    Error::new(Code::InvalidInput, format!("it cannot be a file: {why}"))
}

/// Spells a part of a key as a name that nothing obeys; `first` are characters that do not stay at its beginning.
fn spelt(name: &str, first: &[char]) -> String {
    let is_last_dot = |at: usize| name.rfind('.') == Some(at);
    let attempts: [&dyn Fn(usize, char) -> bool; 4] = [
        &|at, character| at == 0 && first.contains(&character),
        &|at, _| at == 0,
        &|at, _| at == 0 || is_last_dot(at),
        &|_, character| !character.is_alphanumeric(),
    ];
    let mut spellings = attempts.into_iter().map(|is_spelt| spelt_where(name, is_spelt));
    spellings.find(|name| !is_obeyed(name)).unwrap_or_else(|| spelt_where(name, |_, _| true))
}

/// Returns true for names that say more to a program than that there is a file.
fn is_obeyed(name: &str) -> bool {
    git_layout::is_entry_point(name)
        || access::rule_for(name).is_some()
        || access::runnable_for(name).is_some()
}

/// Spells the characters of a name that cannot stand in one, and those that are chosen.
fn spelt_where(name: &str, is_spelt: impl Fn(usize, char) -> bool) -> String {
    let mut spelt = String::with_capacity(name.len());
    for (at, character) in name.char_indices() {
        let seen = !character.is_control() && !crate::text::steers(character);
        let plain = seen && !matches!(character, '%' | '/' | '\\');
        if plain && !is_spelt(at, character) {
            spelt.push(character);
            continue;
        }
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            // A String takes all that is written to it.
            let _ = write!(spelt, "%{byte:02X}");
        }
    }
    spelt
}

fn meant(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let [high, low] = digits else { return None };
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entity(scope: Option<&str>, path: &str) -> Entity {
        let organization_id = scope.map(str::to_owned);
        Entity {
            kind: EntityKind::named("workflow").unwrap(),
            path: path.to_owned(),
            app_id: None,
            organization_id,
        }
    }

    fn written(scope: Option<&str>, path: &str) -> String {
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
            assert_eq!(written(scope, path), name);
            let names: Vec<&str> = name.split('/').collect();
            let read = read(&names).unwrap();
            assert_eq!((read.scope.as_deref(), read.path.as_str()), (scope, path));
        }
        let beside = read(&["workflow", "a", "x", "y%"]).unwrap();
        assert_eq!(beside.path, "x/y");
    }

    /// Names that programs obey, in several spellings: none is left in what is written.
    #[test]
    fn no_name_is_protected_or_runnable_or_begins_a_git_folder() {
        let obeyed = [
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
        for name in obeyed {
            // The control: as they are, most of them are found.
            assert!(is_found(name) || name == ".vscode", "{name}");
            for path in [name.to_owned(), format!("a/{name}"), format!("{name}/settings.json")] {
                let written = written(Some("acme"), &path);
                assert!(!is_found(&written), "{path}: {written}");
                let names: Vec<&str> = written.split('/').collect();
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
                prop_assert!(!name.starts_with('.') && !name.contains('/') && !name.ends_with(BESIDE));
                prop_assert!(!is_obeyed(name), "{name}");
            }
            let read = read(&names).unwrap();
            prop_assert_eq!((read.scope.as_deref(), &read.path), (Some(scope.as_str()), &path));
        }
    }
}
