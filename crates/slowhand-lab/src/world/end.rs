//! One end of a conversation: its session, the application above it, and the computer on which both run.

use super::carrier::Dccp;
use super::part::Part;
use super::payload::Payload;
use super::stream::Stream;
use super::trace::{Cause, StepId, Timer};
use super::{Event, World, from_std, to_std};
use crate::application::{Action, Application};
use crate::ids::{ComputerId, ConversationId, EndId};
use crate::record::{Failure, Holders, Outcome, Phase};
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::{Ecn, Endpoint};
use slowhand_net::network::SendError;
use slowhand_sessions::{FailureKind, Role, Session, Status};
use std::collections::VecDeque;
use std::net::Ipv6Addr;

/// The least time until the next timeout of a session or an application. Without it, an application that does not clear
/// a deadline in the past would stop the clock of the world.
const MIN_TIMEOUT: Duration = Duration::from_micros(1);

/// One end of a conversation.
pub(super) struct End {
    pub(super) session: Box<dyn Session>,
    /// The TCP connection below the session. `None` over UDP.
    pub(super) stream: Option<Stream>,
    /// The DCCP connection below the session. `None` over UDP.
    pub(super) dccp: Option<Dccp>,
    pub(super) application: Box<dyn Application>,
    pub(super) host: Host,
    pub(super) computer: ComputerId,
    pub(super) local: Endpoint,
    pub(super) peer: Endpoint,
    /// When the timeout of the session that is in the queue is due.
    session_timer: Option<Instant>,
    /// When the timeout of the application that is in the queue is due.
    application_timer: Option<Instant>,
    /// True once the application knows that its session is established.
    is_open: bool,
    /// True once the application knows that its session is closed, or has closed it.
    knows_closed: bool,
    /// The data that the session decrypted and the application has not taken.
    received: Vec<Vec<u8>>,
    /// True while the application waits to be called.
    application_waits: bool,
    /// True once the application has written or closed.
    pub(super) has_acted: bool,
    /// The phase to which the last data belongs that the stream took: an end may have verified the peer's Finished, and
    /// send data, before the other end has.
    pub(super) phase: Phase,
    /// The number of datagrams or writes that the session has made and not sent yet: the device is still at work on them.
    unsent: usize,
    pub(super) computed: std::time::Duration,
    /// The part of that in which a TPM computed.
    pub(super) tpm: std::time::Duration,
}

/// The computer of a host. It does one thing at a time.
#[derive(Default)]
pub(super) struct Computer {
    pub(super) busy_until: Instant,
    waiting: VecDeque<Work>,
}

/// Work that waits for a computer.
pub(super) enum Work {
    /// A datagram for the session of an end.
    Datagram { end: EndId, datagram: DatagramId, arrived: Instant, octets: Vec<u8> },
    /// A segment, where TCP waits too.
    Segment { end: EndId, datagram: DatagramId, arrived: Instant, source: Ipv6Addr, ecn: Ecn, segment: Vec<u8> },
    /// The connection of DCCP below the session of an end is open.
    Open { end: EndId, by: StepId },
    /// The session of an end may take what its connection has.
    Read { end: EndId, by: StepId },
    /// The application of an end may take what its session has.
    Application { end: EndId },
}

impl Computer {
    /// Removes the work for which `keep` is false.
    pub(super) fn retain_work(&mut self, keep: impl FnMut(&Work) -> bool) {
        self.waiting.retain(keep);
    }
}

impl Work {
    pub(super) fn end(&self) -> EndId {
        match *self {
            Self::Datagram { end, .. }
            | Self::Segment { end, .. }
            | Self::Open { end, .. }
            | Self::Read { end, .. }
            | Self::Application { end } => end,
        }
    }
}

impl End {
    pub(super) fn new(
        session: Box<dyn Session>,
        stream: Option<Stream>,
        dccp: Option<Dccp>,
        application: Box<dyn Application>,
        host: Host,
        computer: ComputerId,
        [local, peer]: [Endpoint; 2],
    ) -> Self {
        Self {
            session,
            stream,
            dccp,
            application,
            host,
            computer,
            local,
            peer,
            session_timer: None,
            application_timer: None,
            is_open: false,
            received: Vec::new(),
            application_waits: false,
            has_acted: false,
            knows_closed: false,
            phase: Phase::Handshake,
            unsent: 0,
            computed: std::time::Duration::ZERO,
            tpm: std::time::Duration::ZERO,
        }
    }

    /// True if the session has made something that is not sent yet.
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent > 0
    }

    /// True if data that the session or its application made, or has to take, is still at this end.
    fn holds_data(&self) -> bool {
        let is_idle = self.stream.as_ref().is_none_or(Stream::is_idle) && self.dccp.as_ref().is_none_or(Dccp::is_idle);
        self.application_waits || self.unsent > 0 || !is_idle
    }
}

impl World<'_> {
    /// Hands what a session sends to the network, or to the connection below it.
    pub(super) fn handle_send(&mut self, now: Instant, end: EndId, phase: Phase, payload: Payload) {
        self.ends[end].unsent -= 1;
        self.ends[end].phase = self.ends[end].phase.max(phase);
        if self.is_shut_down(end) {
            return;
        }
        match self.ends[end].stream {
            Some(_) => self.write(now, end, &payload.octets),
            None if self.ends[end].dccp.is_some() => self.send_over_dccp(now, end, phase, payload),
            None => self.send(now, end, phase, &payload),
        }
    }

    /// Hands a datagram to the network. After the end of its conversation an end sends nothing.
    fn send(&mut self, now: Instant, end: EndId, phase: Phase, datagram: &Payload) {
        let conversation = end.conversation();
        if self.conversations[conversation].is_over() {
            return;
        }
        self.begin(now, conversation);
        let phase = match self.conversations[conversation].part {
            Part::HandOver { .. } => Phase::Handshake, // all of it serves the handshake
            _ => phase.max(self.conversations[conversation].phase()),
        };
        let id = self.ledger.sent(end, phase, datagram);
        self.note(|trace| trace.send(now, end, id, datagram));
        let mut events = std::mem::take(&mut self.network_events);
        let End { local, peer, .. } = self.ends[end];
        if let Err(error) = self.network.send(now, local, peer, &datagram.octets, id, &mut events) {
            self.refused(id, end, &error);
        }
        self.handle_network_events(now, &mut events);
        self.network_events = events;
    }

    /// The timer of the connection below a session is due then, or no longer runs.
    pub(super) fn set_connection_timer(&mut self, end: EndId, timer: Timer, deadline: Option<Instant>, event: Event) {
        self.note(|trace| trace.set_timer(end, timer, deadline));
        if let Some(at) = deadline {
            self.events.push(at, event);
        }
    }

    /// The connection below a session has failed: its conversation ends.
    pub(super) fn connection_failed(&mut self, now: Instant, end: EndId, has_timed_out: bool, reason: String) {
        let outcome = if has_timed_out { Outcome::TimedOut } else { Outcome::Reset };
        let is_over = self.conversations[end.conversation()].is_over();
        if let Some(trace) = self.trace.as_mut().filter(|_| !is_over) {
            trace.fail(end.conversation());
        }
        let failure = Failure { end: end.role(), reason };
        self.events.push(now, Event::Failed { conversation: end.conversation(), outcome, failure });
    }

    /// The network has refused a datagram or a segment because it is longer than a packet can be. The other errors
    /// cannot occur: each end has an address of the network, and the world runs the network before the ends.
    pub(super) fn refused(&mut self, id: DatagramId, end: EndId, error: &SendError) {
        debug_assert!(matches!(error, SendError::Packet(_)), "{error}");
        self.ledger.lost(id, DropReason::Malformed, self.ends[end].host, Holders::default());
    }

    /// A datagram arrived at an end.
    pub(super) fn receive(&mut self, now: Instant, end: EndId, datagram: DatagramId, octets: &[u8]) {
        if self.is_busy(now, end) {
            return self.defer(end, Work::Datagram { end, datagram, arrived: now, octets: octets.to_vec() });
        }
        self.handle_datagram(now, end, Cause::Arrival { datagram, at: now }, octets);
    }

    fn handle_datagram(&mut self, now: Instant, end: EndId, cause: Cause, octets: &[u8]) {
        if !self.admits(now, end, octets) {
            return;
        }
        self.begin_step(now, end, cause);
        self.ends[end].session.handle_input(to_std(now), octets);
        self.after_call(now, end);
    }

    pub(super) fn handle_session_timeout(&mut self, now: Instant, end: EndId) {
        if self.ends[end].session_timer != Some(now) || self.conversations[end.conversation()].is_over() {
            return; // the timer was stopped or set again
        }
        self.ends[end].session_timer = None;
        if self.is_shut_down(end) {
            return;
        }
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        if busy_until > now {
            self.ends[end].session_timer = Some(busy_until);
            self.events.push(busy_until, Event::SessionTimeout { end });
            return;
        }
        self.note(|trace| trace.expire_session(now, end));
        self.ends[end].session.handle_timeout(to_std(now));
        self.after_call(now, end);
    }

    /// True if the computer of an end computes, or has other work to do first.
    pub(super) fn is_busy(&self, now: Instant, end: EndId) -> bool {
        let computer = &self.computers[self.ends[end].computer];
        computer.busy_until > now || !computer.waiting.is_empty()
    }

    pub(super) fn defer(&mut self, end: EndId, work: Work) {
        self.computers[self.ends[end].computer].waiting.push_back(work);
    }

    /// True if an end has anything left to do.
    pub(super) fn has_work(&self, end: EndId) -> bool {
        let computer = &self.computers[self.ends[end].computer];
        self.ends[end].holds_data() || computer.waiting.iter().any(|work| work.end() == end)
    }

    /// A computer does the work that waited for it, in order.
    pub(super) fn resume(&mut self, now: Instant, computer: ComputerId) {
        while self.computers[computer].busy_until <= now {
            let Some(work) = self.computers[computer].waiting.pop_front() else { return };
            match work {
                Work::Datagram { end, datagram, arrived, octets } => {
                    self.handle_datagram(now, end, Cause::Arrival { datagram, at: arrived }, &octets);
                }
                Work::Segment { end, datagram, arrived, source, ecn, segment } => {
                    self.begin_step(now, end, Cause::Arrival { datagram, at: arrived });
                    self.take_segment(now, end, source, ecn, &segment);
                }
                Work::Open { end, by } => self.start_over_dccp(now, end, by),
                Work::Read { end, by } => self.read(now, end, by),
                Work::Application { end } => self.run_application(now, end),
            }
        }
    }

    /// Takes from a session what a call has made: what it sends, what it computed, its timer and its state.
    pub(super) fn after_call(&mut self, now: Instant, end: EndId) {
        self.after_call_in(now, end, Phase::Handshake);
    }

    /// As [`after_call`](Self::after_call); what the call made belongs to this phase of the conversation or to a later one.
    fn after_call_in(&mut self, now: Instant, end: EndId, phase: Phase) {
        let device = self.plan.device_of(end.role());
        let by = self.step_number();
        let mut operations = self.trace.as_ref().map(|_| Vec::new());
        let End { session, computer, session_timer, unsent, computed, tpm, .. } = &mut self.ends[end];
        while let Some(transmit) = session.poll_transmit() {
            let at = from_std(transmit.at).max(now);
            let payload = Payload::from(transmit);
            let phase = if self.plan.has_false_start && payload.is_data() { phase.max(Phase::Data) } else { phase };
            self.events.push(at, Event::Send { end, phase, payload, by });
            *unsent += 1;
        }
        session.drain_operations(&mut |performed| {
            *computed += performed.took;
            if device.is_for_tpm(performed.operation) {
                *tpm += performed.took;
            }
            if let Some(operations) = &mut operations {
                operations.push((performed.operation, performed.took));
            }
        });
        let busy_until = from_std(session.busy_until());
        if busy_until > now {
            self.computers[*computer].busy_until = busy_until;
            if let (Some(trace), Some(operations)) = (&mut self.trace, operations) {
                trace.compute(busy_until, operations);
            }
            self.events.push(busy_until, Event::Resume { computer: *computer });
        }
        let due = |at| from_std(at).max(now + MIN_TIMEOUT);
        let deadline = session.deadline().map(due);
        if let Some(trace) = &mut self.trace {
            trace.set_timers_of_session(end, session.timers().map(|at| at.map(due)));
        }
        if deadline != *session_timer {
            *session_timer = deadline;
            if let Some(at) = deadline {
                self.events.push(at, Event::SessionTimeout { end });
            }
        }
        self.check_status(now, end.conversation());
        self.wake_application(now, end);
        self.end_if_finished(now, end.conversation());
    }

    /// Checks if a handshake has ended. The device may still verify after the call has returned.
    fn check_status(&mut self, now: Instant, conversation: ConversationId) {
        if self.conversations[conversation].is_over() {
            return;
        }
        let ends = conversation.ends();
        let mut status = ends.map(|end| self.ends[end].session.status());
        let completed = ends.map(|end| self.ends[end].session.completed_at());
        if let Some(trace) = &mut self.trace {
            for (end, at) in ends.into_iter().zip(completed) {
                if let Some(at) = at {
                    trace.establish(end, from_std(at));
                }
            }
        }
        if let (Part::HandOver { delegated: None }, Status::Established { at }) =
            (self.conversations[conversation].part, &status[Role::Server])
        {
            self.open_delegated(from_std(*at).max(now), conversation);
        }
        let failed = ends.into_iter().zip(&mut status).find_map(|(end, status)| match status {
            Status::Failed(failure) => Some((end, failure)),
            _ => None,
        });
        if let Some((end, failure)) = failed {
            let outcome = outcome_of(failure.kind);
            self.note(|trace| trace.fail(conversation));
            let failure = Failure { end: end.role(), reason: std::mem::take(&mut failure.reason) };
            let mut at = now;
            if let [Some(client), Some(server)] = completed {
                // The handshake is complete at both ends: what has failed are the data.
                at = from_std(client.max(server)).max(now);
                self.events.push(at, Event::Established { conversation });
            }
            self.events.push(at, Event::Failed { conversation, outcome, failure });
        } else if let [Some(client), Some(server)] = status.map(established_at)
            && !self.conversations[conversation].is_established()
        {
            self.events.push(from_std(client.max(server)).max(now), Event::Established { conversation });
        }
    }

    /// Takes the data that the session decrypted. Makes sure that the application is called as soon as the device is
    /// done.
    fn wake_application(&mut self, now: Instant, end: EndId) {
        let End { session, is_open, received, application_waits, .. } = &mut self.ends[end];
        let mut ready = match session.status() {
            Status::Established { at } if !*is_open => Some(from_std(at)),
            Status::Handshaking if !*is_open && session.may_write_early() => Some(from_std(session.busy_until())),
            Status::Closed => Some(now),
            _ => None,
        };
        while let Some(data) = session.poll_received() {
            ready = ready.max(Some(from_std(data.at)));
            received.push(data.bytes.to_vec());
        }
        if let Some(at) = ready.filter(|_| !*application_waits) {
            *application_waits = true;
            self.events.push(at.max(now), Event::Application { end });
        }
    }

    pub(super) fn handle_application(&mut self, now: Instant, end: EndId) {
        match self.is_busy(now, end) {
            true => self.defer(end, Work::Application { end }),
            false => self.run_application(now, end),
        }
    }

    pub(super) fn handle_application_timeout(&mut self, now: Instant, end: EndId) {
        if self.ends[end].application_timer != Some(now) || self.conversations[end.conversation()].is_over() {
            return; // the timer was stopped or set again
        }
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        if busy_until > now {
            self.ends[end].application_timer = Some(busy_until);
            self.events.push(busy_until, Event::ApplicationTimeout { end });
            return;
        }
        self.ends[end].application_timer = None;
        self.ends[end].application.handle_timeout(now);
        self.handle_application(now, end);
    }

    /// The application learns what has happened to its session, and acts. After the end of its conversation it does
    /// nothing.
    fn run_application(&mut self, now: Instant, end: EndId) {
        let is_over = self.conversations[end.conversation()].is_over();
        let End { session, application, is_open, knows_closed, received, application_waits, .. } = &mut self.ends[end];
        *application_waits = false;
        if is_over {
            return;
        }
        if !std::mem::replace(is_open, true) {
            application.handle_established(now);
        }
        for data in received.drain(..) {
            application.handle_data(now, &data);
        }
        if session.status() == Status::Closed && !std::mem::replace(knows_closed, true) {
            application.handle_closed(now);
        }
        while let Some(action) = self.ends[end].application.poll_action() {
            self.perform(now, end, action);
        }
        let End { application, application_timer, .. } = &mut self.ends[end];
        let deadline = application.deadline().map(|at| at.max(now + MIN_TIMEOUT));
        if deadline != *application_timer {
            *application_timer = deadline;
            if let Some(at) = deadline {
                self.events.push(at, Event::ApplicationTimeout { end });
            }
        }
        self.end_if_finished(now, end.conversation());
    }

    fn perform(&mut self, now: Instant, end: EndId, action: Action) {
        self.ends[end].has_acted = true;
        let closes = action == Action::Close;
        let phase = match action {
            Action::Write(data) => {
                let session = &mut self.ends[end].session;
                if session.status() != Status::Closed
                    && let Err(error) = session.write(to_std(now), &data)
                {
                    // The session has failed, or the data does not fit into a datagram.
                    let (outcome, conversation) = (Outcome::Error, end.conversation());
                    let failure = Failure { end: end.role(), reason: error.to_string() };
                    self.events.push(now, Event::Failed { conversation, outcome, failure });
                }
                Phase::Data
            }
            Action::Close => {
                self.begin_closing(now, end.conversation());
                self.ends[end].knows_closed = true;
                self.ends[end].session.close(to_std(now));
                self.begin_finishing_dccp(end);
                Phase::Closing
            }
        };
        self.after_call_in(now, end, phase);
        if closes {
            self.finish_dccp(now, end);
        }
    }
}

/// When a session was established. One that is closed was established before.
fn established_at(status: Status) -> Option<std::time::Duration> {
    match status {
        Status::Established { at } => Some(at),
        Status::Closed => Some(std::time::Duration::ZERO),
        _ => None,
    }
}

fn outcome_of(kind: FailureKind) -> Outcome {
    match kind {
        FailureKind::TimedOut => Outcome::TimedOut,
        FailureKind::AlertReceived { .. } => Outcome::Alert,
        _ => Outcome::Error,
    }
}
