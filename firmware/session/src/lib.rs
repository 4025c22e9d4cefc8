//! The common part of every image.

#![no_std]
#![deny(unsafe_code)]

#[path = "../../../crates/lean-dtls/examples/echo/mod.rs"]
pub mod echo;
mod handshake;
mod image;
mod meter;
#[cfg(feature = "nal")]
#[path = "../../../crates/lean-dtls/examples/nal/mod.rs"]
pub mod nal;
pub mod operations;
pub mod settings;
mod stack;

pub use handshake::run;
pub use image::{Radio, Register, both, client, plain, server};

/// The entry of an image: what it does, and the board.
#[macro_export]
macro_rules! image {
    ($($work:ident)::+, $board:ty) => {
        #[unsafe(no_mangle)]
        extern "C" fn main() {
            $crate::$($work)::+::<$board>();
        }
    };
}

/// The parts of a board that a measurement needs.
pub trait Board {
    /// Starts the clock.
    fn start();

    /// The count of the clock. It may begin again at 0.
    fn now() -> u32;

    /// Writes an octet to the console.
    fn print(octet: u8);

    /// The free part of the stack: from the end of the statics to the stack pointer of the caller.
    fn free_stack() -> core::ops::Range<*mut u8>;

    /// Ends the emulator.
    fn exit(is_well: bool) -> !;
}
