//! The symbols and comments of a text, as plain data.
//!
//! Invariant: symbols are in the order of the text, and any two of them are separate or nested.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::SymbolKind;

/// The symbols and comments of one text.
#[derive(Debug)]
pub struct Outline {
    symbols: Vec<OutlineEntry>,
    /// The paths of all symbols, concatenated; each symbol has its range.
    paths: String,
    /// The words of each comment, without its delimiters, in the order of the text.
    comments: Vec<Range<usize>>,
}

/// A symbol as an outline keeps it.
#[derive(Debug)]
pub struct OutlineEntry {
    /// From its first decorator or comment, and the blanks before that, to its own last byte.
    pub extent: Range<usize>,
    /// The whole lines of the extent.
    pub lines: Range<usize>,
    /// The range of its path in the concatenation of all paths.
    pub path: Range<usize>,
    /// The index of the enclosing symbol.
    pub enclosing: Option<usize>,
    /// The kind of the symbol.
    pub kind: SymbolKind,
    /// Its ability to contain others.
    pub rank: SymbolRank,
    /// The range of its name.
    pub name: Range<usize>,
    /// The start of its declaration, and the start of its body or else its own last byte.
    pub head: Range<usize>,
}

/// The ability of a symbol to contain others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolRank {
    /// It can contain symbols. These belong to no symbol around it.
    Major,
    /// It contains none, and only names its lines.
    Minor,
}

/// A symbol of an outline.
#[derive(Debug, Clone)]
pub struct OutlineSymbol<'o> {
    /// Its path, as in `Class.method`.
    pub path: &'o str,
    /// The kind of the symbol.
    pub kind: SymbolKind,
    /// The index of the enclosing symbol.
    pub enclosing: Option<usize>,
    /// The range of its name.
    pub name: Range<usize>,
    /// The range from its first decorator or comment to its own last byte.
    pub extent: Range<usize>,
    /// The range from its declaration to its body, or to its end.
    pub head: Range<usize>,
}

impl Outline {
    /// Builds an outline from its parts; `paths` is the concatenation of the symbols' paths. A range that is outside of
    /// its text is taken as empty.
    pub fn new(symbols: Vec<OutlineEntry>, paths: String, comments: Vec<Range<usize>>) -> Outline {
        Outline { symbols, paths, comments }
    }

    /// The symbols as they are kept, in the order of the text.
    pub fn entries(&self) -> &[OutlineEntry] {
        &self.symbols
    }

    /// The words of each comment, without its delimiters, in the order of the text.
    pub fn comments(&self) -> &[Range<usize>] {
        &self.comments
    }

    /// Returns every symbol, including minor ones, in the order of the text.
    pub fn symbols(&self) -> impl Iterator<Item = OutlineSymbol<'_>> {
        self.symbols.iter().map(|symbol| OutlineSymbol {
            path: self.path(symbol),
            kind: symbol.kind,
            enclosing: symbol.enclosing,
            name: symbol.name.clone(),
            extent: symbol.extent.clone(),
            head: symbol.head.clone(),
        })
    }

    /// Returns the path of the innermost symbol around an offset, as in `Class.method`. A symbol includes the lines
    /// of its decorators and comments, and the blanks before it.
    pub fn enclosing(&self, offset: usize) -> Option<&str> {
        self.symbol_around(offset).map(|symbol| self.path(symbol))
    }

    /// Returns the name that selects the innermost symbol around an offset: its path, with its number from 1 if
    /// several symbols have that path, as in `package[2]` for a table of an array.
    pub fn selector(&self, offset: usize) -> Option<String> {
        let symbol = self.symbol_around(offset)?;
        let path = self.path(symbol);
        let spans = self.spans(path);
        let at = spans.iter().position(|span| *span == symbol.lines)?;
        Some(if spans.len() == 1 { path.to_owned() } else { format!("{path}[{}]", at + 1) })
    }

    /// Returns the path and the number of a selector such as `package[2]`; `None` for one without a number.
    pub fn numbered(selector: &str) -> Option<(&str, NonZeroUsize)> {
        let (name, number) = selector.trim().strip_suffix(']')?.rsplit_once('[')?;
        Some((name, number.parse().ok()?))
    }

    fn symbol_around(&self, offset: usize) -> Option<&OutlineEntry> {
        let before = self.symbols.partition_point(|symbol| symbol.extent.start <= offset);
        let mut around = before.checked_sub(1);
        while let Some(symbol) = self.symbols.get(around?) {
            if offset < symbol.extent.end && symbol.rank == SymbolRank::Major {
                return Some(symbol);
            }
            around = symbol.enclosing;
        }
        None
    }

    /// Returns the lines of every symbol of that name, with the decorators, attributes and comments directly above
    /// it. The name is a full path or, if no symbol has that path, the last parts of one. In either case symbols that
    /// can contain others precede those that cannot, for example a method before a field. `::` and `#` are equivalent
    /// to `.`, and a final `()` is ignored. A final number selects one of several symbols of a path, as in `package[2]`,
    /// unless a symbol has that name.
    pub fn spans(&self, name: &str) -> Vec<Range<usize>> {
        let lines = |(_, symbol): (usize, &OutlineEntry)| symbol.lines.clone();
        let mut spans: Vec<Range<usize>> = self.find(name).into_iter().map(lines).collect();
        spans.dedup();
        spans
    }

    /// Returns the first symbol of that name that shares its lines with other text, except for trailing punctuation, or
    /// with another symbol that is neither around it nor inside it.
    pub fn sharing_lines(&self, name: &str, view: &str) -> Option<&OutlineEntry> {
        let mut found = self.find(name).into_iter();
        found.find(|symbol| !self.has_own_lines(*symbol, view)).map(|(_, symbol)| symbol)
    }

    /// Returns the symbols that [`Outline::spans`] finds, each with its index.
    fn find(&self, name: &str) -> Vec<(usize, &OutlineEntry)> {
        let found = self.find_path(name);
        match Outline::numbered(name).filter(|_| found.is_empty()) {
            None => found,
            Some((name, number)) => {
                let found = self.find_path(name);
                let mut spans = found.chunk_by(|(_, one), (_, next)| one.lines == next.lines);
                spans.nth(number.get() - 1).unwrap_or_default().to_vec()
            }
        }
    }

    fn find_path(&self, name: &str) -> Vec<(usize, &OutlineEntry)> {
        let name = folded(name.trim().trim_end_matches("()"));
        let mut found: [Vec<(usize, &OutlineEntry)>; 4] = Default::default();
        let [whole, whole_minor, parts, parts_minor] = &mut found;
        let last = name.rsplit('.').next().unwrap_or_default();
        for (at, symbol) in self.symbols.iter().enumerate() {
            let path = self.path(symbol);
            if name.is_empty() || !path.ends_with(last) {
                continue;
            }
            let (whole, parts) = match symbol.rank {
                SymbolRank::Major => (&mut *whole, &mut *parts),
                SymbolRank::Minor => (&mut *whole_minor, &mut *parts_minor),
            };
            match folded(path).strip_suffix(name.as_str()) {
                Some("") => whole.push((at, symbol)),
                Some(before) if before.ends_with('.') => parts.push((at, symbol)),
                Some(_) | None => {}
            }
        }
        found.into_iter().find(|symbols| !symbols.is_empty()).unwrap_or_default()
    }

    fn has_own_lines(&self, (at, symbol): (usize, &OutlineEntry), view: &str) -> bool {
        let OutlineEntry { lines, extent, .. } = symbol;
        let text = |range: Range<usize>| view.get(range).unwrap_or_default();
        let symbols = || self.symbols.iter().enumerate();
        let earlier = symbols().take(at).rev().take_while(|(_, other)| lines.start < other.lines.end);
        let later = symbols().skip(at + 1).take_while(|(_, other)| other.extent.start < lines.end);
        let others = earlier.chain(later).filter(|(_, other)| lines.contains(&other.name.start));
        let (around, others): (Vec<_>, Vec<_>) = others.partition(|other| self.is_part((at, symbol), *other));
        let before = text(lines.start..extent.start);
        // A comment at the end belongs to the line.
        let is_code = |at: usize| !self.in_comment(at..at + 1);
        let behind = || text(extent.end..lines.end).char_indices().filter(|(at, _)| is_code(extent.end + at));
        let is_alone = before.trim().is_empty() && !behind().any(|(_, letter)| letter.is_alphanumeric());
        // In C, keywords and the declared names may be around a type: `typedef struct node { ... } node_t, *list_t;`.
        let is_declarator =
            |letter: char| letter.is_alphanumeric() || letter.is_whitespace() || "_*,[];/".contains(letter);
        let is_type = before.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_whitespace())
            && around.iter().any(|(_, other)| extent.end <= other.name.start)
            && behind().all(|(_, letter)| is_declarator(letter));
        (is_alone || is_type) && others.into_iter().all(|other| self.is_part(other, (at, symbol)))
    }

    /// Returns true if a symbol is inside another one: a member, or in the declaration of a minor symbol.
    fn is_part(&self, (_, part): (usize, &OutlineEntry), (at, whole): (usize, &OutlineEntry)) -> bool {
        let above = |symbol: &usize| self.symbols.get(*symbol)?.enclosing;
        let is_member = || std::iter::successors(part.enclosing, above).any(|around| around == at);
        let (inner, outer) = (&part.extent, &whole.extent);
        let is_inside = outer.start <= inner.start && inner.end <= outer.end && inner != outer;
        whole.rank == SymbolRank::Minor && is_inside || is_member()
    }

    /// Returns the path of every symbol that can contain others, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().filter(|symbol| symbol.rank == SymbolRank::Major).map(|symbol| self.path(symbol))
    }

    /// Returns true if a span is inside the words of one comment, not including its delimiters.
    pub fn in_comment(&self, span: Range<usize>) -> bool {
        let before = self.comments.partition_point(|words| words.start <= span.start);
        let words = before.checked_sub(1).and_then(|last| self.comments.get(last));
        words.is_some_and(|words| span.start <= span.end && span.end <= words.end)
    }

    fn path(&self, symbol: &OutlineEntry) -> &str {
        self.paths.get(symbol.path.clone()).unwrap_or_default()
    }
}

/// Returns a name with `.` as the only separator of its parts.
fn folded(name: &str) -> String {
    name.replace("::", ".").replace('#', ".").trim_start_matches('.').to_owned()
}
