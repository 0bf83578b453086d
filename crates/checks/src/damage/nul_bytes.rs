//! Finds NUL bytes in lines that the edit wrote.

use super::text_pair::{DamageFinding, MAX_FINDINGS, TextPair};

pub(super) fn look(texts: &TextPair<'_>) -> Vec<DamageFinding> {
    let holds = |text: Option<&str>| text.is_some_and(|text| text.contains('\0'));
    if !holds(Some(texts.draft.after.view())) {
        return Vec::new();
    }
    let new = texts.written().filter(|&(line, piece)| {
        let old = texts.before.map(|before| piece.old_lines().map(move |line| before.text(line)));
        holds(Some(texts.after.text(line))) && !old.into_iter().flatten().any(|old| old.contains('\0'))
    });
    let finding = |(line, _)| {
        let text = texts.after.text(line);
        let at = text.find('\0').unwrap_or_default();
        let count = text.matches('\0').count();
        let noun = if count == 1 { "a NUL byte" } else { "NUL bytes" };
        let message =
            format!("{noun} in new text; write `\\0` where a string needs one, and remove all others");
        texts.finding_at(line, at, message)
    };
    new.map(finding).take(MAX_FINDINGS).collect()
}
