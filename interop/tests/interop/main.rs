//! Who speaks with whom.

mod case;
mod licence;
mod limits;
mod matrix;
mod peers;
mod report;
mod run;
mod wire;
