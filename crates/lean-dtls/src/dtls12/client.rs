//! The client's side of a handshake.

use super::connection::{Connection, Expects, Problem, hash};
use super::extensions::{self, Offer};
use super::hello::{self, ClientHello, ServerHello};
use super::schedule::Premaster;
use super::{certificates, resumption};
use crate::alert;
use crate::both::{Beside, Earlier, Later, Offered, is_downgrade};
use crate::codec::{Full, Writer};
use crate::config::{Config, Versions};
use crate::connection_id::ConnectionId;
use crate::credentials::{self, CertifiedKey, Credentials, Psk, Role, is_key};
use crate::crypto::{Crypto, Hash, MAX_PUBLIC};
use crate::features::{CERTIFICATES, CONNECTION_ID, DTLS13, ECDHE, FALSE_START, Feature, RESUMPTION, Switch, is};
use crate::handshake::{self, Kind};
use crate::lean::Lean;
use crate::session::{Kept, SessionId};
use crate::signature;
use crate::status::{Failure, Status};
use crate::suite::KeyExchange;

/// This version, for a client of DTLS 1.3 that offers it too.
pub(crate) struct Dtls12;

impl Earlier for Dtls12 {
    fn write_hello(
        writer: &mut Writer<'_>,
        random: &[u8; 32],
        config: &Config<impl Credentials>,
        connection_id: Option<ConnectionId>,
        kept: &Kept,
        later: &impl Beside,
    ) -> Result<(), Full> {
        let offer = Offer::of_client(config, connection_id, kept);
        ClientHello::write(writer, random, &[], &offer, Some(later))
    }
}

/// Begins the handshake.
pub(crate) fn start<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
) {
    let mut random = [0; 32];
    crypto.random(&mut random);
    connection.randoms[0] = random;
    let length = config.options.connection_id.length;
    connection.own_id = Feature::<CONNECTION_ID>::slot(|| ConnectionId::draw(crypto, length?));
    if config.abilities().offered().next().is_none() {
        return connection.end(Status::Failed(Failure::NoKey));
    }
    if RESUMPTION {
        resumption::begin(crypto, config, kept);
    }
    if DTLS13 && config.options.dtls13.versions == Versions::Both {
        connection.dtls13 = Feature::<DTLS13>::only(|| Offered::new(crypto, config));
    }
    connection.wait(None);
    send_hello::<L, _, _>(connection, crypto, config, kept, false);
}

/// Sends a ClientHello, with which the transcript begins: the first one, or that with the cookie of the message whose turn it is.
/// Without room for the session that it would ask for, it leaves that out.
fn send_hello<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
    has_cookie: bool,
) {
    let offer = connection.offer(config, kept);
    let later = connection.dtls13.as_ref().map(|offered| L::offer(offered, config, offer.connection_id));
    let Connection { sender, incoming, randoms: [random, _], .. } = connection;
    let cookie = incoming.whole(connection.next).filter(|_| has_cookie).and_then(|(_, body)| hello::read_cookie(body));
    let cookie = cookie.unwrap_or_default();
    sender.transcript = crypto.hash();
    sender.flight.clear();
    sender.next = has_cookie.into();
    let mut send = |offer: &Offer<'_>| {
        sender.send(Kind::ClientHello, |writer| ClientHello::write(writer, random, cookie, offer, later.as_ref()))
    };
    let mut sent = send(&offer);
    if RESUMPTION && sent.is_err() {
        sent = send(&Offer { session: None, ..offer });
        *kept = Kept::default();
    }
    if sent.is_err() {
        return connection.end(Status::Failed(Failure::BufferTooSmall));
    }
    if DTLS13 {
        bind_hello::<L, _, _>(connection, crypto, config);
    }
}

/// Completes a ClientHello that was sent with the offer of DTLS 1.3, and the transcript, which it begins.
fn bind_hello<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
) {
    let Connection { sender, dtls13: Some(_), .. } = connection else { return };
    let Some((kind, body)) = sender.flight.first() else { return };
    let transcript = crypto.hash();
    L::bind(crypto, config, &transcript, body);
    sender.transcript = transcript;
    let header = handshake::Header::whole(kind, sender.next.wrapping_sub(1), body.len());
    hash(&mut sender.transcript, &header, body);
}

/// The first ClientHello again, which was answered after all. It is in the transcript.
fn go_back<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
) {
    connection.expects = Expects::Hello;
    send_hello::<L, _, _>(connection, crypto, config, kept, false);
}

/// Handles the message whose turn it is. Returns false if it was not used.
pub(crate) fn handle<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
) -> bool {
    let handled = handle_message::<L, _, _>(connection, crypto, config, kept);
    if let Err(problem) = handled {
        connection.give_up(problem);
    }
    handled == Ok(true)
}

fn handle_message<L: Later, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    config: &Config<impl Credentials>,
    kept: &mut Kept,
) -> Result<bool, Problem> {
    if DTLS13 && connection.expects == Expects::FirstHello {
        go_back::<L, _, _>(connection, crypto, config, kept);
        connection.next = 0;
        connection.timer.begin_again();
        return Ok(false);
    }
    let offer = connection.offer(config, kept);
    let Connection { sender, incoming, .. } = connection;
    let Some((header, body)) = incoming.whole(connection.next) else { return Ok(false) };
    match (connection.expects, header.kind) {
        // A second one: the server does not know its cookie any more, or one of them was not the server's. As long as the first
        // may be good, its answer is waited for.
        (Expects::Hello | Expects::ServerHello, Kind::HelloVerifyRequest) => {
            let is_second = connection.expects == Expects::ServerHello;
            if hello::read_cookie(body).is_none() || is_second && !connection.timer.is_in_vain() {
                return Ok(false);
            }
            connection.expects = Expects::ServerHello;
            match is_second {
                true => connection.timer.go_on(),
                false => connection.wait(None),
            }
            send_hello::<L, _, _>(connection, crypto, config, kept, true);
            return Ok(connection.status == Status::Handshaking);
        }
        // It answers the hello without a cookie: the HelloVerifyRequest was not the server's.
        (Expects::ServerHello, Kind::ServerHello) if header.sequence == 0 && sender.next > 1 => {
            if ServerHello::read(body).is_none() {
                return Ok(false);
            }
            go_back::<L, _, _>(connection, crypto, config, kept);
            connection.sender.flight.withhold();
            return handle_message::<L, _, _>(connection, crypto, config, kept);
        }
        (Expects::Hello, Kind::ServerHello) if DTLS13 && connection.dtls13.is_some() && L::is_chosen(body) => {
            connection.dtls13.iter_mut().for_each(|offered| offered.is_chosen = true);
            return Ok(false);
        }
        (Expects::Hello | Expects::ServerHello, Kind::ServerHello) => {
            let Some(hello) = ServerHello::read(body) else { return Ok(false) };
            // Somebody on the path has changed the versions (RFC 8446, section 4.1.3).
            if DTLS13 && connection.dtls13.take().is_some() && is_downgrade(&hello.random) {
                return Err(alert::ILLEGAL_PARAMETER.into());
            }
            if !hello.is_acceptable {
                return Err(alert::HANDSHAKE_FAILURE.into());
            }
            let suite = offer.abilities.offered().find(|suite| suite.iana() == hello.suite);
            let suite = suite.ok_or(alert::ILLEGAL_PARAMETER)?;
            let asked = offer.session.as_ref().map(|asked| &asked.state);
            let resumed = asked.filter(|state| RESUMPTION && state.is_that_of(&hello));
            let agreed = extensions::confirm(hello.extensions, &offer, resumed.is_none().then_some(suite))?;
            if let Some(state) = resumed {
                state.check(suite, &agreed)?;
            }
            sender.note(&header, body);
            connection.randoms[1] = hello.random;
            if let Some(resumption) = connection.resumption.first_mut() {
                resumption.id = SessionId::new(hello.session()).unwrap_or_default();
            }
            connection.agree(agreed);
            if let Some(state) = resumed {
                connection.resume(crypto, state);
                connection.expect_last_flight(kept);
                return Ok(true);
            }
            connection.suite = suite;
            connection.expects = match suite.key_exchange() {
                KeyExchange::Psk => Expects::ServerHelloDone,
                KeyExchange::EcdhePsk => Expects::ServerKeyExchange,
                KeyExchange::EcdheEcdsa => Expects::Certificate,
            };
            if connection.agreed.lean.has(Lean::OMIT_MESSAGES) {
                answer_flight(connection, crypto, &config.credentials, kept, header.sequence)?;
            }
        }
        (Expects::Certificate, Kind::Certificate) if CERTIFICATES => {
            let kind = connection.agreed.public_keys.server_type();
            let key = certificates::read(body, kind, Role::Server, &config.credentials)?;
            let key = key.ok_or(alert::BAD_CERTIFICATE)?;
            let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
            keys.certified = Feature::<CERTIFICATES>::only(|| key);
            sender.note(&header, body);
            connection.expects = Expects::ServerKeyExchange;
        }
        (Expects::ServerKeyExchange, Kind::ServerKeyExchange) if ECDHE => {
            let (suite, groups) = (connection.suite, offer.abilities.groups());
            let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
            keys.read(crypto, body, suite, groups, &connection.randoms)?;
            sender.note(&header, body);
            connection.expects = Expects::ServerHelloDone;
        }
        (Expects::ServerHelloDone, Kind::CertificateRequest)
            if CERTIFICATES
                && connection.suite.key_exchange() == KeyExchange::EcdheEcdsa
                && connection.keys.first().is_some_and(|keys| keys.request.is_none()) =>
        {
            let suits = certificates::read_request(body).ok_or(alert::DECODE_ERROR)?;
            let keys = connection.keys.first_mut().ok_or(alert::INTERNAL_ERROR)?;
            keys.request = Feature::<CERTIFICATES>::only(|| suits);
            sender.note(&header, body);
        }
        // The hint does not matter: there is one identity (RFC 4279, section 5.2).
        (Expects::ServerHelloDone, Kind::ServerKeyExchange) if connection.suite.key_exchange() == KeyExchange::Psk => {
            sender.note(&header, body);
        }
        (Expects::ServerHelloDone, Kind::ServerHelloDone) if body.is_empty() => {
            sender.note(&header, body);
            answer_flight(connection, crypto, &config.credentials, kept, header.sequence)?;
            let is_allowed = connection.suite.key_exchange() == KeyExchange::EcdheEcdsa;
            let starts_early = is(&config.options.false_start) && is_allowed;
            connection.starts_early = Feature::<FALSE_START>::slot(|| starts_early);
        }
        (Expects::NewSessionTicket, Kind::NewSessionTicket) if RESUMPTION => {
            if resumption::read_ticket(body, kept).is_none() {
                return Ok(false);
            }
            sender.note(&header, body);
            connection.expect_finished();
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Answers the server's flight, whose last message is `answered`, and expects its Finished.
fn answer_flight<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
    kept: &mut Kept,
    answered: u16,
) -> Result<(), Problem> {
    key_exchange(connection, crypto, credentials)?;
    connection.expect_last_flight(kept);
    if !connection.agreed.lean.has(Lean::SERVER_FINISHED_FIRST) {
        connection.wait(Some(answered));
    }
    Ok(())
}

/// The keys, and the flight with ClientKeyExchange, ChangeCipherSpec and Finished, with certificates also Certificate and
/// CertificateVerify: with those that are not left out. If the server's Finished comes first, the ClientHello is repeated until
/// it is there.
fn key_exchange<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
) -> Result<(), Problem> {
    let lean = connection.agreed.lean;
    if !lean.has(Lean::SERVER_FINISHED_FIRST) {
        connection.sender.flight.clear();
    }
    if RESUMPTION {
        connection.identity.keep(credentials.psk().map_or(&[], |psk| psk.identity));
    }
    let own = send_certificate(connection, credentials)?;
    let premaster = match lean.has(Lean::OMIT_MESSAGES) {
        true => Premaster::from_psk(own_psk(credentials)?.key),
        false => send_key_exchange(connection, crypto, credentials)?,
    };
    connection.derive(crypto, &premaster);
    if let Some(own) = own {
        let sender = &mut connection.sender;
        let digest = sender.transcript.digest();
        let signature = crypto.sign(own.private_key, &digest).map_err(|_| alert::INTERNAL_ERROR)?;
        sender.send(Kind::CertificateVerify, |writer| signature::write(writer, &signature))?;
    }
    if lean.has(Lean::SERVER_FINISHED_FIRST) { Ok(()) } else { Ok(connection.finish(crypto)?) }
}

fn own_psk(credentials: &impl Credentials) -> Result<Psk<'_>, Problem> {
    credentials.psk().filter(|psk| is_key(psk.key)).ok_or(Problem::Failure(Failure::NoKey))
}

/// The ClientKeyExchange. Returns the premaster secret.
fn send_key_exchange<C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    crypto: &mut C,
    credentials: &impl Credentials,
) -> Result<Premaster, Problem> {
    let psk = own_psk(credentials);
    let sender = &mut connection.sender;
    match connection.suite.key_exchange() {
        KeyExchange::Psk => {
            let psk = psk?;
            sender.send(Kind::ClientKeyExchange, |writer| writer.vector(2, |writer| writer.put(psk.identity)))?;
            Ok(Premaster::from_psk(psk.key))
        }
        KeyExchange::EcdhePsk => {
            let (psk, mut public) = (psk?, [0; MAX_PUBLIC]);
            let keys = connection.keys.first().ok_or(alert::INTERNAL_ERROR)?;
            let (secret, length) = keys.answer(crypto, &mut public)?;
            sender.send(Kind::ClientKeyExchange, |writer| {
                writer.vector(2, |writer| writer.put(psk.identity))?;
                writer.vector(1, |writer| writer.put(&public[..length]))
            })?;
            Ok(Premaster::from_parts(&secret, psk.key))
        }
        KeyExchange::EcdheEcdsa => {
            let mut public = [0; MAX_PUBLIC];
            let keys = connection.keys.first().ok_or(alert::INTERNAL_ERROR)?;
            let (secret, length) = keys.answer(crypto, &mut public)?;
            sender.send(Kind::ClientKeyExchange, |writer| writer.vector(1, |writer| writer.put(&public[..length])))?;
            Ok(Premaster::from_agreement(&secret))
        }
    }
}

/// The client's certificate, if the server has asked for one: an empty one if it has none that suits the server. Returns what
/// the client then signs with.
fn send_certificate<'k, C: Crypto, const BUFFER: usize>(
    connection: &mut Connection<C, BUFFER>,
    credentials: &'k impl Credentials,
) -> Result<Option<CertifiedKey<'k>>, Problem> {
    let request = connection.keys.first().and_then(|keys| Feature::<CERTIFICATES>::borrow(&keys.request));
    let Some(&suits) = request else { return Ok(None) };
    let kind = connection.agreed.public_keys.client_type();
    let own = credentials::certificate(credentials).filter(|own| suits && own.certificate.kind() == kind);
    let certificate = own.map(|own| own.certificate);
    connection.sender.send(Kind::Certificate, |writer| certificates::write(writer, certificate))?;
    Ok(own)
}
