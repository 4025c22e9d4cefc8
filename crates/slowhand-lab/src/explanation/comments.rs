//! The comments of a capture on single frames: why they were lost, what was dropped with them, and if they were
//! sent needlessly.

use super::air::Air;
use super::context::{Context, name_of};
use super::losses::{self, reason_words};
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::world::trace::{Lost, Trace};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::observer::FrameKind;
use std::collections::BTreeMap;

/// The comments on the frames of a world, by the number of the frame in the order of time.
pub(crate) fn comments(trace: &Trace, air: &Air, scenario: &Scenario, plan: &Plan) -> BTreeMap<usize, String> {
    let context = Context::new(scenario, trace);
    let mut names = BTreeMap::new();
    for conversation in trace.clients.ids() {
        names.extend(super::names(trace, conversation, plan.connection_id()).0);
    }
    let mut comments: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (number, seen) in air.on_air.iter().enumerate() {
        if let Some(why) = why_not_received(air, &context, number) {
            comments.entry(number).or_default().push(why);
        }
        if let (FrameKind::Data, Some(is_needed)) = (seen.kind, trace.repeated.get(&seen.datagram)) {
            let name = names.get(&seen.datagram).map_or("its datagram", String::as_str);
            let state = if *is_needed { "needed" } else { "spurious" };
            comments.entry(number).or_default().push(format!("{name} is sent again: {state}"));
        }
    }
    let mut dropped_at: BTreeMap<usize, Vec<&Lost>> = BTreeMap::new();
    for lost in &trace.losses {
        if let Some(frame) = losses::frame_of(air, lost)
            && let Some(last) = air.frames[frame].attempts.last()
        {
            dropped_at.entry(last.on_air).or_default().push(lost);
        }
    }
    for (number, lost) in dropped_at {
        for lost in lost {
            let name = names.get(&lost.datagram).map_or("its datagram", String::as_str);
            let text = format!("{name} was dropped at {} ({})", name_of(lost.host), reason_words(lost.reason));
            comments.entry(number).or_default().push(text);
        }
    }
    // The source of a datagram sends such a frame again: the datagram is not lost.
    for frame in air.frames.iter().filter(|frame| frame.discarded) {
        let Some(received) = frame.received.map(|attempt| frame.attempts[attempt].on_air) else { continue };
        let of_frame = comments.entry(received).or_default();
        if !of_frame.iter().any(|comment| comment.contains(reason_words(DropReason::InjectedLoss))) {
            let place = name_of(Host::Node(frame.to));
            of_frame.push(format!("discarded at {place} ({})", reason_words(DropReason::InjectedLoss)));
        }
    }
    comments.into_iter().map(|(number, comments)| (number, comments.join("; "))).collect()
}

/// Why the destination of a frame did not receive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// Its radio was switched off.
    Off,
    /// It was sending itself.
    Sending,
    /// The frame collided with one of this node.
    Collided(NodeId),
    /// Nothing of all this.
    Link,
}

/// Why the destination of a frame did not receive it. `None` if it did, or if nobody in particular was to receive it.
pub(super) fn miss(air: &Air, context: &Context<'_>, number: usize) -> Option<Miss> {
    let seen = &air.on_air[number];
    if seen.received || !seen.kind.is_for_one() {
        return None;
    }
    let is_off =
        context.outages(seen.to, seen.to).iter().any(|outage| outage.from < seen.end && outage.until > seen.at);
    let disturbs = |other: &super::air::OnAir| {
        let overlaps = other.at < seen.end && other.end > seen.at && other.channel == seen.channel;
        overlaps && other.from != seen.from && (other.from == seen.to || context.hears(other.from, seen.to))
    };
    Some(match air.on_air_near(number).find(|other| disturbs(other)) {
        _ if is_off => Miss::Off,
        Some(other) if other.from == seen.to => Miss::Sending,
        Some(other) => Miss::Collided(other.from),
        None => Miss::Link,
    })
}

/// The reason in words why a frame did not reach its receiver.
pub(super) fn why_not_received(air: &Air, context: &Context<'_>, number: usize) -> Option<String> {
    let place = name_of(Host::Node(air.on_air[number].to));
    Some(match miss(air, context, number)? {
        Miss::Off => format!("not received: the radio of {place} was switched off"),
        Miss::Sending => format!("not received: {place} was sending itself"),
        Miss::Collided(with) => {
            format!("not received at {place}: it collided with a frame of {}", name_of(Host::Node(with)))
        }
        Miss::Link => format!("not received: lost on the link to {place}"),
    })
}
