//! The end of `lockgate hook`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::{MAX_LINE, Question, ServerMessage};
use crate::answer::HookReply;
use lockgate_policy::{ClineAnswer, HookSettings, OnFailure};

/// The time in which the server must confirm that it has the event.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(1);

/// Has the server judge an event, and returns its reply; `None` if the command must judge alone. `on_settings` receives the
/// settings of the policy.
///
/// After the server took the event, this waits for its reply or for its end, however long that takes.
pub fn ask(
    stream: &UnixStream,
    question: &Question,
    payload: &[u8],
    mut on_settings: impl FnMut(HookSettings),
) -> Option<HookReply> {
    let line = question.to_line(payload.len())?;
    stream.set_write_timeout(Some(ACCEPT_TIMEOUT)).ok()?;
    stream.set_read_timeout(Some(ACCEPT_TIMEOUT)).ok()?;
    let mut writer = stream;
    writer.write_all(line.as_bytes()).and_then(|()| writer.write_all(payload)).ok()?;
    let mut reader = BufReader::new(stream);
    let mut next = || {
        let mut line = String::new();
        reader.by_ref().take(MAX_LINE).read_line(&mut line).ok()?;
        ServerMessage::from_line(&line)
    };
    if next()? != ServerMessage::Accepted {
        return None;
    }
    stream.set_read_timeout(None).ok()?;
    loop {
        match next()? {
            ServerMessage::Accepted => {}
            ServerMessage::Settings { deadline, fail_closed, cline_cancel } => on_settings(HookSettings {
                deadline,
                fail: if fail_closed { OnFailure::Closed } else { OnFailure::Open },
                cline: if cline_cancel { ClineAnswer::Cancel } else { ClineAnswer::Warn },
                ..HookSettings::default()
            }),
            ServerMessage::Reply(reply) => return Some(reply),
        }
    }
}
