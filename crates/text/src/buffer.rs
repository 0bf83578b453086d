//! The content of a file: its bytes, and the text they decode to.
//!
//! Invariant: a buffer is immutable, and its view, lines and version belong to its bytes.

use std::borrow::Cow;
use std::ops::Range;

use super::byte_map::ByteMap;
use super::change::{Splice, new_spans};
use super::encoding::{self, Decoded, Encoding, EncodingForm};
use super::line_end::{LineEnd, LineEnds, fold};
use super::lines::{self, Lines, SplicedStarts};
use super::version::Version;
use lockgate_error::{Code, Error};

/// The editorconfig settings for properties that the file itself does not show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// The encoding of bytes that are not UTF-8.
    pub charset: Option<Encoding>,
    /// The line end of a file that has no line end yet.
    pub line_end: Option<LineEnd>,
}

/// A file's bytes with their encoding, lines and version, and their text with `\n` as the only line end.
#[derive(Debug)]
pub struct Buffer {
    body: Body,
    form: EncodingForm,
    hints: Hints,
    starts: Vec<u32>,
    ends: LineEnds,
    version: Version,
    /// Set if the encoding is a guess that the bytes or the hints speak against.
    pub(super) is_doubtful: bool,
}

#[derive(Debug)]
enum Body {
    /// UTF-8 without `\r\n`: the view is the file itself, without its byte order mark.
    Plain(String),
    /// Any other form: the view is a separate text.
    Mapped { bytes: Vec<u8>, view: String, map: ByteMap },
}

impl Default for Buffer {
    /// Returns the buffer of an empty file.
    fn default() -> Buffer {
        let form = EncodingForm { encoding: Encoding::Utf8, mark: 0 };
        Buffer::from_body(Body::Plain(String::new()), form, Hints::default())
    }
}

impl Buffer {
    /// Decodes a file's bytes.
    ///
    /// Errors: `NOT_TEXT` if they are not text, `TOO_LARGE` from 4 GiB on.
    pub fn read(bytes: Vec<u8>, hints: Hints) -> Result<Buffer, Error> {
        fits(bytes.len())?;
        let (form, decoded) = encoding::detect(bytes, hints.charset)?;
        let buffer = Buffer::build(form, decoded, hints)?;
        let is_doubtful = encoding::is_doubtful(form.encoding, buffer.bytes(), hints.charset);
        Ok(Buffer { is_doubtful, ..buffer })
    }

    /// Returns the bytes of the file, unchanged.
    pub fn bytes(&self) -> &[u8] {
        self.body.bytes()
    }

    /// Returns the text: decoded, without byte order mark, every line end a `\n`.
    pub fn view(&self) -> &str {
        match &self.body {
            Body::Plain(text) => text.get(self.form.mark..).unwrap_or_default(),
            Body::Mapped { view, .. } => view,
        }
    }

    /// Returns the lines of the view.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(self.view(), &self.starts)
    }

    /// Returns the editorconfig settings by which the text was read.
    pub fn hints(&self) -> Hints {
        self.hints
    }

    /// Returns the encoding. Every edit keeps it.
    pub fn encoding(&self) -> Encoding {
        self.form.encoding
    }

    /// Returns true if the file begins with a byte order mark.
    pub fn has_byte_order_mark(&self) -> bool {
        self.form.mark > 0
    }

    /// Counts the line ends of the file.
    pub fn line_ends(&self) -> LineEnds {
        self.ends
    }

    /// Returns the version of the file, a hash of its bytes.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the line end of a line; `None` for an unterminated last line and beyond.
    pub fn line_end(&self, line: usize) -> Option<LineEnd> {
        let span = self.lines().span(line);
        let newline = span.end.checked_sub(1).filter(|&at| self.view().as_bytes().get(at) == Some(&b'\n'))?;
        (newline >= span.start).then(|| self.line_end_at(newline))
    }

    /// Returns the text with other bytes, decoded as this one.
    ///
    /// Errors: `TOO_LARGE`, and `INTERNAL` for bytes that do not decode.
    pub(super) fn with_bytes(&self, bytes: Vec<u8>) -> Result<Buffer, Error> {
        fits(bytes.len())?;
        let broken = |_| Error::new(Code::Internal, format!("a plan broke the file's {}", self.encoding()));
        let buffer =
            Buffer::build(self.form, encoding::decode(bytes, self.form).map_err(broken)?, self.hints)?;
        Ok(Buffer { is_doubtful: self.is_doubtful, ..buffer })
    }

    /// Returns the text with the splices of a plan; only what they add is decoded and searched for line ends.
    ///
    /// `None` for a text that must be read as a whole: it is not plain or would not stay so, a splice ends within a
    /// character or the byte order mark, or the text would have 4 GiB.
    pub(super) fn spliced(&self, splices: &[Splice]) -> Option<Buffer> {
        let Body::Plain(before) = &self.body else { return None };
        let added: usize = splices.iter().map(|splice| splice.bytes.len()).sum();
        let mut after = String::with_capacity(before.len() + added);
        let line_ends = |splice: &Splice| memchr::memchr_iter(b'\n', &splice.bytes).count();
        let added_lines = splices.iter().map(line_ends).sum();
        let mut starts = SplicedStarts::new(self.view(), &self.starts, added_lines);
        let mut from = 0;
        for splice in splices {
            let text = std::str::from_utf8(&splice.bytes).ok()?;
            after.push_str(before.get(from..splice.span.start)?);
            let start = splice.span.start.checked_sub(self.form.mark)?;
            starts.replace(&(start..splice.span.end - self.form.mark), text);
            after.push_str(text);
            from = splice.span.end;
        }
        after.push_str(before.get(from..)?);
        fits(after.len()).ok()?;
        // A pair that the text before did not have reaches into a splice, or joins both sides of one.
        let reach = |span: Range<usize>| span.start.saturating_sub(1)..(span.end + 1).min(after.len());
        let has_pair = |span| memchr::memmem::find(after.as_bytes().get(reach(span))?, b"\r\n");
        if new_spans(splices).any(|span| has_pair(span).is_some()) {
            return None;
        }
        let starts = starts.finish(after.len() - self.form.mark);
        Some(Buffer::with_starts(Body::Plain(after), self.form, self.hints, |_| starts))
    }

    /// Returns true if the bytes, read as a file, decode to this text again. Text that is written in one encoding
    /// must not be detected as another.
    pub fn reads_back(&self) -> bool {
        let hint = self.hints.charset;
        if self.form.encoding == Encoding::Utf8 && !hint.is_some_and(Encoding::is_wide) {
            return true;
        }
        let read = encoding::detect(self.bytes().to_vec(), hint);
        read.is_ok_and(|(form, decoded)| form.encoding == self.form.encoding || decoded.text() == self.text())
    }

    /// Returns true if it is certain, without reading them again, that the bytes would be read as this very buffer:
    /// for UTF-8 with `\n` as the only line end.
    pub fn reads_back_exactly(&self) -> bool {
        let is_detected = encoding::marked(self.bytes()).is_ok_and(|marked| match marked {
            Some(form) => form == self.form,
            None => self.form.mark == 0,
        });
        let is_hinted = self.hints.charset.is_some_and(Encoding::is_wide);
        matches!(self.body, Body::Plain(_)) && is_detected && !is_hinted
    }

    /// Returns true if both have the same encoding and byte order mark.
    pub fn has_same_encoding(&self, other: &Buffer) -> bool {
        self.form == other.form
    }

    /// Decodes other bytes with the hints of this file.
    ///
    /// Errors: those of [`Buffer::read`].
    pub fn read_other(&self, bytes: Vec<u8>) -> Result<Buffer, Error> {
        Buffer::read(bytes, self.hints)
    }

    /// Returns the most common line end; that of the hints for a file that has no line end yet.
    pub(super) fn usual_line_end(&self) -> LineEnd {
        self.ends.majority().or(self.hints.line_end).unwrap_or(LineEnd::Lf)
    }

    /// Returns the byte range of a span of the view.
    pub(super) fn byte_span(&self, span: Range<usize>) -> Range<usize> {
        let start = self.byte(span.start);
        start..if span.is_empty() { start } else { self.byte(span.end) }
    }

    /// Returns the byte offset at which a character of the view starts.
    pub(super) fn byte(&self, offset: usize) -> usize {
        match &self.body {
            Body::Plain(_) => offset + self.form.mark,
            Body::Mapped { bytes, view, map } => map.byte(view, bytes, offset),
        }
    }

    /// Returns the view offset of the character that a byte belongs to.
    pub fn offset(&self, byte: usize) -> usize {
        match &self.body {
            Body::Plain(_) => byte.saturating_sub(self.form.mark),
            Body::Mapped { bytes, view, map } => map.offset(view, bytes, byte),
        }
    }

    /// Returns the file's line end at a newline of the view.
    pub(super) fn line_end_at(&self, newline: usize) -> LineEnd {
        match &self.body {
            Body::Plain(_) => LineEnd::Lf,
            Body::Mapped { .. } if self.ends.lf == 0 => LineEnd::CrLf,
            Body::Mapped { .. } if self.ends.crlf == 0 => LineEnd::Lf,
            Body::Mapped { bytes, map, .. } => map.line_end(bytes, self.byte(newline)),
        }
    }

    /// Returns the text without byte order mark, with the line ends of the file.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.body {
            Body::Plain(_) => Cow::Borrowed(self.view()),
            Body::Mapped { bytes, .. } => encoding::text_of(bytes, self.form).unwrap_or_default(),
        }
    }

    /// Builds a buffer from bytes of a known form.
    pub(super) fn build(form: EncodingForm, decoded: Decoded, hints: Hints) -> Result<Buffer, Error> {
        let body = match decoded {
            Decoded::Utf8(text) if memchr::memmem::find(text.as_bytes(), b"\r\n").is_none() => {
                Body::Plain(text)
            }
            Decoded::Utf8(text) => {
                let view = fold(text.get(form.mark..).unwrap_or_default()).into_owned();
                Body::mapped(text.into_bytes(), view, form)?
            }
            Decoded::Other { bytes, text } => {
                let view = match fold(&text) {
                    Cow::Owned(view) => view,
                    Cow::Borrowed(_) => text,
                };
                Body::mapped(bytes, view, form)?
            }
        };
        Ok(Buffer::from_body(body, form, hints))
    }

    fn from_body(body: Body, form: EncodingForm, hints: Hints) -> Buffer {
        Buffer::with_starts(body, form, hints, lines::starts)
    }

    fn with_starts(
        body: Body,
        form: EncodingForm,
        hints: Hints,
        starts: impl FnOnce(&str) -> Vec<u32>,
    ) -> Buffer {
        let version = Version::hash(body.bytes());
        let ends = LineEnds::default();
        let mut buffer = Buffer { body, form, hints, starts: Vec::new(), ends, version, is_doubtful: false };
        buffer.starts = starts(buffer.view());
        buffer.ends = buffer.count_line_ends();
        buffer
    }

    fn count_line_ends(&self) -> LineEnds {
        let open = usize::from(!self.view().is_empty() && !self.view().ends_with('\n'));
        let all = self.starts.len() - open;
        let crlf = match &self.body {
            Body::Plain(_) => 0,
            Body::Mapped { bytes, view, .. } => {
                let folded = self.form.mark + self.form.encoding.width(view);
                (bytes.len() - folded) / self.form.encoding.unit()
            }
        };
        LineEnds { lf: all - crlf, crlf }
    }
}

impl Body {
    fn mapped(bytes: Vec<u8>, view: String, form: EncodingForm) -> Result<Body, Error> {
        fits(view.len())?;
        let map = ByteMap::new(&view, &bytes, form);
        Ok(Body::Mapped { bytes, view, map })
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Body::Plain(text) => text.as_bytes(),
            Body::Mapped { bytes, .. } => bytes,
        }
    }
}

/// Rejects sizes that the 32-bit line starts cannot address.
pub(super) fn fits(bytes: usize) -> Result<(), Error> {
    match u32::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::new(Code::TooLarge, format!("{bytes} bytes are more than 4 GiB of text"))),
    }
}
