//! A link layer of your own, under real handshakes: pure ALOHA.
//!
//! `cargo run -p slowhand-lab --example aloha`
//!
//! ```text
//! link layer handling ms completed  median s
//! csma                 0     20/20      0.21
//! csma                20     20/20      1.15
//! aloha                0     20/20      0.20
//! aloha               20     20/20      1.13
//! ```
//!
//! A node sends a frame as soon as it has one, without listening first. If no acknowledgement comes, it waits for a random
//! time and sends the frame again. [`Aloha`] implements [`Mac`]; [`Prepared`] builds one for each world, and
//! [`Plan::with_mac`](slowhand_lab::plan::Plan::with_mac) puts that in the place of the scenario's link layer. Each node has a
//! [`NodeQueue`], so the time that its processor takes for a frame (`network.frame_handling_ms`) counts.

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Mesh, PreparedMac, Scenario};
use slowhand_net::address::{Eui64, NodeId, PAN_ID};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::{Kind, Links};
use slowhand_net::observer::{FrameKind, Observer, RadioTimes, Transmission};
use slowhand_net::queue::EventQueue;
use slowhand_net::radio::frame::{FCS, Frame, FrameType, FrameView, Header, MAX_FRAME, Version};
use slowhand_net::radio::medium::{Medium, OnAir, Reception};
use slowhand_net::radio::phy::{MAX_PSDU, air_time};
use slowhand_net::radio::{Indication, Mac, Msdu, NodeQueue, Payload, Sequence, TURNAROUND};
use slowhand_net::random::{Stream, Streams};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt::Write;

const CHANNEL: u8 = 26;

/// The longest wait before a frame is sent again. Assumed: ten of the longest frames.
const LONGEST_WAIT: Duration = Duration::from_micros(10 * air_time(MAX_PSDU).as_micros());

/// How often a frame is sent. Assumed.
const ATTEMPTS: u8 = 8;

/// All nodes of a network with pure ALOHA. Their radios always listen.
#[derive(Debug)]
struct Aloha {
    medium: Medium,
    nodes: Vec<Node>,
    events: EventQueue<Event>,
    /// Events for the layer above: the list of the caller while events are handled, else empty.
    indications: Vec<Indication>,
}

#[derive(Debug)]
struct Node {
    queue: NodeQueue,
    frames: VecDeque<Waiting>,
    /// True from the first attempt at a frame until it has left the queue.
    is_sending: bool,
    /// When it has sent its last frame or acknowledgement, also one that is due.
    sends_until: Instant,
    /// The number of the next frame to each neighbour, and of the last from it.
    sequences: BTreeMap<NodeId, Sequence>,
    waits: Stream,
    transmit: Duration,
    receive: Duration,
}

/// A frame of the layer above.
#[derive(Clone, Debug)]
struct Waiting {
    to: NodeId,
    sequence: u8,
    octets: Vec<u8>,
    datagram: DatagramId,
    discard: bool,
    queued_at: Instant,
    attempt: u8,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The node may send the first frame of its queue.
    Send(NodeId),
    /// This frame ends.
    Sent(NodeId, OnAir),
    /// The acknowledgement of the node's frame begins.
    Acknowledge(NodeId),
    /// It ends.
    Acknowledged(NodeId, OnAir),
}

impl Aloha {
    fn new(links: Links, queue: usize, streams: &Streams) -> Self {
        let node = |index| Node {
            queue: NodeQueue::new(queue),
            frames: VecDeque::new(),
            is_sending: false,
            sends_until: Instant::ZERO,
            sequences: BTreeMap::new(),
            waits: streams.stream("aloha", index),
            transmit: Duration::ZERO,
            receive: Duration::ZERO,
        };
        let nodes = (0..links.nodes() as u64).map(node).collect();
        Self { medium: Medium::new(CHANNEL, links), nodes, events: EventQueue::default(), indications: Vec::new() }
    }

    /// Sends the first frame, when the processor has prepared it and the radio sends nothing else.
    fn send(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let Some(frame) = node.frames.front() else { return };
        let free_at = node.queue.processor().free_at().max(node.sends_until);
        if free_at > now {
            return self.events.push(free_at, Event::Send(id));
        }
        let air = air_time(frame.octets.len() + FCS);
        node.sends_until = now + air;
        let on_air = self.medium.begin(now, id, air, |_| true);
        self.events.push(now + air, Event::Sent(id, on_air));
    }

    /// The node's frame ends. Its destination acknowledges it, and passes it up if it is no repetition.
    fn sent(&mut self, now: Instant, id: NodeId, on_air: OnAir, observer: &mut dyn Observer) {
        let Some(frame) = self.nodes[id.index()].frames.front().cloned() else { return };
        let data = Transmission::new(self.medium.begun(on_air), CHANNEL, FrameKind::Data, id, frame.to);
        if !self.end(now, on_air, Transmission { octets: &frame.octets, ..data }, &frame, observer) {
            return self.try_again(now, id);
        }
        let receiver = &mut self.nodes[frame.to.index()];
        if receiver.sequences.entry(id).or_default().accepts(frame.sequence)
            && let Ok(view) = FrameView::parse(&frame.octets)
        {
            let payload = Payload::new(view.payload());
            self.indications.push(receiver.queue.receive(now, frame.to, id, frame.datagram, payload, frame.discard));
        }
        receiver.sends_until = now + TURNAROUND + air_time(ack(0).len() + FCS);
        self.events.push(now + TURNAROUND, Event::Acknowledge(id));
    }

    fn acknowledge(&mut self, now: Instant, id: NodeId) {
        let Some(frame) = self.nodes[id.index()].frames.front() else { return };
        let air = air_time(ack(frame.sequence).len() + FCS);
        let on_air = self.medium.begin(now, frame.to, air, |_| true);
        self.events.push(now + air, Event::Acknowledged(id, on_air));
    }

    fn acknowledged(&mut self, now: Instant, id: NodeId, on_air: OnAir, observer: &mut dyn Observer) {
        let Some(frame) = self.nodes[id.index()].frames.front().cloned() else { return };
        let answer = Transmission::new(self.medium.begun(on_air), CHANNEL, FrameKind::Ack, frame.to, id);
        if !self.end(now, on_air, Transmission { octets: &ack(frame.sequence), ..answer }, &frame, observer) {
            return self.try_again(now, id);
        }
        self.indications.push(Indication::Sent { node: id, datagram: frame.datagram });
        self.next_frame(now, id);
    }

    /// No acknowledgement comes: the node waits, at least as long as one takes, or gives the frame up.
    fn try_again(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let Some(frame) = node.frames.front_mut() else { return };
        frame.attempt += 1;
        if frame.attempt < ATTEMPTS {
            let wait = Duration::from_micros(node.waits.below(LONGEST_WAIT.as_micros()));
            node.queue.handle_own(1);
            let least = TURNAROUND + air_time(ack(0).len() + FCS);
            return self.events.push(now + least + wait, Event::Send(id));
        }
        let (datagram, reason) = (frame.datagram, DropReason::RetriesExhausted);
        self.indications.push(Indication::Dropped { node: id, datagram, reason });
        self.next_frame(now, id);
    }

    fn next_frame(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.frames.pop_front();
        node.queue.leave(now);
        node.is_sending = !node.frames.is_empty();
        if node.is_sending {
            self.events.push(now, Event::Send(id));
        }
    }

    /// Ends a frame, accounts for it and shows it. Returns true if its destination received it.
    fn end(
        &mut self,
        now: Instant,
        on_air: OnAir,
        sent: Transmission<'_>,
        data: &Waiting,
        observer: &mut dyn Observer,
    ) -> bool {
        let air = now.since(sent.at);
        let mut receptions: Vec<Reception> = Vec::new();
        let link = if sent.kind == FrameKind::Ack { Kind::Ack } else { Kind::Data };
        self.medium.end(on_air, link, &mut receptions);
        self.nodes[sent.from.index()].transmit += air;
        receptions.retain(Reception::is_received);
        receptions.iter().for_each(|reception| self.nodes[reception.node.index()].receive += air);
        let received = receptions.iter().any(|reception| reception.node == sent.to);
        let &Waiting { datagram, queued_at, attempt, .. } = data;
        observer.transmission(&Transmission { datagram, queued_at, attempt, received, ..sent });
        received
    }
}

fn data_header(sequence: u8, from: NodeId, to: NodeId) -> Header {
    let (from, to) = (Eui64::of_node(from), Eui64::of_node(to));
    Header { ack_request: true, ..Header::between(FrameType::Data, Version::V2, sequence, PAN_ID, from, to) }
}

fn ack(sequence: u8) -> Vec<u8> {
    let mut octets = [0; MAX_FRAME];
    let header = Header { sequence: Some(sequence), ..Header::new(FrameType::Ack, Version::V0) };
    let length = Frame::new(header).emit(&mut octets).expect("an acknowledgement is short");
    octets[..length].to_vec()
}

impl Mac for Aloha {
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let Msdu { node, next_hop, payload, datagram, discard } = msdu;
        let sender = &mut self.nodes[node.index()];
        if sender.queue.is_full() {
            return Err(DropReason::QueueFull);
        }
        let sequence = sender.sequences.entry(next_hop).or_default();
        let mut octets = [0; MAX_FRAME];
        let frame = Frame { payload, ..Frame::new(data_header(sequence.next(), node, next_hop)) };
        let length = frame.emit(&mut octets).map_err(|_| DropReason::Malformed)?;
        sender.frames.push_back(Waiting {
            to: next_hop,
            sequence: sequence.take(),
            octets: octets[..length].to_vec(),
            datagram,
            discard,
            queued_at: now,
            attempt: 0,
        });
        sender.queue.enter(now); // the processor begins to prepare it, if it is the first
        if !std::mem::replace(&mut sender.is_sending, true) {
            self.events.push(now, Event::Send(node));
        }
        Ok(())
    }

    fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize {
        data_header(0, node, next_hop).payload_capacity()
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        std::mem::swap(&mut self.indications, indications);
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Send(node) => self.send(now, node),
                Event::Sent(node, on_air) => self.sent(now, node, on_air, observer),
                Event::Acknowledge(node) => self.acknowledge(now, node),
                Event::Acknowledged(node, on_air) => self.acknowledged(now, node, on_air, observer),
            }
        }
        std::mem::swap(&mut self.indications, indications);
    }

    fn sending_time(&self, _node: NodeId, _next_hop: NodeId, frames: u64) -> Duration {
        (air_time(MAX_PSDU) * 2 + TURNAROUND) * frames
    }

    fn queue(&self, node: NodeId) -> &NodeQueue {
        &self.nodes[node.index()].queue
    }

    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue {
        &mut self.nodes[node.index()].queue
    }

    fn links_mut(&mut self) -> Option<&mut Links> {
        Some(self.medium.links_mut())
    }

    /// A frame counts as sent or received when it has ended.
    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let &Node { transmit, receive, .. } = &self.nodes[node.index()];
        let listen = now.since(Instant::ZERO).saturating_sub(transmit + receive);
        RadioTimes { transmit, receive, listen, sleep: Duration::ZERO }
    }
}

/// Builds the link layer of each world.
#[derive(Debug)]
struct Prepared;

impl PreparedMac for Prepared {
    fn build(&self, mesh: &Mesh, streams: &Streams) -> Box<dyn Mac> {
        Box::new(Aloha::new(mesh.links(streams), 16, streams))
    }
}

/// The table.
pub fn report() -> Result<String, Box<dyn Error>> {
    const WORLDS: u64 = 20;
    let mut table = format!("{:<10} {:>11} {:>9} {:>9}\n", "link layer", "handling ms", "completed", "median s");
    for is_aloha in [false, true] {
        for handling_ms in ["0", "20"] {
            let scenario: Scenario = r#"
                network = { topology = { kind = "line", hops = 3 }, link_pdr = 0.95, frame_handling_ms = HANDLING }
                mac = { kind = "csma" }
                client = { device = "openmote-cc2538" }
                session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
            "#
            .replace("HANDLING", handling_ms)
            .parse()?;
            let plan = Plan::new(&scenario)?;
            let plan = if is_aloha { plan.with_mac(Box::new(Prepared)) } else { plan };
            let records: Vec<_> = (1..=WORLDS).flat_map(|seed| plan.run(seed, &mut ())).collect();
            let mut durations: Vec<f64> = records.iter().filter_map(|record| record.duration_s).collect();
            durations.sort_by(f64::total_cmp);
            writeln!(
                table,
                "{:<10} {:>11} {:>9} {:>9.2}",
                if is_aloha { "aloha" } else { "csma" },
                handling_ms,
                format!("{}/{}", durations.len(), records.len()),
                durations.get(durations.len() / 2).copied().unwrap_or(f64::NAN),
            )?;
        }
    }
    Ok(table)
}

#[cfg_attr(test, allow(dead_code))] // the test calls `report`
fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report()?);
    Ok(())
}
