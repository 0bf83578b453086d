//! What is carried through the line together: the requests of one call, and where each of them leads.

use std::sync::Arc;
use std::time::Duration;

use super::Workspace;
use crate::error::{Code, Error};
use crate::policy::{Language, Policy, language_of};
use crate::request::{self, Request};
use crate::store::{DocumentPath, EditMeta, Entry, EntryKind, FileChange, RetentionLimits};
use crate::text::{Buffer, Version};

/// The requests of one call, which are carried out together or not at all.
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    /// What sort of edit it is.
    pub(super) kind: EntryKind,
    /// What each request is to bring back beside its text; as many as there are requests, or none.
    pub(super) past: Vec<ChangeHistory>,
    /// The texts that stood there when the call came, where it had to wait and its requests count lines.
    pub(super) arrived: Vec<Option<Arc<Buffer>>>,
    /// Whether it had what was left half done recovered.
    pub(super) recovered: bool,
    /// Whether it was begun anew because somebody else was faster.
    pub(super) overtaken: bool,
    /// How long its locks may be waited for.
    pub(super) wait: Duration,
    /// What the journal may grow to.
    pub(super) bounds: Option<RetentionLimits>,
    /// The hash of all that was asked.
    pub(super) digest: Version,
    /// How the fields of each request are named in refusals.
    pub(super) numbered: bool,
}

/// What a change was, beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChangeHistory {
    /// The permission bits of a file that comes back.
    pub(super) mode: Option<u32>,
    /// How many folders go with a file, where they are empty then.
    pub(super) folders: usize,
}

/// Where a request leads.
pub(super) struct ResolvedTarget {
    pub(super) place: DocumentPath,
    pub(super) rules: Arc<Policy>,
    /// What was last written there.
    pub(super) last: Option<Entry>,
    /// The text that stood there when the call came, where another may stand there now.
    pub(super) arrived: Option<Arc<Buffer>>,
    /// What comes back with the text.
    pub(super) past: ChangeHistory,
}

impl Batch {
    /// The call that one request makes.
    pub(super) fn of_one(request: Request) -> Batch {
        Batch { numbered: false, ..Batch::new(vec![request], EntryKind::Edit) }
    }

    /// The call that several requests make.
    pub(super) fn new(requests: Vec<Request>, kind: EntryKind) -> Batch {
        let asked: Vec<_> = requests
            .iter()
            .map(|Request { target, edit, mode, expect, scrutiny, author: _ }| {
                (target, edit, mode, expect, scrutiny)
            })
            .collect();
        let digest = Version::of_value(&asked);
        let wait = Duration::ZERO;
        Batch {
            requests,
            kind,
            past: Vec::new(),
            arrived: Vec::new(),
            recovered: false,
            overtaken: false,
            wait,
            bounds: None,
            digest,
            numbered: true,
        }
    }

    /// A refusal of the request of that number, its field named as the caller knows it.
    pub(super) fn names(&self, mut refusal: Error, at: usize) -> Error {
        if self.numbered {
            let field = refusal.field.take();
            refusal.field =
                Some(field.map_or(format!("edits[{at}]"), |field| format!("edits[{at}].{field}")).into());
        }
        refusal
    }

    /// What the journal is told of the call.
    pub(super) fn deed(&self, gates: String) -> EditMeta {
        let request::Author { tool, name, agreed: _ } =
            self.requests.first().map(|request| request.author.clone()).unwrap_or_default();
        EditMeta { tool, author: name, request: self.digest, kind: self.kind, gates }
    }
}

impl ResolvedTarget {
    /// The language of a text there: that of an entity's type, where it has one, else what path and text say.
    pub(super) fn language(&self, view: &str) -> Option<&'static Language> {
        let typed = match &self.place {
            DocumentPath::File(_) => None,
            DocumentPath::Row(row) => self.rules.entity_type(row.entity().kind.name()),
        };
        let own = typed.and_then(|known| known.language);
        own.or_else(|| language_of(self.place.in_root(), view.lines().next()))
    }

    /// What was last written to the file, as far as it is remembered.
    pub(super) fn last_change(&self) -> Option<(&Entry, &FileChange)> {
        let entry = self.last.as_ref()?;
        let names = |changed: &&FileChange| {
            changed.entity.as_ref() == self.place.entity()
                && [Some(self.place.shown()), self.place.resolved()].contains(&Some(&changed.path))
        };
        Some((entry, entry.changes.iter().find(names)?))
    }
}

impl Workspace {
    /// Admits the paths of a call, and finds what rules them; no file may be named twice.
    pub(super) fn admit(&self, call: &mut Batch) -> Result<Vec<ResolvedTarget>, Error> {
        let mut targets: Vec<ResolvedTarget> = Vec::with_capacity(call.requests.len());
        call.wait = Duration::ZERO;
        for (at, request) in call.requests.iter().enumerate() {
            let found = self.check_early(request).and_then(|()| self.find(&request.target));
            let target = found.map_err(|refusal| call.names(refusal, at))?;
            let key = target.place.key();
            for (first, other) in targets.iter().map(|other| other.place.key()).enumerate() {
                if other == key {
                    return Err(twice(target.place.shown(), first, at));
                }
                if other.holds(&key) || key.holds(&other) {
                    return Err(nested(first, at));
                }
            }
            let limits = target.rules.limits;
            call.wait = call.wait.max(limits.lock_wait);
            call.bounds = Some(RetentionLimits { size: limits.journal, age: limits.journal_age });
            let past = call.past.get(at).copied().unwrap_or_default();
            let arrived = call.arrived.get(at).cloned().flatten();
            targets.push(ResolvedTarget { past, arrived, ..target });
        }
        Ok(targets)
    }

    /// Where a target that is looked at leads.
    ///
    /// Errors: what admitting it gives.
    pub(super) fn place_to_read(&self, target: &request::Target) -> Result<DocumentPath, Error> {
        match target {
            request::Target::File(path) => self.store.files.admit_to_read(path).map(DocumentPath::File),
            request::Target::Entity(entity) => self.row(entity).map(DocumentPath::Row),
        }
    }

    /// Where a target that is to be edited leads, and what rules it.
    pub(super) fn find(&self, target: &request::Target) -> Result<ResolvedTarget, Error> {
        let place = match target {
            request::Target::File(path) => DocumentPath::File(self.store.files.admit(path)?),
            request::Target::Entity(entity) => self.row(entity)?.into(),
        };
        let rules = self.rules_of(&place)?;
        Ok(ResolvedTarget { place, rules, last: None, arrived: None, past: ChangeHistory::default() })
    }

    /// Notes what stands there when a call has to wait, for those of its requests that count lines.
    pub(super) fn arrive(&self, call: &mut Batch, targets: &[ResolvedTarget]) {
        if !call.arrived.is_empty() {
            return;
        }
        let text = |(request, target): (&Request, &ResolvedTarget)| {
            let seen =
                request.edit.counts_lines().then(|| self.read(&target.place, &target.rules).ok())??;
            seen.snapshot.is_some().then(|| Arc::new(seen.buffer))
        };
        call.arrived = call.requests.iter().zip(targets).map(text).collect();
    }

    /// Whether a process that has ended left one of the files half-way; asked while their locks are held.
    pub(super) fn is_left_half_done(&self, targets: &[ResolvedTarget]) -> bool {
        targets.iter().any(|target| self.store.stale(&target.place))
    }

    /// Completes or takes back what was left half-way, and keeps what a person should know until somebody can be told.
    pub(super) fn recover(&self) {
        let notes = self.store.journal.recover(&self.store.files, &self.locks);
        notes.iter().for_each(|note| tracing::warn!("{note}"));
        if let Ok(mut untold) = self.untold.lock() {
            untold.extend(notes);
        }
    }
}

fn twice(path: &str, first: usize, at: usize) -> Error {
    let seen = format!("edits[{at}] is about {path}, and so is edits[{first}]");
    Error::new(Code::InvalidInput, seen)
        .field(format!("edits[{at}].path"))
        .hint("put all edits of one file into one entry")
}

fn nested(first: usize, at: usize) -> Error {
    let seen = format!("of edits[{first}] and edits[{at}] one makes a file of what is a folder to the other");
    Error::new(Code::InvalidInput, seen).field(format!("edits[{at}].path")).hint("correct one of the paths")
}
