//! Gates of the kind `syntax`: they check that the draft parses.
//!
//! A language's own parser reads the text if there is one. Tree-sitter reads it if there is none, if that parser gives
//! up, and if the text nests deeper than the parser can go. [`table`] lists the parsers of each language.
//!
//! A small text is parsed on a thread ([`worker`]) whose stack fits the deepest nesting that the text can hold; a large
//! text in a [`child`] process with limited memory. If neither can parse it, tree-sitter does, within its own memory
//! limit, and a note says so. The process ends before tree-sitter starts, so the two limits never add up.
//!
//! Invariant: no text makes a parser overflow a stack, end the process or exceed its memory limit. If no parser could
//! read a text, the gate returns the reason and no findings.

mod before_after;
mod brackets;
mod branches;
mod cause;
pub(crate) mod child;
mod doubled;
mod ecmascript;
mod fault;
mod go;
mod json;
mod jsonc;
mod memo;
mod parse;
mod parse_result;
mod parts;
mod preprocessor;
mod python;
mod python_scopes;
mod rust;
mod shell;
mod shell_words;
mod table;
mod template;
mod toml;
mod tree;
mod worker;
mod yaml;

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use self::child::{parse_for_parent, parse_large_texts_with};
pub(crate) use self::parse::{ParseFailure, unreadable};

use self::before_after::{BeforeAfter, Faults, Opinion, OpinionNeed, is_insertion};
use self::brackets::BracketReport;
use self::cause::Explains;
use self::child::{NoReply, Reply, Task};
use self::fault::SyntaxFault;
use self::memo::TextKey;
use self::parse::{Parse, TOO_DEEP, wait_for_slot};
use self::parse_result::ParseResult;
use self::parts::{ChangedPart, PartRules};
use self::table::{LanguageParsers, OwnParser, ParserKind, Stops};
use self::tree::TreeReport;
use self::worker::JobOutcome;
use super::delta::{self, Belief, ComparedFinding, MarkedFinding, ReplacedLines};
use super::draft::Draft;
use lockgate_sandbox::{Halt, Limit};
use lockgate_syntax as grammar;
use lockgate_text::{Buffer, Hints};

/// The largest stack of a parser, in bytes. It is only reserved; even the deepest text uses at most half of it.
const MAX_STACK: usize = if cfg!(debug_assertions) { 512 << 20 } else { 104 << 20 };
/// The memory limit for a parser in this process, in bytes.
const MAX_MEMORY: usize = 48 << 20;
/// The stack that a parser needs before the first level of nesting, in bytes.
const LEAST_STACK: usize = 8 << 20;

/// Judges the draft like [`judge`] and shortens the result for the response: a bracket that the edit left open comes
/// first, and the faults that follow from it become one finding.
pub(super) fn report(draft: &Draft<'_>, limit: Limit<'_>) -> Result<SyntaxResult, ParseFailure> {
    let found = judge(draft, limit)?;
    let is_broken = found.marks.iter().any(MarkedFinding::is_certain_and_fresh);
    let row = draft.language.and_then(|language| table::row(&language.name));
    let Some(row) = row.filter(|row| is_broken && row.credit.brackets) else { return Ok(found) };
    let readers = LanguageReaders::new(row, draft.path, limit);
    // If the grammar cannot read the text, the cause is unknown.
    let Some(after) = readers.brackets(draft.after).ok().filter(|after| !after.unclosed.is_empty()) else {
        return Ok(found);
    };
    let before = match draft.before {
        Some(before) => readers.brackets(before).ok(),
        None => Some(Arc::default()),
    };
    let Some(before) = before else { return Ok(found) };
    let cause = cause::cause((draft.before, &before), (draft.after, &after), draft.map);
    // syn reports the outermost bracket, which is before the one that the edit left open.
    let reads_in_order = row.parser.as_ref().is_some_and(|own| own.name != "syn");
    let explains = if reads_in_order { Explains::Behind } else { Explains::All };
    Ok(SyntaxResult { marks: cause::folded(found.marks, cause, explains), note: found.note })
}

/// The result of the parsers for a draft.
#[derive(Debug)]
pub(super) struct SyntaxResult {
    /// The faults, compared with those before.
    pub(super) marks: Vec<MarkedFinding>,
    /// A note about a step that was skipped or replaced, with the reason.
    pub(super) note: Option<String>,
}

/// Parses the draft and, if it has faults, the text before the edit.
pub(super) fn judge(draft: &Draft<'_>, limit: Limit<'_>) -> Result<SyntaxResult, ParseFailure> {
    let row = draft.language.and_then(|language| table::row(&language.name));
    let row = row.ok_or(ParseFailure::Unknown("no parser for this language"))?;
    let readers = LanguageReaders::new(row, draft.path, limit);
    match (marks(draft, &readers), readers.unread.take()) {
        (Ok(marks), Some(why)) => {
            Ok(SyntaxResult { marks, note: Some(format!("{why}; tree-sitter parsed the text instead")) })
        }
        (Ok(marks), None) => Ok(SyntaxResult { marks, note: readers.unsearched.take() }),
        (Err(ParseFailure::Unreadable(why)), Some(unread)) => {
            Err(ParseFailure::Unreadable(format!("{unread}, and {why}")))
        }
        (Err(failure), _) => Err(failure),
    }
}

fn marks(draft: &Draft<'_>, readers: &LanguageReaders<'_>) -> Result<Vec<MarkedFinding>, ParseFailure> {
    let row = readers.parsers;
    let after = readers.read_after(draft)?;
    if readers.is_template(draft, &after)? {
        return Err(ParseFailure::Template);
    }
    if !after.marks.is_empty() && row.name == "javascript" && ecmascript::is_flow(draft.after.view()) {
        return Err(ParseFailure::Unreadable(
            "has Flow type annotations, which no available parser reads".to_owned(),
        ));
    }
    match draft.before {
        _ if after.marks.is_empty() => readers.doubled(draft, after.keys.as_deref()),
        None => Ok(before_after::all_new(&after.marks)),
        Some(before) => readers.compare(draft, before, after),
    }
}

impl OwnParser {
    /// Returns the stack for this many levels of nesting, in bytes.
    fn stack_for(&self, levels: usize) -> usize {
        levels.saturating_mul(self.frame).saturating_add(LEAST_STACK)
    }

    /// True if a text of this length is parsed in another process: its parser may exceed the memory limit of this process,
    /// or take so long that it must be killed, which only a process can be.
    fn is_large(&self, length: usize) -> bool {
        length > grammar::SMALL || length.saturating_mul(self.per_byte) > MAX_MEMORY
    }

    /// Returns the stack for a text, if it is known without tree-sitter; a fault if the text nests too deeply.
    fn measured_stack(&self, text: &str) -> Result<Option<usize>, SyntaxFault> {
        if let Some(stack) = self.stack_at_once(text) {
            return Ok(Some(stack));
        }
        let levels = self.levels.map(|levels| levels(text)).transpose()?;
        Ok(levels.map(|levels| self.stack_for(levels)).filter(|stack| *stack <= MAX_STACK))
    }

    /// Returns the stack for a text that has too few tokens to nest too deeply; every level takes a token.
    fn stack_at_once(&self, text: &str) -> Option<usize> {
        let levels = if self.stack_for(text.len()) <= MAX_STACK { text.len() } else { tokens(text) };
        Some(self.stack_for(levels)).filter(|stack| *stack <= MAX_STACK)
    }
}

/// The processor time limit for tree-sitter: about four times that of a text without faults, plus a quarter of a second.
fn processor_time_limit(text: &str) -> Duration {
    let slow = if cfg!(debug_assertions) { 8 } else { 1 };
    Duration::from_millis(250).saturating_add(Duration::from_nanos(2_000 * text.len() as u64)) * slow
}

/// The parsers of one language for the text at one path.
struct LanguageReaders<'a> {
    parsers: &'static LanguageParsers,
    path: &'a str,
    limit: Limit<'a>,
    /// The reason that the language's own parser did not read a text.
    unread: RefCell<Option<String>>,
    /// The reason that duplicate keys were not looked for.
    unsearched: RefCell<Option<String>>,
}

impl<'a> LanguageReaders<'a> {
    fn new(parsers: &'static LanguageParsers, path: &'a str, limit: Limit<'a>) -> LanguageReaders<'a> {
        LanguageReaders { parsers, path, limit, unread: RefCell::default(), unsearched: RefCell::default() }
    }

    fn key(&self, buffer: &Buffer) -> TextKey {
        TextKey::new(self.parsers.name, self.path, buffer)
    }

    fn read(&self, buffer: &Buffer) -> Result<Arc<ParseResult>, ParseFailure> {
        if self.parsers.accepts_every_text() {
            let by = ParserKind::Own(Stops::Never);
            return Ok(Arc::new(ParseResult { by, marks: Vec::new(), keys: None, parts: Vec::new() }));
        }
        let key = self.key(buffer);
        if let Some(known) = memo::PARSED.get(key) {
            return Ok(known);
        }
        let own = self.parsers.parser.as_ref().map(|own| self.read_own(own, buffer)).transpose()?.flatten();
        match own {
            Some(own) => Ok(memo::PARSED.keep(key, own)),
            None if self.parsers.parser.is_none() => {
                Ok(memo::PARSED.keep(key, self.read_whole_tree(buffer)?))
            }
            // Not cached: the reason is noted whenever the own parser fails. Tree-sitter's report is.
            None => Ok(Arc::new(self.read_tree(buffer)?)),
        }
    }

    /// Reads the text after the edit: only the part that changed, if the text before is known to be valid.
    fn read_after(&self, draft: &Draft<'_>) -> Result<Arc<ParseResult>, ParseFailure> {
        let key = self.key(draft.after);
        if let Some(known) = memo::PARSED.get(key) {
            return Ok(known);
        }
        match self.read_changed_part(draft)? {
            Some(read) => Ok(memo::PARSED.keep(key, read)),
            None => self.read(draft.after),
        }
    }

    /// Reads the changed part of a text; `None` if the whole text must be read.
    fn read_changed_part(&self, draft: &Draft<'_>) -> Result<Option<ParseResult>, ParseFailure> {
        let Some(rules) = self.parsers.parts.as_ref().filter(|rules| (rules.apply)(self.path)) else {
            return Ok(None);
        };
        let before = draft.before.and_then(|before| Some((before, memo::PARSED.get(self.key(before))?)));
        let Some((before, known)) = before.filter(|(_, known)| known.marks.is_empty()) else {
            return Ok(None);
        };
        let Some(change) = ChangedPart::find(before.view(), draft.after.view(), &known.parts) else {
            return Ok(None);
        };
        let Ok(part) = Buffer::read(change.new.as_bytes().to_vec(), Hints::default()) else {
            return Ok(None);
        };
        let read = match &self.parsers.parser {
            None if (rules.fits)(&change, self.path) => Some(self.read_tree(&part)?),
            None => None,
            Some(own) => self.read_part(own, rules, &change, &part)?,
        };
        let read = read.filter(|read| read.by == known.by && read.marks.is_empty());
        Ok(read.map(|read| ParseResult { parts: change.parts(&known.parts, &read.parts), ..read }))
    }

    /// Reads a part with the language's own parser; `None` if it does not show whether the whole text is valid.
    fn read_part(
        &self,
        own: &OwnParser,
        rules: &PartRules,
        change: &ChangedPart<'_>,
        part: &Buffer,
    ) -> Result<Option<ParseResult>, ParseFailure> {
        if own.is_large(change.new.len().max(change.old.len())) {
            return Ok(None);
        }
        let stack = |text: &str| own.measured_stack(text).ok().flatten();
        let Some(stack) = stack(change.new).zip(stack(change.old)).map(|(new, old)| new.max(old)) else {
            return Ok(None);
        };
        let (read, fits, path, change) = (own.read, rules.fits, self.path.to_owned(), change.detached());
        let job = move || match fits(&change.borrow(), &path) {
            true => read(&change.new, &path),
            // As after a text that the parser cannot decide about, another way is taken.
            false => Parse::TooDeep,
        };
        Self::reading(own, part, worker::run(stack, self.limit, job))
    }

    /// Returns the duplicate keys of a text without faults, compared with those before; they only warn.
    fn doubled(
        &self,
        draft: &Draft<'_>,
        after: Option<&[ComparedFinding]>,
    ) -> Result<Vec<MarkedFinding>, ParseFailure> {
        if !doubled::LANGUAGES.contains(&self.parsers.name) {
            return Ok(Vec::new());
        }
        let after = after.map_or_else(|| self.keys(draft.after), |after| Ok(after.to_vec()))?;
        let new = match draft.before.filter(|_| !after.is_empty()) {
            None => vec![true; after.len()],
            Some(before) => {
                let lines = (before.lines().count(), draft.after.lines().count());
                delta::flag_new(&self.keys(before)?, &after, draft.map, lines)
            }
        };
        Ok(MarkedFinding::all(after, new))
    }

    fn keys(&self, buffer: &Buffer) -> Result<Vec<ComparedFinding>, ParseFailure> {
        let (name, text) = (self.parsers.name, buffer.view());
        if let Some(program) = child::program_for(text.len()) {
            return match child::ask(program, Task::Keys, (name, self.path), text, self.limit) {
                Ok(Reply::Keys(keys)) => Ok(doubtful(keys, buffer)),
                Ok(_) => Err(ParseFailure::Broken(
                    "the search for duplicate keys gave an unexpected reply".to_owned(),
                )),
                Err(NoReply::Halted(halt)) => Err(ParseFailure::Halted(halt)),
                Err(NoReply::Panicked(words)) => {
                    Err(ParseFailure::Broken(format!("the search for duplicate keys panicked: {words}")))
                }
                Err(NoReply::Failed(why)) => {
                    self.unsearched.replace(Some(format!("the search for duplicate keys {why}")));
                    Ok(Vec::new())
                }
            };
        }
        let text = text.to_owned();
        match worker::run(LEAST_STACK, self.limit, move || doubled::keys(name, &text)) {
            JobOutcome::Done(keys) => Ok(doubtful(keys, buffer)),
            JobOutcome::NoThread => Ok(Vec::new()),
            JobOutcome::Panicked(words) => {
                Err(ParseFailure::Broken(format!("the search for duplicate keys panicked: {words}")))
            }
            JobOutcome::Halted(halt) => Err(ParseFailure::Halted(halt)),
        }
    }

    /// True if the parser stops at a template tag and something else marks the text as a template: its path, a tag there
    /// that only templates have, or the text before the edit, which did not parse either.
    fn is_template(&self, draft: &Draft<'_>, after: &ParseResult) -> Result<bool, ParseFailure> {
        let first = |reading: &ParseResult| {
            let certain = reading.marks.iter().filter(|(finding, _)| finding.belief == Belief::Certain);
            certain.map(|(finding, _)| finding.line).min()
        };
        let Some(line) = first(after) else { return Ok(false) };
        let (lines, text) = (draft.after.lines(), draft.after.view());
        let tags = template::tags(text);
        if tags.is_empty() {
            return Ok(false);
        }
        let filled = template::filled(self.parsers.name, text, &tags);
        let Ok(filled) = Buffer::read(filled.into_bytes(), Hints::default()) else { return Ok(false) };
        let filled = self.read(&filled)?;
        if first(&filled).is_some_and(|next| next <= line) {
            return Ok(false);
        }
        let range = lines.span(line.saturating_sub(1).max(1)).start..lines.span(line).end;
        if template::is_named(self.path) || template::is_marked(&tags, &range) {
            return Ok(true);
        }
        let Some(before) = draft.before else { return Ok(false) };
        let before = self.read(before)?;
        Ok(first(&before).is_some())
    }

    fn read_tree(&self, buffer: &Buffer) -> Result<ParseResult, ParseFailure> {
        let survey = self.survey(buffer)?;
        let marks = marked(&survey.faults, buffer);
        Ok(ParseResult { by: ParserKind::Tree, marks, keys: None, parts: survey.parts.clone() })
    }

    /// Reads a whole text with tree-sitter, which accepts some faults.
    fn read_whole_tree(&self, buffer: &Buffer) -> Result<ParseResult, ParseFailure> {
        let mut result = self.read_tree(buffer)?;
        let fault = (self.parsers.credit.whole_fault)(buffer.view());
        if let Some(fault) = fault {
            let mark = fault.mark(buffer.lines(), buffer.view());
            let at = result.marks.partition_point(|(other, _)| other.line < mark.line);
            result.marks.insert(at, (mark, fault.pass));
            result.parts.clear();
        }
        Ok(result)
    }

    /// Reads lines of a text by themselves.
    fn read_piece(&self, piece: &Buffer) -> Result<Arc<ParseResult>, ParseFailure> {
        match self.parsers.parser {
            Some(_) => self.read(piece),
            None => self.read_tree(piece).map(Arc::new),
        }
    }

    /// Reads with the language's own parser; `None` if it could not do so safely.
    fn read_own(&self, own: &OwnParser, buffer: &Buffer) -> Result<Option<ParseResult>, ParseFailure> {
        let by = ParserKind::Own(own.stops);
        let text = buffer.view();
        if let Some(program) = child::program().filter(|_| own.is_large(text.len())) {
            return self.read_elsewhere(program, own, buffer);
        }
        let stack = match own.measured_stack(buffer.view()) {
            Err(fault) => {
                let marks = marked(&[fault], buffer);
                return Ok(Some(ParseResult { by, marks, keys: None, parts: Vec::new() }));
            }
            Ok(stack) => stack,
        };
        let stack = match stack {
            Some(stack) => Some(stack),
            None => self.stack(own, buffer)?,
        };
        let Some(stack) = stack else { return Ok(None) };
        let (read, text, path) = (own.read, buffer.view().to_owned(), self.path.to_owned());
        Self::reading(own, buffer, worker::run(stack, self.limit, move || read(&text, &path)))
    }

    /// Reads with the language's own parser in another process; `None` if its limits did not suffice.
    fn read_elsewhere(
        &self,
        program: &Path,
        own: &OwnParser,
        buffer: &Buffer,
    ) -> Result<Option<ParseResult>, ParseFailure> {
        match child::ask(program, Task::Faults, (self.parsers.name, self.path), buffer.view(), self.limit) {
            Ok(Reply::Faults { faults, keys, parts }) => {
                let faults: Vec<SyntaxFault> = faults.into_iter().map(SyntaxFault::from).collect();
                let marks = marked(&faults, buffer);
                let keys = keys.map(|keys| doubtful(keys, buffer));
                Ok(Some(ParseResult { by: ParserKind::Own(own.stops), marks, keys, parts }))
            }
            Ok(Reply::TooDeep) => Ok(None),
            Ok(_) => Err(ParseFailure::Broken(format!("{} gave an unexpected reply", own.name))),
            Err(NoReply::Halted(halt)) => Err(ParseFailure::Halted(halt)),
            Err(NoReply::Panicked(words)) => {
                Err(ParseFailure::Broken(format!("{} panicked: {words}", own.name)))
            }
            Err(NoReply::Failed(why)) => {
                self.unread.replace(Some(format!("{} {why}", own.name)));
                Ok(None)
            }
        }
    }

    /// Converts the outcome of a parser job; `None` if the parser could not read the text.
    fn reading(
        own: &OwnParser,
        buffer: &Buffer,
        end: JobOutcome<Parse>,
    ) -> Result<Option<ParseResult>, ParseFailure> {
        let by = ParserKind::Own(own.stops);
        match end {
            JobOutcome::Done(Parse::Read { faults, parts }) => {
                Ok(Some(ParseResult { by, marks: marked(&faults, buffer), keys: None, parts }))
            }
            JobOutcome::Done(Parse::TooDeep) | JobOutcome::NoThread => Ok(None),
            JobOutcome::Panicked(words) => {
                Err(ParseFailure::Broken(format!("{} panicked: {words}", own.name)))
            }
            JobOutcome::Halted(halt) => Err(ParseFailure::Halted(halt)),
        }
    }

    /// Returns a stack size that suffices for a text. Every level of nesting takes a token of the text and a level of the
    /// tree, so a text with few tokens does not need a tree.
    fn stack(&self, own: &OwnParser, buffer: &Buffer) -> Result<Option<usize>, ParseFailure> {
        if let Some(stack) = own.stack_at_once(buffer.view()) {
            return Ok(Some(stack));
        }
        let stack = own.stack_for(self.survey(buffer)?.depth);
        Ok((stack <= MAX_STACK).then_some(stack))
    }

    fn survey(&self, buffer: &Buffer) -> Result<Arc<TreeReport>, ParseFailure> {
        let key = self.key(buffer);
        if let Some(known) = memo::SURVEYED.get(key) {
            return Ok(known);
        }
        let report = self.survey_within(processor_time_limit(buffer.view()), buffer.view())?;
        Ok(memo::SURVEYED.keep(key, report))
    }

    /// Surveys a text with at most this much processor time.
    fn survey_within(&self, time: Duration, text: &str) -> Result<TreeReport, ParseFailure> {
        let grammar = self.parsers.grammar().ok_or(ParseFailure::Unknown("no grammar for this language"))?;
        if !grammar.holds(text) {
            return Err(ParseFailure::Unreadable(TOO_DEEP.to_owned()));
        }
        let _slot = wait_for_slot(text, self.limit)?;
        let (row, path, limit) = (self.parsers, self.path, self.limit);
        // The processor time of the thread that parses.
        let work = || tree::survey(row, grammar, path, text, limit.with_processor_time(time));
        match grammar::on_stack(work).map_err(ParseFailure::Broken)? {
            // The time of the call is not up.
            Err(ParseFailure::Halted(Halt::TimedOut)) if self.limit.reached().is_none() => {
                Err(ParseFailure::TooSlow(time))
            }
            report => report,
        }
    }

    /// Pairs the brackets of a text, with the language's own parser if it can do that: it has no error recovery to pay for.
    fn brackets(&self, buffer: &Buffer) -> Result<Arc<BracketReport>, ParseFailure> {
        let by_tree = || Ok(Arc::new(self.survey(buffer)?.brackets.clone()));
        let (key, length) = (self.key(buffer), buffer.view().len());
        if let Some(known) = memo::PAIRED.get(key) {
            return Ok(known);
        }
        let own =
            self.parsers.parser.as_ref().filter(|own| child::program().is_none() || !own.is_large(length));
        let Some((pair, stack)) =
            own.and_then(|own| Some((own.brackets?, own.measured_stack(buffer.view()).ok()??)))
        else {
            return by_tree();
        };
        let text = buffer.view().to_owned();
        match worker::run(stack, self.limit, move || pair(&text)) {
            JobOutcome::Done(report) => Ok(memo::PAIRED.keep(key, report)),
            JobOutcome::NoThread | JobOutcome::Panicked(_) => by_tree(),
            JobOutcome::Halted(halt) => Err(ParseFailure::Halted(halt)),
        }
    }

    fn compare(
        &self,
        draft: &Draft<'_>,
        before: &Buffer,
        after: Arc<ParseResult>,
    ) -> Result<Vec<MarkedFinding>, ParseFailure> {
        let (old, after) = match self.read(before) {
            Ok(old) if old.by == after.by => (old, after),
            Err(halted @ (ParseFailure::Halted(_) | ParseFailure::TooSlow(_))) => return Err(halted),
            // Faults of two different parsers cannot be compared, so tree-sitter reads both sides.
            Ok(_)
            | Err(
                ParseFailure::Broken(_)
                | ParseFailure::Unknown(_)
                | ParseFailure::Unreadable(_)
                | ParseFailure::Template,
            ) => (Arc::new(self.read_tree(before)?), Arc::new(self.read_tree(draft.after)?)),
        };
        if old.marks.is_empty() {
            return Ok(before_after::all_new(&after.marks));
        }
        let mut sides =
            BeforeAfter { before, after: draft.after, map: draft.map, by: after.by, sound: Vec::new() };
        let opinion = match sides.opinion_need() {
            OpinionNeed::Nothing => Opinion::default(),
            OpinionNeed::Brackets => {
                let (old, new) = (self.brackets(before)?, self.brackets(draft.after)?);
                Opinion { old_lone: old.lone.clone(), new_lone: new.lone.clone(), ..Opinion::default() }
            }
            OpinionNeed::Everything => self.opinion(before, draft.after)?,
        };
        sides.sound = self.sound_pieces(&sides, &opinion.old_lone);
        Ok(sides.judge(&old.marks, &after.marks, &opinion))
    }

    /// Returns the inserted pieces that are valid by themselves, below a bracket that was open before. A fault there can
    /// follow from that bracket alone: a parser takes a function below it for a part of the function before.
    fn sound_pieces(&self, sides: &BeforeAfter<'_>, old_lone: &[usize]) -> Vec<ReplacedLines> {
        let (before, after) = (sides.before, sides.after);
        let opens = |at: &&usize| matches!(before.view().as_bytes().get(**at), Some(b'(' | b'[' | b'{'));
        let Some(open) = old_lone.iter().find(opens).map(|at| before.lines().line_at(*at)) else {
            return Vec::new();
        };
        let is_sound = |piece: &ReplacedLines| {
            let (first, last) = piece.new;
            let text = after.view().get(after.lines().block(first, last)).unwrap_or_default();
            let part = Buffer::read(text.as_bytes().to_vec(), Hints::default()).ok();
            part.and_then(|part| self.read_piece(&part).ok()).is_some_and(|read| read.marks.is_empty())
        };
        let mut pieces = sides.pieces();
        pieces.retain(|piece| is_insertion(piece) && piece.old.0 > open && is_sound(piece));
        pieces
    }

    /// Returns the faults that tree-sitter finds on both sides; none if it cannot read them.
    fn opinion(&self, before: &Buffer, after: &Buffer) -> Result<Opinion, ParseFailure> {
        let mut views = [Arc::default(), Arc::default()];
        for (view, buffer) in views.iter_mut().zip([before, after]) {
            match self.survey(buffer) {
                Ok(survey) => *view = survey,
                Err(halted @ (ParseFailure::Halted(_) | ParseFailure::TooSlow(_))) => return Err(halted),
                Err(
                    ParseFailure::Broken(_)
                    | ParseFailure::Unknown(_)
                    | ParseFailure::Unreadable(_)
                    | ParseFailure::Template,
                ) => {
                    return Ok(Opinion::default());
                }
            }
        }
        let [old, new]: [Arc<TreeReport>; 2] = views;
        Ok(Opinion {
            old: marked(&old.faults, before),
            new: marked(&new.faults, after),
            old_lone: old.brackets.lone.clone(),
            new_lone: new.brackets.lone.clone(),
        })
    }
}

/// Converts faults of a text to findings that only warn.
fn doubtful(
    faults: impl IntoIterator<Item = impl Into<SyntaxFault>>,
    buffer: &Buffer,
) -> Vec<ComparedFinding> {
    let finding = |fault: SyntaxFault| fault.mark(buffer.lines(), buffer.view());
    faults
        .into_iter()
        .map(|fault| ComparedFinding { belief: Belief::Doubtful, ..finding(fault.into()) })
        .collect()
}

/// Counts the possible tokens: runs of letters and digits, and every other character except white space.
fn tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut in_word = false;
    for character in text.chars() {
        let word = character.is_alphanumeric() || character == '_';
        tokens += usize::from(!(word && in_word || character.is_whitespace()));
        in_word = word;
    }
    tokens
}

/// Converts faults to findings in text order. Only the first fault of a line is kept, preferably a certain one: the
/// others mostly follow from it, and each fault reads its line once more.
fn marked(faults: &[SyntaxFault], buffer: &Buffer) -> Faults {
    let (lines, text) = (buffer.lines(), buffer.view());
    let mut faults: Vec<_> = faults.iter().collect();
    let line = |fault: &SyntaxFault| lines.line_at(fault.at).min(lines.count());
    faults.sort_by_key(|fault| (line(fault), fault.belief, fault.at));
    faults.dedup_by_key(|fault| line(fault));
    faults.into_iter().map(|fault| (fault.mark(lines, text), fault.pass)).collect()
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tables;
