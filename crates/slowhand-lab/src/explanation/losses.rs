//! Which datagrams were lost, where and why, in words.

use super::air::{Air, Attempt, Frame, OnAir};
use super::context::{Context, name_of};
use crate::record::Holders;
use crate::world::trace::{Lost, Trace};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::network::Outage;
use slowhand_net::observer::FrameKind;
use std::collections::BTreeMap;

/// The loss of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) at: Instant,
    pub(super) host: Host,
    pub(super) reason: DropReason,
    /// The frame with which it was lost.
    pub(super) frame: Option<usize>,
    /// The content of the reassembly buffers, if they were full.
    pub(super) holders: Holders,
}

impl Loss {
    fn attempts(&self, air: &Air) -> usize {
        self.frame.map_or(0, |frame| air.frames[frame].attempts.len())
    }
}

/// The datagrams that did not arrive, each with its first loss. `is_acknowledged`: the link layer notices when a frame
/// is lost.
pub(super) fn losses(trace: &Trace, air: &Air, is_acknowledged: bool) -> BTreeMap<DatagramId, Loss> {
    let mut found: BTreeMap<DatagramId, Loss> = BTreeMap::new();
    let mut add = |datagram: DatagramId, loss: Loss| {
        let known = found.entry(datagram).or_insert(loss);
        if loss.at < known.at {
            *known = loss;
        }
    };
    for lost in trace.losses.iter().filter(|lost| !trace.arrived.contains_key(&lost.datagram)) {
        let &Lost { at, host, reason, holders, .. } = lost;
        add(lost.datagram, Loss { at, host, reason, frame: frame_of(air, lost), holders });
    }
    if !is_acknowledged {
        let is_missed = |seen: &&OnAir| seen.kind == FrameKind::Data && !seen.received && !seen.is_recovered;
        for seen in air.on_air.iter().filter(is_missed) {
            if !trace.arrived.contains_key(&seen.datagram) {
                let (host, reason, holders) = (Host::Node(seen.to), DropReason::FrameLost, Holders::default());
                add(seen.datagram, Loss { at: seen.end, host, reason, frame: seen.frame, holders });
            }
        }
    }
    found
}

/// The frame with which a datagram was lost: what its host had handled just then, or had sent last.
pub(super) fn frame_of(air: &Air, lost: &Lost) -> Option<usize> {
    let &Lost { at, datagram, host: Host::Node(node), reason, .. } = lost else { return None };
    let waited = matches!(reason, DropReason::ReassemblyTimeout | DropReason::ForwardingTimeout);
    let is_it = |&frame: &usize| waited || air.frames[frame].handled == Some(at);
    let handled = air.last_handled(node, datagram, at).filter(is_it);
    let is_given_up = matches!(
        reason,
        DropReason::RetriesExhausted | DropReason::ChannelAccessFailure | DropReason::TransactionExpired
    );
    handled.or_else(|| air.last_left(node, datagram, at).map(|(frame, _)| frame).filter(|_| is_given_up))
}

/// A loss in words: what was lost, where and why.
pub(super) fn words(air: &Air, context: &Context<'_>, loss: &Loss, name: &str) -> String {
    if loss.reason == DropReason::Internet {
        return format!("{name} was lost on the Internet");
    }
    let fragment = loss.frame.map_or(String::new(), |frame| fragment_of(&air.frames[frame]));
    let attempts = loss.attempts(air);
    let mut why = match loss.reason {
        DropReason::RetriesExhausted if is_received(air, loss) => match attempts {
            0 | 1 => "it arrived, but its acknowledgement did not come back".to_owned(),
            _ => format!("it arrived, but no acknowledgement of {attempts} attempts came back"),
        },
        DropReason::RetriesExhausted if attempts > 1 => format!("all {attempts} attempts failed"),
        DropReason::ReassemblyFull if loss.holders.lost > 0 => {
            let Holders { datagrams, lost, .. } = loss.holders;
            format!(
                "{}: {lost} of {datagrams} held datagrams that had lost a fragment, for which \
                 lowpan.reassembly_timeout_s says how long a node waits",
                reason_words(loss.reason)
            )
        }
        reason => reason_words(reason).to_owned(),
    };
    if let Some((node, missed)) = outage(air, context, loss) {
        let some = if missed < attempts { format!(", {missed} of them") } else { String::new() };
        why += &format!("{some} while the radio of {} was switched off", name_of(Host::Node(node)));
    }
    format!("{fragment}{name} was lost {} ({why})", place(air, loss))
}

/// Where something was lost: at a host, or on its way to the next node if the link layer gave it up.
fn place(air: &Air, loss: &Loss) -> String {
    let is_of_link = matches!(
        loss.reason,
        DropReason::RetriesExhausted
            | DropReason::ChannelAccessFailure
            | DropReason::TransactionExpired
            | DropReason::FrameLost
    );
    match loss.frame.filter(|_| is_of_link).map(|frame| &air.frames[frame]) {
        Some(frame) => {
            let [from, to] = [frame.from, frame.to].map(|node| name_of(Host::Node(node)));
            format!("on its way from {from} to {to}")
        }
        None => format!("at {}", name_of(loss.host)),
    }
}

/// True if the frame with which something was lost had arrived: what failed were its acknowledgements.
fn is_received(air: &Air, loss: &Loss) -> bool {
    loss.frame.is_some_and(|frame| air.frames[frame].received.is_some())
}

/// True if something was lost because a radio was switched off.
pub(super) fn is_by_outage(air: &Air, context: &Context<'_>, loss: &Loss) -> bool {
    outage(air, context, loss).is_some()
}

/// The node whose radio was off when something was lost, and how many of the attempts it has cost: half of them or more.
fn outage(air: &Air, context: &Context<'_>, loss: &Loss) -> Option<(NodeId, usize)> {
    match (loss.reason, loss.frame.map(|frame| &air.frames[frame])) {
        (DropReason::RetriesExhausted | DropReason::FrameLost | DropReason::ChannelAccessFailure, Some(frame)) => {
            let missed = |outage: &Outage| {
                let is_in = |attempt: &&Attempt| outage.from < attempt.end && attempt.at < outage.until;
                frame.attempts.iter().filter(is_in).count()
            };
            let outages = context.outages(frame.from, frame.to).into_iter();
            let (node, missed) =
                outages.map(|outage| (outage.node, missed(&outage))).max_by_key(|&(_, missed)| missed)?;
            (missed > 0 && 2 * missed >= frame.attempts.len()).then_some((node, missed))
        }
        // Frames that wait for a radio fill the queue, or wait too long.
        (DropReason::QueueFull | DropReason::TransactionExpired, _) => {
            let Host::Node(node) = loss.host else { return None };
            context.outage_near(node, loss.at).map(|outage| (outage.node, loss.attempts(air)))
        }
        _ => None,
    }
}

/// "fragment 3 of 8 of ", if a datagram takes several frames.
pub(super) fn fragment_of(frame: &Frame) -> String {
    match frame.count {
        0 | 1 => String::new(),
        count => format!("fragment {} of {count} of ", frame.number),
    }
}

/// Why something was lost, in words.
pub(super) const fn reason_words(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "its queue was full",
        DropReason::RetriesExhausted => "all attempts failed",
        DropReason::NoCell => "no cell leads to the next hop",
        DropReason::ChannelAccessFailure => "the channel was busy at every attempt",
        DropReason::TransactionExpired => "it was not fetched in time",
        DropReason::FrameLost => "the link lost the frame, and nobody noticed",
        DropReason::InjectedLoss => "the scenario asks for it",
        DropReason::ReassemblyFull => "its reassembly buffers were full",
        DropReason::ReassemblyTooLong => "it is longer than a reassembly buffer",
        DropReason::ReassemblyTimeout => "a fragment was missing when the reassembly timer ended",
        DropReason::ForwardingFull => "its forwarding buffers were full",
        DropReason::ForwardingTimeout => "the forwarding timer ended before its last fragment",
        DropReason::FirstFragmentMissing => "its first fragment was missing",
        DropReason::NoSlack => "its header grew and the frame had no room",
        DropReason::RecoveryFailed => "fragment recovery gave it up",
        DropReason::Internet => "the Internet lost it",
        DropReason::SendQueueFull => "its send queue behind the congestion window was full",
        DropReason::ConnectionClosed => "its DCCP connection ended first",
        DropReason::Suppressed => "the border router held it back",
        DropReason::Unvalidated => "the border router took its certificates for false",
        other => other.name(),
    }
}
