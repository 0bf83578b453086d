//! The paths of the machine that a sandboxed program can and cannot see.
//!
//! Hidden are the user's homes, the folders of temporary files, `/run` with its sockets, and lockgate's own
//! state. Compilers, interpreters and packages in those folders stay readable.
//!
//! Invariant: no visible path contains a hidden folder, and no path that is made visible by name holds keys.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use crate::environment::home;
use crate::order::{Order, Sandbox};

/// Variables that name hidden folders; without them programs use those below their home.
pub(super) const UNSET_VARIABLES: [&str; 4] =
    ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// Hidden wherever the home is, and so is the folder for temporary files.
const PRIVATE_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Folders of tools and their libraries, relative to a home. `.cargo`, `.local` and `.cache` themselves hold
/// more than tools.
const TOOLS: [&str; 43] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    "go/bin",
    "go/pkg",
    "sdk",
    ".gvm",
    ".goenv",
    ".pyenv",
    ".virtualenvs",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/pipx",
    ".local/share/uv",
    ".local/share/pypoetry",
    ".local/share/virtualenvs",
    ".local/share/hatch",
    ".local/share/mise",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".local/state/nix",
    ".cache/pypoetry/virtualenvs",
    ".cache/pyright-python",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    ".conda/envs",
    ".nvm",
    ".nodenv",
    ".fnm",
    ".volta",
    ".npm-global",
    ".bun/bin",
    ".bun/install",
    ".deno/bin",
    ".asdf",
    ".rbenv",
    ".sdkman/candidates",
    ".linuxbrew",
    ".nix-profile",
];

/// Tool folders named by variables: the variable, and the parts of its folder that are readable.
const NAMED_TOOLS: [(&str, &[&str]); 6] = [
    ("CARGO_HOME", &["bin", "registry", "git"]),
    ("RUSTUP_HOME", &[""]),
    ("GOROOT", &[""]),
    ("GOPATH", &["bin", "pkg"]),
    ("GOMODCACHE", &[""]),
    ("JAVA_HOME", &[""]),
];

/// Readable in `/run`: the programs of NixOS.
const READABLE_IN_RUN: [&str; 2] = ["/run/current-system", "/run/wrappers"];
/// Also readable with network access: the configuration of name resolution.
const READABLE_FOR_NETWORK: [&str; 3] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/// Keys below a home; hidden one by one if the tree contains the home.
const KEYS: [&str; 20] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/gh",
    ".config/hub",
    ".config/gcloud",
    ".config/git/credentials",
    ".docker/config.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/share/keyrings",
    ".local/state/lockgate",
    ".password-store",
    ".mozilla",
];

/// The number of bytes at the start of a program in which its interpreter line is searched.
const FIRST_LINE: usize = 256;

/// The hidden and the readable paths; all are absolute and exist.
#[derive(Debug, Default)]
pub(super) struct SandboxPaths {
    /// Folders that appear empty to the program.
    pub(super) hidden: Vec<PathBuf>,
    /// Paths in hidden folders that stay readable.
    pub(super) readable: Vec<PathBuf>,
    /// Links inside them to readable paths: the target, and the path of the link.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// The project's tree, with links resolved.
    pub(super) tree: Option<PathBuf>,
    /// Paths that are hidden inside the tree, or outside of the hidden folders.
    pub(super) masked: Vec<PathBuf>,
    /// The home, if there is one.
    pub(super) home: Option<PathBuf>,
}

impl SandboxPaths {
    /// Finds the paths that exist for this order.
    pub(super) fn new(sandbox: &Sandbox, order: &Order<'_>) -> SandboxPaths {
        let tree = sandbox.tree.as_ref().map(|tree| resolve(tree).unwrap_or_else(|| tree.clone()));
        let homes: Vec<PathBuf> =
            home_folders().into_iter().filter_map(|home| resolve_folder(&home)).collect();
        let state = resolve_folder(&state_folder());
        let config = env::var_os("XDG_CONFIG_HOME").and_then(|path| resolve_folder(Path::new(&path)));
        let temporary = resolve_folder(&env::temp_dir()).filter(|folder| folder.parent().is_some());
        let private =
            PRIVATE_FOLDERS.iter().filter_map(|path| resolve_folder(Path::new(path))).chain(temporary);
        let all: BTreeSet<PathBuf> =
            homes.iter().cloned().chain(private).chain(config).chain(state.clone()).collect();
        let hidden = outermost(all.into_iter().filter(|place| !is_in_tree(&tree, place)));
        let keys = homes
            .iter()
            .filter(|home| is_in_tree(&tree, home))
            .flat_map(|home| KEYS.map(|key| home.join(key)));
        let credentials = env::var_os("CARGO_HOME").map(PathBuf::from).into_iter();
        let credentials =
            credentials.flat_map(|home| ["credentials", "credentials.toml"].map(|name| home.join(name)));
        let mut paths = SandboxPaths {
            home: home().and_then(|home| resolve_folder(&home)),
            masked: keys.chain(credentials).chain(state).filter_map(|place| resolve(&place)).collect(),
            hidden,
            tree,
            ..SandboxPaths::default()
        };
        paths.masked.retain(|place| !is_inside(place, &paths.hidden) || is_in_tree(&paths.tree, place));
        paths.add_readable(sandbox, order, &homes);
        paths
    }

    /// Returns true if programs may write to a hidden folder; no other process sees what they write.
    pub(super) fn is_writable(&self, hidden: &Path) -> bool {
        hidden != Path::new("/run")
    }

    fn add_readable(&mut self, sandbox: &Sandbox, order: &Order<'_>, homes: &[PathBuf]) {
        let mut all: BTreeSet<PathBuf> = sandbox.readable.iter().cloned().collect();
        all.extend(homes.iter().flat_map(|home| TOOLS.map(|place| home.join(place))));
        for (name, parts) in NAMED_TOOLS {
            for place in env::var_os(name).iter().flat_map(env::split_paths) {
                all.extend(parts.iter().map(|part| place.join(part)));
            }
        }
        all.extend(READABLE_IN_RUN.map(PathBuf::from));
        if sandbox.network {
            all.extend(READABLE_FOR_NETWORK.map(PathBuf::from));
        }
        all.extend(program_paths(order.program));
        all.insert(order.cwd.to_owned());
        let search = order.env.iter().rev().find(|(name, _)| name == "PATH");
        for folder in search.iter().flat_map(|(_, path)| env::split_paths(path)) {
            all.extend(installed_with(&folder));
            all.insert(folder);
        }
        for place in all {
            self.add_readable_path(&place);
        }
        self.readable.sort();
        self.readable = outermost(self.readable.drain(..));
        self.links.sort();
        self.links.dedup();
        self.links.retain(|(_, at)| !is_inside(at, &self.readable));
    }

    /// Makes an existing path readable if it is hidden: a link together with its target.
    fn add_readable_path(&mut self, place: &Path) {
        let (Some(above), Some(name)) = (place.parent().and_then(resolve), place.file_name()) else { return };
        let (at, Some(real)) = (above.join(name), resolve(place)) else { return };
        if at != real && is_inside(&at, &self.hidden) {
            self.links.push((real.clone(), at));
        }
        let is_broad = self.hidden.iter().chain(&self.masked).any(|hidden| hidden.starts_with(&real));
        if !is_broad && is_inside(&real, &self.hidden) {
            self.readable.push(real);
        }
    }
}

/// Returns true if a path is in one of these folders, or is one.
pub(super) fn is_inside(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Returns the sorted paths without those inside another one.
fn outermost(sorted: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for place in sorted {
        if !is_inside(&place, &folders) {
            folders.push(place);
        }
    }
    folders
}

fn is_in_tree(tree: &Option<PathBuf>, place: &Path) -> bool {
    tree.as_ref().is_some_and(|tree| place.starts_with(tree))
}

/// The home in the environment and the one in the system's database: a caller may have set another one.
fn home_folders() -> Vec<PathBuf> {
    let uid = getuid().as_raw().to_string();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = lines.find_map(|fields| match fields.as_slice() {
        [_, _, number, _, _, home, ..] if *number == uid => Some(PathBuf::from(home)),
        _ => None,
    });
    home().into_iter().chain(own).collect()
}

/// The folder of lockgate's state.
fn state_folder() -> PathBuf {
    let set = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home()?.join(".local/state"))).unwrap_or_default().join("lockgate")
}

/// Resolves a folder's links. `None` if it does not exist or is the file system's root.
fn resolve_folder(path: &Path) -> Option<PathBuf> {
    resolve(path).filter(|path| path.is_dir() && path.parent().is_some())
}

fn resolve(path: &Path) -> Option<PathBuf> {
    path.is_absolute().then(|| path.canonicalize().ok()).flatten()
}

/// The paths that a program needs: itself, its folder, its installation prefix, and its interpreter.
fn program_paths(program: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut with = |program: &Path| {
        for file in [Some(program.to_owned()), resolve(program)].into_iter().flatten() {
            let above = file.parent().map(Path::to_owned);
            all.extend(above.iter().flat_map(|above| installed_with(above)));
            all.extend(above);
            all.push(file);
        }
    };
    with(program);
    if let Some(interpreter) = interpreter(program) {
        with(&interpreter);
    }
    all
}

/// The paths installed together with a folder's programs: the prefix that has it as `bin`, and the whole
/// `node_modules`, because npm packages load each other.
fn installed_with(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let prefix = folder.parent().filter(|prefix| is_prefix(prefix));
    let packages =
        folder.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
    prefix.into_iter().chain(packages).map(Path::to_owned)
}

/// Returns true if a folder is an installation prefix and no home, where keys may be next to programs.
fn is_prefix(folder: &Path) -> bool {
    let is_dotted = folder.file_name().is_some_and(|name| name == ".cargo" || name == ".local");
    !is_dotted && ["lib", "pyvenv.cfg"].iter().any(|name| folder.join(name).exists())
}

/// The program named on a script's first line (execve(2)).
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut first = [0; FIRST_LINE];
    let read = File::open(program).ok()?.read(&mut first).ok()?;
    let line = first.get(..read)?.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| *byte == b' ' || *byte == b'\t').next()?;
    Some(PathBuf::from(OsStr::from_bytes(word))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_together_is_shown_together() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for folder in ["venv/bin", "plain/bin", "node/node_modules/.bin", "node/node_modules/tool/bin"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("venv/pyvenv.cfg"), "").unwrap();
        let installed = |folder: &str| installed_with(&at(folder)).collect::<Vec<_>>();
        assert_eq!(installed("venv/bin"), [at("venv")]);
        assert_eq!(installed("plain/bin"), [] as [PathBuf; 0]);
        for folder in ["node/node_modules/.bin", "node/node_modules/tool/bin"] {
            assert_eq!(installed(folder), [at("node/node_modules")]);
        }
    }
}
