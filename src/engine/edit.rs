//! The line itself: admit the path, take the rules, hold the lock, read, compare with what the caller saw, plan,
//! apply, judge, decide, publish, report.

use std::sync::Arc;

use super::check::{Drafted, Seen, cancelled};
use super::{Decision, Report, Workspace, decide, guards};
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::policy::{Policy, Publishing};
use crate::request::{Request, Target};
use crate::store::{Content, Held, Place, Published, Told, Write};
use crate::text::Buffer;

/// How often a path is resolved anew because it changed while the lock was waited for.
const RESOLVED_AGAIN: usize = 3;

impl Workspace {
    /// Carries one edit from the request to the report.
    ///
    /// A finding of a gate is part of the report; an `Error` is what stopped the line, and then nothing was written.
    pub async fn edit(self: &Arc<Self>, request: Request, watch: Watch) -> Result<Report, Error> {
        let (place, rules, held) = tokio::select! {
            held = self.hold(&request.target) => held?,
            () = watch.ended() => return Err(cancelled()),
        };
        self.off_reactor(move |workspace| workspace.carry(&request, &place, &rules, &watch, held)).await
    }

    fn carry(
        &self,
        request: &Request,
        place: &Place,
        rules: &Policy,
        watch: &Watch,
        _held: Held,
    ) -> Result<Report, Error> {
        let seen = self.read(place, rules)?;
        guards::check(request, place, &seen, rules)?;
        seen.check(request)?;
        let planned = self.plan(request, place, &seen, rules)?;
        let draft = Drafted::new(&seen, &planned.plan, rules)?;
        let (draft, verdict) = self.judge(request.mode, place, &seen, draft, rules, watch)?;
        let decision = decide(request.mode, &verdict);
        let published = self.publish(place, &seen, &draft, decision)?;
        Ok(Report::new(place, seen.release(), planned, draft, verdict, decision, published))
    }

    fn publish(
        &self,
        place: &Place,
        seen: &Seen,
        draft: &Drafted,
        decision: Decision,
    ) -> Result<Option<Published>, Error> {
        match decision {
            Decision::Write if draft.differs => {
                let before = seen.snapshot.as_ref().map(|snapshot| snapshot.held(content(&seen.buffer)));
                let after = Some(content(&draft.buffer));
                let write = Write { place, before, after, mode: None, told: Told::default() };
                let done = self.files.publish(&[write], Publishing::default(), None)?;
                Ok(done.files.into_iter().next())
            }
            Decision::Write | Decision::Refuse | Decision::Show => Ok(None),
        }
    }

    async fn admit(self: &Arc<Self>, target: &Target) -> Result<(Place, Arc<Policy>), Error> {
        let target = target.clone();
        self.off_reactor(move |workspace| {
            let Target::File(path) = &target;
            let place = workspace.files.admit(path)?;
            let rules = workspace.rules.of(&workspace.files, &place)?;
            Ok((place, rules))
        })
        .await
    }

    /// Holds the lock of a target, resolved anew once it is had: whoever held it before may have moved things.
    async fn hold(self: &Arc<Self>, target: &Target) -> Result<(Place, Arc<Policy>, Held), Error> {
        let (mut place, mut rules) = self.admit(target).await?;
        for _ in 0..RESOLVED_AGAIN {
            let held = self.locks.hold(&[place.key()], rules.limits.lock_wait).await?;
            let before = place;
            (place, rules) = self.admit(target).await?;
            if place.key() == before.key() {
                return Ok((place, rules, held));
            }
        }
        Err(Error::new(Code::EditConflict, "the path leads to another file each time it is looked at"))
    }
}

fn content(buffer: &Buffer) -> Content<'_> {
    Content { stamp: buffer.stamp(), bytes: buffer.bytes() }
}
