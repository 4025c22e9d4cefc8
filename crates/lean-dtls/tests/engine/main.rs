//! The engine against itself, over a network that loses, repeats, reorders and forges.

mod attacks;
#[cfg(feature = "lean")]
mod lean;
mod liveness;
mod world;
