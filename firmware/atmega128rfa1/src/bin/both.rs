//! The echo over a radio that is only a register, with a client and a server. Its size is what counts.

#![no_std]
#![no_main]

use firmware_atmega128rfa1::Atmega128Rfa1;

#[unsafe(no_mangle)]
extern "C" fn main() {
    firmware_session::both::<Atmega128Rfa1>();
}
