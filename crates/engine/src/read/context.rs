//! Answers questions about the code from an index of the workspace that is kept fresh.
//!
//! Invariant: all that is shown of a file is of one version, and the answer names that version.

mod code_index;
mod fresh;
mod lost;
mod survey;
mod tagging;

use std::collections::HashMap;
use std::sync::Arc;

use super::super::services::Services;
use super::ReadRequest;
use super::lines::ReadLines;
use lockgate_checks::Watch;
use lockgate_context::{self as context, AnswerInput, ContextQuery, Index, Tags, VersionedText};
use lockgate_edit::request::Target;
use lockgate_error::Error;
use lockgate_policy::language_of;
use lockgate_protocol::ContextResponse;
use lockgate_store::{FileFingerprint, FileLocation};
use lockgate_text::{Buffer, Version};

pub(crate) use code_index::CodeIndex;

/// The largest file that is indexed or quoted from, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The number of files that are read for an index before an outline is answered.
const MAX_UNINDEXED: usize = 300;
/// The note of an outline that was answered without an index.
const NOT_INDEXED: &str = "what the file uses from other files is not shown, because the project is not indexed yet; a symbol or a query indexes it";
/// The number of attempts to build an answer while files change.
const MAX_ATTEMPTS: usize = 3;

/// A request for code context; without any field it asks for the summary of the project.
///
/// Errors: those of reading the file in question, and `INTERNAL` if the caller has gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRequest {
    /// The file to outline; results near it rank higher.
    pub target: Option<Target>,
    /// The words to search for in the project.
    pub query: Option<String>,
    /// The symbol whose definition and references are requested, optionally qualified, as in `Class.method`.
    pub symbol: Option<String>,
    /// The most tokens of the answer.
    pub tokens: usize,
}

impl ReadRequest for ContextRequest {
    type Output = ContextResponse;

    fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    fn read(&self, services: &Arc<Services>, watch: &Watch) -> Result<ContextResponse, Error> {
        let mut attempt = 1;
        loop {
            let (mut answer, changed) = services.build_context(self, watch)?;
            if changed == 0 || attempt == MAX_ATTEMPTS {
                answer.truncated |= changed > 0;
                return Ok(answer);
            }
            attempt += 1;
        }
    }
}

impl Services {
    /// Builds the answer, and counts the files that changed meanwhile.
    fn build_context(
        &self,
        request: &ContextRequest,
        watch: &Watch,
    ) -> Result<(ContextResponse, usize), Error> {
        let target = request.target.as_ref().map(|target| self.read_whole(target)).transpose()?;
        let survey = self.survey_all(watch)?;
        let question = ContextQuery {
            symbol: request.symbol.as_deref(),
            query: request.query.as_deref(),
            near: target.as_ref().map(|reading| reading.path.as_str()),
            tokens: request.tokens,
        };
        let mut pages = QuotedTexts { services: self, read: HashMap::new(), changed: 0 };
        let mut answer_without_index =
            |input| context::answer(&Index::default(), &question, input, &mut |path| pages.get(path, None));
        if question.is_empty() {
            let (project, notes) = (Some(survey.project()), survey.notes(None));
            return Ok((answer_without_index(AnswerInput { target: None, project, notes }), 0));
        }
        let tagged = target.as_ref().map(|reading| (page(&reading.text), tags_of(reading)));
        let target = tagged.as_ref().map(|(page, tags)| (page, tags.as_ref()));
        let mut indexed = self.indexed(watch)?;
        // The outline of one file does not wait until thousands of others are read.
        if question.is_outline() && self.stale_count(&mut indexed, &survey) > MAX_UNINDEXED {
            drop(indexed);
            let notes = vec![NOT_INDEXED.to_owned()];
            return Ok((answer_without_index(AnswerInput { target, project: None, notes }), 0));
        }
        self.refresh(&mut indexed, &survey, watch)?;
        let input = AnswerInput { target, project: None, notes: survey.notes(Some(&indexed)) };
        let index = &indexed.index;
        let mut texts = |path: &str| pages.get(path, index.version(path));
        let answer = context::answer(index, &question, input, &mut texts);
        Ok((answer, pages.changed))
    }

    /// Reads a file found by path; the text is `None` if it is not text, but its fingerprint is still
    /// returned.
    fn read_text(&self, place: &FileLocation) -> Result<(Option<Buffer>, Option<FileFingerprint>), Error> {
        let Some(mut snapshot) = self.store.files.read(place, MAX_FILE_BYTES)? else {
            return Ok((None, None));
        };
        let (bytes, fingerprint) = (snapshot.take_bytes(), snapshot.fingerprint());
        Ok((Buffer::read(bytes, self.store.files.hints(place)).ok(), fingerprint))
    }
}

/// The texts that one answer quotes from, each read once.
struct QuotedTexts<'w> {
    services: &'w Services,
    read: HashMap<String, Option<Arc<VersionedText>>>,
    /// The number of files whose version was not the expected one.
    changed: usize,
}

impl QuotedTexts<'_> {
    /// Returns the text of a readable file, at this version if one is given.
    fn get(&mut self, path: &str, version: Option<Version>) -> Option<Arc<VersionedText>> {
        if let Some(known) = self.read.get(path) {
            return known.clone();
        }
        let read = || {
            let place = self.services.store.files.admit_to_read(path).ok()?;
            let (text, _) = self.services.read_text(&place).ok()?;
            text.map(|text| page(&text)).filter(|page| version.is_none_or(|known| known == page.version()))
        };
        let page = read().map(Arc::new);
        self.changed += usize::from(page.is_none());
        self.read.insert(path.to_owned(), page.clone());
        page
    }
}

fn page(text: &Buffer) -> VersionedText {
    VersionedText::new(text.view().to_owned(), text.version())
}

fn tags_of(reading: &ReadLines) -> Option<Tags> {
    let view = reading.text.view();
    let path = reading.resolved_path.as_deref().unwrap_or(&reading.path);
    let language = language_of(path, view.lines().next())?;
    context::reading(|reader| reader.tags(&language.name, path, view)).ok().flatten()
}

#[cfg(test)]
mod tests;
