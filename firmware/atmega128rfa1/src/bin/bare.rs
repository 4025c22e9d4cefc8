//! An echo without security over a radio that is only a register. Its size is what counts.

#![no_std]
#![no_main]

use core::hint::black_box;

use firmware_atmega128rfa1::Radio;
use firmware_session::echo::{MTU, Network};

#[unsafe(no_mangle)]
extern "C" fn main() {
    let mut datagram = [0; MTU];
    loop {
        if let Some((client, length)) = Radio.receive(None, &mut datagram) {
            Radio.send(client, black_box(&datagram[..length]));
        }
    }
}
