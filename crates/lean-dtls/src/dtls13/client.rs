//! The client's side of a handshake.

use zeroize::Zeroize;

use super::certificate_types;
use super::connection::{Connection, Expects};
use super::hello::{self, BINDERS, Mode, Offer, ServerHello};
use super::psk::{Key, covered_digest};
use super::record;
use super::schedule::Secret;
use crate::agreement::{Share, generate, generate_share};
use crate::alert;
use crate::both::{Earlier, Later, Offered};
use crate::codec::{Reader, Writer};
use crate::config::{Config, Options, Versions};
use crate::connection_id::ConnectionId;
use crate::credentials::{self, Credentials};
use crate::crypto::{Crypto, Hash};
use crate::extension;
use crate::features::{CERTIFICATES, Feature, RECORD_LIMITS, Switch, is};
use crate::handshake::Kind;
use crate::limits;
use crate::reassembly::Reassembly;
use crate::session::Kept;
use crate::status::{Failure, Status};

/// This version, for a client of DTLS 1.2 that offers it too.
pub(crate) struct Dtls13;

impl Later for Dtls13 {
    type Offer<'a> = Offer<'a>;

    fn offer<'a>(
        offered: &'a Offered,
        config: &'a Config<impl Credentials>,
        connection_id: Option<ConnectionId>,
    ) -> Offer<'a> {
        offer(config, offered.share.as_ref(), connection_id, &[])
    }

    fn bind<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>, transcript: &C::Hash, body: &mut [u8]) {
        bind(crypto, config, transcript, body);
    }

    fn is_chosen(body: &[u8]) -> bool {
        ServerHello::read(body).is_some()
    }
}

/// Begins the handshake.
pub(crate) fn start<E: Earlier, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &Kept,
) {
    crypto.random(&mut connection.client_random);
    let length = config.options.connection_id.length;
    connection.own_id = length.and_then(|length| ConnectionId::draw(crypto, length));
    connection.share = generate_share(crypto, config);
    send_hello::<E, _, _>(connection, crypto, config, kept, None);
}

/// Sends a ClientHello: the first one, or with the cookie of the message whose turn it is. Returns false if that is not
/// possible.
fn send_hello<E: Earlier, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &Kept,
    retry: Option<u16>,
) -> bool {
    let Connection { sender, incoming, client_random, own_id, share, .. } = connection;
    let answered = retry.and_then(|sequence| incoming.whole(sequence)).and_then(|(_, body)| ServerHello::read(body));
    let cookie = answered.and_then(|hello| hello.cookie()).unwrap_or(&[]);
    let offer = offer(config, share.as_ref(), *own_id, cookie);
    sender.flight.clear();
    if offer.psk.is_none() && offer.groups.is_empty() {
        connection.end(Status::Failed(Failure::NoKey));
        return false;
    }
    let write = |writer: &mut Writer<'_>| match config.options.dtls13.versions {
        Versions::Both => E::write_hello(writer, client_random, config, *own_id, kept, &offer),
        Versions::Dtls12 | Versions::Dtls13 => offer.write(writer, client_random),
    };
    match sender.send_bound(Kind::ClientHello, write, |transcript, body| bind(crypto, config, transcript, body)) {
        Ok(()) => {
            // A HelloRetryRequest that comes again says nothing: its server keeps no state.
            connection.wait(None);
            true
        }
        Err(_) => {
            connection.end(Status::Failed(Failure::BufferTooSmall));
            false
        }
    }
}

/// The offer of this client.
fn offer<'a>(
    config: &'a Config<impl Credentials>,
    share: Option<&'a Share>,
    connection_id: Option<ConnectionId>,
    cookie: &'a [u8],
) -> Offer<'a> {
    let is_alone = config.options.dtls13.versions == Versions::Dtls13;
    let needs_groups = !is_alone && config.abilities().needs_groups();
    Offer {
        versions: if is_alone { &[record::VERSION] } else { &[record::VERSION, record::LEGACY_VERSION] },
        aeads: config.options.dtls13.aeads,
        groups: if needs_groups { config.groups() } else { config.offered_groups() },
        share: share.map(|share| (share.group(), share.public())),
        connection_id,
        cookie,
        psk: Key::own(&config.credentials).map(|psk| (psk, mode(config))),
        certificates: Feature::<CERTIFICATES>::slot(|| certificate_types::Offer::of(&config.credentials)),
    }
}

/// Completes the body of a ClientHello with the binder of its pre-shared key, if it has one. The transcript is what comes before
/// it.
fn bind<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>, transcript: &C::Hash, body: &mut [u8]) {
    let Some(psk) = Key::own(&config.credentials) else { return };
    let covered = body.len() - BINDERS;
    let early = psk.early(crypto);
    let binder = psk.binder(crypto, &early, &covered_digest(transcript, body, covered));
    body[covered + BINDERS - binder.len()..].copy_from_slice(&binder);
}

/// The use of a pre-shared key by this client.
fn mode<K>(config: &Config<K>) -> Mode {
    if config.options.dtls13.psk_agreement { Mode::WithAgreement } else { Mode::Alone }
}

/// Handles the message whose turn it is, or after a Finished answers it. Returns false if it was not used.
pub(crate) fn handle<E: Earlier, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
) -> bool {
    if connection.expects == Expects::FirstHello {
        // The request has perhaps cost the key pair of the first hello: nobody has answered that, and another will do.
        if !has_first_share(connection, config) {
            connection.share = generate_share(crypto, config);
        }
        if go_back::<E, _, _>(connection, crypto, config, kept) {
            connection.next = 0;
            connection.sender.flight.restart();
            connection.timer.begin_again();
        }
        return false;
    }
    let Some((header, body)) = connection.incoming.whole(connection.next) else { return false };
    // Another answer to the first hello.
    if connection.expects == Expects::ServerHello && header.sequence == 0 {
        let timer = connection.timer;
        let is_retry = ServerHello::read(body).is_some_and(|hello| hello.is_retry());
        // As long as the HelloRetryRequest before may be the server's, its answer is waited for.
        if is_retry && !timer.is_in_vain() || !go_back::<E, _, _>(connection, crypto, config, kept) {
            return false;
        }
        let is_used = handle::<E, _, _>(connection, crypto, config, kept);
        if is_retry {
            connection.timer = timer;
            connection.timer.go_on();
        }
        return is_used;
    }
    let handled = match (connection.expects, header.kind) {
        (Expects::Hello | Expects::ServerHello, Kind::ServerHello) => match ServerHello::read(body) {
            Some(hello) if hello.is_retry() => receive_retry::<E, _, _>(connection, crypto, config, kept),
            Some(_) => {
                *kept = Kept::default(); // a session of DTLS 1.2
                receive_hello(connection, crypto, config)
            }
            None => Err(alert::PROTOCOL_VERSION),
        },
        // Anybody can have sent what is in clear.
        (Expects::Hello | Expects::ServerHello, _) => return false,
        (Expects::EncryptedExtensions, Kind::EncryptedExtensions) => receive_extensions(connection, config),
        (Expects::Certificate | Expects::CertificateVerify, _) if CERTIFICATES => {
            connection.receive_certificate(crypto, config)
        }
        (Expects::Finished, Kind::Finished) => finish(connection, crypto, config),
        _ => Err(alert::UNEXPECTED_MESSAGE),
    };
    connection.refuse_if_wrong(handled);
    connection.is_open()
}

/// The first ClientHello again: its HelloRetryRequest was perhaps not the server's. It is in the transcript, and is not sent. False
/// if that request has cost the key pair in it.
fn go_back<E: Earlier, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &Kept,
) -> bool {
    connection.expects = Expects::ServerHello;
    if !has_first_share(connection, config) {
        return false;
    }
    let timer = connection.timer;
    connection.expects = Expects::Hello;
    connection.sender.transcript = crypto.hash();
    connection.sender.next = 0;
    let is_sent = send_hello::<E, _, _>(connection, crypto, config, kept, None);
    connection.sender.flight.withhold();
    connection.timer = timer;
    is_sent
}

/// True if the key pair is in the group of the first hello.
fn has_first_share<C: Crypto, const BUFFER: usize>(
    connection: &Connection<C, BUFFER>,
    config: &Config<impl Credentials>,
) -> bool {
    connection.share.as_ref().map(|share| share.group()) == config.offered_groups().first().copied()
}

/// Answers a HelloRetryRequest (RFC 8446, section 4.1.4).
fn receive_retry<E: Earlier, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &Kept,
) -> Result<(), u8> {
    if connection.expects == Expects::ServerHello {
        return Err(alert::UNEXPECTED_MESSAGE);
    }
    let Connection { sender, incoming, share, .. } = connection;
    let (header, body) = incoming.whole(connection.next).ok_or(alert::DECODE_ERROR)?;
    let hello = ServerHello::read(body).filter(|hello| hello.is_legal).ok_or(alert::ILLEGAL_PARAMETER)?;
    let options = &config.options.dtls13;
    sender.outbound.aead = hello.aead(options.aeads).ok_or(alert::ILLEGAL_PARAMETER)?;
    let is_cookie = !hello.cookie().ok_or(alert::DECODE_ERROR)?.is_empty();
    let is_share = hello.extensions.find(extension::KEY_SHARE).is_some();
    if is_share {
        let group = hello.group(config.offered_groups()).ok_or(alert::ILLEGAL_PARAMETER)?;
        if share.as_ref().is_none_or(|share| share.group() == group) {
            return Err(alert::ILLEGAL_PARAMETER);
        }
        *share = Some(generate(crypto, group).ok_or(alert::HANDSHAKE_FAILURE)?);
    }
    if !is_cookie && !is_share {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let first_hello = sender.transcript.digest();
    sender.begin_again(crypto, &first_hello);
    sender.note(Kind::ServerHello, body);
    connection.expects = Expects::ServerHello;
    send_hello::<E, _, _>(connection, crypto, config, kept, Some(header.sequence));
    Ok(())
}

/// Takes the server's choices from its ServerHello. From now on records are encrypted.
fn receive_hello<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) -> Result<(), u8> {
    let Connection { sender, incoming, inbound, share, own_id, .. } = connection;
    let (_, body) = incoming.whole(connection.next).ok_or(alert::DECODE_ERROR)?;
    let hello = ServerHello::read(body).filter(|hello| hello.is_legal).ok_or(alert::ILLEGAL_PARAMETER)?;
    let aead = hello.aead(config.options.dtls13.aeads).ok_or(alert::ILLEGAL_PARAMETER)?;
    if connection.expects == Expects::ServerHello && aead != sender.outbound.aead {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let is_offered = |number: u16| match number {
        extension::SUPPORTED_VERSIONS => true,
        extension::PRE_SHARED_KEY => Key::own(&config.credentials).is_some(),
        extension::KEY_SHARE => share.is_some(),
        extension::CONNECTION_ID => own_id.is_some(),
        _ => false,
    };
    if !hello.extensions.iter().all(|(number, _)| is_offered(number)) {
        return Err(alert::UNSUPPORTED_EXTENSION);
    }
    let psk = match hello.extensions.find(extension::PRE_SHARED_KEY) {
        Some([0, 0]) => Key::own(&config.credentials),
        Some(_) => return Err(alert::ILLEGAL_PARAMETER),
        None => None,
    };
    if psk.is_none() && !certificate_types::Offer::of(&config.credentials).is_possible() {
        return Err(alert::HANDSHAKE_FAILURE);
    }
    let has_agreement = psk.is_none() || mode(config) == Mode::WithAgreement;
    if !has_agreement && hello.extensions.find(extension::KEY_SHARE).is_some() {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let mut agreed = None;
    if has_agreement {
        let share = share.as_ref().ok_or(alert::HANDSHAKE_FAILURE)?;
        let public = hello.share(share.group()).ok_or(alert::MISSING_EXTENSION)?;
        agreed = Some(share.agree(crypto, public).ok_or(alert::ILLEGAL_PARAMETER)?);
    }
    if let (Some(content), Some(own)) = (hello.extensions.find(extension::CONNECTION_ID), &own_id) {
        inbound.connection_id = *own;
        sender.outbound.connection_id = hello::read_connection_id(content).ok_or(alert::HANDSHAKE_FAILURE)?;
    }
    sender.note(Kind::ServerHello, body);
    let early = match psk {
        Some(psk) => psk.early(crypto),
        None => Secret::early(crypto, None),
    };
    let secret = early.next_stage(crypto, agreed.as_ref());
    agreed.zeroize();
    if let Some(certificates) = connection.certificates.first_mut() {
        certificates.is_used = psk.is_none();
    }
    connection.share = None;
    connection.protect_handshake(crypto, aead, secret);
    // The server has the ClientHello. What else has come in clear is forgotten.
    connection.sender.flight.clear();
    connection.incoming = Reassembly::new();
    connection.expects = Expects::EncryptedExtensions;
    Ok(())
}

/// Reads what the server has chosen beside its hello.
fn receive_extensions<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    config: &Config<impl Credentials>,
) -> Result<(), u8> {
    let (header, body) = connection.incoming.whole(connection.next).ok_or(alert::DECODE_ERROR)?;
    let extensions = hello::read_extensions(Reader::new(body)).ok_or(alert::DECODE_ERROR)?;
    let offer = certificate_types::Offer::of(&config.credentials);
    let is_offered = |number: u16| {
        // A server may tell which groups it would have liked (RFC 8446, section 4.2.7), and answer what was offered for
        // both versions.
        let has_both = config.options.dtls13.versions == Versions::Both;
        let is_shared = number == extension::SUPPORTED_GROUPS || has_both && is_for_both(number, &config.options);
        is_shared || offer.asks_for(number)
    };
    if !extensions.iter().all(|(number, _)| is_offered(number)) {
        return Err(alert::UNSUPPORTED_EXTENSION);
    }
    if RECORD_LIMITS {
        connection.sender.outbound.limit = limits::content_limit(extensions, &config.options.limits)?;
    }
    connection.expects = Expects::Finished;
    if let Some(certificates) = connection.certificates.first_mut() {
        certificate_types::read_chosen(certificates, extensions, &offer)?;
        if certificates.is_used {
            connection.expects = Expects::Certificate;
        }
    }
    connection.sender.note(header.kind, body);
    Ok(())
}

/// True if a client that offers both versions has asked for this extension, which a server of DTLS 1.3 answers too.
fn is_for_both(number: u16, options: &Options) -> bool {
    match number {
        extension::MAX_FRAGMENT_LENGTH => options.limits.max_fragment_length.is_some(),
        extension::RECORD_SIZE_LIMIT => options.limits.record_size_limit.is_some(),
        extension::HEARTBEAT => is(&options.heartbeat),
        _ => false,
    }
}

/// Answers the server's Finished, which was verified.
fn finish<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) -> Result<(), u8> {
    let answered = connection.next;
    connection.derive_application(crypto).ok_or(alert::UNEXPECTED_MESSAGE)?;
    connection.begin_flight();
    let sent = match connection.certificates.first() {
        Some(certificates) if certificates.is_asked => {
            connection.send_certificate(crypto, credentials::certificate(&config.credentials))
        }
        _ => Ok(()),
    };
    if sent.and_then(|()| connection.finish(crypto)).is_err() {
        connection.end(Status::Failed(Failure::BufferTooSmall));
        return Ok(());
    }
    connection.wait(Some(answered));
    Ok(())
}
