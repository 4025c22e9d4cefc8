//! TCP as its users see it: whole connections in virtual time, the codec against octets of other implementations, both
//! ends against recorded traces of the Linux kernel.

mod behaviour;
mod codec;
mod config;
mod edges;
mod harness;
mod live;
mod network;
mod traces;
mod transfers;
