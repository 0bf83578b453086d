//! Random content for answers.

use super::*;
use crate::error::{Best, Difference, Score};
use crate::front::answer::entity::EntityKeyParts;
use crate::front::answer::response::NearestLines;
use crate::locate::{MatchInfo, MatchLevel};
use crate::text::{Buffer, Change, Diff, Hints, LineShift, Plan, Region, diff};

/// A text with several edits, and the content of the answer about them.
#[derive(Debug, Clone, Default)]
pub(super) struct RandomAnswer {
    pub(super) before: String,
    pub(super) edited: Vec<usize>,
    pub(super) word: String,
    pub(super) path: String,
    pub(super) message: String,
    pub(super) runs: Vec<GateRun>,
    pub(super) findings: Vec<Finding>,
    pub(super) locations: Vec<EvidenceLine>,
    pub(super) notes: Vec<String>,
    pub(super) best: Option<Best>,
    pub(super) next: Option<Value>,
    pub(super) match_info: Option<MatchInfo>,
    pub(super) refusal: bool,
}

impl RandomAnswer {
    pub(super) fn buffers(&self) -> (Buffer, Buffer, Plan) {
        let before = Buffer::read(self.before.clone().into_bytes(), Hints::default()).unwrap();
        let count = before.lines().count();
        let mut lines: Vec<usize> = self.edited.iter().map(|line| line % count.max(1) + 1).collect();
        lines.sort_unstable();
        lines.dedup();
        let change = |line| Change { span: before.lines().span(line), text: format!("{}\n", self.word) };
        let changes = if count == 0 { Vec::new() } else { lines.into_iter().map(change).collect() };
        let plan = before.plan(changes).unwrap();
        let after = before.apply(&plan).unwrap();
        (before, after, plan)
    }

    pub(super) fn response<'a>(
        &'a self,
        diff: &'a Diff<'a>,
        regions: &'a [Region],
        shifts: &'a [LineShift],
    ) -> EditResponse<'a> {
        let texts: Vec<String> = self.findings.iter().map(|finding| finding.message.clone()).collect();
        EditResponse {
            whole: true,
            success: !self.refusal,
            status: if self.refusal { Status::Refused } else { Status::Written },
            disk: Disk::Untouched,
            detail: None,
            code: self.refusal.then_some(Code::GateRefused),
            message: self.message.clone(),
            has_error_field: self.refusal,
            key: if self.refusal {
                EntityKeyParts {
                    entity_type: Some("app_file"),
                    app_id: Some(&self.path),
                    organization_id: Some(&self.word),
                }
            } else {
                EntityKeyParts::default()
            },
            hint: self.refusal.then_some(self.message.as_str().into()),
            field: self.refusal.then_some(self.path.as_str()),
            path: Some(&self.path),
            resolved_path: self.refusal.then_some(self.message.as_str()),
            version: Some("0123456789ab".into()),
            previous_version: Some("ba9876543210".into()),
            changed: true,
            outside_edit: Some(if self.refusal { self.word.clone() } else { "unchanged".into() }),
            diff: Some(diff),
            replacements: self.refusal.then_some(usize::MAX),
            lines_changed: Some(if self.refusal { usize::MAX } else { 1 }),
            created: (!self.refusal).then_some(true),
            removed: false,
            edit_id: (!self.refusal).then(|| "7f3a-42".into()),
            level: (!self.refusal).then_some("exchange"),
            since: None,
            locations: &self.locations,
            match_info: self.match_info,
            best: self.best.as_ref().map(NearestLines::new),
            next: ShownEntries::complete(self.next.iter().cloned().collect()),
            regions,
            shifts,
            errors: ShownEntries::complete(texts.clone()),
            warnings: ShownEntries::complete(texts),
            findings: ShownEntries::complete(self.findings.iter().collect()),
            old_findings: self.findings.iter().filter(|finding| !finding.counts).count(),
            runs: &self.runs,
            notes: ShownEntries::complete(self.notes.clone()),
        }
    }
}

/// Texts such as those that cost most: long, quoted, and full of control characters.
pub(super) fn text(longest: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::collection::vec(any::<char>(), 0..8).prop_map(String::from_iter),
        prop::collection::vec(prop_oneof![Just('\u{1}'), Just('"'), Just('\\'), Just('\n')], 0..8)
            .prop_map(String::from_iter),
        "[a-z ]{0,8}",
    ];
    (piece, 0..longest).prop_map(|(piece, length)| piece.chars().cycle().take(length).collect())
}

pub(super) fn location() -> impl Strategy<Value = EvidenceLine> {
    (any::<usize>(), text(60), prop::option::of(text(200))).prop_map(|(line, preview, symbol)| EvidenceLine {
        line,
        preview,
        symbol,
    })
}

pub(super) fn best() -> impl Strategy<Value = Best> {
    let difference = (any::<usize>(), any::<usize>(), text(40), text(40))
        .prop_map(|(line, column, expected, found)| Difference { line, column, expected, found });
    let lines = prop::collection::vec(text(200), 0..30);
    (any::<usize>(), lines, prop::option::of(difference)).prop_map(|(start_line, lines, first_difference)| {
        Best {
            start_line: start_line / 2,
            end_line: usize::MAX,
            score: Score::from_distance(1, 3),
            lines,
            first_difference,
        }
    })
}

pub(super) fn next() -> impl Strategy<Value = Value> {
    (text(3000), text(3000)).prop_map(|(search, replace)| {
        json!({"tool": "edit_file", "arguments": {"file_path": "a", "old_string": search, "new_string": replace}})
    })
}

/// Returns a `match_info` with all its fields, and with long numbers.
fn match_info() -> MatchInfo {
    let score = Score::from_distance(1, 3);
    MatchInfo { level: MatchLevel::Wrapping, score, candidates: usize::MAX, runner_up: Some(score), line: 1 }
}

pub(super) fn run() -> impl Strategy<Value = GateRun> {
    (text(40), any::<u64>(), prop::option::of(text(400))).prop_map(|(gate, ms, why)| GateRun {
        isolation: None,
        gate,
        outcome: Outcome::TimedOut,
        ms,
        why,
        blocking: false,
        withheld: false,
        softened: false,
        partial: false,
    })
}

pub(super) fn finding() -> impl Strategy<Value = Finding> {
    let words = (text(40), prop::option::of(text(200)), prop::option::of(text(60)), text(300));
    (words, any::<usize>(), any::<[bool; 3]>()).prop_map(
        |((gate, elsewhere, code, message), line, [fresh, counts, blocking])| Finding {
            gate,
            severity: Severity::Warning,
            elsewhere,
            line,
            column: line,
            code,
            message,
            fresh,
            counts,
            blocking,
        },
    )
}

pub(super) fn random_answer() -> impl Strategy<Value = RandomAnswer> {
    let line = text(60).prop_map(|line| line.replace(['\n', '\0'], "_") + "\n");
    let before = prop::collection::vec(line, 0..120).prop_map(|lines| lines.concat());
    let edited = prop::collection::vec(any::<usize>(), 0..60);
    let lists = (
        prop::collection::vec(run(), 0..12),
        prop::collection::vec(finding(), 0..25),
        prop::collection::vec(location(), 0..40),
        prop::collection::vec(text(300), 0..10),
    );
    let nearest = (prop::option::of(best()), prop::option::of(next()), any::<bool>());
    let words = (text(80), text(2000), text(2000));
    (before, edited, words, lists, nearest, any::<bool>()).prop_map(
        |(
            before,
            edited,
            (word, path, message),
            (runs, findings, places, notes),
            (best, next, found),
            refusal,
        )| RandomAnswer {
            before,
            edited,
            word: word.replace('\0', " "),
            path: format!("p{}", path.replace(['\n', '\0'], "_")),
            message,
            runs,
            findings,
            locations: places,
            notes,
            best,
            next,
            match_info: found.then(match_info),
            refusal,
        },
    )
}

pub(super) fn options() -> impl Strategy<Value = ResponseOptions> {
    let limit = prop_oneof![Just(*ResponseOptions::LIMITS.start()), 1024_usize..20_000, Just(8192)];
    let forms = prop_oneof![Just(Forms::Both), Just(Forms::Json), Just(Forms::Text)];
    let diff = prop_oneof![Just(DiffDisplay::Shown), Just(DiffDisplay::Omitted)];
    (limit, forms, diff).prop_map(|(limit, forms, diff)| ResponseOptions {
        limit,
        diff,
        forms,
        ..ResponseOptions::default()
    })
}

/// Bytes of the line that the client gets.
pub(super) fn on_the_wire(answer: &Answer, forms: Forms) -> usize {
    if forms == Forms::Json {
        return answer.json.to_string().len();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text.clone())]);
    result.structured_content = (forms == Forms::Both).then(|| answer.json.clone());
    let result = ServerResult::CallToolResult(result);
    serde_json::to_vec(&ServerJsonRpcMessage::response(result, NumberOrString::Number(i64::MAX)))
        .unwrap()
        .len()
}

pub(super) fn render_sample(sample: &RandomAnswer, options: &ResponseOptions) -> (Answer, usize) {
    let (before, after, plan) = sample.buffers();
    let map = plan.line_map(&before, &after);
    let (regions, shifts) = (plan.regions(&before, &after), map.shifts());
    let diff = diff::unified(&sample.path, Some(&before), &after, &plan);
    let whole = diff.render(usize::MAX).0;
    (size_limit::fit(&sample.response(&diff, &regions, &shifts), options), whole.len())
}
