//! A wire to PostgreSQL that can be cut at any message, torn in the middle of one, or held.
//!
//! Invariant: it counts messages, not time: the same program is cut at the same place again.

mod messages;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use messages::{answers, message, name};

/// The point in the exchange of one client message at which the connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// The message never comes through.
    Before,
    /// Half of the message comes through.
    Within,
    /// The message comes through and is obeyed; nothing of the answer does.
    AnswerLost,
    /// The message comes through and is obeyed; half of the answer does.
    AnswerCut,
    /// The message comes through and is obeyed; the answer is that the disk is full.
    AnswerFull,
    /// The client is cut off at once; the message comes through when the client has connected again and asks something.
    Late,
    /// The message is missing; all others come through.
    Missing,
}

impl FaultPoint {
    pub const ALL: [FaultPoint; 4] =
        [FaultPoint::Before, FaultPoint::Within, FaultPoint::AnswerLost, FaultPoint::AnswerCut];
}

/// How much later a late message comes than the question behind it.
const LATE: Duration = Duration::from_millis(200);

/// What comes after the wire broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Whoever connects again is let through.
    Mended,
    /// New connections are rejected until [`Proxy::clear_fault`].
    Broken,
}

/// At which message the wire breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the one of that number from now, the first being 0. What a server only takes note of until it is told to go on
    /// is not counted.
    Number(usize),
    /// At the first that begins a writing transaction.
    Begin,
    /// At the first that ends a transaction for good.
    Commit,
}

/// A proxy before the socket of a cluster.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    socket: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
    closing: AtomicBool,
}

#[derive(Default)]
struct State {
    broken: bool,
    held: bool,
    /// Messages of clients since the wire was last armed, and what they were.
    seen: Vec<String>,
    armed: Option<(When, FaultPoint, Then)>,
    /// What the message was at which the wire broke.
    broke_at: Option<String>,
    wires: Vec<(TcpStream, UnixStream)>,
    /// A message that is on its way still.
    late: Option<(UnixStream, Vec<u8>)>,
}

impl Proxy {
    pub fn before(socket: &Path) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            socket: socket.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
            closing: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.closing.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.serve(client));
            }
        });
        Proxy { address, shared }
    }

    /// Breaks the wire at a message.
    pub fn arm(&self, message: When, at: FaultPoint, then: Then) {
        let mut state = self.shared.state.lock().unwrap();
        state.seen.clear();
        state.broke_at = None;
        state.armed = Some((message, at, then));
    }

    /// Lets everything through; gives the messages since the wire was armed, and the one at which it broke.
    pub fn clear_fault(&self) -> (Vec<String>, Option<String>) {
        let mut state = self.shared.state.lock().unwrap();
        (state.broken, state.held, state.armed) = (false, false, None);
        self.shared.changed.notify_all();
        (std::mem::take(&mut state.seen), state.broke_at.take())
    }

    /// Cuts every connection, and rejects new ones.
    pub fn cut(&self) {
        let mut state = self.shared.state.lock().unwrap();
        state.broken = true;
        state.cut_all();
    }

    /// Cuts every connection; new ones pass.
    pub fn blink(&self) {
        self.shared.state.lock().unwrap().cut_all();
    }

    /// Holds back every further message of clients until [`Proxy::clear_fault`].
    pub fn hold(&self) {
        self.shared.state.lock().unwrap().held = true;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        self.clear_fault();
        self.blink();
        TcpStream::connect(self.address).ok();
    }
}

impl State {
    fn cut_all(&mut self) {
        for (client, server) in self.wires.drain(..) {
            client.shutdown(Shutdown::Both).ok();
            server.shutdown(Shutdown::Both).ok();
        }
    }
}

/// What is to be done with a message of a client.
enum Pass {
    Through,
    Break(FaultPoint),
}

impl Shared {
    fn serve(self: &Arc<Self>, client: TcpStream) {
        client.set_nodelay(true).ok();
        let server = {
            let mut state = self.state.lock().unwrap();
            let Ok(server) = UnixStream::connect(&self.socket) else { return };
            if state.broken {
                return;
            }
            state.wires.push((client.try_clone().unwrap(), server.try_clone().unwrap()));
            server
        };
        let swallow: Arc<Mutex<Option<FaultPoint>>> = Arc::default();
        let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let swallowing = Arc::clone(&swallow);
        let answers = std::thread::spawn(move || answers(&mut from, &mut to, &swallowing));
        match self.messages(&mut client.try_clone().unwrap(), &mut server.try_clone().unwrap(), &swallow) {
            Some(late) => {
                self.state.lock().unwrap().late = Some((server, late));
                client.shutdown(Shutdown::Both).ok();
            }
            None => {
                // The server obeys what it has been sent, and ends then.
                server.shutdown(Shutdown::Write).ok();
                answers.join().ok();
                client.shutdown(Shutdown::Both).ok();
            }
        }
    }

    /// Passes the messages of a client on until one at which the wire breaks; gives one that comes later.
    fn messages(
        &self,
        client: &mut TcpStream,
        server: &mut UnixStream,
        swallow: &Mutex<Option<FaultPoint>>,
    ) -> Option<Vec<u8>> {
        let mut typed = false;
        while let Some(message) = message(client, &mut typed) {
            let passed = match self.pass(&message) {
                Pass::Through => server.write_all(&message),
                Pass::Break(FaultPoint::Before) => return None,
                Pass::Break(FaultPoint::Missing) => continue,
                Pass::Break(FaultPoint::Late) => return Some(message),
                Pass::Break(FaultPoint::Within) => {
                    server.write_all(&message[..message.len() / 2]).ok();
                    return None;
                }
                Pass::Break(
                    at @ (FaultPoint::AnswerLost | FaultPoint::AnswerCut | FaultPoint::AnswerFull),
                ) => {
                    *swallow.lock().unwrap() = Some(at);
                    server.write_all(&message).ok();
                    return None;
                }
            };
            self.deliver_late();
            if passed.is_err() {
                return None;
            }
        }
        None
    }

    fn deliver_late(&self) {
        let Some((mut server, message)) = self.state.lock().unwrap().late.take() else { return };
        std::thread::spawn(move || {
            std::thread::sleep(LATE);
            server.write_all(&message).ok();
            server.shutdown(Shutdown::Write).ok();
            // It is read to its end, so that nothing keeps the server from obeying.
            server.read_to_end(&mut Vec::new()).ok();
        });
    }

    fn pass(&self, message: &[u8]) -> Pass {
        let mut state = self.state.lock().unwrap();
        while state.held {
            state = self.changed.wait(state).unwrap();
        }
        let name = name(message);
        if ["Parse", "Bind", "Describe", "Close"].iter().any(|noted| name.starts_with(noted)) {
            return Pass::Through;
        }
        let number = state.seen.len();
        state.seen.push(name.clone());
        let breaks = |when: When| match when {
            When::Number(at) => at == number,
            When::Begin => name == "Query BEGIN READ WRITE",
            When::Commit => name == "Query COMMIT",
        };
        match state.armed {
            Some((when, how, then)) if breaks(when) => {
                state.armed = None;
                state.broke_at = Some(name);
                state.broken = then == Then::Broken;
                Pass::Break(how)
            }
            Some(_) | None => Pass::Through,
        }
    }
}
