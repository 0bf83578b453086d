//! Builds a response within its size limit, the most relevant parts first: definitions before
//! references, near before far.

use std::collections::HashSet;
use std::sync::Arc;

use super::budget::{ByteBudget, TOKEN};
use super::doc;
use super::index::Index;
use super::indexed_symbol::IndexedSymbol;
use super::line_starts::wide;
use super::outline::{FittedOutline, keys, outline};
use super::query::{self, QueryHits};
use super::symbol::{self, SymbolUse};
use super::tags::{SymbolLocation, Tags};
use super::versioned_text::VersionedText;
use lockgate_protocol::{
    ContextProject, ContextReference, ContextResponse, ContextSymbol, ContextTarget, json_size,
};
use lockgate_text::Outline;

/// The maximum number of definitions shown for a name.
const MAX_DEFINITIONS: usize = 50;
/// The maximum number of definitions from which the distance of uses is measured.
const MAX_NEAR_PATHS: usize = 8;
/// The bytes of a path that does not fit even alone, without its mark.
const CUT_PATH: usize = 81;

/// A query for code context.
#[derive(Debug, Clone, Copy)]
pub struct ContextQuery<'q> {
    /// The name of a symbol.
    pub symbol: Option<&'q str>,
    /// The words to search for; `None` without a search.
    pub query: Option<&'q str>,
    /// The file from which distances are measured.
    pub near: Option<&'q str>,
    /// The maximum number of tokens in the response.
    pub tokens: usize,
}

impl ContextQuery<'_> {
    /// True if the query asks for the outline of one file and nothing else.
    pub fn is_outline(&self) -> bool {
        self.symbol.is_none() && self.query.is_none() && self.near.is_some()
    }

    /// True if the query names nothing, so that it asks for the project summary.
    pub fn is_empty(&self) -> bool {
        self.symbol.is_none() && self.query.is_none() && self.near.is_none()
    }
}

/// The inputs of a response.
#[derive(Debug, Default)]
pub struct AnswerInput<'s> {
    /// The file whose outline is requested.
    pub target: Option<(&'s VersionedText, Option<&'s Tags>)>,
    /// The project summary; `None` if it is not requested.
    pub project: Option<ContextProject>,
    /// Notes for the caller on how the inputs were read.
    pub notes: Vec<String>,
}

/// Returns the text of a file at the version in the index; `None` if that text no longer exists.
pub type TextSource<'t> = dyn FnMut(&str) -> Option<Arc<VersionedText>> + 't;

/// Answers a query from the index.
pub fn answer<'a>(
    index: &'a Index,
    question: &ContextQuery<'a>,
    input: AnswerInput<'_>,
    texts: &mut TextSource<'_>,
) -> ContextResponse {
    let mut parts = AnswerParts {
        index,
        near: question.near,
        budget: ByteBudget::from_tokens(question.tokens),
        context: ContextResponse {
            max_bytes: question.tokens.saturating_mul(TOKEN),
            ..ContextResponse::default()
        },
        texts,
    };
    parts.add_target(question, &input);
    if let Some(name) = question.symbol {
        parts.add_definitions(name, &input);
    }
    if let Some(words) = question.query {
        parts.add_matches(words);
    }
    parts.add_outline(&input);
    if let Some(project) = input.project {
        parts.add_project(project);
    }
    if let (Some(near_path), Some((_, Some(tags)))) = (question.near, input.target) {
        parts.add_uses(near_path, tags);
    }
    for note in input.notes {
        parts.note(note);
    }
    parts.context
}

/// Returns code with the numbers of its lines, as reads show it.
fn numbered(code: &str, first: u32) -> String {
    let lines: Vec<String> =
        (first..).zip(code.split('\n')).map(|(number, line)| format!("{number}: {line}")).collect();
    lines.join("\n")
}

/// The symbols of one part of an answer, and the code of each.
#[derive(Default)]
struct ShownSymbols {
    symbols: Vec<ContextSymbol>,
    codes: Vec<SymbolCode>,
}

/// The numbered code of a symbol.
struct SymbolCode {
    whole: String,
    /// The lines that name the symbol and its members; `None` without members.
    members: Option<String>,
}

impl SymbolCode {
    fn new(text: &VersionedText, location: SymbolLocation, found: Option<&IndexedSymbol<'_>>) -> SymbolCode {
        let whole = numbered(text.lines(location.first, location.last), location.first);
        let mut lines = vec![location.line];
        lines.extend(found.into_iter().flat_map(IndexedSymbol::member_lines));
        lines.dedup();
        let row = |line: &u32| format!("{line}: {}", doc::clipped(text.lines(*line, *line)));
        let rows: Vec<String> = lines.iter().map(row).collect();
        SymbolCode { whole, members: (rows.len() > 1).then(|| rows.join("\n")) }
    }

    /// True if a symbol is shown with its whole code.
    fn is_whole(&self, symbol: &ContextSymbol) -> bool {
        symbol.code.as_ref() == Some(&self.whole)
    }
}

struct AnswerParts<'a, 't> {
    index: &'a Index,
    /// The file whose version is that of the target.
    near: Option<&'a str>,
    budget: ByteBudget,
    context: ContextResponse,
    texts: &'a mut TextSource<'t>,
}

impl<'a> AnswerParts<'a, '_> {
    /// Adds the file of the query, without its outline, and reserves the space for the fixed parts of the response.
    fn add_target(&mut self, question: &ContextQuery<'_>, input: &AnswerInput<'_>) {
        let (Some(near_path), Some((text, _))) = (question.near, input.target) else { return };
        let (version, total_lines) = (text.version().to_string(), text.line_count());
        let mut target =
            ContextTarget { path: near_path.to_owned(), version, total_lines, outline: Vec::new() };
        if !self.budget.take(json_size(&target)) {
            let least = ContextResponse {
                target: Some(target.clone()),
                definitions: question.symbol.map(|_| Vec::new()),
                references: question.symbol.map(|_| Vec::new()),
                symbols: question.query.map(|_| Vec::new()),
                truncated: true,
                ..ContextResponse::default()
            };
            match self.context.max_bytes.checked_sub(json_size(&least)) {
                Some(rest) => self.budget.set_left(rest),
                None => {
                    self.context.truncated = true;
                    while json_size(&target.path) > CUT_PATH {
                        target.path.pop();
                    }
                    target.path.push('…');
                    self.budget.take(json_size(&target));
                }
            }
        }
        self.context.target = Some(target);
    }

    fn add_outline(&mut self, input: &AnswerInput<'_>) {
        let Some((text, tags)) = input.target else { return };
        let Some(tags) = tags else {
            self.note(
                "no outline: the language has no grammar, or the text cannot be read safely".to_owned(),
            );
            return;
        };
        let FittedOutline { symbols, total, omitted } = outline(text, tags, &mut self.budget);
        let hidden = total - symbols.len();
        if let Some(target) = &mut self.context.target {
            target.outline = symbols;
        }
        if hidden > 0 {
            self.note_omission(format!("{hidden} of {total} symbols of the outline are not shown"));
        } else if let Some(parts) = omitted {
            self.note_omission(format!("{parts} are not shown"));
        }
    }

    fn add_definitions(&mut self, name: &str, input: &AnswerInput<'_>) {
        let near_path = self.near;
        let mut found = symbol::definitions(self.index, name, near_path);
        // The index lacks the deeper keys of a file, and does not count them.
        let is_indexed = found.iter().any(|found| Some(found.path) == near_path);
        let keys = match (near_path, input.target) {
            (Some(path), Some((text, Some(tags)))) if !is_indexed || Outline::numbered(name).is_some() => {
                keys(text, path, tags, name).collect()
            }
            _ => Vec::new(),
        };
        if !keys.is_empty() {
            found.retain(|found| Some(found.path) != near_path);
        }
        if found.is_empty() && keys.is_empty() {
            self.add_suggestions(name);
            return;
        }
        // Nothing uses a key.
        let used = if keys.is_empty() { self.find_uses(&found) } else { Vec::new() };
        let most = if used.is_empty() { usize::MAX } else { self.budget.left() / 2 };
        let floor = self.budget.left().saturating_sub(most);
        let total = keys.len() + found.len();
        let mut list = ShownSymbols::default();
        if let Some((text, _)) = input.target {
            for (key, location) in keys.into_iter().take(MAX_DEFINITIONS) {
                if !self.show(&mut list, key, SymbolCode::new(text, location, None), text, floor) {
                    break;
                }
            }
        }
        self.show_all(&mut list, &found, MAX_DEFINITIONS, floor);
        let ShownSymbols { mut symbols, codes } = list;
        self.add_codes(&mut symbols, &codes, 1, self.budget.left() / 2);
        self.add_references(&used);
        self.add_codes(&mut symbols, &codes, usize::MAX, self.budget.left());
        if symbols.iter().zip(&codes).any(|(symbol, code)| symbol.code.is_some() && !code.is_whole(symbol)) {
            self.note_omission("code that is too long shows only the lines of its members".to_owned());
        }
        if symbols.len() < total {
            self.note_omission(format!("{} of {total} definitions are shown", symbols.len()));
        }
        self.context.definitions = Some(symbols);
    }

    /// Returns the uses of a name with these definitions, nearest first.
    fn find_uses(&self, found: &[IndexedSymbol<'a>]) -> Vec<SymbolUse<'a>> {
        // In a file that defines the name itself, the name refers to that definition.
        let own: Vec<IndexedSymbol<'_>> =
            found.iter().filter(|found| Some(found.path) == self.near).copied().collect();
        let subjects = if own.is_empty() { found } else { &own };
        let near_paths: Vec<&str> = match self.near {
            Some(near_path) => vec![near_path],
            None => subjects.iter().take(MAX_NEAR_PATHS).map(|found| found.path).collect(),
        };
        symbol::references(self.index, subjects, &near_paths)
    }

    /// Adds suggestions and mentions for a name without a definition.
    fn add_suggestions(&mut self, name: &str) {
        self.context.definitions = Some(Vec::new());
        let name: String = name.chars().take(80).collect();
        let alike = symbol::alike(self.index, &name);
        let mut note = format!("nothing in the workspace defines {name:?}");
        if symbol::is_below_indexed_keys(self.index, &name) {
            note.push_str(", but only the two upper levels of keys are indexed");
        }
        if !alike.is_empty() {
            note.push_str(&format!("; did you mean {}?", alike.join(", ")));
        }
        self.note(note);
        let used = symbol::mentions(self.index, &name);
        self.add_references(&used);
    }

    fn add_matches(&mut self, words: &str) {
        let QueryHits { symbols: found, total } = query::matches(self.index, words, self.near);
        if found.is_empty() {
            self.note("no symbol matches these words; search_content searches all text".to_owned());
        }
        let mut list = ShownSymbols::default();
        self.show_all(&mut list, &found, query::MAX_SYMBOLS, 0);
        let shown = list.symbols;
        if shown.len() < total {
            let others =
                if shown.len() == found.len() { "; the others match fewer of the words" } else { "" };
            self.note_omission(format!("{} of {total} symbols are shown{others}", shown.len()));
        }
        self.context.symbols = Some(shown);
    }

    /// Adds symbols to a list while it is shorter than `most` and there is space.
    fn show_all(&mut self, list: &mut ShownSymbols, found: &[IndexedSymbol<'a>], most: usize, floor: usize) {
        for found in found.iter().take(most.saturating_sub(list.symbols.len())) {
            let Some(text) = self.text(found.path) else { continue };
            let symbol = text.symbol(found.path, found.file, found.definition, &self.index.names);
            let code = SymbolCode::new(&text, found.definition.location, Some(found));
            if !self.show(list, symbol, code, &text, floor) {
                break;
            }
        }
    }

    /// Adds a symbol with its code to a list; `false` if there is no space for it. Those after the first leave `floor`
    /// bytes.
    fn show(
        &mut self,
        list: &mut ShownSymbols,
        symbol: ContextSymbol,
        code: SymbolCode,
        text: &VersionedText,
        floor: usize,
    ) -> bool {
        let cost = json_size(&symbol) + 1 + self.version_cost(&symbol.path);
        if self.budget.left() < floor + cost && !list.symbols.is_empty() || !self.budget.take(cost) {
            return false;
        }
        self.add_version(&symbol.path, text);
        list.codes.push(code);
        list.symbols.push(symbol);
        true
    }

    /// Adds the whole code of at most `most` symbols if it fits into `bytes`, or the lines of their members.
    fn add_codes(&mut self, shown: &mut [ContextSymbol], codes: &[SymbolCode], most: usize, bytes: usize) {
        let mut remaining = bytes;
        for (symbol, code) in shown.iter_mut().zip(codes).take(most) {
            if code.is_whole(symbol) {
                continue;
            }
            let size = |code: &String| json_size(code) + r#","code":"#.len();
            let used = symbol.code.as_ref().map_or(0, size);
            for text in std::iter::once(&code.whole).chain(&code.members) {
                let cost = size(text).saturating_sub(used);
                if cost > 0 && cost <= remaining && self.budget.take(cost) {
                    remaining -= cost;
                    symbol.code = Some(text.clone());
                    break;
                }
            }
        }
    }

    fn add_references(&mut self, used: &[SymbolUse<'a>]) {
        let mut shown = Vec::new();
        for (number, SymbolUse { path, file, line }) in used.iter().enumerate() {
            let Some(text) = self.text(path) else { continue };
            let within = file.around(*line, &self.index.names);
            let reference = ContextReference {
                path: (*path).to_owned(),
                line: wide(*line),
                text: text.line(*line),
                within,
            };
            if !self.budget.take(json_size(&reference) + 1 + self.version_cost(path)) {
                let files: HashSet<&str> = used.iter().skip(number).map(|used| used.path).collect();
                let remaining = used.len() - number;
                self.note_omission(format!(
                    "{remaining} of {} references are not shown, in {} files",
                    used.len(),
                    files.len()
                ));
                break;
            }
            self.add_version(path, &text);
            shown.push(reference);
        }
        self.context.references = Some(shown);
    }

    /// Adds the definitions of the names that a file uses, imported ones first.
    fn add_uses(&mut self, path: &str, tags: &Tags) {
        let found = symbol::used(self.index, path, tags);
        let mut list = ShownSymbols::default();
        self.show_all(&mut list, &found, symbol::MAX_USED, 0);
        self.context.uses = list.symbols;
    }

    fn add_project(&mut self, project: ContextProject) {
        let ContextProject { files, folders, important } = project;
        let mut shown = ContextProject { files, ..ContextProject::default() };
        let total = folders.len();
        let mut remaining = self.budget.left() / 3;
        for path in important {
            let Some(text) = self.text(&path) else { continue };
            let cost = json_size(&path) + 1 + self.version_cost(&path);
            let Some(less) = remaining.checked_sub(cost) else { break };
            if !self.budget.take(cost) {
                break;
            }
            remaining = less;
            self.add_version(&path, &text);
            shown.important.push(path);
        }
        for mut folder in folders {
            if folder.path.is_empty() {
                folder.path.push('.');
            }
            if !self.budget.take(json_size(&folder) + 1) {
                break;
            }
            shown.folders.push(folder);
        }
        if shown.folders.len() < total {
            self.note_omission(format!("{} of {} folders are shown", shown.folders.len(), total));
        }
        self.context.project = Some(shown);
    }

    fn text(&mut self, path: &str) -> Option<Arc<VersionedText>> {
        (self.texts)(path)
    }

    /// Returns the size of a file's entry in the list of versions.
    fn version_cost(&self, path: &str) -> usize {
        if Some(path) == self.near || self.context.versions.contains_key(path) {
            return 0;
        }
        json_size(&path) + r#":"0123456789ab","#.len()
    }

    fn add_version(&mut self, path: &str, text: &VersionedText) {
        if self.version_cost(path) > 0 {
            self.context.versions.insert(path.to_owned(), text.version().to_string());
        }
    }

    /// Notes that something was left out.
    fn note_omission(&mut self, note: String) {
        self.context.truncated = true;
        self.note(note);
    }

    fn note(&mut self, note: String) {
        if self.budget.take_note(&note) {
            self.context.notes.push(note);
        } else {
            self.context.truncated = true;
        }
    }
}
