//! The echo over a radio that is only a register. Its size is what counts.

#![no_std]
#![no_main]

use core::hint::black_box;

use firmware_cortex_m3::Radio;
use firmware_session::echo::serve;

#[unsafe(no_mangle)]
extern "C" fn main() {
    black_box(serve(&mut Radio));
}
