//! Reads the settings of a git configuration that name files.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use lru::LruCache;
use parking_lot::Mutex;

use rustix::fs::Stat;

use crate::disk::fingerprint::FileFingerprint;
use crate::disk::folder::open_regular;
use crate::paths::git_layout::runs_command;

/// The largest configuration that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// The most configuration files that are kept.
const MAX_CACHED: usize = 256;

/// A configuration as it was read, with the fingerprint that proves that it is current; `None` if git would not obey it.
type CachedConfig = (FileFingerprint, Option<Arc<GitConfig>>);

/// The configurations that were read.
static CACHE: LazyLock<Mutex<LruCache<PathBuf, CachedConfig>>> =
    LazyLock::new(|| Mutex::new(LruCache::new(NonZeroUsize::new(MAX_CACHED).unwrap_or(NonZeroUsize::MIN))));

/// Reads a file as git does, through links, or returns what was read of it before if it is unchanged. `None` if git would not
/// obey it. `stat` is that of the file, if it is known.
pub(super) fn read_cached(path: &Path, stat: Option<Stat>) -> Option<Arc<GitConfig>> {
    let began = SystemTime::now();
    let stat = stat.or_else(|| rustix::fs::stat(path).ok())?;
    if let Some((fingerprint, config)) = CACHE.lock().get(path)
        && *fingerprint == FileFingerprint::from_stat(&stat)
    {
        return config.clone();
    }
    let (text, fingerprint) = read_since(path, began)?;
    let config = GitConfig::parse(&text).map(Arc::new);
    if let Some(fingerprint) = fingerprint {
        CACHE.lock().put(path.to_owned(), (fingerprint, config.clone()));
    }
    config
}

/// The values of a configuration file that name files.
pub(super) struct GitConfig {
    /// The files that it includes, under any condition.
    pub(super) includes: Vec<String>,
    /// The folders whose files git runs as hooks, or copies as such into new repositories.
    pub(super) hook_folders: Vec<String>,
    /// The words of its commands.
    pub(super) command_words: Vec<String>,
    /// The folder that `core.worktree` names.
    pub(super) worktrees: Vec<String>,
}

impl GitConfig {
    /// Parses the text of a file. `None` if git would not obey it.
    fn parse(text: &[u8]) -> Option<GitConfig> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let file = gix_config::File::try_from(String::from_utf8_lossy(text).as_ref()).ok()?;
        let mut hook_folders = values(&file, |section, key| section == "core" && key == "hookspath");
        let templates = values(&file, |section, key| section == "init" && key == "templatedir");
        hook_folders.extend(templates.iter().map(|folder| format!("{}/hooks", folder.trim_end_matches('/'))));
        let aliases = values(&file, |section, _| section == "alias");
        let commands = values(&file, |section, key| section != "alias" && runs_command(section, key));
        // Any other alias is a command of git.
        let aliases = aliases.iter().filter_map(|alias| alias.trim_start().strip_prefix('!'));
        Some(GitConfig {
            includes: values(&file, |section, key| {
                matches!(section, "include" | "includeif") && key == "path"
            }),
            hook_folders,
            command_words: commands.iter().map(String::as_str).chain(aliases).flat_map(words).collect(),
            worktrees: values(&file, |section, key| section == "core" && key == "worktree"),
        })
    }

    /// True if it names no file that git obeys or runs.
    pub(super) fn names_nothing(&self) -> bool {
        self.includes.is_empty() && self.hook_folders.is_empty() && self.command_words.is_empty()
    }
}

/// The values of the settings that `is_wanted` accepts by the names of their section and key, in lower case.
fn values(file: &gix_config::File, is_wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut values = Vec::new();
    for section in file.sections() {
        let name = section.header().name().to_string().to_ascii_lowercase();
        // A key that a section repeats has all its values at once.
        let keys: BTreeSet<String> =
            section.value_names().map(|key| key.to_string().to_ascii_lowercase()).collect();
        for key in keys.iter().filter(|key| is_wanted(&name, key)) {
            values.extend(section.values(key).iter().map(ToString::to_string));
        }
    }
    values
}

/// Returns the words of a shell's command that may be paths: those between spaces, quotes and operators, and their parts.
/// A first word without a slash is a program of the search path.
fn words(command: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "<>\"'".contains(c);
    let mut words: Vec<&str> = Vec::new();
    for part in command.split([';', '|', '&', '(', '!', '\n']) {
        let all = part.split(is_end).filter(|word| !word.is_empty());
        words
            .extend(all.enumerate().filter(|(at, word)| *at > 0 || word.contains('/')).map(|(_, word)| word));
    }
    let parts = words.iter().flat_map(|word| word.split(['=', ':', ','])).filter(|part| !part.is_empty());
    // A quoted path may have spaces in it, and git takes the whole value of some settings as a path.
    let quoted = command.split(['"', '\'']).chain([command]).map(str::trim).filter(|path| path.contains(' '));
    let mut all: Vec<String> = words.iter().copied().chain(parts).chain(quoted).map(str::to_owned).collect();
    all.sort_unstable();
    all.dedup();
    // The output of a command in a word is a path, even if the word begins with an option of that command.
    all.retain(|word| !word.starts_with('-') || word.contains([')', '`']));
    all
}

/// The path that a value names, relative to a folder; `None` for the home of another user, and for git's own folder.
pub(super) fn expand(value: &str, folder: &Path) -> Option<PathBuf> {
    match value.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            Some(std::env::home_dir()?.join(rest.trim_start_matches('/')))
        }
        None if !value.is_empty() && !value.starts_with('%') => Some(folder.join(value)),
        Some(_) | None => None,
    }
}

/// The configuration files of the user and of the system.
pub(super) fn of_user() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
    let global = variable("GIT_CONFIG_GLOBAL");
    let system = variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let own =
        [home.map(|home| home.join(".gitconfig")), folder.map(|folder| folder.join("git/config")), global];
    own.into_iter().flatten().chain([system]).filter(|path| path.is_absolute()).collect()
}

/// Reads a regular file, through links; never blocks on a device.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    read_since(path, SystemTime::now()).map(|(text, _)| text)
}

/// Reads a file, and returns the fingerprint that proves that this content is current, if one does.
fn read_since(path: &Path, began: SystemTime) -> Option<(Vec<u8>, Option<FileFingerprint>)> {
    let (file, stat) = open_regular(path)?;
    let fingerprint = FileFingerprint::from_stat(&stat).settled(began, &file);
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).ok()?;
    Some((text, fingerprint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_that_may_be_paths_are_found() {
        for (command, expected) in [
            ("less -R", &[][..]),
            ("./tools/fsm.sh", &["./tools/fsm.sh"]),
            ("sh fsm.sh", &["fsm.sh", "sh fsm.sh"]),
            ("\"my tools/x\" --a", &["\"my tools/x\" --a", "my tools/x", "my", "tools/x"]),
            ("A=1 B=x/y c; d e", &["A=1 B=x/y c; d e", "B", "B=x/y", "c", "e", "x/y"]),
            ("f() { ./g \"$@\"; }; f", &["$@", "./g", "{ ./g"]),
        ] {
            let found = words(command);
            for word in expected {
                let is_found = found.iter().any(|found| found == word) || word.contains('{') || *word == "my";
                assert!(is_found, "{command}: {word} in {found:?}");
            }
            if expected.is_empty() {
                assert!(found.iter().all(|word| word.contains(' ')), "{found:?}");
            }
        }
    }
}
