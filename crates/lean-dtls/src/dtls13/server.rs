//! The server's side of a handshake. Until a client's cookie has returned, the server keeps nothing of it
//! (RFC 9147, section 5.1): the cookie has what it needs to know.

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::certificate_types;
use super::connection::{Connection, Expects, transcript_header};
use super::hello::{self, Answer, ClientHello, Mode, OfferedPsk};
use super::psk::{Key, covered_digest};
use super::record;
use super::schedule::Secret;
use crate::agreement::{Share, generate};
use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::config::Config;
use crate::connection_id::ConnectionId;
use crate::content_type::ContentType;
use crate::credentials::{self, Credentials};
use crate::crypto::{Aead, Crypto, DIGEST, Group, Hash, SCALAR};
use crate::extension;
use crate::features::CERTIFICATES;
use crate::handshake::{self, Arrived, Kind};
use crate::status::{Failure, Status};

/// Octets of the part of a cookie that only the server can make. (Assumed: nobody tries 2^64 ClientHellos in the life of a
/// server's secret.)
const MAC: usize = 8;

/// Octets of a cookie: the group that was asked for, the digest of the first ClientHello, and the MAC.
const COOKIE: usize = 1 + DIGEST + MAC;

/// Octets of the body of the longest HelloRetryRequest: legacy version, random number, session, suite, compression, and the
/// extensions for version, group and cookie.
const RETRY: usize = 2 + 32 + 1 + 2 + 1 + 2 + 6 + 6 + (4 + 2 + COOKIE);

/// Octets of the headers of an answer to a client without a slot: those of a record and of a message.
pub(crate) const HEADERS: usize = record::HEADER + handshake::HEADER;

/// Octets of the longest answer to a client without a slot: a HelloRetryRequest.
pub(crate) const REPLY: usize = HEADERS + RETRY;

/// The answer of the server to a client without a slot.
pub(crate) type Answered = ([u8; REPLY], usize);

/// A ClientHello that has passed: a connection can be opened.
#[derive(Clone, Copy)]
pub(crate) struct Admitted {
    aead: Aead,
    /// The server knows a pre-shared key of the client. Otherwise it has a certificate.
    has_psk: bool,
    group: Option<Group>,
    first: Option<First>,
}

impl Admitted {
    /// True if the client is where it says: its cookie has returned.
    pub(crate) const fn is_verified(&self) -> bool {
        self.first.is_some()
    }
}

/// The content of a cookie: the digest of the first ClientHello, the group that was asked for, and the cookie itself.
type First = ([u8; DIGEST], Option<Group>, [u8; COOKIE]);

/// Who sends a ClientHello.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'a> {
    /// The server's key for cookies.
    pub(crate) secret: &'a [u8; DIGEST],
    /// The number of the latest association with this address.
    pub(crate) latest: u32,
    /// The present period of its cookies, and the one before.
    pub(crate) periods: [u16; 2],
    pub(crate) address: &'a [u8],
    /// The server has a slot for it even if its address may be another's.
    pub(crate) can_be_unverified: bool,
}

/// Looks at a ClientHello of a client that may have no slot.
///
/// # Errors
/// It is not good enough for a connection. The client gets the answer, if there is one.
pub(crate) fn admit<C: Crypto>(
    crypto: &mut C,
    config: &Config<impl Credentials>,
    from: Sender<'_>,
    arrived: &Arrived<'_>,
    hello: &ClientHello<'_>,
) -> Result<Admitted, Option<Answered>> {
    let options = &config.options.dtls13;
    let refuse = |description: u8| Err(write_alert(arrived.record, description));
    if hello.has_legacy_cookie {
        return refuse(alert::ILLEGAL_PARAMETER);
    }
    let Some(aead) = options.aeads.iter().copied().find(|aead| hello.offers_suite(*aead)) else {
        return refuse(alert::HANDSHAKE_FAILURE);
    };
    let can_be_alone = hello.offers_mode(Mode::Alone) && !options.psk_agreement;
    let is_known = |psk: OfferedPsk<'_>| Key::find(&config.credentials, psk.identity).is_some();
    let has_psk = (can_be_alone || hello.offers_mode(Mode::WithAgreement)) && hello.psks().any(is_known);
    if !has_psk && !has_certificate(config, hello) {
        let is_psk = hello.extensions.find(extension::PRE_SHARED_KEY).is_some();
        return refuse(if is_psk { alert::UNKNOWN_PSK_IDENTITY } else { alert::HANDSHAKE_FAILURE });
    }
    let has_share = |group: &Group| hello.share(*group).is_some();
    let mut groups = config.groups().iter().copied().filter(|group| hello.offers_group(*group));
    let group = match has_psk && can_be_alone {
        true => None,
        false => match groups.clone().find(has_share).or_else(|| groups.next()) {
            None => return refuse(alert::HANDSHAKE_FAILURE),
            group => group,
        },
    };
    let asked = group.filter(|group| !has_share(group));
    // Only the answer to a plain pre-shared key is short enough for an address that nobody has verified.
    let is_known_address = || group.is_none() && credentials::is_known(&config.credentials, from.address);
    let first = match hello.cookie() {
        None if hello.extensions.find(extension::COOKIE).is_some() => return refuse(alert::DECODE_ERROR),
        None if asked.is_some() || !from.can_be_unverified || options.has_cookie && !is_known_address() => {
            let first_hello = digest(crypto, arrived.body);
            let cookie = make_cookie(crypto, from, from.periods[0], hello, (asked, &first_hello));
            return Err(write_retry(arrived.record, aead, asked, &cookie));
        }
        None => None,
        Some(cookie) => match check_cookie(crypto, from, hello, cookie) {
            Some(first) if asked.is_none() => Some(first),
            _ => return refuse(alert::ILLEGAL_PARAMETER),
        },
    };
    Ok(Admitted { aead, has_psk, group, first })
}

/// True if this server can prove its identity to the client with a certificate.
fn has_certificate(config: &Config<impl Credentials>, hello: &ClientHello<'_>) -> bool {
    CERTIFICATES && certificate_types::is_possible(hello.extensions, &config.credentials)
}

/// The digest of a ClientHello.
fn digest<C: Crypto>(crypto: &mut C, body: &[u8]) -> [u8; DIGEST] {
    let mut hash = crypto.hash();
    hash.update(&transcript_header(Kind::ClientHello, body.len()));
    hash.update(body);
    hash.digest()
}

/// Only this server can make the cookie, and for no other client or random number.
fn make_cookie<C: Crypto>(
    crypto: &mut C,
    from: Sender<'_>,
    period: u16,
    hello: &ClientHello<'_>,
    (asked, first_hello): (Option<Group>, &[u8; DIGEST]),
) -> [u8; COOKIE] {
    let mut cookie = [0; COOKIE];
    cookie[0] = asked.map_or(0, |group| group.number() as u8);
    cookie[1..=DIGEST].copy_from_slice(first_hello);
    let (content, place) = cookie.split_at_mut(1 + DIGEST);
    let [upper, lower] = period.to_be_bytes();
    let latest = from.latest.to_be_bytes();
    let parts = [&[upper, lower, from.address.len() as u8], from.address, &latest, &[0], &hello.random, content];
    // A cookie of DTLS 1.2 has a version where this one has a zero: neither is good in place of the other.
    let mac = crypto.hmac(from.secret, &parts);
    place.copy_from_slice(&mac[..MAC]);
    cookie
}

/// Reads a cookie, if it is this server's for this client.
fn check_cookie<C: Crypto>(crypto: &mut C, from: Sender<'_>, hello: &ClientHello<'_>, cookie: &[u8]) -> Option<First> {
    let mut reader = Reader::new(cookie);
    let (number, first_hello) = (reader.u8()?, reader.array()?);
    let asked = [Group::P256, Group::X25519].into_iter().find(|group| group.number() == number.into());
    let expected = from.periods.map(|period| make_cookie(crypto, from, period, hello, (asked, &first_hello)));
    let made = expected.into_iter().find(|expected| bool::from(cookie.ct_eq(expected)))?;
    Some((first_hello, asked, made))
}

/// A HelloRetryRequest, in a record with the number of the client's: the server keeps no numbers of its own.
fn write_retry(record: u64, aead: Aead, asked: Option<Group>, cookie: &[u8; COOKIE]) -> Option<Answered> {
    let (body, length) = retry_body(aead, asked, cookie).ok()?;
    let header = handshake::Header::whole(Kind::ServerHello, 0, length).octets();
    write_in_clear(record, ContentType::Handshake, &[&header, &body[..length]])
}

/// The body of a HelloRetryRequest, and its length.
fn retry_body(aead: Aead, asked: Option<Group>, cookie: &[u8; COOKIE]) -> Result<([u8; RETRY], usize), Full> {
    let mut body = [0; RETRY];
    let mut writer = Writer::new(&mut body);
    hello::write_retry(&mut writer, aead, asked, cookie)?;
    let length = writer.len();
    Ok((body, length))
}

fn write_alert(record: u64, description: u8) -> Option<Answered> {
    write_in_clear(record, ContentType::Alert, &[&[alert::FATAL, description]])
}

fn write_in_clear(record: u64, content_type: ContentType, content: &[&[u8]]) -> Option<Answered> {
    let mut output = [0; REPLY];
    let length = record::write_in_clear(content_type, record, content, &mut output).ok()?;
    Some((output, length))
}

/// The number of records of the HelloRetryRequest beside its first: their numbers are not used again.
fn retry_records<K>(config: &Config<K>, admitted: &Admitted) -> u64 {
    let length = match admitted.first {
        None => return 0,
        Some((_, None, _)) => REPLY - 6,
        Some((_, Some(_), _)) => REPLY,
    };
    records(length, config.mtu.into()) - 1
}

/// The number of records of an answer of so many octets in datagrams of `mtu` octets.
const fn records(octets: usize, mtu: usize) -> u64 {
    (octets - HEADERS).div_ceil(mtu - HEADERS) as u64
}

/// A connection with a client that was admitted, with the flight from ServerHello to Finished.
pub(crate) fn open<C: Crypto, const BUFFER: usize>(
    crypto: &mut C,
    config: &Config<impl Credentials>,
    arrived: Arrived<'_>,
    hello: &ClientHello<'_>,
    admitted: &Admitted,
    own_id: Option<ConnectionId>,
) -> Connection<C, BUFFER> {
    let mut connection = Connection::new(crypto, false, config.timeouts);
    connection.sender.outbound.start_at(arrived.record + retry_records(config, admitted));
    connection.client_random = hello.random;
    connection.own_id = own_id;
    connection.next = arrived.header.sequence.wrapping_add(1);
    connection.sender.next = arrived.header.sequence;
    if let Err(description) = answer(&mut connection, crypto, config, arrived, hello, admitted) {
        connection.refuse(description);
    }
    connection
}

fn answer<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    arrived: Arrived<'_>,
    hello: &ClientHello<'_>,
    admitted: &Admitted,
) -> Result<(), u8> {
    begin_transcript(connection, crypto, admitted).map_err(|Full| alert::HANDSHAKE_FAILURE)?;
    let (psk, early) = match admitted.has_psk {
        true => {
            choose_psk(connection, crypto, config, arrived.body, hello).map(|(place, early)| (Some(place), early))?
        }
        false => (None, Secret::early(crypto, None)),
    };
    connection.sender.note(Kind::ClientHello, arrived.body);
    let (share, mut agreed) = agree(crypto, hello, admitted)?;
    choose_connection_ids(connection, hello);

    let mut random = [0; 32];
    crypto.random(&mut random);
    let answer = Answer {
        random: &random,
        aead: admitted.aead,
        share: share.as_ref().map(|share| (share.group(), share.public())),
        connection_id: connection.own_id.as_ref(),
        psk,
    };
    let sent = connection.sender.send(Kind::ServerHello, |writer| answer.write(writer));
    let secret = early.next_stage(crypto, agreed.as_ref());
    agreed.zeroize();
    connection.protect_handshake(crypto, admitted.aead, secret);
    connection.sender.flight.change();
    let sent = sent.and_then(|()| send_extensions(connection, crypto, config, hello, admitted));
    let sent = sent.and_then(|()| connection.finish(crypto));
    if sent.is_err() {
        connection.end(Status::Failed(Failure::BufferTooSmall));
        return Ok(());
    }
    connection.derive_application(crypto).ok_or(alert::HANDSHAKE_FAILURE)?;
    connection.wait(Some(arrived.header.sequence));
    Ok(())
}

/// Adds what is between ServerHello and Finished.
fn send_extensions<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    hello: &ClientHello<'_>,
    admitted: &Admitted,
) -> Result<(), Full> {
    if let Some(certificates) = connection.certificates.first_mut().filter(|_| !admitted.has_psk) {
        let state = certificate_types::choose(hello.extensions, &config.credentials);
        *certificates = state;
        connection.sender.send(Kind::EncryptedExtensions, |writer| {
            writer.vector(2, |writer| certificate_types::write_chosen(writer, &state))
        })?;
        if state.is_asked {
            connection.expects = Expects::Certificate;
            connection.send_certificate_request()?;
        }
        return connection.send_certificate(crypto, credentials::certificate(&config.credentials));
    }
    connection.sender.send(Kind::EncryptedExtensions, |writer| writer.vector(2, |_| Ok(())))
}

/// Handles the message whose turn it is. Returns false if it was not used.
pub(crate) fn handle<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) -> bool {
    let handled = match CERTIFICATES {
        true => connection.receive_certificate(crypto, config),
        false => Err(alert::UNEXPECTED_MESSAGE),
    };
    connection.refuse_if_wrong(handled);
    connection.is_open()
}

/// The transcript before the ClientHello that has arrived: if it was not the first, the digest of that one and the
/// HelloRetryRequest, as the cookie has them.
fn begin_transcript<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    admitted: &Admitted,
) -> Result<(), Full> {
    let Some((first_hello, asked, cookie)) = &admitted.first else { return Ok(()) };
    let (body, length) = retry_body(admitted.aead, *asked, cookie)?;
    connection.sender.begin_again(crypto, first_hello);
    connection.sender.note(Kind::ServerHello, &body[..length]);
    Ok(())
}

/// The first pre-shared key of the client that this server knows: its place in the client's list, and its early secret.
fn choose_psk<'a, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &'a Config<impl Credentials>,
    body: &[u8],
    hello: &ClientHello<'a>,
) -> Result<(u16, Secret), u8> {
    let known = |psk: OfferedPsk<'a>| Some((psk, Key::find(&config.credentials, psk.identity)?));
    let (psk, key) = hello.psks().find_map(known).ok_or(alert::UNKNOWN_PSK_IDENTITY)?;
    let covered = body.len().checked_sub(hello.binders()).ok_or(alert::DECODE_ERROR)?;
    connection.identity.keep(key.identity());
    let early = key.early(crypto);
    let binder = key.binder(crypto, &early, &covered_digest(&connection.sender.transcript, body, covered));
    if !bool::from(psk.binder.ct_eq(&binder)) {
        return Err(alert::DECRYPT_ERROR);
    }
    Ok((psk.place, early))
}

/// This server's key pair in the group that was chosen, and the secret that it shares with the client.
fn agree<C: Crypto>(
    crypto: &mut C,
    hello: &ClientHello<'_>,
    admitted: &Admitted,
) -> Result<(Option<Share>, Option<[u8; SCALAR]>), u8> {
    let Some(group) = admitted.group else { return Ok((None, None)) };
    let public = hello.share(group).ok_or(alert::ILLEGAL_PARAMETER)?;
    let share = generate(crypto, group).ok_or(alert::HANDSHAKE_FAILURE)?;
    let agreed = share.agree(crypto, public).ok_or(alert::ILLEGAL_PARAMETER)?;
    Ok((Some(share), Some(agreed)))
}

/// Both ends use connection IDs if both have offered them. This end cannot keep a longer one than its longest.
fn choose_connection_ids<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    hello: &ClientHello<'_>,
) {
    let peers = hello.extensions.find(extension::CONNECTION_ID).and_then(hello::read_connection_id);
    match (connection.own_id, peers) {
        (Some(own), Some(peers)) => {
            connection.inbound.connection_id = own;
            connection.sender.outbound.connection_id = peers;
        }
        _ => connection.own_id = None,
    }
}
