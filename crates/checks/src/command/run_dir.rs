//! Prepares one run of a program: its arguments, its paths, and the files made for it.
//!
//! Invariant: files made for a run exist as long as its `RunDir`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file_names::{PathLookup, RunNames};
use super::input::{ProgramInput, has_any, input_bytes};
use super::path_rewrite::StagedPaths;
use super::project;
use crate::error::GateError;
use crate::overlay::DraftOverlays;
use crate::stage::{CargoRecord, CargoRecordError, FileTime, Stage, StagedPath, TARGET};
use lockgate_policy::{CacheScope, CommandSpec, CommandWord, Hole, Input, Rule, Unconfigured, WordPart};
use lockgate_sandbox::{
    Halt, Isolation, Limit, Order, Sandbox, SandboxLayer, create_private, isolation_shortfall, strongest,
};
use lockgate_text::Buffer;

/// The reason when a run waited for another one until its time was up.
const WAIT_TIMED_OUT: &str = "timed out waiting for another run that uses its target folder";

/// The paths, files and sandbox of one run.
#[derive(Debug)]
pub(super) struct RunDir<'a> {
    input: ProgramInput<'a>,
    command: &'a CommandSpec,
    /// The arguments that replace `{args}`.
    args: Vec<OsString>,
    /// The working directory, in the project or in a copy.
    folder: PathBuf,
    /// The root of the project or of a copy.
    root: PathBuf,
    /// The path of the file that the program is given.
    file: PathBuf,
    draft: Option<PathBuf>,
    overlay: Option<PathBuf>,
    cache: Option<PathBuf>,
    /// The name of the project that the file belongs to.
    project: String,
    sandbox: Sandbox,
    /// The names that the program may use for files.
    pub(super) names: RunNames,
    /// The paths in its output that stand for paths of the project.
    pub(super) staged_paths: StagedPaths,
    _stage: Option<Stage>,
    /// Keeps other runs from using cargo's target folder.
    _cargo_record: Option<CargoRecord>,
}

impl<'a> RunDir<'a> {
    /// Prepares a run.
    ///
    /// Errors: `Skipped` if the program does not check such a file, or the project has no configuration for
    /// it; `WeakIsolation` if this machine cannot isolate it as the policy requires.
    pub(super) fn prepare(
        input: &ProgramInput<'a>,
        command: &'a CommandSpec,
        limit: Limit<'_>,
    ) -> Result<RunDir<'a>, GateError> {
        let args = added_args(input.rule, command, input.root, input.path)?;
        if let Some(why) = isolation_shortfall(input.isolation, input.ceiling) {
            return Err(GateError::WeakIsolation(why));
        }
        let record =
            match cargo_target(input, command).map(|target| CargoRecord::open(&target, limit)).transpose() {
                Ok(record) => record,
                Err(CargoRecordError::Halted(Halt::TimedOut)) => {
                    return Err(GateError::TimedOut(WAIT_TIMED_OUT.to_owned()));
                }
                Err(CargoRecordError::Halted(Halt::Cancelled)) => return Err(Halt::Cancelled.into()),
                Err(CargoRecordError::Disk(error)) => {
                    return Err(GateError::Broken(format!("could not get its target folder: {error}")));
                }
            };
        RunDir::build(input, command, args, record)
            .map_err(|error| GateError::Broken(format!("could not get the draft: {error}")))
    }

    fn build(
        input: &ProgramInput<'a>,
        command: &'a CommandSpec,
        args: Vec<OsString>,
        mut record: Option<CargoRecord>,
    ) -> io::Result<RunDir<'a>> {
        if !input.root.is_absolute() {
            return Err(io::Error::other("the root is not an absolute path"));
        }
        let level = strongest(input.ceiling);
        let needs_cache = command.keeps_cache();
        let needs = Needs::from_command(input, command);
        let in_stage = needs.draft || needs.in_project || (needs_cache && input.cache.is_none());
        let needed = in_stage || level == Isolation::Landlock;
        let stage = needed.then(Stage::new).transpose()?;
        let (root, layers) = match &stage {
            Some(stage) if needs.in_project => stage_drafts(input, command, stage, level, record.as_mut())?,
            Some(_) | None => (input.root.to_owned(), Vec::new()),
        };
        let file = root.join(input.path);
        let text = input_bytes(command, input.text);
        let draft = stage
            .as_ref()
            .filter(|_| needs.draft && !input.is_removed)
            .map(|stage| stage.draft(input.path, text))
            .transpose()?;
        let overlay = match &stage {
            Some(stage) if needs.draft => Some(OverlayFile::new(input, stage, &root, draft.as_deref())?),
            Some(_) | None => None,
        };
        let staged_paths = stage
            .as_ref()
            .map_or_else(StagedPaths::default, |stage| StagedPaths::new(stage.path(), input.root));
        let cache = if needs_cache { cache_folder(input.cache, stage.as_ref())? } else { None };
        // The program may write to the folder of its run, if it has one, and to its cache.
        let sandbox = Sandbox {
            level,
            layers,
            tree: Some(input.root.to_owned()),
            readable: literal_paths(input, command),
            run_dir: stage.as_ref().map(|stage| stage.path().to_owned()),
            cache: cache.clone(),
            network: command.environment.network,
        };
        let folder =
            project::join(&root, project::folder_of(input.root, input.path, &command.environment.cwd));
        let roots = [input.root, &root].into_iter();
        let names = RunNames::new(
            input.path,
            roots,
            [folder.as_path(), &root, file.parent().unwrap_or(&root)],
            draft.as_deref(),
            overlay.as_ref().map_or(&[], |overlay| overlay.drafts.as_slice()),
            command.input,
            PathLookup::Disk(input.root.to_owned()),
        );
        let overlay = overlay.map(|overlay| overlay.file);
        Ok(RunDir {
            input: *input,
            command,
            args,
            folder,
            root,
            file,
            draft,
            overlay,
            cache,
            project: project::name(input.root, input.path, command),
            sandbox,
            names,
            staged_paths,
            _stage: stage,
            _cargo_record: record,
        })
    }

    /// Returns the order for the program.
    pub(super) fn order(&self) -> Result<Order<'_>, GateError> {
        let input = (self.command.input == Input::Stdin).then(|| input_bytes(self.command, self.input.text));
        let (argv, env) = (self.argv()?, self.env()?);
        let sandbox = self.sandbox.clone();
        Ok(Order { program: self.input.program, argv, cwd: &self.folder, env, input, sandbox })
    }

    /// The arguments after the program. Added ones replace `{args}`, else they come last.
    fn argv(&self) -> Result<Vec<OsString>, GateError> {
        let mut argv = Vec::new();
        for word in &self.command.words {
            if word.has(Hole::Args) {
                argv.extend(self.args.iter().cloned());
            } else if word.has(Hole::Paths) {
                argv.extend(self.files().map(PathBuf::into_os_string));
            } else if word.has(Hole::Folders) {
                argv.extend(self.folders().into_iter().map(PathBuf::into_os_string));
            } else {
                argv.push(self.expand(word)?);
            }
        }
        if !has_any(self.command, &[Hole::Args]) {
            argv.extend(self.args.iter().cloned());
        }
        Ok(argv)
    }

    /// The files that the program checks, at the paths where it sees them.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let also = self.input.batched.iter().map(|other| self.root.join(other.path));
        std::iter::once(self.file.clone()).chain(also)
    }

    /// The distinct folders of those files.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in self.files().filter_map(|file| file.parent().map(Path::to_owned)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    fn env(&self) -> Result<Vec<(OsString, OsString)>, GateError> {
        let mut env = project::search_env(self.input.search);
        for (name, value) in &self.command.environment.variables {
            env.push((name.into(), self.expand(value)?));
        }
        Ok(env)
    }

    fn expand(&self, template: &CommandWord) -> Result<OsString, GateError> {
        let mut word = OsString::new();
        for part in &template.parts {
            match part {
                WordPart::Text(text) => word.push(text),
                WordPart::Hole(hole) => word.push(self.path_for(*hole).ok_or_else(|| missing_value(*hole))?),
                WordPart::Value(name) => word.push(self.value(name)),
            }
        }
        Ok(word)
    }

    fn path_for(&self, hole: Hole) -> Option<&OsStr> {
        let place = match hole {
            Hole::Path => Some(self.file.as_path()),
            Hole::Folder => self.file.parent(),
            Hole::Root => Some(self.folder.as_path()),
            Hole::Draft => self.draft.as_deref(),
            Hole::Overlay => self.overlay.as_deref(),
            Hole::Cache => self.cache.as_deref(),
            Hole::Project => Some(Path::new(&self.project)),
            Hole::Paths | Hole::Folders | Hole::Args | Hole::Venv | Hole::NodeModules => None,
        };
        place.map(Path::as_os_str)
    }

    fn value(&self, name: &str) -> String {
        let value = self.command.values.iter().find(|value| value.name == name);
        value.map(|value| project::value(self.input.root, self.input.path, value)).unwrap_or_default()
    }
}

/// Absolute paths in the definition and the policy, which the user has seen and trusted.
fn literal_paths(input: &ProgramInput<'_>, command: &CommandSpec) -> Vec<PathBuf> {
    let literal = |template: &'_ CommandWord| match template.parts.as_slice() {
        [WordPart::Text(text)] => Some(PathBuf::from(text)),
        _ => None,
    };
    let words = command.words.iter().filter_map(literal).chain(input.rule.args.iter().map(PathBuf::from));
    words.filter(|word| word.is_absolute()).collect()
}

/// The staged files that a run needs.
struct Needs {
    /// Set when the draft is needed as a file of its own.
    draft: bool,
    /// Set when the draft and its overlays are needed at their paths in the project.
    in_project: bool,
}

impl Needs {
    fn from_command(input: &ProgramInput<'_>, command: &CommandSpec) -> Needs {
        let shadow = command.input == Input::Shadow;
        let path_holes = [Hole::Path, Hole::Folder, Hole::Paths, Hole::Folders, Hole::Overlay];
        let gets_path = has_any(command, &path_holes);
        // An overlay file includes the call's other drafts.
        let has_overlays =
            !visible_overlays(input, command).is_empty() && !has_any(command, &[Hole::Overlay]);
        let in_project =
            command.input == Input::Staged || (shadow && !input.on_disk && gets_path) || has_overlays;
        Needs { draft: shadow, in_project }
    }
}

/// The other drafts of the call, if the program's result depends on other files.
fn visible_overlays<'a>(input: &ProgramInput<'a>, command: &CommandSpec) -> DraftOverlays<'a> {
    match command.scope {
        CacheScope::File => &[],
        CacheScope::Package | CacheScope::Project => input.overlays,
    }
}

/// Stages the draft and its overlays at their paths, mounted over the files or in a copy. Returns the root to
/// use, and the layers to mount.
fn stage_drafts(
    input: &ProgramInput<'_>,
    command: &CommandSpec,
    stage: &Stage,
    level: Isolation,
    record: Option<&mut CargoRecord>,
) -> io::Result<(PathBuf, Vec<SandboxLayer>)> {
    let own =
        StagedPath { path: input.path, text: (!input.is_removed).then(|| input_bytes(command, input.text)) };
    let staged: Vec<StagedPath<'_>> =
        [own].into_iter().chain(staged_overlays(visible_overlays(input, command))).collect();
    let planned = record.map(|record| record.plan(input.root, &staged)).transpose()?;
    let has_record = planned.is_some();
    let times: BTreeMap<&str, SystemTime> = match &planned {
        Some(planned) => planned.iter().map(|showing| (showing.path.as_str(), showing.since)).collect(),
        None => {
            staged.iter().filter_map(|it| Some((it.path, time_beside_disk(input.root, it.path)?))).collect()
        }
    };
    let staged = match &planned {
        Some(planned) => {
            planned.iter().map(|it| StagedPath { path: &it.path, text: it.text.as_deref() }).collect()
        }
        None => staged,
    };
    // A program with a cache may compare the time of a draft with that of an earlier one. Without a cache it can
    // know only the file on disk, and a build tool must find the draft newer than that.
    let file_time = if command.keeps_cache() && !has_record || command.input == Input::Shadow {
        FileTime::FromText
    } else {
        FileTime::Given(&times)
    };
    // A program that gets the root in its environment gets a different one in each run.
    let knows_by_root = command.environment.variables.iter().any(|(_, value)| value.has(Hole::Root));
    if level == Isolation::Bubblewrap
        && !knows_by_root
        && let Some(layers) = stage.mount_layers(input.root, &staged, file_time)?
    {
        return Ok((input.root.to_owned(), layers));
    }
    let file_time = if has_record { file_time } else { FileTime::FromText };
    Ok((stage.copy(input.root, &staged, file_time)?, Vec::new()))
}

/// Returns the next second if the file on disk was written in the current one, else `None`.
///
/// Some programs compare times in whole seconds, and would take a draft of the same size for that file.
fn time_beside_disk(root: &Path, path: &str) -> Option<SystemTime> {
    let seconds =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|age| age.as_secs());
    let now = SystemTime::now();
    let on_disk = root.join(path).metadata().ok()?.modified().ok()?;
    (seconds(on_disk)? == seconds(now)?).then(|| now + Duration::from_secs(1))
}

fn staged_overlays<'a>(overlays: DraftOverlays<'a>) -> impl Iterator<Item = StagedPath<'a>> {
    overlays.iter().map(|other| StagedPath { path: other.path, text: other.text.map(Buffer::bytes) })
}

/// The overlay file, which maps paths to the draft and the call's other drafts.
struct OverlayFile {
    file: PathBuf,
    /// The staged files of the other drafts, each with the path of its original file.
    drafts: Vec<(PathBuf, String)>,
}

impl OverlayFile {
    fn new(
        input: &ProgramInput<'_>,
        stage: &Stage,
        root: &Path,
        draft: Option<&Path>,
    ) -> io::Result<OverlayFile> {
        let overlays: Vec<StagedPath<'_>> = staged_overlays(input.overlays).collect();
        let drafts = if overlays.is_empty() { Vec::new() } else { stage.overlay_files(&overlays)? };
        let known = overlays.iter().zip(&drafts);
        let known = known.filter_map(|(other, draft)| Some((draft.clone()?, other.path.to_owned())));
        let known = known.collect();
        let other_files = overlays.iter().zip(drafts).map(|(other, draft)| (root.join(other.path), draft));
        let own = (root.join(input.path), draft.map(Path::to_owned));
        let all: Vec<(PathBuf, Option<PathBuf>)> = std::iter::once(own).chain(other_files).collect();
        Ok(OverlayFile { file: stage.overlay(&all)?, drafts: known })
    }
}

/// Reports a placeholder without a value. Parsing a definition rejects these.
fn missing_value(hole: Hole) -> GateError {
    GateError::Broken(format!("cannot be started: there is no value for the placeholder {hole:?}"))
}

/// The arguments added to the command for a file at this path: those for a project without configuration, then the policy's.
pub(super) fn added_args(
    rule: &Rule,
    command: &CommandSpec,
    root: &Path,
    path: &str,
) -> Result<Vec<OsString>, GateError> {
    if command.files.excludes(path) {
        return Err(GateError::Skipped("not for this file".to_owned()));
    }
    let configured = || project::is_configured(root, path, &command.config);
    let added = match &command.unconfigured {
        Unconfigured::Words(words) if words.is_empty() || configured() => &[][..],
        Unconfigured::Words(words) => words,
        Unconfigured::Skip if configured() => &[],
        Unconfigured::Skip => {
            let why = format!("the project has no configuration of {}", command.program.name);
            return Err(GateError::LeftOut(why));
        }
    };
    Ok(added.iter().chain(&rule.args).map(OsString::from).collect())
}

/// The folder of cargo's build results, if it outlasts the run.
fn cargo_target(input: &ProgramInput<'_>, command: &CommandSpec) -> Option<PathBuf> {
    let (_, template) = command.environment.variables.iter().find(|(name, _)| name == TARGET)?;
    if command.input != Input::Staged || !template.has(Hole::Cache) {
        return None;
    }
    let mut target = OsString::new();
    for part in &template.parts {
        match part {
            WordPart::Text(text) => target.push(text),
            WordPart::Hole(Hole::Cache) => target.push(input.cache?),
            WordPart::Hole(Hole::Project) => target.push(project::name(input.root, input.path, command)),
            WordPart::Hole(_) | WordPart::Value(_) => return None,
        }
    }
    Some(PathBuf::from(target))
}

/// The folder for `{cache}`: lockgate's own, else one that lasts for this run.
fn cache_folder(own: Option<&Path>, stage: Option<&Stage>) -> io::Result<Option<PathBuf>> {
    match (own, stage) {
        (Some(own), _) => {
            create_private(own)?;
            Ok(Some(own.to_owned()))
        }
        (None, Some(stage)) => stage.folder("cache").map(Some),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_not_of_the_second_of_its_file() {
        let root = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(root.path().join("a.py")).unwrap();
        let now = SystemTime::now();
        // The next second may have begun since.
        for later in 0..2 {
            file.set_modified(now + Duration::from_secs(later)).unwrap();
            if let Some(time) = time_beside_disk(root.path(), "a.py") {
                assert!(time > now + Duration::from_millis(900), "{time:?} {now:?}");
                break;
            }
            assert_eq!(later, 0);
        }
        file.set_modified(now - Duration::from_secs(5)).unwrap();
        assert_eq!(time_beside_disk(root.path(), "a.py"), None);
        assert_eq!(time_beside_disk(root.path(), "none.py"), None);
    }
}
