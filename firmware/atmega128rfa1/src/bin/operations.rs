//! Cryptographic operations, measured one by one.

#![no_std]
#![no_main]

use firmware_atmega128rfa1::Atmega128Rfa1;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    firmware_session::operations::run::<Atmega128Rfa1>()
}
