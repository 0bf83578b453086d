//! Finds a symbol by its name: its definitions and its uses.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::index::{Index, IndexedFile, MAX_KEYS};
use super::indexed_symbol::{IndexedSymbol, owners, symbols};
use super::near::{Distance, is_test};
use super::symbol_group::{SymbolGroup, family};
use super::tags::Tags;
use lockgate_text::{Outline, SymbolKind, nearest};

/// The maximum number of suggestions for an unknown name, and of names compared with it.
const PROPOSED: usize = 3;
const COMPARED: usize = 5_000;

/// The maximum number of symbols that are shown as used by a file.
pub(super) const MAX_USED: usize = 60;
/// The maximum number of definitions of a used name; names with more are not informative.
const MAX_OF_ONE: usize = 3;

/// A line that uses a symbol.
#[derive(Clone, Copy)]
pub(super) struct SymbolUse<'i> {
    pub(super) path: &'i str,
    pub(super) file: &'i IndexedFile,
    pub(super) line: u32,
}

/// Returns the definitions of a name, or of its last parts. Exact names come first, then containers,
/// then nearby files. A final number selects one of several in each file, as in `f[2]`, unless a symbol has that name.
pub(super) fn definitions<'i>(
    index: &'i Index,
    name: &str,
    near_path: Option<&str>,
) -> Vec<IndexedSymbol<'i>> {
    let found = named(index, name, near_path);
    let Some((name, number)) = Outline::numbered(name).filter(|_| found.is_empty()) else { return found };
    let mut found = named(index, name, near_path);
    let mut selected: HashMap<&str, Vec<usize>> = HashMap::new();
    found.retain(|found| {
        let in_file = selected.entry(found.path).or_insert_with(|| {
            let outline = found.file.outline(&index.names);
            let is_in_outline = outline.named(name).next().is_some();
            // Otherwise the name begins with that of the module.
            let path = found.file.path(found.definition, &index.names);
            let name = if is_in_outline { name } else { path.as_str() };
            outline.named(&format!("{name}[{number}]")).map(|(at, _)| at).collect()
        });
        let mut definitions = in_file.iter().filter_map(|at| found.file.definitions.get(*at));
        definitions.any(|definition| std::ptr::eq(definition, found.definition))
    });
    found
}

/// Returns the definitions of a name without a number.
fn named<'i>(index: &'i Index, name: &str, near_path: Option<&str>) -> Vec<IndexedSymbol<'i>> {
    let folded = name.trim().trim_end_matches("()").replace("::", ".").replace('#', ".");
    let folded = folded.trim_start_matches('.');
    let has_end =
        |found: &IndexedSymbol<'_>, name| is_end(&found.file.path(found.definition, &index.names), name);
    let is_literal = |found: &IndexedSymbol<'_>| has_end(found, name.trim());
    let mut whole =
        matching(index, &[folded, name.trim()], &|found| is_literal(found) || has_end(found, folded));
    // In a file, a symbol of the name as it is takes precedence over other forms of it.
    let literal: HashSet<&str> =
        whole.iter().filter(|found| is_literal(found)).map(|found| found.path).collect();
    whole.retain(|found| is_literal(found) || !literal.contains(found.path));
    let mut found = if whole.is_empty() { in_module(index, folded) } else { whole };
    let order = |found: &IndexedSymbol<'_>| {
        let is_part = found.definition.around.is_some() && !folded.contains('.');
        let kind = found.definition.kind;
        (
            near_path.map(|near_path| Distance::between(near_path, found.path)),
            is_part,
            matches!(
                kind,
                SymbolKind::Impl
                    | SymbolKind::Key
                    | SymbolKind::Heading
                    | SymbolKind::Rule
                    | SymbolKind::Element
            ),
            is_test(found.path),
            found.path.split('/').count(),
        )
    };
    found.sort_by_cached_key(|found| (order(found), found.path, found.definition.location.line));
    found
}

/// Returns the symbols whose last part equals one of these names or the end of one after a dot, and that fit.
fn matching<'i>(
    index: &'i Index,
    names: &[&str],
    fits: &dyn Fn(&IndexedSymbol<'i>) -> bool,
) -> Vec<IndexedSymbol<'i>> {
    let numbers = (0..).zip(index.names.all());
    let wanted: HashSet<u32> = numbers
        .filter(|(_, end)| !end.is_empty() && names.iter().any(|name| is_end(name, end)))
        .map(|(number, _)| number)
        .collect();
    symbols(index).filter(|found| wanted.contains(&found.definition.name)).filter(fits).collect()
}

/// True if a name is the whole of a path, or its end after a dot.
fn is_end(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// True if a name begins with that of a key whose own keys are not indexed.
pub(super) fn is_below_indexed_keys(index: &Index, name: &str) -> bool {
    let above = name.match_indices('.').take(MAX_KEYS).filter_map(|(dot, _)| name.get(..dot));
    let keys = above.flat_map(|above| named(index, above, None));
    keys.map(|found| found.definition).any(|key| key.kind == SymbolKind::Key && key.around.is_some())
}

/// Returns the symbols for a name that begins with the parts of a module's name, as in
/// `package.module.function`. A shorter name of a module precedes a longer one.
fn in_module<'i>(index: &'i Index, name: &str) -> Vec<IndexedSymbol<'i>> {
    let last = name.rsplit('.').next().unwrap_or(name);
    // The length of the module's name.
    let module = |found: &IndexedSymbol<'i>| {
        let own = index.names.text(found.definition.name);
        if !name.ends_with(own) {
            return None;
        }
        let path = found.file.path(found.definition, &index.names);
        let module = name.strip_suffix(path.as_str())?.strip_suffix('.')?;
        let part = module.rsplit('.').next()?;
        let is_named = own == last || own == path;
        (is_named && owners(index, found.path).contains(&part)).then_some(module.len())
    };
    let found: Vec<(usize, IndexedSymbol<'i>)> =
        symbols(index).filter_map(|found| Some((module(&found)?, found))).collect();
    let shortest = found.iter().map(|(length, _)| *length).min();
    found.into_iter().filter(|(length, _)| Some(*length) == shortest).map(|(_, found)| found).collect()
}

/// Returns at most [`MAX_USED`] symbols of other files that a file uses by name, imported and nearest ones first. Names with
/// many definitions are skipped, and so are languages whose names the file cannot use.
pub(super) fn used<'i>(index: &'i Index, near_path: &str, tags: &Tags) -> Vec<IndexedSymbol<'i>> {
    let plain = |key: &&String| !key.starts_with('.') && !key.contains(['*', '.']);
    let mut wanted: HashMap<u32, (bool, Vec<IndexedSymbol<'i>>)> = HashMap::new();
    for key in tags.uses.keys().filter(plain) {
        let name = key.trim_start_matches('+').split('<').next().unwrap_or_default();
        if let Some(number) = index.names.number(name) {
            wanted.entry(number).or_default().0 |= key.starts_with('+');
        }
    }
    let own_family = family(tags.language);
    for (path, file) in index.files.iter().filter(|(_, file)| family(file.language) == own_family) {
        for definition in file.definitions.iter().filter(|it| it.around.is_none() && is_shared(it.kind)) {
            if let Some((_, found)) = wanted.get_mut(&definition.name) {
                found.push(IndexedSymbol { path, file, definition });
            }
        }
    }
    let mut found: Vec<(bool, Distance, IndexedSymbol<'i>)> = Vec::new();
    for (brought_in, defined) in wanted.into_values() {
        let own = defined.iter().any(|it| it.path == near_path);
        let far = |found: &IndexedSymbol<'_>| Distance::between(near_path, found.path);
        let nearest =
            defined.iter().min_by_key(|found| (far(found), found.path, found.definition.location.line));
        let closest = nearest.filter(|_| !own && defined.len() <= MAX_OF_ONE);
        found.extend(closest.map(|nearest| (!brought_in, far(nearest), *nearest)));
    }
    found.sort_by_key(|(apart, far, found)| (*apart, *far, found.path, found.definition.location.line));
    found.into_iter().take(MAX_USED).map(|(.., found)| found).collect()
}

/// True if other files use a symbol of this kind by its bare name.
fn is_shared(kind: SymbolKind) -> bool {
    kind.is_code() && !matches!(kind, SymbolKind::Field | SymbolKind::Impl | SymbolKind::Module)
}

/// Returns the lines that use these symbols, which share one name. Files are ordered by distance from
/// the nearest of `near_paths`.
pub(super) fn references<'i>(
    index: &'i Index,
    symbols: &[IndexedSymbol<'i>],
    near_paths: &[&str],
) -> Vec<SymbolUse<'i>> {
    let mut files: Vec<(&str, &IndexedFile)> =
        index.files.iter().map(|(path, file)| (path.as_str(), file)).collect();
    files.sort_by_cached_key(|(path, _)| (Distance::from_nearest(near_paths.iter().copied(), path), *path));
    let subjects = SymbolGroup::group(index, symbols);
    let mut used = Vec::new();
    for (path, file) in files {
        let Some(subjects) = subjects.get(&family(file.language)) else { continue };
        let lines = subjects.lines(path, file).into_iter();
        used.extend(lines.map(|line| SymbolUse { path, file, line }));
    }
    used
}

/// Returns the lines that use a name without a definition.
pub(super) fn mentions<'i>(index: &'i Index, name: &str) -> Vec<SymbolUse<'i>> {
    let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
    let keys = [last.to_owned(), format!(".{last}"), name.replace("::", ".")];
    let mut keys: Vec<u32> = keys.iter().filter_map(|key| index.names.number(key)).collect();
    keys.extend(index.names.with_prefix(&format!("+{last}<")).map(|(key, _)| key));
    keys.extend(library_keys(index, name.strip_suffix(last).unwrap_or_default(), last));
    let used = |(path, file): (&'i String, &'i IndexedFile)| {
        let lines: BTreeSet<u32> = keys.iter().flat_map(|key| file.lines(*key)).collect();
        lines.into_iter().map(move |line| SymbolUse { path, file, line })
    };
    index.files.iter().flat_map(used).collect()
}

/// Returns the keys of a name as a member of a library with the name before it, as in `React.` for `react` and `fs.` for
/// `node:fs`.
fn library_keys(index: &Index, before: &str, last: &str) -> Vec<u32> {
    let owner = before.trim_end_matches(['.', ':', '#']).rsplit(['.', ':', '#']).next().unwrap_or_default();
    let end = format!(".{last}");
    let is_library = |key: &str| {
        let library = key.strip_suffix(&end).and_then(|module| module.rsplit(':').next());
        library.is_some_and(|library| !library.is_empty() && library.eq_ignore_ascii_case(owner))
    };
    index.names.with_suffix(&end).filter(|(_, key)| is_library(key)).map(|(key, _)| key).collect()
}

/// Returns the indexed names that are most similar to an unknown one.
pub(super) fn alike(index: &Index, name: &str) -> Vec<String> {
    let wanted = name.rsplit(['.', ':', '#']).next().unwrap_or(name).to_lowercase();
    let first = wanted.chars().next();
    let mut known: Vec<&str> = Vec::new();
    let defined = index.files.values().flat_map(|file| file.definitions.iter());
    let mut names = HashSet::new();
    for definition in defined.filter(|definition| definition.kind.is_code()) {
        if known.len() >= COMPARED {
            break;
        }
        if !names.insert(definition.name) {
            continue;
        }
        let text = index.names.text(definition.name);
        let starts_alike = text.chars().flat_map(char::to_lowercase).next() == first;
        let long = text.len().abs_diff(wanted.len()) * 3 > text.len().max(wanted.len());
        let within = wanted.len() > 3 && text.to_lowercase().contains(&wanted);
        if (starts_alike && !long) || within {
            known.push(text);
        }
    }
    let mut alike = Vec::new();
    while alike.len() < PROPOSED {
        let Some(best) = nearest(&wanted, known.iter().copied()) else { break };
        alike.push(best.to_owned());
        known.retain(|other| *other != best);
    }
    alike
}
