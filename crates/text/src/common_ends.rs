//! The beginning and the end that two byte strings have in common.

/// The number of bytes that are compared at once; that is many times faster than one by one.
const BLOCK: usize = 1024;

/// Returns the length in bytes of the longest common beginning.
pub fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one.iter().skip(same).zip(other.iter().skip(same));
    same + rest.take_while(|(one, other)| one == other).count()
}

/// Returns the length in bytes of the longest common end. It can overlap the common beginning.
pub fn common_suffix(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one.iter().rev().skip(same).zip(other.iter().rev().skip(same));
    same + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ends_are_found_at_every_length() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let same = vec![b'a'; length];
            let [front, back] = [b"b".as_slice(), b"cd"].map(|rest| [&same[..], rest].concat());
            assert_eq!((common_prefix(&front, &back), common_suffix(&front, &back)), (length, 0));
            let [front, back] = [b"b".as_slice(), b"cd"].map(|rest| [rest, &same[..]].concat());
            assert_eq!((common_prefix(&front, &back), common_suffix(&front, &back)), (0, length));
            assert_eq!((common_prefix(&same, &same), common_suffix(&same, &same)), (length, length));
        }
        assert_eq!((common_prefix(b"aa", b"aaa"), common_suffix(b"aa", b"aaa")), (2, 2));
    }
}
