//! Who speaks with whom.
//!
//! `case` is a column of the matrix, `run` runs one session, `seen` compares what a live network sees of each library, `limits` says
//! what cannot be, and `report` writes `docs/reference/interop.md`. A new library is a variant of `Peer`, and the tests fail until
//! `limits` says what it cannot do.

mod both;
mod case;
mod dtls13;
mod licence;
mod limits;
mod matrix;
mod peers;
mod report;
mod run;
mod seen;
mod wire;
