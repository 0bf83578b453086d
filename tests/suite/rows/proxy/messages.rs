//! The messages of PostgreSQL's protocol, as far as they are told apart.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use super::FaultPoint;

/// Passes the answers on, or as much of them as comes through when the wire breaks.
pub fn answers(server: &mut UnixStream, client: &mut TcpStream, swallow: &Mutex<Option<FaultPoint>>) {
    let mut chunk = vec![0; 1 << 16];
    let mut swallowed = Vec::new();
    loop {
        let read = match server.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let fault_point = *swallow.lock().unwrap();
        match fault_point {
            None if client.write_all(&chunk[..read]).is_err() => break,
            None => (),
            Some(_) => swallowed.extend_from_slice(&chunk[..read]),
        }
    }
    let fault_point = *swallow.lock().unwrap();
    match fault_point {
        Some(FaultPoint::AnswerCut) => client.write_all(&swallowed[..swallowed.len() / 2]).ok(),
        Some(FaultPoint::AnswerFull) => client.write_all(&disk_full()).ok(),
        _ => None,
    };
}

/// The answer of a server whose disk is full, which is ready for the next message.
fn disk_full() -> Vec<u8> {
    let fields = b"SERROR\0VERROR\0C53100\0Mcould not extend file\0\0";
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    [b"E".as_slice(), &length, fields, b"Z\0\0\0\x05I"].concat()
}

/// Reads one message of a client: those before the greeting have no type.
pub fn message(client: &mut TcpStream, typed: &mut bool) -> Option<Vec<u8>> {
    let head = if *typed { 5 } else { 4 };
    let mut bytes = vec![0; head];
    client.read_exact(&mut bytes).ok()?;
    let length = bytes[head - 4..].try_into().ok().map(u32::from_be_bytes)?;
    let rest = usize::try_from(length).ok()?.checked_sub(4)?;
    bytes.resize(head + rest, 0);
    client.read_exact(&mut bytes[head..]).ok()?;
    // The question for TLS comes before the greeting.
    *typed |= bytes.get(4..8) != Some(80_877_103_u32.to_be_bytes().as_slice());
    Some(bytes)
}

/// What a message is, with its text where it has one.
pub fn name(message: &[u8]) -> String {
    let text = |bytes: &[u8]| {
        let text: Vec<u8> = bytes.iter().copied().take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&text).into_owned()
    };
    match message.first() {
        Some(b'Q') => format!("Query {}", text(&message[5..])),
        Some(b'P') => {
            let body = &message[5..];
            let statement = body.iter().position(|&byte| byte == 0).map_or(0, |end| end + 1);
            format!("Parse {}", text(&body[statement..]))
        }
        Some(b'B') => "Bind".to_owned(),
        Some(b'D') => "Describe".to_owned(),
        Some(b'E') => "Execute".to_owned(),
        Some(b'S') => "Sync".to_owned(),
        Some(b'C') => "Close".to_owned(),
        Some(b'X') => "Terminate".to_owned(),
        Some(b'p') => "Password".to_owned(),
        Some(0) | None => "Greeting".to_owned(),
        Some(other) => format!("{:?}", char::from(*other)),
    }
}
