//! Tree-sitter queries over syntax trees.
//!
//! Invariant: a query's source is short and has little nesting, so compiling it needs neither much
//! stack nor much time. A search limits its steps and its open matches.

mod error;
mod needs;

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use lru::LruCache;
use tree_sitter::{Language, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator};

use self::error::fault;
use self::needs::needs;
use super::{LargeStack, Unreadable, allowed, find, read_on, with_large_stack};

pub use self::error::QueryError;

/// The maximum length of a source in bytes, and the maximum nesting of its brackets.
const LONGEST: usize = 16 << 10;
const DEEPEST: usize = 64;
/// The maximum number of open matches, all of which each step visits; and of returned matches.
const OPEN: u32 = 64;
const MOST: usize = 1000;
/// The number of texts whose matches are cached; an edit is often searched more than once before it is
/// written.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(32).unwrap();
/// Paths that select the dialects of a language.
const PATHS: [&str; 3] = ["a", "a.tsx", "a.h"];

/// A query, compiled for every dialect of its languages.
#[derive(Debug)]
pub struct Query {
    dialects: Vec<(Language, tree_sitter::Query)>,
    /// Texts that every match contains.
    needs: Vec<String>,
    /// The offsets of its matches in the most recently searched texts.
    cached_matches: Box<Mutex<LruCache<QueriedText, Vec<usize>>>>,
}

/// A searched text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct QueriedText {
    hash: blake3::Hash,
    language: String,
    path: String,
}

/// Returns the first unsupported predicate.
fn unknown_predicate(query: &tree_sitter::Query) -> Option<String> {
    let patterns = 0..query.pattern_count();
    let mut unknown = patterns.flat_map(|pattern| query.general_predicates(pattern));
    unknown.next().map(|predicate| predicate.operator.to_string())
}

impl Query {
    /// Compiles a query for the languages with these names.
    pub fn compile(languages: &[String], source: &str) -> Result<Query, QueryError> {
        let whole = |message: String| QueryError { row: 0, column: 0, message };
        if source.len() > LONGEST || depth(source) > DEEPEST {
            return Err(whole(format!(
                "it is longer than {LONGEST} bytes, or nests deeper than {DEEPEST} levels"
            )));
        }
        let mut dialects: Vec<(Language, tree_sitter::Query)> = Vec::new();
        for name in languages {
            let grammar = find(name).ok_or_else(|| whole(format!("there is no grammar for {name}")))?;
            for language in PATHS.iter().flat_map(|path| grammar.dialects(path)) {
                if dialects.iter().any(|(known, _)| *known == language) {
                    continue;
                }
                let query = tree_sitter::Query::new(&language, source)
                    .map_err(|error| fault(&error, source, name))?;
                if let Some(unknown) = unknown_predicate(&query) {
                    return Err(whole(format!("unknown predicate `#{unknown}`")));
                }
                if query.capture_names().is_empty() {
                    return Err(whole("it needs a capture, such as `@found`, that marks a match".to_owned()));
                }
                dialects.push((language, query));
            }
        }
        // Only texts on which all grammars agree are used.
        let of_all = dialects.iter().map(|(_, query)| needs(query, source));
        let needs = of_all.reduce(|all, some| if all == some { all } else { Vec::new() });
        let needs = needs.ok_or_else(|| whole("it needs a list of languages".to_owned()))?;
        let cached_matches = Box::new(Mutex::new(LruCache::new(REMEMBERED)));
        Ok(Query { dialects, needs, cached_matches })
    }

    /// Returns the offsets of the first capture of each match, in text order. Steps are those of
    /// [`super::read`]; the search gets a sixteenth as many, because each of its steps may visit many
    /// open matches.
    pub fn places(
        &self,
        language: &str,
        path: &str,
        text: &str,
        steps: usize,
    ) -> Result<Vec<usize>, Unreadable> {
        let is_known = |language: &Language| self.dialects.iter().any(|(known, _)| known == language);
        if !find(language).is_some_and(|grammar| grammar.dialects(path).iter().any(is_known)) {
            return Err(Unreadable::Unknown);
        }
        if self.needs.iter().any(|needed| !text.contains(needed.as_str())) {
            return Ok(Vec::new());
        }
        let hash = blake3::hash(text.as_bytes());
        let key = QueriedText { hash, language: language.to_owned(), path: path.to_owned() };
        let cache = || self.cached_matches.lock();
        if let Some(places) = cache().get(&key) {
            return Ok(places.clone());
        }
        let places = with_large_stack(|deep| self.search_on(deep, language, path, text, steps));
        let places = places.map_err(|_| Unreadable::Broken)??;
        cache().put(key, places.clone());
        Ok(places)
    }

    fn search_on(
        &self,
        deep: &LargeStack,
        language: &str,
        path: &str,
        text: &str,
        steps: usize,
    ) -> Result<Vec<usize>, Unreadable> {
        let tree = read_on(deep, allowed(text), language, path, text, steps)?;
        let query = self.dialects.iter().find(|(known, _)| *known == *tree.language());
        let Some((_, query)) = query else { return Err(Unreadable::Unknown) };
        let mut places = Vec::new();
        matches(query, &tree, text, OPEN, steps, |found| {
            places.extend(found.iter().map(|(_, span)| span.start).min());
            places.len() < MOST
        })?;
        places.sort_unstable();
        Ok(places)
    }
}

/// Visits every capture of a query in a tree, with its index, until `visit` returns false. At most `open` matches may be
/// open, and the search may take a sixteenth of the steps.
pub(super) fn captures(
    query: &tree_sitter::Query,
    tree: &tree_sitter::Tree,
    text: &str,
    open: u32,
    steps: usize,
    mut visit: impl FnMut(usize, Range<usize>) -> bool,
) -> Result<(), Unreadable> {
    matches(query, tree, text, open, steps, |found| {
        found.iter().all(|(capture, span)| visit(*capture, span.clone()))
    })
}

/// Visits every match with all of its captures.
fn matches(
    query: &tree_sitter::Query,
    tree: &tree_sitter::Tree,
    text: &str,
    open: u32,
    steps: usize,
    mut visit: impl FnMut(&[(usize, Range<usize>)]) -> bool,
) -> Result<(), Unreadable> {
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(open);
    let (mut remaining, mut broke) = (steps / 16, false);
    let mut go_on = |_: &QueryCursorState| match remaining.checked_sub(1) {
        Some(less) => {
            remaining = less;
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
            if !visit(&found) {
                break;
            }
        }
    }
    if broke || cursor.did_exceed_match_limit() {
        return Err(Unreadable::TooLong);
    }
    Ok(())
}

/// Returns the maximum nesting of brackets in a source.
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

    fn compile(languages: &[&str], source: &str) -> Result<Query, QueryError> {
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
    fn a_text_that_lacks_what_every_match_holds_is_not_parsed() {
        let query = compile(&["python"], r#"((identifier) @a (#eq? @a "word"))"#).unwrap();
        let places = |language: &str, text: &str, steps| query.places(language, "a.py", text, steps);
        let more = "x = 1\n".repeat(2000);
        let (one, two, none) =
            (format!("word = 1\n{more}"), format!("{more}word = 2\n"), format!("wort\n{more}"));
        assert_eq!(places("python", &one, MANY), Ok(vec![0]));
        assert_eq!(places("python", &one, 1), Ok(vec![0]), "it is remembered");
        assert_eq!(places("python", &two, 1), Err(Unreadable::TooLong), "the control");
        assert_eq!(places("python", &none, 1), Ok(vec![]));
        assert_eq!(places("java", &none, MANY), Err(Unreadable::Unknown));
    }

    #[test]
    fn a_faulty_query_is_refused_where_it_is_faulty() {
        for (source, row, column, message) in [
            ("(call) @a\n(nonsense) @b", 1, 1, "python has no node `nonsense`"),
            ("(call", 0, 5, "syntax error"),
            ("(call wrong: (identifier)) @a", 0, 6, "no field `wrong`"),
            ("(call)", 0, 0, "needs a capture"),
            ("((call) @a (#match? @a \"(\"))", 0, 0, "predicate"),
        ] {
            let error = compile(&["python"], source).expect_err(source);
            assert!(error.message.contains(message), "{source}: {error:?}");
            assert_eq!((error.row, error.column), (row, column), "{source}: {error:?}");
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
