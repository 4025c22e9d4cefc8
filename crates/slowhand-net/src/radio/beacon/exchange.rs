//! The exchange of data frames and data requests, their acknowledgements, and the answers to requests (7.5.6).

use super::config::{ACK_WAIT, Downward, TURNAROUND, interframe_space};
use super::frame::{ACK, set_frame_pending, write_ack, write_data_request};
use super::node::Direction;
use super::station::{Phase, Role, StationId, Task};
use super::superframe::listens;
use super::{Beacon, Event};
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::link::Kind;
use crate::observer::FrameKind;
use crate::radio::contention::{Entry, TraceIndex};
use crate::radio::frame::{FCS, FrameView, MAX_FRAME};
use crate::radio::medium::OnAir;
use crate::radio::phy::air_time;
use crate::radio::pool::{FrameIndex, QueuedFrame};
use crate::radio::{Indication, Payload};

impl Beacon {
    /// The station's frame begins.
    pub(super) fn send(&mut self, now: Instant, id: StationId) {
        let mut octets = [0; MAX_FRAME];
        let (kind, length) = match self.frame_of(id) {
            Some(frame) => (FrameKind::Data, self.copy_data(id, frame, &mut octets)),
            None => {
                let (from, to) = (Eui64::of_node(id.node), Eui64::of_node(self.peer(id)));
                let length = write_data_request(&mut octets, self.sequence_of(id), from, to, self.config.security);
                (FrameKind::DataRequest, length)
            }
        };
        self.station_mut(id).phase = Phase::Sending;
        let (on_air, trace, end) = self.begin_frame(now, id, kind, octets, length);
        self.events.push(end, Event::Sent(id, on_air, trace));
    }

    /// The station's frame is over.
    pub(super) fn sent(
        &mut self,
        now: Instant,
        id: StationId,
        on_air: OnAir,
        trace: TraceIndex,
        indications: &mut Vec<Indication>,
    ) {
        let to = self.peer(id);
        let received = self.end_frame(now, id.node, to, air_time(self.psdu(id)), Kind::Data, on_air, trace);
        let station = self.station_mut(id);
        station.phase = Phase::AwaitingAcknowledgement;
        station.sent_at = now;
        let active = self.superframe(now, self.cluster_of(id));
        let Some(active) = active.filter(|_| received) else {
            return self.events.push(now + ACK_WAIT, Event::NoAcknowledgement(id));
        };
        self.deliver(now, id, indications);
        let child_sleeps = id.role == Role::Coordinator && !self.config.rx_on_when_idle;
        let radio = &mut self.node(to).radio;
        radio.acknowledging = true;
        if child_sleeps {
            // The child may have gone to sleep at the same instant.
            radio.awake_since.get_or_insert(now);
        }
        // In the contention access period an acknowledgement begins on a back-off boundary. So the two assessments of
        // another station cannot both be in the gap before it (7.5.6.4.2).
        self.events.push(active.boundary(now + TURNAROUND), Event::Acknowledge(id));
    }

    /// The acknowledgement of the station's frame begins.
    pub(super) fn acknowledge(&mut self, now: Instant, id: StationId) {
        // Only the acknowledgement of a data request can have the frame pending field (7.2.2.3.1).
        let asked = self.station(id).task == Task::Fetch;
        let frame_pending = asked && self.nodes[id.node.index()].down.queue.head().is_some();
        if asked {
            self.station_mut(id).frame_pending = frame_pending;
        }
        let mut octets = [0; MAX_FRAME];
        let length = write_ack(&mut octets, self.sequence_of(id), frame_pending);
        let (on_air, trace, end) = self.begin_frame(now, id, FrameKind::Ack, octets, length);
        self.events.push(end, Event::Acknowledged(id, on_air, trace));
    }

    /// The acknowledgement of the station's frame is over.
    pub(super) fn acknowledged(
        &mut self,
        now: Instant,
        id: StationId,
        on_air: OnAir,
        trace: TraceIndex,
        indications: &mut Vec<Indication>,
    ) {
        let from = self.peer(id);
        let received = self.end_frame(now, from, id.node, air_time(ACK), Kind::Ack, on_air, trace);
        self.node(from).radio.acknowledging = false;
        let (task, more) = (self.station(id).task, self.station(id).frame_pending);
        let space_over = now + interframe_space(self.psdu(id));
        if task == Task::Fetch && more {
            self.answer(now, id.node);
        }
        if received {
            self.station_mut(id).ready = space_over;
            self.succeeded(now, id, indications);
        } else {
            self.events.push(now.max(self.station(id).sent_at + ACK_WAIT), Event::NoAcknowledgement(id));
        }
        if let Task::Down(child) = task {
            self.fetched(now, child, more, space_over);
        }
    }

    /// No acknowledgement has come in time: the frame is sent again, or given up after macMaxFrameRetries (7.5.6.4.3).
    pub(super) fn no_acknowledgement(&mut self, now: Instant, id: StationId, indications: &mut Vec<Indication>) {
        let attempts = match self.frame_of(id) {
            Some(frame) => {
                let attempts = &mut self.pool.get_mut(frame).attempts;
                *attempts = attempts.saturating_add(1);
                *attempts
            }
            None => {
                let station = self.station_mut(id);
                station.request_attempts += 1;
                station.request_attempts
            }
        };
        if id.role == Role::Coordinator && self.config.downward == Downward::Indirect {
            // The coordinator keeps an indirect frame until the child asks again.
            self.station_mut(id).phase = Phase::Idle;
        } else if attempts > self.config.max_retries {
            self.give_up(now, id, DropReason::RetriesExhausted, indications);
        } else {
            self.contend(now, id);
        }
    }

    /// The station gives up its task, and starts the next. A failed data request loses no frame: the next beacon lists
    /// the child again.
    pub(super) fn give_up(
        &mut self,
        now: Instant,
        id: StationId,
        reason: DropReason,
        indications: &mut Vec<Indication>,
    ) {
        let datagram = self.datagram_of(id);
        match self.direction_of(id) {
            Some((child, direction)) => {
                self.take(now, child, direction);
                indications.push(Indication::Dropped { node: id.node, datagram, reason });
            }
            None => self.node(id.node).to_fetch = false,
        }
        self.station_mut(id).phase = Phase::Idle;
        self.start(now, id);
    }

    /// The child has waited too long for the frame that it requested, unless that frame is arriving now.
    pub(super) fn no_data(&mut self, now: Instant, node: NodeId, request: u32) {
        let id = StationId { node, role: Role::Device };
        let station = self.station(id);
        let waits = station.phase == Phase::AwaitingData && station.requests == request;
        if !waits || self.nodes[node.index()].radio.acknowledging {
            return;
        }
        if let Some(end) = self.medium.receiving_until(now, node) {
            return self.events.push(end, Event::NoData(node, request));
        }
        self.node(node).to_fetch = false;
        self.station_mut(id).phase = Phase::Idle;
        self.start(now, id);
    }

    /// The station has received the acknowledgement.
    fn succeeded(&mut self, now: Instant, id: StationId, indications: &mut Vec<Indication>) {
        let datagram = self.datagram_of(id);
        if let Some((child, direction)) = self.direction_of(id) {
            self.take(now, child, direction);
            indications.push(Indication::Sent { node: id.node, datagram });
        } else if self.station(id).frame_pending {
            return self.await_data(now, id);
        } else {
            self.node(id.node).to_fetch = false;
        }
        self.station_mut(id).phase = Phase::Idle;
        self.start(now, id);
    }

    fn await_data(&mut self, now: Instant, id: StationId) {
        let until = now + self.config.max_frame_total_wait();
        let end = self.superframe(now, self.cluster_of(id)).map_or(until, |active| active.end.min(until));
        let station = self.station_mut(id);
        station.phase = Phase::AwaitingData;
        station.requests += 1;
        let request = station.requests;
        self.events.push(end, Event::NoData(id.node, request));
    }

    /// The coordinator sends the frame that the child has asked for: without CSMA/CA, on the first back-off boundary
    /// after a turnaround, or when its processor has prepared the frame, if the whole transaction fits into the active
    /// period (7.5.6.3).
    fn answer(&mut self, now: Instant, child: NodeId) {
        let coordinator = self.tree.parent(child).unwrap_or(child);
        let id = StationId { node: coordinator, role: Role::Coordinator };
        let Some(active) = self.superframe(now, coordinator) else { return };
        let begin =
            active.boundary((now + TURNAROUND).max(self.nodes[coordinator.index()].queue.processor().free_at()));
        let station = self.station_mut(id);
        if station.phase != Phase::Idle {
            return; // it answers another child; this one will ask again
        }
        station.task = Task::Down(child);
        if self.transaction_end(&active, id, begin) <= active.end {
            self.station_mut(id).phase = Phase::Contending;
            self.events.push(begin, Event::Send(id));
        }
    }

    /// A child has received and acknowledged a frame of its parent.
    fn fetched(&mut self, now: Instant, child: NodeId, more: bool, space_over: Instant) {
        let id = StationId { node: child, role: Role::Device };
        let station = self.station_mut(id);
        station.ready = station.ready.max(space_over);
        if station.phase == Phase::AwaitingData {
            station.phase = Phase::Idle;
            self.node(child).to_fetch = more;
            self.start(now, id);
        } else {
            self.rest(now, child);
        }
    }

    /// Passes the station's frame up at its receiver, unless it is a retransmission.
    fn deliver(&mut self, now: Instant, id: StationId, indications: &mut Vec<Indication>) {
        let sequence = self.sequence_of(id);
        let (node, frame) = (self.peer(id), self.frame_of(id));
        let direction = match self.station(id).task {
            Task::Fetch | Task::Up => &mut self.nodes[id.node.index()].up,
            Task::Down(child) => &mut self.nodes[child.index()].down,
        };
        let Some(sent) = frame.filter(|_| direction.sequence.accepts(sequence)).map(|frame| self.pool.get(frame))
        else {
            return;
        };
        if let Ok(frame) = FrameView::parse(sent.octets()) {
            let (payload, &QueuedFrame { datagram, discard, .. }) = (Payload::new(frame.payload()), sent);
            let queue = &mut self.nodes[node.index()].queue;
            indications.push(queue.receive(now, node, id.node, datagram, payload, discard));
        }
    }

    /// Copies a data frame to send it, and returns its length. A frame that a child has asked for has the frame pending
    /// field set if more frames wait for the child.
    fn copy_data(&mut self, id: StationId, frame: FrameIndex, octets: &mut [u8; MAX_FRAME]) -> usize {
        let waiting = self.pool.get(frame);
        let length = waiting.octets().len();
        octets[..length].copy_from_slice(waiting.octets());
        let indirect = self.config.downward == Downward::Indirect;
        let more = match self.station(id).task {
            Task::Down(child) if indirect => self.nodes[child.index()].down.waiting > 1,
            _ => false,
        };
        if more {
            set_frame_pending(octets);
        }
        self.station_mut(id).frame_pending = more;
        length
    }

    /// Puts a frame of the station, or an acknowledgement to it, on the air.
    fn begin_frame(
        &mut self,
        now: Instant,
        id: StationId,
        kind: FrameKind,
        octets: [u8; MAX_FRAME],
        length: usize,
    ) -> (OnAir, TraceIndex, Instant) {
        let (from, to) = if kind == FrameKind::Ack { (self.peer(id), id.node) } else { (id.node, self.peer(id)) };
        let air = air_time(length + FCS);
        let end = now + air;
        let (datagram, attempt) = (self.datagram_of(id), self.attempt_of(id));
        let queued_at = self.frame_of(id).map_or(now, |frame| self.pool.get(frame).queued_at);
        let coordinator = self.cluster_of(id);
        let active = self.superframe(now, coordinator);
        let Self { medium, nodes, tree, config, .. } = self;
        let hears = |node| active.is_some_and(|active| listens(config, tree, nodes, node, coordinator, &active));
        let on_air = medium.begin(now, from, air, hears);
        self.node(from).radio.sending_until = end;
        let received = None;
        let length = length as u8;
        let trace =
            self.trace.begin(Entry { at: now, kind, from, to, datagram, queued_at, attempt, received, octets, length });
        (on_air, trace, end)
    }

    /// Ends a frame, and accounts for it at its sender and receivers. Returns true if its destination received it.
    #[allow(clippy::too_many_arguments)]
    fn end_frame(
        &mut self,
        now: Instant,
        from: NodeId,
        to: NodeId,
        air: Duration,
        kind: Kind,
        on_air: OnAir,
        trace: TraceIndex,
    ) -> bool {
        let watched = self.watched;
        self.node(from).radio.sent(now, air, watched);
        self.medium.end(on_air, kind, &mut self.receptions);
        let mut received = false;
        for reception in self.receptions.iter().filter(|reception| reception.is_received()) {
            self.nodes[reception.node.index()].radio.received(now, air, watched);
            received |= reception.node == to;
        }
        self.trace.end(trace, received);
        received
    }

    /// The data frame of the station's task. `None` if the task is a data request.
    pub(super) fn frame_of(&self, id: StationId) -> Option<FrameIndex> {
        let (child, direction) = self.direction_of(id)?;
        let node = &self.nodes[child.index()];
        match direction {
            Direction::Up => node.up.queue.head(),
            Direction::Down => node.down.queue.head(),
        }
    }

    fn direction_of(&self, id: StationId) -> Option<(NodeId, Direction)> {
        match self.station(id).task {
            Task::Fetch => None,
            Task::Up => Some((id.node, Direction::Up)),
            Task::Down(child) => Some((child, Direction::Down)),
        }
    }

    /// The node to which the station sends.
    fn peer(&self, id: StationId) -> NodeId {
        match self.station(id).task {
            Task::Fetch | Task::Up => self.cluster_of(id),
            Task::Down(child) => child,
        }
    }

    fn sequence_of(&self, id: StationId) -> u8 {
        self.frame_of(id).map_or(self.station(id).request_sequence, |frame| self.pool.get(frame).sequence)
    }

    fn attempt_of(&self, id: StationId) -> u8 {
        self.frame_of(id).map_or(self.station(id).request_attempts, |frame| self.pool.get(frame).attempts)
    }

    /// The datagram of the station's frame. A data request belongs to the datagram of the frame that it fetches.
    fn datagram_of(&self, id: StationId) -> DatagramId {
        let frame = self.frame_of(id).or_else(|| self.nodes[id.node.index()].down.queue.head());
        frame.map_or(NO_DATAGRAM, |frame| self.pool.get(frame).datagram)
    }
}
