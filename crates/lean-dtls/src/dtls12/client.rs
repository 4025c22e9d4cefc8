//! The client's side of a handshake.

use super::connection::{Connection, Expects, alert};
#[cfg(feature = "connection-id")]
use super::connection_id::ConnectionId;
use super::extensions;
use super::hello::{self, ClientHello, ServerHello};
use crate::config::Config;
use crate::credentials::{Credentials, is_key};
use crate::crypto::Crypto;
use crate::handshake::Kind;
use crate::status::{Failure, Status};

/// Begins the handshake.
pub(crate) fn start<K, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<K>,
) {
    let mut random = [0; 32];
    crypto.random(&mut random);
    connection.randoms[0] = random;
    #[cfg(feature = "connection-id")]
    {
        connection.own_id = config.options.connection_id.and_then(|length| ConnectionId::draw(crypto, length));
    }
    let offer = connection.offer(&config.options);
    let sent = connection.sender.send(Kind::ClientHello, |writer| ClientHello::write(writer, &random, &[], &offer));
    match sent {
        Ok(()) => connection.wait(None),
        Err(_) => connection.end(Status::Failed(Failure::BufferTooSmall)),
    }
}

/// Handles the message whose turn it is. Returns false if it was not used.
pub(crate) fn handle<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) -> bool {
    let offer = connection.offer(&config.options);
    let Connection { sender, incoming, .. } = connection;
    let Some((header, body)) = incoming.whole(connection.next) else { return false };
    match (connection.expects, header.kind) {
        // A second one: the server does not know its cookie any more, or the first was not the server's.
        (Expects::Hello | Expects::ServerHello, Kind::HelloVerifyRequest) => {
            let Some(cookie) = hello::read_cookie(body) else { return false };
            if connection.expects == Expects::ServerHello && sender.flight.holds(cookie) {
                return false;
            }
            let random = &connection.randoms[0];
            sender.transcript = crypto.hash();
            sender.flight.clear();
            sender.next = 1;
            let sent = sender.send(Kind::ClientHello, |writer| ClientHello::write(writer, random, cookie, &offer));
            if sent.is_err() {
                connection.end(Status::Failed(Failure::BufferTooSmall));
                return false;
            }
            connection.expects = Expects::ServerHello;
            // A HelloVerifyRequest that comes again says nothing: its server keeps no state.
            connection.wait(None);
        }
        (Expects::Hello | Expects::ServerHello, Kind::ServerHello) => {
            let Some(hello) = ServerHello::read(body) else { return false };
            if !hello.is_acceptable {
                connection.refuse(alert::HANDSHAKE_FAILURE);
                return false;
            }
            let agreed = match extensions::confirm(hello.extensions, &offer) {
                Ok(agreed) => agreed,
                Err(alert) => {
                    connection.refuse(alert);
                    return false;
                }
            };
            sender.note(&header, body);
            connection.randoms[1] = hello.random;
            connection.agree(agreed);
            connection.expects = Expects::ServerHelloDone;
        }
        // The hint does not matter: there is one identity (RFC 4279, section 5.2).
        (Expects::ServerHelloDone, Kind::ServerKeyExchange) => sender.note(&header, body),
        (Expects::ServerHelloDone, Kind::ServerHelloDone) if body.is_empty() => {
            sender.note(&header, body);
            sender.flight.clear();
            if let Err(failure) = key_exchange(connection, crypto, &config.credentials) {
                connection.end(Status::Failed(failure));
                return false;
            }
            let answered = header.sequence;
            connection.expect_finished();
            connection.wait(Some(answered));
        }
        _ => return false,
    }
    true
}

/// The flight with ClientKeyExchange, ChangeCipherSpec and Finished.
fn key_exchange<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
) -> Result<(), Failure> {
    let psk = credentials.psk().filter(|psk| is_key(psk.key)).ok_or(Failure::NoKey)?;
    connection
        .sender
        .send(Kind::ClientKeyExchange, |writer| writer.vector(2, |writer| writer.put(psk.identity)))
        .map_err(|_| Failure::BufferTooSmall)?;
    connection.derive(crypto, psk.key);
    connection.finish(crypto).map_err(|_| Failure::BufferTooSmall)
}
