//! A quote that is being made: how each layer changes its lines.

use super::dice::Random;
use super::drift::Drift::*;
use super::drift::{Drift, GUTTERS, Quote, Side};
use super::fixture::{LineOrigin, TextFixture, blank, indent_of};

pub struct Draft {
    search: Side,
    replace: Side,
    pub layers: Vec<Drift>,
}

impl Draft {
    pub fn new(fixture: &TextFixture) -> Draft {
        let search = fixture
            .block
            .clone()
            .map(|index| (fixture.lines[index].text.clone(), LineOrigin::Kept(index)))
            .collect();
        let replace = fixture.rows.iter().map(|row| (row.text.clone(), row.from)).collect();
        Draft { search, replace, layers: Vec::new() }
    }

    pub fn to_quote(&self, have_line_ends: (bool, bool)) -> Quote {
        let text = |side: &Side, ends_line: bool| {
            let lines: Vec<&str> = side.iter().map(|(text, _)| text.as_str()).collect();
            let has_line_end =
                !lines.is_empty() && (ends_line || lines.last().is_some_and(|last| blank(last)));
            lines.join("\n") + if has_line_end { "\n" } else { "" }
        };
        Quote {
            search: text(&self.search, have_line_ends.0),
            replace: text(&self.replace, have_line_ends.1),
            layers: self.layers.clone(),
        }
    }

    fn each(&mut self, change: impl Fn(&str, LineOrigin) -> String) -> bool {
        let before = (self.search.clone(), self.replace.clone());
        for (text, from) in self.search.iter_mut().chain(&mut self.replace) {
            if !blank(text) {
                *text = change(text, *from);
            }
        }
        (&self.search, &self.replace) != (&before.0, &before.1)
    }

    /// Marks drift in both, or, where the search has none, in neither: those of the replacement alone are meant so.
    fn marked(&mut self, change: impl Fn(&str, LineOrigin) -> String) -> bool {
        let before = (self.search.clone(), self.replace.clone());
        self.each(change);
        if self.search != before.0 {
            return true;
        }
        (self.search, self.replace) = before;
        false
    }

    fn indented(&mut self, change: impl Fn(&str) -> Option<String>) -> bool {
        let all = self.search.iter().chain(&self.replace).filter(|(text, _)| !blank(text));
        if !all.clone().all(|(text, _)| change(indent_of(text)).is_some()) {
            return false;
        }
        self.each(|text, _| change(indent_of(text)).unwrap() + text.trim_start())
    }

    pub fn drift(&mut self, layer: Drift, fixture: &TextFixture, dice: &mut Random<'_>) -> bool {
        let blanks = |indent: &str| indent.bytes().all(|byte| byte == b' ').then_some(indent.len());
        let salt = dice.below(3);
        match layer {
            Trail if salt == 0 => self.each(|text, _| text.trim_end().to_owned()),
            Trail => self.each(|text, from| match from {
                LineOrigin::Kept(index) | LineOrigin::Changed(index) if index % 2 == salt - 1 => {
                    format!("{text}  ")
                }
                _ => text.to_owned(),
            }),
            Dedent => {
                let all = self.search.iter().chain(&self.replace).filter(|(text, _)| !blank(text));
                let common = all.map(|(text, _)| indent_of(text).to_owned()).min_by_key(String::len).unwrap();
                self.indented(|indent| indent.strip_prefix(common.as_str()).map(str::to_owned))
            }
            Deeper => self.indented(|indent| Some(format!("{}{indent}", [fixture.unit, "   ", " "][salt]))),
            Blanks => {
                let width = dice.pick(&[4, 2, 8]);
                self.indented(|indent| Some(indent.replace('\t', &" ".repeat(width))))
            }
            Tabs => self.indented(|indent| {
                blanks(indent)
                    .filter(|blanks| blanks % fixture.unit.len() == 0)
                    .map(|blanks| "\t".repeat(blanks / fixture.unit.len()))
            }),
            Unit => {
                let (from, to) = if fixture.unit.len() == 2 { (2, 4) } else { (4, 2) };
                self.indented(|indent| {
                    blanks(indent)
                        .filter(|blanks| blanks % from == 0)
                        .map(|blanks| " ".repeat(blanks / from * to))
                })
            }
            Head => self.head(),
            Off => {
                let at = self.search[dice.below(self.search.len())].1;
                self.each(
                    |text, from| {
                        if origin(from) == origin(at) { format!(" {text}") } else { text.to_owned() }
                    },
                )
            }
            Drop => {
                let before = self.search.len() + self.replace.len();
                for side in [&mut self.search, &mut self.replace] {
                    side.retain(|(text, _)| !blank(text));
                }
                self.search.len() + self.replace.len() != before
            }
            Double => {
                for side in [&mut self.search, &mut self.replace] {
                    let doubled = |line: (String, LineOrigin)| match line.1 {
                        LineOrigin::Kept(index) if index % 3 == salt => {
                            vec![line, (String::new(), LineOrigin::Added)]
                        }
                        _ => vec![line],
                    };
                    *side = std::mem::take(side).into_iter().flat_map(doubled).collect();
                }
                true
            }
            Plain => self.marked(|text, _| {
                let text =
                    text.replace(['\u{201c}', '\u{201d}'], "\"").replace(['\u{2018}', '\u{2019}'], "'");
                text.replace('\u{2013}', "-")
                    .replace('\u{2026}', "...")
                    .replace('\u{a0}', " ")
                    .replace('\u{200b}', "")
            }),
            Curly => self.marked(|text, _| curly(text)),
            Entities => self.marked(|text, _| {
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
            }),
            Nbsp | Invisible => self.marked(|text, _| {
                let blank = if layer == Nbsp { "\u{a0}" } else { " \u{200b}" };
                let trail = &text[text.trim_end().len()..];
                indent_of(text).to_owned() + &text.trim().replace(' ', blank) + trail
            }),
            Typo => self.add_typo(dice),
            Elide => self.elide(dice),
            Gutter => self.gutter(fixture, dice),
            Prefix => {
                for (sign, side) in [("-", &mut self.search), ("+", &mut self.replace)] {
                    for (text, from) in side {
                        let is_kept = fixture.rows.iter().any(|row| row.from == *from)
                            && matches!(from, LineOrigin::Kept(_));
                        *text = format!("{}{text}", if is_kept { " " } else { sign });
                    }
                }
                true
            }
            Fence | Escapes | Quotes => false,
        }
    }

    /// Both begin with the same line, and it was quoted from its first letter on.
    fn head(&mut self) -> bool {
        let (Some(first), Some(row)) = (self.search.first_mut(), self.replace.first_mut()) else {
            return false;
        };
        let alike = indent_of(&first.0) == indent_of(&row.0) && origin(first.1) == origin(row.1);
        if !alike || blank(&first.0) || indent_of(&first.0).is_empty() {
            return false;
        }
        for line in [first, row] {
            line.0 = line.0.trim_start().to_owned();
        }
        true
    }

    /// Two letters of a word are swapped.
    fn add_typo(&mut self, dice: &mut Random<'_>) -> bool {
        let at = dice.below(self.search.len());
        let (text, from) = self.search[at].clone();
        let word = text.split(|letter: char| !letter.is_ascii_lowercase()).find(|word| word.len() >= 5);
        let Some(word) = word else { return false };
        let swapped = format!("{}{}{}{}", &word[..2], &word[3..4], &word[2..3], &word[4..]);
        if swapped == word {
            return false;
        }
        self.each(|text, other| {
            if origin(other) == origin(from) { text.replacen(word, &swapped, 1) } else { text.to_owned() }
        })
    }

    /// A run of lines that stay, inside of both.
    fn elide(&mut self, dice: &mut Random<'_>) -> bool {
        let ellipsis = dice.pick(&["...", "# ... existing code ...", "// ...", "\u{2026}"]);
        let (count, length) = (self.search.len(), 1 + dice.below(4));
        if count < length + 2 {
            return false;
        }
        let from = 1 + dice.below(count - length - 1);
        let run: Vec<LineOrigin> = self.search[from..from + length].iter().map(|line| line.1).collect();
        if run.contains(&LineOrigin::Added) {
            return false;
        }
        let at = |side: &Side| {
            side.windows(length).position(|lines| lines.iter().map(|line| line.1).eq(run.iter().copied()))
        };
        let Some(row) = at(&self.replace).filter(|row| *row > 0 && row + length < self.replace.len()) else {
            return false;
        };
        let indent = indent_of(&self.search[from].0).to_owned();
        for (side, start) in [(&mut self.search, from), (&mut self.replace, row)] {
            side.splice(start..start + length, [(format!("{indent}{ellipsis}"), LineOrigin::Added)]);
        }
        true
    }

    fn gutter(&mut self, fixture: &TextFixture, dice: &mut Random<'_>) -> bool {
        let (before, behind) = dice.pick(&GUTTERS);
        // Blanks before each line could be the gutter's.
        let both = !dice.one_in(3) || self.layers.iter().any(|layer| layer.of_indent());
        for side in [&mut self.search, &mut self.replace].into_iter().take(1 + usize::from(both)) {
            for (index, (text, _)) in side.iter_mut().enumerate() {
                *text = format!("{before}{}{behind}{text}", fixture.block.start + index + 1);
            }
        }
        true
    }
}

fn origin(from: LineOrigin) -> Option<usize> {
    match from {
        LineOrigin::Kept(index) | LineOrigin::Changed(index) => Some(index),
        LineOrigin::Added => None,
    }
}

/// A straight quote opens behind a blank and at the start, and closes elsewhere.
fn curly(text: &str) -> String {
    let mut before = ' ';
    let mut write = |character: char| {
        let opens = before.is_whitespace();
        before = character;
        match character {
            '"' if opens => '\u{201c}',
            '"' => '\u{201d}',
            '\'' => '\u{2019}',
            other => other,
        }
    };
    text.chars().map(&mut write).collect()
}
