//! 6LoWPAN: header compression, fragments, and their way over several hops.

mod golden;
mod multihop;
mod properties;
mod tshark;
