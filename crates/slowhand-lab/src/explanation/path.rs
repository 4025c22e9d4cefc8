//! The critical path of a handshake: from its end back to its start, at each instant what it waited for.
//!
//! An end does something in steps ([`trace`](crate::world::trace)). A step has one cause: the arrival of a datagram, a
//! timer, or what an earlier step computed. A datagram arrived when the last of its missing frames did, and a node sent
//! this frame because the packet, or the fragment, had arrived there. So the path has no gap.

use super::air::{Air, Frame};
use super::context::Context;
use crate::ids::{ConversationId, EndId};
use crate::record::Outcome;
use crate::scenario::Reassembly;
use crate::world::trace::{Attempt, Cause, Sender, StepId, Timer, TimerRun, Trace};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_sessions::Role;

/// A piece of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) from: Instant,
    pub(super) to: Instant,
    pub(super) what: What,
}

/// The work or the wait that took the time of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The device of an end computed what this step asked for.
    Computing { end: EndId, step: StepId },
    /// The device of an end computed for other sessions.
    Busy { end: EndId },
    /// A timer of an end, which then caused this step.
    Timer { end: EndId, timer: Timer, step: StepId },
    /// Nothing came any more, until the handshake was given up: the timer of an end that ran, if one did.
    GivingUp { end: EndId, run: Option<usize> },
    /// A node waited for the next opportunity to send this frame.
    Opportunity { frame: usize },
    /// A frame waited while this other frame of its node was served.
    Queue { frame: usize, behind: usize },
    /// An attempt to send this frame failed, or the node waited to send it again.
    Retry { frame: usize },
    /// The frame, or its acknowledgement, was on the air.
    Air { frame: usize, attempt: usize },
    /// The radio of this node was switched off.
    Outage { frame: usize, node: NodeId },
    /// The processor of this node handled the frame.
    Handling { frame: usize, node: NodeId },
    /// The source of a datagram waited for the acknowledgement of its fragments, which did not come.
    Recovery { node: NodeId, datagram: DatagramId },
    /// A datagram crossed the Internet.
    Internet { datagram: DatagramId },
    /// The border router kept a datagram.
    Gateway { datagram: DatagramId },
    /// The border router's TCP proxy waited for its timer.
    ProxyTimer { datagram: DatagramId },
    /// An attempt before the one that is explained, which had this outcome.
    Attempt { outcome: Outcome },
    /// The client asked its delegate for a session, and waited until it had it.
    HandOver,
    /// The client waited before it tried again.
    Wait,
    /// Nothing of all this.
    Other { datagram: DatagramId },
}

/// The attempts of a client before its last one, and the waits after them.
pub(super) fn earlier_attempts(trace: &Trace, attempts: &[Attempt]) -> Vec<Piece> {
    let pieces = attempts.windows(2).flat_map(|pair| {
        let [span, next] = [pair[0], pair[1]].map(|attempt| trace.spans[attempt.conversation]);
        let what = match pair[0] {
            Attempt { is_hand_over: true, outcome: Outcome::Completed, .. } => What::HandOver,
            Attempt { outcome, .. } => What::Attempt { outcome },
        };
        let failed = Piece { from: span.start, to: span.end, what };
        [failed, Piece { from: span.end, to: next.start, what: What::Wait }]
    });
    pieces.filter(|piece| piece.from < piece.to).collect()
}

/// The pieces of the path of a conversation's handshake, from its start to its end.
pub(super) fn critical_path(
    trace: &Trace,
    air: &Air,
    context: &Context<'_>,
    conversation: ConversationId,
) -> Vec<Piece> {
    let span = trace.spans[conversation];
    let mut walk = Walk { trace, air, context, conversation, start: span.start, at: span.end, pieces: Vec::new() };
    let mut cursor = walk.end_of_handshake();
    while let Some(next) = cursor.filter(|_| walk.at > walk.start) {
        cursor = match next {
            Cursor::Step(step) => walk.cause_of(step),
            Cursor::Arrival(datagram) => walk.journey(datagram),
        };
    }
    if walk.at > walk.start {
        walk.back_to(walk.start, What::Other { datagram: NO_DATAGRAM });
    }
    walk.pieces.reverse();
    walk.pieces
}

/// Where the path comes from.
#[derive(Clone, Copy, Debug)]
enum Cursor {
    /// A step, which was done at the present time.
    Step(StepId),
    /// A datagram, which arrived at the present time.
    Arrival(DatagramId),
}

/// A walk backwards in time.
struct Walk<'a> {
    trace: &'a Trace,
    air: &'a Air,
    context: &'a Context<'a>,
    conversation: ConversationId,
    /// The start of the handshake.
    start: Instant,
    /// The time that has been reached.
    at: Instant,
    /// The last one first.
    pieces: Vec<Piece>,
}

impl Walk<'_> {
    /// Goes back to an earlier time. What is before the start of the handshake is left out.
    fn back_to(&mut self, from: Instant, what: What) {
        let from = from.max(self.start);
        if from < self.at {
            self.pieces.push(Piece { from, to: self.at, what });
            self.at = from;
        }
    }

    /// The step that ended the handshake.
    fn end_of_handshake(&mut self) -> Option<Cursor> {
        let ends = self.conversation.ends();
        let established = ends.map(|end| self.trace.established.get(&end));
        if let [Some(client), Some(server)] = established {
            let (role, &(step, _)) = if client.1 > server.1 { (Role::Client, client) } else { (Role::Server, server) };
            let end = ends[role];
            self.back_to(self.trace.steps[step as usize].at, What::Computing { end, step });
            return Some(Cursor::Step(step));
        }
        if let Some(&step) = self.trace.failed.get(&self.conversation) {
            return Some(Cursor::Step(step));
        }
        // It was given up, while an end computed.
        let at_of = |step: StepId| self.trace.steps[step as usize].at;
        let end_of = |step: StepId| self.trace.steps[step as usize].end;
        let is_busy = |step: StepId, until| ends.contains(&end_of(step)) && at_of(step) <= self.at && until > self.at;
        if let Some(computed) = self.trace.computed.iter().rev().find(|computed| is_busy(computed.step, computed.until))
        {
            let step = computed.step;
            self.back_to(at_of(step), What::Computing { end: end_of(step), step });
            return Some(Cursor::Step(step));
        }
        // Or while timers were running. They may have ended later, in another step.
        let is_running = |run: &TimerRun| {
            let is_open = at_of(run.set_by) <= self.at && run.due > self.at;
            ends.contains(&run.end) && is_open && run.ended_by.is_none_or(|step| at_of(step) > self.at)
        };
        let running = self.trace.timers.iter().enumerate().filter(|(_, run)| is_running(run));
        let first = running.min_by_key(|(_, run)| run.due).map(|(number, run)| (number, *run));
        let (run, end, (from, step)) = match first {
            Some((number, run)) => (Some(number), run.end, self.trace.base_of_timer(run.started_by, self.at)),
            None => {
                let step = self.last_step(ends)?;
                (None, self.trace.steps[step as usize].end, (self.trace.steps[step as usize].at, step))
            }
        };
        self.back_to(from, What::GivingUp { end, run });
        Some(Cursor::Step(step))
    }

    /// The last step of a handshake before it was given up.
    fn last_step(&self, ends: [EndId; 2]) -> Option<StepId> {
        let is_last = |&(_, step): &(usize, &crate::world::trace::Step)| ends.contains(&step.end) && step.at <= self.at;
        self.trace.steps.iter().enumerate().rev().find(is_last).map(|(number, _)| number as StepId)
    }

    /// From a step to its cause.
    fn cause_of(&mut self, id: StepId) -> Option<Cursor> {
        let step = self.trace.steps[id as usize];
        match step.cause {
            Cause::Start => None,
            Cause::Arrival { datagram, at } => self.while_busy(step.end, at).or(Some(Cursor::Arrival(datagram))),
            Cause::Ready { by } => {
                self.back_to(self.trace.steps[by as usize].at, What::Computing { end: step.end, step: by });
                Some(Cursor::Step(by))
            }
            Cause::Read { by } => {
                let received = self.trace.steps[by as usize].at;
                self.while_busy(step.end, received).or(Some(Cursor::Step(by)))
            }
            Cause::Timer { timer, set_by, due } => {
                let busy = self.computed_until(step.end, self.at);
                self.back_to(
                    due,
                    match busy {
                        Some(busy) => What::Computing { end: step.end, step: busy },
                        None => What::Busy { end: step.end },
                    },
                );
                let (base, before) = self.trace.base_of_timer(set_by, self.at);
                self.back_to(base, What::Timer { end: step.end, timer, step: id });
                Some(Cursor::Step(before))
            }
        }
    }

    /// A computer had to finish something before it could handle what had arrived at a time. `None` if it was free.
    fn while_busy(&mut self, end: EndId, arrived: Instant) -> Option<Cursor> {
        if arrived >= self.at {
            return None;
        }
        if let Some(step) = self.computed_until(end, self.at) {
            self.back_to(self.trace.steps[step as usize].at, What::Computing { end, step });
            return Some(Cursor::Step(step));
        }
        self.back_to(arrived, What::Busy { end });
        None
    }

    /// The step for which the device of an end computed until this time.
    fn computed_until(&self, end: EndId, until: Instant) -> Option<StepId> {
        let is_it = |step: StepId| self.trace.steps[step as usize].end == end;
        self.trace.computed.iter().rev().find(|c| c.until == until && is_it(c.step)).map(|c| c.step)
    }

    /// From the arrival of a datagram to the step that sent it.
    fn journey(&mut self, datagram: DatagramId) -> Option<Cursor> {
        let sent = self.trace.sent.get(&datagram)?;
        let (arrived, host) = *self.trace.arrived.get(&datagram)?;
        let source = match sent.by {
            Sender::End(_) => self.context.host_of(sent.end),
            Sender::Proxy { .. } => Host::Node(NodeId::ROOT),
        };
        let mut node = NodeId::ROOT;
        match host {
            Host::Node(last) => node = last,
            Host::Internet => {
                let handled = self.air.last_handled(NodeId::ROOT, datagram, self.at);
                let at = handled.and_then(|frame| self.air.frames[frame].handled).unwrap_or(sent.at);
                self.back_to(at, What::Internet { datagram });
            }
        }
        // Where the datagram came into the mesh, and when.
        let entry = match (source, host) {
            (Host::Node(source), _) => (source, sent.at),
            (Host::Internet, Host::Node(NodeId::ROOT)) => (NodeId::ROOT, arrived),
            (Host::Internet, _) => (NodeId::ROOT, self.air.first_queued(NodeId::ROOT, datagram).unwrap_or(sent.at)),
        };
        while self.at > entry.1.max(self.start) {
            match self.hop_to(node, datagram, node == entry.0) {
                Some(before) => node = before,
                None => break,
            }
        }
        // The queue of its source refused all of it, until a timer of fragment recovery was due.
        if node == entry.0 && self.recovers() {
            self.back_to(entry.1, What::Recovery { node, datagram });
        }
        if source == Host::Internet {
            self.back_to(entry.1, What::Other { datagram });
            if let Some(longest) = self.context.longest_internet_delay() {
                self.back_to(sent.at + longest, What::Gateway { datagram });
            }
            self.back_to(sent.at, What::Internet { datagram });
        }
        self.back_to(sent.at, What::Other { datagram });
        match sent.by {
            Sender::End(step) => Some(Cursor::Step(step)),
            Sender::Proxy { after: Some(earlier) } => Some(Cursor::Arrival(earlier)),
            Sender::Proxy { after: None } => self.proxy_timer(datagram),
        }
    }

    fn recovers(&self) -> bool {
        matches!(self.context.scenario.lowpan.reassembly, Reassembly::Recovery)
    }

    /// Goes back over the last hop of a datagram that a node has at the present time. Returns the node before.
    fn hop_to(&mut self, node: NodeId, datagram: DatagramId, is_source: bool) -> Option<NodeId> {
        let last = self.air.last_handled(node, datagram, self.at).map(|frame| (frame, &self.air.frames[frame]));
        if let Some((frame, received)) = last
            && received.handled == Some(self.at)
        {
            self.arrive_over(frame);
            return Some(received.from);
        }
        // Nothing arrived at this time: a timer of fragment recovery was due.
        if let Some((frame, left)) = self.air.last_left(node, datagram, self.at).filter(|_| self.recovers()) {
            self.back_to(left, What::Recovery { node, datagram });
            let attempts = self.air.frames[frame].attempts.len();
            self.leave(frame, attempts);
            return Some(node);
        }
        let (frame, received) = last.filter(|_| !is_source)?;
        self.back_to(received.handled?, What::Handling { frame, node });
        self.arrive_over(frame);
        Some(received.from)
    }

    /// Goes back from the time at which a frame was handled to the time at which it came into the queue of its sender.
    fn arrive_over(&mut self, frame: usize) {
        let own: &Frame = &self.air.frames[frame];
        let Some(attempt) = own.received else { return };
        self.back_to(own.attempts[attempt].end.min(self.at), What::Handling { frame, node: own.to });
        self.back_to(own.attempts[attempt].at, What::Air { frame, attempt });
        self.leave(frame, attempt);
    }

    /// Goes back over everything that a frame waited for before an attempt, to the time at which it came into the queue.
    fn leave(&mut self, frame: usize, attempt: usize) {
        let queued_at = self.air.frames[frame].queued_at;
        let mut pieces = self.waits(frame, attempt);
        pieces.retain(|piece| piece.from < piece.to);
        for piece in pieces.iter().rev() {
            for part in self.without_outages(piece).iter().rev() {
                self.back_to(part.from, part.what);
            }
        }
        self.back_to(queued_at, What::Opportunity { frame });
    }

    /// The waits of a frame before an attempt, in the order of time.
    fn waits(&self, frame: usize, attempt: usize) -> Vec<Piece> {
        let own = &self.air.frames[frame];
        let until = own.attempts.get(attempt).map_or(self.at, |attempt| attempt.at).min(self.at);
        let (mut pieces, mut at) = (Vec::new(), own.queued_at);
        for (other, number) in self.air.attempts(own.from, own.queued_at, until) {
            let served = &self.air.frames[other];
            let exchange = served.attempts[number];
            let (begin, end) = (exchange.at.max(at), exchange.end.min(until).max(at));
            let is_to_same = served.to == own.to;
            if other == frame || is_to_same && self.context.is_of(self.conversation, self.trace, served.datagram) {
                self.wait(&mut pieces, other, number, at, begin);
                let is_first_reception = served.received == Some(number);
                let what = match is_first_reception && other != frame {
                    true => What::Air { frame: other, attempt: number },
                    false => What::Retry { frame: other },
                };
                pieces.push(Piece { from: begin, to: end, what });
            } else if is_to_same {
                pieces.push(Piece { from: at, to: end, what: What::Queue { frame, behind: other } });
            } else {
                let tried = own.attempts.iter().filter(|attempt| attempt.at < begin).count();
                self.wait(&mut pieces, frame, tried, at, begin);
                pieces.push(Piece { from: begin, to: end, what: What::Queue { frame, behind: other } });
            }
            at = end;
        }
        self.wait(&mut pieces, frame, attempt, at, until);
        pieces
    }

    /// A node waited for its next opportunity to send a frame: for the first time, or again.
    fn wait(&self, pieces: &mut Vec<Piece>, frame: usize, attempt: usize, from: Instant, to: Instant) {
        let waiting = &self.air.frames[frame];
        let is_first =
            attempt == 0 && waiting.attempts.first().is_none_or(|first| self.air.on_air[first.on_air].attempt == 0);
        let prepared = (from + self.context.handling(waiting.from)).min(to);
        pieces.push(Piece { from, to: prepared, what: What::Handling { frame, node: waiting.from } });
        let what = if is_first { What::Opportunity { frame } } else { What::Retry { frame } };
        pieces.push(Piece { from: prepared, to, what });
    }

    /// Cuts a piece where the radio of the sender or of the receiver was switched off.
    fn without_outages(&self, piece: &Piece) -> Vec<Piece> {
        let (What::Opportunity { frame } | What::Retry { frame }) = piece.what else { return vec![*piece] };
        let own = &self.air.frames[frame];
        let (mut parts, mut at) = (Vec::new(), piece.from);
        for outage in self.context.outages(own.from, own.to) {
            let (from, until) = (outage.from.max(at), outage.until.min(piece.to));
            if from < until {
                parts.push(Piece { from: at, to: from, what: piece.what });
                parts.push(Piece { from, to: until, what: What::Outage { frame, node: outage.node } });
                at = until;
            }
        }
        parts.push(Piece { from: at, ..*piece });
        parts.retain(|part| part.from < part.to);
        parts
    }

    /// The proxy sent a segment because its own timer was due: the path goes on with the last segment that it took.
    fn proxy_timer(&mut self, datagram: DatagramId) -> Option<Cursor> {
        let is_taken = |(id, (at, host)): &(&DatagramId, &(Instant, Host))| {
            let is_own = self.trace.sent.get(id).is_some_and(|sent| sent.end.conversation() == self.conversation);
            is_own && *host == Host::Node(NodeId::ROOT) && *at < self.at
        };
        let (&earlier, &(at, _)) = self.trace.arrived.iter().filter(is_taken).max_by_key(|(_, (at, _))| *at)?;
        self.back_to(at, What::ProxyTimer { datagram });
        Some(Cursor::Arrival(earlier))
    }
}
