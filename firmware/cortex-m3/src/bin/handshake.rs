//! A handshake in memory, measured call by call.

#![no_std]
#![no_main]

firmware_session::image!(run, firmware_cortex_m3::Mps2);
