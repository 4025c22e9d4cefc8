//! An emulated low-power network in virtual time.
//!
//! Real bytes at every layer, no socket, thread or wall clock: a layer is a plain struct that is
//! given a frame or a time and says when it wants to be called next.

#![forbid(unsafe_code)]

pub mod address;
pub mod clock;
pub mod datagram;
pub mod drop_reason;
pub mod ip;
pub mod link;
pub mod lowpan;
pub mod network;
pub mod observer;
pub mod queue;
pub mod radio;
pub mod random;
pub mod route;
pub mod transport;
