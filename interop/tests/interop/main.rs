//! Who speaks with whom.

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
