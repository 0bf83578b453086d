//! What a text may be, and what none is.

use lockgate_edit::Edit;
use lockgate_edit::request::{Expect, Mode};
use lockgate_engine::LinesRequest;
use lockgate_error::Code;
use lockgate_text::Version;

use super::common::{utf16, written};
use super::reads::search_paths;
use crate::suite::edits::{content, insertion, search};
use crate::suite::rows::fixture::EntityFixture;

pub fn every_text_byte_for_byte(fixture: &EntityFixture) {
    let texts: Vec<(&str, Vec<u8>)> = vec![
        ("crlf", b"one\r\ntwo\r\nthree\r\n".to_vec()),
        ("mixed", b"one\r\ntwo\nthree\r\n".to_vec()),
        ("cr", b"one\rtwo\rthree\r".to_vec()),
        ("no end", b"one\ntwo\nthree".to_vec()),
        ("crlf, no end", b"one\r\ntwo\r\nthree".to_vec()),
        ("bom", b"\xEF\xBB\xBFone\ntwo\nthree\n".to_vec()),
        ("utf-16le", utf16("one\ntwo \u{1F600}\nthree\n", [0xFF, 0xFE])),
        ("utf-16be", utf16("one\r\ntwo é\r\nthree\r\n", [0xFE, 0xFF])),
        ("windows-1252", b"one \xE9\xE8\ntwo\nthree \x80\n".to_vec()),
        ("wide", "one é\u{1F600}\ntwo \u{2028}\u{85}\nthree \u{202E}\u{FFFD}\n".as_bytes().to_vec()),
        ("controls", b"one\x0C\x0B\x1B\x07\ntwo\nthree\x7F\n".to_vec()),
        ("quotes", b"one ' \" \\ $1 ? :a %s --\ntwo; DROP TABLE x;\nthree /* */\n".to_vec()),
        ("blanks", b"one \t \ntwo\n\n\n  \nthree\n\n".to_vec()),
        ("long", [b"one ".to_vec(), vec![b'x'; 9000], b"\ntwo\nthree\n".to_vec()].concat()),
    ];
    for (number, (name, bytes)) in texts.iter().enumerate() {
        let path = format!("src/{number}.txt");
        let creation = fixture.put(&path, bytes);
        assert_eq!(fixture.bytes(&path).as_ref(), Some(bytes), "{name}");
        assert_eq!(creation.version, Some(Version::hash(bytes)), "{name}");
        // Of a line of its own nothing but that line changes, and both ways lead back to the byte.
        let edit = written(fixture, &path, search("two", "2 and 2"));
        let changed = fixture.bytes(&path).unwrap();
        assert!(changed.len() > bytes.len() && changed[..2] == bytes[..2], "{name}");
        assert_eq!(changed.ends_with(b"\n"), bytes.ends_with(b"\n"), "{name}");
        fixture.undo(&edit).unwrap();
        assert_eq!(fixture.bytes(&path).as_ref(), Some(bytes), "{name}");
        fixture.redo(&edit).unwrap();
        assert_eq!(fixture.bytes(&path), Some(changed), "{name}");
        let removal = fixture.edit(&path, Edit::Remove, Expect::Anything).unwrap();
        fixture.undo(&removal).unwrap();
        fixture.undo(&edit).unwrap();
        assert_eq!(fixture.bytes(&path).as_ref(), Some(bytes), "{name}");
    }
    // Empty, and from and to it.
    written(fixture, "src/empty.txt", content(""));
    let filled = written(fixture, "src/empty.txt", content("x"));
    fixture.undo(&filled).unwrap();
    assert_eq!(fixture.bytes("src/empty.txt"), Some(Vec::new()));
    for (number, (_, bytes)) in texts.iter().enumerate() {
        // The whole text anew, in another encoding than the one that stands there.
        let edit = Edit::Restore(texts[(number + 5) % texts.len()].1.clone());
        let path = format!("src/{number}.txt");
        let other = fixture.edit_as(&path, edit, Mode::Interactive, Expect::Anything).unwrap();
        fixture.undo(&other).unwrap();
        assert_eq!(fixture.bytes(&path).as_ref(), Some(bytes));
    }
}

pub fn names_that_resemble_a_statement(fixture: &EntityFixture) {
    let names = ["it's", "'; ROLLBACK; --", "$1 = ?1", "\"a\" %_", "E'x'", "é\u{1F600}", "(NULL)"];
    for name in names {
        let path = format!("src/{name}.txt");
        assert_eq!(fixture.bytes(&path), None, "{path}");
        written(fixture, &path, content("one\n"));
        let edit = written(fixture, &path, content("one\ntwo\n"));
        fixture.undo(&edit).unwrap();
        assert_eq!(fixture.text(&path), "one\n");
        assert_eq!(fixture.history(Some(&path), 9).len(), 3, "{path}");
    }
    // All of them, and how many there are.
    assert_eq!(search_paths(fixture, "one", None, 20).unwrap().len(), names.len() + 1);
}

pub fn more_statements_than_are_remembered(fixture: &EntityFixture) {
    for text in ["one\n", "two\n", "three\n"] {
        written(fixture, "src/a.txt", content(text));
    }
    // Each number makes a statement of its own.
    for most in 1..130 {
        assert_eq!(fixture.history(Some("src/a.txt"), most).len(), most.min(3), "{most}");
    }
}

pub fn invalid_text(fixture: &EntityFixture) {
    for (number, bytes) in
        [b"a\0b\n".as_slice(), b"\x7FELF\x02\x01\x01\0\0\0", b"\0\x01\x02\xFF"].into_iter().enumerate()
    {
        let path = format!("src/{number}.bin");
        let rejection =
            fixture.edit_as(&path, Edit::Restore(bytes.to_vec()), Mode::Interactive, Expect::Absent);
        fixture.log.record("no text", rejection.as_ref().map(|report| report.status.name().to_owned()));
        let response = fixture.read(LinesRequest::from(fixture.target(&path)));
        fixture.log.record("read", response.as_ref().map(|_| "text".to_owned()));
    }
    let rejection = fixture.edit("src/nul.txt", content("a\0b\n"), Expect::Anything);
    fixture.log.record("nul", rejection.as_ref().map(|report| report.status.name().to_owned()));
}

pub fn too_large_texts(fixture: &EntityFixture) {
    let limit = 20 << 10;
    let fits = "x".repeat(limit - 1) + "\n";
    let creation = written(fixture, "src/a.txt", content(&fits));
    for edit in [content(&format!("{fits}x")), insertion(1, "x\n"), search("x\n", "xx\n")] {
        let rejection = fixture.edit("src/a.txt", edit, Expect::Anything).unwrap_err();
        assert_eq!(rejection.code, Code::TooLarge);
    }
    assert_eq!(
        fixture.edit("src/b.txt", content(&format!("{fits}x")), Expect::Anything).unwrap_err().code,
        Code::TooLarge
    );
    assert_eq!(
        (fixture.bytes("src/a.txt").map(|bytes| Version::hash(&bytes)), fixture.bytes("src/b.txt")),
        (creation.version, None)
    );
}
