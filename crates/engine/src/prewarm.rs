//! Starts the language servers of a file as soon as the file is read.
//!
//! Invariant: callers do not wait for this, and a failure here does not affect them.

use std::sync::Arc;

use super::judge::GateContext;
use super::services::Services;
use lockgate_checks::InputLocation;
use lockgate_edit::request::Target;
use lockgate_error::Error;
use lockgate_policy::{Profile, language_of};

impl Services {
    /// Starts the servers of the gates that would judge a file, in the background, if servers are kept.
    pub(super) fn prewarm(self: &Arc<Self>, target: &Target) {
        let Target::File(path) = target else { return };
        if !self.gate_runtime.keeps_servers() || !self.prewarmed.is_first(path) {
            return;
        }
        let (workspace, path) = (Arc::clone(self), path.clone());
        let _started = tokio::task::spawn_blocking(move || {
            let warmed = workspace.warm(&path);
            warmed.inspect_err(|why| tracing::debug!(%path, why = %why.message, "no server is started"))
        });
    }

    fn warm(&self, path: &str) -> Result<(), Error> {
        let place = self.store.files.admit_to_read(path)?;
        let rules = self.policies.policy(&self.store.files, &place)?;
        let language = language_of(place.in_root(), None);
        let effective_rules = rules.effective_rules(place.in_root(), language, Profile::Edit);
        if !effective_rules.rules.iter().any(|rule| rule.enabled && rule.gate.server().is_some()) {
            return Ok(());
        }
        let root = self.store.files.root_path(&place)?;
        let permission = self.trust.grant(&self.store.files, &place, &rules, &effective_rules);
        let cache = self.trust.cache(&self.store.files, &place, &permission);
        let location = InputLocation::OverFile;
        let context = GateContext { root, location, language, rules: effective_rules, permission, cache };
        context.env(self, &rules).prewarm(&context.rules, place.in_root(), language);
        Ok(())
    }
}
