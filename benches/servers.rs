//! A language server that stays against the command of the same gate, which begins anew each time: both are asked about
//! the same changes of one file, in turn, in one loop.
//!
//! `cargo bench --bench servers -- pyright` (or `basedpyright`, `tsc`); a gate whose programs are missing is skipped.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark may take for granted what it has set up, and speaks to who runs it"
)]

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use lockgate_checks::{
    Draft, ExecPermission, GateEnv, GateRuntime, InputLocation, Isolation, Outcome, ResolvedPrograms,
    SearchPath, Watch, judge,
};
use lockgate_policy::{Policy, Profile, language_of};
use lockgate_text::{Buffer, Hints};

/// How often both are asked.
const ROUNDS: usize = 9;
/// The lines of the file.
const LINES: usize = 500;

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (gate, language, path) in
        [("pyright", "python", "a.py"), ("basedpyright", "python", "a.py"), ("tsc", "typescript", "src/a.ts")]
    {
        if filters.is_empty() || filters.iter().any(|name| name == gate) {
            measure(gate, language, path);
        }
    }
}

fn measure(gate: &str, language: &str, path: &str) {
    let text = format!("quality_gates: {{ {language}: [{{ tool: {gate} }}] }}\nlimits: {{ total: 60s }}\n");
    let Ok(policy) = Policy::parse("quality.yaml", &text) else {
        return println!("{gate}: not known");
    };
    let search = std::env::var_os("PATH").unwrap_or_default();
    let programs =
        ResolvedPrograms::find(policy.commands(), &SearchPath { folders: &[], roots: &[], path: &search });
    if programs.program(gate).is_none() || programs.program(&ResolvedPrograms::server_name(gate)).is_none() {
        return println!("{gate}: not here");
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("tsconfig.json"), "{ \"include\": [\"src\"] }\n").unwrap();
    std::fs::write(root.join(path), text_of(language, 0)).unwrap();
    let (warm, cold) = (GateRuntime::default(), GateRuntime::default());
    warm.keep_servers();
    let permission = ExecPermission::Granted(programs);
    let time_edit = |runtime: &GateRuntime, number: usize| {
        time_judging(
            &policy,
            &permission,
            runtime,
            &root,
            path,
            (&text_of(language, 0), &text_of(language, number)),
        )
    };
    let first = time_edit(&warm, 1);
    time_edit(&cold, 1);
    let (mut servers, mut commands) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        servers.push(time_edit(&warm, round + 2));
        commands.push(time_edit(&cold, round + 2));
    }
    let [server, command] = [median(servers), median(commands)];
    println!(
        "{gate}: server {} ms, command {} ms (medians of {ROUNDS}, in turn), ratio {:.3}; the server's first answer, with its canary, {} ms",
        server.as_millis(),
        command.as_millis(),
        server.as_secs_f64() / command.as_secs_f64(),
        first.as_millis(),
    );
}

fn time_judging(
    policy: &Policy,
    permission: &ExecPermission,
    runtime: &GateRuntime,
    root: &Path,
    path: &str,
    (before, after): (&str, &str),
) -> Duration {
    let read = |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap();
    let (old, new) = (read(before), read(after));
    let map = old.rewrite(after).unwrap().line_map(&old, &new);
    let language = language_of(path, None);
    let draft = Draft {
        path,
        language,
        before: Some(&old),
        after: &new,
        map: &map,
        input_location: InputLocation::OverFile,
        files_exist: &|_: &str| false,
    };
    let env = GateEnv { root, exec_permission: permission, runtime, isolation: Isolation::None, cache: None };
    let start = Instant::now();
    let verdict = judge(&draft, &policy.effective_rules(path, language, Profile::Edit), &env, &Watch::idle());
    let took = start.elapsed();
    let run = &verdict.runs[0];
    assert_eq!((run.outcome, &run.why), (Outcome::Passed, &None), "{run:?}");
    took
}

/// A file of functions, of which each version differs in one line in its middle.
fn text_of(language: &str, version: usize) -> String {
    let mut text = String::new();
    for number in 0..LINES / 5 {
        let value = if number == LINES / 10 { version } else { 0 };
        match language {
            "python" => write!(text, "def f{number}(a: int, b: str) -> dict[str, list[int]]:\n    c = [a + {value}, *range({number})]\n    d = {{b: sorted(c)}}\n    return d\n\n"),
            _ => write!(text, "export function f{number}(a: number, b: string): Record<string, number[]> {{\n  const c = [a + {value}, {number}].map((x) => x * 2);\n  const d = {{ [b]: c.sort() }};\n  return d;\n}}\n"),
        }
        .unwrap();
    }
    text
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}
