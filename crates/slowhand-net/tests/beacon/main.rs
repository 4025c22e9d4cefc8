//! Beacon-enabled 802.15.4, looked at from outside: its timing, its state machines, its frames, and what must hold
//! whatever happens.

mod capture;
mod conformance;
mod harness;
mod properties;
mod timing;
mod work;
