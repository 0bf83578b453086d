//! Texts and quotes that make the search work hardest.

use lockgate_matching::MatchTolerance;
use lockgate_text::Buffer;

use super::texts::{self, Quoted, Random};
use super::{SIMILAR, answer, buffer, edit, once};

/// The quotes that are tried on a text.
type Quotes = Vec<(&'static str, Quoted)>;

/// Prints what each case costs under both tolerances.
pub fn table() {
    println!("| text | quote | wall | CPU | answer | wall with `similar` | CPU | answer |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, text, quotes) in [equal(), long_line(), tall(), blanks(), strange()] {
        let before = buffer(&text);
        for (search_name, quoted) in quotes {
            print!("| {name} | {search_name} |");
            for tolerance in [MatchTolerance::Wrapping, SIMILAR] {
                row(&before, &quoted, tolerance);
            }
            println!();
        }
    }
}

fn row(before: &Buffer, quoted: &Quoted, tolerance: MatchTolerance) {
    let edit = edit(&quoted.search, &quoted.replace, tolerance);
    let mut runs: Vec<_> = (0..3).map(|_| once(&edit, before)).collect();
    runs.sort_by_key(|(cost, _)| *cost);
    let (cost, planned) = &runs[1];
    print!(" {:.0} ms | {:.0} ms | {} |", cost.wall_ms(), cost.processor_ms(), answer(planned));
}

fn quoted(search: &str, from: &str, to: &str) -> Quoted {
    Quoted { search: search.to_owned(), replace: search.replacen(from, to, 1) }
}

fn equal() -> (&'static str, String, Quotes) {
    let line = "    value = compute(scale)\n";
    let changed_letters = "    value = compote(scale)\n";
    let one_off = format!("{}    other = 1\n", line.repeat(20));
    let inner = format!("{}    other = 1\n{}", line.repeat(10), line.repeat(10));
    let typo_lines = format!("{}{changed_letters}{}", line.repeat(10), line.repeat(9));
    let quotes = vec![
        ("3 equal lines", quoted(&line.repeat(3), "value", "other")),
        (
            "3 equal lines, indented otherwise",
            quoted(&line.repeat(3).replace("    ", "\t"), "value", "other"),
        ),
        ("20 equal lines, then another", quoted(&one_off, "value", "sum")),
        ("20 equal lines, another in the middle", quoted(&inner, "value", "sum")),
        ("20 equal lines, one with a slip", quoted(&typo_lines, "value", "sum")),
        ("20 lines, all with a slip", quoted(&changed_letters.repeat(20), "value", "sum")),
        ("one line, with a slip", quoted(changed_letters, "value", "sum")),
        ("5,000 equal lines", quoted(&line.repeat(5_000), "value", "sum")),
        (
            "5,000 equal lines, indented otherwise",
            quoted(&line.repeat(5_000).replace("    ", "\t"), "value", "sum"),
        ),
        (
            "5,000 equal lines, then another",
            quoted(&format!("{}other = 1\n", line.repeat(5_000)), "value", "sum"),
        ),
        ("5,000 equal lines, all with a slip", quoted(&changed_letters.repeat(5_000), "value", "sum")),
    ];
    ("a million equal lines", line.repeat(1_000_000), quotes)
}

fn long_line() -> (&'static str, String, Quotes) {
    let text: String = (0..400_000).map(|n| format!("item{n:07} - [{}]; ", n * 7919 % 99_991)).collect();
    let from = 5_000_000 + text[5_000_000..].find("item").unwrap();
    let until = |length: usize| from + text[from..from + length].rfind("]; ").unwrap();
    let part = text[from..until(2_000)].to_owned();
    let Quoted { search: changed_letters, .. } =
        texts::with_changed_letters(&format!("{part}\n"), &mut Random::new(1));
    let marked = format!("\u{201c}{}\u{201d} - [", &text[from..until(60)]);
    let blanks = text[from..until(400)].replace(' ', "\u{a0}");
    let quotes = vec![
        ("a piece that is not there", quoted("item99999999 = [1]", "item", "thing")),
        ("a piece with marks", quoted(&blanks, "item", "thing")),
        ("a piece with marks that is not there", quoted(&marked, "item", "thing")),
        ("2,000 bytes with drift", quoted(changed_letters.trim_end(), "item", "thing")),
        ("the line with another dash", quoted(&text.replacen(" - [", " \u{2013} [", 1), "item", "thing")),
        ("the line with a slip", quoted(&text.replacen("item0000007", "itm0000007", 1), "item", "thing")),
    ];
    ("a line of 10 MB", text, quotes)
}

fn tall() -> (&'static str, String, Quotes) {
    let text = texts::library(100_000);
    let block = texts::block(&text, 50_000, 5_000);
    let changed_letters = texts::with_changed_letters(&block, &mut Random::new(2));
    let typo_lines = texts::with_typo(&block, &mut Random::new(3));
    let elsewhere = texts::library(205_000);
    let absent = texts::block(&elsewhere, 200_000, 5_000);
    let every = |text: &str| text.lines().map(|line| format!("{line}  # changed\n")).collect::<String>();
    let indented: String = block.lines().map(|line| format!("  {line}\n")).collect();
    let other: String = (0..5_000).map(|n| format!("entirely.other({n}, text)\n")).collect();
    let marked = block.replace('"', "\u{201d}").replace('\'', "\u{2019}");
    let doubled: String = marked.lines().map(|line| format!("{line}\n{line} + more\n")).collect();
    let hunks = |word: &str| -> String {
        let line = |n: usize| format!("    {word}{n} = {}\n", format!("{word}({n}), ").repeat(30));
        (0..2_500).map(|n| if n % 50 == 0 { format!("kept({n})\n") } else { line(n) }).collect()
    };
    let text = format!("{text}{}", hunks("start"));
    let far: String = hunks("start").lines().map(|line| format!(" {line}\n")).collect();
    let quotes = vec![
        ("5,000 lines with other quotes, 5,000 more", Quoted { search: marked, replace: doubled }),
        ("50 hunks of 49 long lines", Quoted { replace: far.replace("start", "stars"), search: far }),
        ("5,000 lines with drift", changed_letters),
        ("5,000 lines with one slip", typo_lines),
        ("5,000 lines that are not there", quoted(&absent, "e", "a")),
        ("5,000 lines, all changed", Quoted { search: block.clone(), replace: every(&block) }),
        ("5,000 indented lines, all changed", Quoted { replace: every(&indented), search: indented.clone() }),
        ("5,000 indented lines, all replaced", Quoted { search: indented, replace: other.clone() }),
        ("5,000 lines, all replaced", Quoted { search: block, replace: other }),
    ];
    ("100,000 lines", text, quotes)
}

fn blanks() -> (&'static str, String, Quotes) {
    let text = format!("{}total = compute(scale)\n{}", "\n".repeat(100_000), "\n".repeat(100_000));
    let quotes = vec![
        ("a line that is there, indented", quoted("  total = compute(scale)\n", "total", "sum")),
        ("a line with a slip", quoted("total = compte(scale)\n", "total", "sum")),
        (
            "5,000 blank lines and the line",
            quoted(&format!("{}  total = compute(scale)\n", "\n".repeat(5_000)), "total", "sum"),
        ),
    ];
    ("200,000 blank lines", text, quotes)
}

fn strange() -> (&'static str, String, Quotes) {
    let mut nested = "let absent = compute(wrapped);\n".to_owned();
    for depth in 0..32 {
        nested = format!("{0}\n{nested}{0}\n", "`".repeat(3 + depth));
        nested = nested.lines().enumerate().map(|(at, line)| format!("{}: {line}\n", at + 1)).collect();
    }
    let escaped = format!("{}\n", "say(\\\"a\\\\n\\\", \\'b\\') ".repeat(50_000));
    let many: String = (0..5_000).map(|n| format!("-call(\\\"{n}\\\\n\\\")\n")).collect();
    let numbered: String = (0..5_000).map(|n| format!("{}: call({n})\n", n + 1)).collect();
    let elided = "def f():\n...\nreturn x\n".repeat(200);
    let quotes = vec![
        ("64 wrappings", quoted(&nested, "absent", "gone")),
        ("a line of 1 MB with backslashes", quoted(&escaped, "say", "tell")),
        ("5,000 lines of a diff with escapes", quoted(&many, "call", "run")),
        ("5,000 numbered lines", quoted(&numbered, "call", "run")),
        ("200 elided parts", quoted(&elided, "f()", "g()")),
    ];
    ("10,000 lines", texts::library(10_000), quotes)
}
