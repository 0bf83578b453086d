//! The end of `lockgate serve`.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{MAX_LINE, Question, ServerMessage};
use crate::answer::{self, HookReply};
use crate::event::{self, Event, Payload};
use crate::guard::EventGuard;
use lockgate_checks::Watch;
use lockgate_engine::{StateSocket, Workspace, is_equal_peer};
use lockgate_policy::HookSettings;

/// The most events at a time; a hook that comes when there are as many judges alone.
const MAX_EVENTS: usize = 4;
/// The time in which a whole event must arrive.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause after a failed `accept`.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Answers hooks with this workspace until `stop` is cancelled, and removes the socket then. Needs a running tokio runtime.
///
/// Errors: those of the system in preparing the socket.
pub async fn serve(
    workspace: Arc<Workspace>,
    socket: StateSocket,
    stop: CancellationToken,
) -> io::Result<()> {
    let listener = socket.listener()?;
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let events = Arc::new(Semaphore::new(MAX_EVENTS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return Ok(()),
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a hook could not connect");
                sleep(RETRY_PAUSE).await;
                continue;
            }
        };
        if !is_equal_peer(&stream) {
            tracing::warn!(
                "a process of another user, or in a sandbox, connected to the socket for hooks; it gets no answer"
            );
            continue;
        }
        if let Ok(permit) = Arc::clone(&events).try_acquire_owned() {
            let (workspace, stop) = (Arc::clone(&workspace), stop.child_token());
            tokio::spawn(async move {
                let (reader, writer) = stream.into_split();
                drop(answer(workspace, BufReader::new(reader), writer, stop).await);
                drop(permit);
            });
        }
    }
}

/// Answers one hook. An event that this server does not judge gets no answer.
async fn answer(
    workspace: Arc<Workspace>,
    mut reader: BufReader<OwnedReadHalf>,
    mut writer: OwnedWriteHalf,
    stop: CancellationToken,
) -> io::Result<()> {
    let received = Instant::now();
    let Ok(Some((question, payload))) = timeout(READ_TIMEOUT, read(&mut reader)).await else {
        return Ok(());
    };
    let started = received.checked_sub(question.elapsed).unwrap_or(received);
    writer.write_all(ServerMessage::Accepted.to_line().as_bytes()).await?;
    let (sender, mut settings) = mpsc::unbounded_channel();
    let watch = Watch::new(stop.clone(), None);
    let runtime = Handle::current();
    // Parsing and matching take their time, which calls of the client must not wait for.
    let mut judged = tokio::task::spawn_blocking(move || {
        let on_settings = |settings| {
            // Without a receiver, the hook is gone.
            _ = sender.send(settings);
        };
        runtime.block_on(judge(&workspace, &watch, &question, &payload, started, &on_settings))
    });
    let mut ended = Box::pin(reader.read_u8());
    let mut is_waiting = true;
    loop {
        let message = tokio::select! {
            Some(settings) = settings.recv() => ServerMessage::settings(settings),
            // A hook says nothing more: it ended, or it is none.
            _ = &mut ended, if is_waiting => {
                is_waiting = false;
                stop.cancel();
                continue;
            }
            reply = &mut judged => match reply {
                Ok(Some(reply)) => ServerMessage::Reply(reply),
                Ok(None) | Err(_) => return Ok(()),
            },
        };
        writer.write_all(message.to_line().as_bytes()).await?;
        if matches!(message, ServerMessage::Reply(_)) {
            return writer.shutdown().await;
        }
    }
}

/// Reads an event; `None` for anything that a hook of this version does not send.
async fn read(reader: &mut BufReader<OwnedReadHalf>) -> Option<(Question, Vec<u8>)> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line).await.ok()?;
    let (question, length) = Question::from_line(&line)?;
    let mut payload = Vec::new();
    let read = reader.take(length).read_to_end(&mut payload).await.ok()?;
    (read as u64 == length).then_some((question, payload))
}

async fn judge(
    workspace: &Workspace,
    watch: &Watch,
    question: &Question,
    payload: &[u8],
    started: Instant,
    on_settings: &(dyn Fn(HookSettings) + Sync),
) -> Option<HookReply> {
    let Ok(Payload::Event(event)) = event::read(payload, question.host) else { return None };
    let event: Event = *event;
    // This server has one root, and a hook of another one would get the wrong answer.
    if workspace.top() != question.root || question.claims.len() != event.calls.len() {
        return None;
    }
    let guard = EventGuard {
        workspace,
        watch,
        event: &event,
        folder: question.folder.clone(),
        root: question.root.clone(),
        tools: question.tools,
        claims: Some(question.claims.clone()),
        started,
        on_settings,
    };
    let guarded = guard.answer().await;
    // Its answer would be that of a server that ends, or of a hook that is gone.
    (!watch.cancelled()).then(|| answer::reply(&event, guarded))
}
