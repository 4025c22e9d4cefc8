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
use crate::lean::Lean;
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

/// Where a ClientHello comes from.
#[derive(Clone, Copy)]
pub(crate) struct From<'a> {
    pub(crate) address: &'a [u8],
    /// The octets of the ClientHello, if its cookie has not returned.
    pub(crate) unverified: Option<usize>,
}

/// A connection with a client whose cookie has returned, or is not asked for, with the flight of ServerHello and ServerHelloDone,
/// or of what the lean profile leaves of it.
pub(crate) fn open<K: Credentials, C: Crypto, const BUFFER: usize>(
    crypto: &mut C,
    config: &Config<K>,
    offer: &Offer<'_>,
    arrived: Arrived<'_>,
    (from, hello): (From<'_>, &ClientHello<'_>),
) -> Connection<C, BUFFER> {
    let mut connection = Connection::new(crypto, false, config.timeouts);
    let Arrived { header, body, record } = arrived;
    connection.sender.outbound.start_at(record);
    if !hello.offers_suite {
        connection.refuse(alert::HANDSHAKE_FAILURE);
        return connection;
    }
    let mut agreed = match extensions::accept(hello, offer) {
        Ok(agreed) => agreed,
        Err(alert) => {
            connection.refuse(alert);
            return connection;
        }
    };
    if let Some(octets) = from.unverified {
        connection.allow(octets);
        // Its client would wait for this server's timer, which may not send as often as it has to.
        if !agreed.lean.has(Lean::ACKNOWLEDGE) {
            agreed.lean = agreed.lean.without(Lean::SERVER_FINISHED_FIRST);
        }
    }
    let key = key_in_advance(config, from.address, hello).filter(|_| agreed.lean.has(Lean::OMIT_MESSAGES));
    if key.is_none() {
        agreed.lean = agreed.lean.without(Lean::OMIT_MESSAGES).consistent();
    }
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
    let sent = sender.send(Kind::ServerHello, |writer| ServerHello::write(writer, &random, &agreed));
    let sent = sent.and_then(|()| match key {
        None => connection.sender.send(Kind::ServerHelloDone, |_| Ok(())),
        Some(key) => {
            connection.derive(crypto, key);
            connection.expect_finished();
            if agreed.lean.has(Lean::SERVER_FINISHED_FIRST) { connection.finish(crypto) } else { Ok(()) }
        }
    });
    match sent {
        Ok(()) => connection.wait(Some(header.sequence)),
        Err(_) => connection.end(Status::Failed(Failure::BufferTooSmall)),
    }
    connection
}

/// The key of a client that leaves out its ClientKeyExchange. Without one, the server asks for that message.
fn key_in_advance<'k>(
    config: &'k Config<impl Credentials>,
    address: &[u8],
    hello: &ClientHello<'_>,
) -> Option<&'k [u8]> {
    let offer = extensions::lean_offer(hello).ok()??;
    let key = match offer.switches.has_identity() {
        true => config.credentials.find_psk(offer.identity),
        false if config.options.lean.has(Lean::KNOWN_ADDRESS) => config.credentials.find_psk_by_address(address),
        false => None,
    };
    key.filter(|key| is_key(key))
}

/// The ClientHello that opened the connection came again. The client does not have the answer, unless it has gone on.
pub(crate) fn hear_hello_again<C: Crypto, const BUFFER: usize>(connection: &mut Connection<C, BUFFER>) {
    let is_first_answer = match connection.agreed.lean.has(Lean::OMIT_MESSAGES) {
        true => connection.expects == Expects::Finished,
        false => connection.expects == Expects::ClientKeyExchange,
    };
    if is_first_answer {
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
