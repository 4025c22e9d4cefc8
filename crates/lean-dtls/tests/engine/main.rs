//! The engine against itself, over a network that loses, repeats, reorders and forges.

mod assault;
mod attacks;
mod closure;
#[cfg(feature = "connection-id")]
mod connection_id;
#[cfg(feature = "heartbeat")]
mod heartbeat;
#[cfg(feature = "lean")]
mod lean;
#[cfg(feature = "record-limits")]
mod limits;
mod liveness;
mod network;
#[cfg(all(feature = "webpki", feature = "x25519"))]
mod public_keys;
#[cfg(feature = "resumption")]
mod resumption;
mod slots;
mod states;
mod world;
