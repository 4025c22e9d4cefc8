//! Cryptographic operations, measured one by one.

#![no_std]
#![no_main]

firmware_session::image!(operations::run, firmware_atmega128rfa1::Atmega128Rfa1);
