//! The echo over a radio that is only a register, with a client and a server. Its size is what counts.

#![no_std]
#![no_main]

firmware_session::image!(both, firmware_atmega128rfa1::Atmega128Rfa1);
