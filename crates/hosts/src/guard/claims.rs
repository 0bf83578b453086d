//! Which hook works on a call: several hooks of one host may get the same event, and one of them answers it.

use std::path::Path;

use super::EventGuard;
use crate::event::{Event, HostCall, Moment};
use lockgate_engine::ToolCallRecords;
use lockgate_text::Version;

impl EventGuard<'_> {
    /// True unless another hook of the same event has the call already.
    pub(super) fn is_first(&self, call: &HostCall) -> bool {
        let known = self.claims.as_ref().and_then(|claims| {
            let number = self.event.calls.iter().position(|other| std::ptr::eq(other, call))?;
            claims.get(number).copied()
        });
        known.unwrap_or_else(|| claim(self.event, call, &self.root, self.workspace.tool_calls()))
    }
}

/// Claims the calls of an event that a hook judges or records for the project at `root`: for each, true unless another
/// hook has it already.
pub fn claim_calls(event: &Event, root: &Path, records: &ToolCallRecords) -> Vec<bool> {
    let is_used = |number: usize, call: &HostCall| match event.moment {
        Moment::Before => number == 0,
        Moment::After => call.failure.is_none(),
        Moment::AfterFailure => false,
    };
    let claims = event.calls.iter().enumerate();
    claims.map(|(number, call)| !is_used(number, call) || claim(event, call, root, records)).collect()
}

fn claim(event: &Event, call: &HostCall, root: &Path, records: &ToolCallRecords) -> bool {
    let key = claim_key(event, call, root);
    // Without a state folder, each hook judges.
    key.is_none_or(|key| records.claim(&key).unwrap_or(true))
}

/// Gives up the claims of the calls of an event, so that the next hook that has them judges them again.
pub fn release_calls(event: &Event, root: &Path, records: &ToolCallRecords) {
    event.calls.iter().filter_map(|call| claim_key(event, call, root)).for_each(|key| records.release(&key));
}

/// Returns the key that all hooks of one call at one moment have in common; `None` if the host gives the call no id.
fn claim_key(event: &Event, call: &HostCall, root: &Path) -> Option<String> {
    let id = event.call.as_ref().or(event.time.as_ref())?;
    let Event { host, moment, session, .. } = event;
    let input = Version::hash(call.input.to_string().as_bytes());
    let root = root.display();
    Some(format!("{moment:?} {} {session} {id} {} {} {root}", host.name(), call.tool, input.hex()))
}
