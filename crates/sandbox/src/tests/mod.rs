//! Programs that misbehave are run, and must leave nothing behind.
//!
//! Each test runs in a process of its own, so that all of its children are known, and twice: as a library does, and as
//! a program does that adopts orphans. `tests/tools/misbehave.py` is what misbehaves.

mod answers;
mod bench;
mod endings;
mod fixture;
mod isolation;
mod leftovers;
mod levels;

/// Makes a test of each of these functions for both manners.
macro_rules! in_both_manners {
    ($($name:ident)*) => {
        mod library {
            $(#[test] fn $name() {
                let name = concat!(module_path!(), "::", stringify!($name));
                super::super::bench::alone(name, super::super::bench::Manner::Library, super::$name);
            })*
        }
        mod adopting {
            $(#[test] fn $name() {
                let name = concat!(module_path!(), "::", stringify!($name));
                super::super::bench::alone(name, super::super::bench::Manner::Adopting, super::$name);
            })*
        }
    };
}
use in_both_manners;
