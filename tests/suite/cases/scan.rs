//! From Markdown to cases: headings and fences, nothing else.

use std::ops::Range;

/// A test: what stands under one heading.
#[derive(Debug)]
pub struct Case {
    /// The heading.
    pub name: String,
    /// The line of the heading, from 1.
    pub line: usize,
    /// The fences that mean something, in their order.
    pub fences: Vec<Fence>,
}

/// A fenced block with a role.
#[derive(Debug, Clone)]
pub struct Fence {
    /// The line of the opening fence, from 1.
    pub line: usize,
    /// The lines between the fences, as indices from 0 into the file's lines.
    pub body: Range<usize>,
    /// What the block is.
    pub role: Role,
    /// The words after the role.
    pub words: Vec<String>,
    /// The text of the block; each of its lines ends in `\n`.
    pub text: String,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Further arguments of the server.
    Serve,
    /// Something that stands in the root before the call.
    Before,
    /// A call.
    Call,
    /// What the call answers, or a part of it.
    Answer,
    /// What stands in the root after the call.
    After,
}

const ROLES: [(&str, Role); 5] = [
    ("serve", Role::Serve),
    ("before", Role::Before),
    ("call", Role::Call),
    ("answer", Role::Answer),
    ("after", Role::After),
];

/// Languages of a block that is there for readers only; any other word alone is taken for a misspelt role.
const PROSE: [&str; 4] = ["", "text", "sh", "json"];

/// Reads the cases of a Markdown text, or says at which line it is not understood.
pub fn cases(text: &str) -> Result<Vec<Case>, (usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut cases: Vec<Case> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some((marker, info)) = opening(lines[at]) {
            let end = (at + 1..lines.len())
                .find(|line| closes(lines[*line], marker))
                .ok_or_else(|| (at + 1, "this fence is never closed".to_owned()))?;
            if let Some(fence) = fence(&lines, at, end, info)? {
                let case = cases.last_mut();
                case.ok_or_else(|| (at + 1, "a block before the first heading".to_owned()))?
                    .fences
                    .push(fence);
            }
            at = end;
        } else if let Some(name) = heading(lines[at]) {
            cases.push(Case { name: name.to_owned(), line: at + 1, fences: Vec::new() });
        }
        at += 1;
    }
    cases.retain(|case| !case.fences.is_empty());
    check_names(&cases)?;
    Ok(cases)
}

fn check_names(cases: &[Case]) -> Result<(), (usize, String)> {
    for (index, case) in cases.iter().enumerate() {
        if cases[..index].iter().any(|earlier| earlier.name == case.name) {
            return Err((case.line, format!("a second case is called \"{}\"", case.name)));
        }
        if !case.fences.iter().any(|fence| fence.role == Role::Call) {
            return Err((case.line, "this case has no call, so it can never fail".to_owned()));
        }
    }
    Ok(())
}

fn opening(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
    (ticks >= 3 && line.len() - trimmed.len() <= 3).then(|| trimmed.split_at(ticks))
}

fn closes(line: &str, marker: &str) -> bool {
    let trimmed = line.trim();
    trimmed.len() >= marker.len() && trimmed.chars().all(|c| c == '`')
}

fn heading(line: &str) -> Option<&str> {
    let name = line.trim_start_matches('#');
    let depth = line.len() - name.len();
    ((1..=6).contains(&depth) && name.starts_with(' ')).then(|| name.trim())
}

fn fence(lines: &[&str], start: usize, end: usize, info: &str) -> Result<Option<Fence>, (usize, String)> {
    let words = words(info).map_err(|why| (start + 1, why))?;
    let role = |word: &String| ROLES.iter().find(|(name, _)| name == word).map(|(_, role)| *role);
    let Some(at) = words.iter().take(2).position(|word| role(word).is_some()) else {
        let plain = words.first().map_or("", String::as_str);
        if words.len() < 2 && PROSE.contains(&plain) {
            return Ok(None);
        }
        return Err((start + 1, format!("`{}` is no block of a case (see tests/README.md)", info.trim())));
    };
    let body = start + 1..end;
    let text: String = lines[body.clone()].iter().flat_map(|line| [line, "\n"]).collect();
    let fence = Fence {
        line: start + 1,
        body,
        role: role(&words[at]).expect("a role was found here"),
        words: words[at + 1..].to_vec(),
        text,
    };
    Ok(Some(fence))
}

/// Splits at blanks; `"..."` keeps them, and takes the escapes of [`unescape`].
fn words(info: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = info.trim();
    while !rest.is_empty() {
        let mut quoted = false;
        let mut escaped = false;
        let end = rest.find(|c: char| {
            if c == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = c == '\\' && !escaped;
            !quoted && c.is_whitespace()
        });
        let (word, tail) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(unquote(word)?);
        rest = tail.trim_start();
    }
    Ok(words)
}

fn unquote(word: &str) -> Result<String, String> {
    let Some((key, value)) = word.split_once('"') else { return Ok(word.to_owned()) };
    let value = value.strip_suffix('"').ok_or_else(|| format!("`{word}` has an open quotation mark"))?;
    let bytes = unescape(value)?;
    let value = String::from_utf8(bytes).map_err(|_| format!("`{word}` is not UTF-8"))?;
    Ok(format!("{key}{value}"))
}

/// Reads `\n \r \t \f \v \0 \\ \" \xHH \u{H}`; any other backslash is refused.
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend(c.to_string().bytes());
            continue;
        }
        match chars.next() {
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('f') => bytes.push(0x0c),
            Some('v') => bytes.push(0x0b),
            Some('0') => bytes.push(0),
            Some('\\') => bytes.push(b'\\'),
            Some('"') => bytes.push(b'"'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).map_err(|_| format!("`\\x{digits}` is no byte"))?);
            }
            Some('u') => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                let number = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                let character = number.ok_or_else(|| format!("`\\u{{{digits}}}` is no character"))?;
                bytes.extend(character.to_string().bytes());
            }
            other => return Err(format!("`\\{}` is no escape", other.map_or(String::new(), String::from))),
        }
    }
    Ok(bytes)
}

/// Writes bytes so that [`unescape`] gives them back, with a line of the block after each line end.
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '\\' => text.push_str("\\\\"),
                ' '..='~' => text.push(c),
                _ if c.is_alphanumeric() => text.push(c),
                _ if (c as u32) < 0x80 => text.push_str(&format!("\\x{:02X}", c as u32)),
                _ => text.push_str(&format!("\\u{{{:X}}}", c as u32)),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_cases_and_only_fences_with_a_role_are_blocks() {
        let text = "# Title\nprose\n```text\n# no heading\n```\n## One\n```text before path=a\nx\n```\n```yaml call\nt: {}\n```\n";
        let cases = cases(text).unwrap();
        assert_eq!(cases.len(), 1);
        assert_eq!((cases[0].name.as_str(), cases[0].line), ("One", 6));
        assert_eq!(cases[0].fences[0].words, ["path=a"]);
        assert_eq!(cases[0].fences[0].text, "x\n");
    }

    #[test]
    fn invalid_blocks_are_refused_with_their_line() {
        let wrong = [
            ("## a\n```yaml cal\n```\n", 2, "no block"),
            ("## a\n```befor path=x\n```\n", 2, "no block"),
            ("## a\n```yaml call\n", 2, "never closed"),
            ("```yaml call\n```\n", 1, "before the first heading"),
            ("## a\n```yaml call\n```\n## a\n```yaml call\n```\n", 4, "a second case"),
            ("## a\n```text before path=x\n```\n", 1, "no call"),
        ];
        for (text, line, why) in wrong {
            let (seen_line, message) = cases(text).unwrap_err();
            assert!(seen_line == line && message.contains(why), "{text:?} gave {seen_line}: {message}");
        }
    }

    #[test]
    fn escapes_come_back() {
        let bytes = b"a\r\n\x00\xE9\xFF\\n\t\"\xE2\x80\xA8z";
        assert_eq!(unescape(&escape(bytes).replace("\\n\n", "\\n")).unwrap(), bytes);
        assert!(unescape("\\q").is_err() && unescape("\\xZZ").is_err());
    }

    #[test]
    fn words_keep_what_is_quoted() {
        assert_eq!(words("before path=\"a b\\t\" crlf").unwrap(), ["before", "path=a b\t", "crlf"]);
    }
}
