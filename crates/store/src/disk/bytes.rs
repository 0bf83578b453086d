//! The comparison of an open file with bytes in memory, and the writing of them.

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, Result as Io, retry_on_intr};
use std::os::fd::OwnedFd;

const CHUNK: usize = 64 * 1024;

/// True if the file has exactly these bytes. Reads from the start; the position of the descriptor stays.
pub(crate) fn has_bytes(file: &OwnedFd, bytes: &[u8]) -> Io<bool> {
    let mut chunk = Vec::with_capacity(CHUNK.min(bytes.len() + 1));
    let (mut rest, mut offset) = (bytes, 0);
    loop {
        chunk.clear();
        let count = retry_on_intr(|| rustix::io::pread(file, spare_capacity(&mut chunk), offset))?;
        if count == 0 {
            return Ok(rest.is_empty());
        }
        offset += count as u64;
        match rest.split_at_checked(count) {
            Some((expected, after)) if chunk == expected => rest = after,
            _ => return Ok(false),
        }
        // The last bytes did not fill the buffer, which has room for one more: the file ended there.
        if rest.is_empty() && count < chunk.capacity() {
            return Ok(true);
        }
    }
}

/// Writes all bytes at the position of the descriptor.
pub(crate) fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Io<()> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| rustix::io::write(file, bytes))?;
        bytes = bytes.get(written..).filter(|_| written > 0).ok_or(Errno::IO)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Seek as _};

    use super::*;

    #[test]
    fn only_the_very_bytes_are_equal_at_every_size_around_a_chunk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1] {
            let bytes = vec![b'x'; size];
            std::fs::write(&path, &bytes).unwrap();
            let file: OwnedFd = File::open(&path).unwrap().into();
            assert_eq!(has_bytes(&file, &bytes), Ok(true), "{size}");
            let longer = [&bytes[..], b"x"].concat();
            assert_eq!(has_bytes(&file, &longer), Ok(false), "{size}");
            if size > 0 {
                assert_eq!(has_bytes(&file, &bytes[1..]), Ok(false), "{size}");
                let other = [&bytes[1..], b"y"].concat();
                assert_eq!(has_bytes(&file, &other), Ok(false), "{size}");
            }
            let (mut file, mut rest) = (File::from(file), Vec::new());
            assert_eq!(file.stream_position().unwrap(), 0, "the position stays");
            file.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, bytes);
        }
    }
}
