//! Where the time of one handshake went: its critical path, in words and as a timeline.
//!
//! The world of one seed runs again. It keeps what its ends do, each step with its cause, and what happens on the air.
//! The path from the end of the handshake back to its start has no gap, so its parts add up to the duration. The records
//! of this run are those of every other run.
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row.
//!
//! | modules | hold |
//! | --- | --- |
//! | `document` | the result: parts, path, lanes and events, as JSON has them; the list of all kinds of parts |
//! | `air`, `context`, `messages` | frames with their attempts; what must be known of the scenario; names of messages |
//! | `losses`, `comments` | which datagrams were lost, where and why, in words; comments on the frames of a capture |
//! | `path` | the critical path, from the end of the handshake back to its start |
//! | `sources` | everything that the explanation of a conversation is made from |
//! | `events`, `parts` | the timeline; the pieces of the path put together, in words |
//! | `scene` | every frame and every datagram of a world, by column |

pub(crate) mod air;
mod comments;
mod context;
mod document;
mod events;
mod losses;
mod messages;
mod parts;
mod path;
mod scene;
mod sources;

use crate::exchange::of_a_run;
use crate::ids::ConversationId;
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::{Conversation, Phase, Record};
use crate::scenario::Scenario;
use crate::world::World;
use crate::world::trace::{Span, Trace};
pub use air::Air;
pub(crate) use comments::comments;
use context::{Context, name_of};
pub use document::{Event, Explanation, HostEntry, KINDS, Lane, Part, PathEntry};
use events::Key;
pub use messages::{DatagramReader, SegmentReader};
use messages::{Names, joined, name_of_coap_in_stream, name_of_quic, name_of_segment};
use parts::Grouped;
pub use scene::{Computing, Datagram, Frames, Handshake, Loss, STATES, Scene};
use slowhand_net::datagram::DatagramId;
use slowhand_sessions::Protocol;
use sources::{Before, Sources};
use std::collections::{BTreeMap, BTreeSet};

/// A handshake that cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No client has this node.
    #[error("found {found}, allowed: the node of a client ({allowed})")]
    Client {
        /// The node.
        found: u16,
        /// The nodes of the clients.
        allowed: String,
    },
}

/// Runs the world of a seed, and explains the handshake of the client with this node; `None`: of the first client.
/// `None` if it is interrupted.
///
/// # Errors
/// The scenario cannot be run, or no client has this node.
pub fn explain(
    scenario: &Scenario,
    seed: u64,
    client: Option<u16>,
    interrupt: &Interrupt,
) -> Result<Option<Explanation>, ExplainError> {
    let plan = Plan::new(scenario)?;
    let position = position(&plan, client)?;
    let told = Told::of_world(&plan, seed, interrupt);
    Ok(told.and_then(|told| told.explain(scenario, &plan, position, interrupt)))
}

/// The place of the client with this node among the clients; `None`: of the first client.
///
/// # Errors
/// No client has this node.
pub(crate) fn position(plan: &Plan, client: Option<u16>) -> Result<usize, ExplainError> {
    let Some(found) = client else { return Ok(0) };
    plan.clients().iter().position(|client| client.0 == found).ok_or_else(|| {
        /// More would fill the screen.
        const MOST: usize = 10;
        let mut nodes: Vec<String> = plan.clients().iter().take(MOST).map(ToString::to_string).collect();
        nodes.extend((plan.clients().len() > MOST).then(|| "...".to_owned()));
        ExplainError::Client { found, allowed: nodes.join(", ") }
    })
}

/// A world that is over, with everything that happened in it.
pub(crate) struct Told {
    records: Vec<Record>,
    trace: Box<Trace>,
    air: Air,
}

impl Told {
    /// A world that somebody has run, with the records of its conversations.
    pub(crate) fn new(records: Vec<Record>, trace: Box<Trace>, mut air: Air) -> Self {
        air.finish();
        Self { records, trace, air }
    }

    fn of_world(plan: &Plan, seed: u64, interrupt: &Interrupt) -> Option<Self> {
        let mut air = Air::default();
        let applications = of_a_run(plan.exchange);
        let world = World::new(plan, seed, &applications, interrupt)?.with_trace();
        let finished = world.run(interrupt, &mut air)?;
        let records = Conversation::handshakes(finished.conversations);
        Some(Self::new(records, finished.trace.unwrap_or_default(), air))
    }

    /// Explains the handshake of the client at this place of the records: its last attempt in detail, and how long those
    /// before it and the waits between them took. `None` if it is interrupted.
    pub(crate) fn explain(
        &self,
        scenario: &Scenario,
        plan: &Plan,
        position: usize,
        interrupt: &Interrupt,
    ) -> Option<Explanation> {
        let Self { records, trace, air } = self;
        let record = &records[position];
        let attempts = &trace.attempts[position];
        let conversation = attempts.last()?.conversation;
        let context = Context::new(scenario, trace);
        let (names, written) = names(trace, conversation, plan.connection_id());
        let losses = losses::losses(trace, air, plan.is_acknowledged);
        if interrupt.is_set() {
            return None;
        }
        let mut pieces = path::earlier_attempts(trace, attempts);
        pieces.extend(path::critical_path(trace, air, &context, conversation));
        let given_up = slowhand_coap::endpoint::Failure::TimedOut.to_string();
        let is_given_up_by_coap = record.failure.as_ref().is_some_and(|failure| failure.reason == given_up);
        let before = Before::of(trace, &scenario.session, conversation);
        let (context, losses, names, written) = (&context, &losses, &names, &written);
        let sources =
            Sources { trace, air, context, conversation, losses, names, written, before, is_given_up_by_coap };
        if interrupt.is_set() {
            return None;
        }
        let (groups, part_of, events_of) = parts::grouped(&sources, &pieces);
        if interrupt.is_set() {
            return None;
        }
        let critical: BTreeSet<Key> = events_of.iter().flatten().copied().collect();
        let timeline = sources.timeline(&critical);
        let number = |key: Key| timeline.numbers.get(&key).copied();
        let with_causes = |Grouped { mut part, causes, .. }: Grouped| {
            part.causes = causes.into_iter().filter_map(number).collect();
            part
        };
        let path = pieces.iter().zip(part_of).zip(events_of).map(|((piece, part), event)| PathEntry {
            from_s: piece.from.as_secs_f64(),
            to_s: piece.to.as_secs_f64(),
            part,
            event: event.and_then(number),
        });
        let (Span { end, .. }, start) = (trace.spans[conversation], trace.spans[attempts.first()?.conversation].start);
        let duration_s = end.since(start).as_secs_f64();
        let summary = parts::summary(duration_s, &groups);
        let host = |host| HostEntry {
            name: name_of(host),
            role: context.role_of_host(conversation, host),
            device: context.device_of(host).to_owned(),
        };
        Some(Explanation {
            version: env!("CARGO_PKG_VERSION"),
            scenario: scenario.name.clone(),
            seed: record.seed,
            client: record.client,
            attempts: record.attempts,
            outcome: record.outcome.name(),
            reason: record.failure.as_ref().map_or_else(String::new, |failure| failure.reason.clone()),
            start_s: start.as_secs_f64(),
            end_s: end.as_secs_f64(),
            duration_s,
            hosts: context.hosts(conversation).into_iter().map(host).collect(),
            summary,
            path: path.collect(),
            parts: groups.into_iter().map(with_causes).collect(),
            lanes: timeline.lanes,
            events: timeline.events,
        })
    }
}

/// The content of each datagram of a conversation, and of each write to its stream.
fn names(
    trace: &Trace,
    conversation: ConversationId,
    connection_id: u8,
) -> (BTreeMap<DatagramId, String>, BTreeMap<usize, String>) {
    let protocol = trace.protocols[conversation];
    let (mut datagrams, mut written) = (BTreeMap::new(), BTreeMap::new());
    for end in conversation.ends() {
        let (mut reader, mut from_outside) = (Names::default(), DatagramReader::default());
        for (datagram, sent) in trace.sent_by(end) {
            let name = match protocol {
                _ if sent.control.is_some() => sent.control.unwrap_or_default().to_owned(),
                _ if trace.is_outside(end) => from_outside.read(&sent.payload.octets, Phase::Handshake).0,
                _ if protocol.is_stream() => name_of_segment(&sent.payload.octets),
                Protocol::Quic => name_of_quic(&sent.payload.octets),
                _ => reader.of_datagram(&sent.payload, connection_id),
            };
            datagrams.insert(datagram, name);
        }
        let writes = trace.written.iter().enumerate();
        for (number, write) in writes.filter(|(_, write)| trace.steps[write.step as usize].end == end) {
            let name = match protocol.transport() {
                None => name_of_coap_in_stream(&write.octets),
                Some(_) => joined(&reader.of_stream(&write.octets)),
            };
            written.insert(number, name);
        }
    }
    (datagrams, written)
}

#[cfg(test)]
mod tests;
