//! The command line of lockgate.

pub mod cli;
