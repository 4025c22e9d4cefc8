//! Suppression of DTLS flights that are sent again in vain.
//!
//! A server on the Internet that hears nothing for its timeout sends its flight again, though the first copy is still on
//! its way through the mesh, or the client computes. The border router recognises the copy, and holds it back until
//! the answer is due. Three things can happen then:
//!
//! - The client answers: the copy is discarded.
//! - The client sends again what it sent before this flight, and that left it when the flight should have arrived:
//!   the flight was lost, and the copy goes on at once.
//! - Neither, until the answer is overdue: the copy goes on.
//!
//! So what the mesh has lost arrives late at worst. A copy also goes on at once where the border router's own link layer
//! has given the first one up.
//!
//! A copy of a flight that the client has answered already (what the server misses is then a part of the answer, which
//! the client will send again) is held back for as long, and discarded when the client or the server gets on.
//!
//! Only handshakes of DTLS 1.2 and 1.0 are known here ([`dtls`]), on any port. All else passes: other protocols,
//! application data, alerts, records with a connection ID, the encrypted flights of DTLS 1.3.

use super::dtls::{self, Content};
use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::ip::{Endpoint, UdpDatagram};
use crate::transport::Path;
use slowhand_wire::flight::RecordId;
use slowhand_wire::{ContentType, Coverage, FlightPart};
use std::collections::{BTreeMap, VecDeque};

/// How patient the border router is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuppressionConfig {
    /// How long a device may take to answer a flight that has reached it, beyond the time that the mesh takes: it
    /// computes, and nothing distinguishes that from a loss until the client's own timer makes it say again what it said
    /// before.
    pub answer_time: Duration,
}

impl Default for SuppressionConfig {
    /// 9 s: the first timeout that RFC 7925 section 11 recommends where devices are constrained, "to account for" just this.
    fn default() -> Self {
        Self { answer_time: Duration::from_secs(9) }
    }
}

/// The parts of a handshake that are remembered in each direction, and the copies that are held, at most (assumed: more
/// than a handshake with certificates of 16 kB cut into 512 octets has). What comes beyond that passes.
const MAX_PARTS: usize = 256;

/// A conversation in which nothing was said for so long is forgotten when another one begins (assumed: longer than
/// timeouts become, RFC 6347 section 4.2.4.1: 60 s).
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);

/// What becomes of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It is kept here.
    Hold,
}

/// What becomes of a datagram that was held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It goes on into the mesh.
    Release {
        /// Its number.
        datagram: DatagramId,
        /// The packet as it came.
        packet: Vec<u8>,
    },
    /// Nobody needs it.
    Discard {
        /// Its number.
        datagram: DatagramId,
    },
}

/// What the border router knows of the handshakes that cross it.
#[derive(Debug)]
pub struct Suppression {
    config: SuppressionConfig,
    /// By the end on the Internet and the end in the mesh.
    conversations: BTreeMap<Key, Conversation>,
    /// In the order in which they came.
    held: Vec<Held>,
    actions: VecDeque<Action>,
    /// The parts of the datagram that is looked at; kept for its memory.
    parts: Vec<FlightPart>,
}

type Key = (Endpoint, Endpoint);

#[derive(Debug, Default)]
struct Conversation {
    /// The ClientHello that opened the handshake.
    hello: Option<u64>,
    /// Counts flights: a new one begins when one side says something new after the other.
    flight: u32,
    /// Whether the current flight goes into the mesh.
    downward: bool,
    /// Octets of the current flight, if it goes there, ...
    octets: usize,
    /// ... and when an answer to it should be here, counted from the first copy.
    due: Instant,
    /// What went into the mesh, and what came out of it.
    down: Vec<Sent>,
    up: Vec<(FlightPart, u32)>,
    /// The same, as sets.
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
    /// When it should be at the client.
    arrives: Instant,
    /// When an answer should have come out of the mesh.
    due: Instant,
    /// Whether it is known to be lost.
    lost: bool,
}

#[derive(Debug)]
struct Held {
    key: Key,
    parts: Vec<FlightPart>,
    flight: u32,
    until: Instant,
    datagram: DatagramId,
    packet: Vec<u8>,
}

impl Conversation {
    /// The latest flight of which `parts` are part; none where some of them are new.
    fn flight_down(&self, parts: &[FlightPart]) -> Option<u32> {
        let repeats = parts.iter().all(|part| self.covered_down.covers(part));
        self.copies(parts).map(|sent| sent.flight).max().filter(|_| repeats)
    }

    fn flight_up(&self, parts: &[FlightPart]) -> Option<u32> {
        let repeats = parts.iter().all(|part| self.covered_up.covers(part));
        let copies = self.up.iter().filter(|(sent, _)| parts.iter().any(|part| part.overlaps(sent)));
        copies.map(|&(_, flight)| flight).max().filter(|_| repeats)
    }

    /// What has gone into the mesh of these parts.
    fn copies<'a>(&'a self, parts: &'a [FlightPart]) -> impl Iterator<Item = &'a Sent> {
        self.down.iter().filter(|sent| parts.iter().any(|part| part.overlaps(&sent.part)))
    }

    /// Until when an answer to all of these parts may still come.
    fn on_its_way_until(&self, parts: &[FlightPart]) -> Instant {
        let due = |part: &FlightPart| self.copies(std::slice::from_ref(part)).map(|sent| sent.due).max();
        parts.iter().filter_map(due).min().unwrap_or_default()
    }

    /// A side says something new.
    fn say(&mut self, downward: bool) {
        if self.downward != downward || self.flight == 0 {
            self.flight += 1;
            self.downward = downward;
            (self.octets, self.due) = (0, Instant::ZERO);
        }
    }

    /// These parts go into the mesh, as part of a flight.
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
    /// A border router that has seen nothing yet.
    pub fn new(config: SuppressionConfig) -> Self {
        Self { config, conversations: BTreeMap::new(), held: Vec::new(), actions: VecDeque::new(), parts: Vec::new() }
    }

    /// A datagram comes from the Internet; `packet` is all of it. Take the [actions](Self::poll_action) afterwards.
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
                self.judge(now, key, &parts, packet, datagram, path)
            }
            Some(Content::Other) => {
                self.get_on(key, true);
                Verdict::Pass
            }
            None => Verdict::Pass,
        };
        self.parts = parts;
        verdict
    }

    /// A datagram comes out of the mesh; it passes in any case. Take the [actions](Self::poll_action) afterwards.
    pub fn handle_upward(&mut self, now: Instant, udp: &UdpDatagram<'_>, path: &impl Path) -> Verdict {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let key = (udp.destination, udp.source);
        match dtls::parse(udp.payload, &mut parts) {
            Some(Content::Handshake { hello }) => {
                self.begin(now, key, hello);
                self.listen(now, key, &parts, UdpDatagram::HEADERS + udp.payload.len(), path);
            }
            Some(Content::Other) => self.get_on(key, false),
            None => {}
        }
        self.parts = parts;
        Verdict::Pass
    }

    /// The border router's own link layer has given up a part of a datagram.
    pub fn handle_loss(&mut self, now: Instant, datagram: DatagramId, path: &impl Path) {
        let mut lost_for = None;
        for (&key, conversation) in &mut self.conversations {
            for sent in conversation.down.iter_mut().filter(|sent| sent.datagram == datagram) {
                sent.lost = true;
                lost_for = Some(key);
            }
        }
        if let Some(key) = lost_for {
            self.release_lost(now, key, path);
        }
    }

    /// When a held copy goes on.
    pub fn deadline(&self) -> Option<Instant> {
        self.held.iter().map(|held| held.until).min()
    }

    /// Lets go on what is due. Take the [actions](Self::poll_action) afterwards.
    pub fn handle_timeout(&mut self, now: Instant, path: &impl Path) {
        while let Some(index) = self.held.iter().position(|held| held.until <= now) {
            self.release(now, index, path);
        }
    }

    /// What becomes of datagrams that were held.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// How many copies are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Finds the conversation of a datagram, or begins one; a ClientHello that was not seen before begins another
    /// handshake.
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

    /// Decides about a part of a flight into the mesh.
    fn judge(
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
            conversation.say(true);
            conversation.octets += packet.len();
            let expected = expect(now, self.config, key, packet.len(), conversation.octets, datagram, path);
            conversation.due = conversation.due.max(expected.due);
            let flight = conversation.flight;
            conversation.note_down(parts, Sent { flight, ..expected });
            self.discard(|held| held.key == key && held.flight < flight);
            return Verdict::Pass;
        };
        if self.held.iter().any(|held| held.key == key && held.parts == parts) {
            self.actions.push_back(Action::Discard { datagram });
            return Verdict::Hold;
        }
        let expected = expect(now, self.config, key, packet.len(), conversation.octets, datagram, path);
        let answered = flight < conversation.flight;
        let until = match answered {
            true => expected.due,
            false => conversation.copies(parts).map(|sent| sent.due).fold(conversation.due, Instant::max),
        };
        let lost = !answered && conversation.copies(parts).any(|sent| sent.lost);
        if lost || until <= now || self.held.len() >= MAX_PARTS {
            conversation.note_down(parts, Sent { flight, ..expected });
            return Verdict::Pass;
        }
        self.held.push(Held { key, parts: parts.to_vec(), flight, until, datagram, packet: packet.to_vec() });
        Verdict::Hold
    }

    /// Hears what a client says.
    fn listen(&mut self, now: Instant, key: Key, parts: &[FlightPart], octets: usize, path: &impl Path) {
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        let Some(flight) = conversation.flight_up(parts) else {
            conversation.say(false);
            let flight = conversation.flight;
            let room = MAX_PARTS.saturating_sub(conversation.up.len());
            for part in parts.iter().take(room) {
                conversation.up.push((*part, flight));
                conversation.covered_up.insert(part);
            }
            return self.discard(|held| held.key == key && held.flight < flight);
        };
        // It says again what it said before: of flights from before that it has what it needs, ...
        self.discard(|held| held.key == key && held.flight < flight);
        // ... and of one that followed it misses what it should have had when it sent this.
        let way = path.upward(node_of(key), octets);
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        for sent in conversation.down.iter_mut().filter(|sent| sent.flight > flight && sent.arrives + way <= now) {
            sent.lost = true;
        }
        self.release_lost(now, key, path);
    }

    /// Something was said that is no part of a handshake: it is over, or as good as that.
    fn get_on(&mut self, key: Key, downward: bool) {
        let Some(conversation) = self.conversations.get_mut(&key) else { return };
        conversation.say(downward);
        let flight = conversation.flight;
        self.discard(|held| held.key == key && held.flight < flight);
    }

    /// Lets go on the copies of what is known to be lost.
    fn release_lost(&mut self, now: Instant, key: Key, path: &impl Path) {
        let lost = |held: &Held, conversations: &BTreeMap<Key, Conversation>| {
            held.key == key
                && conversations.get(&key).is_some_and(|known| known.copies(&held.parts).any(|sent| sent.lost))
        };
        while let Some(index) = self.held.iter().position(|held| lost(held, &self.conversations)) {
            self.release(now, index, path);
        }
    }

    fn release(&mut self, now: Instant, index: usize, path: &impl Path) {
        let Held { key, parts, flight, datagram, packet, .. } = self.held.remove(index);
        if let Some(conversation) = self.conversations.get_mut(&key) {
            let expected = expect(now, self.config, key, packet.len(), conversation.octets, datagram, path);
            conversation.note_down(&parts, Sent { flight, ..expected });
            // What else is held of it is a copy of what is on its way again.
            for held in self.held.iter_mut().filter(|held| held.key == key) {
                held.until = held.until.max(conversation.on_its_way_until(&held.parts));
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

/// When a packet of `octets` that goes into the mesh now should show effect, the answer being as long as the `flight` that
/// it is part of (assumed). FlightPart and flight are to be filled in.
fn expect(
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
    Sent { part, flight: 0, datagram, arrives, due, lost: false }
}

/// The node of a conversation; the border router itself, no hop away, where the address is no node's.
fn node_of((_, client): Key) -> NodeId {
    match Host::of_address(client.address) {
        Some(Host::Node(node)) => node,
        _ => NodeId::ROOT,
    }
}

#[cfg(test)]
mod tests;
