//! Collects symbols and comments in one walk over a tree.

use std::ops::Range;

use super::comment::{describes_enclosing_item, words};
use super::kind::refine;
use super::minor::MinorNames;
use super::name::{self, NamedNode};
use super::part::{NodePart, NodeRole, parts};
use super::table::LanguageNodes;
use crate::{Node, Tree, WalkStep, walk};
use lockgate_text::{Outline, OutlineEntry, SymbolKind, SymbolRank};

/// The maximum nesting of symbols. Deeper ones belong to the symbol around them.
const MAX_LEVELS: usize = 64;
/// The maximum length of all paths together, in bytes.
const MAX_PATHS: usize = 32 << 20;
/// The maximum number of bytes of punctuation between a symbol's end and that of its wrapper.
const MAX_SIGNS: usize = 16;

/// Collects the symbols and comments of a tree; `None` if their paths are too long to store.
pub(super) fn gather(row: &'static LanguageNodes, tree: &Tree, view: &str) -> Option<Outline> {
    let parts = parts(row, tree);
    let mut gatherer = Gatherer::new(row, view);
    let mut fits = true;
    walk(tree, |node, level| {
        let part = parts.get(usize::from(node.kind_id())).copied().unwrap_or_default();
        fits = gatherer.paths.len() <= MAX_PATHS;
        if fits { gatherer.visit(node, level, part) } else { WalkStep::Stop }
    });
    fits.then(|| Outline::new(gatherer.symbols, gatherer.paths, gatherer.comments))
}

/// The state of the walk.
struct Gatherer<'a> {
    row: &'static LanguageNodes,
    view: &'a str,
    /// The offset of each line.
    starts: Vec<usize>,
    symbols: Vec<OutlineEntry>,
    /// The paths of all symbols, concatenated.
    paths: String,
    comments: Vec<Range<usize>>,
    /// The names of open nodes that are minor symbols, and that the walk has not reached, the last first.
    names: Vec<(NamedNode, SymbolKind)>,
    /// The enclosing symbols, each with its level in the tree.
    open: Vec<(usize, usize)>,
    wrappers: Vec<Wrapper>,
    /// Attributes and comments that may belong to the next symbol.
    leading: Option<Range<usize>>,
    /// The end of the last symbol.
    last_end: usize,
    /// The level of the enclosing body, whose declarations are local.
    body: Option<usize>,
}

/// A node that belongs to the symbol inside it.
struct Wrapper {
    span: Range<usize>,
    level: usize,
    /// Set until a declaration is found in it.
    is_empty: bool,
}

impl<'a> Gatherer<'a> {
    fn new(row: &'static LanguageNodes, view: &'a str) -> Gatherer<'a> {
        let line_ends = memchr::memchr_iter(b'\n', view.as_bytes()).map(|end| end + 1);
        Gatherer {
            row,
            view,
            starts: std::iter::once(0).chain(line_ends).collect(),
            symbols: Vec::new(),
            paths: String::new(),
            comments: Vec::new(),
            names: Vec::new(),
            open: Vec::new(),
            wrappers: Vec::new(),
            leading: None,
            last_end: 0,
            body: None,
        }
    }

    fn visit(&mut self, node: Node<'_>, level: usize, part: NodePart) -> WalkStep {
        // Headings have no nodes for the sections below them.
        if self.row.headings.is_empty() {
            self.leave(level);
        }
        let start = node.start_byte();
        while let Some((named_node, kind)) = self.names.pop_if(|(named_node, _)| named_node.at.start <= start)
        {
            self.minor(&named_node, kind, named_node.at.clone());
        }
        let next = self.process(node, level, part);
        if part.is_body && self.body.is_none() && !self.holds_declarations(node, level) {
            self.body = Some(level);
        }
        next
    }

    /// Returns true for the block of a TypeScript namespace or of `declare global`, whose declarations are not local.
    fn holds_declarations(&self, node: Node<'_>, level: usize) -> bool {
        let in_module = self.enclosing_kind() == Some(SymbolKind::Module)
            && self.open.last().is_some_and(|(_, opened)| opened + 1 == level);
        let in_wrapper = self.wrappers.last().is_some_and(|wrapper| wrapper.level + 1 == level);
        (in_module || in_wrapper) && node.kind() == "statement_block"
    }

    fn process(&mut self, node: Node<'_>, level: usize, part: NodePart) -> WalkStep {
        match part.role {
            NodeRole::None => self.minors(node, part.minor),
            NodeRole::Symbol(name, kind) => match name.find(node, self.view) {
                Some(named_node) => self.major(node, level, &named_node, kind),
                None => self.minors(node, part.minor),
            },
            NodeRole::Wrapper => {
                let span = self.widened(&self.span(node));
                self.wrappers.push(Wrapper { span, level, is_empty: true });
            }
            NodeRole::Attribute => self.lead(self.span(node)),
            NodeRole::Comment => self.comment(self.span(node)),
            NodeRole::Heading => self.heading(node),
            NodeRole::Opaque => {}
        }
        match part.role {
            NodeRole::None | NodeRole::Symbol(..) | NodeRole::Wrapper => WalkStep::Enter,
            NodeRole::Attribute | NodeRole::Comment | NodeRole::Heading | NodeRole::Opaque => WalkStep::Skip,
        }
    }

    /// Closes symbols that do not reach to this level of the tree.
    fn leave(&mut self, level: usize) {
        self.body = self.body.filter(|body| *body < level);
        while let Some((symbol, _)) = self.open.pop_if(|(_, opened)| *opened >= level) {
            let end = self.symbols.get(symbol).map_or(0, |symbol| symbol.extent.end);
            self.last_end = self.last_end.max(end);
        }
        while let Some(remaining) = self.wrappers.pop_if(|wrapper| wrapper.level >= level) {
            if let Some(around) = self.wrappers.last_mut() {
                around.is_empty &= remaining.is_empty;
            }
        }
    }

    /// Returns a node's span without trailing white space.
    fn span(&self, node: Node<'_>) -> Range<usize> {
        let start = node.start_byte().min(self.view.len());
        let whole = self.view.get(start..node.end_byte().min(self.view.len())).unwrap_or_default();
        start..start + whole.trim_end().len()
    }

    fn major(&mut self, node: Node<'_>, level: usize, named_node: &NamedNode, kind: SymbolKind) {
        let kind = refine(kind, node, &named_node.name, self.enclosing_kind());
        let body = node.child_by_field_name("body").or_else(|| {
            let value = ["value", "right"].iter().find_map(|field| node.child_by_field_name(field))?;
            value.child_by_field_name("body")
        });
        let span = self.span(node);
        let end = body.map_or(span.end, |body| body.start_byte().min(span.end));
        let head = span.start..end.max(span.start);
        self.open(span, level, named_node, kind, head);
    }

    /// Returns the kind of the innermost symbol.
    fn enclosing_kind(&self) -> Option<SymbolKind> {
        let (around, _) = self.open.last()?;
        self.symbols.get(*around).map(|symbol| symbol.kind)
    }

    fn open(
        &mut self,
        span: Range<usize>,
        level: usize,
        named_node: &NamedNode,
        kind: SymbolKind,
        head: Range<usize>,
    ) {
        let span = self.widened(&span);
        if let Some(wrapper) = self.wrappers.last_mut() {
            wrapper.is_empty = false;
        }
        if self.open.len() >= MAX_LEVELS {
            return;
        }
        let symbol = self.symbol(span, named_node, kind, SymbolRank::Major, head);
        self.open.push((self.symbols.len(), level));
        self.symbols.push(symbol);
    }

    /// Adds a symbol inside the open one.
    fn symbol(
        &mut self,
        span: Range<usize>,
        named_node: &NamedNode,
        kind: SymbolKind,
        rank: SymbolRank,
        head: Range<usize>,
    ) -> OutlineEntry {
        let around = self.open.last().map(|(symbol, _)| *symbol);
        let parent = around.and_then(|around| self.symbols.get(around));
        let bounds = parent.map_or(0..self.view.len(), |parent| parent.extent.clone());
        let start = self.before_blanks(span.start).max(bounds.start).max(self.last_end);
        let extent = start..span.end.min(bounds.end).max(start);
        let around_path = parent.map(|parent| parent.path.clone());
        let path = push_path(&mut self.paths, around_path, &named_node.name);
        let lines = lines(&self.starts, self.view, span);
        OutlineEntry { extent, lines, path, enclosing: around, kind, rank, name: named_node.at.clone(), head }
    }

    /// Adds the minor symbols of a node.
    fn minors(&mut self, node: Node<'_>, minor: Option<(MinorNames, SymbolKind)>) {
        let Some((names, kind)) = minor else { return };
        let own = self.span(node);
        // In a body they are local, and no symbols.
        let found = if self.body.is_none() { names.find(node, self.view) } else { Vec::new() };
        let around = self.enclosing_kind();
        let found = found.into_iter().map(|named_node| {
            let kind = refine(kind, node, &named_node.name, around);
            (named_node, kind)
        });
        if matches!(names, MinorNames::Each(_)) {
            // Other symbols may be between them.
            self.names.extend(found.rev());
        } else {
            found.for_each(|(named_node, kind)| self.minor(&named_node, kind, own.clone()));
        }
        if let Some(wrapper) = self.wrappers.last_mut() {
            wrapper.is_empty = false;
        }
    }

    fn minor(&mut self, named_node: &NamedNode, kind: SymbolKind, own: Range<usize>) {
        let span = self.widened_minor(&own);
        let start = self.symbols.last().map_or(0, |last| last.extent.start);
        let mut symbol = self.symbol(span, named_node, kind, SymbolRank::Minor, own);
        symbol.extent.start = symbol.extent.start.max(start);
        symbol.extent.end = symbol.extent.end.max(symbol.extent.start);
        self.symbols.push(symbol);
    }

    /// Closes sections of headings of this rank or a lower one, and opens the next.
    fn heading(&mut self, node: Node<'_>) {
        let Some((rank, named_node)) = name::heading(node, self.view) else { return };
        let head = self.span(node);
        let start = head.start;
        let end = self.view.get(..start).unwrap_or_default().trim_end().len();
        for (symbol, _) in self.open.iter().filter(|(_, opened)| *opened >= rank) {
            let Some(symbol) = self.symbols.get_mut(*symbol) else { continue };
            symbol.extent.end = end.max(symbol.extent.start);
            symbol.lines = lines(&self.starts, self.view, symbol.extent.clone());
        }
        self.leave(rank);
        self.open(start..self.view.trim_end().len(), rank, &named_node, SymbolKind::Heading, head);
    }

    /// Returns the span with its wrapper, if that contains nothing else, and with its attributes and comments.
    fn widened(&mut self, span: &Range<usize>) -> Range<usize> {
        let lead_start = self.lead_start(span.start);
        let wrapper = self.wrappers.last().filter(|wrapper| wrapper.is_empty);
        match wrapper.filter(|wrapper| self.ends_alike(span.end, wrapper.span.end)) {
            Some(wrapper) => wrapper.span.start.min(lead_start)..wrapper.span.end,
            None => lead_start..span.end,
        }
    }

    /// Does the same for a minor symbol, without taking attributes away from the symbols behind it.
    fn widened_minor(&mut self, span: &Range<usize>) -> Range<usize> {
        let lead = self.leading.clone();
        let widened = self.widened(span);
        self.leading = lead;
        widened
    }

    fn ends_alike(&self, end: usize, wrapper: usize) -> bool {
        let rest = self.view.get(end..wrapper).filter(|rest| rest.len() <= MAX_SIGNS);
        rest.is_some_and(|rest| rest.chars().all(|sign| sign.is_whitespace() || matches!(sign, ';' | ',')))
    }

    fn comment(&mut self, span: Range<usize>) {
        let text = self.view.get(span.clone()).unwrap_or_default();
        self.comments.extend(words(text, span.start));
        if describes_enclosing_item(text, span.start, self.row.inner) {
            self.leading = None;
        } else {
            self.lead(span);
        }
    }

    /// Records attributes or comments of the next symbol: those that begin a line, or continue earlier ones.
    fn lead(&mut self, span: Range<usize>) {
        let start = self.lead_start(span.start);
        let first = self.starts_at(self.before_blanks(start));
        self.leading = (first && start >= self.last_end).then_some(start..span.end);
    }

    /// Returns the start of the attributes and comments before an offset. They end on this line, or on the one before
    /// in the same column.
    fn lead_start(&mut self, at: usize) -> usize {
        let Some(lead) = self.leading.take() else { return at };
        let gap = self.view.get(lead.end..at).unwrap_or("-");
        let joined = gap.trim().is_empty()
            && match gap.matches('\n').count() {
                0 => true,
                1 => self.column(lead.start) == self.column(at),
                _ => false,
            };
        if joined { lead.start } else { at }
    }

    /// Returns the column of the first text on its line.
    fn column(&self, at: usize) -> Option<usize> {
        let start = self.before_blanks(at);
        self.starts_at(start).then_some(at - start)
    }

    fn starts_at(&self, offset: usize) -> bool {
        offset == 0 || self.view.as_bytes().get(offset - 1) == Some(&b'\n')
    }

    /// Returns the start of the line if only blanks are before this offset.
    fn before_blanks(&self, at: usize) -> usize {
        let before = self.view.get(..at).unwrap_or_default();
        let start = before.trim_end_matches([' ', '\t']).len();
        if self.starts_at(start) { start } else { at }
    }
}

/// Returns the whole lines of a span.
fn lines(starts: &[usize], view: &str, span: Range<usize>) -> Range<usize> {
    let after = |at: usize| starts.partition_point(|start| *start <= at);
    let start = after(span.start).checked_sub(1).and_then(|line| starts.get(line));
    let end = starts.get(after(span.end.saturating_sub(1).max(span.start)));
    start.copied().unwrap_or(0)..end.copied().unwrap_or(view.len())
}

/// Adds a path, and returns its range.
fn push_path(paths: &mut String, around: Option<Range<usize>>, name: &str) -> Range<usize> {
    let start = paths.len();
    if let Some(around) = around {
        paths.extend_from_within(around);
        paths.push('.');
    }
    paths.push_str(name);
    start..paths.len()
}
