//! Cryptographic operations, measured one by one.

#![no_std]
#![no_main]

firmware_session::image!(operations::run, firmware_cortex_m3::Mps2);
