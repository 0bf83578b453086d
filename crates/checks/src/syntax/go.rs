//! Finds faults of Go that its grammar accepts.
//!
//! The grammar allows statements outside of functions and imports anywhere, and takes the end of a line for white space
//! inside of brackets. The language does not: a line that ends with an operand ends with a semicolon as well
//! (The Go Programming Language Specification, "Semicolons").
//!
//! Invariant: a node looks at its children only, so the time is linear in the tree.

use lockgate_syntax::Node;

use super::fault::{MAX_ACCEPTED_FAULTS, SyntaxFault};
use super::parts::ChangedPart;

/// The declarations that follow the imports of a file.
const DECLARATIONS: [&str; 5] = [
    "const_declaration",
    "var_declaration",
    "type_declaration",
    "function_declaration",
    "method_declaration",
];
/// The nodes in brackets whose members are separated by commas. A line of them that ends with a member needs a comma.
const COMMA_LISTS: [&str; 6] = [
    "argument_list",
    "literal_value",
    "parameter_list",
    "type_arguments",
    "type_conversion_expression",
    "type_parameter_list",
];
/// The nodes of which a line may end between two children: statements, declarations and cases, and the parts of the head of
/// a `switch`.
const LINES: [&str; 11] = [
    "block",
    "const_declaration",
    "expression_switch_statement",
    "field_declaration_list",
    "import_spec_list",
    "interface_type",
    "select_statement",
    "statement_list",
    "type_declaration",
    "type_switch_statement",
    "var_spec_list",
];
/// The tokens that end a statement or a declaration.
const TERMINATORS: [&str; 3] = ["\n", ";", "\0"];

/// Returns the faults of a node that the grammar accepts.
pub(super) fn faults(node: Node<'_>, text: &str) -> Vec<SyntaxFault> {
    match node.kind() {
        "source_file" => joined(node).into_iter().chain(misplaced(node)).collect(),
        "unary_expression" => doubled_sign(node, text).into_iter().collect(),
        _ => early_line_end(node, text).into_iter().collect(),
    }
}

/// Returns the fault of a whole text whose first token begins a declaration, so that there is no package clause. A template
/// may get one from elsewhere.
pub(super) fn missing_package(text: &str) -> Option<SyntaxFault> {
    let code = without_comments(text);
    let is_word = |character: &char| character.is_alphanumeric() || *character == '_';
    let word = code.split(|character| !is_word(&character)).next().unwrap_or_default();
    if !["import", "const", "var", "type", "func"].contains(&word) || text.contains("{{") {
        return None;
    }
    let at = text.len() - code.len();
    Some(SyntaxFault::new(at, at + word.len(), "missing package clause"))
}

/// Returns a text from its first token on.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = match rest.get(..2) {
            Some("//") => rest.find('\n').map_or("", |end| rest.get(end..).unwrap_or_default()),
            Some("/*") => rest.split_once("*/").map_or("", |(_, after)| after),
            _ => return rest,
        };
        rest = after.trim_start();
    }
}

/// Returns the fault of a sign that is read as a part of `++` or `--`, which have no place in an expression.
fn doubled_sign(node: Node<'_>, text: &str) -> Option<SyntaxFault> {
    let (before, expression) = text.split_at_checked(node.start_byte())?;
    let sign = expression.get(..1).filter(|sign| matches!(*sign, "+" | "-"))?;
    let before = before.strip_suffix(sign)?;
    // `<--a` receives from `-a`.
    let is_fault = !(sign == "-" && before.ends_with('<'));
    is_fault.then(|| SyntaxFault::new(before.len(), before.len() + 2, format!("unexpected \"{sign}{sign}\"")))
}

/// Finds declarations of a file that are on one line without a semicolon between them.
fn joined(file: Node<'_>) -> Vec<SyntaxFault> {
    let mut cursor = file.walk();
    let mut last: Option<Node<'_>> = None;
    let mut faults = Vec::new();
    for node in file.children(&mut cursor).filter(|node| !node.is_extra()) {
        let before = last.replace(node).filter(|last| is_declaration(*last) && is_declaration(node));
        if before.is_some_and(|before| before.end_position().row == node.start_position().row) {
            let message = "missing end of the line before a declaration";
            faults.push(SyntaxFault::new(node.start_byte(), node.start_byte(), message));
        }
        if faults.len() >= MAX_ACCEPTED_FAULTS {
            break;
        }
    }
    faults
}

fn is_declaration(node: Node<'_>) -> bool {
    let kind = node.kind();
    !node.has_error()
        && (DECLARATIONS.contains(&kind) || matches!(kind, "package_clause" | "import_declaration"))
}

/// Finds what is not where it can be in a file: a package clause, then imports, then declarations.
fn misplaced(file: Node<'_>) -> Vec<SyntaxFault> {
    let (mut has_package, mut has_declaration) = (false, false);
    let mut cursor = file.walk();
    let nodes = file.named_children(&mut cursor).filter(|node| !node.is_extra() && !node.is_error());
    let faults = nodes.filter_map(|node| {
        let message = match node.kind() {
            "package_clause" if has_package => "second package clause",
            "import_declaration" if has_declaration => "import after other declarations",
            "package_clause" => {
                has_package = true;
                return None;
            }
            "import_declaration" => return None,
            kind if DECLARATIONS.contains(&kind) => {
                has_declaration = true;
                return None;
            }
            _ => "non-declaration statement outside of a function",
        };
        Some(SyntaxFault::new(node.start_byte(), node.start_byte(), message))
    });
    faults.take(MAX_ACCEPTED_FAULTS).collect()
}

/// True if a changed part is behind the package clause and the imports of its file, and has none itself.
pub(super) fn fits(change: &ChangedPart<'_>, _path: &str) -> bool {
    let words = ["package", "import"];
    let begins = |line: &str| words.iter().any(|word| line.trim_start().starts_with(word));
    !change.before.is_empty()
        && !words.iter().any(|word| change.new.contains(word))
        && !change.after.lines().any(begins)
}

/// Finds the first child that ends its line with an operand where the statement cannot end; a semicolon is inserted there.
fn early_line_end(node: Node<'_>, text: &str) -> Option<SyntaxFault> {
    if node.start_position().row == node.end_position().row || node.is_error() || LINES.contains(&node.kind())
    {
        return None;
    }
    let mut cursor = node.walk();
    let mut last: Option<Node<'_>> = None;
    for child in node.children(&mut cursor).filter(|child| !child.is_extra()) {
        let Some(before) = last.replace(child) else { continue };
        if before.end_position().row < child.start_position().row
            && [before, child].iter().all(|each| !each.has_error() && !TERMINATORS.contains(&each.kind()))
            && ends_with_operand(before, text)
        {
            return Some(line_end(node, before.end_byte(), next_token(child, text)));
        }
    }
    None
}

fn line_end(node: Node<'_>, at: usize, next: &str) -> SyntaxFault {
    let message = match next {
        ")" | "]" | "}" if COMMA_LISTS.contains(&node.kind()) => {
            format!("unexpected end of the line; a \",\" or \"{next}\" is missing")
        }
        _ => format!("unexpected end of the line before \"{next}\""),
    };
    SyntaxFault::new(at, at, message)
}

/// Returns the word or the character that a node begins with.
fn next_token<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    let code = text.get(node.byte_range()).unwrap_or_default();
    let word =
        code.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(code.len());
    let first = code.chars().next().map_or(0, char::len_utf8);
    code.get(..word.max(first)).unwrap_or_default()
}

/// True if a node ends with a name, a literal or a closing bracket; keywords and `...` are no operands.
fn ends_with_operand(node: Node<'_>, text: &str) -> bool {
    if !node.is_named() {
        return matches!(node.kind(), ")" | "]" | "}");
    }
    let last = text.get(..node.end_byte()).and_then(|before| before.chars().next_back());
    last.is_some_and(|last| {
        last.is_alphanumeric() || matches!(last, '_' | ')' | ']' | '}' | '"' | '`' | '\'')
    })
}

#[cfg(test)]
mod tests {
    use super::super::cases::judged;

    /// Returns the findings of a file as `line message`; all block.
    fn faults(code: &str) -> Vec<String> {
        let verdict = judged("a.go", None, &format!("package a\n{code}\n"));
        let found = verdict.findings.iter().inspect(|found| assert!(found.blocking, "{code}"));
        found.map(|found| format!("{} {}", found.line, found.message)).collect()
    }

    #[test]
    fn a_line_that_ends_with_a_member_needs_a_comma() {
        for (code, line, bracket) in [
            ("var a = []int{\n\t1,\n\t2\n}", 4, '}'),
            ("var a = []int{\n\t1,\n\t2 // two\n}", 4, '}'),
            ("var a = map[string]T{\n\t\"b\": {1}\n}", 3, '}'),
            ("var a = f(\n\tb,\n\tc()\n)", 4, ')'),
            ("func f(\n\ta int,\n\tb []string\n) {\n}", 4, ')'),
            ("func f[\n\tT any\n](t T) {}", 3, ']'),
            ("var a = []byte(\n\t\"b\"\n)", 3, ')'),
            ("var a = f('x'\n)", 2, ')'),
            ("var a = f(`x\ny`\n)", 3, ')'),
        ] {
            let message = format!("{line} unexpected end of the line; a \",\" or \"{bracket}\" is missing");
            assert_eq!(faults(code), [message], "{code}");
        }
        for (code, line, next) in [
            ("var a = (b +\n\tc\n)", 3, ')'),
            ("var a = b[\n\t0\n]", 3, ']'),
            ("var a = b[1:\n\t2\n]", 3, ']'),
            ("var a = b.(\n\tint\n)", 3, ')'),
            ("var a map[\n\tstring\n]int", 3, ']'),
            ("var a = f(\n\tb\n\t, c)", 3, ','),
        ] {
            let message = format!("{line} unexpected end of the line before \"{next}\"");
            assert_eq!(faults(code), [message], "{code}");
        }
    }

    #[test]
    fn a_statement_is_in_a_function() {
        for (code, line) in [
            ("func f()\n{\n}", 3),
            ("func f() {\n}\nx := 1", 4),
            ("f()", 2),
            ("var a = 1\nreturn", 3),
            ("func f() {\n}\nif a {\n}", 4),
        ] {
            let found = faults(code);
            assert!(
                found.contains(&format!("{line} non-declaration statement outside of a function")),
                "{code}: {found:?}"
            );
        }
    }

    #[test]
    fn a_file_has_a_package_clause() {
        let found = |text: &str| -> Vec<String> {
            let verdict = judged("a.go", None, text);
            verdict.blocking().map(|found| format!("{} {}", found.line, found.message)).collect()
        };
        assert_eq!(found("import \"fmt\"\n\nfunc f() {}\n"), ["1 missing package clause"]);
        assert_eq!(found("// A\n\n/* b\n*/ func f() {}\n"), ["4 missing package clause"]);
        for text in ["", "// A\n", "//go:build x\n\n/* b */ package a\n", "// b\n{{ .P }}\nfunc f() {}\n"] {
            assert_eq!(found(text), [] as [String; 0], "{text}");
        }
        let (before, after) = ("package a\n\nfunc f() {}\n", "\nfunc f() {}\n");
        assert_eq!(judged("a.go", Some(before), after).blocking().count(), 1);
        // In a file of which only the changed part is parsed, too.
        let function = |name: &str| format!("func {name}() {{\n{}}}\n\n", "\ta = 1\n".repeat(200));
        let long = format!("package a\n\n{}{}{}", function("b"), function("c"), function("d"));
        assert_eq!(judged("a.go", None, &long).findings, []);
        assert_eq!(judged("a.go", Some(&long), &long.replace("package a", "")).blocking().count(), 1);
        assert_eq!(judged("a.go", Some(&long), &long.replace("func c", "func e")).findings, []);
        assert_eq!(
            judged("a.go", Some(after), &after.replace(" f", " g")).blocking().count(),
            0,
            "it is old"
        );
    }

    #[test]
    fn declarations_are_on_lines_of_their_own() {
        let message = "missing end of the line before a declaration";
        for (code, line) in [
            ("func f() {\n} func g() int {\n\treturn 1\n}", 3),
            ("const a = 0 const b = 0", 2),
            ("import \"b\" func f() {}", 2),
            ("func f() {} /* c */ var a int", 2),
        ] {
            assert_eq!(faults(code), [format!("{line} {message}")], "{code}");
        }
        let joined = judged("a.go", None, "package a import (\n\t\"b\"\n)\n");
        assert_eq!(joined.blocking().count(), 1);
        for code in ["const a = 0; const b = 0", "func f() {}; func g() {}", "func f() {} /*\n*/ func g() {}"]
        {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }

    #[test]
    fn a_line_ends_only_where_a_statement_may() {
        for (code, line, next) in [
            ("func f\n() {\n}", 2, "("),
            ("func f(n\n int) {\n}", 2, "int"),
            ("func (*T)\n pm() {\n}", 2, "pm"),
            ("func f[T any]\n(t T) {\n}", 2, "("),
            ("func f(a /* b\n*/ int) {}", 2, "int"),
            ("var a = f(b\n+ c)", 2, "+"),
            ("var a = (b\n.c)", 2, "."),
            ("var a = f(b\n...)", 2, "."),
        ] {
            let message = format!("{line} unexpected end of the line before \"{next}\"");
            assert_eq!(faults(code), [message], "{code}");
        }
    }

    #[test]
    fn a_sign_is_not_doubled() {
        for code in ["func f() {\n\ta()\n+++++++ REPLACE\n}", "var a = b\nvar c = a+++b", "var a =\n\n--b"] {
            assert_eq!(faults(code).len(), 1, "{code}: {:?}", faults(code));
            assert!(faults(code)[0].starts_with("4 unexpected \"") || code.contains("c = a"), "{code}");
        }
        for code in ["var a = b + +c", "var a = - -b", "var a = -+-b", "func f() {\n\ta++\n\tb--\n\t<--c\n}"]
        {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }

    #[test]
    fn imports_come_first() {
        assert_eq!(faults("var a = 1\nimport \"b\""), ["3 import after other declarations"]);
        assert_eq!(faults("import \"b\"\npackage c"), ["3 second package clause"]);
        // In a file of which only the changed part is parsed, too.
        let function = |name: &str| format!("func {name}() {{\n{}}}\n\n", "\ta = 1\n".repeat(200));
        let text = format!("package a\n\n{}{}{}", function("b"), function("c"), function("d"));
        assert_eq!(judged("a.go", None, &text).findings, []);
        let edited = text.replace("func c()", "import \"e\"\n\nfunc c()");
        let verdict = judged("a.go", Some(&text), &edited);
        let found: Vec<&str> = verdict.blocking().map(|found| found.message.as_str()).collect();
        assert_eq!(found, ["import after other declarations"]);
    }

    #[test]
    fn valid_code_has_no_such_fault() {
        for code in [
            "var a = []int{\n\t1,\n\t2,\n}",
            "var a = []int{\n\t1, 2}",
            "var a = []int{1,\n\t2}",
            "var a = []int{\n\t1, // one\n\t// two\n}",
            "var a = []int{\n}",
            "var a = []int{ // none\n}",
            "var a = f(\n\tb...\n)",
            "func f(\n\ta int,\n\tb ...string,\n) (\n\tc int,\n\terr error,\n) {\n}",
            "func f[\n\tT any,\n](t T) {}",
            "import (\n\t\"a\"\n\t\"b\"\n)\nvar (\n\tc = 1\n)\ntype (\n\tD int\n)",
            "type I interface {\n\tf()\n}\ntype S struct {\n\ta int\n}",
            "type S struct\n{\n\ta int\n}",
            "func f() {\n\tx := func() {\n\t}\n\tgo func() {\n\t}()\n\t_ = x\n}",
            "func f() {\n\tfor\n\t{\n\t}\n}",
            "var a = (b +\n\tc)",
            "var a = []byte(\n\t\"b\",\n)",
            "var a = f(\n\tb, c,\n\td,\n)",
            "//go:build x\n\n// A comment.\nfunc f() {};",
            "func f()",
            "func\nf() {}",
            "func (\n\tt T,\n) f(a,\n\tb int, c *\n\tT, d ...\n\tint, e chan\n\tint) (\n\tint) {\n}",
            "func f() {\n\tswitch g()\n\t{\n\tcase a:\n\t}\n}",
            "var a = b.\n\tc(). // d\n\te(func() int {\n\t\treturn 1\n\t})",
        ] {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }
}
