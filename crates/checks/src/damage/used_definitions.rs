//! Reports a removed definition whose name other files of the project still use.

use super::text_pair::{DamageFinding, TextPair};

/// The most uses that the message names.
const MAX_USES: usize = 3;

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let finding = |lost: &crate::LostDefinition| {
        let places: Vec<String> =
            lost.uses.iter().take(MAX_USES).map(|(path, line)| format!("{path}:{line}")).collect();
        let more = lost.count.saturating_sub(places.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let verb = if lost.count == 1 { "use of it remains" } else { "uses of it remain" };
        let message = format!(
            "`{}`, on line {} before the edit, is gone, but {} {verb}: {}{more}; change them in the same call, or keep the name",
            lost.name,
            lost.line,
            lost.count,
            places.join(", "),
        );
        DamageFinding { line: texts.line_after(lost.line), column: 1, message }
    };
    texts.lost.used.iter().map(finding).collect()
}
