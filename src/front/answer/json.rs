//! Renders the JSON form of an answer. Empty fields are omitted.

use serde_json::{Map, Value, json};

use super::message;
use super::response::EditResponse;
use super::response::NearestLines;
use super::size_limit::clip;
use crate::engine::Status;
use crate::error::{Code, Difference, Disk, EvidenceLine, Score};
use crate::gate::{Finding, GateRun};
use crate::locate::MatchInfo;
use crate::policy::Isolation;
use crate::text::Region;

/// Renders the response; no text is longer than `bytes`, except notes and the diff, which are not cut.
pub(super) fn render(response: &EditResponse<'_>, bytes: usize, diff: &str) -> Map<String, Value> {
    let text = |text: &str| Value::String(clip(text, bytes));
    let texts = |texts: &[String]| list(texts, |entry| text(entry));
    let known = response.disk == Disk::Untouched && response.whole;
    let diff = (!diff.is_empty()).then(|| Value::from(diff));
    let (own, since) = match response.since {
        Some(since) => (None, Some(json!({"version": since.version, "diff": diff}))),
        None => (diff, None),
    };
    let [entity_type, app_id, organization_id] = response.key.fields(bytes);
    let fields: [(&str, Option<Value>); 36] = [
        ("success", response.whole.then(|| response.success.into())),
        ("status", Some(response.status.name().into())),
        ("code", response.code.map(Code::name).map(Value::from)),
        ("detail", response.detail.map(Code::name).map(Value::from)),
        ("message", Some(text(&response.message))),
        ("error", response.has_error_field.then(|| text(message::without_prefix(&response.message)))),
        ("hint", response.hint.as_deref().map(text)),
        ("field", response.field.map(text)),
        ("path", response.path.map(text)),
        entity_type,
        app_id,
        organization_id,
        ("resolved_path", response.resolved_path.map(text)),
        ("version", response.version.as_deref().map(Value::from)),
        ("previous_version", response.previous_version.as_deref().map(Value::from)),
        ("written", known.then(|| (response.status == Status::Written).into())),
        ("changed", known.then(|| response.changed.into())),
        ("edit_id", response.edit_id.as_deref().filter(|_| response.whole).map(Value::from)),
        ("level", response.level.map(Value::from)),
        ("bytes_outside_edit", response.outside_edit.as_deref().map(text)),
        ("diff", own),
        ("since", since.map(without_nulls)),
        ("replacements", response.replacements.map(Value::from)),
        ("lines_changed", response.lines_changed.map(Value::from)),
        ("created", response.created.map(Value::Bool)),
        ("removed", response.removed.then_some(Value::Bool(true))),
        ("best", response.best.as_ref().map(|best| nearest(best, bytes))),
        ("next", response.next.entries.first().cloned()),
        ("match_locations", list(response.locations, |one| location(one, bytes))),
        ("edits", list(response.regions, |one| region(one, response.match_info))),
        ("line_map", list(response.shifts, |shift| json!({"from": shift.from, "by": shift.by}))),
        ("errors", texts(&response.errors.entries)),
        ("validation_warnings", texts(&response.warnings.entries)),
        ("findings", list(&response.findings.entries, |one| finding(one, bytes))),
        ("gates", list(response.runs, |one| run(one, bytes))),
        ("notes", list(&response.notes.entries, |note| note.as_str().into())),
    ];
    let present = fields.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)));
    present.collect()
}

/// Removes the fields of an object that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

fn list<T>(entries: &[T], entry: impl Fn(&T) -> Value) -> Option<Value> {
    (!entries.is_empty()).then(|| Value::Array(entries.iter().map(entry).collect()))
}

fn location(place: &EvidenceLine, bytes: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("line".into(), place.line.into());
    fields.insert("preview".into(), clip(&place.preview, bytes).into());
    if let Some(symbol) = &place.symbol {
        fields.insert("symbol".into(), clip(symbol, bytes).into());
    }
    Value::Object(fields)
}

fn region(region: &Region, match_info: Option<MatchInfo>) -> Value {
    let mut fields = json!({"start_line": region.start_line, "end_line": region.end_line,
        "new_start_line": region.new_start_line, "new_end_line": region.new_end_line});
    if let (Some(fields), Some(MatchInfo { level, score, candidates, runner_up, .. })) =
        (fields.as_object_mut(), match_info)
    {
        let mut found = json!({"tier": level.name(), "score": score.ratio(), "candidates": candidates});
        if let (Some(found), Some(runner_up)) = (found.as_object_mut(), runner_up) {
            found.insert("runner_up".into(), runner_up.ratio().into());
        }
        fields.insert("match".into(), found);
    }
    fields
}

fn nearest(NearestLines { best, lines }: &NearestLines<'_>, bytes: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("start_line".into(), best.start_line.into());
    fields.insert("end_line".into(), best.end_line.into());
    fields.insert("score".into(), Score::ratio(best.score).into());
    if let Some(lines) = list(&lines.entries, |line| clip(line, bytes).into()) {
        fields.insert("lines".into(), lines);
    }
    if let Some(Difference { line, column, expected, found }) = &best.first_difference {
        let difference = json!({
            "line": line,
            "column": column,
            "asked": clip(expected, bytes),
            "found": clip(found, bytes),
        });
        fields.insert("first_difference".into(), difference);
    }
    Value::Object(fields)
}

fn finding(finding: &Finding, bytes: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("gate".into(), clip(&finding.gate, bytes).into());
    fields.insert("severity".into(), finding.severity.name().into());
    if let Some(path) = &finding.elsewhere {
        fields.insert("path".into(), clip(path, bytes).into());
    }
    fields.insert("line".into(), finding.line.into());
    fields.insert("column".into(), finding.column.into());
    if let Some(code) = &finding.code {
        fields.insert("code".into(), clip(code, bytes).into());
    }
    fields.insert("message".into(), clip(&finding.message, bytes).into());
    fields.insert("new".into(), finding.fresh.into());
    fields.insert("blocking".into(), finding.blocking.into());
    Value::Object(fields)
}

fn run(run: &GateRun, bytes: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("gate".into(), clip(&run.gate, bytes).into());
    fields.insert("outcome".into(), run.outcome.name().into());
    fields.insert("ms".into(), run.ms.into());
    if let Some(why) = &run.why {
        fields.insert("why".into(), clip(why, bytes).into());
    }
    // The strongest isolation is the default and is not reported.
    if let Some(isolation) = run.isolation.filter(|isolation| *isolation < Isolation::Bubblewrap) {
        fields.insert("isolation".into(), isolation.name().into());
    }
    Value::Object(fields)
}
