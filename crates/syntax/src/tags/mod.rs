//! Finds the uses of names by tree-sitter tag queries, one for each language.
//!
//! The definitions of a text come from its outline, whose names lockgate accepts as input. These
//! queries add the uses, and what is needed to exclude those of local names.
//!
//! Invariant: each pattern captures only its last node, so that hardly any match stays open. A deeply
//! nested tree is not searched, because every step visits every open pattern.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

use tree_sitter::{Language, Tree};

use super::parse::LargeStack;
use super::query::captures;
use super::{Unreadable, WalkStep, find, walk};

/// The maximum depth of a searched tree.
const DEEPEST: usize = 1_000;
/// The maximum number of children of an error in a searched tree. A step of a search visits all those behind its node.
const MAX_ERROR_CHILDREN: u32 = 5_000;
/// The maximum number of open matches.
const OPEN: u32 = 4_096;

/// The role of a position in a text for a name. The variants ascend in precedence: if several apply,
/// the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TagRole {
    /// A use of the bare name.
    Name,
    /// A use of the name of a type.
    Type,
    /// A binding of the name at this position.
    Local,
    /// A key that may be that of a member, or a value.
    Key,
    /// A use of a member of something.
    Member,
    /// A use of the target of a path.
    Path,
    /// An import of the name.
    Import,
    /// An export of the name of another module, which does not bind the name in the text.
    Reexport,
    /// An import of a module, or a part of its path.
    Module,
    /// An alias for an import.
    Alias,
    /// A declaration that the name is bound in an outer scope.
    Outer,
    /// An import of all names of a module.
    Glob,
    /// A scope of local names.
    Scope,
    /// A capture that is not a use.
    None,
    /// A quoted text that contains names.
    Quoted,
    /// The body of a macro, which the grammar does not parse.
    MacroBody,
    /// A text that may contain names in braces.
    Format,
    /// The source of an import.
    From,
    /// An export of all names of a module.
    ExportAll,
    /// A name that the text binds or exports without defining it.
    Provided,
    /// An export of the text's own symbol under its name.
    Exported,
    /// A name that may stand for other types: an alias, a parameter of a type, or a trait.
    AnyType,
}

/// The start of the names of captures that only predicates use.
const COMPARED: &str = "compared.";

impl TagRole {
    fn from_capture(capture: &str) -> TagRole {
        match capture {
            "reference.name" => TagRole::Name,
            "reference.type" => TagRole::Type,
            "reference.key" => TagRole::Key,
            "reference.member" => TagRole::Member,
            "reference.path" => TagRole::Path,
            "reference.import" => TagRole::Import,
            "reference.reexport" => TagRole::Reexport,
            "import.module" => TagRole::Module,
            "import.alias" => TagRole::Alias,
            "import.glob" => TagRole::Glob,
            "import.from" => TagRole::From,
            "reference.quoted" => TagRole::Quoted,
            "reference.body" => TagRole::MacroBody,
            "reference.format" => TagRole::Format,
            "local.definition" => TagRole::Local,
            "local.outer" => TagRole::Outer,
            "local.scope" => TagRole::Scope,
            "export.all" => TagRole::ExportAll,
            "provided.name" => TagRole::Provided,
            "exported.name" => TagRole::Exported,
            "any.type" => TagRole::AnyType,
            _ => TagRole::None,
        }
    }

    /// Returns the group of the role. A position has one role of each group.
    const fn group(self) -> u8 {
        match self {
            TagRole::Scope => 1,
            TagRole::Provided | TagRole::Exported => 2,
            TagRole::AnyType => 3,
            _ => 0,
        }
    }
}

/// The queries, each made of one or two files.
const QUERIES: [(&str, [&str; 2]); 16] = [
    ("python", [include_str!("python.scm"), ""]),
    ("javascript", [include_str!("ecmascript.scm"), include_str!("javascript.scm")]),
    ("typescript", [include_str!("ecmascript.scm"), include_str!("typescript.scm")]),
    ("rust", [include_str!("rust.scm"), ""]),
    ("go", [include_str!("go.scm"), ""]),
    ("java", [include_str!("java.scm"), ""]),
    ("c", [include_str!("c.scm"), ""]),
    ("cpp", [include_str!("c.scm"), include_str!("cpp.scm")]),
    ("bash", [include_str!("bash.scm"), ""]),
    ("css", [include_str!("css.scm"), ""]),
    ("html", [include_str!("html.scm"), ""]),
    ("yaml", [include_str!("yaml.scm"), ""]),
    ("json", [include_str!("none.scm"), ""]),
    ("jsonc", [include_str!("none.scm"), ""]),
    ("toml", [include_str!("none.scm"), ""]),
    ("markdown", [include_str!("none.scm"), ""]),
];

/// Returns the roles of the positions in a text, in text order. A name has one role, and may also be a scope, a name
/// that the text provides or exports, and one that may stand for other types.
///
/// Steps are those of [`read`](super::read); the search gets a sixteenth as many.
pub fn uses(
    _deep: &LargeStack,
    language: &str,
    tree: &Tree,
    text: &str,
    steps: usize,
) -> Result<Vec<(TagRole, Range<usize>)>, Unreadable> {
    check_shape(tree)?;
    let query = query(language, &tree.language()).ok_or(Unreadable::Unknown)?;
    let role = |name: &str| (!name.starts_with(COMPARED)).then(|| TagRole::from_capture(name));
    let roles: Vec<Option<TagRole>> = query.capture_names().iter().map(|name| role(name)).collect();
    let mut found: Vec<(Range<usize>, TagRole)> = Vec::new();
    captures(&query, tree, text, OPEN, steps, |capture, span| {
        let role = roles.get(capture).copied().unwrap_or(Some(TagRole::None));
        found.extend(role.map(|role| (span, role)));
        true
    })?;
    found.sort_unstable_by_key(|(span, role)| (span.start, span.end, role.group(), *role));
    found.reverse();
    found.dedup_by(|(span, role), (previous, stronger)| span == previous && role.group() == stronger.group());
    found.reverse();
    Ok(found.into_iter().map(|(span, role)| (role, span)).collect())
}

/// Fails for a tree that a query needs too long to search.
fn check_shape(tree: &Tree) -> Result<(), Unreadable> {
    let mut shape = Ok(());
    walk(tree, |node, level| {
        if level > DEEPEST {
            shape = Err(Unreadable::TooDeep);
        } else if node.is_error() && node.child_count() > MAX_ERROR_CHILDREN {
            shape = Err(Unreadable::TooLong);
        }
        if shape.is_ok() { WalkStep::Enter } else { WalkStep::Stop }
    });
    shape
}

/// Returns the query for a dialect; compiles it once.
fn query(language: &str, dialect: &Language) -> Option<Arc<tree_sitter::Query>> {
    static COMPILED: Mutex<Vec<(Language, Arc<tree_sitter::Query>)>> = Mutex::new(Vec::new());
    let mut compiled = COMPILED.lock();
    if let Some((_, query)) = compiled.iter().find(|(known, _)| known == dialect) {
        return Some(Arc::clone(query));
    }
    // A C header may have been parsed as C++.
    let is_cpp = find("cpp").is_some_and(|cpp| cpp.dialects("").contains(dialect));
    let language = if is_cpp { "cpp" } else { language };
    let (_, [first, second]) = QUERIES.iter().find(|(name, _)| *name == language)?;
    let query = Arc::new(tree_sitter::Query::new(dialect, &format!("{first}\n{second}")).ok()?);
    compiled.push((dialect.clone(), Arc::clone(&query)));
    Some(query)
}

#[cfg(test)]
mod tests {
    use super::super::parse::with_large_stack;
    use super::super::{grammars, read_on};
    use super::*;

    const MANY: usize = 1 << 20;

    fn found(language: &str, path: &str, text: &str) -> Result<Vec<(TagRole, String)>, Unreadable> {
        let uses = with_large_stack(|deep| {
            let tree = read_on(deep, usize::MAX, language, path, text, MANY)?;
            uses(deep, language, &tree, text, MANY)
        });
        let text = |(role, span): (TagRole, Range<usize>)| (role, text.get(span).unwrap().to_owned());
        Ok(uses.unwrap()?.into_iter().map(text).collect())
    }

    #[test]
    fn every_query_is_one_of_its_grammar() {
        for grammar in grammars() {
            let (_, [first, second]) =
                QUERIES.iter().find(|(name, _)| *name == grammar.language).expect(grammar.language);
            for dialect in ["a", "a.tsx"].iter().flat_map(|path| grammar.dialects(path)) {
                let query = tree_sitter::Query::new(&dialect, &format!("{first}\n{second}"));
                let query = query.unwrap_or_else(|error| panic!("{}: {error}", grammar.language));
                for name in query.capture_names() {
                    assert!(
                        *name == "none"
                            || name.starts_with(COMPARED)
                            || TagRole::from_capture(name) != TagRole::None,
                        "{}: @{name}",
                        grammar.language
                    );
                }
                assert!((0..query.pattern_count()).all(|at| query.general_predicates(at).is_empty()));
            }
        }
    }

    #[test]
    fn each_place_is_one_thing() {
        let roles = found("python", "a.py", "from a import b as c\ndef f(x=1): return x.y(z=b)\n").unwrap();
        let roles: Vec<(TagRole, &str)> =
            roles.iter().filter(|(role, _)| *role != TagRole::Scope).map(|(m, t)| (*m, t.as_str())).collect();
        assert_eq!(
            roles,
            [
                (TagRole::From, "a"),
                (TagRole::Import, "b"),
                (TagRole::Alias, "c"),
                (TagRole::Name, "f"),
                (TagRole::Local, "x"),
                (TagRole::Name, "x"),
                (TagRole::Member, "y"),
                (TagRole::None, "z"),
                (TagRole::Name, "b"),
            ]
        );
    }

    #[test]
    fn a_name_that_is_exported_keeps_its_role() {
        let text = "export { a, b as c };\nexport { d } from 'x';\nexports.e = f;\nmodule.exports = { g };\n";
        let seen = found("javascript", "a.js", text).unwrap();
        let seen: Vec<(TagRole, &str)> = seen.iter().map(|(m, t)| (*m, t.as_str())).collect();
        let exported = |(role, _): &&(TagRole, &str)| matches!(role, TagRole::Exported | TagRole::Provided);
        let names: Vec<(TagRole, &str)> = seen.iter().filter(exported).copied().collect();
        assert_eq!(
            names,
            [
                (TagRole::Exported, "a"),
                (TagRole::Provided, "c"),
                (TagRole::Provided, "d"),
                (TagRole::Provided, "e"),
                (TagRole::Exported, "g"),
            ]
        );
        let kept = [
            (TagRole::Name, "a"),
            (TagRole::Reexport, "d"),
            (TagRole::Member, "e"),
            (TagRole::Name, "f"),
            (TagRole::Name, "g"),
        ];
        for role in kept {
            assert!(seen.contains(&role), "{role:?}");
        }
    }

    #[test]
    fn a_header_is_searched_as_what_it_was_read_as() {
        let roles = found("c", "a.h", "class A : public B { int f(); };\n").unwrap();
        assert!(roles.contains(&(TagRole::Type, "B".to_owned())), "{roles:?}");
        assert!(found("c", "a.h", "int f(B b);\n").unwrap().contains(&(TagRole::Type, "B".to_owned())));
    }

    #[test]
    fn an_error_with_many_children_is_not_searched() {
        for (language, path, piece) in [("javascript", "a.js", "`${"), ("python", "a.py", "not ")] {
            let broken = |count: usize| found(language, path, &piece.repeat(count));
            assert_eq!(broken(10_000), Err(Unreadable::TooLong), "{language}");
            assert_eq!(broken(2_000), Ok(Vec::new()), "{language}");
        }
    }

    #[test]
    fn a_tree_that_nests_deep_is_not_searched() {
        let chain = format!("a{};\n", ".b()".repeat(20_000));
        assert_eq!(found("javascript", "a.js", &chain), Err(Unreadable::TooDeep));
        assert!(found("javascript", "a.js", &format!("a{};\n", ".b()".repeat(200))).is_ok());
    }
}
