//! Search and replace gives what CPython's `re.sub` gives, byte for byte, or refuses.
//!
//! Random patterns, templates and texts from one seed go to a real `python3` and to this crate. `PARITY_SEED` and
//! `PARITY_CASES` choose others.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};

use lockgate_policy::Policy;
use lockgate_python_re::{Error, Flags, Pattern, ReplacementTemplate, StepBudget};
use serde_json::{Value, json};

/// The greatest share of cases that Python takes and this crate refuses, in percent.
const REFUSED_AT_MOST: f64 = 2.0;

mod grammar;

/// One case.
#[derive(Debug, Clone, Default)]
struct Case {
    pattern: String,
    template: String,
    flags: i64,
    text: String,
    before: String,
    after: String,
    count: usize,
}

#[derive(Default)]
struct ParityCounts {
    same: usize,
    matched: usize,
    both_refused: usize,
    same_words: usize,
    only_we_refused: usize,
    slow: usize,
    wrong: Vec<String>,
    rejections: Vec<String>,
}

#[test]
fn results_are_those_of_pythons_re_sub() {
    let seed = number("PARITY_SEED", 20_231_107);
    let mut cases = grammar::generate(seed, number("PARITY_CASES", 10_000) as usize);
    cases.extend(grammar::sets());
    let Some(answers) = ask_python(&cases) else { return };
    let mut counts = ParityCounts::default();
    for (case, answer) in cases.iter().zip(&answers) {
        judge(case, answer, &mut counts);
    }
    let taken = counts.same + counts.only_we_refused;
    let share = 100.0 * counts.only_we_refused as f64 / taken.max(1) as f64;
    eprintln!(
        "{} cases, seed {seed}: {} same ({} with matches), {} refused by both ({} in the same words), \
         {} refused by us alone ({share:.2} % of what Python takes), {} too slow in Python, {} wrong",
        cases.len(),
        counts.same,
        counts.matched,
        counts.both_refused,
        counts.same_words,
        counts.only_we_refused,
        counts.slow,
        counts.wrong.len()
    );
    counts.rejections.sort();
    counts.rejections.dedup();
    eprintln!("refused by us alone: {:#?}", counts.rejections.iter().take(20).collect::<Vec<_>>());
    assert_eq!(answers.len(), cases.len(), "python answered every case");
    assert!(
        counts.wrong.is_empty(),
        "{}",
        counts.wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(share <= REFUSED_AT_MOST, "{share:.2} % of what Python takes was refused");
    assert!(counts.matched * 3 > cases.len(), "the texts hold matches: {}", counts.matched);
    assert!(counts.both_refused * 20 > cases.len(), "invalid patterns are among the cases");
    assert!(
        counts.same_words * 100 > counts.both_refused * 97,
        "rejections use Python's words: {}",
        counts.same_words
    );
}

fn judge(case: &Case, answer: &Value, counts: &mut ParityCounts) {
    let ours = replace(case);
    match (&ours, answer.get("ok").and_then(Value::as_str), answer.get("error").and_then(Value::as_str)) {
        (Ok(text), Some(python), _) if text == python => {
            counts.same += 1;
            counts.matched += usize::from(*text != case.text);
        }
        (Ok(_), Some(_), _) | (Ok(_), None, Some(_)) => {
            counts.wrong.push(format!("{case:?}\n  python: {answer}\n  ours:   {ours:?}"));
        }
        (Err(error), Some(_), _)
            if *error != Error::OutOfSteps && error.to_string().contains("not supported") =>
        {
            counts.only_we_refused += 1;
            counts.rejections.push(error.to_string());
        }
        (Err(error), Some(_), _) if *error == Error::OutOfSteps => {
            counts.only_we_refused += 1;
            counts.rejections.push(format!("{error} {}", case.pattern));
        }
        (Err(error), Some(_), _) => {
            counts.wrong.push(format!("{case:?}\n  python: {answer}\n  ours:   {error:?}"));
        }
        (Err(error), None, Some(python)) => {
            counts.both_refused += 1;
            counts.same_words += usize::from(error.to_string().ends_with(python));
            if !error.to_string().ends_with(python) && std::env::var_os("PARITY_WORDS").is_some() {
                eprintln!("{:?} {:?}\n  python: {python}\n  ours:   {error}", case.pattern, case.template);
            }
        }
        (_, None, None) => counts.slow += 1,
    }
}

/// What this crate makes of a case; the text stands between other text, which must not matter.
fn replace(case: &Case) -> Result<String, Error> {
    let pattern = Pattern::compile(&case.pattern, Flags::from_bits(case.flags)?)?;
    let template = ReplacementTemplate::parse(&case.template, &pattern)?;
    let whole = format!("{}{}{}", case.before, case.text, case.after);
    let window = case.before.len()..case.before.len() + case.text.len();
    let count = NonZeroUsize::new(case.count);
    let mut budget = StepBudget::new(Policy::embedded().limits.regex_steps);
    let changes = pattern.replace(&whole, window.clone(), &template, count, &mut budget)?;
    let (mut out, mut at) = (String::new(), window.start);
    for change in changes {
        assert!(at <= change.span.start && change.span.end <= window.end, "in order and inside: {case:?}");
        out.push_str(&whole[at..change.span.start]);
        out.push_str(&change.text);
        at = change.span.end;
    }
    out.push_str(&whole[at..window.end]);
    Ok(out)
}

/// Python's answers; nothing where `python3` is not CPython 3.11, unless this is CI.
fn ask_python(cases: &[Case]) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/python_re.py");
    let spawned = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        super::store::not_run("the comparison with Python's re: there is no python3");
        return None;
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let hello: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    if hello["version"][0] != 3 || hello["version"][1] != 11 {
        super::store::not_run(&format!(
            "the comparison with Python's re: python3 is {hello}, not CPython 3.11"
        ));
        return None;
    }
    let mut requests = String::new();
    for case in cases {
        let Case { pattern, template, flags, text, count, .. } = case;
        let request =
            json!({"pattern": pattern, "template": template, "flags": flags, "text": text, "count": count});
        writeln!(requests, "{request}").unwrap();
    }
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(requests.as_bytes()));
    let answers = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    writer.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success());
    Some(answers)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
