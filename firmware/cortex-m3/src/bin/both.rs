//! The echo over a radio that is only a register. Its size is what counts.

#![no_std]
#![no_main]

use core::hint::black_box;

use firmware_cortex_m3::Radio;
use firmware_session::echo::{client, serve};
use firmware_session::settings::{BUFFER, config};

#[unsafe(no_mangle)]
extern "C" fn main() {
    if let Some(config) = config() {
        black_box(client::<BUFFER, _>(&mut Radio, config, [0, 1], b"22.5 C", &mut |data| _ = black_box(data)));
    }
    if let Some(config) = config() {
        serve::<BUFFER, _>(&mut Radio, config);
    }
}
