//! Replaces a quote in a file and prints the difference; the quote may have other blanks than the file.
//!
//! ```sh
//! cargo run --package lockgate-edit --example quote -- FILE QUOTE REPLACEMENT
//! ```

use std::error::Error;
use std::io::{self, Write as _};

use lockgate_matching::{LineRange, Located, MatchTolerance, OnDuplicate, SearchText, locate};
use lockgate_text::{Buffer, Hints, diff};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, search, replace] = arguments.as_slice() else {
        return Err("usage: quote FILE QUOTE REPLACEMENT".into());
    };
    // The bytes stay as they are; the text is a view of them, in which every line ends with \n.
    let before = Buffer::read(std::fs::read(file)?, Hints::default())?;
    let range = LineRange::new(&before, 1, usize::MAX);
    let search = SearchText { search, replace, on_duplicate: OnDuplicate::Reject };
    // No grammar is at hand, so there is no outline of the text.
    let changes = match locate(search, range, MatchTolerance::Wrapping, &|| None) {
        Located::One(found) => found.changes,
        Located::Ambiguous { lines, .. } => {
            return Err(format!("it is on each of the lines {lines:?}").into());
        }
        Located::NotFound { nearest, .. } => {
            return Err(format!("it is not there; nearest: {nearest:?}").into());
        }
        other => return Err(format!("{other:?}").into()),
    };
    // Splices of the bytes: everything else is the same in the new version.
    let plan = before.plan(changes)?;
    let after = before.apply(&plan)?;
    let (shown, _) = diff::unified(file, Some(&before), &after, &plan).render(usize::MAX);
    io::stdout().write_all(shown.as_bytes())?;
    Ok(())
}
