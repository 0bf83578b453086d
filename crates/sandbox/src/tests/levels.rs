//! A sandboxed program gives the same result as one without a sandbox.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::for_both_callers;
use super::process_fixture::{CallerKind, LONG, ProcessFixture, alone, exited, python, tools};
use crate::close_inherited_on_exec;
use crate::isolation_level::Isolation;
use crate::order::FilterParts;
use crate::watch::Watch;
use crate::{
    Ceiling, Order, ProcessOutcome, Sandbox, SandboxLayer, isolation_shortfall, run, strongest,
    unavailable_reason,
};

for_both_callers! {
    answers_and_signals_pass_through
    a_program_changes_its_own_files
    a_draft_replaces_its_file_in_the_sandbox_only
    a_failed_start_in_a_sandbox_says_why
    an_unavailable_sandbox_is_not_replaced
}

/// The limits hold in the program itself, at every level of isolation.
#[test]
fn a_program_starts_with_the_limits_of_the_kernel() {
    let fixture = ProcessFixture::new(CallerKind::Library);
    for level in levels() {
        let order = sandboxed(&fixture, level, &[], None);
        let program = Path::new("/bin/cat");
        let (code, limits, stderr) =
            exited(give(&Order { program, argv: vec!["/proc/self/limits".into()], ..order }));
        assert_eq!(code, 0, "{level:?}: {stderr}");
        for (name, most) in [("Max core file size", 0), ("Max file size", 4_u64 << 30)] {
            let values = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let shown: Vec<u64> = values.split_whitespace().flat_map(str::parse).collect();
            assert_eq!(shown, [most, most], "{level:?}: {name}{values}");
        }
    }
}

fn levels() -> impl Iterator<Item = Isolation> {
    let all = [Isolation::None, Isolation::Landlock, Isolation::Bubblewrap].into_iter();
    all.filter(|level| unavailable_reason(*level, Ceiling(Isolation::Bubblewrap)).is_none())
}

fn sandboxed<'a>(
    fixture: &'a ProcessFixture,
    level: Isolation,
    what: &[&str],
    input: Option<&'a [u8]>,
) -> Order<'a> {
    let own = fixture.folder().join("own");
    fs::create_dir_all(&own).unwrap();
    let readable = vec![tools()];
    let sandbox = Sandbox {
        level,
        tree: Some(fixture.folder().into()),
        run_dir: Some(own),
        readable,
        ..Sandbox::default()
    };
    Order { sandbox, ..fixture.order(what, input) }
}

fn give(order: &Order<'_>) -> ProcessOutcome {
    run(order, Watch::idle().until(Instant::now() + LONG))
}

fn answers_and_signals_pass_through(fixture: &ProcessFixture) {
    for level in levels() {
        for code in [0, 1, 3, 64, 255] {
            let (exit_code, stdout, stderr) =
                exited(give(&sandboxed(fixture, level, &["exit", &code.to_string()], None)));
            assert_eq!(
                (exit_code, stdout.as_str(), stderr.as_str()),
                (code, "out", "err"),
                "{}",
                level.name()
            );
        }
        let killed = give(&sandboxed(fixture, level, &["die-of", "SIGKILL"], None));
        assert_eq!(
            killed,
            ProcessOutcome::Killed { signal: 9, why: "was killed by signal 9 (SIGKILL)".to_owned() },
            "{}",
            level.name()
        );
        let text = vec![b'x'; 3 << 20];
        assert_eq!(exited(give(&sandboxed(fixture, level, &["echo"], Some(&text)))).1.len(), text.len());
    }
}

/// Modes and times, as linkers and builds set them; without the supervisor Landlock's filter would refuse these, too.
fn a_program_changes_its_own_files(fixture: &ProcessFixture) {
    for level in levels() {
        let mut order = sandboxed(fixture, level, &["own-files"], None);
        let name = match level {
            Isolation::None => {
                let own = fixture.folder().join("own-tmp");
                fs::create_dir_all(&own).unwrap();
                order.env.push(("TMPDIR".into(), own.into()));
                "0"
            }
            Isolation::Landlock => "1",
            Isolation::Bubblewrap => "0",
        };
        order.env.push(("SUPERVISED".into(), name.into()));
        let (code, stdout, stderr) = exited(give(&order));
        assert_eq!((code, stdout.as_str()), (0, "done"), "{}: {stderr}", level.name());
    }
}

fn a_draft_replaces_its_file_in_the_sandbox_only(fixture: &ProcessFixture) {
    if unavailable_reason(Isolation::Bubblewrap, Ceiling(Isolation::Bubblewrap)).is_some() {
        return;
    }
    let (tree, folder) = (fixture.folder().canonicalize().unwrap(), fixture.folder().join("pkg"));
    fs::create_dir(&folder).unwrap();
    for (name, text) in [("a", "old"), ("pkg/b", "kept"), ("draft", "new")] {
        fs::write(tree.join(name), text).unwrap();
    }
    let pkg = tree.join("pkg");
    let bind = |from: &str, at: &str| SandboxLayer::Bind { from: tree.join(from), at: tree.join(at) };
    let mut order = sandboxed(fixture, Isolation::Bubblewrap, &[], None);
    order.sandbox.layers = vec![
        SandboxLayer::Empty(pkg.clone()),
        bind("pkg/b", "pkg/b"),
        SandboxLayer::Link { to: "b".into(), at: pkg.join("link") },
        bind("draft", "a"),
        bind("draft", "pkg/c"),
        SandboxLayer::ReadOnly(pkg),
    ];
    order.program = Path::new("/bin/sh");
    order.argv = ["-c", "cat a pkg/b pkg/link pkg/c; ls pkg; (echo > pkg/d) 2> /dev/null || echo sealed"]
        .map(Into::into)
        .to_vec();
    assert_eq!(exited(give(&order)).1, "newkeptkeptnewb\nc\nlink\nsealed\n");
    assert_eq!(fs::read_to_string(tree.join("a")).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

fn a_failed_start_in_a_sandbox_says_why(fixture: &ProcessFixture) {
    for level in levels() {
        let nowhere = fixture.folder().join("nowhere");
        let order = Order { program: &nowhere, ..sandboxed(fixture, level, &[], None) };
        let why = "could not be started: it was not found";
        assert_eq!(give(&order), ProcessOutcome::Broken(why.to_owned()), "{}", level.name());
    }
    assert!(python().exists());
}

fn an_unavailable_sandbox_is_not_replaced(_: &ProcessFixture) {
    let none = Ceiling(Isolation::None);
    assert_eq!(strongest(none), Isolation::None);
    assert_eq!(isolation_shortfall(Isolation::None, none), None);
    for level in [Isolation::Landlock, Isolation::Bubblewrap] {
        let why = format!(
            "the policy requires {}, and this machine has none: LOCKGATE_ISOLATION allows none at most",
            level.name()
        );
        assert_eq!(isolation_shortfall(level, none), Some(why));
    }
    let best = levels().last().unwrap();
    assert_eq!((strongest(Ceiling(best)), isolation_shortfall(best, Ceiling(best))), (best, None));
}

/// A descriptor that this process was started with, and that is not marked, is open in every program at every level.
#[test]
fn no_program_inherits_what_its_caller_was_started_with() {
    use std::os::fd::AsRawFd;
    let name = concat!(module_path!(), "::no_program_inherits_what_its_caller_was_started_with");
    alone(name, CallerKind::Library, |fixture| {
        let path = fixture.folder().join("inherited");
        let file = fs::File::create(&path).unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        let number = file.as_raw_fd().to_string();
        let words =
            "import os, sys\ntry:\n    os.write(int(sys.argv[1]), b'leaked')\nexcept OSError:\n    pass";
        // The control comes first: as long as it is not marked, each of them writes to it.
        for is_marked in [false, true] {
            if is_marked {
                close_inherited_on_exec();
            }
            for level in levels() {
                file.set_len(0).unwrap();
                let argv = ["-c", words, &number].map(Into::into).to_vec();
                let order = Order { argv, ..sandboxed(fixture, level, &[], None) };
                assert_eq!(exited(give(&order)).0, 0);
                let has_leaked = !fs::read(&path).unwrap().is_empty();
                assert_eq!(has_leaked, !is_marked, "{}", level.name());
            }
        }
    });
}

/// Prints what each level, and the parts of the filter beside Landlock, add to a run of a program that does nothing; and
/// what a change of a mode costs that the supervisor makes. All are measured in turns.
#[test]
#[ignore = "measures"]
fn what_a_sandbox_costs() {
    let fixture = ProcessFixture::new(super::process_fixture::CallerKind::Library);
    let kinds = [
        ("none", Isolation::None, FilterParts::All),
        ("landlock without the filter", Isolation::Landlock, FilterParts::Off),
        ("landlock without the supervisor", Isolation::Landlock, FilterParts::Unsupervised),
        ("landlock", Isolation::Landlock, FilterParts::All),
        ("bubblewrap", Isolation::Bubblewrap, FilterParts::All),
    ];
    let levels: Vec<Isolation> = levels().collect();
    let kinds: Vec<_> = kinds.into_iter().filter(|(_, level, _)| levels.contains(level)).collect();
    let run = |level, filter, program, argv: &[&str]| {
        let Order { sandbox, .. } = sandboxed(&fixture, level, &[], None);
        let argv = argv.iter().map(Into::into).collect();
        let order =
            Order { program, argv, sandbox: Sandbox { filter, ..sandbox }, ..fixture.order(&[], None) };
        super::process_fixture::timed(|| give(&order))
    };
    let mut times = vec![Vec::new(); kinds.len()];
    for _ in 0..200 {
        for ((_, level, filter), times) in kinds.iter().zip(&mut times) {
            times.push(run(*level, *filter, Path::new("/bin/true"), &[]).0);
        }
    }
    let mut none = None;
    for ((name, ..), times) in kinds.iter().zip(&mut times) {
        times.sort();
        let (median, best) = (times[times.len() / 2], times[0]);
        let ratio = median.as_secs_f64() / none.get_or_insert(median).as_secs_f64();
        println!("{name}: median {median:?}, best {best:?}, {ratio:.2} of none");
    }
    let changes = "import os, tempfile, time
with tempfile.NamedTemporaryFile() as file:
    start = time.monotonic()
    for number in range(2000):
        os.chmod(file.name, 0o600 | number % 2)
    print('%.1f' % ((time.monotonic() - start) / 2000 * 1e6))";
    for (name, level, filter) in kinds.iter().filter(|(_, _, filter)| *filter == FilterParts::All) {
        let change =
            |_| exited(run(*level, *filter, python(), &["-c", changes]).1).1.trim().parse::<f64>().unwrap();
        let mut all: Vec<f64> = (0..5).map(change).collect();
        all.sort_by(f64::total_cmp);
        println!("{name}: {} microseconds for a change of a mode (median of 5)", all[2]);
    }
}
