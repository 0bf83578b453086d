//! What the code says, by an index over the workspace that is kept fresh.
//!
//! Invariant: what is shown of a file is of one version of it, and that version is named.

mod fresh;
mod survey;
mod tagging;

use std::sync::Arc;

use super::super::Workspace;
use super::lines::Reading;
use crate::context::{self, Context, Page, Question, Seen, Tags};
use crate::error::Error;
use crate::gate::Watch;
use crate::policy::language_of;
use crate::request::ContextLook;
use crate::text::{Buffer, Stamp};

pub(in crate::engine) use fresh::Indexed;

/// Longer files are not indexed, and not quoted from.
const LONGEST_FILE: u64 = 1 << 20;
/// How often an answer is put together while files change under it.
const ATTEMPTS: usize = 3;

impl Workspace {
    /// Looks at what the code says; where nothing is asked for, at the shape of the project.
    ///
    /// Errors: those of [`Workspace::look`] for the file that is asked about, and `INTERNAL` where the caller has gone.
    pub(super) fn context(&self, look: &ContextLook, watch: &Watch) -> Result<Context, Error> {
        let mut attempt = 1;
        loop {
            let (mut told, changed) = self.told(look, watch)?;
            if changed == 0 || attempt == ATTEMPTS {
                if changed > 0 {
                    told.truncated = true;
                }
                return Ok(told);
            }
            attempt += 1;
        }
    }

    /// What the code says, and how many files changed while it was looked at.
    fn told(&self, look: &ContextLook, watch: &Watch) -> Result<(Context, usize), Error> {
        let target = look.target.as_ref().map(|target| self.whole(target)).transpose()?;
        let (page, tags) = target.as_ref().map_or((None, None), |reading| {
            let page = page(&reading.text);
            let tags = tags_of(reading);
            (Some(page), tags)
        });
        let survey = self.look_around(watch)?;
        let question = Question {
            symbol: look.symbol.as_deref(),
            query: look.query.as_deref(),
            near: target.as_ref().map(|reading| reading.path.as_str()),
            tokens: look.tokens,
        };
        let target = page.as_ref().map(|page| (page, tags.as_ref()));
        if target.is_none() && question.symbol.is_none() && question.query.is_none() {
            let project = Some(survey.project());
            let seen = Seen { target: None, project, notes: Vec::new() };
            let index = context::Index::default();
            return Ok((context::answer(&index, &question, seen, &mut |path| self.page(path)), 0));
        }
        let mut indexed = self.indexed(watch)?;
        self.refresh(&mut indexed, &survey, watch)?;
        let mut changed = 0;
        let seen = Seen { target, project: None, notes: survey.notes(&indexed) };
        let mut texts = |path: &str| {
            let page = self.page(path).filter(|page| indexed.is_of(path, page.version()));
            changed += usize::from(page.is_none());
            page
        };
        let told = context::answer(&indexed.index, &question, seen, &mut texts);
        Ok((told, changed))
    }

    /// The text of a file that may be shown.
    fn page(&self, path: &str) -> Option<Arc<Page>> {
        let text = self.text_of(path).ok()?;
        Some(Arc::new(page(&text)))
    }

    /// Reads a file as anybody may who looks at it.
    fn text_of(&self, path: &str) -> Result<Buffer, Error> {
        let place = self.files.admit_to_read(path)?;
        let Some(mut snapshot) = self.files.read(&place, LONGEST_FILE)? else {
            return Err(Error::new(crate::error::Code::FileNotFound, format!("there is no file: {path}")));
        };
        Buffer::read(snapshot.take_bytes(), self.files.hints(&place))
    }
}

impl Indexed {
    /// Whether a text may stand beside what the index says of its file.
    fn is_of(&self, path: &str, version: Stamp) -> bool {
        self.index.version(path).is_none_or(|known| known == version)
    }
}

fn page(text: &Buffer) -> Page {
    Page::new(text.view().to_owned(), text.stamp())
}

fn tags_of(reading: &Reading) -> Option<Tags> {
    let view = reading.text.view();
    let path = reading.resolved_path.as_deref().unwrap_or(&reading.path);
    let language = language_of(path, view.lines().next())?;
    context::reading(|reader| reader.tags(&language.name, path, view)).ok().flatten()
}
