//! The readable cases of `tests/cases` and `docs`, each a test of its own, named after its file and heading.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may take for granted what it has set up; of the suite's modules only a part is used here"
)]

mod suite {
    pub mod cases;
    pub mod wire;
}

fn main() -> std::process::ExitCode {
    suite::cases::main()
}
