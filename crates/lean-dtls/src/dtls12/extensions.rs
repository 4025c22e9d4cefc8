//! Extensions of ClientHello and ServerHello (RFC 5246, section 7.4.1.4).
//!
//! To add one: its number and a line in [`bit`]; its reading in [`accept`] (the server) and in [`confirm`] (the client); its
//! writing in [`write_offer`] (the client) and in [`write_answer`] (the server).

use super::{heartbeat, public_keys};
use crate::alert;
use crate::both::Beside;
use crate::codec::{Full, Reader, Writer};
use crate::config::{Config, Options};
use crate::connection_id::{self, ConnectionId};
use crate::credentials::Credentials;
use crate::extension::{self, EXTENDED_MASTER_SECRET, Extensions, RENEGOTIATION_INFO, SESSION_TICKET, next, write};
use crate::features::{
    CERTIFICATES, CONNECTION_ID, DTLS13, ECDHE, Feature, HEARTBEAT, If, LEAN, OrOff, RECORD_LIMITS, RESUMPTION, Switch,
    is,
};
use crate::lean::{self, Lean};
use crate::limits::{self, Limits};
use crate::session::{Kept, Session};
use crate::suite::{Abilities, KeyExchange, Suite};

/// A bit for each extension that this engine reads, and has the feature for: none of them may be there twice. None for others.
const fn bit(number: u16) -> u16 {
    match number {
        EXTENDED_MASTER_SECRET => 1,
        RENEGOTIATION_INFO => 1 << 1,
        lean::EXTENSION if LEAN => 1 << 2,
        extension::MAX_FRAGMENT_LENGTH if RECORD_LIMITS => 1 << 3,
        extension::RECORD_SIZE_LIMIT if RECORD_LIMITS => 1 << 4,
        extension::CONNECTION_ID if CONNECTION_ID => 1 << 5,
        extension::HEARTBEAT if HEARTBEAT => 1 << 6,
        SESSION_TICKET if RESUMPTION => 1 << 7,
        extension::SUPPORTED_GROUPS if ECDHE => 1 << 8,
        extension::EC_POINT_FORMATS if ECDHE => 1 << 9,
        extension::SIGNATURE_ALGORITHMS if CERTIFICATES => 1 << 10,
        extension::CLIENT_CERTIFICATE_TYPE if CERTIFICATES => 1 << 11,
        extension::SERVER_CERTIFICATE_TYPE if CERTIFICATES => 1 << 12,
        _ => 0,
    }
}

/// Reads the extensions at the end of a hello. `None` if it is malformed, or if a known extension is there twice.
pub(crate) fn read(mut reader: Reader<'_>) -> Option<Extensions<'_>> {
    if reader.is_empty() {
        return Some(Extensions(&[]));
    }
    let extensions = Extensions(reader.vector(2).filter(|_| reader.is_empty())?);
    let (mut rest, mut seen) = (Reader::new(extensions.0), 0);
    while !rest.is_empty() {
        let bit = bit(next(&mut rest)?.0);
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
    }
    Some(extensions)
}

/// The extensions that both ends have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// RFC 7627.
    pub(crate) extended_master_secret: bool,
    /// The client knows RFC 5746. Nothing follows from it here but the server's answer: nobody renegotiates.
    secure_renegotiation: bool,
    /// The parts that both ends leave out.
    pub(crate) lean: Lean,
    pub(crate) limits: OrOff<RECORD_LIMITS, Limits>,
    /// Of this end, and of its peer.
    pub(crate) connection_ids: OrOff<CONNECTION_ID, Option<[ConnectionId; 2]>>,
    /// Whether the peer answers heartbeats. `None` if the two have agreed on none.
    pub(crate) heartbeat: OrOff<HEARTBEAT, Option<bool>>,
    /// The server sends a ticket.
    pub(crate) session_ticket: OrOff<RESUMPTION, bool>,
    pub(crate) public_keys: OrOff<ECDHE, public_keys::Agreed>,
}

/// The properties that an end announces of one connection.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) options: &'a Options,
    /// The connection ID of this end, if its configuration asks for one.
    pub(crate) connection_id: Option<ConnectionId>,
    pub(crate) abilities: Abilities<'a>,
    /// The identity that a client sends in its hellos, if the lean profile has it there.
    pub(crate) identity: &'a [u8],
    /// The session that a client asks for.
    pub(crate) session: Option<If<RESUMPTION, &'a Session>>,
}

impl<'a> Offer<'a> {
    /// The offer of a client in its hellos: the same in each.
    pub(crate) fn of_client(
        config: &'a Config<impl Credentials>,
        connection_id: Option<ConnectionId>,
        kept: &'a Kept,
    ) -> Self {
        let psk = config.credentials.psk().filter(|_| config.options.lean.has_identity());
        Self {
            options: &config.options,
            connection_id,
            identity: psk.map_or(&[], |psk| psk.identity),
            abilities: config.abilities(),
            session: Feature::<RESUMPTION>::borrow(kept).and_then(|kept| Feature::<RESUMPTION>::only(|| kept)),
        }
    }

    /// The name of the session that a client asks for.
    pub(crate) fn session_id(&self) -> &[u8] {
        self.session.as_ref().map_or(&[], |asked| asked.state.id())
    }
}

/// The client's extensions. Those that both versions have are among those of the other one, if the client offers it too.
pub(crate) fn write_offer(
    writer: &mut Writer<'_>,
    offer: &Offer<'_>,
    beside: Option<&impl Beside>,
) -> Result<(), Full> {
    let beside = beside.filter(|_| DTLS13);
    let Offer { options, connection_id, identity, abilities, .. } = offer;
    writer.vector(2, |writer| {
        write(writer, EXTENDED_MASTER_SECRET, |_| Ok(()))?;
        if RECORD_LIMITS {
            limits::write(writer, options.limits.max_fragment_length, options.limits.record_size_limit)?;
        }
        if CONNECTION_ID && let Some(own) = connection_id.as_ref().filter(|_| beside.is_none()) {
            connection_id::write(writer, own)?;
        }
        if HEARTBEAT && is(&options.heartbeat) {
            heartbeat::write(writer)?;
        }
        if RESUMPTION && options.sessions.tickets {
            let ticket = offer.session.as_ref().map_or(&[][..], |asked| asked.ticket());
            write(writer, SESSION_TICKET, |writer| writer.put(ticket))?;
        }
        if ECDHE {
            public_keys::write_offer(writer, abilities, beside.is_some())?;
        }
        if !options.lean.is_empty() {
            write(writer, lean::EXTENSION, |writer| lean::Offer { switches: options.lean, identity }.write(writer))?;
        }
        beside.map_or(Ok(()), |beside| beside.write_extensions(writer))
    })
}

/// The server: what it takes of the client's offer, in a handshake with this suite, or in one that resumes a session.
///
/// # Errors
/// The alert with which it refuses the client.
pub(crate) fn accept(
    extensions: Extensions<'_>,
    has_renegotiation_scsv: bool,
    offer: &Offer<'_>,
    suite: Option<Suite>,
) -> Result<Agreed, u8> {
    let is_there = |number, content| extensions.is_there(number, content).ok_or(alert::DECODE_ERROR);
    let extended_master_secret = is_there(EXTENDED_MASTER_SECRET, &[])?;
    let offered = lean_offer(extensions)?.filter(|_| extended_master_secret).map_or(Lean::NONE, |offer| offer.switches);
    let agreed = Agreed {
        extended_master_secret,
        lean: offered.and(offer.options.lean).consistent(),
        // Nothing but a first handshake, in which the content is empty, is possible.
        secure_renegotiation: is_there(RENEGOTIATION_INFO, &[0])? || has_renegotiation_scsv,
        limits: Feature::<RECORD_LIMITS>::or_off(limits::accept(extensions, &offer.options.limits)?),
        connection_ids: Feature::<CONNECTION_ID>::or_off(connection_id::accept(extensions, offer.connection_id)?),
        heartbeat: Feature::<HEARTBEAT>::or_off(match is(&offer.options.heartbeat) {
            true => heartbeat::accept(extensions)?,
            false => None,
        }),
        // Only for a session with extended master secret.
        session_ticket: Feature::<RESUMPTION>::or_off(
            offer.options.sessions.tickets && extensions.find(SESSION_TICKET).is_some() && extended_master_secret,
        ),
        public_keys: Feature::<ECDHE>::or_off(match suite.filter(|_| ECDHE) {
            Some(suite) => public_keys::accept(extensions, suite, &offer.abilities)?,
            None => public_keys::Agreed::default(),
        }),
    };
    let lean = suite.map_or(Lean::NONE, |suite| agreed.lean.without(agreed.excluded(suite)).consistent());
    Ok(Agreed {
        lean,
        // The lean profile has no place for the message with the ticket.
        session_ticket: Feature::<RESUMPTION>::or_off(is(&agreed.session_ticket) && lean.is_empty()),
        ..agreed
    })
}

impl Agreed {
    /// Switches that cannot be used together with the rest of the agreement. A key agreement needs its messages. A short header has no
    /// room for a connection ID.
    fn excluded(&self, suite: Suite) -> Lean {
        if suite.key_exchange() != KeyExchange::Psk {
            return Lean::EVERY;
        }
        if self.connection_ids.is_some() {
            return Lean::SHORT_HEADER;
        }
        Lean::NONE
    }
}

/// The client's offer of the lean profile.
///
/// # Errors
/// The alert with which the server refuses it: it is malformed.
pub(crate) fn lean_offer(extensions: Extensions<'_>) -> Result<Option<lean::Offer<'_>>, u8> {
    let content = extensions.find_if(LEAN, lean::EXTENSION);
    content.map(|content| lean::Offer::read(content).ok_or(alert::DECODE_ERROR)).transpose()
}

/// The server's extensions. Without any, their length is left out too. An answer with the lean profile says that the master
/// secret is the extended one, and that nobody renegotiates: their extensions are left out.
pub(crate) fn write_answer(writer: &mut Writer<'_>, agreed: &Agreed) -> Result<(), Full> {
    if *agreed == Agreed::default() {
        return Ok(());
    }
    writer.vector(2, |writer| {
        let is_plain = agreed.lean.is_empty();
        if !is_plain {
            write(writer, lean::EXTENSION, |writer| writer.put(&[agreed.lean.octet()]))?;
        }
        if agreed.extended_master_secret && is_plain {
            write(writer, EXTENDED_MASTER_SECRET, |_| Ok(()))?;
        }
        if agreed.secure_renegotiation && is_plain {
            write(writer, RENEGOTIATION_INFO, |writer| writer.put(&[0]))?;
        }
        if RECORD_LIMITS {
            limits::write(writer, agreed.limits.fragment_length, agreed.limits.record_size.map(|[own, _]| own))?;
        }
        if CONNECTION_ID && let Some([own, _]) = connection_id::agreed(&agreed.connection_ids) {
            connection_id::write(writer, &own)?;
        }
        if HEARTBEAT && agreed.heartbeat.is_some() {
            heartbeat::write(writer)?;
        }
        if RESUMPTION && is(&agreed.session_ticket) {
            write(writer, SESSION_TICKET, |_| Ok(()))?;
        }
        if ECDHE {
            public_keys::write_answer(writer, &agreed.public_keys)?;
        }
        Ok(())
    })
}

/// The client: what the server has taken of its offer, in a handshake with this suite, or in one that resumes a session.
///
/// # Errors
/// The alert with which it refuses the server: for what it has not offered, unsupported_extension.
pub(crate) fn confirm(extensions: Extensions<'_>, offer: &Offer<'_>, suite: Option<Suite>) -> Result<Agreed, u8> {
    if !extensions.iter().all(|(number, _)| is_offered(number, offer)) {
        return Err(alert::UNSUPPORTED_EXTENSION);
    }
    let is_there = |number, content| extensions.is_there(number, content).ok_or(alert::DECODE_ERROR);
    let lean = match extensions.find_if(LEAN, lean::EXTENSION) {
        Some(content) => lean::read_answer(content, offer.options.lean).ok_or(alert::ILLEGAL_PARAMETER)?,
        None => Lean::NONE,
    };
    let agreed = Agreed {
        extended_master_secret: is_there(EXTENDED_MASTER_SECRET, &[])? || !lean.is_empty(),
        secure_renegotiation: is_there(RENEGOTIATION_INFO, &[0])? || !lean.is_empty(),
        lean,
        limits: Feature::<RECORD_LIMITS>::or_off(limits::confirm(extensions, &offer.options.limits)?),
        connection_ids: Feature::<CONNECTION_ID>::or_off(connection_id::confirm(extensions, offer.connection_id)?),
        heartbeat: Feature::<HEARTBEAT>::or_off(heartbeat::accept(extensions)?),
        session_ticket: Feature::<RESUMPTION>::or_off(RESUMPTION && is_there(SESSION_TICKET, &[])?),
        public_keys: Feature::<ECDHE>::or_off(match suite.filter(|_| ECDHE) {
            Some(suite) => public_keys::confirm(extensions, suite, &offer.abilities)?,
            None => public_keys::Agreed::default(),
        }),
    };
    // A handshake that resumes a session, or brings a ticket, leaves nothing out.
    let is_whole = RESUMPTION && (suite.is_none() || is(&agreed.session_ticket));
    let excluded = suite.map_or(Lean::NONE, |suite| agreed.excluded(suite));
    let is_possible = agreed.lean.and(excluded).is_empty() && (agreed.lean.is_empty() || !is_whole);
    if is_possible { Ok(agreed) } else { Err(alert::ILLEGAL_PARAMETER) }
}

/// True if the client has asked for this extension.
fn is_offered(number: u16, offer: &Offer<'_>) -> bool {
    match number {
        EXTENDED_MASTER_SECRET | RENEGOTIATION_INFO => true,
        lean::EXTENSION => !offer.options.lean.is_empty(),
        extension::MAX_FRAGMENT_LENGTH => offer.options.limits.max_fragment_length.is_some(),
        extension::RECORD_SIZE_LIMIT => offer.options.limits.record_size_limit.is_some(),
        extension::CONNECTION_ID => CONNECTION_ID && offer.connection_id.is_some(),
        extension::HEARTBEAT => is(&offer.options.heartbeat),
        SESSION_TICKET => offer.options.sessions.tickets,
        number => ECDHE && public_keys::is_offered(number, &offer.abilities),
    }
}
