//! A second lockgate that shares no lock with the first: both publish, one system call after the other, in any order.

use super::dice::Dice;
use super::{BASE, Count, Ground, edit};
use crate::store::publish::Guards;
use std::sync::{Condvar, Mutex};

const TOKENS: [&str; 2] = ["first\n", "second\n"];

/// Which of the two may go on: at each step the dice say.
struct Baton {
    turn: Mutex<Turn>,
    changed: Condvar,
}

struct Turn {
    who: usize,
    alive: [bool; 2],
    dice: Dice,
}

impl Baton {
    fn new(mut dice: Dice) -> Baton {
        let who = dice.below(2);
        Baton { turn: Mutex::new(Turn { who, alive: [true; 2], dice }), changed: Condvar::new() }
    }

    fn wait(&self, me: usize) {
        let turn = self.turn.lock().unwrap();
        drop(self.changed.wait_while(turn, |turn| turn.who != me).unwrap());
    }

    fn step(&self, me: usize) {
        let mut turn = self.turn.lock().unwrap();
        let next = turn.dice.below(2);
        if turn.alive[next] && next != me {
            turn.who = next;
            self.changed.notify_all();
            drop(self.changed.wait_while(turn, |turn| turn.who != me).unwrap());
        }
    }

    fn end(&self, me: usize) {
        let mut turn = self.turn.lock().unwrap();
        turn.alive[me] = false;
        turn.who = 1 - me;
        self.changed.notify_all();
    }
}

/// One round of two; every text that was said to be written must be there.
pub fn round(ground: &Ground, guards: Guards<'_>, dice: Dice, count: &mut Count) {
    ground.reset();
    let baton = Baton::new(dice);
    // The look in between cannot go to another thread.
    let Guards { lease, exchange, compare, together, unnamed, timeout: patience, .. } = guards;
    let run = |me: usize| {
        baton.wait(me);
        let step = || baton.step(me);
        let guards = Guards {
            lease,
            exchange,
            compare,
            together,
            unnamed,
            timeout: patience,
            step: &step,
            ..Guards::ALL
        };
        let done = edit(ground, TOKENS[me], guards);
        baton.end(me);
        done
    };
    let [first, second] = std::thread::scope(|scope| {
        [0, 1].map(|me| scope.spawn(move || run(me))).map(|thread| thread.join().unwrap())
    });
    let text = ground.text().unwrap_or_default();
    for (token, done) in TOKENS.iter().zip([&first, &second]) {
        match done {
            Ok(_) => {
                count.written += 1;
                count.lost += usize::from(!text.contains(token));
            }
            Err(_) => count.lost_on_conflict += usize::from(text.contains(token)),
        }
    }
    let rest = TOKENS.iter().fold(text.replacen(BASE, "", 1), |rest, token| rest.replacen(token, "", 1));
    count.torn += usize::from(!rest.is_empty() || !text.starts_with(BASE));
    count.left += ground.left().len();
}
