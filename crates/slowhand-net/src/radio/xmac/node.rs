//! One node: its activity, its radio, and its knowledge of its neighbours.

use super::config::XmacConfig;
use super::cycle::{Cycle, Edge, Idle};
use super::retry::Attempts;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::observer::FrameKind;
use crate::radio::NodeQueue;
use crate::radio::Sequence;
use crate::radio::contention::{Mode, Radio};
use crate::radio::frame::MAX_FRAME;
use crate::radio::medium::OnAir;
use crate::radio::pool::{FrameIndex, FramePool, FrameQueue};
use crate::random::Stream;

/// The state of one node.
#[derive(Debug)]
pub struct XmacNode {
    /// By identifier.
    pub neighbors: Vec<Neighbor>,
    pub queue: NodeQueue,
    pub activity: Activity,
    /// Incremented with each activity and each step of it, so that events of earlier steps have no effect.
    pub step: u32,
    /// Its pattern is what it does while nothing happens.
    pub radio: Radio<Idle>,
    /// The node yields to others for this number of wake-ups, counted from this instant.
    yielding: (u64, Instant),
    /// The last known wake-up of each neighbour.
    encounters: Vec<(NodeId, Instant)>,
    /// The strobe or answer that is on the air, or will be next.
    pub control: [u8; MAX_FRAME],
    pub control_length: usize,
    pub backoff: Stream,
    /// True while its radio is switched off.
    pub is_off: bool,
    /// The time that the MAC has kept the processor busy.
    pub busy: Duration,
}

/// The activity of a node.
#[derive(Clone, Copy, Debug)]
pub enum Activity {
    /// It follows its power cycle.
    Idle,
    /// It sends a data frame and the strobes before it.
    Sending(Sending),
    /// It answers a frame.
    Answering(Answering),
}

/// The sending of one data frame.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    pub stage: Stage,
    /// Position of the destination among the sender's neighbours.
    pub neighbor: usize,
    pub to: NodeId,
    pub frame: FrameIndex,
    pub attempt: u8,
    pub started: Instant,
    /// The first action of the power cycle's timer after `started`.
    pub missed: Edge,
    /// No strobe is sent after this instant.
    pub limit: Instant,
    /// The instant of the decision to send the last strobe. Before the first, the instant at which the radio was
    /// switched on.
    pub decided: Instant,
}

/// The stages of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The radio is off until shortly before the neighbour wakes up.
    AwaitPhase,
    /// The radio listens for a strobe acknowledgement.
    Listen,
    /// A strobe is on the air.
    Strobe,
    /// The strobe acknowledgement has arrived.
    Acknowledged,
    /// The data frame is on the air.
    Data,
    /// The radio listens for the acknowledgement of the data frame.
    AwaitDataAck,
}

/// The acknowledgement of a strobe or of a data frame.
#[derive(Clone, Copy, Debug)]
pub struct Answering {
    pub kind: FrameKind,
    pub to: NodeId,
    pub datagram: DatagramId,
    pub queued_at: Instant,
    pub attempt: u8,
    pub on_air: bool,
}

/// A node's state for one neighbour.
#[derive(Debug)]
pub struct Neighbor {
    pub id: NodeId,
    pub queue: FrameQueue,
    /// True if its back-off has ended while the node was doing something else.
    pub due: bool,
    /// The attempts at the frame at the head of the queue.
    pub attempts: Attempts,
    /// The number of the next frame to the neighbour, and of the last from it.
    pub sequence: Sequence,
}

impl Neighbor {
    pub fn new(id: NodeId) -> Self {
        let (queue, attempts) = (FrameQueue::default(), Attempts::default());
        Self { id, queue, due: false, attempts, sequence: Sequence::default() }
    }

    /// Removes the frame at the head of the queue, and resets the attempts for the next one.
    pub fn release_head(&mut self, pool: &mut FramePool) {
        if let Some(frame) = self.queue.pop(pool) {
            pool.release(frame);
        }
        self.attempts = Attempts::default();
    }
}

/// An event of the MAC.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The back-off towards the neighbour at this position is over.
    Attempt { node: NodeId, neighbor: usize },
    /// The next step of the node's activity. Without effect if the activity has changed meanwhile.
    Step { node: NodeId, step: u32 },
    /// The node's frame has left the air.
    End { node: NodeId, frame: OnAir },
}

impl XmacNode {
    pub fn new(neighbors: Vec<Neighbor>, limit: usize, cycle: Cycle, backoff: Stream) -> Self {
        Self {
            neighbors,
            queue: NodeQueue::new(limit),
            activity: Activity::Idle,
            step: 0,
            radio: Radio::new(Mode::Pattern, Idle::new(cycle)),
            yielding: (0, Instant::ZERO),
            encounters: Vec::new(),
            control: [0; MAX_FRAME],
            control_length: 0,
            backoff,
            is_off: false,
            busy: Duration::ZERO,
        }
    }

    /// Changes the activity. Events planned before have no effect.
    pub fn turn_to(&mut self, now: Instant, activity: Activity) {
        let (mode, is_sending) = match activity {
            Activity::Idle => (if self.is_off { Mode::Off } else { Mode::Pattern }, false),
            Activity::Answering(answering) => (Mode::On, answering.on_air),
            Activity::Sending(sending) => match sending.stage {
                Stage::AwaitPhase | Stage::Acknowledged => (Mode::Off, false),
                Stage::Listen | Stage::AwaitDataAck => (Mode::On, false),
                Stage::Strobe | Stage::Data => (Mode::On, true),
            },
        };
        self.radio.turn(now, mode);
        self.radio.set_sending(now, is_sending);
        // After a strobe acknowledgement the data frame follows soon. The wait for a wake-up is longer than a start.
        self.radio.set_ready(now, matches!(activity, Activity::Sending(Sending { stage: Stage::Acknowledged, .. })));
        self.activity = activity;
        self.step = self.step.wrapping_add(1);
    }

    /// Switches the radio off or on, between activities.
    pub fn set_off(&mut self, now: Instant, is_off: bool) {
        self.radio.settle(now);
        (self.is_off, self.radio.pattern.attentive_until) = (is_off, now);
        if matches!(self.activity, Activity::Idle) {
            self.radio.turn(now, if is_off { Mode::Off } else { Mode::Pattern });
        }
    }

    /// True if the radio receives a frame that lasts from `now` to `end`, if nothing else happens.
    pub fn listens(&self, now: Instant, end: Instant, config: &XmacConfig) -> bool {
        match self.activity {
            Activity::Idle if self.is_off => false,
            Activity::Idle => {
                let until = self.radio.pattern.listens_until(now);
                until >= end || config.finishes_reception && until > now
            }
            Activity::Sending(sending) => matches!(sending.stage, Stage::Listen | Stage::AwaitDataAck),
            Activity::Answering(answering) => !answering.on_air,
        }
    }

    /// Switches the radio off until the next wake-up.
    pub fn go_quiet(&mut self, now: Instant) {
        self.radio.settle(now);
        let idle = &mut self.radio.pattern;
        (idle.attentive_until, idle.quiet_until) = (now, idle.cycle.next_start(now));
    }

    /// Keeps the radio on for a data frame, until the end of the next wake-up.
    pub fn stay_awake(&mut self, now: Instant, config: &XmacConfig) {
        self.radio.settle(now);
        let idle = &mut self.radio.pattern;
        idle.attentive_until = idle.cycle.next_end(now) + config.check_interval;
    }

    /// Holds back the node's own frames for this number of wake-ups.
    pub fn yield_for(&mut self, now: Instant, wake_ups: u64) {
        self.yielding = (wake_ups, now);
    }

    /// The number of wake-ups for which the node still holds back its own frames.
    pub fn yields(&self, now: Instant) -> u64 {
        let (wake_ups, since) = self.yielding;
        wake_ups.saturating_sub(self.radio.pattern.cycle.starts(since, now))
    }

    /// The processor is free again at `now`. Does what the timer of the power cycle could not do meanwhile. The node
    /// then yields for `yields` wake-ups.
    pub fn catch_up(&mut self, now: Instant, missed: Edge, delayed: bool, yields: u64) {
        let idle = &mut self.radio.pattern;
        let starts = delayed && idle.cycle.catch_up(missed, now);
        (idle.quiet_until, idle.attentive_until) = (if starts { now } else { idle.cycle.next_start(now) }, now);
        self.yield_for(now, yields.saturating_sub(u64::from(starts)));
    }

    /// Remembers a wake-up of a neighbour. If all places are taken, a new neighbour is ignored.
    pub fn remember(&mut self, neighbor: NodeId, at: Instant, places: usize) {
        if let Some((_, awake)) = self.encounters.iter_mut().find(|(known, _)| *known == neighbor) {
            *awake = at;
        } else if self.encounters.len() < places {
            self.encounters.push((neighbor, at));
        }
    }

    /// The next expected wake-up of a neighbour, if one is known.
    pub fn expected_awake(&self, neighbor: NodeId, now: Instant, interval: Duration) -> Option<Instant> {
        let (_, awake) = self.encounters.iter().find(|(known, _)| *known == neighbor)?;
        let late = now.since(*awake) % interval;
        Some(if late == Duration::ZERO { now } else { now + (interval - late) })
    }

    pub fn position(&self, neighbor: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&neighbor, |neighbor| neighbor.id).ok()
    }

    /// True if a frame is new.
    pub fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link in one direction only: the receiver keeps no state of the sender
        };
        self.neighbors[position].sequence.accepts(sequence)
    }
}
