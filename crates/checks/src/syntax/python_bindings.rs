//! The names that a scope of Python declares and binds.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::statement_visitor::{self, StatementVisitor};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ExprContext, Identifier, Parameters, Pattern, Stmt, StmtFunctionDef, StmtTry,
};
use ruff_text_size::TextRange;

/// The last declaration of each name of a scope.
#[derive(Default)]
pub(super) struct Declarations<'a> {
    pub(super) global: HashMap<&'a str, TextRange>,
    pub(super) nonlocal: HashMap<&'a str, TextRange>,
}

impl<'a> Declarations<'a> {
    pub(super) fn in_body(body: &'a [Stmt]) -> Declarations<'a> {
        let mut declared = Declarations::default();
        declared.visit_body(body);
        declared
    }
}

impl<'a> StatementVisitor<'a> for Declarations<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let ranges = |names: &'a [Identifier]| names.iter().map(|name| (name.as_str(), name.range));
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Global(global) => self.global.extend(ranges(&global.names)),
            Stmt::Nonlocal(nonlocal) => self.nonlocal.extend(ranges(&nonlocal.names)),
            // Before 3.13, `else` came before the handlers.
            Stmt::Try(StmtTry { body, handlers, finalbody, .. }) if !handlers.is_empty() => {
                self.visit_body(body);
                handlers.iter().for_each(|handler| self.visit_except_handler(handler));
                self.visit_body(finalbody);
            }
            _ => statement_visitor::walk_stmt(self, stmt),
        }
    }
}

/// The names that a function may bind; too many rather than too few.
#[derive(Default)]
pub(super) struct Bindings<'a> {
    names: HashSet<&'a str>,
}

impl<'a> Bindings<'a> {
    pub(super) fn names(function: &'a StmtFunctionDef) -> HashSet<&'a str> {
        let mut bindings = Bindings::default();
        bindings.names.extend(function.parameters.iter().map(|parameter| parameter.name().as_str()));
        bindings.visit_body(&function.body);
        bindings.names
    }

    fn insert(&mut self, name: Option<&'a Identifier>) {
        self.names.extend(name.map(Identifier::as_str));
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.insert(Some(&function.name));
                function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                defaults(&function.parameters).for_each(|default| self.visit_expr(default));
            }
            Stmt::ClassDef(class) => {
                self.insert(Some(&class.name));
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.name.as_str();
        let first = name.split_once('.').map_or(name, |(first, _)| first);
        self.names.insert(alias.asname.as_ref().map_or(first, Identifier::as_str));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(except) = handler;
        self.insert(except.name.as_ref());
        except.type_.iter().for_each(|expr| self.visit_expr(expr));
        self.visit_body(&except.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(pattern) => self.insert(pattern.name.as_ref()),
            Pattern::MatchStar(pattern) => self.insert(pattern.name.as_ref()),
            Pattern::MatchMapping(pattern) => self.insert(pattern.rest.as_ref()),
            _ => {}
        }
        walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx != ExprContext::Load
        {
            self.names.insert(name.id.as_str());
        }
        walk_expr(self, expr);
    }
}

/// Returns the default values of parameters.
pub(super) fn defaults(parameters: &Parameters) -> impl Iterator<Item = &Expr> {
    parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default.as_deref())
}
