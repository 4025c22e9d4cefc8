//! Runs two sessions against each other in memory, with a delay and no network.
//!
//! Events here come from the libraries alone: the datagrams, their sizes, the end of a handshake after a loss.
//! Differences in the laboratory come from the network.
//!
//! A path without faults keeps the order and loses nothing, so it also carries streams: then a [`Datagram`] is one
//! write, which arrives as a whole. Do not use faults with a stream.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::session::{Session, Status};

/// The path between the two ends, with its faults.
///
/// The numbers of datagrams count from 0 in the order of sending, both directions together. A retransmission has a
/// number of its own.
#[derive(Clone, Debug)]
pub struct Path {
    /// One-way delay.
    pub delay: Duration,
    /// Numbers of the datagrams that are lost.
    pub dropped: Vec<usize>,
    /// Numbers of the datagrams that arrive twice, the second copy one delay after the first.
    pub duplicated: Vec<usize>,
    /// Numbers of the datagrams that have an additional delay. Later datagrams may overtake them.
    pub held_back: Vec<(usize, Duration)>,
    /// The time at which the run stops.
    pub time_limit: Duration,
    /// The most datagrams that the two ends may send.
    pub datagram_limit: usize,
}

impl Default for Path {
    /// 50 ms one way, no faults, an hour, 1,000 datagrams.
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(50),
            dropped: Vec::new(),
            duplicated: Vec::new(),
            held_back: Vec::new(),
            time_limit: Duration::from_secs(3600),
            datagram_limit: 1000,
        }
    }
}

/// The direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// A datagram, or a write to a stream, that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When its sender had it ready to send.
    pub at: Duration,
    /// Its direction.
    pub direction: Direction,
    /// The UDP payload, or the bytes written.
    pub bytes: Vec<u8>,
    /// The path lost it.
    pub dropped: bool,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Each end has verified the other's Finished.
    Completed,
    /// One end failed; see [`Transcript::client`] and [`Transcript::server`].
    Failed,
    /// No datagram is on its way and no timer runs.
    Stalled,
    /// The next event is after [`Path::time_limit`].
    TimeLimitReached,
    /// The ends have sent more than [`Path::datagram_limit`] datagrams.
    DatagramLimitReached,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The end of the run.
    pub end: End,
    /// When the last event happened.
    pub at: Duration,
    /// The client's status.
    pub client: Status,
    /// The server's status.
    pub server: Status,
    /// All datagrams, in the order of sending.
    pub datagrams: Vec<Datagram>,
}

impl Transcript {
    /// The sizes of the datagrams or writes, in octets.
    pub fn sizes(&self) -> Vec<usize> {
        self.datagrams.iter().map(|datagram| datagram.bytes.len()).collect()
    }
}

impl Path {
    /// Runs a handshake from its first flight to its end.
    pub fn run(&self, client: &mut dyn Session, server: &mut dyn Session) -> Transcript {
        self.run_until(client, server, |world| world.handshake_end())
    }

    /// Runs a handshake, and goes on after it until no datagram is on its way and no timer runs: a
    /// server may send tickets then.
    pub fn run_until_quiet(&self, client: &mut dyn Session, server: &mut dyn Session) -> Transcript {
        let transcript =
            self.run_until(client, server, |world| world.handshake_end().filter(|end| *end != End::Completed));
        let is_established = |status: &Status| matches!(status, Status::Established { .. });
        match transcript.end {
            End::Stalled if is_established(&transcript.client) && is_established(&transcript.server) => {
                Transcript { end: End::Completed, ..transcript }
            }
            _ => transcript,
        }
    }

    fn run_until(
        &self,
        client: &mut dyn Session,
        server: &mut dyn Session,
        end: impl Fn(&World<'_, '_>) -> Option<End>,
    ) -> Transcript {
        let mut world = World {
            path: self,
            ends: [client, server],
            arriving: Default::default(),
            datagrams: Vec::new(),
            now: Duration::ZERO,
        };
        for index in [SERVER, CLIENT] {
            world.ends[index].start(Duration::ZERO);
            world.collect(index);
        }
        let end = loop {
            if let Some(end) = end(&world).or_else(|| world.step()) {
                break end;
            }
        };
        Transcript {
            end,
            at: world.now,
            client: world.ends[CLIENT].status(),
            server: world.ends[SERVER].status(),
            datagrams: world.datagrams,
        }
    }
}

const CLIENT: usize = 0;
const SERVER: usize = 1;

struct World<'path, 'ends> {
    path: &'path Path,
    ends: [&'ends mut dyn Session; 2],
    /// The arrival times and numbers of the datagrams on their way, by destination; the earliest on top.
    arriving: [BinaryHeap<Reverse<(Duration, usize)>>; 2],
    datagrams: Vec<Datagram>,
    now: Duration,
}

/// An event at one end. Of two events at one time, an arrival comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrival,
    Timeout,
}

impl World<'_, '_> {
    fn handshake_end(&self) -> Option<End> {
        match (self.ends[CLIENT].status(), self.ends[SERVER].status()) {
            (Status::Failed(_), _) | (_, Status::Failed(_)) => Some(End::Failed),
            (Status::Established { .. }, Status::Established { .. }) => Some(End::Completed),
            _ => None,
        }
    }

    /// Processes the next event. Returns the end of the run if there is none, or a limit is reached.
    fn step(&mut self) -> Option<End> {
        if self.datagrams.len() > self.path.datagram_limit {
            return Some(End::DatagramLimitReached);
        }
        let Some((at, event, index)) = [CLIENT, SERVER].into_iter().filter_map(|index| self.next(index)).min() else {
            return Some(End::Stalled);
        };
        if at > self.path.time_limit {
            return Some(End::TimeLimitReached);
        }
        self.now = at;
        match event {
            Event::Arrival => {
                if let Some(Reverse((_, number))) = self.arriving[index].pop() {
                    self.ends[index].handle_input(at, &self.datagrams[number].bytes);
                }
            }
            Event::Timeout => self.ends[index].handle_timeout(at),
        }
        self.collect(index);
        None
    }

    /// The next event at one end. It waits while the device computes.
    fn next(&self, index: usize) -> Option<(Duration, Event, usize)> {
        let arrival = self.arriving[index].peek().map(|Reverse((at, _))| (*at, Event::Arrival));
        let timeout = self.ends[index].deadline().map(|at| (at, Event::Timeout));
        let free = self.ends[index].busy_until();
        [arrival, timeout].into_iter().flatten().map(|(at, event)| (at.max(free), event, index)).min()
    }

    /// Takes what an end sends, and schedules its arrival.
    fn collect(&mut self, index: usize) {
        let (direction, receiver) = match index {
            CLIENT => (Direction::ToServer, SERVER),
            _ => (Direction::ToClient, CLIENT),
        };
        while let Some(transmit) = self.ends[index].poll_transmit() {
            let number = self.datagrams.len();
            let dropped = self.path.dropped.contains(&number);
            self.datagrams.push(Datagram { at: transmit.at, direction, bytes: transmit.bytes.to_vec(), dropped });
            if dropped {
                continue;
            }
            let held_back = self.path.held_back.iter().find(|(held, _)| *held == number);
            let arrival = transmit.at + self.path.delay + held_back.map_or(Duration::ZERO, |(_, by)| *by);
            self.arriving[receiver].push(Reverse((arrival, number)));
            if self.path.duplicated.contains(&number) {
                self.arriving[receiver].push(Reverse((arrival + self.path.delay, number)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Transmit, WriteError};

    /// An end that is established from the beginning, and answers each datagram at once.
    #[derive(Default)]
    struct Talkative {
        to_send: usize,
        starts: bool,
        now: Duration,
    }

    impl Session for Talkative {
        fn start(&mut self, now: Duration) {
            if self.starts {
                self.handle_input(now, &[]);
            }
        }

        fn handle_input(&mut self, now: Duration, _input: &[u8]) {
            self.now = now;
            self.to_send += 1;
        }

        fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
            self.to_send = self.to_send.checked_sub(1)?;
            Some(Transmit { at: self.now, bytes: b"again", contents: &[] })
        }

        fn status(&self) -> Status {
            Status::Established { at: Duration::ZERO }
        }

        fn write(&mut self, _now: Duration, _data: &[u8]) -> Result<(), WriteError> {
            Ok(())
        }

        fn close(&mut self, _now: Duration) {}
    }

    /// Without a limit that holds after the handshake too, the first of these runs has no end: no time passes in it.
    #[test]
    fn ends_that_answer_each_other_forever_reach_the_limit_that_is_named() {
        for (delay_ms, expected, datagrams) in [(0, End::DatagramLimitReached, 101), (1_000, End::TimeLimitReached, 11)]
        {
            let path = Path {
                delay: Duration::from_millis(delay_ms),
                time_limit: Duration::from_secs(10),
                datagram_limit: 100,
                ..Path::default()
            };
            let [mut client, mut server] = [true, false].map(|starts| Talkative { starts, ..Talkative::default() });
            let transcript = path.run_until_quiet(&mut client, &mut server);
            assert_eq!((transcript.end, transcript.datagrams.len()), (expected, datagrams));
        }
    }
}
