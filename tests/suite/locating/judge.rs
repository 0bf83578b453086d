//! Whether a result is the edit applied to the undrifted text.
//!
//! Equal are: every line that stays, byte for byte with its line end, whichever copy of it the file has; the blank
//! lines between two lines that stay side by side; the file's final newline. Changed and new lines are the edit's, but:
//! their trailing blanks may be the file's where those of the quote drifted; their marks may be either's where marks
//! drifted, though a changed line keeps the file's marks before and behind what changed, unless less than three quarters of it stay; a
//! new indentation is only held to where the quote shows the rule, by two different indentations that drifted in one way, and no elided lines, or
//! no drift of them; the number of blank lines
//! beside a changed or new line is free where blank lines drifted; a new line ends as a neighbour does. Where two lines of the
//! block and the edit are the same but for marks and blanks, nothing shows which of them stays: its marks, blanks and line
//! end, and the blank lines beside it, may be those of the other. Blank lines are all the same: where the edit brings or
//! takes one, lines that stay may end as it did.

use super::drift::{Drift, Quote};
use super::fixture::{LineOrigin, Row, TextFixture, blank, indent_of};
use super::fold::folded;

/// A line that is not blank, with the blank lines before it.
struct SplitText<'a> {
    before: Vec<(&'a str, &'a str)>,
    text: &'a str,
    end: &'a str,
}

/// Cuts a text into its lines and their ends.
fn lines(text: &str) -> Vec<(&str, &str)> {
    let cut = |line| match str::strip_suffix(line, "\r\n") {
        Some(text) => (text, "\r\n"),
        None => line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n")),
    };
    text.split_inclusive('\n').map(cut).collect()
}

pub struct Judge<'a> {
    pub world: &'a TextFixture,
    pub quote: &'a Quote,
}

impl Judge<'_> {
    /// Errors: how the result differs from what the edit comes to.
    pub fn judge(&self, result: &[u8]) -> Result<(), String> {
        let result = str::from_utf8(result).map_err(|why| why.to_string())?;
        let body =
            if self.world.mark { result.strip_prefix('\u{feff}').ok_or("the mark is gone")? } else { result };
        let (found, mut splits, mut before) = (lines(body), Vec::new(), Vec::new());
        for (text, end) in &found {
            if blank(text) {
                before.push((*text, *end));
            } else {
                splits.push(SplitText { before: std::mem::take(&mut before), text, end });
            }
        }
        let open = self.world.lines.last().is_some_and(|line| line.end.is_empty());
        let mut expected = self.world.truth();
        // A blank last line without a line end is none.
        let removed = open
            && self.world.block.end == self.world.lines.len()
            && expected.pop_if(|row| blank(&row.text)).is_some();
        let text_rows: Vec<usize> = (0..expected.len()).filter(|row| !blank(&expected[*row].text)).collect();
        if text_rows.len() != splits.len() {
            return Err(format!("{} lines, not {}", splits.len(), text_rows.len()));
        }
        for (index, (row, split)) in text_rows.iter().zip(&splits).enumerate() {
            let last = index + 1 == splits.len() && before.is_empty();
            self.line(&expected[*row], split, last)?;
            self.gap(
                &expected,
                index.checked_sub(1).map(|above| text_rows[above]),
                Some(*row),
                &split.before,
            )?;
        }
        if !removed {
            self.gap(&expected, text_rows.last().copied(), None, &before)?;
        }
        let free = found.is_empty() || removed || open && self.blanks_drifted();
        if !free && open == body.ends_with('\n') {
            return Err("the final newline is another".to_owned());
        }
        Ok(())
    }

    /// Tells whether the edit brings or takes a blank line, all of which are the same.
    fn moves_blanks(&self) -> bool {
        let kept_lines = self
            .world
            .rows
            .iter()
            .filter(|row| blank(&row.text) && matches!(row.from, LineOrigin::Kept(_)))
            .count();
        let all = |texts: &[String]| texts.iter().filter(|text| blank(text)).count();
        let rows: Vec<String> = self.world.rows.iter().map(|row| row.text.clone()).collect();
        kept_lines < all(&rows).max(all(&self.world.quoted()))
    }

    fn blanks_drifted(&self) -> bool {
        self.has(|layer| matches!(layer, Drift::Drop | Drift::Double))
    }

    fn has(&self, is: fn(Drift) -> bool) -> bool {
        self.quote.layers.iter().any(|layer| is(*layer))
    }

    /// Tells whether lines of the block, or what the edit makes of them, are the same but for marks and blanks, so that
    /// nothing shows which of them are meant.
    fn has_twins(&self) -> bool {
        let fixture = self.world;
        let touched =
            fixture.rows.iter().filter(|row| !matches!(row.from, LineOrigin::Kept(_))).map(|row| &row.text);
        let all = fixture.lines[fixture.block.clone()].iter().map(|line| &line.text).chain(touched);
        let mut all: Vec<String> = all.map(|line| folded(line)).filter(|line| !line.is_empty()).collect();
        all.sort_unstable();
        all.windows(2).any(|two| two[0] == two[1])
    }

    fn stays(&self, index: usize, row: &Row, split: &SplitText<'_>, last: bool) -> Result<(), String> {
        let wrong =
            |what: &str| Err(format!("{what}: {:?} for {:?} of {:?}", split.text, row.text, row.from));
        let fixture = self.world;
        let inside = fixture.block.contains(&index);
        let indented = indent_of(split.text) == indent_of(&row.text) || self.is_free(row);
        if inside && self.has_twins() && folded(split.text) == folded(&row.text) && indented {
            return Ok(());
        }
        if split.text != row.text {
            return wrong("a line that stays");
        }
        let own = fixture.lines[index].end;
        if split.end == own || last || own.is_empty() || inside && self.moves_blanks() {
            Ok(())
        } else {
            wrong("the line end of a line that stays")
        }
    }

    fn line(&self, row: &Row, split: &SplitText<'_>, last: bool) -> Result<(), String> {
        let wrong =
            |what: &str| Err(format!("{what}: {:?} for {:?} of {:?}", split.text, row.text, row.from));
        let fixture = self.world;
        if let LineOrigin::Kept(index) = row.from {
            return self.stays(index, row, split, last);
        }
        let trails = self.has(|layer| layer == Drift::Trail);
        let [mut actual, mut expected] = [split.text, row.text.as_str()];
        if trails {
            [actual, expected] = [actual.trim_end(), expected.trim_end()];
        }
        if self.is_free(row) {
            [actual, expected] = [actual.trim_start(), expected.trim_start()];
        }
        if actual == expected {
            return self.end(row, split, last);
        }
        if !self.has(Drift::of_marks)
            || indent_of(actual) != indent_of(expected)
            || folded(actual) != folded(expected)
        {
            return wrong("a line of the edit");
        }
        match row.from {
            LineOrigin::Changed(index) if !self.has_twins() => {
                let own = fixture.lines[index].text.trim();
                if !are_alike(own, expected) {
                    return Ok(());
                }
                let (head, tail) = common_affixes(own, row.text.trim());
                let actual = actual.trim();
                if actual.starts_with(head) && actual.ends_with(tail) {
                    Ok(())
                } else {
                    wrong("the marks of a changed line")
                }
            }
            _ => Ok(()),
        }
    }

    fn end(&self, row: &Row, split: &SplitText<'_>, last: bool) -> Result<(), String> {
        let fixture = self.world;
        let paired = fixture.rows.iter().all(|row| row.from != LineOrigin::Added)
            && fixture.rows.len() == fixture.block.len();
        let paired = paired && !self.has_twins() && !self.blanks_drifted();
        let own = match row.from {
            LineOrigin::Changed(index) if paired && are_alike(&fixture.lines[index].text, &row.text) => {
                vec![fixture.lines[index].end]
            }
            _ => {
                let (from, to) =
                    (fixture.block.start.saturating_sub(1), (fixture.block.end + 1).min(fixture.lines.len()));
                fixture.lines[from..to].iter().map(|line| line.end).collect()
            }
        };
        let fits = last || own.contains(&split.end) || own.contains(&"") || fixture.block.start == 0;
        if fits { Ok(()) } else { Err(format!("the line end of a line of the edit: {:?}", split.text)) }
    }

    /// Tells whether nothing shows how the file would indent this line.
    fn is_free(&self, row: &Row) -> bool {
        let fixture = self.world;
        let drifts = self.quote.layers.iter().filter(|layer| layer.of_indent()).count();
        let head = usize::from(self.has(|layer| layer == Drift::Head));
        let mut shown: Vec<&str> = fixture.lines[fixture.block.clone()]
            .iter()
            .skip(head)
            .filter(|line| !blank(&line.text))
            .map(|line| indent_of(&line.text))
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let anew = match row.from {
            LineOrigin::Changed(index) => {
                let own = &fixture.lines[index].text;
                indent_of(own) != indent_of(&row.text) || drifts > 1 && !are_alike(own, &row.text)
            }
            LineOrigin::Added => true,
            // Of twins one may be a new line.
            LineOrigin::Kept(_) => true,
        };
        anew && self.has(Drift::of_indent)
            && (shown.len() < 2 || drifts > 1 || self.has(|layer| layer == Drift::Elide))
    }

    /// The blank lines between two rows; nothing stands for an end of the file.
    fn gap(
        &self,
        expected: &[Row],
        above: Option<usize>,
        below: Option<usize>,
        actual: &[(&str, &str)],
    ) -> Result<(), String> {
        let rows = above.map_or(0, |above| above + 1)..below.unwrap_or(expected.len());
        let around = [above, below].map(|row| row.map(|row| expected[row].from));
        let own = match around {
            [None, Some(LineOrigin::Kept(below))] => Some(0..below),
            [Some(LineOrigin::Kept(above)), Some(LineOrigin::Kept(below))] => Some(above + 1..below),
            [Some(LineOrigin::Kept(above)), None] => Some(above + 1..self.world.lines.len()),
            _ => None,
        };
        let own = own.filter(|own| {
            expected[rows.clone()].iter().map(|row| row.from).eq(own.clone().map(LineOrigin::Kept))
        });
        if let Some(own) = own {
            let lines = || self.world.lines[own.clone()].iter().map(|line| (line.text.as_str(), line.end));
            let last = below.is_none();
            let same = lines().eq(actual.iter().copied())
                || last && lines().map(|line| line.0).eq(actual.iter().map(|line| line.0));
            let inside = around
                .into_iter()
                .flatten()
                .any(|from| matches!(from, LineOrigin::Kept(index) if self.world.block.contains(&index)));
            let twin = inside && self.has_twins();
            return if same || twin {
                Ok(())
            } else {
                Err(format!("the blank lines at row {}: {actual:?}", rows.start))
            };
        }
        if self.blanks_drifted() || self.has_twins() || rows.len() == actual.len() {
            Ok(())
        } else {
            Err(format!("{} blank lines at row {}, not {}", actual.len(), rows.start, rows.len()))
        }
    }
}

/// Tells whether one line is surely taken for a change of the other.
fn are_alike(one: &str, other: &str) -> bool {
    strsim::normalized_levenshtein(&folded(one), &folded(other)) >= 0.75
}

/// The head and the tail that two texts share, without the words that the difference touches.
fn common_affixes<'t>(own: &'t str, expected: &str) -> (&'t str, &'t str) {
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
    };
    let head = common(&mut own.chars().zip(expected.chars()));
    let tail = common(&mut own[head..].chars().rev().zip(expected[head..].chars().rev()));
    let in_word = |letter: char| !letter.is_whitespace();
    (
        own[..head].trim_end_matches(in_word).trim_end(),
        own[own.len() - tail..].trim_start_matches(in_word).trim_start(),
    )
}
