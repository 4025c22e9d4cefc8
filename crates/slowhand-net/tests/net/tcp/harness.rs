//! Two connections, a path between them with faults, and a clock that jumps from event to event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv6Addr;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::transport::tcp::{Connection, EcnMark, Endpoint, Flags, Segment, SeqNumber, State, TcpConfig};

/// The two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Opens the connection.
    A,
    /// Listens.
    B,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

pub fn endpoint(side: Side) -> Endpoint {
    let host = if side == Side::A { 1 } else { 2 };
    Endpoint {
        address: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host),
        port: if side == Side::A { 40_000 } else { 4_433 },
    }
}

/// The initial sequence numbers: near the wrap, so that every test crosses it.
pub fn initial_seq(side: Side) -> SeqNumber {
    SeqNumber(if side == Side::A { u32::MAX - 700 } else { u32::MAX - 300 })
}

/// The effects of the path on segments. Probabilities are in per mille.
#[derive(Clone, Debug)]
pub struct Path {
    pub delay: Duration,
    pub loss: u32,
    pub duplicate: u32,
    pub reorder: u32,
    /// The additional delay of a reordered segment.
    pub reorder_delay: Duration,
    /// The probability that a segment that can be marked gets an ECN mark.
    pub mark: u32,
    /// The time that an octet takes, or no limit.
    pub octet_time: Duration,
    /// Segments of one side, counted from 1 by a rule of the test's, that are lost.
    pub drop: fn(side: Side, segment: &Segment<'_>, nth_data: u32) -> bool,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(50),
            loss: 0,
            duplicate: 0,
            reorder: 0,
            reorder_delay: Duration::from_millis(30),
            mark: 0,
            octet_time: Duration::ZERO,
            drop: |_, _, _| false,
        }
    }
}

/// One segment as it left.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Instant,
    pub side: Side,
    pub flags: Flags,
    pub len: usize,
    pub ecn: EcnMark,
}

type Arrival = Reverse<(Instant, u64, Side, u8, Vec<u8>)>;

pub struct Pair {
    pub now: Instant,
    pub a: Connection,
    pub b: Connection,
    pub path: Path,
    pub log: Vec<Sent>,
    in_flight: BinaryHeap<Arrival>,
    count: u64,
    data_count: [u32; 2],
    link_free: [Instant; 2],
    rng: Xoshiro256PlusPlus,
    steps: u32,
    pub from_a: Vec<u8>,
    pub from_b: Vec<u8>,
}

impl Pair {
    pub fn new(a: &TcpConfig, b: &TcpConfig, path: Path, seed: u64) -> Self {
        let [ea, eb] = [endpoint(Side::A), endpoint(Side::B)];
        Self {
            now: Instant::ZERO,
            a: Connection::connect(a, ea, eb, initial_seq(Side::A)).unwrap(),
            b: Connection::listen(b, eb, initial_seq(Side::B)).unwrap(),
            path,
            log: Vec::new(),
            in_flight: BinaryHeap::new(),
            count: 0,
            data_count: [0; 2],
            link_free: [Instant::ZERO; 2],
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            steps: 0,
            from_a: Vec::new(),
            from_b: Vec::new(),
        }
    }

    pub fn side(&mut self, side: Side) -> &mut Connection {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }

    fn chance(&mut self, per_mille: u32) -> bool {
        per_mille > 0 && self.rng.next_u32() % 1000 < per_mille
    }

    /// Both ends send what they can.
    pub fn flush(&mut self) {
        self.flush_side(Side::A);
        self.flush_side(Side::B);
    }

    fn flush_side(&mut self, side: Side) {
        let mut out = [0; 2048];
        let now = self.now;
        while let Some(transmit) = self.side(side).poll_transmit(now, &mut out) {
            self.carry(side, transmit.ecn, &out[..transmit.len]);
        }
    }

    fn carry(&mut self, side: Side, ecn: EcnMark, bytes: &[u8]) {
        let segment = Segment::parse(bytes).unwrap();
        self.log.push(Sent { at: self.now, side, flags: segment.flags, len: segment.payload.len(), ecn });
        if !segment.payload.is_empty() {
            self.data_count[side as usize] += 1;
        }
        let dropped = (self.path.drop)(side, &segment, self.data_count[side as usize]);
        if dropped || self.chance(self.path.loss) {
            return;
        }
        let copies = 1 + u32::from(self.chance(self.path.duplicate));
        for _ in 0..copies {
            let free = &mut self.link_free[side as usize];
            let octets = self.path.octet_time * bytes.len() as u64;
            *free = (*free).max(self.now) + octets;
            let mut at = *free + self.path.delay;
            if self.chance(self.path.reorder) {
                at += self.path.reorder_delay;
            }
            let marked = ecn != EcnMark::NotCapable && self.chance(self.path.mark);
            self.count += 1;
            let mark = if marked { 0b11 } else { ecn as u8 };
            self.in_flight.push(Reverse((at, self.count, side.other(), mark, bytes.to_vec())));
        }
    }

    /// When the next event is due, after both ends have sent what they can.
    pub fn next_event(&mut self) -> Option<Instant> {
        self.flush();
        self.upcoming()
    }

    fn upcoming(&self) -> Option<Instant> {
        let arrival = self.in_flight.peek().map(|Reverse(next)| next.0);
        let events = [arrival, self.a.deadline(), self.b.deadline()];
        events.into_iter().flatten().min()
    }

    /// Goes to the next event. Returns false if there is none.
    pub fn step(&mut self) -> bool {
        self.flush();
        self.steps += 1;
        assert!(self.steps < 2_000_000, "no end in sight at {}", self.now);
        let Some(next) = self.upcoming() else {
            return false;
        };
        assert!(next >= self.now, "time runs backwards");
        self.now = next;
        let now = self.now;
        while let Some(Reverse((at, ..))) = self.in_flight.peek()
            && *at <= now
        {
            let Some(Reverse((_, _, to, ecn, bytes))) = self.in_flight.pop() else {
                break;
            };
            let source = endpoint(to.other()).address;
            let ecn = EcnMark::of_traffic_class(ecn);
            self.side(to).handle_segment(now, source, ecn, &bytes).unwrap();
            self.flush_side(to);
        }
        for side in [Side::A, Side::B] {
            self.side(side).handle_timeout(now);
        }
        true
    }

    /// Sends `from_a` in one direction and `from_b` in the other, and closes both. Returns when both sides had all
    /// octets. Panics if that does not happen.
    pub fn transfer(&mut self, from_a: &[u8], from_b: &[u8]) -> Instant {
        let (mut left_a, mut left_b) = (from_a, from_b);
        let mut complete = None;
        loop {
            self.feed(Side::A, &mut left_a);
            self.feed(Side::B, &mut left_b);
            self.drain();
            let all = self.from_a.len() == from_a.len() && self.from_b.len() == from_b.len();
            if all && complete.is_none() {
                complete = Some(self.now);
            }
            if self.is_over() || !self.step() {
                break;
            }
        }
        assert_eq!((self.a.error(), self.b.error()), (None, None));
        assert!(self.from_a == from_a && self.from_b == from_b, "content differs");
        assert!(self.is_over(), "{:?} {:?}", self.a.state(), self.b.state());
        complete.expect("never complete")
    }

    fn feed(&mut self, side: Side, left: &mut &[u8]) {
        let connection = self.side(side);
        if side == Side::B && connection.state() == State::Listen {
            return;
        }
        if !left.is_empty() {
            let count = connection.write(left).unwrap();
            *left = &left[count..];
        }
        if left.is_empty() {
            connection.close();
        }
    }

    pub fn drain(&mut self) {
        let mut chunk = [0; 3000];
        loop {
            let count = self.a.read(&mut chunk).unwrap_or(0);
            self.from_b.extend_from_slice(&chunk[..count]);
            let other = self.b.read(&mut chunk).unwrap_or(0);
            self.from_a.extend_from_slice(&chunk[..other]);
            if count + other == 0 {
                break;
            }
        }
    }

    fn is_over(&self) -> bool {
        let over = |c: &Connection| matches!(c.state(), State::TimeWait | State::Closed);
        over(&self.a) && over(&self.b) && self.a.at_end() && self.b.at_end()
    }
}

/// Octets that repeat at no power of two.
pub fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 % 251) as u8).collect()
}
