//! ClientHello, HelloVerifyRequest and ServerHello (RFC 5246, section 7.4.1; RFC 6347, section 4.2.1).

use super::record;
use crate::codec::{Full, Reader, Writer};

/// TLS_PSK_WITH_AES_128_CCM_8 (RFC 6655).
pub(crate) const SUITE: u16 = 0xc0a8;

/// TLS_EMPTY_RENEGOTIATION_INFO_SCSV: this client never renegotiates (RFC 5746, section 3.3).
const RENEGOTIATION_SCSV: u16 = 0x00ff;

const EXTENDED_MASTER_SECRET: u16 = 0x0017;
const RENEGOTIATION_INFO: u16 = 0xff01;

/// What a server reads in a ClientHello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientHello<'a> {
    pub(crate) random: [u8; 32],
    pub(crate) cookie: &'a [u8],
    /// The message without its cookie: what comes before, and what comes after.
    pub(crate) around: [&'a [u8]; 2],
    pub(crate) offers_suite: bool,
    pub(crate) extended_master_secret: bool,
    /// The client knows RFC 5746, and gets the extension back.
    pub(crate) secure_renegotiation: bool,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of a message. `None` if it is malformed, or of another version.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        // A client that knows later versions offers a smaller number.
        let version = reader.u16()?;
        let random = reader.array()?;
        reader.vector(1).filter(|session| session.len() <= 32)?;
        let before = &body[..body.len() - reader.rest().len()];
        let cookie = reader.vector(1)?;
        let after = reader.rest();
        let suites = reader.vector(2).filter(|suites| suites.len() >= 2 && suites.len() % 2 == 0)?;
        let offers = |suite: u16| suites.chunks_exact(2).any(|offered| offered == suite.to_be_bytes());
        reader.vector(1)?.iter().any(|method| *method == 0).then_some(())?;
        let extensions = read_extensions(reader)?;
        (version <= record::VERSION && version >> 8 == 0xfe).then_some(Self {
            random,
            cookie,
            around: [before, after],
            offers_suite: offers(SUITE),
            extended_master_secret: extensions.extended_master_secret,
            secure_renegotiation: extensions.renegotiation_info || offers(RENEGOTIATION_SCSV),
        })
    }

    /// Writes the body of a message.
    pub(crate) fn write(writer: &mut Writer<'_>, random: &[u8; 32], cookie: &[u8]) -> Result<(), Full> {
        writer.number(record::VERSION.into(), 2)?;
        writer.put(random)?;
        writer.vector(1, |_| Ok(()))?; // no session to resume
        writer.vector(1, |writer| writer.put(cookie))?;
        writer.vector(2, |writer| {
            writer.number(SUITE.into(), 2)?;
            writer.number(RENEGOTIATION_SCSV.into(), 2)
        })?;
        writer.vector(1, |writer| writer.number(0, 1))?;
        writer.vector(2, |writer| extension(writer, EXTENDED_MASTER_SECRET, &[]))
    }
}

/// What a client reads in a ServerHello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerHello {
    pub(crate) random: [u8; 32],
    pub(crate) extended_master_secret: bool,
    /// The server has chosen what the client has offered, and nothing else.
    pub(crate) is_acceptable: bool,
}

impl ServerHello {
    /// Reads the body of a message. `None` if it is malformed.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let version = reader.u16()?;
        let random = reader.array()?;
        reader.vector(1).filter(|session| session.len() <= 32)?;
        let (suite, compression) = (reader.u16()?, reader.u8()?);
        let extensions = read_extensions(reader)?;
        let is_acceptable = version == record::VERSION && suite == SUITE && compression == 0 && !extensions.has_unknown;
        Some(Self { random, extended_master_secret: extensions.extended_master_secret, is_acceptable })
    }

    /// Writes the body of the answer to `hello`.
    pub(crate) fn write(writer: &mut Writer<'_>, random: &[u8; 32], hello: &ClientHello<'_>) -> Result<(), Full> {
        writer.number(record::VERSION.into(), 2)?;
        writer.put(random)?;
        writer.vector(1, |_| Ok(()))?; // the session cannot be resumed
        writer.number(SUITE.into(), 2)?;
        writer.number(0, 1)?;
        if !hello.extended_master_secret && !hello.secure_renegotiation {
            return Ok(());
        }
        writer.vector(2, |writer| {
            if hello.extended_master_secret {
                extension(writer, EXTENDED_MASTER_SECRET, &[])?;
            }
            if hello.secure_renegotiation {
                extension(writer, RENEGOTIATION_INFO, &[0])?;
            }
            Ok(())
        })
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

#[derive(Default)]
struct Extensions {
    extended_master_secret: bool,
    renegotiation_info: bool,
    has_unknown: bool,
}

/// Reads the extensions, which end the message. `None` if they are malformed, or if one is there twice.
fn read_extensions(mut reader: Reader<'_>) -> Option<Extensions> {
    let mut found = Extensions::default();
    if reader.is_empty() {
        return Some(found);
    }
    let mut extensions = Reader::new(reader.vector(2)?);
    while !extensions.is_empty() {
        let (number, content) = (extensions.u16()?, extensions.vector(2)?);
        let known = match number {
            EXTENDED_MASTER_SECRET => content.is_empty().then_some(&mut found.extended_master_secret)?,
            // Nothing but a first handshake, in which the content is empty, is possible.
            RENEGOTIATION_INFO => (content == [0]).then_some(&mut found.renegotiation_info)?,
            _ => {
                found.has_unknown = true;
                continue;
            }
        };
        if core::mem::replace(known, true) {
            return None;
        }
    }
    reader.is_empty().then_some(found)
}

fn extension(writer: &mut Writer<'_>, number: u16, content: &[u8]) -> Result<(), Full> {
    writer.number(number.into(), 2)?;
    writer.vector(2, |writer| writer.put(content))
}
