//! A second lockgate that shares no lock with the first: both publish, one system call after the other, in any order.

use super::dice::Dice;
use super::{BASE, Count, Fixture, edit};
use crate::publish::Guards;
use parking_lot::{Condvar, Mutex};

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
        let first = dice.below(2);
        Baton { turn: Mutex::new(Turn { who: first, alive: [true; 2], dice }), changed: Condvar::new() }
    }

    fn wait(&self, index: usize) {
        let mut state = self.turn.lock();
        self.changed.wait_while(&mut state, |state| state.who != index);
    }

    fn step(&self, index: usize) {
        let mut state = self.turn.lock();
        let next = state.dice.below(2);
        if state.alive[next] && next != index {
            state.who = next;
            self.changed.notify_all();
            self.changed.wait_while(&mut state, |state| state.who != index);
        }
    }

    fn end(&self, index: usize) {
        let mut state = self.turn.lock();
        state.alive[index] = false;
        state.who = 1 - index;
        self.changed.notify_all();
    }
}

/// One round of two; every text that was said to be written must be there.
pub fn round(fixture: &Fixture, guards: Guards<'_>, dice: Dice, count: &mut Count) {
    fixture.reset();
    let baton = Baton::new(dice);
    // The look in between cannot go to another thread.
    let Guards { lease, exchange, compare, together, unnamed, timeout, .. } = guards;
    let run = |index: usize| {
        baton.wait(index);
        let step = || baton.step(index);
        let guards =
            Guards { lease, exchange, compare, together, unnamed, timeout, step: &step, ..Guards::ALL };
        let result = edit(fixture, TOKENS[index], guards);
        baton.end(index);
        result
    };
    let [first, second] = std::thread::scope(|scope| {
        [0, 1].map(|index| scope.spawn(move || run(index))).map(|thread| thread.join().unwrap())
    });
    let text = fixture.text().unwrap_or_default();
    for (token, result) in TOKENS.iter().zip([&first, &second]) {
        match result {
            Ok(_) => {
                count.written += 1;
                count.lost += usize::from(!text.contains(token));
            }
            Err(_) => count.lost_on_conflict += usize::from(text.contains(token)),
        }
    }
    let rest = TOKENS.iter().fold(text.replacen(BASE, "", 1), |rest, token| rest.replacen(token, "", 1));
    count.torn += usize::from(!rest.is_empty() || !text.starts_with(BASE));
    count.left += fixture.left().len();
}
