//! Sending: waiting for the phase, strobe train, data frame.

use super::XMac;
use super::frame::{STROBE, write_control};
use super::node::{Activity, Event, Sending, Stage};
use super::retry::Ending;
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::observer::{FrameKind, Transmission};
use crate::radio::Indication;
use crate::radio::frame::FCS;

impl XMac {
    /// The back-off towards a neighbour is over: begins to send the first frame of its queue.
    pub fn attempt(&mut self, now: Instant, node: NodeId, position: usize) {
        let sender = &mut self.nodes[node.index()];
        if sender.is_off || !matches!(sender.activity, Activity::Idle) {
            sender.neighbors[position].due = true;
            return;
        }
        if sender.queue.processor().free_at() > now {
            return self.events.push(sender.queue.processor().free_at(), Event::Attempt { node, neighbor: position });
        }
        if sender.yields(now) > 0 {
            self.retry(now, node, position, Ending::Collision);
            return;
        }
        let Some(index) = sender.neighbors[position].queue.head() else { return };
        let to = sender.neighbors[position].id;
        let expected = sender.expected_awake(to, now, self.config.check_interval);
        let train = expected.map_or(now, |awake| now + awake.since(now).saturating_sub(self.config.phase_lead));
        let frame = self.pool.get_mut(index);
        let sending = Sending {
            stage: Stage::AwaitPhase,
            neighbor: position,
            to,
            frame: index,
            attempt: frame.attempts,
            started: now,
            missed: sender.radio.pattern.cycle.next_edge(now),
            limit: train + self.config.strobe_limit,
            decided: train,
        };
        frame.attempts = frame.attempts.saturating_add(1);
        let (sequence, security) = (frame.sequence, self.config.security);
        sender.control_length = write_control(&mut sender.control, STROBE, sequence, node, to, security);
        self.stop_receiving(now, node);
        self.go_on_to(now, node, sending, Stage::AwaitPhase);
        self.plan(train, node);
    }

    /// Goes on with the next stage of sending.
    fn go_on_to(&mut self, now: Instant, node: NodeId, sending: Sending, stage: Stage) {
        self.nodes[node.index()].turn_to(now, Activity::Sending(Sending { stage, ..sending }));
    }

    /// Does the next step of the node's activity.
    pub fn step(&mut self, now: Instant, node: NodeId) {
        let is_off = self.nodes[node.index()].is_off;
        match self.nodes[node.index()].activity {
            Activity::Idle => {}
            Activity::Answering(_) if is_off => self.answered(now, node),
            Activity::Answering(answering) => self.answer(now, node, answering),
            Activity::Sending(sending) if is_off && sending.stage != Stage::AwaitDataAck => {
                self.finish(now, node, sending, Ending::Collision);
            }
            Activity::Sending(sending) => match sending.stage {
                Stage::AwaitPhase => self.listen_for_strobe_ack(now, node, sending),
                Stage::Listen => self.strobe(now, node, sending),
                Stage::Acknowledged => self.send_data(now, node, sending),
                Stage::AwaitDataAck => self.finish(now, node, sending, Ending::NoAck),
                Stage::Strobe | Stage::Data => {} // the next step is the end of the frame
            },
        }
    }

    /// Listens until the next strobe, which follows one gap after the decision to send the last one.
    fn listen_for_strobe_ack(&mut self, now: Instant, node: NodeId, sending: Sending) {
        self.go_on_to(now, node, sending, Stage::Listen);
        self.plan(sending.decided + self.config.strobe_gap + self.config.strobe_delay, node);
    }

    /// Sends a strobe, unless the channel is busy.
    fn strobe(&mut self, now: Instant, node: NodeId, sending: Sending) {
        let sending = Sending { decided: now - self.config.strobe_delay, ..sending };
        if self.channel_is_clear(now, node) {
            self.go_on_to(now, node, sending, Stage::Strobe);
            let psdu = self.nodes[node.index()].control_length + FCS;
            self.begin(now, node, psdu);
        } else {
            self.continue_train(now, node, sending);
        }
    }

    /// After a strobe: listens, or ends the train at its limit.
    fn continue_train(&mut self, now: Instant, node: NodeId, sending: Sending) {
        if self.nodes[node.index()].is_off {
            self.finish(now, node, sending, Ending::Collision);
        } else if now < sending.limit {
            self.listen_for_strobe_ack(now, node, sending);
        } else {
            self.finish(now, node, sending, Ending::NoAck);
        }
    }

    /// A frame arrived between two strobes, or while the node waits for the acknowledgement of the data frame.
    pub fn hear_while_sending(&mut self, now: Instant, node: NodeId, sending: Sending, sent: &Transmission<'_>) {
        let is_for_us = sent.to == node;
        match (sending.stage, sent.kind) {
            (Stage::Listen, FrameKind::StrobeAck) if is_for_us => {
                self.nodes[node.index()].remember(sending.to, now, self.config.encounters);
                self.go_on_to(now, node, sending, Stage::Acknowledged);
                self.plan(now + self.config.data_delay, node);
            }
            (Stage::Listen, FrameKind::StrobeAck | FrameKind::Ack) => {} // of another exchange
            (Stage::Listen, _) => self.finish(now, node, sending, Ending::Collision),
            (Stage::AwaitDataAck, FrameKind::Ack) if is_for_us => self.finish(now, node, sending, Ending::Sent),
            _ => {}
        }
    }

    /// Sends the data frame, unless the channel is busy. Without acknowledgements, the sender does not notice that.
    fn send_data(&mut self, now: Instant, node: NodeId, sending: Sending) {
        if self.channel_is_clear(now, node) {
            self.go_on_to(now, node, sending, Stage::Data);
            let psdu = self.pool.get(sending.frame).octets().len() + FCS;
            self.begin(now, node, psdu);
        } else {
            let ending = if self.config.data_ack { Ending::NoAck } else { Ending::Sent };
            if ending == Ending::Sent {
                let (node, datagram) = (sending.to, self.pool.get(sending.frame).datagram);
                self.indications.push(Indication::Lost { node, datagram, reason: DropReason::FrameLost });
            }
            self.finish(now, node, sending, ending);
        }
    }

    /// The node's own frame has ended.
    pub fn sent(&mut self, now: Instant, node: NodeId) {
        match self.nodes[node.index()].activity {
            Activity::Idle => {}
            Activity::Answering(_) => self.answered(now, node),
            Activity::Sending(sending) => match sending.stage {
                Stage::Strobe => self.continue_train(now, node, sending),
                Stage::Data if self.config.data_ack => {
                    self.go_on_to(now, node, sending, Stage::AwaitDataAck);
                    self.plan(now + self.config.data_ack_wait, node);
                }
                Stage::Data => self.finish(now, node, sending, Ending::Sent),
                _ => {}
            },
        }
    }

    /// Ends the sending: the processor is free again.
    fn finish(&mut self, now: Instant, node: NodeId, sending: Sending, ending: Ending) {
        self.stop_receiving(now, node);
        let sender = &mut self.nodes[node.index()];
        sender.turn_to(now, Activity::Idle);
        sender.busy += now.since(sending.started);
        let yields = u64::from(ending == Ending::Collision);
        sender.catch_up(now, sending.missed, self.config.sending_delays_wake_ups, yields);
        self.attempt_what_is_due(now, node);
        self.retry(now, node, sending.neighbor, ending);
    }

    /// Starts the attempts whose back-off ended while the node was doing something else.
    pub fn attempt_what_is_due(&mut self, now: Instant, node: NodeId) {
        for (neighbor, waiting) in self.nodes[node.index()].neighbors.iter_mut().enumerate() {
            if std::mem::take(&mut waiting.due) {
                self.events.push(now, Event::Attempt { node, neighbor });
            }
        }
    }

    /// Handles the result as the layer above does: takes the next frame, sends the same one again, or drops it.
    fn retry(&mut self, now: Instant, node: NodeId, position: usize, ending: Ending) {
        let sender = &mut self.nodes[node.index()];
        let neighbor = &mut sender.neighbors[position];
        let Some(index) = neighbor.queue.head() else { return };
        let done = neighbor.attempts.count(ending, self.config.retry);
        let datagram = self.pool.get(index).datagram;
        if done {
            neighbor.release_head(&mut self.pool);
            sender.queue.leave(now);
            self.indications.push(match ending {
                Ending::Sent => Indication::Sent { node, datagram },
                _ => Indication::Dropped { node, datagram, reason: DropReason::RetriesExhausted },
            });
        }
        if neighbor.queue.head().is_some() {
            let (retry, interval) = (self.config.retry, self.config.check_interval);
            let delay = neighbor.attempts.delay(done, retry, interval, &mut sender.backoff);
            self.events.push(now + delay, Event::Attempt { node, neighbor: position });
        }
    }
}
