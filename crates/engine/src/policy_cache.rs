//! Parsed policies, with all that each extends, cached by their texts.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;

use lockgate_error::Error;
use lockgate_policy::{Extends, Limits, Policy, PolicyOrigin, PolicySource};
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
    /// Policies below the top of a root, with the journal's limits from the top.
    below_top: DashMap<(Vec<PolicyKey>, u64, Duration), Arc<Policy>>,
}

impl PolicyCache {
    /// Returns the policy of a place: that of the nearest policy file, or the built-in default.
    ///
    /// A root has one journal, so the journal's limits are those of the policy at the top of the root. While that one is
    /// invalid, nothing limits the journal.
    ///
    /// Errors: `POLICY_INVALID`, also for an error in an extended policy.
    pub fn policy(&self, files: &Files, place: &FileLocation) -> Result<Arc<Policy>, Error> {
        let nearest = files.policy_text(place)?;
        let is_at_top = nearest.as_ref().is_none_or(|text| text.folder.is_empty());
        let (keys, texts) = self.read_extended(files, nearest)?;
        let policy = self.built(keys.clone(), &texts)?;
        if is_at_top {
            return Ok(policy);
        }
        let top = files.policy_of_root(place).and_then(|text| self.policy_of(files, text));
        let (journal, journal_age) =
            top.map_or((u64::MAX, Duration::MAX), |top| (top.limits.journal, top.limits.journal_age));
        if (policy.limits.journal, policy.limits.journal_age) == (journal, journal_age) {
            return Ok(policy);
        }
        cached(&self.below_top, &(keys, journal, journal_age), || {
            let limits = Limits { journal, journal_age, ..policy.limits };
            Ok(Arc::new(policy.with_limits(limits)))
        })
    }

    /// Returns the policy of a place whose nearest policy file has this text; without one, the built-in
    /// default.
    ///
    /// Errors: those of [`PolicyCache::policy`].
    pub fn policy_of(&self, files: &Files, nearest: Option<PolicyText>) -> Result<Arc<Policy>, Error> {
        let (keys, texts) = self.read_extended(files, nearest)?;
        self.built(keys, &texts)
    }

    /// Returns a policy file and those that it extends, the nearest first.
    fn read_extended(
        &self,
        files: &Files,
        nearest: Option<PolicyText>,
    ) -> Result<(Vec<PolicyKey>, Vec<PolicyText>), Error> {
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
        Ok((keys, texts))
    }

    /// Builds the policy that consists of these files.
    fn built(&self, keys: Vec<PolicyKey>, texts: &[PolicyText]) -> Result<Arc<Policy>, Error> {
        cached(&self.policies, &keys, || {
            let lay = |above: Arc<Policy>, text: &PolicyText| source(text)?.into_policy(&above).map(Arc::new);
            texts.iter().rev().try_fold(Policy::embedded(), lay)
        })
    }

    /// Returns what a policy file extends, which decides if the parent policy is read.
    fn extends(&self, key: &PolicyKey, text: &PolicyText) -> Result<Extends, Error> {
        cached(&self.extends, key, || Ok(source(text)?.extends()))
    }
}

fn source(text: &PolicyText) -> Result<PolicySource, Error> {
    let PolicyText { name, in_root, folder, .. } = text.clone();
    PolicySource::read(PolicyOrigin { name, in_root, folder }, &text.text)
}

/// Returns the cached value of a key, or computes and caches it.
fn cached<K: Eq + std::hash::Hash + Clone, V: Clone>(
    entries: &DashMap<K, V>,
    key: &K,
    compute: impl FnOnce() -> Result<V, Error>,
) -> Result<V, Error> {
    if let Some(value) = entries.get(key) {
        return Ok(value.clone());
    }
    let value = compute()?;
    if entries.len() >= MAX_POLICIES {
        entries.clear();
    }
    entries.insert(key.clone(), value.clone());
    Ok(value)
}
