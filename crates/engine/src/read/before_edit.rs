//! Reads the text for an edit whose new code is not yet known.

use super::super::batch::Batch;
use super::super::services::Services;
use super::super::workspace::Workspace;
use super::super::{load, pipeline, resolve};
use super::lines::ReadLines;
use lockgate_edit::request::Request;
use lockgate_error::{Code, Error};

impl Workspace {
    /// Returns the whole text that a request refers to, after all checks that do not need the new text. For a
    /// request with an earlier version, it returns that version.
    ///
    /// Errors: those of reading the target, and those with which the pipeline rejects a request before it is
    /// judged.
    pub async fn read_before_edit(&self, request: Request) -> Result<ReadLines, Error> {
        self.services.prewarm(&request.target);
        self.services.off_reactor(move |services| services.check_and_read(request)).await
    }
}

impl Services {
    fn check_and_read(&self, request: Request) -> Result<ReadLines, Error> {
        // Read protection applies here as well. The text is journalled, so that the edit can be rebased if
        // the file changes.
        let reading = self.read_whole(&request.target)?;
        let batch = Batch::single(request);
        let mut targets = resolve::resolve(self, &batch, &[], &[])?;
        for target in &mut targets {
            target.last = target.place.interrupted_and_last(&self.store).unwrap_or_default().1;
        }
        let texts = load::load(self, &batch, &mut targets)?;
        let draft = pipeline::drafts(self, &batch, &targets, texts)?.into_iter().next();
        let draft = draft.ok_or_else(|| Error::new(Code::Internal, "the request has no target"))?;
        Ok(ReadLines { text: draft.base.unwrap_or(draft.current.buffer), ..reading })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tests::Fixture;
    use lockgate_edit::request::{Expect, InsertPoint, Mode, Target};

    fn request(path: &str, insert_point: InsertPoint, expect: Expect) -> Request {
        Request {
            mode: Mode::Strict,
            expect,
            ..Request::new(Target::File(path.to_owned()), insert_point.edit("\n".to_owned()))
        }
    }

    #[tokio::test]
    async fn what_cannot_be_edited_is_refused_before_there_is_code() {
        let policy = "paths: [{ match: kept.txt, access: read }]\n";
        let files = [("a.txt", "1\n2\n"), ("kept.txt", "1\n"), (".env", "s\n"), ("quality.yaml", policy)];
        let fixture = Fixture::new(&files);
        let workspace = Workspace { services: Arc::clone(&fixture.services) };
        for (path, insert_point, expect, code) in [
            ("none", InsertPoint::End, Expect::Anything, Code::FileNotFound),
            (".env", InsertPoint::End, Expect::Anything, Code::Protected),
            ("kept.txt", InsertPoint::End, Expect::Anything, Code::Protected),
            ("../a", InsertPoint::End, Expect::Anything, Code::PathOutsideRoot),
            ("a.txt", InsertPoint::Before(4), Expect::Anything, Code::RangeOutOfBounds),
            ("a.txt", InsertPoint::Lines(2, 3), Expect::Anything, Code::RangeOutOfBounds),
            ("a.txt", InsertPoint::End, Expect::Version("000000000000".into()), Code::EditConflict),
        ] {
            let error = workspace.read_before_edit(request(path, insert_point, expect)).await.unwrap_err();
            assert_eq!(error.code, code, "{path} {insert_point:?}: {error}");
        }
        let reading = workspace
            .read_before_edit(request("a.txt", InsertPoint::Lines(1, 2), Expect::Anything))
            .await
            .unwrap();
        assert_eq!((reading.text.view(), reading.path.as_str()), ("1\n2\n", "a.txt"));
    }
}
