//! Datagrams over several hops: fragments reassembled at every hop, forwarded, and recovered.

mod acknowledged;
mod buffers;
mod capabilities;
mod capacity;
mod capture;
mod flights;
mod fragments;
mod handling;
mod hidden;
mod injected;
mod joining;
mod late;
mod losses;
mod marks;
mod mesh_under;
mod observed;
mod outages;
mod packets;
mod rpl;
mod timing;

use crate::harness::*;
