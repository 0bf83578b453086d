//! Random content for answers.

use super::*;
use crate::answer::findings::OmittedLines;
use crate::answer::message::Message;
use crate::answer::response::{DiffSource, FullResponse, reported_gate};
use lockgate_error::Score;
use lockgate_protocol::{
    ChangedRegion, EditResponse, EntityKey, FirstDifference, Headline, MatchDetails, MatchLocation,
    MovedLines, NearestLines, ProposedCall, ReportedWarning, TextFields,
};
use lockgate_text::diff::Extent;
use lockgate_text::{Buffer, Change, Diff, Hints, LineShift, Plan, Region, diff};

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
    pub(super) locations: Vec<MatchLocation>,
    pub(super) notes: Vec<String>,
    pub(super) best: Option<NearestLines>,
    pub(super) next: Option<ProposedCall>,
    pub(super) match_details: Option<MatchDetails>,
    pub(super) rejection: bool,
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

    pub(super) fn full<'a>(
        &self,
        diff: Diff<'a>,
        regions: &[Region],
        shifts: &[LineShift],
    ) -> FullResponse<'a> {
        let texts: Vec<String> = self.findings.iter().map(|finding| finding.message.clone()).collect();
        let key = EntityKey {
            entity_type: Some("app_file".into()),
            app_id: Some(self.path.clone()),
            organization_id: Some(self.word.clone()),
        };
        let (rejection, details) = (self.rejection, &self.match_details);
        let edits = regions.iter().map(|region| ChangedRegion {
            start_line: region.start_line,
            end_line: region.end_line,
            new_start_line: region.new_start_line,
            new_end_line: region.new_end_line,
            found: details.clone(),
        });
        let response = EditResponse {
            success: Some(!rejection),
            status: Some(if rejection { Status::Refused } else { Status::Written }.name().into()),
            code: rejection.then(|| Code::GateRefused.name().into()),
            detail: None,
            message: Some(self.message.clone()),
            error: rejection.then(|| self.message.clone()),
            hint: rejection.then(|| self.message.clone()),
            field: rejection.then(|| self.path.clone()),
            path: Some(self.path.clone()),
            key: if rejection { key } else { EntityKey::default() },
            resolved_path: rejection.then(|| self.message.clone()),
            version: Some("0123456789ab".into()),
            previous_version: Some("ba9876543210".into()),
            written: Some(!rejection),
            changed: Some(true),
            edit_id: (!rejection).then(|| "7f3a-42".into()),
            level: (!rejection).then(|| "exchange".into()),
            bytes_outside_edit: Some(if rejection { self.word.clone() } else { "unchanged".into() }),
            diff: None,
            since: None,
            replacements: rejection.then_some(usize::MAX),
            lines_changed: Some(if rejection { usize::MAX } else { 1 }),
            created: (!rejection).then_some(true),
            removed: None,
            best: self.best.clone(),
            next: self.next.clone(),
            match_locations: self.locations.clone(),
            edits: edits.collect(),
            line_map: shifts.iter().map(|shift| MovedLines { from: shift.from, by: shift.by }).collect(),
            errors: texts.clone(),
            validation_warnings: texts.into_iter().map(ReportedWarning::from).collect(),
            findings: self.findings.iter().map(reported_finding).collect(),
            gates: self.runs.iter().map(reported_gate).collect(),
            notes: self.notes.clone(),
            for_text: TextFields {
                headline: self.rejection.then(|| Headline {
                    summary: self.message.clone(),
                    details: self.word.clone(),
                    ..Headline::default()
                }),
                changed_lines: None,
                are_gates_known: false,
                match_details: details.clone(),
                old_findings: self.findings.iter().filter(|finding| !finding.counts).count(),
            },
        };
        let extent = Some(Extent { max_run: 12, ..Extent::default() });
        let (message, diff) = (Message::plain(self.message.clone()), DiffSource::Edit(diff));
        FullResponse { response, message, diff, extent, omitted: OmittedLines::default() }
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

pub(super) fn location() -> impl Strategy<Value = MatchLocation> {
    (any::<usize>(), text(60), prop::option::of(text(200)))
        .prop_map(|(line, preview, symbol)| MatchLocation { line, preview, symbol })
}

pub(super) fn best() -> impl Strategy<Value = NearestLines> {
    let difference = (any::<usize>(), any::<usize>(), text(40), text(40))
        .prop_map(|(line, column, asked, found)| FirstDifference { line, column, asked, found });
    let lines = prop::collection::vec(text(200), 0..30);
    (any::<usize>(), lines, prop::option::of(difference)).prop_map(|(start_line, lines, first_difference)| {
        NearestLines {
            start_line: start_line / 2,
            end_line: usize::MAX,
            score: Score::from_distance(1, 3).ratio(),
            excerpt: (start_line / 2..).zip(lines.clone()).collect(),
            lines,
            first_difference,
        }
    })
}

pub(super) fn next() -> impl Strategy<Value = ProposedCall> {
    (text(3000), text(3000)).prop_map(|(search, replace)| ProposedCall {
        tool: "edit_file".into(),
        arguments: rmcp::object!({"file_path": "a", "old_string": search, "new_string": replace}),
    })
}

/// Returns match details with all their fields, and with long numbers.
fn match_details() -> MatchDetails {
    let score = Score::from_distance(1, 3).ratio();
    MatchDetails { tier: "wrapping".into(), score, candidates: usize::MAX, runner_up: Some(score) }
}

pub(super) fn run() -> impl Strategy<Value = GateRun> {
    (text(40), any::<u64>(), prop::option::of(text(400))).prop_map(|(gate, ms, why)| GateRun {
        isolation: None,
        gate,
        outcome: Outcome::TimedOut,
        ms,
        why,
        reason: RunReason::Outcome,
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
            counts: counts || blocking,
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
            rejection,
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
            match_details: found.then(match_details),
            rejection,
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

pub(super) fn answered(sample: &RandomAnswer, options: &ResponseOptions) -> (Answer, usize) {
    let (before, after, plan) = sample.buffers();
    let map = plan.line_map(&before, &after);
    let (regions, shifts) = (plan.regions(&before, &after), map.shifts());
    let diff = diff::unified(&sample.path, Some(&before), &after, &plan);
    let whole = diff.render(usize::MAX).0;
    (Answer::from_full(&sample.full(diff, &regions, &shifts), options), whole.len())
}
