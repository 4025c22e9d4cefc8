//! Why frames and datagrams are lost.

/// Why a frame or a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue of the MAC was full.
    QueueFull,
    /// The frame was sent as often as allowed and never acknowledged.
    RetriesExhausted,
    /// No cell of the schedule leads to the next hop.
    NoCell,
    /// The channel was busy whenever the node wanted to send (CSMA/CA).
    ChannelAccessFailure,
    /// The destination did not ask for the frame for too long (indirect transmission).
    TransactionExpired,
    /// The link lost a data frame, under a link layer without acknowledgements: no node noticed.
    FrameLost,
    /// The scenario dropped the fragment (`lowpan.fragment_loss`).
    InjectedLoss,
    /// All reassembly buffers were taken.
    ReassemblyFull,
    /// The datagram was longer than a reassembly buffer, or than its fragments can count.
    ReassemblyTooLong,
    /// A fragment was missing when the reassembly timer fired.
    ReassemblyTimeout,
    /// Fragments are forwarded one by one, and every virtual reassembly buffer was taken.
    ForwardingFull,
    /// Fragments are forwarded one by one, and not all came through before the node forgot where they go.
    ForwardingTimeout,
    /// Fragments are forwarded one by one, and this one came without the first, which says where they go.
    FirstFragmentMissing,
    /// The compressed header grew on its way, and its fragment did not fit a frame any more.
    NoSlack,
    /// Fragments are recovered, and one was sent as often as allowed and never acknowledged, or a node had no room.
    RecoveryFailed,
    /// The received octets were no valid 6LoWPAN.
    Malformed,
    /// No node of the mesh has the destination's address.
    NoRoute,
    /// The IPv6 hop limit was used up.
    HopLimit,
    /// The Internet between border router and server lost the datagram.
    Internet,
    /// The border router held it back, because it repeated a flight whose first copy was on its way.
    Suppressed,
}

impl DropReason {
    /// The reason as records and messages name it.
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
            Self::Suppressed => "suppressed",
        }
    }
}
