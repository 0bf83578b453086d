//! Limits the number of large texts that are parsed at the same time.
//!
//! The size of a text bounds the memory of its parse ([`super::allowed`]), and the number of slots
//! bounds the total. A small text needs no slot. A thread with a slot can parse further texts with it,
//! so that it never waits for itself.

use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::marker::PhantomData;
use std::time::Duration;

use super::memory;

/// The size in bytes up to which a text counts as small.
pub const SMALL: usize = 256 << 10;
/// The number of large texts that are parsed at the same time.
pub const SLOTS: usize = 2;
/// The interval at which a waiting thread checks if it should give up.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

static FREE: Mutex<usize> = Mutex::new(SLOTS);
static FREED: Condvar = Condvar::new();

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Permission to parse a text of any size; it belongs to its thread.
#[derive(Debug)]
#[must_use = "the slot is free again when this is dropped"]
pub struct ParseSlot {
    large: bool,
    thread: PhantomData<*const ()>,
}

impl ParseSlot {
    /// Waits for permission to parse a text of this length; returns `None` once `give_up` returns true.
    pub fn wait(length: usize, mut give_up: impl FnMut() -> bool) -> Option<ParseSlot> {
        let large = length > SMALL;
        let slot = ParseSlot { large, thread: PhantomData };
        if !large || HELD.get() > 0 {
            HELD.set(HELD.get() + usize::from(large));
            return Some(slot);
        }
        let mut free = FREE.lock();
        while *free == 0 {
            FREED.wait_for(&mut free, POLL_INTERVAL);
            if *free == 0 && give_up() {
                std::mem::forget(slot);
                return None;
            }
        }
        *free -= 1;
        HELD.set(1);
        Some(slot)
    }
}

impl Drop for ParseSlot {
    fn drop(&mut self) {
        if !self.large {
            return;
        }
        HELD.set(HELD.get() - 1);
        if HELD.get() == 0 {
            memory::release();
            *FREE.lock() += 1;
            FREED.notify_one();
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "slots are about threads")]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn as_many_large_texts_as_there_are_slots_are_read_at_once() {
        let slots: Vec<_> = (0..SLOTS)
            .map(|_| {
                let ((go, wait), (ready, is_ready)) = (channel::<()>(), channel());
                let thread = std::thread::spawn(move || {
                    let slot = ParseSlot::wait(SMALL + 1, || false);
                    let second = ParseSlot::wait(SMALL + 1, || true);
                    ready.send(slot.is_some() && second.is_some()).unwrap();
                    wait.recv().ok();
                });
                assert!(is_ready.recv().unwrap(), "a thread with a slot waits for none");
                (go, thread)
            })
            .collect();
        assert!(ParseSlot::wait(SMALL + 1, || true).is_none(), "all slots are taken");
        assert!(ParseSlot::wait(SMALL, || true).is_some(), "a small text needs none");
        for (go, thread) in slots {
            drop(go);
            thread.join().unwrap();
        }
        assert!(ParseSlot::wait(SMALL + 1, || true).is_some(), "they are free again");
    }
}
