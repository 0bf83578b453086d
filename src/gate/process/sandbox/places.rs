//! What a program in a cage does not see of the machine, and what it sees in spite of that.
//!
//! The homes of the user, the folders of temporary files, what runs (`/run`, with its sockets) and lockgate's own state are
//! hidden; compilers, interpreters and packages that lie there are shown again, to be read.
//!
//! Invariant: nothing is shown that holds a hidden folder, and keys are in none of the places that are shown by name.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use super::{Sandbox, lies_in};
use crate::gate::process::Order;
use crate::gate::process::environment::home;

/// Variables that name places which are hidden; without them programs take those below their home.
pub(super) const UNSAID: [&str; 4] = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// Hidden wherever the home is.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Where tools and what they load lie below a home. `.cargo`, `.local` and `.cache` as such hold more than that.
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

/// The same by variables that name a place of their own: the variable, and what of that place is shown.
const NAMED_TOOLS: [(&str, &[&str]); 6] = [
    ("CARGO_HOME", &["bin", "registry", "git"]),
    ("RUSTUP_HOME", &[""]),
    ("GOROOT", &[""]),
    ("GOPATH", &["bin", "pkg"]),
    ("GOMODCACHE", &[""]),
    ("JAVA_HOME", &[""]),
];

/// Shown of what runs: the programs of NixOS.
const OF_RUN: [&str; 2] = ["/run/current-system", "/run/wrappers"];
/// Shown besides to who may use the network: where names are looked up.
const OF_NETWORK: [&str; 3] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/// Keys below a home; hidden one by one where the tree holds the home.
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

/// The bytes of a program in which the interpreter that runs it is looked for.
const FIRST_LINE: usize = 256;

/// What is hidden and what is shown; all paths are absolute, and there.
#[derive(Debug, Default)]
pub(super) struct SandboxPaths {
    /// Folders that are seen empty.
    pub(super) hidden: Vec<PathBuf>,
    /// What is seen of them.
    pub(super) shown: Vec<PathBuf>,
    /// Links in them that lead to something that is seen: where to, and where they lie.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// The tree.
    pub(super) tree: Option<PathBuf>,
    /// What is hidden in the tree, and in what is not hidden otherwise.
    pub(super) covered: Vec<PathBuf>,
    /// The home, where there is one.
    pub(super) home: Option<PathBuf>,
}

impl SandboxPaths {
    /// Looks at what is there for this order.
    pub(super) fn new(cage: &Sandbox, order: &Order<'_>) -> SandboxPaths {
        let tree = cage.tree.as_ref().map(|tree| real(tree).unwrap_or_else(|| tree.clone()));
        let homes: Vec<PathBuf> = homes().into_iter().filter_map(|home| folder(&home)).collect();
        let state = folder(&state());
        let holds = |place: &Path| tree.as_ref().is_some_and(|tree| place.starts_with(tree));
        let config = env::var_os("XDG_CONFIG_HOME").and_then(|path| folder(Path::new(&path)));
        let private = PRIVATE.iter().filter_map(|path| folder(Path::new(path)));
        let all: BTreeSet<PathBuf> =
            homes.iter().cloned().chain(private).chain(config).chain(state.clone()).collect();
        let mut hidden: Vec<PathBuf> = Vec::new();
        for place in all.into_iter().filter(|place| !holds(place)) {
            if !lies_in(&place, &hidden) {
                hidden.push(place);
            }
        }
        let keys = homes.iter().filter(|home| holds(home)).flat_map(|home| KEYS.map(|key| home.join(key)));
        let credentials = env::var_os("CARGO_HOME").map(PathBuf::from).into_iter();
        let credentials =
            credentials.flat_map(|home| ["credentials", "credentials.toml"].map(|name| home.join(name)));
        let mut places = SandboxPaths {
            home: home().and_then(|home| folder(&home)),
            covered: keys.chain(credentials).chain(state).filter_map(|place| real(&place)).collect(),
            hidden,
            tree,
            ..SandboxPaths::default()
        };
        places.covered.retain(|place| !lies_in(place, &places.hidden) || holds_any(&places.tree, place));
        places.show(cage, order, &homes);
        places
    }

    /// Whether programs may write to a hidden folder, which nobody else sees.
    pub(super) fn writable(&self, hidden: &Path) -> bool {
        hidden != Path::new("/run")
    }

    fn show(&mut self, cage: &Sandbox, order: &Order<'_>, homes: &[PathBuf]) {
        let mut all: BTreeSet<PathBuf> = cage.shown.iter().cloned().collect();
        all.extend(homes.iter().flat_map(|home| TOOLS.map(|place| home.join(place))));
        for (name, parts) in NAMED_TOOLS {
            for place in env::var_os(name).iter().flat_map(env::split_paths) {
                all.extend(parts.iter().map(|part| place.join(part)));
            }
        }
        all.extend(OF_RUN.map(PathBuf::from));
        if cage.network {
            all.extend(OF_NETWORK.map(PathBuf::from));
        }
        all.extend(of_program(order.program));
        all.insert(order.folder.to_owned());
        let search = order.env.iter().rev().find(|(name, _)| name == "PATH");
        for folder in search.iter().flat_map(|(_, path)| env::split_paths(path)) {
            all.extend(installed(&folder));
            all.insert(folder);
        }
        for place in all {
            self.show_one(&place);
        }
        self.shown.sort();
        let mut shown: Vec<PathBuf> = Vec::new();
        for place in self.shown.drain(..) {
            if !lies_in(&place, &shown) {
                shown.push(place);
            }
        }
        self.links.sort();
        self.links.dedup();
        self.links.retain(|(_, at)| !lies_in(at, &shown));
        self.shown = shown;
    }

    /// Shows what is there, where it is hidden otherwise; a link, and what it leads to.
    fn show_one(&mut self, place: &Path) {
        let (Some(above), Some(name)) = (place.parent().and_then(real), place.file_name()) else { return };
        let (at, Some(real)) = (above.join(name), real(place)) else { return };
        if at != real && lies_in(&at, &self.hidden) {
            self.links.push((real.clone(), at));
        }
        let is_broad = self.hidden.iter().chain(&self.covered).any(|hidden| hidden.starts_with(&real));
        if !is_broad && lies_in(&real, &self.hidden) {
            self.shown.push(real);
        }
    }
}

fn holds_any(tree: &Option<PathBuf>, place: &Path) -> bool {
    tree.as_ref().is_some_and(|tree| place.starts_with(tree))
}

/// The home by the environment and the one by the system: a caller may have set another one.
fn homes() -> Vec<PathBuf> {
    let uid = getuid().as_raw().to_string();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = lines.find_map(|fields| match fields.as_slice() {
        [_, _, number, _, _, home, ..] if *number == uid => Some(PathBuf::from(home)),
        _ => None,
    });
    home().into_iter().chain(own).collect()
}

/// Where lockgate keeps what it remembers.
fn state() -> PathBuf {
    let set = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home()?.join(".local/state"))).unwrap_or_default().join("lockgate")
}

/// A folder behind all links, when it is there and not the whole file system.
fn folder(path: &Path) -> Option<PathBuf> {
    real(path).filter(|path| path.is_dir() && path.parent().is_some())
}

fn real(path: &Path) -> Option<PathBuf> {
    path.is_absolute().then(|| path.canonicalize().ok()).flatten()
}

/// What a program needs of its own: itself, its folder, the place that it was installed to, and its interpreter.
fn of_program(program: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut with = |program: &Path| {
        for file in [Some(program.to_owned()), real(program)].into_iter().flatten() {
            let above = file.parent().map(Path::to_owned);
            all.extend(above.iter().flat_map(|above| installed(above)));
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

/// What was installed together with the programs of a folder: the place that it is the `bin` of, and all npm packages
/// beside one, which load each other.
fn installed(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let prefix = folder.parent().filter(|prefix| is_prefix(prefix));
    let packages =
        folder.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
    prefix.into_iter().chain(packages).map(Path::to_owned)
}

/// Whether something was installed to a folder, and it is no home: keys may lie beside its programs there.
fn is_prefix(folder: &Path) -> bool {
    let is_dotted = folder.file_name().is_some_and(|name| name == ".cargo" || name == ".local");
    !is_dotted && ["lib", "pyvenv.cfg"].iter().any(|name| folder.join(name).exists())
}

/// The program that its first line names (execve(2)).
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
        let shown = |folder: &str| installed(&at(folder)).collect::<Vec<_>>();
        assert_eq!(shown("venv/bin"), [at("venv")]);
        assert_eq!(shown("plain/bin"), [] as [PathBuf; 0]);
        for folder in ["node/node_modules/.bin", "node/node_modules/tool/bin"] {
            assert_eq!(shown(folder), [at("node/node_modules")]);
        }
    }
}
