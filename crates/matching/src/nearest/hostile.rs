//! Texts that would take too long without limits, and texts without a match.

use super::*;

fn hostile(view: &str, needle: &str, cut: usize, margin: usize) -> Nearest {
    let mut steps = NearestBudget::new(NearestBudget::SEARCH);
    nearest(&NearestQuery { view, window: 0..view.len(), needle }, cut, margin, &mut steps)
}

#[test]
fn a_million_equal_lines_end_unproved() {
    let view = "    x = compute(y)\n".repeat(1_000_000);
    let needle = "    x = compute(z)\n".repeat(5);
    let found = hostile(&view, &needle, 9, 9);
    assert_eq!(found.best.map(|best| (best.distance, best.longer)), Some((5, 60)));
    assert_eq!(found.runner_up.map(|next| next.distance), Some(5));
    assert!(!found.proved && !found.absent);
}

#[test]
fn a_line_of_ten_megabytes_ends() {
    let view = "x = compute(y); ".repeat(625_000);
    let needle = "x = compute(y)\n".repeat(5);
    let found = hostile(&view, &needle, 9, 9);
    assert_eq!(found.best.map(|best| best.span), Some(0..view.len()));
    assert!(found.absent && !found.proved);
}

#[test]
fn a_needle_of_five_thousand_lines_ends_with_its_place() {
    let line =
        |i: usize| format!("    value_{:08x} = compute({})\n", i.wrapping_mul(0x9E37_79B9) as u32, i % 7);
    let lines: Vec<String> = (0..20_000).map(line).collect();
    let needle = lines[7000..12_000].concat().replace('9', "x");
    let found = hostile(&lines.concat(), &needle, 20_000, 20_000);
    let start = lines[..7000].concat().len();
    let span = found.best.expect("a hint at the least").span;
    assert!(span.start.abs_diff(start) < 400, "{span:?} is not at {start}");
    assert!(!found.absent);
}

#[test]
fn a_short_needle_gets_its_line_as_a_hint() {
    let found = hostile("one\n\tlet value = 1;\nother\n", "let v = 1", 3, 3);
    assert_eq!(found.best, Some(Hit { span: 4..19, distance: 5, longer: 11 }));
    assert!(!found.proved && !found.absent);
    assert_eq!(hostile("one\ntwo\n", "xy", 3, 3), Nearest::default());
    assert_eq!(hostile("one\ntwo\n", " \n", 3, 3), Nearest::default());
}

#[test]
fn blank_windows_hold_nothing() {
    let found = hostile(" \n\n", "something to search", 3, 3);
    assert_eq!(found, Nearest { absent: true, ..Nearest::default() });
}
