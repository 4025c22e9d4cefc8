//! Sends back over DTLS whatever arrives: `cargo run -p lean-dtls --example echo_server -- [::1]:5684`

#[allow(dead_code)] // the client's part
mod echo;
#[path = "echo/host.rs"]
mod host;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: echo_server ADDRESS:PORT")?;
    let mut network = host::Host::new(&address)?;
    println!("ready at {address}");
    echo::serve::<{ host::BUFFER }, _>(&mut network, host::config())
}
