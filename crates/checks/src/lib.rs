//! Gates check a draft before anything is written, and report the faults that the edit would introduce.
//!
//! A gate is given the draft and the text before it, never the file. Only new findings count: an edit is
//! rejected for what it breaks, not for what was broken before. [`judge`] runs all gates. A fixer changes the
//! draft, and the verdict then contains the text that was judged.
//!
//! Invariant: nothing here writes below a root, and nothing here fails; an error in a gate is the outcome of
//! that gate.
//!
//! ```
//! use std::path::Path;
//! use lockgate_checks::{Draft, ExecPermission, GateEnv, GateRuntime, InputLocation, Isolation, Watch, judge};
//! use lockgate_policy::{Policy, Profile, language_of};
//! use lockgate_text::{Buffer, Change, Hints};
//!
//! let before = Buffer::read(b"{\"a\": 1}\n".to_vec(), Hints::default())?;
//! let plan = before.plan(vec![Change { span: 6..7, text: ",".to_owned() }])?;
//! let (after, language) = (before.apply(&plan)?, language_of("a.json", None));
//! let draft = Draft {
//!     path: "a.json", language, before: Some(&before), after: &after, map: &plan.line_map(&before, &after),
//!     input_location: InputLocation::OverFile, files_exist: &|_| false,
//! };
//! let (policy, runtime) = (Policy::embedded(), GateRuntime::default());
//! let permission = ExecPermission::Untrusted("this example runs no program".to_owned());
//! let root = Path::new("/");
//! let env = GateEnv { root, exec_permission: &permission, runtime: &runtime, isolation: Isolation::None, cache: None };
//! let rules = policy.effective_rules("a.json", language, Profile::Edit);
//! assert!(!judge(&draft, &rules, &env, &Watch::idle()).findings.is_empty());
//! # Ok::<(), lockgate_error::Error>(())
//! ```

mod agreement;
mod bounded_cache;
mod canary_samples;
mod command;
mod constant_pattern;
mod damage;
mod delta;
mod draft;
mod error;
mod finding;
mod gate_env;
mod judge;
mod links;
mod lost;
mod markdown;
mod markdown_page;
mod output;
mod overlay;
mod packages;
mod parallel;
mod path;
mod pattern;
mod pieces;
mod program_version;
mod programs;
mod regular;
mod rule_match;
mod runtime;
mod scaffold;
mod server;
mod stage;
mod syntax;
mod trial;
mod verdict;
mod wording;

pub use agreement::{Mismatch, mismatch};
pub use canary_samples::canaries;
pub use command::{DiskState, InstalledProgram, SampleError, replay, run_sample};
pub use draft::{Draft, InputLocation};
pub use finding::{Finding, Severity, sanitize};
pub use gate_env::{ExecPermission, GateEnv, required_isolation};
pub use judge::{GateInput, OnDisk, judge, judge_all};
pub use links::{DeadLinks, LostTarget, PageLink, anchors, links, lost_anchors};
pub use lockgate_sandbox::{
    Isolation, LockWaitFn, ProgressFn, Watch, adopt_orphans, close_inherited_on_exec,
};
pub use lost::{Lost, LostDefinition};
pub use parallel::parallel;
pub use program_version::version;
pub use programs::{ResolvedProgram, ResolvedPrograms, SearchPath, search_path};
pub use regular::read as read_regular_file;
pub use runtime::GateRuntime;
pub use syntax::{parse_for_parent, parse_large_texts_with};
pub use trial::run_sample_in_process;
pub use verdict::{GateRun, Outcome, RunReason, Verdict};
