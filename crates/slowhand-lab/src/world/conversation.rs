//! A conversation: the sessions of a client and of the server for it, from the handshake to the last octet.

use super::World;
use super::part::Part;
use super::slots::Shut;
use super::trace::Span;
use crate::energy::Times;
use crate::ids::{ConversationId, EndId};
use crate::record::{Conversation as Report, DataReport, Energy, Failure, Outcome, Phase, PhaseReport, Record};
use serde::{Deserialize, Serialize};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::drop_reason::DropReason;
use slowhand_sessions::Role;
use std::sync::Arc;

/// The state of a conversation, and what was measured at the instants that count.
pub(super) struct Conversation {
    /// The node by which it is known: that of its client; with servers at the leaves, of its server.
    pub(super) client: NodeId,
    phase: Phase,
    /// When each phase began, in the order of [`Phase::ALL`].
    begun: [Option<Snapshot>; Phase::ALL.len()],
    over: Option<(Snapshot, Outcome)>,
    /// Why it failed.
    failure: Option<Failure>,
    /// True once an end has closed its session. It may do so before the other end has verified its Finished.
    is_closing: bool,
    /// Why its client has no slot at the server, if it has asked for one.
    pub(super) shut: Option<Shut>,
    pub(super) gives_up: GivesUp,
    pub(super) attempt: Attempt,
    pub(super) part: Part,
}

/// When a conversation ends because it has taken `session.give_up_s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivesUp {
    /// Whenever that time is over, as in a run.
    #[default]
    Always,
    /// When it is over and the handshake is not complete.
    InHandshake,
    /// Never.
    Never,
}

/// The place of an attempt among those of its client.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Counted from 1.
    pub(super) number: u32,
    /// The conversation of the attempt before.
    pub(super) earlier: Option<ConversationId>,
    /// The conversation of the next one.
    pub(super) later: Option<ConversationId>,
    /// The time that client and server have computed for the attempts before.
    pub(super) computed: [std::time::Duration; 2],
    /// The parts of that in which their TPMs computed.
    pub(super) tpm: [std::time::Duration; 2],
}

impl Attempt {
    pub(super) const FIRST: Self = Self {
        number: 1,
        earlier: None,
        later: None,
        computed: [std::time::Duration::ZERO; 2],
        tpm: [std::time::Duration::ZERO; 2],
    };
}

/// The work of client and server until an instant. Their computing time is that of the conversation, and of the attempts
/// before it.
#[derive(Clone, Copy, Default)]
pub(super) struct Snapshot {
    at: Instant,
    pub(super) sides: [Times; 2],
}

impl Conversation {
    pub(super) fn new(client: NodeId, part: Part) -> Self {
        let begun = [None; Phase::ALL.len()];
        let (over, failure) = (None, None);
        let (phase, gives_up, attempt) = (Phase::Handshake, GivesUp::Always, Attempt::FIRST);
        Self { client, phase, begun, over, failure, is_closing: false, shut: None, gives_up, attempt, part }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// When the handshake began, if it did.
    pub(super) fn handshake_began(&self) -> Option<Instant> {
        self.begun(Phase::Handshake).map(|snapshot| snapshot.at)
    }

    pub(super) fn is_established(&self) -> bool {
        self.phase != Phase::Handshake
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// When the conversation ended.
    pub(super) fn end(&self) -> Option<Instant> {
        self.over.map(|(end, _)| end.at)
    }

    fn begun(&self, phase: Phase) -> Option<Snapshot> {
        self.begun[phase as usize]
    }

    /// The span of a phase: from its beginning to the beginning of the next phase, or to the end of the conversation.
    fn span(&self, phase: Phase) -> Option<[Snapshot; 2]> {
        let (end, _) = self.over?;
        let begin = self.begun(phase)?;
        let next = self.begun[phase as usize + 1..].iter().flatten().next();
        Some([begin, next.copied().unwrap_or(end)])
    }

    /// The end of the handshake. Later events do not change it, unless the server gave its slot to another client.
    pub(super) fn outcome_of_handshake(&self) -> Outcome {
        match self.over {
            Some((_, Outcome::Evicted)) => Outcome::Evicted,
            _ if self.is_established() => Outcome::Completed,
            Some((_, outcome)) => outcome,
            None => Outcome::GaveUp,
        }
    }
}

impl World<'_> {
    /// The clock of a handshake starts when its application asks the client's library for it, which may compute before it
    /// sends anything. Of a program it starts with the first octets that the network sees: when it was asked is not known.
    pub(super) fn begin_with(&mut self, asked: Snapshot, conversation: ConversationId) {
        self.conversations[conversation].begun[Phase::Handshake as usize].get_or_insert(asked);
    }

    /// Something is sent for a handshake, whose clock starts now if it has not started.
    pub(super) fn begin(&mut self, now: Instant, conversation: ConversationId) {
        if self.conversations[conversation].handshake_began().is_none() {
            self.begin_with(self.snapshot(now, conversation), conversation);
        }
    }

    /// Both ends have verified the peer's Finished.
    pub(super) fn establish(&mut self, now: Instant, conversation: ConversationId) {
        let Conversation { phase: Phase::Handshake, over: None, .. } = self.conversations[conversation] else { return };
        if self.is_shut_down(EndId::of(conversation, Role::Server)) {
            return; // the server gave its slot to another client in the meantime, and knows the session no more
        }
        self.enter(now, conversation, Phase::Data);
        if self.conversations[conversation].is_closing {
            self.enter(now, conversation, Phase::Closing);
        }
        self.network.end_burst(now, self.client_node(conversation));
        let server = self.ends[EndId::of(conversation, Role::Server)].host;
        if let Some(slots) = &mut self.slots {
            slots.establish(now, server, conversation);
        }
        self.go_on(now, conversation);
        self.end_if_finished(now, conversation);
    }

    /// An end closes its session.
    pub(super) fn begin_closing(&mut self, now: Instant, conversation: ConversationId) {
        self.conversations[conversation].is_closing = true;
        if self.conversations[conversation].phase == Phase::Data {
            self.enter(now, conversation, Phase::Closing);
        }
    }

    fn enter(&mut self, now: Instant, conversation: ConversationId, phase: Phase) {
        let snapshot = self.snapshot(now, conversation);
        let conversation = &mut self.conversations[conversation];
        conversation.phase = phase;
        conversation.begun[phase as usize] = Some(snapshot);
    }

    /// Ends a conversation whose applications need nothing more. A conversation with data ends when all of its data has
    /// arrived or was lost, and neither end has work left.
    pub(super) fn end_if_finished(&mut self, now: Instant, conversation: ConversationId) {
        let ends = conversation.ends().map(|end| &self.ends[end]);
        let has_carried_data = ends.iter().any(|end| end.has_acted);
        let is_settled = || {
            !self.ledger.has_data_on_its_way(conversation) && !conversation.ends().iter().any(|&end| self.has_work(end))
        };
        let is_handed_over =
            || !self.conversations[conversation].part.is_hand_over() || self.is_handed_over(conversation);
        if self.conversations[conversation].is_established()
            && ends.iter().all(|end| end.application.is_finished())
            && (!has_carried_data || is_settled())
            && is_handed_over()
        {
            self.end(now, conversation, Outcome::Completed, None);
        }
    }

    pub(super) fn end(
        &mut self,
        now: Instant,
        conversation: ConversationId,
        outcome: Outcome,
        failure: Option<Failure>,
    ) {
        if self.conversations[conversation].is_over() {
            return;
        }
        let (outcome, failure) = match self.blame_slots(conversation, outcome) {
            Some((outcome, failure)) => (outcome, Some(failure)),
            None => (outcome, failure),
        };
        self.leave_slot(conversation, outcome);
        self.open -= 1;
        self.conversations[conversation].over = Some((self.snapshot(now, conversation), outcome));
        self.conversations[conversation].failure = failure;
        if !self.conversations[conversation].is_established() {
            self.network.end_burst(now, self.client_node(conversation));
            self.give_up_help(now, conversation);
            self.retry_later(now, conversation);
        }
    }

    /// An established session has lost its slot. Its client, which may have finished with it, tries again.
    pub(super) fn end_evicted(&mut self, now: Instant, conversation: ConversationId, failure: Failure) {
        self.end(now, conversation, Outcome::Evicted, None);
        let evicted = &mut self.conversations[conversation];
        evicted.over = evicted.over.map(|(end, _)| (end, Outcome::Evicted));
        evicted.failure = Some(failure);
        self.retry_later(now, conversation);
    }

    pub(super) fn snapshot(&self, at: Instant, conversation: ConversationId) -> Snapshot {
        let (computed, tpm) = self.computed_until(conversation);
        let sides = Role::BOTH.map(|role| {
            let of_node = match self.ends[EndId::of(conversation, role)].host {
                Host::Node(node) => Times::of(&self.network, node, at),
                Host::Internet => Times::default(),
            };
            Times { computed: computed[role], tpm: tpm[role], ..of_node }
        });
        Snapshot { at, sides }
    }

    /// The report of a conversation and of its client's attempts before it. The phases after the handshake are those of the
    /// last attempt.
    pub(super) fn report(&self, number: ConversationId, peaks: &[Arc<[u64]>; 2]) -> Report {
        let conversation = &self.conversations[number];
        let attempts = self.attempts(number);
        let has_begun = attempts.iter().any(|&attempt| self.conversations[attempt].handshake_began().is_some());
        let outcome = conversation.over.map_or(Outcome::GaveUp, |(_, outcome)| outcome);
        let phases = Phase::ALL.into_iter().filter_map(|phase| {
            let costs = self.ledger.costs(&attempts, phase);
            // An end may have sent data in a conversation that was never established at the other.
            let no_time = || conversation.over.filter(|_| costs.datagrams > 0).map(|(end, _)| [end, end]);
            let span = || match phase {
                // It begins with the first attempt.
                Phase::Handshake => conversation.over.filter(|_| has_begun).map(|_| self.handshake(number, &attempts)),
                _ => conversation.span(phase),
            };
            let [begin, end] = span().or_else(no_time)?;
            Some(PhaseReport {
                phase,
                duration_s: end.at.since(begin.at).as_secs_f64(),
                costs,
                energy_client: self.energy(number, Role::Client, [begin, end]).unwrap_or_default(),
            })
        });
        let failure = conversation.failure.clone();
        Report { outcome, failure, phases: phases.collect(), handshake: self.record(number, peaks) }
    }

    /// When the handshake of a conversation began and ended.
    pub(super) fn handshake_span(&self, number: ConversationId) -> Span {
        let [start, end] = self.handshake(number, &[number]);
        Span { start: start.at, end: end.at }
    }

    /// The client's device at the beginning of the first of these attempts, and at the end of this one, the last.
    fn handshake(&self, number: ConversationId, attempts: &[ConversationId]) -> [Snapshot; 2] {
        let start = attempts.iter().find_map(|&attempt| self.conversations[attempt].begun(Phase::Handshake));
        let last = &self.conversations[number];
        let end = last.begun(Phase::Data).or(last.over.map(|(end, _)| end));
        let end = end.unwrap_or_default();
        [start.unwrap_or(end), end]
    }

    /// The record of a handshake. The peaks of the nodes are those of the world: all its handshakes have the same.
    fn record(&self, number: ConversationId, [queue_peak, reassembly_peak_bytes]: &[Arc<[u64]>; 2]) -> Record {
        let conversation = &self.conversations[number];
        let outcome = conversation.outcome_of_handshake();
        let attempts = self.attempts(number);
        let [start, end] = self.handshake(number, &attempts);
        let costs = self.ledger.costs(&attempts, Phase::Handshake);
        let [of_client, of_server] = self.ledger.retransmissions(&attempts);
        let repetitions = of_client + of_server;
        let losses = self.ledger.losses(&attempts);
        let lost = losses.iter().filter(|loss| loss.reason != DropReason::Suppressed);
        Record {
            seed: self.seed,
            client: conversation.client.0,
            outcome,
            failure: conversation.failure.clone().filter(|_| outcome != Outcome::Completed),
            duration_s: (outcome == Outcome::Completed).then(|| end.at.since(start.at).as_secs_f64()),
            start_s: start.at.as_secs_f64(),
            end_s: end.at.as_secs_f64(),
            attempts: conversation.attempt.number.into(),
            bytes_phy: costs.bytes_phy,
            bytes_ack: costs.bytes_ack,
            bytes_control: costs.bytes_control,
            frames: costs.frames,
            frames_ack: costs.frames_ack,
            frames_control: costs.frames_control,
            datagrams: costs.datagrams,
            bytes_payload: costs.bytes_payload,
            datagrams_proxy: self.ledger.sent_by_proxy(&attempts),
            retransmissions_needed: repetitions.needed,
            retransmissions_spurious: repetitions.spurious,
            retransmissions_spurious_server: of_server.spurious,
            datagrams_lost: lost.map(|loss| loss.count).sum(),
            datagrams_waiting: self.ledger.waiting(&attempts),
            losses,
            compute_client_s: end.sides[Role::Client].computed.as_secs_f64(),
            compute_server_s: end.sides[Role::Server].computed.as_secs_f64(),
            energy_client: self.energy(number, Role::Client, [start, end]).unwrap_or_default(),
            energy_server: self
                .energy(number, Role::Server, [start, end])
                .filter(|_| self.ends[EndId::of(number, Role::Server)].host != Host::Node(NodeId::ROOT)),
            queue_peak: Arc::clone(queue_peak),
            reassembly_peak_bytes: Arc::clone(reassembly_peak_bytes),
            traffic: self.ledger.traffic.report(start.at, end.at),
            data: self.data(number, &attempts),
        }
    }

    /// The report of the data of these attempts, if there were any. The time is that of the last one; if its handshake failed, data
    /// that an end sent early took none.
    fn data(&self, number: ConversationId, attempts: &[ConversationId]) -> Option<DataReport> {
        let conversation = &self.conversations[number];
        let costs = self.ledger.costs(attempts, Phase::Data);
        let (over, outcome) = conversation.over.filter(|_| costs.datagrams > 0)?;
        let [start, end] = conversation.span(Phase::Data).unwrap_or([over; 2]);
        Some(DataReport {
            outcome,
            failure: conversation.failure.clone(),
            duration_s: (outcome == Outcome::Completed).then(|| end.at.since(start.at).as_secs_f64()),
            costs,
            energy_client: self.energy(number, Role::Client, [start, end]).unwrap_or_default(),
        })
    }

    /// The energy that the device of an end used between two instants. `None` of a host on the Internet.
    fn energy(&self, number: ConversationId, role: Role, [start, end]: [Snapshot; 2]) -> Option<Energy> {
        let times = end.sides[role].since(start.sides[role]);
        let is_node = matches!(self.ends[EndId::of(number, role)].host, Host::Node(_));
        is_node.then(|| self.plan.energy_of(role, times))
    }
}
