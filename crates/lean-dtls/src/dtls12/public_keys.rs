//! The parts of the hellos about public keys: groups, forms of points, signatures (RFC 8422, section 5.1; RFC 5246, section
//! 7.4.1.4.1) and types of certificates (RFC 7250).

use crate::alert;
use crate::certificates::{chosen_type, write_algorithms, write_types};
use crate::codec::{Full, Reader, Writer};
use crate::credentials::CertificateType;
use crate::crypto::Group;
use crate::extension::{CLIENT_CERTIFICATE_TYPE, ECDSA_SHA256, SERVER_CERTIFICATE_TYPE, SIGNATURE_ALGORITHMS};
use crate::extension::{EC_POINT_FORMATS, Extensions, SUPPORTED_GROUPS, write};
use crate::features::{CERTIFICATES, Off};
use crate::suite::{Abilities, KeyExchange, Suite};

/// The form of a point that is not compressed.
const UNCOMPRESSED: u8 = 0;

/// The choices of the hellos about public keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// The server answers the client's forms of points.
    answers_formats: bool,
    /// The type of the server's certificate, and of the client's, if the hellos say it. Otherwise it is X.509.
    types: [Option<CertificateType>; 2],
}

impl Off for Agreed {
    const OFF: &'static Self = &Self { answers_formats: false, types: [None; 2] };
}

impl Agreed {
    pub(crate) fn server_type(&self) -> CertificateType {
        self.types[0].unwrap_or(CertificateType::X509)
    }

    pub(crate) fn client_type(&self) -> CertificateType {
        self.types[1].unwrap_or(CertificateType::X509)
    }
}

/// The client's extensions, without those that DTLS 1.3 has too if they are there.
pub(crate) fn write_offer(writer: &mut Writer<'_>, abilities: &Abilities<'_>, is_shared: bool) -> Result<(), Full> {
    if !abilities.needs_groups() {
        return Ok(());
    }
    if !is_shared {
        write(writer, SUPPORTED_GROUPS, |writer| {
            let mut groups = abilities.groups().iter();
            writer.vector(2, |writer| groups.try_for_each(|group| writer.number(group.number().into(), 2)))
        })?;
    }
    write(writer, EC_POINT_FORMATS, |writer| writer.vector(1, |writer| writer.number(UNCOMPRESSED.into(), 1)))?;
    if CERTIFICATES && !is_shared && abilities.offered().any(|suite| suite.key_exchange() == KeyExchange::EcdheEcdsa) {
        write_algorithms(writer)?;
        write_types(writer, CLIENT_CERTIFICATE_TYPE, abilities.own().as_slice())?;
        write_types(writer, SERVER_CERTIFICATE_TYPE, abilities.accepted())?;
    }
    Ok(())
}

/// True if the client has asked for this extension.
pub(crate) fn is_offered(number: u16, abilities: &Abilities<'_>) -> bool {
    match number {
        EC_POINT_FORMATS => abilities.needs_groups(),
        CLIENT_CERTIFICATE_TYPE => abilities.own() == Some(CertificateType::RawPublicKey),
        SERVER_CERTIFICATE_TYPE => abilities.accepted().contains(&CertificateType::RawPublicKey),
        _ => false,
    }
}

/// The server: the group that it takes of the client's offer, if both have one.
pub(crate) fn group(extensions: Extensions<'_>, abilities: &Abilities<'_>) -> Option<Group> {
    // Without the extension the server is free (RFC 8422, section 4).
    let Some(content) = extensions.find(SUPPORTED_GROUPS) else { return abilities.groups().first().copied() };
    abilities.groups().iter().copied().find(|group| numbers(content).any(|number| number == group.number()))
}

/// The server: true if its public keys suit the client's extensions.
pub(crate) fn is_possible(extensions: Extensions<'_>, suite: Suite, abilities: &Abilities<'_>) -> bool {
    // Without the extension, this is the only form (RFC 8422, section 5.1.2).
    let has_point = || {
        let has_form = extensions.find(EC_POINT_FORMATS).is_none_or(|content| list_of_octets(content).contains(&0));
        has_form && group(extensions, abilities).is_some()
    };
    match suite.key_exchange() {
        KeyExchange::Psk => true,
        KeyExchange::EcdhePsk => has_point(),
        KeyExchange::EcdheEcdsa => {
            // Without the extension the client wants SHA-1 (RFC 5246, section 7.4.1.4.1).
            let algorithms = extensions.find(SIGNATURE_ALGORITHMS).unwrap_or(&[]);
            let can_verify = numbers(algorithms).any(|number| number == ECDSA_SHA256);
            let takes = |own: CertificateType| match extensions.find(SERVER_CERTIFICATE_TYPE) {
                Some(content) => list_of_octets(content).contains(&own.number()),
                None => own == CertificateType::X509,
            };
            can_verify && has_point() && abilities.own().is_some_and(takes)
        }
    }
}

/// The server: what it takes of the client's offer, for a suite that is possible.
///
/// # Errors
/// The alert with which it refuses the client.
pub(crate) fn accept(extensions: Extensions<'_>, suite: Suite, abilities: &Abilities<'_>) -> Result<Agreed, u8> {
    let mut agreed = Agreed::default();
    if suite.key_exchange() != KeyExchange::Psk {
        agreed.answers_formats = extensions.find(EC_POINT_FORMATS).is_some();
    }
    if suite.key_exchange() == KeyExchange::EcdheEcdsa {
        agreed.types[0] = extensions.find(SERVER_CERTIFICATE_TYPE).and(abilities.own());
        let client = extensions.find(CLIENT_CERTIFICATE_TYPE);
        let has = |kind: &&CertificateType| match client {
            Some(content) => list_of_octets(content).contains(&kind.number()),
            None => **kind == CertificateType::X509,
        };
        if !abilities.accepted().is_empty() {
            let chosen = abilities.accepted().iter().find(has).ok_or(alert::UNSUPPORTED_CERTIFICATE)?;
            agreed.types[1] = client.map(|_| *chosen);
        }
    }
    Ok(agreed)
}

/// The server's extensions.
pub(crate) fn write_answer(writer: &mut Writer<'_>, agreed: &Agreed) -> Result<(), Full> {
    if agreed.answers_formats {
        write(writer, EC_POINT_FORMATS, |writer| writer.vector(1, |writer| writer.number(UNCOMPRESSED.into(), 1)))?;
    }
    for (number, kind) in [SERVER_CERTIFICATE_TYPE, CLIENT_CERTIFICATE_TYPE].into_iter().zip(agreed.types) {
        if let Some(kind) = kind {
            write(writer, number, |writer| writer.number(kind.number().into(), 1))?;
        }
    }
    Ok(())
}

/// The client: what the server has taken of its offer.
///
/// # Errors
/// The alert with which it refuses the server.
pub(crate) fn confirm(extensions: Extensions<'_>, suite: Suite, abilities: &Abilities<'_>) -> Result<Agreed, u8> {
    let agreed = Agreed {
        answers_formats: extensions.find(EC_POINT_FORMATS).is_some(),
        types: [
            chosen_type(extensions, SERVER_CERTIFICATE_TYPE, abilities.accepted())?,
            chosen_type(extensions, CLIENT_CERTIFICATE_TYPE, abilities.own().as_slice())?,
        ],
    };
    if extensions.find(EC_POINT_FORMATS).is_some_and(|content| !list_of_octets(content).contains(&UNCOMPRESSED)) {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    if suite.key_exchange() == KeyExchange::EcdheEcdsa && !abilities.accepted().contains(&agreed.server_type()) {
        return Err(alert::UNSUPPORTED_CERTIFICATE);
    }
    Ok(agreed)
}

/// The numbers of a list with two octets of length. Empty if it is malformed.
fn numbers(content: &[u8]) -> impl Iterator<Item = u16> {
    let mut reader = Reader::new(content);
    let octets = reader.vector(2).filter(|_| reader.is_empty()).unwrap_or(&[]);
    octets.chunks_exact(2).map(|number| u16::from_be_bytes([number[0], number[1]]))
}

/// The octets of a list with one octet of length. Empty if it is malformed.
fn list_of_octets(content: &[u8]) -> &[u8] {
    let mut reader = Reader::new(content);
    reader.vector(1).filter(|_| reader.is_empty()).unwrap_or(&[])
}
