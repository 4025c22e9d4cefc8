//! The server's side of a handshake.

use super::connection::{Connection, Expects, Problem};
use super::extensions::{self, Agreed, Offer};
use super::hello::{self, ClientHello, ServerHello};
use super::record::{self, Outbound};
use super::resumption::Resuming;
use super::schedule::Premaster;
use super::{certificates, public_keys};
use crate::alert;
use crate::both::DOWNGRADE;
use crate::codec::{Full, Reader, Writer};
use crate::config::{Config, Versions};
use crate::connection_id;
use crate::content_type::ContentType;
use crate::credentials::{self, Credentials, Identity, Role, is_key};
use crate::crypto::{Crypto, Hash};
use crate::features::{CERTIFICATES, CONNECTION_ID, ECDHE, FALSE_START, Feature, If, LEAN, RESUMPTION, Switch, is};
use crate::handshake::{self, Arrived, Kind};
use crate::lean::Lean;
use crate::session::SessionState;
use crate::signature;
use crate::suite::KeyExchange;

/// Octets of a cookie. (Assumed: half of a digest is enough for a value that lives for a round trip.)
pub(crate) const COOKIE: usize = 16;

/// Octets of the longest answer to a client without a slot: a HelloVerifyRequest.
pub(crate) const REPLY: usize = record::HEADER + handshake::HEADER + 3 + COOKIE;

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

/// Opens a connection with a client whose cookie has returned, or is not asked for: its flight is that from ServerHello to
/// ServerHelloDone, or what the lean profile leaves of it.
// An AVR saves many registers in a large function. With the lean profile, keys are derived in here: that takes more stack.
#[cfg_attr(all(target_arch = "avr", not(feature = "lean")), inline(never))]
pub(crate) fn open<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    offer: &Offer<'_>,
    resuming: &Option<If<RESUMPTION, Resuming<'_>>>,
    arrived: Arrived<'_>,
    (from, hello): (From<'_>, &ClientHello<'_>),
) {
    let Arrived { header, body, record } = arrived;
    connection.sender.outbound.start_at(record);
    connection.randoms[0] = hello.random;
    connection.next = header.sequence.wrapping_add(1);
    connection.sender.next = header.sequence;
    connection.sender.note(&header, body);
    match answer(connection, crypto, config, offer, resuming, (from, hello)) {
        Ok(()) => connection.wait(Some(header.sequence)),
        Err(problem) => connection.give_up(problem),
    }
}

/// The flight that answers a ClientHello.
fn answer<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    offer: &Offer<'_>,
    resuming: &Option<If<RESUMPTION, Resuming<'_>>>,
    (from, hello): (From<'_>, &ClientHello<'_>),
) -> Result<(), Problem> {
    crypto.random(&mut connection.randoms[1]);
    if config.options.dtls13.versions == Versions::Both {
        connection.randoms[1][24..].copy_from_slice(&DOWNGRADE);
    }
    from.unverified.into_iter().for_each(|octets| connection.allowance.receive(octets));
    if RESUMPTION
        && let Some(session) = resuming.as_ref().and_then(|resuming| resuming.session)
        && resume(connection, crypto, offer, session, hello)?
    {
        return Ok(());
    }
    let suite = offer.abilities.choose(hello).ok_or(alert::HANDSHAKE_FAILURE)?;
    let mut agreed = extensions::accept(hello.extensions, hello.has_renegotiation_scsv, offer, Some(suite))?;
    // The client without a cookie would wait for this server's timer, which may not send as often as it has to.
    if from.unverified.is_some() && !agreed.lean.has(Lean::ACKNOWLEDGE) {
        agreed.lean = agreed.lean.without(Lean::SERVER_FINISHED_FIRST);
    }
    let key = match agreed.lean.has(Lean::OMIT_MESSAGES) {
        true => key_in_advance(config, from.address, hello, &mut connection.identity),
        false => None,
    };
    if key.is_none() {
        agreed.lean = agreed.lean.without(Lean::OMIT_MESSAGES).consistent();
    }
    agree(connection, agreed);
    connection.suite = suite;
    let can_be_early = suite.key_exchange() == KeyExchange::EcdheEcdsa;
    connection.starts_early = Feature::<FALSE_START>::slot(|| is(&config.options.false_start) && can_be_early);
    if RESUMPTION && let Some(resuming) = resuming {
        connection.name(crypto, resuming);
    }
    send_hello(connection)?;
    if let Some(key) = key {
        connection.expect_finished();
        if agreed.lean.has(Lean::SERVER_FINISHED_FIRST) {
            connection.derive(crypto, &Premaster::from_psk(key));
            connection.finish(crypto)?;
        } else if LEAN {
            connection.postpone(Premaster::from_psk(key));
        }
        return Ok(());
    }
    if ECDHE && suite.key_exchange() != KeyExchange::Psk {
        send_keys(connection, crypto, &config.credentials, offer, hello)?;
    }
    Ok(connection.sender.send(Kind::ServerHelloDone, |_| Ok(()))?)
}

/// The flight that resumes a session. Returns false if the client's hello does not suit it: the handshake is then a full one.
fn resume<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    offer: &Offer<'_>,
    session: &SessionState,
    hello: &ClientHello<'_>,
) -> Result<bool, Problem> {
    let mut agreed = extensions::accept(hello.extensions, hello.has_renegotiation_scsv, offer, None)?;
    // RFC 7627, section 5.3: every session that is kept had the extension.
    if !agreed.extended_master_secret {
        return Err(alert::HANDSHAKE_FAILURE.into());
    }
    if !session.suits(hello, &offer.abilities, &agreed) {
        return Ok(false);
    }
    agreed.session_ticket = Feature::<RESUMPTION>::or_off(false); // the client has it
    agree(connection, agreed);
    connection.resume(crypto, session);
    send_hello(connection)?;
    connection.finish(crypto)?;
    connection.expect_finished();
    Ok(true)
}

fn agree<C: Crypto, const BUFFER: usize>(connection: &mut Connection<C, BUFFER>, agreed: Agreed) {
    connection.agree(agreed);
    connection.own_id =
        Feature::<CONNECTION_ID>::slot(|| connection_id::agreed(&agreed.connection_ids).map(|[own, _]| own));
}

fn send_hello<C: Crypto, const BUFFER: usize>(connection: &mut Connection<C, BUFFER>) -> Result<(), Full> {
    let id = connection.session_id();
    let id = if RESUMPTION { id.octets() } else { &[] };
    let Connection { randoms: [_, random], suite, agreed, .. } = connection;
    connection.sender.send(Kind::ServerHello, |writer| ServerHello::write(writer, random, id, *suite, agreed))
}

/// ServerKeyExchange; with certificates also Certificate and CertificateRequest.
fn send_keys<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
    offer: &Offer<'_>,
    hello: &ClientHello<'_>,
) -> Result<(), Problem> {
    let Connection { sender, keys, .. } = connection;
    let keys = keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
    let group = public_keys::group(hello.extensions, &offer.abilities).ok_or(alert::HANDSHAKE_FAILURE)?;
    if CERTIFICATES && connection.suite.key_exchange() == KeyExchange::EcdheEcdsa {
        let own = credentials::certificate(credentials).ok_or(alert::INTERNAL_ERROR)?;
        sender.send(Kind::Certificate, |writer| certificates::write(writer, Some(own.certificate)))?;
        let parameters = keys.draw(crypto, group)?;
        let digest = certificates::key_exchange_digest(crypto, &connection.randoms, parameters.octets());
        let signature = crypto.sign(own.private_key, &digest).map_err(|_| alert::INTERNAL_ERROR)?;
        sender.send(Kind::ServerKeyExchange, |writer| {
            writer.put(parameters.octets())?;
            signature::write(writer, &signature)
        })?;
        if !offer.abilities.accepted().is_empty() {
            sender.send(Kind::CertificateRequest, certificates::write_request)?;
            connection.expects = Expects::Certificate;
        }
        return Ok(());
    }
    let parameters = keys.draw(crypto, group)?;
    sender.send(Kind::ServerKeyExchange, |writer| {
        writer.vector(2, |_| Ok(()))?; // no hint
        writer.put(parameters.octets())
    })?;
    Ok(())
}

/// The key of a client that leaves out its ClientKeyExchange, and `identity`, if it has sent that. Without a key, the server asks for
/// the message.
fn key_in_advance<'k>(
    config: &'k Config<impl Credentials>,
    address: &[u8],
    hello: &ClientHello<'_>,
    identity: &mut Identity,
) -> Option<&'k [u8]> {
    let offer = extensions::lean_offer(hello.extensions).ok()??;
    let key = match offer.switches.has_identity() {
        true => config.credentials.find_psk(offer.identity),
        false if config.options.lean.has(Lean::KNOWN_ADDRESS) => config.credentials.find_psk_by_address(address),
        false => None,
    };
    let key = key.filter(|key| is_key(key))?;
    identity.keep(offer.identity);
    Some(key)
}

/// Handles the message whose turn it is. Returns false if it was not used.
pub(crate) fn handle<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    resuming: &Option<If<RESUMPTION, Resuming<'_>>>,
) -> bool {
    let handled = handle_message(connection, crypto, &config.credentials, resuming);
    if let Err(problem) = handled {
        connection.give_up(problem);
    }
    handled == Ok(true)
}

fn handle_message<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
    resuming: &Option<If<RESUMPTION, Resuming<'_>>>,
) -> Result<bool, Problem> {
    let Connection { sender, incoming, identity, .. } = connection;
    let Some((header, body)) = incoming.whole(connection.next) else { return Ok(false) };
    match (connection.expects, header.kind) {
        (Expects::Certificate, Kind::Certificate) if CERTIFICATES => {
            let kind = connection.agreed.public_keys.client_type();
            let key = certificates::read(body, kind, Role::Client, credentials)?;
            // A client without a certificate (RFC 5246, section 7.4.6).
            let key = key.ok_or(alert::HANDSHAKE_FAILURE)?;
            let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
            keys.certified = Feature::<CERTIFICATES>::only(|| key);
            sender.note(&header, body);
            connection.expects = Expects::ClientKeyExchange;
        }
        (Expects::ClientKeyExchange, Kind::ClientKeyExchange) => {
            sender.note(&header, body);
            let mut reader = Reader::new(body);
            let premaster = match connection.suite.key_exchange() {
                KeyExchange::Psk => Premaster::from_psk(read_identity(&mut reader, credentials, identity)?),
                KeyExchange::EcdhePsk => {
                    let psk = read_identity(&mut reader, credentials, identity)?;
                    let public = reader.vector(1).ok_or(alert::DECODE_ERROR)?;
                    let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
                    Premaster::from_parts(&*keys.agree(crypto, public)?, psk)
                }
                KeyExchange::EcdheEcdsa => {
                    let public = reader.vector(1).ok_or(alert::DECODE_ERROR)?;
                    let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
                    Premaster::from_agreement(&*keys.agree(crypto, public)?)
                }
            };
            reader.is_empty().then_some(()).ok_or(alert::DECODE_ERROR)?;
            connection.derive(crypto, &premaster);
            if connection.keys.first().is_some_and(|keys| keys.certified.is_some()) {
                connection.expects = Expects::CertificateVerify;
                return Ok(true);
            }
            connection.expect_finished();
        }
        (Expects::CertificateVerify, Kind::CertificateVerify) if CERTIFICATES => {
            let digest = sender.transcript.digest();
            let keys = connection.keys.first().ok_or(alert::INTERNAL_ERROR)?;
            let key = Feature::<CERTIFICATES>::borrow(&keys.certified).ok_or(alert::INTERNAL_ERROR)?;
            signature::verify(Reader::new(body), crypto, key, &digest)?;
            sender.note(&header, body);
            connection.expect_finished();
        }
        // It has been verified. What follows comes before this end's own.
        (Expects::Finished, Kind::Finished) if RESUMPTION => {
            if let Some(resuming) = resuming {
                connection.send_ticket(crypto, credentials, resuming)?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads the identity of a client. Returns the key that goes with it.
fn read_identity<'k>(
    reader: &mut Reader<'_>,
    credentials: &'k impl Credentials,
    kept: &mut Identity,
) -> Result<&'k [u8], Problem> {
    let identity = reader.vector(2).ok_or(alert::DECODE_ERROR)?;
    kept.keep(identity);
    let key = credentials.find_psk(identity).filter(|key| is_key(key));
    key.ok_or(Problem::Alert(alert::UNKNOWN_PSK_IDENTITY))
}
