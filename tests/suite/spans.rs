//! Of generated files in every encoding and with every line end, the bytes outside of what an edit names stay.
//!
//! What must stay is cut out of the file's bytes by the generator itself, which knows nothing of plans.

use std::ops::Range;

use lockgate_edit::{Edit, EditLimits, PlanContext, plan};
use lockgate_mcp::tools::safe_edit_file;
use lockgate_text::{Buffer, Hints};
use serde_json::{Value, json};

const CONTEXT: PlanContext<'static> = PlanContext {
    noun: "file",
    path: "a.txt",
    language: None,
    syntax: &lockgate_text::NoSyntax,
    limits: EditLimits { bytes: 10 << 20, steps: 40_000_000 },
};

/// Cases in every run; `LOCKGATE_ROUNDS` says otherwise.
const ROUNDS: u64 = 3000;

fn rounds() -> u64 {
    std::env::var("LOCKGATE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % bound
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Utf8,
    Utf8Marked,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl Form {
    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Form::Utf8 | Form::Utf8Marked => text.as_bytes().to_vec(),
            Form::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Form::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Form::Windows1252 => text.chars().map(|c| if c == '\u{20ac}' { 0x80 } else { c as u8 }).collect(),
        }
    }

    fn bom(self) -> Vec<u8> {
        match self {
            Form::Utf8 | Form::Windows1252 => Vec::new(),
            Form::Utf8Marked => b"\xEF\xBB\xBF".to_vec(),
            Form::Utf16Le | Form::Utf16Be => self.encode("\u{feff}"),
        }
    }

    /// What lines are made of beside their number.
    fn words(self) -> &'static [&'static str] {
        match self {
            Form::Windows1252 => &["caf\u{e9}", " ", "\t", "\u{ff}", "\u{20ac}", "x  ", "\u{c}", "{", "a\rb"],
            _ => &[
                "caf\u{e9}",
                " ",
                "\t",
                "\u{1D11E}",
                "\u{2028}",
                "x  ",
                "\u{c}",
                "{",
                "\u{85}",
                "\u{feff}",
                "a\rb",
            ],
        }
    }
}

/// A file as the generator made it: each line's bytes with its line end.
struct File {
    form: Form,
    lines: Vec<Vec<u8>>,
}

impl File {
    fn new(dice: &mut Random) -> File {
        let form = *dice.pick::<Form>(&[
            &Form::Utf8,
            &Form::Utf8Marked,
            &Form::Utf16Le,
            &Form::Utf16Be,
            &Form::Windows1252,
        ]);
        let line_ends: &[&str] = dice.pick::<[&str]>(&[&["\n"], &["\r\n"], &["\n", "\r\n"]]);
        let count = 1 + dice.below(12);
        let mut lines = Vec::new();
        for line in 0..count {
            // In a file of one byte a letter, something must tell that it is no UTF-8.
            let mut text = format!("tok{line}{}", if form == Form::Windows1252 { "\u{e9}z" } else { "z" });
            for _ in 0..dice.below(4) {
                text.push_str(dice.pick(form.words()));
            }
            let is_last = line + 1 == count;
            if !(is_last && dice.below(3) == 0) {
                text.push_str(dice.pick(line_ends));
            }
            lines.push(form.encode(&text));
        }
        File { form, lines }
    }

    fn bytes(&self, lines: Range<usize>) -> Vec<u8> {
        self.lines[lines].concat()
    }

    fn whole(&self) -> Vec<u8> {
        [self.form.bom(), self.lines.concat()].concat()
    }
}

/// An edit, and the runs of lines that it leaves alone, in order; between two of them stands what it names.
struct Case {
    arguments: Value,
    kept: Vec<Range<usize>>,
}

fn case(dice: &mut Random, file: &File) -> Case {
    let count = file.lines.len();
    let (mut at, mut unchanged, mut edits) = (0, Vec::new(), Vec::new());
    let is_insertion = dice.below(2) == 0;
    // Two insertions in one place would be one.
    let mut least = 0;
    while edits.is_empty() || (least < count && dice.below(2) == 0) {
        let start = least + dice.below(count - least);
        let end = if is_insertion { start } else { start + 1 + dice.below(count - start) };
        let new: String =
            (0..dice.below(3) + usize::from(is_insertion)).map(|line| format!("new{line}\n")).collect();
        unchanged.push(at..start);
        edits.push(if is_insertion {
            json!({"at_line": start + 1, "content": new})
        } else {
            json!({"start_line": start + 1, "end_line": end, "new_content": new})
        });
        (at, least) = (end, end.max(start + 1));
    }
    unchanged.push(at..count);
    let mode = if is_insertion { "insert_lines" } else { "line_edits" };
    Case { arguments: json!({"path": "a.txt", mode: edits}), kept: unchanged }
}

/// A search for what stands in one line alone, up to its number's end.
fn search(dice: &mut Random, file: &File) -> (Value, Vec<u8>, Vec<u8>) {
    let line = dice.below(file.lines.len());
    let search_text = format!("tok{line}{}", if file.form == Form::Windows1252 { "\u{e9}z" } else { "z" });
    let length = file.form.encode(&search_text).len();
    let after = [&file.lines[line][length..], &file.bytes(line + 1..file.lines.len())].concat();
    let mut arguments =
        json!({"path": "a.txt", "search": search_text, "replace": dice.pick(&["new", "", "new\nnew"])});
    if dice.below(2) == 0 {
        arguments["regex"] = json!(true);
    }
    (arguments, file.bytes(0..line), after)
}

fn edit_of(arguments: Value) -> Edit {
    safe_edit_file::parse_edit(serde_json::from_value(arguments).unwrap()).unwrap().request.edit
}

fn edited(bytes: &[u8], arguments: &Value) -> Result<Vec<u8>, String> {
    let edit = edit_of(arguments.clone());
    let buffer = Buffer::read(bytes.to_vec(), Hints::default()).map_err(|error| error.message)?;
    let planned = plan(&edit, &buffer, CONTEXT).map_err(|error| error.message)?;
    Ok(buffer.apply(&planned.plan).map_err(|error| error.message)?.bytes().to_vec())
}

/// The first of the kept pieces that is not there, in its place.
fn lost(after: &[u8], unchanged: &[Vec<u8>]) -> Option<usize> {
    let (first, last) = (unchanged.first()?, unchanged.last()?);
    if !after.starts_with(first) {
        return Some(0);
    }
    if unchanged.len() > 1 && (!after.ends_with(last) || first.len() + last.len() > after.len()) {
        return Some(unchanged.len() - 1);
    }
    let mut rest = &after[first.len()..];
    for (number, piece) in unchanged.iter().enumerate().skip(1) {
        let found =
            if piece.is_empty() { Some(0) } else { rest.windows(piece.len()).position(|it| it == piece) };
        let Some(at) = found else { return Some(number) };
        rest = &rest[at + piece.len()..];
    }
    None
}

/// Makes a case, has it edited, and says what of the rest is lost.
fn run_round(number: u64, editor: impl Fn(&[u8], &Value) -> Result<Vec<u8>, String>) -> Option<String> {
    let mut dice = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    dice.below(2);
    let file = File::new(&mut dice);
    let (arguments, mut unchanged): (Value, Vec<Vec<u8>>) = if dice.below(3) == 0 {
        let (arguments, before, after) = search(&mut dice, &file);
        (arguments, vec![before, after])
    } else {
        let case = case(&mut dice, &file);
        (case.arguments, case.kept.into_iter().map(|run| file.bytes(run)).collect())
    };
    unchanged[0] = [file.form.bom(), unchanged[0].clone()].concat();
    let before = file.whole();
    let after = match editor(&before, &arguments) {
        Ok(after) => after,
        Err(why) => return Some(format!("case {number}: {arguments} of {before:?}: {why}")),
    };
    lost(&after, &unchanged).map(|piece| {
        format!("case {number}: {arguments} of {before:?} gave {after:?}, without piece {piece}")
    })
}

#[test]
fn bytes_outside_an_edit_never_change() {
    let rounds = rounds();
    for number in 0..rounds {
        if let Some(wrong) = run_round(number, edited) {
            panic!("{wrong}");
        }
    }
    println!("figures {{\"cases\": {rounds}, \"bytes outside changed\": 0}}");
}

/// The control: an editor that reads text and writes lines, as many do.
#[test]
fn a_line_based_editor_is_detected() {
    let naive = |bytes: &[u8], _: &Value| {
        let text = String::from_utf8_lossy(bytes);
        Ok(text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>().into_bytes())
    };
    let detected = (0..500).filter(|number| run_round(*number, naive).is_some()).count();
    assert!(detected > 300, "{detected} of 500 were seen");
}
