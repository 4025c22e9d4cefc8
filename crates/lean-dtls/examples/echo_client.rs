//! Sends a message to an echo server over DTLS, and prints the answer:
//! `cargo run -p lean-dtls --example echo_client -- [::1]:5684 "22.5 C"`

#[allow(dead_code)] // the server's part
mod echo;
#[path = "echo/host.rs"]
mod host;

use std::net::SocketAddr;

use lean_dtls::Status;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: echo_client ADDRESS:PORT MESSAGE";
    let mut arguments = std::env::args().skip(1);
    let server: SocketAddr = arguments.next().ok_or(usage)?.parse()?;
    let message = arguments.next().ok_or(usage)?;
    let mut network = host::Host::new(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    let mut print = |data: &[u8]| println!("{}", String::from_utf8_lossy(data));
    let (server, config) = (server.into(), host::config());
    let ended = echo::client::<{ host::BUFFER }, _>(&mut network, config, server, message.as_bytes(), &mut print);
    let is_well = matches!(ended, Status::Closing | Status::Closed);
    if is_well { Ok(()) } else { Err(format!("{ended:?}").into()) }
}
