//! Random bytes of the operating system.

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns random bytes, if the system provides them.
pub(crate) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0_u8; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).is_ok_and(|filled| filled == N).then_some(bytes)
}
