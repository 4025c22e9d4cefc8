//! What routers tell the sender of a packet that they cannot forward (RFC 4443).
//!
//! The border router and the nodes of the mesh answer as IPv6 routers do: an address of the mesh that no node has is
//! unreachable, a hop limit is exceeded, a packet is too big for 6LoWPAN. The host that sends a packet learns from an event
//! alone what its own stack refuses. A node that forwards fragments one by one has no packet to quote, and sends no error.

use super::Network;
use super::events::Events;
use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::ip::icmpv6::{MINIMUM_MTU, RouterError};
use crate::lowpan::fragment::MAX_DATAGRAM;

/// Errors that a node may send at once, and after how long it may send another: the token bucket that RFC 4443 section
/// 2.4 (f) suggests for a small device, ten errors and ten more each second.
const BURST: u64 = 10;
const INTERVAL: Duration = Duration::from_millis(100);

/// Limits how many errors a node sends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorLimit {
    /// When the bucket is full again.
    full_at: Instant,
}

impl ErrorLimit {
    /// Takes a token, if there is one.
    fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + INTERVAL;
        let is_allowed = full_at.since(now) <= INTERVAL * BURST;
        if is_allowed {
            self.full_at = full_at;
        }
        is_allowed
    }
}

impl Network {
    /// Tells the source of a packet why the router at `node` does not forward it.
    pub(super) fn report_error(
        &mut self,
        now: Instant,
        node: NodeId,
        packet: &[u8],
        reason: DropReason,
        events: &mut Events,
    ) {
        let mtu = self.mtu();
        let error = match reason {
            DropReason::HopLimit => RouterError::HopLimitExceeded,
            DropReason::NoRoute => RouterError::NoRoute,
            DropReason::ReassemblyTooLong if packet.len() > mtu => RouterError::PacketTooBig { mtu: mtu as u32 },
            _ => return,
        };
        let router = Host::Node(node);
        let Some(mut message) = error.message(router.address(), packet) else { return };
        if self.error_limits[node.index()].take(now) {
            let datagram = self.next_datagram();
            self.originate(now, router, &mut message, datagram, events);
        }
    }

    /// The longest packet that every node can put together.
    fn mtu(&self) -> usize {
        self.config.reassembly.datagram.clamp(MINIMUM_MTU, MAX_DATAGRAM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_errors_at_once_and_ten_each_second() {
        let mut limit = ErrorLimit::default();
        let mut taken =
            |from: u64, to: u64| (from..to).filter(|&ms| limit.take(Instant::from_micros(ms * 1_000))).count();
        assert_eq!(taken(5_000, 5_050), 10, "one each millisecond");
        assert_eq!(taken(5_050, 7_000), 19, "one each 100 ms, from 5.1 s to 6.9 s");
        assert_eq!(taken(9_000, 9_050), 10, "full again");
    }
}
