//! The exchange of frames and their acknowledgements.

use super::config::{BEFORE_HEADER, CSL_UNIT};
use super::frame::{Form, Kind as FormKind, set_frame_pending};
use super::node::{Phase, Station, Task};
use super::{Csma, Event};
use crate::address::{Addressing, NodeId};
use crate::clock::Instant;
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::link::Kind;
use crate::observer::FrameKind;
use crate::radio::contention::{ACK_WAIT, Entry, TURNAROUND, TraceIndex, interframe_space};
use crate::radio::frame::{FCS, FrameView, MAX_FRAME};
use crate::radio::medium::OnAir;
use crate::radio::phy::air_time;
use crate::radio::pool::{FrameIndex, QueuedFrame};
use crate::radio::{Indication, Payload};

impl Csma {
    /// The node's frame begins.
    pub(super) fn send(&mut self, now: Instant, node: NodeId) {
        if self.nodes[node.index()].radio.is_off {
            return self.postpone(now, node);
        }
        let mut octets = [0; MAX_FRAME];
        let to = self.peer(node);
        let form = self.form(node, to);
        let (kind, length) = match self.frame_of(node) {
            Some(frame) => (FrameKind::Data, self.copy_data(node, frame, &mut octets)),
            None => (FrameKind::DataRequest, form.write_data_request(&mut octets, self.sequence_of(node), node, to)),
        };
        if form.announces_samples() {
            form.set_phase(&mut octets, self.phase(now, node));
        }
        let datagram = self.datagram_of(node);
        let station = &mut self.nodes[node.index()].station;
        (station.phase, station.datagram) = (Phase::Sending, datagram);
        let (on_air, trace, end) = self.begin_frame(now, node, kind, octets, length);
        self.events.push(end, Event::Sent(node, on_air, trace));
    }

    /// The node's frame is over.
    pub(super) fn sent(
        &mut self,
        now: Instant,
        node: NodeId,
        on_air: OnAir,
        trace: TraceIndex,
        indications: &mut Vec<Indication>,
    ) {
        let to = self.peer(node);
        let received = self.end_frame(now, node, to, Kind::Data, on_air, trace);
        let station = &mut self.nodes[node.index()].station;
        station.phase = Phase::AwaitingAcknowledgement;
        station.sent_at = now;
        if !received {
            return self.events.push(now + ACK_WAIT, Event::NoAcknowledgement(node));
        }
        self.deliver(now, node, indications);
        self.nodes[to.index()].station.is_acknowledging = true;
        self.rest(now, to); // it stays awake
        if self.form(node, to).announces_samples() {
            self.learn_samples(now, node, now - air_time(self.psdu(node)));
        }
        self.events.push(now + TURNAROUND, Event::Acknowledge(node));
    }

    /// The acknowledgement of the node's frame begins.
    pub(super) fn acknowledge(&mut self, now: Instant, node: NodeId) {
        let to = self.peer(node);
        let this = &mut self.nodes[node.index()];
        let asks = match this.station.task {
            Task::Poll => true,
            Task::Direct => self.config.pending_in_data_acks,
            Task::Answer(_) | Task::Sample(_) => false,
        };
        let frame_pending = asks && this.indirect.queue.head().is_some();
        if matches!(this.station.task, Task::Poll | Task::Direct) {
            this.station.frame_pending = frame_pending;
        }
        let mut octets = [0; MAX_FRAME];
        let form = self.ack_form(node, to);
        let length = form.write_ack(&mut octets, self.sequence_of(node), frame_pending, node);
        if form.announces_samples() {
            form.set_ack_phase(&mut octets, self.phase(now, to));
        }
        let (on_air, trace, end) = self.begin_frame(now, node, FrameKind::Ack, octets, length);
        self.events.push(end, Event::Acknowledged(node, on_air, trace));
    }

    /// The acknowledgement of the node's frame is over.
    pub(super) fn acknowledged(
        &mut self,
        now: Instant,
        node: NodeId,
        on_air: OnAir,
        trace: TraceIndex,
        indications: &mut Vec<Indication>,
    ) {
        let from = self.peer(node);
        let received = self.end_frame(now, from, node, Kind::Ack, on_air, trace);
        self.nodes[from.index()].station.is_acknowledging = false;
        let station = &self.nodes[node.index()].station;
        let (task, frame_pending) = (station.task, station.frame_pending);
        let space_over = now + interframe_space(self.psdu(node));
        let form = self.ack_form(node, from);
        if form.announces_samples() {
            self.synchronise(now, from);
            if received {
                self.learn_samples(now, from, now - air_time(form.ack_octets()));
            }
        }
        match task {
            Task::Poll if frame_pending => {
                self.answer(now, from, node);
                self.rest(now, from);
            }
            Task::Answer(child) | Task::Sample(child) => self.fetched(now, child, frame_pending, space_over),
            Task::Poll | Task::Direct => self.rest(now, from),
        }
        if received {
            self.nodes[node.index()].station.ready = space_over;
            self.succeeded(now, node, indications);
        } else {
            let sent_at = self.nodes[node.index()].station.sent_at;
            self.events.push(now.max(sent_at + ACK_WAIT), Event::NoAcknowledgement(node));
        }
    }

    /// The device has waited too long for the frame that was announced, unless that frame is arriving now.
    pub(super) fn no_data(&mut self, now: Instant, node: NodeId, wait: u32) {
        let station = &self.nodes[node.index()].station;
        if station.phase != Phase::AwaitingData || station.waits != wait || station.is_acknowledging {
            return;
        }
        if let Some(end) = self.medium.receiving_until(now, node) {
            return self.events.push(end, Event::NoData(node, wait));
        }
        self.nodes[node.index()].station.phase = Phase::Idle;
        self.poll_timed_out(now, node);
        self.resume(now, node);
    }

    /// The node has received the acknowledgement.
    fn succeeded(&mut self, now: Instant, node: NodeId, indications: &mut Vec<Indication>) {
        let datagram = self.datagram_of(node);
        let Station { task, frame_pending, .. } = self.nodes[node.index()].station;
        match task {
            Task::Poll => {
                self.synchronise(now, node);
                self.poll_succeeded(now, node);
                if frame_pending {
                    return self.await_data(now, node);
                }
                self.nodes[node.index()].station.phase = Phase::Idle;
            }
            Task::Direct => {
                self.synchronise(now, node);
                self.take(now, node);
                self.nodes[node.index()].station.phase = Phase::Idle;
                self.heard_parent(now, node, frame_pending);
            }
            Task::Answer(child) | Task::Sample(child) => {
                self.take(now, node);
                self.nodes[node.index()].station.phase = Phase::Idle;
                self.keep(now, child);
            }
        }
        if task != Task::Poll {
            indications.push(Indication::Sent { node, datagram });
        }
        self.resume(now, node);
    }

    /// Starts the next task of a node that has become idle, unless something else has started it already.
    pub(super) fn resume(&mut self, now: Instant, node: NodeId) {
        if self.nodes[node.index()].station.phase == Phase::Idle {
            self.start(now, node);
        }
    }

    fn await_data(&mut self, now: Instant, node: NodeId) {
        let station = &mut self.nodes[node.index()].station;
        station.phase = Phase::AwaitingData;
        station.waits = station.waits.wrapping_add(1);
        let wait = station.waits;
        self.events.push(now + self.config.polling.data_wait, Event::NoData(node, wait));
    }

    /// A parent has acknowledged a poll, and frames wait for the child. It sends the oldest when it has nothing else to
    /// do.
    fn answer(&mut self, now: Instant, parent: NodeId, child: NodeId) {
        let indirect = &mut self.nodes[child.index()].indirect;
        if !std::mem::replace(&mut indirect.has_asked, true) {
            self.nodes[parent.index()].asked.push_back(child);
        }
        self.resume(now, parent);
    }

    /// A child has received and acknowledged a frame of its parent. `more` is true if others wait for it.
    fn fetched(&mut self, now: Instant, child: NodeId, more: bool, space_over: Instant) {
        let station = &mut self.nodes[child.index()].station;
        station.ready = station.ready.max(space_over);
        if station.phase == Phase::AwaitingData {
            station.phase = Phase::Idle;
        }
        self.heard_parent(now, child, more);
        self.rest(now, child);
        self.resume(now, child);
    }

    /// Passes the node's frame up at its receiver, unless it is a retransmission.
    fn deliver(&mut self, now: Instant, node: NodeId, indications: &mut Vec<Indication>) {
        let (to, sequence, frame) = (self.peer(node), self.sequence_of(node), self.frame_of(node));
        let is_new = self.link(node, to).accepts(sequence);
        let Some(sent) = frame.filter(|_| is_new).map(|frame| self.pool.get(frame)) else { return };
        if let Ok(frame) = FrameView::parse(sent.octets()) {
            let (payload, &QueuedFrame { datagram, discard, .. }) = (Payload::new(frame.payload()), sent);
            let queue = &mut self.nodes[to.index()].queue;
            indications.push(queue.receive(now, to, node, datagram, payload, discard));
        }
    }

    /// Copies a data frame to send it, and returns its length. A frame for a sleepy child has the frame pending field
    /// set if more frames wait for the child.
    fn copy_data(&mut self, node: NodeId, frame: FrameIndex, octets: &mut [u8; MAX_FRAME]) -> usize {
        let waiting = self.pool.get(frame);
        let length = waiting.octets().len();
        octets[..length].copy_from_slice(waiting.octets());
        if let Task::Answer(child) | Task::Sample(child) = self.nodes[node.index()].station.task {
            let more = self.nodes[child.index()].indirect.waiting > 1;
            if more {
                set_frame_pending(octets);
            }
            self.nodes[node.index()].station.frame_pending = more;
        }
        length
    }

    /// Puts a frame of the node, or an acknowledgement to it, on the air.
    fn begin_frame(
        &mut self,
        now: Instant,
        node: NodeId,
        kind: FrameKind,
        octets: [u8; MAX_FRAME],
        length: usize,
    ) -> (OnAir, TraceIndex, Instant) {
        let peer = self.peer(node);
        let (from, to) = if kind == FrameKind::Ack { (peer, node) } else { (node, peer) };
        let air = air_time(length + FCS);
        let end = now + air;
        // A frame that comes for a device during its poll is not what the poll asked for.
        let (datagram, attempt) = (self.nodes[node.index()].station.datagram, self.attempt_of(node));
        let queued_at = self.frame_of(node).map_or(now, |frame| self.pool.get(frame).queued_at);
        let Self { medium, nodes, .. } = self;
        let on_air = medium.begin(now, from, air, |listener| {
            let Station { phase, .. } = nodes[listener.index()].station;
            phase != Phase::Turning && nodes[listener.index()].radio.listens(now)
        });
        let sender = &mut nodes[from.index()].radio;
        sender.settle(now);
        (sender.is_sending, sender.is_receiving, sender.sending_until) = (true, false, end);
        for reception in medium.receptions(on_air) {
            let listener = &mut nodes[reception.node.index()].radio;
            listener.settle(now);
            listener.is_receiving = true;
        }
        let (received, length) = (None, length as u8);
        let trace =
            self.trace.begin(Entry { at: now, kind, from, to, datagram, queued_at, attempt, received, octets, length });
        (on_air, trace, end)
    }

    /// Ends a frame. Returns true if its destination received it.
    fn end_frame(
        &mut self,
        now: Instant,
        from: NodeId,
        to: NodeId,
        kind: Kind,
        on_air: OnAir,
        trace: TraceIndex,
    ) -> bool {
        let sender = &mut self.nodes[from.index()].radio;
        sender.settle(now);
        sender.is_sending = false;
        self.medium.end(on_air, kind, &mut self.receptions);
        let mut received = false;
        for reception in &self.receptions {
            let listener = &mut self.nodes[reception.node.index()].radio;
            listener.settle(now);
            listener.is_receiving = self.medium.receiving_until(now, reception.node).is_some();
            received |= reception.node == to && reception.is_received();
        }
        self.trace.end(trace, received);
        received
    }

    /// A CSL receiver and its parent have synchronised.
    fn synchronise(&mut self, now: Instant, node: NodeId) {
        let radio = &mut self.nodes[node.index()].radio;
        if radio.samples.is_some() {
            radio.settle(now);
        }
        if let Some(samples) = &mut radio.samples {
            samples.synchronised = now;
        }
    }

    /// From the first symbol of the MAC header of a CSL receiver's frame to the next sample, in units of [`CSL_UNIT`],
    /// rounded down. The frame begins at `begin`.
    pub(super) fn phase(&self, begin: Instant, node: NodeId) -> u16 {
        let header = begin + BEFORE_HEADER;
        let next = self.nodes[node.index()].radio.samples.as_ref().map_or(header, |samples| samples.next(header));
        (next.since(header).as_micros() / CSL_UNIT.as_micros()) as u16
    }

    /// The form of the frames from one node to another.
    pub(super) fn form(&self, from: NodeId, to: NodeId) -> Form {
        let kind = match &self.config.csl {
            Some(csl) if self.nodes[from.index()].is_sleepy() => FormKind::Csl(csl.period),
            Some(_) if self.nodes[to.index()].is_sleepy() => FormKind::Enhanced,
            _ => FormKind::Plain,
        };
        if self.nodes[from.index()].joins || self.nodes[to.index()].joins {
            return Form { addressing: Addressing::Extended, kind, security: None };
        }
        Form { addressing: self.config.addressing, kind, security: self.config.security }
    }

    /// The form of the acknowledgements of these frames.
    fn ack_form(&self, from: NodeId, to: NodeId) -> Form {
        let form = self.form(from, to);
        match form.kind {
            FormKind::Plain => form,
            FormKind::Csl(_) => Form { kind: FormKind::Enhanced, ..form },
            FormKind::Enhanced => self.form(to, from),
        }
    }

    /// The data frame of the node's task. `None` if the task is a poll.
    pub(super) fn frame_of(&self, node: NodeId) -> Option<FrameIndex> {
        let this = &self.nodes[node.index()];
        match this.station.task {
            Task::Poll => None,
            Task::Direct => this.direct.head(),
            Task::Answer(child) | Task::Sample(child) => self.nodes[child.index()].indirect.queue.head(),
        }
    }

    /// Removes the data frame of the node's task.
    pub(super) fn take(&mut self, now: Instant, node: NodeId) {
        let this = &mut self.nodes[node.index()];
        match this.station.task {
            Task::Poll => {}
            Task::Direct => {
                if let Some(frame) = this.direct.pop(&mut self.pool) {
                    self.pool.release(frame);
                    this.queue.leave(now);
                }
            }
            Task::Answer(child) | Task::Sample(child) => self.take_indirect(now, node, child),
        }
    }

    /// The node to which the node's frame goes.
    fn peer(&self, node: NodeId) -> NodeId {
        let parent = || self.tree.parent(node).unwrap_or(node);
        match self.nodes[node.index()].station.task {
            Task::Poll => parent(),
            Task::Direct => self.frame_of(node).map_or_else(parent, |frame| self.destinations[frame as usize]),
            Task::Answer(child) | Task::Sample(child) => child,
        }
    }

    /// Octets of the node's frame, FCS included.
    fn psdu(&self, node: NodeId) -> usize {
        match self.frame_of(node) {
            Some(frame) => self.pool.get(frame).octets().len() + FCS,
            None => self.form(node, self.peer(node)).data_request_octets(),
        }
    }

    fn sequence_of(&self, node: NodeId) -> u8 {
        let poll = || self.nodes[node.index()].station.poll_sequence;
        self.frame_of(node).map_or_else(poll, |frame| self.pool.get(frame).sequence)
    }

    fn attempt_of(&self, node: NodeId) -> u8 {
        let poll = || self.nodes[node.index()].station.poll_attempts;
        self.frame_of(node).map_or_else(poll, |frame| self.pool.get(frame).attempts)
    }

    /// The datagram of the node's frame. A poll belongs to the datagram of the frame that it fetches.
    pub(super) fn datagram_of(&self, node: NodeId) -> DatagramId {
        let frame = self.frame_of(node).or_else(|| self.nodes[node.index()].indirect.queue.head());
        frame.map_or(NO_DATAGRAM, |frame| self.pool.get(frame).datagram)
    }
}
