//! The exchange of data frames and data requests, their acknowledgements, and the frames that children ask for (7.5.6).

use super::pan::{Event, FrameRadio, Node, Pan, Rules};
use super::station::{Phase, Station, StationId, Task};
use super::{ACK_WAIT, TraceIndex, interframe_space};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::link::Kind;
use crate::observer::{FrameKind, Transmission};
use crate::radio::Indication;
use crate::radio::Sequence;
use crate::radio::frame::{FCS, MAX_FRAME, set_frame_pending};
use crate::radio::medium::{CCA_DURATION, OnAir};
use crate::radio::phy::air_time;
use crate::radio::pool::{FrameIndex, QueuedFrame};

impl<R: Rules> Pan<R> {
    /// An idle station begins a task.
    pub(crate) fn begin(&mut self, now: Instant, id: StationId, task: Task) {
        if task == Task::Request {
            let sequence = self.node(id.node).up.take();
            let station = self.station_mut(id);
            (station.request_sequence, station.request_attempts) = (sequence, 0);
        }
        self.station_mut(id).task = task;
        R::contend(self, now, id);
    }

    /// True if the assessment that ends now finds the channel clear. A radio that sent during the assessment cannot have
    /// found it clear.
    pub(crate) fn finds_clear(&mut self, now: Instant, node: NodeId) -> bool {
        self.nodes[node.index()].sending_until + CCA_DURATION <= now && !self.medium.busy(now, node)
    }

    /// The station's frame begins.
    pub(super) fn send(&mut self, now: Instant, id: StationId) {
        if !R::may_send(self, now, id) {
            return;
        }
        let mut octets = [0; MAX_FRAME];
        let to = self.peer(id);
        let form = R::form(self, id.node, to);
        let (kind, length) = match self.frame_of(id) {
            Some(frame) => (FrameKind::Data, self.copy_data(id, frame, &mut octets)),
            None => {
                let sequence = self.sequence_of(id);
                (FrameKind::DataRequest, form.write_data_request(&mut octets, sequence, id.node, to))
            }
        };
        if form.announces_samples() {
            form.set_phase(&mut octets, R::phase(self, now, id.node));
        }
        // The queue counts a data frame when it arrives there.
        if self.frame_of(id).is_none_or(|frame| self.pool.get(frame).attempts > 0) {
            self.node(id.node).queue.handle_own(1);
        }
        let datagram = self.datagram_of(id);
        let station = self.station_mut(id);
        (station.phase, station.datagram) = (Phase::Sending, datagram);
        let (on_air, trace, end) = self.begin_frame(now, id, [id.node, to], kind, octets, length);
        self.events.push(end, Event::Sent(id, on_air, trace));
    }

    /// The station's frame is over.
    pub(super) fn sent(&mut self, now: Instant, id: StationId, on_air: OnAir, trace: TraceIndex) {
        let to = self.peer(id);
        let received = self.end_frame(now, [id.node, to], Kind::Data, on_air, trace);
        let station = self.station_mut(id);
        (station.phase, station.sent_at) = (Phase::AwaitingAcknowledgement, now);
        let Some(ack_begins) = R::ack_begins(self, now, id).filter(|_| received) else {
            return self.events.push(now + ACK_WAIT, Event::NoAcknowledgement(id));
        };
        self.deliver(now, id, to);
        self.node(to).is_acknowledging = true;
        R::received(self, now, id, to);
        self.events.push(ack_begins, Event::Acknowledge(id));
    }

    /// The acknowledgement of the station's frame begins.
    pub(super) fn acknowledge(&mut self, now: Instant, id: StationId) {
        let to = self.peer(id);
        let waits = self.nodes[id.node.index()].kept.head().is_some();
        let is_announced = R::announces_in_data_acks(&self.config);
        let station = self.station_mut(id);
        let frame_pending = match station.task {
            Task::Request => waits,
            Task::Own => waits && is_announced,
            Task::Kept(_) => false,
        };
        if !matches!(station.task, Task::Kept(_)) {
            station.frame_pending = frame_pending;
        }
        let mut octets = [0; MAX_FRAME];
        let form = R::ack_form(self, id.node, to);
        let length = form.write_ack(&mut octets, self.sequence_of(id), frame_pending, id.node);
        if form.announces_samples() {
            form.set_ack_phase(&mut octets, R::phase(self, now, to));
        }
        let (on_air, trace, end) = self.begin_frame(now, id, [to, id.node], FrameKind::Ack, octets, length);
        self.events.push(end, Event::Acknowledged(id, on_air, trace));
    }

    /// The acknowledgement of the station's frame is over.
    pub(super) fn acknowledged(&mut self, now: Instant, id: StationId, on_air: OnAir, trace: TraceIndex) {
        let from = self.peer(id);
        let received = self.end_frame(now, [from, id.node], Kind::Ack, on_air, trace);
        self.node(from).is_acknowledging = false;
        let station = self.station(id);
        let child = if let Task::Kept(child) = station.task { Some(child) } else { None };
        let more = station.frame_pending;
        let space_over = now + interframe_space(self.psdu(id));
        R::acknowledged(self, now, id, received);
        if let Some(child) = child.filter(|_| R::CHILD_FIRST) {
            self.fetched(now, child, more, space_over);
        }
        if received {
            self.station_mut(id).ready = space_over;
            self.succeeded(now, id);
        } else {
            self.events.push(now.max(self.station(id).sent_at + ACK_WAIT), Event::NoAcknowledgement(id));
        }
        if let Some(child) = child.filter(|_| !R::CHILD_FIRST) {
            self.fetched(now, child, more, space_over);
        }
    }

    /// A child has received and acknowledged a frame that its parent kept. `more` is true if others wait for it.
    fn fetched(&mut self, now: Instant, child: NodeId, more: bool, space_over: Instant) {
        let station = self.station_mut(StationId::device(child));
        station.ready = station.ready.max(space_over);
        let is_awaited = station.phase == Phase::AwaitingData;
        if is_awaited {
            station.phase = Phase::Idle;
        }
        R::fetched(self, now, child, is_awaited, more);
    }

    /// No acknowledgement has come in time (7.5.6.4.3).
    pub(super) fn no_acknowledgement(&mut self, now: Instant, id: StationId) {
        let attempts = match self.frame_of(id) {
            Some(frame) => &mut self.pool.get_mut(frame).attempts,
            None => &mut self.station_mut(id).request_attempts,
        };
        *attempts = attempts.saturating_add(1);
        let attempts = *attempts;
        R::unacknowledged(self, now, id, attempts);
    }

    /// The child has waited too long for the frame that was announced, unless that frame is arriving now.
    pub(super) fn no_data(&mut self, now: Instant, node: NodeId, wait: u32) {
        let id = StationId::device(node);
        let station = self.station(id);
        let waits = station.phase == Phase::AwaitingData && station.waits == wait;
        if !waits || self.nodes[node.index()].is_acknowledging {
            return;
        }
        if let Some(end) = self.medium.receiving_until(now, node) {
            return self.events.push(end, Event::NoData(node, wait));
        }
        self.station_mut(id).phase = Phase::Idle;
        R::no_data(self, now, node);
        self.resume(now, id);
    }

    /// The station has received the acknowledgement.
    fn succeeded(&mut self, now: Instant, id: StationId) {
        let datagram = self.datagram_of(id);
        let is_request = self.station(id).task == Task::Request;
        let frame_pending = self.station(id).frame_pending;
        if is_request && frame_pending {
            return self.await_data(now, id);
        }
        self.take(now, id);
        self.station_mut(id).phase = Phase::Idle;
        R::succeeded(self, now, id, frame_pending);
        if !is_request {
            self.indications.push(Indication::Sent { node: id.node, datagram });
        }
        self.resume(now, id);
    }

    fn await_data(&mut self, now: Instant, id: StationId) {
        let until = R::data_until(self, now, id);
        let station = self.station_mut(id);
        station.phase = Phase::AwaitingData;
        station.waits = station.waits.wrapping_add(1);
        let wait = station.waits;
        self.events.push(until, Event::NoData(id.node, wait));
    }

    /// Gives up the station's task, and its frame.
    pub(crate) fn give_up(&mut self, now: Instant, id: StationId, reason: DropReason) {
        if self.station(id).task == Task::Request {
            R::request_failed(self, now, id.node, reason);
        } else {
            let datagram = self.datagram_of(id);
            self.take(now, id);
            self.indications.push(Indication::Dropped { node: id.node, datagram, reason });
        }
        self.finish(now, id);
    }

    /// Drops the frames that a parent has kept for a child for this time.
    pub(crate) fn drop_expired(&mut self, now: Instant, child: NodeId, timeout: Duration) {
        while let Some(frame) = self.nodes[child.index()].kept.head()
            && self.pool.get(frame).queued_at + timeout <= now
        {
            let (datagram, reason) = (self.pool.get(frame).datagram, DropReason::TransactionExpired);
            self.take_kept(now, child);
            self.indications.push(Indication::Dropped { node: self.parent(child), datagram, reason });
        }
    }

    /// The task is over. The station starts the next.
    pub(crate) fn finish(&mut self, now: Instant, id: StationId) {
        self.station_mut(id).phase = Phase::Idle;
        R::start(self, now, id);
    }

    /// Starts the next task of a station that has become idle, unless something else has started it already.
    pub(crate) fn resume(&mut self, now: Instant, id: StationId) {
        if self.station(id).phase == Phase::Idle {
            R::start(self, now, id);
        }
    }

    /// Passes the station's frame up at its receiver, unless it is a retransmission or a data request.
    fn deliver(&mut self, now: Instant, id: StationId, to: NodeId) {
        let sequence = self.sequence_of(id);
        let is_new = self.link(id.node, to).accepts(sequence);
        let Some(sent) = self.frame_of(id).filter(|_| is_new).map(|frame| self.pool.get(frame)) else {
            return self.nodes[to.index()].queue.handle_own(1);
        };
        self.indications.extend(self.nodes[to.index()].queue.receive_frame(now, to, id.node, sent));
    }

    /// Copies a data frame to send it, and returns its length. A frame for a child that has asked for it has the frame
    /// pending field set if more frames wait for the child.
    fn copy_data(&mut self, id: StationId, frame: FrameIndex, octets: &mut [u8; MAX_FRAME]) -> usize {
        let waiting = self.pool.get(frame);
        let length = waiting.octets().len();
        octets[..length].copy_from_slice(waiting.octets());
        if let Task::Kept(child) = self.station(id).task {
            let more = R::announces_more(&self.config) && self.nodes[child.index()].kept_count > 1;
            if more {
                set_frame_pending(octets);
            }
            self.station_mut(id).frame_pending = more;
        }
        length
    }

    /// Puts a frame of the station, or an acknowledgement to it, on the air.
    fn begin_frame(
        &mut self,
        now: Instant,
        id: StationId,
        [from, to]: [NodeId; 2],
        kind: FrameKind,
        octets: [u8; MAX_FRAME],
        length: usize,
    ) -> (OnAir, TraceIndex, Instant) {
        let air = air_time(length + FCS);
        let end = now + air;
        // A frame that comes for a device during its request is not what the request asked for.
        let Station { datagram, request_attempts, .. } = *self.station(id);
        let (attempt, queued_at) = self.frame_of(id).map_or((request_attempts, now), |frame| {
            let QueuedFrame { attempts, queued_at, .. } = *self.pool.get(frame);
            (attempts, queued_at)
        });
        let audience = R::audience(self, now, id);
        let Self { medium, nodes, tree, config, .. } = self;
        let on_air = medium.begin(now, from, air, |node| R::listens(config, tree, nodes, node, now, audience));
        let sender = &mut nodes[from.index()];
        sender.sending_until = end;
        sender.radio.begin_sending(now);
        for reception in medium.receptions(on_air) {
            nodes[reception.node.index()].radio.begin_receiving(now);
        }
        let sent = Transmission::new(now, medium.channel(), kind, from, to);
        let trace = self.trace.begin(Transmission { datagram, queued_at, attempt, ..sent }, octets, length);
        (on_air, trace, end)
    }

    /// Ends a frame. Returns true if its destination received it.
    fn end_frame(
        &mut self,
        now: Instant,
        [from, to]: [NodeId; 2],
        kind: Kind,
        on_air: OnAir,
        trace: TraceIndex,
    ) -> bool {
        let since = self.medium.begun(on_air);
        self.node(from).radio.end_sending(since, now);
        self.medium.end(on_air, kind, &mut self.receptions);
        let mut received = false;
        for reception in &self.receptions {
            let more = || self.medium.receiving_until(now, reception.node).is_some();
            let listener = &mut self.nodes[reception.node.index()].radio;
            listener.end_receiving(since, now, reception.is_received(), more);
            received |= reception.node == to && reception.is_received();
        }
        self.trace.end(trace, received);
        received
    }

    /// Removes the data frame of the station's task, if it has one.
    fn take(&mut self, now: Instant, id: StationId) {
        match self.station(id).task {
            Task::Request => {}
            Task::Own => {
                let Node { own, queue, .. } = &mut self.nodes[id.node.index()];
                if let Some(frame) = own.pop(&mut self.pool) {
                    self.pool.release(frame);
                    queue.leave(now);
                    R::left(self, id.node, None);
                }
            }
            Task::Kept(child) => self.take_kept(now, child),
        }
    }

    /// Removes the oldest frame that a parent keeps for a child.
    fn take_kept(&mut self, now: Instant, child: NodeId) {
        let parent = self.parent(child);
        let node = &mut self.nodes[child.index()];
        if let Some(frame) = node.kept.pop(&mut self.pool) {
            node.kept_count -= 1;
            self.pool.release(frame);
            self.node(parent).queue.leave(now);
            R::left(self, parent, Some(child));
        }
    }

    /// The numbers of the frames from one node to another.
    pub(super) fn link(&mut self, from: NodeId, to: NodeId) -> &mut Sequence {
        match self.tree.parent(from) == Some(to) {
            true => &mut self.nodes[from.index()].up,
            false => &mut self.nodes[to.index()].down,
        }
    }

    /// The data frame of the station's task. `None` if the task is a data request.
    pub(crate) fn frame_of(&self, id: StationId) -> Option<FrameIndex> {
        match self.station(id).task {
            Task::Request => None,
            Task::Own => self.nodes[id.node.index()].own.head(),
            Task::Kept(child) => self.nodes[child.index()].kept.head(),
        }
    }

    /// The node to which the station's frame goes.
    pub(crate) fn peer(&self, id: StationId) -> NodeId {
        let parent = || self.parent(id.node);
        match self.station(id).task {
            Task::Request => parent(),
            Task::Own => self.frame_of(id).map_or_else(parent, |frame| self.destinations[frame as usize]),
            Task::Kept(child) => child,
        }
    }

    /// Octets of the station's frame, FCS included.
    pub(crate) fn psdu(&self, id: StationId) -> usize {
        match self.frame_of(id) {
            Some(frame) => self.pool.get(frame).octets().len() + FCS,
            None => R::form(self, id.node, self.peer(id)).data_request_octets(),
        }
    }

    fn sequence_of(&self, id: StationId) -> u8 {
        self.frame_of(id).map_or(self.station(id).request_sequence, |frame| self.pool.get(frame).sequence)
    }

    /// The datagram of the station's frame. A data request belongs to the datagram of the frame that it fetches.
    fn datagram_of(&self, id: StationId) -> DatagramId {
        let frame = self.frame_of(id).or_else(|| self.nodes[id.node.index()].kept.head());
        frame.map_or(NO_DATAGRAM, |frame| self.pool.get(frame).datagram)
    }
}
