//! The channel that contending nodes share: which nodes send, which nodes hear them, which frames collide.
//!
//! The model has one channel, continuous time and no propagation delay. A radio synchronises with a frame if it
//! listens at the frame's first symbol and hears nothing else. It receives the frame unless another audible frame
//! overlaps it, the radio stops listening, or the link loses the frame.
//!
//! Frames that overlap are all lost, unless the links have a [`Capture`](crate::link::Capture). Then a radio receives the frame
//! with which it has synchronised if that frame is at all times strong enough above the sum of the others. It leaves a frame
//! for another one only before the end of the first one's synchronisation header, if the other is strong enough above all;
//! a stronger frame that comes later destroys the first and is lost too.
//!
//! Hidden terminals need no rule of their own: two senders that do not hear each other collide at every node that hears
//! both.
//!
//! The result does not depend on the order of events at one instant: a frame that ends when another begins does not
//! overlap it, and a clear channel assessment does not see a frame that begins at the same instant.

use super::phy::{SYMBOL, SYNCHRONISATION_HEADER};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::link::{Kind, Links};

/// The time that a clear channel assessment listens: 8 symbols (IEEE 802.15.4-2015, 10.2.8).
pub const CCA_DURATION: Duration = Duration::from_micros(8 * SYMBOL.as_micros());

/// A frame on the air, from [`Medium::begin`] until [`Medium::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnAir(u32);

/// A radio that synchronised with a frame, and the outcome of the reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// The node of the radio.
    pub node: NodeId,
    /// The outcome. While the frame is on the air, [`Outcome::Received`] means that nothing has disturbed it so far.
    pub outcome: Outcome,
}

impl Reception {
    /// True if the frame arrived.
    pub fn is_received(&self) -> bool {
        self.outcome == Outcome::Received
    }
}

/// The outcome of a frame at a radio that had synchronised with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Received,
    /// Another audible frame overlapped it.
    Collided,
    /// The link lost it.
    Lost,
    /// The radio stopped listening before its end.
    Missed,
}

/// One channel and all frames on it.
#[derive(Debug)]
pub struct Medium {
    channel: u8,
    links: Links,
    frames: Vec<Frame>,
    /// Entries of `frames` that are not in use.
    free: Vec<OnAir>,
    /// By node.
    ears: Vec<Ear>,
}

#[derive(Debug, Default)]
struct Frame {
    from: Option<NodeId>,
    begin: Instant,
    end: Instant,
    receptions: Vec<Reception>,
}

/// The frames that are audible at one node.
#[derive(Clone, Copy, Debug, Default)]
struct Ear {
    /// Start of the last busy time: something was audible without a gap.
    busy_since: Instant,
    /// End of the last busy time.
    busy_until: Instant,
    /// End of the busy time before the last one.
    busy_before: Instant,
    /// The frame with which its radio synchronised last.
    frame: Option<OnAir>,
    /// End of the last frame that it sent.
    sending_until: Instant,
}

impl Medium {
    /// A silent channel (11..=26) between nodes with these links.
    pub fn new(channel: u8, links: Links) -> Self {
        let ears = vec![Ear::default(); links.nodes()];
        Self { channel, links, frames: Vec::new(), free: Vec::new(), ears }
    }

    /// The channel.
    pub fn channel(&self) -> u8 {
        self.channel
    }

    /// The links: which nodes hear which.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// The links, to change how well they work.
    pub fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }

    /// `from` sends the first symbol of a frame that lasts `air_time`. `listens` is true for nodes whose radio listens.
    ///
    /// A frame that `from` was receiving is lost. Call [`end`](Self::end) when the air time is over.
    pub fn begin(
        &mut self,
        now: Instant,
        from: NodeId,
        air_time: Duration,
        mut listens: impl FnMut(NodeId) -> bool,
    ) -> OnAir {
        let end = now + air_time;
        self.disturb(now, from, Outcome::Missed);
        self.ears[from.index()].sending_until = end;
        let id = self.free.pop().unwrap_or_else(|| {
            self.frames.push(Frame::default());
            OnAir(self.frames.len() as u32 - 1)
        });
        let mut receptions = std::mem::take(&mut self.frames[id.0 as usize].receptions);
        for node in self.links.audience(from) {
            let ear = &mut self.ears[node.index()];
            let is_alone = ear.busy_until <= now;
            let captures = !is_alone && captures(&self.links, &self.frames, ear, now, from, node);
            if !is_alone && (captures || !holds(&self.links, &self.frames, ear, now, from, node)) {
                disturb(&mut self.frames, ear, now, node, Outcome::Collided);
            }
            if (is_alone || captures) && ear.sending_until <= now && listens(node) {
                receptions.push(Reception { node, outcome: Outcome::Received });
                ear.frame = Some(id);
            }
            ear.hear(now, end);
        }
        self.frames[id.0 as usize] = Frame { from: Some(from), begin: now, end, receptions };
        id
    }

    /// The radios that have synchronised with a frame on the air.
    pub fn receptions(&self, id: OnAir) -> &[Reception] {
        &self.frames[id.0 as usize].receptions
    }

    /// When a frame on the air began.
    pub fn begun(&self, id: OnAir) -> Instant {
        self.frames[id.0 as usize].begin
    }

    /// Ends a frame. Replaces the content of `receptions` by the outcome at each radio that had synchronised with the
    /// frame. Draws the loss of the link only where nothing else disturbed the frame.
    pub fn end(&mut self, id: OnAir, kind: Kind, receptions: &mut Vec<Reception>) {
        let frame = &mut self.frames[id.0 as usize];
        receptions.clear();
        receptions.append(&mut frame.receptions);
        // A frame that has ended already has no receptions, and is not freed twice.
        let Some(from) = frame.from.take() else { return };
        let time = frame.begin..frame.end;
        for Reception { node, outcome } in &mut *receptions {
            if *outcome == Outcome::Received && !self.links.delivers(time.clone(), from, *node, self.channel, kind) {
                *outcome = Outcome::Lost;
            }
            let ear = &mut self.ears[node.index()];
            ear.frame = ear.frame.filter(|&current| current != id);
        }
        self.free.push(id);
    }

    /// The node's radio stops listening: it loses the frame it was receiving.
    pub fn stop_listening(&mut self, now: Instant, node: NodeId) {
        self.disturb(now, node, Outcome::Missed);
    }

    /// The end of the frame that the node's radio is receiving. `None` if it receives none.
    pub fn receiving_until(&self, now: Instant, node: NodeId) -> Option<Instant> {
        let frame = self.ears[node.index()].frame?;
        Some(self.frames[frame.0 as usize].end).filter(|&end| end > now)
    }

    /// True if a frame that the node's radio has received ends at this instant, and [`end`](Self::end) has not been called.
    pub fn has_just_received(&self, now: Instant, node: NodeId) -> bool {
        self.ears[node.index()].frame.is_some_and(|frame| self.frames[frame.0 as usize].end == now)
    }

    /// True if a clear channel assessment that ends at `now` finds the channel busy at this node: during the last 8
    /// symbols a frame of another node was audible, or Wi-Fi was sending (energy above a threshold, CCA mode 1 of IEEE
    /// 802.15.4-2015, 10.2.8).
    pub fn busy(&mut self, now: Instant, node: NodeId) -> bool {
        let ear = &self.ears[node.index()];
        let audible_until = if ear.busy_since < now { ear.busy_until } else { ear.busy_before };
        let begin = Instant::ZERO + now.since(Instant::ZERO + CCA_DURATION);
        audible_until + CCA_DURATION > now && audible_until > Instant::ZERO
            || self.links.is_disturbed(begin..now, node, self.channel)
    }

    fn disturb(&mut self, now: Instant, node: NodeId, outcome: Outcome) {
        disturb(&mut self.frames, &mut self.ears[node.index()], now, node, outcome);
    }
}

/// True if a node's radio synchronises with a frame of `from` that begins now, although it hears others.
fn captures(links: &Links, frames: &[Frame], ear: &Ear, now: Instant, from: NodeId, node: NodeId) -> bool {
    let is_free = |current: &Frame| current.end <= now || now < current.begin + SYNCHRONISATION_HEADER;
    links.can_capture()
        && ear.frame.is_none_or(|id| is_free(&frames[id.0 as usize]))
        && links.survives(from, node, senders(frames, now))
}

/// True if the frame that a node's radio is receiving survives one of `from` that begins now.
fn holds(links: &Links, frames: &[Frame], ear: &Ear, now: Instant, from: NodeId, node: NodeId) -> bool {
    let Some(current) = ear.frame.and_then(|id| frames[id.0 as usize].from).filter(|_| links.can_capture()) else {
        return false;
    };
    let others = senders(frames, now).filter(|&other| other != current);
    links.survives(current, node, others.chain([from]))
}

/// The nodes that have a frame on the air.
fn senders(frames: &[Frame], now: Instant) -> impl Iterator<Item = NodeId> + '_ {
    frames.iter().filter(move |frame| frame.end > now).filter_map(|frame| frame.from)
}

/// Ends the reception at a node with this outcome.
fn disturb(frames: &mut [Frame], ear: &mut Ear, now: Instant, node: NodeId, outcome: Outcome) {
    let Some(frame) = ear.frame.map(|id| &mut frames[id.0 as usize]).filter(|frame| frame.end > now) else {
        return;
    };
    if let Some(reception) = frame.receptions.iter_mut().find(|reception| reception.node == node)
        && reception.outcome == Outcome::Received
    {
        reception.outcome = outcome;
    }
    if outcome == Outcome::Missed {
        ear.frame = None;
    }
}

impl Ear {
    fn hear(&mut self, now: Instant, end: Instant) {
        if self.busy_until <= now && self.busy_since < now {
            // Nothing was audible until now, or the last frame ends when this one begins.
            self.busy_before = self.busy_until;
            self.busy_since = now;
        }
        self.busy_until = self.busy_until.max(end);
    }
}

#[cfg(test)]
mod tests;
