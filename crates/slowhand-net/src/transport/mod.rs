//! Transports above IPv6.

pub mod tcp;
