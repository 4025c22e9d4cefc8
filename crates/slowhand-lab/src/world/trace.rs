//! The steps of the ends of a world, each with its cause. They are kept only for an explanation or a
//! capture.
//!
//! Everything that an end sends, it sends in a step: at its start, when a datagram arrived, when a timer was due, or when
//! something that the session made was ready. So the cause of each datagram is a step, and the cause of each step is an
//! earlier step or the arrival of a datagram.

pub(crate) use super::payload::Payload;
use crate::ids::{ConversationId, EndId, Table};
use crate::record::{Holders, Outcome};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::drop_reason::DropReason;
use slowhand_sessions::{Operation, Protocol};
use std::collections::BTreeMap;

/// The number of a step. In a world without a trace all steps have number 0.
pub(crate) type StepId = u32;

/// Something that an end did at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) at: Instant,
    pub(crate) end: EndId,
    pub(crate) cause: Cause,
}

/// Why an end did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The client begins.
    Start,
    /// A datagram or a segment arrived at this time. The step is later if the computer was busy.
    Arrival { datagram: DatagramId, at: Instant },
    /// The datagram that this step computed is ready to be sent.
    Ready { by: StepId },
    /// The session takes what its connection received in this step. It is later if the computer was busy.
    Read { by: StepId },
    /// A timer that this step had set was due at this time. The step is later if the computer was busy.
    Timer { timer: Timer, set_by: StepId, due: Instant },
}

/// The timers of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// Of the session: it sends its flight again.
    Session,
    /// Of the messages of CoAP in the records of the session. With False Start it runs beside that of the session.
    Messages,
    /// Of the TCP connection.
    Stream,
    /// Of the DCCP connection.
    Dccp,
    /// Of a program outside of the world. It is not known whether there was one: the program may have computed.
    Program,
}

impl Timer {
    /// Those of a session, in the order of [`Session::timers`](slowhand_sessions::Session::timers).
    const OF_SESSION: [Self; 2] = [Self::Session, Self::Messages];

    /// Whose timer it is.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Messages => "CoAP timer",
            Self::Stream => "TCP timer",
            Self::Dccp => "DCCP timer",
            Self::Session | Self::Program => "timer",
        }
    }
}

/// A datagram or a segment that was handed to the network.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    /// The end that sent it, or in whose name the border router did.
    pub(crate) end: EndId,
    pub(crate) by: Sender,
    /// The payload of UDP or DCCP, or the segment.
    pub(crate) payload: Payload,
    /// The name of a packet of DCCP without payload.
    pub(crate) control: Option<&'static str>,
}

/// Who sent a datagram, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// An end, in this step.
    End(StepId),
    /// The TCP proxy of the border router, after it took this segment. `None`: its own timer was due.
    Proxy { after: Option<DatagramId> },
}

/// A part of a datagram was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) at: Instant,
    pub(crate) datagram: DatagramId,
    pub(crate) host: Host,
    pub(crate) reason: DropReason,
    /// The content of the reassembly buffers, if they were full.
    pub(crate) holders: Holders,
}

/// A device computed, because of a step.
#[derive(Clone, Debug)]
pub(crate) struct Computed {
    pub(crate) step: StepId,
    pub(crate) until: Instant,
    pub(crate) operations: Vec<(Operation, std::time::Duration)>,
}

/// A timer ran. It was due at its end, unless it was stopped before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerRun {
    pub(crate) end: EndId,
    pub(crate) timer: Timer,
    /// The step in which it became the next timer of its end.
    pub(crate) set_by: StepId,
    /// The step in which the time was set at which it is due. It may be an earlier one: other timers were due before.
    pub(crate) started_by: StepId,
    pub(crate) due: Instant,
    /// The step that the timer caused, or that stopped it.
    pub(crate) ended_by: Option<StepId>,
}

/// Octets that a session wrote to its connection.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) step: StepId,
    pub(crate) octets: Vec<u8>,
}

/// The course of the handshake of a conversation, in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
}

/// An attempt of a client to open a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) conversation: ConversationId,
    pub(crate) outcome: Outcome,
    /// True if the client asked its delegate, and waited for the session.
    pub(crate) is_hand_over: bool,
}

/// Everything that the ends of a world did.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<Step>,
    /// The step that is being done.
    current: StepId,
    pub(crate) sent: BTreeMap<DatagramId, Sent>,
    /// When each datagram arrived first, and where.
    pub(crate) arrived: BTreeMap<DatagramId, (Instant, Host)>,
    pub(crate) losses: Vec<Lost>,
    /// In the order of steps; at most one for each.
    pub(crate) computed: Vec<Computed>,
    pub(crate) timers: Vec<TimerRun>,
    /// The last run of each timer.
    last_runs: BTreeMap<(EndId, Timer), usize>,
    /// The step that set each time at which a timer is due.
    started: BTreeMap<(EndId, Timer, Instant), StepId>,
    /// The run of a timer that a step ended first: the one that caused it.
    ended_runs: BTreeMap<StepId, usize>,
    /// The datagrams that each step sent, and each end, in the order of time.
    sent_in: BTreeMap<StepId, Vec<DatagramId>>,
    sent_by: BTreeMap<EndId, Vec<DatagramId>>,
    /// The steps in which what a step computed was ready.
    ready_after: BTreeMap<StepId, Vec<StepId>>,
    pub(crate) written: Vec<Written>,
    /// The step in which each end verified the peer's Finished, and when it had done so.
    pub(crate) established: BTreeMap<EndId, (StepId, Instant)>,
    /// The step in which each conversation failed that did.
    pub(crate) failed: BTreeMap<ConversationId, StepId>,
    /// The last segment that the border router's proxy took.
    intercepted: Option<(Instant, DatagramId)>,
    pub(crate) spans: Table<ConversationId, Span>,
    pub(crate) clients: Table<ConversationId, NodeId>,
    /// Where the ends of each conversation are, client first.
    pub(crate) hosts: Table<ConversationId, [Host; 2]>,
    /// The protocol of the datagrams of each conversation.
    pub(crate) protocols: Table<ConversationId, Protocol>,
    /// The attempts of each client, in the order of the records.
    pub(crate) attempts: Vec<Vec<Attempt>>,
    /// The datagrams that an end sent again: true if that was needed, false if it was spurious.
    pub(crate) repeated: BTreeMap<DatagramId, bool>,
    /// The last step of each end that is outside of the world.
    last_outside: BTreeMap<EndId, StepId>,
}

impl Trace {
    /// An end does something.
    pub(super) fn begin(&mut self, at: Instant, end: EndId, cause: Cause) {
        self.current = self.steps.len() as StepId;
        if let Cause::Ready { by } = cause {
            self.ready_after.entry(by).or_default().push(self.current);
        }
        self.steps.push(Step { at, end, cause });
    }

    /// An end outside of the world does something. The cause is what has arrived there now. If nothing has, the end has waited since it
    /// did something last.
    pub(super) fn begin_outside(&mut self, at: Instant, end: EndId, arrived: Option<DatagramId>) {
        match (arrived, self.last_outside.get(&end).copied()) {
            (Some(datagram), _) => self.begin(at, end, Cause::Arrival { datagram, at }),
            (None, Some(step)) if self.steps[step as usize].at == at => self.current = step,
            (None, Some(step)) => self.begin(at, end, Cause::Timer { timer: Timer::Program, set_by: step, due: at }),
            (None, None) => self.begin(at, end, Cause::Start),
        }
        self.last_outside.insert(end, self.current);
    }

    /// True if an end is outside of the world.
    pub(crate) fn is_outside(&self, end: EndId) -> bool {
        self.last_outside.contains_key(&end)
    }

    /// True if ends are outside of the world.
    pub(crate) fn has_outside(&self) -> bool {
        !self.last_outside.is_empty()
    }

    /// A timer of an end is due, and the end handles it.
    pub(super) fn expire(&mut self, at: Instant, end: EndId, timer: Timer) {
        let run = self.running(end, timer).map(|run| (self.timers[run].started_by, self.timers[run].due));
        let (set_by, due) = run.unwrap_or((self.current, at));
        self.begin(at, end, Cause::Timer { timer, set_by, due });
        self.end_run(end, timer);
    }

    /// The timer of a session that is due first, or that of the messages in its records, and the end handles it.
    pub(super) fn expire_session(&mut self, at: Instant, end: EndId) {
        let due = |timer| Some((self.timers[self.running(end, timer)?].due, timer));
        let first = Timer::OF_SESSION.into_iter().filter_map(due).min();
        self.expire(at, end, first.map_or(Timer::Session, |(_, timer)| timer));
    }

    /// When the timers of a session are due in the present step: those that are due at another time than before are set again.
    pub(super) fn set_timers_of_session(&mut self, end: EndId, due: [Option<Instant>; 2]) {
        for (timer, due) in Timer::OF_SESSION.into_iter().zip(due) {
            if self.running(end, timer).map(|run| self.timers[run].due) != due {
                self.set_timer(end, timer, due);
            }
        }
    }

    /// The present step sets a timer of an end, or stops it.
    pub(super) fn set_timer(&mut self, end: EndId, timer: Timer, due: Option<Instant>) {
        self.end_run(end, timer);
        if let Some(due) = due {
            self.last_runs.insert((end, timer), self.timers.len());
            let set_by = self.current;
            // A connection tells only the next of its timers: after it the others are told again.
            let started_by = *self.started.entry((end, timer, due)).or_insert(set_by);
            self.timers.push(TimerRun { end, timer, set_by, started_by, due, ended_by: None });
        }
    }

    fn running(&self, end: EndId, timer: Timer) -> Option<usize> {
        self.last_runs.get(&(end, timer)).copied().filter(|&run| self.timers[run].ended_by.is_none())
    }

    fn end_run(&mut self, end: EndId, timer: Timer) {
        if let Some(run) = self.running(end, timer) {
            self.timers[run].ended_by = Some(self.current);
            self.ended_runs.entry(self.current).or_insert(run);
        }
    }

    /// The present step, to come back to it ([`resume`](Self::resume)).
    pub(super) fn current(&self) -> StepId {
        self.current
    }

    /// Other steps were done in the middle of this one, which goes on.
    pub(super) fn resume(&mut self, step: StepId) {
        self.current = step;
    }

    /// The present step hands a datagram or a segment to the network.
    pub(super) fn send(&mut self, at: Instant, end: EndId, datagram: DatagramId, payload: &Payload) {
        if datagram != NO_DATAGRAM {
            self.sent_in.entry(self.current).or_default().push(datagram);
            self.sent_by.entry(end).or_default().push(datagram);
            let (by, payload) = (Sender::End(self.current), payload.clone());
            self.sent.insert(datagram, Sent { at, end, by, payload, control: None });
        }
    }

    /// Names a packet of DCCP that carries no payload.
    pub(super) fn name_control(&mut self, datagram: DatagramId, name: &'static str) {
        if let Some(sent) = self.sent.get_mut(&datagram) {
            sent.control = Some(name);
        }
    }

    /// The session writes to its connection.
    pub(super) fn write(&mut self, octets: &[u8]) {
        self.written.push(Written { step: self.current, octets: octets.to_vec() });
    }

    /// The proxy of the border router took a segment.
    pub(super) fn intercept(&mut self, at: Instant, host: Host, datagram: DatagramId) {
        self.intercepted = Some((at, datagram));
        self.arrive(at, host, datagram);
    }

    /// The proxy of the border router sends a segment in the name of an end.
    pub(super) fn originate(&mut self, at: Instant, end: EndId, datagram: DatagramId, octets: &[u8]) {
        let after = self.intercepted.filter(|&(taken, _)| taken == at).map(|(_, datagram)| datagram);
        self.sent_by.entry(end).or_default().push(datagram);
        let (by, payload) = (Sender::Proxy { after }, octets.into());
        self.sent.insert(datagram, Sent { at, end, by, payload, control: None });
    }

    pub(super) fn arrive(&mut self, at: Instant, host: Host, datagram: DatagramId) {
        self.arrived.entry(datagram).or_insert((at, host));
    }

    pub(super) fn lose(&mut self, lost: Lost) {
        self.losses.push(lost);
    }

    /// The present step makes the device compute until this time.
    pub(super) fn compute(&mut self, until: Instant, operations: Vec<(Operation, std::time::Duration)>) {
        self.computed.push(Computed { step: self.current, until, operations });
    }

    /// In the present step an end has verified the peer's Finished, or it is known that it has.
    pub(super) fn establish(&mut self, end: EndId, at: Instant) {
        let step = self.current;
        self.established.entry(end).or_insert((step, at));
    }

    /// In the present step a conversation has failed.
    pub(super) fn fail(&mut self, conversation: ConversationId) {
        let step = self.current;
        self.failed.entry(conversation).or_insert(step);
    }

    /// The run of the timer that caused a step, or that it stopped first.
    pub(crate) fn ended_run(&self, step: StepId) -> Option<usize> {
        self.ended_runs.get(&step).copied()
    }

    /// The datagrams that a step sent.
    pub(crate) fn sent_in(&self, step: StepId) -> impl Iterator<Item = (DatagramId, &Sent)> {
        self.sent_in.get(&step).into_iter().flatten().map(|&datagram| (datagram, &self.sent[&datagram]))
    }

    /// The datagrams that an end sent, or the border router in its name.
    pub(crate) fn sent_by(&self, end: EndId) -> impl DoubleEndedIterator<Item = (DatagramId, &Sent)> {
        self.sent_by.get(&end).into_iter().flatten().map(|&datagram| (datagram, &self.sent[&datagram]))
    }

    /// When a timer started that a step had set, and the step after which it did: the timer of a flight starts when the
    /// last datagram of the flight has been sent, before the time at which the timer was due.
    pub(crate) fn base_of_timer(&self, set_by: StepId, due: Instant) -> (Instant, StepId) {
        let steps = self.ready_after.get(&set_by).into_iter().flatten();
        let of_flight = steps.flat_map(|&step| self.sent_in(step).map(move |(_, sent)| (sent.at, step)));
        let last = of_flight.filter(|&(at, _)| at < due).max();
        last.unwrap_or((self.steps[set_by as usize].at, set_by))
    }
}
