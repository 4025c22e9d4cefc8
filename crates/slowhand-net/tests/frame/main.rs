//! The codec of IEEE 802.15.4 frames: against octets derived by hand, against tshark, and by properties.

mod harness;
mod properties;
mod refused;
mod tshark;
mod vectors;
