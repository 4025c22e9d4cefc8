//! TCP (RFC 9293), without its own input and output.
//!
//! The caller gives a [`Connection`] segments and the time, and polls it for segments to send. Then
//! [`Connection::deadline`] says when the connection must be called next. [`TcpConfig`] has a field
//! for everything that the standards leave open.
//!
//! Implemented: RFC 9293; RFC 5681 congestion control with RFC 3042, RFC 6582 (NewReno), RFC 6675
//! (SACK), RFC 5827 (early retransmit); RFC 9438 (CUBIC); RFC 6298 (timers); RFC 7323 (window
//! scale, timestamps, PAWS); RFC 2883 (duplicate SACK); RFC 8985 section 7 (tail loss probes);
//! RFC 3168 (ECN); RFC 5961 (challenge ACKs).
//!
//! Not implemented: urgent data, RACK, F-RTO, proportional rate reduction, TCP Fast Open, path MTU
//! discovery.

mod buffer;
mod config;
mod congestion;
mod connection;
mod error;
mod options;
mod ranges;
mod receive_buffer;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod seq;
mod statistics;
mod timers;

pub use config::{ConfigError, CongestionControl, DelayedAck, Ecn, KeepAlive, Nagle, Recovery, Rto, Syn, TcpConfig};
pub use connection::{Connection, ConnectionError, EcnMark, Endpoint, State, Transmit};
pub use error::SegmentError;
pub use options::{
    MAX_SACK_BLOCKS, MAX_SACK_BLOCKS_WITH_TIMESTAMPS, MAX_WINDOW_SCALE, Options, SackBlocks, TIMESTAMPS_LEN, Timestamps,
};
pub use ranges::SeqRange;
pub(crate) use rtt::RttEstimator;
pub use segment::{Flags, HEADER_LEN, Segment, checksum_holds};
pub use seq::SeqNumber;
pub use statistics::Statistics;
