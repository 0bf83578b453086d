//! The limits that a policy sets for the journal of a root.

use lockgate_policy::Policy;
use lockgate_store::RetentionLimits;

/// Returns the size and age limits of a policy.
pub(super) fn journal_limits(policy: &Policy) -> RetentionLimits {
    RetentionLimits { size: policy.limits.journal, age: policy.limits.journal_age }
}
