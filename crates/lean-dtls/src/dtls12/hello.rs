//! ClientHello, HelloVerifyRequest and ServerHello (RFC 5246, section 7.4.1; RFC 6347, section 4.2.1).

use super::extensions::{self, Agreed, Offer};
use super::public_keys;
use super::record;
use crate::both::Beside;
use crate::codec::{Full, Reader, Writer};
use crate::extension::Extensions;
use crate::features::{DTLS13, ECDHE, Feature, RESUMPTION, Slot, Switch};
use crate::suite::{Abilities, KeyExchange, Suite};

/// TLS_EMPTY_RENEGOTIATION_INFO_SCSV: this client never renegotiates (RFC 5746, section 3.3).
const RENEGOTIATION_SCSV: u16 = 0x00ff;

/// The fields that a server reads in a ClientHello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientHello<'a> {
    pub(crate) random: [u8; 32],
    /// The name of the session that the client asks for.
    session: Slot<RESUMPTION, &'a [u8]>,
    pub(crate) cookie: &'a [u8],
    /// The parts that a client must not change when the cookie returns (RFC 6347, section 4.2.1): version, random and session ID,
    /// which come before the cookie; suites and compression methods, which come after. The order of the extensions may change: in
    /// wolfSSL it does.
    pub(crate) around: [&'a [u8]; 2],
    suites: &'a [u8],
    /// The client knows RFC 5746.
    pub(crate) has_renegotiation_scsv: bool,
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of a message. `None` if it is malformed, or of another version.
    #[inline(never)] // its caller has enough to keep
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        // A client that knows later versions offers a smaller number.
        let version = reader.u16()?;
        let random = reader.array()?;
        let session = reader.vector(1).filter(|session| session.len() <= 32)?;
        let before = &body[..body.len() - reader.rest().len()];
        let cookie = reader.vector(1)?;
        let after = reader.rest();
        let suites = reader.vector(2).filter(|suites| suites.len() >= 2 && suites.len() % 2 == 0)?;
        let offers = |suite: u16| suites.chunks_exact(2).any(|offered| offered == suite.to_be_bytes());
        // Null is one of the methods: the smallest. (`contains` brings a search by words, of 120 octets.)
        reader.vector(1)?.iter().min().filter(|method| **method == 0)?;
        let after = &after[..after.len() - reader.rest().len()];
        let extensions = extensions::read(reader)?;
        (version <= record::VERSION && version >> 8 == 0xfe).then_some(Self {
            random,
            session: Feature::<RESUMPTION>::slot(|| session),
            cookie,
            around: [before, after],
            suites,
            has_renegotiation_scsv: offers(RENEGOTIATION_SCSV),
            extensions,
        })
    }

    /// The name of the session that the client asks for.
    pub(crate) fn session(&self) -> &'a [u8] {
        self.session.first().copied().unwrap_or_default()
    }

    /// True if the client offers this suite.
    pub(crate) fn offers(&self, suite: Suite) -> bool {
        self.suites.chunks_exact(2).any(|offered| offered == suite.iana().to_be_bytes())
    }

    /// Writes the body of a message. What the client offers beside DTLS 1.2 comes first among the suites, and last among the extensions.
    pub(crate) fn write(
        writer: &mut Writer<'_>,
        random: &[u8; 32],
        cookie: &[u8],
        offer: &Offer<'_>,
        beside: Option<&impl Beside>,
    ) -> Result<(), Full> {
        let beside = beside.filter(|_| DTLS13);
        writer.number(record::VERSION.into(), 2)?;
        writer.put(random)?;
        writer.vector(1, |writer| writer.put(offer.session_id()))?;
        writer.vector(1, |writer| writer.put(cookie))?;
        writer.vector(2, |writer| {
            beside.map_or(Ok(()), |beside| beside.write_suites(writer))?;
            offer.abilities.offered().try_for_each(|suite| writer.number(suite.iana().into(), 2))?;
            writer.number(RENEGOTIATION_SCSV.into(), 2)
        })?;
        writer.vector(1, |writer| writer.number(0, 1))?;
        extensions::write_offer(writer, offer, beside)
    }
}

impl Abilities<'_> {
    /// The server: the suite that it chooses.
    pub(crate) fn choose(&self, hello: &ClientHello<'_>) -> Option<Suite> {
        let is_possible =
            |suite: Suite| (!ECDHE || public_keys::is_possible(hello.extensions, suite, self)) && hello.offers(suite);
        self.suites.iter().copied().find(|suite| is_possible(*suite))
    }

    /// The server: true if its answer takes no arithmetic with public keys.
    pub(crate) fn is_cheap(&self, hello: &ClientHello<'_>) -> bool {
        self.choose(hello).is_some_and(|suite| suite.key_exchange() == KeyExchange::Psk)
    }
}

/// The fields that a client reads in a ServerHello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerHello<'a> {
    pub(crate) random: [u8; 32],
    /// The server has chosen the version and the compression that the client has offered.
    pub(crate) is_acceptable: bool,
    pub(crate) suite: u16,
    /// The name of the session.
    session: Slot<RESUMPTION, &'a [u8]>,
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> ServerHello<'a> {
    /// Reads the body of a message. `None` if it is malformed.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let version = reader.u16()?;
        let random = reader.array()?;
        let session = reader.vector(1).filter(|session| session.len() <= 32)?;
        let (suite, compression) = (reader.u16()?, reader.u8()?);
        let extensions = extensions::read(reader)?;
        let is_acceptable = version == record::VERSION && compression == 0;
        Some(Self { random, is_acceptable, suite, session: Feature::<RESUMPTION>::slot(|| session), extensions })
    }

    /// The name of the session.
    pub(crate) fn session(&self) -> &'a [u8] {
        self.session.first().copied().unwrap_or_default()
    }

    /// Writes the body of a message.
    pub(crate) fn write(
        writer: &mut Writer<'_>,
        random: &[u8; 32],
        session: &[u8],
        suite: Suite,
        agreed: &Agreed,
    ) -> Result<(), Full> {
        writer.number(record::VERSION.into(), 2)?;
        writer.put(random)?;
        writer.vector(1, |writer| writer.put(session))?;
        writer.number(suite.iana().into(), 2)?;
        writer.number(0, 1)?;
        extensions::write_answer(writer, agreed)
    }
}

/// The cookie of a HelloVerifyRequest. `None` if it is malformed.
pub(crate) fn read_cookie(body: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(body);
    reader.u16()?;
    reader.vector(1).filter(|_| reader.is_empty())
}

/// Writes the body of a HelloVerifyRequest. The version is always 1.0 (RFC 6347, section 4.2.1).
pub(crate) fn write_cookie(writer: &mut Writer<'_>, cookie: &[u8]) -> Result<(), Full> {
    writer.number(record::VERSION_10.into(), 2)?;
    writer.vector(1, |writer| writer.put(cookie))
}
