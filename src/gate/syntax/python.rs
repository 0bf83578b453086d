//! Python, read by ruff's parser.

use super::Parse;
use super::fault::Fault;

/// Reads a module; every fault is reported.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let options = ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module);
    let parsed = ruff_python_parser::parse_unchecked(text, options);
    let faults = parsed.errors().iter().map(|error| {
        let range = error.location;
        Fault::new(range.start().to_usize(), range.end().to_usize(), error.error.to_string())
    });
    Parse::Read(faults.collect())
}
