//! An echo without security over a radio that is only a register. Its size is what counts.

#![no_std]
#![no_main]

firmware_session::image!(plain, firmware_atmega128rfa1::Atmega128Rfa1);
