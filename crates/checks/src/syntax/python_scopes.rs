//! Finds faults of Python that its grammar accepts and its compiler rejects, such as `return` outside of a function.
//!
//! Ruff's checker has the rules. This module walks the tree and tells it the scope of each node. A rule that only some
//! versions of Python have is silent: the checker takes the text for Python 3.13, where none of them applies. Annotations,
//! type parameters and the values of type aliases have scopes of their own, which depend on the version; their names are
//! not looked at.
//!
//! Invariant: the walk recurses only where the tree nests, so the stack of the parser suffices. Declarations and bindings of a
//! function are looked for in walks of their own, which do not enter the functions in it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprLambda, ModModule, Parameters, PythonVersion, Stmt,
    StmtFunctionDef, TypeParams,
};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
    SemanticSyntaxErrorKind,
};
use ruff_text_size::TextRange;

use super::fault::{MAX_ACCEPTED_FAULTS, Pass, SyntaxFault};
use super::python_bindings::{Bindings, Declarations, defaults};
use super::python_hosts::{has_async_host, is_function_body, message_of};

/// The most type parameters, or `for` clauses of a comprehension, that are compared with each other.
const MAX_COMPARED: usize = 200;

/// Returns the faults of a module that was parsed without faults.
pub(super) fn faults(module: &ModModule, text: &str, path: &str) -> Vec<SyntaxFault> {
    let context = ScopeContext {
        text,
        is_stub: path.ends_with(".pyi"),
        scopes: vec![NameScope::new(ScopeKind::Module)],
        faults: RefCell::default(),
        has_async_host: OnceCell::new(),
    };
    let mut walk = ModuleWalk { checker: SemanticSyntaxChecker::new(), context };
    walk.visit_body(&module.body);
    walk.context.faults.into_inner()
}

/// The kind of a scope.
#[derive(Clone, Copy)]
enum ScopeKind<'a> {
    Module,
    Class,
    Function(&'a StmtFunctionDef),
    Lambda(&'a ExprLambda),
    /// A list, set or dictionary comprehension.
    Comprehension,
    Generator,
}

impl<'a> ScopeKind<'a> {
    fn parameters(self) -> Option<&'a Parameters> {
        match self {
            ScopeKind::Function(function) => Some(&function.parameters),
            ScopeKind::Lambda(lambda) => lambda.parameters.as_deref(),
            ScopeKind::Module | ScopeKind::Class | ScopeKind::Comprehension | ScopeKind::Generator => None,
        }
    }
}

/// A scope that the walk is in.
struct NameScope<'a> {
    kind: ScopeKind<'a>,
    /// The number of loops of this scope that the walk is in.
    loops: usize,
    declared: Declarations<'a>,
    /// The names that a function binds, once they are needed.
    bound: OnceCell<HashSet<&'a str>>,
}

impl<'a> NameScope<'a> {
    fn new(kind: ScopeKind<'a>) -> NameScope<'a> {
        NameScope { kind, loops: 0, declared: Declarations::default(), bound: OnceCell::new() }
    }

    fn binds(&self, name: &str) -> bool {
        let ScopeKind::Function(function) = self.kind else { return false };
        self.bound.get_or_init(|| Bindings::names(function)).contains(name)
    }
}

/// A walk over a module that asks the checker about each statement and expression.
struct ModuleWalk<'a> {
    checker: SemanticSyntaxChecker,
    context: ScopeContext<'a>,
}

impl<'a> ModuleWalk<'a> {
    // The rules are kept out of the frames that stay on the stack while the walk descends.
    #[inline(never)]
    fn check_statement(&mut self, stmt: &Stmt) {
        let is_checked = match stmt {
            Stmt::FunctionDef(function) => is_comparable(function.type_params.as_deref()),
            Stmt::ClassDef(class) => is_comparable(class.type_params.as_deref()),
            Stmt::TypeAlias(alias) => is_comparable(alias.type_params.as_deref()),
            // `(a): int` is no declaration of a variable.
            Stmt::AnnAssign(annotated) => annotated.simple,
            Stmt::Try(r#try) => {
                self.context.check_handlers(&r#try.handlers);
                true
            }
            _ => true,
        };
        if is_checked {
            self.checker.visit_stmt(stmt, &self.context);
        }
    }

    #[inline(never)]
    fn check_expression(&mut self, expr: &Expr) {
        let clauses = match expr {
            Expr::ListComp(list) => list.generators.len(),
            Expr::SetComp(set) => set.generators.len(),
            Expr::DictComp(dict) => dict.generators.len(),
            Expr::Generator(generator) => generator.generators.len(),
            _ => 0,
        };
        if clauses <= MAX_COMPARED {
            self.checker.visit_expr(expr, &self.context);
        }
    }

    fn enter(&mut self, kind: ScopeKind<'a>, body: &'a [Stmt]) {
        self.context.enter(kind, body);
        self.visit_body(body);
        self.leave();
    }

    fn leave(&mut self) {
        self.context.scopes.pop();
    }

    fn function(&mut self, function: &'a StmtFunctionDef) {
        function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        defaults(&function.parameters).for_each(|default| self.visit_expr(default));
        self.enter(ScopeKind::Function(function), &function.body);
    }

    fn lambda(&mut self, lambda: &'a ExprLambda) {
        lambda.parameters.iter().for_each(|parameters| {
            defaults(parameters).for_each(|default| self.visit_expr(default));
        });
        self.context.enter(ScopeKind::Lambda(lambda), &[]);
        self.visit_expr(&lambda.body);
        self.leave();
    }

    /// Visits a comprehension. Its first iterable is evaluated in the scope around it.
    fn comprehension(
        &mut self,
        kind: ScopeKind<'a>,
        clauses: &'a [Comprehension],
        elements: [Option<&'a Expr>; 2],
    ) {
        let Some((first, others)) = clauses.split_first() else { return };
        self.visit_expr(&first.iter);
        self.context.enter(kind, &[]);
        self.visit_expr(&first.target);
        first.ifs.iter().for_each(|condition| self.visit_expr(condition));
        others.iter().for_each(|clause| self.visit_comprehension(clause));
        elements.into_iter().flatten().for_each(|element| self.visit_expr(element));
        self.leave();
    }

    fn in_loop(&mut self, body: &'a [Stmt]) {
        self.context.scope(|scope| scope.loops += 1);
        self.visit_body(body);
        self.context.scope(|scope| scope.loops -= 1);
    }
}

fn is_comparable(parameters: Option<&TypeParams>) -> bool {
    parameters.is_none_or(|parameters| parameters.len() <= MAX_COMPARED)
}

impl<'a> Visitor<'a> for ModuleWalk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.check_statement(stmt);
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                let arguments = class.arguments.as_ref().filter(|_| class.type_params.is_none());
                arguments.into_iter().for_each(|arguments| self.visit_arguments(arguments));
                self.enter(ScopeKind::Class, &class.body);
            }
            Stmt::For(r#for) => {
                self.visit_expr(&r#for.iter);
                self.visit_expr(&r#for.target);
                self.in_loop(&r#for.body);
                self.visit_body(&r#for.orelse);
            }
            Stmt::While(r#while) => {
                self.visit_expr(&r#while.test);
                self.in_loop(&r#while.body);
                self.visit_body(&r#while.orelse);
            }
            Stmt::TypeAlias(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _annotation: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.check_expression(expr);
        match expr {
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(list) => {
                self.comprehension(ScopeKind::Comprehension, &list.generators, [Some(&list.elt), None]);
            }
            Expr::SetComp(set) => {
                self.comprehension(ScopeKind::Comprehension, &set.generators, [Some(&set.elt), None]);
            }
            Expr::DictComp(dict) => {
                let elements = [dict.key.as_deref(), Some(&*dict.value)];
                self.comprehension(ScopeKind::Comprehension, &dict.generators, elements);
            }
            Expr::Generator(generator) => {
                self.comprehension(ScopeKind::Generator, &generator.generators, [Some(&generator.elt), None]);
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// The scopes around a node, as the checker asks for them.
struct ScopeContext<'a> {
    text: &'a str,
    is_stub: bool,
    /// From the module to the innermost.
    scopes: Vec<NameScope<'a>>,
    faults: RefCell<Vec<SyntaxFault>>,
    has_async_host: OnceCell<bool>,
}

impl<'a> ScopeContext<'a> {
    fn enter(&mut self, kind: ScopeKind<'a>, body: &'a [Stmt]) {
        let scope = NameScope { declared: Declarations::in_body(body), ..NameScope::new(kind) };
        for (name, range) in &scope.declared.nonlocal {
            if scope.declared.global.contains_key(name) {
                self.report(
                    *range,
                    message_of(SemanticSyntaxErrorKind::NonlocalAndGlobal((*name).to_owned())),
                );
            }
        }
        self.scopes.push(scope);
    }

    fn scope(&mut self, change: impl FnMut(&mut NameScope<'a>)) {
        self.scopes.last_mut().into_iter().for_each(change);
    }

    /// Returns the kinds of the scopes around a node, from the innermost.
    fn kinds(&self) -> impl Iterator<Item = ScopeKind<'a>> {
        self.scopes.iter().rev().map(|scope| scope.kind)
    }

    fn kind(&self) -> ScopeKind<'a> {
        self.kinds().next().unwrap_or(ScopeKind::Module)
    }

    fn is_nonlocal(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(|scope| scope.declared.nonlocal.contains_key(name))
    }

    fn has_async_host(&self) -> bool {
        *self.has_async_host.get_or_init(|| has_async_host(self.text))
    }

    /// Reports a handler of every exception that is not the last one.
    fn check_handlers(&self, handlers: &[ExceptHandler]) {
        let Some((_, before)) = handlers.split_last() else { return };
        for ExceptHandler::ExceptHandler(except) in before {
            if except.type_.is_none() {
                let start = except.range.start();
                self.report(TextRange::empty(start), "default `except:` must be last".to_owned());
            }
        }
    }

    fn report(&self, range: TextRange, message: String) {
        let mut faults = self.faults.borrow_mut();
        if faults.len() < MAX_ACCEPTED_FAULTS {
            let fault = SyntaxFault::new(range.start().to_usize(), range.end().to_usize(), message);
            faults.push(SyntaxFault { pass: Pass::Scopes, ..fault });
        }
    }
}

impl SemanticSyntaxContext for ScopeContext<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        self.is_stub
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        self.kinds().find_map(|kind| match kind {
            ScopeKind::Function(_) => Some(LazyImportContext::Function),
            ScopeKind::Class => Some(LazyImportContext::Class),
            _ => None,
        })
    }

    fn python_version(&self) -> PythonVersion {
        PythonVersion::PY313
    }

    fn source(&self) -> &str {
        self.text
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        let declared = &self.scopes.last()?.declared;
        declared.global.get(name).or_else(|| declared.nonlocal.get(name)).copied()
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        // In a class, such a name is another one.
        let is_private = name.starts_with("__");
        let around = self.scopes.split_last().map(|(_, around)| around).unwrap_or_default();
        is_private || around.iter().any(|scope| scope.binds(name))
    }

    fn in_async_context(&self) -> bool {
        let decides = self.kinds().find_map(|kind| match kind {
            ScopeKind::Class | ScopeKind::Lambda(_) => Some(false),
            ScopeKind::Function(function) => Some(function.is_async),
            ScopeKind::Module => Some(self.has_async_host()),
            ScopeKind::Comprehension | ScopeKind::Generator => None,
        });
        decides.unwrap_or_default()
    }

    fn in_await_allowed_context(&self) -> bool {
        let decides = self.kinds().find_map(|kind| match kind {
            ScopeKind::Class => Some(false),
            ScopeKind::Function(_) | ScopeKind::Lambda(_) | ScopeKind::Generator => Some(true),
            ScopeKind::Module => Some(self.has_async_host()),
            ScopeKind::Comprehension => None,
        });
        decides.unwrap_or_default()
    }

    fn in_yield_allowed_context(&self) -> bool {
        self.in_function_scope()
    }

    fn in_sync_comprehension(&self) -> bool {
        false
    }

    fn in_class_body_comprehension(&self) -> bool {
        let around =
            self.kinds().find(|kind| !matches!(kind, ScopeKind::Comprehension | ScopeKind::Generator));
        matches!(around, Some(ScopeKind::Class))
    }

    fn in_module_scope(&self) -> bool {
        matches!(self.kind(), ScopeKind::Module)
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.kind(), ScopeKind::Function(_) | ScopeKind::Lambda(_))
    }

    fn in_generator_context(&self) -> bool {
        self.kinds().any(|kind| matches!(kind, ScopeKind::Generator))
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        let kind = match error.kind {
            SemanticSyntaxErrorKind::ReturnOutsideFunction if is_function_body(self.text) => return,
            SemanticSyntaxErrorKind::LoadBeforeGlobalDeclaration { name, start }
                if self.is_nonlocal(&name) =>
            {
                SemanticSyntaxErrorKind::LoadBeforeNonlocalDeclaration { name, start }
            }
            SemanticSyntaxErrorKind::AnnotatedGlobal(name) if self.is_nonlocal(&name) => {
                SemanticSyntaxErrorKind::AnnotatedNonlocal(name)
            }
            kind => kind,
        };
        self.report(error.range, message_of(kind));
    }

    fn in_loop_context(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.loops > 0)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.kind().parameters().is_some_and(|parameters| parameters.includes(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;

    /// Returns the findings of a file as `line message`; all block.
    fn faults(code: &str) -> Vec<String> {
        let verdict = judged("a.py", None, code);
        let found = verdict.findings.iter().inspect(|found| assert!(found.blocking, "{code}"));
        found.map(|found| format!("{} {}", found.line, found.message)).collect()
    }

    #[test]
    fn what_the_compiler_rejects_is_a_fault() {
        for (code, fault) in [
            ("x = 1\nreturn x\n", "2 `return` statement outside of a function"),
            ("class A:\n    return 1\n", "2 `return` statement outside of a function"),
            ("yield 1\n", "1 `yield` statement outside of a function"),
            ("class A:\n    x = yield\n", "2 `yield` statement outside of a function"),
            ("def f():\n    return [(yield x) for x in y]\n", "2 `yield` statement outside of a function"),
            ("await f()\n", "1 `await` statement outside of a function"),
            ("def f():\n    await g()\n", "2 `await` outside of an asynchronous function"),
            (
                "async def f():\n    return lambda: await g()\n",
                "2 `await` outside of an asynchronous function",
            ),
            (
                "def f():\n    async for x in y:\n        pass\n",
                "2 `async for` outside of an asynchronous function",
            ),
            (
                "def f():\n    async with x:\n        pass\n",
                "2 `async with` outside of an asynchronous function",
            ),
            (
                "def f():\n    return [x async for x in y]\n",
                "2 asynchronous comprehension outside of an asynchronous function",
            ),
            ("async def f():\n    yield 1\n    return 2\n", "3 "),
            ("break\n", "1 `break` outside loop"),
            ("for x in y:\n    pass\nelse:\n    break\n", "4 `break` outside loop"),
            ("while x:\n    def f():\n        continue\n", "3 `continue` "),
            ("for x in y:\n    class A:\n        break\n", "3 `break` outside loop"),
            ("f(a=1, a=2)\n", "1 Duplicate keyword argument `a`"),
            ("class A(m=1, m=2): pass\n", "1 Duplicate keyword argument `m`"),
            ("def f(a, b, a): pass\n", "1 Duplicate parameter \"a\""),
            ("f = lambda a, *a: 1\n", "1 Duplicate parameter \"a\""),
            (
                "import os\nfrom __future__ import annotations\n",
                "2 __future__ imports must be at the top of the file",
            ),
            ("nonlocal x\n", "1 nonlocal declaration not allowed at module level"),
            ("def f():\n    nonlocal x\n", "2 "),
            ("x = 1\ndef f():\n    def g():\n        nonlocal x\n", "4 "),
            ("class A:\n    x = 1\n    def f(self):\n        nonlocal x\n", "4 "),
            ("def f():\n    print(x)\n    global x\n", "2 name `x` is used prior to global declaration"),
            (
                "def f():\n    x = 1\n    def g():\n        x = 2\n        nonlocal x\n",
                "4 name `x` is used prior to nonlocal declaration",
            ),
            ("def f(x):\n    global x\n", "2 "),
            (
                "def f():\n    x = 1\n    def g():\n        nonlocal x\n        global x\n",
                "4 name `x` is nonlocal and global",
            ),
            ("def f():\n    global x\n    x: int = 1\n", "3 annotated name `x` can't be global"),
            ("try:\n    pass\nexcept:\n    pass\nexcept E:\n    pass\n", "3 default `except:` must be last"),
            ("*a, *b = c\n", "1 Two starred expressions in assignment"),
            ("def f():\n    from os import *\n", "2 `from os import *` only allowed at module level"),
            ("def f[T, T](): pass\n", "1 duplicate type parameter"),
            ("match x:\n    case y: pass\n    case 1: pass\n", "2 "),
            ("[(a := 1) for a in b]\n", "1 assignment expression cannot rebind comprehension variable"),
            ("def f():\n    return *x\n", "2 Starred expression cannot be used here"),
        ] {
            let found = faults(code);
            assert!(found.len() == 1 && found[0].starts_with(fault), "{code}: {found:?}");
        }
    }

    #[test]
    fn what_some_version_of_python_compiles_is_no_fault() {
        for code in [
            "\"\"\"A.\"\"\"\n# b\nfrom __future__ import annotations\nfrom __future__ import division\nimport os\n",
            "def f():\n    yield 1\n    return (lambda: (yield))\n",
            "def f():\n    return [x for x in (yield)]\n",
            "def f(a=lambda b=1: b):\n    return lambda a: a\n",
            "async def f():\n    return [await x async for x in await y if await z]\n",
            "async def f():\n    return {k: [x async for x in y] for k in z}\n",
            "async def f():\n    class A:\n        async def g(self):\n            await x\n",
            "def f(y):\n    return (await x async for x in y)\n",
            "async def f(x=1, *, y=2, **z):\n    async with a as b, c:\n        async for d in e:\n            break\n",
            "while x:\n    try:\n        break\n    finally:\n        continue\n",
            "for x in y:\n    for z in x:\n        pass\n    else:\n        break\n",
            "for x in y:\n    match x:\n        case 1:\n            continue\n        case _:\n            break\n",
            "while x:\n    with y:\n        if z:\n            break\n        elif w:\n            continue\n",
            "f(a=1, **b, **c)\ng(a=1)(a=2)\n",
            "def f(self, __x, *_, **__): pass\n",
            "def f():\n    def g():\n        nonlocal x\n        x += 1\n    x = 1\n",
            "def f(x):\n    def g():\n        def h():\n            nonlocal x\n",
            "def f():\n    import a.b as c, d.e\n    def g():\n        nonlocal c, d\n",
            "def f():\n    class A: pass\n    def h(): pass\n    def g():\n        nonlocal A, h\n",
            "def f():\n    try:\n        pass\n    except E as x:\n        pass\n    def g():\n        nonlocal x\n",
            "def f():\n    with a as (x, [y, *z]): pass\n    def g():\n        nonlocal x, y, z\n",
            "def f():\n    match a:\n        case [x, *y] | {'b': x, **y}: pass\n    def g():\n        nonlocal x, y\n",
            "def f():\n    [x := y for y in z]\n    def g():\n        nonlocal x\n",
            "def f():\n    x: int\n    class A:\n        nonlocal x\n",
            "def f():\n    def h(a=(x := 1)): pass\n    def g():\n        nonlocal x\n",
            "class A:\n    def f(self):\n        def g():\n            nonlocal __class__\n",
            "def f():\n    global x\n    x = 1\n    print(x)\ndef g():\n    print(x)\n",
            "def f():\n    def g():\n        return x\n    global x\n    x = 1\n",
            "def f():\n    g = lambda: x\n    y = [x for x in z]\n    global x\n",
            "def f(a: x) -> y:\n    b: x = 1\n    global x\n",
            "def f():\n    try:\n        pass\n    except E:\n        x = 1\n    else:\n        global x\n",
            "def f():\n    global x\n    (x): int = 1\n",
            "try:\n    pass\nexcept E:\n    pass\nexcept:\n    pass\n",
            "a, *b = [*c, d] = [*e, *f]\n[*a], *b = c\nfor (a, *b), *c in d: pass\n",
            "def f[T](x: T) -> T:\n    return x\nclass A[T, *U, **V]: pass\n",
            "a: (x := 1)\ndef f():\n    b: (yield)\n",
            "match x:\n    case y if y: pass\n    case A(a=1, b=2): pass\n    case _: pass\n",
            "[b := a for a in c]\nprint(__debug__)\n",
            "from os import *\nif x:\n    from sys import *\n",
        ] {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }

    #[test]
    fn a_host_may_run_a_file_in_a_function() {
        let cells = "# %% [markdown]\n# A\n\n# %%\nx = await f()\n[await y for y in z]\nasync with a: pass\n";
        assert_eq!(faults(cells), [] as [String; 0]);
        assert_eq!(faults(&cells.replace("# %%", "# ")).len(), 3, "the control");
        assert_eq!(faults("from pyscript import web\nawait f()\n"), [] as [String; 0]);
        assert_eq!(faults("## Script (Python) \"a\"\n##parameters=\nreturn 1\n"), [] as [String; 0]);
        assert_eq!(faults("# %%\ndef f():\n    await g()\n").len(), 1, "a function stays one");
        // What such a file has already, it may have again.
        let old = "x = await f()\nreturn x\n";
        let blocks = |after: &str| judged("a.py", Some(old), after).blocking().count();
        assert_eq!(blocks("x = await f()\ny = await g()\nif y:\n    return y\nreturn x\n"), 0);
        assert_eq!(blocks("x = await f()\nbreak\nreturn x\n"), 1, "the control");
        assert_eq!(judged("a.py", Some("x = 1\n"), old).blocking().count(), 2, "it was a module before");
    }

    #[test]
    fn old_faults_do_not_excuse_new_ones() {
        let old = "import os\n\n\ndef f():\n    x = 1\n    return x\n\n\nbreak\n\n\ndef g():\n    return 2\n";
        let lines = |after: &str| -> Vec<usize> {
            judged("a.py", Some(old), after).blocking().map(|found| found.line).collect()
        };
        assert_eq!(lines(&old.replace("x = 1", "x = 2")), [] as [usize; 0]);
        assert_eq!(lines(&old.replace("break\n", "")), [] as [usize; 0]);
        assert_eq!(lines(&old.replace("x = 1", "await x")), [5]);
        assert_eq!(lines(&old.replace("x = 1", "x = 1 +")), [5]);
        // The text ends in a string that the edit opened elsewhere.
        assert_eq!(lines(&old.replace("x = 1", "x = \"\"\"")).len(), 1);
        assert_eq!(lines(&old.replace("break", "f(1")).len(), 1);
    }

    #[test]
    fn a_repair_uncovers_faults_of_the_scopes_that_are_old() {
        let old = "def f():\n    return (1\n\n\nbreak\n";
        let verdict = judged("a.py", Some(old), &old.replace("(1", "(1)"));
        assert_eq!(verdict.blocking().count(), 0, "{:?}", verdict.findings);
        assert!(verdict.findings.iter().any(|found| found.message.contains("break")));
    }

    #[test]
    fn an_import_from_the_future_is_late_where_only_a_part_is_parsed_too() {
        let function = |name: &str| format!("def {name}():\n{}\n\n", "    x = 1\n".repeat(200));
        let text = format!("'''A.'''\n\n{}{}{}", function("b"), function("c"), function("d"));
        assert_eq!(judged("a.py", None, &text).findings, []);
        let future = "from __future__ import annotations\n";
        let blocks = |before: &str, after: &str| judged("a.py", Some(before), after).blocking().count();
        assert_eq!(blocks(&text, &text.replace("def c()", &format!("{future}\n\ndef c()"))), 1);
        assert_eq!(blocks(&text, &text.replace("'''\n\n", &format!("'''\n\n{future}"))), 0);
        let functions = text.trim_start_matches("'''A.'''\n");
        let long = format!("# A\n\n'''{}'''\n\n{future}{functions}", "A line.\n".repeat(800));
        assert_eq!(judged("a.py", None, &long).findings, []);
        assert_eq!(blocks(&long, &format!("import os\n{long}")), 1);
        assert_eq!(blocks(&long, &format!("# B\n{long}")), 0);
    }

    #[test]
    fn many_names_are_not_compared_with_each_other() {
        let names: Vec<String> = (0..30_000).map(|n| format!("T{n}")).collect();
        let clauses = " for a in b if c".repeat(10_000);
        let start = std::time::Instant::now();
        assert_eq!(faults(&format!("def f[{}](): pass\n", names.join(", "))), [] as [String; 0]);
        assert_eq!(faults(&format!("[a{clauses}]\n")), [] as [String; 0]);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
