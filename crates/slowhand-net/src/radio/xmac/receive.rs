//! Receiving: how a node handles the frames that it hears.

use super::config::TURNAROUND;
use super::frame::{write_ack, write_strobe_ack};
use super::node::{Activity, Answering};
use super::{Sent, XMac};
use crate::address::{Eui64, NodeId};
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::observer::FrameKind;
use crate::radio::frame::{FCS, FrameView};
use crate::radio::medium::Reception;
use crate::radio::{Indication, Payload};

/// A node that has heard a strobe for another node holds back its own frames for this number of wake-ups (cxmac.c,
/// `someone_is_sending`).
const YIELD_TO_OTHERS: u64 = 2;

/// The number of wake-ups for which a node that has answered a strobe holds back its own frames.
const YIELD_TO_SENDER: u64 = 1;

impl XMac {
    /// Handles the end of a frame of `from` at a node that had synchronised with it. `from` still has it on the air.
    pub fn hear(&mut self, now: Instant, from: NodeId, reception: Reception) {
        let (node, Some(sent)) = (reception.node, self.on_air(from)) else { return };
        if !reception.is_received() {
            return;
        }
        let (kind, is_for_us, datagram) = (sent.kind, sent.to == node, sent.datagram);
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
            Activity::Sending(sending) => {
                self.hear_while_sending(now, node, sending, kind, is_for_us);
            }
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
        let Some(sent) = self.on_air(from) else { return };
        let Some(sequence) = FrameView::parse(sent.octets).ok().and_then(|frame| frame.sequence()) else {
            return;
        };
        let (datagram, queued_at, attempt) = (sent.datagram, sent.queued_at, sent.attempt);
        let at = now + self.config.strobe_ack_delay;
        let answer = Answering { kind: FrameKind::StrobeAck, to: from, datagram, queued_at, attempt, on_air: false };
        let security = self.config.security;
        let listener = &mut self.nodes[node.index()];
        listener.control_length =
            write_strobe_ack(&mut listener.control, sequence, Eui64::of_node(node), Eui64::of_node(from), security);
        listener.yield_for(now, YIELD_TO_SENDER);
        listener.stay_awake(now, &self.config);
        listener.turn_to(now, Activity::Answering(answer));
        self.plan(at, node);
    }

    /// Passes a data frame up, unless it is a retransmission of the last one.
    fn hear_data(&mut self, now: Instant, node: NodeId, from: NodeId) {
        let Some(sent) = self.on_air(from) else { return };
        let Ok(frame) = FrameView::parse(sent.octets) else { return };
        let Some(sequence) = frame.sequence() else { return };
        let payload = Payload::new(frame.payload());
        let Sent { datagram, queued_at, discard, attempt, .. } = sent;
        let listener = &mut self.nodes[node.index()];
        listener.yield_for(now, 0);
        listener.go_quiet(now);
        if listener.accepts(from, sequence) {
            self.indications.push(listener.queue.receive(now, node, from, datagram, payload, discard));
        } else {
            listener.queue.handle_own(1);
        }
        if self.config.data_ack {
            let at = now + TURNAROUND;
            let answer = Answering { kind: FrameKind::Ack, to: from, datagram, queued_at, attempt, on_air: false };
            let security = self.config.security;
            let listener = &mut self.nodes[node.index()];
            listener.control_length = write_ack(&mut listener.control, sequence, Eui64::of_node(from), security);
            listener.turn_to(now, Activity::Answering(answer));
            self.plan(at, node);
        }
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
