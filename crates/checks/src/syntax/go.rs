//! Finds faults of Go that its grammar accepts.
//!
//! The grammar allows statements outside of functions, and takes the end of a line for white space inside of brackets.
//! The language does neither: a line that ends with an operand ends with a semicolon as well
//! (The Go Programming Language Specification, "Semicolons").
//!
//! Invariant: a node looks at its children only, so the time is linear in the tree.

use lockgate_syntax::Node;

use super::fault::SyntaxFault;

/// What a file consists of.
const TOP_LEVEL: [&str; 7] = [
    "package_clause",
    "import_declaration",
    "const_declaration",
    "var_declaration",
    "type_declaration",
    "function_declaration",
    "method_declaration",
];
/// The nodes whose last member ends with a comma or the closing bracket.
const COMMA_LISTS: [&str; 8] = [
    "argument_list",
    "literal_value",
    "parameter_list",
    "parenthesized_expression",
    "parenthesized_type",
    "index_expression",
    "type_arguments",
    "type_parameter_list",
];

/// Returns the faults of a node that the grammar accepts.
pub(super) fn faults(node: Node<'_>, text: &str) -> Vec<SyntaxFault> {
    match node.kind() {
        "source_file" => outside_of_functions(node),
        kind if COMMA_LISTS.contains(&kind) => missing_comma(node, text).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn outside_of_functions(file: Node<'_>) -> Vec<SyntaxFault> {
    let mut cursor = file.walk();
    let is_stray =
        |node: &Node<'_>| !(node.is_extra() || node.is_error() || TOP_LEVEL.contains(&node.kind()));
    let strays = file.named_children(&mut cursor).filter(is_stray).map(|node| node.start_byte());
    strays.map(|at| SyntaxFault::new(at, at, "statement outside of a function")).collect()
}

/// Finds the last member of a list that ends its line, where the list is closed on a later one.
fn missing_comma(list: Node<'_>, text: &str) -> Option<SyntaxFault> {
    if list.start_position().row == list.end_position().row {
        return None;
    }
    let mut cursor = list.walk();
    let is_there = cursor.goto_last_child();
    let closing = Some(cursor.node()).filter(|last| is_there && !last.is_named() && !last.is_missing())?;
    while cursor.goto_previous_sibling() && cursor.node().is_extra() {}
    let member = Some(cursor.node()).filter(|member| member.is_named() && !member.has_error())?;
    let ends_line = member.end_position().row < closing.start_position().row;
    let at = member.end_byte();
    let last = text.get(..at)?.chars().next_back()?;
    // After an operand, such as a name, a literal or a call; `...` is none.
    let is_operand = last.is_alphanumeric() || matches!(last, '_' | ')' | ']' | '}' | '"' | '`' | '\'');
    (ends_line && is_operand).then(|| SyntaxFault::new(at, at, "missing \",\" at the end of the line"))
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
    fn a_list_that_ends_on_a_later_line_needs_a_comma() {
        for (code, line) in [
            ("var a = []int{\n\t1,\n\t2\n}", 4),
            ("var a = []int{\n\t1,\n\t2 // two\n}", 4),
            ("var a = map[string]T{\n\t\"b\": {1}\n}", 3),
            ("var a = f(\n\tb,\n\tc()\n)", 4),
            ("func f(\n\ta int,\n\tb []string\n) {\n}", 4),
            ("func f[\n\tT any\n](t T) {}", 3),
            ("var a = (b +\n\tc\n)", 3),
            ("var a = b[\n\t0\n]", 3),
            ("var a = f('x'\n)", 2),
            ("var a = f(`x\ny`\n)", 3),
        ] {
            assert_eq!(faults(code), [format!("{line} missing \",\" at the end of the line")], "{code}");
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
            assert!(found.contains(&format!("{line} statement outside of a function")), "{code}: {found:?}");
        }
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
            "//go:build x\n\n// A comment.\nfunc f() {};",
            "func f()",
        ] {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }
}
