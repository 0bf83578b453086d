//! Tests of large valid texts: generated tables, long lines and deep nesting. They have no findings. For one fault in them
//! the gate either reports the right line or is unavailable.

use super::cases::judged;
use crate::{Outcome, Verdict};

/// A table in each language: the text before the rows, a row, the text after the rows, and a row that no parser accepts.
const TABLES: [(&str, &str, &str, &str, &str); 17] = [
    ("a.py", "T = [\n", "    (#, \"x#\"),\n", "]\n", "    (#, = \"x#\"),\n"),
    ("a.js", "const t = [\n", "  { a: #, b: \"x#\" },\n", "];\n", "  { a: #, b: \"x#\" ;;\n"),
    ("a.ts", "const t: T[] = [\n", "  { a: #, b: \"x#\" },\n", "];\n", "  { a: #, b: \"x#\" ;;\n"),
    ("a.tsx", "const t = <a>\n", "  <b c=\"#\"/>\n", "</a>;\n", "  <b c=/>\n"),
    ("a.rs", "const T: &[S] = &[\n", "    S { a: #, b: \"x#\" },\n", "];\n", "    S { a: , b: \"x#\" },\n"),
    ("a.json", "[\n", "  {\"a\": #, \"b\": \"x#\"},\n", "  0\n]\n", "  {\"a\": #, \"b\"},\n"),
    ("tsconfig.json", "[\n", "  {\"a\": #, \"b\": \"x#\"},\n", "  0\n]\n", "  {\"a\": #, \"b\" \"x\" 1},\n"),
    ("a.toml", "t = [\n", "  { a = #, b = \"x#\" },\n", "]\n", "  { a = , b = \"x#\" },\n"),
    ("a.yaml", "t:\n", "  - {a: #, b: x#}\n", "", "  - {a: #, b: x#}}\n"),
    ("a.go", "package a\n\nvar t = []T{\n", "\t{a: #, b: \"x#\"},\n", "}\n", "\t{a: #, b: \"x#\")},\n"),
    ("a.sh", "", "a[#]=\"x#\"\n", "", "if\n"),
    ("a.html", "<table>\n", "<tr><td>#</td><td>x#</td></tr>\n", "</table>\n", "<tr><td>#</td></th></tr>\n"),
    ("a.css", "", ".a# { b: c; }\n", "", ".a# { b: c; }}\n"),
    ("a.c", "struct S t[] = {\n", "    {#, \"x#\"},\n", "};\n", "    {#, \"x#\")},\n"),
    ("a.cpp", "S t[] = {\n", "    {#, \"x#\"},\n", "};\n", "    {#, \"x#\")},\n"),
    ("A.java", "class A { int[][] t = {\n", "    {#, #},\n", "}; }\n", "    {#, #)},\n"),
    ("a.md", "| a | b |\n|---|---|\n", "| # | x# |\n", "", "| # | x# |\n"),
];

fn rows(count: usize, row: &str) -> String {
    (0..count).map(|number| row.replace('#', &number.to_string())).collect()
}

fn passes_or_is_unread(verdict: &Verdict) -> bool {
    let run = &verdict.runs[0];
    match run.outcome {
        Outcome::Passed => verdict.findings.is_empty(),
        Outcome::Unavailable => {
            verdict.findings.is_empty()
                && run.why.as_ref().is_some_and(|why| why.contains("MiB") || why.contains("nests too deeply"))
        }
        _ => false,
    }
}

fn check(counts: &[usize]) {
    let mut wrong = Vec::new();
    for (path, before, row, after, bad) in TABLES {
        for &count in counts {
            let good = format!("{before}{}{after}", rows(count, row));
            let verdict = judged(path, Some("\n"), &good);
            if !passes_or_is_unread(&verdict)
                || (count < 16_000 && verdict.runs[0].outcome != Outcome::Passed)
            {
                wrong.push(format!(
                    "{path}: {count} rows: {:?}, {:?}",
                    verdict.runs[0],
                    verdict.findings.first()
                ));
            }
            if path == "a.md" {
                continue;
            }
            let half = count / 2;
            let bad = bad.replace('#', "7");
            let broken = format!("{before}{}{bad}{}{after}", rows(half, row), rows(half, row));
            let verdict = judged(path, Some(&good), &broken);
            let line = before.matches('\n').count() + half + 1;
            // A parser notices an unclosed construct only at the end of the text.
            let is_near =
                verdict.findings.iter().any(|found| found.line.abs_diff(line) <= 1 || path == "a.sh");
            let is_unread = verdict.runs[0].outcome == Outcome::Unavailable && verdict.findings.is_empty();
            if !(is_unread || is_near && verdict.findings.len() < 20) {
                let lines: Vec<usize> = verdict.findings.iter().map(|found| found.line).take(5).collect();
                wrong.push(format!(
                    "{path}: {count} rows, a bad one in line {line}: {lines:?} {:?}",
                    verdict.runs[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_generated_table_has_no_findings_and_a_bad_row_in_it_is_found() {
    check(&[1_000, 3_000]);
}

#[test]
#[ignore = "a minute in a debug build"]
fn so_has_one_of_64000_rows() {
    check(&[8_000, 16_000, 64_000]);
}

#[test]
fn long_lines_and_deep_nesting_are_no_findings() {
    let nested = |before: &str, open: &str, close: &str, after: &str, count: usize| {
        format!("{before}{}1{}{after}", open.repeat(count), close.repeat(count))
    };
    for (path, text) in [
        ("a.css", "a{b:1}".repeat(5_462)),
        ("a.css", "a{b:1}".repeat(40_000)),
        ("a.c", nested("int a = ", "(", ")", ";\n", 16_380)),
        ("a.c", nested("int a = ", "(", ")", ";\n", 100_000)),
        ("a.cpp", nested("int a = ", "(", ")", ";\n", 16_380)),
        ("a.go", nested("package a\nvar a = ", "(", ")", "\n", 50_000)),
        ("A.java", nested("class A { int a = ", "(", ")", "; }\n", 50_000)),
        ("a.jsx", nested("a = ", "<a>", "</a>", ";\n", 18_432)),
        ("a.tsx", nested("a = ", "<a>", "</a>", ";\n", 18_432)),
        ("a.ts", nested("a = ", "`${", "}`", ";\n", 25_805)),
        ("a.js", nested("a = ", "[", "]", ";\n", 60_000)),
        ("a.rs", nested("const A: B = ", "(", ")", ";\n", 60_000)),
        ("a.json", "[".repeat(200_000) + &"]".repeat(200_000)),
        ("tsconfig.json", "[".repeat(50_000) + &"]".repeat(50_000)),
        ("a.sh", "a;".repeat(50_000)),
        ("a.html", nested("", "<i>", "</i>", "\n", 2_000)),
    ] {
        let verdict = judged(path, Some("\n"), &text);
        let run = &verdict.runs[0];
        assert!(passes_or_is_unread(&verdict), "{path} {:.20}: {run:?} {:?}", text, verdict.findings.first());
    }
}

#[test]
fn a_fault_in_a_long_text_is_found_where_it_is() {
    let css = "a{b:1}\n".repeat(6_000) + "a{b:1\n" + &"a{b:1}\n".repeat(6_000);
    assert_eq!(judged("a.css", None, &css).runs[0].outcome, Outcome::Found);
    let go = format!("package a\n{}var a = )\n{}", "var a = 1\n".repeat(9_000), "var a = 1\n".repeat(9_000));
    let lines: Vec<usize> = judged("a.go", None, &go).findings.iter().map(|found| found.line).collect();
    assert_eq!(lines, [9_002]);
}
