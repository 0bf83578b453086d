//! Removes line numbers before the lines of a block, as tools print them.
//!
//! Numbers of the replacement may be text: a dictionary, a table or a list has such lines, too. They are removed only
//! if they can be nothing but line numbers.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::alternative::{AlternativeEdit, joined, lines};

/// The separators between the number and the line. Of two that begin alike, the longer one comes first.
const SEPARATORS: [&str; 7] = [" | ", " |", "|", "\u{2192}", "\t", ": ", ":"];

/// The separator before a line that `search_content` shows around a match; that of a match is `: `.
const CONTEXT: &str = "- ";

/// The style of the line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style<'a> {
    /// The text before the number: nothing, an `L`, or a path as search tools print it.
    before: &'a str,
    separator: &'static str,
    /// Set for the rows of a search: [`CONTEXT`] is the separator of the lines around a match.
    has_context: bool,
}

/// Removes line numbers from the search, and from the replacement if it has them too.
///
/// Every line must have one, in one style, and they must rise by exactly one. The rows of a search must be in their lines
/// of the file.
pub(super) fn remove(search: &str, replace: &str) -> Vec<AlternativeEdit> {
    let styles = lines(search).next().map(styles).unwrap_or_default();
    // The blank behind the number of an indented first line may be its own: `3:    x` and `4:}`.
    let style =
        styles.into_iter().chain(rows(search)).find_map(|style| Some((style, rising(search, style)?)));
    let Some((style, (first, count))) = style else { return Vec::new() };
    let separators = match style.separator {
        ": " if !style.has_context => &[": ", ":"][..],
        " | " => &[" | ", " |"][..],
        "|" => &["| ", "|"][..],
        _ => std::slice::from_ref(&style.separator),
    };
    let readings: Vec<(String, Vec<String>)> = separators
        .iter()
        .filter_map(|separator| Gutter::new(search, first, Style { separator, ..style }))
        .map(|gutter| {
            let replacements = gutter.replacements(replace);
            (gutter.bare, replacements)
        })
        .collect();
    // If one reading is rejected, another one counts only for text that has its indentation.
    let keeps_indent = style.has_context || readings.iter().any(|(_, replacements)| replacements.is_empty());
    let edits = |(search, replacements): (String, Vec<String>)| {
        let is_ambiguous = replacements.len() > 1;
        let blank_lines = search.split('\n').take_while(|line| line.trim().is_empty()).count();
        replacements.into_iter().map(move |replace| AlternativeEdit {
            line: (count == 1 || style.has_context).then_some(first.saturating_add(blank_lines)),
            keeps_indent,
            is_ambiguous,
            ..AlternativeEdit::new(search.clone(), replace)
        })
    };
    readings.into_iter().flat_map(edits).collect()
}

/// Returns the styles that the number of a line may have.
fn styles(line: &str) -> Vec<Style<'_>> {
    let Some((before, rest)) = number(line) else { return Vec::new() };
    let fits = |separator: &&str| rest.starts_with(separator) || rest == separator.trim_end();
    SEPARATORS
        .into_iter()
        .filter(fits)
        .map(|separator| Style { before, separator, has_context: false })
        .collect()
}

/// Returns the style of the rows of a search: with one of a match, or a single row.
fn rows(search: &str) -> Option<Style<'_>> {
    let of_match = Style { before: "", separator: ": ", has_context: false };
    let is_single = lines(search).nth(1).is_none();
    let has_match = lines(search).any(|line| numbered(line, of_match).is_some());
    (is_single || has_match).then_some(Style { has_context: true, ..of_match })
}

/// Returns the text before the number of a line, and the text behind it.
fn number(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let digit = trimmed.find(|character: char| character.is_ascii_digit())?;
    let before = match trimmed.split_at_checked(digit)?.0 {
        before @ ("" | "L") => before,
        _ => path(trimmed)?,
    };
    let (_, behind) = split_digits(trimmed.strip_prefix(before)?);
    Some((before, behind))
}

/// Splits a text behind the digits at its beginning.
pub(super) fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
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
    let (number, rest) = split_digits(rest);
    // The blanks of a blank line may have been cut off.
    let behind = |separator: &str| {
        rest.strip_prefix(separator).or_else(|| (rest == separator.trim_end()).then_some(""))
    };
    let context = || style.has_context.then(|| behind(CONTEXT)).flatten();
    Some((number.parse().ok()?, behind(style.separator).or_else(context)?))
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

/// Returns the lines of a text without their numbers, if every line has one.
fn bare_lines<'t>(text: &'t str, style: Style<'_>) -> Option<Vec<&'t str>> {
    lines(text).map(|line| numbered(line, style).map(|(_, line)| line)).collect()
}

/// Joins lines as [`joined`] does, and terminates a last line that is blank without its number.
pub(super) fn joined_with_blanks(lines: &[&str], like: &str) -> String {
    let mut text = joined(lines.iter().copied(), like);
    if lines.last().is_some_and(|line| line.is_empty()) && (text.is_empty() || !like.ends_with('\n')) {
        text.push('\n');
    }
    text
}

/// Returns the number of blanks before the number of a line, and the column behind it.
fn columns(line: &str, style: Style<'_>) -> Option<(usize, usize)> {
    let before = depth(line);
    let (digits, _) = split_digits(line.trim_start_matches(' ').strip_prefix(style.before)?);
    Some((before, before + digits.len()))
}

/// Returns how many numbers with their separator a line begins with.
fn nesting(mut line: &str, style: Style<'_>) -> usize {
    let mut count = 0;
    while let Some((_, text)) = numbered(line, style).filter(|_| has_separator(line, style)) {
        (line, count) = (text, count + 1);
    }
    count
}

/// Returns false for a number with a blank line behind it whose separator, a tab, was cut off.
fn has_separator(line: &str, style: Style<'_>) -> bool {
    !style.separator.trim().is_empty() || line.contains(style.separator)
}

/// A numbered quote, and what it tells about the numbers of its replacement.
struct Gutter<'a> {
    style: Style<'a>,
    /// The first number of the quote.
    first: usize,
    /// The columns in which its numbers begin, and those behind them.
    starts: HashSet<usize>,
    ends: HashSet<usize>,
    /// Set if a number of the quote has a leading zero.
    has_padded: bool,
    /// Its lines.
    rows: HashSet<&'a str>,
    /// Its text without the numbers.
    bare: String,
    /// The lines of that text.
    quoted: HashSet<&'a str>,
    /// The number of these lines.
    count: usize,
    /// How many numbers each of these lines begins with that is not blank.
    nestings: Vec<usize>,
    /// The depths and the numbers of those that begin with a number.
    text_depths: BTreeSet<usize>,
    text_numbers: HashSet<usize>,
}

/// A replacement whose lines all have a number, and what it repeats of the quote.
struct NumberedReplacement<'r> {
    /// Each number, with the text behind it.
    lines: Vec<(usize, &'r str)>,
    /// The first number, if they rise by one.
    rising: Option<usize>,
    /// The numbers that its lines may have.
    range: Range<usize>,
    /// Set if all numbers have the form of the quote's.
    is_formed: bool,
    /// Set if it repeats the text of a quoted line behind a number.
    keeps_text: bool,
    /// Set if it repeats the text of a quoted line without another number.
    keeps_lines: bool,
    /// Set if it repeats a quoted line with its number.
    keeps_rows: bool,
}

impl NumberedReplacement<'_> {
    /// Returns the number of lines whose number may be that of a line.
    fn count_in_range(&self) -> usize {
        self.lines.iter().filter(|(number, _)| self.range.contains(number)).count()
    }

    /// Returns true if the numbers may be those of lines, in any order.
    fn may_be_in_any_order(&self) -> bool {
        self.is_formed && self.count_in_range() == self.lines.len()
    }

    /// Returns true if the numbers may be those of lines, in their order.
    fn may_be_in_order(&self) -> bool {
        self.may_be_in_any_order() && self.lines.is_sorted_by_key(|(number, _)| *number)
    }
}

/// What the numbers before all lines of a replacement are.
enum NumberReading {
    LineNumbers,
    Text,
    /// They may be either.
    Ambiguous,
}

impl<'a> Gutter<'a> {
    fn new(search: &'a str, first: usize, style: Style<'a>) -> Option<Gutter<'a>> {
        let quoted = bare_lines(search, style)?;
        let full_lines = quoted.iter().filter(|line| !line.trim().is_empty());
        let text = || quoted.iter().filter(|line| nesting(line, style) > 0);
        // The first blank of a line may belong to its line number.
        let own_blank = usize::from(!style.separator.ends_with([' ', '\t', '\u{2192}']));
        let (starts, ends) = lines(search).filter_map(|line| columns(line, style)).unzip();
        Some(Gutter {
            style,
            first,
            starts,
            ends,
            has_padded: lines(search).any(|line| line.trim_start_matches(' ').starts_with('0')),
            rows: lines(search).collect(),
            bare: joined_with_blanks(&quoted, search),
            count: quoted.len(),
            nestings: full_lines.map(|line| nesting(line, style)).collect(),
            text_depths: text()
                .flat_map(|line| depth(line).saturating_sub(own_blank)..=depth(line))
                .collect(),
            text_numbers: text().filter_map(|line| Some(numbered(line, style)?.0)).collect(),
            quoted: quoted.into_iter().collect(),
        })
    }

    /// Returns the replacement without line numbers: no text if it is not certain which numbers these are, and two if
    /// all of them may be line numbers or text.
    fn replacements(&self, replace: &str) -> Vec<String> {
        if replace.is_empty() {
            return vec![String::new()];
        }
        let has_separator = lines(replace).any(|line| has_separator(line, self.style));
        let Some(bare) = bare_lines(replace, self.style).filter(|_| has_separator) else {
            return self.partly_numbered(replace).into_iter().collect();
        };
        let bare = joined_with_blanks(&bare, replace);
        match self.numbers(replace) {
            NumberReading::LineNumbers => vec![bare],
            NumberReading::Text => vec![replace.to_owned()],
            NumberReading::Ambiguous if bare.trim_end() == self.bare.trim_end() => Vec::new(),
            NumberReading::Ambiguous => vec![bare, replace.to_owned()],
        }
    }

    /// Decides about a replacement whose lines all have a number.
    ///
    /// A number may be text only where the quote itself has lines with a number of their own, as deep as those of the
    /// replacement. Then what decides is which quoted lines the replacement repeats; and if its lines begin with more numbers
    /// than those of the text.
    fn numbers(&self, replace: &str) -> NumberReading {
        let numbered = self.numbered_replacement(replace);
        if lines(replace).all(|line| self.is_like_text(line)) {
            self.numbers_like_text(&numbered)
        } else {
            self.numbers_unlike_text(&numbered)
        }
    }

    fn numbered_replacement<'r>(&self, replace: &'r str) -> NumberedReplacement<'r> {
        let numbered: Vec<(usize, &str)> =
            lines(replace).filter_map(|line| numbered(line, self.style)).collect();
        let kept = numbered.iter().filter(|(_, text)| self.quotes(text)).count();
        // Beside lines that stay, the added ones may have the numbers behind those of the quote.
        let behind_quote = if kept > 0 { self.count } else { 0 };
        NumberedReplacement {
            range: self.range(behind_quote + numbered.len() - kept),
            lines: numbered,
            rising: rising(replace, self.style).map(|(first, _)| first),
            is_formed: lines(replace).all(|line| self.has_form(line)),
            keeps_text: kept > 0,
            keeps_lines: lines(replace).any(|line| self.quotes(line)),
            keeps_rows: lines(replace).any(|line| self.rows.contains(line)),
        }
    }

    /// Decides about numbers of which some are not as deep as one in the text of the quote.
    fn numbers_unlike_text(&self, replacement: &NumberedReplacement<'_>) -> NumberReading {
        let NumberedReplacement { is_formed, keeps_text, keeps_lines, keeps_rows, .. } = *replacement;
        let is_rising = is_formed && replacement.rising.is_some();
        // A quoted line behind a number shows that the numbers are those of lines: in any order within the quote's range,
        // and beyond it if they rise by one and the line has its own number.
        let shows_line_numbers = keeps_text
            && self.text_depths.is_empty()
            && (replacement.may_be_in_any_order() || is_rising && keeps_rows);
        if (replacement.may_be_in_order() || shows_line_numbers) && !keeps_lines {
            NumberReading::LineNumbers
        } else if replacement.count_in_range() == 0 && !is_rising {
            NumberReading::Text
        } else {
            NumberReading::Ambiguous
        }
    }

    /// Decides about numbers that are all as deep as one in the text of the quote.
    fn numbers_like_text(&self, replacement: &NumberedReplacement<'_>) -> NumberReading {
        let NumberedReplacement { is_formed, keeps_text, keeps_lines, keeps_rows, .. } = *replacement;
        if keeps_lines {
            // The numbers of the quote that are there as well, such as one before a blank line, would become text too.
            let has_quoted_number = keeps_text || keeps_rows;
            return if has_quoted_number { NumberReading::Ambiguous } else { NumberReading::Text };
        }
        let may_be_line_numbers = replacement.may_be_in_order();
        if may_be_line_numbers && (keeps_text || self.is_deeper(replacement)) {
            return NumberReading::LineNumbers;
        }
        let is_blank =
            |(number, text): &(usize, &str)| text.trim().is_empty() && replacement.range.contains(number);
        if keeps_text || replacement.lines.iter().any(is_blank) {
            return NumberReading::Ambiguous;
        }
        let has_own_numbers = replacement.lines.iter().all(|(number, _)| self.text_numbers.contains(number));
        let nestings = self.nestings.iter().copied();
        let deepest_allowed = if may_be_line_numbers { nestings.min() } else { nestings.max() };
        let is_as_deep = self.nestings_of(replacement).max() <= deepest_allowed;
        if !is_formed || is_as_deep && (has_own_numbers || !may_be_line_numbers) {
            NumberReading::Text
        } else {
            NumberReading::Ambiguous
        }
    }

    /// Returns true if the lines of a replacement begin with more numbers than those of the text of the quote.
    fn is_deeper(&self, replacement: &NumberedReplacement<'_>) -> bool {
        let nestings = || self.nestings_of(replacement);
        let most = self.nestings.iter().copied().max();
        nestings().min() > most
            || nestings().max() > most && replacement.rising == Some(self.first)
            || nestings().eq(self.nestings.iter().map(|nesting| nesting + 1))
    }

    /// Returns how many numbers each line of a replacement begins with that is not blank.
    fn nestings_of(&self, replacement: &NumberedReplacement<'_>) -> impl Iterator<Item = usize> {
        let full_lines = replacement.lines.iter().filter(|(_, text)| !text.trim().is_empty());
        full_lines.map(|(_, text)| 1 + nesting(text, self.style))
    }

    /// Returns a replacement with numbers before some of its lines, if these are line numbers of lines that stay, or
    /// certainly text.
    fn partly_numbered(&self, replace: &str) -> Option<String> {
        let keeps_lines = lines(replace).any(|line| self.quotes(line));
        let range = self.range(lines(replace).count());
        let is_text = |line| match self.numbered(line) {
            None => true,
            Some((number, text)) => {
                let may_be_text = keeps_lines || !range.contains(&number);
                may_be_text && self.is_like_text(line) && !self.quotes(text)
            }
        };
        if lines(replace).all(is_text) {
            return Some(replace.to_owned());
        }
        let padding = Padding::new(replace, self);
        let strip = |line| match self.numbered(line) {
            None => padding.strip(line),
            Some((_, text)) => (self.quoted.contains(text) && !self.quoted.contains(line)).then_some(text),
        };
        let stripped: Option<Vec<&str>> = lines(replace).map(strip).collect();
        Some(joined_with_blanks(&stripped?, replace))
    }

    /// Returns the numbers that a replacement of this many lines may have.
    fn range(&self, line_count: usize) -> Range<usize> {
        self.first..self.first.saturating_add(self.count.max(line_count))
    }

    /// Returns the number and the text of a line whose number has the form of the quote's. A number alone is text, unless
    /// it is before a quoted blank line.
    fn numbered<'l>(&self, line: &'l str) -> Option<(usize, &'l str)> {
        let is_row = has_separator(line, self.style) && self.has_form(line) || self.rows.contains(line);
        numbered(line, self.style).filter(|_| is_row)
    }

    /// Returns true if a line's number begins or ends in the column of one of the quote's. One with a leading zero, as in a
    /// time, is of another form unless the quote has such numbers.
    fn has_form(&self, line: &str) -> bool {
        let is_same = |(start, end)| {
            let is_padded = line.get(start..).is_some_and(|number| number.starts_with('0'));
            (self.starts.contains(&start) || self.ends.contains(&end)) && (!is_padded || self.has_padded)
        };
        columns(line, self.style).is_some_and(is_same)
    }

    /// Returns true if a line's number is as far indented as one in the text of the quote.
    fn is_like_text(&self, line: &str) -> bool {
        self.text_depths.contains(&depth(line))
    }

    /// Returns true if a line is one of the quoted ones, without their numbers, and is not blank.
    fn quotes(&self, line: &str) -> bool {
        !line.trim().is_empty() && self.quoted.contains(line)
    }
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
    fn new(replace: &str, gutter: &Gutter<'_>) -> Padding {
        let chars = |text: &str| text.chars().count();
        let width = lines(replace).find_map(|line| Some(chars(line) - chars(gutter.numbered(line)?.1)));
        let trimmed = gutter.style.separator.trim();
        let separator = if trimmed.is_empty() { gutter.style.separator } else { trimmed };
        Padding { width, depths: lines(&gutter.bare).map(depth).collect(), separator }
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
            (false, false, true) if self.depths.contains(&depth(behind)) => Some(behind),
            (false, _, true) | (false, false, false) => None,
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

    /// Returns the replacements without line numbers, of a quote and a replacement that are read in one way.
    fn replaced(search: &str, replace: &str) -> Vec<String> {
        read(search, replace).into_iter().map(|one| one.1).collect()
    }

    #[test]
    fn numbers_that_the_quoted_lines_have_as_well_are_text() {
        for (search, text) in [
            ("2\t  200: a\n3\t  404: b\n", "  200: a\n  404: c\n"),
            ("     3\t2\tbob", "2\tbobby"),
            ("3\t2\tbob", "2\tbobby"),
            ("1:8080:80", "8081:80"),
            ("2:10:30 start", "10:30 begin"),
            ("10:10:30:15 start", "10:30:15 begin"),
            ("1|1|one\n2|2|two\n", "1|one\n2|TWO\n3|three\n"),
            ("L1: L1: one", "L1: ONE"),
        ] {
            let found = replaced(search, text);
            assert!(!found.is_empty() && found.iter().all(|one| one == text), "{found:?}");
        }
    }

    #[test]
    fn numbers_before_the_numbers_of_the_text_are_line_numbers() {
        for (search, replace, bare) in [
            ("3\t2\tbob", "3\t3\tal", "3\tal"),
            ("1|1|one\n2|2|two\n", "1|1|one\n2|three\n", "1|one\nthree\n"),
            ("5|# a\n6|6|b\n", "5|# c\n6|6|d\n", "# c\n6|d\n"),
            ("5|5|a\n6|6|b\n7|7|c\n", "5|5|a\n7|7|c\n", "5|a\n7|c\n"),
        ] {
            assert_eq!(replaced(search, replace), [bare], "{search}");
        }
    }

    #[test]
    fn numbers_that_may_be_either_are_read_in_both_ways() {
        for (search, replace) in [
            ("3\t2\tbob", "3\tal"),
            ("7\ta\n8\tb\n", "1\tc\n2\td\n"),
            ("     7\ta", "7\tb"),
            ("5\t6\ta\n6\t8\tb\n", "5\t6\ta\n8\tc\n"),
            ("7\ta\n8\tb\n", "8\tc\n7\td\n"),
            ("7\ta\n8\tb\n", "1\ta\n2\tb\n3\tc\n"),
            ("4|03|x\n5|04|y\n", "4|03|x\n5|04|y\n06|z\n"),
            ("7\t{\n8\t}\n", "7\t{\n200\tx\n8\t}\n"),
            ("3\t\n4\t3\tc\n5\t4\td\n", "3\t\n3\tCC\n4\td\n"),
        ] {
            let found = remove(search, replace);
            assert!(found.len() == 2 && found.iter().all(|one| one.is_ambiguous), "{found:?}");
        }
        assert_eq!(replaced("7\ta\n8\tb\n", "8\tb\n7\ta\n"), ["b\na\n"], "lines that were swapped");
        assert_eq!(replaced("2\tx\n", "1\tw\n2\tx\n"), ["w\nx\n"], "a line that was added above");
        assert_eq!(remove("7\ta", "1\ta"), [], "nothing is changed, or a number is added");
        assert_eq!(replaced("7\ta\n8\tb\n", "200\ta\n404\tb\n"), ["200\ta\n404\tb\n"], "no line numbers");
    }

    #[test]
    fn a_blank_last_line_is_a_line() {
        assert_eq!(read("1: a\n2: ", "1: a\n2: b")[0], ("a\n\n".into(), "a\nb".into()));
        assert_eq!(read("1: a\n2:\n", "1: a\n2:\n3: b\n")[0], ("a\n\n".into(), "a\n\nb\n".into()));
        assert_eq!(replaced("2\ta", "2\t"), ["\n"]);
        assert_eq!(replaced("1\ta\n2\n", "new\n2\n"), ["new\n\n"]);
    }

    #[test]
    fn rows_of_a_search_must_be_in_their_lines() {
        let found = remove("1- \n2-   a\n3: b", "1- \n2-   c\n3: b");
        assert_eq!((&*found[0].search, &*found[0].replace), ("\n  a\nb", "\n  c\nb"));
        assert!(found.len() == 1 && found[0].line == Some(2) && found[0].keeps_indent, "{found:?}");
        assert_eq!(replaced("2- a", "b"), ["b"]);
        for search in ["1- a\n2- b\n", "1: a\n3- b\n", "1: a\n2-b\n", "L1: a\nL2- b\n"] {
            assert_eq!(read(search, "c\n"), [], "{search}");
        }
        assert_eq!(read("1: a\n2- b\n", "1: a\nnew\n2- c\n"), []);
    }

    #[test]
    fn many_numbers_in_a_line_are_counted_one_after_the_other() {
        let line = "1:".repeat(200_000);
        assert_eq!(replaced(&format!("1:{line}a"), &format!("{line}b")), [format!("{line}b")]);
    }

    #[test]
    fn in_a_replacement_numbered_in_parts_only_lines_that_stay_lose_their_number() {
        assert_eq!(read("7: a\n8: b\n", "7: a\nnew\n8: b\n")[0].1, "a\nnew\nb\n");
        assert_eq!(read("7: a\n8: b\n", "7: a\nnew\n9: c\n"), []);
        assert_eq!(read("7\ta\n8\t\n", "0\na\n")[0].1, "0\na\n");
    }
}
