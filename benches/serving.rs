//! The load of many clients on two servers that share one store, of which one is killed on the way.
//!
//!     cargo bench --bench serving                          10,000 entities, 100,000 edits: eight minutes
//!     cargo bench --bench serving -- --seconds 30          less of it
//!     cargo bench --bench serving -- --store files         the same over files: what it costs without a database
//!     cargo bench --bench serving -- --help                what else can be said
//!
//! The clients' calls are due at times that are fixed beforehand; what is measured counts from then, not from when a call
//! could be sent. In the end the store itself is read: every acknowledged edit must be there once, and no answer may have
//! shown what is another organisation's. It needs PostgreSQL's programs, and starts them as nobody where it is root's.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark stops at the first error, and prints"
)]

#[path = "serving/control.rs"]
mod control;
#[path = "serving/entities.rs"]
mod entities;
#[path = "serving/front.rs"]
mod front;
#[path = "serving/growth.rs"]
mod growth;
#[path = "serving/load.rs"]
mod load;
#[path = "serving/options.rs"]
mod options;
#[path = "serving/peer.rs"]
mod peer;
#[path = "serving/postgres.rs"]
mod postgres;
#[path = "../tests/suite/random.rs"]
#[expect(dead_code, reason = "the tests draw in more ways than this does")]
mod random;
#[path = "serving/reads.rs"]
mod reads;
#[path = "serving/report.rs"]
mod report;
#[path = "serving/seed.rs"]
mod seed;
#[path = "serving/servers.rs"]
mod servers;
#[path = "serving/usage.rs"]
mod usage;
#[path = "serving/verify.rs"]
mod verify;
#[path = "serving/wire.rs"]
mod wire;

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use tokio::task::LocalSet;
use tokio::time::Instant;

use load::Load;
use options::Options;
use peer::{Peer, ProtocolEra};
use report::{millis, quantile};
use servers::{RunDir, Server, token};
use usage::{own_time, processor_time};

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let passed = LocalSet::new().block_on(&runtime, async {
        if options.front {
            front::measure(&options, &RunDir::new(&options)).await;
            true
        } else if !options.growth.is_empty() {
            growth::measure(&options).await;
            true
        } else {
            offer(&options, &RunDir::new(&options)).await
        }
    });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Offers the load, and says whether all that is promised was kept.
async fn offer(options: &Options, place: &RunDir) -> bool {
    let mut servers = [place.serve("one"), place.serve("two")];
    let load = Rc::new(Load::new(options, place.dir.join("roots")));
    let start = Instant::now();
    seed::seed(&load, place, &servers[0]).await;
    println!("{} entities made in {:.1} s", options.entities, start.elapsed().as_secs_f64());
    load.seen.records.borrow_mut().clear();

    let before = times(&servers, place);
    let start = Instant::now();
    load.begun.set(Some(start));
    let clients: Vec<_> = (0..options.clients)
        .map(|number| {
            let own = number % options.organizations;
            // Every fourth client is one of the older form, on both servers and in all organisations.
            let era = if (number / 2 + number / 8).is_multiple_of(4) {
                ProtocolEra::Sessions
            } else {
                ProtocolEra::Stateless
            };
            let addresses = servers.iter().map(|server| server.address).collect();
            let peer = Peer::new(era, token(own), addresses, (number + number / 8) % 2);
            tokio::task::spawn_local(Rc::clone(&load).client(number, own, peer))
        })
        .collect();
    let mut killed = None;
    if let Some(part) = options.kill_at {
        let at = (options.edits as f64 * part) as usize;
        while load.edits.get() < at {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        killed = Some(start.elapsed());
        servers[0].kill();
    }
    for client in clients {
        client.await.unwrap();
    }
    let took = start.elapsed();
    let passed = print_results(&load, &servers, place, (before, took), killed);
    passed && (!options.control || is_damage_found(&load, place))
}

/// True if the check finds all planted damage.
fn is_damage_found(load: &Load, place: &RunDir) -> bool {
    let unseen = control::unseen(load, place);
    unseen.iter().for_each(|what| println!("the control was not seen: {what}"));
    if unseen.is_empty() {
        println!("the control is seen: all damage was found");
    }
    unseen.is_empty()
}

/// Processor time of this program, the servers and the database.
fn times(servers: &[Server], place: &RunDir) -> [Duration; 3] {
    let all = servers.iter().map(Server::spent).sum();
    let database = place.database.as_ref().map_or(Duration::ZERO, |database| processor_time(database.id()));
    [own_time(), all, database]
}

fn print_results(
    load: &Load,
    servers: &[Server],
    place: &RunDir,
    (before, took): ([Duration; 3], Duration),
    killed: Option<Duration>,
) -> bool {
    let after = times(servers, place);
    let records = load.seen.records.borrow();
    let seconds = took.as_secs_f64();
    println!("{} calls in {seconds:.1} s: {:.0} a second\n", records.len(), records.len() as f64 / seconds);
    let beyond = report::show(&records, killed);
    println!();
    report::course(&records);
    let spent = [0, 1, 2].map(|at| after[at].saturating_sub(before[at]).as_secs_f64());
    println!(
        "\nof one core: the clients {:.0} %, the servers {:.0} %, the database {:.0} %; of a call: {:.2}, {:.2} and {:.2} ms",
        spent[0] / seconds * 100.0,
        spent[1] / seconds * 100.0,
        spent[2] / seconds * 100.0,
        spent[0] * 1e3 / records.len() as f64,
        spent[1] * 1e3 / records.len() as f64,
        spent[2] * 1e3 / records.len() as f64,
    );
    print_server_usage(load, servers);
    let verified = verify::verify(load, place);
    let acknowledged = load.seen.acknowledged.borrow().len();
    println!(
        "{acknowledged} edits acknowledged, {verified} there, {} refused",
        load.seen.refused.borrow().len()
    );
    let broken = load.seen.broken.borrow();
    for what in broken.iter().take(20) {
        println!("BROKEN: {what}");
    }
    for what in &beyond {
        println!("beyond its goal: {what}");
    }
    let passed = broken.is_empty() && acknowledged > 0;
    println!(
        "{}",
        if passed { "nothing was lost, and nothing foreign was seen" } else { "promises were broken" }
    );
    passed && (beyond.is_empty() || !load.options.strict)
}

/// Prints conflicts, rebased edits and the use of the servers.
fn print_server_usage(load: &Load, servers: &[Server]) {
    let counts = &load.seen;
    let mut late = counts.late.borrow_mut();
    late.sort_unstable();
    let [p50, p99] = [0.5, 0.99].map(|part| millis(quantile(&late, part)));
    println!("the clients themselves were late by p50 {p50:.1} ms, p99 {p99:.1} ms");
    println!(
        "{} conflicts answered, {} edits rebased, {} calls sent again, of which {} edits had been made",
        counts.conflicts.get(),
        counts.rebased.get(),
        counts.resent.get(),
        counts.already_applied.get()
    );
    for server in servers {
        let log = server.log_text();
        if !log.is_empty() {
            println!("a server said: {log}");
        }
    }
}
