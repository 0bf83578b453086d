//! What a write is guarded by: all that there is, but in a test that shows what each guard is for.

use std::time::Duration;

/// How long files that another program has open for writing are waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// The guards of a write, and a look in between its steps.
#[derive(Clone, Copy)]
pub(in crate::store) struct Guards<'a> {
    /// Whether a lease is taken.
    pub lease: bool,
    /// Whether the files are exchanged, so that what was displaced can be looked at.
    pub exchange: bool,
    /// Whether the content is compared.
    pub compare: bool,
    /// Looks at folders that could become git folders.
    pub git_layout: bool,
    /// Checks that the roots' paths still lead to the folders that are held open.
    pub root_in_place: bool,
    /// Whether all files of an edit are held and compared before the first of them is changed; else one after the other.
    pub together: bool,
    /// Whether a staged copy has no name before it is complete, where the file system can do that.
    pub unnamed: bool,
    /// How long files that another program has open for writing are waited for.
    pub patience: Duration,
    /// Called between any two steps.
    pub step: &'a dyn Fn(),
}

impl Guards<'_> {
    /// All guards.
    pub const ALL: Guards<'static> = Guards {
        lease: true,
        exchange: true,
        compare: true,
        git_layout: true,
        root_in_place: true,
        together: true,
        unnamed: true,
        patience: PATIENCE,
        step: &|| {},
    };

    /// Between two steps.
    pub fn step(&self) {
        (self.step)();
    }
}
