//! The changes in a scenario by which fewer datagrams are lost.

use serde::Serialize;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::drop_reason::DropReason;

use super::{Outage, Reassembly, Scenario};
use crate::record::Holders;

/// The key of a scenario that changes how many datagrams are lost for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The key, as a dotted path.
    pub key: &'static str,
    /// The change of its value. `None` if the key asks for the loss.
    pub advice: Option<Advice>,
}

/// The change of a key that helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Advice {
    /// To set it to a larger number.
    Raise,
    /// To set it to a smaller number.
    Lower,
    /// To set it to something else: it is not a number.
    Change,
}

impl Remedy {
    pub(crate) const fn raise(key: &'static str) -> Self {
        Self { key, advice: Some(Advice::Raise) }
    }

    pub(crate) const fn lower(key: &'static str) -> Self {
        Self { key, advice: Some(Advice::Lower) }
    }

    pub(crate) const fn change(key: &'static str) -> Self {
        Self { key, advice: Some(Advice::Change) }
    }

    /// A key that asks for the loss.
    const fn asked(key: &'static str) -> Self {
        Self { key, advice: None }
    }

    /// The key that asks for a loss, of those that may; the first one if none does. `None` if several do: no single key
    /// changes it.
    fn asked_by(keys: &[(&'static str, bool)]) -> Option<Self> {
        let mut asking = keys.iter().filter(|key| key.1);
        match (asking.next().or(keys.first()), asking.next()) {
            (Some(&(key, _)), None) => Some(Self::asked(key)),
            _ => None,
        }
    }
}

impl Scenario {
    /// True if a node has as many buffers of the kind that was full as `network.nodes` says.
    fn has_own_buffers(&self, reason: DropReason, host: Host) -> bool {
        let Host::Node(node) = host else { return false };
        let Some((_, own)) = self.network.nodes.iter().find(|(id, _)| id.get() == u32::from(node.0)) else {
            return false;
        };
        match reason {
            DropReason::QueueFull => own.queue.is_some(),
            DropReason::ReassemblyFull => own.reassembly_buffers.is_some(),
            DropReason::ForwardingFull => own.forwarding_entries.is_some(),
            _ => false,
        }
    }

    /// The key by which the scenario itself keeps frames from arriving at the neighbours of this host: more repetitions only
    /// work against it. `None` if there is no such key, or more than one.
    fn cause(&self, reason: DropReason, host: Host) -> Option<Remedy> {
        let Host::Node(node) = host else { return None };
        let is_off = |outage: &Outage| {
            let (off, routes) = (outage.outage().node, self.mesh().routes());
            off == node || routes.parent(off) == Some(node) || routes.parent(node) == Some(off)
        };
        let outage = Remedy::asked("network.outages");
        let wifi = Remedy::asked("network.wifi");
        let busy = Remedy::lower("network.frame_handling_ms");
        let causes: &[(Remedy, bool)] = match reason {
            DropReason::RetriesExhausted | DropReason::FrameLost => &[
                (outage, self.network.outages.iter().any(is_off)),
                (wifi, self.network.wifi.len() > self.wifi_elsewhere().len()),
                (busy, !self.frame_handling().is_empty()),
            ],
            DropReason::ChannelAccessFailure => &[(wifi, self.network.wifi.len() > self.wifi_elsewhere().len())],
            _ => return None,
        };
        let mut given = causes.iter().filter(|cause| cause.1).map(|cause| cause.0);
        given.next().filter(|_| given.next().is_none())
    }

    /// True if buffers were free where so many datagrams found no room beside these: their octets were too many.
    fn is_full_of_octets(&self, reason: DropReason, host: Host, count: u64, holders: Holders) -> bool {
        let reassembles = !matches!(self.lowpan.reassembly, Reassembly::Recovery); // recovery has no such bound
        let is_bounded = reason == DropReason::ReassemblyFull && reassembles && self.lowpan.reassembly_octets.is_some();
        // A number of buffers of the border router's own replaces the bound of their octets.
        let has_own = host == Host::Node(NodeId::ROOT) && self.lowpan.border_router_reassembly_buffers.is_some();
        let buffers = u64::from(self.lowpan.reassembly_buffers.get());
        is_bounded && !has_own && 0 < holders.datagrams && holders.datagrams < count * buffers
    }

    /// The remedy that changes how many datagrams are lost at this host for this reason, where so many were lost and
    /// these held the reassembly buffers. `None` where no single key does.
    pub fn remedy(&self, reason: DropReason, host: Host, count: u64, holders: Holders) -> Option<Remedy> {
        let is_border_router = host == Host::Node(NodeId::ROOT);
        // Datagrams that are lost elsewhere would hold more buffers in the same way. Where they are lost because they
        // are full, more buffers help.
        if reason == DropReason::ReassemblyFull && 2 * (holders.lost - holders.refused) > holders.datagrams {
            return Some(Remedy::lower("lowpan.reassembly_timeout_s"));
        }
        if self.has_own_buffers(reason, host) {
            return Some(Remedy::change("network.nodes"));
        }
        if let Some(cause) = self.cause(reason, host) {
            return Some(cause);
        }
        if self.is_full_of_octets(reason, host, count, holders) {
            return Some(Remedy::raise("lowpan.reassembly_octets"));
        }
        self.mac.link_layer().remedy(reason).or(match reason {
            DropReason::QueueFull => Some(Remedy::raise("mac.queue")),
            DropReason::InjectedLoss => Remedy::asked_by(&[
                ("lowpan.fragment_loss", self.lowpan.fragment_loss.get() > 0.0),
                ("lowpan.frame_loss", self.lowpan.frame_loss.get() > 0.0),
                ("lowpan.dropped_frames", !self.lowpan.dropped_frames.is_empty()),
            ]),
            DropReason::ReassemblyFull if is_border_router => {
                Some(Remedy::raise("lowpan.border_router_reassembly_buffers"))
            }
            DropReason::ReassemblyFull => Some(Remedy::raise("lowpan.reassembly_buffers")),
            // Over TCP, the segments are short.
            DropReason::ReassemblyTooLong if !self.session.protocol.is_stream() => Some(Remedy::lower("session.mtu")),
            DropReason::ReassemblyTimeout => Some(Remedy::raise("lowpan.reassembly_timeout_s")),
            DropReason::ForwardingFull if is_border_router => {
                Some(Remedy::raise("lowpan.forwarding.border_router_entries"))
            }
            DropReason::ForwardingFull => Some(Remedy::raise("lowpan.forwarding.entries")),
            DropReason::ForwardingTimeout => Some(Remedy::raise("lowpan.forwarding.timeout_s")),
            DropReason::RecoveryFailed => Some(Remedy::raise("lowpan.recovery.retries")),
            DropReason::Internet => Remedy::asked_by(&[
                ("server.internet_loss", self.server.internet_loss.get() > 0.0),
                ("server.internet_dropped", !self.server.internet_dropped.is_empty()),
            ]),
            DropReason::Unvalidated => Some(Remedy::asked("gateway.pre_validation")),
            DropReason::SendQueueFull => Some(Remedy::raise("transport.dccp.send_queue")),
            DropReason::Suppressed => Some(Remedy::asked("gateway.suppress_spurious_flights")),
            _ => None,
        })
    }
}
