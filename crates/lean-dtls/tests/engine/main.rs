//! The engine against itself, over a network that loses, repeats, reorders and forges.

mod attacks;
#[cfg(feature = "connection-id")]
mod connection_id;
#[cfg(feature = "lean")]
mod lean;
#[cfg(feature = "record-limits")]
mod limits;
mod liveness;
mod world;
