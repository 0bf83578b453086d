//! The kinds of file systems that are treated in their own way, by the kernel's magic numbers.

use std::os::fd::AsFd;

/// File systems whose times come from this machine's clock: ext, xfs, btrfs, tmpfs, overlayfs, zfs, f2fs,
/// bcachefs.
const LOCAL: [u32; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e];

/// File systems whose files hold no content of their own: proc, sysfs, debugfs, tracefs, securityfs, cgroup,
/// cgroup2, bpf.
const PSEUDO: [u32; 8] =
    [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270, 0xcafe_4a11];

/// File systems that report a writer when they cannot know: NFS, CIFS, SMB 2.
const UNSURE: [u32; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// True for a file system whose times come from this machine's clock, and whose names have no second spelling but
/// their case and Unicode form.
pub(crate) fn is_local(file: impl AsFd) -> bool {
    magic(file).is_ok_and(|magic| LOCAL.contains(&magic))
}

/// True if the kernel generates the files of this file system.
pub(crate) fn is_made_up(file: impl AsFd) -> rustix::io::Result<bool> {
    Ok(PSEUDO.contains(&magic(file)?))
}

/// True if the file system reports a writer of a file when it cannot know.
pub(crate) fn is_unsure_of_writers(file: impl AsFd) -> bool {
    magic(file).is_ok_and(|magic| UNSURE.contains(&magic))
}

/// Returns the magic number, which has 32 bits; the field of the kernel's structure is wider on most machines.
fn magic(file: impl AsFd) -> rustix::io::Result<u32> {
    rustix::fs::fstatfs(file).map(|system| system.f_type as u32)
}
