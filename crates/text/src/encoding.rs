//! Character encodings: detection, decoding and encoding.
//!
//! Detection tries in this order: a byte order mark, valid UTF-8, the charset of an editorconfig, windows-1252 for
//! bytes without NUL. The 8-bit encodings never contain a NUL, which marks a binary file.
//!
//! Invariant: in every form, a decoded text encodes to exactly the bytes it came from.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252, mem};

use lockgate_error::{Code, Error};

/// An encoding that lockgate can edit. Edits keep the encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 with the low byte first.
    Utf16Le,
    /// UTF-16 with the high byte first.
    Utf16Be,
    /// windows-1252 as the WHATWG Encoding Standard defines it: every byte is a character.
    Windows1252,
    /// ISO-8859-1: every byte is the code point of the same number.
    Latin1,
}

impl Encoding {
    /// Returns true if every character takes two or more bytes.
    pub(super) const fn is_wide(self) -> bool {
        matches!(self, Encoding::Utf16Le | Encoding::Utf16Be)
    }

    /// Encodes a text, or returns the first character that this encoding cannot represent.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
            Encoding::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Encoding::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Encoding::Windows1252 | Encoding::Latin1 => {
                text.chars().map(|c| self.byte_of(c).ok_or(c)).collect()
            }
        }
    }

    /// Returns the number of bytes of a carriage return or a newline.
    pub(super) const fn unit(self) -> usize {
        if self.is_wide() { 2 } else { 1 }
    }

    /// Returns the encoded length of a text in bytes, each newline counted as one unit.
    pub(super) fn width(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let beyond_one_unit = text.bytes().filter(|&byte| byte >= 0xF0).count();
                2 * (text.chars().count() + beyond_one_unit)
            }
            Encoding::Windows1252 | Encoding::Latin1 => text.chars().count(),
        }
    }

    /// Returns the length of the longest prefix of a text that encodes to at most `bytes` bytes.
    pub(super) fn prefix(self, text: &str, bytes: usize) -> usize {
        if self == Encoding::Utf8 {
            return text.floor_char_boundary(bytes);
        }
        let mut remaining = bytes;
        let too_wide = text.char_indices().find(|(_, c)| {
            let width = self.width(c.encode_utf8(&mut [0; 4]));
            let over = width > remaining;
            remaining = remaining.saturating_sub(width);
            over
        });
        too_wide.map_or(text.len(), |(at, _)| at)
    }

    /// Returns true if there is a carriage return at `at`.
    pub(super) fn is_carriage_return(self, bytes: &[u8], at: usize) -> bool {
        let unit = bytes.get(at..at + self.unit());
        match self {
            Encoding::Utf16Le => unit == Some(b"\r\0"),
            Encoding::Utf16Be => unit == Some(b"\0\r"),
            Encoding::Utf8 | Encoding::Windows1252 | Encoding::Latin1 => unit == Some(b"\r"),
        }
    }

    fn byte_of(self, c: char) -> Option<u8> {
        if c == '\0' {
            return None;
        }
        if self == Encoding::Latin1 || c.is_ascii() {
            return u8::try_from(u32::from(c)).ok();
        }
        match WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])) {
            (bytes, _, false) => bytes.first().copied(),
            (_, _, true) => None,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Windows1252 => "windows-1252",
            Encoding::Latin1 => "latin1",
        })
    }
}

/// An encoding, and the length in bytes of the byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EncodingForm {
    pub(super) encoding: Encoding,
    pub(super) mark: usize,
}

/// Decoded bytes. UTF-8 keeps no second copy.
#[derive(Debug)]
pub(super) enum Decoded {
    /// The whole file as text, including its byte order mark.
    Utf8(String),
    /// The file's bytes, and their text without byte order mark.
    Other { bytes: Vec<u8>, text: String },
}

impl Decoded {
    /// Returns the text, including the byte order mark of UTF-8.
    pub(super) fn text(&self) -> &str {
        match self {
            Decoded::Utf8(text) | Decoded::Other { text, .. } => text,
        }
    }
}

/// Detects the encoding: byte order mark, UTF-8, the hint, windows-1252.
///
/// A hint of UTF-16 comes before UTF-8 if the bytes contain a NUL: ASCII text in UTF-16 is valid UTF-8, but real
/// UTF-8 text has no NUL.
pub(super) fn detect(mut bytes: Vec<u8>, hint: Option<Encoding>) -> Result<(EncodingForm, Decoded), Error> {
    if let Some(form) = marked(&bytes)? {
        let encoding = form.encoding;
        let invalid = |_| {
            let message = format!(
                "the file begins with the byte order mark of {encoding}, but is not valid {encoding}"
            );
            Error::new(Code::NotText, message)
        };
        return Ok((form, decode(bytes, form).map_err(invalid)?));
    }
    let wide = hint.filter(|hint| hint.is_wide() && memchr::memchr(0, &bytes).is_some());
    for encoding in [wide, Some(Encoding::Utf8), hint, Some(Encoding::Windows1252)].into_iter().flatten() {
        let form = EncodingForm { encoding, mark: 0 };
        match decode(bytes, form) {
            Ok(decoded) => return Ok((form, decoded)),
            Err(back) => bytes = back,
        }
    }
    Err(Error::new(Code::NotText, "the file is neither UTF-8 nor free of NUL bytes"))
}

/// Returns true if a detected encoding is windows-1252 only for want of another one, and probably wrong: the hint names
/// another one, or there are more characters of UTF-8 beyond ASCII than other bytes.
pub(super) fn is_doubtful(encoding: Encoding, bytes: &[u8], hint: Option<Encoding>) -> bool {
    let is_mostly_utf8 = || {
        let (mut valid, mut invalid) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            invalid += chunk.invalid().len();
        }
        valid > invalid
    };
    encoding == Encoding::Windows1252 && (hint.is_some_and(|hint| hint != encoding) || is_mostly_utf8())
}

/// Decodes bytes of a known form, or returns them unchanged.
pub(super) fn decode(bytes: Vec<u8>, form: EncodingForm) -> Result<Decoded, Vec<u8>> {
    if form.encoding == Encoding::Utf8 {
        return String::from_utf8(bytes).map(Decoded::Utf8).map_err(std::string::FromUtf8Error::into_bytes);
    }
    match text_of(&bytes, form).map(Cow::into_owned) {
        Some(text) => Ok(Decoded::Other { bytes, text }),
        None => Err(bytes),
    }
}

/// Returns the text of bytes without byte order mark, line ends unchanged; `None` if they are not of this form.
pub(super) fn text_of(bytes: &[u8], form: EncodingForm) -> Option<Cow<'_, str>> {
    let body = bytes.get(form.mark..)?;
    match form.encoding {
        Encoding::Utf8 => std::str::from_utf8(body).ok().map(Cow::Borrowed),
        Encoding::Utf16Le => UTF_16LE.decode_without_bom_handling_and_without_replacement(body),
        Encoding::Utf16Be => UTF_16BE.decode_without_bom_handling_and_without_replacement(body),
        Encoding::Windows1252 | Encoding::Latin1 if memchr::memchr(0, body).is_some() => None,
        Encoding::Windows1252 => Some(WINDOWS_1252.decode_without_bom_handling(body).0),
        Encoding::Latin1 => Some(mem::decode_latin1(body)),
    }
}

pub(super) fn marked(bytes: &[u8]) -> Result<Option<EncodingForm>, Error> {
    if bytes.starts_with(b"\xFF\xFE\0\0") || bytes.starts_with(b"\0\0\xFE\xFF") {
        return Err(Error::new(Code::NotText, "the file begins with the byte order mark of UTF-32"));
    }
    let marks: [(&[u8], Encoding); 3] = [
        (b"\xEF\xBB\xBF", Encoding::Utf8),
        (b"\xFF\xFE", Encoding::Utf16Le),
        (b"\xFE\xFF", Encoding::Utf16Be),
    ];
    let found = marks.into_iter().find(|(mark, _)| bytes.starts_with(mark));
    Ok(found.map(|(mark, encoding)| EncodingForm { encoding, mark: mark.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(bytes: &[u8], hint: Option<Encoding>) -> Result<(Encoding, usize), Code> {
        detect(bytes.to_vec(), hint).map(|(form, _)| (form.encoding, form.mark)).map_err(|error| error.code)
    }

    #[test]
    fn a_byte_order_mark_decides() {
        assert_eq!(form(b"\xEF\xBB\xBFa", Some(Encoding::Latin1)), Ok((Encoding::Utf8, 3)));
        assert_eq!(form(b"\xFF\xFEa\0", None), Ok((Encoding::Utf16Le, 2)));
        assert_eq!(form(b"\xFE\xFF\0a", None), Ok((Encoding::Utf16Be, 2)));
    }

    #[test]
    fn a_mark_that_the_bytes_do_not_keep_is_not_text() {
        let bad: [&[u8]; 6] = [
            b"\xFF\xFE\0\0a\0\0\0",
            b"\0\0\xFE\xFF\0\0\0a",
            b"\xFF\xFEa",
            b"\xFE\xFF\0",
            b"\xFF\xFE\0\xD8",
            b"\xEF\xBB\xBF\xFF",
        ];
        for bytes in bad {
            assert_eq!(form(bytes, Some(Encoding::Latin1)), Err(Code::NotText), "{bytes:x?}");
        }
    }

    #[test]
    fn without_a_mark_utf8_then_the_hint_then_windows_1252() {
        assert_eq!(form(b"", Some(Encoding::Utf16Le)), Ok((Encoding::Utf8, 0)));
        assert_eq!(form("aé\0".as_bytes(), Some(Encoding::Latin1)), Ok((Encoding::Utf8, 0)));
        assert_eq!(form(b"\xE9", Some(Encoding::Latin1)), Ok((Encoding::Latin1, 0)));
        assert_eq!(form(b"\xE9\0", Some(Encoding::Utf16Le)), Ok((Encoding::Utf16Le, 0)));
        assert_eq!(form(b"\xE9", Some(Encoding::Utf16Le)), Ok((Encoding::Windows1252, 0)));
        assert_eq!(form(b"\xE9\x81", Some(Encoding::Utf8)), Ok((Encoding::Windows1252, 0)));
        assert_eq!(form(b"\xE9\0", Some(Encoding::Latin1)), Err(Code::NotText));
        assert_eq!(form(b"\x89PNG\r\n\x1a\n\0", None), Err(Code::NotText));
    }

    #[test]
    fn windows_1252_is_doubtful_against_a_hint_and_where_most_is_utf8() {
        let doubtful = |bytes: &[u8], hint| is_doubtful(Encoding::Windows1252, bytes, hint);
        assert!(doubtful(b"na\xC3\xAFve \xE6\x97\xA5 \xFF", None));
        // The second one has the bytes of a character of UTF-8.
        for bytes in [&b"caf\xE9"[..], b"\x84Spa\xDF\x93", b"[\xE4\xF6\xFC\xDF]", b"\x80 \x93 \x94"] {
            assert!(!doubtful(bytes, None), "{bytes:x?}");
            assert!(doubtful(bytes, Some(Encoding::Utf8)), "{bytes:x?}");
        }
        assert!(!is_doubtful(Encoding::Latin1, b"\x81", Some(Encoding::Latin1)));
    }

    #[test]
    fn every_byte_of_the_8_bit_encodings_comes_back() {
        let bytes: Vec<u8> = (1..=255).collect();
        for encoding in [Encoding::Windows1252, Encoding::Latin1] {
            let text = text_of(&bytes, EncodingForm { encoding, mark: 0 }).unwrap();
            assert_eq!(encoding.encode(&text), Ok(bytes.clone()));
            assert_eq!(encoding.encode("a→b"), Err('→'));
            assert_eq!(encoding.encode("a\0"), Err('\0'));
        }
        assert_eq!(Encoding::Windows1252.encode("€"), Ok(vec![0x80]));
        assert_eq!(Encoding::Latin1.encode("€"), Err('€'));
    }
}
