//! The way between the border router and the host on the Internet: delay, jitter and loss.

use crate::address::Host;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::queue::EventQueue;
use crate::random::{Probability, Stream, Streams};

/// How the Internet treats a datagram, in either direction.
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a datagram travels at least.
    pub delay: Duration,
    /// Up to how much longer it may take, drawn uniformly: datagrams can overtake each other.
    pub jitter: Duration,
    /// The probability that it is lost.
    pub loss: Probability,
    /// Single datagrams towards the mesh that are lost, counted from 1; in ascending order.
    pub dropped: Vec<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self { delay: Duration::ZERO, jitter: Duration::ZERO, loss: Probability::NEVER, dropped: Vec::new() }
    }
}

/// Datagrams on their way.
#[derive(Debug)]
pub struct Internet {
    config: Config,
    /// Of each direction: towards the host, towards the mesh.
    random: [Stream; 2],
    /// Datagrams that were sent towards the mesh so far.
    towards_mesh: u64,
    queue: EventQueue<Arrival>,
    buffers: Vec<Vec<u8>>,
    free: Vec<usize>,
}

/// A datagram that has arrived.
#[derive(Debug)]
pub struct Arrival {
    /// Where it is addressed to: the host, or a node behind the border router.
    pub to: Host,
    /// The number its sender gave it.
    pub datagram: DatagramId,
    buffer: usize,
}

impl Internet {
    /// An empty way.
    pub fn new(config: Config, streams: &Streams) -> Self {
        let random = [0, 1].map(|direction| streams.stream("internet", direction));
        Self { config, random, towards_mesh: 0, queue: EventQueue::default(), buffers: Vec::new(), free: Vec::new() }
    }

    /// Sends a packet across; false where it is lost.
    pub fn send(&mut self, now: Instant, to: Host, packet: &[u8], datagram: DatagramId) -> bool {
        let random = &mut self.random[usize::from(to != Host::Internet)];
        let lost = random.happens(self.config.loss);
        let jitter = Duration::from_micros(random.below(self.config.jitter.as_micros() + 1));
        self.towards_mesh += u64::from(to != Host::Internet);
        let dropped = to != Host::Internet && self.config.dropped.binary_search(&self.towards_mesh).is_ok();
        if lost || dropped {
            return false;
        }
        let buffer = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::new());
            self.buffers.len() - 1
        });
        self.buffers[buffer].clear();
        self.buffers[buffer].extend_from_slice(packet);
        self.queue.push(now + self.config.delay + jitter, Arrival { to, datagram, buffer });
        true
    }

    /// When the next datagram arrives.
    pub fn deadline(&self) -> Option<Instant> {
        self.queue.next_at()
    }

    /// Takes a datagram that has arrived; give it back to [`release`](Self::release).
    pub fn pop_due(&mut self, now: Instant) -> Option<Arrival> {
        self.queue.pop_due(now)
    }

    /// The packet of an arrival.
    pub fn packet(&self, arrival: &Arrival) -> &[u8] {
        &self.buffers[arrival.buffer]
    }

    /// Frees the memory of an arrival.
    pub fn release(&mut self, arrival: Arrival) {
        self.free.push(arrival.buffer);
    }
}
