//! Reads files of a project that may not be regular: opening a pipe could block forever, and a device has no
//! end.
//!
//! Invariant: only regular files are read, and nothing here waits for another process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading; links are followed.
///
/// Errors: those of the system, and a path that leads to anything but a regular file.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Opening a device may already have an effect.
    if !path.metadata()?.is_file() {
        return Err(irregular());
    }
    // Another file may have replaced it meanwhile.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Opens a regular file for appending, or creates it for this user alone; never through a link.
///
/// Errors: a path that leads to anything else, and those of opening.
pub(super) fn append(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Reads at most the first `most` bytes of a regular file.
///
/// Errors: a path that leads to anything but a regular file, and those of opening and reading.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates a named pipe for a test.
#[cfg(test)]
pub(super) fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Runs `work` on its own thread, and panics if it has not ended after 30 seconds.
#[cfg(test)]
pub(super) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    is_done.recv_timeout(std::time::Duration::from_secs(30)).expect("it still waits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_or_a_device_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        make_pipe(&at("pipe"));
        assert_eq!(read(&at("file"), 9).unwrap(), b"text");
        assert_eq!(read(&at("link"), 2).unwrap(), b"te");
        for other in [at("zero"), at("pipe"), folder.path().to_owned()] {
            let refused = in_time(move || read(&other, u64::MAX).unwrap_err());
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
        // The control: a plain read waits for a writer, which shows because the pipe has a reader.
        let (pipe, end) = (at("pipe"), at("pipe"));
        let plain = std::thread::spawn(move || std::fs::read(pipe));
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        in_time(move || {
            while OpenOptions::new().write(true).custom_flags(flags).open(&end).is_err() {
                std::thread::yield_now();
            }
        });
        assert_eq!(plain.join().unwrap().unwrap(), b"");
    }
}
