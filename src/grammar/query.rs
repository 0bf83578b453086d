//! Queries: what a tree is looked through for, in tree-sitter's own words.
//!
//! Invariant: a query's source is short and nests little, so that compiling it takes neither a deep stack nor long; a
//! search counts its steps and the matches that it keeps open.

use std::ops::{ControlFlow, Range};

use tree_sitter::{Language, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator};

use super::parse::on_stack;
use super::{Unreadable, of, read};

/// The longest source, in bytes, and the deepest nesting of its brackets.
const LONGEST: usize = 16 << 10;
const DEEPEST: usize = 64;
/// The most matches that may be open at once, each of which every step looks at; and the most that are given.
const OPEN: u32 = 64;
const MOST: usize = 1000;
/// The paths by which the dialects of a language are told.
const PATHS: [&str; 3] = ["a", "a.tsx", "a.h"];

/// A query, compiled for every dialect of the languages that it is for.
#[derive(Debug)]
pub struct Query {
    dialects: Vec<(Language, tree_sitter::Query)>,
}

/// The first predicate that nothing here keeps: the search would go on as if it were not there.
fn unknown_predicate(query: &tree_sitter::Query) -> Option<String> {
    let patterns = 0..query.pattern_count();
    let mut unknown = patterns.flat_map(|pattern| query.general_predicates(pattern));
    unknown.next().map(|predicate| predicate.operator.to_string())
}

/// What is wrong with a query: where in its source, from 0, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFault {
    /// The line.
    pub row: usize,
    /// The column, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Query {
    /// Compiles a query for these languages, by name.
    pub fn compile(languages: &[String], source: &str) -> Result<Query, QueryFault> {
        let whole = |message: String| QueryFault { row: 0, column: 0, message };
        if source.len() > LONGEST || depth(source) > DEEPEST {
            return Err(whole(format!(
                "it is longer than {LONGEST} bytes, or nests deeper than {DEEPEST} levels"
            )));
        }
        let mut dialects: Vec<(Language, tree_sitter::Query)> = Vec::new();
        for name in languages {
            let grammar = of(name).ok_or_else(|| whole(format!("there is no grammar for {name}")))?;
            for language in PATHS.iter().flat_map(|path| grammar.dialects(path)) {
                if dialects.iter().any(|(known, _)| *known == language) {
                    continue;
                }
                let query = tree_sitter::Query::new(&language, source)
                    .map_err(|error| fault(&error, source, name))?;
                if let Some(unknown) = unknown_predicate(&query) {
                    return Err(whole(format!("the predicate `#{unknown}` is not known")));
                }
                if query.capture_names().is_empty() {
                    return Err(whole(
                        "it needs a capture, such as `@found`, that says where a match is".to_owned(),
                    ));
                }
                dialects.push((language, query));
            }
        }
        match dialects.is_empty() {
            true => Err(whole("it needs the languages that it is for".to_owned())),
            false => Ok(Query { dialects }),
        }
    }

    /// Gives where the matches in a text begin, in its order: each at its first capture. Steps are those of [`read`],
    /// and a sixteenth as many for the search, each of which may look at many open matches.
    pub fn places(
        &self,
        language: &str,
        path: &str,
        text: &str,
        steps: usize,
    ) -> Result<Vec<usize>, Unreadable> {
        let tree = read(language, path, text, steps)?;
        let query = self.dialects.iter().find(|(known, _)| *known == *tree.language());
        let Some((_, query)) = query else { return Err(Unreadable::Unknown) };
        on_stack(|| search(query, &tree, text, steps)).map_err(|_| Unreadable::Broken)?
    }
}

fn search(
    query: &tree_sitter::Query,
    tree: &tree_sitter::Tree,
    text: &str,
    steps: usize,
) -> Result<Vec<usize>, Unreadable> {
    let mut places = Vec::new();
    matches(query, tree, text, (OPEN, steps), |found| {
        places.extend(found.iter().map(|(_, span)| span.start).min());
        places.len() < MOST
    })?;
    places.sort_unstable();
    Ok(places)
}

/// Shows every capture of a query in a tree, by its number, until `see` says no. Of the two numbers one is that of the
/// matches that may be open at once, and one the steps, a sixteenth of which the search may take.
pub(super) fn captures(
    query: &tree_sitter::Query,
    tree: &tree_sitter::Tree,
    text: &str,
    bounds: (u32, usize),
    mut see: impl FnMut(usize, Range<usize>) -> bool,
) -> Result<(), Unreadable> {
    matches(query, tree, text, bounds, |found| {
        found.iter().all(|(capture, span)| see(*capture, span.clone()))
    })
}

/// The same, the captures of a match together.
fn matches(
    query: &tree_sitter::Query,
    tree: &tree_sitter::Tree,
    text: &str,
    (open, steps): (u32, usize),
    mut see: impl FnMut(&[(usize, Range<usize>)]) -> bool,
) -> Result<(), Unreadable> {
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(open);
    let (mut left, mut broke) = (steps / 16, false);
    let mut go_on = |_: &QueryCursorState| match left.checked_sub(1) {
        Some(less) => {
            left = less;
            ControlFlow::Continue(())
        }
        None => {
            broke = true;
            ControlFlow::Break(())
        }
    };
    let options = QueryCursorOptions::new().progress_callback(&mut go_on);
    {
        let mut matches = cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
        let mut found = Vec::new();
        while let Some(one) = matches.next() {
            found.clear();
            let captures = one.captures().iter();
            found.extend(
                captures.filter_map(|it| Some((usize::try_from(it.index).ok()?, it.node.byte_range()))),
            );
            if !see(&found) {
                break;
            }
        }
    }
    if broke || cursor.did_exceed_match_limit() {
        return Err(Unreadable::TooLong);
    }
    Ok(())
}

fn fault(error: &tree_sitter::QueryError, source: &str, language: &str) -> QueryFault {
    let line = source.lines().nth(error.row).unwrap_or_default();
    let column = line.get(..error.column).map_or(0, |before| before.chars().count());
    let word: String =
        error.message.lines().next().unwrap_or_default().trim_matches('"').chars().take(60).collect();
    let what = match error.kind {
        tree_sitter::QueryErrorKind::Syntax => "it cannot be read here".to_owned(),
        tree_sitter::QueryErrorKind::NodeType => format!("{language} has no node `{word}`"),
        tree_sitter::QueryErrorKind::Field => format!("{language} has no field `{word}`"),
        tree_sitter::QueryErrorKind::Capture => format!("no capture is named `{word}`"),
        tree_sitter::QueryErrorKind::Structure => format!("{language} never has nodes in this order"),
        tree_sitter::QueryErrorKind::Predicate => format!("a wrong predicate: {word}"),
        tree_sitter::QueryErrorKind::Language => format!("there is no grammar for {language}"),
    };
    QueryFault { row: error.row, column, message: what }
}

/// How deep the brackets of a source nest, at most.
fn depth(source: &str) -> usize {
    let mut depth = 0_usize;
    let deepest = source.bytes().map(|byte| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    deepest.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1 << 20;

    fn compile(languages: &[&str], source: &str) -> Result<Query, QueryFault> {
        let languages: Vec<String> = languages.iter().map(|&name| name.to_owned()).collect();
        Query::compile(&languages, source)
    }

    #[test]
    fn a_query_finds_its_places_in_every_dialect() {
        let query = compile(&["typescript", "c"], "(call_expression) @call").unwrap();
        let places =
            |language: &str, path: &str, text: &str| query.places(language, path, text, MANY).unwrap();
        assert_eq!(places("typescript", "a.ts", "a; f(); <T>g(1);"), [3, 11]);
        assert_eq!(places("typescript", "a.tsx", "const a = <p>{f()}</p>;"), [14]);
        assert_eq!(places("c", "a.c", "int main(void) { f(); }"), [17]);
        let named = compile(&["python"], "((identifier) @a (#match? @a \"^bad\"))").unwrap();
        assert_eq!(named.places("python", "a.py", "good = bad_1\n", MANY).unwrap(), [7]);
    }

    #[test]
    fn a_faulty_query_is_refused_where_it_is_faulty() {
        for (source, row, column, said) in [
            ("(call) @a\n(nonsense) @b", 1, 1, "python has no node `nonsense`"),
            ("(call", 0, 5, "cannot be read here"),
            ("(call wrong: (identifier)) @a", 0, 6, "no field `wrong`"),
            ("(call)", 0, 0, "needs a capture"),
            ("((call) @a (#match? @a \"(\"))", 0, 0, "predicate"),
        ] {
            let fault = compile(&["python"], source).expect_err(source);
            assert!(fault.message.contains(said), "{source}: {fault:?}");
            assert_eq!((fault.row, fault.column), (row, column), "{source}: {fault:?}");
        }
        assert!(compile(&["text"], "(call) @a").is_err());
        assert!(compile(&["python"], &"(".repeat(100_000)).is_err());
        assert!(compile(&[], "(call) @a").is_err());
    }

    #[test]
    fn a_search_that_takes_too_long_breaks_off() {
        let query = compile(&["python"], "(module (_)* @a (_)* @b (_)* @c)").unwrap();
        let text = "a = 1\n".repeat(20_000);
        assert_eq!(query.places("python", "a.py", &text, 10_000), Err(Unreadable::TooLong));
    }
}
