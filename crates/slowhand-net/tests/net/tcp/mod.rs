//! The TCP as its users see it: whole connections in virtual time, the codec against octets
//! from other implementations, both halves against recorded traces of the Linux kernel.

mod behaviour;
mod codec;
mod harness;
mod live;
mod network;
mod traces;
mod transfers;
