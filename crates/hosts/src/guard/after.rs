//! The work after calls of the host: the journal gets what was written, and a call that failed gets help.

use std::path::Path;
use std::slice;

use serde_json::{Value, json};

use super::combine::combine_decisions;
use super::{EventGuard, Step, Stop, text_version};
use crate::answer::{Guarded, HookDecision};
use crate::event::{HostCall, Moment};
use crate::host::TextHabit;
use crate::locate::{self, Located};
use crate::record::{CallRecord, ExpectedText, FileRecord};
use crate::rewrite;
use crate::simulate::{self, Simulation};
use crate::texts::{self, EditState, Judged, OwnTools};
use lockgate_engine::{BytesBefore, CheckedFile, HostChange, gate_summary, link_target};
use lockgate_text::Version;

/// The longest proposal of another call, in bytes.
const MAX_PROPOSAL: usize = 2000;

impl EventGuard<'_> {
    /// Answers an event after calls: records what was written, and helps with calls that failed.
    pub(super) async fn after(&self) -> Guarded {
        let (mut decision, mut problem) = (HookDecision::Pass, None);
        for call in &self.event.calls {
            let result = match (&call.failure, self.event.moment) {
                (Some(failure), _) => {
                    Ok(self.help(call, failure).await.into_iter().map(HookDecision::Note).collect())
                }
                (None, Moment::AfterFailure | Moment::Before) => Ok(Vec::new()),
                (None, Moment::After) if self.is_first(call) => self.record(call).await,
                (None, Moment::After) => Ok(Vec::new()),
            };
            match result {
                Ok(found) => decision = found.into_iter().fold(decision, combine_decisions),
                Err(Stop::Answer(_)) => {}
                Err(Stop::Unjudged(reason)) => problem = Some(reason),
            }
        }
        Guarded { decision, problem, cline: self.settings_at_top().cline }
    }

    /// Records the files that a call wrote, and judges them if that was not done before. Returns a note or a blame for each
    /// message to the model.
    async fn record(&self, call: &HostCall) -> Step<Vec<HookDecision>> {
        let record = self.workspace.tool_calls().take(&self.pair_key(call));
        let record = record.and_then(|bytes| CallRecord::from_bytes(&bytes));
        let CallRecord { files, mut gates, is_judged, note } = record.unwrap_or_default();
        let mut verdicts = Vec::new();
        let mut found = Vec::new();
        if !note.is_empty() {
            found.push(HookDecision::Note(note));
        }
        let mut changes = Vec::new();
        for path in self.paths(&call.edit) {
            // Before the call, a link may have led nowhere; then its target was judged.
            let target = link_target(Path::new(&path)).map(|target| target.to_string_lossy().into_owned());
            let is_known = |file: &&FileRecord| file.path == path || Some(&file.path) == target.as_ref();
            let known = files.iter().find(is_known);
            let Ok(file) = self.workspace.host_file(path.clone()).await else { continue };
            let Some(known) = known else {
                changes.push(HostChange { path, before: BytesBefore::Unknown, mode: None });
                continue;
            };
            if known.before == file.bytes {
                continue;
            }
            let differs = differs(&known.expected, file.bytes.as_deref());
            if differs {
                found.push(HookDecision::Note(format!(
                    "{} is not as this edit leaves it: a formatter or another program has changed it as well. Read it before the \
                     next edit.",
                    file.path
                )));
            }
            if (differs || !is_judged) && file.bytes.is_some() {
                let checked = self.judge_written(&path, known).await?;
                if checked.verdict.refuses() {
                    let judged = Judged { path: &file.path, text: &checked.text, verdict: &checked.verdict };
                    found.push(HookDecision::Blame(texts::findings(&[judged], EditState::Made)));
                }
                verdicts.push(checked.verdict);
            }
            let before = known.before.clone().map_or(BytesBefore::Absent, BytesBefore::Bytes);
            changes.push(HostChange { path, before, mode: known.mode });
        }
        if !verdicts.is_empty() {
            let judged = gate_summary(verdicts.iter());
            // The other files are as they were judged before.
            let before = if verdicts.len() == changes.len() { String::new() } else { gates };
            let both = [before, judged].into_iter().filter(|gates| !gates.is_empty());
            gates = both.collect::<Vec<_>>().join(", ");
        }
        if !changes.is_empty() {
            self.workspace.record_host_edit(changes, self.author(&call.tool), gates).await?;
        }
        Ok(found)
    }

    /// Judges a file as it is now.
    async fn judge_written(&self, path: &str, known: &FileRecord) -> Step<CheckedFile> {
        let end = self.started + self.settings_at_top().deadline;
        let watch = self.watch.with_end(end);
        Ok(self.workspace.judge_written(path.to_owned(), known.before.clone(), watch).await?)
    }

    /// Helps with a call that failed because of its quote.
    async fn help(&self, call: &HostCall, failure: &str) -> Option<String> {
        drop(self.workspace.tool_calls().take(&self.pair_key(call)));
        let quote = call.edit.single_quote()?;
        let path = self.paths(&call.edit).into_iter().next()?;
        let file = self.workspace.host_file(path.clone()).await.ok()?;
        let before = file.bytes.as_deref()?;
        let own = |old: &str, new: &str| self.own_call(&texts::quote_arguments(&file.path, old, new));
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
        match simulate::replace(before, slice::from_ref(quote), TextHabit::Unknown) {
            Simulation::Missing | Simulation::Several(_) => {}
            // The reason is another one.
            Simulation::Made(_) | Simulation::Unknown => return None,
        }
        match locate::quote(&file.path, before, quote) {
            Located::Found(wanted) => {
                let exact = rewrite::quote(before, &wanted, TextHabit::Unknown).ok()?;
                let again = match call.with_quote(&exact) {
                    Some(input) => format!(" This call works:\n{} {}", call.tool, Value::Object(input)),
                    None => format!(" These texts work:\n{}", json!({"old": exact.old, "new": exact.new})),
                };
                let again = Some(again).filter(|again| again.len() <= MAX_PROPOSAL).unwrap_or_default();
                let own = own(&exact.old, &exact.new).filter(|_| self.tools == OwnTools::Server);
                let own = own.map(|own| format!("\nOr: {own}")).unwrap_or_default();
                Some(format!(
                    "lockgate: the quoted text is not in {} exactly as sent, and one place matches it.{again}{own}",
                    file.path
                ))
            }
            Located::Rejected(error) => Some(texts::rejection(&error, &file.path, Some(call))),
            Located::Same | Located::Unknown => None,
        }
    }
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
