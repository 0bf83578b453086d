//! Clips the texts of an answer to the bytes that they may take as JSON.

use lockgate_protocol::EditResponse;

/// Maximum bytes of the path of the target, unless nothing else fits: a clipped path names no file.
pub(super) const PATH_BYTES: usize = 300;

/// The limits of the texts of an answer: bytes of each text, of each sentence, and of the path of the target.
///
/// A text may be clipped. A sentence, such as a note, is either whole or omitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextLimits {
    pub(super) bytes: usize,
    pub(super) sentence: usize,
    path: usize,
}

/// The limits of a whole answer.
pub(super) const WHOLE: TextLimits = TextLimits { bytes: 1000, sentence: 1000, path: 1000 };

/// The limits from largest to smallest; the last ones fit any answer.
pub(super) const TEXT_LIMITS: [TextLimits; 13] = [
    WHOLE,
    TextLimits { bytes: 500, sentence: 500, path: 500 },
    TextLimits { bytes: 300, sentence: 300, path: PATH_BYTES },
    // The message is worth more than the numbers in the notes.
    TextLimits { bytes: 300, sentence: 60, path: PATH_BYTES },
    TextLimits { bytes: 240, sentence: 300, path: PATH_BYTES },
    TextLimits { bytes: 160, sentence: 300, path: PATH_BYTES },
    TextLimits { bytes: 120, sentence: 300, path: PATH_BYTES },
    TextLimits { bytes: 90, sentence: 300, path: PATH_BYTES },
    TextLimits { bytes: 28, sentence: 300, path: PATH_BYTES },
    TextLimits { bytes: 28, sentence: 28, path: PATH_BYTES },
    TextLimits { bytes: 12, sentence: 28, path: PATH_BYTES },
    TextLimits { bytes: 12, sentence: 28, path: 90 },
    TextLimits { bytes: 12, sentence: 28, path: 12 },
];

/// Maximum bytes of a text that is clipped only to make room for other parts.
pub(super) const ROOMY_BYTES: usize = 300;

impl TextLimits {
    /// Returns the sentence, or `short` if the sentence is too long.
    pub(super) fn sentence(self, sentence: String, short: &str) -> String {
        if escaped(&sentence) <= self.sentence + 2 { sentence } else { short.to_owned() }
    }

    /// Returns the bytes that the common fields may take. Texts become shorter than [`ROOMY_BYTES`] only if the common
    /// fields alone are too large.
    pub(super) const fn base_bytes(self, room: usize) -> usize {
        if self.bytes > ROOMY_BYTES { room * 2 / 3 } else { room }
    }
}

/// Clips every text to its limit, and those of lists to `entry_bytes`. Notes, the diff and the proposed call are never
/// clipped.
pub(super) fn clip_texts(response: &mut EditResponse, limits: TextLimits, entry_bytes: usize) {
    let EditResponse {
        for_text, message, error, hint, field, path, resolved_path, bytes_outside_edit, ..
    } = response;
    path.iter_mut().for_each(|path| *path = clip(path, limits.path));
    let single = [message, error, hint, field, resolved_path, bytes_outside_edit].into_iter().flatten();
    let headline = for_text.headline.iter_mut().flat_map(|it| [&mut it.summary, &mut it.details]);
    single.chain(headline).for_each(|text| *text = clip(text, limits.bytes));
    let places =
        response.match_locations.iter_mut().flat_map(|it| [Some(&mut it.preview), it.symbol.as_mut()]);
    let best = response.best.iter_mut().flat_map(|best| {
        let difference = best.first_difference.iter_mut().flat_map(|it| [&mut it.asked, &mut it.found]);
        let excerpt = best.excerpt.iter_mut().map(|(_, line)| line);
        best.lines.iter_mut().chain(excerpt).chain(difference)
    });
    let findings = response
        .findings
        .iter_mut()
        .flat_map(|it| [Some(&mut it.gate), it.path.as_mut(), it.code.as_mut(), Some(&mut it.message)]);
    let gates = response.gates.iter_mut().flat_map(|it| [Some(&mut it.gate), it.why.as_mut()]);
    let warnings = response.validation_warnings.iter_mut().map(|it| &mut it.text);
    let optional = places.chain(findings).chain(gates).flatten();
    let texts = best.chain(&mut response.errors).chain(warnings).chain(optional);
    texts.for_each(|text| *text = clip(text, entry_bytes));
}

/// Returns a prefix of the text that needs at most `bytes` bytes as JSON, marked with `...` if it was cut.
pub(super) fn clip(text: &str, bytes: usize) -> String {
    const MARK: &str = "...";
    let mut used = 0;
    let mut fitting = 0;
    for character in text.chars() {
        used += char_cost(character);
        if used > bytes {
            let start: String = text.chars().take(fitting).collect();
            return start + MARK;
        }
        fitting += usize::from(used + MARK.len() <= bytes);
    }
    text.to_owned()
}

/// Returns the bytes of a text as a JSON string.
pub(super) fn escaped(text: &str) -> usize {
    2 + text.chars().map(char_cost).sum::<usize>()
}

fn char_cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_cost_is_what_serde_writes(text in any::<String>()) {
            prop_assert_eq!(escaped(&text), serde_json::to_string(&text).unwrap().len());
        }

        #[test]
        fn a_clipped_text_is_a_beginning_within_its_bytes(text in any::<String>(), bytes in 3_usize..40) {
            let clipped = clip(&text, bytes);
            prop_assert!(escaped(&clipped) <= bytes + 2);
            prop_assert!(clipped == text || text.starts_with(clipped.strip_suffix("...").unwrap()));
        }
    }
}
