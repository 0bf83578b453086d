//! Locators with an error, which the properties must catch.

use lockgate_edit::Search;
use lockgate_error::{Code, Error};
use lockgate_text::Buffer;

use super::fold::folded;
use super::{Applied, needle, real};

/// Pastes the replacement over the first place that is the same but for marks and blanks.
pub fn paste(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    let search_lines: Vec<String> =
        needle(search).lines().map(folded).filter(|line| !line.is_empty()).collect();
    let lines: Vec<&str> = buffer.view().split_inclusive('\n').collect();
    let text_lines: Vec<usize> = (0..lines.len()).filter(|line| !folded(lines[*line]).is_empty()).collect();
    let place = text_lines
        .windows(search_lines.len().max(1))
        .find(|place| place.iter().map(|line| folded(lines[*line])).eq(search_lines.iter().cloned()))
        .ok_or_else(|| Error::new(Code::MatchNotFound, "nowhere"))?;
    let (first, last) = (place[0], place[place.len() - 1]);
    let replace = search.replace.strip_suffix('\n').unwrap_or(&search.replace);
    let end = if replace.is_empty() { "" } else { "\n" };
    let text = format!("{}{replace}{end}{}", lines[..first].concat(), lines[last + 1..].concat());
    Ok(Applied { bytes: text.into_bytes(), plan: None })
}

/// Does all as it ought to be, but takes blanks off line ends.
pub fn tidy(search: &Search, buffer: &Buffer) -> Result<Applied, Error> {
    let applied = real(search, buffer)?;
    let text = String::from_utf8(applied.bytes).unwrap();
    let tidied = text.split_inclusive('\n').map(|line| {
        let bare = line.trim_end_matches(['\r', '\n']);
        format!("{}{}", bare.trim_end_matches(' '), &line[bare.len()..])
    });
    Ok(Applied { bytes: tidied.collect::<String>().into_bytes(), plan: None })
}
