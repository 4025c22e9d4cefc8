//! ClientHello, ServerHello and HelloRetryRequest, and their extensions (RFC 8446, section 4; RFC 9147, section 5).

use super::certificate_types;
use super::psk::Key;
use super::record::{LEGACY_VERSION, VERSION};
use crate::both::Beside;
use crate::codec::{Full, Reader, Writer};
use crate::connection_id::{self, ConnectionId};
use crate::crypto::{Aead, DIGEST, Group};
use crate::extension::{self, Extensions};
use crate::features::{CERTIFICATES, Slot};

/// The random number of a HelloRetryRequest: SHA-256 of "HelloRetryRequest" (RFC 8446, section 4.1.3).
pub(crate) const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Octets at the end of a ClientHello with one binder, which the binder does not cover: the list's length, the binder's, and
/// the binder.
pub(crate) const BINDERS: usize = 2 + 1 + DIGEST;

/// The use of a pre-shared key (RFC 8446, section 4.2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// psk_ke: alone.
    Alone = 0,
    /// psk_dhe_ke: with key agreement, so that who learns the key later cannot read the connection.
    WithAgreement = 1,
}

/// The number of a suite: TLS_AES_128_CCM_8_SHA256 and so on (RFC 8446, appendix B.4).
pub(crate) const fn suite(aead: Aead) -> u16 {
    match aead {
        Aead::Gcm => 0x1301,
        Aead::Ccm => 0x1304,
        Aead::Ccm8 => 0x1305,
    }
}

/// Reads the extensions that end a message. `None` if it is malformed, or if an extension is there twice.
pub(crate) fn read_extensions(mut reader: Reader<'_>) -> Option<Extensions<'_>> {
    let extensions = Extensions(reader.vector(2).filter(|_| reader.is_empty())?);
    let mut rest = Reader::new(extensions.0);
    // Extensions with a number below 64: all that this engine knows. Others are not looked at.
    let mut seen = 0_u64;
    while !rest.is_empty() {
        let (number, _) = extension::next(&mut rest)?;
        let bit = 1_u64.checked_shl(number.into()).unwrap_or(0);
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
    }
    Some(extensions)
}

/// The ID in a connection_id extension. `None` if it is malformed, or longer than this end can keep.
pub(crate) fn read_connection_id(content: &[u8]) -> Option<ConnectionId> {
    let mut reader = Reader::new(content);
    ConnectionId::new(reader.vector(1).filter(|_| reader.is_empty())?)
}

/// The offer of a client.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'a> {
    /// The versions, the preferred one first.
    pub(crate) versions: &'static [u16],
    pub(crate) aeads: &'a [Aead],
    pub(crate) groups: &'a [Group],
    /// A group and a public key in it.
    pub(crate) share: Option<(Group, &'a [u8])>,
    pub(crate) connection_id: Option<ConnectionId>,
    pub(crate) cookie: &'a [u8],
    /// A pre-shared key, and how it is used.
    pub(crate) psk: Option<(Key<'a>, Mode)>,
    pub(crate) certificates: Slot<CERTIFICATES, certificate_types::Offer<'a>>,
}

impl Offer<'_> {
    /// Writes the body of a ClientHello. If it has a key, it ends with [`BINDERS`] octets in which the binder is missing.
    pub(crate) fn write(&self, writer: &mut Writer<'_>, random: &[u8; 32]) -> Result<(), Full> {
        writer.number(LEGACY_VERSION.into(), 2)?;
        writer.put(random)?;
        writer.vector(1, |_| Ok(()))?; // no session of an earlier version
        writer.vector(1, |_| Ok(()))?; // no cookie of an earlier version
        writer.vector(2, |writer| self.write_suites(writer))?;
        writer.vector(1, |writer| writer.number(0, 1))?;
        writer.vector(2, |writer| self.write_extensions(writer))
    }
}

impl Beside for Offer<'_> {
    fn write_suites(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        self.aeads.iter().try_for_each(|aead| writer.number(suite(*aead).into(), 2))
    }

    fn write_extensions(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        extension::write(writer, extension::SUPPORTED_VERSIONS, |writer| {
            writer.vector(1, |writer| self.versions.iter().try_for_each(|version| writer.number((*version).into(), 2)))
        })?;
        if !self.cookie.is_empty() {
            extension::write(writer, extension::COOKIE, |writer| writer.vector(2, |writer| writer.put(self.cookie)))?;
        }
        if !self.groups.is_empty() {
            extension::write(writer, extension::SUPPORTED_GROUPS, |writer| {
                writer.vector(2, |writer| self.groups.iter().try_for_each(|it| writer.number(it.number().into(), 2)))
            })?;
            // Whoever names groups has to have this too (RFC 8446, section 9.2).
            extension::write(writer, extension::KEY_SHARE, |writer| {
                writer.vector(2, |writer| {
                    let Some((of, public)) = self.share else { return Ok(()) };
                    writer.number(of.number().into(), 2)?;
                    writer.vector(2, |writer| writer.put(public))
                })
            })?;
        }
        if let Some(id) = &self.connection_id {
            connection_id::write(writer, id)?;
        }
        if let Some(certificates) = self.certificates.first() {
            certificates.write(writer)?;
        }
        let Some((key, mode)) = self.psk else { return Ok(()) };
        extension::write(writer, extension::PSK_KEY_EXCHANGE_MODES, |writer| {
            writer.vector(1, |writer| writer.put(&[mode as u8]))
        })?;
        // It is always the last (RFC 8446, section 4.2.11).
        extension::write(writer, extension::PRE_SHARED_KEY, |writer| {
            writer.vector(2, |writer| {
                writer.vector(2, |writer| key.write_identity(writer))?;
                writer.number(0, 4) // the age of a ticket, which it is not
            })?;
            writer.vector(2, |writer| writer.vector(1, |writer| writer.put(&[0; DIGEST])))
        })
    }
}

/// The fields that a server reads in a ClientHello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientHello<'a> {
    pub(crate) random: [u8; 32],
    /// The client has sent a cookie of DTLS 1.2, which is illegal.
    pub(crate) has_legacy_cookie: bool,
    suites: &'a [u8],
    pub(crate) extensions: Extensions<'a>,
    psks: Option<OfferedPsks<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct OfferedPsks<'a> {
    identities: &'a [u8],
    binders: &'a [u8],
}

/// A pre-shared key that a client offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedPsk<'a> {
    pub(crate) place: u16,
    pub(crate) identity: &'a [u8],
    pub(crate) binder: &'a [u8],
}

impl<'a> ClientHello<'a> {
    /// Reads the body of a message. `None` if it is malformed, or does not offer DTLS 1.3.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let version = reader.u16()?;
        let random = reader.array()?;
        reader.vector(1).filter(|session| session.len() <= 32)?;
        let cookie = reader.vector(1)?;
        let suites = reader.vector(2).filter(|suites| suites.len() >= 2 && suites.len() % 2 == 0)?;
        let compression = reader.vector(1)?;
        let extensions = read_extensions(reader)?;
        let psks = match extensions.find(extension::PRE_SHARED_KEY) {
            Some(content) => {
                Some(OfferedPsks::read(content).filter(|_| extensions.last() == Some(extension::PRE_SHARED_KEY))?)
            }
            None => None,
        };
        let is_offered = extensions.lists(extension::SUPPORTED_VERSIONS, 1, VERSION);
        (version == LEGACY_VERSION && compression == [0] && is_offered).then_some(Self {
            random,
            has_legacy_cookie: !cookie.is_empty(),
            suites,
            extensions,
            psks,
        })
    }

    pub(crate) fn offers_suite(&self, aead: Aead) -> bool {
        self.suites.chunks_exact(2).any(|offered| offered == suite(aead).to_be_bytes())
    }

    pub(crate) fn offers_group(&self, of: Group) -> bool {
        self.extensions.lists(extension::SUPPORTED_GROUPS, 2, of.number())
    }

    pub(crate) fn offers_mode(&self, mode: Mode) -> bool {
        let modes = self.extensions.find(extension::PSK_KEY_EXCHANGE_MODES);
        modes.and_then(|content| Reader::new(content).vector(1)).is_some_and(|modes| modes.contains(&(mode as u8)))
    }

    /// The cookie. `None` if there is none, or if it is malformed.
    pub(crate) fn cookie(&self) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.extensions.find(extension::COOKIE)?);
        reader.vector(2).filter(|_| reader.is_empty())
    }

    /// The client's public key in a group.
    pub(crate) fn share(&self, of: Group) -> Option<&'a [u8]> {
        let mut shares = Reader::new(Reader::new(self.extensions.find(extension::KEY_SHARE)?).vector(2)?);
        while !shares.is_empty() {
            let (number, public) = extension::next(&mut shares)?;
            if number == of.number() {
                return Some(public);
            }
        }
        None
    }

    /// The pre-shared keys, the preferred one first.
    pub(crate) fn psks(&self) -> impl Iterator<Item = OfferedPsk<'a>> + use<'a> {
        let (identities, binders) = self.psks.map_or((&[][..], &[][..]), |psks| (psks.identities, psks.binders));
        let (mut identities, mut binders) = (Reader::new(identities), Reader::new(binders));
        (0..).map_while(move |place| {
            let identity = identities.vector(2)?;
            identities.number(4)?;
            Some(OfferedPsk { place, identity, binder: binders.vector(1)? })
        })
    }

    /// Octets at the end of the message that the binders do not cover.
    pub(crate) fn binders(&self) -> usize {
        self.psks.map_or(0, |psks| 2 + psks.binders.len())
    }
}

impl<'a> OfferedPsks<'a> {
    fn read(content: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(content);
        let (identities, binders) = (reader.vector(2)?, reader.vector(2)?);
        reader.is_empty().then_some(Self { identities, binders })
    }
}

/// The fields that a client reads in a ServerHello or a HelloRetryRequest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerHello<'a> {
    pub(crate) random: [u8; 32],
    suite: u16,
    pub(crate) extensions: Extensions<'a>,
    /// The fields that can have one value only have it.
    pub(crate) is_legal: bool,
}

impl<'a> ServerHello<'a> {
    /// Reads the body of a message. `None` if it is malformed, or chooses an earlier version.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let version = reader.u16()?;
        let random = reader.array()?;
        let session = reader.vector(1)?;
        let (suite, compression) = (reader.u16()?, reader.u8()?);
        let extensions = read_extensions(reader)?;
        let is_legal = version == LEGACY_VERSION && session.is_empty() && compression == 0;
        let is_chosen = extensions.find(extension::SUPPORTED_VERSIONS) == Some(&VERSION.to_be_bytes());
        is_chosen.then_some(Self { random, suite, extensions, is_legal })
    }

    pub(crate) fn is_retry(&self) -> bool {
        self.random == RETRY
    }

    /// The algorithm that the server has chosen of the offered ones.
    pub(crate) fn aead(&self, offered: &[Aead]) -> Option<Aead> {
        offered.iter().copied().find(|aead| suite(*aead) == self.suite)
    }

    /// The cookie of a HelloRetryRequest. `None` if it is malformed.
    pub(crate) fn cookie(&self) -> Option<&'a [u8]> {
        let Some(content) = self.extensions.find(extension::COOKIE) else { return Some(&[]) };
        let mut reader = Reader::new(content);
        reader.vector(2).filter(|cookie| reader.is_empty() && !cookie.is_empty())
    }

    /// The group that a HelloRetryRequest asks for, of these.
    pub(crate) fn group(&self, offered: &[Group]) -> Option<Group> {
        let content = self.extensions.find(extension::KEY_SHARE)?;
        offered.iter().copied().find(|it| it.number().to_be_bytes() == content)
    }

    /// The server's public key in this group.
    pub(crate) fn share(&self, of: Group) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.extensions.find(extension::KEY_SHARE)?);
        let (number, public) = extension::next(&mut reader)?;
        (reader.is_empty() && number == of.number()).then_some(public)
    }
}

/// The answer of a server in a ServerHello.
#[derive(Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub(crate) random: &'a [u8; 32],
    pub(crate) aead: Aead,
    pub(crate) share: Option<(Group, &'a [u8])>,
    pub(crate) connection_id: Option<&'a ConnectionId>,
    /// The place of the pre-shared key in the client's list.
    pub(crate) psk: Option<u16>,
}

impl Answer<'_> {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        write_server_hello(writer, self.random, self.aead, |writer| {
            if let Some((of, public)) = self.share {
                extension::write(writer, extension::KEY_SHARE, |writer| {
                    writer.number(of.number().into(), 2)?;
                    writer.vector(2, |writer| writer.put(public))
                })?;
            }
            if let Some(id) = self.connection_id {
                connection_id::write(writer, id)?;
            }
            match self.psk {
                Some(place) => {
                    extension::write(writer, extension::PRE_SHARED_KEY, |writer| writer.number(place.into(), 2))
                }
                None => Ok(()),
            }
        })
    }
}

/// Writes the body of a HelloRetryRequest.
pub(crate) fn write_retry(
    writer: &mut Writer<'_>,
    aead: Aead,
    asked: Option<Group>,
    cookie: &[u8],
) -> Result<(), Full> {
    write_server_hello(writer, &RETRY, aead, |writer| {
        if let Some(asked) = asked {
            extension::write(writer, extension::KEY_SHARE, |writer| writer.number(asked.number().into(), 2))?;
        }
        extension::write(writer, extension::COOKIE, |writer| writer.vector(2, |writer| writer.put(cookie)))
    })
}

fn write_server_hello(
    writer: &mut Writer<'_>,
    random: &[u8; 32],
    aead: Aead,
    extensions: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
) -> Result<(), Full> {
    writer.number(LEGACY_VERSION.into(), 2)?;
    writer.put(random)?;
    writer.vector(1, |_| Ok(()))?; // the client's session is not echoed (RFC 9147, section 5)
    writer.number(suite(aead).into(), 2)?;
    writer.number(0, 1)?;
    writer.vector(2, |writer| {
        extension::write(writer, extension::SUPPORTED_VERSIONS, |writer| writer.number(VERSION.into(), 2))?;
        extensions(writer)
    })
}
