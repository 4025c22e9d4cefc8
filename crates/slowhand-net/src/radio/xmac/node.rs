//! One node: its activity, its radio, and its knowledge of its neighbours.

use super::config::XmacConfig;
use super::cycle::{Cycle, Edge};
use super::retry::Attempts;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::observer::{FrameKind, RadioState, RadioTimes};
use crate::radio::NodeQueue;
use crate::radio::frame::MAX_FRAME;
use crate::radio::medium::OnAir;
use crate::radio::pool::{FrameIndex, FramePool, FrameQueue};
use crate::radio::timeline::Timeline;
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
    pub cycle: Cycle,
    /// The radio stays off until this instant, even during a wake-up.
    pub quiet_until: Instant,
    /// The radio waits for a data frame and stays on until this instant, even between wake-ups.
    pub attentive_until: Instant,
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
    /// True if its radio has synchronised with a frame.
    pub receiving: bool,
    /// The time in each state up to `settled`.
    times: RadioTimes,
    pub settled: Instant,
    /// The timeline of the radio. Kept only while an observer watches radios.
    pub timeline: Option<Timeline>,
    /// How long the MAC has kept the processor busy.
    pub busy: Duration,
}

/// What a node is doing.
#[derive(Clone, Copy, Debug)]
pub enum Activity {
    /// It follows its power cycle.
    Idle,
    /// It sends a data frame and the strobes before it.
    Sending(Sending),
    /// It answers a frame.
    Answering(Answering),
}

/// The state of a radio until the next change.
#[derive(Clone, Copy, Debug)]
pub enum Radio {
    /// It is off.
    Off,
    /// It is on.
    On(RadioState),
    /// It follows the power cycle.
    Cycle,
}

/// The sending of one data frame.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    pub stage: Stage,
    /// Position of the destination among the sender's neighbours.
    pub neighbor: usize,
    pub to: NodeId,
    pub frame: FrameIndex,
    pub datagram: DatagramId,
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
    /// The next sequence number. Each neighbour has its own count, so that consecutive frames differ.
    pub sequence: u8,
    last_received: Option<u8>,
}

impl Neighbor {
    pub fn new(id: NodeId) -> Self {
        Self {
            id,
            queue: FrameQueue::default(),
            due: false,
            attempts: Attempts::default(),
            sequence: 0,
            last_received: None,
        }
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
            cycle,
            quiet_until: Instant::ZERO,
            attentive_until: Instant::ZERO,
            yielding: (0, Instant::ZERO),
            encounters: Vec::new(),
            control: [0; MAX_FRAME],
            control_length: 0,
            backoff,
            is_off: false,
            receiving: false,
            times: RadioTimes::default(),
            settled: Instant::ZERO,
            timeline: Some(Timeline::default()),
            busy: Duration::ZERO,
        }
    }

    /// Changes the activity. Events planned before have no effect.
    pub fn turn_to(&mut self, now: Instant, activity: Activity) {
        self.settle(now);
        self.activity = activity;
        self.step = self.step.wrapping_add(1);
    }

    /// True if the radio receives a frame that lasts from `now` to `end`, if nothing else happens.
    pub fn listens(&self, now: Instant, end: Instant, config: &XmacConfig) -> bool {
        match self.activity {
            Activity::Idle if self.is_off => false,
            Activity::Idle => {
                let cycle = self.cycle.awake_until(now).filter(|_| now >= self.quiet_until);
                let until = cycle.map_or(self.attentive_until, |until| until.max(self.attentive_until));
                until >= end || config.finishes_reception && until > now
            }
            Activity::Sending(sending) => matches!(sending.stage, Stage::Listen | Stage::AwaitDataAck),
            Activity::Answering(answering) => !answering.on_air,
        }
    }

    /// How long the radio was in each state until `now`, which must not be before the last change.
    pub fn times(&self, now: Instant) -> RadioTimes {
        let mut times = self.times;
        let span = now.since(self.settled);
        match self.radio() {
            Radio::Off => times.sleep += span,
            Radio::On(RadioState::Transmit) => times.transmit += span,
            Radio::On(RadioState::Receive) => times.receive += span,
            Radio::On(RadioState::Listen) => times.listen += span,
            Radio::Cycle => {
                let attentive = self.attentive_to(now).since(self.settled);
                let listen = attentive + self.cycle.awake_between(self.cycle_from(now), now);
                times.listen += listen;
                times.sleep += span - listen;
            }
        }
        times
    }

    /// The state of the radio since the last change.
    pub fn radio(&self) -> Radio {
        match self.activity {
            _ if self.receiving => Radio::On(RadioState::Receive),
            Activity::Idle if self.is_off => Radio::Off,
            Activity::Idle => Radio::Cycle,
            Activity::Answering(answering) if answering.on_air => Radio::On(RadioState::Transmit),
            Activity::Answering(_) => Radio::On(RadioState::Listen),
            Activity::Sending(sending) => match sending.stage {
                Stage::AwaitPhase | Stage::Acknowledged => Radio::Off,
                Stage::Listen | Stage::AwaitDataAck => Radio::On(RadioState::Listen),
                Stage::Strobe | Stage::Data => Radio::On(RadioState::Transmit),
            },
        }
    }

    /// Adds up the time in the present state. Must be called before the state changes.
    pub fn settle(&mut self, now: Instant) {
        self.keep_timeline(now);
        self.times = self.times(now);
        self.settled = now;
    }

    /// The instant until which the idle radio has waited for a data frame since the last change.
    pub fn attentive_to(&self, now: Instant) -> Instant {
        self.attentive_until.min(now).max(self.settled)
    }

    /// The instant from which on the idle radio has been on in wake-ups only.
    pub fn cycle_from(&self, now: Instant) -> Instant {
        self.attentive_to(now).max(self.quiet_until)
    }

    /// Switches the radio off until the next wake-up.
    pub fn go_quiet(&mut self, now: Instant) {
        self.settle(now);
        self.attentive_until = now;
        self.quiet_until = self.cycle.next_start(now);
    }

    /// Keeps the radio on for a data frame, until the end of the next wake-up.
    pub fn stay_awake(&mut self, now: Instant, config: &XmacConfig) {
        self.settle(now);
        self.attentive_until = self.cycle.next_end(now) + config.check_interval;
    }

    /// Holds back the node's own frames for this number of wake-ups.
    pub fn yield_for(&mut self, now: Instant, wake_ups: u64) {
        self.yielding = (wake_ups, now);
    }

    /// The number of wake-ups for which the node still holds back its own frames.
    pub fn yields(&self, now: Instant) -> u64 {
        let (wake_ups, since) = self.yielding;
        wake_ups.saturating_sub(self.cycle.starts(since, now))
    }

    /// The processor is free again at `now`. Does what the timer of the power cycle could not do meanwhile. The node
    /// then yields for `yields` wake-ups.
    pub fn catch_up(&mut self, now: Instant, missed: Edge, delayed: bool, yields: u64) {
        let starts = delayed && self.cycle.catch_up(missed, now);
        self.yield_for(now, yields.saturating_sub(u64::from(starts)));
        self.quiet_until = if starts { now } else { self.cycle.next_start(now) };
        self.attentive_until = now;
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

    /// True if a frame is new. The same sequence number twice in a row is a retransmission after a lost
    /// acknowledgement.
    pub fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link in one direction only: the receiver keeps no state of the sender
        };
        self.neighbors[position].last_received.replace(sequence) != Some(sequence)
    }

    /// Adds the time since the last change to the timeline.
    fn keep_timeline(&mut self, now: Instant) {
        let Some(mut timeline) = self.timeline.take() else { return };
        match self.radio() {
            Radio::Off => {}
            Radio::On(state) => timeline.add(state, self.settled, now),
            Radio::Cycle => {
                timeline.add(RadioState::Listen, self.settled, self.attentive_to(now));
                for (from, to) in self.cycle.wake_ups(self.cycle_from(now), now) {
                    timeline.add(RadioState::Listen, from, to);
                }
            }
        }
        self.timeline = Some(timeline);
    }
}
