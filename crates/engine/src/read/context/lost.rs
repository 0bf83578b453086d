//! Finds definitions that the drafts of a call remove while other files use them.
//!
//! Invariant: no file is waited for, and the index is neither built nor changed here: without an index, or
//! while another call uses it, no uses are known. A use is reported only if its file has not changed since it
//! was indexed.

use std::collections::HashMap;

use super::super::super::batch::Batch;
use super::super::super::plan::FileDraft;
use super::super::super::services::Services;
use super::{Index, MAX_FILE_BYTES, QuotedTexts};
use lockgate_checks::{Lost, LostDefinition};
use lockgate_context::{self as context, RemainingFile, Tags, Vanished};
use lockgate_edit::Edit;
use lockgate_policy::{Accident, Weight};
use lockgate_store::EntryKind;
use lockgate_syntax as grammar;

/// The most files with uses that are compared with the index.
const MAX_FILES: usize = 20;
/// The most uses that are reported.
const MAX_USES: usize = 3;
/// The most steps of the parser that looks for syntax errors.
const MAX_STEPS: usize = 1 << 20;

/// True if definitions can be found in a draft. Reading needs a thread of its own, even to find none.
fn has_grammar(draft: &FileDraft<'_>) -> bool {
    let language = draft.target.language(draft.drafted.buffer.view());
    language.is_some_and(|language| grammar::find(&language.name).is_some())
}

impl Services {
    /// Returns the definitions that each draft removes; `judged` marks the drafts that the gate `damage`
    /// judges.
    pub(crate) fn lost_definitions(
        &self,
        batch: &Batch,
        drafts: &[FileDraft<'_>],
        judged: &[bool],
    ) -> Vec<Lost> {
        let mut lost: Vec<Lost> = drafts.iter().map(|_| Lost::default()).collect();
        if batch.kind != EntryKind::Edit {
            return lost;
        }
        let weighs = |at: usize, draft: &FileDraft<'_>, accident: Accident| {
            let is_judged = judged.get(at).copied().unwrap_or_default();
            is_judged && draft.target.rules.damage.weight(accident) != Weight::Off
        };
        let numbered = || drafts.iter().enumerate();
        let is_rewritten = |(at, draft): &(usize, &FileDraft<'_>)| {
            matches!(draft.request.edit, Edit::Content(_))
                && draft.current.snapshot.is_some()
                && weighs(*at, draft, Accident::DroppedDefinitions)
                && has_grammar(draft)
        };
        let rewritten: Vec<usize> = numbered().filter(is_rewritten).map(|(at, _)| at).collect();
        // Do not wait for another call that uses the index.
        let indexed = self.code_index.try_lock().ok().filter(|indexed| indexed.index.files() > 0);
        let may_vanish = indexed.as_ref().is_some_and(|indexed| {
            numbered().any(|(at, draft)| {
                weighs(at, draft, Accident::UsedDefinitions) && removes_definitions(&indexed.index, draft)
            })
        });
        if rewritten.is_empty() && !may_vanish {
            return lost;
        }
        let Some(DraftTags { before, after }) = read_tags(drafts, &rewritten) else { return lost };
        let mut unsure = UnsureTags { drafts, known: HashMap::new() };
        if let Some(indexed) = indexed.filter(|_| may_vanish) {
            for (at, definition) in self.removed_definitions(&indexed.index, drafts, &after) {
                let is_weighed =
                    drafts.get(at).is_some_and(|draft| weighs(at, draft, Accident::UsedDefinitions))
                        && !unsure.may_have(at, definition.line);
                if let Some(lost) = lost.get_mut(at).filter(|_| is_weighed) {
                    lost.used.push(definition);
                }
            }
        }
        // A definition may have moved into a draft that is too large to be read.
        if drafts.iter().any(|draft| draft.drafted.buffer.view().len() as u64 > MAX_FILE_BYTES) {
            return lost;
        }
        for at in rewritten {
            let (Some(old), Some(Some(new))) = (before.get(&at), after.get(at)) else { continue };
            let other_files: Vec<&Tags> = after.iter().flatten().collect();
            let Some(lost) = lost.get_mut(at) else { continue };
            let dropped = context::dropped(old, new, &other_files).into_iter();
            let definitions: Vec<LostDefinition> = dropped
                .filter(|(name, _)| lost.used.iter().all(|used| used.name != *name))
                .filter(|(_, line)| !unsure.may_have(at, *line))
                .map(|(name, line)| LostDefinition { name, line, uses: Vec::new(), count: 0 })
                .collect();
            lost.dropped = definitions;
        }
        lost
    }

    /// Returns the removed definitions that other files use, each with the index of its draft.
    fn removed_definitions(
        &self,
        index: &Index,
        drafts: &[FileDraft<'_>],
        after: &[Option<Tags>],
    ) -> Vec<(usize, LostDefinition)> {
        let numbered = drafts.iter().zip(after).enumerate();
        let files: Vec<(usize, RemainingFile<'_>)> = numbered
            .filter_map(|(at, (draft, tags))| {
                let path = path_of(draft)?;
                let is_known = index.version(path) == Some(draft.current.buffer.version());
                Some((at, RemainingFile { path, tags: tags.as_ref(), is_known }))
            })
            .collect();
        let remaining_files: Vec<RemainingFile<'_>> = files.iter().map(|(_, file)| *file).collect();
        let mut pages = QuotedTexts { services: self, read: HashMap::new(), changed: 0 };
        let mut is_as_it_was = |path: &str| {
            let is_of_call = remaining_files.iter().any(|file| file.path == path);
            is_of_call || pages.get(path, index.version(path)).is_some()
        };
        let definition = |vanished: Vanished| {
            let Vanished { file, name, line, uses } = vanished;
            let mut known: HashMap<String, bool> = HashMap::new();
            let mut uses: Vec<(String, usize)> = uses
                .into_iter()
                .filter(|(path, _)| {
                    let is_unread = known.len() >= MAX_FILES;
                    *known.entry(path.clone()).or_insert_with(|| !is_unread && is_as_it_was(path))
                })
                .collect();
            let count = uses.len();
            uses.truncate(MAX_USES);
            let at = files.get(file).map(|(at, _)| *at)?;
            (count > 0).then_some((at, LostDefinition { name, line, uses, count }))
        };
        index.vanished(&remaining_files).into_iter().filter_map(definition).collect()
    }
}

/// The tags of the texts of a call.
struct DraftTags {
    /// Those of the text before, for the rewritten drafts, by their index.
    before: HashMap<usize, Tags>,
    /// Those of each draft, if it has any.
    after: Vec<Option<Tags>>,
}

/// Reads the tags of all drafts, and of the texts before those that are rewritten.
fn read_tags(drafts: &[FileDraft<'_>], rewritten: &[usize]) -> Option<DraftTags> {
    let read = context::reading(|reader| {
        let tags = |draft: &FileDraft<'_>, view: &str| {
            // A larger file is not in the index either, and its tree would take as much memory as the
            // syntax gate may.
            if view.len() as u64 > MAX_FILE_BYTES {
                return None;
            }
            let language = draft.target.language(view)?;
            reader.tags(&language.name, path_of(draft)?, view)
        };
        let after = drafts.iter().map(|draft| tags(draft, draft.drafted.buffer.view())).collect();
        let before = rewritten.iter().filter_map(|at| {
            let draft = drafts.get(*at)?;
            Some((*at, tags(draft, draft.current.buffer.view())?))
        });
        DraftTags { before: before.collect(), after }
    });
    read.ok()
}

/// The drafts whose symbols are not certain, because the text before or after the edit has syntax errors: a grammar
/// that recovers from one may take the definitions behind it for a part of something else.
struct UnsureTags<'d> {
    drafts: &'d [FileDraft<'d>],
    /// The lines of each draft, by its index; `None` for a draft without errors.
    known: HashMap<usize, Option<LineOccurrences<'d>>>,
}

/// The number of times that each line is in the text before and after an edit.
type LineOccurrences<'d> = HashMap<&'d str, (usize, usize)>;

impl UnsureTags<'_> {
    /// True if a draft may still have the definition of this line: it has errors, and the line is still there.
    fn may_have(&mut self, at: usize, line: usize) -> bool {
        let Some(draft) = self.drafts.get(at) else { return false };
        let counts = self.known.entry(at).or_insert_with(|| has_errors(draft).then(|| line_counts(draft)));
        let text = draft.current.buffer.lines().text(line);
        counts.as_ref().and_then(|counts| counts.get(text)).is_some_and(|(before, after)| after >= before)
    }
}

fn line_counts<'d>(draft: &'d FileDraft<'_>) -> LineOccurrences<'d> {
    let mut counts = LineOccurrences::new();
    draft.current.buffer.lines().iter().for_each(|line| counts.entry(line).or_default().0 += 1);
    draft.drafted.buffer.lines().iter().for_each(|line| counts.entry(line).or_default().1 += 1);
    counts
}

/// True if the text before or after the edit has syntax errors.
fn has_errors(draft: &FileDraft<'_>) -> bool {
    let Some(path) = path_of(draft) else { return false };
    let texts = [&draft.drafted.buffer, &draft.current.buffer].map(|buffer| buffer.view());
    texts.into_iter().any(|text| {
        let language = draft.target.language(text);
        let tree = language.map(|language| grammar::read(&language.name, path, text, MAX_STEPS));
        tree.is_some_and(|tree| tree.is_ok_and(|tree| tree.root_node().has_error()))
    })
}

/// Returns the path of a draft in the index; `None` for an entity.
fn path_of<'d>(draft: &'d FileDraft<'_>) -> Option<&'d str> {
    let place = draft.target.place.file()?;
    Some(place.resolved().unwrap_or_else(|| place.shown()))
}

/// True if a draft removes or rewrites a line with the name of an indexed definition.
fn removes_definitions(index: &Index, draft: &FileDraft<'_>) -> bool {
    let Some(path) = path_of(draft) else { return false };
    draft.current.snapshot.is_some()
        && index.version(path) == Some(draft.current.buffer.version())
        && index.defines_on(path, |line| {
            draft.request.edit == Edit::Remove || draft.drafted.map.new_line_of(line).is_none()
        })
}
