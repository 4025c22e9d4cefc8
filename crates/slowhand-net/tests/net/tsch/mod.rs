//! TSCH with cells that are given: its timing, its back-off, its channels, and what must hold whatever happens.

mod conformance;
mod load;
mod outages;
mod properties;
mod timing;
