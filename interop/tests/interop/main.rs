//! Who speaks with whom.

mod case;
mod licence;
mod peers;
mod run;
mod wire;
