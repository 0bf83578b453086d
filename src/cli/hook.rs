//! `lockgate hook`: judges the edit that the tool of an agent's host is about to make, for the hooks of that host.
//!
//! Whatever goes wrong here, the host gets an answer: by default the edit passes, with one line on standard error.
//!
//! Invariant: an event that is no edit of a file in the project ends before a policy is read.

mod doctor;

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::de::IgnoredAny;

use super::async_work::work;
use super::init::{server_files, user_hook_files};
use super::paint;
use super::roots::current_folder;
use lockgate_checks::{adopt_orphans, read_regular_file, sanitize};
use lockgate_engine::{HookState, ProjectRoot, Workspace, is_own_path, link_target};
use lockgate_error::Error;
use lockgate_hosts::answer::{self, Guarded, HookDecision, HookReply};
use lockgate_hosts::event::{self, Event, Moment, Payload};
use lockgate_hosts::guard::{
    EventGuard, absolute_path, claim_calls, combine, release_calls, stricter, unjudged,
};
use lockgate_hosts::host::Host;
use lockgate_hosts::socket::{self, MAX_PAYLOAD, Question};
use lockgate_hosts::texts::OwnTools;
use lockgate_policy::{ClineAnswer, HookSettings};

/// The largest configuration of a client that is searched for lockgate's server, in bytes.
const MAX_CONFIGURATION: u64 = 8 << 20;
/// The most bytes of an event that are read at a time: what a pipe of Linux holds.
const CHUNK: usize = 64 << 10;
/// The time after the deadline in which gates can still end.
const GRACE: Duration = Duration::from_millis(500);

/// The arguments of `lockgate hook`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Reads one event as JSON from standard input, and answers in the format of its host. docs/hosts.md has the \
                  hooks to configure."
)]
pub(super) struct HookArgs {
    /// Host whose events these are [default: told by the event]
    #[arg(value_name = "HOST", value_parser = host)]
    host: Option<Host>,
    /// Folder whose files are guarded [default: the project around the session, or else around the edited file]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Feeds recorded events through the configured hooks, and says what each host would do
    #[arg(long)]
    doctor: bool,
}

fn host(name: &str) -> Result<Host, String> {
    let tip = if name == "doctor" { "; use `lockgate hook --doctor`" } else { "" };
    let expected = || format!("expected one of {}{tip}", Host::names().join(", "));
    Host::from_name(name).ok_or_else(expected)
}

/// What the answer needs if the work does not end: shared with the watchdog.
#[derive(Debug, Default)]
struct Progress {
    event: Option<Event>,
    /// The folders of the projects that are guarded, without links.
    roots: Vec<PathBuf>,
    settings: HookSettings,
    is_answered: bool,
}

type Shared = Arc<Mutex<Progress>>;

/// Answers one event, or runs `--doctor`. A failure or a panic is answered, too, so that the host always gets a reply.
pub(super) fn run(args: HookArgs) -> Result<ExitCode, Error> {
    if args.doctor {
        let folder = current_folder()?;
        let root = args.root.unwrap_or_else(|| ProjectRoot::around(&folder).root);
        return doctor::run(&root, args.host);
    }
    let started = Instant::now();
    let shared = Shared::default();
    // A panic is answered like any other failure, without its message on standard error.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| reply(&args, started, &shared)));
    let reply = reply.unwrap_or_else(|_| unjudged_reply(&shared.lock(), "lockgate failed"));
    Ok(print(&mut shared.lock(), &reply))
}

/// Prints the reply, unless the watchdog has answered.
fn print(progress: &mut Progress, reply: &HookReply) -> ExitCode {
    if std::mem::replace(&mut progress.is_answered, true) {
        return ExitCode::SUCCESS;
    }
    if let Some(error) = &reply.error {
        paint::print_error(&format!("{error}\n"));
    }
    // A host that does not read the answer gets none.
    let printed = match &reply.output {
        Some(output) => paint::print_bytes(format!("{output}\n").as_bytes()),
        None => Ok(()),
    };
    if printed.is_err() { ExitCode::SUCCESS } else { ExitCode::from(reply.exit) }
}

/// The reply if the files of an event could not be judged.
fn unjudged_reply(progress: &Progress, reason: &str) -> HookReply {
    match &progress.event {
        Some(event) => {
            answer::reply(event, unjudged_event(event, &progress.roots, progress.settings, reason.to_owned()))
        }
        None => HookReply::passing(reason),
    }
}

/// Decides on an event whose files in the projects at these roots could not be judged. If it is denied, its claims are
/// given up, so that it is denied again if it comes again.
fn unjudged_event(event: &Event, roots: &[PathBuf], settings: HookSettings, reason: String) -> Guarded {
    let decision = match event.moment {
        Moment::Before => unjudged(&reason, settings.fail),
        Moment::After | Moment::AfterFailure => HookDecision::Pass,
    };
    if matches!(decision, HookDecision::Forbid(_)) {
        roots.iter().for_each(|root| release_calls(event, root, &HookState::for_root(root).tool_calls()));
    }
    Guarded { decision, problem: Some(reason), cline: settings.cline }
}

fn reply(args: &HookArgs, started: Instant, shared: &Shared) -> HookReply {
    // A host that does not end its event gets its answer, too.
    watch_deadline(started, Arc::clone(shared));
    let payload = match read_payload() {
        Ok(payload) => payload,
        Err(reason) => return HookReply::passing(&reason),
    };
    let event = match event::read(&payload, args.host) {
        Ok(Payload::NoEdit(_)) => return HookReply::default(),
        Ok(Payload::Event(event)) => *event,
        Err(reason) => return HookReply::passing(&reason),
    };
    let folder = match event.folder.clone().map_or_else(current_folder, Ok) {
        Ok(folder) => folder,
        Err(error) => return HookReply::passing(&error.message),
    };
    shared.lock().event = Some(event.clone());
    if event.moment == Moment::Before
        && let Some(path) = guard_of_all_projects(&folder, &event)
    {
        let text = format!(
            "lockgate denied this edit, and nothing was written: {} configures hooks of all projects of this user, or is \
             lockgate's own. Leave the file alone, or ask a person to change it.",
            sanitize(&path.to_string_lossy())
        );
        let decision = HookDecision::Forbid(text);
        return answer::reply(&event, Guarded { decision, problem: None, cline: ClineAnswer::Cancel });
    }
    if let Some(root) = args.root.as_deref().filter(|root| !root.is_dir()) {
        let reason = format!("there is no folder {}", sanitize(&root.to_string_lossy()));
        return unjudged_reply(&shared.lock(), &reason);
    }
    let session = ProjectRoot::around(&folder);
    let projects = match &args.root {
        Some(root) => guarded_project(root, &folder, &event).into_iter().collect(),
        None => projects_of_files(&session, &folder, &event),
    };
    if projects.is_empty() {
        return HookReply::default();
    }
    // This process starts only gate programs.
    adopt_orphans();
    let hook = Hook { args, event: &event, folder, session, started, shared };
    if let [project] = projects.as_slice() {
        return hook.answer(project, payload);
    }
    drop(payload);
    let mut answers = Vec::new();
    for project in &projects {
        shared.lock().roots.extend(project.root.canonicalize());
        let earlier = (!answers.is_empty()).then(|| shared.lock().settings);
        answers.push(hook.guard(project, None, earlier));
    }
    answer::reply(&event, combine(answers))
}

/// An event, and what is known of it.
struct Hook<'a> {
    args: &'a HookArgs,
    event: &'a Event,
    /// The folder of the session.
    folder: PathBuf,
    /// The project around that folder.
    session: ProjectRoot,
    started: Instant,
    shared: &'a Shared,
}

impl Hook<'_> {
    /// Answers an event with files of one project: by its server, if one runs.
    fn answer(&self, project: &ProjectRoot, payload: Vec<u8>) -> HookReply {
        let Ok(root) = project.root.canonicalize() else { return HookReply::default() };
        self.shared.lock().roots.push(root.clone());
        let state = HookState::for_root(&root);
        let mut claims = None;
        if let Some(server) = state.connect() {
            let claimed = claim_calls(self.event, &root, &state.tool_calls());
            let question = Question {
                root,
                folder: self.folder.clone(),
                host: self.args.host,
                tools: self.tools(project),
                claims: claimed.clone(),
                elapsed: self.started.elapsed(),
            };
            let on_settings = |settings| self.shared.lock().settings = settings;
            if let Some(reply) = socket::ask(&server, &question, &payload, on_settings) {
                return reply;
            }
            claims = Some(claimed);
        }
        drop(payload);
        answer::reply(self.event, self.guard(project, claims, None))
    }

    /// Judges the files of one project. `earlier` are the settings of the projects before.
    fn guard(
        &self,
        project: &ProjectRoot,
        claims: Option<Vec<bool>>,
        earlier: Option<HookSettings>,
    ) -> Guarded {
        let tools = self.tools(project);
        let guarded = work(open(project.clone()), |workspace, watch| async move {
            let on_settings = |settings| {
                self.shared.lock().settings = earlier.map_or(settings, |earlier| stricter(earlier, settings));
            };
            let guard = EventGuard {
                workspace: &workspace,
                watch: &watch,
                event: self.event,
                folder: self.folder.clone(),
                root: workspace.top(),
                tools,
                claims,
                started: self.started,
                on_settings: &on_settings,
            };
            Ok(guard.answer().await)
        });
        guarded.unwrap_or_else(|error| {
            let reason = format!("{}: {}", error.code.name(), error.message);
            let settings = self.shared.lock().settings;
            let root: Vec<PathBuf> = project.root.canonicalize().into_iter().collect();
            unjudged_event(self.event, &root, settings, reason)
        })
    }

    /// Returns where the model can make an edit with lockgate itself. The client of the session has a server for the
    /// project of the session only.
    fn tools(&self, project: &ProjectRoot) -> OwnTools {
        let is_of_session = self.args.root.is_some() || *project == self.session;
        let has_server = || {
            std::env::var_os("CLAUDE_PLUGIN_ROOT").is_some()
                || server_files(&project.root, self.event.host).iter().any(|file| has_server(file))
        };
        if is_of_session && has_server() { OwnTools::Server } else { OwnTools::CommandLine }
    }
}

/// The paths that the calls of an event edit, absolute.
fn edited_paths<'a>(folder: &'a Path, event: &'a Event) -> impl Iterator<Item = PathBuf> + 'a {
    let edits = event.calls.iter().map(|call| &call.edit);
    edits.flat_map(|edit| edit.paths().into_iter().map(|path| absolute_path(folder, edit, path).into()))
}

/// Returns an edited file outside of the projects that decides whether their edits are judged: a user's configuration of
/// hooks, or what lockgate itself keeps.
fn guard_of_all_projects(folder: &Path, event: &Event) -> Option<PathBuf> {
    let hook_files: Vec<PathBuf> = user_hook_files().iter().filter_map(|file| link_target(file)).collect();
    let is_guard = |path: &Path| is_own_path(path) || hook_files.iter().any(|file| path.starts_with(file));
    edited_paths(folder, event).find(|path| link_target(path).is_some_and(|path| is_guard(&path)))
}

/// Returns the projects that the files of an event belong to.
fn projects_of_files(session: &ProjectRoot, folder: &Path, event: &Event) -> Vec<ProjectRoot> {
    let mut projects: Vec<ProjectRoot> = Vec::new();
    for project in edited_paths(folder, event).flat_map(|file| ProjectRoot::of_file(session, &file)) {
        if !projects.contains(&project) {
            projects.push(project);
        }
    }
    projects
}

/// Returns the project at the root that the command names; `None` if the event has no file there.
fn guarded_project(root: &Path, folder: &Path, event: &Event) -> Option<ProjectRoot> {
    let real = root.canonicalize().ok()?;
    let is_inside = |path: &Path| link_target(path).is_some_and(|target| target.starts_with(&real));
    edited_paths(folder, event)
        .any(|file| is_inside(&file) || file.parent().is_some_and(is_inside))
        .then(|| ProjectRoot { root: root.to_owned(), base: String::new() })
}

fn open(project: ProjectRoot) -> Result<Arc<Workspace>, Error> {
    let ProjectRoot { root, base } = project;
    Workspace::at(&[root]).with_base(base).open()
}

/// Reads the event up to its end, even if the host leaves the pipe open.
fn read_payload() -> Result<Vec<u8>, String> {
    let mut input = BufReader::with_capacity(CHUNK, std::io::stdin().lock());
    let mut bytes = Vec::new();
    loop {
        let length = match input.fill_buf() {
            Ok([]) => return Ok(bytes),
            Ok(chunk) => {
                bytes.extend_from_slice(chunk);
                chunk.len()
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the event cannot be read: {error}")),
        };
        input.consume(length);
        if bytes.len() as u64 > MAX_PAYLOAD {
            return Err("the event is larger than 64 MiB".to_owned());
        }
        let may_be_complete = bytes.trim_ascii_end().ends_with(b"}");
        if may_be_complete && serde_json::from_slice::<IgnoredAny>(&bytes).is_ok() {
            return Ok(bytes);
        }
    }
}

/// Answers and ends the process if the work takes longer than the deadline of the policy.
fn watch_deadline(started: Instant, shared: Shared) {
    let watchdog = move || {
        loop {
            let deadline = shared.lock().settings.deadline.saturating_add(GRACE);
            let left = deadline.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            // The deadline becomes shorter when the policy is read.
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
        let mut progress = shared.lock();
        if progress.is_answered {
            return;
        }
        let deadline = progress.settings.deadline;
        let reply = unjudged_reply(&progress, &format!("the edit was not judged within {deadline:?}"));
        let code = print(&mut progress, &reply);
        // The lock is held, so that nothing else is printed.
        std::process::exit(if code == ExitCode::SUCCESS { 0 } else { i32::from(reply.exit) });
    };
    // Without a further thread, the gates' own limits still hold.
    drop(std::thread::Builder::new().spawn(watchdog));
}

/// True if a client's configuration has an entry with the name of lockgate's server.
fn has_server(file: &Path) -> bool {
    let text = read_regular_file(file, MAX_CONFIGURATION).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_key = |rest: &str| rest.trim_start().starts_with(':');
    text.split("\"lockgate\"").skip(1).any(is_key)
        || text.contains("[mcp_servers.lockgate]")
        || text.contains("[mcp_servers.\"lockgate\"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_host_is_refused_with_all_names() {
        assert_eq!((host("claude"), host("claude-code")), (Ok(Host::ClaudeCode), Ok(Host::ClaudeCode)));
        let message = host("emacs").unwrap_err();
        assert!(message.starts_with("expected one of claude, claude-code, codex, "), "{message}");
        assert!(!message.contains("--doctor"), "{message}");
        let message = host("doctor").unwrap_err();
        assert!(message.ends_with("; use `lockgate hook --doctor`"), "{message}");
    }

    #[test]
    fn a_server_is_found_by_its_entry_and_not_by_a_hook() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        for (text, expected) in [
            (r#"{"mcpServers": {"lockgate": {"command": "lockgate"}}}"#, true),
            (r#"{"mcpServers": {"lockgate" : {}}}"#, true),
            ("[mcp_servers.lockgate]\ncommand = \"lockgate\"\n", true),
            (
                r#"{"hooks": {"BeforeTool": [{"hooks": [{"name": "lockgate", "command": "lockgate hook"}]}]}}"#,
                false,
            ),
            ("", false),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(has_server(&file), expected, "{text}");
        }
        assert!(!has_server(&dir.path().join("none")));
    }
}
