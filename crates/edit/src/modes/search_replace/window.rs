//! The range of lines that a search covers.

use std::ops::Range;

use crate::operations::{Needle, Search};
use crate::planned::{MAX_MATCH_LINES, PlanContext, evidence_line};
use lockgate_error::{Code, Error, EvidenceLine, FieldValue, NextCall};
use lockgate_matching::{LineRange, exact};
use lockgate_text::{Buffer, Outline, WordList, nearest_all};

/// The maximum number of suggested names.
const NAMES: usize = 12;

/// The size in bytes of a text that is parsed in about a tenth of a second.
const QUICK_SIZE: usize = 1 << 18;

/// A range of lines, and its name in messages.
pub(super) struct Window<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) context: PlanContext<'a>,
    first: usize,
    last: usize,
    /// Set when the request limits the search, even if it names all lines.
    is_limited: bool,
    /// The name in messages, such as `the file`.
    pub(super) name: String,
}

impl<'a> Window<'a> {
    /// Creates the window of a search; the whole text by default.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` beyond the text; for `within`: `INVALID_INPUT` if the file's symbols are
    /// unknown, `NO_MATCH` if no symbol has that name, `AMBIGUOUS_MATCH` if several have it.
    pub(super) fn new(
        search: &Search,
        buffer: &'a Buffer,
        context: PlanContext<'a>,
    ) -> Result<Window<'a>, Error> {
        let count = buffer.lines().count();
        let name = format!("the {}", context.noun);
        let is_limited = search.lines.is_some() || search.within.is_some();
        let mut window = Window { buffer, context, first: 1, last: count, is_limited, name };
        if let Some(lines) = search.lines {
            (window.first, window.last) = lines.resolve(count)?;
            window.name = format!("lines {} to {}", window.first, window.last);
        }
        match &search.within {
            None => Ok(window),
            Some(symbol) => window.narrow_to_symbol(search, symbol),
        }
    }

    /// Adds the edit with the nearest symbol, if its name is misspelt and the text occurs exactly once there, or else a
    /// read of the only place of the text. Of several symbols that are equally near, none is proposed.
    fn with_other_symbol(
        &self,
        search: &Search,
        nearest: Option<(&Outline, &[&str])>,
        error: Error,
    ) -> Error {
        let Some(symbol) = &search.within else { return error };
        if let Some((outline, nearest)) = nearest {
            match nearest {
                [suggestion]
                    if Outline::is_misspelling(symbol, suggestion, self.buffer.view())
                        && self.occurs_once_in(search, suggestion, outline) =>
                {
                    let set = vec![("within", FieldValue::Text((*suggestion).to_owned()))];
                    return error.with_next(NextCall::Fields { set, unset: Vec::new() });
                }
                [] | [_] => {}
                _ => return error,
            }
        }
        let Some(place) = self.only_match(search, self.bytes()) else { return error };
        // Without `within`, the edit may be elsewhere than the caller wants it. In a language without symbols, the
        // lines that the caller gave still restrict it.
        if nearest.is_none() && search.lines.is_some() {
            return error.with_next(without_symbol());
        }
        let (first, last) = self.span_lines(&place);
        error.with_next_if(NextCall::read_around(first, last, self.buffer.lines().count()))
    }

    /// Returns true if a literal search has exactly one match in the lines of a symbol, and the symbol can be selected.
    fn occurs_once_in(&self, search: &Search, symbol: &str, outline: &Outline) -> bool {
        let spans = outline.spans(symbol);
        let [span] = spans.as_slice() else { return false };
        let Some((first, last)) = self.shared_lines(span) else { return false };
        outline.sharing_lines(symbol, self.buffer.view()).is_none()
            && self.only_match(search, self.buffer.lines().block(first, last)).is_some()
    }

    /// Returns the match of a literal search in a range of the view, if it has exactly one.
    fn only_match(&self, search: &Search, range: Range<usize>) -> Option<Range<usize>> {
        let Needle::Literal(needle) = &search.needle else { return None };
        let needle = needle.replace("\r\n", "\n");
        exact::only_occurrence(self.buffer.view(), range, &needle)
    }

    /// Returns the only one of several ranges of lines that has the text of a literal search.
    fn only_one_with_match(&self, search: &Search, ranges: &[(usize, usize)]) -> Option<(usize, usize)> {
        let Needle::Literal(needle) = &search.needle else { return None };
        let needle = needle.replace("\r\n", "\n");
        let (view, lines) = (self.buffer.view(), self.buffer.lines());
        let has_match = |(first, last): &&(usize, usize)| {
            exact::occurrences(view, lines.block(*first, *last), &needle).next().is_some()
        };
        let mut with_match = ranges.iter().filter(has_match);
        with_match.next().filter(|_| with_match.next().is_none()).copied()
    }

    /// Returns the first and the last line of a range of the view.
    fn span_lines(&self, span: &Range<usize>) -> (usize, usize) {
        self.buffer.lines().lines_at(span).into_inner()
    }

    /// Returns the first and the last line of a symbol that are in the window, if any are.
    fn shared_lines(&self, span: &Range<usize>) -> Option<(usize, usize)> {
        let (first, last) = self.span_lines(span);
        (first <= self.last && self.first <= last).then(|| (first.max(self.first), last.min(self.last)))
    }

    /// True if a match of the search may begin at this byte: the line that begins behind the last line end of the window is
    /// not part of it. A search of the whole text has an empty match there, as in CPython.
    pub(super) fn has_match(&self, start: usize) -> bool {
        let (end, view) = (self.bytes().end, self.buffer.view());
        start < end || end == view.len() && !(self.is_limited && view.ends_with('\n'))
    }

    fn narrow_to_symbol(self, search: &Search, symbol: &str) -> Result<Window<'a>, Error> {
        let Some(outline) = self.outline() else {
            let (noun, obstacle) = (self.context.noun, self.obstacle());
            let message = format!("the symbols of this {noun} cannot be read: it is {obstacle}");
            let hint = match search.lines {
                None => "narrow the search by lines, or quote more surrounding lines",
                Some(_) => "leave `within` out: the lines narrow the search",
            };
            let error = Error::new(Code::InvalidInput, message).field("within").hint(hint);
            return Err(self.with_other_symbol(search, None, error));
        };
        let spelled = spelled_in_code(symbol, self.context.language, &outline);
        let symbol = spelled.as_deref().unwrap_or(symbol);
        let spans = outline.spans(symbol);
        if let Some(shared) = outline.sharing_lines(symbol, self.buffer.view()) {
            let line = self.buffer.lines().line_at(shared.offset);
            let other = if shared.has_symbol { "symbols" } else { "text" };
            let message =
                format!("{symbol} shares line {line} with other {other}, but `within` selects whole lines");
            let hint = "quote more of the line instead";
            let error = Error::new(Code::InvalidInput, message).named_field("within").hint(hint);
            let extent = &shared.symbol.extent;
            let is_inside = |found: Range<usize>| extent.start <= found.start && found.end <= extent.end;
            let is_only = self.only_match(search, self.bytes()).is_some_and(is_inside);
            return Err(error.with_next_if(is_only.then(without_symbol)));
        }
        let mut found: Vec<(usize, usize)> =
            spans.iter().filter_map(|span| self.shared_lines(span)).collect();
        if found.len() > 1
            && let Some(only) = self.only_one_with_match(search, &found)
        {
            found = vec![only];
        }
        match (found.as_slice(), spans.first()) {
            ([], None) => {
                let paths = outline.paths();
                let nearest = nearest_all(symbol, paths.iter().copied());
                let error = unknown(symbol, self.context.noun, &outline, &paths, &nearest);
                Err(self.with_other_symbol(search, Some((&outline, &nearest)), error))
            }
            ([], Some(first)) => Err(self.outside(search, symbol, &spans, first)),
            ([(first, last)], _) => {
                let is_whole = spans.iter().any(|span| self.span_lines(span) == (*first, *last));
                let name = if is_whole {
                    format!("{symbol} (lines {first} to {last})")
                } else {
                    format!("lines {first} to {last} of {symbol}")
                };
                Ok(Window { first: *first, last: *last, name, ..self })
            }
            (several, _) => {
                let message = format!("{} symbols in {} are called {symbol}", several.len(), self.name);
                let places = several
                    .iter()
                    .take(MAX_MATCH_LINES)
                    .map(|(first, _)| self.evidence_line(*first, Some(&outline)));
                Err(Error::new(Code::AmbiguousMatch, message)
                    .field("within")
                    .places(places.collect())
                    .with_place_count(several.len())
                    .hint(format!(
                        "give its full path, or its number, as in `within: \"{}[1]\"`",
                        symbol.trim()
                    )))
            }
        }
    }

    /// Returns the error for a symbol that is outside of the searched lines, with the edit without one of the two if
    /// only that can be meant.
    fn outside(&self, search: &Search, symbol: &str, spans: &[Range<usize>], first: &Range<usize>) -> Error {
        let (start_line, end_line) = self.span_lines(first);
        let found = match spans.len() {
            1 => format!("{symbol} (lines {start_line} to {end_line}), which is"),
            count => format!("{symbol}, and all {count} symbols of that name are"),
        };
        let message = format!("`within` is {found} outside of {}", self.name);
        let is_in_symbol = spans.len() == 1 && self.only_match(search, first.clone()).is_some();
        let unset = match (is_in_symbol, self.only_match(search, self.bytes()).is_some()) {
            (true, false) => vec!["lines", "start_line", "end_line"],
            (false, true) => vec!["within"],
            (true, true) | (false, false) => Vec::new(),
        };
        let next = if unset.is_empty() {
            NextCall::read_around(start_line, end_line, self.buffer.lines().count())
        } else {
            Some(NextCall::Fields { set: Vec::new(), unset })
        };
        Error::new(Code::MatchNotFound, message)
            .named_field("within")
            .hint("leave out `within`, or the lines to search")
            .with_next_if(next)
    }

    /// Returns the outline of the whole text, if its language has one.
    pub(super) fn outline(&self) -> Option<Outline> {
        self.context.syntax.outline(self.context.language?, self.context.path, self.buffer.view())
    }

    /// Returns the reason that there is no outline.
    fn obstacle(&self) -> String {
        let Some(language) = self.context.language else { return "in an unknown language".to_owned() };
        match self.context.syntax.outline(language, self.context.path, "") {
            Some(_) => "too large or too deeply nested to parse".to_owned(),
            None => format!("in {language}"),
        }
    }

    /// Returns the outline only if it is quick to compute, to name the symbols of matches.
    pub(super) fn outline_if_small(&self) -> Option<Outline> {
        (self.buffer.view().len() <= QUICK_SIZE).then(|| self.outline()).flatten()
    }

    /// Returns a line as evidence for an error, with the symbol around it.
    pub(super) fn evidence_line(&self, line: usize, outline: Option<&Outline>) -> EvidenceLine {
        let start = self.buffer.lines().span(line).start;
        let symbol = outline.and_then(|outline| outline.selector(start));
        EvidenceLine { symbol, ..evidence_line(self.buffer, line) }
    }

    /// Returns the lines as bytes of the view.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.line_range().window()
    }

    /// Returns the lines as a range to locate a block in.
    pub(super) fn line_range(&self) -> LineRange<'a> {
        LineRange::new(self.buffer, self.first, self.last).with_language(
            self.context.language,
            self.context.path,
            self.context.syntax,
        )
    }
}

/// The words before a name where code defines a symbol.
static DEFINING_WORDS: WordList = WordList::new(
    "
    abstract async class const def default enum export final fn func function impl interface let mod module namespace
    object private protected pub public record static struct trait type unsafe var
    ",
);

/// Returns the name of a symbol that is spelled as in the code, such as `class Parser`, `## Usage` or `func (p *Parser) Parse`;
/// `None` if a symbol has the whole as its name, or none has the name behind such words.
fn spelled_in_code(symbol: &str, language: Option<&str>, outline: &Outline) -> Option<String> {
    let is_known = |name: &&str| !outline.spans(name).is_empty();
    let symbol = symbol.trim();
    if is_known(&symbol) {
        return None;
    }
    if language == Some("markdown") {
        let name = symbol.trim_start_matches('#').strip_prefix(' ')?.trim_start();
        return Some(name).filter(is_known).map(str::to_owned);
    }
    let mut name = symbol;
    while let Some((word, rest)) = name.split_once(char::is_whitespace)
        && DEFINING_WORDS.has(word)
    {
        name = rest.trim_start();
    }
    if name == symbol {
        return None;
    }
    let receiver = name.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let name = match receiver {
        Some((receiver, method)) => {
            let owner = receiver.rsplit([' ', '*']).next().unwrap_or_default();
            format!("{owner}.{}", method.trim_start())
        }
        None => name.to_owned(),
    };
    let head = name.split(['(', '<', '{']).next().unwrap_or_default().trim_end().trim_end_matches(':');
    let is_numbered = head.len() < name.len() && name.ends_with(']');
    Some(head).filter(|_| !is_numbered).filter(is_known).map(str::to_owned)
}

/// Returns the same edit without `within`.
fn without_symbol() -> NextCall {
    NextCall::Fields { set: Vec::new(), unset: vec!["within"] }
}

/// Returns the error for a name that no symbol has, with the names that there are.
fn unknown(symbol: &str, noun: &str, outline: &Outline, paths: &[&str], nearest: &[&str]) -> Error {
    let message = format!("no symbol in the {noun} is called {symbol:?}");
    if let Some((name, _)) = Outline::numbered(symbol)
        && let count @ 1.. = outline.highest_number(name)
    {
        let hint = match count {
            1 => format!("there is only one {name}; leave out the number"),
            _ => format!("there are {count} symbols called {name}; give a number from 1 to {count}"),
        };
        return Error::new(Code::MatchNotFound, message).field("within").hint(hint);
    }
    let message = match nearest {
        [] => message,
        nearest => format!("{message}; did you mean {}?", listed(nearest, " or ", outline)),
    };
    let (shown, more) = paths.split_at(paths.len().min(NAMES));
    let hint = match (shown, more.len()) {
        ([], _) => "there are none".to_owned(),
        ([only], _) if outline.spans(only).len() == 1 => {
            format!("there is only {}", listed(&[only], "", outline))
        }
        (several, 0) => format!("there are {}", listed(several, ", ", outline)),
        (several, more) => format!("there are {} and {more} more", listed(several, ", ", outline)),
    };
    Error::new(Code::MatchNotFound, message).field("within").hint(hint)
}

/// Joins names, of which those with a comma are in quotation marks. A name of several symbols is listed with its numbers,
/// because it selects none of them alone.
fn listed(names: &[&str], separator: &str, outline: &Outline) -> String {
    let quoted = |name: String| if name.contains(',') { format!("{name:?}") } else { name };
    let selectors = |name: &&str| {
        let numbered = |number: usize| quoted(format!("{name}[{number}]"));
        match (outline.spans(name).len(), outline.highest_number(name)) {
            (0 | 1, _) => quoted((*name).to_owned()),
            (_, 2) => [numbered(1), numbered(2)].join(separator),
            (_, last) => format!("{} to {}", numbered(1), numbered(last)),
        }
    };
    names.iter().map(selectors).collect::<Vec<_>>().join(separator)
}
