//! What agents do to a text by accident, found by comparing it with the text before.

use super::delta::Mark;
use super::draft::Draft;
use super::syntax::Trouble;
use super::watch::Limit;
use crate::policy::Damage;

/// Looks for the accidents that the policy weighs; each finding with whether the edit brought it.
pub(super) fn judge(
    _draft: &Draft<'_>,
    _damage: &Damage,
    _limit: Limit<'_>,
) -> Result<Vec<(Mark, bool)>, Trouble> {
    Ok(Vec::new())
}
