//! Why frames and datagrams are lost.

named! {
    /// Why a frame or a datagram was lost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum DropReason {
        /// The queue of the MAC was full.
        QueueFull = "queue_full",
        /// The frame was sent as often as allowed, and no acknowledgement came.
        RetriesExhausted = "retries_exhausted",
        /// No cell of the schedule leads to the next hop.
        NoCell = "no_cell",
        /// CSMA/CA found the channel busy in every attempt.
        ChannelAccessFailure = "channel_access_failure",
        /// The destination did not request the frame in time (indirect transmission).
        TransactionExpired = "transaction_expired",
        /// The link lost a data frame, and the link layer uses no acknowledgements: no node noticed.
        FrameLost = "frame_lost",
        /// The configuration of the network asked for the loss of the frame: its receiver discarded it.
        InjectedLoss = "injected_loss",
        /// All reassembly buffers were taken, or another datagram took its buffer.
        ReassemblyFull = "reassembly_full",
        /// The datagram was longer than a reassembly buffer, or longer than a fragment header can express.
        ReassemblyTooLong = "reassembly_too_long",
        /// A fragment was missing when the reassembly timer expired.
        ReassemblyTimeout = "reassembly_timeout",
        /// Fragment forwarding: every virtual reassembly buffer was taken.
        ForwardingFull = "forwarding_full",
        /// Fragment forwarding: not all fragments came before the node deleted the entry for their datagram.
        ForwardingTimeout = "forwarding_timeout",
        /// The first fragment did not come, which alone carries the destination; or the node has discarded it. In fragment
        /// forwarding, and where only a first fragment takes a reassembly buffer.
        FirstFragmentMissing = "first_fragment_missing",
        /// Fragment forwarding: the compressed header grew at a hop, and the fragment no longer fitted a frame.
        NoSlack = "no_slack",
        /// Fragment recovery: a fragment was sent as often as allowed and not acknowledged, or a node had no free buffer.
        RecoveryFailed = "recovery_failed",
        /// The received octets were not valid.
        Malformed = "malformed",
        /// No node of the mesh has the destination's address.
        NoRoute = "no_route",
        /// The IPv6 hop limit reached zero.
        HopLimit = "hop_limit",
        /// The Internet behind the border router lost the datagram.
        Internet = "internet",
        /// The congestion window of its sender was full, and so was the queue behind it (DCCP).
        SendQueueFull = "send_queue_full",
        /// The connection of its sender ended before the datagram could leave (DCCP).
        ConnectionClosed = "connection_closed",
        /// The border router held it back: it repeated a flight, and the first copy was still on its way.
        Suppressed = "suppressed",
        /// The border router discarded it: it has certificates that are not good, or hides them.
        Unvalidated = "unvalidated",
    }
}
