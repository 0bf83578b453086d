//! Comparison with brute force over every window of every height.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use super::*;

fn solid(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Extends the distances of every prefix of the needle by one character.
fn extend(row: &mut [usize], needle: &[char], x: char) {
    let mut corner = row[0];
    row[0] += 1;
    for (j, y) in needle.iter().enumerate() {
        let next = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
        corner = row[j + 1];
        row[j + 1] = next;
    }
}

/// A block: its rank, its lines, the expected result.
type Known = ((usize, usize, usize), Range<usize>, Hit);

/// Every block with solid edges: rank, then lines.
fn blocks(query: &NearestQuery<'_>) -> Vec<Known> {
    let needle = solid(query.needle);
    let mut lines = Vec::new();
    let mut start = query.window.start;
    for line in query.view.get(query.window.clone()).unwrap().split('\n') {
        if !line.trim().is_empty() {
            lines.push(start..start + line.len());
        }
        start += line.len() + 1;
    }
    let mut all = Vec::new();
    for first in 0..lines.len() {
        let mut row: Vec<usize> = (0..=needle.len()).collect();
        let mut length = 0;
        for last in first..lines.len() {
            let line = solid(query.view.get(lines[last].clone()).unwrap());
            line.iter().for_each(|x| extend(&mut row, &needle, *x));
            length += line.len();
            let span = lines[first].start..lines[last].end;
            let hit = Hit { span, distance: row[needle.len()], longer: length.max(needle.len()) };
            let rank = (hit.distance, length.abs_diff(needle.len()), first);
            all.push((rank, first..last + 1, hit));
        }
    }
    all
}

fn expected(all: &[Known], cut: usize, margin: usize) -> Nearest {
    let best = all.iter().min_by_key(|block| block.0).filter(|block| block.0.0 <= cut);
    let Some((rank, lines, hit)) = best else { return Nearest { absent: true, ..Nearest::default() } };
    let next = all
        .iter()
        .filter(|other| other.1.end <= lines.start || other.1.start >= lines.end)
        .min_by_key(|other| other.0)
        .filter(|other| other.0.0 <= rank.0 + margin);
    let runner_up = next.map(|next| next.2.clone());
    Nearest { best: Some(hit.clone()), runner_up, proved: true, absent: false }
}

/// Returns the difference from brute force, if any.
fn judge(case: &Case, tuning: Tuning, remaining: u64) -> Result<(), String> {
    let query = NearestQuery { view: &case.view, window: case.window.clone(), needle: &case.needle };
    let known = blocks(&query);
    let truth = expected(&known, case.cut, case.margin);
    let mut steps = NearestBudget::new(remaining);
    let mut found = nearest_with(&query, (case.cut, case.margin), tuning, &mut steps);
    for hit in found.best.iter().chain(&found.runner_up) {
        let same = known.iter().find(|block| block.2.span == hit.span).ok_or("no block")?;
        let exact = hit.distance == same.2.distance;
        let guess = !found.proved && hit.distance >= same.2.distance;
        if hit.longer != same.2.longer || !(exact || guess) {
            return Err(format!("{hit:?} is {same:?}"));
        }
    }
    if remaining < u64::MAX {
        let lie = (found.proved && found != truth) || (found.absent && !truth.absent);
        return if lie { Err(format!("{found:?} is not {truth:?}")) } else { Ok(()) };
    }
    if found.absent {
        if found.best.is_none() != known.is_empty() {
            return Err(format!("no hint: {found:?}"));
        }
        found.best = None;
    }
    if found == truth { Ok(()) } else { Err(format!("{found:?} is not {truth:?}")) }
}

#[derive(Debug, Clone)]
struct Case {
    view: String,
    window: Range<usize>,
    needle: String,
    cut: usize,
    margin: usize,
}

fn line(letters: &'static [&'static str], longest: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just(String::new()),
        1 => Just("  \t".to_owned()),
        9 => (0..3usize, proptest::collection::vec(proptest::sample::select(letters), 1..=longest))
            .prop_map(|(indent, letters)| " ".repeat(indent) + &letters.concat()),
    ]
}

/// The derivation of the needle from the text: lines, and inserted letters.
type Drift = (prop::sample::Index, usize, Vec<(prop::sample::Index, u8, prop::sample::Index)>);

fn drifted(lines: &[String], letters: &[&str], drift: &Drift) -> String {
    let (first, height, edits) = drift;
    let first = first.index(lines.len());
    let mut needle: Vec<char> = lines[first..(first + height).min(lines.len())].join("\n").chars().collect();
    for (place, kind, letter) in edits {
        let place = place.index(needle.len() + 1);
        let letter = letters[letter.index(letters.len())].chars().next().unwrap_or('x');
        match kind {
            0 => needle.insert(place, letter),
            1 if place < needle.len() => _ = needle.remove(place),
            _ if place < needle.len() => needle[place] = letter,
            _ => needle.push(letter),
        }
    }
    let mut needle = String::from_iter(needle);
    while needle.split_whitespace().map(str::len).sum::<usize>() < SHORT {
        needle.push_str(letters[0]);
    }
    needle
}

fn case(letters: &'static [&'static str], longest: usize, most: usize) -> impl Strategy<Value = Case> {
    let index = || any::<prop::sample::Index>();
    let drift = (index(), 1..12usize, proptest::collection::vec((index(), 0..3u8, index()), 0..8));
    let lines = proptest::collection::vec(line(letters, longest), 1..most);
    let doubled = proptest::collection::vec((index(), index(), 1..5usize), 0..3);
    (lines, doubled, drift, 0..20usize, 0..20usize, index(), 0..4u8).prop_map(
        move |(mut lines, doubled, drift, cut, margin, edge, narrowed)| {
            for (from, to, height) in doubled {
                let from = from.index(lines.len());
                let copy = lines[from..(from + height).min(lines.len())].to_vec();
                let to = to.index(lines.len());
                lines.splice(to..to, copy);
            }
            let needle = drifted(&lines, letters, &drift);
            let view = lines.join("\n") + "\n";
            let window = match narrowed {
                0 => lines[..edge.index(lines.len())].iter().map(|line| line.len() + 1).sum()..view.len(),
                _ => 0..view.len(),
            };
            Case { view, window, needle, cut, margin }
        },
    )
}

fn few_letters() -> impl Strategy<Value = Case> {
    case(&["a", "b", "(", " "], 12, 24)
}

fn many_letters() -> impl Strategy<Value = Case> {
    const LETTERS: &[&str] =
        &["a", "e", "i", "n", "r", "s", "t", "x", "_", "(", ")", "=", " ", "self", "return"];
    case(LETTERS, 14, 24)
}

fn other_letters() -> impl Strategy<Value = Case> {
    case(&["ä", "é", "漢", "字", "\u{a0}", "🦀", "a", "b", "\u{1c}", "\u{b}"], 10, 18)
}

/// Blocks of more than 64 rows.
fn long_lines() -> impl Strategy<Value = Case> {
    const LETTERS: &[&str] = &["a", "b", "c", "ab", "abc", " ", "foo", "bar"];
    case(LETTERS, 40, 20)
}

/// Uses every bound, however few starts there are.
const EAGER: Tuning = Tuning { few_starts: 0, cost_ratio: 0, ..Tuning::USUAL };

fn compare(cases: u32, strategy: impl Strategy<Value = Case>, tuning: Tuning) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let verdict = TestRunner::new(config)
        .run(&strategy, |case| judge(&case, tuning, u64::MAX).map_err(TestCaseError::fail));
    verdict.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn few_letters_as_brute_force() {
    compare(600, few_letters(), Tuning::USUAL);
    compare(600, few_letters(), EAGER);
}

#[test]
fn many_letters_as_brute_force() {
    compare(300, many_letters(), Tuning::USUAL);
    compare(500, many_letters(), EAGER);
}

#[test]
fn other_letters_as_brute_force() {
    compare(200, other_letters(), Tuning::USUAL);
    compare(300, other_letters(), EAGER);
}

#[test]
fn long_lines_as_brute_force() {
    compare(150, long_lines(), Tuning::USUAL);
    compare(250, long_lines(), EAGER);
}

#[test]
fn nothing_is_claimed_beyond_the_steps() {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let verdict = TestRunner::new(config).run(&(few_letters(), 0..6000u64), |(case, remaining)| {
        judge(&case, Tuning::USUAL, remaining)
            .and(judge(&case, EAGER, remaining))
            .map_err(TestCaseError::fail)
    });
    verdict.unwrap_or_else(|e| panic!("{e}"));
}

/// Returns the number of cases that differ from brute force.
fn wrong(tuning: Tuning) -> usize {
    let mut runner = TestRunner::deterministic();
    let strategy = many_letters();
    let cases = (0..400).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    cases.filter(|case| judge(case, tuning, u64::MAX).is_err()).count()
}

#[test]
fn a_bound_that_is_too_high_is_noticed() {
    assert_eq!(wrong(EAGER), 0);
    assert!(wrong(Tuning { lost_fours: 1, ..EAGER }) > 0);
    assert!(wrong(Tuning { lost_twos: 1, ..EAGER }) > 0);
}

#[test]
fn more_letters_than_a_byte_has_numbers_as_brute_force() {
    let letter = |i: u32| char::from_u32(0x4E00 + i.wrapping_mul(2_654_435_761) % 700).unwrap();
    let lines: Vec<String> = (0..90).map(|l| (0..9).map(|i| letter(l * 9 + i)).collect()).collect();
    for (first, drop) in [(0, 7), (20, 11), (45, 3)] {
        let needle = lines[first..first + 45].join("\n");
        let needle: String =
            needle.chars().enumerate().filter(|(i, _)| i % 31 != drop).map(|(_, c)| c).collect();
        let view = lines.join("\n") + "\n" + &lines[first..first + 44].join("\n");
        let case = Case { window: 0..view.len(), view, needle, cut: 60, margin: 60 };
        assert!(!Alphabet::new(&case.needle).unwrap().is_narrow());
        assert_eq!(judge(&case, Tuning::USUAL, u64::MAX), Ok(()));
        assert_eq!(judge(&case, EAGER, u64::MAX), Ok(()));
    }
}
