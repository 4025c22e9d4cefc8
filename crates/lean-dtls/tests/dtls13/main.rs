//! DTLS 1.3: the engine against itself, over a network that loses, repeats, reorders and forges.

mod addresses;
#[path = "../engine/assault.rs"]
mod assault;
mod attacks;
mod both;
mod bytes;
mod closure;
mod downgrade;
mod imported;
mod liveness;
#[path = "../engine/network.rs"]
mod network;
mod world;
