//! The network, looked at from outside: its codecs, its link layers, whole networks, TCP, DCCP.

mod beacon;
mod contention;
mod csma;
mod dccp;
mod frame;
mod gateway;
mod harness;
mod links;
mod lowpan;
mod mesh;
mod scheduling;
mod security;
mod tcp;
mod tsch;
mod xmac;
