//! What the tool of the host would write: its call simulated on the current files, and other arguments for a call that
//! would miss its place or change other bytes. `patch` simulates the patches, and `bytes` finds what a tool would change outside
//! of the edit.

mod bytes;
mod patch;

use std::fmt;

use serde_json::{Value, json};

use super::{DraftChange, EventGuard, HostDraft, Step, Stop};
use crate::answer::HookDecision;
use crate::edit::{FileQuote, HostEdit, QuoteMatches, QuotedReplacement};
use crate::event::HostCall;
use crate::host::TextHabit;
use crate::locate::{self, Located};
use crate::notebook;
use crate::rewrite::{self, NoRewrite};
use crate::simulate::{self, Simulated, Simulation};
use crate::texts;
use lockgate_engine::HostFile;
use lockgate_policy::{DriftedQuote, HookSettings};

/// Finds what a call would write, with the settings of its files.
pub(super) struct CallPlanner<'a> {
    guard: &'a EventGuard<'a>,
    call: &'a HostCall,
    settings: HookSettings,
    /// The files of the project that could not be read, and the reasons.
    unread: &'a [(String, String)],
}

/// The drafts of a call, and other arguments for it.
#[derive(Default)]
pub(super) struct CallPlan {
    pub(super) drafts: Vec<HostDraft>,
    pub(super) rewrite: Option<CallRewrite>,
}

/// Other arguments for a call.
pub(super) struct CallRewrite {
    pub(super) input: Value,
    /// The message to the model about them.
    pub(super) context: String,
}

impl EventGuard<'_> {
    /// Returns the planner of a call. `unread` are the files of the project that could not be read, and the reasons.
    pub(super) fn planner<'a>(
        &'a self,
        call: &'a HostCall,
        settings: HookSettings,
        unread: &'a [(String, String)],
    ) -> CallPlanner<'a> {
        CallPlanner { guard: self, call, settings, unread }
    }
}

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
                Ok(CallPlan { drafts: files.into_iter().map(HostDraft::unknown).collect(), rewrite: None })
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
            _ => return None,
        };
        (self.guard.paths(edit).len() == 1).then_some(single)
    }

    /// Simulates the edit of each file that the call names, as the tool may take any of them.
    fn simulate_each(&self, edits: &[HostEdit], files: Vec<(String, HostFile)>) -> Step<CallPlan> {
        let mut drafts = Vec::new();
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
                Some(Err(stop)) => return Err(stop),
            };
            drafts.push(HostDraft { path, file, change });
        }
        Ok(CallPlan { drafts, rewrite: None })
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
            (HostEdit::Notebook { cell, .. }, Some(before)) => notebook::change_cell(before, cell).into(),
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
        Ok(match exact {
            Some((made, rewrite)) => (DraftChange::Made(made), Some(rewrite)),
            None => (simulation.into(), None),
        })
    }

    /// Finds the place of a quote that differs from the file; `None` if the quote is one that is not helped.
    fn locate(&self, path: &str, before: &[u8]) -> Step<Option<(Simulated, CallRewrite)>> {
        let Some(quote) = self.call.edit.single_quote() else { return Ok(None) };
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
        let Some(quote) = self.call.edit.single_quote() else { return Ok(None) };
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
        let Some(mut input) = self.call.with_quote(&exact) else {
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
        let absolute = |paths: &[String]| paths.iter().map(|path| self.absolute(path)).collect();
        let named: Vec<(Vec<String>, &QuotedReplacement)> =
            quotes.iter().map(|FileQuote { paths, quote }| (absolute(paths), quote)).collect();
        let draft = |(path, file): (String, HostFile)| {
            let own = named.iter().filter(|(paths, _)| paths.contains(&path));
            let own: Vec<QuotedReplacement> = own.map(|(_, quote)| (*quote).clone()).collect();
            let change = match &file.bytes {
                Some(before) if !own.is_empty() => {
                    simulate::replace(before, &own, self.guard.event.host.habit()).into()
                }
                Some(_) | None => DraftChange::Unknown,
            };
            HostDraft { path, file, change }
        };
        CallPlan { drafts: files.into_iter().map(draft).collect(), rewrite: None }
    }
}

fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// True if the new text lacks the line end that the quote has, so that the tool would join two lines, and lockgate's own
/// matching, which takes such a quote for whole lines, would not.
fn joins_lines(path: &str, before: &[u8], quotes: &[QuotedReplacement], made: &Simulated) -> bool {
    let [quote] = quotes else { return false };
    let is_short = quote.old.ends_with('\n') && !quote.new.is_empty() && !quote.new.ends_with('\n');
    is_short
        && matches!(locate::quote(path, before, quote), Located::Found(wanted) if wanted != made.faithful)
}
