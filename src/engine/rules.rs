//! The policy that rules a place, parsed once for each text that a policy file has had.

use std::sync::Arc;

use dashmap::DashMap;

use crate::error::Error;
use crate::policy::Policy;
use crate::store::{Files, Place};
use crate::text::Stamp;

/// The most policies that are kept parsed; past it, all are dropped and parsed again as they are needed.
const KEPT: usize = 256;

/// Policies by the name and text of their file.
#[derive(Default)]
pub struct Rules {
    parsed: DashMap<(String, Stamp), Arc<Policy>>,
}

impl Rules {
    /// The policy that rules a place: that of the nearest policy file, else the built-in default.
    ///
    /// Errors: `POLICY_INVALID`.
    pub fn of(&self, files: &Files, place: &Place) -> Result<Arc<Policy>, Error> {
        let Some((name, text)) = files.policy_text(place)? else { return Ok(Policy::embedded()) };
        let key = (name, Stamp::of(text.as_bytes()));
        if let Some(policy) = self.parsed.get(&key) {
            return Ok(Arc::clone(&policy));
        }
        let policy = Arc::new(Policy::parse(&key.0, &text)?);
        if self.parsed.len() >= KEPT {
            self.parsed.clear();
        }
        self.parsed.insert(key, Arc::clone(&policy));
        Ok(policy)
    }
}
