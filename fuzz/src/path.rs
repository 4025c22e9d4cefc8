//! Two ends of a session of slowhand-sessions, and a path between them that somebody else controls, who has no key.

use std::collections::VecDeque;
use std::time::Duration;

use slowhand_sessions::{Session, Status};

use crate::input::Input;

/// The most steps of somebody on the path, so that an input has an end.
const STEPS: usize = 200;

/// The most datagrams that wait on one way: more of them only take time.
const MOST_WAITING: usize = 64;

/// The most datagrams that an end may send at once: one for each that may wait, and a flight in small blocks or with certificates.
const MOST_AT_ONCE: usize = 128;

/// The most events until both ends have come to rest on a path that loses nothing: all datagrams on their way, each with its answers, a
/// handshake in the smallest blocks, and all repetitions of it.
const MOST_EVENTS: usize = 20_000;

/// The longest datagram that a session must take: the payload of UDP over IPv6 (RFC 768, RFC 8200 section 3) has 65,527 octets at most.
const LONGEST: usize = 65_527;

/// A client and a server, in this order, with what is on its way to each.
pub struct Path<'a> {
    ends: [Box<dyn Session>; 2],
    waiting: [VecDeque<Vec<u8>>; 2],
    /// The datagrams that were on the path before.
    seen: Vec<Vec<u8>>,
    /// Datagrams of another session.
    foreign: &'a [Vec<u8>],
    now: Duration,
    /// True once an end got a datagram that is none of this session, or another one's of the same end.
    pub is_mixed: bool,
}

impl<'a> Path<'a> {
    /// A path between two ends that have not begun.
    pub fn new(ends: [Box<dyn Session>; 2], foreign: &'a [Vec<u8>]) -> Self {
        let mut path =
            Self { ends, waiting: Default::default(), seen: Vec::new(), foreign, now: Duration::ZERO, is_mixed: false };
        for end in [1, 0] {
            path.ends[end].start(Duration::ZERO);
            path.collect(end);
        }
        path
    }

    /// Does with the datagrams what the input says.
    pub fn disturb(&mut self, input: &mut Input<'_>) {
        for _ in 0..STEPS {
            if input.is_empty() {
                return;
            }
            let to = usize::from(input.flag());
            match input.below(12) {
                0..=2 => self.carry(to),
                3 => drop(self.waiting[to].pop_front()),
                // A copy arrives before the datagram, as it is or damaged.
                4 => self.give_copy(to, |datagram, _| datagram, input),
                5 | 6 => self.give_copy(to, damaged, input),
                // The first one comes last.
                7 => {
                    if let Some(first) = self.waiting[to].pop_front() {
                        self.waiting[to].push_back(first);
                    }
                }
                // Something that was there before, of whichever end.
                8 if !self.seen.is_empty() => {
                    self.is_mixed = true;
                    let datagram = self.seen[input.below(self.seen.len())].clone();
                    self.give(to, &datagram);
                }
                9 => {
                    self.is_mixed = true;
                    let datagram = match input.below(self.foreign.len() + 1) {
                        0 => input.string().to_vec(),
                        number => self.foreign[number - 1].clone(),
                    };
                    self.give(to, &datagram);
                }
                10 => self.wait(Duration::from_millis(u64::from(input.number()))),
                _ => self.act(to, input),
            }
        }
    }

    /// An act of the application of an end.
    fn act(&mut self, end: usize, input: &mut Input<'_>) {
        if input.octet() < 16 {
            self.ends[end].close(self.now);
        } else {
            let data = input.string();
            let is_established = matches!(self.ends[end].status(), Status::Established { .. });
            let written = self.ends[end].write(self.now, data);
            assert!(written.is_err() || is_established, "data are sent before the handshake is complete");
        }
        self.collect(end);
    }

    fn give_copy(&mut self, to: usize, change: fn(Vec<u8>, &mut Input<'_>) -> Vec<u8>, input: &mut Input<'_>) {
        if let Some(first) = self.waiting[to].front() {
            let copy = change(first.clone(), input);
            self.give(to, &copy);
        }
    }

    /// The next datagram arrives.
    fn carry(&mut self, to: usize) {
        if let Some(datagram) = self.waiting[to].pop_front() {
            self.give(to, &datagram);
            self.seen.push(datagram);
        }
    }

    fn give(&mut self, to: usize, datagram: &[u8]) {
        self.ends[to].handle_input(self.now, datagram);
        self.collect(to);
    }

    /// Time passes, and timers are due.
    fn wait(&mut self, time: Duration) {
        self.now += time;
        for end in 0..2 {
            self.ends[end].handle_timeout(self.now);
            self.collect(end);
        }
    }

    /// Takes what an end sends.
    fn collect(&mut self, end: usize) {
        let mut count = 0;
        while let Some(sent) = self.ends[end].poll_transmit() {
            assert!(sent.bytes.len() <= LONGEST, "a datagram of {} octets", sent.bytes.len());
            count += 1;
            assert!(count <= MOST_AT_ONCE, "an end does not stop to send");
            if self.waiting[1 - end].len() < MOST_WAITING {
                self.waiting[1 - end].push_back(sent.bytes.to_vec());
            }
        }
        while self.ends[end].poll_received().is_some() {}
        let status = self.ends[end].status();
        let is_over = matches!(&status, Status::Failed(failure) if failure.reason.is_empty());
        assert!(!is_over, "a failure without a name");
    }

    /// From here on the path loses nothing. Returns how the client and the server are when they have come to rest, or after so long.
    pub fn settle(&mut self, limit: Duration) -> [Status; 2] {
        let until = self.now + limit;
        for _ in 0..MOST_EVENTS {
            if let Some(to) = (0..2).find(|to| !self.waiting[*to].is_empty()) {
                self.carry(to);
                continue;
            }
            let next = self.ends.iter().filter_map(|end| end.deadline()).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                return [self.ends[0].status(), self.ends[1].status()];
            };
            self.wait(next.saturating_sub(self.now));
        }
        panic!("no rest");
    }
}

/// Some octets are others, it is cut, or more follows.
fn damaged(mut datagram: Vec<u8>, input: &mut Input<'_>) -> Vec<u8> {
    match input.below(4) {
        0 => {
            let length = input.number();
            datagram.truncate(length.into());
        }
        1 => datagram.extend(input.string()),
        count => {
            for _ in 1..count {
                if !datagram.is_empty() {
                    let at = usize::from(input.number()) % datagram.len();
                    datagram[at] = input.octet();
                }
            }
        }
    }
    datagram
}

/// Each datagram of a session on a path without losses.
pub fn recorded(ends: [Box<dyn Session>; 2]) -> Vec<Vec<u8>> {
    let mut path = Path::new(ends, &[]);
    let statuses = path.settle(Duration::from_secs(60));
    assert!(statuses.iter().all(|status| matches!(status, Status::Established { .. })), "{statuses:?}");
    path.seen
}
