//! The vocabulary of elisions, for those that no pattern matches.
//!
//! They count only if the edit removed lines: otherwise `other fields are unchanged` is a valid comment.

use lockgate_text::WordList;

/// Words for the elided code.
static LEFT_OUT: WordList = WordList::new(
    "
    rest remainder remaining existing previous original other others everything else code line lines
    file function functions method methods class classes implementation logic imports import tests
    fields props handlers routes endpoints cases styles state component components content contents
    section sections body definitions members properties module helpers
    ",
);

/// Words that state that the code is elided or unchanged.
static SAID: WordList = WordList::new(
    "
    unchanged same remain remains stay stays as-is untouched unmodified continue continues omitted
    elided truncated snip snipped identical keep keeps kept leave here above below before goes follow
    follows intact unaffected unaltered preserved retained hidden
    ",
);

/// Words that connect the others.
static BETWEEN: WordList = WordList::new(
    "
    the a of this your my our all and is are was were as it they that in for with to go exactly brevity
    clarity no any change changes from have has been be i after modification modifications more lot
    ",
);

/// The longest elision, in words.
const LONGEST: usize = 12;

/// True if a comment consists of elision words only and states that something was left out.
pub(super) fn all_elide(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = words(&text).collect();
    let known = |word: &&str| {
        [&LEFT_OUT, &SAID, &BETWEEN].into_iter().any(|list| list.has(word))
            || word.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let some = |list: &WordList| words.iter().any(|word| list.has(word));
    words.len() <= LONGEST && some(&LEFT_OUT) && some(&SAID) && words.iter().all(known)
}

/// True if a comment is a few words and not commented-out code.
pub(super) fn are_few(text: &str) -> bool {
    let count = words(text).count();
    (1..=LONGEST).contains(&count) && !text.contains(['=', ';', '{', '}'])
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.split(move |c: char| !is_word(c)).map(|word| word.trim_matches('-')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elisions_differ_from_comments_that_say_more() {
        for text in [
            "Everything else stays the same",
            "same imports as before",
            "(lines 20-45 unchanged)",
            "all other methods stay as they are",
        ] {
            assert!(all_elide(text), "{text}");
        }
        for text in [
            "existing code",
            "the rest of the arguments is passed on",
            "unchanged",
            "",
            "keep the lock until the file is closed",
        ] {
            assert!(!all_elide(text), "{text}");
        }
    }
}
