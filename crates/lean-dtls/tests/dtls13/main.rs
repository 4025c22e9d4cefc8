//! DTLS 1.3: the engine against itself, over a network that loses, repeats, reorders and forges.

mod attacks;
mod bytes;
mod imported;
mod liveness;
mod world;
