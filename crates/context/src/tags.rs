//! The tags of one text: the symbols that it defines, and the names that it uses.

use std::collections::HashSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::doc;
use super::line_starts::{LineStarts, small};
use super::unparsed_names::with_unparsed_names;
use super::use_context::UseContext;
use super::uses::{Uses, uses};
use super::words::words;
use lockgate_syntax::{self as grammar, LargeStack, TagRole};
use lockgate_text::{Outline, SymbolKind, SymbolRank};

/// The step limit for one text, the same as that of an outline.
const STEPS: usize = 500_000;
/// The maximum number of words indexed per symbol.
const MAX_WORDS: usize = 24;

/// The tags of a text.
#[derive(Debug)]
pub struct Tags {
    /// The language in which it was parsed.
    pub language: &'static str,
    /// The symbols that it defines, in text order.
    pub definitions: Vec<Tag>,
    /// The number of lines in the text.
    pub lines: u32,
    /// Set when its uses are known as well.
    pub whole: bool,
    /// The same symbols, by which a name is found.
    pub(super) outline: Outline,
    pub(super) uses: Uses,
    /// The names that it provides without defining them: aliases, names that it exports for something
    /// else, and, outside functions, targets of loops and patterns.
    pub(super) bound: HashSet<String>,
    /// The names of its own symbols that it exports apart from their definitions.
    pub(super) exported: HashSet<String>,
}

/// A symbol and its definition.
#[derive(Debug, Clone)]
pub struct Tag {
    /// Its name relative to the symbol around it.
    pub part: String,
    /// The kind of symbol, such as a function or a class.
    pub kind: SymbolKind,
    /// Its ability to contain others.
    pub rank: SymbolRank,
    /// The index of the symbol around it.
    pub around: Option<usize>,
    /// The lines of the symbol and the offsets of its parts.
    pub location: SymbolLocation,
    /// The words of its name, its signature and its doc; those of the name come first.
    pub words: Vec<String>,
    /// The number of words that belong to the name.
    pub own_words: usize,
}

impl Tag {
    /// Returns the last part of its name.
    pub(super) fn name(&self) -> &str {
        self.part.rsplit('.').next().unwrap_or(&self.part)
    }
}

/// The location of a symbol: lines from 1, and byte offsets in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolLocation {
    /// The line with its name.
    pub line: u32,
    /// The first line, which may be that of a decorator or comment.
    pub first: u32,
    /// The last line of the symbol, inclusive.
    pub last: u32,
    /// The offset where its declaration begins.
    pub head: u32,
    /// The offset where its declaration ends, and its body begins if it has one.
    pub body: u32,
}

impl Tags {
    /// Returns the names that the text defines, in the order of its definitions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(Tag::name)
    }

    /// True if the text imports this name, or binds it without a definition.
    pub(super) fn brings_in(&self, name: &str) -> bool {
        let start = format!("+{name}<");
        let import = self.uses.range(start.clone()..).next();
        import.is_some_and(|(key, _)| key.starts_with(&start)) || self.bound.contains(name)
    }
}

/// Reads the tags of many texts, on a stack that is large enough for each.
#[derive(Debug)]
pub struct TagReader<'d>(&'d LargeStack);

/// Runs work with a reader on a thread of its own, and waits for it.
///
/// Errors: the message, if the work panicked or the stack cannot be allocated.
pub fn reading<T: Send>(work: impl FnOnce(&TagReader<'_>) -> T + Send) -> Result<T, String> {
    grammar::with_large_stack(|deep| work(&TagReader(deep)))
}

impl TagReader<'_> {
    /// Returns the tags of a text; `None` if its language has no grammar or the text cannot be parsed
    /// safely.
    pub fn tags(&self, language: &str, path: &str, view: &str) -> Option<Tags> {
        // A panic of a grammar loses only this text.
        catch_unwind(AssertUnwindSafe(|| tags(self.0, language, path, view))).ok().flatten()
    }
}

fn tags(deep: &LargeStack, language: &str, path: &str, view: &str) -> Option<Tags> {
    let known = grammar::find(language)?.language;
    let memory = grammar::allowed_beside_symbols(view);
    let tree = grammar::read_on(deep, memory, language, path, view, STEPS).ok()?;
    let outline = grammar::outline_of_tree(language, &tree, view)?;
    let roles =
        grammar::uses(deep, language, &tree, view, STEPS).map(|roles| with_unparsed_names(view, roles));
    let line_starts = LineStarts::new(view);
    let uses =
        roles.as_ref().map(|roles| uses(&UseContext::new(language, view, roles, &line_starts, &outline)));
    let whole = uses.is_ok();
    let bound = roles.as_deref().map(|roles| bound(view, roles)).unwrap_or_default();
    let exported = roles.as_deref().map(|roles| exported(view, roles)).unwrap_or_default();
    Some(Tags {
        language: known,
        definitions: definitions(&outline, view, &line_starts, language),
        lines: line_starts.count,
        whole,
        outline,
        uses: uses.unwrap_or_default(),
        bound,
        exported,
    })
}

/// Collects the names that are bound outside all functions, and the names of imports and exports that
/// stand for other symbols.
fn bound(view: &str, roles: &[(TagRole, Range<usize>)]) -> HashSet<String> {
    let (mut names, mut scope_end) = (HashSet::new(), 0);
    for (role, span) in roles {
        let is_outside = span.start >= scope_end;
        match role {
            TagRole::Scope if is_outside => scope_end = span.end,
            TagRole::Alias | TagRole::Provided => names.extend(view.get(span.clone()).map(str::to_owned)),
            TagRole::Local if is_outside => names.extend(view.get(span.clone()).map(str::to_owned)),
            _ => {}
        }
    }
    names
}

/// Collects the names of the text's own symbols that it exports apart from their definitions.
fn exported(view: &str, roles: &[(TagRole, Range<usize>)]) -> HashSet<String> {
    let names = roles.iter().filter(|(role, _)| *role == TagRole::Exported);
    names.filter_map(|(_, span)| view.get(span.clone())).map(str::to_owned).collect()
}

fn definitions(outline: &Outline, view: &str, line_starts: &LineStarts, language: &str) -> Vec<Tag> {
    let paths: Vec<&str> = outline.symbols().map(|symbol| symbol.path).collect();
    let tag = |symbol: lockgate_text::OutlineSymbol<'_>| {
        let around = symbol.enclosing.and_then(|around| paths.get(around));
        let below = around.and_then(|around| symbol.path.strip_prefix(around)?.strip_prefix('.'));
        let part = below.unwrap_or(symbol.path).to_owned();
        let place = SymbolLocation {
            line: line_starts.line(symbol.name.start),
            first: line_starts.line(first_of(view, &symbol.extent)),
            last: line_starts.line(symbol.extent.end.saturating_sub(1).max(symbol.extent.start)),
            head: small(symbol.head.start),
            body: small(symbol.head.end),
        };
        let mut found: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            for word in words(text) {
                if found.len() < MAX_WORDS && !found.contains(&word) {
                    found.push(word);
                }
            }
            found.len()
        };
        let own_words = add(&part);
        if symbol.kind.is_code() {
            add(&doc::doc(view, &symbol.extent, &symbol.head, language).unwrap_or_default());
            add(&doc::signature(view, &symbol.head, symbol.kind));
        }
        Tag {
            part,
            kind: symbol.kind,
            rank: symbol.rank,
            around: symbol.enclosing,
            location: place,
            words: found,
            own_words,
        }
    };
    outline.symbols().map(tag).collect()
}

/// Returns the offset of the first byte of an extent that is not white space.
fn first_of(view: &str, extent: &Range<usize>) -> usize {
    let text = view.get(extent.clone()).unwrap_or_default();
    extent.start + (text.len() - text.trim_start().len())
}

/// True for the variables and fields, which contain no other symbols, and which a shortened outline loses first.
pub(super) const fn is_minor(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Variant)
}

/// True for functions, types and the like.
pub(super) const fn is_function_or_type(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Trait
            | SymbolKind::Interface
            | SymbolKind::Type
            | SymbolKind::Macro
    )
}
