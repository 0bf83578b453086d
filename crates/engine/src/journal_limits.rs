//! Applies the limits of a policy to the journals.

use lockgate_error::Error;
use lockgate_policy::Policy;
use lockgate_store::{FileLocation, RetentionLimits, Store};

/// Returns the limits of a policy.
pub(super) fn limits(policy: &Policy) -> RetentionLimits {
    RetentionLimits { size: policy.limits.journal, age: policy.limits.journal_age }
}

/// Applies the limits to the journal of a file's root, which has a thread of its own for the work.
pub(super) fn tidy_journal(store: &Store, file: &FileLocation, rules: &Policy) {
    warn_untidy(store.journal.tidy(file, limits(rules)));
}

/// Logs the failure of a cleanup.
pub(super) fn warn_untidy(result: Result<(), Error>) {
    if let Err(error) = result {
        tracing::warn!("the journal was not cleaned up: {}", error.message);
    }
}
