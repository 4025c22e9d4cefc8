//! DCCP (RFC 4340) with TCP-like congestion control, CCID 2 (RFC 4341), without its own input and output.
//!
//! A [`Connection`] carries datagrams both ways. It does not repeat them; it says which ones arrived, and keeps the
//! number of those on their way below a congestion window. The caller gives it packets and the time, and polls it for
//! packets to send. Then [`Connection::deadline`] says when it must be called next.
//!
//! Implemented: the ten packet types with 48-bit sequence numbers, and their validity (section 7.5); the handshake, its
//! timers, and the three ways to close (section 8); feature negotiation (section 6); partial checksums of received
//! packets (section 9.2); Ack Vectors, the Ack Ratio and delayed acknowledgements (section 11); ECN (section 12);
//! CCID 2 (RFC 4341), whose timeout is that of RFC 6298.
//!
//! Not implemented: short sequence numbers, Init Cookies, NDP Count, timestamps, Data Dropped, Data Checksum, data in
//! Request and Response packets, path MTU discovery, the congestion control of acknowledgements (RFC 4341 section
//! 6.1.1), the ECN nonce (RFC 8311 ended that experiment), other CCIDs.

mod ack_vector;
mod ccid2;
mod config;
mod connection;
mod feature;
mod options;
mod packet;
mod seq;

pub use ack_vector::{Run, State as PacketState, runs};
pub use config::{ConfigError, DccpConfig};
pub use connection::{Connection, ConnectionError, SendError, State, Statistics, Transmit};
pub use options::{DccpOption, Options, number};
pub use packet::{Body, MAX_HEADER_LEN, Packet, PacketError, ResetCode, checksum_holds};
pub use seq::SeqNumber;
