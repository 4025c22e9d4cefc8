//! The requests of a client to its server over a long time, and its use of sessions meanwhile.

use slowhand_net::clock::Duration;

/// The requests of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    /// When.
    pub when: When,
    /// The octets of each message.
    pub sizes: Sizes,
    /// The fate of a session after a request.
    pub session: Keeping,
    /// After so long without a datagram a NAT on the way has forgotten the session. `None`: it never forgets.
    pub idle_timeout: Option<Duration>,
    /// After so long without a datagram the client sends a keep-alive. `None`: it sends none.
    pub keep_alive: Option<Duration>,
    /// A session that is so old is replaced by a new one. `None`: it never is.
    pub rekey_after: Option<Duration>,
}

/// When a client sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After equal times.
    Periodic(Duration),
    /// After times of an exponential distribution with this mean.
    Poisson(Duration),
    /// It fetches so many octets once, piece by piece.
    Once {
        /// All of them.
        octets: u32,
        /// The octets of a piece.
        piece: u32,
    },
}

/// The fate of a session after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It is kept for the next one.
    Kept,
    /// It is closed, and the next one resumes it.
    Resumed,
    /// It is closed, and the next one needs a full handshake.
    Anew,
}

/// The octets of messages above the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// A request.
    pub request: usize,
    /// A response, without a piece.
    pub response: usize,
    /// A piece.
    pub piece: usize,
    /// The last piece.
    pub last_piece: usize,
}

/// The request of a client in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// That the server is there: the empty message of RFC 7252 section 4.3 (CoAP ping), which keeps a NAT from forgetting.
    KeepAlive,
    /// An answer.
    Request,
    /// A piece, and if it is the last one.
    Piece {
        /// True of the last one.
        is_last: bool,
    },
}

/// The octets of an empty message of CoAP, and of the reset that answers it (RFC 7252 sections 3 and 4.1).
pub const EMPTY: usize = 4;

/// The time after which a request is sent again the first time, at least (RFC 7252 section 4.8, ACK_TIMEOUT). It doubles.
pub const ACK_TIMEOUT: Duration = Duration::from_secs(2);

/// The first timeout is drawn uniformly from `ACK_TIMEOUT` to this many times it (RFC 7252 section 4.8, ACK_RANDOM_FACTOR).
pub const ACK_RANDOM_FACTOR: f64 = 1.5;

/// The most times that a request is sent again (RFC 7252 section 4.8, MAX_RETRANSMIT).
pub const MAX_RETRANSMIT: u32 = 4;

/// The time for which a client waits for a response over TCP, where requests are not sent again: as long as it does over UDP at most
/// (RFC 7252 section 4.8.2, MAX_TRANSMIT_WAIT).
pub const MAX_TRANSMIT_WAIT: Duration = Duration::from_secs(93);

impl Requests {
    /// The number of pieces. 1 if there are none.
    pub(crate) fn pieces(&self) -> u32 {
        match self.when {
            When::Once { octets, piece } => octets.div_ceil(piece),
            When::Periodic(_) | When::Poisson(_) => 1,
        }
    }

    /// The part that the client asks for in this message of a request.
    pub(crate) fn ask(&self, number: u32) -> Ask {
        match self.when {
            When::Once { .. } => Ask::Piece { is_last: number + 1 == self.pieces() },
            When::Periodic(_) | When::Poisson(_) => Ask::Request,
        }
    }
}

impl Ask {
    /// The octets of the message and of its answer.
    pub(crate) fn lengths(self, sizes: Sizes) -> [usize; 2] {
        match self {
            Self::KeepAlive => [EMPTY, EMPTY],
            Self::Request => [sizes.request, sizes.response],
            Self::Piece { is_last: false } => [sizes.request, sizes.response + sizes.piece],
            Self::Piece { is_last: true } => [sizes.request, sizes.response + sizes.last_piece],
        }
    }

    /// Its number in a message.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::KeepAlive => 0,
            Self::Request => 1,
            Self::Piece { is_last } => 2 + u8::from(is_last),
        }
    }

    /// The request that has this number.
    pub(crate) fn of_code(code: u8) -> Self {
        match code {
            0 => Self::KeepAlive,
            1 => Self::Request,
            code => Self::Piece { is_last: code == 3 },
        }
    }
}
