//! What every image does.

#![no_std]
#![forbid(unsafe_code)]

#[path = "../../../crates/lean-dtls/examples/echo/mod.rs"]
pub mod echo;
mod handshake;
mod meter;
#[cfg(feature = "nal")]
#[path = "../../../crates/lean-dtls/examples/nal/mod.rs"]
pub mod nal;
pub mod operations;
pub mod settings;

pub use handshake::run;

/// What a measurement needs of a board.
pub trait Board {
    /// Starts the clock.
    fn start();

    /// What the clock has counted. It may begin again at 0.
    fn now() -> u32;

    /// Writes an octet to the console.
    fn print(octet: u8);

    /// Paints the part of the stack that is free.
    fn paint();

    /// Octets of the stack that were in use at some time since it was painted, beyond those in use now.
    fn depth() -> usize;

    /// Ends the emulator.
    fn exit(is_well: bool) -> !;
}
