//! The pieces of the path put together, each part in words.

use super::air::{Attempt, Frame};
use super::comments::{self, Miss};
use super::context::name_of;
use super::document::Part;
use super::events::Key;
use super::losses::{self, Loss};
use super::path::{Piece, What};
use super::sources::Sources;
use crate::ids::{ConversationId, EndId};
use crate::scenario::{Advice, Remedy};
use crate::world::trace::{Cause, Sender, StepId, Timer};
use slowhand_coap::message::is_coap;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_sessions::{Carrier, Role};
use std::collections::{BTreeMap, BTreeSet};

/// A piece of the path in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Words {
    pub(super) kind: &'static str,
    pub(super) host: String,
    pub(super) text: String,
    pub(super) remedy: Option<String>,
}

/// The form of a part in the summary. Parts of one kind that differ in nothing else are one there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// The wait for a timer: whose, how long in microseconds, and what made it necessary.
    Timer { whose: String, length: u64, why: String },
    /// An end computes.
    Computing { role: Role },
    /// In queues, wherever they are, behind frames of somebody.
    Queue { whose: String },
    /// Anything else, in few words.
    Other(String),
}

/// The key of CoAP's timer.
const ACK_TIMEOUT: &str = "session.coap.ack_timeout_s";

/// The reason that made a timer necessary.
struct Why {
    text: String,
    loss: Option<Loss>,
    /// True if the reason is that a radio was switched off.
    is_outage: bool,
    /// True if the peer never sent again what was lost: no timer is of use.
    is_forgotten: bool,
}

/// A part, what it is in the summary, and the events that are its causes.
pub(super) struct Grouped {
    pub(super) part: Part,
    pub(super) short: Short,
    pub(super) causes: Vec<Key>,
}

/// Puts pieces with the same words together, the largest part first. Also returns the part of each piece, and the event
/// that it waited for.
pub(super) fn grouped(sources: &Sources<'_>, pieces: &[Piece]) -> (Vec<Grouped>, Vec<usize>, Vec<Option<Key>>) {
    let mut groups: BTreeMap<Words, (Short, u64, Vec<usize>)> = BTreeMap::new();
    let mut events = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let (words, short, event) = sources.words(piece);
        let (_, micros, members) = groups.entry(words).or_insert_with(|| (short, 0, Vec::new()));
        *micros += piece.to.since(piece.from).as_micros();
        members.push(number);
        events.push(event);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (_, micros, _))| std::cmp::Reverse(*micros));
    let mut part_of = vec![0; pieces.len()];
    let mut parts = Vec::new();
    for (number, (words, (short, microseconds, members))) in groups.into_iter().enumerate() {
        let mut known = BTreeSet::new();
        let causes = members.iter().filter_map(|&piece| events[piece]).filter(|event| known.insert(*event)).collect();
        members.iter().for_each(|&piece| part_of[piece] = number);
        let Words { kind, host, text, remedy } = words;
        let seconds = microseconds as f64 / 1e6;
        let spans = joined_spans(members.iter().map(|&piece| pieces[piece]));
        let part = Part { kind, host, seconds, microseconds, text, remedy, causes: Vec::new(), spans };
        parts.push(Grouped { part, short, causes });
    }
    (parts, part_of, events)
}

/// The times of pieces; those that follow each other are one.
fn joined_spans(pieces: impl Iterator<Item = Piece>) -> Vec<[f64; 2]> {
    let mut spans: Vec<(Instant, Instant)> = Vec::new();
    for piece in pieces {
        match spans.last_mut().filter(|last| last.1 == piece.from) {
            Some(last) => last.1 = piece.to,
            None => spans.push((piece.from, piece.to)),
        }
    }
    spans.into_iter().map(|(from, to)| [from.as_secs_f64(), to.as_secs_f64()]).collect()
}

/// The sentence above all parts: the kinds with the most time.
pub(super) fn summary(duration_s: f64, parts: &[Grouped]) -> String {
    /// More than these make no readable sentence.
    const MOST: usize = 5;
    if parts.is_empty() {
        return format!("{duration_s:.2} s: nothing was sent before the handshake was given up");
    }
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for Grouped { part, short, .. } in parts {
        match kinds.iter_mut().find(|kind| kind.has(short)) {
            Some(kind) => kind.add(short, part.microseconds),
            None => kinds.push(Kind::new(short, part.microseconds)),
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.microseconds));
    let rest: u64 = kinds.iter().skip(MOST).map(|kind| kind.microseconds).sum();
    kinds.truncate(MOST);
    let in_words = |kind: &Kind<'_>| format!("{:.2} s {}", kind.microseconds as f64 / 1e6, kind.words());
    let mut words: Vec<String> = kinds.iter().map(in_words).collect();
    if rest > 0 {
        words.push(format!("{:.2} s for the rest", rest as f64 / 1e6));
    }
    format!("{duration_s:.2} s: {}", words.join(", "))
}

/// Parts that are one in the summary.
struct Kind<'a> {
    first: &'a Short,
    microseconds: u64,
    /// The length of the shortest and of the longest of their timers, in microseconds.
    timers: Option<(u64, u64)>,
}

impl<'a> Kind<'a> {
    fn new(first: &'a Short, microseconds: u64) -> Self {
        Self { first, microseconds, timers: first.timer().map(|length| (length, length)) }
    }

    /// True if such a part belongs to it.
    fn has(&self, short: &Short) -> bool {
        match (self.first, short) {
            (Short::Timer { whose, why, .. }, Short::Timer { whose: other, why: other_why, .. }) => {
                (whose, why) == (other, other_why)
            }
            (one, other) => one == other,
        }
    }

    fn add(&mut self, short: &Short, microseconds: u64) {
        self.microseconds += microseconds;
        self.timers = self.timers.zip(short.timer()).map(|((least, most), new)| (least.min(new), most.max(new)));
    }

    fn words(&self) -> String {
        match (self.first, self.timers) {
            (Short::Timer { whose, why, .. }, Some((least, most))) if length(least) != length(most) => {
                format!("waiting for {whose}s ({} to {}), {why}", length(least), length(most))
            }
            (first, _) => first.words(),
        }
    }
}

impl Short {
    fn other(words: impl Into<String>) -> Self {
        Self::Other(words.into())
    }

    /// The length of its timer, in microseconds.
    fn timer(&self) -> Option<u64> {
        match self {
            Self::Timer { length, .. } => Some(*length),
            _ => None,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Timer { whose, length: micros, why } => format!("waiting for {whose} of {}, {why}", length(*micros)),
            Self::Computing { role } => format!("computing at the {role}"),
            Self::Queue { whose } => format!("in queues behind {whose}"),
            Self::Other(words) => words.clone(),
        }
    }
}

/// A link layer's kind of wait in few words; `None` if there are no fewer than those of the part.
fn few_words(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "cells" => "waiting for cells",
        "channel" => "waiting for a clear channel",
        "poll" => "waiting for polls",
        "wakeup" => "waiting for neighbours to wake up",
        "beacon" => "waiting for active periods",
        _ => return None,
    })
}

impl Sources<'_> {
    /// The words for a piece, also in the summary, and the event that is the cause.
    fn words(&self, piece: &Piece) -> (Words, Short, Option<Key>) {
        let (words, short, event) = self.words_of(piece);
        let is_progress = matches!(
            piece.what,
            What::Computing { .. }
                | What::Busy { .. }
                | What::Opportunity { .. }
                | What::Queue { .. }
                | What::Retry { .. }
                | What::Air { .. }
                | What::Handling { .. }
                | What::Internet { .. }
        );
        match self.before {
            Some((before, until)) if is_progress && piece.to <= until => {
                let (kind, text, remedy) = before.words();
                let (host, remedy) = (name_of(Host::Node(self.client())), remedy.and_then(in_words));
                (Words { kind, host, text: text.to_owned(), remedy }, Short::other(text), event)
            }
            _ => (words, short, event),
        }
    }

    /// The words for a piece alone, whatever it is a part of.
    fn words_of(&self, piece: &Piece) -> (Words, Short, Option<Key>) {
        let node = |node: NodeId| name_of(Host::Node(node));
        let frame = |frame: usize| &self.air.frames[frame];
        let brief = |kind, host: String, text: String, remedy: Option<Remedy>, short, event| {
            (Words { kind, host, text, remedy: remedy.and_then(in_words) }, short, event)
        };
        let own = |kind, host, text: String, remedy, event| {
            let short = Short::other(text.clone());
            brief(kind, host, text, remedy, short, event)
        };
        match piece.what {
            What::Computing { end, step } => {
                let role = end.role();
                let remedy = Some(Remedy::change(["client.device", "server.device"][end.role()]));
                let text = format!("the {role} computes");
                brief("computing", self.host(end), text, remedy, Short::Computing { role }, Some(Key::Computing(step)))
            }
            What::Busy { end } => {
                let text = format!("the {} computes for other sessions", end.role());
                own("busy", self.host(end), text, None, None)
            }
            What::Timer { end, timer, step } => self.timer(piece, end, timer, step),
            What::GivingUp { end, run } => self.giving_up(piece, end, run),
            What::Opportunity { frame: number } => {
                let opportunity = self.context.opportunity(frame(number).to);
                let text = format!("{} at {}", opportunity.words, node(frame(number).from));
                let short = Short::other(few_words(opportunity.kind).map_or_else(|| text.clone(), str::to_owned));
                let host = node(frame(number).from);
                brief(opportunity.kind, host, text, opportunity.remedy, short, self.packet(number))
            }
            What::Queue { frame: number, behind } => {
                let (whose, remedy) = self.whose(frame(behind).datagram);
                let text = format!("in the queue of {} behind {whose}", node(frame(number).from));
                let host = node(frame(number).from);
                brief("queue", host, text, remedy, Short::Queue { whose }, self.packet(behind))
            }
            What::Retry { frame: number } => {
                let (from, to) = (frame(number).from, frame(number).to);
                let (text, remedy) = self.why_again(number, piece);
                let text = format!("sending again from {} to {} {text}", node(from), node(to));
                let short = Short::other("sending frames again");
                brief("retries", node(from), text, remedy, short, self.packet(number))
            }
            What::Air { frame: number, attempt } => {
                let text = format!("frames and acknowledgements on the air from {}", node(frame(number).from));
                let on_air = frame(number).attempts[attempt].on_air;
                let short = Short::other("on the air");
                brief("air", node(frame(number).from), text, None, short, Some(Key::OnAir(on_air)))
            }
            What::Outage { frame: number, node: off } => {
                let text = format!("while the radio of {} was switched off", node(off));
                let remedy = Some(Remedy::change("network.outages"));
                own("outage", node(off), text, remedy, self.packet(number))
            }
            What::Handling { frame: number, node: at } => {
                let text = format!("the processor of {} handles frames", node(at));
                let remedy = Some(Remedy::lower("network.frame_handling_ms"));
                let short = Short::other("handling frames");
                brief("handling", node(at), text, remedy, short, self.packet(number))
            }
            What::Recovery { node: at, datagram } => {
                let why = self.lost_fragment(piece, datagram);
                let text = format!("{} waited for the timer of fragment recovery{why}", node(at));
                let remedy = Some(Remedy::lower("lowpan.recovery.arq_timeout_s"));
                own("recovery", node(at), text, remedy, Some(Key::Datagram(datagram)))
            }
            What::Internet { datagram } => {
                let text = "crossing the Internet between border router and server".to_owned();
                let remedy = Some(Remedy::lower("server.internet_delay_ms"));
                let short = Short::other("crossing the Internet");
                brief("internet", "Internet".to_owned(), text, remedy, short, Some(Key::Datagram(datagram)))
            }
            What::Gateway { datagram } => {
                let text = "the border router held a repeated flight back".to_owned();
                let remedy = Some(Remedy::change("gateway.suppress_spurious_flights"));
                own("gateway", node(NodeId::ROOT), text, remedy, Some(Key::Datagram(datagram)))
            }
            What::ProxyTimer { datagram } => {
                let text = "waiting for a timer of the border router's TCP proxy".to_owned();
                own("tcp", node(NodeId::ROOT), text, None, Some(Key::Datagram(datagram)))
            }
            What::Attempt { outcome } => {
                let text = format!("attempts of the client before this one, which failed: {}", outcome.name());
                own("attempt", node(self.client()), text, None, None)
            }
            What::HandOver => {
                let text = "the client asks its delegate for a session, which opens it and hands it over".to_owned();
                // Without a delegate the client does the whole handshake, which takes longer.
                own("hand-over", node(self.client()), text, None, None)
            }
            What::Wait => {
                let text = "the client waits before it tries again".to_owned();
                own("again", node(self.client()), text, Some(Remedy::change("application.retry")), None)
            }
            What::Other { datagram } => {
                let host = self.trace.sent.get(&datagram).map_or("Internet".to_owned(), |sent| self.host(sent.end));
                own("other", host, "not explained".to_owned(), None, Some(Key::Datagram(datagram)))
            }
        }
    }

    fn client(&self) -> NodeId {
        self.trace.clients[self.conversation]
    }

    fn host(&self, end: EndId) -> String {
        name_of(self.context.host_of(end))
    }

    /// The event of the packet that a frame carries over its hop.
    fn packet(&self, frame: usize) -> Option<Key> {
        let frame = &self.air.frames[frame];
        (frame.datagram != NO_DATAGRAM).then_some(Key::Packet(frame.datagram, frame.from, frame.to))
    }

    /// The frames that had to be sent again in this time, and why; what changes it.
    fn why_again(&self, frame: usize, piece: &Piece) -> (String, Option<Remedy>) {
        let missed = |attempt: &Attempt| {
            let answer = || {
                let after = attempt.on_air + 1..self.air.on_air.len();
                let mut during = after.take_while(|&number| self.air.on_air[number].at < attempt.end);
                during.find(|&number| self.air.on_air[number].frame == Some(frame))
            };
            let is_received = self.air.on_air[attempt.on_air].received;
            let number = if is_received { answer()? } else { attempt.on_air };
            Some((number, is_received, comments::miss(self.air, self.context, number)?))
        };
        let mut before = self.air.frames[frame].attempts.iter().rev().filter(|attempt| attempt.at < piece.to);
        let Some((number, is_received, miss)) = before.find_map(missed) else {
            return ("what was not acknowledged".to_owned(), None);
        };
        let what = if is_received { "what arrived, but whose acknowledgement did not" } else { "what did not arrive" };
        let place = name_of(Host::Node(self.air.on_air[number].to));
        let (why, remedy) = match miss {
            Miss::Off => {
                (format!("because the radio of {place} was switched off"), Some(Remedy::change("network.outages")))
            }
            Miss::Sending => (format!("because {place} was sending itself"), None),
            Miss::Collided(_) => ("because of collisions".to_owned(), None),
            Miss::Link => self.context.loss_on_link(&self.air.on_air[number]),
        };
        (format!("{what}, {why}"), remedy)
    }

    /// Whose frames these are, and what makes them fewer.
    fn whose(&self, datagram: DatagramId) -> (String, Option<Remedy>) {
        let Some(sent) = self.trace.sent.get(&datagram) else {
            return match datagram {
                NO_DATAGRAM => ("frames of the link layer itself".to_owned(), None),
                _ => ("other traffic".to_owned(), Some(Remedy::change("traffic"))),
            };
        };
        let conversation = sent.end.conversation();
        if self.trace.clients[conversation] != self.client() {
            return ("other sessions".to_owned(), Some(Remedy::lower("client.count")));
        }
        if self.trace.repeated.get(&datagram) != Some(&false) {
            let text = match conversation == self.conversation {
                true => "frames of the same session to another neighbour",
                false if self.delegate_of(conversation).is_none() => "frames of an earlier attempt",
                false => "frames of the hand-over",
            };
            return (text.to_owned(), None);
        }
        let timer = match sent.by {
            Sender::End(step) => self.timer_before(step),
            Sender::Proxy { .. } => None,
        };
        match timer {
            Some((end, ..)) if self.trace.is_outside(end) => {
                (format!("what the {}'s program sent again needlessly", end.role()), None)
            }
            Some((end, timer, length)) => {
                let role = end.role();
                // The timers of TCP are measured: they are not as long as a key says.
                if self.context.is_stream() {
                    let is_first =
                        Segment::parse(&sent.payload.octets).is_ok_and(|segment| segment.flags.contains(Flags::SYN));
                    let key = match (is_first, role) {
                        (true, Role::Client) => "transport.client.syn_timeout_s",
                        (true, Role::Server) => "transport.server.syn_timeout_s",
                        (false, Role::Client) => "transport.client.min_rto_s",
                        (false, Role::Server) => "transport.server.min_rto_s",
                    };
                    let text = format!("what the {role}'s TCP timer of {length} sent again needlessly");
                    return (text, Some(Remedy::raise(key)));
                }
                if sent.control.is_some() {
                    let text = format!("what the {role}'s DCCP timer of {length} sent again needlessly");
                    return (text, Some(Remedy::raise("transport.dccp.initial_rto_s")));
                }
                let is_delegate = self.delegate_of(end.conversation()) == Some(role);
                let whose = if is_delegate { "delegate" } else { role.name() };
                let first = self.first_timeout(end, timer, sent.at);
                let name = if timer == Timer::Messages { timer.name() } else { "timer" };
                let text = format!("what the {whose}'s {name}{first} sent again needlessly");
                (text, Some(Remedy::raise(self.timer_key(end, timer, sent.at))))
            }
            None => ("datagrams that were sent again needlessly".to_owned(), None),
        }
    }

    /// The role of the delegate in a conversation. `None` if both ends are those of the client and of the server.
    fn delegate_of(&self, conversation: ConversationId) -> Option<Role> {
        let mut attempts = self.trace.attempts.iter().flatten();
        match attempts.find(|attempt| attempt.conversation == conversation) {
            Some(attempt) => attempt.is_hand_over.then_some(Role::Server),
            // What the delegate opens is no attempt of the client.
            None => Some(Role::Client),
        }
    }

    /// The timer that made an end send: of which end, which one, and how long the first one was that ran before it without an answer.
    fn timer_before(&self, step: StepId) -> Option<(EndId, Timer, String)> {
        let mut number = step;
        // Each step is after its cause.
        loop {
            let step = self.trace.steps[number as usize];
            match step.cause {
                Cause::Ready { by } | Cause::Read { by } => number = by,
                // It doubles each time.
                Cause::Timer { set_by, .. } if self.is_by_timer(set_by) => number = set_by,
                Cause::Timer { timer, set_by, due } => {
                    let base = self.trace.base_of_timer(set_by, step.at).0;
                    return Some((step.end, timer, length(due.since(base).as_micros())));
                }
                Cause::Arrival { datagram, .. } => match self.trace.sent.get(&datagram)?.by {
                    // A repeated flight is answered with a repeated flight.
                    Sender::End(step) if self.trace.repeated.contains_key(&datagram) => number = step,
                    _ => return None,
                },
                Cause::Start => return None,
            }
        }
    }

    /// The first timeout of an end's flights, as its library has it. A message of CoAP has no such.
    fn first_timeout(&self, end: EndId, timer: Timer, at: Instant) -> String {
        if self.is_of_coap(end, timer, at) {
            return String::new();
        }
        let settings = self.context.scenario.session.settings();
        let timer = [settings.client.timer, settings.server.timer][end.role()];
        timer.map_or_else(String::new, |timer| format!(" ({} at first)", length((timer.first_ms * 1e3).round() as u64)))
    }

    fn is_by_timer(&self, step: StepId) -> bool {
        matches!(self.trace.steps[step as usize].cause, Cause::Timer { .. })
    }

    /// The key of the timer of a session that ran for an end at this time.
    fn timer_key(&self, end: EndId, timer: Timer, at: Instant) -> &'static str {
        let session = &self.context.scenario.session;
        match end.role() == Role::Server && session.server_timeout_s.is_some() {
            _ if self.is_of_coap(end, timer, at) => ACK_TIMEOUT,
            true => "session.server_timeout_s",
            false => "session.timeout_s",
        }
    }

    /// True if a timer of a session is one of CoAP: that of the messages in records, or what the end has sent last, until then, is a
    /// message that is not in records.
    fn is_of_coap(&self, end: EndId, timer: Timer, at: Instant) -> bool {
        let session = &self.context.scenario.session;
        if timer == Timer::Messages
            || self.trace.protocols[end.conversation()].transport().is_none()
            || session.carrier == Carrier::Coap
        {
            return true;
        }
        // The messages of the anchor go before those of DTLS.
        let last = self.trace.sent_by(end).take_while(|(_, sent)| sent.at <= at).last();
        session.trust_anchor && last.is_some_and(|(_, sent)| is_coap(&sent.payload.octets))
    }

    /// The fragment that was lost before a timer of fragment recovery was due, in words.
    fn lost_fragment(&self, piece: &Piece, datagram: DatagramId) -> String {
        let is_lost = |frame: &&Frame| (frame.received.is_none() || frame.discarded) && frame.queued_at < piece.to;
        let is_gone = |frame: &&Frame| frame.attempts.last().is_some_and(|last| last.end <= piece.to);
        let lost = self.air.frames_with(datagram).filter(is_lost).filter(is_gone).last();
        lost.map_or_else(String::new, |frame| {
            let name = self.names.get(&datagram).map_or("a datagram", String::as_str);
            let why = if frame.discarded { "the scenario asks for it" } else { "all attempts failed" };
            let (fragment, to) = (losses::fragment_of(frame), name_of(Host::Node(frame.to)));
            format!(", because {fragment}{name} was lost on its way to {to} ({why})")
        })
    }

    /// A wait that had no end: the timer that ran when the handshake was given up.
    fn giving_up(&self, piece: &Piece, end: EndId, run: Option<usize>) -> (Words, Short, Option<Key>) {
        let role = end.role();
        let own = |text, remedy, short, event| {
            let remedy = Option::and_then(remedy, in_words);
            let words = Words { kind: "giving-up", host: self.host(end), text, remedy };
            (words, Short::Other(short), event)
        };
        if self.trace.is_outside(end) {
            let text = "until the world was over: nothing came any more".to_owned();
            return own(text.clone(), None, text, None);
        }
        let longer = Remedy::raise("session.give_up_s");
        let Some(number) = run else {
            let text = "until session.give_up_s was over: nothing came any more".to_owned();
            return own(text.clone(), Some(longer), text, None);
        };
        let run = &self.trace.timers[number];
        let Why { text: why, loss, is_outage, is_forgotten } = self.why_timer(end, piece.from, piece.to);
        let of = run.timer.name();
        let length = length(run.due.since(piece.from).as_micros());
        let short = format!("until session.give_up_s was over, {why}");
        let text = format!("{short}; the {role}'s {of} of {length} was still running");
        let remedy = match (is_outage, is_forgotten) {
            (true, _) => Some(Remedy::change("network.outages")),
            (false, true) => loss.and_then(|loss| self.remedy(&loss)),
            (false, false) => Some(longer),
        };
        own(text, remedy, short, Some(Key::Timer(number)))
    }

    /// A wait for a timer: what made it necessary.
    fn timer(&self, piece: &Piece, end: EndId, timer: Timer, step: StepId) -> (Words, Short, Option<Key>) {
        let key = self.trace.ended_run(step).map(Key::Timer);
        let Cause::Timer { set_by, due, .. } = self.trace.steps[step as usize].cause else {
            unreachable!("a timer is the cause of this step")
        };
        if timer == Timer::Program {
            return self.program(piece, end, set_by);
        }
        let base = self.trace.base_of_timer(set_by, piece.to).0;
        let (role, micros) = (end.role(), due.since(base).as_micros());
        let Why { text: why, loss, is_outage, is_forgotten } = self.why_timer(end, base, due);
        let is_tcp = timer == Timer::Stream;
        let is_of_session = matches!(timer, Timer::Session | Timer::Messages);
        let kind = match timer {
            Timer::Stream => "tcp",
            Timer::Dccp => "dccp",
            Timer::Session | Timer::Messages | Timer::Program => "timer",
        };
        let host = self.host(end);
        let plain = |text: String, remedy| {
            let short = Short::Other(text.clone());
            (Words { kind, host: self.host(end), text, remedy: Some(remedy) }, short, key)
        };
        let whose = match (is_tcp, &loss) {
            (true, None) if !is_outage && self.sends_only_acks(step) => {
                let text = format!("waiting for the {role}'s delayed acknowledgement");
                return plain(text, format!("lower transport.{role}.delayed_ack_ms"));
            }
            (true, None) if !is_outage && self.sends_new_data(step) => {
                let text = format!(
                    "waiting for the {role}'s TCP timer of {}: new data waited for an acknowledgement (Nagle's \
                     algorithm, or the congestion window)",
                    length(micros)
                );
                return plain(text, format!("change transport.{role}.nagle"));
            }
            _ => format!("the {role}'s {}", timer.name()),
        };
        let advised = match is_outage {
            true => Some(Remedy::change("network.outages")),
            false => loss.and_then(|loss| self.remedy(&loss)),
        };
        let advised = advised.and_then(in_words);
        let of_timer =
            (is_of_session && !is_forgotten).then(|| self.timer_key(end, timer, base)).map(|key| match loss {
                // With shorter waits it would only give up sooner.
                _ if self.is_given_up_by_coap && key == ACK_TIMEOUT => "raise session.coap.max_retransmit".to_owned(),
                Some(_) => format!("lower {key}"),
                None => format!("raise {key}"),
            });
        if self.trace.failed.get(&self.conversation) == Some(&step) {
            let text = format!("until the {role} gave up after {}, {why}", length(micros));
            let remedy = advised.or(of_timer.filter(|_| self.is_given_up_by_coap));
            let words = Words { kind: "giving-up", host, text: text.clone(), remedy };
            return (words, Short::Other(text), key);
        }
        let short = Short::Timer { whose, length: micros, why };
        (Words { kind, host, text: short.words(), remedy: advised.or(of_timer) }, short, key)
    }

    /// A program waited, or computed, since this step.
    fn program(&self, piece: &Piece, end: EndId, since: StepId) -> (Words, Short, Option<Key>) {
        let role = end.role();
        // It has answered what it got: from then on it waited for an answer.
        let has_answered = self.trace.sent_in(since).next().is_some();
        let why = has_answered.then(|| self.why_timer(end, piece.from, piece.to));
        let remedy = why.as_ref().and_then(|why| self.remedy(why.loss.as_ref()?)).and_then(in_words);
        let why = why.map_or_else(|| "since something had last arrived there".to_owned(), |why| why.text);
        let micros = piece.to.since(piece.from).as_micros();
        let text = format!("the {role}'s program waited for {}, or computed, {why}", length(micros));
        let short = Short::Other(format!("the {role}'s program waits or computes, {why}"));
        (Words { kind: "program", host: self.host(end), text, remedy }, short, None)
    }

    /// The remedy that changes a loss.
    fn remedy(&self, loss: &Loss) -> Option<Remedy> {
        self.context.scenario.remedy(loss.reason, loss.host, 1, loss.holders)
    }

    /// True if all that a step sent were acknowledgements of TCP.
    fn sends_only_acks(&self, step: StepId) -> bool {
        let is_ack = |octets: &[u8]| {
            Segment::parse(octets).is_ok_and(|segment| {
                segment.payload.is_empty() && !segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::FIN)
            })
        };
        let mut own = self.trace.sent_in(step).peekable();
        own.peek().is_some() && own.all(|(_, sent)| is_ack(&sent.payload.octets))
    }

    /// True if a step sent data that had not been sent before.
    fn sends_new_data(&self, step: StepId) -> bool {
        let has_data = |octets: &[u8]| Segment::parse(octets).is_ok_and(|segment| !segment.payload.is_empty());
        self.trace
            .sent_in(step)
            .any(|(id, sent)| has_data(&sent.payload.octets) && !self.trace.repeated.contains_key(&id))
    }

    /// Why a timer that started at `base` was due before it was stopped.
    fn why_timer(&self, end: EndId, base: Instant, due: Instant) -> Why {
        let peer = end.peer();
        // A flight takes several datagrams; the timer starts with the last one.
        let flight = self.flight_before(end, base);
        let sent_by = |of: EndId, since: Instant| {
            self.trace.sent_by(of).filter(move |(_, sent)| sent.at >= since && sent.at < due)
        };
        let of_both = || sent_by(end, flight).filter(move |(_, sent)| sent.at <= base).chain(sent_by(peer, flight));
        if let Some((datagram, loss)) = of_both().find_map(|(id, _)| Some((id, self.losses.get(&id)?))) {
            let name = self.names.get(&datagram).map_or("a datagram", String::as_str);
            let text = format!("because {}", losses::words(self.air, self.context, loss, name));
            let is_outage = losses::is_by_outage(self.air, self.context, loss);
            return Why { text, loss: Some(*loss), is_outage, is_forgotten: false };
        }
        let (other, own) = (peer.role(), end.role());
        let computes = |c: &crate::world::trace::Computed| {
            let step = self.trace.steps[c.step as usize];
            step.end == peer && step.at < due && c.until > due
        };
        let is_on_its_way = |id: DatagramId| self.trace.arrived.get(&id).is_none_or(|&(at, _)| at > due);
        // Nothing that waits for a radio which is off has been on the air: it is not known where it waits.
        let outage = self.context.outage_on_the_way(self.conversation, base, due);
        let waits =
            || outage.filter(|_| sent_by(end, flight).chain(sent_by(peer, flight)).any(|(id, _)| is_on_its_way(id)));
        if let Some(outage) = waits() {
            let off = name_of(Host::Node(outage.node));
            let text = format!("although nothing was lost: the radio of {off} was switched off, and its frames waited");
            return Why { text, loss: None, is_outage: true, is_forgotten: false };
        }
        let text = if sent_by(end, flight).filter(|(_, sent)| sent.at <= base).any(|(id, _)| is_on_its_way(id)) {
            format!("although nothing was lost: what the {own} had sent was still on its way")
        } else if self.trace.computed.iter().any(computes) {
            format!("although nothing was lost: the {other} was still computing its answer")
        } else if sent_by(peer, flight).any(|(id, _)| is_on_its_way(id)) {
            format!("although nothing was lost: the answer of the {other} was still on its way")
        } else if let Some((datagram, loss)) = self.forgotten(peer, due) {
            let name = self.names.get(&datagram).map_or("a datagram", String::as_str);
            let lost = losses::words(self.air, self.context, &loss, name);
            let text = format!("because {lost}, and the {other} never sent it again");
            let is_outage = losses::is_by_outage(self.air, self.context, &loss);
            return Why { text, loss: Some(loss), is_outage, is_forgotten: true };
        } else {
            "although nothing was lost".to_owned()
        };
        Why { text, loss: None, is_outage: false, is_forgotten: false }
    }

    /// The loss in the last flight of an end, if it has sent that before an instant and nothing after it. TCP always
    /// repeats what is lost.
    fn forgotten(&self, end: EndId, before: Instant) -> Option<(DatagramId, Loss)> {
        let last = self.trace.sent_by(end).map(|(_, sent)| sent.at).max()?;
        if self.context.is_stream() || last >= before {
            return None;
        }
        let flight = self.flight_before(end, last);
        let mut sent = self.trace.sent_by(end).filter(|(_, sent)| (flight..=last).contains(&sent.at));
        sent.find_map(|(datagram, _)| Some((datagram, *self.losses.get(&datagram)?)))
    }

    /// When the flight began whose last datagram an end sent at a time.
    fn flight_before(&self, end: EndId, last: Instant) -> Instant {
        let by = |sent: &crate::world::trace::Sent| match sent.by {
            Sender::End(step) => match self.trace.steps[step as usize].cause {
                Cause::Ready { by } => Some(by),
                _ => Some(step),
            },
            Sender::Proxy { .. } => None,
        };
        let own = || self.trace.sent_by(end).map(|(_, sent)| sent);
        let step = own().filter(|sent| sent.at == last).find_map(by);
        own().filter(|sent| by(sent) == step && sent.at <= last).map(|sent| sent.at).min().unwrap_or(last)
    }
}

/// A remedy in words. `None` where the key asks for the loss.
fn in_words(remedy: Remedy) -> Option<String> {
    let advice = match remedy.advice? {
        Advice::Raise => "raise",
        Advice::Lower => "lower",
        Advice::Change => "change",
    };
    Some(format!("{advice} {}", remedy.key))
}

/// A time in seconds, without needless digits.
fn length(microseconds: u64) -> String {
    let text = format!("{:.2}", microseconds as f64 / 1e6);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}
