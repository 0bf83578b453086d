//! A rule: one entry of `quality_gates`, with a gate and the effect of its findings.

use std::sync::Arc;
use std::time::Duration;

use super::damage::Damage;
use super::definition::{Gate, InSteps, Role};
use super::language::Language;
use super::node::{MapFields, PolicyError, YamlNode, YamlValue};
use super::severity::Severity;
use super::tools::{find_gate, meant_gate};
use super::value_shape::{TIME, tables};
use super::words::words;

/// One gate of `quality_gates`, with its options.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The gate of the rule.
    pub gate: Arc<Gate>,
    /// The effect of new findings.
    pub level: Level,
    /// False when the policy disables the gate; it is then reported as skipped.
    pub enabled: bool,
    /// The lowest severity that blocks at [`Level::Block`].
    pub fail_on: Severity,
    /// The profiles in which the gate runs.
    pub profiles: Profiles,
    /// Arguments that are added to the gate's command.
    pub args: Vec<String>,
    /// The time limit of one run.
    pub timeout: Duration,
    /// Set when an edit is rejected if the gate could not run.
    pub required: bool,
    /// The role of the gate: check or fix.
    pub role: Role,
    /// The part of the file that fixes may change.
    pub scope: FixScope,
    /// The findings that count, if other than the policy's default.
    pub baseline: Option<Baseline>,
    /// The options set by the policy itself, which no default of the catalogue overrides.
    pub explicit: Explicit,
}

/// The options of a rule that the policy itself sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Explicit {
    /// True if the policy sets `level`.
    pub level: bool,
    /// True if the policy sets `role`.
    pub role: bool,
}

impl Rule {
    /// Returns the rule of an entry that only names this gate.
    pub fn plain(gate: Arc<Gate>) -> Rule {
        Rule {
            level: Level::Block,
            enabled: true,
            fail_on: Severity::Error,
            profiles: Profiles::default(),
            args: Vec::new(),
            timeout: gate.timeout,
            required: false,
            role: gate.role,
            scope: FixScope::Edit,
            baseline: None,
            explicit: Explicit::default(),
            gate,
        }
    }

    /// True if the rule runs a program for a file of this path and language in this profile, as far as the policy tells.
    pub(super) fn runs_program_for(&self, path: &str, language: Option<&Language>, profile: Profile) -> bool {
        let is_meant = self.enabled && self.profiles.include(profile) && self.gate.covers(language);
        let is_excluded = self.gate.command().is_some_and(|command| command.files.excludes(path));
        is_meant && !is_excluded && self.gate.runs_program()
    }

    /// Returns the same rule with another gate of the same name. The error is the end of a sentence.
    pub(super) fn rebind(&self, gate: &Arc<Gate>) -> Result<Rule, String> {
        let role = if self.role == self.gate.role { gate.role } else { self.role };
        let unsupported = [
            ("args", !self.args.is_empty() && gate.command().is_none()),
            ("role: fix", role == Role::Fix && !gate.can_fix()),
            ("scope: file", self.scope == FixScope::File && !gate.can_fix()),
        ];
        if let Some((option, _)) = unsupported.into_iter().find(|(_, is_set)| *is_set) {
            return Err(format!("`{option}` in a list that is extended"));
        }
        let timeout = if self.timeout == self.gate.timeout { gate.timeout } else { self.timeout };
        Ok(Rule { gate: Arc::clone(gate), role, timeout, ..self.clone() })
    }
}

words! {
    /// The part of a file that a fixing gate may change.
    #[derive(Default)]
    pub enum FixScope {
        /// The lines that the edit wrote, and consequences of it elsewhere.
        #[default]
        Edit = "edit",
        /// Every line of the file.
        File = "file",
    }

    /// A profile that `on` may name.
    enum ProfileName {
        Edit = "edit",
        Check = "check",
    }

    /// The effect of a new finding on an edit.
    pub enum Level {
        /// A new finding rejects the edit.
        Block = "block",
        /// A new finding is only reported.
        Warn = "warn",
    }

    /// The findings that count; each value includes the ones before it.
    #[derive(Default, PartialOrd, Ord, Hash)]
    pub enum Baseline {
        /// Findings that the edit introduced.
        #[default]
        New = "new",
        /// Also findings on the lines that the edit wrote.
        EditedLines = "edited_lines",
        /// All findings in the edited file.
        File = "file",
        /// Also findings in other files.
        All = "all",
    }
}

/// The profiles in which a gate runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profiles {
    /// Set for edits of files.
    pub edit: bool,
    /// Set for checks of files as they are.
    pub check: bool,
}

impl Profiles {
    /// True if the gate runs in this profile.
    pub fn include(self, profile: Profile) -> bool {
        match profile {
            Profile::Edit | Profile::Batch => self.edit,
            Profile::Check => self.check,
        }
    }
}

impl Default for Profiles {
    fn default() -> Profiles {
        Profiles { edit: true, check: true }
    }
}

/// The occasion for which gates run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// One file is edited, maybe as one step of several.
    Edit,
    /// All files of a change are edited together.
    Batch,
    /// Files are checked as they are.
    Check,
}

/// The rules for one draft.
#[derive(Debug, Clone)]
pub struct EffectiveRules<'a> {
    /// The rules, in the order of the policy.
    pub rules: Vec<&'a Rule>,
    /// The findings that count against the draft.
    pub baseline: Baseline,
    /// The time limit of all gates together.
    pub total: Duration,
    /// The weight of each accident.
    pub damage: Damage,
    /// The profile in which the gates run.
    pub profile: Profile,
    /// Tells if the edit is one step of several.
    pub step_mode: StepMode,
    /// The syntax check that stands in for the programs of the list.
    pub fallback: Option<SyntaxFallback<'a>>,
    /// Set when the draft is written whatever the gates find, except [`EffectiveRules::decisive`]: in `interactive`.
    pub is_interactive: bool,
    /// The only rule that can reject an edit that is written whatever the others find: the command that a request in
    /// `interactive` names. Its program runs even if another gate rejects the draft.
    pub decisive: Option<&'a Rule>,
}

/// The syntax check of a list that names programs for the draft, but not the gate `syntax`. It runs if none of these
/// programs judges the draft.
#[derive(Debug, Clone)]
pub struct SyntaxFallback<'a> {
    /// The rule of `syntax`.
    pub rule: &'a Rule,
    /// The names of the gates of the list that run programs for the draft.
    pub programs: Vec<&'a str>,
}

/// The treatment of an edit: complete, or one step of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepMode {
    /// A complete edit: the policy applies unchanged.
    #[default]
    Plain,
    /// One step of several: each gate follows `in_steps` of its definition, unless the policy itself sets the
    /// option.
    Step,
}

impl<'a> EffectiveRules<'a> {
    /// Returns a single rule for an edit.
    pub fn new(rule: &'a Rule, total: Duration) -> EffectiveRules<'a> {
        EffectiveRules {
            rules: vec![rule],
            baseline: Baseline::New,
            total,
            damage: Damage::default(),
            profile: Profile::Edit,
            step_mode: StepMode::Plain,
            fallback: None,
            is_interactive: false,
            decisive: None,
        }
    }

    /// Returns the role of a rule's gate for this edit. Checks of files as they are fix nothing.
    pub fn role(&self, rule: &Rule) -> Role {
        match (self.profile, self.step_mode, rule.gate.in_steps) {
            (Profile::Check, ..) => Role::Check,
            (_, StepMode::Step, Some(InSteps::Fix)) if !rule.explicit.role => Role::Fix,
            (_, StepMode::Plain | StepMode::Step, _) => rule.role,
        }
    }

    /// Returns the level of a rule's findings for this edit.
    pub fn level(&self, rule: &Rule) -> Level {
        if self.softens(rule) { Level::Warn } else { rule.level }
    }

    /// True if a gate blocks by default, and only warns because the edit is one step of several.
    pub fn softens(&self, rule: &Rule) -> bool {
        let in_steps = self.step_mode == StepMode::Step && rule.gate.in_steps == Some(InSteps::Warn);
        in_steps && rule.level == Level::Block && !rule.explicit.level
    }
}

/// Parses one entry of a list, with the node of its gate.
pub(super) fn rule<'a>(item: &'a YamlNode, own: &[Arc<Gate>]) -> Result<(&'a YamlNode, Rule), PolicyError> {
    if let YamlValue::Text(text) = &item.value {
        let (value, gate) = (item.value.describe(), meant_gate(text, own));
        return Err(item.fault(format!("a gate must be a map, not {value}: write `{{ tool: {gate} }}`")));
    }
    let fields = item.settings("a gate", &[RULE])?;
    let tool = fields.require("tool")?;
    let plain = Rule::plain(find_gate(tool, "`tool`", own)?);
    let rule = Rule {
        enabled: fields.read("enabled", plain.enabled)?,
        level: fields.read("level", plain.level)?,
        fail_on: fields.read("fail_on", plain.fail_on)?,
        profiles: fields.optional("on", profiles)?.unwrap_or(plain.profiles),
        args: fields.optional("args", arguments)?.unwrap_or_default(),
        timeout: fields.read("timeout", plain.timeout)?,
        required: fields.read("required", plain.required)?,
        role: fields.read("role", plain.role)?,
        scope: fields.read("scope", plain.scope)?,
        explicit: Explicit { level: fields.get("level").is_some(), role: fields.get("role").is_some() },
        ..plain
    };
    check_options(&fields, &rule)?;
    Ok((tool, rule))
}

/// Rejects options that the gate does not support.
fn check_options(fields: &MapFields<'_>, rule: &Rule) -> Result<(), PolicyError> {
    let name = &rule.gate.name;
    let has_command = rule.gate.command().is_some();
    let can_fix = rule.gate.can_fix();
    let is_check = rule.explicit.role && rule.role == Role::Check;
    let formats_nothing = format!("`{name}` returns no formatted text, so");
    for (key, is_wrong, message) in [
        ("args", !has_command, format!("`{name}` runs no program, so `args` have no effect")),
        ("scope", !can_fix, format!("{formats_nothing} `scope` has no effect here")),
        ("scope", is_check, "`scope` has no effect with `role: check`".to_owned()),
        ("role", rule.role == Role::Fix && !can_fix, format!("{formats_nothing} `check` is its only role")),
    ] {
        if let (Some(node), true) = (fields.get(key), is_wrong) {
            return Err(node.fault(message));
        }
    }
    Ok(())
}

fn profiles(node: &YamlNode, what: &str) -> Result<Profiles, PolicyError> {
    let items = node.list(what)?;
    if items.is_empty() {
        return Err(
            node.fault(format!("{what} is empty: name `edit`, `check` or both, or set `enabled: false`"))
        );
    }
    items.iter().try_fold(Profiles { edit: false, check: false }, |profiles, item| {
        match item.word("profile", ProfileName::WORDS, ProfileName::named)? {
            ProfileName::Edit => Ok(Profiles { edit: true, ..profiles }),
            ProfileName::Check => Ok(Profiles { check: true, ..profiles }),
        }
    })
}

/// Reads arguments of a command; none may contain a NUL.
pub(super) fn arguments(node: &YamlNode, what: &str) -> Result<Vec<String>, PolicyError> {
    node.texts_unless(what, |word| word.contains('\0'), "holds a NUL")
}

tables! {
    /// One entry of a list of `quality_gates`.
    RULE {
        "tool": Tool, Required => "the name of the gate";
        "enabled": Flag, Is("true") => "`false`: the gate does not run here, and is reported as skipped";
        "level": Words(Level::WORDS), Is("block")
            => "`block`: a finding that counts rejects the edit; `warn`: it is only reported";
        "fail_on": Words(Severity::WORDS), Is("error") => "the lowest severity that rejects an edit at `level: block`";
        "on": List(&Words(ProfileName::WORDS), 1), Is("[edit, check]")
            => "when the gate runs: for an edit, for a check of existing files";
        "args": List(&Text, 0), Is("[]") => "additional arguments of the gate's command";
        "timeout": Duration(TIME), Described("that of the gate")
            => "the timeout of one run, further limited by the rest of `limits.total`";
        "required": Flag, Is("false")
            => "`true`: a gate that is not trusted, unavailable, broken or timed out rejects the edit in `strict`";
        "role": Words(Role::WORDS), Described("that of the gate")
            => "`fix`: the gate fixes the draft before the checks run; only for a gate that returns formatted text";
        "scope": Words(FixScope::WORDS), Is("edit")
            => "with `role: fix`: `edit`: in a file that was not formatted before, the gate changes only the edited lines and what depends on them; `file`: it changes the whole file";
    }
}
