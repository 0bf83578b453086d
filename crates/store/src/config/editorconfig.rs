//! Reads a file's encoding and line ends from `.editorconfig`.
//!
//! Invariant: these are hints; a file that cannot be read or parsed gives none, and is no error. The work for one file is
//! bounded: sections beyond the steps that [`RelativePath`] has do not apply.

use super::ancestors::candidates_above;
use super::file;
use super::section_pattern::RelativePath;
use crate::paths::file_location::{FileLocation, join};
use crate::paths::folder_names::EDITORCONFIG;
use crate::paths::root::Root;
use lockgate_text::{Encoding, Hints, LineEnd};

/// Returns the hints for a path from all files up to the one with `root = true`; nearer ones take precedence.
pub(crate) fn hints(root: &Root, place: &FileLocation) -> Hints {
    let path = place.in_root();
    let mut charset = None;
    let mut line_end = None;
    for (folder, names) in candidates_above(root, place, &[EDITORCONFIG]) {
        if names.is_empty() {
            continue;
        }
        let Ok(Some(text)) = file::read(root.dir(), &join(folder, EDITORCONFIG)) else { continue };
        let below = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let settings = Settings::parse(&text, &mut RelativePath::new(below));
        charset = charset.or(settings.charset.map(parse_charset));
        line_end = line_end.or(settings.end_of_line.map(parse_line_end));
        if settings.is_root {
            break;
        }
    }
    Hints { charset: charset.flatten(), line_end: line_end.flatten() }
}

/// The settings of one file for one path. The last section that has a setting decides.
#[derive(Default)]
struct Settings<'a> {
    is_root: bool,
    charset: Option<&'a str>,
    end_of_line: Option<&'a str>,
}

impl Settings<'_> {
    /// Skips invalid lines, and sections with an invalid header.
    fn parse<'a>(text: &'a str, path: &mut RelativePath) -> Settings<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut settings = Settings::default();
        let mut in_preamble = true;
        let mut is_section_of_path = false;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
            if let Some(header) = line.strip_prefix('[') {
                in_preamble = false;
                is_section_of_path = pattern_of(header).is_some_and(|pattern| path.matches(pattern));
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (key.trim_end().to_ascii_lowercase(), value.trim_start());
            match key.as_str() {
                _ if value.is_empty() => {}
                "root" if in_preamble => settings.is_root = value.eq_ignore_ascii_case("true"),
                "charset" if is_section_of_path => settings.charset = Some(value),
                "end_of_line" if is_section_of_path => settings.end_of_line = Some(value),
                _ => {}
            }
        }
        settings
    }
}

/// The pattern of a header, given after its first bracket: up to the one that ends the line or precedes a comment.
fn pattern_of(header: &str) -> Option<&str> {
    let is_end = |after: &str| after.is_empty() || after.starts_with(['#', ';']);
    let mut brackets = header.match_indices(']').filter_map(|(end, _)| header.split_at_checked(end));
    let found =
        brackets.find(|(_, after)| after.strip_prefix(']').is_some_and(|after| is_end(after.trim_start())));
    found.map(|(pattern, _)| pattern).filter(|pattern| !pattern.is_empty())
}

fn parse_charset(value: &str) -> Option<Encoding> {
    match value.to_ascii_lowercase().as_str() {
        "utf-8" | "utf-8-bom" => Some(Encoding::Utf8),
        "utf-16le" => Some(Encoding::Utf16Le),
        "utf-16be" => Some(Encoding::Utf16Be),
        "latin1" => Some(Encoding::Latin1),
        _ => None,
    }
}

fn parse_line_end(value: &str) -> Option<LineEnd> {
    match value.to_ascii_lowercase().as_str() {
        "lf" => Some(LineEnd::Lf),
        "crlf" => Some(LineEnd::CrLf),
        _ => None,
    }
}
