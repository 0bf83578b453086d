//! Writes all drafts of a call or none, and records the edit.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::batch::{Batch, RestoredMetadata};
use super::decide::Decision;
use super::difference::line_counts;
use super::journal_limits::journal_limits;
use super::plan::FileDraft;
use super::report::Report;
use super::resolve::ResolvedTarget;
use super::services::Services;
use lockgate_checks::{Outcome, Verdict};
use lockgate_edit::Edit;
use lockgate_error::{Code, Disk, Error};
use lockgate_policy::Publishing;
use lockgate_store::{Content, JournalRecord, PublishedBatch, Write, WriteOutcome};
use lockgate_text::Buffer;

/// The most characters of the gates' summary in the journal.
const MAX_GATES: usize = 200;

/// The result of the step.
pub(super) enum Committed {
    /// No draft is to be written.
    Nothing,
    Written(PublishedBatch),
    /// Another program changed the content while the drafts were judged, as the error says; nothing was written.
    Overtaken(Error),
}

/// Writes the drafts, unless one of them is rejected or is only to be shown.
///
/// Errors: those of publishing; `PERMISSION_DENIED` for a draft that is shown, and that publishing could not write.
pub(super) fn commit(
    services: &Services,
    batch: &Batch,
    drafts: &[FileDraft<'_>],
) -> Result<Committed, Error> {
    if drafts.iter().any(|draft| draft.decision() == Decision::Refuse) {
        return Ok(Committed::Nothing);
    }
    if drafts.iter().any(|draft| draft.decision() == Decision::Show) {
        drafts
            .iter()
            .filter(|draft| draft.drafted.is_changed)
            .try_for_each(|draft| check_file(services, draft))?;
        return Ok(Committed::Nothing);
    }
    let wanted = drafts.iter().filter(|draft| draft.drafted.is_changed);
    let writes: Vec<Write<'_>> = wanted.clone().map(write).collect();
    let Some(first) = writes.first() else { return Ok(Committed::Nothing) };
    let how = wanted.map(|draft| draft.target.rules.publishing).reduce(Publishing::stricter);
    let meta = batch.edit_meta(gate_summary(drafts.iter().map(|draft| &draft.verdict)));
    let began = Instant::now();
    match first.place.publish(&services.store, &writes, how.unwrap_or_default(), &meta) {
        Ok(WriteOutcome::All(published)) => {
            remember(services, drafts, &published, began);
            Ok(Committed::Written(published))
        }
        Ok(WriteOutcome::Overtaken) => Ok(Committed::Overtaken(overtaken())),
        Err(error) if error.code == Code::EditConflict && error.disk == Disk::Untouched => {
            Ok(Committed::Overtaken(error))
        }
        Err(error) => Err(error),
    }
}

fn overtaken() -> Error {
    let message = "another program changed the target while the gates checked this edit";
    Error::new(Code::EditConflict, message).hint("read it again, and send the edit with its `version`")
}

/// Fails for a draft whose file lockgate could not replace.
fn check_file(
    services: &Services,
    FileDraft { request, target, current, .. }: &FileDraft<'_>,
) -> Result<(), Error> {
    let Some(snapshot) = current.snapshot.as_ref().filter(|_| !request.is_written_by_host) else {
        return Ok(());
    };
    let is_removed = request.edit == Edit::Remove;
    // No file is removed in place.
    let publishing = if is_removed { Publishing::default() } else { target.rules.publishing };
    snapshot.check_replaceable(&target.place, publishing)?;
    if is_removed { Ok(()) } else { snapshot.check_metadata(&services.store, &target.place) }
}

/// Keeps the texts that were written to files, for the next call, and the versions that were replaced, for calls that have
/// arrived already. `began` is a time before the first text was in place.
fn remember(services: &Services, drafts: &[FileDraft<'_>], published: &PublishedBatch, began: Instant) {
    let written = drafts.iter().filter(|draft| draft.drafted.is_changed);
    for (FileDraft { request, target, current, drafted, .. }, file) in written.zip(&published.files) {
        if current.snapshot.is_some() {
            services.recent_edits.add(target.place.key(), (began, file.time), current.buffer.version());
        }
        match (target.place.file(), &request.edit) {
            (Some(file), Edit::Remove) => services.texts.forget(file),
            (Some(file), _) => services.texts.keep_written(file, &drafted.buffer),
            (None, _) => {}
        }
    }
}

/// Applies the journal's limits in the background, if the edit left something to prune in the history of entities.
pub(super) fn tidy_rows(services: &Arc<Services>, reports: &[Report]) {
    if !has_written(reports) || !services.store.rows.is_due() {
        return;
    }
    let services = Arc::clone(services);
    tokio::task::spawn_blocking(move || {
        let policy = services.policy_at_top();
        warn_untidy(policy.and_then(|policy| services.store.rows.tidy(journal_limits(&policy))));
    });
}

/// Does the same for the journal of the files' root. The journal has a thread of its own for the work.
pub(super) fn tidy_journal(services: &Services, targets: &[ResolvedTarget], reports: &[Report]) {
    let file = targets.iter().find_map(|target| target.place.file().zip(Some(&target.rules)));
    if let Some((file, rules)) = file.filter(|_| has_written(reports)) {
        warn_untidy(services.store.journal.tidy(file, journal_limits(rules)));
    }
}

fn has_written(reports: &[Report]) -> bool {
    reports.iter().any(|report| report.edit_id.is_some())
}

fn warn_untidy(result: Result<(), Error>) {
    if let Err(error) = result {
        tracing::warn!("the journal was not cleaned up: {}", error.message);
    }
}

fn write<'a>(draft: &'a FileDraft<'_>) -> Write<'a> {
    let FileDraft { target, current, drafted, request, .. } = draft;
    let RestoredMetadata { mode, folders } = target.restored;
    let (added, removed) = line_counts(current.text(), &drafted.buffer, &drafted.map);
    Write {
        place: &target.place,
        before: current.snapshot.as_ref().map(|snapshot| (snapshot, content(&current.buffer))),
        after: (request.edit != Edit::Remove).then(|| content(&drafted.buffer)),
        mode: mode.or(request.permissions.bits().filter(|_| current.snapshot.is_none())),
        folders,
        record: JournalRecord { added, removed, keep: target.is_journaled },
    }
}

/// Pairs a text with its version.
fn content(buffer: &Buffer) -> Content<'_> {
    Content { version: buffer.version(), bytes: buffer.bytes() }
}

/// Returns the gates that ran and their results, each once, for the journal.
pub fn gate_summary<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> String {
    let has_run = |outcome| matches!(outcome, Outcome::Passed | Outcome::Found | Outcome::Fixed);
    let runs = verdicts.flat_map(|verdict| &verdict.runs).filter(|run| has_run(run.outcome));
    let names = distinct(runs.map(|run| format!("{} {}", run.gate, run.outcome.name())));
    names.join(", ").chars().take(MAX_GATES).collect()
}

/// Returns each text once, in the order of its first occurrence.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = HashSet::new();
    texts.filter(|text| known.insert(text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use lockgate_checks::Watch;
    use lockgate_edit::request::{Mode, Request, Target};
    use std::process::Command;

    #[tokio::test]
    async fn a_mount_point_is_refused_in_every_mode() {
        let fixture = Fixture::new(&[("a", "old\n"), ("real", "old\n")]);
        let (real, target) = (fixture.root().join("real"), fixture.root().join("a"));
        let mounted = Command::new("mount").arg("--bind").args([&real, &target]).status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("not run: nothing can be mounted here");
            return;
        }
        let mut codes = Vec::new();
        for (mode, text, path) in [
            (Mode::Strict, "new\n", "a"),
            (Mode::VerifyOnly, "new\n", "a"),
            (Mode::VerifyOnly, "old\n", "a"),
            (Mode::VerifyOnly, "new\n", "real"),
        ] {
            let edit = Edit::Content(text.to_owned());
            let request = Request { mode, ..Request::new(Target::File(path.to_owned()), edit) };
            codes.push(fixture.services.edit(request, Watch::idle()).await.map_err(|error| error.code).err());
        }
        let _ = Command::new("umount").arg("-l").arg(&target).status();
        let refused = Some(Code::PermissionDenied);
        assert_eq!(codes, [refused, refused, None, None]);
    }

    #[tokio::test]
    async fn an_append_only_file_is_refused_in_every_mode() {
        let fixture = Fixture::new(&[("a", "old\n"), ("plain", "old\n")]);
        fixture.write("in_place/quality.yaml", "hard_links: in_place\n");
        fixture.write("in_place/a", "old\n");
        let targets = ["a", "in_place/a"].map(|path| fixture.root().join(path));
        let set_append_only = |sign: &str| {
            let status = Command::new("chattr").arg(format!("{sign}a")).args(&targets).status();
            status.is_ok_and(|status| status.success())
        };
        if !set_append_only("+") {
            set_append_only("-");
            eprintln!("not run: no file can be made append-only here");
            return;
        }
        let mut errors = Vec::new();
        let describe = |error: Error| (error.code, error.message.contains("append-only (`chattr +a`)"));
        let content = || Edit::Content("new\n".to_owned());
        for (mode, edit, path) in [
            (Mode::Strict, content(), "a"),
            (Mode::VerifyOnly, content(), "a"),
            (Mode::VerifyOnly, Edit::Remove, "a"),
            (Mode::Strict, content(), "in_place/a"),
            (Mode::VerifyOnly, content(), "in_place/a"),
            (Mode::VerifyOnly, content(), "plain"),
        ] {
            let request = Request { mode, ..Request::new(Target::File(path.to_owned()), edit) };
            errors.push(fixture.services.edit(request, Watch::idle()).await.map_err(describe).err());
        }
        let request = Request {
            mode: Mode::VerifyOnly,
            is_written_by_host: true,
            ..Request::new(Target::File("a".to_owned()), content())
        };
        errors.push(fixture.services.edit(request, Watch::idle()).await.map_err(describe).err());
        set_append_only("-");
        let refused = Some((Code::PermissionDenied, true));
        assert_eq!(errors, [refused, refused, refused, refused, refused, None, None]);
    }

    #[test]
    fn a_gate_of_several_files_is_named_once() {
        let names = ["syntax passed", "damage passed", "syntax passed", "damage found"].map(str::to_owned);
        assert_eq!(distinct(names.into_iter()), ["syntax passed", "damage passed", "damage found"]);
    }
}
