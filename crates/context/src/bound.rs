//! Names that are bound inside functions. Their uses there do not refer to other symbols.

use std::collections::HashSet;
use std::ops::Range;

use super::use_context::UseContext;
use lockgate_syntax::TagRole;

/// The maximum number of scopes examined around a use, from the innermost.
const MAX_SCOPES: usize = 64;

/// A scope with the names that are bound in it.
struct BindingScope<'a> {
    span: Range<usize>,
    names: HashSet<&'a str>,
    outer: HashSet<&'a str>,
}

/// All scopes, in text order.
pub(super) struct Scopes<'a>(Vec<BindingScope<'a>>);

impl<'a> Scopes<'a> {
    /// Collects the scopes of a text.
    pub(super) fn new(use_context: &'a UseContext<'_>) -> Scopes<'a> {
        let mut scopes = Scopes(Vec::new());
        let mut around = Around::default();
        for (role, span) in use_context.roles {
            around.leave(&scopes, span.start);
            if *role == TagRole::Scope {
                let (names, outer) = (HashSet::new(), HashSet::new());
                scopes.0.push(BindingScope { span: span.clone(), names, outer });
                around.enter(&scopes, scopes.0.len() - 1);
            }
            let innermost = around.open.last().and_then(|at| scopes.0.get_mut(*at));
            let (Some(scope), Some(name)) = (innermost, use_context.view.get(span.clone())) else { continue };
            match role {
                TagRole::Local => drop(scope.names.insert(name)),
                TagRole::Outer => drop(scope.outer.insert(name)),
                _ => {}
            }
        }
        scopes
    }
}

/// The scopes around a position that moves forward through the text, by their numbers.
#[derive(Default)]
pub(super) struct Around {
    open: Vec<usize>,
    next: usize,
}

impl Around {
    /// Moves forward to a position.
    pub(super) fn advance(&mut self, scopes: &Scopes<'_>, at: usize) {
        while scopes.0.get(self.next).is_some_and(|scope| scope.span.start <= at) {
            self.enter(scopes, self.next);
            self.next += 1;
        }
        self.leave(scopes, at);
    }

    fn enter(&mut self, scopes: &Scopes<'_>, scope: usize) {
        if let Some(bound) = scopes.0.get(scope) {
            self.leave(scopes, bound.span.start);
            self.open.push(scope);
        }
    }

    fn leave(&mut self, scopes: &Scopes<'_>, at: usize) {
        let ended = |scope: &mut usize| scopes.0.get(*scope).is_none_or(|scope| scope.span.end <= at);
        while self.open.pop_if(ended).is_some() {}
    }

    fn bound<'s>(&'s self, scopes: &'s Scopes<'_>) -> impl Iterator<Item = &'s BindingScope<'s>> {
        self.open.iter().rev().take(MAX_SCOPES).filter_map(|scope| scopes.0.get(*scope))
    }

    /// True if a name is bound around the position.
    pub(super) fn binds(&self, scopes: &Scopes<'_>, name: &str) -> bool {
        let decides = |scope: &&BindingScope<'_>| scope.outer.contains(name) || scope.names.contains(name);
        self.bound(scopes).find(decides).is_some_and(|scope| !scope.outer.contains(name))
    }

    /// True if a binding at this position is global: outside of all scopes, or declared so.
    pub(super) fn is_free(&self, scopes: &Scopes<'_>, name: &str) -> bool {
        self.open.is_empty() || self.bound(scopes).next().is_some_and(|scope| scope.outer.contains(name))
    }
}
