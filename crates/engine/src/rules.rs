//! Finds the policy of a place.

use std::sync::Arc;

use super::services::Services;
use super::workspace::Workspace;
use lockgate_error::Error;
use lockgate_policy::{HookSettings, Policy};
use lockgate_store::{DocumentPath, FileLocation};

impl Services {
    /// Returns the policy of a place: that of a file's folder, or the one at the top for an entity.
    ///
    /// Errors: `POLICY_INVALID`.
    pub(super) fn rules_of(&self, place: &DocumentPath) -> Result<Arc<Policy>, Error> {
        match place.file() {
            Some(file) => self.policies.policy(&self.store.files, file),
            None => self.policy_at_top(),
        }
    }

    /// Returns the settings of a place's policy for hooks, as far as they count: those that loosen the guard need the trust
    /// of a person.
    pub(super) fn hook_settings(&self, place: &FileLocation, policy: &Policy) -> HookSettings {
        let is_trusted = || {
            let commands = self.trust.commands(&self.store.files, place, policy);
            commands.is_ok_and(|commands| self.trust.missing_trust(&commands).is_none())
        };
        if !policy.hooks.need_trust() || is_trusted() { policy.hooks } else { policy.hooks.without_trust() }
    }

    /// Returns the policy at the top of the first root.
    pub(super) fn policy_at_top(&self) -> Result<Arc<Policy>, Error> {
        self.policies.policy_of(&self.store.files, self.store.files.policy_at_top()?)
    }
}

impl Workspace {
    /// Returns the settings for hooks of the policy at the top of the first root: without trust in the policy, only those
    /// that are at least as strict as the default.
    ///
    /// Errors: `POLICY_INVALID`, and those of finding the root.
    pub fn hook_settings_at_top(&self) -> Result<HookSettings, Error> {
        let place = self.services.store.files.find_folder(&self.top().to_string_lossy())?;
        let policy = self.services.policy_at_top()?;
        Ok(self.services.hook_settings(&place, &policy))
    }
}
