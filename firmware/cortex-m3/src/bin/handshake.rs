//! A handshake in memory, measured call by call.

#![no_std]
#![no_main]

use firmware_cortex_m3::Mps2;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    firmware_session::run::<Mps2>()
}
