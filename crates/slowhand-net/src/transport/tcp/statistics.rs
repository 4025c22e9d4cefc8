//! What a connection did, in numbers.

/// Counters since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Segments sent, all kinds.
    pub segments_sent: u64,
    /// Segments received and understood.
    pub segments_received: u64,
    /// Segments that carried data, SYN or FIN again.
    pub retransmissions: u64,
    /// Octets of payload that were sent again.
    pub octets_retransmitted: u64,
    /// Times the retransmission timer ran out, that of a SYN included.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub fast_retransmits: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Losses that a tail loss probe repaired (RFC 8985 section 7.4).
    pub losses_repaired_by_probe: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Windows of data for which the peer reported congestion by ECN.
    pub congestion_echoes: u64,
    /// Segments received whose payload was here already, in whole or in part.
    pub duplicates_received: u64,
}
