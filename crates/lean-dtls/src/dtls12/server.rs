//! The server's side of a handshake.

use super::connection::{Connection, Expects, alert};
use super::extensions::{self, Offer};
use super::hello::{self, ClientHello, ServerHello};
use super::record::{self, ContentType, Outbound};
use crate::codec::{Reader, Writer};
use crate::config::Config;
use crate::credentials::{Credentials, is_key};
use crate::crypto::Crypto;
use crate::handshake::{self, Kind};
use crate::status::{Failure, Status};

/// Octets of a cookie. (Assumed: half of a digest is enough for a value that lives for a round trip.)
pub(crate) const COOKIE: usize = 16;

/// Octets of the longest answer to a client without a slot: a HelloVerifyRequest.
pub(crate) const REPLY: usize = record::HEADER + handshake::HEADER + 3 + COOKIE;

/// A ClientHello message that has arrived: its number, and that of its record.
#[derive(Clone, Copy)]
pub(crate) struct Arrived<'a> {
    pub(crate) header: handshake::Header,
    pub(crate) body: &'a [u8],
    pub(crate) record: u64,
}

/// A HelloVerifyRequest, in a record with the number of the client's (RFC 6347, section 4.2.1).
pub(crate) fn write_verify_request<C: Crypto>(
    crypto: &mut C,
    record: u64,
    cookie: &[u8; COOKIE],
) -> Option<([u8; REPLY], usize)> {
    let mut body = [0; 3 + COOKIE];
    hello::write_cookie(&mut Writer::new(&mut body), cookie).ok()?;
    let header = handshake::Header::whole(Kind::HelloVerifyRequest, 0, body.len()).octets();
    let mut records = Outbound::default();
    records.start_at(record);
    let mut output = [0; REPLY];
    let length = records.write(crypto, (ContentType::Handshake, 0), &[&header, &body], &mut output).ok()?;
    Some((output, length))
}

/// A connection with a client whose cookie has returned, with the flight of ServerHello and ServerHelloDone.
pub(crate) fn open<K, C: Crypto, const BUFFER: usize>(
    crypto: &mut C,
    config: &Config<K>,
    offer: &Offer<'_>,
    arrived: Arrived<'_>,
    hello: &ClientHello<'_>,
) -> Connection<C, BUFFER> {
    let mut connection = Connection::new(crypto, false, config.timeouts);
    let Arrived { header, body, record } = arrived;
    connection.sender.outbound.start_at(record);
    if !hello.offers_suite {
        connection.refuse(alert::HANDSHAKE_FAILURE);
        return connection;
    }
    let agreed = match extensions::accept(hello, offer) {
        Ok(agreed) => agreed,
        Err(alert) => {
            connection.refuse(alert);
            return connection;
        }
    };
    connection.agree(agreed);
    #[cfg(feature = "connection-id")]
    {
        connection.own_id = agreed.connection_ids.map(|[own, _]| own);
    }
    crypto.random(&mut connection.randoms[1]);
    connection.randoms[0] = hello.random;
    connection.next = header.sequence.wrapping_add(1);
    let random = connection.randoms[1];
    let sender = &mut connection.sender;
    sender.next = header.sequence;
    sender.note(&header, body);
    let sent = sender
        .send(Kind::ServerHello, |writer| ServerHello::write(writer, &random, &agreed))
        .and_then(|()| sender.send(Kind::ServerHelloDone, |_| Ok(())));
    match sent {
        Ok(()) => connection.wait(Some(header.sequence)),
        Err(_) => connection.end(Status::Failed(Failure::BufferTooSmall)),
    }
    connection
}

/// The ClientHello that opened the connection came again. The client does not have the answer, unless it has gone on.
pub(crate) fn hear_hello_again<C: Crypto, const BUFFER: usize>(connection: &mut Connection<C, BUFFER>) {
    if connection.expects == Expects::ClientKeyExchange {
        connection.repeat();
    }
}

/// Handles the message whose turn it is. Returns false if it was not used.
pub(crate) fn handle<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) -> bool {
    let Connection { sender, incoming, .. } = connection;
    let Some((header, body)) = incoming.whole(connection.next) else { return false };
    if header.kind != Kind::ClientKeyExchange {
        return false;
    }
    let mut reader = Reader::new(body);
    let Some(identity) = reader.vector(2).filter(|_| reader.is_empty()) else { return false };
    let Some(key) = config.credentials.find_psk(identity).filter(|key| is_key(key)) else {
        connection.refuse(alert::UNKNOWN_PSK_IDENTITY);
        return false;
    };
    sender.note(&header, body);
    connection.derive(crypto, key);
    connection.expect_finished();
    true
}
