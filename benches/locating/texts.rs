//! Texts to search in, and quotes of them that are not quite right.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockgate_matching::MatchTolerance;

use super::SIMILAR;

/// A quote and what is to stand in its place.
pub struct Quoted {
    pub search: String,
    pub replace: String,
}

/// Numbers that look like chance, the same ones in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % bound as u64).unwrap()
    }
}

/// So many lines of Python.
pub fn library(lines: usize) -> String {
    let output = Command::new("python3")
        .args(["-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'], end='')"])
        .output();
    let root = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let (mut text, mut count, mut files) = (String::new(), 0, Vec::new());
    sources(Path::new(&root), &mut files);
    for file in files {
        let source = fs::read_to_string(file).unwrap_or_default().replace("\r\n", "\n");
        for line in source.lines() {
            if count == lines {
                return text;
            }
            text.push_str(line);
            text.push('\n');
            count += 1;
        }
    }
    (count..lines).for_each(|line| text.push_str(&generated_line(line)));
    text
}

fn generated_line(line: usize) -> String {
    match line % 12 {
        0 => "\n".to_owned(),
        1 => format!("def compute_{line}(self, scale):\n"),
        _ => format!(
            "    value_{} = self.combine({}, scale, \"{}\")\n",
            line * 7 % 1009,
            line * 31 % 997,
            line % 89
        ),
    }
}

/// The files of the library itself, in the order of their names, without what was installed into it.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "site-packages" {
            sources(&path, files);
        } else if name.ends_with(".py") {
            files.push(path);
        }
    }
}

/// Where each line starts, and the end.
pub fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Some lines of a text, from this one on.
pub fn block(text: &str, first: usize, height: usize) -> String {
    text.split_inclusive('\n').skip(first - 1).take(height).collect()
}

/// Tells whether a block begins with a line, and says enough to be told from others.
pub fn is_telling(block: &str) -> bool {
    let full = |line: &&str| !line.trim().is_empty();
    let outer_lines = [block.lines().next(), block.lines().next_back()];
    outer_lines.iter().flatten().all(|line| !line.trim().is_empty())
        && block.lines().filter(full).count() >= 4
        && block.chars().filter(char::is_ascii_lowercase).count() >= 80
}

/// Puts another letter in the place of three in a hundred.
pub fn with_changed_letters(block: &str, random: &mut Random) -> Quoted {
    let mut search: Vec<char> = block.chars().collect();
    let letters: Vec<usize> = search
        .iter()
        .enumerate()
        .filter(|(_, letter)| letter.is_ascii_lowercase())
        .map(|(at, _)| at)
        .collect();
    let drift = (block.chars().filter(|letter| !letter.is_whitespace()).count() * 3).div_ceil(100);
    for _ in 0..drift {
        let at = letters[random.below(letters.len())];
        search[at] = char::from(b'a' + u8::try_from(random.below(26)).unwrap());
    }
    changed(search.into_iter().collect())
}

/// Leaves a letter out of a long word of one line that is not the first.
pub fn with_typo(block: &str, random: &mut Random) -> Quoted {
    let first = block.find('\n').unwrap() + 1;
    let letter = |at: usize| block.as_bytes().get(at).is_some_and(u8::is_ascii_lowercase);
    let inside = |at: &usize| (at - 3..=at + 2).all(letter);
    let places: Vec<usize> = (first + 3..block.len()).filter(inside).collect();
    let at = if places.is_empty() { first } else { places[random.below(places.len())] };
    changed(format!("{}{}", &block[..at], block.get(at + 1..).unwrap_or_default()))
}

/// The edit that changes the first line.
fn changed(search: String) -> Quoted {
    let (first, rest) = search.split_once('\n').unwrap();
    let replace = format!("{first}  # changed\n{rest}");
    Quoted { search, replace }
}

/// A block that stands nowhere else.
const PLANTED: &str = "\
def reconcile_ledger(self, ledger, tolerance=\"strict\"):
    \"\"\"Brings the ledger into line with the bank's own statement.\"\"\"
    pending = [entry for entry in ledger.entries if entry.pending]
    for entry in pending:
        statement = self.bank.statement_for(entry.account, entry.month)
        if statement is None:
            self.report(\"missing statement\", entry.account)
            continue
        difference = statement.balance - entry.balance
        if abs(difference) > self.tolerances[tolerance]:
            self.report(\"balance differs\", entry.account, difference)
            entry.flag(reason='unreconciled', amount=difference)
        else:
            entry.settle(statement.identifier)
    settled = [entry for entry in pending if entry.settled]
    ledger.archive(settled, reason='reconciled')
    self.audit.note(\"reconciled\", len(settled), of=len(pending))
    return ReconciledLedger(ledger, settled)
";

/// So many lines of Python with the block in the middle.
pub fn planted(lines: usize) -> String {
    let text = library(lines - PLANTED.lines().count());
    let middle = starts(&text)[text.matches('\n').count() / 2];
    format!("{}{PLANTED}{}", &text[..middle], &text[middle..])
}

/// A search text for every match level, and some that no level finds.
pub fn levels() -> Vec<(&'static str, Quoted, MatchTolerance)> {
    let with = |line: fn((usize, &str)) -> String| PLANTED.lines().enumerate().map(line).collect::<String>();
    let indented = with(|(_, line)| format!("    {line}\n"));
    let marked = PLANTED.replace('"', "\u{201d}").replace(' ', "\u{a0}");
    let numbered = with(|(at, line)| format!("{:>6}\t{line}\n", at + 1));
    let with_typo = PLANTED.replace("identifier", "identiifer");
    let strange = PLANTED.replace("entry", "booking").replace("ledger", "journal");
    let absent = "Bromine vexes jocund quartz sphinx\n".repeat(3);
    let twice = PLANTED.replace("settled", "setled").replace("pending", "pendng");
    vec![
        ("`exact`", changed(PLANTED.to_owned()), MatchTolerance::Wrapping),
        ("`indent`", changed(indented), MatchTolerance::Wrapping),
        ("`marks`", changed(marked), MatchTolerance::Wrapping),
        ("`wrapping`", changed(numbered), MatchTolerance::Wrapping),
        ("`similar`", changed(with_typo.clone()), SIMILAR),
        ("`similar`, not asked for", changed(with_typo), MatchTolerance::Wrapping),
        ("slips in many lines", changed(twice), SIMILAR),
        ("other words", changed(strange), SIMILAR),
        ("other text", changed(absent), SIMILAR),
        ("one line, with a slip", changed("entry.settle(statement.identiifer)\n".to_owned()), SIMILAR),
        (
            "a piece, with marks",
            Quoted {
                search: "self.report(\u{201c}balance\u{a0}differs\u{201d}".to_owned(),
                replace: "self.tell(\u{201c}balance\u{a0}differs\u{201d}".to_owned(),
            },
            MatchTolerance::Wrapping,
        ),
    ]
}
