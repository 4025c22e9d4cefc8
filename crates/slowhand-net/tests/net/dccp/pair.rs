//! Two connections, a path between them with faults, and a clock that jumps from event to event.

use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ecn, Endpoint};
use slowhand_net::transport::dccp::{Connection, DccpConfig, SeqNumber};
use std::collections::BTreeMap;
use std::net::Ipv6Addr;

/// The one-way delay of the path.
pub const DELAY: Duration = Duration::from_millis(50);

/// The ends: the client's is 0.
pub fn endpoint(end: usize) -> Endpoint {
    Endpoint::new(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1 + end as u16), [61_617, 5_684][end])
}

/// The first sequence numbers: near the wrap, so that every test crosses it.
pub fn initial(end: usize) -> SeqNumber {
    SeqNumber::new(u64::MAX - 2 - end as u64)
}

/// The fate of a packet: when each of its copies arrives, and with which ECN field. The number of the packet counts from 0.
pub type Fate = Box<dyn Fn(usize) -> Vec<(Duration, bool)>>;

/// One packet as it left.
#[derive(Clone)]
pub struct Sent {
    pub at: Instant,
    pub end: usize,
    pub octets: Vec<u8>,
    pub ecn: Ecn,
}

pub struct Pair {
    pub now: Instant,
    pub ends: [Connection<Vec<u8>>; 2],
    pub log: Vec<Sent>,
    /// The datagrams that each end got.
    pub received: [Vec<Vec<u8>>; 2],
    fate: Fate,
    arrivals: BTreeMap<(Instant, usize), (usize, Ecn, Vec<u8>)>,
    count: usize,
}

impl Pair {
    pub fn new(config: &DccpConfig, fate: Fate) -> Self {
        let [client, server] = [endpoint(0), endpoint(1)];
        let mut pair = Self {
            now: Instant::ZERO,
            ends: [
                Connection::connect(config, client, server, initial(0)).unwrap(),
                Connection::listen(config, server, initial(1)).unwrap(),
            ],
            log: Vec::new(),
            received: [Vec::new(), Vec::new()],
            fate,
            arrivals: BTreeMap::new(),
            count: 0,
        };
        pair.transmit(0);
        pair
    }

    /// A path that loses nothing.
    pub fn lossless(config: &DccpConfig) -> Self {
        Self::new(config, Box::new(|_| vec![(DELAY, false)]))
    }

    pub fn send(&mut self, end: usize, datagram: &[u8]) -> bool {
        let is_taken = self.ends[end].send(datagram.to_vec()).is_ok();
        self.transmit(end);
        is_taken
    }

    pub fn close(&mut self, end: usize) {
        self.ends[end].close();
        self.transmit(end);
    }

    fn transmit(&mut self, end: usize) {
        let mut out = vec![0; self.ends[end].max_packet_len().max(2_000)];
        while let Some(transmit) = self.ends[end].poll_transmit(self.now, &mut out) {
            let octets = out[..transmit.len].to_vec();
            for (delay, is_marked) in (self.fate)(self.log.len()) {
                let ecn =
                    if is_marked && transmit.ecn.is_capable() { Ecn::CongestionExperienced } else { transmit.ecn };
                self.count += 1;
                self.arrivals.insert((self.now + delay, self.count), (1 - end, ecn, octets.clone()));
            }
            self.log.push(Sent { at: self.now, end, octets, ecn: transmit.ecn });
        }
    }

    /// Does everything up to an instant.
    pub fn run_until(&mut self, until: Instant) {
        for _ in 0..100_000 {
            let arrival = self.arrivals.keys().next().map(|(at, _)| *at);
            let timers = self.ends.each_ref().map(Connection::deadline);
            let Some(now) = timers.into_iter().chain([arrival]).flatten().min().filter(|&at| at <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(now);
            if arrival == Some(now) {
                let (_, (end, ecn, octets)) = self.arrivals.pop_first().unwrap();
                let got = self.ends[end].handle_packet(self.now, endpoint(1 - end).address, ecn, &octets).unwrap();
                self.received[end].extend(got.map(<[u8]>::to_vec));
                self.transmit(end);
            }
            for (end, timer) in timers.into_iter().enumerate() {
                if timer.is_some_and(|at| at <= now) {
                    self.ends[end].handle_timeout(self.now);
                    self.transmit(end);
                }
            }
        }
        panic!("no end at {}", self.now);
    }

    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }
}
