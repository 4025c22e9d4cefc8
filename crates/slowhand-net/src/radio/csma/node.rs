//! The state of a node that only a non-beacon PAN has, and the knowledge of its parent about it.

use super::polls::Polls;
use super::radio::{Samples, Sampling};
use super::{Csma, CsmaRules};
use crate::address::NodeId;
use crate::clock::Instant;
use crate::radio::contention::{Mode, Node, Phase, Radio, StationId};
use std::collections::VecDeque;

/// The part of a node that only this MAC has.
#[derive(Debug)]
pub struct CsmaNode {
    /// The polls of a sleepy device. `None` for a node that always listens.
    pub polls: Option<Box<Polls>>,
    /// Sleepy children that have asked for a frame, in the order of their polls.
    pub asked: VecDeque<NodeId>,
    /// True if it has asked its parent for a frame, and the parent has not answered yet.
    pub has_asked: bool,
    /// Answers of its parent in a row that it has not acknowledged.
    pub failures: u8,
    /// The instant at which the event queue has the end of the time of the oldest frame that its parent keeps.
    pub expires_at: Option<Instant>,
    /// Its samples, as its parent knows them.
    pub samples: Option<Known>,
    /// True if it has no key and no short address of the network yet.
    pub joins: bool,
}

/// The part of a station that only this MAC has.
#[derive(Debug, Default)]
pub struct Attempts {
    /// True if its frame for a child goes into a sample of the child: the child has not asked for it.
    pub into_sample: bool,
    /// Retransmissions so far.
    pub retries: u8,
    /// The exponent of the delay before the next of them, if the present transmission is not acknowledged.
    pub retry_exponent: u8,
}

/// The knowledge of a parent about a CSL receiver.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The time of a sample, rounded down to the unit of phases.
    pub sample: Instant,
    /// When the parent has heard the child last.
    pub heard: Instant,
    /// Frames in a row that the child has not acknowledged.
    pub failures: u8,
    /// True if the event queue has the next sample.
    pub is_scheduled: bool,
}

impl CsmaNode {
    pub fn new(polls: Option<Polls>, samples: Option<Known>) -> Self {
        let polls = polls.map(Box::new);
        Self { polls, asked: VecDeque::new(), has_asked: false, failures: 0, expires_at: None, samples, joins: false }
    }
}

impl Node<CsmaRules> {
    /// True if it sleeps when it has nothing to do.
    pub fn is_sleepy(&self) -> bool {
        self.mac.polls.is_some()
    }

    /// True if its radio is switched off.
    pub fn is_off(&self) -> bool {
        self.radio.pattern.is_off
    }

    /// True if its radio must listen or is about to send.
    fn is_awake(&self) -> bool {
        let phase = self.stations[0].phase;
        if self.is_off() {
            // It finishes an exchange that has begun.
            return self.is_acknowledging || matches!(phase, Phase::Sending | Phase::AwaitingAcknowledgement);
        }
        !self.is_sleepy() || self.is_acknowledging || !matches!(phase, Phase::Idle | Phase::Contending)
    }
}

impl Csma {
    /// See [`Mac::switch_radio`](crate::radio::Mac::switch_radio).
    pub(super) fn power(&mut self, now: Instant, node: NodeId, on: bool) {
        let this = self.node(node);
        if this.is_off() != on {
            return;
        }
        this.radio.settle(now);
        (this.radio.pattern.is_off, this.radio.pattern.assesses_at) = (!on, None);
        if !on && !this.is_awake() && this.radio.is_receiving() {
            this.radio.set_receiving(now, false);
            self.medium.stop_listening(now, node);
        }
        self.rest(now, node);
        self.resume(now, StationId::device(node));
    }

    /// Switches the node's radio off, unless it has a reason to be on.
    pub(super) fn rest(&mut self, now: Instant, node: NodeId) {
        let this = self.node(node);
        let is_awake = this.is_awake();
        if switch(&mut this.radio, now, is_awake) {
            self.medium.stop_listening(now, node);
        }
    }

    /// The node's samples. `None` if it has none.
    pub(super) fn samples(&self, node: NodeId) -> Option<&Samples> {
        self.nodes[node.index()].radio.pattern.samples.as_ref()
    }
}

/// Switches a radio on, or off except for its samples. Returns true if that ends a reception.
pub fn switch(radio: &mut Radio<Sampling>, now: Instant, on: bool) -> bool {
    let mode = if on { Mode::On } else { Mode::Pattern };
    if radio.mode() == mode {
        return false;
    }
    radio.turn(now, mode);
    radio.pattern.assesses_at = None;
    let ends = radio.is_receiving() && !listens(radio, now);
    if ends {
        radio.set_receiving(now, false);
    }
    ends
}

/// True if a radio synchronises with a frame that begins now.
pub fn listens(radio: &Radio<Sampling>, now: Instant) -> bool {
    radio.mode() == Mode::On || radio.pattern.is_open(now)
}
