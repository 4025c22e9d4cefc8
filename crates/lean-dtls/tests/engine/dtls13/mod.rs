//! DTLS 1.3: the engine against itself, over a network that loses, repeats, reorders and forges.

mod addresses;
mod attacks;
mod both;
mod bytes;
mod downgrade;
mod imported;
mod liveness;
pub mod world;
