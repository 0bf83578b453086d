//! Which names a text uses, and how: the keys under which uses are kept.
//!
//! A key says as much of a use as can be seen without types: `name` as it is, `.name` as a member of something,
//! `of.name` as a member of a module or type of that name, `+name` where it is brought in, `+*` where everything is.
//!
//! Invariant: a name that is bound inside of a function is nobody's use there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::grammar::Use;

/// Scopes around a use that are looked at, from the innermost.
const MOST_SCOPES: usize = 64;
/// The longest name that is kept, in bytes.
const LONGEST: usize = 200;

/// The uses of a text: for each key the lines, from 1, in their order.
pub(super) type Uses = BTreeMap<String, Vec<u32>>;

/// What is known of a text whose uses are gathered.
pub(super) struct Scene<'a> {
    pub(super) language: &'a str,
    pub(super) view: &'a str,
    /// What its places are, in its order.
    pub(super) places: &'a [(Use, Range<usize>)],
    /// Where names are defined, in its order.
    pub(super) defined: &'a [Range<usize>],
    /// Gives the line of an offset.
    pub(super) line: &'a dyn Fn(usize) -> u32,
    /// Gives the name of the type around an offset.
    pub(super) owner: &'a dyn Fn(usize) -> Option<String>,
}

/// Gathers the uses of a text.
pub(super) fn uses(scene: &Scene<'_>) -> Uses {
    let imports = Imports::of(scene);
    let scopes = Scopes::of(scene);
    let mut uses = Uses::new();
    let mut around = Around::default();
    let mut next_scope = 0;
    for (meaning, span) in scene.places {
        while scopes.0.get(next_scope).is_some_and(|scope| scope.span.start <= span.start) {
            around.enter(&scopes, next_scope);
            next_scope += 1;
        }
        around.leave(&scopes, span.start);
        let Some(name) = scene.name(span) else { continue };
        let keys = match scene.meant(*meaning, span) {
            _ if scene.defines(span) => continue,
            Use::Name if around.binds(&scopes, name) => continue,
            Use::Name | Use::Type => vec![imports.true_name(name).to_owned()],
            Use::Key => vec![name.to_owned(), format!(".{name}")],
            Use::Member => imports.member(receiver(scene.view, span.start).1, name),
            Use::Path => path(scene, span, name),
            Use::Import => vec![format!("+{name}")],
            Use::Glob => vec!["+*".to_owned()],
            Use::Local | Use::Outer if around.is_free(&scopes, name) => vec![name.to_owned()],
            Use::Local | Use::Module | Use::Alias | Use::Outer | Use::Scope | Use::None => continue,
        };
        let line = (scene.line)(span.start);
        for key in keys {
            let lines = uses.entry(key).or_default();
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
    }
    uses
}

impl Scene<'_> {
    /// The name at a place, without quotes or what marks it as a name.
    fn name(&self, span: &Range<usize>) -> Option<&str> {
        let text = self.view.get(span.clone())?.trim_matches(['"', '\'', '*', '#']);
        let is_name = !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_whitespace);
        is_name.then_some(text)
    }

    /// What stands in the tokens of a macro is told by the signs before it.
    fn meant(&self, meaning: Use, span: &Range<usize>) -> Use {
        if meaning != Use::Name || self.language != "rust" {
            return meaning;
        }
        match receiver(self.view, span.start).0 {
            Sign::Dot => Use::Member,
            Sign::Colons => Use::Path,
            Sign::None => Use::Name,
        }
    }

    fn defines(&self, span: &Range<usize>) -> bool {
        let before = self.defined.partition_point(|name| name.start <= span.start);
        let name = before.checked_sub(1).and_then(|at| self.defined.get(at));
        name.is_some_and(|name| span.end <= name.end)
    }
}

/// The keys of what a path with `::` leads to.
fn path(scene: &Scene<'_>, span: &Range<usize>, name: &str) -> Vec<String> {
    match receiver(scene.view, span.start).1 {
        Some("Self") => {
            (scene.owner)(span.start).map(|owner| format!("{owner}.{name}")).into_iter().collect()
        }
        Some(owner) => vec![format!("{owner}.{name}")],
        None => vec![format!(".{name}")],
    }
}

/// What stands between a name and what it is a member of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Dot,
    Colons,
    None,
}

/// The sign before a name, and the name before that where nothing else stands there.
fn receiver(view: &str, at: usize) -> (Sign, Option<&str>) {
    let before = view.get(..at).unwrap_or_default().trim_end();
    let (sign, before) = match before {
        _ if before.ends_with("::") => (Sign::Colons, before.strip_suffix("::")),
        _ if before.ends_with("->") => (Sign::Dot, before.strip_suffix("->")),
        _ if before.ends_with("..") => return (Sign::None, None),
        _ if before.ends_with('.') => (Sign::Dot, before.strip_suffix('.')),
        _ => return (Sign::None, None),
    };
    let before = before.unwrap_or_default().trim_end().trim_end_matches(['?', '!']);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let start = before.trim_end_matches(is_part).len();
    let name = before.get(start..).filter(|name| !name.is_empty() && name.len() <= LONGEST);
    (sign, name)
}

/// What is brought in, by the names that it has in the text.
struct Imports<'a> {
    /// Modules, each with the last part of its own path.
    modules: HashMap<&'a str, &'a str>,
    /// Other things, each with its own name.
    things: HashMap<&'a str, &'a str>,
}

impl<'a> Imports<'a> {
    fn of(scene: &'a Scene<'_>) -> Imports<'a> {
        let (mut modules, mut things) = (HashMap::new(), HashMap::new());
        let mut last: Option<(Use, &str)> = None;
        for (meaning, span) in scene.places {
            let Some(name) = scene.view.get(span.clone()) else { continue };
            let bare = if scene.language == "go" { package(name) } else { name };
            last = match (meaning, last) {
                (Use::Module, Some((Use::Alias, alias))) if scene.language == "go" => {
                    modules.insert(alias, bare);
                    None
                }
                (Use::Alias, Some((Use::Module, module))) => {
                    modules.insert(name, module);
                    None
                }
                (Use::Alias, Some((Use::Import, thing))) => {
                    things.insert(name, thing);
                    None
                }
                (Use::Module, _) => {
                    modules.insert(bare, bare);
                    Some((Use::Module, bare))
                }
                (Use::Import, _) => {
                    things.insert(name, name);
                    Some((Use::Import, name))
                }
                (Use::Alias, _) => Some((Use::Alias, name)),
                _ => last.filter(|(kind, _)| *kind != Use::Alias),
            };
        }
        Imports { modules, things }
    }

    /// The name under which a thing was brought in.
    fn true_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.things.get(name).copied().unwrap_or(name)
    }

    /// The keys of a member of something.
    fn member(&self, receiver: Option<&str>, name: &str) -> Vec<String> {
        let member = format!(".{name}");
        let Some(receiver) = receiver else { return vec![member] };
        if let Some(module) = self.modules.get(receiver) {
            return vec![format!("{module}.{name}")];
        }
        let of = |owner: &str| format!("{owner}.{name}");
        match self.things.get(receiver) {
            Some(thing) => vec![of(thing), member],
            None if receiver.starts_with(char::is_uppercase) => vec![of(receiver), member],
            None => vec![member],
        }
    }
}

/// The name by which a package of Go is known that stands at this path.
fn package(path: &str) -> &str {
    let path = path.trim_matches(['"', '`']);
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let last = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match last.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        Some(_) | None => last,
    }
}

/// A part of a text with the names that are bound in it.
struct Bound<'a> {
    span: Range<usize>,
    names: HashSet<&'a str>,
    outer: HashSet<&'a str>,
}

/// All scopes, in the order of the text.
struct Scopes<'a>(Vec<Bound<'a>>);

impl<'a> Scopes<'a> {
    fn of(scene: &'a Scene<'_>) -> Scopes<'a> {
        let mut scopes = Scopes(Vec::new());
        let mut around = Around::default();
        for (meaning, span) in scene.places {
            around.leave(&scopes, span.start);
            if *meaning == Use::Scope {
                let (names, outer) = (HashSet::new(), HashSet::new());
                scopes.0.push(Bound { span: span.clone(), names, outer });
                around.enter(&scopes, scopes.0.len() - 1);
            }
            let innermost = around.0.last().and_then(|at| scopes.0.get_mut(*at));
            let (Some(scope), Some(name)) = (innermost, scene.view.get(span.clone())) else { continue };
            match meaning {
                Use::Local => drop(scope.names.insert(name)),
                Use::Outer => drop(scope.outer.insert(name)),
                _ => {}
            }
        }
        scopes
    }
}

/// The scopes around a place, by their numbers.
#[derive(Default)]
struct Around(Vec<usize>);

impl Around {
    fn enter(&mut self, scopes: &Scopes<'_>, scope: usize) {
        if let Some(bound) = scopes.0.get(scope) {
            self.leave(scopes, bound.span.start);
            self.0.push(scope);
        }
    }

    fn leave(&mut self, scopes: &Scopes<'_>, at: usize) {
        let ended = |scope: &mut usize| scopes.0.get(*scope).is_none_or(|scope| scope.span.end <= at);
        while self.0.pop_if(ended).is_some() {}
    }

    fn bound<'s>(&'s self, scopes: &'s Scopes<'_>) -> impl Iterator<Item = &'s Bound<'s>> {
        self.0.iter().rev().take(MOST_SCOPES).filter_map(|scope| scopes.0.get(*scope))
    }

    /// Whether a name is bound around the place.
    fn binds(&self, scopes: &Scopes<'_>, name: &str) -> bool {
        let decides = |scope: &&Bound<'_>| scope.outer.contains(name) || scope.names.contains(name);
        self.bound(scopes).find(decides).is_some_and(|scope| !scope.outer.contains(name))
    }

    /// Whether what binds a name here binds it for everybody: outside of all scopes, or where it is said so.
    fn is_free(&self, scopes: &Scopes<'_>, name: &str) -> bool {
        self.0.is_empty() || self.bound(scopes).next().is_some_and(|scope| scope.outer.contains(name))
    }
}
