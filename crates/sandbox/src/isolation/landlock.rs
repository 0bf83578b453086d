//! Restricts programs with Landlock, whose rules apply to a thread and are inherited by its children.
//!
//! Rules only allow, so a folder with something hidden in it is allowed part by part. Landlock does not cover
//! the names and sizes of files, sockets with a path, and, before ABI 10, UDP. Other system calls that it
//! does not cover are refused by a seccomp filter ([`super::seccomp`]), and the thread drops all
//! capabilities.
//!
//! Invariant: a program is started only after the kernel has accepted every rule and the filter that this
//! level promises.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::Builder;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
    path_beneath_rules,
};

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

use super::listener::Listener;
use super::paths::SandboxPaths;
use super::seccomp::{self, FilterOptions, INTERNET, LOCAL, Metadata};
use super::supervisor;
use crate::environment::home;
#[cfg(test)]
use crate::order::FilterParts;
use crate::order::Sandbox;
use crate::private_folder::create_private;

/// The lowest supported ABI, Linux 6.7. Older ones cannot prevent truncating a file (ABI 3) or connecting
/// (ABI 4).
const LOWEST_ABI: ABI = ABI::V4;
/// The highest ABI used where available: signals and abstract sockets (ABI 6), sockets with a path (9), UDP
/// (10).
const HIGHEST_ABI: ABI = ABI::V10;
/// The largest number of entries of one folder that are allowed one by one.
const MAX_ENTRIES: usize = 4096;
/// Programs may not create devices.
const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});
/// Devices that programs may read and write, because they store nothing.
const SINKS: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// All other devices are hidden: disks, the user's terminals, and shared memory.
const ALL_DEVICES: &str = "/dev";
/// Folders of compilers below the real home, which programs do not get as `HOME`: the variable, and the path
/// below the real home.
const TOOLS: [(&str, &str); 4] =
    [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("GOPATH", "go"), ("PYTHONUSERBASE", ".local")];

/// Makes the private home and the private folder for temporary files, and returns the variables that name
/// them.
pub(super) fn environment(sandbox: &Sandbox) -> io::Result<Vec<(OsString, Option<OsString>)>> {
    let own = sandbox.run_dir.as_ref().ok_or_else(|| io::Error::other("its run has no private folder"))?;
    let folders = [own.join("home"), own.join("tmp")];
    folders.iter().try_for_each(|folder| create_private(folder))?;
    let [private, temporary] = folders;
    let mut variables: Vec<(OsString, Option<OsString>)> =
        super::paths::UNSET_VARIABLES.map(|name| (name.into(), None)).into();
    if let Some(home) = home() {
        let unset = TOOLS.iter().filter(|(name, _)| std::env::var_os(name).is_none());
        variables.extend(unset.map(|(name, place)| (name.into(), Some(home.join(place).into()))));
    }
    variables.push(("HOME".into(), Some(private.into())));
    variables.push(("TMPDIR".into(), Some(temporary.into())));
    Ok(variables)
}

/// Starts a command from a new thread that is restricted by the rules and the filter.
pub(super) fn start(mut command: Command, sandbox: &Sandbox, paths: &SandboxPaths) -> io::Result<Child> {
    let rules = rules(sandbox, paths).map_err(io::Error::other)?;
    let families = if sandbox.network { INTERNET } else { LOCAL };
    #[cfg(test)]
    let parts = sandbox.filter;
    let restricted = move || {
        drop_capabilities()?;
        let status = rules.restrict_self().map_err(io::Error::other)?;
        match status.ruleset {
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced if status.no_new_privs => {}
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
                return Err(io::Error::other("the kernel enforces no rules"));
            }
        }
        #[cfg(test)]
        let listener = install_filter_parts(parts, families)?;
        #[cfg(not(test))]
        let listener = install_filter(families)?;
        Ok((command.spawn()?, listener))
    };
    let thread = Builder::new().name("gate-landlock".to_owned()).spawn(restricted)?;
    let started = thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread has ended")));
    let (child, listener) = started?;
    if let Some(listener) = listener {
        let folders = sandbox.run_dir.iter().chain(&sandbox.cache).cloned().collect();
        // Without a supervisor the listener is closed, and calls handed to it fail.
        let _supervised = supervisor::supervise(listener, folders);
    }
    Ok(child)
}

/// Puts this thread under the filter, and returns the listener for the calls to be supervised.
fn install_filter(families: &'static [i32]) -> io::Result<Option<Listener>> {
    let (listener, metadata) = match Listener::install(&seccomp::supervising_filter()?) {
        Ok(listener) => (Some(listener), Metadata::Supervisor),
        // A process can have one listener, and the program that started lockgate has set one.
        Err(error) if is_busy(&error) => (None, Metadata::Refused),
        Err(error) => return Err(seccomp_error(error)),
    };
    install_refusing_filter(metadata, families)?;
    Ok(listener)
}

/// Puts this thread under these parts of the filter.
#[cfg(test)]
fn install_filter_parts(parts: FilterParts, families: &'static [i32]) -> io::Result<Option<Listener>> {
    match parts {
        FilterParts::All => install_filter(families),
        FilterParts::Unsupervised => install_refusing_filter(Metadata::Refused, families).map(|()| None),
        FilterParts::Off => Ok(None),
    }
}

fn seccomp_error(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("seccomp: {error}"))
}

/// Puts this thread under the filter that refuses calls.
fn install_refusing_filter(metadata: Metadata, families: &'static [i32]) -> io::Result<()> {
    let program = seccomp::refusing_filter(FilterOptions { metadata, families })?;
    seccompiler::apply_filter(&program).map_err(|error| seccomp_error(io::Error::other(error)))
}

/// Returns true if a supervisor can be installed: not if the program that started lockgate has set one
/// already.
pub(crate) fn can_supervise() -> bool {
    let install = || Listener::install(&seccomp::supervising_filter()?).map(drop);
    let thread = Builder::new().name("gate-landlock".to_owned()).spawn(install);
    let installed = thread.map(std::thread::JoinHandle::join);
    !matches!(installed, Ok(Ok(Err(error))) if is_busy(&error))
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::BUSY.raw_os_error())
}

/// Drops all capabilities of this thread.
fn drop_capabilities() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        // If it cannot be removed, it cannot be regained either: no_new_privs.
        let _removed = remove_capability_from_bounding_set(capability);
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

fn rules(sandbox: &Sandbox, paths: &SandboxPaths) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default();
    for (level, abi) in [(CompatLevel::HardRequirement, LOWEST_ABI), (CompatLevel::BestEffort, HIGHEST_ABI)] {
        rules = rules.set_compatibility(level).handle_access(AccessFs::from_all(abi))?;
        if !sandbox.network {
            rules = rules.handle_access(AccessNet::from_all(abi))?;
        }
    }
    // A device created by the program would give access to the disk.
    let (read, write) = (AccessFs::from_read(HIGHEST_ABI), AccessFs::from_all(HIGHEST_ABI) & !DEVICES);
    let folders = sandbox.run_dir.iter().chain(&sandbox.cache);
    rules
        .scope(Scope::from_all(HIGHEST_ABI))?
        .create()?
        .add_rules(path_beneath_rules(readable(paths), read))?
        .add_rules(path_beneath_rules(SINKS, read | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(folders, write))
}

/// The paths that are not hidden.
fn readable(paths: &SandboxPaths) -> Vec<PathBuf> {
    let devices = PathBuf::from(ALL_DEVICES);
    let hidden: Vec<PathBuf> = paths.hidden.iter().chain(&paths.masked).chain([&devices]).cloned().collect();
    let mut readable = Vec::new();
    add_readable(Path::new("/"), &hidden, &mut readable);
    for path in paths.readable.iter().chain(&paths.tree) {
        add_readable(path, &paths.masked, &mut readable);
    }
    readable
}

/// Adds a path, or its entries if something inside it is hidden.
fn add_readable(place: &Path, hidden: &[PathBuf], readable: &mut Vec<PathBuf>) {
    if super::paths::is_inside(place, hidden) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(place)) {
        readable.push(place.to_owned());
        return;
    }
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MAX_ENTRIES);
    // A link's target is allowed at its own path, if at all.
    let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    own.for_each(|entry| add_readable(&entry.path(), hidden, readable));
}
