//! Misbehaviour of a peer with all keys. Only from the inside can a test make one.

use std::vec::Vec;

use super::connection::{Connection, Expects};
use super::hello::ClientHello;
use super::record;
use super::{client, server};
use crate::codec::Reader;
use crate::config::{Config, Packing, Versions};
use crate::connection_id::ConnectionId;
use crate::content_type::ContentType;
use crate::credentials::{Credentials, Psk};
use crate::crypto::RustCrypto;
use crate::dtls12::client::Dtls12;
use crate::handshake::{self, Arrived, Kind};
use crate::session::Kept;
use crate::status::{Failure, Status};
use crate::time::{Instant, Timeouts};

mod afterwards;
#[cfg(feature = "certificates")]
mod certificates;
mod handshaking;
mod hellos;

/// Who sends a ClientHello.
const SENDER: server::Sender<'_> =
    server::Sender { secret: &[0; 32], latest: 0, periods: [1, 0], address: &[1], can_be_unverified: true };

const NOW: Instant = Instant::from_millis(0);
const MTU: u16 = 1200;
const KEYS: [Psk<'static>; 1] = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
const OWN_ID: [u8; 3] = [1, 2, 3];

type Crypto = RustCrypto<fn(&mut [u8])>;

fn crypto(is_client: bool) -> Crypto {
    RustCrypto::new(if is_client { |octets: &mut [u8]| octets.fill(7) } else { |octets: &mut [u8]| octets.fill(9) })
}

fn config<K: Credentials>(keys: K) -> Config<K> {
    Config::new(keys, MTU, Timeouts::default()).unwrap().with_versions(Versions::Dtls13).without_cookie()
}

/// A connection of one end, which can also say what it must not say.
struct End<K> {
    connection: Connection<Crypto, 1024>,
    crypto: Crypto,
    config: Config<K>,
}

impl<K: Credentials> End<K> {
    /// A client that has sent its first ClientHello, which is the other result.
    fn client(config: Config<K>) -> (Self, Vec<u8>) {
        let mut crypto = crypto(true);
        let mut connection = Connection::new(&mut crypto, true, config.timeouts);
        client::start::<Dtls12, _, _>(&mut connection, &mut crypto, &config, &Kept::default());
        let mut end = Self { connection, crypto, config };
        let hello = end.transmit(MTU).remove(0);
        (end, hello)
    }

    /// A server that has answered a ClientHello.
    fn server(config: Config<K>, hello: &[u8]) -> Self {
        let mut crypto = crypto(false);
        let arrived = arrived(hello);
        let hello = ClientHello::read(arrived.body).unwrap();
        let admitted = server::admit(&mut crypto, &config, SENDER, &arrived, &hello).ok().unwrap();
        let own_id = config.options.connection_id.length.and_then(|_| ConnectionId::new(&OWN_ID));
        let connection = server::open(&mut crypto, &config, arrived, &hello, &admitted, own_id);
        Self { connection, crypto, config }
    }

    /// All that it sends now, in datagrams of so many octets.
    fn transmit(&mut self, mtu: u16) -> Vec<Vec<u8>> {
        let (mut output, mut sent) = ([0; MTU as usize], Vec::new());
        let output = &mut output[..mtu.into()];
        while let length @ 1.. = self.connection.poll_transmit(&mut self.crypto, NOW, Packing::Full, output) {
            sent.push(output[..length].to_vec());
        }
        sent
    }

    /// Returns the data that it delivers of a datagram.
    fn receive(&mut self, datagram: &[u8]) -> Vec<u8> {
        let (mut datagram, mut delivered) = (datagram.to_vec(), Vec::new());
        let Self { connection, crypto, config } = self;
        let is_client = connection.is_client;
        connection.receive(
            crypto,
            &mut datagram,
            &mut |data| delivered.extend_from_slice(data),
            &mut |connection, crypto| match is_client {
                true => client::handle::<Dtls12, _, _>(connection, crypto, config, &mut Kept::default()),
                false => server::handle(connection, crypto, config),
            },
        );
        delivered
    }

    /// The datagram with a message of this end in an epoch, in place of what else it would send.
    fn message(&mut self, epoch: u16, kind: Kind, body: &[u8]) -> Vec<u8> {
        self.transmit(MTU);
        let sender = &mut self.connection.sender;
        sender.flight.clear();
        sender.epochs = [epoch; 2];
        sender.send(kind, |writer| writer.put(body)).unwrap();
        self.transmit(MTU).remove(0)
    }

    /// The datagram with a record of this end in an epoch.
    fn record(&mut self, epoch: u16, content_type: ContentType, content: &[u8]) -> Vec<u8> {
        let mut output = [0; 100];
        let outbound = &mut self.connection.sender.outbound;
        let (length, _) =
            outbound.write(&mut self.crypto, (content_type, epoch), true, &[content], &mut output).unwrap();
        output[..length].to_vec()
    }

    /// The alert with which it has refused its peer. `None`: it has not.
    fn refused(&self) -> Option<u8> {
        match self.connection.status {
            Status::Failed(Failure::AlertSent(description)) => Some(description),
            _ => None,
        }
    }
}

/// The ClientHello in a datagram.
fn arrived(datagram: &[u8]) -> Arrived<'_> {
    let mut reader = Reader::new(&datagram[record::HEADER..]);
    let (header, body) = handshake::Header::read(&mut reader).unwrap();
    Arrived { header, body, record: 0 }
}

/// A message in clear.
fn in_clear(kind: Kind, sequence: u16, body: &[u8]) -> Vec<u8> {
    let header = handshake::Header::whole(kind, sequence, body.len()).octets();
    let mut output = [0; 400];
    let length = record::write_in_clear(ContentType::Handshake, 0, &[&header, body], &mut output).unwrap();
    output[..length].to_vec()
}

/// Lets both ends send until they have nothing to say.
fn exchange<A: Credentials, B: Credentials>(client: &mut End<A>, server: &mut End<B>) {
    for _ in 0..4 {
        server.transmit(MTU).iter().for_each(|datagram| drop(client.receive(datagram)));
        client.transmit(MTU).iter().for_each(|datagram| drop(server.receive(datagram)));
    }
}

/// A client that waits for what follows the ServerHello, and its server, whose next message that is.
fn after_server_hello<A: Credentials, B: Credentials>(own: Config<A>, peers: Config<B>) -> (End<A>, End<B>) {
    let (mut client, hello) = End::client(own);
    let mut server = End::server(peers, &hello);
    let server_hello = server.connection.sender.flight.first().unwrap().1.to_vec();
    client.receive(&in_clear(Kind::ServerHello, 0, &server_hello));
    assert_eq!(
        (client.connection.status, client.connection.expects),
        (Status::Handshaking, Expects::EncryptedExtensions)
    );
    server.transmit(MTU);
    server.connection.sender.next = 1;
    (client, server)
}

/// Both ends after a handshake.
fn established<A: Credentials, B: Credentials>(own: Config<A>, peers: Config<B>) -> (End<A>, End<B>) {
    let (mut client, hello) = End::client(own);
    let mut server = End::server(peers, &hello);
    exchange(&mut client, &mut server);
    assert_eq!((client.connection.status, server.connection.status), (Status::Established, Status::Established));
    (client, server)
}
