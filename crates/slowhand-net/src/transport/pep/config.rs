//! The configuration of the proxy.

use crate::clock::Duration;
use crate::transport::tcp;

/// The configuration of the proxy: one connection ("leg") towards each end.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyConfig {
    /// The leg towards the Internet.
    pub internet: tcp::TcpConfig,
    /// The leg into the mesh. The proxy computes its retransmission timer from the path: see [`Proxy`](super::Proxy).
    pub mesh: tcp::TcpConfig,
}

impl Default for ProxyConfig {
    /// Both legs are as in Linux, which runs on the border router of Claeys et al. 2021 (OpenVisualizer), with these
    /// differences:
    ///
    /// - Towards the Internet, each segment is acknowledged at once (section 5 of that paper). MSS 1440: the 1500
    ///   octets of Ethernet minus both headers.
    /// - Into the mesh, MSS 1220: the 1280 octets of a 6LoWPAN interface (RFC 4944 section 4) minus both headers. A
    ///   node can announce less. No timestamps: they cost 12 octets in each segment, and the schedule tells the
    ///   round-trip time already. No tail loss probe and no early retransmit: both use the measured round-trip time,
    ///   and a segment of ten fragments takes longer than a segment of one frame that was measured before. No Nagle:
    ///   the sender has already decided which data to send together. An initial window of 2 segments: with a node's MSS
    ///   of 844 (table 2 of that paper), they are ten fragments each and fill the queue of OpenWSN, 20 frames. With
    ///   1220 they are 28 frames, more than the queue holds.
    ///
    /// The buffers have 65,536 octets each, enough for many handshakes.
    fn default() -> Self {
        let linux = tcp::TcpConfig::linux();
        Self {
            internet: tcp::TcpConfig { mss: 1440, delayed_ack: None, nagle: tcp::Nagle::Off, ..linux.clone() },
            mesh: tcp::TcpConfig {
                mss: 1220,
                timestamps: false,
                tail_loss_probe: false,
                early_retransmit: false,
                initial_window: 2,
                nagle: tcp::Nagle::Off,
                ..linux
            },
        }
    }
}

/// The longest time by which the peer may delay an acknowledgement (RFC 9293 section 3.8.6.3: less than 0.5 s).
const ACK_DELAY: Duration = Duration::from_millis(500);

/// The maximum of the retransmission timeout (RFC 6298 section 2.5: at least 60 s), unless one round trip takes longer.
const LONGEST_RTO: Duration = Duration::from_secs(60);

/// The longest round trip that is taken from the schedule (assumed; a connection accepts timers of up to a day).
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(3_600);

/// The retransmission timer for segments whose round trip takes `round_trip` by the schedule. Measurements can make it
/// longer (RFC 6298), never shorter.
pub(super) fn rto(round_trip: Duration) -> tcp::Rto {
    let least = round_trip.min(LONGEST_ROUND_TRIP) + ACK_DELAY;
    tcp::Rto {
        initial: least,
        after_syn_loss: least,
        min: least,
        max: LONGEST_RTO.max(least),
        granularity: Duration::from_millis(1),
    }
}
