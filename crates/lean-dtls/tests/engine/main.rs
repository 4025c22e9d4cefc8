//! The engine against itself, over a network that loses, repeats, reorders and forges.

mod attacks;
mod liveness;
mod world;
