//! Parts of a file that can be parsed apart: its top-level statements, items or declarations.
//!
//! A file whose text before the edit is valid is valid after it if the parts that changed are, because the parts around
//! them are complete and stay as they are. So an edit of a long file costs the parse of one function, not of the file.
//!
//! Invariant: a part starts at the start of a line, and a text that is accepted by its parts is accepted as a whole. A
//! changed part with any fault decides nothing: then the whole text is parsed.

use lockgate_text::{common_prefix, common_suffix};

/// The shortest distance between two starts that are kept, in bytes.
const SHORTEST: usize = 512;
/// A changed part of more than this share of the text is not worth it.
const LARGEST: (usize, usize) = (1, 2);
/// The text next to a part that decides if the two can be joined, in bytes.
pub(super) const JOINT: usize = 4096;

/// Decides if a changed part at this path that is valid by itself is valid in its place.
pub(super) type PartCheck = fn(&ChangedPart<'_>, &str) -> bool;

/// The part of a text that an edit changed, from the start of one part to the start of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangedPart<'t> {
    /// The text before the part, which is the same on both sides.
    pub(super) before: &'t str,
    /// The part before the edit.
    pub(super) old: &'t str,
    /// The part after the edit.
    pub(super) new: &'t str,
    /// The text after the part, which is the same on both sides.
    pub(super) after: &'t str,
}

impl<'t> ChangedPart<'t> {
    /// Finds the changed part of a text whose parts start at these offsets; `None` if it is most of the text.
    pub(super) fn find(old: &'t str, new: &'t str, parts: &[u32]) -> Option<ChangedPart<'t>> {
        let (one, other) = (old.as_bytes(), new.as_bytes());
        let same = common_prefix(one, other);
        let rest = one.len().min(other.len()) - same;
        let same_end = common_suffix(one, other).min(rest);
        let at = |index: usize| parts.get(index).map(|start| *start as usize);
        // The part that contains the last byte before the change; one that begins at the change is part of it.
        let first = parts.partition_point(|start| (*start as usize) < same);
        let start = first.checked_sub(1).and_then(at).unwrap_or(0);
        let next = parts.partition_point(|start| *start as usize <= old.len() - same_end);
        let end = at(next).unwrap_or(old.len());
        let part = ChangedPart {
            before: old.get(..start)?,
            old: old.get(start..end)?,
            new: new.get(start..new.len() - (old.len() - end))?,
            after: old.get(end..)?,
        };
        let most = new.len() / LARGEST.1 * LARGEST.0;
        (part.new.len() <= most && part.old.len() <= most).then_some(part)
    }

    /// Returns the starts of the parts after the edit, given those before it and those of the new part by itself.
    pub(super) fn parts(&self, known: &[u32], new: &[u32]) -> Vec<u32> {
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let start = length(self.before);
        let (end, new_end) = (start + length(self.old), start + length(self.new));
        let before = known.iter().copied().take_while(|at| *at <= start);
        let inside = new.iter().map(|at| at + start).filter(|at| *at > start);
        let after =
            known.iter().filter(|at| **at >= end && !self.after.is_empty()).map(|at| at - end + new_end);
        before.chain(inside).chain(after).collect()
    }

    /// Returns the part with only as much of the text around it as decides if the two can be joined.
    pub(super) fn with_joints_only(self) -> ChangedPart<'t> {
        let from = self.before.ceil_char_boundary(self.before.len().saturating_sub(JOINT));
        let to = self.after.floor_char_boundary(JOINT.min(self.after.len()));
        ChangedPart {
            before: self.before.get(from..).unwrap_or_default(),
            after: self.after.get(..to).unwrap_or_default(),
            ..self
        }
    }
}

/// Keeps the starts that begin a line, are not too near to each other, and are apart from the text before them.
pub(super) fn thinned(
    text: &str,
    starts: impl IntoIterator<Item = usize>,
    is_apart: impl Fn(usize) -> bool,
) -> Vec<u32> {
    let begins_line =
        |at: usize| at.checked_sub(1).is_some_and(|end| text.as_bytes().get(end) == Some(&b'\n'));
    let mut kept: Vec<u32> = Vec::new();
    for start in starts {
        let last = kept.last().map_or(0, |last| *last as usize);
        if start >= last + SHORTEST && begins_line(start) && is_apart(start) {
            kept.extend(u32::try_from(start).ok());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::cases::buffer;
    use super::super::readers::LanguageReaders;
    use super::super::table;
    use super::*;
    use crate::{Draft, InputLocation, Watch};
    use lockgate_text::LineMap;

    /// A language, a path, a text that is repeated, and pieces that edits insert.
    const TEXTS: [(&str, &str, &str, &[&str]); 4] = [
        (
            "python",
            "a.py",
            "@cache\ndef fN(x):\n    # note\n    if x:\n        return [x, 1]\n    else:\n        pass\n\n\nclass CN:\n    a = '''\nb\n'''\n\n",
            &[
                "else:\n",
                "@b\n",
                "(",
                ")",
                "'''",
                "\n",
                "    ",
                "\\\n",
                "x = 1\n",
                "# c\n",
                "if y:\n    pass\n",
                ";",
                "async ",
            ],
        ),
        (
            "typescript",
            "a.ts",
            "// note\nexport function fN(x: number): string {\n  return `a${x}` + /b*/.source;\n}\n\n/** doc */\nconst cN = { a: 1, b: [2] };\n\nclass KN { private p = 1; }\n",
            &[
                "export ",
                "@dec ",
                "(",
                ")",
                "`",
                "/",
                "\n",
                ";",
                "{",
                "}",
                "+",
                "x\n",
                "[1]",
                "export default 1;\n",
                "const c1 = 2;\n",
                "export const f1 = 1;\n",
                "else {}\n",
                "async\n",
                "*/",
                "/*",
                "export { c1 };\n",
                "with (a) {}\n",
                "await a;\n",
            ],
        ),
        (
            "rust",
            "a.rs",
            "/// doc\n#[inline]\npub fn fN(x: u8) -> u8 {\n    let y = \"a\";\n    x + 1 // note\n}\n\nstruct SN;\n\nimpl SN {\n    const A: u8 = b'a';\n}\n",
            &[
                "#![a]\n",
                "//! b\n",
                "/// c\n",
                "#[d]\n",
                "(",
                ")",
                "{",
                "}",
                "\"",
                "'",
                "\n",
                ";",
                "pub ",
                "/*",
                "*/",
                "else {}\n",
                "mod m {\n",
                "fn g() {}\n",
            ],
        ),
        (
            "go",
            "a.go",
            "// note\nfunc fN(x int) int {\n\tif x > 1 {\n\t\treturn `a`[0]\n\t}\n\treturn x + 1\n}\n\nvar vN = []int{1, 2}\n\ntype TN struct {\n\ta int\n}\n",
            &[
                "(",
                ")",
                "{",
                "}",
                "`",
                "\"",
                "\n",
                ";",
                "func g()\n",
                "+",
                "x := 1\n",
                "/*",
                "*/",
                "else {}\n",
                "import \"b\"\n",
                "package c\n",
            ],
        ),
    ];

    fn text(language: &str, part: &str) -> String {
        let head = if language == "go" { "package a\n\n" } else { "" };
        format!("{head}{}", (0..40).map(|number| part.replace('N', &number.to_string())).collect::<String>())
    }

    /// Numbers that look random, the same each time.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % most.max(1)
        }
    }

    fn edited(text: &str, pieces: &[&str], dice: &mut Dice) -> String {
        let mut at = dice.below(text.len());
        // Most accidents happen where a line begins or ends.
        if dice.below(3) > 0 {
            at = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + dice.below(2));
        }
        let removed = [0, 0, 1, 3, 12, 60][dice.below(6)];
        let end = (at + removed).min(text.len());
        let piece = if dice.below(4) == 0 { "" } else { pieces[dice.below(pieces.len())] };
        format!("{}{piece}{}", text.get(..at).unwrap(), text.get(end..).unwrap())
    }

    /// Where a text is cut.
    #[derive(Clone, Copy, PartialEq)]
    enum Cuts {
        Parts,
        EveryLine,
    }

    /// Reads the texts of many edits by parts and as a whole. Returns how many were accepted by parts, and those of them
    /// that are not valid.
    fn accepted(language: &str, cuts: Cuts, rounds: usize) -> (usize, Vec<String>) {
        let (_, path, part, pieces) = *TEXTS.iter().find(|row| row.0 == language).unwrap();
        let row = table::row(language).unwrap();
        let watch = Watch::idle();
        let limit = watch.until(std::time::Instant::now() + std::time::Duration::from_secs(600));
        let readers = LanguageReaders::new(row, path, limit);
        let (old, mut dice) = (buffer(&text(language, part)), Dice(7));
        let known = readers.read(&old).ok().unwrap();
        assert!(known.faults.is_empty() && known.parts.len() > 5, "{language}: {known:?}");
        let lines: Vec<u32> =
            old.view().match_indices('\n').map(|(at, _)| u32::try_from(at + 1).unwrap()).collect();
        let (mut count, mut wrong) = (0, Vec::new());
        for _ in 0..rounds {
            let new = buffer(&edited(old.view(), pieces, &mut dice));
            let by_parts = match cuts {
                Cuts::Parts => {
                    let map = LineMap::default();
                    let draft = Draft {
                        path,
                        language: lockgate_policy::language_of(path, None),
                        before: Some(&old),
                        after: &new,
                        map: &map,
                        input_location: InputLocation::Alone,
                        files_exist: &|_| false,
                    };
                    readers.read_changed_part(&draft).ok().flatten().is_some()
                }
                Cuts::EveryLine => ChangedPart::find(old.view(), new.view(), &lines)
                    .is_some_and(|change| readers.read(&buffer(change.new)).ok().unwrap().faults.is_empty()),
            };
            count += usize::from(by_parts);
            let whole = readers.read(&new).ok().unwrap();
            if by_parts && !whole.faults.is_empty() {
                wrong.push(new.view().to_owned());
            }
        }
        (count, wrong)
    }

    #[test]
    fn what_is_accepted_by_its_parts_is_accepted_as_a_whole() {
        for (language, ..) in TEXTS {
            let (count, wrong) = accepted(language, Cuts::Parts, 1500);
            assert!(
                wrong.is_empty(),
                "{language}: {} of {count} are wrong, as in\n{}",
                wrong.len(),
                wrong[0]
            );
            assert!(count > 100, "{language}: only {count} were accepted by their parts");
        }
    }

    /// The control: cut at every line, some are accepted that are not valid.
    #[test]
    fn cut_anywhere_some_are_accepted_wrongly() {
        for (language, ..) in TEXTS {
            let (_, wrong) = accepted(language, Cuts::EveryLine, 1500);
            assert!(!wrong.is_empty(), "{language}");
        }
    }

    #[test]
    fn the_changed_part_and_the_new_parts_fit_together() {
        let old = "aaaa\nbbbb\ncccc\ndddd\neeee\n";
        let parts = [5, 10, 15, 20];
        let find = |new| ChangedPart::find(old, new, &parts);
        let part = find("aaaa\nbbbb\ncXXXXcc\ndddd\neeee\n").unwrap();
        assert_eq!((part.before, part.old), ("aaaa\nbbbb\n", "cccc\n"));
        assert_eq!((part.new, part.after), ("cXXXXcc\n", "dddd\neeee\n"));
        assert_eq!(part.parts(&parts, &[]), [5, 10, 18, 23]);
        // A change at the start of a part belongs to the part before as well.
        let part = find("aaaa\nbbbb\nXcccc\ndddd\neeee\n").unwrap();
        assert_eq!((part.before, part.old, part.new), ("aaaa\n", "bbbb\ncccc\n", "bbbb\nXcccc\n"));
        assert_eq!(part.parts(&parts, &[5]), [5, 10, 16, 21]);
        assert_eq!(find("aaaa\n"), None, "most of it");
        assert_eq!(find("X\nbbbb\ncccc\ndddd\neeee\n").map(|part| part.new), Some("X\n"));
        assert_eq!(find("aaaa\nbbbb\ncccc\ndddd\neeXee\n").map(|part| part.new), Some("eeXee\n"));
    }
}
