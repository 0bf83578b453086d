//! Extracts code from a model's answer: the content of its single fenced block, or the whole text without fences.

/// Maximum bytes of code that are accepted from a model.
pub(super) const MAX_CODE_BYTES: usize = 64 * 1024;

/// The kind of text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// It has no fenced blocks.
    Code,
    /// It may have fenced blocks.
    Prose,
}

/// Extracts the text of an answer for a file. For prose, a fenced block must be the whole answer.
///
/// Errors: the reason why the answer may not be exactly the text.
pub(super) fn code_in(answer: &str, kind: ContentKind) -> Result<String, String> {
    let code = match blocks(answer)?.as_slice() {
        [] => whole(answer),
        [block] if kind == ContentKind::Prose && !block.is_all => {
            return Err("only a part of its answer is fenced, and the file may have fences itself".to_owned());
        }
        [block] => block.content.to_owned(),
        several => return Err(format!("its answer has {} fenced blocks", several.len())),
    };
    match code.len() {
        _ if code.trim().is_empty() => Err("its answer is empty".to_owned()),
        0..=MAX_CODE_BYTES => Ok(code),
        length => Err(format!(
            "its answer has {length} bytes of code, more than the {MAX_CODE_BYTES} that are taken"
        )),
    }
}

struct FencedBlock<'a> {
    content: &'a str,
    /// True if the answer has no other text.
    is_all: bool,
}

/// A code fence: its character and minimum length.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

/// Returns the fenced blocks of an answer.
///
/// Errors: an unclosed block.
fn blocks(answer: &str) -> Result<Vec<FencedBlock<'_>>, String> {
    let (mut found, mut open, mut at) = (Vec::new(), None, 0);
    for line in answer.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        match open {
            None => {
                let before = answer.get(..start).unwrap_or_default();
                open = opening(line, before).map(|fence| (fence, start, end));
            }
            Some((fence, outer, inner)) if closes(line, fence) => {
                let part = |range: std::ops::Range<usize>| answer.get(range).unwrap_or_default();
                let is_all =
                    [part(0..outer), part(end..answer.len())].iter().all(|text| text.trim().is_empty());
                found.push(FencedBlock { content: part(inner..start), is_all });
                open = None;
            }
            Some(_) => {}
        }
    }
    match open {
        None => Ok(found),
        Some(_) => Err("its answer has a fence that does not end".to_owned()),
    }
}

/// Returns the opening fence of a line after some text. Tildes also underline headings, so they count only at the
/// start of the answer.
fn opening(line: &str, before: &str) -> Option<Fence> {
    let (fence, rest) = run(line)?;
    let opens = match fence.mark {
        '`' => !rest.contains('`'),
        _ => before.trim().is_empty(),
    };
    opens.then_some(fence)
}

fn closes(line: &str, open: Fence) -> bool {
    run(line).is_some_and(|(fence, rest)| {
        fence.mark == open.mark && fence.length >= open.length && rest.trim().is_empty()
    })
}

/// Returns the fence at the start of a line and the rest of the line.
fn run(line: &str) -> Option<(Fence, &str)> {
    let bare = line.trim_start_matches(' ');
    let fence_char = bare.chars().next().filter(|fence_char| ['`', '~'].contains(fence_char))?;
    let rest = bare.trim_start_matches(fence_char);
    let length = bare.len() - rest.len();
    // With more indentation, it is a line of code.
    (line.len() - bare.len() < 4 && length >= 3).then_some((Fence { mark: fence_char, length }, rest))
}

/// Removes blank lines around an answer; the indentation of its first line is kept as code.
fn whole(answer: &str) -> String {
    let end = answer.trim_end();
    let blank = end.len() - end.trim_start().len();
    let start = end.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    format!("{}\n", end.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_block_is_its_inside() {
        for answer in [
            "```python\nx = 1\n```",
            "```\nx = 1\n```\n",
            "Here it is:\n\n```python\nx = 1\n```\n\nThat is all.",
            "  ````py\nx = 1\n`````  \n",
            "~~~\nx = 1\n~~~",
        ] {
            assert_eq!(code_in(answer, ContentKind::Code).as_deref(), Ok("x = 1\n"), "{answer}");
        }
        let inner = "````markdown\n```sh\nls\n```\n````";
        assert_eq!(code_in(inner, ContentKind::Prose).as_deref(), Ok("```sh\nls\n```\n"));
    }

    #[test]
    fn without_a_fence_it_is_all_of_it() {
        for (answer, code) in [
            ("x = 1", "x = 1\n"),
            ("\n\n    return x\n\n", "    return x\n"),
            ("Title\n~~~~~\n", "Title\n~~~~~\n"),
            ("    ```\n    x\n", "    ```\n    x\n"),
            ("/// ```\n/// x\n/// ```\n", "/// ```\n/// x\n/// ```\n"),
            ("`a` ```b```", "`a` ```b```\n"),
        ] {
            assert_eq!(code_in(answer, ContentKind::Code).as_deref(), Ok(code), "{answer}");
        }
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let (code, prose) = (ContentKind::Code, ContentKind::Prose);
        for (answer, kind, why) in [
            ("", code, "empty"),
            (" \n\t", code, "empty"),
            ("```\n\n```", code, "empty"),
            ("```\na\n```\n```\nb\n```", code, "2 fenced blocks"),
            ("```py\nx = 1\n", code, "does not end"),
            ("```\n\"\"\"\n```\nx\n```\n\"\"\"\n```", code, "2 fenced blocks"),
            ("Run this:\n```sh\nls\n```\n", prose, "only a part"),
        ] {
            assert!(code_in(answer, kind).unwrap_err().contains(why), "{answer}");
        }
        assert!(code_in(&"x".repeat(MAX_CODE_BYTES), code).unwrap_err().contains("65537 bytes"));
        assert!(code_in(&"x".repeat(MAX_CODE_BYTES - 1), code).is_ok());
    }

    proptest! {
        #[test]
        fn any_response_is_accepted_or_refused(answer in "[`~ \na-z]{0,60}") {
            for kind in [ContentKind::Code, ContentKind::Prose] {
                if let Ok(code) = code_in(&answer, kind) {
                    prop_assert!(!code.trim().is_empty());
                    prop_assert!(answer.contains(code.trim_end()));
                }
            }
        }
    }
}
