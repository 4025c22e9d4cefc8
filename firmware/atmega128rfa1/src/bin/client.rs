//! The echo over a radio that is only a register, with a client. Its size is what counts.

#![no_std]
#![no_main]

use firmware_atmega128rfa1::Atmega128Rfa1;

#[unsafe(no_mangle)]
extern "C" fn main() {
    firmware_session::client::<Atmega128Rfa1>();
}
