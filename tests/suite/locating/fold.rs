//! What texts come to when marks and white space do not count, written apart from the code under test.

const ENTITIES: &[(&str, &str)] =
    &[("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")];

/// A line without marks, with single blanks, trimmed.
pub fn folded(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        if let Some((name, plain)) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name)) {
            text.push_str(plain);
            rest = &rest[name.len()..];
            continue;
        }
        match character {
            '\u{2018}' | '\u{2019}' => text.push('\''),
            '\u{201c}' | '\u{201d}' => text.push('"'),
            '\u{2013}' | '\u{2014}' => text.push('-'),
            '\u{2026}' => text.push_str("..."),
            '\u{200b}' | '\u{feff}' => {}
            _ if character.is_whitespace() => text.push(' '),
            _ => text.push(character),
        }
        rest = &rest[character.len_utf8()..];
    }
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A text without marks, indentation and blank lines.
pub fn normal(text: &str) -> String {
    text.lines().map(folded).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
