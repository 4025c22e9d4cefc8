//! The constants of the proxy.

use crate::clock::Duration;
use crate::transport::tcp;

/// The two ends of the proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyConfig {
    /// The leg towards the Internet.
    pub internet: tcp::TcpConfig,
    /// The leg into the mesh. Its retransmission timer is computed from the path: see [`Proxy`](super::Proxy).
    pub mesh: tcp::TcpConfig,
}

impl Default for ProxyConfig {
    /// Both legs as Linux has them, which is what runs on the border router of Claeys et al. 2021 (OpenVisualizer), but:
    ///
    /// - Towards the Internet each segment is acknowledged at once, as that paper has it in section 5. MSS 1440:
    ///   Ethernet's 1500 octets less both headers.
    /// - Into the mesh, MSS 1220: the 1280 octets of a 6LoWPAN interface (RFC 4944 section 4) less both headers; a
    ///   node that wants less says so. No timestamps: 12 octets of each segment's frames for a round-trip time
    ///   that the schedule tells. No tail loss probe and no early retransmit: both fire after a round trip as measured,
    ///   and a segment of ten fragments takes longer than the one of a single frame that was measured before it. No Nagle:
    ///   the sender has decided what goes together. An initial window of 2 segments: with a node's MSS of 844 (table 2 of
    ///   that paper) they are ten fragments each and fill the 20 frames that OpenWSN queues. With 1220 they are 28 frames,
    ///   more than it queues.
    ///
    /// The buffers, 65,536 octets each, hold many handshakes.
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

/// How long the peer may wait with an acknowledgment (RFC 9293 section 3.8.6.3: less than 0.5 s).
const ACK_DELAY: Duration = Duration::from_millis(500);

/// The longest retransmission timeout (RFC 6298 section 2.5: at least 60 s), unless one round trip takes longer.
const LONGEST_RTO: Duration = Duration::from_secs(60);

/// Whatever the schedule says, no longer than this (assumed; a day is what a connection takes).
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(3_600);

/// The retransmission timer for segments whose acknowledgment takes `round_trip` by the schedule. What is measured makes it
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
