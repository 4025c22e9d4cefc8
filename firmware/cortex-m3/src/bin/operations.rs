//! Cryptographic operations, measured one by one.

#![no_std]
#![no_main]

use firmware_cortex_m3::Mps2;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    firmware_session::operations::run::<Mps2>()
}
