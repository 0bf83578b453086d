//! The guards of a write. Production code uses all of them; tests switch single guards off to show their
//! effect.

use std::time::Duration;

/// The time to wait for files that another program has open for writing.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// The guards of a write, and a hook between its steps.
#[derive(Clone, Copy)]
pub(crate) struct Guards<'a> {
    /// Set when the write takes a lease on the file.
    pub lease: bool,
    /// Set when the files are exchanged, so that the displaced file can be checked.
    pub exchange: bool,
    /// Set when the content is compared before the change.
    pub compare: bool,
    /// Set when folders are checked for a git layout.
    pub git_layout: bool,
    /// Set when each root's path is checked: it must still lead to the open folder.
    pub root_in_place: bool,
    /// Set when all files of an edit are leased and compared before the first of them changes; otherwise one
    /// after the other.
    pub together: bool,
    /// Set when a staged copy is created without a name and named once it is complete, if the file system can
    /// do that.
    pub unnamed: bool,
    /// The time to wait for files that another program has open for writing.
    pub timeout: Duration,
    /// A hook that is called between any two steps.
    pub step: &'a dyn Fn(),
}

impl Guards<'_> {
    /// All guards enabled, as in normal operation.
    pub const ALL: Guards<'static> = Guards {
        lease: true,
        exchange: true,
        compare: true,
        git_layout: true,
        root_in_place: true,
        together: true,
        unnamed: true,
        timeout: BUSY_TIMEOUT,
        step: &|| {},
    };

    /// Calls the hook between two steps.
    pub fn step(&self) {
        (self.step)();
    }
}
