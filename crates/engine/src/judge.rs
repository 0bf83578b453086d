//! Judges the drafts of a call together, each by its own policy.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::batch::Batch;
use super::gate_cwd::GateCwd;
use super::links::{checks_links, markdown};
use super::plan::{Drafted, FileDraft};
use super::resolve::ResolvedTarget;
use super::services::{Services, cancelled};
use super::trust::CallPermissions;
use lockgate_checks::{
    self as gate, DeadLinks, ExecPermission, GateEnv, GateInput, InputLocation, OnDisk, Verdict, Watch,
};
use lockgate_edit::Edit;
use lockgate_edit::request::{Mode, Request};
use lockgate_error::{Code, Error};
use lockgate_policy::{EffectiveRules, GateKind, Language, Policy, Profile, Role, Rule, StepMode, Validator};
use lockgate_store::{Cache, EntryKind};

/// The rules, permission and cache with which one text is judged.
pub(super) struct GateContext<'a> {
    pub(super) root: &'a Path,
    pub(super) location: InputLocation,
    pub(super) language: Option<&'static Language>,
    pub(super) rules: EffectiveRules<'a>,
    pub(super) permission: ExecPermission,
    pub(super) cache: Option<Arc<Cache>>,
}

impl GateContext<'_> {
    /// The environment of the gates, by the policy of the text.
    pub(super) fn env<'e>(&'e self, services: &'e Services, policy: &Policy) -> GateEnv<'e> {
        GateEnv {
            root: self.root,
            exec_permission: &self.permission,
            runtime: &services.gate_runtime,
            isolation: gate::required_isolation(policy.isolation),
            cache: self.cache.as_ref().map(|cache| cache.folder()),
        }
    }
}

/// Runs the gates: fixes the drafts, then judges what they add. In `interactive`, only the command that
/// the request named can block.
///
/// Errors: `INTERNAL` when the caller cancelled the request, so that nothing is written; `INVALID_INPUT`
/// for a command that the policy does not name; those of [`Drafted::from_fixed`] if gates fixed a draft.
pub(super) fn judge(
    services: &Services,
    batch: &Batch,
    drafts: &mut [FileDraft<'_>],
    watch: &Watch,
) -> Result<(), Error> {
    let verdicts = verdicts(services, batch, drafts, watch)?;
    if watch.cancelled() {
        return Err(cancelled(watch));
    }
    for (at, (draft, mut verdict)) in drafts.iter_mut().zip(verdicts).enumerate() {
        if let Some(place) = draft.target.place.file() {
            let rename = |path: &mut String| {
                if let Ok(full_path) = services.store.files.named_beside(place, path) {
                    *path = full_path;
                }
            };
            verdict.findings.iter_mut().filter_map(|finding| finding.elsewhere.as_mut()).for_each(rename);
        }
        if let Some(text) = verdict.fixed.take() {
            let fixed = Drafted::from_fixed(&draft.current, &text, &draft.target.rules);
            draft.drafted = fixed.map_err(|error| batch.with_edit_index(error, at))?;
        }
        draft.is_overridden = draft.request.mode == Mode::Interactive && verdict.refuses();
        draft.verdict = match draft.request.mode {
            Mode::Strict | Mode::VerifyOnly => verdict,
            Mode::Interactive => {
                let insists = validator(draft.request, &draft.target.rules);
                verdict.softened(insists.map(|validator| validator.rule.gate.name.as_str()))
            }
        };
    }
    Ok(())
}

fn verdicts(
    services: &Services,
    batch: &Batch,
    drafts: &[FileDraft<'_>],
    watch: &Watch,
) -> Result<Vec<Verdict>, Error> {
    let dead = services.dead_links(batch, drafts, watch)?;
    let permissions = CallPermissions::new(&services.trust, &services.store.files);
    let inputs = batch.try_each(drafts.iter().zip(&dead), |(draft, dead)| {
        judge_input(services, &permissions, batch, draft, dead)
    })?;
    let failure = OnceLock::new();
    let overlays: Vec<_> =
        drafts.iter().map(|draft| services.overlays(draft.target, drafts, &failure)).collect();
    let is_damage = |rule: &&Rule| rule.enabled && matches!(rule.gate.kind, GateKind::Damage);
    let judges_damage: Vec<bool> =
        inputs.iter().map(|input| input.rules.rules.iter().any(is_damage)).collect();
    let lost = services.lost_definitions(batch, drafts, &judges_damage);
    let parts =
        drafts.iter().zip(&inputs).zip(&overlays).zip(services.groups(drafts)).zip(dead.iter().zip(&lost));
    let cases: Vec<GateInput<'_>> = parts
        .map(|((((draft, input), overlays), group), (dead_links, lost))| GateInput {
            draft: gate::Draft {
                path: draft.target.place.in_root(),
                language: input.language,
                before: draft.current.text(),
                after: &draft.drafted.buffer,
                map: &draft.drafted.map,
                input_location: input.location,
                files_exist: overlays,
            },
            rules: input.rules.clone(),
            env: input.env(services, &draft.target.rules),
            removed: draft.request.edit == Edit::Remove,
            group,
            on_disk: OnDisk::Before,
            dead_links,
            lost,
        })
        .collect();
    let verdicts = gate::judge_all(&cases, watch);
    failure.get().cloned().map_or(Ok(verdicts), Err)
}

/// Collects the input for judging a draft; `dead_links` are the links of other pages to targets that it removes.
fn judge_input<'a>(
    services: &'a Services,
    permissions: &CallPermissions<'_>,
    batch: &Batch,
    draft: &FileDraft<'a>,
    dead_links: &[DeadLinks],
) -> Result<GateContext<'a>, Error> {
    let rules = &draft.target.rules;
    // For a removed file, only the links to it are checked, by the gate of the pages that have them.
    let language = if draft.request.edit == Edit::Remove && !dead_links.is_empty() {
        markdown()
    } else {
        draft.target.language(draft.drafted.buffer.view())
    };
    let effective_rules = effective_rules(batch, draft, language, dead_links)?;
    Ok(match services.gate_cwd(draft)? {
        GateCwd::Folder { place, location } => {
            let root = services.store.files.root_path(&place)?;
            let permission = permissions.grant(&place, rules, &effective_rules);
            let cache = services.trust.cache(&services.store.files, &place, &permission);
            GateContext { root, location, language, rules: effective_rules, permission, cache }
        }
        GateCwd::Unavailable(why) => GateContext {
            root: Path::new(""),
            location: InputLocation::Alone,
            language,
            rules: effective_rules,
            permission: ExecPermission::NoDirectory(why),
            cache: None,
        },
    })
}

/// Returns the rules for a draft.
fn effective_rules<'a>(
    batch: &Batch,
    draft: &FileDraft<'a>,
    language: Option<&'static Language>,
    dead_links: &[DeadLinks],
) -> Result<EffectiveRules<'a>, Error> {
    let ResolvedTarget { place, rules, .. } = draft.target;
    let profile = if batch.is_batch { Profile::Batch } else { Profile::Edit };
    let mut effective_rules = rules.effective_rules(place.in_root(), language, profile);
    if batch.kind != EntryKind::Edit {
        // An undo restores the exact text, so no gate may fix it.
        effective_rules.rules.retain(|rule| rule.role != Role::Fix);
    }
    if draft.request.edit == Edit::Remove {
        effective_rules.rules.retain(|rule| !dead_links.is_empty() && checks_links(rule));
    }
    if draft.request.gate_options.step {
        effective_rules.step_mode = StepMode::Step;
    }
    effective_rules.is_interactive = draft.request.mode == Mode::Interactive;
    match (&draft.request.gate_options.validate, validator(draft.request, rules)) {
        (Some(_), Some(validator)) => {
            effective_rules.rules.push(&validator.rule);
            effective_rules.decisive = effective_rules.is_interactive.then_some(&validator.rule);
        }
        (Some(name), None) => return Err(unknown_command(name, rules)),
        (None, _) => {}
    }
    Ok(effective_rules)
}

/// Returns the validation command that a request names.
fn validator<'a>(request: &Request, rules: &'a Policy) -> Option<&'a Validator> {
    let name = request.gate_options.validate.as_ref()?;
    let names = |validator: &&Validator| {
        let known = validator.words.join(" ");
        name.split_whitespace().eq(known.split_whitespace())
    };
    rules.validators.iter().find(names)
}

fn unknown_command(name: &str, rules: &Policy) -> Error {
    let known: Vec<String> =
        rules.validators.iter().map(|known| format!("`{}`", known.words.join(" "))).collect();
    let hint = match known.as_slice() {
        [] => "leave it out: the policy allows none".to_owned(),
        known => format!("name one of {}, or leave it out", known.join(", ")),
    };
    let message =
        format!("`{name}` is not one of the `validate_commands` of the policy {}", rules.origin.name);
    Error::new(Code::InvalidInput, message).named_field("validate_command").hint(hint)
}
