//! The policy of files: gates, limits and requirements for requests.
//!
//! Invariant: whatever a policy is laid over, each gate that it names is one of the catalogue or of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::catalogue::Catalogue;
use super::damage::Damage;
use super::definition::{Gate, GateKind};
use super::demands::{Demands, demands};
use super::entity::{EntityType, embedded_types, entities};
use super::hooks::{HookSettings, hooks};
use super::isolation::RequiredIsolation;
use super::language::Language;
use super::limits::{Limits, limits};
use super::lists::{Lists, lists};
use super::node::{MapFields, MapKey, PolicyError, YamlNode, YamlValue};
use super::origin::PolicyOrigin;
use super::paths::{self, PathRule, Protection};
use super::publishing::{Publishing, Unjournalled, publishing};
use super::rule::{Baseline, EffectiveRules, Level, Profile, Rule, StepMode, SyntaxFallback};
use super::tools::defined;
use super::validators::{Validator, validator};
use super::{keys, server_toolsets, yaml};
use lockgate_text::Version;

/// The name of the default policy in messages.
const BUILT_IN: &str = "built-in quality.yaml";
const DEFAULT: &str = lockgate_gates::DEFAULT_POLICY;

/// The policy for the files that it covers.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The limits of one edit.
    pub limits: Limits,
    /// The findings that count against an edit.
    pub baseline: Baseline,
    /// The requirements that a request must meet.
    pub demands: Demands,
    /// The settings of `lockgate hook`.
    pub hooks: HookSettings,
    /// The settings for publishing a change.
    pub publishing: Publishing,
    /// The weight of each accident.
    pub damage: Damage,
    /// The minimum isolation of gate programs.
    pub isolation: RequiredIsolation,
    /// The commands that a request may name to validate its draft.
    pub validators: Vec<Validator>,
    /// The toolsets that a server offers; `None` if the policy does not set them.
    pub toolsets: Option<Vec<String>>,
    /// The location of its own file.
    pub origin: Arc<PolicyOrigin>,
    /// The hash of its text and name, of its base, and of the definitions of the gates that it names.
    pub version: Version,
    lists: Lists,
    files: FileRules,
    definitions: Definitions,
}

/// The rules for files by their path.
#[derive(Debug, Clone)]
struct FileRules {
    paths: Vec<PathRule>,
    /// The files whose texts the journal does not keep.
    unjournalled: Unjournalled,
}

/// The definitions of a policy and its bases, beside the built-in ones.
#[derive(Debug, Clone, Default)]
struct Definitions {
    gates: Vec<Arc<Gate>>,
    entities: Vec<EntityType>,
}

impl Policy {
    /// Returns the policy of a root without a policy of its own.
    pub fn embedded() -> Arc<Policy> {
        static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
        let read = || {
            let (origin, version) =
                (Arc::new(PolicyOrigin::top(BUILT_IN)), Version::hash(DEFAULT.as_bytes()));
            let convert = |root: &YamlNode| extend(root, &origin, Some(&Policy::without_gates()), version);
            Arc::new(yaml::read_embedded(BUILT_IN, DEFAULT, convert))
        };
        Arc::clone(POLICY.get_or_init(read))
    }

    /// Returns the rules for a file's draft; `path` is relative to the root.
    ///
    /// If an entry of `paths` names the gates of the file, only these run, each with the options that it has
    /// in the lists of the file's language or of `*`.
    pub fn effective_rules(
        &self,
        path: &str,
        language: Option<&Language>,
        profile: Profile,
    ) -> EffectiveRules<'_> {
        let listed = self.lists.rules_for(language);
        let in_lists =
            |plain: &'_ Rule| listed.iter().find(|rule| rule.gate.name == plain.gate.name).copied();
        let of_path = paths::gates(&self.files.paths, path);
        let programs = self.lists.own_rules(language).iter();
        let programs = programs.filter(|rule| rule.runs_program_for(path, language, profile)).collect();
        let fallback = if of_path.is_some() { None } else { syntax_fallback(programs, &listed) };
        let rules = match of_path {
            Some(rules) => rules.iter().map(|plain| in_lists(plain).unwrap_or(plain)).collect(),
            None => listed,
        };
        EffectiveRules {
            rules,
            fallback,
            is_interactive: false,
            decisive: None,
            baseline: self.baseline,
            total: self.limits.total,
            damage: self.damage,
            profile,
            step_mode: StepMode::Plain,
        }
    }

    /// Returns the same policy with other limits.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Policy {
        Policy { limits, ..self.clone() }
    }

    /// Returns every entity type, the built-in ones first.
    pub fn entity_types(&self) -> impl Iterator<Item = &EntityType> {
        embedded_types().iter().chain(&self.definitions.entities)
    }

    /// Returns the entity type of this name.
    pub fn entity_type(&self, name: &str) -> Option<&EntityType> {
        self.entity_types().find(|known| known.name == name)
    }

    /// Returns the entry that denies writing to a file, if any; `path` is relative to the root.
    pub fn protection(&self, path: &str) -> Option<Protection<'_>> {
        paths::protection(&self.files.paths, path)
    }

    /// True if the text of a file may be stored in the journal; `path` is relative to the root.
    pub fn journals(&self, path: &str) -> bool {
        self.limits.journal > 0 && self.journals_entity(path)
    }

    /// True if the text of an entity may be stored in its history, which keeps the last edits whatever its limit is.
    pub fn journals_entity(&self, path: &str) -> bool {
        !self.files.unjournalled.finds(path)
    }

    /// True if the texts of a file with this name are never stored, because it may hold secrets, whatever the policy
    /// says; `path` is relative to the root.
    pub fn has_secret_name(path: &str) -> bool {
        Policy::embedded().files.unjournalled.finds(path)
    }

    /// Returns the rules that run programs, one for each gate.
    pub fn commands(&self) -> impl Iterator<Item = &Rule> {
        self.first_programs(|rule| &rule.gate.name)
    }

    /// Returns the rules that run programs, one for each gate and its added arguments.
    pub fn invocations(&self) -> impl Iterator<Item = &Rule> {
        self.first_programs(|rule| (&rule.gate.name, &rule.args))
    }

    /// Returns the first rule with each key that may start a program.
    fn first_programs<'a, K: Ord + 'a>(&'a self, key: fn(&'a Rule) -> K) -> impl Iterator<Item = &'a Rule> {
        let mut first: BTreeMap<K, &Rule> = BTreeMap::new();
        self.programs().for_each(|rule| {
            first.entry(key(rule)).or_insert(rule);
        });
        first.into_values()
    }

    /// Returns every rule that may start a program, including the commands that a request may name.
    fn programs(&self) -> impl Iterator<Item = &Rule> {
        let validators = self.validators.iter().map(|validator| &validator.rule);
        self.rules().chain(validators).filter(|rule| rule.enabled && rule.gate.runs_program())
    }

    /// Returns the gates that this policy and its bases define.
    pub fn defined(&self) -> &[Arc<Gate>] {
        &self.definitions.gates
    }

    /// Returns the rules for a file of a language.
    pub fn rules_for(&self, language: Option<&Language>) -> Vec<&Rule> {
        self.lists.rules_for(language)
    }

    fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.lists.rules().chain(self.files.paths.iter().flat_map(PathRule::rules))
    }

    /// Returns a policy without gates or requirements.
    fn without_gates() -> Policy {
        Policy {
            limits: Limits::default(),
            baseline: Baseline::default(),
            demands: Demands::default(),
            hooks: HookSettings::default(),
            publishing: Publishing::default(),
            damage: Damage::default(),
            isolation: RequiredIsolation::default(),
            validators: Vec::new(),
            toolsets: None,
            origin: Arc::default(),
            version: Version::hash(b""),
            lists: Lists::default(),
            files: FileRules { paths: Vec::new(), unjournalled: Unjournalled::secrets() },
            definitions: Definitions::default(),
        }
    }

    /// Adds a gate that the policy defines; it replaces an earlier one of the same name.
    fn define(&mut self, key: &MapKey, gate: Arc<Gate>) -> Result<(), PolicyError> {
        self.lists.rebind(&gate).map_err(|option| {
            key.fault(format!("`{}` is redefined here, and cannot keep {option}", gate.name))
        })?;
        self.files.paths.iter_mut().for_each(|rule| rule.rebind(&gate));
        let mut types = self.definitions.entities.iter_mut();
        types.try_for_each(|known| known.rebind(&gate)).map_err(|why| key.fault(why))?;
        self.definitions.gates.retain(|other| other.name != gate.name);
        self.definitions.gates.push(gate);
        Ok(())
    }

    /// Returns the hash of everything that the policy depends on.
    fn with_versions(&self, text: Version, base: Version) -> Version {
        let rules = self.rules().chain(self.definitions.entities.iter().flat_map(|known| &known.rules));
        let in_use: BTreeMap<&str, Version> =
            rules.map(|rule| (rule.gate.name.as_str(), rule.gate.version)).collect();
        let gates = in_use.iter().map(|(name, version)| format!("{name} {}\n", version.hex()));
        Version::hash(format!("{}\n{}\n{}", text.hex(), base.hex(), gates.collect::<String>()).as_bytes())
    }
}

/// Returns the syntax check that stands in for the `programs` of a list. It blocks if one of them does. `None` if there are
/// no programs, or if `syntax` is one of the `rules` of the file.
fn syntax_fallback<'a>(programs: Vec<&'a Rule>, rules: &[&Rule]) -> Option<SyntaxFallback<'a>> {
    let is_syntax = |rule: &&Rule| matches!(rule.gate.kind, GateKind::Syntax);
    if programs.is_empty() || rules.iter().any(is_syntax) {
        return None;
    }
    let is_warning = programs.iter().all(|rule| rule.level == Level::Warn);
    let rule = plain_syntax(if is_warning { Level::Warn } else { Level::Block })?;
    let programs = programs.into_iter().map(|rule| rule.gate.name.as_str()).collect();
    Some(SyntaxFallback { rule, programs })
}

/// Returns the rule of an entry that names `syntax` and this level.
fn plain_syntax(level: Level) -> Option<&'static Rule> {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    let rule = |gate, level| Rule { level, ..Rule::plain(Arc::clone(gate)) };
    let read = || {
        let gate = Catalogue::embedded().find("syntax");
        gate.into_iter().flat_map(|gate| [Level::Block, Level::Warn].map(|level| rule(gate, level))).collect()
    };
    RULES.get_or_init(read).iter().find(|rule| rule.level == level)
}

/// Reads a policy. Settings that it leaves out are those of `base`; without a base they have their defaults, and the gates
/// are those of the built-in policy.
pub(super) fn extend(
    root: &YamlNode,
    origin: &Arc<PolicyOrigin>,
    base: Option<&Policy>,
    text: Version,
) -> Result<Policy, PolicyError> {
    let nothing = YamlNode { position: root.position, value: YamlValue::Map(Vec::new()) };
    let root = if root.is_nothing() { &nothing } else { root };
    let fields = root.settings("the policy", &[keys::POLICY])?;
    let mut policy = base.map_or_else(|| without_base(&fields), Policy::clone);
    let below = policy.version;
    policy.origin = Arc::clone(origin);
    for (key, gate) in fields.each_entry("define", defined)? {
        policy.define(key, gate)?;
    }
    let own = policy.definitions.gates.clone();
    if let Some(node) = fields.get("quality_gates") {
        policy.lists.replace(lists(node, &own)?);
    }
    if let Some(node) = fields.get("paths") {
        policy.files.paths = paths::paths(node, &own, origin, policy.files.paths)?;
    }
    if let Some(node) = fields.get("entities") {
        policy.definitions.entities = entities(node, &own, policy.definitions.entities)?;
    }
    apply_settings(&mut policy, &fields)?;
    policy.version = policy.with_versions(text, below);
    Ok(policy)
}

/// Returns the initial policy of one that extends none.
fn without_base(fields: &MapFields<'_>) -> Policy {
    let bare = Policy::without_gates();
    if fields.get("quality_gates").is_some() {
        return bare;
    }
    let built_in = Policy::embedded();
    Policy { lists: built_in.lists.clone(), version: built_in.version, ..bare }
}

/// Parses all settings except gates and paths.
fn apply_settings(policy: &mut Policy, fields: &MapFields<'_>) -> Result<(), PolicyError> {
    policy.limits = limits(fields, policy.limits)?;
    policy.baseline = fields.read("baseline", policy.baseline)?;
    policy.demands = demands(fields, policy.demands)?;
    policy.publishing = publishing(fields, policy.publishing)?;
    policy.hooks = hooks(fields, policy.hooks)?;
    if let Some(node) = fields.get("never_journal") {
        policy.files.unjournalled.add(node, &policy.origin)?;
    }
    policy.toolsets = server_toolsets::toolsets(fields)?.or_else(|| policy.toolsets.take());
    policy.damage = policy.damage.read(fields)?;
    policy.isolation = fields.read("require_isolation", policy.isolation)?;
    if fields.get("validate_commands").is_some() {
        policy.validators = fields.each("validate_commands", validator)?;
    }
    Ok(())
}
