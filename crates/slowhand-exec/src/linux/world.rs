//! The network of the scenario between the programs: their packets, conversations and frames.

use crate::error::ExecError;
use crate::linux::clocks::Nanos;
use crate::linux::streams::Outgoing;
use crate::report::Datagram;
use sha2::{Digest, Sha256};
use slowhand_lab::LiveCapture;
use slowhand_lab::explanation::{Air, DatagramReader, Explanation, SegmentReader};
use slowhand_lab::live::{ConversationId, End, GivesUp, Hosts, Live, NewConversation, end_points_of, to_std};
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Phase};
use slowhand_lab::scenario::Scenario;
use slowhand_live::handshake::{Alert, Watcher};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Endpoint, Ipv6Header, UdpDatagram, next_header};
use slowhand_net::observer::{Observer, RadioInterval, Reception, Transmission};
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_sessions::{Role, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The world, and what is seen of it.
pub(crate) struct World<'a> {
    live: Live<'a>,
    conversations: BTreeMap<Key, Conversation>,
    watch: Watch,
    arrivals: Vec<(Host, Vec<u8>)>,
    /// Of every packet that was sent or has arrived: when, where, and its octets.
    digest: Sha256,
    refused: u64,
}

/// The key that tells a conversation from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    client: NodeId,
    port: u16,
    server: Endpoint,
    /// True over TCP.
    is_stream: bool,
}

struct Conversation {
    id: ConversationId,
    ends: [Seen; 2],
    last: Instant,
    readers: [Reader; 2],
    datagrams: Vec<Sent>,
    /// True if a datagram of the server, or a segment with data, has arrived.
    is_answered: bool,
}

/// Reads what an end sends.
enum Reader {
    Datagrams(Box<DatagramReader>),
    Segments(Box<SegmentReader>),
}

/// A datagram or segment, and what is looked for when one arrives.
struct Sent {
    told: Datagram,
    payload: Box<[u8]>,
}

/// The place of the next header in a packet (RFC 8200 section 3).
const NEXT_HEADER: usize = 6;

/// Octets of the check sequence of a frame (IEEE 802.15.4 section 7.2.11).
const FCS: u64 = 2;

/// Sees every frame.
struct Watch {
    frames: u64,
    octets: u64,
    capture: Option<LiveCapture<BufWriter<File>>>,
    /// The frames on the air, for an explanation.
    air: Option<Air>,
}

impl Observer for Watch {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.frames += 1;
        self.octets += frame.octets.len() as u64 + FCS;
        if let Some(capture) = &mut self.capture {
            capture.transmission(frame);
        }
        if let Some(air) = &mut self.air {
            air.transmission(frame);
        }
    }

    fn watches_receptions(&self) -> bool {
        self.air.is_some()
    }

    fn reception(&mut self, reception: &Reception) {
        if let Some(air) = &mut self.air {
            air.reception(reception);
        }
    }

    fn watches_radios(&self) -> bool {
        self.air.is_some()
    }

    fn radio(&mut self, interval: &RadioInterval) {
        if let Some(air) = &mut self.air {
            air.radio(interval);
        }
    }
}

impl<'a> World<'a> {
    pub(crate) fn new(
        scenario: &Scenario,
        plan: &'a Plan,
        seed: u64,
        capture: Option<&Path>,
        is_explained: bool,
    ) -> Result<Self, ExecError> {
        let capture = capture.map(|path| LiveCapture::create(scenario, path)).transpose()?;
        let live = Live::new(plan, seed, Hosts { nodes: true, internet: true });
        Ok(Self {
            live: if is_explained { live.with_trace() } else { live },
            conversations: BTreeMap::new(),
            watch: Watch { frames: 0, octets: 0, capture, air: is_explained.then(Air::default) },
            arrivals: Vec::new(),
            digest: Sha256::new(),
            refused: 0,
        })
    }

    /// When the network has something to do.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        self.live.deadline().map(|at| at.as_micros().saturating_mul(1000))
    }

    /// Does everything that is due. A capture keeps its frames: the secrets of the sessions, which are not known yet, come first.
    pub(crate) fn run_until(&mut self, now: Nanos) {
        self.live.run_until(Instant::from_micros(now / 1000), &mut self.watch);
    }

    /// A host has sent a packet.
    fn send(&mut self, host: Host, packet: &[u8]) {
        self.note(b'>', host, packet);
        self.watch_packet(packet, true);
        if self.live.send_packet(packet, &mut self.watch).is_err() {
            self.refused += 1; // such as one to a host that is not there
        }
    }

    /// True if packets have arrived at hosts.
    pub(crate) fn has_arrivals(&mut self) -> bool {
        self.live.take_packets(&mut self.arrivals);
        !self.arrivals.is_empty()
    }

    /// Takes the packets that have arrived at hosts.
    pub(crate) fn arrivals(&mut self) -> Vec<(Host, Vec<u8>)> {
        self.live.take_packets(&mut self.arrivals);
        let arrivals = std::mem::take(&mut self.arrivals);
        for (host, packet) in &arrivals {
            self.note(b'<', *host, packet);
            self.watch_packet(packet, false);
        }
        arrivals
    }

    /// Takes a message from the programs of a host and their TCP.
    pub(crate) fn tell(&mut self, host: Host, told: Outgoing) {
        match told {
            Outgoing::Packet(packet) => self.send(host, &packet),
            Outgoing::Octets { own, peer: other, is_sent, octets } => {
                let (source, destination) = if is_sent { (own, other) } else { (other, own) };
                let Some((key, role)) = self.key(source, destination, true, false) else { return };
                let end = if is_sent { role } else { role.peer() };
                self.observe(key, end, is_sent, &octets);
            }
        }
    }

    fn note(&mut self, way: u8, host: Host, packet: &[u8]) {
        self.digest.update([way]);
        self.digest.update(self.live.now().as_micros().to_le_bytes());
        self.digest.update(host.address().octets());
        self.digest.update((packet.len() as u32).to_le_bytes());
        self.digest.update(packet);
    }

    /// Something else that is to be the same in every run.
    pub(crate) fn note_output(&mut self, octets: &[u8]) {
        self.digest.update((octets.len() as u64).to_le_bytes());
        self.digest.update(octets);
    }

    /// Tells the watchers of a conversation of a datagram or segment. The first one of a node's port opens one.
    fn watch_packet(&mut self, packet: &[u8], is_sent: bool) {
        let is_stream = packet.get(NEXT_HEADER) == Some(&next_header::TCP);
        let Some((source, destination)) = end_points_of(packet, is_stream) else { return };
        let begins = is_sent && (!is_stream || is_first(packet));
        let Some((key, role)) = self.key(source, destination, is_stream, begins) else { return };
        let now = self.live.now();
        let conversation = self.conversations.entry(key).or_insert_with(|| {
            let ends = Role::BOTH.map(|role| Seen::new(role, is_stream));
            let id = self.live.open(NewConversation {
                client: key.client,
                client_port: Some(key.port),
                server_port: Some(key.server.port),
                at: Some(now),
                ends: ends.clone().map(|seen| End::Told(Box::new(move || seen.status()))),
                gives_up: GivesUp::Never,
            });
            let readers = [Reader::new(is_stream), Reader::new(is_stream)];
            Conversation { id, ends, last: now, readers, datagrams: Vec::new(), is_answered: false }
        });
        conversation.last = now;
        let end = if is_sent { role } else { role.peer() };
        match is_stream {
            // The payload is told when TCP has it in order.
            true => conversation.note(now, role, &packet[Ipv6Header::LENGTH..], is_sent),
            false => {
                let payload = &packet[UdpDatagram::HEADERS..];
                conversation.note(now, role, payload, is_sent);
                conversation.ends[end].observe(to_std(now), is_sent, payload);
            }
        }
        self.wake(key, end);
    }

    /// Octets of a stream have gone to the TCP of an end, or have come from it.
    fn observe(&mut self, key: Key, end: Role, is_sent: bool, octets: &[u8]) {
        let now = self.live.now();
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        conversation.ends[end].observe(to_std(now), is_sent, octets);
        self.wake(key, end);
    }

    /// Looks whether the session of an end is established.
    fn wake(&mut self, key: Key, end: Role) {
        let now = self.live.now();
        self.live.run_until(now, &mut self.watch); // it begins before its first datagram
        if let Some(conversation) = self.conversations.get(&key) {
            self.live.wake(conversation.id, end, &mut self.watch);
        }
    }

    /// The conversation of a datagram, and the end that has sent it. `None` if it is none of a client and the server of the scenario.
    /// `begins`: it may be the first one.
    fn key(&self, source: Endpoint, destination: Endpoint, is_stream: bool, begins: bool) -> Option<(Key, Role)> {
        let of = |client: Endpoint, server: Endpoint| {
            let Some(Host::Node(node)) = Host::of_address(client.address) else { return None };
            Some(Key { client: node, port: client.port, server, is_stream })
        };
        let answered = of(destination, source).filter(|key| self.conversations.contains_key(key));
        if let Some(key) = answered {
            return Some((key, Role::Server));
        }
        let key = of(source, destination)?;
        let is_open = self.conversations.contains_key(&key);
        let may_open = || {
            let is_client = begins && key.client != NodeId::ROOT && !self.live.is_port_taken(key.client, key.port);
            is_client && self.live.endpoints(key.client)[1].address == destination.address
        };
        (is_open || may_open()).then_some((key, Role::Client))
    }

    /// True if each of these nodes has a conversation, and all of them carry data.
    pub(crate) fn are_established(&self, clients: &[NodeId]) -> bool {
        clients.iter().all(|client| {
            let mut own = self.conversations.iter().filter(|(key, _)| key.client == *client).peekable();
            own.peek().is_some()
                && own.all(|(_, conversation)| self.live.state(conversation.id).phase != Phase::Handshake)
        })
    }

    /// The hosts at which a handshake of DTLS or TLS is complete.
    pub(crate) fn finished_hosts(&self) -> BTreeSet<Host> {
        let ends = self.conversations.iter().flat_map(|(key, conversation)| {
            [Some(Host::Node(key.client)), Host::of_address(key.server.address)].into_iter().zip(&conversation.ends)
        });
        ends.filter(|(_, seen)| seen.lock().has_finished()).filter_map(|(host, _)| host).collect()
    }

    /// The number of frames, their octets, and the number of refused packets.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        (self.watch.frames, self.watch.octets, self.refused)
    }

    /// Ends the world: its conversations, and a digest of all that programs have seen and done. The capture gets the secrets that
    /// programs have written. `explain`: of this client the longest handshake of DTLS that is complete is explained, or else the
    /// longest.
    pub(crate) fn finish(
        mut self,
        mut secrets: Vec<String>,
        scenario: &Scenario,
        explain: Option<NodeId>,
    ) -> Result<(Vec<crate::report::Conversation>, Option<Explanation>, String), ExecError> {
        let mut reports = Vec::new();
        let mut explained: Option<((bool, f64), ConversationId)> = None;
        for (key, conversation) in std::mem::take(&mut self.conversations) {
            self.live.complete(conversation.id);
            let mut record = self.live.report(conversation.id).handshake;
            let secure = conversation.ends.iter().any(|seen| seen.lock().watcher.is_secure());
            if !secure {
                // Nobody knows what the programs wanted, but an answer can be seen.
                record.outcome = if conversation.is_answered { Outcome::Completed } else { Outcome::GaveUp };
                record.end_s = conversation.last.as_secs_f64();
                record.duration_s = conversation.is_answered.then_some(record.end_s - record.start_s);
            }
            let rank = (record.duration_s.is_some(), record.end_s - record.start_s);
            if secure
                && !key.is_stream
                && explain.is_some_and(|client| client.0 == record.client)
                && explained.is_none_or(|(highest, _)| rank > highest)
            {
                explained = Some((rank, conversation.id));
            }
            let datagrams = conversation.datagrams.into_iter().map(|sent| sent.told).collect();
            reports.push(crate::report::Conversation { record, secure, datagrams });
        }
        if let Some(mut capture) = self.watch.capture.take() {
            secrets.sort();
            secrets.dedup(); // both ends may have written the same
            if !secrets.is_empty() {
                capture.secrets(secrets.iter().map(String::as_str))?;
            }
            capture.finish()?;
        }
        let now = self.live.now();
        self.live.network().report_radios(now, &mut self.watch);
        let explained = explained.map(|(_, conversation)| conversation).zip(self.watch.air.take());
        let explanation = explained.and_then(|(conversation, air)| self.live.explain(conversation, scenario, air));
        let digest = self.digest.finalize().iter().map(|octet| format!("{octet:02x}")).collect();
        Ok((reports, explanation, digest))
    }
}

/// The most datagrams of a conversation that are kept. *Assumed*: more than a handshake has.
const MOST_DATAGRAMS: usize = 1000;

impl Conversation {
    /// A datagram of an end was sent, or has arrived.
    fn note(&mut self, now: Instant, from: Role, payload: &[u8], is_sent: bool) {
        let at = now.as_secs_f64();
        if !is_sent {
            self.is_answered |= from == Role::Server && self.readers[from].is_answer(payload);
            let mut on_their_way = self.datagrams.iter_mut().filter(|sent| sent.told.arrived_s.is_none());
            if let Some(sent) = on_their_way.find(|sent| sent.told.from == from && *sent.payload == *payload) {
                sent.told.arrived_s = Some(at);
            }
            return;
        }
        if self.datagrams.len() == MOST_DATAGRAMS {
            return;
        }
        let is_established = self.ends[from].lock().established.is_some();
        let phase = if is_established { Phase::Data } else { Phase::Handshake };
        let (messages, octets, again) = self.readers[from].read(payload, phase);
        let told = Datagram { sent_s: at, arrived_s: None, from, octets, messages, again };
        self.datagrams.push(Sent { told, payload: payload.into() });
    }
}

impl Reader {
    fn new(is_stream: bool) -> Self {
        match is_stream {
            true => Self::Segments(Box::default()),
            false => Self::Datagrams(Box::default()),
        }
    }

    /// The messages in a datagram or segment, the octets of its payload, and whether it is a retransmission.
    fn read(&mut self, octets: &[u8], phase: Phase) -> (String, usize, bool) {
        match self {
            Self::Datagrams(reader) => {
                let (messages, again) = reader.read(octets, phase);
                (messages, octets.len(), again)
            }
            Self::Segments(reader) => {
                let (messages, again) = reader.read(octets);
                (messages, Segment::parse(octets).map_or(0, |segment| segment.payload.len()), again)
            }
        }
    }

    /// True if the program of the end has answered with it. TCP acknowledges by itself.
    fn is_answer(&self, octets: &[u8]) -> bool {
        match self {
            Self::Datagrams(_) => true,
            Self::Segments(_) => Segment::parse(octets).is_ok_and(|segment| !segment.payload.is_empty()),
        }
    }
}

/// True if a packet begins a connection of TCP.
fn is_first(packet: &[u8]) -> bool {
    let segment = packet.get(Ipv6Header::LENGTH..).and_then(|octets| Segment::parse(octets).ok());
    segment.is_some_and(|segment| segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK))
}

/// A program's end of a conversation, as far as it can be seen from outside: it tells the world how the session is.
#[derive(Clone, Debug)]
struct Seen(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    watcher: Watcher,
    established: Option<Duration>,
}

impl Progress {
    /// True if a handshake is complete at this end.
    fn has_finished(&self) -> bool {
        self.watcher.is_secure() && self.established.is_some()
    }
}

impl Seen {
    fn new(role: Role, is_stream: bool) -> Self {
        let watcher = if is_stream { Watcher::of_stream(role) } else { Watcher::of_datagrams(role) };
        Self(Arc::new(Mutex::new(Progress { watcher, established: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, now: Duration, is_sent: bool, payload: &[u8]) {
        let mut progress = self.lock();
        match is_sent {
            true => progress.watcher.sent(payload),
            false => progress.watcher.received(payload),
        }
        if progress.watcher.is_established() {
            progress.established.get_or_insert(now);
        }
    }

    fn status(&self) -> Status {
        let progress = self.lock();
        match (progress.established, progress.watcher.alert().and_then(Alert::failure)) {
            (Some(at), _) => Status::Established { at },
            (None, Some(failure)) => Status::Failed(failure),
            (None, None) => Status::Handshaking,
        }
    }
}
