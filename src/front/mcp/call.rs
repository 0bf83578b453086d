//! One call of a tool, from its arguments to its answer.
//!
//! Invariant: whatever happens, the client is answered; a refusal is an answer with `isError`, so that the model sees
//! it. What computes runs off the reactor.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::Structured;
use super::ask::{Asked, Asking, Returned, Seal, Way};
use super::progress::watch;
use crate::engine::Workspace;
use crate::error::{Code, Error, Question};
use crate::front::answer::{self, Answer, Call, Forms, Offers, Shape};
use crate::front::past;
use crate::front::tools::{self, Ask, AskedAll, Tool};
use crate::gate::{Watch, clean};
use crate::request::{Author, History, Revert};

/// Characters of a client's name that are written down.
const LONGEST_NAME: usize = 80;

/// What a server gives each call.
#[derive(Clone)]
pub(super) struct Desk {
    /// The files.
    pub(super) workspace: Arc<Workspace>,
    /// Whether answers have a structured part.
    pub(super) structured: Structured,
    /// The tool that reads lines, where it is offered.
    pub(super) reader: Option<&'static str>,
    /// Cancelled when the server is asked to stop.
    pub(super) stop: CancellationToken,
    /// What questions are sealed with.
    pub(super) seal: Seal,
}

/// How often a person is asked about one call, should the file change meanwhile.
const ASKED: usize = 3;

/// Carries out one call; where the policy has a person asked, the person is asked.
pub(super) async fn call(
    tool: &'static Tool,
    desk: Desk,
    arguments: JsonObject,
    returned: Returned,
    context: Context,
) -> CallToolResponse {
    let forms = forms(desk.structured, context.protocol_version());
    let path = arguments.get(tool.voice.names.path).and_then(Value::as_str).map(str::to_owned);
    let offers = Offers { again: again(tool, &arguments), reader: desk.reader };
    let shape = Shape { forms, path, voice: tool.voice, offers, ..Shape::default() };
    let way = Way::of(&context);
    let asking = Asking::of(tool.name, &arguments, &way);
    let mut author = author(tool, &context);
    match desk.seal.agreed(&returned, &asking) {
        Ok(agreed) => author.agreed = agreed,
        Err(refusal) => return refused(shape, refusal).await.into(),
    }
    let mut asked = match raised(tool, arguments).await {
        Ok(asked) => asked,
        Err(refusal) => return refused(shape, refusal).await.into(),
    };
    for _ in 0..ASKED {
        let again = way.can_ask().then(|| asked.clone());
        let Carried { shape: wanted, question, told } =
            carry(asked.by(&author), shape.clone(), &desk, &context).await;
        let Some(question) = question else { return render(wanted, told).await.into() };
        let answer = tokio::select! {
            answer = way.ask(&question, &desk.seal, &asking) => answer,
            () = context.ct.cancelled() => Asked::unanswered("the call was cancelled"),
            () = desk.stop.cancelled() => Asked::unanswered("the server was stopped"),
        };
        match (answer, again) {
            (Asked::Agreed, Some(again)) => {
                author.agreed = Some(question.about);
                asked = again;
            }
            (Asked::Later(later), _) => return (*later).into(),
            (Asked::No(refusal), _) => return refused(wanted, refusal).await.into(),
            (Asked::Agreed, None) => break,
        }
    }
    let seen = "the file changed each time that a person was asked";
    refused(shape, Error::new(Code::NotConfirmed, seen)).await.into()
}

type Context = RequestContext<RoleServer>;

/// What came of a call, to be put into words; or what a person is to be asked first.
struct Carried {
    shape: Shape,
    question: Option<Box<Question>>,
    told: Told,
}

type Told = Box<dyn FnOnce(&Shape) -> Answer + Send>;

/// Raises the arguments of a call, where it holds up nobody.
async fn raised(tool: &'static Tool, arguments: JsonObject) -> Result<Ask, Error> {
    spawn_blocking(move || (tool.ask)(arguments)).await.unwrap_or_else(|trouble| Err(broken(&trouble)))
}

async fn carry(asked: Ask, shape: Shape, desk: &Desk, context: &Context) -> Carried {
    match asked {
        Ask::Edit(asked) => edit(*asked, shape, desk, context).await,
        Ask::EditAll(all) => edit_all(*all, shape, desk, context).await,
        Ask::Revert(revert) => turn(revert, shape, desk, context).await,
        Ask::Look(look) => {
            let seen =
                watched(desk, context, |workspace, watch| async move { workspace.look(look, watch).await });
            let seen = seen.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            let seen = seen.map_err(|refusal| shape.voice.renamed(refusal));
            Carried { shape, question: None, told: Box::new(move |shape| answer::look(&seen, shape)) }
        }
        Ask::History(history) => {
            let (most, workspace) = (history.most, Arc::clone(&desk.workspace));
            // One more than is shown tells whether there are more.
            let history = History { most: most + 1, ..history };
            let edits = tokio::spawn(async move { workspace.history(history).await });
            let edits = edits.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            let told = Box::new(move |shape: &Shape| answer::history(&edits, most, shape));
            Carried { shape, question: None, told }
        }
    }
}

async fn edit(asked: tools::Asked, shape: Shape, desk: &Desk, context: &Context) -> Carried {
    let tools::Asked { request, shape: wanted } = asked;
    let shape = Shape { forms: shape.forms, path: shape.path, offers: shape.offers, ..wanted };
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit(request, watch).await }).await;
    let question = question(&mut edited);
    let edited = edited.map_err(|refusal| shape.voice.renamed(refusal));
    Carried { shape, question, told: Box::new(move |shape| answer::answer(&edited, shape)) }
}

async fn edit_all(all: AskedAll, shape: Shape, desk: &Desk, context: &Context) -> Carried {
    let AskedAll { requests, paths, shape: wanted } = all;
    let shape = Shape { forms: shape.forms, offers: shape.offers, ..wanted };
    let mut edited =
        write(desk, context, |workspace, watch| async move { workspace.edit_all(requests, watch).await })
            .await;
    let question = question(&mut edited);
    Carried { shape, question, told: Box::new(move |shape| answer::batch(&edited, &paths, shape)) }
}

/// Takes an edit back, or makes it again.
async fn turn(revert: Revert, shape: Shape, desk: &Desk, context: &Context) -> Carried {
    let turned =
        write(
            desk,
            context,
            |workspace, watch| async move { Ok(past::revert(&workspace, revert, watch).await) },
        );
    match turned.await {
        Ok((mut reports, turned)) => {
            let question = question(&mut reports);
            let told = Box::new(move |shape: &Shape| answer::reverted(&reports, turned, shape));
            Carried { shape, question, told }
        }
        Err(refusal) => {
            Carried { shape, question: None, told: Box::new(move |shape| answer::refusal(&refusal, shape)) }
        }
    }
}

/// What a person is to be asked before the call is carried out.
fn question<T>(done: &mut Result<T, Error>) -> Option<Box<Question>> {
    done.as_mut().err()?.question.take()
}

async fn refused(shape: Shape, refusal: Error) -> CallToolResult {
    render(shape, move |shape| answer::refusal(&refusal, shape)).await
}

/// Who calls, as the client names itself.
fn author(tool: &Tool, context: &Context) -> Author {
    let client = context.client_info();
    let name = client.map(|client| clean(&format!("{} {}", client.name, client.version)));
    let name = name.unwrap_or_default().chars().take(LONGEST_NAME).collect();
    Author { tool: tool.name.to_owned(), name, agreed: None }
}

/// The call, where it has a text to look for, which a refusal may correct.
fn again(tool: &'static Tool, arguments: &JsonObject) -> Option<Call> {
    let searches = arguments.contains_key(tool.voice.names.search);
    searches.then(|| Call { tool: tool.name, arguments: arguments.clone() })
}

/// Does something that may write, until it is done.
async fn write<T, F>(
    desk: &Desk,
    context: &Context,
    deed: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let done = watched(desk, context, deed).await;
    done.unwrap_or_else(|trouble| Err(broken(&trouble).disk_unknown()))
}

/// Does something, watched over, until it is done.
async fn watched<T, F>(
    desk: &Desk,
    context: &Context,
    deed: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<Result<T, Error>, JoinError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let ended = context.ct.child_token();
    let (watch, progress) = watch(context, ended.clone());
    // A task of its own: should it fail, this one still answers.
    let deed = tokio::spawn(deed(Arc::clone(&desk.workspace), watch));
    let (done, ()) = tokio::select! {
        both = async { tokio::join!(deed, progress.pass_on()) } => both,
        never = pass_to(ended, desk.stop.clone()) => match never {},
    };
    done
}

/// How long a call may go on once the server is asked to stop: most edits are written by then.
const GRACE: Duration = Duration::from_secs(2);

/// Ends a call some time after the server is asked to stop.
async fn pass_to(call: CancellationToken, stop: CancellationToken) -> Infallible {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
    call.cancel();
    std::future::pending().await
}

async fn render(shape: Shape, told: impl FnOnce(&Shape) -> Answer + Send + 'static) -> CallToolResult {
    let forms = shape.forms;
    let path = shape.path.clone();
    let rendered = spawn_blocking(move || told(&shape)).await;
    let Answer { success, json, text } = rendered.unwrap_or_else(|trouble| undescribed(&trouble, path));
    let content = vec![ContentBlock::text(text)];
    let mut result = if success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = match forms {
        Forms::Both | Forms::Json => Some(json),
        Forms::Text => None,
    };
    result
}

/// The answer where the report is lost: what was written stays written.
fn undescribed(trouble: &JoinError, path: Option<String>) -> Answer {
    let message = format!("the edit has ended, but its report could not be put into words: {trouble}");
    let error = Error::new(Code::Internal, message).disk_unknown();
    answer::refusal(&error, &Shape { path, ..Shape::default() })
}

/// The forms in which a client of this protocol version is answered.
fn forms(structured: Structured, version: Option<ProtocolVersion>) -> Forms {
    let knows = version.is_none_or(|version| version >= ProtocolVersion::V_2025_06_18);
    match structured {
        Structured::Auto if knows => Forms::Both,
        Structured::On => Forms::Both,
        Structured::Auto | Structured::Off => Forms::Text,
    }
}

fn broken(trouble: &JoinError) -> Error {
    Error::new(Code::Internal, format!("the call stopped half-way: {trouble}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_report_does_not_claim_that_nothing_was_written() {
        let trouble = spawn_blocking(|| panic!("on purpose")).await.unwrap_err();
        let told = undescribed(&trouble, Some("a.py".into()));
        assert!(!told.success);
        assert_eq!((&told.json["path"], &told.json["hint"]), (&"a.py".into(), &"read the file".into()));
        for text in [&told.text, told.json["message"].as_str().unwrap()] {
            assert!(
                text.starts_with("it is not known whether the file was written: the edit has ended"),
                "{text}"
            );
        }
        assert_eq!(told.json.get("written"), None, "{}", told.json);
    }
}
