//! Which uses of a name mean a symbol, as far as names and imports tell.
//!
//! A name alone means it in its own file, and where it is brought in or everything is; as a member of something, it may
//! mean every member of that name.

use super::index::{Definition, Filed, Index};
use super::symbol::{Found, owners};
use crate::locate::scope::Kind;

/// A symbol whose uses are looked for, with the keys under which they are kept.
pub(super) struct Subject<'i> {
    symbol: Found<'i>,
    /// What is around it.
    standing: Standing,
    /// The name alone, as a member, as it is brought in, and as a member of what owns it.
    plain: Option<u32>,
    member: Option<u32>,
    imports: Vec<u32>,
    glob: Option<u32>,
    owned: Vec<u32>,
}

/// What a symbol is to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is known to whoever brings it in.
    Free,
    /// It belongs to a type.
    Member,
    /// It is known in a function alone.
    Local,
}

impl<'i> Subject<'i> {
    /// A symbol of the index.
    pub(super) fn of(index: &'i Index, symbol: &Found<'i>) -> Subject<'i> {
        let name = index.names.text(symbol.definition.name);
        let path = symbol.file.path(symbol.definition, &index.names);
        let standing = standing(symbol);
        let parent =
            path.strip_suffix(name).and_then(|before| before.trim_end_matches('.').rsplit('.').next());
        let parent = parent.filter(|parent| !parent.is_empty());
        let owners: Vec<&str> = match standing {
            Standing::Free => owners(index, symbol.path).into_iter().chain(parent).collect(),
            Standing::Member => parent.into_iter().collect(),
            Standing::Local => Vec::new(),
        };
        let number = |key: String| index.names.number(&key);
        Subject {
            symbol: *symbol,
            standing,
            plain: index.names.number(name),
            member: number(format!(".{name}")),
            imports: imports(index, symbol.path, name),
            glob: index.names.number("+*"),
            owned: owners.iter().filter_map(|owner| number(format!("{owner}.{name}"))).collect(),
        }
    }

    /// The lines of a file on which the symbol is used, as far as its name tells.
    pub(super) fn lines(&self, path: &str, file: &Filed) -> Vec<u32> {
        if family(file.language) != family(self.symbol.file.language) {
            return Vec::new();
        }
        let own = path == self.symbol.path;
        let mut keys: Vec<u32> = Vec::new();
        match self.standing {
            Standing::Local if own => keys.extend(self.plain),
            Standing::Local => {}
            Standing::Member => {
                keys.extend(self.member);
                keys.extend(&self.owned);
                let bare = matches!(family(file.language), Family::Java | Family::C)
                    || self.symbol.definition.kind == Kind::Variant && self.reaches(path, file);
                keys.extend(self.plain.filter(|_| bare));
            }
            Standing::Free => {
                keys.extend(&self.owned);
                keys.extend(&self.imports);
                keys.extend(self.plain.filter(|_| own || self.reaches(path, file)));
            }
        }
        let mut lines: Vec<u32> = keys.into_iter().flat_map(|key| file.lines(key)).collect();
        if self.standing == Standing::Local {
            let around = self.symbol.definition.around.and_then(|around| file.definition(around));
            lines.retain(|line| around.is_some_and(|it| (it.place.first..=it.place.last).contains(line)));
        }
        lines
    }

    /// Whether the name alone can mean the symbol in a file.
    fn reaches(&self, path: &str, file: &Filed) -> bool {
        let brings_in = || self.imports.iter().chain(&self.glob).any(|key| file.uses(*key));
        let folder =
            |path: &'_ str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        match family(file.language) {
            Family::Python | Family::Rust | Family::Script => brings_in(),
            Family::Go => {
                folder(path) == folder(self.symbol.path) || self.glob.is_some_and(|glob| file.uses(glob))
            }
            Family::Java | Family::C | Family::Other => true,
        }
    }
}

/// The keys under which a name is brought in from what may be the module of that file: the parts of the module's path
/// follow each other in that of the file.
fn imports(index: &Index, path: &str, name: &str) -> Vec<u32> {
    let owners = owners(index, path);
    let start = format!("+{name}<");
    let leads_there = |from: &str| {
        let parts: Vec<&str> = from.split('.').filter(|part| !part.is_empty()).collect();
        let is_module = |at: usize| owners.get(at..at + parts.len()).is_some_and(|some| some == parts);
        let ends_there = |at: usize| at + parts.len() == owners.len();
        // What has the name of the file is the module, where it is brought in from the folder.
        let own = owners.last().is_some_and(|own| *own == name);
        from == "?"
            || (0..=owners.len()).any(|at| is_module(at) && (!own || (!parts.is_empty() && ends_there(at))))
    };
    let keys = index.names.beginning(&start);
    keys.filter(|(_, key)| key.get(start.len()..).is_some_and(leads_there)).map(|(key, _)| key).collect()
}

fn standing(symbol: &Found<'_>) -> Standing {
    let Definition { kind, around, part, name, .. } = *symbol.definition;
    if symbol.file.language == "go" && part != name {
        return Standing::Member;
    }
    let around = around.and_then(|around| symbol.file.definition(around)).map(|around| around.kind);
    match around {
        Some(Kind::Enum) if kind == Kind::Variant && family(symbol.file.language) == Family::C => {
            Standing::Free
        }
        Some(around) if around.has_members() => Standing::Member,
        Some(around) if around.runs() => Standing::Local,
        Some(_) | None if kind == Kind::Method || kind == Kind::Field => Standing::Member,
        Some(_) | None => Standing::Free,
    }
}

/// Languages that can use each other's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Python,
    Script,
    Rust,
    Go,
    Java,
    C,
    Other,
}

fn family(language: &str) -> Family {
    match language {
        "python" => Family::Python,
        "javascript" | "typescript" => Family::Script,
        "rust" => Family::Rust,
        "go" => Family::Go,
        "java" => Family::Java,
        "c" | "cpp" => Family::C,
        _ => Family::Other,
    }
}
