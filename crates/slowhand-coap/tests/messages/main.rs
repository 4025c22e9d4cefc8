//! The message layer: what the documents say, what is true under any faults, and other implementations as peers.

mod blocks;
mod faults;
mod figures;
mod harness;
mod observation;
mod peers;
mod rules;
mod stream;
mod stream_peers;
