//! X-MAC, looked at from outside: its timing, its state machine, its frames, and what must hold whatever happens.

mod capture;
mod conformance;
mod harness;
mod idle;
mod properties;
mod timing;
