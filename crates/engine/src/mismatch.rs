//! Checks that the text of an entity matches its type.
//!
//! The rules of a type are gates, most of them queries on the syntax tree, so a comment that names a
//! decorator does not count. They check the final text after all fixes; existing mismatches are not excused,
//! and no mode skips them. A text that an undo restores unchanged is not checked.
//!
//! Invariant: no edit writes a text that is known not to match its type, or that cannot be checked.

use std::path::Path;
use std::sync::OnceLock;

use super::batch::Batch;
use super::plan::FileDraft;
use super::resolve::ResolvedTarget;
use super::services::{Services, cancelled};
use lockgate_checks::{self as gate, ExecPermission, Finding, GateEnv, InputLocation, Verdict, Watch};
use lockgate_edit::Edit;
use lockgate_edit::request::{Entity, Request, Target, with_article};
use lockgate_error::{Code, Error, EvidenceLine};
use lockgate_policy::{
    Baseline, EffectiveRules, EntityType, Gate, GateKind, PatternRules, Policy, Profile, RequiredIsolation,
    Role, Rule, StepMode, language_of,
};
use lockgate_store as store;
use lockgate_text::{Buffer, Hints, LineMap};

/// The most places that an error lists.
const MAX_PLACES: usize = 20;

/// Checks the requests whose text alone shows that it does not belong to the type.
///
/// Errors: those of [`Services::owner`], and `ENTITY_MISMATCH`.
pub(super) fn check_whole_texts(services: &Services, batch: &Batch) -> Result<(), Error> {
    batch.try_each(&batch.requests, |request| check_whole_text(services, request)).map(drop)
}

/// Checks a whole new text against its type before the store is read, if only the text matters and no
/// gate would fix it.
///
/// Errors: those of [`Services::owner`], and `ENTITY_MISMATCH`.
fn check_whole_text(services: &Services, request: &Request) -> Result<(), Error> {
    let (Target::Entity(entity), Edit::Content(text)) = (&request.target, &request.edit) else {
        return Ok(());
    };
    let Entity { kind, app_id, organization_id, path } = entity;
    services.owner(kind, app_id.as_deref(), organization_id.as_deref())?;
    let rules = services.policy_at_top()?;
    let Some(known) = rules.entity_type(kind.name()) else { return Ok(()) };
    let Ok(after) = Buffer::read(text.clone().into_bytes(), Hints::default()) else { return Ok(()) };
    let language = known.language.or_else(|| language_of(path, text.lines().next()));
    let effective_rules = rules.effective_rules(path, language, Profile::Edit);
    if effective_rules.rules.iter().any(|rule| rule.enabled && effective_rules.role(rule) == Role::Fix) {
        return Ok(());
    }
    let draft = gate::Draft {
        path,
        language,
        before: None,
        after: &after,
        map: &LineMap::default(),
        input_location: InputLocation::Alone,
        files_exist: &|_| false,
    };
    let alone = known.rules.iter().filter(|rule| sees_text_alone(&rule.gate)).collect();
    check_gates(services, known, alone, &draft, &rules, &Watch::idle())
        .map_err(|error| with_entity_field(error, request))
}

/// Checks the drafts of entities against their types, except those that a gate rejects already.
///
/// Errors: `ENTITY_MISMATCH`, also for a text that cannot be checked; `INTERNAL` when the caller
/// cancelled the request.
pub(super) fn check_types(
    services: &Services,
    batch: &Batch,
    drafts: &[FileDraft<'_>],
    watch: &Watch,
) -> Result<(), Error> {
    let check = |draft: &FileDraft<'_>| {
        let is_removed = draft.request.edit == Edit::Remove;
        if is_removed || draft.verdict.refuses() || restores_unchanged(batch, draft) {
            return Ok(());
        }
        check_type(services, draft, drafts, watch)
            .map_err(|error| with_entity_field(with_type_hint(error, draft), draft.request))
    };
    batch.try_each(drafts, check).map(drop)
}

fn check_type(
    services: &Services,
    draft: &FileDraft<'_>,
    drafts: &[FileDraft<'_>],
    watch: &Watch,
) -> Result<(), Error> {
    let ResolvedTarget { place, rules, .. } = draft.target;
    let Some(entity) = place.entity() else { return Ok(()) };
    let Some(known) = rules.entity_type(entity.kind.name()) else { return Ok(()) };
    let (after, failure) = (&draft.drafted.buffer, OnceLock::new());
    let whole = gate::Draft {
        path: place.in_root(),
        language: draft.target.language(after.view()),
        before: None,
        after,
        map: &LineMap::default(),
        input_location: InputLocation::Alone,
        files_exist: &services.overlays(draft.target, drafts, &failure),
    };
    let checked = check_gates(services, known, known.rules.iter().collect(), &whole, rules, watch);
    failure.get().cloned().map_or(checked, Err)
}

fn check_gates(
    services: &Services,
    known: &EntityType,
    rules: Vec<&Rule>,
    draft: &gate::Draft<'_>,
    policy: &Policy,
    watch: &Watch,
) -> Result<(), Error> {
    if rules.is_empty() {
        return Ok(());
    }
    let effective_rules = EffectiveRules {
        rules,
        baseline: Baseline::All,
        total: policy.limits.total,
        damage: policy.damage,
        profile: Profile::Batch,
        step_mode: StepMode::Plain,
        fallback: None,
        is_interactive: false,
        decisive: None,
    };
    let env = GateEnv {
        root: Path::new(""),
        exec_permission: &ExecPermission::NoDirectory("the rules of a type need no program".to_owned()),
        runtime: &services.gate_runtime,
        isolation: gate::required_isolation(RequiredIsolation::None),
        cache: None,
    };
    let verdict = gate::judge(draft, &effective_rules, &env, &watch.without_progress());
    if watch.cancelled() {
        return Err(cancelled(watch));
    }
    check_verdict(known, &verdict, draft.after)
}

/// Turns the verdict of a type's rules into an error.
fn check_verdict(known: &EntityType, verdict: &Verdict, text: &Buffer) -> Result<(), Error> {
    if let Some(first) = verdict.blocking().next() {
        let rule = known.rules.iter().find(|rule| rule.gate.name == first.gate);
        let (message, found) = match rule.map(|rule| &*rule.gate) {
            Some(gate) => (describe_mismatch(known, gate, first), locates(gate)),
            None => (first.message.clone(), true),
        };
        let same = verdict.blocking().filter(|finding| finding.gate == first.gate);
        let places = if found { places(same, text) } else { Vec::new() };
        return Err(Error::new(Code::EntityMismatch, message).field("entity_type").places(places));
    }
    match verdict.runs.iter().find(|run| run.blocking) {
        None => Ok(()),
        Some(run) => {
            let why = run.why.as_deref().unwrap_or("gave no result");
            let cause = format!("cannot check whether the content is {} ({why})", with_article(&known.name));
            let error = Error::new(Code::EntityMismatch, cause).field("content");
            Err(error.hint("simplify it, or split it into parts"))
        }
    }
}

/// Adds the next step to an error about a text that does not match the type of an existing entity. The type that the message
/// names would address another entity.
fn with_type_hint(error: Error, draft: &FileDraft<'_>) -> Error {
    if draft.current.snapshot.is_none() || error.hint.is_some() {
        return error;
    }
    let noun = with_article(draft.target.place.noun());
    error.hint(format!(
        "an entity keeps its type: correct the edit so that the text is still {noun}; for another type, create the text \
         there with replace_content, and delete this one"
    ))
}

/// Sets the field of an error to the one that the request has.
fn with_entity_field(mut error: Error, request: &Request) -> Error {
    if error.field.as_deref() == Some("content") && !matches!(request.edit, Edit::Content(_)) {
        error.rename_field("entity_type");
    }
    error
}

/// Describes a mismatch. A pattern gate has a message of its own; a parser's message does not mention the
/// type.
fn describe_mismatch(known: &EntityType, gate: &Gate, first: &Finding) -> String {
    match &gate.kind {
        GateKind::Syntax => format!(
            "entity_type mismatch: declared '{}' but it cannot be read: line {}: {}",
            known.name, first.line, first.message
        ),
        GateKind::Pattern(_) | GateKind::Damage | GateKind::Command(_) | GateKind::Server(_) => {
            first.message.clone()
        }
    }
}

/// True if the draft restores an earlier text unchanged. A rebased text is a new one, and so is that of an import, which uses
/// `Restore` as well, but is an edit in the journal.
fn restores_unchanged(batch: &Batch, draft: &FileDraft<'_>) -> bool {
    let was =
        matches!(&draft.request.edit, Edit::Restore(text) if text.as_slice() == draft.drafted.buffer.bytes());
    was && batch.kind != store::EntryKind::Edit
}

/// True if a gate's findings have positions; a missing match has none.
fn locates(gate: &Gate) -> bool {
    match &gate.kind {
        GateKind::Pattern(PatternRules::Regex { must_not_match, .. }) => must_not_match.is_some(),
        GateKind::Pattern(PatternRules::Query { must_not_match, .. }) => must_not_match.is_some(),
        _ => true,
    }
}

/// True if a gate reads only the text, and no other files.
fn sees_text_alone(gate: &Gate) -> bool {
    matches!(
        &gate.kind,
        GateKind::Syntax | GateKind::Pattern(PatternRules::Regex { .. } | PatternRules::Query { .. })
    )
}

fn places<'a>(findings: impl Iterator<Item = &'a Finding>, text: &Buffer) -> Vec<EvidenceLine> {
    let lines = text.lines();
    let place = |finding: &Finding| {
        let line = lines.text(finding.line);
        EvidenceLine { line: finding.line, preview: line.trim_end().chars().take(60).collect(), symbol: None }
    };
    findings.take(MAX_PLACES).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Fixture;
    use lockgate_edit::request::EntityFields;

    const POLICY: &str = "define:\n  titled: { kind: pattern, languages: ['*'], must_match: '^# ', message: no title }\n  \
        tidy: { kind: command, languages: [python], input: stdin, command: [tidy], output: { text: formatted }, role: fix }\n  \
        linked: { kind: pattern, languages: [markdown], structure: markdown }\n\
        quality_gates: { python: [{ tool: tidy, enabled: false }] }\n\
        entities:\n  page: { owner: global, language: markdown, gates: [titled, linked] }\n  \
        job: { owner: global, language: python, gates: [syntax] }\n";

    fn with_policy(policy: &str) -> Fixture {
        Fixture::new(&[("quality.yaml", policy)])
    }

    fn checked(fixture: &Fixture, entity_type: Option<&str>, text: &str) -> Result<(), Error> {
        let app_id = (entity_type == Some("app_file")).then(|| "1".to_owned());
        let entity_type = entity_type.map(str::to_owned);
        let fields = EntityFields { entity_type, app_id, organization_id: None };
        check_whole_text(
            &fixture.services,
            &Request::new(fields.into_target("a.py".to_owned()).unwrap(), Edit::Content(text.to_owned())),
        )
    }

    #[test]
    fn a_text_is_checked_by_the_rule_of_its_type_only() {
        let fixture = with_policy(POLICY);
        let checked = |kind, text| checked(&fixture, kind, text);
        let (flow, plain) = ("@workflow\nasync def f(): ...\n", "# @workflow\ndef f(): ...\n");
        for kind in [None, Some("app_file")] {
            assert_eq!((checked(kind, flow), checked(kind, plain)), (Ok(()), Ok(())));
        }
        assert_eq!((checked(Some("workflow"), flow), checked(Some("module"), plain)), (Ok(()), Ok(())));
        for (kind, text, places) in [("workflow", plain, 0), ("module", flow, 1)] {
            let error = checked(Some(kind), text).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::EntityMismatch, Some("entity_type")));
            assert_eq!(error.places.len(), places);
        }
        assert_eq!(checked(Some("page"), "a\n# B\n"), Ok(()));
        assert_eq!(checked(Some("page"), "a\n").unwrap_err().message, "no title");
        let error = checked(Some("job"), "x = 1\nif True:\nx = 1\n").unwrap_err();
        let message = "entity_type mismatch: declared 'job' but it cannot be read: line 3: ";
        assert!(error.message.starts_with(message), "{}", error.message);
        assert_eq!(error.places.iter().map(|place| place.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn siblings_and_fixable_findings_are_deferred() {
        let plain = with_policy(POLICY);
        assert_eq!(checked(&plain, Some("page"), "# A\n\n[b](b.md)\n"), Ok(()), "a link is looked up later");
        let with_fixers = with_policy(&POLICY.replace(", enabled: false", ""));
        assert_eq!(checked(&with_fixers, Some("workflow"), "x = 1\n"), Ok(()));
        assert_eq!(checked(&plain, Some("workflow"), "x = 1\n").unwrap_err().code, Code::EntityMismatch);
    }

    #[test]
    fn a_text_that_cannot_be_read_is_neither() {
        let fixture = with_policy(POLICY);
        let plain = "let = ;\n".repeat(6_000);
        let deep = format!("{plain}workflow;\n");
        for kind in ["workflow", "module"] {
            let error = checked(&fixture, Some(kind), &deep).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::EntityMismatch, Some("content")));
            let message =
                format!("cannot check whether the content is a {kind} (its syntax tree would take ");
            assert!(error.message.starts_with(&message), "{}", error.message);
        }
        assert_eq!(checked(&fixture, None, &deep), Ok(()));
        // Without the keyword there is no decorator, in any spelling.
        assert_eq!(checked(&fixture, Some("module"), &plain), Ok(()));
        let error = checked(&fixture, Some("workflow"), &plain).unwrap_err();
        assert_eq!(error.field.as_deref(), Some("entity_type"), "{}", error.message);
    }

    #[test]
    fn the_policy_decides_the_ids_of_a_type() {
        let more =
            "entities: { page: { owner: app }, note: { owner: organization }, all: { owner: global } }";
        let fixture = with_policy(more);
        for (kind, app, organization, field, message) in [
            (
                "app_file",
                None,
                None,
                "app_id",
                "app_id is missing: an app_file is identified by its app and its path",
            ),
            ("page", None, None, "app_id", "app_id is missing: a page is identified by its app and its path"),
            (
                "page",
                Some("1"),
                Some("2"),
                "organization_id",
                "`organization_id` is only for entity_type workflow, note; this is a page",
            ),
            (
                "workflow",
                Some("1"),
                None,
                "app_id",
                "`app_id` is only for entity_type app_file, page; this is a workflow",
            ),
            ("module", Some("1"), None, "app_id", "; this is a module"),
            ("all", None, Some("2"), "organization_id", "; this is an all"),
            (
                "form",
                None,
                None,
                "entity_type",
                "there is no entity_type `form`: must be one of file, app_file, workflow, module, page, note, all",
            ),
        ] {
            let kind = lockgate_edit::request::EntityKind::from_name(kind).unwrap();
            let error = fixture.services.owner(&kind, app, organization).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some(field)));
            assert!(error.message.ends_with(message), "{}", error.message);
        }
        for (kind, app, organization) in [
            ("app_file", Some("1"), None),
            ("note", None, Some("2")),
            ("note", None, None),
            ("all", None, None),
        ] {
            let kind = lockgate_edit::request::EntityKind::from_name(kind).unwrap();
            assert!(fixture.services.owner(&kind, app, organization).is_ok(), "{}", kind.name());
        }
    }

    #[test]
    fn a_type_of_a_policy_can_be_requested() {
        use lockgate_edit::request::EntityKind;
        let longest = "a".repeat(EntityKind::MAX_NAME);
        let policy = |name: &str| Policy::parse("q", &format!("entities: {{ {name}: {{ owner: app }} }}"));
        for name in [longest.as_str(), "a", "_", "0_a", "file", "A", "a-b", &format!("{longest}a")] {
            assert_eq!(policy(name).is_ok(), EntityKind::from_name(name).is_some(), "{name}");
        }
    }
}
