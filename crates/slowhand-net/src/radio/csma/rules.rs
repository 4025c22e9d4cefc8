//! The rules of a non-beacon PAN: its decisions at each step of an exchange.

use super::config::{BEFORE_HEADER, CSL_UNIT, CsmaConfig};
use super::node::{Attempts, CsmaNode, listens};
use super::radio::Sampling;
use super::{Csma, CsmaRules, Timer};
use crate::address::{Addressing, NodeId};
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::observer::{Observer, RadioTimes, RadioWork};
use crate::radio::contention::{
    Form, FrameRadio, Kind, Node, Phase, Radio, Rules, Station, StationId, TURNAROUND, Task, Tree,
};
use crate::radio::phy::air_time;

impl Rules for CsmaRules {
    type Config = CsmaConfig;
    type Node = CsmaNode;
    type Station = Attempts;
    type Stations = [Station<Attempts>; 1];
    type Radio = Radio<Sampling>;
    type Event = Timer;
    type Audience = ();

    const CHILD_FIRST: bool = true;

    fn form(pan: &Csma, from: NodeId, to: NodeId) -> Form {
        let [from, to] = [from, to].map(|node| &pan.nodes[node.index()]);
        let kind = match &pan.config.csl {
            Some(csl) if from.is_sleepy() => Kind::Csl(csl.period),
            Some(_) if to.is_sleepy() => Kind::Enhanced,
            _ => Kind::Plain,
        };
        if from.mac.joins || to.mac.joins {
            return Form { addressing: Addressing::Extended, kind, security: None };
        }
        Form { addressing: pan.config.addressing, kind, security: pan.config.security }
    }

    fn ack_form(pan: &Csma, from: NodeId, to: NodeId) -> Form {
        let form = Self::form(pan, from, to);
        match form.kind {
            Kind::Plain => form,
            Kind::Csl(_) => Form { kind: Kind::Enhanced, ..form },
            Kind::Enhanced => Self::form(pan, to, from),
        }
    }

    /// In units of [`CSL_UNIT`], rounded down.
    fn phase(pan: &Csma, begin: Instant, node: NodeId) -> u16 {
        let header = begin + BEFORE_HEADER;
        let next = pan.samples(node).map_or(header, |samples| samples.next(header));
        (next.since(header).as_micros() / CSL_UNIT.as_micros()) as u16
    }

    fn keeps(pan: &Csma, _node: NodeId, next_hop: NodeId) -> bool {
        pan.nodes[next_hop.index()].is_sleepy()
    }

    fn enqueued(pan: &mut Csma, now: Instant, node: NodeId, next_hop: NodeId) {
        if Self::keeps(pan, node, next_hop) {
            pan.keep(now, next_hop);
        } else {
            pan.expect_answer(now, node);
            pan.resume(now, StationId::device(node));
        }
    }

    fn left(pan: &mut Csma, _node: NodeId, child: Option<NodeId>) {
        if let Some(child) = child {
            pan.node(child).mac.failures = 0;
        }
    }

    fn start(pan: &mut Csma, now: Instant, id: StationId) {
        let task = if pan.node(id.node).is_off() { None } else { pan.next_task(id.node) };
        match task {
            Some(task) => {
                pan.station_mut(id).mac = Attempts::default();
                pan.begin(now, id, task);
            }
            None => pan.rest(now, id.node),
        }
    }

    fn contend(pan: &mut Csma, now: Instant, id: StationId) {
        pan.contend(now, id);
    }

    fn assessed(pan: &mut Csma, now: Instant, id: StationId) {
        pan.assessed(now, id);
    }

    fn may_send(pan: &mut Csma, now: Instant, id: StationId) -> bool {
        let is_off = pan.node(id.node).is_off();
        if is_off {
            pan.postpone(now, id);
        }
        !is_off
    }

    fn audience(_pan: &Csma, _now: Instant, _id: StationId) {}

    fn listens(_: &CsmaConfig, _: &Tree, nodes: &[Node<Self>], node: NodeId, now: Instant, (): ()) -> bool {
        let Node { stations, radio, .. } = &nodes[node.index()];
        stations[0].phase != Phase::Turning && listens(radio, now)
    }

    fn ack_begins(_pan: &Csma, now: Instant, _id: StationId) -> Option<Instant> {
        Some(now + TURNAROUND)
    }

    fn received(pan: &mut Csma, now: Instant, id: StationId, to: NodeId) {
        pan.rest(now, to); // it stays awake
        if Self::form(pan, id.node, to).announces_samples() {
            pan.learn_samples(now, id.node, now - air_time(pan.psdu(id)));
        }
    }

    fn announces_in_data_acks(config: &CsmaConfig) -> bool {
        config.pending_in_data_acks
    }

    fn acknowledged(pan: &mut Csma, now: Instant, id: StationId, received: bool) {
        let from = pan.peer(id);
        let form = Self::ack_form(pan, id.node, from);
        if form.announces_samples() {
            pan.synchronise(now, from);
            if received {
                pan.learn_samples(now, from, now - air_time(form.ack_octets()));
            }
        }
        let Station { task, frame_pending, .. } = *pan.station(id);
        if let Task::Kept(_) = task {
            return;
        }
        if task == Task::Request && frame_pending {
            pan.answer(now, from, id.node);
        }
        pan.rest(now, from);
        if received {
            pan.synchronise(now, id.node);
            if task == Task::Request {
                pan.poll_succeeded(now, id.node);
            }
        }
    }

    fn fetched(pan: &mut Csma, now: Instant, child: NodeId, _is_awaited: bool, more: bool) {
        pan.heard_parent(now, child, more);
        pan.rest(now, child);
        pan.resume(now, StationId::device(child));
    }

    fn succeeded(pan: &mut Csma, now: Instant, id: StationId, frame_pending: bool) {
        match pan.station(id).task {
            Task::Request => {}
            Task::Own => pan.heard_parent(now, id.node, frame_pending),
            Task::Kept(child) => pan.keep(now, child),
        }
    }

    fn unacknowledged(pan: &mut Csma, now: Instant, id: StationId, _: u8) {
        pan.unacknowledged(now, id);
    }

    fn request_failed(pan: &mut Csma, now: Instant, node: NodeId, reason: DropReason) {
        pan.poll_failed(now, node, reason == DropReason::ChannelAccessFailure);
    }

    fn data_until(pan: &Csma, now: Instant, _id: StationId) -> Instant {
        now + pan.config.polling.data_wait
    }

    fn no_data(pan: &mut Csma, now: Instant, node: NodeId) {
        pan.poll_timed_out(now, node);
    }

    fn handle(pan: &mut Csma, now: Instant, event: Timer) {
        match event {
            Timer::Poll(node) => pan.poll_timer(now, node),
            Timer::Expire(child) => pan.expire(now, child),
            Timer::Sample(child) => pan.sample(now, child),
        }
    }

    fn sending_time(pan: &Csma, next_hop: NodeId, frames: u64) -> Duration {
        let exchange = pan.config.longest_exchange();
        if !pan.nodes[next_hop.index()].is_sleepy() {
            return exchange * frames;
        }
        // The child polls for each frame. The first poll or sample may be a whole period away.
        let polls = pan.config.polling.period;
        pan.config.csl.as_ref().map_or(polls, |csl| csl.interval().min(polls)) + exchange * 2 * frames
    }

    fn set_joiner(node: &mut Node<Self>) {
        node.mac.joins = true;
    }

    fn switch_radio(pan: &mut Csma, now: Instant, node: NodeId, on: bool) -> bool {
        pan.power(now, node, on);
        true
    }

    fn radio_times(pan: &Csma, node: NodeId, now: Instant) -> RadioTimes {
        pan.nodes[node.index()].radio.times(now)
    }

    fn radio_work(pan: &Csma, node: NodeId, now: Instant) -> RadioWork {
        pan.nodes[node.index()].radio.work(now)
    }

    fn report_radio(pan: &mut Csma, now: Instant, node: NodeId, observer: &mut dyn Observer) {
        pan.node(node).radio.report(now, node, observer);
    }

    /// A device whose application polls fast in bursts begins to do so.
    fn set_burst(pan: &mut Csma, now: Instant, node: NodeId, in_burst: bool) {
        pan.change_polls(now, node, |polls| polls.in_burst = in_burst);
    }
}

impl FrameRadio for Radio<Sampling> {
    fn begin_sending(&mut self, now: Instant) {
        self.set_sending(now, true);
    }

    fn end_sending(&mut self, _since: Instant, now: Instant) {
        self.set_sending(now, false);
    }

    fn begin_receiving(&mut self, now: Instant) {
        self.set_receiving(now, true);
    }

    fn end_receiving(&mut self, _since: Instant, now: Instant, _received: bool, more: impl FnOnce() -> bool) {
        self.set_receiving(now, more());
    }

    fn watch(&mut self, watched: bool) {
        self.account_mut().watch(watched);
    }
}

impl Csma {
    /// A parent has acknowledged a poll, and frames wait for the child. It sends the oldest when it has nothing else to
    /// do.
    fn answer(&mut self, now: Instant, parent: NodeId, child: NodeId) {
        if !std::mem::replace(&mut self.node(child).mac.has_asked, true) {
            self.node(parent).mac.asked.push_back(child);
        }
        self.resume(now, StationId::device(parent));
    }

    /// A CSL receiver and its parent have synchronised.
    fn synchronise(&mut self, now: Instant, node: NodeId) {
        let radio = &mut self.node(node).radio;
        if radio.pattern.samples.is_some() {
            radio.settle(now);
        }
        if let Some(samples) = &mut radio.pattern.samples {
            samples.synchronised = now;
        }
    }
}
