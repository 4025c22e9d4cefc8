//! Datagrams over several hops: fragments reassembled at every hop, forwarded, and recovered.

mod buffers;
mod capacity;
mod capture;
mod flights;
mod fragments;
mod handling;
mod injected;
mod late;
mod losses;
mod marks;
mod packets;
mod rpl;
mod timing;

use crate::harness::*;
