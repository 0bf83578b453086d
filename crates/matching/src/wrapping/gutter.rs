//! Removes line numbers before the lines of a block, as tools print them.

use std::collections::{BTreeSet, HashSet};

use super::alternative::{AlternativeEdit, joined, lines};

/// The separators between the number and the line. Of two that begin alike, the longer one comes first.
const SEPARATORS: [&str; 7] = [" | ", " |", "|", "\u{2192}", "\t", ": ", ":"];

/// The style of the line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style<'a> {
    /// The text before the number: nothing, an `L`, or a path as search tools print it.
    before: &'a str,
    separator: &'static str,
}

/// Removes line numbers from the search, and from the replacement if it has them too.
///
/// Every line must have one, in one style, and they must rise by exactly one.
pub(super) fn remove(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let styles = lines(search).next().map(styles).unwrap_or_default();
    // The blank behind the number of an indented first line may be its own: `3:    x` and `4:}`.
    let style = styles.into_iter().find_map(|style| Some((style, rising(search, style)?)));
    let Some((style, (first, count))) = style else { return Vec::new() };
    let separators = match style.separator {
        ": " => &[": ", ":"][..],
        " | " => &[" | ", " |"][..],
        "|" => &["| ", "|"][..],
        _ => std::slice::from_ref(&style.separator),
    };
    let read = |separator: &&'static str| {
        let style = Style { separator, ..style };
        let search = bare(search, style)?;
        let replace = replacement(replace, &search, style)?;
        Some(AlternativeEdit { line: (count == 1).then_some(first), ..AlternativeEdit::new(search, replace) })
    };
    separators.iter().filter_map(read).collect()
}

/// Returns the styles that the number of a line may have.
fn styles(line: &str) -> Vec<Style<'_>> {
    let Some((before, rest)) = number(line) else { return Vec::new() };
    let fits = |separator: &&str| rest.starts_with(separator) || rest == separator.trim_end();
    SEPARATORS.into_iter().filter(fits).map(|separator| Style { before, separator }).collect()
}

/// Returns the text before the number of a line, and the text behind it.
fn number(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let digit = trimmed.find(|character: char| character.is_ascii_digit())?;
    let before = match trimmed.split_at_checked(digit)?.0 {
        before @ ("" | "L") => before,
        _ => path(trimmed)?,
    };
    let behind = trimmed.strip_prefix(before)?;
    Some((before, behind.trim_start_matches(|character: char| character.is_ascii_digit())))
}

/// Returns a path and a colon before the number, as in `src/main.rs:12:`.
fn path(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(':')?;
    let named = path.contains(['.', '/']) && !path.contains([' ', '\t', '"', '\'', '(', ')']);
    let numbered = rest.starts_with(|character: char| character.is_ascii_digit());
    (named && numbered).then(|| line.split_at_checked(path.len() + 1).map(|(before, _)| before))?
}

/// Returns a line's number, and the text behind the separator.
fn numbered<'l>(line: &'l str, style: Style<'_>) -> Option<(usize, &'l str)> {
    let rest = line.trim_start_matches(' ').strip_prefix(style.before)?;
    let end = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at_checked(end)?;
    let behind = match rest.strip_prefix(style.separator) {
        Some(behind) => behind,
        // A blank line, whose own blanks were cut off.
        None if rest == style.separator.trim_end() => "",
        None => return None,
    };
    Some((number.parse().ok()?, behind))
}

/// Returns the first number and the count of them, if every line has one and they rise by one.
fn rising(text: &str, style: Style<'_>) -> Option<(usize, usize)> {
    let numbers: Option<Vec<usize>> =
        lines(text).map(|line| numbered(line, style).map(|(number, _)| number)).collect();
    let numbers = numbers?;
    let rises =
        numbers.iter().zip(numbers.iter().skip(1)).all(|(one, next)| one.checked_add(1) == Some(*next));
    Some((*numbers.first()?, numbers.len())).filter(|_| rises)
}

fn bare(text: &str, style: Style<'_>) -> Option<String> {
    let bare: Option<Vec<&str>> =
        lines(text).map(|line| numbered(line, style).map(|(_, line)| line)).collect();
    Some(joined(bare?, text))
}

/// What tells the blanks in place of a number from the indentation of an unnumbered line.
struct Padding {
    /// The width of the numbers in the replacement; `None` if it has none.
    width: Option<usize>,
    /// The depths of the quoted lines.
    depths: BTreeSet<usize>,
    /// What stands behind a number.
    separator: &'static str,
}

impl Padding {
    fn new(replace: &str, search: &str, style: Style<'_>) -> Padding {
        let chars = |text: &str| text.chars().count();
        let width = lines(replace).find_map(|line| Some(chars(line) - chars(numbered(line, style)?.1)));
        let trimmed = style.separator.trim();
        let separator = if trimmed.is_empty() { style.separator } else { trimmed };
        Padding { width, depths: lines(search).map(depth).collect(), separator }
    }

    /// Returns a line without the blanks in place of a number, if it has them; `None` if they may be its own indentation.
    fn strip<'l>(&self, line: &'l str) -> Option<&'l str> {
        // Blanks and the separator alone may stand for a number that was left out.
        let bare = line.trim_start_matches(' ');
        let has_separator = bare.starts_with(self.separator) && bare.len() < line.len();
        if self.width.is_some() && has_separator {
            return None;
        }
        let is_padded = |width: &usize| depth(line) >= *width;
        let Some(behind) = self.width.filter(is_padded).and_then(|width| line.get(width..)) else {
            return Some(line);
        };
        match (self.depths.contains(&depth(line)), self.fits(line), self.fits(behind)) {
            (true, ..) | (_, true, false) => Some(line),
            (false, false, true) => Some(behind),
            (false, true, true) | (false, false, false) => None,
        }
    }

    /// Returns true if a line is as deep as a quoted one, or by a usual unit of indentation deeper.
    fn fits(&self, line: &str) -> bool {
        let is_deeper = |more: usize| more.is_multiple_of(2) || more.is_multiple_of(3);
        self.depths.iter().any(|quoted| depth(line).checked_sub(*quoted).is_some_and(is_deeper))
    }
}

/// Returns the number of blanks before a line.
fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the replacement without its numbers: all lines have one, or none has, or only unchanged lines have one.
fn replacement(replace: &str, search: &str, style: Style<'_>) -> Option<String> {
    if replace.is_empty() {
        return Some(String::new());
    }
    if let Some(bare) = bare(replace, style) {
        return Some(bare);
    }
    let padding = Padding::new(replace, search, style);
    let quoted: HashSet<&str> = lines(search).collect();
    // A number without its separator is the text of a line.
    let bare_number = |line: &str| style.separator.trim().is_empty() && !line.contains(style.separator);
    let strip = |line| match numbered(line, style).filter(|_| !bare_number(line)) {
        None => padding.strip(line),
        Some((_, bare)) => quoted.contains(bare).then_some(bare),
    };
    let stripped: Option<Vec<&str>> = lines(replace).map(strip).collect();
    Some(joined(stripped?, replace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(search: &str, replace: &str) -> Vec<(String, String)> {
        remove(search, replace)
            .into_iter()
            .map(|alternative| (alternative.search, alternative.replace))
            .collect()
    }

    #[test]
    fn every_style_is_known() {
        for search in [
            "7: a\n8: b\n",
            "     7\ta\n     8\tb\n",
            "    7\u{2192}a\n    8\u{2192}b\n",
            "7 | a\n8 | b\n",
            "7|a\n8|b\n",
            "L7: a\nL8: b\n",
            "src/a.rs:7:a\nsrc/a.rs:8:b\n",
            " 9: a\n10: b\n",
            "7:a\n8:b\n",
            "7 |a\n8 |b\n",
        ] {
            let first = read(search, "c\n").into_iter().next();
            assert_eq!(first, Some(("a\nb\n".into(), "c\n".into())), "{search}");
        }
    }

    #[test]
    fn a_blank_belongs_to_the_gutter_or_to_the_line() {
        let found: Vec<String> = read("7:  a\n8:  b", "x").into_iter().map(|one| one.0).collect();
        assert_eq!(found, [" a\n b", "  a\n  b"]);
        assert_eq!(read("7| a\n8|\n", " a\n")[0].0, "a\n\n");
        assert_eq!(read("7: a\n8:\n9: b", "7: a\n8:\n9: c")[0], ("a\n\nb".into(), "a\n\nc".into()));
    }

    #[test]
    fn the_blanks_of_an_indented_first_line_are_its_own() {
        for search in ["7:  a\n8:}\n", "7 |  a\n8 |}\n", "a.rs:7:  a\na.rs:8:}\n"] {
            assert_eq!(read(search, "b\n"), [("  a\n}\n".to_owned(), "b\n".to_owned())], "{search}");
        }
    }

    #[test]
    fn numbers_that_do_not_rise_by_one_are_text() {
        for search in ["7: a\n9: b\n", "7: a\nb\n", "7: a\n8| b\n", "x7: a\n", "7 a\n8 b\n"] {
            assert_eq!(read(search, "c\n"), [], "{search}");
        }
    }

    #[test]
    fn a_single_line_gives_its_position() {
        assert_eq!(remove("12: a", "12: b")[0].line, Some(12));
        assert_eq!(remove("12: a\n13: b", "c")[0].line, None);
    }

    #[test]
    fn unnumbered_lines_lose_the_blanks_in_place_of_a_number() {
        let quote = "     2\u{2192}  a(o);\n     3\u{2192}  b(o);\n";
        let with = |line: &str| quote.replace("     3", &format!("{line}\n     3"));
        for (line, expected) in [
            ("         log(o);", Some("  log(o);")),
            ("  log(o);", Some("  log(o);")),
            ("    log(o);", Some("    log(o);")),
            // It may be either.
            ("           log(o);", None),
        ] {
            let replace = expected.map(|line| format!("  a(o);\n{line}\n  b(o);\n"));
            assert_eq!(read(quote, &with(line)).pop().map(|one| one.1), replace, "{line}");
        }
        for (quote, line) in [
            ("     2\t\ta()\n     3\t\tb()\n", "      \t\tlog()"),
            ("2 |     a()\n3 |     b()\n", "  |     log()"),
        ] {
            let (first, last) = quote.split_at(quote.len() / 2);
            assert_eq!(read(quote, &format!("{first}{line}\n{last}")), [], "{line}");
        }
        let deeper = read("7:     a\n8:     b\n", "7:     a\n        new\n8:     b\n");
        assert_eq!(deeper[0].1, "    a\n        new\n    b\n");
    }

    #[test]
    fn in_a_replacement_numbered_in_parts_only_lines_that_stay_lose_their_number() {
        assert_eq!(read("7: a\n8: b\n", "7: a\nnew\n8: b\n")[0].1, "a\nnew\nb\n");
        assert_eq!(read("7: a\n8: b\n", "7: a\nnew\n9: c\n"), []);
        assert_eq!(read("7\ta\n8\t\n", "0\na\n")[0].1, "0\na\n");
    }
}
