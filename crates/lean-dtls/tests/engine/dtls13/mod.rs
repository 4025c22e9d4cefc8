//! DTLS 1.3: the engine against itself, over a network that loses, repeats, reorders and forges.

mod addresses;
mod attacks;
mod both;
mod bytes;
mod closure;
mod downgrade;
mod imported;
mod liveness;
mod world;
