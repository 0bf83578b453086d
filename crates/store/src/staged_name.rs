//! The names of staged copies in the target's folder: `.<name>.<16 hex>.lockgate`.

use std::hash::{BuildHasher, Hasher, RandomState};

const LONGEST_NAME: usize = 255;
const ENDING: &str = ".lockgate";
const DIGITS: usize = 16;

/// Returns a new name for a staged copy of the target.
pub(super) fn staged(target: &str) -> String {
    build(target, random_number())
}

/// A number that no other call returns, as far as chance allows.
pub(super) fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Uses as much of the target's name as fits into 255 bytes.
fn build(target: &str, random: u64) -> String {
    let ending = format!(".{random:016x}{ENDING}");
    let max_length = LONGEST_NAME.saturating_sub(ending.len() + 1);
    format!(".{}{ending}", target.get(..target.floor_char_boundary(max_length)).unwrap_or_default())
}

/// The name for a text under a staged name that is not lockgate's to remove.
pub(super) fn kept(staged: &str) -> String {
    let name = staged.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING)).unwrap_or(staged);
    format!("{name}.kept")
}

/// Returns the target's name, possibly cut, if `name` is a staged name.
pub(super) fn target_of(name: &str) -> Option<&str> {
    let (target, random) = name.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once('.')?;
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (!target.is_empty() && random.len() == DIGITS && random.bytes().all(digit)).then_some(target)
}

/// True if the target's name may have been cut to fit into the staged name.
pub(super) fn may_be_cut(staged: &str) -> bool {
    // A character has at most four bytes.
    staged.len() + 4 > LONGEST_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_fit() {
        for target in ["a.txt".to_owned(), "x".repeat(255), "é".repeat(127), "日".repeat(85)] {
            let name = build(&target, u64::MAX);
            assert!(name.len() <= LONGEST_NAME, "{}", name.len());
            assert!(name.starts_with('.') && name.ends_with(".ffffffffffffffff.lockgate"), "{name}");
            assert!(target.starts_with(target_of(&name).unwrap()));
            assert_eq!(target_of(&name) == Some(target.as_str()), !may_be_cut(&name), "{name}");
        }
        assert_eq!(build("a.txt", 1), ".a.txt.0000000000000001.lockgate");
        assert_eq!(kept(".a.txt.0000000000000001.lockgate"), "a.txt.0000000000000001.kept");
    }

    #[test]
    fn other_names_are_none_of_a_staged_copy() {
        for name in [
            ".lockgate",
            ".a.lockgate",
            "a.0000000000000001.lockgate",
            ".a.000000000000000G.lockgate",
            ".a.00000001.lockgate",
            "..0000000000000001.lockgate",
            ".0000000000000001.lockgate",
        ] {
            assert_eq!(target_of(name), None, "{name}");
        }
        assert_ne!(staged("a"), staged("a"));
    }
}
