//! What a caller may get wrong in a quote: search and replacement drift alike.

use super::dice::Random;
use super::draft::Draft;
use super::fixture::{LineOrigin, TextFixture};
use super::fold::normal;

/// One kind of drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    /// Blanks at line ends are gone, or there are more.
    Trail,
    /// The common indentation is gone, or there is more of it.
    Dedent,
    Deeper,
    /// Tabs are blanks, or blanks are tabs.
    Blanks,
    Tabs,
    /// Two blanks are four, or four are two.
    Unit,
    /// The first line has no indentation.
    Head,
    /// One line has a blank too many.
    Off,
    /// Blank lines are gone, or there are more.
    Drop,
    Double,
    /// Marks are plain, typographic, entities, or invisible.
    Plain,
    Curly,
    Entities,
    Nbsp,
    Invisible,
    /// One letter is wrong.
    Typo,
    /// Lines that stay are elided.
    Elide,
    /// Line numbers, a fence, the signs of a diff, escapes.
    Gutter,
    Fence,
    Prefix,
    Escapes,
    Quotes,
}

use Drift::*;

pub const ALL: [Drift; 22] = [
    Trail, Dedent, Deeper, Blanks, Tabs, Unit, Head, Off, Drop, Double, Plain, Curly, Entities, Nbsp,
    Invisible, Typo, Elide, Gutter, Fence, Prefix, Escapes, Quotes,
];

pub const GUTTERS: [(&str, &str); 6] =
    [("", ": "), ("", "| "), ("   ", "\t"), ("L", ":"), ("", "\u{2192}"), ("src/a.py:", ":")];

impl Drift {
    pub fn of_marks(self) -> bool {
        matches!(self, Plain | Curly | Entities | Nbsp | Invisible)
    }

    pub fn of_indent(self) -> bool {
        matches!(self, Dedent | Deeper | Blanks | Tabs | Unit | Head | Off)
    }
}

/// A quoted line and where it comes from.
pub type Side = Vec<(String, LineOrigin)>;

/// A quote that drifted.
#[derive(Debug, Clone)]
pub struct Quote {
    pub search: String,
    pub replace: String,
    pub layers: Vec<Drift>,
}

impl Quote {
    /// A quote with some layers of drift; nothing where it would be that of another place.
    pub fn drifted(fixture: &TextFixture, dice: &mut Random<'_>) -> Option<Quote> {
        let mut draft = Draft::new(fixture);
        let mut layers: Vec<Drift> = match dice.below(8) {
            0 => vec![],
            1..=5 => vec![dice.pick(&ALL)],
            _ => vec![dice.pick(&ALL), dice.pick(&ALL)],
        };
        layers.sort_by_key(|layer| ALL.iter().position(|other| other == layer));
        layers.dedup();
        let marked = layers.iter().any(|layer| layer.of_marks());
        // Each part of an elided block shows its own marks alone.
        layers.retain(|layer| *layer != Elide || !marked);
        // So that a blank line more at the end is one.
        let have_line_ends = if layers.contains(&Double) { (true, true) } else { fixture.ended };
        let mut texts = None;
        for layer in layers {
            if matches!(layer, Fence | Escapes | Quotes) {
                let quote = texts.take().unwrap_or_else(|| draft.to_quote(have_line_ends));
                texts = Some(wrapped(layer, quote, dice));
            } else if draft.drift(layer, fixture, dice) {
                draft.layers.push(layer);
            }
        }
        let quote = texts.unwrap_or_else(|| draft.to_quote(have_line_ends));
        let has_typo = quote.layers.contains(&Typo);
        let (search, replace) = (normal(&quote.search), normal(&quote.replace));
        // A typo may happen to be what stands elsewhere, or to take the edit back.
        let elsewhere =
            has_typo && (fixture.count(&search) > 0 || normal(&fixture.quoted().join("\n")) == replace);
        let same = quote.search.trim_end_matches('\n') == quote.replace.trim_end_matches('\n');
        let literal = fixture.view().matches(quote.search.trim_matches('\n')).count();
        (!elsewhere && !same && literal <= usize::from(!quote.layers.contains(&Elide))).then_some(quote)
    }
}

pub fn wrapped(layer: Drift, quote: Quote, dice: &mut Random<'_>) -> Quote {
    let once = dice.one_in(3);
    let change = |text: &str| match layer {
        Escapes => text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('"', "\\\""),
        Quotes => text.replace('"', "\\\"").replace('\'', "\\'"),
        _ => format!("```python\n{}\n```", text.strip_suffix('\n').unwrap_or(text)),
    };
    let search = change(&quote.search);
    // What is escaped in the replacement alone is meant so; of escapes that were there, layers may be read off as well.
    if search == quote.search || layer == Escapes && quote.search.contains('\\') {
        return quote;
    }
    let Quote { replace, mut layers, .. } = quote;
    layers.push(layer);
    let replace = if layer == Fence && (once || replace.is_empty()) { replace } else { change(&replace) };
    Quote { search, replace, layers }
}
