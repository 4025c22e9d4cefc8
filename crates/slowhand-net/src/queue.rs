//! The event queue: it gives the next event, and a fixed order to events at one instant.

use crate::clock::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in the order of time. Events at one instant come out in the order in which they were pushed.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    pushed: u64,
}

#[derive(Debug)]
struct Entry<E> {
    /// Time in the high half, order of pushing in the low half. One comparison is faster than two.
    key: u128,
    event: E,
}

impl<E> Entry<E> {
    fn at(&self) -> Instant {
        Instant::from_micros((self.key >> 64) as u64)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }
}

impl<E> EventQueue<E> {
    /// Adds an event.
    pub fn push(&mut self, at: Instant, event: E) {
        let key = u128::from(at.as_micros()) << 64 | u128::from(self.pushed);
        self.heap.push(Reverse(Entry { key, event }));
        self.pushed += 1;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(entry)| entry.at())
    }

    /// Removes the events for which `keep` is false. The others keep their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&E) -> bool) {
        self.heap.retain(|Reverse(entry)| keep(&entry.event));
    }

    /// Takes the next event if it is due at `now` or earlier.
    pub fn pop_due(&mut self, now: Instant) -> Option<E> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_keeps_the_order_of_pushing() {
        let mut queue = EventQueue::default();
        let at = Instant::from_micros;
        for (time, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            queue.push(at(time), name);
        }
        assert_eq!(queue.pop_due(at(2)), None);
        let order: String = std::iter::from_fn(|| queue.pop_due(at(9))).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn events_that_are_not_kept_do_not_come_out() {
        let mut queue = EventQueue::default();
        (0..20).for_each(|number| queue.push(Instant::from_micros(9), number));
        queue.retain(|number| number % 3 == 0);
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop_due(Instant::from_micros(9))).collect();
        assert_eq!(order, [0, 3, 6, 9, 12, 15, 18]);
    }
}
