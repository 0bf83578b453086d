//! The seccomp filter used with Landlock and inside bubblewrap: the system calls that no gate's program may
//! make.
//!
//! Landlock covers files by path, and little else. It does not cover their mode, times, owner and attributes,
//! sockets that are neither TCP nor known to it, or calls on other processes of the same user. The filter
//! refuses such calls by their number and by arguments passed by value; it cannot follow pointers. A call
//! that depends on a pointer's target is refused entirely, or, if tools need it, handed to
//! [`super::supervisor`].
//!
//! Refused calls fail with EPERM. Calls with an older form that the filter can check fail with ENOSYS, so
//! that libraries use the older form. A program of another architecture (32-bit x86) is killed at its first
//! call, because its calls have other numbers.
//!
//! The kernel keeps arguments in 64-bit registers, and most calls use the low 32 bits. Conditions compare as
//! many bits as the call uses; with more, a program could evade a condition through bits that the call
//! ignores.
//!
//! Invariant: if a filter cannot be made or installed, the program is not started.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// The handling of calls that change the mode and the times of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    /// Allowed: mounts are read-only where a program must not write.
    Mounts,
    /// Handed to a supervisor, call by call: [`SUPERVISED`].
    Supervisor,
    /// All such calls fail with EPERM.
    Refused,
}

/// The settings of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilterOptions {
    pub(super) metadata: Metadata,
    /// The socket families that a program may use, `AF_*`.
    pub(super) families: &'static [i32],
}

/// The socket families without network access: within the machine only.
pub(super) const LOCAL: &[i32] = &[libc::AF_UNIX];
/// The socket families with network access; netlink lists the interfaces and addresses.
pub(super) const INTERNET: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

// Since Linux 5.12, new calls have the same number on all architectures supported here; libc lacks some of
// them.
/// The variant of `fchmodat` with flags.
pub(super) const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_OPEN_TREE_ATTR: i64 = 467;
const SYS_FILE_SETATTR: i64 = 469;

/// Calls that change the mode or the times of a file.
pub(super) const SUPERVISED: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Calls that change the owner or the attributes of a file.
const OWNER_AND_ATTRIBUTES: &[i64] = &[
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
];

/// Calls that are refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Access to another process: its memory, its descriptors, the location of its pages.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Objects that outlive the program: System V IPC, message queues, keys.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Ways around the filter, and calls that have been a way into the kernel.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    // Namespaces and mounts, which could give it rights of its own.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // The administration of the machine.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Calls whose first argument is a process or thread number, with 0 for the caller; any other number is
/// refused.
const SELF_ONLY: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// `PRIO_PROCESS` of setpriority(2) and `IOPRIO_WHO_PROCESS` of ioprio_set(2): the second argument is a
/// thread, 0 for the caller.
const PRIO_PROCESS: u64 = 0;
const IOPRIO_WHO_PROCESS: u64 = 1;

/// The flags of clone(2) that make a namespace, CLONE_NEWNS to CLONE_NEWNET.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The refused requests of ioctl(2), as a mask and the masked value: `_IOC` of <linux/ioctl.h>.
const IOCTLS: [(u64, u64); 10] = [
    // TIOCSTI and TIOCLINUX: input to the terminal that lockgate was started from.
    (u32::MAX as u64, 0x5412),
    (u32::MAX as u64, 0x541c),
    // FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY and every other request of 'f' that takes a value.
    (0x4000_ff00, 0x4000_6600),
    // FS_IOC_SET_ENCRYPTION_POLICY, which takes a value although its number says that it returns one.
    (u32::MAX as u64, 0x800c_6613),
    // FS_IOC_FSSETXATTR, FIFREEZE, and those of XFS.
    (0x4000_ff00, 0x4000_5800),
    // FS_IOC_SETVERSION.
    (0x4000_ff00, 0x4000_7600),
    // FAT_IOCTL_SET_ATTRIBUTES.
    (0x4000_ff00, 0x4000_7200),
    // btrfs: creating and removing subvolumes and snapshots, but not FICLONE.
    (0x5000_ff00, 0x5000_9400),
    // BTRFS_IOC_SUBVOL_SETFLAGS and BTRFS_IOC_DEFRAG_RANGE.
    (u32::MAX as u64, 0x4008_941a),
    (u32::MAX as u64, 0x4030_9410),
];

/// `F_SETLEASE`, which lets a reader delay others that open the file, and `F_NOTIFY`.
const FCNTLS: [i32; 2] = [libc::F_SETLEASE, libc::F_NOTIFY];

/// The bit of a call's number that marks x32, the 32-bit calls of x86-64.
const X32: u32 = 0x4000_0000;

/// Builds the BPF program that refuses calls.
pub(super) fn refusing_filter(options: FilterOptions) -> io::Result<BpfProgram> {
    let arch: TargetArch = ARCH.try_into().map_err(io::Error::other)?;
    let rules = rules(options).map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(io::Error::other)?;
    let filter = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    let mut program = vec![load_number()];
    let enosys = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    if arch == TargetArch::x86_64 {
        program.extend([jump(libc::BPF_JGE, X32, 0, 1), answer(enosys)]);
    }
    // Its flags are behind a pointer; libraries fall back to clone(2).
    program.extend([jump(libc::BPF_JEQ, number(libc::SYS_clone3)?, 0, 1), answer(enosys)]);
    program.extend(filter);
    Ok(program)
}

/// Builds the BPF program that hands the calls of [`SUPERVISED`] to a supervisor. It is installed in addition
/// to the refusing one.
pub(super) fn supervising_filter() -> io::Result<BpfProgram> {
    supervising_filter_for(SUPERVISED)
}

pub(super) fn supervising_filter_for(calls: &[i64]) -> io::Result<BpfProgram> {
    let mut program = vec![load_number()];
    for call in calls {
        program.extend([jump(libc::BPF_JEQ, number(*call)?, 0, 1), answer(libc::SECCOMP_RET_USER_NOTIF)]);
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    Ok(program)
}

/// Encodes a BPF program as bubblewrap reads it.
pub(super) fn bytes(program: &[sock_filter]) -> Vec<u8> {
    let bytes = |step: &sock_filter| {
        let [code_low, code_high] = step.code.to_ne_bytes();
        let [a, b, c, d] = step.k.to_ne_bytes();
        [code_low, code_high, step.jt, step.jf, a, b, c, d]
    };
    program.iter().flat_map(bytes).collect()
}

fn rules(options: FilterOptions) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if options.metadata != Metadata::Mounts {
        rules.extend(OWNER_AND_ATTRIBUTES.iter().map(|call| (*call, Vec::new())));
    }
    if options.metadata == Metadata::Refused {
        rules.extend(SUPERVISED.iter().map(|call| (*call, Vec::new())));
    }
    for call in SELF_ONLY {
        rules.insert(*call, vec![rule(&[(0, Ne, 0)])?]);
    }
    for (call, process) in [(libc::SYS_setpriority, PRIO_PROCESS), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS)]
    {
        rules.insert(call, vec![rule(&[(0, Ne, process)])?, rule(&[(1, Ne, 0)])?]);
    }
    let other: Vec<_> = options.families.iter().map(|family| (0, Ne, low(*family))).collect();
    rules.insert(libc::SYS_socket, vec![rule(&other)?]);
    rules.insert(libc::SYS_socketpair, vec![rule(&[(0, Ne, low(libc::AF_UNIX))])?]);
    let namespaces = NAMESPACES.map(low).map(|flag| rule(&[(0, MaskedEq(flag), flag)]));
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    let ioctls = IOCTLS.map(|(mask, value)| rule(&[(1, MaskedEq(mask), value)]));
    rules.insert(libc::SYS_ioctl, ioctls.into_iter().collect::<Result<_, _>>()?);
    let fcntls = FCNTLS.map(|command| rule(&[(1, Eq, low(command))]));
    rules.insert(libc::SYS_fcntl, fcntls.into_iter().collect::<Result<_, _>>()?);
    // Orphans stay below the program: see `before_program`.
    let subreaper = low(libc::PR_SET_CHILD_SUBREAPER);
    rules.insert(libc::SYS_prctl, vec![rule(&[(0, Eq, subreaper), (1, Eq, 0)])?]);
    // A supervisor of the program's own could allow calls that are handed to ours.
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    rules.insert(libc::SYS_seccomp, vec![rule(&[(1, MaskedEq(listener), listener)])?]);
    Ok(rules)
}

/// Returns a rule that matches if all of these conditions hold for the low 32 bits of the arguments.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = |(argument, operator, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    SeccompRule::new(conditions.iter().map(condition).collect::<Result<_, _>>()?)
}

/// A 32-bit argument as the low half of a register.
fn low(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

fn number(call: i64) -> io::Result<u32> {
    u32::try_from(call).map_err(io::Error::other)
}

/// Loads the number of the call, the first field of `seccomp_data`.
fn load_number() -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)
}

/// Compares the number, and skips `jt` steps if that holds and `jf` steps if not.
fn jump(comparison: u32, value: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..step(libc::BPF_JMP | comparison | libc::BPF_K, value) }
}

fn answer(answer: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, answer)
}

fn step(code: u32, k: u32) -> sock_filter {
    // All of these codes are below 256.
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

#[cfg(test)]
mod tests;
