//! Divides the space of an answer among the files of a call.
//!
//! Invariant: files that need little space are shown in full, and each file that is shown has its whole path.

use super::clip::{PATH_BYTES, clip};
use super::options::ResponseOptions;
use super::response::FullResponse;
use super::size_limit::{self, SizedEdit};
use lockgate_protocol::EditResponse;
use lockgate_text::escape_name;

/// Bytes of the separators of a file in both forms.
const SEPARATORS: usize = 3;

/// Renders the parts within `spare` bytes; `None` for one that does not fit. The refused edits share the space first, apart
/// from that for the shortest forms of the others.
pub(super) fn fit_entries(
    parts: &[FullResponse<'_>],
    options: &ResponseOptions,
    spare: usize,
) -> Vec<Option<SizedEdit>> {
    let waiting = parts.iter().enumerate().map(|(at, part)| WaitingEntry {
        at,
        part,
        full: fit_entry(part, options, spare),
        shortest: minimal(&part.response, options),
    });
    let (others, refused): (Vec<_>, Vec<_>) = waiting.partition(|entry| entry.part.response.is_success());
    let reserved = shortest_size(&others).min(spare / 2).min(spare.saturating_sub(shortest_size(&refused)));
    let mut shown: Vec<Option<SizedEdit>> = parts.iter().map(|_| None).collect();
    let rest = share_out(refused, options, spare - reserved, &mut shown);
    share_out(others, options, rest + reserved, &mut shown);
    shown
}

/// A part that waits for its share of the space.
struct WaitingEntry<'a> {
    at: usize,
    part: &'a FullResponse<'a>,
    /// The part with all the space of the files.
    full: SizedEdit,
    shortest: SizedEdit,
}

/// Renders each entry in its shortest form or in more of `spare` bytes, the smallest first. Puts those that fit into
/// `shown`, and returns the bytes that are left.
fn share_out(
    mut waiting: Vec<WaitingEntry<'_>>,
    options: &ResponseOptions,
    mut spare: usize,
    shown: &mut [Option<SizedEdit>],
) -> usize {
    waiting.sort_by_key(|entry| (entry.full.size, entry.at));
    let mut needed = shortest_size(&waiting);
    for (left, WaitingEntry { at, part, full, shortest }) in (1..=waiting.len()).rev().zip(waiting) {
        let share = entry_size(&shortest) + spare.saturating_sub(needed) / left;
        needed -= entry_size(&shortest);
        let fitted = if entry_size(&full) <= share { full } else { fit_entry(part, options, share) };
        let is_usable = entry_size(&fitted) <= share && names_file(&fitted, &part.response);
        let fitted = if is_usable { fitted } else { shortest };
        if let (Some(rest), Some(entry)) = (spare.checked_sub(entry_size(&fitted)), shown.get_mut(at)) {
            spare = rest;
            *entry = Some(fitted);
        }
    }
    spare
}

/// Returns the bytes that the entries need at least.
fn shortest_size(waiting: &[WaitingEntry<'_>]) -> usize {
    waiting.iter().map(|entry| entry_size(&entry.shortest)).sum()
}

fn fit_entry(part: &FullResponse<'_>, options: &ResponseOptions, room: usize) -> SizedEdit {
    size_limit::fit(part, room.saturating_sub(SEPARATORS), options)
}

/// Returns the size of a part, including the separators in both forms.
const fn entry_size(part: &SizedEdit) -> usize {
    part.size + SEPARATORS
}

/// True if both forms have the whole path of the file.
fn names_file(fitted: &SizedEdit, response: &EditResponse) -> bool {
    let path = response.path.as_deref().unwrap_or_default();
    fitted.response.path == response.path && fitted.text.contains(&*escape_name(path))
}

/// Renders only the status, path and version of a file.
fn minimal(response: &EditResponse, options: &ResponseOptions) -> SizedEdit {
    let path = clip(response.path.as_deref().unwrap_or_default(), PATH_BYTES);
    let text = format!("{} {}", response.status.as_deref().unwrap_or_default(), escape_name(&path));
    let (status, version) = (response.status.clone(), response.version.clone());
    let response = EditResponse { status, path: Some(path), version, ..EditResponse::default() };
    SizedEdit { size: size_limit::size(&response, &text, options.forms), response, text }
}
