//! The guard of one event: what the tool of the host would write, what the gates say to it, and what is answered.
//!
//! Invariant: an edit is denied only for a reason that was proved: a protected path, a blocking finding in a text that
//! the tool would certainly write, bytes that it would certainly change, or a quote that certainly does not fit.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::answer::{ClineDenial, HookDecision, with_patch};
use super::edit::{HostEdit, QuoteMatches};
use super::event::{Event, HostCall, Moment};
use super::host::{Host, TextHabit};
use super::locate::{self, Located};
use super::patch::{FilePatch, Patch, PatchChange};
use super::record::{CallRecord, ExpectedText, FileRecord};
use super::simulate::{self, Simulated, Simulation};
use super::texts::{self, EditState, Judged, OwnTools};
use super::{notebook, rewrite};
use crate::edit::Edit;
use crate::engine::{HostFile, Report, Workspace};
use crate::error::{Code, Error};
use crate::gate::{Outcome, Verdict, Watch};
use crate::policy::{BytesAtRisk, ClineAnswer, DriftedQuote, HookSettings, OnFailure};
use crate::request::{Author, Expect, FilePermissions, GateOptions, Mode, Request, Target};
use crate::text::Version;

/// The guard of one event.
pub struct EventGuard<'a> {
    /// The project.
    pub workspace: &'a Workspace,
    /// Cancels the gates.
    pub watch: &'a Watch,
    /// The event.
    pub event: &'a Event,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// The folder that is guarded, without links.
    pub root: PathBuf,
    /// Where the model can make an edit with lockgate itself.
    pub tools: OwnTools,
    /// The moment when the event came.
    pub started: Instant,
    /// Is told the settings of the policy as soon as they are known.
    pub on_settings: &'a (dyn Fn(HookSettings) + Sync),
}

/// The answer of a guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarded {
    /// The answer.
    pub decision: HookDecision,
    /// A line for standard error.
    pub problem: Option<String>,
    /// Whether a bad edit in Cline is cancelled.
    pub cline: ClineDenial,
}

/// What became of a step: go on, or answer at once.
type Step<T> = Result<T, Stop>;

/// The end of the work on an event.
#[derive(Debug)]
enum Stop {
    Answer(HookDecision),
    /// The edit could not be judged.
    Unjudged(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match error.code {
            Code::Protected | Code::NotConfirmed => Stop::Answer(HookDecision::Forbid(denied_path(&error))),
            Code::PathOutsideRoot => Stop::Answer(HookDecision::Pass),
            _ => Stop::Unjudged(format!("{}: {}", error.code.name(), error.message)),
        }
    }
}

/// A file of the call, and the text that it would have.
struct HostDraft {
    path: String,
    file: HostFile,
    change: DraftChange,
}

/// The change of a file.
enum DraftChange {
    /// These bytes.
    Made(Simulated),
    /// The whole text.
    Written(String),
    Removed,
    /// The file stays, or the result is not known.
    Unknown,
}

impl EventGuard<'_> {
    /// Answers an event before its call.
    pub async fn before(&self) -> Guarded {
        let Some(call) = self.event.calls.first() else {
            return self.guarded(HookDecision::Pass, None, None);
        };
        let mut settings = None;
        let result = self.judge_call(call, &mut settings).await;
        self.finish(result, settings)
    }

    fn finish(&self, result: Step<HookDecision>, settings: Option<HookSettings>) -> Guarded {
        let top = || self.workspace.policy_at_top().map(|policy| policy.hooks).unwrap_or_default();
        let settings = settings.unwrap_or_else(top);
        match result {
            Ok(decision) | Err(Stop::Answer(decision)) => self.guarded(decision, None, Some(settings)),
            Err(Stop::Unjudged(reason)) => {
                let decision = unjudged(&reason, settings.fail);
                self.guarded(decision, Some(reason), Some(settings))
            }
        }
    }

    fn guarded(
        &self,
        decision: HookDecision,
        problem: Option<String>,
        settings: Option<HookSettings>,
    ) -> Guarded {
        let cline = match settings.unwrap_or_default().cline {
            ClineAnswer::Warn => ClineDenial::Warns,
            ClineAnswer::Cancel => ClineDenial::Cancels,
        };
        Guarded { decision, problem, cline }
    }

    /// What a denial does to the edit.
    fn denied(&self, settings: HookSettings) -> EditState {
        match (self.event.host, settings.cline) {
            (Host::Cline, ClineAnswer::Warn) => EditState::Warned,
            _ => EditState::Denied,
        }
    }

    async fn judge_call(&self, call: &HostCall, known: &mut Option<HookSettings>) -> Step<HookDecision> {
        let files = self.read_files(&call.edit, known).await?;
        if files.is_empty() || !self.is_first(call) {
            return Ok(HookDecision::Pass);
        }
        let settings = known.unwrap_or_default();
        let mut plan = self.simulate(call, files, settings)?;
        let mut notes = Vec::new();
        self.check_bytes(call, &mut plan, settings, &mut notes)?;
        let reports = self.judge(&plan.drafts, settings).await?;
        let judged: Vec<Judged<'_>> = reports
            .iter()
            .map(|report| Judged { path: &report.path, text: &report.draft, verdict: &report.verdict })
            .collect();
        if reports.iter().any(|report| report.verdict.refuses()) {
            return Ok(HookDecision::Deny(texts::findings(&judged, self.denied(settings))));
        }
        notes.extend(self.withheld(reports.iter().map(|report| &report.verdict)));
        let decision = match plan.rewrite.take() {
            Some((input, context)) => {
                notes.insert(0, context);
                HookDecision::Rewrite { input, context: notes.join("\n\n") }
            }
            None if notes.is_empty() => HookDecision::Pass,
            None => HookDecision::Note(notes.join("\n\n")),
        };
        // opencode shows the model only what comes after the call.
        let note = if self.event.host == Host::OpenCode { notes.join("\n\n") } else { String::new() };
        self.keep(call, &plan.drafts, &reports, note);
        Ok(decision)
    }

    /// Reads the files that an edit names. Those outside of the project are left out.
    async fn read_files(
        &self,
        edit: &HostEdit,
        known: &mut Option<HookSettings>,
    ) -> Step<Vec<(String, HostFile)>> {
        let mut files: Vec<(String, HostFile)> = Vec::new();
        for path in self.paths(edit) {
            if files.iter().any(|(other, _)| *other == path) {
                continue;
            }
            let file = match self.workspace.host_file(path.clone()).await {
                Err(error) if error.code == Code::PathOutsideRoot => continue,
                result => result?,
            };
            let settings = known.map_or(file.settings, |settings| stricter(settings, file.settings));
            *known = Some(settings);
            (self.on_settings)(settings);
            if let Some(reason) = &file.confirmation {
                return Err(Stop::Answer(HookDecision::Forbid(needs_person(reason))));
            }
            files.push((path, file));
        }
        Ok(files)
    }

    /// Returns the paths of an edit, absolute.
    fn paths(&self, edit: &HostEdit) -> Vec<String> {
        edit.paths().into_iter().map(|path| self.absolute(edit, path)).collect()
    }

    fn absolute(&self, edit: &HostEdit, path: &str) -> String {
        let path = absolute_path(&self.folder, edit, path);
        if Path::new(&path).starts_with(&self.root) {
            return path;
        }
        // A link elsewhere may lead into the project.
        let real = Path::new(&path).canonicalize().ok().filter(|real| real.starts_with(&self.root));
        real.map_or(path, |real| real.to_string_lossy().into_owned())
    }

    /// True unless another hook of the same event has the call already.
    fn is_first(&self, call: &HostCall) -> bool {
        let Some(id) = self.event.call.as_ref().or(self.event.time.as_ref()) else { return true };
        let Event { host, moment, session, .. } = self.event;
        let input = Version::hash(call.input.to_string().as_bytes());
        let key = format!("{moment:?} {} {session} {id} {} {}", host.name(), call.tool, input.hex());
        // Without a state folder, each hook judges.
        self.workspace.tool_calls().claim(&key).unwrap_or(true)
    }

    /// Simulates the call.
    fn simulate(
        &self,
        call: &HostCall,
        files: Vec<(String, HostFile)>,
        settings: HookSettings,
    ) -> Step<CallPlan> {
        let habit = self.event.host.habit();
        match &call.edit {
            HostEdit::Patch { patch, .. } => return self.simulate_patch(call, patch, files, settings),
            HostEdit::Replace { .. }
            | HostEdit::Write { .. }
            | HostEdit::Delete { .. }
            | HostEdit::Notebook { .. }
            | HostEdit::Other { .. } => {}
        }
        let Some((path, file)) = files.into_iter().next() else { return Ok(CallPlan::default()) };
        let before = file.bytes.as_deref();
        let mut rewrite = None;
        let change = match (&call.edit, before) {
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
                    Simulation::Made(made) if is_helped && joins_lines(&path, before, quotes, &made) => {
                        match self.locate(call, &path, &file, settings)? {
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
                        match self.quote_exactly(call, &path, &file, &made.faithful, settings)? {
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
                        let found = if is_helped { self.locate(call, &path, &file, settings)? } else { None };
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
                | HostEdit::Patch { .. },
                _,
            ) => DraftChange::Unknown,
        };
        Ok(CallPlan { drafts: vec![HostDraft { path, file, change }], rewrite })
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
                let own = rewrite::quote(before, wanted, TextHabit::Unknown).and_then(|own| {
                    texts::own_call(self.tools, &texts::quote_arguments(path, &own.old, &own.new))
                });
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
            // Two changes of one file are not simulated.
            let is_only =
                patch.paths().into_iter().filter(|name| self.absolute(&call.edit, name) == path).count() == 1;
            let Some(at) = drafts.iter().position(|draft| draft.path == path).filter(|_| is_only) else {
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
            // Codex would take the first blank line.
            Simulation::Missing | Simulation::Several(_) if is_blank(chunks) => {
                return Err(Stop::Answer(HookDecision::Deny(format!(
                    "{} a chunk of the patch for {path} quotes nothing but blank lines, so its place is not known. Add lines \
                     of context.",
                    self.denied(settings).head()
                ))));
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
                let own = rewrite::quote(before, &wanted, TextHabit::Unknown).and_then(|own| {
                    texts::own_call(self.tools, &texts::quote_arguments(path, &own.old, &own.new))
                });
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
    fn check_bytes(
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
            let own = arguments.and_then(|arguments| texts::own_call(self.tools, &arguments));
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

    /// Judges the drafts together.
    async fn judge(&self, drafts: &[HostDraft], settings: HookSettings) -> Step<Vec<Report>> {
        let requests: Vec<Request> = drafts.iter().filter_map(|draft| self.request(draft)).collect();
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let end = self.started + settings.deadline;
        let reports = self.workspace.edit_all(requests, self.watch.with_end(end)).await?;
        let is_late = Instant::now() >= end;
        let unfinished =
            |report: &Report| report.verdict.runs.iter().any(|run| run.outcome == Outcome::TimedOut);
        if is_late && reports.iter().any(unfinished) && !reports.iter().any(|report| report.verdict.refuses())
        {
            return Err(Stop::Unjudged(format!("the gates did not end within {:?}", settings.deadline)));
        }
        Ok(reports)
    }

    /// Returns the request that stands for a draft; `None` if nothing is to be judged.
    fn request(&self, draft: &HostDraft) -> Option<Request> {
        let edit = match &draft.change {
            DraftChange::Made(made) => Edit::Restore(made.expected().to_vec()),
            DraftChange::Written(text) => match &draft.file.bytes {
                // A text in another encoding is replaced as a whole.
                Some(before) if std::str::from_utf8(before).is_err() => {
                    Edit::Restore(text.clone().into_bytes())
                }
                Some(_) | None => Edit::Content(text.clone()),
            },
            DraftChange::Removed => Edit::Remove,
            DraftChange::Unknown => return None,
        };
        let version = draft.file.bytes.as_ref().map(|bytes| Version::hash(bytes).hex());
        Some(Request {
            target: Target::File(draft.path.clone()),
            edit,
            mode: Mode::VerifyOnly,
            expect: version.map_or(Expect::Anything, Expect::Version),
            gate_options: GateOptions::default(),
            permissions: FilePermissions::default(),
            author: self.author("hook"),
        })
    }

    fn author(&self, tool: &str) -> Author {
        Author { tool: tool.to_owned(), name: self.event.host.name().to_owned(), confirmation_id: None }
    }

    /// Keeps what the event after the call needs.
    fn keep(&self, call: &HostCall, drafts: &[HostDraft], reports: &[Report], note: String) {
        let files = drafts.iter().filter(|draft| draft.file.journaled).map(|draft| FileRecord {
            path: draft.path.clone(),
            before: draft.file.bytes.clone(),
            mode: draft.file.mode,
            expected: match &draft.change {
                DraftChange::Made(made) => match &made.written {
                    Some(written) => ExpectedText::Version(Version::hash(written).hex()),
                    None => ExpectedText::Text(text_version(&made.faithful)),
                },
                DraftChange::Written(text) => ExpectedText::Text(text_version(text.as_bytes())),
                DraftChange::Removed => ExpectedText::Removed,
                DraftChange::Unknown => ExpectedText::Unknown,
            },
        });
        let is_judged = !drafts.iter().any(|draft| matches!(draft.change, DraftChange::Unknown));
        let gates = summary(reports.iter().map(|report| &report.verdict));
        let record = CallRecord { files: files.collect(), gates, is_judged, note };
        if !record.files.is_empty()
            && let Err(reason) = self.workspace.tool_calls().keep(&self.pair_key(call), &record.to_bytes())
        {
            tracing::warn!("the text before the edit is not kept: {reason}");
        }
    }

    /// Returns the key that the events before and after a call have in common.
    fn pair_key(&self, call: &HostCall) -> String {
        let Event { host, session, .. } = self.event;
        let id = match &self.event.call {
            Some(id) => id.clone(),
            None => self.paths(&call.edit).join("\0"),
        };
        format!("{} {session} {id}", host.name())
    }

    /// Returns a note on gates that are not trusted, once for each session.
    fn withheld<'v>(&self, verdicts: impl Iterator<Item = &'v Verdict>) -> Option<String> {
        let note = texts::withheld(verdicts)?;
        let Event { host, session, .. } = self.event;
        let key = format!("trust {} {session} {}", host.name(), self.folder.display());
        self.workspace.tool_calls().claim(&key).unwrap_or(false).then_some(note)
    }

    /// Answers an event after calls: records what was written, and helps with calls that failed.
    pub async fn after(&self) -> Guarded {
        let mut texts = Vec::new();
        let (mut is_bad, mut problem) = (false, None);
        for call in &self.event.calls {
            let result = match (&call.failure, self.event.moment) {
                (Some(failure), _) => {
                    Ok(self.help(call, failure).await.into_iter().map(AfterText::Note).collect())
                }
                (None, Moment::AfterFailure | Moment::Before) => Ok(Vec::new()),
                (None, Moment::After) if self.is_first(call) => self.record(call).await,
                (None, Moment::After) => Ok(Vec::new()),
            };
            match result {
                Ok(found) => {
                    for text in found {
                        is_bad |= matches!(text, AfterText::Bad(_));
                        texts.push(text.into_text());
                    }
                }
                Err(Stop::Answer(_)) => {}
                Err(Stop::Unjudged(reason)) => problem = Some(reason),
            }
        }
        let text = texts.join("\n\n");
        let decision = match (text.is_empty(), is_bad) {
            (true, _) => HookDecision::Pass,
            (false, true) => HookDecision::Blame(text),
            (false, false) => HookDecision::Note(text),
        };
        let settings = self.workspace.policy_at_top().map(|policy| policy.hooks).ok();
        self.guarded(decision, problem, settings)
    }

    /// Records the files that a call wrote, and judges them if that was not done before.
    async fn record(&self, call: &HostCall) -> Step<Vec<AfterText>> {
        let record = self.workspace.tool_calls().take(&self.pair_key(call));
        let record = record.and_then(|bytes| CallRecord::from_bytes(&bytes));
        let CallRecord { files, gates, is_judged, note } = record.unwrap_or_default();
        let mut texts = Vec::new();
        if !note.is_empty() {
            texts.push(AfterText::Note(note));
        }
        let mut changes = Vec::new();
        for path in self.paths(&call.edit) {
            let known = files.iter().find(|file| file.path == path);
            let file = match self.workspace.host_file(path.clone()).await {
                Ok(file) => file,
                Err(_) => continue,
            };
            let Some(known) = known else {
                changes.push(unknown_change(path));
                continue;
            };
            if known.before == file.bytes {
                continue;
            }
            let differs = differs(&known.expected, file.bytes.as_deref());
            if differs {
                texts.push(AfterText::Note(format!(
                    "{} is not as this edit leaves it: a formatter or another program has changed it as well. Read it before the \
                     next edit.",
                    file.path
                )));
            }
            if (differs || !is_judged) && file.bytes.is_some() {
                texts.extend(self.judge_written(&path, known).await?);
            }
            let before = match &known.before {
                Some(before) => crate::engine::BytesBefore::Bytes(before.clone()),
                None => crate::engine::BytesBefore::Absent,
            };
            changes.push(crate::engine::HostChange { path, before, mode: known.mode });
        }
        if !changes.is_empty() {
            self.workspace.record_host_edit(changes, self.author(&call.tool), gates).await?;
        }
        Ok(texts)
    }

    async fn judge_written(&self, path: &str, known: &FileRecord) -> Step<Vec<AfterText>> {
        let end = self.started
            + self.workspace.policy_at_top().map(|policy| policy.hooks).unwrap_or_default().deadline;
        let watch = self.watch.with_end(end);
        let checked = self.workspace.judge_written(path.to_owned(), known.before.clone(), watch).await?;
        if !checked.verdict.refuses() {
            return Ok(Vec::new());
        }
        let judged = Judged { path: &checked.path, text: &checked.text, verdict: &checked.verdict };
        Ok(vec![AfterText::Bad(texts::findings(&[judged], EditState::Made))])
    }

    /// Helps with a call that failed because of its quote.
    async fn help(&self, call: &HostCall, failure: &str) -> Option<String> {
        drop(self.workspace.tool_calls().take(&self.pair_key(call)));
        let HostEdit::Replace { quotes, fields, .. } = &call.edit else { return None };
        let [quote] = quotes.as_slice() else { return None };
        let path = self.paths(&call.edit).into_iter().next()?;
        let file = self.workspace.host_file(path.clone()).await.ok()?;
        let before = file.bytes.as_deref()?;
        let own =
            |old: &str, new: &str| texts::own_call(self.tools, &texts::quote_arguments(&file.path, old, new));
        if failure.contains("UTF-8") || failure.contains("utf-8") {
            let intro = format!("lockgate keeps the encoding of {}.", file.path);
            return Some(format!("{intro} {}", own(&quote.old, &quote.new)?));
        }
        if !["not found", "occurrence", "match", "find"]
            .iter()
            .any(|word| failure.to_lowercase().contains(word))
        {
            return None;
        }
        match simulate::replace(before, quotes, TextHabit::Unknown) {
            Simulation::Missing | Simulation::Several(_) => {}
            // The reason is another one.
            Simulation::Made(_) | Simulation::Unknown => return None,
        }
        match locate::quote(&file.path, before, quote) {
            Located::Found(wanted) => {
                let exact = rewrite::quote(before, &wanted, TextHabit::Unknown)?;
                let mut input = call.input.as_object()?.clone();
                if let Some(fields) = fields {
                    input.insert(fields.old.to_owned(), exact.old.as_str().into());
                    input.insert(fields.new.to_owned(), exact.new.as_str().into());
                }
                let again = Value::Object(input).to_string();
                let again = if again.len() > 2000 {
                    String::new()
                } else {
                    format!(" This call works:\n{} {again}", call.tool)
                };
                let own = own(&exact.old, &exact.new).filter(|_| self.tools == OwnTools::Server);
                let own = own.map(|own| format!("\nOr: {own}")).unwrap_or_default();
                Some(format!(
                    "lockgate: the quoted text is not in {} exactly as sent, and one place matches it.{again}{own}",
                    file.path
                ))
            }
            Located::Rejected(error) => Some(texts::rejection(&error, &file.path, host_call(call))),
            Located::Same | Located::Unknown => None,
        }
    }
}

/// The drafts of a call, and other arguments for it.
#[derive(Default)]
struct CallPlan {
    drafts: Vec<HostDraft>,
    rewrite: Option<(Value, String)>,
}

/// A text for the model after a call.
enum AfterText {
    Note(String),
    /// The file has new findings that block.
    Bad(String),
}

impl AfterText {
    fn into_text(self) -> String {
        match self {
            AfterText::Note(text) | AfterText::Bad(text) => text,
        }
    }
}

/// Returns a path of an edit, absolute: relative paths start from the folder of the session, or from that of a command.
pub fn absolute_path(folder: &Path, edit: &HostEdit, path: &str) -> String {
    let folder = match edit {
        HostEdit::Patch { folder: Some(own), .. } => folder.join(own),
        HostEdit::Patch { folder: None, .. }
        | HostEdit::Replace { .. }
        | HostEdit::Write { .. }
        | HostEdit::Delete { .. }
        | HostEdit::Notebook { .. }
        | HostEdit::Other { .. } => folder.to_owned(),
    };
    folder.join(path).to_string_lossy().into_owned()
}

/// The decision on an edit that could not be judged.
pub fn unjudged(reason: &str, fail: OnFailure) -> HookDecision {
    match fail {
        OnFailure::Open => HookDecision::Pass,
        OnFailure::Closed => HookDecision::Forbid(format!(
            "lockgate denied this edit, and nothing was written: it could not be judged ({reason}), and the policy says \
             `fail: closed`."
        )),
    }
}

/// Returns the settings that two policies both allow.
fn stricter(one: HookSettings, other: HookSettings) -> HookSettings {
    let closed = [one.fail, other.fail].contains(&OnFailure::Closed);
    let denied = [one.bytes, other.bytes].contains(&Some(BytesAtRisk::Deny));
    let kept = [one.drift, other.drift].contains(&DriftedQuote::Keep);
    let cancelled = [one.cline, other.cline].contains(&ClineAnswer::Cancel);
    HookSettings {
        drift: if kept { DriftedQuote::Keep } else { DriftedQuote::Rewrite },
        bytes: if denied { Some(BytesAtRisk::Deny) } else { one.bytes.or(other.bytes) },
        fail: if closed { OnFailure::Closed } else { OnFailure::Open },
        deadline: one.deadline.min(other.deadline),
        cline: if cancelled { ClineAnswer::Cancel } else { ClineAnswer::Warn },
    }
}

fn denied_path(error: &Error) -> String {
    format!("lockgate denied this edit, and nothing was written: {}. {}", error.message, error.next_step())
}

fn needs_person(reason: &str) -> String {
    format!(
        "lockgate denied this edit, and nothing was written: {reason}. Leave the file alone, or have a person make the edit with \
         `lockgate edit` in a terminal"
    )
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

/// Returns the form of a call with a single quote, for a proposal.
fn host_call(call: &HostCall) -> Option<texts::HostCallForm> {
    let HostEdit::Replace { fields: Some(fields), .. } = &call.edit else { return None };
    let names =
        ["Edit", "replace", "edit", "StrReplace", "replace_string_in_file", "editor", "replace_file_content"];
    let tool = names.into_iter().find(|name| *name == call.tool)?;
    let arguments = call.input.as_object()?.clone();
    Some(texts::HostCallForm { tool, arguments, old: fields.old, new: fields.new })
}

fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// True if a chunk of a patch quotes blank lines only, so that its place is not known.
fn is_blank(chunks: &[super::patch::Chunk]) -> bool {
    chunks.iter().any(|chunk| !chunk.old.is_empty() && chunk.old.iter().all(|line| line.trim().is_empty()))
}

/// True if the new text lacks the line end that the quote has, so that the tool would join two lines, and lockgate's own
/// matching, which takes such a quote for whole lines, would not.
fn joins_lines(path: &str, before: &[u8], quotes: &[super::edit::Quote], made: &Simulated) -> bool {
    let [quote] = quotes else { return false };
    let is_short = quote.old.ends_with('\n') && !quote.new.is_empty() && !quote.new.ends_with('\n');
    is_short
        && matches!(locate::quote(path, before, quote), Located::Found(wanted) if wanted != made.faithful)
}

fn unknown_change(path: String) -> crate::engine::HostChange {
    crate::engine::HostChange { path, before: crate::engine::BytesBefore::Unknown, mode: None }
}

/// Returns the version of a text in which `\r\n` counts as `\n`, and a last line end does not count.
fn text_version(bytes: &[u8]) -> String {
    let text = simulate::unix(&String::from_utf8_lossy(bytes));
    Version::hash(text.trim_end_matches('\n').as_bytes()).hex()
}

/// True if a file is certainly not as it was expected.
fn differs(expected: &ExpectedText, now: Option<&[u8]>) -> bool {
    match (expected, now) {
        (ExpectedText::Unknown, _) | (ExpectedText::Removed, None) => false,
        (ExpectedText::Version(version), Some(now)) => Version::hash(now).hex() != *version,
        (ExpectedText::Text(version), Some(now)) => text_version(now) != *version,
        (ExpectedText::Removed, Some(_)) | (ExpectedText::Version(_) | ExpectedText::Text(_), None) => true,
    }
}

/// Summarises the gates that ran, for the journal.
fn summary<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in verdicts.flat_map(|verdict| &verdict.runs) {
        let name = format!("{} {}", run.gate, run.outcome.name());
        if matches!(run.outcome, Outcome::Passed | Outcome::Found | Outcome::Fixed) && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names.join(", ").chars().take(200).collect()
}
