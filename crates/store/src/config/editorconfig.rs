//! Reads a file's encoding and line ends from `.editorconfig`.
//!
//! Invariant: these are hints; a file that cannot be read or parsed gives none, and is no error.

use super::ancestors::candidates_above;
use super::file;
use crate::paths::file_location::{FileLocation, join};
use crate::paths::folder_names::EDITORCONFIG;
use crate::paths::root::Root;
use ec4rs::property::{Charset, EndOfLine};
use ec4rs::{ConfigParser, Properties, PropertiesSource, Section};
use lockgate_text::{Encoding, Hints, LineEnd};

/// Returns the hints for a path from all files up to the one with `root = true`; nearer ones take precedence.
pub(crate) fn hints(root: &Root, place: &FileLocation) -> Hints {
    let path = place.in_root();
    let mut configs = Vec::new();
    for (folder, names) in candidates_above(root, place, &[EDITORCONFIG]) {
        if names.is_empty() {
            continue;
        }
        let Ok(Some(text)) = file::read(root.dir(), &join(folder, EDITORCONFIG)) else { continue };
        let (is_root, sections) = parse(&text);
        configs.push((folder, sections));
        if is_root {
            break;
        }
    }
    let mut properties = Properties::new();
    for (folder, sections) in configs.iter().rev() {
        let below = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        for section in sections {
            // Applying a section cannot fail; the `Result` exists for other sources.
            let _ = section.apply_to(&mut properties, below);
        }
    }
    Hints { charset: charset(&properties), line_end: line_end(&properties) }
}

/// Returns whether the file says `root = true`, and its sections. Skips invalid lines, at which the parser would stop, and
/// the sections with an invalid header, whose lines would count as lines of the section above.
fn parse(text: &str) -> (bool, Vec<Section>) {
    // The parser removes the mark only while it reads the first line, and then rejects a section in it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut has_valid_header = true;
    let is_read = |line: &&str| {
        let is_valid = ConfigParser::new(line.as_bytes()).is_ok();
        if line.trim_start().starts_with('[') {
            has_valid_header = is_valid;
        }
        is_valid && has_valid_header
    };
    let valid: String = text.split_inclusive('\n').filter(is_read).collect();
    let Ok(mut parser) = ConfigParser::new(valid.as_bytes()) else { return (false, Vec::new()) };
    let sections = std::iter::from_fn(|| parser.read_section().ok()).collect();
    (parser.is_root, sections)
}

fn charset(properties: &Properties) -> Option<Encoding> {
    match properties.get::<Charset>().ok()? {
        Charset::Utf8 | Charset::Utf8Bom => Some(Encoding::Utf8),
        Charset::Utf16Le => Some(Encoding::Utf16Le),
        Charset::Utf16Be => Some(Encoding::Utf16Be),
        Charset::Latin1 => Some(Encoding::Latin1),
    }
}

fn line_end(properties: &Properties) -> Option<LineEnd> {
    match properties.get::<EndOfLine>().ok()? {
        EndOfLine::Lf => Some(LineEnd::Lf),
        EndOfLine::CrLf => Some(LineEnd::CrLf),
        EndOfLine::Cr => None,
    }
}
