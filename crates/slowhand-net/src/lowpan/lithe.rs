//! Compression of the headers of DTLS, as Lithe has it: Raza, Shafagh, Hewage, Hummen, Voigt, "Lithe: Lightweight Secure
//! CoAP for the Internet of Things", IEEE Sensors Journal 13 (10), 2013. The octets are those of the authors' Internet-Draft
//! of the same scheme, draft-raza-dice-compressed-dtls-00 (2014).
//!
//! A record, with the header of a handshake message or without it:
//!
//! ```text
//!   0   1   2   3   4   5   6   7
//! +---+---+---+---+---+---+---+---+
//! | 1 | 0 | 0 | 1 | V | EC|  SN   |  LOWPAN_NHC_R: then content type, version, epoch, sequence number
//! +---+---+---+---+---+---+---+---+
//! | 1 | 0 | 0 | 0 | V | EC|SN | F |  LOWPAN_NHC_RHS: then version, epoch, sequence number, message type, message sequence
//! +---+---+---+---+---+---+---+---+
//! ```
//! V: the version follows; else it is DTLS 1.2. EC: the epoch has 16 bits; else 8. SN: the sequence number has 16, 24, 32 or 48
//! bits; with one bit, 16 or 48. Lengths are always left out. They follow from that of the datagram, so only a datagram of one
//! record is compressed. Any other travels as it is; the draft lets the border router split it (section 3).
//!
//! Behind the header of a handshake message, the hellos:
//!
//! ```text
//! +---+---+---+---+---+---+---+---+
//! | 1 | 0 | 1 | 0 | SI| C |CS |CM |  LOWPAN_NHC_CH: then random, session ID, cookie, cipher suites, compression methods
//! +---+---+---+---+---+---+---+---+
//! | 1 | 0 | 1 | 1 | V |SI |CS |CM |  LOWPAN_NHC_SH: then version, random, session ID, cipher suite, compression method
//! +---+---+---+---+---+---+---+---+
//! ```
//! A field follows if its bit is set. Else the session ID and the cookie are empty, the only cipher suite is
//! TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, the only compression method is null. The version of a ClientHello is that of its record.
//! That of a ServerHello is DTLS 1.0 unless V is set. Extensions follow as they are.
//!
//! The draft leaves these open:
//! - With F set, offset and length of a fragment follow, but not the length of the message, and it follows from nothing else.
//!   So a fragment of a message travels behind a LOWPAN_NHC_R, with its header as it is, and F is never set.
//! - Fields follow in the order of the headers (assumed; its figure 6 shows some of them).
//! - A hello that cannot be compressed follows as it is. Its first octet is that of a version, which is no such encoding.

use super::Error;
use super::cursor::{Reader, Writer};

/// The IDs of the encodings, in the first four bits (draft-raza-dice-compressed-dtls-00 section 9).
const RECORD_AND_HANDSHAKE: u8 = 0b1000;
const RECORD: u8 = 0b1001;
const CLIENT_HELLO: u8 = 0b1010;
const SERVER_HELLO: u8 = 0b1011;

/// The octets of the header of a record, and of a handshake message (RFC 6347 sections 4.1 and 4.2.2).
const RECORD_HEADER: usize = 13;
const HANDSHAKE_HEADER: usize = 12;

const VERSION_1_0: u16 = 0xfeff;
const VERSION_1_2: u16 = 0xfefd;

/// The content type of handshake messages.
const HANDSHAKE: u8 = 22;

/// The types of handshake messages that are hellos.
const TYPE_CLIENT_HELLO: u8 = 1;
const TYPE_SERVER_HELLO: u8 = 2;

const RANDOM: usize = 32;

/// TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 (section 5).
const SUITE: [u8; 2] = [0xc0, 0xae];

/// The widths of sequence numbers in octets, by SN (section 3); with one bit, the first and the last (section 4).
const SEQUENCE_OCTETS: [usize; 4] = [2, 3, 4, 6];

const V: u8 = 0b1000;
const EC: u8 = 0b0100;

/// Writes the compressed headers at the beginning of `payload`, the payload of a UDP datagram of `length` octets, of which it may
/// be the first. Returns the octets that they replace; none if it is not a datagram of one record.
pub(super) fn compress(payload: &[u8], length: usize, out: &mut Writer<'_>) -> Result<Option<usize>, Error> {
    let Ok(record) = Record::read(&mut Reader::new(payload)) else { return Ok(None) };
    if usize::from(record.length) + RECORD_HEADER != length {
        return Ok(None);
    }
    let Some(handshake) = Handshake::of_whole_message(&record, &payload[RECORD_HEADER..]) else {
        record.emit(out)?;
        return Ok(Some(RECORD_HEADER));
    };
    record.emit_with(&handshake, out)?;
    let headers = RECORD_HEADER + HANDSHAKE_HEADER;
    let (before, hello) = (out.written(), &payload[headers..]);
    let compressed = match handshake.kind {
        TYPE_CLIENT_HELLO => ClientHello::compress(hello, record.version, out),
        TYPE_SERVER_HELLO => ServerHello::compress(hello, out),
        _ => None,
    };
    if compressed.is_none() {
        out.truncate(before); // no hello that can be compressed, or one that is too long for the first frame
    }
    Ok(Some(headers + compressed.unwrap_or(0)))
}

/// Reads what [`compress`] has written, and writes it as it was. `length` is that of the payload of the datagram; `None` if all
/// of it is here.
///
/// # Errors
/// [`Error::NextHeader`] if it is no compressed record, [`Error::Truncated`], [`Error::BufferTooSmall`].
pub(super) fn decompress(input: &mut Reader<'_>, length: Option<usize>, out: &mut Writer<'_>) -> Result<(), Error> {
    let begin = out.written();
    let encoding = input.u8()?;
    let handshake = match encoding >> 4 {
        RECORD => {
            let kind = input.u8()?;
            Record::read_compressed(kind, encoding, SEQUENCE_OCTETS[usize::from(encoding & 0b11)], input)?
                .write(out)?;
            false
        }
        RECORD_AND_HANDSHAKE if encoding & 1 == 0 => {
            let octets = SEQUENCE_OCTETS[usize::from(encoding >> 1 & 1) * 3];
            let record = Record::read_compressed(HANDSHAKE, encoding, octets, input)?;
            let handshake = Handshake { kind: input.u8()?, sequence: input.u16()? };
            record.write(out)?;
            handshake.write(out)?;
            let next = input.rest().first().map(|octet| octet >> 4);
            match (handshake.kind, next) {
                (TYPE_CLIENT_HELLO, Some(CLIENT_HELLO)) => ClientHello::decompress(record.version, input, out)?,
                (TYPE_SERVER_HELLO, Some(SERVER_HELLO)) => ServerHello::decompress(input, out)?,
                _ => {}
            }
            true
        }
        _ => return Err(Error::NextHeader(encoding)),
    };
    let length = length.unwrap_or(out.written() - begin + input.rest().len());
    let record = length.checked_sub(RECORD_HEADER).ok_or(Error::Truncated)?;
    let fragment = u16::try_from(record).map_err(|_| Error::TooLong(length))?;
    let headers = &mut out.octets()[begin..];
    headers[11..RECORD_HEADER].copy_from_slice(&fragment.to_be_bytes());
    if handshake {
        let message = fragment.checked_sub(HANDSHAKE_HEADER as u16).ok_or(Error::Truncated)?;
        // The length of the message, and that of the fragment.
        for field in [RECORD_HEADER + 1, RECORD_HEADER + 9] {
            headers[field..field + 3].copy_from_slice(&u32::from(message).to_be_bytes()[1..]);
        }
    }
    Ok(())
}

/// The header of a record.
#[derive(Clone, Copy)]
struct Record {
    kind: u8,
    version: u16,
    epoch: u16,
    /// 48 bits.
    sequence: u64,
    length: u16,
}

impl Record {
    fn read(input: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            kind: input.u8()?,
            version: input.u16()?,
            epoch: input.u16()?,
            sequence: read_number(6, input)?,
            length: input.u16()?,
        })
    }

    /// Writes the uncompressed header. Its length is set later.
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        out.u8(self.kind)?;
        out.u16(self.version)?;
        out.u16(self.epoch)?;
        emit_number(self.sequence, 6, out)?;
        out.u16(0)
    }

    /// Writes a LOWPAN_NHC_R.
    fn emit(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        let fits = |octets: &usize| self.sequence >> (8 * octets) == 0;
        let mode = SEQUENCE_OCTETS.iter().position(fits).unwrap_or(SEQUENCE_OCTETS.len() - 1);
        out.slice(&[RECORD << 4 | self.flags() | mode as u8, self.kind])?;
        self.emit_fields(SEQUENCE_OCTETS[mode], out)
    }

    /// Writes a LOWPAN_NHC_RHS.
    fn emit_with(&self, handshake: &Handshake, out: &mut Writer<'_>) -> Result<(), Error> {
        let is_long = self.sequence >> 16 != 0;
        out.u8(RECORD_AND_HANDSHAKE << 4 | self.flags() | u8::from(is_long) << 1)?;
        self.emit_fields(SEQUENCE_OCTETS[if is_long { 3 } else { 0 }], out)?;
        out.u8(handshake.kind)?;
        out.u16(handshake.sequence)
    }

    fn flags(&self) -> u8 {
        (if self.version == VERSION_1_2 { 0 } else { V }) | if self.epoch >> 8 == 0 { 0 } else { EC }
    }

    fn emit_fields(&self, sequence_octets: usize, out: &mut Writer<'_>) -> Result<(), Error> {
        let flags = self.flags();
        if flags & V != 0 {
            out.u16(self.version)?;
        }
        emit_number(self.epoch.into(), if flags & EC == 0 { 1 } else { 2 }, out)?;
        emit_number(self.sequence, sequence_octets, out)
    }

    fn read_compressed(kind: u8, encoding: u8, sequence_octets: usize, input: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            kind,
            version: if encoding & V == 0 { VERSION_1_2 } else { input.u16()? },
            epoch: if encoding & EC == 0 { input.u8()?.into() } else { input.u16()? },
            sequence: read_number(sequence_octets, input)?,
            length: 0,
        })
    }
}

/// The header of a handshake message, without its lengths.
#[derive(Clone, Copy)]
struct Handshake {
    kind: u8,
    sequence: u16,
}

impl Handshake {
    /// The header of the message that fills a record. None if the record has another content, a fragment, or a hello that would
    /// be taken for a compressed one.
    fn of_whole_message(record: &Record, octets: &[u8]) -> Option<Self> {
        let mut input = Reader::new(octets);
        let mut next = |octets| read_number(octets, &mut input).ok();
        let (kind, length, sequence) = (next(1)? as u8, next(3)?, next(2)? as u16);
        let (offset, fragment) = (next(3)?, next(3)?);
        let whole = u64::from(record.length).checked_sub(HANDSHAKE_HEADER as u64)?;
        let first = octets.get(HANDSHAKE_HEADER).map(|octet| octet >> 4);
        let looks_compressed =
            matches!((kind, first), (TYPE_CLIENT_HELLO, Some(CLIENT_HELLO)) | (TYPE_SERVER_HELLO, Some(SERVER_HELLO)));
        let is_whole = record.kind == HANDSHAKE && length == whole && fragment == whole && offset == 0;
        (is_whole && !looks_compressed).then_some(Self { kind, sequence })
    }

    /// Writes the uncompressed header. Its lengths are set later.
    fn write(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        out.u8(self.kind)?;
        emit_number(0, 3, out)?;
        out.u16(self.sequence)?;
        emit_number(0, 6, out)
    }
}

/// The fields of a ClientHello before its extensions, without the version.
struct ClientHello<'a> {
    random: &'a [u8],
    session: &'a [u8],
    cookie: &'a [u8],
    suites: &'a [u8],
    methods: &'a [u8],
}

const SI_CLIENT: u8 = 0b1000;
const C: u8 = 0b0100;
const CS: u8 = 0b0010;
const CM: u8 = 0b0001;

impl<'a> ClientHello<'a> {
    /// Writes the hello at the beginning of `octets`. Returns its length. `None` if it is truncated, has another version than its record,
    /// or there is no room.
    fn compress(octets: &'a [u8], version: u16, out: &mut Writer<'_>) -> Option<usize> {
        let mut input = Reader::new(octets);
        if input.u16() != Ok(version) {
            return None;
        }
        Self::read_fields(&mut input, |_| true).and_then(|hello| hello.emit(out)).ok()?;
        Some(input.position())
    }

    /// The fields of which `is_here` says that they are there.
    fn read_fields(input: &mut Reader<'a>, is_here: impl Fn(u8) -> bool) -> Result<Self, Error> {
        Ok(Self {
            random: input.slice(RANDOM)?,
            session: if is_here(SI_CLIENT) { read_vector(1, input)? } else { &[] },
            cookie: if is_here(C) { read_vector(1, input)? } else { &[] },
            suites: if is_here(CS) { read_vector(2, input)? } else { &SUITE },
            methods: if is_here(CM) { read_vector(1, input)? } else { &[0] },
        })
    }

    fn emit(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        let bit = |flag, is_left_out| if is_left_out { 0 } else { flag };
        let here = bit(SI_CLIENT, self.session.is_empty())
            | bit(C, self.cookie.is_empty())
            | bit(CS, self.suites == SUITE)
            | bit(CM, self.methods == [0]);
        out.u8(CLIENT_HELLO << 4 | here)?;
        self.emit_fields(|flag| here & flag != 0, out)
    }

    fn emit_fields(&self, is_here: impl Fn(u8) -> bool, out: &mut Writer<'_>) -> Result<(), Error> {
        out.slice(self.random)?;
        let fields = [(SI_CLIENT, self.session, 1), (C, self.cookie, 1), (CS, self.suites, 2), (CM, self.methods, 1)];
        let mut here = fields.iter().filter(|(flag, ..)| is_here(*flag));
        here.try_for_each(|&(_, octets, width)| {
            emit_number(octets.len() as u64, width, out)?;
            out.slice(octets)
        })
    }

    fn decompress(version: u16, input: &mut Reader<'a>, out: &mut Writer<'_>) -> Result<(), Error> {
        let encoding = input.u8()?;
        out.u16(version)?;
        Self::read_fields(input, |flag| encoding & flag != 0)?.emit_fields(|_| true, out)
    }
}

/// The fields of a ServerHello before its extensions.
struct ServerHello<'a> {
    version: u16,
    random: &'a [u8],
    session: &'a [u8],
    suite: [u8; 2],
    method: u8,
}

const SI_SERVER: u8 = 0b0100;

impl<'a> ServerHello<'a> {
    /// Writes the hello at the beginning of `octets`. Returns its length. `None` if it is truncated, or there is no room.
    fn compress(octets: &'a [u8], out: &mut Writer<'_>) -> Option<usize> {
        let mut input = Reader::new(octets);
        Self::read_fields(&mut input, |_| true).and_then(|hello| hello.emit(out)).ok()?;
        Some(input.position())
    }

    /// The fields of which `is_here` says that they are there.
    fn read_fields(input: &mut Reader<'a>, is_here: impl Fn(u8) -> bool) -> Result<Self, Error> {
        Ok(Self {
            version: if is_here(V) { input.u16()? } else { VERSION_1_0 },
            random: input.slice(RANDOM)?,
            session: if is_here(SI_SERVER) { read_vector(1, input)? } else { &[] },
            suite: if is_here(CS) { input.array()? } else { SUITE },
            method: if is_here(CM) { input.u8()? } else { 0 },
        })
    }

    fn emit(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        let bit = |flag, is_left_out| if is_left_out { 0 } else { flag };
        let here = bit(V, self.version == VERSION_1_0)
            | bit(SI_SERVER, self.session.is_empty())
            | bit(CS, self.suite == SUITE)
            | bit(CM, self.method == 0);
        out.u8(SERVER_HELLO << 4 | here)?;
        self.emit_fields(|flag| here & flag != 0, out)
    }

    fn emit_fields(&self, is_here: impl Fn(u8) -> bool, out: &mut Writer<'_>) -> Result<(), Error> {
        if is_here(V) {
            out.u16(self.version)?;
        }
        out.slice(self.random)?;
        if is_here(SI_SERVER) {
            out.u8(self.session.len() as u8)?; // it was read with a length of one octet
            out.slice(self.session)?;
        }
        if is_here(CS) {
            out.slice(&self.suite)?;
        }
        if is_here(CM) { out.u8(self.method) } else { Ok(()) }
    }

    fn decompress(input: &mut Reader<'a>, out: &mut Writer<'_>) -> Result<(), Error> {
        let encoding = input.u8()?;
        Self::read_fields(input, |flag| encoding & flag != 0)?.emit_fields(|_| true, out)
    }
}

/// A number of so many octets, at most eight.
fn read_number(octets: usize, input: &mut Reader<'_>) -> Result<u64, Error> {
    Ok(input.slice(octets)?.iter().fold(0, |number, &octet| number << 8 | u64::from(octet)))
}

fn emit_number(number: u64, octets: usize, out: &mut Writer<'_>) -> Result<(), Error> {
    out.slice(&number.to_be_bytes()[8 - octets..])
}

/// A vector behind its length, which has so many octets.
fn read_vector<'a>(width: usize, input: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let length = read_number(width, input)?;
    input.slice(length as usize)
}
