//! Which key of a scenario changes why datagrams are lost.

use slowhand_net::address::Host;
use slowhand_net::drop_reason::DropReason;

use super::Scenario;

impl Scenario {
    /// The key that changes how many datagrams are lost at this host for this reason. `None` where no single key does.
    pub fn key_for_loss(&self, reason: DropReason, _host: Host) -> Option<&'static str> {
        self.mac.link_layer().key_for_loss(reason).or(match reason {
            DropReason::InjectedLoss if self.lowpan.dropped_frames.is_empty() => Some("lowpan.fragment_loss"),
            DropReason::InjectedLoss => Some("lowpan.dropped_frames"),
            DropReason::ReassemblyFull => Some("lowpan.reassembly_buffers"),
            DropReason::ReassemblyTimeout => Some("lowpan.reassembly_timeout_s"),
            DropReason::ForwardingFull => Some("lowpan.forwarding.entries"),
            DropReason::ForwardingTimeout => Some("lowpan.forwarding.timeout_s"),
            DropReason::RecoveryFailed => Some("lowpan.recovery.retries"),
            DropReason::Internet if self.server.internet_dropped.is_empty() => Some("server.internet_loss"),
            DropReason::Internet => Some("server.internet_dropped"),
            DropReason::Suppressed => Some("gateway.suppress_spurious_flights"),
            _ => None,
        })
    }
}
