//! Suppression of spurious DTLS retransmissions.
//!
//! A server on the Internet sends its flight again when its timer expires, although the first copy is still on its way
//! through the mesh, or the client still computes. The border router recognises the copy, and holds it back until the
//! answer is due. Then there are three cases:
//!
//! - The client answers: the border router discards the copy.
//! - The client repeats its previous flight, and it did so after this flight should have arrived. So this flight was
//!   lost: the border router releases the copy at once.
//! - Neither happens until the answer is overdue: the border router releases the copy.
//!
//! So a flight that the mesh has lost still arrives, though perhaps late. The border router also releases a copy at
//! once if its own link layer has given up the first copy.
//!
//! If lost fragments are sent again (RFC 8931), the border router knows more: it keeps a datagram in fragments until the
//! client acknowledges it, or gives it up. Until then the datagram is on its way, however long that takes. Then it has
//! arrived, and only the answer can be overdue; or it is lost, and a copy is released at once.
//!
//! If the client has already answered the flight, the server has missed a part of the answer, and the client will
//! repeat the answer. A copy of such a flight is held back for the same time. It is discarded as soon as the client or
//! the server sends its next flight.
//!
//! This module handles only handshakes of DTLS 1.2 and 1.0 ([`dtls`]), on any port. Everything else passes: other
//! protocols, application data, alerts, a record with a connection ID that stands alone, the encrypted flights of DTLS 1.3.

use super::super::destination::last_node;
use super::dtls::{self, Content};
use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::ip::{Endpoint, UdpDatagram};
use crate::transport::Path;
use slowhand_wire::flight::RecordId;
use slowhand_wire::{ContentType, Coverage, FlightPart};
use std::collections::{BTreeMap, VecDeque};

/// The time for which the border router holds copies back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuppressionConfig {
    /// The longest time that a device takes to answer a flight that has reached it, without the time in the mesh. While
    /// the device computes, the border router cannot tell this from a loss, until the client's own timer expires.
    pub answer_time: Duration,
}

impl Default for SuppressionConfig {
    /// 9 s: the initial timeout that RFC 7925 section 11 recommends for constrained devices, because they compute so
    /// long.
    fn default() -> Self {
        Self { answer_time: Duration::from_secs(9) }
    }
}

/// The largest number of parts of a handshake that are remembered in each direction, and of copies that are held
/// (assumed: more than a handshake with certificates of 16 kB in fragments of 512 octets has). Further copies pass.
const MAX_PARTS: usize = 256;

/// A conversation that was silent for so long is deleted when another one begins (assumed: it is longer than the
/// longest timeout, 60 s in RFC 6347 section 4.2.4.1).
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);

/// The decision about a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is forwarded.
    Pass,
    /// It is held back.
    Hold,
}

/// The fate of a datagram that was held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is forwarded into the mesh.
    Release {
        /// Its number.
        datagram: DatagramId,
        /// The packet, unchanged.
        packet: Vec<u8>,
    },
    /// It is dropped: no host needs it.
    Discard {
        /// Its number.
        datagram: DatagramId,
    },
}

/// The state of all handshakes that cross the border router.
#[derive(Debug)]
pub struct Suppression {
    config: SuppressionConfig,
    /// The key is the end on the Internet and the end in the mesh.
    conversations: BTreeMap<Key, Conversation>,
    /// The copies that are held, in the order of arrival.
    held: Vec<Held>,
    actions: VecDeque<Action>,
    /// The parts of the current datagram; kept for its memory.
    parts: Vec<FlightPart>,
}

type Key = (Endpoint, Endpoint);

#[derive(Debug, Default)]
struct Conversation {
    /// The ClientHello that opened the handshake.
    hello: Option<u64>,
    /// The number of the current flight. A new flight begins when the other side sends something new.
    flight: u32,
    /// True if the current flight goes into the mesh.
    downward: bool,
    /// The octets of the current flight, if it goes into the mesh.
    octets: usize,
    /// When the answer to the current flight is due, counted from its first copy.
    due: Instant,
    /// The parts that went into the mesh, and those that came out of it with their flights.
    down: Vec<Sent>,
    up: Vec<(FlightPart, u32)>,
    /// The parts of `down` and `up`, as sets.
    covered_down: Coverage,
    covered_up: Coverage,
    last: Instant,
}

/// A part that went into the mesh.
#[derive(Clone, Copy, Debug)]
struct Sent {
    part: FlightPart,
    flight: u32,
    /// In which datagram.
    datagram: DatagramId,
    /// When it should reach the client.
    arrives: Instant,
    /// When the answer is due at the border router.
    due: Instant,
    fate: Fate,
}

/// The fate of a part that went into the mesh, as the border router knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The times of its schedule.
    Estimated,
    /// Its fragments are sent again until they have arrived.
    Recovering,
    /// The client has acknowledged it.
    Arrived,
    Lost,
}

#[derive(Debug)]
struct Held {
    key: Key,
    parts: Vec<FlightPart>,
    flight: u32,
    /// None while recovery of the first copy is under way.
    until: Option<Instant>,
    datagram: DatagramId,
    packet: Vec<u8>,
}

impl Conversation {
    /// The latest flight that `parts` belong to; none if some of them are new.
    fn flight_down(&self, parts: &[FlightPart]) -> Option<u32> {
        latest_flight(parts, &self.covered_down, self.copies(parts).map(|sent| sent.flight))
    }

    fn flight_up(&self, parts: &[FlightPart]) -> Option<u32> {
        let copies = self.up.iter().filter(|(sent, _)| parts.iter().any(|part| part.overlaps(sent)));
        latest_flight(parts, &self.covered_up, copies.map(|&(_, flight)| flight))
    }

    /// The copies of these parts that went into the mesh.
    fn copies<'a>(&'a self, parts: &'a [FlightPart]) -> impl Iterator<Item = &'a Sent> {
        self.down.iter().filter(|sent| parts.iter().any(|part| part.overlaps(&sent.part)))
    }

    /// The time until which a copy of these parts of the current flight is held; none if recovery will tell.
    fn overdue_at(&self, parts: &[FlightPart]) -> Option<Instant> {
        let is_recovering = |sent: &Sent| sent.flight == self.flight && sent.fate == Fate::Recovering;
        let overdue = || self.copies(parts).map(|sent| sent.due).fold(self.due, Instant::max);
        (!self.down.iter().any(is_recovering)).then(overdue)
    }

    /// When the answer to the first of these parts is overdue.
    fn on_its_way_until(&self, parts: &[FlightPart]) -> Instant {
        let due = |part: &FlightPart| self.copies(std::slice::from_ref(part)).map(|sent| sent.due).max();
        parts.iter().filter_map(due).min().unwrap_or_default()
    }

    /// A side sends something new: begins a flight, unless this side's flight is the current one.
    fn advance_flight(&mut self, downward: bool) {
        if self.downward != downward || self.flight == 0 {
            self.flight += 1;
            self.downward = downward;
            (self.octets, self.due) = (0, Instant::ZERO);
        }
    }

    /// Notes that these parts go into the mesh.
    fn note_down(&mut self, parts: &[FlightPart], template: Sent) {
        for &part in parts {
            for sent in self.down.iter_mut().filter(|sent| part.overlaps(&sent.part)) {
                *sent = Sent { part: sent.part, flight: sent.flight, ..template };
            }
            if self.down.len() < MAX_PARTS && self.down.iter().all(|sent| sent.part != part) {
                self.down.push(Sent { part, ..template });
                self.covered_down.insert(&part);
            }
        }
    }
}

impl Suppression {
    /// A border router that has seen no handshake yet.
    pub fn new(config: SuppressionConfig) -> Self {
        Self { config, conversations: BTreeMap::new(), held: Vec::new(), actions: VecDeque::new(), parts: Vec::new() }
    }

    /// Judges a datagram from the Internet; `packet` is the whole packet. Poll the [actions](Self::poll_action)
    /// afterwards.
    pub fn handle_downward(
        &mut self,
        now: Instant,
        udp: &UdpDatagram<'_>,
        packet: &[u8],
        datagram: DatagramId,
        path: &impl Path,
    ) -> Verdict {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let key = (udp.source, udp.destination);
        let verdict = match dtls::parse(udp.payload, &mut parts) {
            Some(Content::Handshake { hello }) => {
                self.begin(now, key, hello);
                self.handle_server_flight(now, key, &parts, packet, datagram, path)
            }
            Some(Content::Other) => {
                self.handle_other(key, true);
                Verdict::Pass
            }
            None => Verdict::Pass,
        };
        self.parts = parts;
        verdict
    }

    /// Reads a datagram from the mesh; it always passes. Poll the [actions](Self::poll_action) afterwards.
    pub fn handle_upward(&mut self, now: Instant, udp: &UdpDatagram<'_>, path: &impl Path) -> Verdict {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let key = (udp.destination, udp.source);
        match dtls::parse(udp.payload, &mut parts) {
            Some(Content::Handshake { hello }) => {
                self.begin(now, key, hello);
                self.handle_client_flight(now, key, &parts, UdpDatagram::HEADERS + udp.payload.len(), path);
            }
            Some(Content::Other) => self.handle_other(key, false),
            None => {}
        }
        self.parts = parts;
        Verdict::Pass
    }

    /// Notes that the border router's own link layer, or its recovery of fragments, has given up a datagram.
    pub fn handle_loss(&mut self, now: Instant, datagram: DatagramId, path: &impl Path) {
        if let Some(key) = self.note_fate(datagram, Fate::Lost) {
            if self.held.iter().any(|held| held.key == key && held.until.is_none()) {
                self.hold_again(now, key);
            }
            self.release_lost(now, key, path);
        }
    }

    /// Notes that the border router sends lost fragments of a datagram again until [`handle_arrival`](Self::handle_arrival)
    /// or [`handle_loss`](Self::handle_loss) says how that ended.
    pub fn handle_recovery(&mut self, now: Instant, datagram: DatagramId) {
        if let Some(key) = self.note_fate(datagram, Fate::Recovering) {
            self.hold_again(now, key);
        }
    }

    /// Notes that the client has acknowledged all fragments of a datagram.
    pub fn handle_arrival(&mut self, now: Instant, datagram: DatagramId, path: &impl Path) {
        let answer_time = self.config.answer_time;
        let Some(key) = self.note_fate(datagram, Fate::Arrived) else { return };
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        let due = now + answer_time + path.upward(node_of(key), conversation.octets);
        conversation.due = conversation.due.max(due);
        conversation.down.iter_mut().filter(|sent| sent.datagram == datagram).for_each(|sent| sent.due = due);
        self.hold_again(now, key);
    }

    /// Notes what is known of a datagram. Returns its conversation; none if it is no part of a flight.
    fn note_fate(&mut self, datagram: DatagramId, fate: Fate) -> Option<Key> {
        let mut concerned = None;
        for (&key, conversation) in &mut self.conversations {
            for sent in conversation.down.iter_mut().filter(|sent| sent.datagram == datagram) {
                sent.fate = fate;
                concerned = Some(key);
            }
        }
        concerned
    }

    /// Works out again until when the copies of the current flight of a conversation are held: those that are overdue already,
    /// until now.
    fn hold_again(&mut self, now: Instant, key: Key) {
        let Some(conversation) = self.conversations.get(&key) else { return };
        let current = |held: &&mut Held| held.key == key && held.flight == conversation.flight;
        let until = |parts: &[FlightPart]| conversation.overdue_at(parts).map(|at| at.max(now));
        self.held.iter_mut().filter(current).for_each(|held| held.until = until(&held.parts));
    }

    /// When the next held copy must be released.
    pub fn deadline(&self) -> Option<Instant> {
        self.held.iter().filter_map(|held| held.until).min()
    }

    /// Releases the copies that are due. Poll the [actions](Self::poll_action) afterwards.
    pub fn handle_timeout(&mut self, now: Instant, path: &impl Path) {
        while let Some(index) = self.held.iter().position(|held| held.until.is_some_and(|at| at <= now)) {
            self.release(now, index, path);
        }
    }

    /// The next action on a held datagram; `None` if there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The number of held copies.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Finds the conversation of a datagram, or begins one. A new ClientHello begins another handshake.
    fn begin(&mut self, now: Instant, key: Key, hello: Option<u64>) {
        if !self.conversations.contains_key(&key) {
            let silent = |last| now.since(last) > FORGOTTEN_AFTER;
            let held = &self.held;
            self.conversations.retain(|key, known| !silent(known.last) || held.iter().any(|held| held.key == *key));
        }
        let conversation = self.conversations.entry(key).or_default();
        conversation.last = now;
        if hello.is_some() && hello != conversation.hello {
            *conversation = Conversation { hello, last: now, ..Conversation::default() };
            self.discard(|held| held.key == key);
        }
    }

    /// Decides about a datagram of a flight into the mesh.
    fn handle_server_flight(
        &mut self,
        now: Instant,
        key: Key,
        parts: &[FlightPart],
        packet: &[u8],
        datagram: DatagramId,
        path: &impl Path,
    ) -> Verdict {
        let Some(conversation) = self.conversations.get_mut(&key) else { return Verdict::Pass };
        let Some(flight) = conversation.flight_down(parts) else {
            conversation.advance_flight(true);
            conversation.octets += packet.len();
            let estimated = estimate(now, self.config, key, packet.len(), conversation.octets, datagram, path);
            conversation.due = conversation.due.max(estimated.due);
            let flight = conversation.flight;
            conversation.note_down(parts, Sent { flight, ..estimated });
            self.discard(|held| held.key == key && held.flight < flight);
            return Verdict::Pass;
        };
        if self.held.iter().any(|held| held.key == key && held.parts == parts) {
            self.actions.push_back(Action::Discard { datagram });
            return Verdict::Hold;
        }
        let estimated = estimate(now, self.config, key, packet.len(), conversation.octets, datagram, path);
        let answered = flight < conversation.flight;
        let until = match answered {
            true => Some(estimated.due),
            false => conversation.overdue_at(parts),
        };
        let lost = !answered && conversation.copies(parts).any(|sent| sent.fate == Fate::Lost);
        if lost || until.is_some_and(|at| at <= now) || self.held.len() >= MAX_PARTS {
            conversation.note_down(parts, Sent { flight, ..estimated });
            return Verdict::Pass;
        }
        self.held.push(Held { key, parts: parts.to_vec(), flight, until, datagram, packet: packet.to_vec() });
        Verdict::Hold
    }

    /// Learns from a datagram of a flight out of the mesh.
    fn handle_client_flight(&mut self, now: Instant, key: Key, parts: &[FlightPart], octets: usize, path: &impl Path) {
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        let Some(flight) = conversation.flight_up(parts) else {
            conversation.advance_flight(false);
            let flight = conversation.flight;
            let room = MAX_PARTS.saturating_sub(conversation.up.len());
            for part in parts.iter().take(room) {
                conversation.up.push((*part, flight));
                conversation.covered_up.insert(part);
            }
            return self.discard(|held| held.key == key && held.flight < flight);
        };
        // The client repeats a flight: it has received everything from before this flight.
        self.discard(|held| held.key == key && held.flight < flight);
        // A part of a later flight that should have arrived before the client sent this is lost.
        let upward = path.upward(node_of(key), octets);
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        let is_overdue = |sent: &&mut Sent| sent.fate == Fate::Estimated && sent.arrives + upward <= now;
        for sent in conversation.down.iter_mut().filter(|sent| sent.flight > flight).filter(is_overdue) {
            sent.fate = Fate::Lost;
        }
        self.release_lost(now, key, path);
    }

    /// A side sends something that is not part of a handshake: the handshake is over or has failed.
    fn handle_other(&mut self, key: Key, downward: bool) {
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        conversation.advance_flight(downward);
        let flight = conversation.flight;
        self.discard(|held| held.key == key && held.flight < flight);
    }

    /// Releases the copies of parts that are known to be lost.
    fn release_lost(&mut self, now: Instant, key: Key, path: &impl Path) {
        let lost = |held: &Held, conversations: &BTreeMap<Key, Conversation>| {
            held.key == key
                && conversations
                    .get(&key)
                    .is_some_and(|known| known.copies(&held.parts).any(|sent| sent.fate == Fate::Lost))
        };
        while let Some(index) = self.held.iter().position(|held| lost(held, &self.conversations)) {
            self.release(now, index, path);
        }
    }

    fn release(&mut self, now: Instant, index: usize, path: &impl Path) {
        let Held { key, parts, flight, datagram, packet, .. } = self.held.remove(index);
        if let Some(conversation) = self.conversations.get_mut(&key) {
            let estimated = estimate(now, self.config, key, packet.len(), conversation.octets, datagram, path);
            conversation.note_down(&parts, Sent { flight, ..estimated });
            // Other held copies of these parts now repeat a datagram that is on its way again.
            for held in self.held.iter_mut().filter(|held| held.key == key) {
                held.until = held.until.map(|until| until.max(conversation.on_its_way_until(&held.parts)));
            }
        }
        self.actions.push_back(Action::Release { datagram, packet });
    }

    fn discard(&mut self, which: impl Fn(&Held) -> bool) {
        let actions = &mut self.actions;
        self.held.retain(|held| {
            let needless = which(held);
            if needless {
                actions.push_back(Action::Discard { datagram: held.datagram });
            }
            !needless
        });
    }
}

/// The latest of the flights of these parts' copies; none if some of the parts are new.
fn latest_flight(parts: &[FlightPart], covered: &Coverage, copies: impl Iterator<Item = u32>) -> Option<u32> {
    copies.max().filter(|_| parts.iter().all(|part| covered.covers(part)))
}

/// Computes when a packet of `octets` that goes into the mesh now arrives, and when its answer is due. It assumes that
/// the answer is as long as the `flight` that the packet belongs to. The caller fills in part and flight number.
fn estimate(
    now: Instant,
    config: SuppressionConfig,
    key: Key,
    octets: usize,
    flight: usize,
    datagram: DatagramId,
    path: &impl Path,
) -> Sent {
    let node = node_of(key);
    let arrives = now + path.downward(node, 1, octets);
    let due = arrives + config.answer_time + path.upward(node, flight.max(octets));
    let part = FlightPart::Record(RecordId { content_type: ContentType::Other(0), epoch: 0, length: 0 });
    Sent { part, flight: 0, datagram, arrives, due, fate: Fate::Estimated }
}

/// The node of a conversation. If the address is not that of a node: the border router itself, zero hops away.
fn node_of((_, client): Key) -> NodeId {
    last_node(Host::of_address(client.address))
}

#[cfg(test)]
mod tests;
