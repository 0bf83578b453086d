//! A server that runs for the root judges in place of the hook.
//!
//! The server here trusts the policy in its own process only (`--trust`), so that the policy's program runs exactly if the
//! server judged.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::store::not_run;
use super::super::trust::fixture::{Fixture, policy};
use super::super::wire::{Outcome, Server, outcome};
use super::{claude, denial, edit};

/// A project whose gate is a program that finds `x = 2` bad.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(
        "bin/it",
        "#!/bin/sh\nprintf '%s\\n' \"$0\" >> '{FIXTURE}/outside/ran'\nif grep -q 'x = 2'; then exit 1; fi\n",
    );
    fixture.executable("bin/it");
    fixture.write("root/quality.yaml", &policy("[it]"));
    fixture
}

fn serve(fixture: &Fixture) -> Server {
    let server = fixture.server(&["--trust"]);
    let started = Instant::now();
    while sockets(fixture).is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "the server makes no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
    server
}

fn folder(fixture: &Fixture) -> PathBuf {
    fixture.at("user/state/lockgate/servers")
}

fn sockets(fixture: &Fixture) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(fixture)).into_iter().flatten().flatten();
    let sockets = entries.filter(|entry| entry.file_type().unwrap().is_socket());
    sockets.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "sock")).collect()
}

fn payload(fixture: &Fixture, id: &str, new: &str) -> Value {
    let root = fixture.root();
    claude(&root, "PreToolUse", id, "Edit", edit(&root, "app.py", "x = 1", new))
}

fn start_hook(fixture: &Fixture, payload: &Value) -> Child {
    let mut command = fixture.command();
    command.arg("hook").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child
}

fn hook(fixture: &Fixture, payload: &Value) -> Outcome {
    outcome(&start_hook(fixture, payload).wait_with_output().unwrap())
}

/// True if the server judged the bad edit: its program, which only the server trusts, is the reason of the denial.
#[track_caller]
fn is_warm(fixture: &Fixture, id: &str) -> bool {
    let outcome = hook(fixture, &payload(fixture, id, "x = 2"));
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    assert_eq!(fs::read_to_string(fixture.at("root/app.py")).unwrap(), "x = 1\n");
    denial(&answer).contains("bad")
}

#[test]
fn a_running_server_judges_and_records_and_without_it_the_hook_does() {
    let fixture = fixture();
    assert!(!is_warm(&fixture, "1"), "there is no server");
    let server = serve(&fixture);
    assert!(is_warm(&fixture, "2"));
    assert!(is_warm(&fixture, "2"), "a denied call is denied again");
    // A good edit passes without a word, and is recorded.
    let outcome = hook(&fixture, &payload(&fixture, "3", "x = 3"));
    assert_eq!((outcome.exit, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
    fixture.write("root/app.py", "x = 3\n");
    let root = fixture.root();
    let after = claude(&root, "PostToolUse", "3", "Edit", edit(&root, "app.py", "x = 1", "x = 3"));
    let outcome = hook(&fixture, &after);
    assert_eq!((outcome.exit, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
    let undone = fixture.call(&["undo"]);
    assert_eq!(undone.exit, 0, "{undone:?}");
    assert_eq!(fs::read_to_string(fixture.at("root/app.py")).unwrap(), "x = 1\n");
    drop(server);
    let started = Instant::now();
    while !sockets(&fixture).is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "the socket stays");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_warm(&fixture, "4"), "the server has ended");
}

#[test]
fn a_server_of_another_root_is_not_asked() {
    let fixture = fixture();
    fs::create_dir(fixture.at("other")).unwrap();
    let other = fixture.at("other");
    let _server = Server::start_by(fixture.command(), &other, &["--trust"]);
    let started = Instant::now();
    while sockets(&fixture).is_empty() && started.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Under the name of this root, its server still does not judge.
    let [socket] = <[PathBuf; 1]>::try_from(sockets(&fixture)).unwrap();
    assert!(!is_warm(&fixture, "1"));
    let own = serve_name(&fixture);
    fs::rename(socket, own).unwrap();
    assert!(!is_warm(&fixture, "2"));
}

/// The name of a socket of the fixture's root.
fn serve_name(fixture: &Fixture) -> PathBuf {
    let before = sockets(fixture);
    let server = fixture.server(&[]);
    let started = Instant::now();
    loop {
        let new = sockets(fixture).into_iter().find(|path| !before.contains(path));
        if let Some(new) = new {
            drop(server);
            while new.exists() {
                assert!(started.elapsed() < Duration::from_secs(30), "the socket stays");
                std::thread::sleep(Duration::from_millis(5));
            }
            return new;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the server makes no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_socket_that_others_could_have_made_is_not_used() {
    let fixture = fixture();
    let _server = serve(&fixture);
    let [socket] = <[PathBuf; 1]>::try_from(sockets(&fixture)).unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    set(&socket, 0o666);
    assert!(!is_warm(&fixture, "1"), "others may connect");
    set(&socket, 0o600);
    assert!(is_warm(&fixture, "2"), "the control");
    set(&folder(&fixture), 0o770);
    assert!(!is_warm(&fixture, "3"), "others may put a socket there");
    set(&folder(&fixture), 0o700);
    assert!(is_warm(&fixture, "4"), "the control");
}

/// A program that a gate runs in a sandbox must not reach the server.
#[test]
fn a_client_in_a_sandbox_gets_no_answer() {
    let fixture = fixture();
    let _server = serve(&fixture);
    let [socket] = <[PathBuf; 1]>::try_from(sockets(&fixture)).unwrap();
    let event = payload(&fixture, "1", "x = 3").to_string();
    let asked = fixture.at("outside/asked");
    fs::write(&asked, question(&fixture, event.len()) + &event).unwrap();
    let said = |confined: &[&str]| {
        let words = [confined, &["python3", "-c", CLIENT]].concat();
        let mut command = Command::new(words[0]);
        let output = command.args(&words[1..]).args([&socket, &asked]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    if Command::new("setpriv").arg("--version").output().is_err() {
        return not_run("hooks::warm: setpriv is not here");
    }
    assert_eq!(said(&["setpriv", "--no-new-privs"]).trim(), "connected b''");
    assert!(said(&["setpriv"]).contains("accepted"), "the control");
}

/// A client that sends a file to a socket, and prints what comes back.
const CLIENT: &str = "import socket,sys\ns=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\ntry:\n s.sendall(open(sys.argv[2],'rb').read())\n\
    except OSError: pass\ns.settimeout(20)\nb=b''\ntry:\n while True:\n  c=s.recv(9999)\n  if not c: break\n  b+=c\n\
    except ConnectionError: pass\nprint('connected',b)\n";

/// Runs Python as another user; `None` if that is not possible here.
fn as_nobody(script: &str, arguments: &[&Path]) -> Option<Child> {
    if !rustix::process::geteuid().is_root() {
        not_run("hooks::warm: another user needs root");
        return None;
    }
    let mut command = Command::new("python3");
    command.arg("-c").arg(script).args(arguments).uid(65534).gid(65534);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command.spawn().unwrap())
}

/// The owner and the mode of the socket are right, but another user listens on it.
#[test]
fn a_server_of_another_user_is_not_believed() {
    let fixture = fixture();
    let own = serve_name(&fixture);
    let open = tempfile::tempdir().unwrap();
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let socket = open.path().join("s");
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX);s.bind(sys.argv[1]);s.listen()\nprint('ready',flush=True)\n\
                  while True:\n c,_=s.accept()\n try: c.sendall(b'\"accepted\"\\n{\"reply\":{\"output\":{\"forged\":1},\"error\":null,\"exit\":0}}\\n')\n except OSError: pass\n";
    let Some(mut nobody) = as_nobody(script, &[&socket]) else { return };
    let mut ready = [0; 6];
    nobody.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    std::os::unix::fs::chown(&socket, Some(0), Some(0)).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::rename(&socket, &own).or_else(|_| std::os::unix::fs::symlink(&socket, &own)).unwrap();
    let outcome = hook(&fixture, &payload(&fixture, "1", "x = 2"));
    assert!(outcome.exit == 0 && !outcome.stdout.contains("forged"), "{outcome:?}");
    nobody.kill().unwrap();
    nobody.wait().unwrap();
    // The control: the same answer of the same user is passed on.
    fs::remove_file(&own).unwrap();
    let listener = UnixListener::bind(&own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let answer = "\"accepted\"\n{\"reply\":{\"output\":{\"forged\":1},\"error\":null,\"exit\":0}}\n";
        stream.write_all(answer.as_bytes()).unwrap();
        // The hook sends the event before it reads.
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        drop(stream.read_to_end(&mut Vec::new()));
    });
    let outcome = hook(&fixture, &payload(&fixture, "2", "x = 2"));
    assert!(outcome.stdout.contains("forged"), "{outcome:?}");
    answering.join().unwrap();
}

/// The mode is spoiled, so that another user can connect: the server says nothing to it.
#[test]
fn a_client_of_another_user_gets_no_answer() {
    let fixture = fixture();
    let _server = serve(&fixture);
    let [socket] = <[PathBuf; 1]>::try_from(sockets(&fixture)).unwrap();
    // A second name where the other user reaches it.
    let open = tempfile::tempdir().unwrap();
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let name = open.path().join("s");
    if fs::hard_link(&socket, &name).is_err() {
        return not_run("hooks::warm: sockets cannot be linked to here");
    }
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    let event = payload(&fixture, "1", "x = 3").to_string();
    let line = question(&fixture, event.len()) + &event;
    let asked = open.path().join("asked");
    fs::write(&asked, &line).unwrap();
    fs::set_permissions(&asked, fs::Permissions::from_mode(0o644)).unwrap();
    let Some(nobody) = as_nobody(CLIENT, &[&name, &asked]) else { return };
    let said = String::from_utf8(nobody.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said.trim(), "connected b''");
    // The control: the same bytes of the same user are answered.
    let said = say(&name, line.as_bytes());
    assert!(said.starts_with("\"accepted\"") && said.contains("reply"), "{said}");
}

fn question(fixture: &Fixture, length: usize) -> String {
    let root = fixture.root();
    let question = json!({"root": root, "folder": root, "host": null, "tools": "Server", "claims": [true],
        "elapsed": {"secs": 0, "nanos": 0}});
    let question =
        json!({"protocol": 2, "version": env!("CARGO_PKG_VERSION"), "length": length, "question": question});
    format!("{question}\n")
}

/// Sends bytes to a socket, and returns what came until its end or for twenty seconds.
fn say(socket: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    drop(stream.write_all(bytes));
    let mut said = Vec::new();
    drop(stream.read_to_end(&mut said));
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_dead_or_silent_socket_leaves_the_hook_alone() {
    let fixture = fixture();
    fixture.trust(".");
    let own = serve_name(&fixture);
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    let private = || fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    // Nobody listens on it: the file of a killed server.
    drop(UnixListener::bind(&own).unwrap());
    private();
    let outcome = hook(&fixture, &payload(&fixture, "1", "x = 2"));
    assert!(outcome.stdout.contains("bad"), "{outcome:?}");
    fs::remove_file(&own).unwrap();
    // It accepts no connection, or says nothing, or ends after it took the event, or talks nonsense.
    let listener = UnixListener::bind(&own).unwrap();
    private();
    let started = Instant::now();
    let outcome = hook(&fixture, &payload(&fixture, "2", "x = 2"));
    assert!(outcome.stdout.contains("bad"), "{outcome:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    drop(listener.accept().unwrap());
    for (id, said) in [
        ("3", "\"accepted\"\n"),
        ("4", "\"accepted\"\n{\"settings\":7}\n"),
        ("5", "nonsense\n"),
        ("6", "\"accepted\"\n{\"reply\":{\"output\":{},\"error\":null,\"exit\":999}}\n"),
        ("7", "\u{0}"),
    ] {
        let listener = listener.try_clone().unwrap();
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            drop(stream.read(&mut [0; 10_000]));
            drop(stream.write_all(said.as_bytes()));
        });
        let outcome = hook(&fixture, &payload(&fixture, id, "x = 2"));
        assert!(outcome.stdout.contains("bad"), "{id}: {outcome:?}");
        answering.join().unwrap();
    }
}

/// The deadline holds while a server works, and its end is that of the policy that the server read.
#[test]
fn a_server_that_takes_too_long_is_not_waited_for() {
    let fixture = fixture();
    fixture
        .write("root/quality.yaml", &format!("{}hooks: {{ deadline: 1s, fail: closed }}\n", policy("[it]")));
    let own = serve_name(&fixture);
    let listener = UnixListener::bind(&own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let said = "\"accepted\"\n{\"settings\":{\"deadline\":{\"secs\":1,\"nanos\":0},\"fail_closed\":true,\"cline_cancel\":false}}\n";
        stream.write_all(said.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_secs(30));
    });
    let started = Instant::now();
    let outcome = hook(&fixture, &payload(&fixture, "1", "x = 3"));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(outcome.stdout.contains("fail: closed"), "{outcome:?}");
    drop(answering);
}

/// Bytes that no hook sends: nothing is run or written, nothing ends, and hooks are answered as before.
#[test]
fn a_hostile_payload_to_the_socket_is_harmless() {
    let fixture = fixture();
    let mut server = serve(&fixture);
    let [socket] = <[PathBuf; 1]>::try_from(sockets(&fixture)).unwrap();
    let root = fixture.root();
    let outside = fixture.at("outside/victim.py");
    fs::write(&outside, "x = 1\n").unwrap();
    let event = |path: &Path| {
        claude(&root, "PreToolUse", "h", "Write", json!({"file_path": path, "content": "x = 4\n"}))
            .to_string()
    };
    let good = event(&root.join("app.py"));
    let deep = "[".repeat(200_000);
    let head = question(&fixture, good.len());
    let other = |from: &str, to: &str| head.replace(from, to);
    let mut hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n".to_vec(),
        b"\0\xff\xfe".to_vec(),
        vec![b'x'; 3 << 20],
        question(&fixture, deep.len()).into_bytes().into_iter().chain(deep.bytes()).collect(),
        [question(&fixture, 64 << 20).as_bytes(), b"short"].concat(),
        [question(&fixture, 0).as_bytes(), good.as_bytes()].concat(),
        (other("\"claims\":[true]", "\"claims\":[]") + &good).into_bytes(),
        (other("\"claims\":[true]", &format!("\"claims\":[{}true]", "true,".repeat(100_000))) + &good)
            .into_bytes(),
        (other("\"secs\":0", "\"secs\":18446744073709551615") + &good).into_bytes(),
        (other("\"folder\":\"/", "\"folder\":\"/../../../../") + &good).into_bytes(),
        (other(root.to_str().unwrap(), "/") + &good).into_bytes(),
        (other(root.to_str().unwrap(), fixture.at("outside").to_str().unwrap()) + &good).into_bytes(),
    ];
    for path in ["/etc/passwd", "../outside/victim.py", "app\u{0}.py", ".git/config", "quality.yaml"] {
        let event = event(Path::new(path));
        hostile.push((question(&fixture, event.len()) + &event).into_bytes());
    }
    for bytes in &hostile {
        let said = say(&socket, bytes);
        assert!(said.len() < 20_000, "{}", said.len());
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "x = 1\n");
    assert_eq!(fs::read_to_string(fixture.at("root/app.py")).unwrap(), "x = 1\n");
    // Connections that stay open and silent hold up nobody: the next hook judges alone, and later ones are answered.
    let open: Vec<UnixStream> = (0..50).filter_map(|_| UnixStream::connect(&socket).ok()).collect();
    let outcome = hook(&fixture, &payload(&fixture, "1", "x = 3"));
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    drop(open);
    let started = Instant::now();
    let mut number = 10;
    while !is_warm(&fixture, &number.to_string()) {
        assert!(started.elapsed() < Duration::from_secs(30), "the server does not answer hooks any more");
        number += 1;
    }
    // Its client is served as ever.
    let read = server.call("get_content", &json!({"path": "app.py"}));
    assert!(!read.is_error, "{read:?}");
}

/// A hook that ends while the server works for it stops that work.
#[test]
fn a_hook_that_is_gone_is_not_worked_for() {
    let fixture = fixture();
    fixture.write(
        "bin/it",
        "#!/bin/sh\necho started >> '{FIXTURE}/outside/ran'\nsleep 300\necho ended >> '{FIXTURE}/outside/ran'\n",
    );
    fixture.executable("bin/it");
    let _server = serve(&fixture);
    let started = Instant::now();
    let mut ids = 1..;
    let mut start = || start_hook(&fixture, &payload(&fixture, &ids.next().unwrap().to_string(), "x = 3"));
    let mut child = start();
    while fixture.ran().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "the program does not start");
        std::thread::sleep(Duration::from_millis(10));
        // On a busy machine the server may not answer in time, and the hook works alone.
        if child.try_wait().unwrap().is_some() {
            child = start();
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let program = fixture.at("bin/it");
    while is_running(&program) {
        assert!(started.elapsed() < Duration::from_secs(30), "the program still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// True if a process was started with this path.
fn is_running(program: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.any(|command| String::from_utf8_lossy(&command).contains(program.to_str().unwrap()))
}
