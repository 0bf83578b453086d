//! Splits names and sentences into words.

/// The minimum and the maximum length of a word, in bytes.
const SHORTEST: usize = 2;
const LONGEST: usize = 40;

/// Words that say nothing about a symbol's purpose.
const EMPTY: &[&str] = &[
    "and", "are", "as", "at", "be", "by", "for", "from", "if", "in", "is", "it", "its", "not", "of", "on",
    "or", "self", "that", "the", "this", "to", "with",
];

/// Returns the words of a text in lower case. Splits at all characters except letters and digits, and
/// at capital letters within a name.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts
        .flat_map(humps)
        .map(|word| word.to_lowercase())
        .filter(|word| word.len() >= SHORTEST && word.len() <= LONGEST && !EMPTY.contains(&word.as_str()))
}

/// Splits a name at its capital letters: `parseHTTPHeader` has three words.
fn humps(part: &str) -> Vec<&str> {
    let mut letters = part.char_indices().peekable();
    let mut before: Option<char> = None;
    let mut starts = vec![0];
    while let Some((at, letter)) = letters.next() {
        let rises = before.is_some_and(char::is_lowercase);
        let turns = before.is_some_and(char::is_uppercase)
            && letters.peek().is_some_and(|(_, after)| after.is_lowercase());
        if letter.is_uppercase() && (rises || turns) {
            starts.push(at);
        }
        before = Some(letter);
    }
    starts.push(part.len());
    let next_starts = starts.iter().skip(1);
    starts.iter().zip(next_starts).filter_map(|(start, end)| part.get(*start..*end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_words() {
        let of = |text: &str| words(text).collect::<Vec<_>>().join(" ");
        for (text, wanted) in [
            ("parse_http_header", "parse http header"),
            ("parseHTTPHeader", "parse http header"),
            ("HTTPServer2", "http server2"),
            ("getX", "get"),
            ("Gibt die Größe zurück", "gibt die größe zurück"),
            ("def f(self, max_size: int) -> None", "def max size int none"),
            ("__init__", "init"),
            ("", ""),
        ] {
            assert_eq!(of(text), wanted, "{text}");
        }
    }
}
