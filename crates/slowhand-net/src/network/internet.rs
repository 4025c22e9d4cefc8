//! The path between the border router and the hosts on the Internet: it has a delay, jitter and loss.

use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, is_of_router};
use crate::ip::{Ipv6Header, next_header};
use crate::queue::EventQueue;
use crate::random::{Probability, Stream, Streams};

/// The properties of the path, equal in both directions.
#[derive(Clone, Debug)]
pub struct InternetConfig {
    /// The shortest time that a datagram takes.
    pub delay: Duration,
    /// The largest additional time, drawn uniformly for each datagram. So datagrams can overtake each other.
    pub jitter: Duration,
    /// The probability that a datagram is lost.
    pub loss: Probability,
    /// The numbers of single datagrams towards the mesh that are lost, counted from 1; in ascending order.
    pub dropped: Vec<u64>,
}

impl Default for InternetConfig {
    fn default() -> Self {
        Self { delay: Duration::ZERO, jitter: Duration::ZERO, loss: Probability::NEVER, dropped: Vec::new() }
    }
}

/// The packets on the path.
#[derive(Debug)]
pub struct Internet {
    config: InternetConfig,
    /// By direction: towards the Internet, towards the mesh.
    random: [Stream; 2],
    /// For the ICMPv6 errors of routers. So an error does not change what happens to later datagrams.
    random_of_errors: Stream,
    /// The number of datagrams sent towards the mesh so far.
    towards_mesh: u64,
    queue: EventQueue<Arrival>,
    buffers: Vec<Vec<u8>>,
    free: Vec<usize>,
}

/// The two directions of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the border router to a host on the Internet.
    ToInternet,
    /// From a host on the Internet to the border router.
    ToMesh,
}

/// A datagram that has arrived.
#[derive(Debug)]
pub struct Arrival {
    /// Its direction.
    pub direction: Direction,
    /// The number its sender gave it.
    pub datagram: DatagramId,
    buffer: usize,
}

impl Internet {
    /// An empty path.
    pub fn new(config: InternetConfig, streams: &Streams) -> Self {
        let random = [0, 1].map(|direction| streams.stream("internet", direction));
        Self {
            config,
            random,
            random_of_errors: streams.stream("internet, errors", 0),
            towards_mesh: 0,
            queue: EventQueue::default(),
            buffers: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Changes the path for the next packets. Those on their way arrive when they would have.
    pub(super) fn set(&mut self, delay: Duration, jitter: Duration, loss: Probability) {
        let config = &mut self.config;
        (config.delay, config.jitter, config.loss) = (delay, jitter, loss);
    }

    /// Sends a packet. Returns false if it is lost.
    pub fn send(&mut self, now: Instant, direction: Direction, packet: &[u8], datagram: DatagramId) -> bool {
        let is_to_mesh = direction == Direction::ToMesh;
        let random = match is_error(packet, datagram) {
            true => &mut self.random_of_errors,
            false => &mut self.random[usize::from(is_to_mesh)],
        };
        let lost = random.happens(self.config.loss);
        let jitter = Duration::from_micros(random.below(self.config.jitter.as_micros() + 1));
        self.towards_mesh += u64::from(is_to_mesh);
        let dropped = is_to_mesh && self.config.dropped.binary_search(&self.towards_mesh).is_ok();
        if lost || dropped {
            return false;
        }
        let buffer = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::new());
            self.buffers.len() - 1
        });
        self.buffers[buffer].clear();
        self.buffers[buffer].extend_from_slice(packet);
        self.queue.push(now + self.config.delay + jitter, Arrival { direction, datagram, buffer });
        true
    }

    /// The time at which the next datagram arrives.
    pub fn deadline(&self) -> Option<Instant> {
        self.queue.next_at()
    }

    /// Takes a datagram that has arrived. Give it to [`release`](Self::release) afterwards.
    pub fn pop_due(&mut self, now: Instant) -> Option<Arrival> {
        self.queue.pop_due(now)
    }

    /// The packet of an arrival.
    pub fn packet(&self, arrival: &Arrival) -> &[u8] {
        &self.buffers[arrival.buffer]
    }

    /// Frees the buffer of an arrival.
    pub fn release(&mut self, arrival: Arrival) {
        self.free.push(arrival.buffer);
    }
}

/// True if the packet is an ICMPv6 error that a router has sent. Routers send no other ICMPv6 message to a host.
fn is_error(packet: &[u8], datagram: DatagramId) -> bool {
    is_of_router(datagram) && Ipv6Header::parse(packet).is_ok_and(|header| header.next_header == next_header::ICMPV6)
}
