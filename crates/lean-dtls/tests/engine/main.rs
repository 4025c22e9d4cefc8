//! The engine against itself, over a network that loses, repeats, reorders and forges; and against what others expect of it.

mod assault;
mod associations;
mod attacks;
mod closure;
#[cfg(feature = "connection-id")]
mod connection_id;
#[cfg(feature = "webpki")]
mod credentials;
#[cfg(all(feature = "webpki", feature = "x25519", feature = "resumption"))]
mod demands;
#[cfg(feature = "dtls13")]
mod dtls13;
#[cfg(all(feature = "false-start", feature = "webpki", feature = "x25519"))]
mod false_start;
mod forged;
#[cfg(all(
    feature = "webpki",
    feature = "x25519",
    feature = "resumption",
    feature = "dtls13",
    feature = "lean",
    feature = "connection-id",
    feature = "eviction"
))]
mod fresh;
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
#[cfg(all(feature = "lean", feature = "rustcrypto"))]
mod second_implementation;
#[cfg(all(feature = "webpki", feature = "resumption", feature = "dtls13", feature = "lean", feature = "x25519"))]
mod settings;
mod slots;
mod states;
mod world;
