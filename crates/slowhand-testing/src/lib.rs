//! Tools that the tests of several crates share: [tshark](wireshark) and the captures it reads, handshakes
//! that real libraries have [recorded](recordings), octets in [hexadecimal](hex), the time of a [processor],
//! [random](scenarios) scenarios.
//!
//! It is a dev-dependency of the other crates and depends on none of them.

pub mod hex;
pub mod processor;
pub mod random;
pub mod recordings;
pub mod scenarios;
pub mod wireshark;
