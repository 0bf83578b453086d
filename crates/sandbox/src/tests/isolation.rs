//! Attempts of a hostile program at each level of isolation; the table in docs/security.md is generated here.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::fixture::Fixture;
use super::process_fixture::{CallerKind, LONG, alone, exited, timed};
use crate::isolation::install_foreign_listener;
use crate::isolation_level::Isolation;
use crate::limits::{ProcessLimits, SharedGrowth};
use crate::order::FilterParts;
use crate::run::run_with_limits;
use crate::watch::{Halt, Watch};
use crate::{Ceiling, Order, ProcessOutcome, strongest, unavailable_reason};

const LEVELS: [Isolation; 3] = [Isolation::None, Isolation::Landlock, Isolation::Bubblewrap];

/// The attempts of one run, each with its name in the table.
pub(super) const ATTEMPTS: [(&str, &str); 60] = [
    ("change a file", "change a file of the project"),
    ("make a file", "make a file of the project"),
    ("cut a file short", "truncate a file of the project"),
    ("remove a file", "remove a file of the project"),
    ("write a hook", "write to `.git/hooks`"),
    ("write to the home", "write to the home"),
    ("read a key", "read `~/.ssh`"),
    ("read the state", "read lockgate's state and journal"),
    ("read a temporary file", "read another program's temporary file"),
    ("change the mode of a key", "change the mode of a key in the home"),
    ("change the mode of a file", "change the mode of a file of the project"),
    ("change the mode of the state", "change the mode of lockgate's state folder"),
    ("change the mode of a temporary file", "change the mode of another program's temporary file"),
    ("change the mode by fchmod", "change a mode by a descriptor (`fchmod`)"),
    ("change the mode by fchmodat2", "change a mode by `fchmodat2`"),
    ("change the mode by a link", "change a mode by a link from a folder of its own"),
    ("change the mode by proc", "change a mode by `/proc/self/fd`"),
    ("change the times of a file", "change the times of a file (`utime`)"),
    ("set an attribute of a file", "set an attribute of a file (`setxattr`)"),
    ("set a flag of a file", "set a flag of a file (`FS_IOC_SETFLAGS`)"),
    ("change the owner of a file", "change the owner of a file (`chown`)"),
    ("change a setting of the kernel", "open a setting of the kernel for writing (`/proc/sys`)"),
    ("read an environment", "read the environment of another process"),
    ("signal a process", "signal another process"),
    ("trace a process", "trace another process"),
    ("limit a process", "limit another process (`prlimit`)"),
    ("slow a process down", "change the priority of another process (`setpriority`)"),
    ("delay what a process reads", "change the priority of another process for disks (`ioprio_set`)"),
    ("bind a process to a core", "bind another process to a core (`sched_setaffinity`)"),
    ("reschedule a process", "change how another process is scheduled (`sched_setscheduler`)"),
    ("use System V IPC", "make a segment, a semaphore or a queue of System V IPC"),
    ("make a message queue", "make a message queue (`mq_open`)"),
    ("leave a key in a keyring", "leave a key in a keyring"),
    ("set up io_uring", "set up `io_uring`"),
    ("make a 32-bit call", "make a call of the 32-bit ABI"),
    ("make a namespace", "make a namespace"),
    ("connect by TCP", "connect by TCP"),
    ("connect by MPTCP", "connect by MPTCP"),
    ("send by TCP fast open", "send by TCP fast open"),
    ("listen by TCP", "listen by TCP"),
    ("listen without an address", "listen without an address (`listen` without `bind`)"),
    ("send by UDP", "send by UDP"),
    ("connect to an abstract socket", "connect to an abstract socket"),
    ("connect to a socket beside the project", "connect to a socket in the home or in `/tmp`"),
    ("connect to a socket in the project", "connect to a socket in the project"),
    ("write another's memory", "write the memory of another process (`/proc/PID/mem`)"),
    ("write another's memory by a call", "write the memory of another process by `process_vm_writev`"),
    ("take a descriptor", "take a descriptor of another process (`pidfd_getfd`)"),
    ("signal by a pidfd", "signal another process by a pidfd"),
    ("signal another gate", "signal the program of another gate"),
    ("choose who is killed", "choose what is killed when memory runs out (`oom_score_adj`)"),
    ("compare processes", "compare another process with itself (`kcmp`)"),
    ("measure a process", "measure another process (`perf_event_open`)"),
    ("make a BPF map", "make a BPF map"),
    ("make a userfaultfd", "make a `userfaultfd`"),
    ("read a terminal", "read what is typed into a terminal"),
    ("write to a terminal", "write to a terminal"),
    ("type into a terminal", "type into a terminal (`TIOCSTI`)"),
    ("read shared memory", "read another program's file in `/dev/shm`"),
    ("take an inotify instance", "take an inotify instance, of which a user has few"),
];

/// These depend on the kernel: Linux 6.12 stops them under Landlock.
const NEWER: [&str; 4] =
    ["signal a process", "connect to an abstract socket", "signal by a pidfd", "signal another gate"];

/// These are let through by some systems only: by the security module Yama, another architecture, another file system, to the
/// superuser, with some options of the kernel.
const BY_SYSTEM: [&str; 13] = [
    "change a setting of the kernel",
    "trace a process",
    "make a namespace",
    "make a 32-bit call",
    "set a flag of a file",
    "write another's memory",
    "write another's memory by a call",
    "take a descriptor",
    "compare processes",
    "measure a process",
    "make a BPF map",
    "make a userfaultfd",
    "type into a terminal",
];

/// What Landlock itself lets through on Linux 6.12, so that the filter alone stops it.
const BY_THE_FILTER: [&str; 25] = [
    "change the mode of a key",
    "change the mode of a file",
    "change the mode of the state",
    "change the mode of a temporary file",
    "change the mode by fchmod",
    "change the mode by fchmodat2",
    "change the mode by a link",
    "change the mode by proc",
    "change the times of a file",
    "set an attribute of a file",
    "limit a process",
    "slow a process down",
    "delay what a process reads",
    "bind a process to a core",
    "reschedule a process",
    "use System V IPC",
    "make a message queue",
    "leave a key in a keyring",
    "set up io_uring",
    "make a 32-bit call",
    "make a userfaultfd",
    "connect by MPTCP",
    "send by TCP fast open",
    "listen without an address",
    "send by UDP",
];

/// Of these, what the superuser is kept from by the capabilities that are given up, as the other process has them.
const BY_CAPABILITIES: [&str; 4] =
    ["slow a process down", "delay what a process reads", "bind a process to a core", "reschedule a process"];

/// Of these, what Landlock alone stops on some machines. `mq_open` makes the queue and then opens it as a file, of
/// an internal mount that is beneath no rule: Linux 6.18 refuses that, even if all of `/` is allowed. The queue is
/// left, and counts against the user's share (`RLIMIT_MSGQUEUE`, nine queues by default), which then stops it too.
const NOT_EVERYWHERE: [&str; 1] = ["make a message queue"];

/// Of these, what a newer Landlock stops by itself.
const BY_A_NEWER_LANDLOCK: [&str; 2] = ["send by TCP fast open", "send by UDP"];

/// The page with the table, and what stands around it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
const BEGIN: &str = "<!-- levels: made by a test -->\n";
const END: &str = "<!-- end of levels -->\n";

/// The levels that this machine has.
fn levels() -> Vec<Isolation> {
    let had = |level: &Isolation| {
        let lacks = unavailable_reason(*level, Ceiling(Isolation::Bubblewrap));
        lacks.inspect(|why| println!("not run: {}: {why}", level.name())).is_none()
    };
    LEVELS.into_iter().filter(had).collect()
}

#[test]
fn each_level_stops_what_the_page_says() {
    alone(
        concat!(module_path!(), "::each_level_stops_what_the_page_says"),
        CallerKind::Library,
        |processes| {
            let levels = levels();
            let done: Vec<_> =
                levels.iter().map(|level| (*level, Fixture::new().done(processes, *level))).collect();
            let page = fs::read_to_string(PAGE).unwrap();
            let (before, rest) = page.split_once(BEGIN).unwrap();
            let (table, after) = rest.split_once(END).unwrap();
            if env::var_os("UPDATE").is_some() && levels == LEVELS {
                fs::write(PAGE, format!("{before}{BEGIN}{}{END}{after}", table_of(&done))).unwrap();
                return;
            }
            for (level, done) in &done {
                for (attempt, description) in ATTEMPTS {
                    let says = cell(table, description, *level);
                    let due = says == "stopped"
                        && !(*level == Isolation::Landlock && NEWER.contains(&attempt) && !newer());
                    assert!(!(due && done[attempt]), "{}: {attempt} is not stopped\n{done:#?}", level.name());
                    // A newer kernel may stop more.
                    let lets = says == "let through"
                        && *level != Isolation::Landlock
                        && !BY_SYSTEM.contains(&attempt);
                    assert!(!lets || done[attempt], "{}: {attempt} is stopped", level.name());
                }
            }
        },
    );
}

/// The positive control of the whole table.
#[test]
fn without_isolation_all_is_let_through() {
    alone(
        concat!(module_path!(), "::without_isolation_all_is_let_through"),
        CallerKind::Library,
        |processes| {
            let done = Fixture::new().done(processes, Isolation::None);
            let stopped: Vec<&String> =
                done.iter().filter(|(_, done)| !**done).map(|(attempt, _)| attempt).collect();
            assert!(stopped.iter().all(|attempt| BY_SYSTEM.contains(&attempt.as_str())), "{stopped:?}");
        },
    );
}

/// The control of the filter: with Landlock alone, each of these is done, and with the filter beside it none is.
#[test]
fn the_filter_stops_what_landlock_lets_through() {
    alone(
        concat!(module_path!(), "::the_filter_stops_what_landlock_lets_through"),
        CallerKind::Library,
        |processes| {
            if !levels().contains(&Isolation::Landlock) {
                return;
            }
            let done = |filter| Fixture::new().done_with(processes, Isolation::Landlock, filter);
            let [all, unsupervised, nothing] =
                [FilterParts::All, FilterParts::Unsupervised, FilterParts::Off].map(done);
            let is_superuser = rustix::process::geteuid().is_root();
            for attempt in BY_THE_FILTER {
                assert!(!all[attempt] && !unsupervised[attempt], "{attempt}");
                // Before Linux 6.14 Landlock takes MPTCP for TCP.
                let may_be_stopped = BY_SYSTEM.contains(&attempt)
                    || (is_superuser && BY_CAPABILITIES.contains(&attempt))
                    || NOT_EVERYWHERE.contains(&attempt)
                    || (attempt == "connect by MPTCP" && kernel() < (Some(6), Some(14)))
                    || (BY_A_NEWER_LANDLOCK.contains(&attempt) && kernel() > (Some(6), Some(18)));
                assert!(nothing[attempt] || may_be_stopped, "{attempt}: Landlock stops it\n{nothing:#?}");
            }
            // The superuser needs a capability for it, which is given up; any other user does not.
            let by_user = ["change the owner of a file"];
            for (attempt, done) in &nothing {
                let attempt = attempt.as_str();
                let is_known =
                    all[attempt] || [&BY_THE_FILTER[..], &BY_SYSTEM, &by_user].concat().contains(&attempt);
                assert!(!done || is_known, "{attempt} is stopped by the filter alone");
            }
        },
    );
}

/// A program that supervises lockgate itself has set a listener, and the kernel has one for a process: the filter holds, and
/// refuses what it would hand over.
#[test]
fn under_another_supervisor_landlock_holds_and_refuses_all_changes_of_modes() {
    let name =
        concat!(module_path!(), "::under_another_supervisor_landlock_holds_and_refuses_all_changes_of_modes");
    alone(name, CallerKind::Library, |processes| {
        let changes = || {
            let fixture = Fixture::new();
            let words = ["-c", "echo > \"$TMPDIR/x\" && chmod 0755 \"$TMPDIR/x\" && [ -x \"$TMPDIR/x\" ]"];
            let argv = words.map(OsString::from).to_vec();
            let sandbox = fixture.sandbox(Isolation::Landlock);
            let order = Order { program: Path::new("/bin/sh"), argv, sandbox, ..processes.order(&[], None) };
            match crate::run(&order, Watch::idle().until(Instant::now() + LONG)) {
                ProcessOutcome::Exited { code, .. } => Some(code),
                ended => {
                    println!("not run: {ended:?}");
                    None
                }
            }
        };
        // The control, before the level was proved: the supervisor changes the mode of a program's own file.
        let Some(before) = changes() else { return };
        assert_eq!(before, 0);
        let _listener = install_foreign_listener().unwrap();
        assert_eq!(unavailable_reason(Isolation::Landlock, Ceiling(Isolation::Bubblewrap)), None);
        assert!(strongest(Ceiling(Isolation::Landlock)) == Isolation::Landlock);
        assert_eq!(changes(), Some(1));
        let done = Fixture::new().done(processes, Isolation::Landlock);
        for attempt in BY_THE_FILTER {
            assert!(!done[attempt], "{attempt}");
        }
    });
}

fn newer() -> bool {
    kernel() >= (Some(6), Some(12))
}

/// The two numbers of the kernel's version.
fn kernel() -> (Option<u32>, Option<u32>) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next())
}

fn table_of(done: &[(Isolation, BTreeMap<String, bool>)]) -> String {
    let mut table = "| a program tries to | none | Landlock | bubblewrap |\n|---|---|---|---|\n".to_owned();
    for (attempt, description) in ATTEMPTS {
        let cells = done.iter().map(|(_, done)| if done[attempt] { "let through" } else { "stopped" });
        writeln!(table, "| {description} | {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
    }
    table
}

fn cell<'t>(table: &'t str, description: &str, level: Isolation) -> &'t str {
    let row = table.lines().find(|line| line.starts_with(&format!("| {description} |")));
    let row = row.unwrap_or_else(|| panic!("no row `{description}` in docs/security.md: UPDATE=1 makes it"));
    row.split(" | ")
        .nth(1 + LEVELS.iter().position(|known| *known == level).unwrap())
        .unwrap()
        .trim_end_matches(" |")
}

/// Whatever does not end, multiplies or takes too much is ended in time at every level, and nothing is left of it.
#[test]
fn what_goes_on_or_takes_too_much_is_ended_at_every_level() {
    let name = concat!(module_path!(), "::what_goes_on_or_takes_too_much_is_ended_at_every_level");
    alone(name, CallerKind::Adopting, |processes| {
        let (short, long) = (Duration::from_millis(1500), Duration::from_secs(30));
        let timed_out = |ended: &ProcessOutcome| *ended == ProcessOutcome::Halted(Halt::TimedOut);
        let broken = |ended: &ProcessOutcome| {
            matches!(ended, ProcessOutcome::Broken(_) | ProcessOutcome::Killed { .. })
        };
        type Due = fn(&ProcessOutcome) -> bool;
        // With the processes of the sandbox, a tree of 30 is far below the limit of 60, so its time ends it.
        let attempts: [(&[&str], Due); 13] = [
            (&["sleep"], timed_out),
            (&["stubborn"], timed_out),
            (&["child", "bare-session", "sleep"], timed_out),
            (&["leave-daemon", "bare-wait"], timed_out),
            (&["tree", "30", "sleep"], timed_out),
            (&["fork-bomb"], broken),
            // Orphans count, and a few of them are the control.
            (&["orphans", "100"], broken),
            (&["orphans", "15"], timed_out),
            (&["hoard", "900"], broken),
            // Memory that is in no process counts, and the control takes less than the limit.
            (&["memory-file", "900"], broken),
            (&["shared-memory", "900"], broken),
            (&["memory-file", "100"], timed_out),
            (&["flood", "stdout", "64"], broken),
        ];
        for level in levels() {
            for (what, due) in attempts {
                let fixture = Fixture::new();
                let sandbox = fixture.sandbox(level);
                // Other tests use more of the machine's shared memory meanwhile.
                let is_shared = what.first() == Some(&"shared-memory");
                let growth = if is_shared { SharedGrowth::Program } else { SharedGrowth::Ignored };
                let of_machine = ProcessLimits::of_machine(&sandbox);
                let bounds = ProcessLimits { processes: 60, memory: 600 << 20, growth, ..of_machine };
                let order = Order { sandbox, ..processes.order(what, None) };
                let watch = Watch::idle();
                // What is seen by a bound is given the time to get there on a busy machine.
                let limit = if due(&ProcessOutcome::Halted(Halt::TimedOut)) { short } else { long };
                let start = || run_with_limits(&order, watch.until(Instant::now() + limit), bounds);
                let (time, ended) = timed(start);
                assert!(due(&ended), "{}: {what:?}: {ended:?}", level.name());
                assert!(time < limit + Duration::from_secs(2), "{}: {what:?} took {time:?}", level.name());
                assert_eq!(processes.left(), [], "{}: {what:?}", level.name());
            }
        }
    });
}

/// The files in memory are found by their descriptors, without the growth of the machine's shared memory.
#[test]
fn an_open_file_in_memory_counts_for_a_daemon_too() {
    let name = concat!(module_path!(), "::an_open_file_in_memory_counts_for_a_daemon_too");
    alone(name, CallerKind::Adopting, |processes| {
        for level in levels() {
            for (what, is_too_much) in [("900", true), ("100", false)] {
                let fixture = Fixture::new();
                let sandbox = fixture.sandbox(level);
                let of_machine = ProcessLimits::of_machine(&sandbox);
                let growth = SharedGrowth::Ignored;
                let bounds = ProcessLimits { memory: 600 << 20, growth, ..of_machine };
                let order = Order { sandbox, ..processes.order(&["memory-file", what], None) };
                let watch = Watch::idle();
                let seconds = if is_too_much { 30 } else { 2 };
                let end = Instant::now() + Duration::from_secs(seconds);
                let ended = run_with_limits(&order, watch.until(end), bounds);
                let why = "took more than 600 MiB of memory";
                let expected = if is_too_much {
                    ProcessOutcome::Broken(why.to_owned())
                } else {
                    ProcessOutcome::Halted(Halt::TimedOut)
                };
                assert_eq!(ended, expected, "{}", level.name());
            }
        }
    });
}

/// A disk is not filled: what is left of it is looked at, or the private folders hold only so much.
#[test]
fn a_disk_is_not_filled() {
    alone(concat!(module_path!(), "::a_disk_is_not_filled"), CallerKind::Library, |processes| {
        for level in levels() {
            let fixture = Fixture::new();
            let sandbox = fixture.sandbox(level);
            // What other programs free meanwhile counts for this one, so it may write far more than is left.
            // For the same reason, what they write may take most of what a private folder holds.
            let (mebibytes, spare, seconds) =
                if level == Isolation::Bubblewrap { ("200", 160, 4) } else { ("4000", 40, 60) };
            let mut order = Order { sandbox, ..processes.order(&["fill", mebibytes], None) };
            if level == Isolation::None {
                order.env.push(("TMPDIR".into(), fixture.around.path().into()));
            }
            let found = rustix::fs::statvfs(fixture.around.path()).unwrap();
            let left = found.f_bavail * found.f_frsize;
            let bounds = ProcessLimits::with_min_free_space(&order.sandbox, left - (spare << 20));
            let end = Instant::now() + Duration::from_secs(seconds);
            let ended = run_with_limits(&order, Watch::idle().until(end), bounds);
            match level {
                Isolation::Bubblewrap => {
                    assert_eq!(ended, ProcessOutcome::Halted(Halt::TimedOut), "it wrote to memory")
                }
                Isolation::None | Isolation::Landlock => {
                    assert!(
                        matches!(&ended, ProcessOutcome::Broken(why) if why.starts_with("left less than")),
                        "{ended:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn the_private_folders_hold_only_so_much() {
    alone(
        concat!(module_path!(), "::the_private_folders_hold_only_so_much"),
        CallerKind::Library,
        |processes| {
            if !levels().contains(&Isolation::Bubblewrap) {
                return;
            }
            let fixture = Fixture::new();
            let size = "import os; print(max(s.f_blocks * s.f_frsize for s in map(os.statvfs, ['/tmp', '/dev/shm', '/run', os.environ['HOME']])))";
            let argv = ["-c", size].map(OsString::from).to_vec();
            let order =
                Order { argv, sandbox: fixture.sandbox(Isolation::Bubblewrap), ..processes.order(&[], None) };
            let ended = crate::run(&order, Watch::idle().until(Instant::now() + LONG));
            assert_eq!(exited(ended).1.trim(), (2_u64 << 30).to_string());
        },
    );
}
