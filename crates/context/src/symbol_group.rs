//! Decides which uses of a name refer to given symbols, as far as names and imports tell.
//!
//! A bare name refers to a symbol of its own file, or to an imported one. A member name may refer to
//! every member of that name.
//!
//! Invariant: the cost per file does not grow with the number of symbols that share the name.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::index::{Definition, Index, IndexedFile};
use super::indexed_symbol::{IndexedSymbol, owners};
use super::near::folder;
use super::uses::any_type;
use lockgate_text::SymbolKind;

/// The maximum number of symbols whose modules are compared one by one. With more, every import of the
/// name counts.
const MAX_MODULES: usize = 100;

/// The maximum number of definitions between a method and the variable of its object.
const MAX_METHODS: usize = 1_000;

/// The visibility of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolVisibility {
    /// Visible to files that import it.
    Free,
    /// A member of a type.
    Member,
    /// Visible only in a function.
    Local,
}

/// Symbols of one name, in languages that can use each other's names, with the keys of their uses.
#[derive(Default)]
pub(super) struct SymbolGroup<'i> {
    /// The files with importable symbols, and the folders of these files.
    importable: HashSet<&'i str>,
    folders: HashSet<&'i str>,
    /// The only folders in which the symbols are visible, if the language restricts them by their
    /// names.
    visible_folders: Option<HashSet<&'i str>>,
    /// Set when some belong to types.
    members: bool,
    /// Set when those that belong to types can be used by the bare name.
    bare: bool,
    /// Set when some are variants of enumerations.
    variants: bool,
    /// The lines of the functions to which the local symbols are limited, by file.
    local: HashMap<&'i str, Vec<(u32, u32)>>,
    /// The key of the bare name.
    plain: Option<u32>,
    /// The key of the name as a member of anything.
    member: Option<u32>,
    /// The key of an import of everything.
    glob: Option<u32>,
    /// The keys of imports of the name.
    imports: HashSet<u32>,
    /// The keys of the name as a member of its owner.
    owned: HashSet<u32>,
}

impl<'i> SymbolGroup<'i> {
    /// Groups symbols of one name by language family.
    pub(super) fn group(
        index: &'i Index,
        symbols: &[IndexedSymbol<'i>],
    ) -> HashMap<LanguageFamily, SymbolGroup<'i>> {
        let mut families: HashMap<LanguageFamily, Vec<IndexedSymbol<'i>>> = HashMap::new();
        for symbol in symbols {
            families.entry(family(symbol.file.language)).or_default().push(*symbol);
        }
        let group = |(family, members): (_, Vec<_>)| (family, SymbolGroup::of_family(index, &members));
        families.into_iter().map(group).collect()
    }

    fn of_family(index: &'i Index, symbols: &[IndexedSymbol<'i>]) -> SymbolGroup<'i> {
        let Some(first) = symbols.first() else { return SymbolGroup::default() };
        let name = index.names.text(first.definition.name);
        let mut subjects = SymbolGroup {
            plain: Some(first.definition.name),
            member: index.names.number(&format!(".{name}")),
            glob: index.names.number("+*"),
            ..SymbolGroup::default()
        };
        // In Go, a name with a small first letter is visible only in its own package.
        if first.file.language == "go" && !name.starts_with(char::is_uppercase) {
            subjects.visible_folders = Some(symbols.iter().map(|symbol| folder(symbol.path)).collect());
        }
        let (mut modules, mut types): (HashSet<&str>, HashSet<&str>) = Default::default();
        for symbol in symbols {
            let path = symbol.file.path(symbol.definition, &index.names);
            let parent = path.strip_suffix(name).map(|before| before.trim_end_matches('.'));
            let parent =
                parent.and_then(|before| before.rsplit('.').next()).and_then(|it| index.names.get(it));
            match visibility(symbol) {
                SymbolVisibility::Free => {
                    subjects.importable.insert(symbol.path);
                    subjects.folders.insert(folder(symbol.path));
                    let object = enclosing_variable(symbol).map(|object| index.names.text(object.name));
                    modules.extend(owners(index, symbol.path).into_iter().chain(parent).chain(object));
                }
                SymbolVisibility::Member => {
                    let family = family(symbol.file.language);
                    subjects.members = true;
                    subjects.bare |= matches!(family, LanguageFamily::Java | LanguageFamily::C);
                    subjects.variants |= symbol.definition.kind == SymbolKind::Variant;
                    types.extend(parent);
                }
                SymbolVisibility::Local => subjects.local(symbol),
            }
        }
        subjects.owned = owned(index, first, &modules, &types);
        subjects.imports = imports(index, symbols, name);
        subjects
    }

    fn local(&mut self, symbol: &IndexedSymbol<'i>) {
        let around = symbol.definition.around.and_then(|around| symbol.file.definition(around));
        let lines = around.map(|around| (around.location.first, around.location.last));
        self.local.entry(symbol.path).or_default().extend(lines);
    }

    /// Returns the lines of a file that use the symbols, as far as the name tells.
    pub(super) fn lines(&self, path: &str, file: &IndexedFile) -> BTreeSet<u32> {
        if self.visible_folders.as_ref().is_some_and(|only| !only.contains(folder(path))) {
            return BTreeSet::new();
        }
        let reaches = self.can_refer_to(path, file);
        let mut keys = file.used_of(&self.owned);
        if self.members {
            keys.extend(self.member);
            keys.extend(self.plain.filter(|_| self.bare || (self.variants && reaches)));
        }
        if !self.importable.is_empty() {
            keys.extend(file.used_of(&self.imports));
            keys.extend(self.plain.filter(|_| reaches || self.importable.contains(path)));
        }
        let mut lines: BTreeSet<u32> = keys.into_iter().flat_map(|key| file.lines(key)).collect();
        if let Some(around) = self.local.get(path) {
            let plain = self.plain.map(|plain| file.lines(plain)).unwrap_or_default();
            let inside = |line: &u32| around.iter().any(|(first, last)| (first..=last).contains(&line));
            lines.extend(plain.into_iter().filter(inside));
        }
        lines
    }

    /// True if the bare name can refer to one of them in a file.
    fn can_refer_to(&self, path: &str, file: &IndexedFile) -> bool {
        let everything = || self.glob.is_some_and(|glob| file.uses(glob));
        match family(file.language) {
            LanguageFamily::Python | LanguageFamily::Rust | LanguageFamily::Script => {
                !file.used_of(&self.imports).is_empty() || everything()
            }
            LanguageFamily::Go => self.folders.contains(folder(path)) || everything(),
            LanguageFamily::Java | LanguageFamily::C | LanguageFamily::Other => true,
        }
    }
}

/// Returns the variable of a script whose value has the lines of a function, as in `const A = { method() {} }`.
fn enclosing_variable<'i>(function: &IndexedSymbol<'i>) -> Option<&'i Definition> {
    let Definition { kind, around, location, .. } = *function.definition;
    if family(function.file.language) != LanguageFamily::Script || !kind.is_executable() || around.is_some() {
        return None;
    }
    let is_around = |it: &&Definition| {
        let is_variable = matches!(it.kind, SymbolKind::Variable | SymbolKind::Constant);
        is_variable && it.location.first <= location.first && location.last <= it.location.last
    };
    let definitions = &function.file.definitions;
    let before = definitions.partition_point(|it| it.location.line <= location.line);
    definitions.get(..before)?.iter().rev().take(MAX_METHODS).find(is_around)
}

/// Returns the keys of a name as a member of these modules or types, and of types that may inherit it
/// because they do not define it themselves. A type of Rust inherits only from a trait, so without one
/// only aliases, parameters and traits stand for these types.
fn owned(
    index: &Index,
    first: &IndexedSymbol<'_>,
    modules: &HashSet<&str>,
    types: &HashSet<&str>,
) -> HashSet<u32> {
    let name = first.definition.name;
    let end = format!(".{}", index.names.text(name));
    let mut holders: HashSet<&str> = HashSet::new();
    if !types.is_empty() {
        for file in index.files.values() {
            for definition in file.definitions.iter().filter(|it| it.name == name) {
                let around = definition.around.and_then(|around| file.definition(around));
                holders.extend(around.map(|around| index.names.text(around.name)));
            }
        }
    }
    let is_type = |owner: &str| owner.starts_with(char::is_uppercase) && owner.contains(char::is_lowercase);
    let stands_for_others = |owner: &str| index.names.number(&any_type(owner)).is_some();
    let is_named = |owner: &str| owner.chars().all(|c| c.is_alphanumeric() || c == '_');
    let passes_on = family(first.file.language) != LanguageFamily::Rust
        || types.iter().any(|owner| stands_for_others(owner) || !is_named(owner));
    let keys = index.names.with_suffix(&end).filter(|(_, key)| {
        let owner = key.strip_suffix(&end).unwrap_or_default();
        let inherits = || passes_on || stands_for_others(owner);
        let heir = !types.is_empty() && is_type(owner) && !holders.contains(owner) && inherits();
        modules.contains(owner) || types.contains(owner) || heir
    });
    keys.map(|(key, _)| key).collect()
}

/// Returns the keys of imports of a name from a possible module of one of these symbols: the parts of
/// the module's path appear in sequence in that of the file.
pub(super) fn imports(index: &Index, symbols: &[IndexedSymbol<'_>], name: &str) -> HashSet<u32> {
    let free: Vec<Vec<&str>> = symbols
        .iter()
        .filter(|symbol| visibility(symbol) != SymbolVisibility::Local)
        .take(MAX_MODULES + 1)
        .map(|symbol| owners(index, symbol.path))
        .collect();
    let start = format!("+{name}<");
    let leads_there = |from: &str| {
        let parts: Vec<&str> = from.split('.').filter(|part| !part.is_empty()).collect();
        free.len() > MAX_MODULES
            || from == "?"
            || free.iter().any(|owners| leads_to_file(&parts, owners, name))
    };
    let keys = index.names.with_prefix(&start);
    keys.filter(|(_, key)| key.get(start.len()..).is_some_and(leads_there)).map(|(key, _)| key).collect()
}

/// True if the parts of a module's path lead to the file with these owners.
fn leads_to_file(parts: &[&str], owners: &[&str], name: &str) -> bool {
    // If the file is imported from its folder, the imported name is the module.
    let own = owners.last().is_some_and(|own| *own == name);
    (0..=owners.len()).any(|at| {
        let is_module = owners.get(at..at + parts.len()).is_some_and(|some| some == parts);
        is_module && (!own || (!parts.is_empty() && at + parts.len() == owners.len()))
    })
}

pub(super) fn visibility(symbol: &IndexedSymbol<'_>) -> SymbolVisibility {
    let Definition { kind, around, part, name, .. } = *symbol.definition;
    if symbol.file.language == "go" && part != name {
        return SymbolVisibility::Member;
    }
    let around = around.and_then(|around| symbol.file.definition(around)).map(|around| around.kind);
    match around {
        Some(SymbolKind::Enum)
            if kind == SymbolKind::Variant && family(symbol.file.language) == LanguageFamily::C =>
        {
            SymbolVisibility::Free
        }
        Some(around) if around.has_members() => SymbolVisibility::Member,
        Some(around) if around.is_executable() => SymbolVisibility::Local,
        Some(_) | None if kind == SymbolKind::Method || kind == SymbolKind::Field => SymbolVisibility::Member,
        Some(_) | None => SymbolVisibility::Free,
    }
}

/// A family of languages that can use each other's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LanguageFamily {
    Python,
    Script,
    Rust,
    Go,
    Java,
    C,
    Other,
}

pub(super) fn family(language: &str) -> LanguageFamily {
    match language {
        "python" => LanguageFamily::Python,
        "javascript" | "typescript" => LanguageFamily::Script,
        "rust" => LanguageFamily::Rust,
        "go" => LanguageFamily::Go,
        "java" => LanguageFamily::Java,
        "c" | "cpp" => LanguageFamily::C,
        _ => LanguageFamily::Other,
    }
}
