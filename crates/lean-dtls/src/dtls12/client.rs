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
use crate::lean::Lean;
use crate::status::{Failure, Status};

/// Begins the handshake.
pub(crate) fn start<K: Credentials, C: Crypto, const BUFFER: usize>(
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
    let offer = connection.offer(config);
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
    let offer = connection.offer(config);
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
            if connection.agreed.lean.has(Lean::OMIT_MESSAGES) {
                let answered = header.sequence;
                return answer_flight(connection, crypto, &config.credentials, answered);
            }
        }
        // The hint does not matter: there is one identity (RFC 4279, section 5.2).
        (Expects::ServerHelloDone, Kind::ServerKeyExchange) => sender.note(&header, body),
        (Expects::ServerHelloDone, Kind::ServerHelloDone) if body.is_empty() => {
            sender.note(&header, body);
            let answered = header.sequence;
            return answer_flight(connection, crypto, &config.credentials, answered);
        }
        _ => return false,
    }
    true
}

/// Answers the server's flight, whose last message is `answered`, and expects its Finished. Returns false if there is no
/// answer: the connection has failed.
fn answer_flight<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
    answered: u16,
) -> bool {
    if let Err(failure) = key_exchange(connection, crypto, credentials) {
        connection.end(Status::Failed(failure));
        return false;
    }
    connection.expect_finished();
    if !connection.agreed.lean.has(Lean::SERVER_FINISHED_FIRST) {
        connection.wait(Some(answered));
    }
    true
}

/// The keys, and the flight with ClientKeyExchange, ChangeCipherSpec and Finished: with those that are not left out. If the
/// server's Finished comes first, the ClientHello is repeated until it is there.
fn key_exchange<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
) -> Result<(), Failure> {
    let psk = credentials.psk().filter(|psk| is_key(psk.key)).ok_or(Failure::NoKey)?;
    let lean = connection.agreed.lean;
    if !lean.has(Lean::SERVER_FINISHED_FIRST) {
        connection.sender.flight.clear();
    }
    if !lean.has(Lean::OMIT_MESSAGES) {
        connection
            .sender
            .send(Kind::ClientKeyExchange, |writer| writer.vector(2, |writer| writer.put(psk.identity)))
            .map_err(|_| Failure::BufferTooSmall)?;
    }
    connection.derive(crypto, psk.key);
    match lean.has(Lean::SERVER_FINISHED_FIRST) {
        true => Ok(()),
        false => connection.finish(crypto).map_err(|_| Failure::BufferTooSmall),
    }
}
