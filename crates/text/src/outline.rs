//! The symbols and comments of a text, as plain data.
//!
//! Invariant: symbols are in the order of the text, and any two of them are separate or nested.

use std::collections::HashSet;
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

/// A place where a symbol shares a line with something else.
#[derive(Debug, Clone, Copy)]
pub struct SharedLine<'o> {
    /// The symbol.
    pub symbol: &'o OutlineEntry,
    /// An offset of the other text, on the shared line.
    pub offset: usize,
    /// True if the name of another symbol is on that line.
    pub has_symbol: bool,
}

/// The part of a path that a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathPart {
    Whole,
    /// The names of its last symbols.
    Last,
    /// The same, but of the first of these names only the end, as `b` of `a.b`, or one selector of a style sheet's rule.
    NameEnd,
}

/// A symbol, with its index.
type IndexedEntry<'o> = (usize, &'o OutlineEntry);

/// The symbols that a name may mean, by precedence: those with that path, and then those with these last parts of a
/// path. Both times the symbols that can contain others precede those that cannot, and whole names precede ends of
/// names.
#[derive(Debug, Default)]
struct FoundSymbols<'o> {
    whole: [Vec<IndexedEntry<'o>>; 2],
    last: [Vec<IndexedEntry<'o>>; 4],
}

impl<'o> FoundSymbols<'o> {
    fn lists(&self) -> impl Iterator<Item = &Vec<IndexedEntry<'o>>> {
        self.whole.iter().chain(&self.last)
    }

    fn is_empty(&self) -> bool {
        self.lists().all(Vec::is_empty)
    }
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
    /// Its ability to contain others.
    pub rank: SymbolRank,
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
        self.symbols.iter().map(|symbol| self.symbol(symbol))
    }

    /// Returns the path of the innermost symbol around an offset, as in `Class.method`. A symbol includes the lines
    /// of its decorators and comments, and the blanks before it.
    pub fn enclosing(&self, offset: usize) -> Option<&str> {
        self.symbol_around(offset).map(|symbol| self.path(symbol))
    }

    /// Returns the name that selects the innermost symbol around an offset: its path, with its number from 1 if
    /// several symbols have that path, as in `package[2]` for a table of an array. `None` if that is the name of another
    /// symbol.
    pub fn selector(&self, offset: usize) -> Option<String> {
        let symbol = self.symbol_around(offset)?;
        let path = self.path(symbol);
        let spans = self.spans(path);
        let at = spans.iter().position(|span| *span == symbol.lines)?;
        if spans.len() == 1 {
            return Some(path.to_owned());
        }
        let selector = format!("{path}[{}]", at + 1);
        (self.spans(&selector).as_slice() == [symbol.lines.clone()]).then_some(selector)
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
    /// can contain others precede those that cannot, for example a method before a field. Among these, the end of a
    /// name with dots counts only if it is no whole name, as `b` of `a.b`.
    ///
    /// In a style sheet, a selector is the name of the rules that list it, unless a rule has it alone.
    ///
    /// If no symbol has the name as it is, a final `()` is ignored; then, in code, `::` and `#` are equivalent to `.`,
    /// and in markup `#id` is the element with that `id`.
    ///
    /// A final number selects one of several symbols of a path, as in `package[2]`, unless a symbol has that name. It
    /// counts the symbols that can contain others, and then those that cannot.
    pub fn spans(&self, name: &str) -> Vec<Range<usize>> {
        let lines = |(_, symbol): IndexedEntry<'_>| symbol.lines.clone();
        let mut spans: Vec<Range<usize>> = self.find(name).into_iter().map(lines).collect();
        spans.dedup();
        spans
    }

    /// Returns the symbols whose lines [`Outline::spans`] returns, in its order, each with its index among all symbols.
    pub fn named(&self, name: &str) -> impl Iterator<Item = (usize, OutlineSymbol<'_>)> {
        self.find(name).into_iter().map(|(at, symbol)| (at, self.symbol(symbol)))
    }

    /// Returns the first symbol of that name that shares its lines with other text, except for trailing punctuation and
    /// the marks of list items, or with another symbol that is neither around it nor inside it.
    pub fn sharing_lines(&self, name: &str, view: &str) -> Option<SharedLine<'_>> {
        self.find(name).into_iter().find_map(|symbol| self.shared_line(symbol, view))
    }

    /// Returns the highest number that selects a symbol of that name, 0 if there is none.
    pub fn highest_number(&self, name: &str) -> usize {
        by_lines(&self.numbered_symbols(name)).count()
    }

    /// Returns the symbols that [`Outline::spans`] finds.
    fn find(&self, name: &str) -> Vec<IndexedEntry<'_>> {
        let found = self.find_path(name);
        let Some((name, number)) = Outline::numbered(name).filter(|_| found.is_empty()) else {
            return found.lists().find(|symbols| !symbols.is_empty()).cloned().unwrap_or_default();
        };
        by_lines(&self.numbered_symbols(name)).nth(number.get() - 1).unwrap_or_default().to_vec()
    }

    /// Returns the symbols of that name that have a number, in its order.
    fn numbered_symbols(&self, name: &str) -> Vec<IndexedEntry<'_>> {
        let FoundSymbols { whole, last } = self.find_path(name);
        let found = [whole.concat(), last.concat()];
        found.into_iter().find(|symbols| !symbols.is_empty()).unwrap_or_default()
    }

    /// Returns the symbols that a name without a number may mean. The name as it is takes precedence over other forms
    /// of it.
    fn find_path(&self, name: &str) -> FoundSymbols<'_> {
        let names = [name.trim(), name.trim().trim_end_matches("()")];
        let literal = |name: &&str| self.find_by(|symbol| self.literal_part(symbol, name));
        let folded = |name: &&str| {
            let folded_name = folded(name);
            self.find_by(|symbol| match symbol.kind {
                SymbolKind::Element => self.literal_part(symbol, name.strip_prefix('#')?),
                kind if kind.is_code() => self.folded_part(symbol, &folded_name),
                _ => None,
            })
        };
        let found = names.iter().find_map(literal).or_else(|| names.iter().find_map(folded));
        found.unwrap_or_default()
    }

    /// Returns the symbols for which a function returns a part of their path; `None` if there are none.
    fn find_by(&self, part: impl Fn(&OutlineEntry) -> Option<PathPart>) -> Option<FoundSymbols<'_>> {
        let mut found = FoundSymbols::default();
        let [whole, whole_minor] = &mut found.whole;
        let [last, name_end, last_minor, name_end_minor] = &mut found.last;
        for (at, symbol) in self.symbols.iter().enumerate() {
            let list = match (part(symbol), symbol.rank) {
                (None, _) => continue,
                (Some(PathPart::Whole), SymbolRank::Major) => &mut *whole,
                (Some(PathPart::Whole), SymbolRank::Minor) => &mut *whole_minor,
                (Some(PathPart::Last), SymbolRank::Major) => &mut *last,
                (Some(PathPart::Last), SymbolRank::Minor) => &mut *last_minor,
                (Some(PathPart::NameEnd), SymbolRank::Major) => &mut *name_end,
                (Some(PathPart::NameEnd), SymbolRank::Minor) => &mut *name_end_minor,
            };
            list.push((at, symbol));
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns the part of a symbol's path that a name is, as it is.
    fn literal_part(&self, symbol: &OutlineEntry, name: &str) -> Option<PathPart> {
        let Some(before) = self.path(symbol).strip_suffix(name).filter(|_| !name.is_empty()) else {
            return self.is_selector(symbol, name).then_some(PathPart::NameEnd);
        };
        if before.is_empty() {
            return Some(PathPart::Whole);
        }
        let above = |around: &&OutlineEntry| self.symbols.get(around.enclosing?);
        let mut around = std::iter::successors(Some(symbol), above).skip(1);
        if around.any(|around| around.path.len() + 1 == before.len()) {
            return Some(PathPart::Last);
        }
        // A name may be dotted, as `a.b` in TOML. But a dot at its start is no separator, and in a style sheet none is.
        if symbol.kind == SymbolKind::Rule {
            return self.is_selector(symbol, name).then_some(PathPart::NameEnd);
        }
        let start = before.strip_suffix('.')?;
        let is_name = start.ends_with(|last: char| last != '.' && !last.is_whitespace());
        is_name.then_some(PathPart::NameEnd)
    }

    /// Returns true if a symbol is a rule of a style sheet, and a name is one of its selectors.
    fn is_selector(&self, symbol: &OutlineEntry, name: &str) -> bool {
        if symbol.kind != SymbolKind::Rule || name.is_empty() {
            return false;
        }
        let around = symbol.enclosing.and_then(|around| self.symbols.get(around));
        let start = around.map_or(0, |around| around.path.len() + 1);
        self.path(symbol).get(start..).is_some_and(|own| selectors(own).any(|selector| selector == name))
    }

    /// Returns the part of a symbol's path that a name is, with `.` as the only separator in both.
    fn folded_part(&self, symbol: &OutlineEntry, name: &str) -> Option<PathPart> {
        let path = self.path(symbol);
        let last = name.rsplit('.').next().unwrap_or_default();
        if name.is_empty() || !path.ends_with(last) {
            return None;
        }
        match folded(path).strip_suffix(name)? {
            "" => Some(PathPart::Whole),
            before => before.ends_with('.').then_some(PathPart::Last),
        }
    }

    /// Returns the line that a symbol shares with something else; `None` if its lines are its own.
    fn shared_line<'o>(&'o self, (at, symbol): IndexedEntry<'o>, view: &str) -> Option<SharedLine<'o>> {
        let OutlineEntry { lines, extent, .. } = symbol;
        let text = |range: Range<usize>| view.get(range).unwrap_or_default();
        let symbols = || self.symbols.iter().enumerate();
        let earlier = symbols().take(at).rev().take_while(|(_, other)| lines.start < other.lines.end);
        let later = symbols().skip(at + 1).take_while(|(_, other)| other.extent.start < lines.end);
        let others = earlier.chain(later).filter(|(_, other)| lines.contains(&other.name.start));
        let (around, others): (Vec<_>, Vec<_>) = others.partition(|other| self.is_part((at, symbol), *other));
        let separate: Vec<_> =
            others.into_iter().filter(|other| !self.is_part(*other, (at, symbol))).collect();
        let before = text(lines.start..extent.start);
        // The first key of a list item in YAML has the mark of the item before it.
        let is_item = symbol.kind == SymbolKind::Key && before.split_whitespace().all(|mark| mark == "-");
        let text_before = (!before.trim().is_empty() && !is_item)
            .then(|| lines.start + before.len() - before.trim_start().len());
        // A comment at the end belongs to the line.
        let is_code = |at: usize| !self.in_comment(at..at + 1);
        let behind = || text(extent.end..lines.end).char_indices().filter(|(at, _)| is_code(extent.end + at));
        let text_behind =
            || behind().find(|(_, letter)| letter.is_alphanumeric()).map(|(at, _)| extent.end + at);
        // In C, keywords and the declared names may be around a type: `typedef struct node { ... } node_t, *list_t;`.
        let is_declarator =
            |letter: char| letter.is_alphanumeric() || letter.is_whitespace() || "_*,[];/".contains(letter);
        let is_type = before.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_whitespace())
            && around.iter().any(|(_, other)| extent.end <= other.name.start)
            && behind().all(|(_, letter)| is_declarator(letter));
        let other_text = text_before.or_else(text_behind).filter(|_| !is_type);
        let offset = other_text.or_else(|| Some(separate.first()?.1.name.start))?;
        let line_start = text(0..offset).rfind('\n').map_or(0, |end| end + 1);
        let line = line_start..text(offset..view.len()).find('\n').map_or(view.len(), |end| offset + end);
        let has_symbol = around.iter().chain(&separate).any(|(_, other)| line.contains(&other.name.start));
        Some(SharedLine { symbol, offset, has_symbol })
    }

    /// Returns true if a symbol is inside another one: a member, or in the declaration of a minor symbol.
    fn is_part(&self, (_, part): IndexedEntry<'_>, (at, whole): IndexedEntry<'_>) -> bool {
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

    /// Returns the path of every symbol, each once: first of those that can contain others, then of those that cannot.
    pub fn paths(&self) -> Vec<&str> {
        let of_rank = |rank| self.symbols.iter().filter(move |symbol| symbol.rank == rank);
        let mut known = HashSet::new();
        let ranked = of_rank(SymbolRank::Major).chain(of_rank(SymbolRank::Minor));
        ranked.map(|symbol| self.path(symbol)).filter(|path| known.insert(*path)).collect()
    }

    /// Returns true if a name is the path of a symbol but for a typing error in some of its words, and cannot be meant as
    /// it is.
    ///
    /// A name that the text has is no error: `Cat.speak` does not mean `Dog.speak` if there is a `Cat`. Neither is another
    /// digit or sign, another first letter, a short word, or a plural: `get_name` and `set_name`, `log_in` and `log_on`,
    /// and `load_user` and `load_users` may be two functions.
    pub fn is_misspelling(name: &str, path: &str, view: &str) -> bool {
        let signs = |text: &str| text.chars().filter(|sign| !sign.is_alphabetic()).collect::<String>();
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|letter: char| !letter.is_alphabetic());
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let (own, others) = (words(name), words(path));
        let mut pairs = own.iter().zip(&others);
        let mut parts = name.split(['.', ':', '#']).zip(path.split(['.', ':', '#']));
        signs(name.trim()) == signs(path)
            && own.len() == others.len()
            && pairs.all(|(word, other)| word == other || is_typing_error(word, other))
            && parts.all(|(part, other)| part == other || !has_word(view, part))
    }

    /// Returns true if a span is inside the words of one comment, not including its delimiters.
    pub fn in_comment(&self, span: Range<usize>) -> bool {
        let before = self.comments.partition_point(|words| words.start <= span.start);
        let words = before.checked_sub(1).and_then(|last| self.comments.get(last));
        words.is_some_and(|words| span.start <= span.end && span.end <= words.end)
    }

    fn symbol(&self, symbol: &OutlineEntry) -> OutlineSymbol<'_> {
        OutlineSymbol {
            path: self.path(symbol),
            kind: symbol.kind,
            enclosing: symbol.enclosing,
            name: symbol.name.clone(),
            extent: symbol.extent.clone(),
            head: symbol.head.clone(),
            rank: symbol.rank,
        }
    }

    fn path(&self, symbol: &OutlineEntry) -> &str {
        self.paths.get(symbol.path.clone()).unwrap_or_default()
    }
}

/// Groups neighbours that have the same lines.
fn by_lines<'s, 'o>(symbols: &'s [IndexedEntry<'o>]) -> impl Iterator<Item = &'s [IndexedEntry<'o>]> {
    symbols.chunk_by(|(_, one), (_, next)| one.lines == next.lines)
}

/// Returns true if a word is another one with one typing error behind its first letter.
fn is_typing_error(word: &str, other: &str) -> bool {
    /// The length of the words from which one letter seldom makes another word.
    const SHORTEST: usize = 4;
    let is_plural = word.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(word);
    !is_plural
        && word.chars().count().min(other.chars().count()) >= SHORTEST
        && word.chars().next() == other.chars().next()
        && strsim::osa_distance(word, other) == 1
}

/// Returns true if a text has a word that is no part of a longer one.
fn has_word(view: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    view.match_indices(word).any(|(at, _)| {
        let before = view.get(..at).and_then(|before| before.chars().next_back());
        let behind = view.get(at + word.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// Returns the selectors of a rule in a style sheet: its name has commas between them, but for those in parentheses,
/// brackets and quotes.
fn selectors(name: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote) = (0_usize, None);
    let is_between = move |letter: char| {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(' | '[', None) => depth += 1,
            (')' | ']', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0 && quote.is_none()
    };
    name.split(is_between).map(str::trim)
}

/// Returns a name with `.` as the only separator of its parts.
fn folded(name: &str) -> String {
    name.replace("::", ".").replace('#', ".").trim_start_matches('.').to_owned()
}
