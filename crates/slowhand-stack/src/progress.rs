//! The state of a session, as a call returns it.

use std::fmt::Display;
use std::time::Duration;

/// The state of a session after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its state.
    pub state: State,
    /// When [`handle_timeout`](crate::Stack::handle_timeout) is to be called, on the device's clock. `None`: no timer runs.
    pub deadline: Option<Duration>,
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The handshake has not ended.
    Handshaking,
    /// The handshake is complete.
    Established,
    /// A close_notify has arrived.
    ClosedByPeer,
    /// The peer did not answer the last retransmission: why, in words.
    TimedOut(String),
    /// An alert has arrived.
    AlertReceived {
        /// Its description (RFC 8446 section 6).
        description: u8,
        /// The alert in words.
        words: String,
    },
    /// It has failed.
    Failed(Failure),
}

/// Why a session has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The library's own number.
    pub code: i32,
    /// Why, at most 255 octets. The same failure has the same words.
    pub words: String,
}

impl Failure {
    /// A failure with the library's own number and words.
    pub fn new(code: i32, words: impl Display) -> Self {
        Self { code, words: words.to_string() }
    }
}

impl From<State> for Progress {
    /// Without a timer.
    fn from(state: State) -> Self {
        Self { state, deadline: None }
    }
}

impl From<Failure> for Progress {
    fn from(failure: Failure) -> Self {
        State::Failed(failure).into()
    }
}
