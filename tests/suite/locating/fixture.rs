//! A random file, a block of it, and a random edit of that block with what it must come to.

use std::ops::Range;

use super::dice::Random;
use super::fold::normal;

/// Pieces that lines are made of.
const WORDS: &[&str] = &[
    "value",
    "return",
    "if",
    "x",
    "y",
    "=",
    "+",
    "(a, b)",
    "foo(",
    ")",
    "\"one two\"",
    "\u{201c}quoted\u{201d}",
    "it\u{2019}s",
    "'lit'",
    "a \u{2013} b",
    "...",
    "\u{2026}",
    "\u{e9}t\u{e9}",
    "a\u{a0}b",
    "a  b",
    "&lt;",
    "<tag>",
    "&",
    "# note",
    "// rest",
    "\\n",
    "\"tab\\t\"",
    "12:",
    "- item",
    "`",
    "{",
    "}",
    "get_item",
    "get_items",
    "self.total",
    "0",
    "print(\"a\\n\")",
    "counter",
    "Option<T>",
    "\\",
    "width",
    "a\tb",
    "zero\u{200b}width",
    "'it\u{2019}s'",
    "**",
    "end;",
];

/// A line of the file.
#[derive(Debug, Clone)]
pub struct Line {
    pub text: String,
    pub end: &'static str,
}

/// Where a line of the result comes from: a line of the file, by its index, or the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOrigin {
    Kept(usize),
    Changed(usize),
    Added,
}

/// A line of the result.
#[derive(Debug, Clone)]
pub struct Row {
    pub text: String,
    pub from: LineOrigin,
}

#[derive(Debug, Clone)]
pub struct TextFixture {
    pub mark: bool,
    pub unit: &'static str,
    pub lines: Vec<Line>,
    pub block: Range<usize>,
    /// What the block becomes.
    pub rows: Vec<Row>,
    /// Whether search and replacement end in a newline.
    pub ended: (bool, bool),
}

impl TextFixture {
    /// A fixture in which the block occurs only once, ignoring marks and white space.
    pub fn new(dice: &mut Random<'_>) -> Option<TextFixture> {
        let (unit, lines) = file(dice);
        let size = 1 + dice.below(8.min(lines.len()));
        let start = dice.below(lines.len() - size + 1);
        let block = start..start + size;
        let rows = edited(dice, &lines, block.clone(), unit);
        let mut have_line_ends = dice.pick(&[
            (true, true),
            (true, true),
            (false, false),
            (false, false),
            (true, false),
            (false, true),
        ]);
        // A text that ends with a blank line and without a newline is one with a newline and without that line.
        have_line_ends.0 |= blank(&lines[block.end - 1].text);
        have_line_ends.1 |= rows.last().is_some_and(|row| blank(&row.text));
        let fixture = TextFixture { mark: dice.one_in(5), unit, lines, block, rows, ended: have_line_ends };
        let same = fixture.rows.iter().map(|row| &row.text).eq(fixture.quoted().iter());
        let all_blank = fixture.rows.iter().all(|row| blank(&row.text)) && !fixture.rows.is_empty();
        let needle = normal(&fixture.quoted().join("\n"));
        (!same && !all_blank && !needle.is_empty() && fixture.count(&needle) == 1).then_some(fixture)
    }

    /// How often a normal text stands in the file, places that overlap included.
    pub fn count(&self, needle: &str) -> usize {
        let text = normal(&self.view());
        (0..text.len()).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(needle))).count()
    }

    pub fn quoted(&self) -> Vec<String> {
        self.lines[self.block.clone()].iter().map(|line| line.text.clone()).collect()
    }

    pub fn body(&self) -> String {
        self.lines.iter().map(|line| line.text.clone() + line.end).collect()
    }

    pub fn view(&self) -> String {
        self.body().replace("\r\n", "\n")
    }

    pub fn bytes(&self) -> Vec<u8> {
        format!("{}{}", if self.mark { "\u{feff}" } else { "" }, self.body()).into_bytes()
    }

    /// All lines of the result.
    pub fn truth(&self) -> Vec<Row> {
        let kept_row =
            |index: usize| Row { text: self.lines[index].text.clone(), from: LineOrigin::Kept(index) };
        let before = (0..self.block.start).map(kept_row);
        let after = (self.block.end..self.lines.len()).map(kept_row);
        before.chain(self.rows.iter().cloned()).chain(after).collect()
    }
}

pub fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub fn indent_of(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

fn content(dice: &mut Random<'_>) -> String {
    let words: Vec<&str> = (0..=dice.below(4)).map(|_| dice.pick(WORDS)).collect();
    words.join(" ").trim().to_owned()
}

fn file(dice: &mut Random<'_>) -> (&'static str, Vec<Line>) {
    let unit = dice.pick(&["    ", "\t", "  "]);
    let line_ends: &[&'static str] = dice.pick(&[&["\n"][..], &["\r\n"], &["\n", "\r\n"]]);
    let count = 3 + dice.below(22);
    let (mut lines, mut depth): (Vec<Line>, usize) = (Vec::new(), 0);
    for _ in 0..count {
        depth = match dice.below(6) {
            4 => (depth + 1).min(4),
            5 => depth.saturating_sub(1),
            _ => depth,
        };
        let content = match dice.below(9) {
            0..=5 => content(dice),
            6 if !lines.is_empty() => lines[dice.below(lines.len())].text.trim().to_owned(),
            6 | 7 => String::new(),
            _ => format!("{} {}", content(dice), content(dice)),
        };
        let trail = if dice.one_in(10) { "  " } else { "" };
        let indent = if content.is_empty() { String::new() } else { unit.repeat(depth) };
        lines.push(Line { text: indent + &content + trail, end: dice.pick(line_ends) });
    }
    if dice.one_in(4) && lines.last().is_some_and(|last| !last.text.is_empty()) {
        lines[count - 1].end = "";
    }
    (unit, lines)
}

fn edited(dice: &mut Random<'_>, lines: &[Line], block: Range<usize>, unit: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    if dice.one_in(8) {
        rows.push(added(dice, &lines[block.start].text, unit));
    }
    for index in block.clone() {
        let text = &lines[index].text;
        let kept_row = Row { text: text.clone(), from: LineOrigin::Kept(index) };
        match dice.below(8) {
            4 | 5 if !blank(text) => {
                rows.push(Row { text: changed(dice, text, unit), from: LineOrigin::Changed(index) })
            }
            6 => {}
            7 => {
                rows.push(kept_row);
                for _ in 0..=dice.below(2) {
                    rows.push(added(dice, text, unit));
                }
            }
            _ => rows.push(kept_row),
        }
    }
    if rows.iter().map(|row| &row.text).eq(lines[block].iter().map(|line| &line.text)) {
        for row in &mut rows {
            if let (LineOrigin::Kept(index), false) = (row.from, blank(&row.text)) {
                *row = Row { text: changed(dice, &row.text, unit), from: LineOrigin::Changed(index) };
                break;
            }
        }
    }
    rows
}

fn added(dice: &mut Random<'_>, neighbor: &str, unit: &str) -> Row {
    let deeper = if dice.one_in(4) { unit } else { "" };
    let text = if dice.one_in(8) {
        String::new()
    } else {
        format!("{}{deeper}{}", if blank(neighbor) { "" } else { indent_of(neighbor) }, content(dice))
    };
    Row { text, from: LineOrigin::Added }
}

/// A line with a word of it replaced, added or taken away, or indented anew; its trailing blanks stay.
fn changed(dice: &mut Random<'_>, text: &str, unit: &str) -> String {
    let (indent, body) = (indent_of(text), text.trim());
    let trail = &text[text.trim_end().len()..];
    if dice.one_in(8) {
        return format!("{indent}{unit}{body}{trail}");
    }
    let mut words: Vec<&str> = body.split(' ').collect();
    let at = dice.below(words.len());
    let word = dice.pick(WORDS);
    match dice.below(4) {
        0 | 1 => words[at] = word,
        2 => words.insert(at + 1, word),
        _ if words.len() > 1 => drop(words.remove(at)),
        _ => words.insert(0, word),
    }
    let body = words.join(" ");
    if body.trim().is_empty() {
        format!("{indent}{word}{trail}")
    } else {
        format!("{indent}{}{trail}", body.trim())
    }
}
