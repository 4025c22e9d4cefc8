//! Sessions of real libraries against each other, without a network.

mod computation;
mod configuration;
mod determinism;
mod interoperation;
mod losses;
mod performance;
mod pair;
mod sizes;
