//! A handshake in memory. Each call of the engine is a line on the console: role, call, octets of the datagram, what it took
//! (instructions or cycles), octets of stack.

use lean_dtls::{Client, Instant, RustCrypto, Server, Status};

use crate::Board;
use crate::echo::MTU;
use crate::meter::{Meter, line, print};
use crate::settings::{BUFFER, End, Keys, config};

/// The client's address.
const CLIENT: [u8; 2] = [0, 1];

/// Application data of the size of a reading of a sensor. (Assumed.)
const DATA: [u8; 32] = [0x20; 32];

/// A handshake and one record of application data. Ends the emulator.
pub fn run<B: Board>() -> ! {
    B::start();
    let is_well = session::<B>().is_some();
    print::<B>(if is_well { "complete\n" } else { "incomplete\n" });
    B::exit(is_well)
}

fn session<B: Board>() -> Option<()> {
    let now = Instant::from_millis(0);
    let mut client = Client::<_, _, BUFFER>::new(config(End::Client)?, crypto(|octets| octets.fill(1)));
    let mut server = Server::<_, _, [u8; 2], 1, BUFFER>::new(config(End::Server)?, crypto(|octets| octets.fill(2)));
    let mut datagram = [0; MTU];
    let meter = Meter::<B>::new();
    line::<B>(&["size", "client"], &[size_of_val(&client) as u32]);
    line::<B>(&["size", "server"], &[size_of_val(&server) as u32]);
    line::<B>(&["size", "slot"], &[(size_of_servers::<2>() - size_of_servers::<1>()) as u32]);
    meter.call("client", "connect", || (client.connect(), 0).1);
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        loop {
            let length = meter.call("client", "poll_transmit", || client.poll_transmit(now, &mut datagram));
            if length == 0 {
                break;
            }
            is_quiet = false;
            meter.call("server", "receive", || (server.receive(CLIENT, &mut datagram[..length], |_| {}), length).1);
        }
        loop {
            let length = meter
                .call("server", "poll_transmit", || server.poll_transmit(now, &mut datagram).map_or(0, |sent| sent.1));
            if length == 0 {
                break;
            }
            is_quiet = false;
            meter.call("client", "receive", || (client.receive(&mut datagram[..length], |_| {}), length).1);
        }
    }
    let at_server = server.association_at(CLIENT).and_then(|association| server.status(association));
    let is_established = client.status() == Status::Established && at_server == Some(Status::Established);
    is_established.then_some(())?;
    let length = meter.call("client", "send", || client.send(&DATA, &mut datagram).unwrap_or(0));
    let mut has_arrived = false;
    meter.call("server", "receive", || {
        server.receive(CLIENT, &mut datagram[..length], |data| has_arrived = data == DATA);
        length
    });
    has_arrived.then_some(())
}

/// Cryptography whose random numbers are not random: the measurement is to be the same each time.
fn crypto(random: fn(&mut [u8])) -> RustCrypto<fn(&mut [u8])> {
    RustCrypto::new(random)
}

/// Octets of a server with so many slots.
const fn size_of_servers<const SLOTS: usize>() -> usize {
    size_of::<Server<Keys, RustCrypto<fn(&mut [u8])>, [u8; 2], SLOTS, BUFFER>>()
}
