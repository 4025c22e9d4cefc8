//! Receiving: how a node handles the frames that it hears.

use super::XMac;
use super::frame::{STROBE_ACK, write_ack, write_control};
use super::node::{Activity, Answering, Sending, XmacNode};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::observer::{FrameKind, Transmission};
use crate::radio::Indication;
use crate::radio::contention::TURNAROUND;
use crate::radio::frame::FCS;
use crate::radio::pool::QueuedFrame;

/// A node that has heard a strobe for another node holds back its own frames for this number of wake-ups (cxmac.c,
/// `someone_is_sending`).
const YIELD_TO_OTHERS: u64 = 2;

/// The number of wake-ups for which a node that has answered a strobe holds back its own frames.
const YIELD_TO_SENDER: u64 = 1;

impl XMac {
    /// Handles a frame that a node has received.
    pub fn hear(&mut self, now: Instant, node: NodeId, sent: &Transmission<'_>) {
        let &Transmission { kind, from, datagram, .. } = sent;
        let is_for_us = sent.to == node;
        let is_idle = matches!(self.nodes[node.index()].activity, Activity::Idle);
        // A sender waits actively, and its queue counts data frames.
        if is_idle && (kind == FrameKind::Strobe || kind == FrameKind::Data && !is_for_us) {
            self.nodes[node.index()].queue.handle_own(1);
        }
        if kind == FrameKind::Data && is_for_us && !is_idle && !self.config.data_ack {
            // The processor does not take the frame from the radio, and the sender does not learn of it.
            self.indications.push(Indication::Lost { node, datagram, reason: DropReason::FrameLost });
        }
        match self.nodes[node.index()].activity {
            Activity::Sending(sending) => self.hear_while_sending(now, node, sending, sent),
            Activity::Answering(_) => {} // the processor is busy with the answer
            Activity::Idle => match kind {
                FrameKind::Strobe if is_for_us => self.hear_own_strobe(now, node, from),
                FrameKind::Strobe => self.nodes[node.index()].yield_for(now, YIELD_TO_OTHERS),
                FrameKind::Data if is_for_us => self.hear_data(now, node, from),
                FrameKind::Data => self.nodes[node.index()].yield_for(now, 0),
                _ => {} // an answer to another node
            },
        }
    }

    /// Answers a strobe, and stays awake for the data frame.
    fn hear_own_strobe(&mut self, now: Instant, node: NodeId, from: NodeId) {
        let listener = &mut self.nodes[node.index()];
        listener.yield_for(now, YIELD_TO_SENDER);
        listener.stay_awake(now, &self.config);
        self.begin_answer(now, node, from, FrameKind::StrobeAck);
    }

    /// Passes a data frame up, unless it is a retransmission of the last one.
    fn hear_data(&mut self, now: Instant, node: NodeId, from: NodeId) {
        let Activity::Sending(Sending { frame, .. }) = self.nodes[from.index()].activity else { return };
        let frame = self.pool.get(frame);
        let listener = &mut self.nodes[node.index()];
        listener.yield_for(now, 0);
        listener.go_quiet(now);
        if listener.accepts(from, frame.sequence) {
            self.indications.extend(listener.queue.receive_frame(now, node, from, frame));
        } else {
            listener.queue.handle_own(1);
        }
        if self.config.data_ack {
            self.begin_answer(now, node, from, FrameKind::Ack);
        }
    }

    /// Makes the answer to the frame of `to` that has ended. It is sent after a delay.
    fn begin_answer(&mut self, now: Instant, node: NodeId, to: NodeId, kind: FrameKind) {
        let Activity::Sending(Sending { frame, attempt, .. }) = self.nodes[to.index()].activity else { return };
        let &QueuedFrame { sequence, datagram, queued_at, .. } = self.pool.get(frame);
        let XmacNode { control, control_length, .. } = &mut self.nodes[node.index()];
        let security = self.config.security;
        let delay = if kind == FrameKind::Ack {
            *control_length = write_ack(control, sequence, to, security);
            TURNAROUND
        } else {
            *control_length = write_control(control, STROBE_ACK, sequence, node, to, security);
            self.config.strobe_ack_delay
        };
        let answer = Answering { kind, to, datagram, queued_at, attempt, on_air: false };
        self.nodes[node.index()].turn_to(now, Activity::Answering(answer));
        self.plan(now + delay, node);
    }

    /// Sends the answer. The radio acknowledges data frames by itself, without assessing the channel.
    pub fn answer(&mut self, now: Instant, node: NodeId, answer: Answering) {
        if answer.kind == FrameKind::Ack || self.channel_is_clear(now, node) {
            if answer.kind == FrameKind::StrobeAck {
                self.nodes[node.index()].queue.handle_own(1);
            }
            self.nodes[node.index()].turn_to(now, Activity::Answering(Answering { on_air: true, ..answer }));
            let psdu = self.nodes[node.index()].control_length + FCS;
            self.begin(now, node, psdu);
        } else {
            self.answered(now, node);
        }
    }

    /// The answer has been sent, or held back.
    pub fn answered(&mut self, now: Instant, node: NodeId) {
        self.nodes[node.index()].turn_to(now, Activity::Idle);
        self.attempt_what_is_due(now, node);
    }
}
