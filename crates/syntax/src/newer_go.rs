//! Go syntax that the grammar does not support yet.

use super::rewrite::{HiddenRange, rewrite};

/// Hides what Go has had since its grammar was made; `None` if there is nothing of it.
///
/// Type parameters of methods (Go 1.27) become spaces. The word `new` with an expression as its argument (Go 1.26) becomes
/// another name, as the grammar takes every argument of `new` for a type. So does the word `make` in a file that may have a
/// function of that name.
pub(super) fn without_newer_go(text: &str) -> Option<String> {
    let mut hidden: Vec<HiddenRange> = Vec::new();
    for (at, _) in text.match_indices("func (") {
        if at > 0 && !text.get(..at).is_some_and(|before| before.ends_with('\n')) {
            continue;
        }
        hidden.extend(type_parameters(text, at + "func ".len()).map(|range| (range, None)));
    }
    hidden.extend(calls_with_expression(text, NEW).map(|at| (at..at + NEW.len(), Some("neW("))));
    if OWN_MAKE.iter().any(|declaration| text.contains(declaration)) {
        hidden.extend(calls_with_expression(text, MAKE).map(|at| (at..at + MAKE.len(), Some("makE("))));
    }
    rewrite(text, hidden)
}

/// The calls whose first argument the grammar takes for a type.
const NEW: &str = "new(";
const MAKE: &str = "make(";
/// The declarations of a function called `make`, as gofmt formats them.
const OWN_MAKE: [&str; 4] = ["func make(", "make := ", "make = ", "make func("];

/// Returns the offsets of the calls of a function, such as `new(`, whose first argument is no type.
fn calls_with_expression(text: &str, call: &str) -> impl Iterator<Item = usize> {
    let is_word_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | 0x80..);
    let length = call.len();
    text.match_indices(call).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        !before.is_some_and(is_word_part) && !is_type_argument(text, at + length, call == MAKE)
    })
}

/// True if the argument that begins at this offset can be a type, or has no end within [`LONGEST`]. Where `has_more` is set,
/// other arguments may follow a type.
fn is_type_argument(text: &str, start: usize, has_more: bool) -> bool {
    let Some(argument) = closed(text, start.saturating_sub(1)).and_then(|end| text.get(start..end - 1))
    else {
        return true;
    };
    let argument = argument.trim().trim_end_matches(',').trim_end();
    let is_comment = |rest: &str| rest.starts_with("//") || rest.starts_with("/*");
    let is_whole = |rest: &str| {
        let rest = rest.trim_start();
        rest.is_empty() || is_comment(rest) || (has_more && rest.starts_with(','))
    };
    argument.is_empty() || is_comment(argument) || type_end(argument, 0).is_none_or(is_whole)
}

/// The maximum depth of types within a type.
const DEEPEST_TYPE: usize = 50;

/// Returns what follows the type at the start of `text`; `None` if its end is not certain.
fn type_end(text: &str, depth: usize) -> Option<&str> {
    let text = text.trim_start();
    if depth > DEEPEST_TYPE {
        return None;
    }
    let after_bracket = |text: &'_ str| closed(text, 0);
    if let Some(rest) = text.strip_prefix('*') {
        return type_end(rest, depth + 1);
    }
    if text.starts_with('(') {
        let end = after_bracket(text)?;
        let within = type_end(text.get(1..end - 1)?, depth + 1)?;
        return if within.trim().is_empty() { text.get(end..) } else { Some(text) };
    }
    if text.starts_with('[') {
        return type_end(text.get(after_bracket(text)?..)?, depth + 1);
    }
    if let Some(rest) = text.strip_prefix("<-") {
        return if rest.trim_start().starts_with("chan") { type_end(rest, depth + 1) } else { Some(text) };
    }
    let name = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(name);
    match name {
        "" => Some(text),
        "func" => None,
        "struct" | "interface" => {
            let open = text.len() - rest.trim_start().len();
            if text.get(open..)?.starts_with('{') { text.get(closed(text, open)?..) } else { Some(rest) }
        }
        "map" => {
            let rest = rest.trim_start();
            if rest.starts_with('[') {
                type_end(rest.get(after_bracket(rest)?..)?, depth + 1)
            } else {
                Some(rest)
            }
        }
        "chan" => {
            let rest = rest.trim_start();
            type_end(rest.strip_prefix("<-").unwrap_or(rest), depth + 1)
        }
        // A number has digits where a name cannot.
        name if name.starts_with(|c: char| c.is_ascii_digit()) => Some(text),
        _ => {
            let rest = match rest.strip_prefix('.') {
                Some(field) => field.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
                None => rest,
            };
            if !rest.starts_with('[') {
                return Some(rest);
            }
            // Type arguments; what else is in brackets is an index.
            let end = after_bracket(rest)?;
            let after_first = type_end(rest.get(1..end - 1)?, depth + 1)?.trim_start();
            if after_first.is_empty() || after_first.starts_with(',') { rest.get(end..) } else { Some(rest) }
        }
    }
}

/// Returns the type parameters of the method whose receiver begins at this offset.
fn type_parameters(text: &str, receiver: usize) -> Option<std::ops::Range<usize>> {
    let name = closed(text, receiver)?;
    let rest = text.get(name..)?;
    let head = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ' ')))?;
    let start = name + head;
    let is_named = rest.get(..head).is_some_and(|name| !name.trim().is_empty());
    if !is_named || !text.get(start..)?.starts_with('[') {
        return None;
    }
    Some(start..closed(text, start)?)
}

/// The maximum length in bytes of type parameters, of a receiver and of an argument of `new`.
const LONGEST: usize = 2000;

/// Returns the end of the bracket that opens at this offset.
fn closed(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open).take(LONGEST) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    const METHOD: &str =
        "package a\n\nfunc (l List[é]) Map[F any, G ~[]F](m func(é) F) (r List[F]) {\n\treturn r\n}\n";

    #[test]
    fn methods_with_type_parameters_are_read_and_the_places_stay() {
        let hidden = without_newer_go(METHOD).unwrap();
        assert_eq!(hidden.len(), METHOD.len());
        let parameters = "[F any, G ~[]F]";
        assert_eq!(hidden, METHOD.replace(parameters, &" ".repeat(parameters.len())));
        assert!(!read("go", "a.go", METHOD, 1 << 20).unwrap().root_node().has_error());
        // Control: without the replacement, the grammar reports an error.
        let plain = hidden.replace(") Map      ", ") Map[F any]");
        let grammar = super::super::find("go").unwrap().dialects("a.go").remove(0);
        let tree =
            super::super::parse(&grammar, &plain, &mut || std::ops::ControlFlow::Continue(())).unwrap();
        assert!(tree.root_node().has_error());
    }

    #[test]
    fn new_of_an_expression_is_read_and_new_of_a_type_stays() {
        let body =
            |argument: &str| format!("package a\n\nfunc f() {{\n\tx := new({argument})\n\tuse(x)\n}}\n");
        for argument in [
            "42",
            "-1",
            "\"a\"",
            "`a`",
            "a + b",
            "f(3)",
            "T{1}",
            "&T{}",
            "[]int{1}",
            "map[string]int{}",
            "!ok",
            "a.b(c)",
            "1.5",
            "<-c",
            "x.y[1].z",
            "a[0]",
            "a[i+1]",
            "a[1:2]",
            "m[\"k\"]",
            "a, b...",
        ] {
            let text = body(argument);
            let hidden = without_newer_go(&text).unwrap_or_else(|| panic!("{argument}"));
            assert_eq!(hidden, text.replace("new(", "neW("), "{argument}");
            assert!(!read("go", "a.go", &text, 1 << 20).unwrap().root_node().has_error(), "{argument}");
        }
        for argument in [
            "T",
            "a.T",
            "*T",
            "[]int",
            "[4][]a.T",
            "map[string][]int",
            "chan<- int",
            "<-chan int",
            "struct{}",
            "struct{ a int }",
            "interface{ f() }",
            "func() int",
            "T[int]",
            "a.T[K, V]",
            "(T)",
            "T,",
        ] {
            let text = body(argument);
            assert_eq!(without_newer_go(&text), None, "{argument}");
            assert!(!read("go", "a.go", &text, 1 << 20).unwrap().root_node().has_error(), "{argument}");
        }
        // Control: a fault in the argument is still a fault, and the grammar alone refuses the expression.
        assert!(read("go", "a.go", &body("42 +"), 1 << 20).unwrap().root_node().has_error());
        let grammar = super::super::find("go").unwrap().dialects("a.go").remove(0);
        let plain = super::super::parse(&grammar, &body("42"), &mut || std::ops::ControlFlow::Continue(()));
        assert!(plain.unwrap().root_node().has_error());
    }

    #[test]
    fn a_function_of_the_file_may_be_called_make() {
        let body = |arguments: &str| {
            format!("package a\n\nfunc make(n ...int) int {{ return 0 }}\n\nvar x = make({arguments})\n")
        };
        for arguments in ["100", "n - 1", "n - 1, m", "a.b(c)"] {
            let text = body(arguments);
            assert_eq!(without_newer_go(&text), Some(text.replace("make(", "makE(")), "{arguments}");
            let without_it = text.replace("func make", "func mak");
            assert_eq!(without_newer_go(&without_it), None, "{arguments}: then it is the built-in function");
            assert!(!read("go", "a.go", &text, 1 << 20).unwrap().root_node().has_error(), "{arguments}");
        }
        for arguments in [
            "[]int, 3",
            "map[string]T",
            "chan int, n - 1",
            "a.T, len(b), 2*n",
            "T[K, V], 1",
            "[]int /* n */, 3",
            "// n\n[]int, 3",
        ] {
            let text = body(arguments);
            let hidden = text.replace("func make(", "func makE(");
            assert_eq!(without_newer_go(&text), Some(hidden), "{arguments}");
        }
    }

    #[test]
    fn what_is_no_type_parameter_stays() {
        for text in [
            "func (a A) f() [3]int { return x[1] }\n",
            "var f = func (a []int) []int { return a[1:] }\n",
            "func F[T any](a T) {}\n",
            "func (a A",
            "func (a A) f",
            "func ()",
        ] {
            assert_eq!(without_newer_go(text), None, "{text}");
        }
    }
}
