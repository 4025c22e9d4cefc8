//! One node: what it is doing, what its radio does meanwhile, and what it knows of its neighbours.

use super::config::XmacConfig;
use super::cycle::{Cycle, Edge};
use super::retry::Attempts;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::observer::{FrameKind, RadioState, RadioTimes};
use crate::radio::frame::MAX_FRAME;
use crate::radio::medium::OnAir;
use crate::radio::pool::{FrameIndex, FramePool, FrameQueue};
use crate::random::Stream;

/// The state of one node.
#[derive(Debug)]
pub struct XmacNode {
    /// By identifier.
    pub neighbors: Vec<Neighbor>,
    pub queued: usize,
    pub peak: usize,
    pub activity: Activity,
    /// Counted up with each activity and each step of it: an event that was meant for an earlier step is void.
    pub step: u32,
    pub cycle: Cycle,
    /// The radio stays off until here, although the cycle may have it awake.
    pub quiet_until: Instant,
    /// Waiting for a data frame, the radio stays on until here, although the cycle may have it asleep.
    pub attentive_until: Instant,
    /// In how many wake-ups the node will send again, counted at the instant beside it: what it heard was for
    /// others.
    yielding: (u64, Instant),
    /// When a neighbour was awake.
    encounters: Vec<(NodeId, Instant)>,
    /// The strobe, or the answer to one, that is on the air or will be next.
    pub control: [u8; MAX_FRAME],
    pub control_length: usize,
    pub backoff: Stream,
    /// Whether its radio has synchronised with a frame.
    pub receiving: bool,
    /// The time in each state up to `settled`.
    times: RadioTimes,
    pub settled: Instant,
    /// What it was in when; kept only while an observer watches radios.
    pub timeline: Option<Timeline>,
    /// How long the MAC has kept the processor.
    pub busy: Duration,
}

/// What a node is doing.
#[derive(Clone, Copy, Debug)]
pub enum Activity {
    /// It follows its power cycle.
    Idle,
    /// It sends a data frame, and everything that must precede it.
    Sending(Sending),
    /// It answers a frame.
    Answering(Answering),
}

/// What a radio does until something changes.
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
    /// Position of the addressee among the sender's neighbours.
    pub neighbor: usize,
    pub to: NodeId,
    pub frame: FrameIndex,
    pub datagram: DatagramId,
    pub attempt: u8,
    pub started: Instant,
    /// What the power cycle's timer would have done first since then.
    pub missed: Edge,
    /// When no further strobe is sent.
    pub limit: Instant,
    /// When the sending of the last strobe was decided, or the radio was switched on.
    pub decided: Instant,
}

/// How far the sending is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The radio is off until the neighbour is about to wake up.
    AwaitPhase,
    /// The radio listens for the strobe acknowledgement, or anything else.
    Listen,
    /// A strobe is on the air.
    Strobe,
    /// The strobe acknowledgement has come.
    Acknowledged,
    /// The data frame is on the air.
    Data,
    /// The radio listens for the acknowledgement of the data frame.
    AwaitDataAck,
}

/// The answer to a strobe or, where data is acknowledged, to a data frame.
#[derive(Clone, Copy, Debug)]
pub struct Answering {
    pub kind: FrameKind,
    pub to: NodeId,
    pub datagram: DatagramId,
    pub attempt: u8,
    pub on_air: bool,
}

/// What a node keeps of one neighbour.
#[derive(Debug)]
pub struct Neighbor {
    pub id: NodeId,
    pub queue: FrameQueue,
    /// Its back-off has ended while the node was doing something else.
    pub due: bool,
    /// What became of the frame at the head of the queue so far.
    pub attempts: Attempts,
    /// Counted for each neighbour, so that no two frames in a row carry the same number.
    pub sequence: u8,
    last_received: Option<u8>,
}

/// What a radio did since the last report. It is kept at each change of what the radio does; idle wake-ups are worked
/// out then.
#[derive(Debug, Default)]
pub struct Timeline(Vec<Span>);

/// A state of a radio, and from when to when it lasted.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub state: RadioState,
    pub from: Instant,
    pub to: Instant,
}

impl Timeline {
    /// Not every change is one of state: what follows in the same state lengthens the span.
    fn add(&mut self, state: RadioState, from: Instant, to: Instant) {
        match self.0.last_mut() {
            _ if from >= to => {}
            Some(last) if last.state == state && last.to == from => last.to = to,
            _ => self.0.push(Span { state, from, to }),
        }
    }

    /// Takes all spans, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Span> + '_ {
        self.0.drain(..)
    }
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

    /// Takes the frame at the head of the queue away, and starts afresh with the next.
    pub fn release_head(&mut self, pool: &mut FramePool) {
        if let Some(frame) = self.queue.pop(pool) {
            pool.release(frame);
        }
        self.attempts = Attempts::default();
    }
}

/// An event that the node has to be told of: the step that was planned, or the end of its frame on the air.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The back-off towards the neighbour at this position is over.
    Attempt { node: NodeId, neighbor: usize },
    /// The node's activity goes on, unless it has taken another turn meanwhile.
    Step { node: NodeId, step: u32 },
    /// The node's frame has left the air.
    End { node: NodeId, frame: OnAir },
}

impl XmacNode {
    pub fn new(neighbors: Vec<Neighbor>, cycle: Cycle, encounters: usize, backoff: Stream) -> Self {
        Self {
            neighbors,
            queued: 0,
            peak: 0,
            activity: Activity::Idle,
            step: 0,
            cycle,
            quiet_until: Instant::ZERO,
            attentive_until: Instant::ZERO,
            yielding: (0, Instant::ZERO),
            encounters: Vec::with_capacity(encounters),
            control: [0; MAX_FRAME],
            control_length: 0,
            backoff,
            receiving: false,
            times: RadioTimes::default(),
            settled: Instant::ZERO,
            timeline: None,
            busy: Duration::ZERO,
        }
    }

    /// Takes up another activity; what was planned before is void.
    pub fn turn_to(&mut self, now: Instant, activity: Activity) {
        self.settle(now);
        self.activity = activity;
        self.step = self.step.wrapping_add(1);
    }

    /// Whether the radio receives a frame that lasts from `now` to `end`, as long as nothing else happens.
    pub fn listens(&self, now: Instant, end: Instant, config: &XmacConfig) -> bool {
        match self.activity {
            Activity::Idle => {
                let cycle = self.cycle.awake_until(now).filter(|_| now >= self.quiet_until);
                let until = cycle.map_or(self.attentive_until, |until| until.max(self.attentive_until));
                until >= end || config.finishes_reception && until > now
            }
            Activity::Sending(sending) => matches!(sending.stage, Stage::Listen | Stage::AwaitDataAck),
            Activity::Answering(answering) => !answering.on_air,
        }
    }

    /// How long the radio was in each state until `now`, which is not before the last change.
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

    /// What the radio has done since the last change.
    pub fn radio(&self) -> Radio {
        match self.activity {
            _ if self.receiving => Radio::On(RadioState::Receive),
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

    /// Books the time in the present state; to be called before that changes.
    pub fn settle(&mut self, now: Instant) {
        self.keep_timeline(now);
        self.times = self.times(now);
        self.settled = now;
    }

    /// Following its cycle, the radio has waited for a data frame from the last change until then.
    pub fn attentive_to(&self, now: Instant) -> Instant {
        self.attentive_until.min(now).max(self.settled)
    }

    /// Following its cycle, the radio has been on in wake-ups only from then on.
    pub fn cycle_from(&self, now: Instant) -> Instant {
        self.attentive_to(now).max(self.quiet_until)
    }

    /// The radio goes off and stays so until the next wake-up.
    pub fn go_quiet(&mut self, now: Instant) {
        self.settle(now);
        self.attentive_until = now;
        self.quiet_until = self.cycle.next_start(now);
    }

    /// The radio stays on for a data frame, through the end of this wake-up and until that of the next.
    pub fn stay_awake(&mut self, now: Instant, config: &XmacConfig) {
        self.settle(now);
        self.attentive_until = self.cycle.next_end(now) + config.check_interval;
    }

    /// Holds back what the node has to send for this many wake-ups.
    pub fn yield_for(&mut self, now: Instant, wake_ups: u64) {
        self.yielding = (wake_ups, now);
    }

    /// In how many wake-ups the node will send again.
    pub fn yields(&self, now: Instant) -> u64 {
        let (wake_ups, since) = self.yielding;
        wake_ups.saturating_sub(self.cycle.starts(since, now))
    }

    /// The processor is free again at `now`, after which the node yields for so many wake-ups: does what the timer of
    /// the power cycle could not do meanwhile.
    pub fn catch_up(&mut self, now: Instant, missed: Edge, delayed: bool, yields: u64) {
        let starts = delayed && self.cycle.catch_up(missed, now);
        self.yield_for(now, yields.saturating_sub(u64::from(starts)));
        self.quiet_until = if starts { now } else { self.cycle.next_start(now) };
        self.attentive_until = now;
    }

    /// Remembers when a neighbour was awake. With all places taken, nothing of a further neighbour is remembered.
    pub fn remember(&mut self, neighbor: NodeId, at: Instant, places: usize) {
        if let Some((_, awake)) = self.encounters.iter_mut().find(|(known, _)| *known == neighbor) {
            *awake = at;
        } else if self.encounters.len() < places {
            self.encounters.push((neighbor, at));
        }
    }

    /// When a neighbour is expected to be awake next, if anything is known of it.
    pub fn expected_awake(&self, neighbor: NodeId, now: Instant, interval: Duration) -> Option<Instant> {
        let (_, awake) = self.encounters.iter().find(|(known, _)| *known == neighbor)?;
        let late = now.since(*awake) % interval;
        Some(if late == Duration::ZERO { now } else { now + (interval - late) })
    }

    pub fn position(&self, neighbor: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&neighbor, |neighbor| neighbor.id).ok()
    }

    /// Whether a frame is new: the same number twice in a row is a repetition whose acknowledgement was lost.
    pub fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link of one direction: nothing is known of its sender
        };
        self.neighbors[position].last_received.replace(sequence) != Some(sequence)
    }

    /// Adds what the radio did since the last change; to be called where the times are booked.
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
