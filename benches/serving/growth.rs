//! What one call costs over few and over many entities, asked by one client that waits for each answer.

use std::rc::Rc;
use std::time::Instant;

use super::entities::{Entity, Kind};
use super::load::Load;
use super::options::{Options, Storage};
use super::peer::{Peer, ProtocolEra};
use super::random::Random;
use super::report::{millis, quantile};
use super::seed;
use super::servers::{RunDir, token};

/// Calls of each sort.
const CALLS: usize = 300;
/// Searches that have to read every text are fewer.
const SLOW_CALLS: usize = 15;

/// A sort of call: what it is called in the table, how often it is made, and what it asks of an entity.
type CallKind = (&'static str, usize, fn(&Load, &Entity, usize) -> (&'static str, String));

const SORTS: [CallKind; 8] = [
    ("`read_content_lines`, 60 lines", CALLS, |load, entity, _| {
        ("read_content_lines", format!("{{{},\"start_line\":1,\"end_line\":60}}", load.entity_fields(entity)))
    }),
    ("`get_content`", CALLS, |load, entity, _| {
        ("get_content", format!("{{{}}}", load.entity_fields(entity)))
    }),
    ("`patch_content`", CALLS, |load, entity, turn| {
        load.instruction(entity.number, 0, turn, super::report::CallKind::Patch).unwrap()
    }),
    ("`replace_content`", CALLS, |load, entity, turn| {
        load.instruction(entity.number, 0, turn, super::report::CallKind::Replace).unwrap()
    }),
    ("`search_content`, one function by its name", CALLS, |load, entity, _| {
        search(load, entity, &format!("part_{:06}_00", entity.number))
    }),
    ("`search_content`, a word that is nowhere", CALLS, |load, entity, turn| {
        search(load, entity, &format!("no_such_word_{turn}"))
    }),
    ("`search_content`, no literal, on every page", SLOW_CALLS, |load, entity, _| {
        search(load, entity, r"[a-z]+_[a-z]+_\\d+ = ")
    }),
    ("`search_content`, no literal, nowhere", SLOW_CALLS, |load, entity, _| {
        search(load, entity, r"[x-z]{2}\\d[x-z]{2}")
    }),
];

/// Searches all files of the type that the entity has, which are all that one organisation has of them.
fn search(load: &Load, entity: &Entity, pattern: &str) -> (&'static str, String) {
    let among = match load.options.storage {
        Storage::Files => String::new(),
        Storage::Postgres => format!(",\"entity_type\":\"{}\"", entity.kind.name()),
    };
    ("search_content", format!("{{\"pattern\":\"{pattern}\"{among},\"max_results\":20}}"))
}

/// Measures over each number of entities, in a store of its own.
pub async fn measure(options: &Options) {
    let mut columns = Vec::new();
    for &entities in &options.growth {
        // One organisation has them all: what it searches grows as they do.
        let options = Options { entities, organizations: 1, ..options.clone() };
        let place = RunDir::new(&options);
        columns.push(column(&options, &place).await);
    }
    let heads = options.growth.iter().map(|number| format!(" {number} entities, p50 ms | p99 |"));
    println!("\n| |{}\n|---|{}", heads.collect::<String>(), "---|---|".repeat(options.growth.len()));
    for (at, (name, ..)) in SORTS.iter().enumerate() {
        let cells = columns.iter().map(|column| format!(" {:.2} | {:.2} |", column[at].0, column[at].1));
        println!("| {name} |{}", cells.collect::<String>());
    }
}

async fn column(options: &Options, place: &RunDir) -> Vec<(f64, f64)> {
    let server = place.serve("growth");
    let load = Rc::new(Load::new(options, place.dir.join("roots")));
    let start = Instant::now();
    seed::seed(&load, place, &server).await;
    println!("{} entities made in {:.1} s", options.entities, start.elapsed().as_secs_f64());
    let mut peer = Peer::new(ProtocolEra::Stateless, token(0), vec![server.address], 0);
    let (mut dice, mut turn) = (Random(7), 0);
    let mut column = Vec::new();
    for (name, calls, arguments_of) in SORTS {
        let mut times = Vec::new();
        // The first ones are not counted.
        for number in 0..calls + calls / 10 {
            let entity = drawn(&load, &mut dice);
            let (tool, arguments) = arguments_of(&load, &entity, turn);
            let start = Instant::now();
            let response = load.call(&mut peer, 0, tool, &arguments).await.unwrap();
            if number >= calls / 10 {
                times.push(start.elapsed());
            }
            let body = String::from_utf8_lossy(&response.body);
            assert_eq!(response.code(), None, "{name} of {}: {body}", entity.path);
            if tool.starts_with("patch") || tool.starts_with("replace") {
                load.acknowledge(&response, entity.number, 0, turn);
            }
            turn += 1;
        }
        times.sort_unstable();
        column.push((millis(quantile(&times, 0.5)), millis(quantile(&times, 0.99))));
    }
    column
}

/// Searches are for workflows: three of ten entities, under one organisation.
fn drawn(load: &Load, dice: &mut Random) -> Entity {
    loop {
        let entity = &load.entities.borrow()[dice.below(load.options.entities)];
        if entity.kind == Kind::Workflow {
            return entity.clone();
        }
    }
}
