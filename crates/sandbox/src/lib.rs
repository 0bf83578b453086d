//! Runs one program for a gate, and kills it together with everything it started.
//!
//! One thread serves the program: it writes its input, reads both outputs, and sleeps in poll(2) in between,
//! at most 20 ms at a time. When the program ends or must be stopped, its process group is killed
//! before the leader is reaped, so its number cannot be reused. Descendants that left the group are then
//! found and killed as well.
//!
//! These escape: a process that the kernel will not kill (one asleep in a driver, one that runs as another
//! user), and work that was handed to a service that was already running. Without [`adopt_orphans`], a
//! descendant also escapes if it left the group, cleared its environment **and** lost its parent, and so does
//! a chain of forks that is faster than the scan of /proc. With it, those are found too.
//!
//! Invariant: whatever a program does, `run` does not fail, and it returns at most two seconds after the
//! limit.
//!
//! ```
//! use std::path::Path;
//! use std::time::{Duration, Instant};
//!
//! use lockgate_sandbox::{Order, ProcessOutcome, Sandbox, Watch, run};
//!
//! let argv = ["-c".into(), "tr a-z A-Z".into()].to_vec();
//! let (cwd, sandbox) = (Path::new("/"), Sandbox::default());
//! let order =
//!     Order { program: Path::new("/bin/sh"), argv, cwd, env: Vec::new(), input: Some(b"text"), sandbox };
//! let watch = Watch::idle();
//! let outcome = run(&order, watch.until(Instant::now() + Duration::from_secs(60)));
//! assert!(matches!(outcome, ProcessOutcome::Exited { code: 0, stdout, .. } if stdout == b"TEXT"));
//! ```

mod daemon;
mod environment;
mod exit;
mod head_and_tail;
mod isolation;
mod isolation_level;
mod level;
mod limits;
mod order;
mod orphans;
mod owner;
mod pipes;
mod private_folder;
mod proc;
mod registry;
mod removal;
mod run;
mod running;
#[cfg(test)]
mod tests;
mod watch;

pub use daemon::Daemon;
pub use isolation::close_inherited_on_exec;
pub use isolation_level::Isolation;
pub use level::{Ceiling, isolation_shortfall, strongest, unavailable_reason};
pub use order::{Order, Sandbox, SandboxLayer};
pub use owner::temporary_folder;
pub use private_folder::{PrivateFolder, create_private};
pub use registry::adopt_orphans;
pub use removal::remove_tree;
pub use run::{ProcessOutcome, run};
pub use watch::{Halt, Limit, LockWaitFn, ProgressFn, Watch, processor_time};
