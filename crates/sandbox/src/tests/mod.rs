//! Programs that misbehave are run, and must leave nothing behind.
//!
//! Each test runs in a process of its own, so that all of its children are known, and twice: as a library does, and as
//! a program does that adopts orphans. `tests/tools/misbehave.py` is what misbehaves.

mod answers;
mod endings;
mod fixture;
mod isolation;
mod leftovers;
mod levels;
mod process_fixture;

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// Makes a test of each of these functions for both callers.
macro_rules! for_both_callers {
    ($($name:ident)*) => {
        mod library {
            $(#[test] fn $name() {
                let name = concat!(module_path!(), "::", stringify!($name));
                super::super::process_fixture::alone(name, super::super::process_fixture::CallerKind::Library, super::$name);
            })*
        }
        mod adopting {
            $(#[test] fn $name() {
                let name = concat!(module_path!(), "::", stringify!($name));
                super::super::process_fixture::alone(name, super::super::process_fixture::CallerKind::Adopting, super::$name);
            })*
        }
    };
}
use for_both_callers;

/// Runs a test without the capabilities by which root may write everywhere.
pub(super) fn unprivileged<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    let run = move || {
        set_capabilities(None, sets).unwrap();
        test()
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}
