//! Finds the policy of a place.

use std::sync::Arc;

use super::services::Services;
use lockgate_error::Error;
use lockgate_policy::Policy;
use lockgate_store::DocumentPath;

impl Services {
    /// Returns the policy of a place: that of a file's folder, or the one at the top for an entity.
    ///
    /// Errors: `POLICY_INVALID`.
    pub(super) fn rules_of(&self, place: &DocumentPath) -> Result<Arc<Policy>, Error> {
        match place {
            DocumentPath::File(place) => self.policies.policy(&self.store.files, place),
            DocumentPath::Row(_) => self.policy_at_top(),
        }
    }

    /// Returns the policy at the top of the first root.
    pub(super) fn policy_at_top(&self) -> Result<Arc<Policy>, Error> {
        self.policies.policy_of(&self.store.files, self.store.files.policy_at_top()?)
    }
}
