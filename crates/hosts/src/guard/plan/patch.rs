//! A patch of several files, simulated file by file.

use std::collections::{HashMap, HashSet};

use super::{CallPlan, CallPlanner, CallRewrite};
use crate::answer::{HookDecision, with_patch};
use crate::guard::{DraftChange, HostDraft, Step, Stop};
use crate::locate::{self, Located};
use crate::patch::{Chunk, FilePatch, Patch, PatchChange};
use crate::rewrite::{self, NoRewrite};
use crate::simulate::{Simulated, Simulation};
use crate::simulate_patch;
use crate::texts;
use lockgate_engine::HostFile;
use lockgate_policy::DriftedQuote;

/// The paths that a patch names, and the files that they stand for.
struct PatchNames {
    /// The absolute path of each name.
    absolute: HashMap<String, String>,
    /// The files that have several names, or one name several times.
    repeated: HashSet<String>,
}

impl PatchNames {
    /// Asks for the absolute path of each name once, because that reads links.
    fn new(patch: &Patch, absolute_path: impl Fn(&str) -> String) -> PatchNames {
        let mut names = PatchNames { absolute: HashMap::new(), repeated: HashSet::new() };
        let mut known = HashSet::new();
        for name in patch.paths() {
            let path = names.absolute.entry(name.to_owned()).or_insert_with(|| absolute_path(name));
            if !known.insert(path.clone()) {
                names.repeated.insert(path.clone());
            }
        }
        names
    }

    /// Returns the absolute path of a name of the patch; an empty one for any other name.
    fn absolute(&self, name: &str) -> &str {
        self.absolute.get(name).map_or("", String::as_str)
    }

    /// True if the patch names the file of an absolute path twice.
    fn is_repeated(&self, path: &str) -> bool {
        self.repeated.contains(path)
    }
}

/// The drafts of the files of a patch, in its order.
struct PatchDrafts {
    drafts: Vec<HostDraft>,
    /// The index of each draft, by its path.
    index: HashMap<String, usize>,
}

impl PatchDrafts {
    /// Creates the drafts of files that stay as they are.
    fn new(files: Vec<(String, HostFile)>) -> PatchDrafts {
        let index = files.iter().enumerate().map(|(at, (path, _))| (path.clone(), at)).collect();
        PatchDrafts { drafts: files.into_iter().map(HostDraft::unknown).collect(), index }
    }

    fn get(&self, path: &str) -> Option<&HostDraft> {
        self.drafts.get(*self.index.get(path)?)
    }

    /// Sets the change of a file, if it is one of the project.
    fn set(&mut self, path: &str, change: DraftChange) {
        let draft = self.index.get(path).and_then(|at| self.drafts.get_mut(*at));
        if let Some(draft) = draft {
            draft.change = change;
        }
    }
}

impl CallPlanner<'_> {
    /// Simulates a patch, file by file.
    pub(super) fn simulate_patch(&self, patch: &Patch, files: Vec<(String, HostFile)>) -> Step<CallPlan> {
        let names = PatchNames::new(patch, |path| self.absolute(path));
        let mut drafts = PatchDrafts::new(files);
        let mut other = patch.clone();
        let mut helped = Vec::new();
        for part in &mut other.files {
            let path = names.absolute(&part.path);
            // Two changes of one file are not simulated, so they could not be judged.
            if names.is_repeated(path) {
                return self.deny(format_args!(
                    "it changes {} more than once. Put all changes of that file into one section of the patch, and send \
                     it again.",
                    part.path
                ));
            }
            let Some(draft) = drafts.get(path) else {
                // The text of a file in no project, in another one, or of one that is too large, is not known here.
                if let Some(to) = part.change.move_to()
                    && drafts.get(names.absolute(to)).is_some()
                {
                    let unread = self.unread.iter().find(|(name, _)| name == path);
                    let (from, reason) = match unread {
                        Some((_, reason)) => ("", format!(" ({reason})")),
                        None => (" from outside of the project", String::new()),
                    };
                    return self.deny(format_args!(
                        "it moves {}{from} to {to}, and what it would write there cannot be judged{reason}. Send a patch \
                         that adds {to} with its text, and one that deletes the other file.",
                        part.path
                    ));
                }
                continue;
            };
            let before = draft.file.bytes.as_deref();
            let change = self.simulate_part(part, path, before, &mut helped)?;
            match part.change.move_to() {
                None => drafts.set(path, change),
                Some(to) => {
                    if let DraftChange::Made(made) = change
                        && let Ok(text) = String::from_utf8(made.faithful)
                    {
                        drafts.set(names.absolute(to), DraftChange::Written(text));
                        drafts.set(path, DraftChange::Removed);
                    }
                }
            }
        }
        let drafts = drafts.drafts;
        if helped.is_empty() {
            return Ok(CallPlan { drafts, rewrite: None });
        }
        let Some(input) = with_patch(&self.call.input, &self.call.edit, &other.to_string()) else {
            return self.deny(format_args!(
                "lines of the patch are not in {} exactly as sent. This patch works:\n{other}",
                helped.join(", ")
            ));
        };
        let context = format!(
            "lockgate: lines of the patch were not in {} exactly as sent, and one place matches them. The patch was applied \
             there, with other lines of context: read the lines before you patch them again.",
            helped.join(", ")
        );
        Ok(CallPlan { drafts, rewrite: Some(CallRewrite { input, context }) })
    }

    /// Simulates the change of one file. Where its lines differ from the file, the chunks are replaced by those that fit.
    fn simulate_part(
        &self,
        part: &mut FilePatch,
        path: &str,
        before: Option<&[u8]>,
        helped: &mut Vec<String>,
    ) -> Step<DraftChange> {
        let (chunks, before) = match (&mut part.change, before) {
            (PatchChange::Add(text), _) => return Ok(DraftChange::Written(text.clone())),
            (PatchChange::Delete, Some(_)) => return Ok(DraftChange::Removed),
            (PatchChange::Update { chunks, .. }, Some(before)) => (chunks, before),
            (PatchChange::Delete | PatchChange::Update { .. }, None) => return Ok(DraftChange::Unknown),
        };
        let wanted = match simulate_patch::update(before, chunks) {
            // Codex would take the first blank line.
            Simulation::Made(_) | Simulation::Missing | Simulation::Several(_)
                if self.settings.drift == DriftedQuote::Rewrite && is_blank(chunks) =>
            {
                return self.deny(format_args!(
                    "a chunk of the patch for {path} quotes nothing but blank lines, so its place is not known. Add lines \
                     of context."
                ));
            }
            Simulation::Made(made) if made.is_at_risk() && self.settings.drift == DriftedQuote::Rewrite => {
                match rewrite::chunks(before, &made.faithful) {
                    Ok(_) => made.faithful,
                    Err(_) => return Ok(DraftChange::Made(made)),
                }
            }
            Simulation::Made(made) => return Ok(DraftChange::Made(made)),
            Simulation::Unknown => return Ok(DraftChange::Unknown),
            Simulation::Missing | Simulation::Several(_) if self.settings.drift == DriftedQuote::Keep => {
                return Ok(DraftChange::Unknown);
            }
            Simulation::Missing | Simulation::Several(_) => match locate::chunks(path, before, chunks) {
                Located::Found(wanted) => wanted,
                Located::Same | Located::Unknown => return Ok(DraftChange::Unknown),
                Located::Rejected(error) => {
                    return Err(Stop::Answer(HookDecision::Deny(texts::rejection(&error, path, None))));
                }
            },
        };
        match rewrite::chunks(before, &wanted) {
            Ok(exact) => {
                *chunks = exact;
                helped.push(part.path.clone());
                Ok(DraftChange::Made(Simulated { faithful: wanted, written: None }))
            }
            Err(reason) => {
                let why = match reason {
                    NoRewrite::Impossible => "apply_patch cannot change these lines without changing others",
                    NoRewrite::TooLarge => {
                        "the file is too large, or its chunks are too far apart, to correct them in one patch"
                    }
                };
                let own = self.own_edit(path, before, &wanted);
                self.deny(format_args!(
                    "lines of the patch are not in {path} exactly as sent, and {why}.\n{own}"
                ))
            }
        }
    }
}

/// True if a chunk of a patch has no header and quotes blank lines only, so that its place is not known: a file may have one
/// blank line by chance.
fn is_blank(chunks: &[Chunk]) -> bool {
    let quotes_blank = |chunk: &Chunk| {
        chunk.header.is_none()
            && chunk.old().next().is_some()
            && chunk.old().all(|line| line.trim().is_empty())
    };
    chunks.iter().any(quotes_blank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_name_of_a_patch_is_resolved_once() {
        let sections: String = (0..50).map(|at| format!("*** Delete File: {at}\n")).collect();
        let text =
            format!("*** Begin Patch\n{sections}*** Delete File: b/0\n*** Delete File: 7\n*** End Patch");
        let calls = Cell::new(0);
        let resolve = |name: &str| {
            calls.set(calls.get() + 1);
            format!("/a/{}", name.trim_start_matches("b/"))
        };
        let names = PatchNames::new(&Patch::parse(&text).unwrap(), resolve);
        assert_eq!(calls.get(), 51);
        assert_eq!((names.absolute("b/0"), names.absolute("3")), ("/a/0", "/a/3"));
        assert_eq!(["/a/0", "/a/7", "/a/3"].map(|path| names.is_repeated(path)), [true, true, false]);
    }
}
