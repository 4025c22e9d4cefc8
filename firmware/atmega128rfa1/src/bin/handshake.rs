//! A handshake in memory, measured call by call.

#![no_std]
#![no_main]

use firmware_atmega128rfa1::Atmega128Rfa1;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    firmware_session::run::<Atmega128Rfa1>()
}
