//! The echo over a radio that is only a register, with a server. Its size is what counts.

#![no_std]
#![no_main]

use firmware_cortex_m3::Mps2;

#[unsafe(no_mangle)]
extern "C" fn main() {
    firmware_session::server::<Mps2>();
}
