//! What stands in a root, as a `before` or `after` block says it.

use super::scan::{Fence, unescape};

/// A file, folder, link or pipe with its path.
#[derive(Debug, Clone)]
pub struct CaseEntry {
    /// Where it stands: relative to the root, or under `{outside}/`.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its permissions, where the block names them.
    pub mode: Option<u32>,
}

/// What a thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file with these bytes.
    File(Vec<u8>),
    /// A file of this length with nothing in it.
    Sparse(u64),
    /// A folder.
    Folder,
    /// A symbolic link to this target.
    Link(String),
    /// Another name of this file.
    HardLink(String),
    /// A named pipe.
    Pipe,
    /// Nothing: it was removed.
    Absent,
}

/// How the text of a block becomes bytes.
#[derive(Debug, Default, Clone, Copy)]
struct ContentOptions {
    bytes: bool,
    no_final_newline: bool,
    crlf: bool,
    bom: bool,
    charset: Option<Charset>,
    repeat: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Charset {
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl CaseEntry {
    /// Reads the words and the text of a block.
    pub fn read(fence: &Fence) -> Result<CaseEntry, String> {
        let mut entry = CaseEntry { path: String::new(), kind: Kind::Absent, mode: None };
        let mut options = ContentOptions::default();
        let mut kind = None;
        for word in &fence.words {
            match word.split_once('=') {
                Some(("path", path)) => path.clone_into(&mut entry.path),
                Some(("mode", mode)) => entry.mode = Some(number(word, u32::from_str_radix(mode, 8))?),
                Some(("symlink", target)) => kind = Some(Kind::Link(target.to_owned())),
                Some(("hardlink", target)) => kind = Some(Kind::HardLink(target.to_owned())),
                Some(("sparse", size)) => kind = Some(Kind::Sparse(number(word, size.parse())?)),
                Some(("repeat", times)) => options.repeat = Some(number(word, times.parse())?),
                None | Some(_) => match word.as_str() {
                    "dir" => kind = Some(Kind::Folder),
                    "fifo" => kind = Some(Kind::Pipe),
                    "absent" => kind = Some(Kind::Absent),
                    _ => options.add(word)?,
                },
            }
        }
        if entry.path.is_empty() {
            return Err("the block names no path (path=app.py)".to_owned());
        }
        entry.kind = match kind {
            Some(_) if !fence.text.is_empty() => return Err("only a file has text".to_owned()),
            Some(kind) => kind,
            None => Kind::File(options.apply(&fence.text)?),
        };
        Ok(entry)
    }
}

fn number<T, E: std::fmt::Display>(word: &str, number: Result<T, E>) -> Result<T, String> {
    number.map_err(|why| format!("`{word}`: {why}"))
}

impl ContentOptions {
    fn add(&mut self, word: &str) -> Result<(), String> {
        match word {
            "bytes" => self.bytes = true,
            "no-final-newline" => self.no_final_newline = true,
            "crlf" => self.crlf = true,
            "bom" => self.bom = true,
            "utf-16le" => self.charset = Some(Charset::Utf16Le),
            "utf-16be" => self.charset = Some(Charset::Utf16Be),
            "windows-1252" => self.charset = Some(Charset::Windows1252),
            _ => return Err(format!("`{word}` is no word of a block (see tests/README.md)")),
        }
        Ok(())
    }

    fn apply(self, text: &str) -> Result<Vec<u8>, String> {
        if self.bytes {
            return unescape(&text.replace('\n', "")).map(|bytes| bytes.repeat(self.repeat.unwrap_or(1)));
        }
        let mut text = text.repeat(self.repeat.unwrap_or(1));
        if self.no_final_newline && text.ends_with('\n') {
            text.pop();
        }
        if self.crlf {
            text = text.replace('\n', "\r\n");
        }
        if self.bom {
            text.insert(0, '\u{feff}');
        }
        self.encode(&text)
    }

    /// UTF-16 always begins with a byte order mark: without one it is not text.
    fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        match self.charset {
            None => Ok(text.as_bytes().to_vec()),
            Some(Charset::Utf16Le) => Ok(units().flat_map(u16::to_le_bytes).collect()),
            Some(Charset::Utf16Be) => Ok(units().flat_map(u16::to_be_bytes).collect()),
            Some(Charset::Windows1252) => {
                let (bytes, _, lost) = encoding_rs::WINDOWS_1252.encode(text);
                if lost {
                    Err("windows-1252 cannot hold this text".to_owned())
                } else {
                    Ok(bytes.into_owned())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::cases;
    use super::*;

    fn bytes(words: &str, text: &str) -> Vec<u8> {
        let markdown = format!("## a\n```before path=x {words}\n{text}```\n```yaml call\n```\n");
        match CaseEntry::read(&cases(&markdown).unwrap()[0].fences[0]).unwrap().kind {
            Kind::File(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_block_is_dressed_as_its_words_say() {
        assert_eq!(bytes("", "a\nb\n"), b"a\nb\n");
        assert_eq!(bytes("", ""), b"");
        assert_eq!(bytes("no-final-newline crlf", "a\nb\n"), b"a\r\nb");
        assert_eq!(bytes("bytes", "a\\r\\n\nb\\xE9\n"), b"a\r\nb\xE9");
        assert_eq!(bytes("bom", "a\n"), b"\xEF\xBB\xBFa\n");
        assert_eq!(bytes("utf-16be", "a\n"), b"\xFE\xFF\0a\0\n");
        assert_eq!(bytes("windows-1252", "\u{20ac}\n"), b"\x80\n");
    }

    #[test]
    fn a_misspelt_word_is_refused() {
        let markdown = "## a\n```before path=x clrf\n```\n```yaml call\n```\n";
        assert!(CaseEntry::read(&cases(markdown).unwrap()[0].fences[0]).unwrap_err().contains("clrf"));
    }
}
