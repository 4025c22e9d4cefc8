//! The reader against recordings of real libraries, tshark, and octets of any kind.

mod properties;
mod repetitions;
mod tshark;
