//! What the tool of the host would write: its call simulated on the current files, and other arguments for a call that
//! would miss its place or change other bytes.

use std::fmt;

use serde_json::{Value, json};

use super::{CallPlan, CallPlanner, CallRewrite, DraftChange, HostDraft, Step, Stop};
use crate::answer::{HookDecision, with_patch};
use crate::edit::{FileQuote, HostEdit, QuoteMatches, QuotedReplacement};
use crate::event::HostCall;
use crate::host::TextHabit;
use crate::locate::{self, Located};
use crate::notebook;
use crate::patch::{Chunk, FilePatch, Patch, PatchChange};
use crate::rewrite::{self, NoRewrite};
use crate::simulate::{self, Simulated, Simulation};
use crate::texts::{self, EditState, OwnTools};
use lockgate_engine::HostFile;
use lockgate_policy::{BytesAtRisk, DriftedQuote};

impl CallPlanner<'_> {
    /// Simulates the call on the files, and quotes the text exactly where the host's tool would not find it.
    pub(super) fn simulate(&self, files: Vec<(String, HostFile)>) -> Step<CallPlan> {
        if let Some(edit) = self.edit_of_one_file(&self.call.edit) {
            let call = HostCall { edit, ..self.call.clone() };
            return CallPlanner { call: &call, ..*self }.simulate(files);
        }
        match &self.call.edit {
            HostEdit::Patch { patch, .. } => self.simulate_patch(patch, files),
            HostEdit::ReplaceInFiles { quotes, .. } => Ok(self.simulate_quotes(quotes, files)),
            HostEdit::Ambiguous(edits) => self.simulate_each(edits, files),
            HostEdit::Unreadable { .. } => {
                let draft = |(path, file)| HostDraft { path, file, change: DraftChange::Unknown };
                Ok(CallPlan { drafts: files.into_iter().map(draft).collect(), rewrite: None })
            }
            HostEdit::Replace { .. }
            | HostEdit::Write { .. }
            | HostEdit::Delete { .. }
            | HostEdit::Notebook { .. }
            | HostEdit::Other { .. } => {
                let Some((path, file)) = files.into_iter().next() else { return Ok(CallPlan::default()) };
                let (change, rewrite) = self.simulate_file(&self.call.edit, &path, &file)?;
                Ok(CallPlan { drafts: vec![HostDraft { path, file, change }], rewrite })
            }
        }
    }

    /// Returns the edit of a single file, if the call names only this file, by several names.
    fn edit_of_one_file(&self, edit: &HostEdit) -> Option<HostEdit> {
        let single = match edit {
            HostEdit::Ambiguous(edits) => edits.first()?.clone(),
            HostEdit::ReplaceInFiles { quotes, .. } => HostEdit::Replace {
                path: (*edit.paths().first()?).to_owned(),
                quotes: quotes.iter().map(|quote| quote.quote.clone()).collect(),
                fields: None,
            },
            HostEdit::Replace { .. }
            | HostEdit::Write { .. }
            | HostEdit::Delete { .. }
            | HostEdit::Patch { .. }
            | HostEdit::Notebook { .. }
            | HostEdit::Unreadable { .. }
            | HostEdit::Other { .. } => return None,
        };
        (self.guard.paths(edit).len() == 1).then_some(single)
    }

    /// Simulates the edit of each file that the call names, as the tool may take any of them.
    fn simulate_each(&self, edits: &[HostEdit], files: Vec<(String, HostFile)>) -> Step<CallPlan> {
        let (mut drafts, mut unjudged) = (Vec::new(), None);
        for (path, file) in files {
            let is_of_file =
                |edit: &&HostEdit| edit.paths().into_iter().any(|name| self.absolute(name) == path);
            let edit = edits.iter().find(is_of_file);
            let change = match edit.map(|edit| self.simulate_file(edit, &path, &file)) {
                Some(Ok((change, None))) => change,
                // Other arguments of the call would be those for one of the files.
                Some(Ok((_, Some(_)))) => DraftChange::Unknown,
                // The tool would reject the edit of this file.
                Some(Err(Stop::Answer(HookDecision::Pass))) | None => DraftChange::Unknown,
                Some(Err(stop @ Stop::Answer(_))) => return Err(stop),
                Some(Err(stop @ Stop::Unjudged(_))) => {
                    unjudged.get_or_insert(stop);
                    DraftChange::Unknown
                }
            };
            drafts.push(HostDraft { path, file, change });
        }
        match unjudged {
            Some(stop) if !drafts.iter().any(HostDraft::is_judged) => Err(stop),
            Some(_) | None => Ok(CallPlan { drafts, rewrite: None }),
        }
    }

    /// Simulates the edit of one file. Returns other arguments for the call, too, if its quote differs from the file.
    /// `edit` is the edit of the call, or one of those that it may be.
    fn simulate_file(
        &self,
        edit: &HostEdit,
        path: &str,
        file: &HostFile,
    ) -> Step<(DraftChange, Option<CallRewrite>)> {
        let change = match (edit, file.bytes.as_deref()) {
            (HostEdit::Write { content, .. }, _) => DraftChange::Written(content.clone()),
            (HostEdit::Delete { .. }, Some(_)) => DraftChange::Removed,
            (HostEdit::Notebook { cell, .. }, Some(before)) => match notebook::change_cell(before, cell) {
                Simulation::Made(made) => DraftChange::Made(made),
                Simulation::Missing | Simulation::Several(_) | Simulation::Unknown => DraftChange::Unknown,
            },
            (HostEdit::Replace { quotes, .. }, None | Some([])) => match quotes.as_slice() {
                [quote] if quote.old.is_empty() => DraftChange::Written(quote.new.clone()),
                // The tool rejects it.
                _ => return Err(Stop::Answer(HookDecision::Pass)),
            },
            (HostEdit::Replace { quotes, .. }, Some(before)) => {
                return self.simulate_replace(quotes, path, before);
            }
            (
                HostEdit::Delete { .. }
                | HostEdit::Notebook { .. }
                | HostEdit::Other { .. }
                | HostEdit::ReplaceInFiles { .. }
                | HostEdit::Patch { .. }
                | HostEdit::Unreadable { .. }
                | HostEdit::Ambiguous(_),
                _,
            ) => DraftChange::Unknown,
        };
        Ok((change, None))
    }

    /// Simulates the quotes of one file.
    fn simulate_replace(
        &self,
        quotes: &[QuotedReplacement],
        path: &str,
        before: &[u8],
    ) -> Step<(DraftChange, Option<CallRewrite>)> {
        let habit = self.guard.event.host.habit();
        let is_helped =
            self.guard.event.host.fires_before_search() && self.settings.drift == DriftedQuote::Rewrite;
        let simulation = simulate::replace(before, quotes, habit);
        let exact = match &simulation {
            _ if !is_helped => None,
            Simulation::Made(made) if joins_lines(path, before, quotes, made) => {
                self.locate(path, before)?.map(|(made, CallRewrite { input, .. })| {
                    let context = format!(
                        "lockgate: the new text lacked the line end of the quoted one, and would have joined two lines of \
                         {path}. It was given that line end."
                    );
                    (made, CallRewrite { input, context })
                })
            }
            // A tool of known habits does not find the quote, because line ends differ.
            Simulation::Made(made)
                if habit != TextHabit::Unknown && made.written.is_none() && is_utf8(before) =>
            {
                self.quote_exactly(path, before, &made.faithful)?
            }
            Simulation::Missing | Simulation::Several(_) => self.locate(path, before)?,
            Simulation::Made(_) | Simulation::Unknown => None,
        };
        Ok(match (exact, simulation) {
            (Some((made, rewrite)), _) => (DraftChange::Made(made), Some(rewrite)),
            (None, Simulation::Made(made)) => (DraftChange::Made(made), None),
            (None, Simulation::Missing | Simulation::Several(_) | Simulation::Unknown) => {
                (DraftChange::Unknown, None)
            }
        })
    }

    /// Finds the place of a quote that differs from the file; `None` if the quote is one that is not helped.
    fn locate(&self, path: &str, before: &[u8]) -> Step<Option<(Simulated, CallRewrite)>> {
        let HostEdit::Replace { quotes, .. } = &self.call.edit else { return Ok(None) };
        let [quote] = quotes.as_slice() else { return Ok(None) };
        match locate::quote(path, before, quote) {
            Located::Found(wanted) => self.quote_exactly(path, before, &wanted),
            Located::Same | Located::Unknown => Ok(None),
            Located::Rejected(error) => {
                let text = texts::rejection(&error, path, Some(self.call));
                Err(Stop::Answer(HookDecision::Deny(text)))
            }
        }
    }

    /// Returns arguments with which the tool writes the wanted bytes; denies the call if there are none. `None` if what
    /// the tool does with this file is not known.
    fn quote_exactly(
        &self,
        path: &str,
        before: &[u8],
        wanted: &[u8],
    ) -> Step<Option<(Simulated, CallRewrite)>> {
        let HostEdit::Replace { quotes, fields, .. } = &self.call.edit else { return Ok(None) };
        let [quote] = quotes.as_slice() else { return Ok(None) };
        let (host, habit) = (self.guard.event.host, self.guard.event.host.habit());
        let exact = match rewrite::quote(before, wanted, habit) {
            Ok(exact) => exact,
            Err(_) if matches!(habit, TextHabit::Unknown | TextHabit::Lossy) => return Ok(None),
            Err(reason) => {
                let why = match reason {
                    NoRewrite::Impossible => {
                        format!(
                            "the edit tool of {} cannot change these lines without changing others",
                            host.name()
                        )
                    }
                    NoRewrite::TooLarge => {
                        "the file is too large, or its places are too far apart, to find a quote that is"
                            .to_owned()
                    }
                };
                let own = self.own_edit(path, before, wanted);
                return self.deny(format_args!(
                    "the quoted text is not in {path} exactly as sent, and {why}.\n{own}"
                ));
            }
        };
        let Some(mut input) = fields.and_then(|fields| fields.with_quote(&self.call.input, &exact)) else {
            let exact = json!({"old": exact.old, "new": exact.new});
            return self.deny(format_args!(
                "the quoted text is not in {path} exactly as sent. These texts work:\n{exact}"
            ));
        };
        if quote.matches == QuoteMatches::Every {
            // The quote now has all places in one.
            for flag in input.values_mut().filter(|value| value.is_boolean()) {
                *flag = Value::Bool(false);
            }
        }
        let input = Value::Object(input);
        if !host.accepts_rewrite() {
            return self.deny(format_args!(
                "the quoted text is not in {path} exactly as sent. This call works:\n{} {input}",
                self.call.tool
            ));
        }
        let context = format!(
            "lockgate: the quoted text was not in {path} exactly as sent, and one place matches it. The edit was made \
             there, with this text quoted: read the lines before you quote them again."
        );
        let made = Simulated { faithful: wanted.to_owned(), written: None };
        Ok(Some((made, CallRewrite { input, context })))
    }

    fn absolute(&self, path: &str) -> String {
        self.guard.absolute(&self.call.edit, path)
    }

    /// Denies the call, or warns of it where a denial would end the task.
    fn deny<T>(&self, reason: impl fmt::Display) -> Step<T> {
        Err(Stop::Answer(HookDecision::Deny(format!("{} {reason}", self.guard.denied(self.settings).head()))))
    }

    /// Describes a call of lockgate's own tool that turns one text into the other, or else the next step.
    fn own_edit(&self, path: &str, before: &[u8], wanted: &[u8]) -> String {
        let exact = rewrite::quote(before, wanted, TextHabit::Unknown).ok();
        exact
            .and_then(|own| self.guard.own_call(&texts::quote_arguments(path, &own.old, &own.new)))
            .unwrap_or_else(|| texts::smaller_parts(path))
    }

    /// Simulates the quotes of several files. If the quotes of one do not fit, the files are judged after the call.
    fn simulate_quotes(&self, quotes: &[FileQuote], files: Vec<(String, HostFile)>) -> CallPlan {
        let named = quotes.iter().map(|FileQuote { paths, quote }| {
            let paths: Vec<String> = paths.iter().map(|path| self.absolute(path)).collect();
            (paths, quote)
        });
        let named: Vec<(Vec<String>, &QuotedReplacement)> = named.collect();
        let draft = |(path, file): (String, HostFile)| {
            let own = named.iter().filter(|(paths, _)| paths.contains(&path));
            let own: Vec<QuotedReplacement> = own.map(|(_, quote)| (*quote).clone()).collect();
            let before = file.bytes.as_deref().filter(|_| !own.is_empty());
            let change =
                match before.map(|before| simulate::replace(before, &own, self.guard.event.host.habit())) {
                    Some(Simulation::Made(made)) => DraftChange::Made(made),
                    Some(Simulation::Missing | Simulation::Several(_) | Simulation::Unknown) | None => {
                        DraftChange::Unknown
                    }
                };
            HostDraft { path, file, change }
        };
        CallPlan { drafts: files.into_iter().map(draft).collect(), rewrite: None }
    }

    /// Simulates a patch, file by file.
    fn simulate_patch(&self, patch: &Patch, files: Vec<(String, HostFile)>) -> Step<CallPlan> {
        let mut drafts: Vec<HostDraft> = files
            .into_iter()
            .map(|(path, file)| HostDraft { path, file, change: DraftChange::Unknown })
            .collect();
        let mut other = patch.clone();
        let mut helped = Vec::new();
        for part in &mut other.files {
            let path = self.absolute(&part.path);
            // Two changes of one file are not simulated, and what is not simulated is not judged.
            if patch.paths().into_iter().filter(|name| self.absolute(name) == path).count() > 1 {
                return self.deny(format_args!(
                    "it changes {} more than once. Put all changes of that file into one section of the patch, and send \
                     it again.",
                    part.path
                ));
            }
            let Some(draft) = drafts.iter().find(|draft| draft.path == path) else {
                // The text of a file in no project, in another one, or of one that is too large, is not known here.
                if let Some(to) = part.change.move_to()
                    && drafts.iter().any(|draft| draft.path == self.absolute(to))
                {
                    let unread = self.unread.iter().find(|(name, _)| *name == path);
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
            let change = self.simulate_part(part, &path, before, &mut helped)?;
            match part.change.move_to() {
                None => set(&mut drafts, &path, change),
                Some(to) => {
                    if let DraftChange::Made(made) = change
                        && let Ok(text) = String::from_utf8(made.faithful)
                    {
                        set(&mut drafts, &self.absolute(to), DraftChange::Written(text));
                        set(&mut drafts, &path, DraftChange::Removed);
                    }
                }
            }
        }
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
        let wanted = match simulate::update(before, chunks) {
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

    /// Denies or reports an edit whose tool would change bytes outside of it. Where a smaller quote avoids that, the
    /// call is rewritten.
    pub(super) fn check_bytes(&self, plan: &mut CallPlan, notes: &mut Vec<String>) -> Step<()> {
        let by_tools = match self.guard.tools {
            OwnTools::Server => BytesAtRisk::Deny,
            OwnTools::CommandLine => BytesAtRisk::Report,
        };
        let host = self.guard.event.host;
        for draft in &mut plan.drafts {
            let Some(before) = draft.file.bytes.as_deref() else { continue };
            let (kept, written, arguments) = match &draft.change {
                DraftChange::Made(made) if made.is_at_risk() => {
                    if let Some(rewrite) = self.smaller_quote(before, &made.faithful) {
                        plan.rewrite = Some(rewrite);
                        let faithful = made.faithful.clone();
                        draft.change = DraftChange::Made(Simulated { faithful, written: None });
                        continue;
                    }
                    let arguments = keeping_call(&draft.file.path, before, &made.faithful, &self.call.edit);
                    (made.faithful.as_slice(), made.expected(), arguments)
                }
                // The model cannot have read such a file as it is.
                DraftChange::Written(text) if !is_utf8(before) => {
                    let arguments = json!({"path": draft.file.path, "content": text});
                    (before, text.as_bytes(), Some(arguments))
                }
                DraftChange::Made(_)
                | DraftChange::Written(_)
                | DraftChange::Removed
                | DraftChange::Unknown => continue,
            };
            let own = arguments.and_then(|arguments| self.guard.own_call(&arguments));
            let harm = match &self.call.edit {
                HostEdit::Notebook { .. } => texts::notebook_harm(kept, written),
                HostEdit::Replace { .. }
                | HostEdit::ReplaceInFiles { .. }
                | HostEdit::Write { .. }
                | HostEdit::Delete { .. }
                | HostEdit::Patch { .. }
                | HostEdit::Other { .. }
                | HostEdit::Unreadable { .. }
                | HostEdit::Ambiguous(_) => texts::harm(kept, written),
            };
            let describe = |own, state| texts::at_risk(host, &draft.file.path, &harm, own, state);
            match self.settings.bytes.unwrap_or(by_tools) {
                BytesAtRisk::Deny => {
                    let state = self.guard.denied(self.settings);
                    return Err(Stop::Answer(HookDecision::Deny(describe(own, state))));
                }
                BytesAtRisk::Report => notes.push(describe(None, EditState::Made)),
            }
        }
        Ok(())
    }

    /// Returns arguments with a quote of fewer lines, with which the tool keeps all other bytes.
    fn smaller_quote(&self, before: &[u8], wanted: &[u8]) -> Option<CallRewrite> {
        let HostEdit::Replace { fields: Some(fields), quotes, .. } = &self.call.edit else { return None };
        let host = self.guard.event.host;
        let is_possible = self.settings.drift == DriftedQuote::Rewrite
            && host.accepts_rewrite()
            && quotes.iter().all(|quote| quote.matches == QuoteMatches::Only);
        if !is_possible {
            return None;
        }
        let exact = rewrite::quote(before, wanted, host.habit()).ok()?;
        let input = Value::Object(fields.with_quote(&self.call.input, &exact)?);
        let context = "lockgate: the call was made with a quote of fewer lines, because the edit tool would have changed the line \
                       ends of the others."
            .to_owned();
        Some(CallRewrite { input, context })
    }
}

fn set(drafts: &mut [HostDraft], path: &str, change: DraftChange) {
    if let Some(draft) = drafts.iter_mut().find(|draft| draft.path == path) {
        draft.change = change;
    }
}

/// Returns the arguments of lockgate's own tool that make the edit and keep all other bytes.
fn keeping_call(path: &str, before: &[u8], faithful: &[u8], edit: &HostEdit) -> Option<Value> {
    if let Ok(exact) = rewrite::quote(before, faithful, TextHabit::Unknown) {
        return Some(texts::quote_arguments(path, &exact.old, &exact.new));
    }
    let HostEdit::Replace { quotes, .. } = edit else { return None };
    match quotes.as_slice() {
        [quote] if quote.matches == QuoteMatches::Only => {
            Some(texts::quote_arguments(path, &quote.old, &quote.new))
        }
        _ => None,
    }
}

fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
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

/// True if the new text lacks the line end that the quote has, so that the tool would join two lines, and lockgate's own
/// matching, which takes such a quote for whole lines, would not.
fn joins_lines(path: &str, before: &[u8], quotes: &[QuotedReplacement], made: &Simulated) -> bool {
    let [quote] = quotes else { return false };
    let is_short = quote.old.ends_with('\n') && !quote.new.is_empty() && !quote.new.ends_with('\n');
    is_short
        && matches!(locate::quote(path, before, quote), Located::Found(wanted) if wanted != made.faithful)
}
