//! Detects an edit that repairs a text that did not parse: programs could not report much of what they find
//! after it before.

use std::sync::OnceLock;

use super::baseline::TextBefore;
use crate::delta::{self, ComparedFinding, MarkedFinding};
use crate::draft::Draft;
use crate::syntax;
use lockgate_sandbox::Limit;
use lockgate_text::Buffer;

/// The parse result of the text before an edit, computed on first use.
pub(super) struct Repair<'a> {
    draft: &'a Draft<'a>,
    limit: Limit<'a>,
    cached: OnceLock<ParseBefore>,
}

/// The parse result of the text before an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParseBefore {
    /// There was no such text, it parsed, or no parser could read it.
    Parsed,
    /// It did not parse, and no parser shows that the edit fixes that.
    Broken,
    /// It did not parse, and the edit removes a syntax error and adds none.
    Repaired,
}

impl<'a> Repair<'a> {
    pub(super) fn new(draft: &'a Draft<'a>, limit: Limit<'a>) -> Repair<'a> {
        Repair { draft, limit, cached: OnceLock::new() }
    }

    /// True if the text before parsed, as far as the parsers can tell.
    pub(super) fn parsed_before(&self) -> bool {
        self.parse_before() == ParseBefore::Parsed
    }

    /// Returns how much could be found in the text before: not everything if the edit removed a syntax error
    /// and added none.
    pub(super) fn text_before(&self) -> TextBefore {
        match self.parse_before() {
            ParseBefore::Repaired => TextBefore::Hidden,
            ParseBefore::Parsed | ParseBefore::Broken => TextBefore::Plain,
        }
    }

    fn parse_before(&self) -> ParseBefore {
        *self.cached.get_or_init(|| {
            let before = self.draft.before.and_then(|before| self.faults(before));
            match before.filter(|faults| !faults.is_empty()) {
                None => ParseBefore::Parsed,
                Some(before) if self.is_fixed(&before) => ParseBefore::Repaired,
                Some(_) => ParseBefore::Broken,
            }
        })
    }

    /// True if the edit removes one of the faults before and adds none. False if no parser can read the text after.
    fn is_fixed(&self, before: &[ComparedFinding]) -> bool {
        let Some(after) = self.faults(self.draft.after) else { return false };
        let repairs = delta::unmatched(before, &after, self.draft.map).gone.contains(&true);
        let Ok(judged) = syntax::judge(self.draft, self.limit) else { return false };
        repairs && !judged.marks.iter().any(MarkedFinding::is_certain_and_fresh)
    }

    fn faults(&self, text: &Buffer) -> Option<Vec<ComparedFinding>> {
        let alone = Draft { before: None, after: text, ..*self.draft };
        let findings = syntax::judge(&alone, self.limit).ok()?.marks;
        Some(findings.into_iter().map(|mark| mark.finding).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::InputLocation;
    use lockgate_policy::language_of;
    use lockgate_sandbox::Watch;
    use lockgate_text::Hints;
    use std::time::{Duration, Instant};

    /// Returns if the text before parsed, and how much could be found in it.
    fn before(before: &str, after: &str) -> (bool, TextBefore) {
        let buffer = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
        let (old, new) = (buffer(before), buffer(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &new);
        let draft = Draft {
            path: "a.js",
            language: language_of("a.js", None),
            before: Some(&old),
            after: &new,
            map: &map,
            input_location: InputLocation::OverFile,
            files_exist: &|_| false,
        };
        let watch = Watch::idle();
        let repair = Repair::new(&draft, watch.until(Instant::now() + Duration::from_secs(60)));
        (repair.parsed_before(), repair.text_before())
    }

    #[test]
    fn a_broken_text_is_broken_whatever_the_text_after_is() {
        let broken = "let x = (;\n";
        assert_eq!(before(broken, broken), (false, TextBefore::Plain));
        assert_eq!(before(broken, "let x = 1;\n"), (false, TextBefore::Hidden));
        // No parser reads these type annotations.
        assert_eq!(before(broken, "// @flow\nlet x: number = (;\n"), (false, TextBefore::Plain));
        // The controls: a text that parses, and one that no parser reads.
        assert_eq!(before("let x = 1;\n", broken), (true, TextBefore::Plain));
        assert_eq!(before("// @flow\nlet x: number = (;\n", broken), (true, TextBefore::Plain));
    }
}
