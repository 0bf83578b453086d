//! Judges files as they are against a text that the caller read before.

use super::super::load;
use super::super::services::{Services, cancelled};
use super::super::trust::CallPermissions;
use super::super::workspace::Workspace;
use super::checked_file::{ChangeKind, CheckedFile};
use super::judge::AuditedFile;
use lockgate_checks::Watch;
use lockgate_error::{Code, Error};
use lockgate_text::Buffer;

impl Workspace {
    /// Judges a file as it is now. Only findings that `before` did not have are new; `None` stands for no file.
    ///
    /// Errors: `FILE_NOT_FOUND`, `NOT_TEXT`, `TOO_LARGE`, `POLICY_INVALID`, `INTERNAL` when the caller cancelled
    /// the call, and the errors of admitting a path to be read.
    pub async fn judge_written(
        &self,
        path: String,
        before: Option<Vec<u8>>,
        watch: Watch,
    ) -> Result<CheckedFile, Error> {
        self.services.off_reactor(move |services| services.judge_file(&path, before, &watch)).await
    }
}

impl Services {
    fn judge_file(&self, path: &str, before: Option<Vec<u8>>, watch: &Watch) -> Result<CheckedFile, Error> {
        let place = self.store.files.admit_to_read(path)?;
        let policy = self.policies.policy(&self.store.files, &place)?;
        let current = load::read(self, &place.clone().into(), &policy)?;
        if current.snapshot.is_none() {
            return Err(Error::new(Code::FileNotFound, format!("{path} no longer exists")));
        }
        let after = current.buffer;
        let change = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        let before = before.map(|bytes| Buffer::read(bytes, self.store.files.hints(&place))).transpose()?;
        let file = AuditedFile::new(place, policy, change, before, after, path.to_owned())?;
        let permissions = CallPermissions::new(&self.trust, &self.store.files);
        let context = self.audit_context(&file, &permissions);
        let verdict = self
            .audit_verdicts(std::slice::from_ref(&file), std::slice::from_ref(&context), Vec::new(), watch)?
            .into_iter()
            .next()
            .ok_or_else(|| Error::new(Code::Internal, "the file was not judged"))?;
        drop(context);
        if watch.cancelled() {
            return Err(cancelled(watch));
        }
        Ok(file.into_checked(0, verdict))
    }
}
