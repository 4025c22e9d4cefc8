//! Why frames and datagrams are lost.

/// Why a frame or a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue of the MAC was full.
    QueueFull,
    /// The frame was sent as often as allowed, and no acknowledgement came.
    RetriesExhausted,
    /// No cell of the schedule leads to the next hop.
    NoCell,
    /// CSMA/CA found the channel busy in every attempt.
    ChannelAccessFailure,
    /// The destination did not request the frame in time (indirect transmission).
    TransactionExpired,
    /// The link lost a data frame, and the link layer uses no acknowledgements: no node noticed.
    FrameLost,
    /// The configuration of the network asked for the loss of the frame: its receiver discarded it.
    InjectedLoss,
    /// All reassembly buffers were taken, or another datagram took its buffer.
    ReassemblyFull,
    /// The datagram was longer than a reassembly buffer, or longer than a fragment header can express.
    ReassemblyTooLong,
    /// A fragment was missing when the reassembly timer expired.
    ReassemblyTimeout,
    /// Fragment forwarding: every virtual reassembly buffer was taken.
    ForwardingFull,
    /// Fragment forwarding: not all fragments came before the node deleted the entry for their datagram.
    ForwardingTimeout,
    /// The first fragment did not come, which alone carries the destination; or the node has discarded it. In fragment
    /// forwarding, and where only a first fragment takes a reassembly buffer.
    FirstFragmentMissing,
    /// Fragment forwarding: the compressed header grew at a hop, and the fragment no longer fitted a frame.
    NoSlack,
    /// Fragment recovery: a fragment was sent as often as allowed and not acknowledged, or a node had no free buffer.
    RecoveryFailed,
    /// The received octets were not valid.
    Malformed,
    /// No node of the mesh has the destination's address.
    NoRoute,
    /// The IPv6 hop limit reached zero.
    HopLimit,
    /// The Internet behind the border router lost the datagram.
    Internet,
    /// The congestion window of its sender was full, and so was the queue behind it (DCCP).
    SendQueueFull,
    /// The connection of its sender ended before the datagram could leave (DCCP).
    ConnectionClosed,
    /// The border router held it back: it repeated a flight, and the first copy was still on its way.
    Suppressed,
    /// The border router discarded it: it has certificates that are not good, or hides them.
    Unvalidated,
}

impl DropReason {
    /// The name of the reason in records and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::RetriesExhausted => "retries_exhausted",
            Self::NoCell => "no_cell",
            Self::ChannelAccessFailure => "channel_access_failure",
            Self::TransactionExpired => "transaction_expired",
            Self::FrameLost => "frame_lost",
            Self::InjectedLoss => "injected_loss",
            Self::ReassemblyFull => "reassembly_full",
            Self::ReassemblyTooLong => "reassembly_too_long",
            Self::ReassemblyTimeout => "reassembly_timeout",
            Self::ForwardingFull => "forwarding_full",
            Self::ForwardingTimeout => "forwarding_timeout",
            Self::FirstFragmentMissing => "first_fragment_missing",
            Self::NoSlack => "no_slack",
            Self::RecoveryFailed => "recovery_failed",
            Self::Malformed => "malformed",
            Self::NoRoute => "no_route",
            Self::HopLimit => "hop_limit",
            Self::Internet => "internet",
            Self::SendQueueFull => "send_queue_full",
            Self::ConnectionClosed => "connection_closed",
            Self::Suppressed => "suppressed",
            Self::Unvalidated => "unvalidated",
        }
    }
}
