//! The lines in which a search looks.

use std::ops::Range;

use super::PLACES;
use crate::edit::{PlanContext, Search, place};
use crate::error::{Code, Error, EvidenceLine};
use crate::locate::scope::Outline;
use crate::locate::{Field, Quotes};
use crate::text::{Buffer, nearest};

/// The names that are listed where one is not known.
const NAMES: usize = 12;

/// The bytes of a text that is read in about a tenth of a second.
const SOON: usize = 1 << 18;

/// Some lines of a text, and what a message calls them.
pub(super) struct Window<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) scene: PlanContext<'a>,
    first: usize,
    last: usize,
    /// As in `the file`.
    pub(super) name: String,
}

impl<'a> Window<'a> {
    /// The lines that a search names; the whole text where it names none.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` beyond the text; for `within` `INVALID_INPUT` where symbols are not known,
    /// `NO_MATCH` where there is none of that name, `AMBIGUOUS_MATCH` where there are several.
    pub(super) fn new(
        search: &Search,
        buffer: &'a Buffer,
        scene: PlanContext<'a>,
    ) -> Result<Window<'a>, Error> {
        let count = buffer.lines().count();
        let mut window = Window { buffer, scene, first: 1, last: count, name: "the file".to_owned() };
        if let Some(lines) = search.lines {
            (window.first, window.last) = lines.within(count)?;
            window.name = format!("lines {} to {}", window.first, window.last);
        }
        match &search.within {
            None => Ok(window),
            Some(symbol) => window.within(symbol),
        }
    }

    fn within(self, symbol: &str) -> Result<Window<'a>, Error> {
        let Some(outline) = self.outline() else {
            let language = self.scene.language.unwrap_or("no language that is known");
            let message = format!("the symbols of this file cannot be read: it is in {language}");
            let hint = "narrow the place by lines, or quote more of the surrounding lines";
            return Err(Error::new(Code::InvalidInput, message).field("within").hint(hint));
        };
        let lines = self.buffer.lines();
        let inside = |span: &Range<usize>| {
            let (first, last) = (lines.at(span.start), lines.at(span.end.saturating_sub(1).max(span.start)));
            (first <= self.last && self.first <= last).then(|| (first.max(self.first), last.min(self.last)))
        };
        let spans = outline.spans(symbol);
        if let Some(shared) = spans.iter().find(|span| !outline.stands_alone(span, self.buffer.view())) {
            let line = lines.at(shared.start);
            let message = format!("{symbol} shares line {line} with others, and whole lines are looked at");
            let hint = "quote more of the line instead";
            return Err(Error::new(Code::InvalidInput, message).field("within").hint(hint));
        }
        let found: Vec<(usize, usize)> = spans.iter().filter_map(inside).collect();
        match found.as_slice() {
            [] => Err(unknown(symbol, &outline, &self.name)),
            [(first, last)] => {
                let name = format!("{symbol} (lines {first} to {last})");
                Ok(Window { first: *first, last: *last, name, ..self })
            }
            several => {
                let message = format!("{} symbols in {} are called {symbol}", several.len(), self.name);
                let places = several.iter().take(PLACES).map(|(first, _)| self.place(*first, Some(&outline)));
                Err(Error::new(Code::AmbiguousMatch, message)
                    .field("within")
                    .places(places.collect())
                    .counting(several.len())
                    .hint("give the whole path of the symbol, or narrow the place by lines as well"))
            }
        }
    }

    /// The outline of the whole text, where its language has one.
    pub(super) fn outline(&self) -> Option<Outline> {
        Outline::parse(self.scene.language?, self.scene.path, self.buffer.view())
    }

    /// The same, where it is soon had: it only names what is found anyway.
    pub(super) fn quick_outline(&self) -> Option<Outline> {
        (self.buffer.view().len() <= SOON).then(|| self.outline()).flatten()
    }

    /// A line as a refusal names it, with the symbol around it.
    pub(super) fn place(&self, line: usize, outline: Option<&Outline>) -> EvidenceLine {
        let start = self.buffer.lines().span(line).start;
        let symbol = outline.and_then(|outline| outline.enclosing(start)).map(str::to_owned);
        EvidenceLine { symbol, ..place(self.buffer, line) }
    }

    /// The lines as bytes of the view.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.field().window()
    }

    /// The lines as a field to locate a block in.
    pub(super) fn field(&self) -> Field<'a> {
        Field::new(self.buffer, self.first, self.last).quoting(Quotes::for_language(self.scene.language))
    }
}

fn unknown(symbol: &str, outline: &Outline, name: &str) -> Error {
    let message = match nearest(symbol, outline.names()) {
        Some(meant) => format!("no symbol in {name} is called {symbol:?}; did you mean {meant}?"),
        None => format!("no symbol in {name} is called {symbol:?}"),
    };
    let names: Vec<&str> = outline.names().take(NAMES).collect();
    let hint = if names.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    };
    Error::new(Code::MatchNotFound, message).field("within").hint(hint)
}
