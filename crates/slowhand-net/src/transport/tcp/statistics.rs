//! The counters of a connection.

/// Counters since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Segments sent, all kinds.
    pub segments_sent: u64,
    /// Valid segments received.
    pub segments_received: u64,
    /// Segments that repeated data, SYN or FIN.
    pub retransmissions: u64,
    /// Octets of payload in retransmissions.
    pub octets_retransmitted: u64,
    /// Expiries of the retransmission timer, that of a SYN included.
    pub timeouts: u64,
    /// Fast recoveries.
    pub fast_retransmits: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Losses that a tail loss probe repaired (RFC 8985 section 7.4).
    pub losses_repaired_by_probe: u64,
    /// Window probes sent.
    pub window_probes: u64,
    /// Windows of data for which the peer reported congestion by ECN.
    pub congestion_echoes: u64,
    /// Segments received whose payload had arrived before, in whole or in part.
    pub duplicates_received: u64,
}
