//! Delta compression of stored texts.
//!
//! The common start and end of a text and its base are omitted. Zstd compresses the remaining middle
//! with the base's middle as its dictionary. A whole text is a delta against the empty one.
//!
//! Invariant: unpacking with the same base returns the same bytes or `None`. No packed bytes cause a
//! panic, or an allocation above [`LARGEST`].

use lockgate_text::{common_prefix, common_suffix};

/// The size in bytes of the longest text that is kept.
pub const LARGEST: usize = 256 << 20;

/// A middle shorter than this is stored uncompressed.
const MIN_COMPRESSED: usize = 128;
/// Zstd's fastest level: an edit waits for it, so speed matters more than size.
const LEVEL: i32 = 1;

const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
/// Compressed with the base's middle as the dictionary.
const COMPRESSED_WITH_BASE: u8 = 2;

/// Packs a text without a base.
pub fn whole(text: &[u8]) -> Vec<u8> {
    delta(&[], text)
}

/// Packs a text as a delta against the base.
pub fn delta(base: &[u8], text: &[u8]) -> Vec<u8> {
    let start = common_prefix(base, text);
    let (base, text) = (rest(base, start), rest(text, start));
    let end = common_suffix(base, text);
    let (like, middle) = (without_end(base, end), without_end(text, end));
    let (kind, body) = compress(like, middle);
    let mut packed = Vec::with_capacity(body.as_deref().unwrap_or(middle).len() + 24);
    packed.push(kind);
    [start, end, middle.len()].iter().for_each(|length| put(&mut packed, *length));
    packed.extend_from_slice(body.as_deref().unwrap_or(middle));
    packed
}

/// Turns a base into the text that was packed against it; `None` if the bytes are not a valid delta.
pub fn unpack(base: &mut Vec<u8>, packed: &[u8]) -> Option<()> {
    let (kind, mut rest) = packed.split_first()?;
    let [start, end, length] = [take(&mut rest)?, take(&mut rest)?, take(&mut rest)?];
    let stop = base.len().checked_sub(end).filter(|stop| start <= *stop)?;
    if length > LARGEST || start.checked_add(end)?.checked_add(length)? > LARGEST {
        return None;
    }
    let like = base.get(start..stop)?;
    let decompressed = match *kind {
        PLAIN => None,
        COMPRESSED => Some(zstd::bulk::decompress(rest, length).ok()?),
        COMPRESSED_WITH_BASE => Some(decompress_with_base(like, rest, length)?),
        _ => return None,
    };
    let middle = decompressed.as_deref().unwrap_or(rest);
    if middle.len() != length {
        return None;
    }
    replace(base, start, stop, middle)
}

/// Replaces these bytes with the middle; moves the bytes after them only once.
fn replace(text: &mut Vec<u8>, start: usize, stop: usize, middle: &[u8]) -> Option<()> {
    let (before, end) = (text.len(), start + middle.len());
    let after = before - stop + end;
    text.resize(before.max(after), 0);
    text.copy_within(stop..before, end);
    text.get_mut(start..end)?.copy_from_slice(middle);
    text.truncate(after);
    Some(())
}

/// Compresses the middle if that makes it shorter.
fn compress(like: &[u8], middle: &[u8]) -> (u8, Option<Vec<u8>>) {
    if middle.len() < MIN_COMPRESSED {
        return (PLAIN, None);
    }
    let (kind, squeezed) = match compress_with_base(like, middle) {
        Some(squeezed) => (COMPRESSED_WITH_BASE, Some(squeezed)),
        None => (COMPRESSED, zstd::bulk::compress(middle, LEVEL).ok()),
    };
    match squeezed.filter(|squeezed| squeezed.len() < middle.len()) {
        Some(squeezed) => (kind, Some(squeezed)),
        None => (PLAIN, None),
    }
}

fn compress_with_base(like: &[u8], middle: &[u8]) -> Option<Vec<u8>> {
    if like.len() < MIN_COMPRESSED {
        return None;
    }
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).ok()?;
    compressor.context_mut().ref_prefix(like).ok()?;
    compressor.compress(middle).ok()
}

fn decompress_with_base(like: &[u8], squeezed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut context = zstd::zstd_safe::DCtx::try_create()?;
    context.ref_prefix(like).ok()?;
    let mut middle = Vec::with_capacity(length);
    context.decompress(&mut middle, squeezed).ok().map(|_| middle)
}

fn rest(text: &[u8], from: usize) -> &[u8] {
    text.get(from..).unwrap_or_default()
}

fn without_end(text: &[u8], end: usize) -> &[u8] {
    text.get(..text.len().saturating_sub(end)).unwrap_or_default()
}

/// Writes a length with seven bits per byte, lowest first.
fn put(packed: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        packed.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    packed.push(length as u8);
}

fn take(rest: &mut &[u8]) -> Option<usize> {
    let mut length = 0_usize;
    for shift in (0..56).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(base: &[u8], packed: &[u8]) -> Option<Vec<u8>> {
        let mut text = base.to_vec();
        unpack(&mut text, packed).map(|()| text)
    }

    fn lines(seed: usize, count: usize) -> Vec<u8> {
        (0..count).flat_map(|line| format!("line {line} of {}\n", seed * line % 97).into_bytes()).collect()
    }

    #[test]
    fn a_small_change_of_a_large_text_is_small() {
        let base = lines(1, 20_000);
        let mut text = base.clone();
        text.splice(200_000..200_005, *b"changed");
        let packed = delta(&base, &text);
        assert!(packed.len() < 64, "{}", packed.len());
        assert_eq!(back(&base, &packed), Some(text));
    }

    #[test]
    fn many_small_changes_of_a_text_are_small() {
        let base = include_str!("pack.rs");
        let text = base.replace("base", "ground");
        let (packed, packed_alone) = (delta(base.as_bytes(), text.as_bytes()), whole(text.as_bytes()));
        assert!(packed.len() * 4 < packed_alone.len(), "{} of {}", packed.len(), packed_alone.len());
        assert_eq!(back(base.as_bytes(), &packed), Some(text.into_bytes()));
    }

    #[test]
    fn what_looks_like_a_dictionary_s_head_is_no_obstacle() {
        let base = [&[0x37, 0xa4, 0x30, 0xec][..], &lines(3, 50)].concat();
        let text = [b"x", &base[..100], b"y", &base[100..], b"z"].concat();
        assert_eq!(back(&base, &delta(&base, &text)), Some(text));
    }

    #[test]
    fn over_another_base_it_is_another_text_or_none() {
        let base = lines(1, 100);
        let packed = delta(&base, &[&base[..500], b"!", &base[500..]].concat());
        assert!(back(&base, &packed).is_some(), "the control");
        assert_eq!(back(&base[..100], &packed), None);
    }

    proptest! {
        #[test]
        fn every_text_comes_back_over_every_base(base: Vec<u8>, text: Vec<u8>) {
            prop_assert_eq!(back(&base, &delta(&base, &text)), Some(text.clone()));
            prop_assert_eq!(back(&[], &whole(&text)), Some(text));
        }

        #[test]
        fn an_edited_text_comes_back(
            from in 0_usize..9_000, to in 0_usize..9_000, new in "(?s).{0,600}", seed in 0_usize..50,
        ) {
            let base = lines(seed, 400);
            let (from, to) = (from.min(to).min(base.len()), from.max(to).min(base.len()));
            let text = [&base[..from], new.as_bytes(), &base[to..]].concat();
            prop_assert_eq!(back(&base, &delta(&base, &text)), Some(text));
        }

        #[test]
        fn no_bytes_make_it_panic(base: Vec<u8>, packed: Vec<u8>, at in 0_usize..60, to: u8) {
            back(&base, &packed);
            let mut corrupt = delta(&base, &lines(1, 30));
            if let Some(byte) = corrupt.get_mut(at) {
                *byte = to;
            }
            back(&base, &corrupt);
        }
    }
}
