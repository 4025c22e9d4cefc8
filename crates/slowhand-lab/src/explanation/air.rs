//! The events on the air: every frame with its attempts, and when the layer above its receiver had it.

use crate::world::meter::is_recovered;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_net::observer::{FrameKind, Observer, RadioInterval, Reception, Transmission};
use slowhand_net::radio::frame::{FCS, FrameView};
use slowhand_net::radio::phy::{MAX_PSDU, air_time};
use std::collections::BTreeMap;

/// One frame on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnAir {
    pub(super) at: Instant,
    /// The end of its last symbol.
    pub(super) end: Instant,
    pub(super) channel: u8,
    pub(super) kind: FrameKind,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) datagram: DatagramId,
    pub(super) attempt: u8,
    pub(super) received: bool,
    /// True if its loss does not go unnoticed although no node acknowledges it.
    pub(super) is_recovered: bool,
    /// Octets, FCS included.
    pub(super) octets: usize,
    /// The frame of which it is an attempt.
    pub(super) frame: Option<usize>,
    key: Key,
}

/// The identity of a frame while its sender keeps it: sender, receiver, datagram, when it came into the queue, and its
/// sequence number.
type Key = (NodeId, NodeId, DatagramId, Instant, Option<u8>);

/// A frame of a queue: it was sent once or several times.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) datagram: DatagramId,
    pub(super) queued_at: Instant,
    pub(super) attempts: Vec<Attempt>,
    /// The first attempt that its destination received.
    pub(super) received: Option<usize>,
    /// When the layer above the destination had it.
    pub(super) handled: Option<Instant>,
    /// True if the destination discarded it, because the scenario asks for it.
    pub(super) discarded: bool,
    /// The number of the frame among those that carry the datagram over this hop, from 1, and how many they are.
    pub(super) number: usize,
    pub(super) count: usize,
}

/// One attempt to send a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// Its number among all frames on the air.
    pub(super) on_air: usize,
    pub(super) at: Instant,
    /// The end of the frame, or of its acknowledgement.
    pub(super) end: Instant,
}

/// Everything on the air of a world, which it observes from its beginning.
#[derive(Debug, Default)]
pub struct Air {
    pub(super) on_air: Vec<OnAir>,
    pub(super) frames: Vec<Frame>,
    pub(super) radio: Vec<RadioInterval>,
    receptions: Vec<Reception>,
    /// The frames that carry each datagram.
    carrying: BTreeMap<DatagramId, Vec<usize>>,
    /// The attempts of each node, in the order of time: number of the frame, number of the attempt.
    attempts_of: BTreeMap<NodeId, Vec<(usize, usize)>>,
    /// The frames with each datagram that a node has handled, in the order of time.
    handled_by: BTreeMap<(NodeId, DatagramId), Vec<usize>>,
}

impl Observer for Air {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        let octets = frame.octets.len() + FCS;
        let sequence = FrameView::parse(frame.octets).ok().and_then(|frame| frame.sequence());
        let is_answer = matches!(frame.kind, FrameKind::Ack | FrameKind::StrobeAck);
        let (sender, receiver) = if is_answer { (frame.to, frame.from) } else { (frame.from, frame.to) };
        self.on_air.push(OnAir {
            at: frame.at,
            end: frame.at + air_time(octets),
            channel: frame.channel,
            kind: frame.kind,
            from: frame.from,
            to: frame.to,
            datagram: frame.datagram,
            attempt: frame.attempt,
            received: frame.received,
            is_recovered: is_recovered(frame),
            octets,
            frame: None,
            key: (sender, receiver, frame.datagram, frame.queued_at, sequence),
        });
    }

    fn watches_receptions(&self) -> bool {
        true
    }

    fn reception(&mut self, reception: &Reception) {
        self.receptions.push(*reception);
    }

    fn watches_radios(&self) -> bool {
        true
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.radio.push(*interval);
    }
}

impl Air {
    /// Puts together what belongs to one frame. Call it when the world is over.
    pub(crate) fn finish(&mut self) {
        // Link layers with contention show a frame when it ends.
        self.on_air.sort_by_key(|frame| frame.at);
        let mut known: BTreeMap<Key, usize> = BTreeMap::new();
        let mut numbers: BTreeMap<(NodeId, NodeId, DatagramId), usize> = BTreeMap::new();
        for (index, seen) in self.on_air.iter_mut().enumerate() {
            match seen.kind {
                FrameKind::Ack => {
                    let Some(&frame) = known.get(&seen.key) else { continue };
                    seen.frame = Some(frame);
                    if let Some(attempt) = self.frames[frame].attempts.last_mut() {
                        attempt.end = seen.end;
                    }
                }
                FrameKind::Strobe | FrameKind::StrobeAck | FrameKind::DataRequest => {}
                _ => {
                    let (from, to, datagram, queued_at, _) = seen.key;
                    let frame = *known.entry(seen.key).or_insert_with(|| {
                        let number = numbers.entry((from, to, datagram)).or_default();
                        *number += 1;
                        self.frames.push(Frame {
                            from,
                            to,
                            datagram,
                            queued_at,
                            attempts: Vec::new(),
                            received: None,
                            handled: None,
                            discarded: false,
                            number: *number,
                            count: 0,
                        });
                        self.frames.len() - 1
                    });
                    seen.frame = Some(frame);
                    let own = &mut self.frames[frame];
                    let attempt = Attempt { on_air: index, at: seen.at, end: seen.end };
                    if seen.received && own.received.is_none() {
                        own.received = Some(own.attempts.len());
                    }
                    self.attempts_of.entry(from).or_default().push((frame, own.attempts.len()));
                    own.attempts.push(attempt);
                }
            }
        }
        for (index, frame) in self.frames.iter_mut().enumerate() {
            frame.count = numbers.get(&(frame.from, frame.to, frame.datagram)).copied().unwrap_or(0);
            self.carrying.entry(frame.datagram).or_default().push(index);
        }
        self.match_receptions();
    }

    /// Nodes handle the frames of a link in the order in which they received them.
    fn match_receptions(&mut self) {
        let mut received: BTreeMap<(NodeId, NodeId, DatagramId), Vec<(Instant, usize)>> = BTreeMap::new();
        for (index, frame) in self.frames.iter().enumerate() {
            if let Some(attempt) = frame.received {
                let at = self.on_air[frame.attempts[attempt].on_air].end;
                received.entry((frame.from, frame.to, frame.datagram)).or_default().push((at, index));
            }
        }
        received.values_mut().for_each(|frames| frames.sort_unstable());
        let mut next: BTreeMap<(NodeId, NodeId, DatagramId), usize> = BTreeMap::new();
        for reception in &self.receptions {
            let link = (reception.from, reception.node, reception.datagram);
            let place = next.entry(link).or_default();
            let frames = received.get(&link).map_or(&[][..], Vec::as_slice);
            if let Some(&(_, frame)) = frames.get(*place).filter(|&&(at, _)| at <= reception.at) {
                *place += 1;
                self.frames[frame].handled = Some(reception.at);
                self.frames[frame].discarded = reception.discarded;
                self.handled_by.entry((reception.node, reception.datagram)).or_default().push(frame);
            }
        }
    }

    /// The name of a frame, with the number of its fragment.
    pub(super) fn name(&self, seen: &OnAir) -> String {
        let frame = seen.frame.map(|frame| &self.frames[frame]).filter(|_| seen.kind == FrameKind::Data);
        match frame.filter(|frame| frame.count > 1) {
            Some(frame) => format!("{}, fragment {} of {}", seen.kind.name(), frame.number, frame.count),
            None => seen.kind.name().to_owned(),
        }
    }

    /// The last frame with this datagram that a node had handled at a time or before.
    pub(super) fn last_handled(&self, node: NodeId, datagram: DatagramId, at: Instant) -> Option<usize> {
        let frames = self.handled_by.get(&(node, datagram))?;
        frames.iter().rev().copied().find(|&frame| self.frames[frame].handled.is_some_and(|handled| handled <= at))
    }

    /// When the first frame with a datagram came into the queue of a node.
    pub(super) fn first_queued(&self, node: NodeId, datagram: DatagramId) -> Option<Instant> {
        self.frames_with(datagram).filter(|frame| frame.from == node).map(|frame| frame.queued_at).min()
    }

    /// The last frame with a datagram that has left a node before a time, and when its last attempt ended.
    pub(super) fn last_left(&self, node: NodeId, datagram: DatagramId, at: Instant) -> Option<(usize, Instant)> {
        let carrying = self.carrying.get(&datagram)?.iter().map(|&index| (index, &self.frames[index]));
        let before = carrying.filter(|(_, frame)| frame.from == node && frame.queued_at < at);
        let left = before.filter_map(|(index, frame)| Some((index, frame.attempts.last()?.end)));
        left.filter(|&(_, end)| end <= at).max_by_key(|&(_, end)| end)
    }

    /// The attempts of a node that begin in a time: the frame and the number of the attempt.
    pub(super) fn attempts(&self, node: NodeId, from: Instant, to: Instant) -> impl Iterator<Item = (usize, usize)> {
        let all = self.attempts_of.get(&node).map_or(&[][..], Vec::as_slice);
        let at = |&(frame, attempt): &(usize, usize)| self.frames[frame].attempts[attempt].at;
        let first = all.partition_point(|attempt| at(attempt) < from);
        let behind = all.partition_point(|attempt| at(attempt) < to);
        all[first..behind.max(first)].iter().copied()
    }

    /// The other frames that may have been on the air at the same time.
    pub(super) fn on_air_near(&self, number: usize) -> impl Iterator<Item = &OnAir> {
        let seen = &self.on_air[number];
        let before = self.on_air[..number].iter().rev().take_while(|other| other.at + air_time(MAX_PSDU) > seen.at);
        before.chain(self.on_air[number + 1..].iter().take_while(|other| other.at < seen.end))
    }

    /// The frames that carry a datagram.
    pub(super) fn frames_with(&self, datagram: DatagramId) -> impl Iterator<Item = &Frame> {
        self.carrying.get(&datagram).into_iter().flatten().map(|&index| &self.frames[index])
    }
}
