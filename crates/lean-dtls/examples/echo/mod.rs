//! A UDP echo over DTLS for any computer: the trait [`Network`] is all that it needs. `no_std`, no allocation.
//!
//! `echo_client.rs` and `echo_server.rs` run it on this computer. The images in `firmware/` hold the same code.

pub use lean_dtls::Instant;
use lean_dtls::{Client, Config, Credentials, OVERHEAD, RustCrypto, Server, Status};

/// Octets of the longest datagram. (Assumed: what fits into three frames of 6LoWPAN.)
pub const MTU: usize = 256;

/// Connections that the server has room for.
pub const SLOTS: usize = 1;

/// A UDP socket, a clock, and a source of random numbers.
pub trait Network {
    /// Address and port of a peer. Its octets go into the server's cookies.
    type Address: Copy + PartialEq + AsRef<[u8]>;

    /// The time.
    fn now(&self) -> Instant;

    /// Fills `octets` with random numbers that nobody can predict.
    fn random(octets: &mut [u8]);

    /// Sends a datagram.
    fn send(&mut self, to: Self::Address, datagram: &[u8]);

    /// Waits for a datagram until `deadline`. Returns its sender and its length.
    fn receive(&mut self, deadline: Option<Instant>, datagram: &mut [u8]) -> Option<(Self::Address, usize)>;
}

/// Connects to `server`, sends `message`, gives the answer to `deliver`, and closes. Returns how the connection ended.
pub fn client<const BUFFER: usize, N: Network>(
    network: &mut N,
    config: Config<impl Credentials>,
    server: N::Address,
    message: &[u8],
    deliver: &mut dyn FnMut(&[u8]),
) -> Status {
    let mut client = Client::<_, _, BUFFER>::new(config, RustCrypto::new(N::random));
    let mut datagram = [0; MTU];
    let mut has_asked = false;
    client.connect();
    loop {
        while let length @ 1.. = client.poll_transmit(network.now(), &mut datagram) {
            network.send(server, &datagram[..length]);
        }
        match client.status() {
            Status::Established if !has_asked => {
                has_asked = true;
                if let Ok(length) = client.send(message, &mut datagram) {
                    network.send(server, &datagram[..length]);
                }
            }
            Status::Handshaking | Status::Established => {}
            ended => return ended,
        }
        let mut is_answered = false;
        match network.receive(client.deadline(), &mut datagram) {
            Some((peer, length)) if peer == server => client.receive(&mut datagram[..length], |data| {
                deliver(data);
                is_answered = true;
            }),
            Some(_) => {}
            None => client.handle_timeout(network.now()),
        }
        if is_answered {
            client.close();
        }
    }
}

/// Sends back to its client whatever arrives, for ever.
pub fn serve<const BUFFER: usize, N: Network>(network: &mut N, config: Config<impl Credentials>) -> ! {
    let mut server = Server::<_, _, N::Address, SLOTS, BUFFER>::new(config, RustCrypto::new(N::random));
    let mut datagram = [0; MTU];
    let mut message = [0; MTU - OVERHEAD];
    loop {
        while let Some((client, length)) = server.poll_transmit(network.now(), &mut datagram) {
            network.send(client, &datagram[..length]);
        }
        let Some((from, length)) = network.receive(server.deadline(), &mut datagram) else {
            server.handle_timeout(network.now());
            continue;
        };
        let mut received = 0;
        let client = server.receive(from, &mut datagram[..length], |data| {
            if let Some(place) = message.get_mut(..data.len()) {
                place.copy_from_slice(data);
                received = data.len();
            }
        });
        // Whose data they are, the server knows. The address is only where its answers go.
        if received > 0
            && let Some(client) = client
            && let (Some(to), Ok(length)) =
                (server.address(client), server.send(client, &message[..received], &mut datagram))
        {
            network.send(to, &datagram[..length]);
        }
    }
}
