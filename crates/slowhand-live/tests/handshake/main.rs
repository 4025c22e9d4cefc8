//! Watchers of sessions of real libraries, which say themselves how they are.

mod libraries;
mod octets;
mod recorded;
mod watched;
