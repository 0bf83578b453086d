//! One call of a tool, from its arguments to its answer.
//!
//! Invariant: whatever happens, the client is answered; a refusal is an answer with `isError`, so that the model sees
//! it. What computes runs off the reactor.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::Structured;
use super::progress::watch;
use crate::engine::Workspace;
use crate::error::{Code, Error};
use crate::front::answer::{self, Answer, Call, Forms, Offers, Shape};
use crate::front::past;
use crate::front::tools::{Ask, Asked, AskedAll, Tool};
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
}

/// Carries out one call.
pub(super) async fn call(
    tool: &'static Tool,
    desk: Desk,
    arguments: JsonObject,
    context: RequestContext<RoleServer>,
) -> CallToolResult {
    let forms = forms(desk.structured, context.protocol_version());
    let path = arguments.get(tool.voice.names.path).and_then(Value::as_str).map(str::to_owned);
    let offers = Offers { again: again(tool, &arguments), reader: desk.reader };
    let shape = Shape { forms, path: path.clone(), voice: tool.voice, offers, ..Shape::default() };
    let author = author(tool, &context);
    let asked =
        spawn_blocking(move || (tool.ask)(arguments)).await.unwrap_or_else(|trouble| Err(broken(&trouble)));
    match asked.map(|asked| asked.by(&author)) {
        Err(refusal) => render(shape, move |shape| answer::refusal(&refusal, shape)).await,
        Ok(Ask::Edit(asked)) => edit(*asked, shape, &desk, &context).await,
        Ok(Ask::EditAll(all)) => edit_all(*all, shape, &desk, &context).await,
        Ok(Ask::Revert(revert)) => turn(revert, shape, &desk, &context).await,
        Ok(Ask::Look(look)) => {
            let seen = tokio::spawn(async move { desk.workspace.read_lines(look).await });
            let seen = seen.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            let seen = seen.map_err(|refusal| shape.voice.renamed(refusal));
            render(shape, move |shape| answer::lines(&seen, shape)).await
        }
        Ok(Ask::History(history)) => {
            let most = history.most;
            // One more than is shown tells whether there are more.
            let history = History { most: most + 1, ..history };
            let edits = tokio::spawn(async move { desk.workspace.history(history).await });
            let edits = edits.await.unwrap_or_else(|trouble| Err(broken(&trouble)));
            render(shape, move |shape| answer::history(&edits, most, shape)).await
        }
    }
}

type Context = RequestContext<RoleServer>;

async fn edit(asked: Asked, shape: Shape, desk: &Desk, context: &Context) -> CallToolResult {
    let Asked { request, shape: wanted } = asked;
    let shape = Shape { forms: shape.forms, path: shape.path, offers: shape.offers, ..wanted };
    let edited =
        write(desk, context, |workspace, watch| async move { workspace.edit(request, watch).await }).await;
    let edited = edited.map_err(|refusal| shape.voice.renamed(refusal));
    render(shape, move |shape| answer::answer(&edited, shape)).await
}

async fn edit_all(all: AskedAll, shape: Shape, desk: &Desk, context: &Context) -> CallToolResult {
    let AskedAll { requests, paths, shape: wanted } = all;
    let shape = Shape { forms: shape.forms, offers: shape.offers, ..wanted };
    let edited =
        write(desk, context, |workspace, watch| async move { workspace.edit_all(requests, watch).await })
            .await;
    render(shape, move |shape| answer::batch(&edited, &paths, shape)).await
}

/// Takes an edit back, or makes it again.
async fn turn(revert: Revert, shape: Shape, desk: &Desk, context: &Context) -> CallToolResult {
    let turned =
        write(
            desk,
            context,
            |workspace, watch| async move { Ok(past::revert(&workspace, revert, watch).await) },
        );
    match turned.await {
        Ok((reports, turned)) => render(shape, move |shape| answer::reverted(&reports, turned, shape)).await,
        Err(refusal) => render(shape, move |shape| answer::refusal(&refusal, shape)).await,
    }
}

/// Who calls, as the client names itself.
fn author(tool: &Tool, context: &Context) -> Author {
    let client = context.client_info();
    let name = client.map(|client| clean(&format!("{} {}", client.name, client.version)));
    let name = name.unwrap_or_default().chars().take(LONGEST_NAME).collect();
    Author { tool: tool.name.to_owned(), name }
}

/// The call, where it has a text to look for, which a refusal may correct.
fn again(tool: &'static Tool, arguments: &JsonObject) -> Option<Call> {
    let searches = arguments.contains_key(tool.voice.names.search);
    searches.then(|| Call { tool: tool.name, arguments: arguments.clone() })
}

/// Does something that may write, watched over, until it is done.
async fn write<T, F>(
    desk: &Desk,
    context: &Context,
    deed: impl FnOnce(Arc<Workspace>, Watch) -> F,
) -> Result<T, Error>
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
    done.unwrap_or_else(|trouble| Err(broken(&trouble).disk_unknown()))
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
