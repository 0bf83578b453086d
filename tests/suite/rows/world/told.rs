//! What a world answered, as lines that are the same wherever texts are kept.

use std::sync::Mutex;

use lockgate::engine::{Entry, EntryKind, Report};
use lockgate::error::{Disk, Error};
use lockgate::text::Version;

/// What was answered so far, with the names of edits as the numbers of their coming.
#[derive(Default)]
pub struct Told(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    edits: Vec<String>,
}

impl Told {
    pub fn lines(self) -> Vec<String> {
        self.0.into_inner().unwrap().lines
    }

    pub fn tell(&self, what: &str, answer: Result<String, &Error>) {
        let line = match answer {
            Ok(answer) => format!("{what}: {answer}"),
            Err(refusal) => format!("{what}: {}", shown(refusal)),
        };
        self.0.lock().unwrap().lines.push(line);
    }

    /// The name of an edit, as the number of its coming.
    pub fn named(&self, id: &str) -> String {
        let mut told = self.0.lock().unwrap();
        let at = told.edits.iter().position(|known| known == id).unwrap_or_else(|| {
            told.edits.push(id.to_owned());
            told.edits.len() - 1
        });
        format!("#{at}")
    }

    pub fn report(&self, report: &Report) -> String {
        let edit = report.edit_id.map(|id| self.named(&id.to_string()));
        let findings: Vec<_> =
            report.verdict.findings.iter().map(|found| (&found.gate, found.line, &found.message)).collect();
        let short = |stamp: Option<Version>| stamp.map(|stamp| stamp.hex()[..12].to_owned());
        format!(
            "{} {} {:?} {:?} {} {} {edit:?} {:?} {:?} {findings:?} {:?} {:?}",
            report.path,
            report.status.name(),
            short(report.version),
            short(report.previous_version),
            report.created,
            report.removed,
            report.replacements,
            report.shifts,
            report.warnings,
            report.diff().render(9999).0,
        )
    }

    pub fn reports(&self, reports: &[Report]) -> String {
        reports.iter().map(|report| self.report(report)).collect::<Vec<_>>().join("; ")
    }

    pub fn entry(&self, entry: &Entry) -> String {
        let Entry { id, deed, undone, changes, at: _ } = entry;
        let changes: Vec<_> = changes
            .iter()
            .map(|change| {
                (&change.path, change.before, change.after, change.added, change.removed, change.kept)
            })
            .collect();
        let kind = match deed.kind {
            EntryKind::Edit => "edit".to_owned(),
            EntryKind::Undo(of) => format!("undo of {}", self.named(&of.to_string())),
            EntryKind::Redo(of) => format!("redo of {}", self.named(&of.to_string())),
        };
        let id = self.named(&id.to_string());
        format!("{id} {kind} {} {} {:?} {undone} {changes:?}", deed.tool, deed.author, deed.gates)
    }
}

/// What a refusal says, as far as it is the same for whatever is refused.
fn shown(refusal: &Error) -> String {
    let known = match refusal.disk {
        Disk::Untouched => "untouched",
        Disk::Unknown => "unknown",
    };
    let best = refusal.best.as_ref().map(|best| format!("{best:?}"));
    let since = refusal.since.as_ref().map(|since| since.diff.clone());
    // Where several sorts could be meant, the sort is said beside the path.
    let message = refusal.message.replace("app_file", "file").replace("of file ", "of ");
    format!("{} {:?} {message} {known} {best:?} {since:?}", refusal.code.name(), refusal.field)
}
