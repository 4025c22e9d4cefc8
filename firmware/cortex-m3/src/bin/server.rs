//! The echo over a radio that is only a register. Its size is what counts.

#![no_std]
#![no_main]

use firmware_cortex_m3::Radio;
use firmware_session::echo::serve;
use firmware_session::settings::{BUFFER, config};

#[unsafe(no_mangle)]
extern "C" fn main() {
    if let Some(config) = config() {
        serve::<BUFFER, _>(&mut Radio, config);
    }
}
