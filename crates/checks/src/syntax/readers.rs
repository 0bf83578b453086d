//! Reads a text with the parsers of its language: its own on a thread or in another process, or tree-sitter.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::brackets::BracketReport;
use super::child::{self, NoReply, Reply, Task};
use super::doubled;
use super::memo;
use super::parse::{Parse, ParseFailure, TOO_DEEP, wait_for_slot};
use super::parse_result::{ParseResult, doubtful};
use super::parts::{ChangedPart, PartCheck};
use super::stack::{LEAST_STACK, MAX_STACK};
use super::table::{LanguageParsers, OwnParser, ParserKind, Stops};
use super::tree::{self, TreeReport};
use super::worker::{self, JobOutcome};
use crate::delta::ComparedFinding;
use crate::draft::Draft;
use lockgate_sandbox::{Halt, Limit};
use lockgate_syntax as grammar;
use lockgate_text::{Buffer, Hints, Version};

/// The name of the search for duplicate keys in messages.
const KEY_SEARCH: &str = "the search for duplicate keys";

/// The parsers of one language for the text at one path.
pub(super) struct LanguageReaders<'a> {
    pub(super) parsers: &'static LanguageParsers,
    pub(super) path: &'a str,
    limit: Limit<'a>,
    /// The reason that the language's own parser did not read a text.
    pub(super) unread: RefCell<Option<String>>,
    /// The reason that duplicate keys were not looked for.
    pub(super) unsearched: RefCell<Option<String>>,
}

impl<'a> LanguageReaders<'a> {
    pub(super) fn new(
        parsers: &'static LanguageParsers,
        path: &'a str,
        limit: Limit<'a>,
    ) -> LanguageReaders<'a> {
        LanguageReaders { parsers, path, limit, unread: RefCell::default(), unsearched: RefCell::default() }
    }

    pub(super) fn key(&self, buffer: &Buffer) -> Version {
        memo::key(self.parsers.name, self.path, buffer)
    }

    pub(super) fn read(&self, buffer: &Buffer) -> Result<Arc<ParseResult>, ParseFailure> {
        if self.parsers.accepts_every_text() {
            let by = ParserKind::Own(Stops::Never);
            return Ok(Arc::new(ParseResult::new(by, &[], Vec::new(), buffer)));
        }
        let key = self.key(buffer);
        if let Some(known) = memo::PARSED.get(key) {
            return Ok(known);
        }
        let own = self.parsers.parser.as_ref().map(|own| self.read_own(own, buffer)).transpose()?.flatten();
        match own {
            Some(own) => Ok(memo::PARSED.insert(key, Arc::new(own))),
            None if self.parsers.parser.is_none() => {
                Ok(memo::PARSED.insert(key, Arc::new(self.read_whole_tree(buffer)?)))
            }
            // Not cached: the reason is noted whenever the own parser fails. Tree-sitter's report is.
            None => Ok(Arc::new(self.read_tree(buffer)?)),
        }
    }

    /// Reads the text after the edit: only the part that changed, if the text before is known to be valid.
    pub(super) fn read_after(&self, draft: &Draft<'_>) -> Result<Arc<ParseResult>, ParseFailure> {
        let key = self.key(draft.after);
        if let Some(known) = memo::PARSED.get(key) {
            return Ok(known);
        }
        match self.read_changed_part(draft)? {
            Some(read) => Ok(memo::PARSED.insert(key, Arc::new(read))),
            None => self.read(draft.after),
        }
    }

    /// Reads the changed part of a text; `None` if the whole text must be read.
    pub(super) fn read_changed_part(&self, draft: &Draft<'_>) -> Result<Option<ParseResult>, ParseFailure> {
        let Some(fits) = self.parsers.part_check else { return Ok(None) };
        let before = draft.before.and_then(|before| Some((before, memo::PARSED.get(self.key(before))?)));
        let Some((before, known)) = before.filter(|(_, known)| known.faults.is_empty()) else {
            return Ok(None);
        };
        let Some(change) = ChangedPart::find(before.view(), draft.after.view(), &known.parts) else {
            return Ok(None);
        };
        let Ok(part) = Buffer::read(change.new.as_bytes().to_vec(), Hints::default()) else {
            return Ok(None);
        };
        let read = match &self.parsers.parser {
            None if fits(&change, self.path) => Some(self.read_tree(&part)?),
            None => None,
            Some(own) => self.read_part(own, fits, change, &part)?,
        };
        let read = read.filter(|read| read.by == known.by && read.faults.is_empty());
        Ok(read.map(|read| ParseResult { parts: change.parts(&known.parts, &read.parts), ..read }))
    }

    /// Reads a part with the language's own parser; `None` if it does not show whether the whole text is valid.
    fn read_part(
        &self,
        own: &OwnParser,
        fits: PartCheck,
        change: ChangedPart<'_>,
        part: &Buffer,
    ) -> Result<Option<ParseResult>, ParseFailure> {
        if own.is_large(change.new.len().max(change.old.len())) {
            return Ok(None);
        }
        let stack = |text: &str| own.measured_stack(text).ok().flatten();
        let Some(stack) = stack(change.new).zip(stack(change.old)).map(|(new, old)| new.max(old)) else {
            return Ok(None);
        };
        let ChangedPart { before, old, new, after } = change.with_joints_only();
        // The job owns what it reads.
        let [before, old, new, after] = [before, old, new, after].map(str::to_owned);
        let (read, path) = (own.read, self.path.to_owned());
        let job = move || {
            let change = ChangedPart { before: &before, old: &old, new: &new, after: &after };
            match fits(&change, &path) {
                true => read(&new, &path),
                // As after a text that the parser cannot decide about, another way is taken.
                false => Parse::TooDeep,
            }
        };
        let parse = worker::run(stack, self.limit, job).value(own.name)?;
        Ok(parse_result(own, part, parse))
    }

    pub(super) fn keys(&self, buffer: &Buffer) -> Result<Vec<ComparedFinding>, ParseFailure> {
        let (name, text) = (self.parsers.name, buffer.view());
        if let Some(program) = child::program_for(text.len()) {
            return match child::ask(program, Task::Keys, (name, self.path), text, self.limit) {
                Ok(Reply::Keys(keys)) => Ok(doubtful(&keys, buffer)),
                Err(NoReply::Failed(why)) => {
                    self.unsearched.replace(Some(format!("{KEY_SEARCH} {why}")));
                    Ok(Vec::new())
                }
                other => Err(child::failure(KEY_SEARCH, other)),
            };
        }
        let text = text.to_owned();
        let keys =
            worker::run(LEAST_STACK, self.limit, move || doubled::keys(name, &text)).value(KEY_SEARCH)?;
        Ok(doubtful(&keys.unwrap_or_default(), buffer))
    }

    pub(super) fn read_tree(&self, buffer: &Buffer) -> Result<ParseResult, ParseFailure> {
        let survey = self.survey(buffer)?;
        Ok(ParseResult::new(ParserKind::Tree, &survey.faults, survey.parts.clone(), buffer))
    }

    /// Reads a whole text with tree-sitter, which accepts some faults.
    fn read_whole_tree(&self, buffer: &Buffer) -> Result<ParseResult, ParseFailure> {
        let mut result = self.read_tree(buffer)?;
        if let Some(fault) = (self.parsers.credit.whole_fault)(buffer.view()) {
            let finding = fault.finding(buffer.lines(), buffer.view());
            let at = result.faults.partition_point(|(other, _)| other.line < finding.line);
            result.faults.insert(at, (finding, fault.pass));
            result.parts.clear();
        }
        Ok(result)
    }

    /// Reads lines of a text by themselves.
    pub(super) fn read_piece(&self, piece: &Buffer) -> Result<Arc<ParseResult>, ParseFailure> {
        match self.parsers.parser {
            Some(_) => self.read(piece),
            None => self.read_tree(piece).map(Arc::new),
        }
    }

    /// Reads with the language's own parser; `None` if it could not do so safely.
    pub(super) fn read_own(
        &self,
        own: &OwnParser,
        buffer: &Buffer,
    ) -> Result<Option<ParseResult>, ParseFailure> {
        let text = buffer.view();
        if let Some(program) = child::program().filter(|_| own.is_large(text.len())) {
            return self.read_elsewhere(program, own, buffer);
        }
        let stack = match own.measured_stack(text) {
            Ok(Some(stack)) => stack,
            // Every level of nesting is a level of the tree.
            Ok(None) => own.stack_for(self.survey(buffer)?.depth),
            Err(fault) => {
                return Ok(parse_result(own, buffer, Some(Parse::faulty(vec![fault]))));
            }
        };
        if stack > MAX_STACK {
            return Ok(None);
        }
        let (read, text, path) = (own.read, text.to_owned(), self.path.to_owned());
        let parse = worker::run(stack, self.limit, move || read(&text, &path)).value(own.name)?;
        Ok(parse_result(own, buffer, parse))
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
                let keys = keys.map(|keys| doubtful(&keys, buffer));
                let result = ParseResult::new(ParserKind::Own(own.stops), &faults, parts, buffer);
                Ok(Some(ParseResult { keys, ..result }))
            }
            Ok(Reply::TooDeep) => Ok(None),
            Err(NoReply::Failed(why)) => {
                self.unread.replace(Some(format!("{} {why}", own.name)));
                Ok(None)
            }
            other => Err(child::failure(own.name, other)),
        }
    }

    pub(super) fn survey(&self, buffer: &Buffer) -> Result<Arc<TreeReport>, ParseFailure> {
        let key = self.key(buffer);
        if let Some(known) = memo::SURVEYED.get(key) {
            return Ok(known);
        }
        let report = self.survey_within(processor_time_limit(buffer.view()), buffer.view())?;
        Ok(memo::SURVEYED.insert(key, Arc::new(report)))
    }

    /// Surveys a text with at most this much processor time.
    pub(super) fn survey_within(&self, time: Duration, text: &str) -> Result<TreeReport, ParseFailure> {
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
    pub(super) fn brackets(&self, buffer: &Buffer) -> Result<Arc<BracketReport>, ParseFailure> {
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
            JobOutcome::Done(report) => Ok(memo::PAIRED.insert(key, Arc::new(report))),
            JobOutcome::NoThread | JobOutcome::Panicked(_) => by_tree(),
            JobOutcome::Halted(halt) => Err(ParseFailure::Halted(halt)),
        }
    }
}

/// The processor time limit for tree-sitter: about four times that of a text without faults, plus a quarter of a second.
pub(super) fn processor_time_limit(text: &str) -> Duration {
    let slow = if cfg!(debug_assertions) { 8 } else { 1 };
    Duration::from_millis(250).saturating_add(Duration::from_nanos(2_000 * text.len() as u64)) * slow
}

/// Converts the result of the language's own parser; `None` if it could not read the text.
fn parse_result(own: &OwnParser, buffer: &Buffer, parse: Option<Parse>) -> Option<ParseResult> {
    let Some(Parse::Read { faults, parts }) = parse else { return None };
    Some(ParseResult::new(ParserKind::Own(own.stops), &faults, parts, buffer))
}
