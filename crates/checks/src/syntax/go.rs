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
/// Other nodes that end with a closing bracket, which is on the line of what it closes.
const BRACKETED: [&str; 7] = [
    "array_type",
    "index_expression",
    "map_type",
    "parenthesized_expression",
    "parenthesized_type",
    "slice_expression",
    "type_assertion_expression",
];

/// Returns the faults of a node that the grammar accepts.
pub(super) fn faults(node: Node<'_>, text: &str) -> Vec<SyntaxFault> {
    let kind = node.kind();
    if kind == "source_file" {
        return misplaced(node);
    }
    let may_end_with_comma = COMMA_LISTS.contains(&kind);
    if !may_end_with_comma && !BRACKETED.contains(&kind) {
        return Vec::new();
    }
    early_line_end(node, text).map(|(at, next)| fault(at, next, may_end_with_comma)).into_iter().collect()
}

fn fault(at: usize, next: &str, may_end_with_comma: bool) -> SyntaxFault {
    let message = match (next, may_end_with_comma) {
        (",", _) | (_, false) => format!("unexpected end of the line before \"{next}\""),
        (_, true) => format!("unexpected end of the line; a \",\" or \"{next}\" is missing"),
    };
    SyntaxFault::new(at, at, message)
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

/// True if a changed part is behind the imports of its file, and has none itself.
pub(super) fn fits(change: &ChangedPart<'_>, _path: &str) -> bool {
    let words = ["package", "import"];
    let begins = |line: &str| words.iter().any(|word| line.trim_start().starts_with(word));
    !words.iter().any(|word| change.new.contains(word)) && !change.after.lines().any(begins)
}

/// Finds the first member that ends its line where only a comma or the closing bracket can follow; returns its end, and what
/// follows on a later line.
fn early_line_end<'t>(node: Node<'t>, text: &str) -> Option<(usize, &'t str)> {
    if node.start_position().row == node.end_position().row {
        return None;
    }
    let mut cursor = node.walk();
    let mut member: Option<Node<'_>> = None;
    for child in node.children(&mut cursor).filter(|child| !child.is_extra()) {
        if child.is_named() {
            member = Some(child).filter(|member| !member.has_error());
        } else if let Some(member) = member.take()
            && matches!(child.kind(), "," | ")" | "]" | "}")
            && !child.is_missing()
            && member.end_position().row < child.start_position().row
            && ends_with_operand(member, text)
        {
            return Some((member.end_byte(), child.kind()));
        }
    }
    None
}

/// True if a node ends with a name, a literal or a closing bracket; `...` is no operand.
fn ends_with_operand(node: Node<'_>, text: &str) -> bool {
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
        ] {
            assert_eq!(faults(code), [] as [String; 0], "{code}");
        }
    }
}
