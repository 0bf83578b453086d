//! Parsed policies, with all that each extends, cached by their texts.

use std::sync::Arc;

use dashmap::DashMap;

use lockgate_error::Error;
use lockgate_policy::{Extends, Policy, PolicyOrigin, PolicySource};
use lockgate_store::{FileLocation, Files, PolicyText};
use lockgate_text::Version;

/// The most cached policies; above this, all are dropped and parsed again when needed.
const MAX_POLICIES: usize = 256;

/// A policy file by its name and its text.
type PolicyKey = (String, Version);

/// Policies by the files that they consist of, the nearest first.
#[derive(Default)]
pub struct PolicyCache {
    extends: DashMap<PolicyKey, Extends>,
    policies: DashMap<Vec<PolicyKey>, Arc<Policy>>,
}

impl PolicyCache {
    /// Returns the policy of a place: that of the nearest policy file, or the built-in default.
    ///
    /// Errors: `POLICY_INVALID`, also for an error in an extended policy.
    pub fn policy(&self, files: &Files, place: &FileLocation) -> Result<Arc<Policy>, Error> {
        self.policy_of(files, files.policy_text(place)?)
    }

    /// Returns the policy of a place whose nearest policy file has this text; without one, the built-in
    /// default.
    ///
    /// Errors: those of [`PolicyCache::policy`].
    pub fn policy_of(&self, files: &Files, nearest: Option<PolicyText>) -> Result<Arc<Policy>, Error> {
        let (mut texts, mut keys, mut next) = (Vec::new(), Vec::new(), nearest);
        while let Some(text) = next {
            let key = (text.name.clone(), Version::hash(text.text.as_bytes()));
            next = match self.extends(&key, &text)? {
                Extends::Parent => files.policy_above(&text)?,
                Extends::Nothing | Extends::Default => None,
            };
            texts.push(text);
            keys.push(key);
        }
        if let Some(policy) = self.policies.get(&keys) {
            return Ok(Arc::clone(&policy));
        }
        let above = Policy::embedded();
        let lay = |above: Arc<Policy>, text: &PolicyText| Ok(Arc::new(source(text)?.into_policy(&above)?));
        let policy = texts.iter().rev().try_fold(above, lay)?;
        cache(&self.policies, keys, &policy);
        Ok(policy)
    }

    /// Returns what a policy file extends, which decides if the parent policy is read.
    fn extends(&self, key: &PolicyKey, text: &PolicyText) -> Result<Extends, Error> {
        if let Some(extends) = self.extends.get(key) {
            return Ok(*extends);
        }
        let extends = source(text)?.extends();
        cache(&self.extends, key.clone(), &extends);
        Ok(extends)
    }
}

fn source(text: &PolicyText) -> Result<PolicySource, Error> {
    let PolicyText { name, in_root, folder, .. } = text.clone();
    PolicySource::read(PolicyOrigin { name, in_root, folder }, &text.text)
}

fn cache<K: Eq + std::hash::Hash, V: Clone>(entries: &DashMap<K, V>, key: K, value: &V) {
    if entries.len() >= MAX_POLICIES {
        entries.clear();
    }
    entries.insert(key, value.clone());
}
