//! The answers of the filters to calls, as the kernel would give them.

use super::*;

/// The architecture's number in `seccomp_data`.
const NATIVE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
const I386: u32 = 0x4000_0003;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Runs a program as seccomp(2) does on one call.
fn run(program: &[sock_filter], arch: u32, call: i64, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend((call as u32).to_ne_bytes());
    data.extend(arch.to_ne_bytes());
    data.extend([0; 8]);
    data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let step = &program[at];
        at += 1;
        let branch = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        let k = step.k as usize;
        match step.code {
            0x20 => accumulator = u32::from_ne_bytes(data[k..k + 4].try_into().unwrap()),
            0x54 => accumulator &= step.k,
            0x05 => at += k,
            0x15 => at += branch(accumulator == step.k),
            0x25 => at += branch(accumulator > step.k),
            0x35 => at += branch(accumulator >= step.k),
            0x06 => return step.k,
            code => panic!("a step of code {code:#x}"),
        }
    }
}

fn landlock() -> BpfProgram {
    refusing_filter(FilterOptions { metadata: Metadata::Supervisor, families: LOCAL }).unwrap()
}

fn answers(program: &[sock_filter], call: i64, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    run(program, NATIVE, call, all)
}

#[test]
fn calls_on_other_processes_are_refused_and_on_the_caller_allowed() {
    let program = landlock();
    for call in SELF_ONLY {
        assert_eq!(answers(&program, *call, &[0]), ALLOW, "{call}");
        // The kernel takes the low 32 bits: 1 << 32 is the caller.
        assert_eq!(answers(&program, *call, &[1 << 32]), ALLOW, "{call}");
        for other in [1, 4711, u64::from(u32::MAX), u64::MAX, (7 << 32) | 1] {
            assert_eq!(answers(&program, *call, &[other]), EPERM, "{call} of {other:#x}");
        }
    }
    for (call, own) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
        assert_eq!(answers(&program, call, &[own, 0, 5]), ALLOW, "{call}");
        for other in [[own, 7, 5], [own + 1, 0, 5], [own + 2, 0, 5], [u64::MAX, 0, 5], [own, u64::MAX, 5]] {
            assert_eq!(answers(&program, call, &other), EPERM, "{call} {other:?}");
        }
    }
}

#[test]
fn sockets_are_those_of_the_families() {
    let refused_and_allowed = [
        (LOCAL, vec![1], vec![0, 2, 10, 15, 16, 17, 21, 31, 38, 40, 44, u64::MAX]),
        (INTERNET, vec![1, 2, 10, 16], vec![0, 15, 17, 21, 31, 38, 40, 44, u64::MAX]),
    ];
    for (families, allowed, refused) in refused_and_allowed {
        let program = refusing_filter(FilterOptions { metadata: Metadata::Mounts, families }).unwrap();
        // An MPTCP socket is one of the family INET.
        for (kind, protocol) in [(1, 0), (1, 262), (2, 0), (3, 255)] {
            for family in &allowed {
                assert_eq!(
                    answers(&program, libc::SYS_socket, &[*family, kind, protocol]),
                    ALLOW,
                    "{family}"
                );
                let hidden = (1 << 40) | family;
                assert_eq!(answers(&program, libc::SYS_socket, &[hidden, kind, protocol]), ALLOW);
            }
            for family in &refused {
                for high in [0, 1 << 32, 1 << 63] {
                    let family = family | high;
                    assert_eq!(
                        answers(&program, libc::SYS_socket, &[family, kind, protocol]),
                        EPERM,
                        "{family}"
                    );
                }
            }
        }
        assert_eq!(answers(&program, libc::SYS_socketpair, &[1, 1]), ALLOW);
        assert_eq!(answers(&program, libc::SYS_socketpair, &[30, 1]), EPERM);
    }
}

#[test]
fn namespaces_are_refused_and_threads_and_processes_allowed() {
    let program = landlock();
    // As fork, vfork and pthread_create of glibc call it.
    for flags in [0x0120_0011_u64, 0x4111, 0x003d_0f00, 17] {
        assert_eq!(answers(&program, libc::SYS_clone, &[flags]), ALLOW, "{flags:#x}");
        for namespace in NAMESPACES.map(low) {
            assert_eq!(
                answers(&program, libc::SYS_clone, &[flags | namespace]),
                EPERM,
                "{flags:#x} {namespace:#x}"
            );
        }
    }
    assert_eq!(answers(&program, libc::SYS_clone3, &[0x1000, 88]), ENOSYS);
    assert_eq!(answers(&program, libc::SYS_unshare, &[0]), EPERM);
}

#[test]
fn requests_that_change_a_file_or_a_terminal_are_refused() {
    let program = landlock();
    let refused = [
        ("TIOCSTI", 0x5412),
        ("TIOCLINUX", 0x541c),
        ("FS_IOC_SETFLAGS", 0x4008_6602),
        ("FS_IOC32_SETFLAGS", 0x4004_6602),
        ("FS_IOC_FSSETXATTR", 0x401c_5820),
        ("FS_IOC_SETVERSION", 0x4008_7602),
        ("FS_IOC_ENABLE_VERITY", 0x4080_6685),
        ("FS_IOC_SET_ENCRYPTION_POLICY", 0x800c_6613),
        ("FAT_IOCTL_SET_ATTRIBUTES", 0x4004_7211),
        ("BTRFS_IOC_SUBVOL_CREATE", 0x5000_940e),
        ("BTRFS_IOC_SNAP_DESTROY_V2", 0x5000_943f),
        ("BTRFS_IOC_SUBVOL_SETFLAGS", 0x4008_941a),
    ];
    for (name, request) in refused {
        for high in [0, 1 << 32, u64::from(u32::MAX) << 32] {
            assert_eq!(answers(&program, libc::SYS_ioctl, &[3, request | high]), EPERM, "{name}");
        }
    }
    let allowed = [
        ("TCGETS", 0x5401),
        ("TIOCGWINSZ", 0x5413),
        ("TIOCGPGRP", 0x540f),
        ("FIONREAD", 0x541b),
        ("FIONBIO", 0x5421),
        ("FIOCLEX", 0x5451),
        ("FS_IOC_GETFLAGS", 0x8008_6601),
        ("FS_IOC_FSGETXATTR", 0x801c_581f),
        ("FICLONE", 0x4004_9409),
        ("FICLONERANGE", 0x4020_940d),
    ];
    for (name, request) in allowed {
        assert_eq!(answers(&program, libc::SYS_ioctl, &[3, request]), ALLOW, "{name}");
    }
    for (command, answer) in [(libc::F_SETLEASE, EPERM), (libc::F_SETFD, ALLOW), (libc::F_SETLK, ALLOW)] {
        assert_eq!(answers(&program, libc::SYS_fcntl, &[3, command as u64]), answer, "{command}");
    }
}

#[test]
fn what_runs_by_other_numbers_is_refused() {
    let program = landlock();
    for call in [0, 20, 90, libc::SYS_clone3] {
        assert_eq!(
            run(&program, I386, call, [0; 6]) & libc::SECCOMP_RET_ACTION_FULL,
            kill_or(call),
            "{call}"
        );
    }
    if cfg!(target_arch = "x86_64") {
        for call in [0, 39, 101, 521] {
            assert_eq!(answers(&program, call | i64::from(X32), &[]), ENOSYS, "{call}");
        }
    }
    assert_eq!(answers(&program, libc::SYS_getpid, &[]), ALLOW);
}

/// The new numbers are the same for all architectures, and there is no clone3 for anybody.
fn kill_or(call: i64) -> u32 {
    if call == libc::SYS_clone3 { libc::SECCOMP_RET_ERRNO } else { libc::SECCOMP_RET_KILL_PROCESS }
}

#[test]
fn metadata_is_refused_handed_over_or_left_to_the_mounts() {
    let filter = |metadata| refusing_filter(FilterOptions { metadata, families: LOCAL }).unwrap();
    let over = supervising_filter().unwrap();
    for call in SUPERVISED {
        assert_eq!(answers(&filter(Metadata::Refused), *call, &[]), EPERM, "{call}");
        assert_eq!(answers(&filter(Metadata::Supervisor), *call, &[]), ALLOW, "{call}");
        assert_eq!(answers(&filter(Metadata::Mounts), *call, &[]), ALLOW, "{call}");
        assert_eq!(answers(&over, *call, &[]), libc::SECCOMP_RET_USER_NOTIF, "{call}");
    }
    for call in OWNER_AND_ATTRIBUTES {
        assert_eq!(answers(&filter(Metadata::Refused), *call, &[]), EPERM, "{call}");
        assert_eq!(answers(&filter(Metadata::Supervisor), *call, &[]), EPERM, "{call}");
        assert_eq!(answers(&filter(Metadata::Mounts), *call, &[]), ALLOW, "{call}");
    }
    for call in [libc::SYS_openat, libc::SYS_read, libc::SYS_write] {
        assert_eq!(answers(&over, call, &[]), ALLOW, "{call}");
    }
}

#[test]
fn a_program_cannot_set_a_supervisor_over_ours() {
    let program = landlock();
    for (flags, answer) in [(0, ALLOW), (1, ALLOW), (8, EPERM), (8 | 32, EPERM), ((1 << 32) | 8, EPERM)] {
        assert_eq!(answers(&program, libc::SYS_seccomp, &[1, flags]), answer, "{flags}");
    }
}

#[test]
fn every_call_that_is_refused_is_refused_at_every_level() {
    for metadata in [Metadata::Mounts, Metadata::Supervisor, Metadata::Refused] {
        let program = refusing_filter(FilterOptions { metadata, families: INTERNET }).unwrap();
        for call in REFUSED {
            assert_eq!(answers(&program, *call, &[u64::MAX; 6]), EPERM, "{call}");
        }
        let bytes = bytes(&program);
        assert_eq!(bytes.len(), program.len() * 8);
        assert!(program.len() < 4096, "{}", program.len());
    }
}
