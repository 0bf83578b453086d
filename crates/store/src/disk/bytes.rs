//! The comparison of an open file with bytes in memory.

use rustix::io::{Result as Io, retry_on_intr};
use std::os::fd::OwnedFd;

const CHUNK: usize = 64 * 1024;

/// True if the file has exactly these bytes. Reads from the start; the position of the descriptor stays.
pub(crate) fn has_bytes(file: &OwnedFd, bytes: &[u8]) -> Io<bool> {
    let mut chunk = vec![0_u8; CHUNK.min(bytes.len() + 1)];
    let (mut rest, mut offset) = (bytes, 0);
    loop {
        let count = retry_on_intr(|| rustix::io::pread(file, chunk.as_mut_slice(), offset))?;
        if count == 0 {
            return Ok(rest.is_empty());
        }
        offset += count as u64;
        match (chunk.get(..count), rest.split_at_checked(count)) {
            (Some(read), Some((expected, after))) if read == expected => rest = after,
            _ => return Ok(false),
        }
        // The last bytes did not fill the buffer, which has room for one more: the file ended there.
        if rest.is_empty() && count < chunk.len() {
            return Ok(true);
        }
    }
}
