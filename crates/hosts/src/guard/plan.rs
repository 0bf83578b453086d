//! What the tool of the host would write: its call simulated on the current files, and other arguments for a call that
//! would miss its place or change other bytes.

use serde_json::Value;

use super::{CallPlan, DraftChange, EventGuard, HostDraft, Step, Stop, host_call};
use crate::answer::{HookDecision, with_patch};
use crate::edit::{FileQuote, HostEdit, QuoteMatches, QuotedReplacement};
use crate::event::HostCall;
use crate::host::TextHabit;
use crate::locate::{self, Located};
use crate::patch::{Chunk, FilePatch, Patch, PatchChange};
use crate::simulate::{self, Simulated, Simulation};
use crate::texts::{self, EditState, OwnTools};
use crate::{notebook, rewrite};
use lockgate_engine::HostFile;
use lockgate_policy::{BytesAtRisk, DriftedQuote, HookSettings};

impl EventGuard<'_> {
    /// Simulates the call on the files, and quotes the text exactly where the host's tool would not find it.
    pub(super) fn simulate(
        &self,
        call: &HostCall,
        files: Vec<(String, HostFile)>,
        settings: HookSettings,
    ) -> Step<CallPlan> {
        match &call.edit {
            HostEdit::Patch { patch, .. } => return self.simulate_patch(call, patch, files, settings),
            HostEdit::ReplaceInFiles { quotes, .. } => {
                return Ok(self.simulate_quotes(call, quotes, files));
            }
            HostEdit::Ambiguous(edits) => match edits.first().filter(|_| self.paths(&call.edit).len() == 1) {
                // The names are spellings of one path.
                Some(edit) => {
                    let call = HostCall { edit: edit.clone(), ..call.clone() };
                    return self.simulate(&call, files, settings);
                }
                None => return self.simulate_each(call, edits, files, settings),
            },
            HostEdit::Replace { .. }
            | HostEdit::Write { .. }
            | HostEdit::Delete { .. }
            | HostEdit::Notebook { .. }
            | HostEdit::Other { .. } => {}
        }
        let Some((path, file)) = files.into_iter().next() else { return Ok(CallPlan::default()) };
        let (change, rewrite) = self.simulate_file(call, &call.edit, &path, &file, settings)?;
        Ok(CallPlan { drafts: vec![HostDraft { path, file, change }], rewrite })
    }

    /// Simulates the edit of each file that the call names, as the tool may take any of them.
    fn simulate_each(
        &self,
        call: &HostCall,
        edits: &[HostEdit],
        files: Vec<(String, HostFile)>,
        settings: HookSettings,
    ) -> Step<CallPlan> {
        let (mut drafts, mut unjudged) = (Vec::new(), None);
        for (path, file) in files {
            let is_of_file = |edit: &&HostEdit| {
                edit.paths().into_iter().any(|name| self.absolute(&call.edit, name) == path)
            };
            let edit = edits.iter().find(is_of_file);
            let change = match edit.map(|edit| self.simulate_file(call, edit, &path, &file, settings)) {
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
            Some(stop) if drafts.iter().all(|draft| matches!(draft.change, DraftChange::Unknown)) => {
                Err(stop)
            }
            Some(_) | None => Ok(CallPlan { drafts, rewrite: None }),
        }
    }

    /// Simulates the edit of one file. Returns other arguments for the call, too, if its quote differs from the file.
    fn simulate_file(
        &self,
        call: &HostCall,
        edit: &HostEdit,
        path: &str,
        file: &HostFile,
        settings: HookSettings,
    ) -> Step<(DraftChange, Option<(Value, String)>)> {
        let habit = self.event.host.habit();
        let before = file.bytes.as_deref();
        let mut rewrite = None;
        let change = match (edit, before) {
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
                let is_helped =
                    self.event.host.fires_before_search() && settings.drift == DriftedQuote::Rewrite;
                match simulate::replace(before, quotes, habit) {
                    Simulation::Made(made) if is_helped && joins_lines(path, before, quotes, &made) => {
                        match self.locate(call, path, file, settings)? {
                            Some((made, new)) => {
                                rewrite = Some(new);
                                DraftChange::Made(made)
                            }
                            None => DraftChange::Made(made),
                        }
                    }
                    // A tool of known habits does not find the quote, because line ends differ.
                    Simulation::Made(made)
                        if is_helped
                            && habit != TextHabit::Unknown
                            && made.written.is_none()
                            && is_utf8(before) =>
                    {
                        match self.quote_exactly(call, path, file, &made.faithful, settings)? {
                            Some((made, new)) => {
                                rewrite = Some(new);
                                DraftChange::Made(made)
                            }
                            None => DraftChange::Made(made),
                        }
                    }
                    Simulation::Made(made) => DraftChange::Made(made),
                    Simulation::Unknown => DraftChange::Unknown,
                    Simulation::Missing | Simulation::Several(_) => {
                        let found = if is_helped { self.locate(call, path, file, settings)? } else { None };
                        match found {
                            Some((made, new)) => {
                                rewrite = Some(new);
                                DraftChange::Made(made)
                            }
                            None => DraftChange::Unknown,
                        }
                    }
                }
            }
            (
                HostEdit::Delete { .. }
                | HostEdit::Notebook { .. }
                | HostEdit::Other { .. }
                | HostEdit::ReplaceInFiles { .. }
                | HostEdit::Patch { .. }
                | HostEdit::Ambiguous(_),
                _,
            ) => DraftChange::Unknown,
        };
        Ok((change, rewrite))
    }

    /// Finds the place of a quote that differs from the file; `None` if the quote is one that is not helped.
    fn locate(
        &self,
        call: &HostCall,
        path: &str,
        file: &HostFile,
        settings: HookSettings,
    ) -> Step<Option<(Simulated, (Value, String))>> {
        let HostEdit::Replace { quotes, .. } = &call.edit else { return Ok(None) };
        let (Some(before), [quote]) = (&file.bytes, quotes.as_slice()) else { return Ok(None) };
        match locate::quote(path, before, quote) {
            Located::Found(wanted) => self.quote_exactly(call, path, file, &wanted, settings),
            Located::Same | Located::Unknown => Ok(None),
            Located::Rejected(error) => {
                let text = texts::rejection(&error, path, host_call(call));
                Err(Stop::Answer(HookDecision::Deny(text)))
            }
        }
    }

    /// Returns arguments with which the tool writes the wanted bytes; denies the call if there are none. `None` if what
    /// the tool does with this file is not known.
    fn quote_exactly(
        &self,
        call: &HostCall,
        path: &str,
        file: &HostFile,
        wanted: &[u8],
        settings: HookSettings,
    ) -> Step<Option<(Simulated, (Value, String))>> {
        let HostEdit::Replace { quotes, fields, .. } = &call.edit else { return Ok(None) };
        let (Some(before), [quote]) = (&file.bytes, quotes.as_slice()) else { return Ok(None) };
        let (host, habit) = (self.event.host, self.event.host.habit());
        let exact = rewrite::quote(before, wanted, habit);
        if exact.is_none() && matches!(habit, TextHabit::Unknown | TextHabit::Lossy) {
            return Ok(None);
        }
        let rewritten = exact.as_ref().zip(fields.as_ref()).and_then(|(exact, fields)| {
            let mut input = call.input.as_object()?.clone();
            input.insert(fields.old.to_owned(), exact.old.as_str().into());
            input.insert(fields.new.to_owned(), exact.new.as_str().into());
            for (name, value) in &mut input {
                // The quote now has all places in one.
                if quote.matches == QuoteMatches::Every && value.is_boolean() && name != fields.old {
                    *value = Value::Bool(false);
                }
            }
            Some(Value::Object(input))
        });
        match rewritten {
            Some(input) if host.accepts_rewrite() => {
                let context = format!(
                    "lockgate: the quoted text was not in {path} exactly as sent, and one place matches it. The edit was made \
                     there, with this text quoted: read the lines before you quote them again."
                );
                Ok(Some((Simulated { faithful: wanted.to_owned(), written: None }, (input, context))))
            }
            Some(input) => Err(Stop::Answer(HookDecision::Deny(format!(
                "{} the quoted text is not in {path} exactly as sent. This call works:\n{} {input}",
                self.denied(settings).head(),
                call.tool
            )))),
            None if exact.is_some() => {
                let exact = exact.map(|exact| serde_json::json!({"old": exact.old, "new": exact.new}));
                Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} the quoted text is not in {path} exactly as sent. These texts work:\n{}",
                    self.denied(settings).head(),
                    exact.unwrap_or_default()
                ))))
            }
            None => {
                let own = rewrite::quote(before, wanted, TextHabit::Unknown)
                    .and_then(|own| self.own_call(&texts::quote_arguments(path, &own.old, &own.new)));
                let own = own.unwrap_or_else(|| texts::smaller_parts(path));
                Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} the quoted text is not in {path} exactly as sent, and the edit tool of {} cannot change these lines \
                     without changing others.\n{own}",
                    self.denied(settings).head(),
                    host.name()
                ))))
            }
        }
    }

    /// Simulates the quotes of several files. If the quotes of one do not fit, the files are judged after the call.
    fn simulate_quotes(
        &self,
        call: &HostCall,
        quotes: &[FileQuote],
        files: Vec<(String, HostFile)>,
    ) -> CallPlan {
        let named = quotes.iter().map(|quote| (self.absolute(&call.edit, &quote.path), &quote.quote));
        let named: Vec<(String, &QuotedReplacement)> = named.collect();
        let draft = |(path, file): (String, HostFile)| {
            let own = named.iter().filter(|(other, _)| *other == path);
            let own: Vec<QuotedReplacement> = own.map(|(_, quote)| (*quote).clone()).collect();
            let before = file.bytes.as_deref().filter(|_| !own.is_empty());
            let change = match before.map(|before| simulate::replace(before, &own, self.event.host.habit())) {
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
    fn simulate_patch(
        &self,
        call: &HostCall,
        patch: &Patch,
        files: Vec<(String, HostFile)>,
        settings: HookSettings,
    ) -> Step<CallPlan> {
        let mut drafts: Vec<HostDraft> = files
            .into_iter()
            .map(|(path, file)| HostDraft { path, file, change: DraftChange::Unknown })
            .collect();
        let mut other = patch.clone();
        let mut helped = Vec::new();
        for part in &mut other.files {
            let path = self.absolute(&call.edit, &part.path);
            // Two changes of one file are not simulated, and what is not simulated is not judged.
            if patch.paths().into_iter().filter(|name| self.absolute(&call.edit, name) == path).count() > 1 {
                return Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} it changes {} more than once. Put all changes of that file into one section of the patch, and send \
                     it again.",
                    self.denied(settings).head(),
                    part.path
                ))));
            }
            let Some(at) = drafts.iter().position(|draft| draft.path == path) else {
                // The text of a file in no project, or in another one, is not read here.
                if let PatchChange::Update { move_to: Some(to), .. } = &part.change
                    && drafts.iter().any(|draft| draft.path == self.absolute(&call.edit, to))
                {
                    return Err(Stop::Answer(HookDecision::Deny(format!(
                        "{} it moves {} from outside of the project to {to}, and what it would write there cannot be \
                         judged. Send a patch that adds {to} with its text, and one that deletes the other file.",
                        self.denied(settings).head(),
                        part.path
                    ))));
                }
                continue;
            };
            let change = self.simulate_part(
                part,
                &path,
                drafts.get(at).map(|draft| &draft.file),
                settings,
                &mut helped,
            )?;
            let move_to = match &part.change {
                PatchChange::Update { move_to: Some(to), .. } => Some(self.absolute(&call.edit, to)),
                PatchChange::Update { move_to: None, .. } | PatchChange::Add(_) | PatchChange::Delete => None,
            };
            match move_to {
                None => set(&mut drafts, &path, change),
                Some(to) => {
                    let text = match change {
                        DraftChange::Made(made) => String::from_utf8(made.faithful).ok(),
                        DraftChange::Written(_) | DraftChange::Removed | DraftChange::Unknown => None,
                    };
                    if let Some(text) = text {
                        set(&mut drafts, &to, DraftChange::Written(text));
                        set(&mut drafts, &path, DraftChange::Removed);
                    }
                }
            }
        }
        if helped.is_empty() {
            return Ok(CallPlan { drafts, rewrite: None });
        }
        let Some(input) = with_patch(&call.input, &call.edit, &other.to_string()) else {
            return Err(Stop::Answer(HookDecision::Deny(format!(
                "{} lines of the patch are not in {} exactly as sent. This patch works:\n{other}",
                self.denied(settings).head(),
                helped.join(", ")
            ))));
        };
        let context = format!(
            "lockgate: lines of the patch were not in {} exactly as sent, and one place matches them. The patch was applied \
             there, with other lines of context: read the lines before you patch them again.",
            helped.join(", ")
        );
        Ok(CallPlan { drafts, rewrite: Some((input, context)) })
    }

    /// Simulates the change of one file. Where its lines differ from the file, the chunks are replaced by those that fit.
    fn simulate_part(
        &self,
        part: &mut FilePatch,
        path: &str,
        file: Option<&HostFile>,
        settings: HookSettings,
        helped: &mut Vec<String>,
    ) -> Step<DraftChange> {
        let before = file.and_then(|file| file.bytes.as_deref());
        let (chunks, before) = match (&mut part.change, before) {
            (PatchChange::Add(text), _) => return Ok(DraftChange::Written(text.clone())),
            (PatchChange::Delete, Some(_)) => return Ok(DraftChange::Removed),
            (PatchChange::Update { chunks, .. }, Some(before)) => (chunks, before),
            (PatchChange::Delete | PatchChange::Update { .. }, None) => return Ok(DraftChange::Unknown),
        };
        let wanted = match simulate::update(before, chunks) {
            // Codex would take the first blank line.
            Simulation::Made(_) | Simulation::Missing | Simulation::Several(_)
                if settings.drift == DriftedQuote::Rewrite && is_blank(chunks) =>
            {
                return Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} a chunk of the patch for {path} quotes nothing but blank lines, so its place is not known. Add lines \
                     of context.",
                    self.denied(settings).head()
                ))));
            }
            Simulation::Made(made) if made.is_at_risk() && settings.drift == DriftedQuote::Rewrite => {
                match rewrite::chunks(before, &made.faithful) {
                    Some(_) => made.faithful,
                    None => return Ok(DraftChange::Made(made)),
                }
            }
            Simulation::Made(made) => return Ok(DraftChange::Made(made)),
            Simulation::Unknown => return Ok(DraftChange::Unknown),
            Simulation::Missing | Simulation::Several(_) if settings.drift == DriftedQuote::Keep => {
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
            Some(exact) => {
                *chunks = exact;
                helped.push(part.path.clone());
                Ok(DraftChange::Made(Simulated { faithful: wanted, written: None }))
            }
            None => {
                let own = rewrite::quote(before, &wanted, TextHabit::Unknown)
                    .and_then(|own| self.own_call(&texts::quote_arguments(path, &own.old, &own.new)));
                let own = own.unwrap_or_else(|| texts::smaller_parts(path));
                Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} lines of the patch are not in {path} exactly as sent, and apply_patch cannot change these lines without \
                     changing others.\n{own}",
                    self.denied(settings).head()
                ))))
            }
        }
    }

    /// Denies or reports an edit whose tool would change bytes outside of it. Where a smaller quote avoids that, the
    /// call is rewritten.
    pub(super) fn check_bytes(
        &self,
        call: &HostCall,
        plan: &mut CallPlan,
        settings: HookSettings,
        notes: &mut Vec<String>,
    ) -> Step<()> {
        let by_tools = match self.tools {
            OwnTools::Server => BytesAtRisk::Deny,
            OwnTools::CommandLine => BytesAtRisk::Report,
        };
        let host = self.event.host;
        for draft in &mut plan.drafts {
            let Some(before) = draft.file.bytes.as_deref() else { continue };
            let written = match &draft.change {
                DraftChange::Made(made) if made.is_at_risk() => made.expected().to_vec(),
                // The model cannot have read such a file as it is.
                DraftChange::Written(text) if std::str::from_utf8(before).is_err() => {
                    text.clone().into_bytes()
                }
                DraftChange::Made(_)
                | DraftChange::Written(_)
                | DraftChange::Removed
                | DraftChange::Unknown => {
                    continue;
                }
            };
            if let DraftChange::Made(made) = &draft.change
                && let Some((input, context)) = self.smaller_quote(call, before, &made.faithful, settings)
            {
                plan.rewrite = Some((input, context));
                draft.change =
                    DraftChange::Made(Simulated { faithful: made.faithful.clone(), written: None });
                continue;
            }
            let arguments = match &draft.change {
                DraftChange::Made(made) => keeping_call(&draft.file.path, before, &made.faithful, &call.edit),
                DraftChange::Written(text) => {
                    Some(serde_json::json!({"path": draft.file.path, "content": text}))
                }
                DraftChange::Removed | DraftChange::Unknown => None,
            };
            let own = arguments.and_then(|arguments| self.own_call(&arguments));
            let describe = |own, state| texts::at_risk(host, &draft.file.path, before, &written, own, state);
            match settings.bytes.unwrap_or(by_tools) {
                BytesAtRisk::Deny => {
                    return Err(Stop::Answer(HookDecision::Deny(describe(own, self.denied(settings)))));
                }
                BytesAtRisk::Report => notes.push(describe(None, EditState::Made)),
            }
        }
        Ok(())
    }

    /// Returns arguments with a quote of fewer lines, with which the tool keeps all other bytes.
    fn smaller_quote(
        &self,
        call: &HostCall,
        before: &[u8],
        wanted: &[u8],
        settings: HookSettings,
    ) -> Option<(Value, String)> {
        let HostEdit::Replace { fields: Some(fields), quotes, .. } = &call.edit else { return None };
        let host = self.event.host;
        let is_possible = settings.drift == DriftedQuote::Rewrite
            && host.accepts_rewrite()
            && quotes.iter().all(|quote| quote.matches == QuoteMatches::Only);
        let exact = rewrite::quote(before, wanted, host.habit()).filter(|_| is_possible)?;
        let mut input = call.input.as_object()?.clone();
        input.insert(fields.old.to_owned(), exact.old.into());
        input.insert(fields.new.to_owned(), exact.new.into());
        let context = "lockgate: the call was made with a quote of fewer lines, because the edit tool would have changed the line \
                       ends of the others."
            .to_owned();
        Some((Value::Object(input), context))
    }
}

fn set(drafts: &mut [HostDraft], path: &str, change: DraftChange) {
    if let Some(draft) = drafts.iter_mut().find(|draft| draft.path == path) {
        draft.change = change;
    }
}

/// Returns the arguments of lockgate's own tool that make the edit and keep all other bytes.
fn keeping_call(path: &str, before: &[u8], faithful: &[u8], edit: &HostEdit) -> Option<Value> {
    if let Some(exact) = rewrite::quote(before, faithful, TextHabit::Unknown) {
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
