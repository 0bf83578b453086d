//! The cost of each module of the pipeline, and its growth: `cargo bench --bench pipeline`.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

#[path = "../tests/suite/edits.rs"]
#[expect(dead_code, reason = "the tests make more sorts of edits than this does")]
mod edits;

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lockgate_checks::{Draft, ExecPermission, GateEnv, GateRuntime, InputLocation, Isolation, Watch, judge};
use lockgate_edit::{Edit, EditLimits, Needle, PlanContext, plan};
use lockgate_policy::{Policy, Profile, language_of};
use lockgate_python_re::Flags;
use lockgate_text::{Buffer, Hints, bytes_outside_unchanged, diff};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

const CONTEXT: PlanContext<'static> = PlanContext {
    noun: "file",
    path: "a.py",
    language: Some("python"),
    syntax: &lockgate_syntax::Grammars,
    limits: EditLimits { bytes: 1 << 30, steps: 40_000_000 },
};

fn text(lines: usize) -> String {
    (0..lines).map(|line| format!("value_{line:07} = compute({line}, scale)\n")).collect()
}

fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

fn search(lines: usize) -> Edit {
    let needle = Needle::Literal(format!("value_{:07} =", lines / 2));
    edits::searching(needle, "renamed =".to_owned())
}

fn pattern() -> Edit {
    let needle = Needle::Regex { pattern: r"value_(\d+) = compute".to_owned(), flags: Flags::default() };
    edits::searching(needle, r"v\1 = calc".to_owned())
}

fn lines(lines: usize) -> Edit {
    edits::lines(lines / 2, lines / 2, "renamed = 1\n")
}

/// Plans, applies, proves and diffs one edit: the pure part of the pipeline.
fn apply_edit(edit: &Edit, before: &Buffer) -> usize {
    let planned = plan(edit, before, CONTEXT).unwrap();
    let after = before.apply(&planned.plan).unwrap();
    assert!(bytes_outside_unchanged(before.bytes(), after.bytes(), &planned.plan));
    let shown = diff::unified("a.py", Some(before), &after, &planned.plan);
    black_box(shown);
    after.bytes().len()
}

fn pure(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pure");
    group.sample_size(20);
    for size in SIZES {
        let text = text(size);
        let before = buffer(&text);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("read", size), &size, |bencher, _| {
            bencher.iter_batched(
                || text.as_bytes().to_vec(),
                |bytes| Buffer::read(bytes, Hints::default()).unwrap(),
                criterion::BatchSize::LargeInput,
            );
        });
        for (name, edit) in [("search", search(size)), ("line_edits", lines(size))] {
            group.bench_with_input(BenchmarkId::new(name, size), &size, |bencher, _| {
                bencher.iter(|| apply_edit(&edit, &before));
            });
        }
        let changed = Edit::Content(text.replace("compute(1", "calc(1"));
        group.bench_with_input(BenchmarkId::new("content", size), &size, |bencher, _| {
            bencher.iter(|| apply_edit(&changed, &before));
        });
        if size <= 10_000 {
            group.bench_with_input(BenchmarkId::new("regex_every_line", size), &size, |bencher, _| {
                bencher.iter(|| apply_edit(&pattern(), &before));
            });
        }
    }
    group.finish();
}

fn gates(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gates");
    group.sample_size(20);
    for size in &SIZES[..3] {
        let text = text(*size);
        let before = buffer(&text);
        let edit = lines(*size);
        let planned = plan(&edit, &before, CONTEXT).unwrap();
        let after = before.apply(&planned.plan).unwrap();
        let map = planned.plan.line_map(&before, &after);
        let policy = Policy::embedded();
        group.throughput(Throughput::Bytes(text.len() as u64));
        for path in ["a.py", "a.toml", "a.go"] {
            let language = language_of(path, None);
            let rules = policy.effective_rules(path, language, Profile::Edit);
            let (permission, gate_runtime) =
                (ExecPermission::Untrusted(String::new()), GateRuntime::default());
            let env = gate_env(&permission, &gate_runtime);
            group.bench_with_input(BenchmarkId::new(path, size), size, |bencher, _| {
                let draft = Draft {
                    path,
                    language,
                    before: Some(&before),
                    after: &after,
                    map: &map,
                    input_location: InputLocation::OverFile,
                    files_exist: &|_| true,
                };
                bencher.iter(|| judge(&draft, &rules, &env, &Watch::idle()));
            });
        }
    }
    group.finish();
}

/// The environment of gates that run no program.
fn gate_env<'a>(exec_permission: &'a ExecPermission, runtime: &'a GateRuntime) -> GateEnv<'a> {
    GateEnv { root: Path::new("/"), exec_permission, runtime, isolation: Isolation::None, cache: None }
}

/// 10,000 lines of Python as people write it: with decorators, strings with escapes, and comments.
fn module() -> String {
    let function = |n: usize| {
        format!(
            "@register({n})\ndef load_{n}(path, size=\"a\\tb\"):\n    \"\"\"Loads what stands at a path.\"\"\"\n    \
             # it's read line by line\n    with open(path) as file:\n        lines = file.read().split(\"\\n\")\n    \
             return [line.strip() for line in lines if len(line) > {n}]\n\n\n"
        )
    };
    (0..10_000 / 9).map(function).collect()
}

/// All built-in gates on an edit in the middle, and on the text as a new file: every line is then an edited one.
fn built_in(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("built-in kinds");
    group.sample_size(20);
    let text = module();
    let new = text.replacen("@register(555)\ndef load_555(path, ", "def load_555(path, name, ", 1);
    let (before, after) = (buffer(&text), buffer(&new));
    let map = before.rewrite(&new).unwrap().line_map(&before, &after);
    let policy = Policy::embedded();
    let language = language_of("a.py", None);
    let rules = policy.effective_rules("a.py", language, Profile::Edit);
    let (permission, gate_runtime) = (ExecPermission::Untrusted(String::new()), GateRuntime::default());
    let env = gate_env(&permission, &gate_runtime);
    for (name, before) in [("an edit", Some(&before)), ("a new file", None)] {
        let draft = Draft {
            path: "a.py",
            language,
            before,
            after: &after,
            map: &map,
            input_location: InputLocation::of_file(before),
            files_exist: &|_| true,
        };
        group.bench_function(BenchmarkId::new(name, 10_000), |bencher| {
            bencher.iter(|| judge(&draft, &rules, &env, &Watch::idle()));
        });
    }
    group.finish();
}

criterion_group!(benches, pure, gates, built_in);
criterion_main!(benches);
