//! Everything that happened in a world, for a picture that moves: every frame on the air, every datagram of a session, on its whole
//! way.

use super::Told;
use super::air::Air;
use super::context::Context;
use super::{comments, losses, names};
use crate::ids::ConversationId;
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::world::trace::{Sender, Sent};
use serde::Serialize;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_net::observer::FrameKind;
use std::collections::BTreeMap;

/// The events in a world. Times are in microseconds of virtual time. A host is the number of its node; the Internet has the number
/// behind the last node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scene {
    /// The frames on the air, in the order of their first symbols.
    pub frames: Frames,
    /// The datagrams and segments of the sessions, in the order in which they were sent.
    pub datagrams: Vec<Datagram>,
    /// The handshakes, in the order of the records.
    pub handshakes: Vec<Handshake>,
    /// When devices computed.
    pub computing: Vec<Computing>,
    /// The texts that frames refer to by their place.
    pub texts: Vec<String>,
}

/// Frames, by column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Frames {
    /// The time of the first symbol.
    pub from_us: Vec<u64>,
    /// The time for which it was on the air.
    pub length_us: Vec<u64>,
    /// The sender.
    pub from: Vec<u16>,
    /// The receiver. `None`: all neighbours.
    pub to: Vec<Option<u16>>,
    /// The name of the frame, as a text.
    pub name: Vec<usize>,
    /// The place of its datagram. `None`: it carries none of a session.
    pub datagram: Vec<Option<usize>>,
    /// The fate of the frame: one of [`STATES`].
    pub state: Vec<usize>,
    /// Why it was lost, and what else is to be said of it, as a text.
    pub comment: Vec<Option<usize>>,
    /// The number of the attempt, from 1.
    pub attempt: Vec<u16>,
    /// The channel, 11 to 26.
    pub channel: Vec<u8>,
    /// Octets of the frame, FCS included.
    pub octets: Vec<usize>,
}

/// The fates of frames and datagrams: it arrived; it was lost; it was sent again, and that was needed, or spurious.
pub const STATES: [&str; 4] = ["ok", "lost", "needed", "spurious"];

/// A datagram or a segment of a session.
#[derive(Clone, Debug, Serialize)]
pub struct Datagram {
    /// The place of its handshake.
    pub handshake: Option<usize>,
    /// The host that sends it.
    pub from: usize,
    /// The host that is to receive it.
    pub to: usize,
    /// The content.
    pub name: String,
    /// Its octets.
    pub octets: usize,
    /// When it was sent.
    pub sent_us: u64,
    /// When it arrived first.
    pub arrived_us: Option<u64>,
    /// The fate of the datagram: one of [`STATES`].
    pub state: usize,
    /// When it was lost, where and why.
    pub loss: Option<Loss>,
    /// When it crossed the Internet. If it did not arrive there, the end is that of its loss.
    pub internet_us: Option<[u64; 2]>,
}

/// The loss of a datagram.
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// When.
    pub at_us: u64,
    /// The host.
    pub host: usize,
    /// The loss in words: of what, where and why.
    pub words: String,
}

/// A handshake, from the start of its first attempt to the end of its last one.
#[derive(Clone, Debug, Serialize)]
pub struct Handshake {
    /// The node of the client.
    pub client: u16,
    /// The end of the handshake, as the records have it.
    pub outcome: &'static str,
    /// When the client asked for the session.
    pub from_us: u64,
    /// When both ends were done.
    pub to_us: u64,
}

/// A device computed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Computing {
    /// The host.
    pub host: usize,
    /// From when.
    pub from_us: u64,
    /// Until when.
    pub to_us: u64,
}

impl Told {
    /// Everything that happened until a time.
    pub(crate) fn scene(&self, scenario: &Scenario, plan: &Plan, until: Instant) -> Scene {
        let Self { records, trace, air } = self;
        let context = Context::new(scenario, trace);
        let internet = plan.nodes();
        let number = |host: Host| match host {
            Host::Node(node) => node.index(),
            Host::Internet => internet,
        };
        let mut handshake_of: BTreeMap<ConversationId, usize> = BTreeMap::new();
        let mut handshakes = Vec::new();
        for (place, (record, attempts)) in records.iter().zip(&trace.attempts).enumerate() {
            handshake_of.extend(attempts.iter().map(|attempt| (attempt.conversation, place)));
            let span = |conversation: ConversationId| trace.spans[conversation];
            let (Some(first), Some(last)) = (attempts.first(), attempts.last()) else { continue };
            handshakes.push(Handshake {
                client: record.client,
                outcome: record.outcome.name(),
                from_us: span(first.conversation).start.as_micros(),
                to_us: span(last.conversation).end.as_micros(),
            });
        }
        let mut carried = BTreeMap::new();
        for conversation in trace.clients.ids() {
            carried.extend(names(trace, conversation, plan.connection_id()).0);
        }
        let losses = losses::losses(trace, air, plan.is_acknowledged);
        let in_order = in_order(&trace.sent);
        let places: BTreeMap<DatagramId, usize> =
            in_order.iter().enumerate().map(|(place, (datagram, _))| (*datagram, place)).collect();
        let datagram = |&(id, sent): &(DatagramId, &Sent)| {
            let name = carried.get(&id).cloned().unwrap_or_else(|| "datagram".to_owned());
            // The TCP proxy of the border router sends in the name of an end, and takes what is for an end.
            let from = match sent.by {
                Sender::Proxy { .. } => Host::Node(NodeId::ROOT),
                Sender::End(_) => context.host_of(sent.end),
            };
            let found = trace.arrived.get(&id);
            let arrived = found.map(|&(at, _)| at);
            let to = found.map_or_else(|| context.host_of(sent.end.peer()), |&(_, host)| host);
            let loss = losses.get(&id);
            let ended = arrived.or(loss.map(|loss| loss.at));
            let internet_us = internet_span(air, id, sent.at, [from, to], ended, loss.map(|loss| loss.host));
            Datagram {
                handshake: handshake_of.get(&sent.end.conversation()).copied(),
                from: number(from),
                to: number(to),
                octets: sent.payload.octets.len(),
                sent_us: sent.at.as_micros(),
                arrived_us: arrived.map(Instant::as_micros),
                state: state(loss.is_some(), trace.repeated.get(&id)),
                loss: loss.map(|loss| Loss {
                    at_us: loss.at.as_micros(),
                    host: number(loss.host),
                    words: losses::words(air, &context, loss, &name),
                }),
                internet_us: internet_us.map(|span| span.map(Instant::as_micros)),
                name,
            }
        };
        let computing = trace.computed.iter().map(|computed| {
            let step = trace.steps[computed.step as usize];
            Computing {
                host: number(context.host_of(step.end)),
                from_us: step.at.as_micros(),
                to_us: computed.until.as_micros(),
            }
        });
        let comments = comments(trace, air, scenario, plan);
        let mut texts = Texts::default();
        let mut frames = Frames::default();
        for (place, seen) in air.on_air.iter().enumerate().take_while(|(_, seen)| seen.at <= until) {
            let is_lost = comments::miss(air, &context, place).is_some();
            let repeated = trace.repeated.get(&seen.datagram).filter(|_| seen.kind == FrameKind::Data);
            frames.from_us.push(seen.at.as_micros());
            frames.length_us.push(seen.end.since(seen.at).as_micros());
            frames.from.push(seen.from.0);
            frames.to.push((!seen.kind.is_for_all()).then_some(seen.to.0));
            frames.name.push(texts.place(air.name(seen)));
            frames.datagram.push(places.get(&seen.datagram).copied());
            frames.state.push(state(is_lost, repeated));
            frames.comment.push(comments.get(&place).map(|words| texts.place(words.clone())));
            frames.attempt.push(u16::from(seen.attempt) + 1);
            frames.channel.push(seen.channel);
            frames.octets.push(seen.octets);
        }
        let datagrams = in_order.iter().map(datagram).collect();
        Scene { frames, datagrams, handshakes, computing: computing.collect(), texts: texts.all }
    }
}

/// The datagrams in the order in which they were sent.
fn in_order(sent: &BTreeMap<DatagramId, Sent>) -> Vec<(DatagramId, &Sent)> {
    let mut in_order: Vec<(DatagramId, &Sent)> = sent.iter().map(|(&datagram, sent)| (datagram, sent)).collect();
    in_order.sort_by_key(|(datagram, sent)| (sent.at, *datagram));
    in_order
}

/// When a datagram was between the border router and a host on the Internet. `lost_at`: the host that has lost it.
fn internet_span(
    air: &Air,
    datagram: DatagramId,
    sent: Instant,
    [from, to]: [Host; 2],
    ended: Option<Instant>,
    lost_at: Option<Host>,
) -> Option<[Instant; 2]> {
    let root = Host::Node(NodeId::ROOT);
    match (from, to) {
        (Host::Internet, _) => Some([sent, air.first_queued(NodeId::ROOT, datagram).or(ended)?]),
        (from, Host::Internet) if lost_at.is_none_or(|host| host == Host::Internet) => {
            let end = ended?;
            let handled = air.last_handled(NodeId::ROOT, datagram, end);
            let left = handled.and_then(|frame| air.frames[frame].handled);
            let begin = if from == root { Some(sent) } else { left };
            begin.map(|begin| [begin, end])
        }
        _ => None,
    }
}

/// The place of a state among all of them.
fn state(is_lost: bool, repeated: Option<&bool>) -> usize {
    match (is_lost, repeated) {
        (true, _) => 1,
        (_, Some(true)) => 2,
        (_, Some(false)) => 3,
        _ => 0,
    }
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: String) -> usize {
        let next = self.all.len();
        *self.places.entry(text).or_insert_with_key(|text| {
            self.all.push(text.clone());
            next
        })
    }
}
