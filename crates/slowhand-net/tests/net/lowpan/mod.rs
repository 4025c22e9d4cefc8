//! 6LoWPAN: header compression, and fragments over one hop and several.

mod golden;
mod multihop;
mod payload;
mod properties;
mod tshark;
