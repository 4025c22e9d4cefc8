//! The status of a connection, and its fate.

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The handshake has not begun, or is not complete.
    Handshaking,
    /// Both ends have verified each other. Application data can be sent.
    Established,
    /// It was established, and this end has closed it. What the peer sends until it hears of that is still delivered.
    Closing,
    /// It was established, and the peer has closed it, alone or after this end. No data are missing.
    Closed,
    /// It has ended, and cannot be used any more.
    Failed(Failure),
}

/// Why a connection has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer did not answer the last retransmission. The description of the last alert in clear, if there was one:
    /// anybody can have sent it.
    TimedOut(Option<u8>),
    /// The peer has sent a fatal alert, encrypted: AlertDescription of RFC 5246, section 7.2.
    AlertReceived(u8),
    /// This end has refused the peer with this alert.
    AlertSent(u8),
    /// A flight has no room in the connection's buffer, or a message of the peer had none until the end of all
    /// retransmissions.
    BufferTooSmall,
    /// The client has no key.
    NoKey,
}

/// Why application data was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The connection is not established.
    NotEstablished,
    /// The datagram has no room for the data.
    TooLong,
}

/// The knowledge about a peer since the last heartbeat (RFC 6520). A peer that answers none of its retransmissions is given up:
/// the connection has then failed with [`Failure::TimedOut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Nobody has asked.
    Unknown,
    /// A request is in flight.
    Waiting,
    /// The peer has answered.
    Alive {
        /// The last round trip that was measured. A request that was repeated measures none.
        round_trip_ms: Option<u32>,
    },
}

/// Why no heartbeat was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatError {
    /// The connection is not established.
    NotEstablished,
    /// The configurations of both ends have not agreed on heartbeats, or the peer does not want to be asked.
    NotAgreed,
    /// One is in flight already (RFC 6520, section 3).
    InFlight,
}
