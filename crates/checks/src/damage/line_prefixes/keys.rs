//! Distinguishes numeric keys of an object or a type from line numbers, with the grammar.

use crate::damage::parsed_text::path_to;
use crate::damage::text_pair::TextPair;
use lockgate_syntax::Node;

/// The most lines that are looked up; each needs one descent through the tree.
const MAX_LINES: usize = 200;

/// The nodes of an entry whose key may be a number.
const ENTRIES: [&str; 4] = ["property_signature", "public_field_definition", "field_definition", "pair"];

/// True if the number at each of these places, a line and a byte in it, is a key in the tree of JavaScript or TypeScript.
pub(super) fn are_keys(texts: &TextPair<'_>, mut numbers: impl Iterator<Item = (usize, usize)>) -> bool {
    if !matches!(texts.language(), "javascript" | "typescript") {
        return false;
    }
    let Some(root) = texts.parsed.tree().map(|tree| tree.root_node()) else { return false };
    let is_key = |(line, at): (usize, usize)| {
        let at = texts.after.span(line).start + at;
        texts.parsed.counts_descents(1 + texts.draft.after.view().len() / 100) && is_key(root, at)
    };
    numbers.by_ref().take(MAX_LINES).all(is_key)
}

fn is_key(root: Node<'_>, at: usize) -> bool {
    let Some(number) = root.descendant_for_byte_range(at, at + 1).filter(|node| node.kind() == "number")
    else {
        return false;
    };
    let outer = path_to(root, number).take_while(|node| *node != number).last().unwrap_or(root);
    ENTRIES.contains(&outer.kind()) && outer.start_byte() == number.start_byte() && !outer.has_error()
}

#[cfg(test)]
mod tests {
    use crate::damage::tests::findings;
    use lockgate_policy::Accident;

    fn found(path: &str, before: &str, after: &str) -> usize {
        findings(Accident::LinePrefixes, path, Some(before), after).len()
    }

    fn rows(numbers: std::ops::Range<usize>, row: &str) -> String {
        numbers.map(|number| format!("{}\n", row.replace('N', &number.to_string()))).collect()
    }

    #[test]
    fn numeric_keys_of_a_type_are_no_line_numbers() {
        for (path, open, row, close) in [
            ("a.ts", "interface A {", "  N: string;", "}"),
            ("a.ts", "type A = {", "  N: B<C>[];", "};"),
            ("a.ts", "type A = {", "  N: { a: b };", "};"),
            ("a.ts", "type A = {", "  N: string", "};"),
            ("a.ts", "class A {", "  N: string;", "}"),
            ("a.ts", "type A = {", "N: (a: b) => void;", "};"),
            ("a.tsx", "const a = {", "  N: <p>b</p>,", "};"),
            ("a.js", "const a = {", "  N: f(() => {}),", "};"),
        ] {
            for numbers in [1..6, 3..8, 2..4] {
                let text = format!("f();\n{open}\n{}{close}\n", rows(numbers, row));
                assert_eq!(found(path, "f();\n", &text), 0, "{path}: {text}");
            }
        }
        // The control: line numbers before statements, and before the members of a type that have a name.
        for (path, open, row, close) in [
            ("a.ts", "function f() {", "N: g();", "}"),
            ("a.ts", "function f() {", "N: let a = 1;", "}"),
            ("a.ts", "interface A {", "N: aN: string;", "}"),
            ("a.ts", "interface A {", "N:   aN: string;", "}"),
            ("a.js", "function f() {", "N: return;", "}"),
            ("a.go", "type A struct {", "N: a string;", "}"),
        ] {
            let text = format!("f();\n{open}\n{}{close}\n", rows(3..8, row));
            assert_eq!(found(path, "f();\n", &text), 1, "{path}: {text}");
        }
        // Numbers before lines that were there are line numbers, whatever the grammar says.
        let before = "type A = [\nstring;\nnumber;\nboolean;\n";
        assert_eq!(found("a.ts", before, "type A = {\n2: string;\n3: number;\n4: boolean;\n}\n"), 1);
    }
}
