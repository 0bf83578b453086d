//! Properties of diffs: the real `git apply` accepts them.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the patch is given to the real git, in a folder of its own")]

use std::process::Command;

use proptest::prelude::*;

use super::{File, changes, wishes, words};
use crate::{Buffer, DiffCut, Encoding, Hints, diff};

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_takes_the_diff(marked in any::<bool>(), text in words(), wishes in wishes(), content in words(), way in 0..4) {
        let bytes = [if marked { "\u{feff}" } else { "" }, &text].concat().into_bytes();
        let file = File { encoding: Encoding::Utf8, mark: if marked { 3 } else { 0 }, bytes, text };
        let before = file.read();
        let plan = match way {
            0 => before.rewrite(&content).unwrap(),
            _ => before.plan(changes(before.view(), file.encoding, &wishes)).unwrap(),
        };
        let after = before.apply(&plan).unwrap();
        let (old, new, plan) = if way == 1 { (&after, &before, plan.inverse(&before, &after)) } else { (&before, &after, plan) };
        let diff = diff::unified("f.txt", Some(old), new, &plan);
        prop_assert_eq!(diff.render(usize::MAX).0.is_empty(), old.bytes() == new.bytes());
        if old.bytes() != new.bytes() {
            let patched = by_git("f.txt", Some(old.bytes()), &diff.render(usize::MAX).0);
            prop_assert_eq!(patched.map_err(TestCaseError::fail)?, new.bytes());
        }
    }
}

/// Applies a patch to a file with `git apply` and returns the result.
fn by_git(path: &str, before: Option<&[u8]>, patch: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(path);
    if let Some(bytes) = before {
        std::fs::write(&file, bytes).unwrap();
    }
    std::fs::write(folder.path().join("the.patch"), patch).unwrap();
    let git = ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "the.patch"];
    let out = Command::new("git").args(git).current_dir(folder.path()).output().unwrap();
    if !out.status.success() {
        return Err(format!("{}\n{patch}", String::from_utf8_lossy(&out.stderr)));
    }
    std::fs::read(&file).map_err(|error| format!("{error}\n{patch}"))
}

#[test]
fn git_takes_the_diff_of_a_creation_under_any_name() {
    for path in
        ["plain.txt", "two words.txt", "é \"q\" \\ tab\t.txt", " lead", "trail ", "line\nbreak", "\u{1}"]
    {
        for content in ["", "a", "a\r\nb\n", "\u{feff}a\n"] {
            let none = Buffer::read(Vec::new(), Hints::default()).unwrap();
            let plan = none.rewrite(content).unwrap();
            let after = none.apply(&plan).unwrap();
            let diff = diff::unified(path, None, &after, &plan);
            assert_eq!(
                by_git(path, None, &diff.render(usize::MAX).0),
                Ok(content.as_bytes().to_vec()),
                "{path:?}"
            );
            if content.is_empty() {
                continue;
            }
            for (old, new, plan) in
                [(&none, &after, plan.clone()), (&after, &none, plan.inverse(&none, &after))]
            {
                let (patch, cut) = diff::unified(path, Some(old), new, &plan).render(usize::MAX);
                assert_eq!(
                    (by_git(path, Some(old.bytes()), &patch), cut),
                    (Ok(new.bytes().to_vec()), DiffCut::Whole),
                    "{path:?}"
                );
            }
        }
    }
}
