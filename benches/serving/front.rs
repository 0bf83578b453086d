//! What the front for HTTP costs by itself: calls a second beside those over pipes, and what is kept for who is idle.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::entities::Entity;
use super::options::Options;
use super::peer::{Peer, ProtocolEra};
use super::servers::{RunDir, token};
use super::usage::{memory, processor_time};
use super::wire::Connection;

/// How long each way of calling is measured.
const WHILE: Duration = Duration::from_secs(5);
/// Connections and sessions that are opened and left alone.
const IDLE: usize = 1000;

/// What is called: a tool and its arguments.
#[derive(Clone)]
struct Calls {
    name: &'static str,
    tool: &'static str,
    arguments: Rc<dyn Fn(usize) -> String>,
}

pub async fn measure(options: &Options, place: &RunDir) {
    let entity = Entity::new(3, 1);
    let file = place.root(Some(0)).join("a.tsx");
    std::fs::write(&file, entity.text()).unwrap();
    let (first, second) = (entity.anchor(0), entity.mark_line(1) + &entity.anchor(0));
    let path = file.display().to_string();
    let lines = format!(r#"{{"path":"{path}","start_line":1,"end_line":20}}"#);
    let calls = [
        Calls {
            name: "a look at 20 lines",
            tool: "read_content_lines",
            arguments: Rc::new(move |_| lines.clone()),
        },
        Calls {
            name: "an edit of one line",
            tool: "patch_content",
            arguments: Rc::new(move |turn| {
                let quoted = super::wire::quoted;
                let (old, new) = if turn.is_multiple_of(2) { (&first, &second) } else { (&second, &first) };
                format!(r#"{{"path":"{path}","old_string":{},"new_string":{}}}"#, quoted(old), quoted(new))
            }),
        },
    ];
    println!("| | way | at a time | calls a second | processor time of a call |\n|---|---|---|---|---|");
    for one in &calls {
        let widths: &[usize] = if one.tool == "patch_content" { &[1] } else { &[1, 8] };
        for &width in widths {
            pipes(place, one, width);
            for era in [ProtocolEra::Sessions, ProtocolEra::Stateless] {
                over_http(place, one, width, era).await;
            }
        }
    }
    idle(options, place).await;
}

fn row(one: &Calls, way: &str, width: usize, calls: usize, took: Duration, spent: Duration) {
    println!(
        "| {} | {way} | {width} | {:.0} | {:.0} µs |",
        one.name,
        calls as f64 / took.as_secs_f64(),
        spent.as_secs_f64() * 1e6 / calls as f64
    );
}

async fn over_http(place: &RunDir, one: &Calls, width: usize, era: ProtocolEra) {
    let server = place.serve("front");
    let id = server.process.id();
    let calling = |until: Duration| {
        let tasks: Vec<_> = (0..width)
            .map(|_| {
                let (one, address) = (one.clone(), server.address);
                tokio::task::spawn_local(async move {
                    let mut peer = Peer::new(era, token(0), vec![address], 0);
                    let start = Instant::now();
                    let mut completed = 0;
                    // An even number, so that edits end where they began.
                    while start.elapsed() < until || completed % 2 == 1 {
                        let response = peer.call(one.tool, &(one.arguments)(completed)).await.unwrap();
                        assert_eq!(response.code(), None, "{}", String::from_utf8_lossy(&response.body));
                        completed += 1;
                    }
                    completed
                })
            })
            .collect();
        async {
            let mut completed = 0;
            for task in tasks {
                completed += task.await.unwrap();
            }
            completed
        }
    };
    calling(WHILE / 5).await;
    let (start, before) = (Instant::now(), processor_time(id));
    let completed = calling(WHILE).await;
    let way = if era == ProtocolEra::Sessions { "HTTP, with a session" } else { "HTTP, stateless" };
    row(one, way, width, completed, start.elapsed(), processor_time(id) - before);
}

/// A server over its standard input and output.
struct Piped {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Piped {
    fn start(place: &RunDir) -> Piped {
        let mut command = place.lockgate("pipes");
        command.args(["serve", "--tools", "all", "--root"]).arg(place.root(Some(0)));
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut piped = Piped { process, answers };
        piped.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#);
        piped.answer();
        piped.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        piped
    }

    fn send(&mut self, message: &str) {
        let line = format!("{message}\n");
        self.process.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    /// Calls for so long, with so many calls at a time; gives how many were answered.
    fn calls(&mut self, one: &Calls, width: usize, until: Duration) -> usize {
        let (mut sent, mut completed) = (0, 0);
        let start = Instant::now();
        loop {
            let on = start.elapsed() < until || sent % 2 == 1;
            while on && sent - completed < width {
                let arguments = (one.arguments)(sent);
                self.send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{arguments}}}}}"#,
                    sent + 1,
                    one.tool
                ));
                sent += 1;
            }
            if sent == completed {
                return completed;
            }
            let answer = self.answer();
            assert!(answer.contains("\"isError\":false"), "{answer}");
            completed += 1;
        }
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn pipes(place: &RunDir, one: &Calls, width: usize) {
    let mut piped = Piped::start(place);
    let id = piped.process.id();
    piped.calls(one, width, WHILE / 5);
    let (start, before) = (Instant::now(), processor_time(id));
    let completed = piped.calls(one, width, WHILE);
    row(one, "standard input and output", width, completed, start.elapsed(), processor_time(id) - before);
}

/// What a server keeps for connections and sessions without a request.
async fn idle(options: &Options, place: &RunDir) {
    let arguments = r#"{"path":"a.tsx","start_line":1,"end_line":2}"#;
    println!("\n| of {IDLE} that are idle | memory of each |\n|---|---|");
    for (name, kind) in [
        ("connections", None),
        ("connections after a call", Some(ProtocolEra::Stateless)),
        ("sessions, with their connections", Some(ProtocolEra::Sessions)),
    ] {
        let server = place.serve("idle");
        let id = server.process.id();
        warm(server.address, arguments).await;
        let before = memory(id);
        let (mut open, mut peers) = (Vec::new(), Vec::new());
        for number in 0..IDLE {
            match kind {
                None => open.push(Connection::open(server.address).await.unwrap()),
                Some(era) => {
                    let own = number % options.organizations;
                    let mut peer = Peer::new(era, token(own), vec![server.address], 0);
                    let response = peer.call("list_edits", r#"{"max_results":1}"#).await.unwrap();
                    assert_eq!(response.code(), None, "{}", String::from_utf8_lossy(&response.body));
                    peers.push(peer);
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        let each = memory(id).saturating_sub(before) as f64 / IDLE as f64;
        println!("| {name}, beside the {:.1} MiB of the server | {each:.1} KiB |", before as f64 / 1024.0);
    }
}

async fn warm(address: SocketAddr, arguments: &str) {
    let mut peer = Peer::new(ProtocolEra::Sessions, token(0), vec![address], 0);
    for _ in 0..200 {
        peer.call("read_content_lines", arguments).await.unwrap();
    }
}
