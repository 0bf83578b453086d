//! The guard of one event: what the gates say to what the tool of the host would write, and what is answered. `plan` finds
//! what it would write, and `after` does the work after the call.
//!
//! Invariant: an edit is denied only for a reason that was proved: a protected path, a blocking finding in a text that
//! the tool would certainly write, bytes that it would certainly change, or a quote that certainly does not fit. Where a call
//! names several files for one, each of them counts as the one that the tool takes.

mod after;
mod claims;
mod combine;
mod paths;
mod plan;

pub use claims::{claim_calls, release_calls};
pub use combine::{combine, stricter};
pub use paths::absolute_path;

use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use crate::answer::{Guarded, HookDecision};
use crate::edit::HostEdit;
use crate::event::{Event, HostCall, Moment};
use crate::host::Host;
use crate::record::{CallRecord, ExpectedText, FileRecord};
use crate::simulate::{self, Simulated, Simulation};
use crate::texts::{self, EditState, Judged, OwnTools};
use lockgate_checks::{Outcome, Verdict, Watch};
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Expect, Mode, Request, Target};
use lockgate_engine::{HostFile, Report, Workspace, gate_summary};
use lockgate_error::{Code, Error};
use lockgate_policy::{ClineAnswer, HookSettings, OnFailure};
use lockgate_text::Version;

/// The guard of one event.
pub struct EventGuard<'a> {
    /// The workspace of the project.
    pub workspace: &'a Workspace,
    /// Cancels the gates of the event.
    pub watch: &'a Watch,
    /// The event to be answered.
    pub event: &'a Event,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// The folder that is guarded, without links.
    pub root: PathBuf,
    /// Where the model can make an edit with lockgate itself.
    pub tools: OwnTools,
    /// For each call of the event, whether this is the first hook that has it; `None` to find out when it matters.
    pub claims: Option<Vec<bool>>,
    /// The time at which the event arrived.
    pub started: Instant,
    /// Receives the settings of the policy as soon as they are known.
    pub on_settings: &'a (dyn Fn(HookSettings) + Sync),
}

/// The result of a step; an error ends the work on the event.
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

impl HostDraft {
    /// Creates the draft of a file that stays, or whose result is not known.
    fn unknown((path, file): (String, HostFile)) -> HostDraft {
        HostDraft { path, file, change: DraftChange::Unknown }
    }

    /// True if the gates judge the draft: it has a request.
    const fn is_judged(&self) -> bool {
        !matches!(self.change, DraftChange::Unknown)
    }
}

/// The change of a file.
enum DraftChange {
    /// The tool writes exactly these bytes.
    Made(Simulated),
    /// The tool writes a whole text.
    Written(String),
    Removed,
    /// The file stays, or the result is not known.
    Unknown,
}

impl From<Simulation> for DraftChange {
    fn from(simulation: Simulation) -> DraftChange {
        match simulation {
            Simulation::Made(made) => DraftChange::Made(made),
            Simulation::Missing | Simulation::Several(_) | Simulation::Unknown => DraftChange::Unknown,
        }
    }
}

/// The files that an edit names.
#[derive(Default)]
struct FilesRead {
    files: Vec<(String, HostFile)>,
    /// The others of the project, with the reasons why they could not be read.
    unread: Vec<(String, String)>,
}

impl EventGuard<'_> {
    /// Answers the event.
    pub async fn answer(&self) -> Guarded {
        let guarded = match self.event.moment {
            Moment::Before => self.before().await,
            Moment::After | Moment::AfterFailure => self.after().await,
        };
        let problem = guarded.problem.or_else(|| self.event.unread.clone());
        Guarded { problem, ..guarded }
    }

    /// Answers an event before its call.
    async fn before(&self) -> Guarded {
        let mut settings = None;
        let result = match self.event.calls.first() {
            Some(call) => self.judge_call(call, &mut settings).await,
            None => Ok(HookDecision::Pass),
        };
        let settings = settings.unwrap_or_else(|| self.settings_at_top());
        let (decision, problem) = match result {
            Ok(decision) | Err(Stop::Answer(decision)) => (decision, None),
            Err(Stop::Unjudged(reason)) => (unjudged(&reason, settings.fail), Some(reason)),
        };
        // A host may send a denied call again under the same id, and then it is denied again.
        if matches!(decision, HookDecision::Deny(_) | HookDecision::Forbid(_)) {
            release_calls(self.event, &self.root, self.workspace.tool_calls());
        }
        Guarded { decision, problem, cline: settings.cline }
    }

    fn settings_at_top(&self) -> HookSettings {
        self.workspace.hook_settings_at_top().unwrap_or_default()
    }

    /// What a denial does to the edit.
    fn denied(&self, settings: HookSettings) -> EditState {
        match (self.event.host, settings.cline) {
            (Host::Cline, ClineAnswer::Warn) => EditState::Warned,
            _ => EditState::Denied,
        }
    }

    async fn judge_call(&self, call: &HostCall, known: &mut Option<HookSettings>) -> Step<HookDecision> {
        let read = self.read_files(&call.edit, known).await?;
        let unjudged = match &call.edit {
            HostEdit::Unreadable { reason, .. } => Some(reason.clone()),
            _ => read.unread.first().map(|(_, reason)| reason.clone()),
        };
        let decision = self.judge_files(call, read, known.unwrap_or_default()).await?;
        match (&decision, unjudged) {
            // What was found in one file holds, whatever is in another.
            (HookDecision::Deny(_) | HookDecision::Forbid(_) | HookDecision::Blame(_), _) | (_, None) => {
                Ok(decision)
            }
            (HookDecision::Pass | HookDecision::Note(_) | HookDecision::Rewrite { .. }, Some(reason)) => {
                Err(Stop::Unjudged(reason))
            }
        }
    }

    async fn judge_files(
        &self,
        call: &HostCall,
        FilesRead { files, unread }: FilesRead,
        settings: HookSettings,
    ) -> Step<HookDecision> {
        if files.is_empty() || !self.is_first(call) {
            return Ok(HookDecision::Pass);
        }
        let planner = self.planner(call, settings, &unread);
        let mut plan = planner.simulate(files)?;
        self.leave_links(&mut plan.drafts).await;
        let mut notes = Vec::new();
        planner.check_bytes(&mut plan, &mut notes)?;
        leave_refused(&mut plan.drafts, settings.fail)?;
        let reports = self.judge(&mut plan.drafts, settings).await?;
        let judged: Vec<Judged<'_>> = reports
            .iter()
            .map(|report| Judged {
                path: &report.target.path,
                text: &report.change.draft,
                verdict: &report.verdict,
            })
            .collect();
        if reports.iter().any(|report| report.verdict.refuses()) {
            return Ok(HookDecision::Deny(texts::findings(&judged, self.denied(settings))));
        }
        notes.extend(self.withheld(reports.iter().map(|report| &report.verdict)));
        notes.extend(texts::allowed(&judged));
        let decision = match plan.rewrite.take() {
            Some(rewrite) => {
                notes.insert(0, rewrite.context);
                HookDecision::Rewrite { input: rewrite.input, context: notes.join("\n\n") }
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
    async fn read_files(&self, edit: &HostEdit, known: &mut Option<HookSettings>) -> Step<FilesRead> {
        let mut read = FilesRead::default();
        for path in self.paths(edit) {
            let file = match self.workspace.host_file(path.clone()).await {
                Ok(file) => file,
                Err(error) if error.code == Code::PathOutsideRoot => continue,
                Err(error) => match Stop::from(error) {
                    // One of the other files may be protected.
                    Stop::Unjudged(reason) => {
                        read.unread.push((path, reason));
                        continue;
                    }
                    stop @ Stop::Answer(_) => return Err(stop),
                },
            };
            let settings = known.map_or(file.settings, |settings| stricter(settings, file.settings));
            *known = Some(settings);
            (self.on_settings)(settings);
            if let Some(reason) = &file.confirmation {
                return Err(Stop::Answer(HookDecision::Forbid(needs_person(reason))));
            }
            read.files.push((path, file));
        }
        Ok(read)
    }

    /// Describes a call of lockgate's own tool for an edit; `None` if it is too long.
    fn own_call(&self, arguments: &Value) -> Option<String> {
        let is_here = self.folder.canonicalize().is_ok_and(|folder| folder.starts_with(&self.root));
        texts::own_call(self.tools, Some(self.root.as_path()).filter(|_| !is_here), arguments)
    }

    /// Judges the drafts together, without the files of a batch that become too large for lockgate. Stops if the gates do
    /// not end before the deadline and none has refused.
    async fn judge(&self, drafts: &mut [HostDraft], settings: HookSettings) -> Step<Vec<Report>> {
        let requests = |drafts: &[HostDraft]| -> Vec<Request> {
            drafts.iter().filter_map(|draft| self.request(draft)).collect()
        };
        let end = self.started + settings.deadline;
        // A call of one file is a single edit, in which some findings are tolerated.
        let reports = match <[Request; 1]>::try_from(requests(drafts)) {
            Ok([request]) => vec![self.workspace.edit(request, self.watch.with_end(end)).await?],
            Err(mut all) => loop {
                if all.is_empty() {
                    return Ok(Vec::new());
                }
                match self.workspace.edit_all(all, self.watch.with_end(end)).await {
                    Ok(reports) => break reports,
                    Err(error) => leave_too_large(drafts, error, settings.fail)?,
                }
                if Instant::now() >= end {
                    let reason = format!("the files were not planned within {:?}", settings.deadline);
                    return Err(Stop::Unjudged(reason));
                }
                all = requests(drafts);
            },
        };
        let is_late = Instant::now() >= end;
        let unfinished =
            |report: &Report| report.verdict.runs.iter().any(|run| run.outcome == Outcome::TimedOut);
        if is_late && reports.iter().any(unfinished) && !reports.iter().any(|report| report.verdict.refuses())
        {
            return Err(Stop::Unjudged(format!("the gates did not end within {:?}", settings.deadline)));
        }
        Ok(reports)
    }

    /// Leaves out the removal of links: the tool of a host removes the link itself, and the file that it leads to stays.
    async fn leave_links(&self, drafts: &mut [HostDraft]) {
        for draft in drafts {
            if matches!(draft.change, DraftChange::Removed)
                && self.workspace.link_target(draft.path.clone()).await.is_some()
            {
                draft.change = DraftChange::Unknown;
            }
        }
    }

    /// Returns the request that stands for a draft; `None` unless it is [judged](HostDraft::is_judged).
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
            mode: Mode::VerifyOnly,
            expect: version.map_or(Expect::Anything, Expect::Version),
            author: self.author("hook"),
            is_written_by_host: true,
            ..Request::new(Target::File(draft.path.clone()), edit)
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
        let is_judged = drafts.iter().all(HostDraft::is_judged);
        let gates = gate_summary(reports.iter().map(|report| &report.verdict));
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
            // After the call a link leads somewhere, so its target is not part of the key.
            None => {
                let paths = call.edit.paths().into_iter();
                let paths: Vec<String> =
                    paths.map(|path| absolute_path(&self.folder, &call.edit, path)).collect();
                paths.join("\0")
            }
        };
        format!("{} {session} {id} {}", host.name(), self.root.display())
    }

    /// Returns a note on gates that are not trusted, once for each session.
    fn withheld<'v>(&self, verdicts: impl Iterator<Item = &'v Verdict>) -> Option<String> {
        let note = texts::withheld(verdicts)?;
        let Event { host, session, .. } = self.event;
        let key = format!("trust {} {session} {}", host.name(), self.folder.display());
        self.workspace.tool_calls().claim(&key).unwrap_or(false).then_some(note)
    }
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

/// Leaves the files that lockgate itself would not write to the event after the call, because they cannot be judged as
/// edits of its own.
fn leave_refused(drafts: &mut [HostDraft], fail: OnFailure) -> Step<()> {
    for draft in drafts {
        match (&draft.file.refusal, fail) {
            (None, _) => {}
            (Some(error), OnFailure::Closed) => return Err(error.clone().into()),
            (Some(_), OnFailure::Open) => draft.change = DraftChange::Unknown,
        }
    }
    Ok(())
}

/// Leaves the file of a batch that would become too large to the event after the call. The error names it by the index of
/// its request.
fn leave_too_large(drafts: &mut [HostDraft], error: Error, fail: OnFailure) -> Step<()> {
    let entry =
        error.entry.filter(|_| error.code == Code::TooLarge).and_then(|entry| usize::try_from(entry).ok());
    match entry.and_then(|entry| drafts.iter_mut().filter(|draft| draft.is_judged()).nth(entry)) {
        Some(draft) if fail == OnFailure::Open => {
            draft.change = DraftChange::Unknown;
            Ok(())
        }
        Some(_) | None => Err(error.into()),
    }
}

fn denied_path(error: &Error) -> String {
    format!("lockgate denied this edit, and nothing was written: {}; {}.", error.message, error.next_step())
}

fn needs_person(reason: &str) -> String {
    format!(
        "lockgate denied this edit, and nothing was written: {reason}. Leave the file alone, or have a person make the edit with \
         `lockgate edit` in a terminal"
    )
}

/// Returns the version of a text in which `\r\n` counts as `\n`, and a last line end does not count.
fn text_version(bytes: &[u8]) -> String {
    let text = simulate::unix(&String::from_utf8_lossy(bytes));
    Version::hash(text.trim_end_matches('\n').as_bytes()).hex()
}
