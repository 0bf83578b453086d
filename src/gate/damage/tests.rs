//! What holds for all rules, whatever the text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::scene::Spot;
use super::{Scene, judge, rule};
use crate::gate::{Draft, Stands, Watch};
use crate::policy::{Accident, Damage, language_of};
use crate::text::{Buffer, Hints};

fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

/// What one rule finds in an edit.
fn spots(accident: Accident, path: &str, before: Option<&str>, after: &str) -> Vec<Spot> {
    with_draft(path, before, after, |draft| rule(accident)(&Scene::new(draft)))
}

fn with_draft<T>(path: &str, before: Option<&str>, after: &str, look: impl FnOnce(&Draft<'_>) -> T) -> T {
    let (old, new) = (buffer(before.unwrap_or_default()), buffer(after));
    let plan = old.rewrite(after).unwrap();
    look(&Draft {
        path,
        language: language_of(path, after.lines().next()),
        before: before.is_some().then_some(&old),
        after: &new,
        map: &plan.line_map(&old, &new),
        stands: Stands::of_file(before.map(|_| &old)),
        beside: &|_| false,
    })
}

/// What an accident leaves behind, over and over: the worst texts for each rule.
const SEEDS: [&str; 14] = [
    "12: x\n",
    "+a\n",
    "@@ -1 +1 @@\n",
    "# ... rest of code\n",
    "<<<<<<< a\n",
    "=======\n",
    ">>>>>>> b\n",
    "f(“a”)\n",
    "a\\nb\\n",
    "@a\ndef f():\n",
    "#[a]\nfn f() {}\n",
    "\t a\n",
    "\0",
    "r#\"'`\"\"\"/*",
];

#[test]
fn a_text_of_nothing_but_accidents_is_read_in_linear_time() {
    let watch = Watch::idle();
    let slow = if cfg!(debug_assertions) { 20 } else { 1 };
    for seed in SEEDS {
        for path in ["a.py", "a.rs", "a.js", "a.md", "a.sh", "a.yaml", "a"] {
            let text = seed.repeat(200_000 / seed.len());
            let half = seed.repeat(100_000 / seed.len());
            let began = Instant::now();
            for before in [None, Some(half.as_str())] {
                with_draft(path, before, &text, |draft| {
                    let limit = watch.until(Instant::now() + Duration::from_secs(60));
                    assert!(judge(draft, None, &Damage::default(), limit).is_ok(), "{path}: {seed:?}");
                });
            }
            assert!(
                began.elapsed() < slow * Duration::from_millis(500),
                "{path}: {seed:?} took {:?}",
                began.elapsed()
            );
        }
    }
}

#[test]
fn a_limit_that_is_reached_ends_it() {
    with_draft("a.py", None, "x\n", |draft| {
        assert!(judge(draft, None, &Damage::default(), Watch::idle().until(Instant::now())).is_err());
    });
}

#[test]
fn what_was_there_before_is_no_accident_of_the_edit() {
    let old = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n# ... rest of code unchanged ...\n1: a\n2: b\n3: c\n4: d\nf(“a”)\nz\\n\n\0\n";
    for (accident, _) in Accident::ALL {
        assert_eq!(spots(accident, "a.py", Some(old), &format!("{old}more = 1\n")), [], "{accident:?}");
    }
}

#[test]
fn places_are_counted_in_characters() {
    let spot = |accident, text: &str| {
        spots(accident, "a.py", Some("x = 1\n"), text)
            .into_iter()
            .map(|spot| (spot.line, spot.column))
            .collect::<Vec<_>>()
    };
    assert_eq!(spot(Accident::TypographicQuotes, "é = '𝄞' + f(“a”)\n"), [(1, 13)]);
    assert_eq!(spot(Accident::NulBytes, "x = 1\né\0\n"), [(2, 2)]);
    assert_eq!(spot(Accident::EscapedNewlines, "é = 1\\nb = 2\n"), [(1, 6)]);
}

#[test]
fn carriage_returns_and_other_encodings_change_nothing() {
    let (before, after) =
        ("a = 1\r\nb = 2\r\n", "a = 1\r\n<<<<<<< HEAD\r\nb = 2\r\n=======\r\nb = 3\r\n>>>>>>> c\r\n");
    assert_eq!(spots(Accident::ConflictMarkers, "a.py", Some(before), after).len(), 1);
}

#[test]
fn keys_of_a_table_are_no_line_numbers() {
    let none = |path: &str, text: &str| {
        assert_eq!(spots(Accident::LinePrefixes, path, Some("x\n"), text), [], "{path}: {text:?}");
    };
    none("a.py", "x = {\n    1: 'a',\n    2: 'b',\n    3: 'c',\n}\n");
    none("a.go", "var x = map[int]string{\n\t1: \"a\",\n\t2: \"b\",\n}\n");
    none("a.yaml", "x:\n  1: a\n  2: b\n  3: c\n");
    none("a.md", "1. a\n2. b\n3. c\n\n- d\n- e\n+ f\n");
    none("a.csv", "1\ta\n2\tb\n3\tc\n");
    none("a.py", "x = '''\n1: a\n2: b\n'''\n");
    none("a.diff", "@@ -1 +1 @@\n-a\n+b\n");
    none("a.yaml", "- a\n- b\n- c\n");
    none("a.lua", "-- a\n-- b\n");
}

proptest! {
    #[test]
    fn any_edit_is_judged(
        before in "([-+@#.…“’\\\\nt<=>12:| \t\"'`a-c\0é]{0,12}\n){0,12}",
        after in "([-+@#.…“’\\\\nt<=>12:| \t\"'`a-c\0é]{0,12}\n){0,12}",
        path in "a\\.(py|rs|js|md|sh|yaml|go|c|txt|json|toml|java|ts|html|css)",
    ) {
        for old in [None, Some(before.as_str())] {
            let count = after.lines().count().max(1);
            with_draft(&path, old, &after, |draft| {
                for (accident, _) in Accident::ALL {
                    for spot in rule(accident)(&Scene::new(draft)) {
                        prop_assert!(spot.line >= 1 && spot.line <= count && spot.column >= 1, "{accident:?} {spot:?}");
                    }
                }
                Ok(())
            })?;
        }
    }
}
