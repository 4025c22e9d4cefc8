//! Sends a message to an echo server over DTLS, asynchronously, and prints the answer:
//! `cargo run -p lean-dtls --example nal_client -- [::1]:5684 "22.5 C"`

mod nal;
#[path = "nal/host.rs"]
mod nal_host;

use std::net::SocketAddr;

use lean_dtls::{Config, Psk, Status, Timeouts};

/// Octets of the buffers of the connection: enough for all that this end offers.
const BUFFER: usize = 512;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: nal_client ADDRESS:PORT MESSAGE";
    let mut arguments = std::env::args().skip(1);
    let server: SocketAddr = arguments.next().ok_or(usage)?.parse()?;
    let message = arguments.next().ok_or(usage)?;
    let keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::DEFAULT };
    let config = Config::new(keys, nal::MTU as u16, timeouts).expect("a key, and room for a record");
    let (mut socket, mut computer) = (nal_host::Socket::connect(server)?, nal_host::Computer::new());
    let mut print = |data: &[u8]| println!("{}", String::from_utf8_lossy(data));
    let client = nal::client::<BUFFER, _, _>(&mut socket, &mut computer, config, message.as_bytes(), &mut print);
    let Ok(ended) = nal_host::block_on(client);
    let is_well = matches!(ended, Status::Closing | Status::Closed);
    if is_well { Ok(()) } else { Err(format!("{ended:?}").into()) }
}
