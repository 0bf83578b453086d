//! Reports a removed definition whose name other files of the project still use.

use super::text_pair::{DamageFinding, TextPair};
use crate::wording::listed;

/// The most uses that the message names.
const MAX_USES: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let finding = |lost: &crate::LostDefinition| {
        let places = lost.uses.iter().map(|(path, line)| format!("{path}:{line}"));
        let verb = if lost.count == 1 { "use of it remains" } else { "uses of it remain" };
        let message = format!(
            "`{}`, on line {} before the edit, is gone, but {} {verb}: {}; change them in the same call, or keep the name",
            lost.name,
            lost.line,
            lost.count,
            listed(places, MAX_USES, lost.count),
        );
        DamageFinding { line: texts.line_after(lost.line), column: 1, message }
    };
    texts.lost.used.iter().map(finding).collect()
}
