//! A program to run, and its sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::isolation_level::Isolation;

/// A program to run, with its arguments, environment, input and sandbox.
#[derive(Debug)]
pub struct Order<'a> {
    /// The absolute path of the program.
    pub program: &'a Path,
    /// The arguments after the program's name.
    pub argv: Vec<OsString>,
    /// The directory that the program starts in.
    pub cwd: &'a Path,
    /// Variables added to the cleaned environment.
    pub env: Vec<(OsString, OsString)>,
    /// The bytes on standard input; empty if absent.
    pub input: Option<&'a [u8]>,
    /// What the program may read, write and reach.
    pub sandbox: Sandbox,
}

/// The sandbox of one program: its isolation level, and the paths it may read and write.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The isolation level. With [`Isolation::None`] nothing is kept from the program; the free space of `run_dir` and
    /// `cache` is watched all the same.
    pub level: Isolation,
    /// The project's tree, which the program may read.
    pub tree: Option<PathBuf>,
    /// Further readable paths, in case they are in a hidden folder.
    pub readable: Vec<PathBuf>,
    /// The folder of the run, which the program may write to.
    pub run_dir: Option<PathBuf>,
    /// A folder that outlasts the run, which the program may write to.
    pub cache: Option<PathBuf>,
    /// Layers mounted over the tree, in mounting order; only bubblewrap supports them.
    pub layers: Vec<SandboxLayer>,
    /// Set when the program may use the network.
    pub network: bool,
    /// The parts of the seccomp filter to install, for tests that show what each is for.
    #[cfg(test)]
    pub filter: FilterParts,
}

/// The parts of the seccomp filter that a program gets.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FilterParts {
    /// The filter and its supervisor.
    #[default]
    All,
    /// The filter without its supervisor.
    Unsupervised,
    /// No seccomp filter at all.
    Off,
}

/// A layer over the tree; all paths are absolute and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxLayer {
    /// Mounts an empty folder over this one.
    Empty(PathBuf),
    /// Binds `from` read-only at `at`.
    Bind {
        /// The file or folder that is bound.
        from: PathBuf,
        /// The path at which the program sees it.
        at: PathBuf,
    },
    /// Makes a symbolic link to `to` at `at`.
    Link {
        /// The target of the link.
        to: PathBuf,
        /// The path of the link.
        at: PathBuf,
    },
    /// Makes an emptied folder read-only.
    ReadOnly(PathBuf),
}
