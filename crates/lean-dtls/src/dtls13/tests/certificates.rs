//! Certificates (RFC 8446, section 4.4; RFC 7250).

use super::*;
use crate::credentials::{Certificate, CertificateError, CertificateType, CertifiedKey, Role, spki};
use crate::crypto::{Crypto as _, Group, MAX_PUBLIC, SCALAR};
use crate::dtls13::certificates::signed_digest;

/// A key pair of P-256.
fn key_pair(of: u8) -> ([u8; SCALAR], [u8; MAX_PUBLIC]) {
    let mut public = [0; MAX_PUBLIC];
    let mut crypto: Crypto = match of {
        0 => RustCrypto::new(|octets| octets.fill(0x11)),
        1 => RustCrypto::new(|octets| octets.fill(0x22)),
        _ => RustCrypto::new(|octets| octets.fill(0x33)),
    };
    (crypto.generate(Group::P256, &mut public).unwrap(), public)
}

/// An end with a raw public key, which trusts one.
#[derive(Clone)]
struct Raw {
    private: [u8; SCALAR],
    spki: Option<Vec<u8>>,
    accepted: &'static [CertificateType],
    trusted: [u8; MAX_PUBLIC],
}

impl Raw {
    /// One of the two ends, which trusts the other.
    fn of(own: u8) -> Self {
        let (private, public) = key_pair(own);
        let accepted = &[CertificateType::RawPublicKey];
        Self { private, spki: Some(spki(&public).to_vec()), accepted, trusted: key_pair(1 - own).1 }
    }
}

impl Credentials for Raw {
    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        let certificate = Certificate::RawPublicKey(self.spki.as_ref()?);
        Some(CertifiedKey { certificate, private_key: &self.private })
    }

    fn accepted(&self) -> &[CertificateType] {
        self.accepted
    }

    fn check_peer(&self, _: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        match certificate.public_key() == Some(self.trusted) {
            true => Ok(()),
            false => Err(CertificateError::CertificateUnknown),
        }
    }
}

/// Both ends after all that they have to say.
fn run(client: Raw, server: Raw) -> [Option<u8>; 2] {
    let (mut client, hello) = End::client(config(client));
    let mut server = End::server(config(server), &hello);
    exchange(&mut client, &mut server);
    if client.refused().is_none() && server.refused().is_none() {
        assert_eq!((client.connection.status, server.connection.status), (Status::Established, Status::Established));
    }
    [client.refused(), server.refused()]
}

#[test]
fn whoever_has_another_key_than_it_says_is_refused() {
    let [client, server] = [Raw::of(0), Raw::of(1)];
    let other = key_pair(2);
    assert_eq!(run(client.clone(), server.clone()), [None, None]);
    // decrypt_error: the signature is not that of the key in the certificate.
    let thief = |of: &Raw| Raw { private: other.0, ..of.clone() };
    assert_eq!(run(client.clone(), thief(&server)), [Some(51), None]);
    assert_eq!(run(thief(&client), server.clone()), [None, Some(51)]);
    // certificate_unknown: the hook does not know the key.
    let stranger = |of: &Raw| Raw { private: other.0, spki: Some(spki(&other.1).to_vec()), ..of.clone() };
    assert_eq!(run(client.clone(), stranger(&server)), [Some(46), None]);
    assert_eq!(run(stranger(&client), server.clone()), [None, Some(46)]);
}

/// A key for psk_ke beside a raw public key.
struct Several(Raw);

impl Credentials for Several {
    fn psk(&self) -> Option<Psk<'_>> {
        Some(KEYS[0])
    }

    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        self.0.certificate()
    }

    fn accepted(&self) -> &[CertificateType] {
        self.0.accepted()
    }
}

/// A server chooses one of what the client has offered: no pre-shared key without an offer, and no key agreement with a key that
/// is used alone.
#[test]
fn each_choice_of_a_server_that_was_not_offered_has_its_alert() {
    let hello = |extensions: &[&[u8]]| {
        let extensions = extensions.concat();
        let mut body = [&[0xfe, 0xfd][..], &[9; 32], &[0, 0x13, 0x05, 0, 0, extensions.len() as u8]].concat();
        body.extend(extensions);
        in_clear(Kind::ServerHello, 0, &body)
    };
    let version = &[0, 43, 0, 2, 0xfe, 0xfc][..];
    let psk = &[0, 41, 0, 2, 0, 0][..];
    let share = [&[0, 51, 0, 69, 0, 23, 0, 65][..], &key_pair(1).1].concat();
    let (mut client, _) = End::client(config(Raw::of(0)));
    client.receive(&hello(&[version, psk, &share]));
    assert_eq!(client.refused(), Some(110));
    let (mut client, _) = End::client(config(Several(Raw::of(0))));
    client.receive(&hello(&[version, psk, &share]));
    assert_eq!(client.refused(), Some(47));
    // Neither the key nor a certificate, which the client could not check.
    let (mut client, _) = End::client(config(KEYS).with_psk_agreement());
    client.receive(&hello(&[version, &share]));
    assert_eq!(client.refused(), Some(40));
}

/// A server has no slot for a client that could not check its certificate, or that has none which the server could check.
#[test]
fn a_client_that_takes_other_certificates_is_refused_at_once() {
    const X509: &[CertificateType] = &[CertificateType::X509];
    for (client, server) in
        [(Raw { accepted: X509, ..Raw::of(0) }, Raw::of(1)), (Raw::of(0), Raw { accepted: X509, ..Raw::of(1) })]
    {
        let (_, hello) = End::client(config(client));
        let arrived = arrived(&hello);
        let hello = ClientHello::read(arrived.body).unwrap();
        let Err(Some((octets, length))) = server::admit(&mut crypto(false), &config(server), SENDER, &arrived, &hello)
        else {
            panic!("admitted");
        };
        assert_eq!(octets[length - 2..length], [2, 40]);
    }
    // Without ecdsa_secp256r1_sha256 among its algorithms the client could not check a signature.
    let (_, mut hello) = End::client(config(Raw::of(0)));
    let place = hello.windows(8).position(|octets| octets == [0, 13, 0, 4, 0, 2, 4, 3]).unwrap();
    hello[place + 6] = 5;
    let arrived = arrived(&hello);
    let read = ClientHello::read(arrived.body).unwrap();
    assert!(server::admit(&mut crypto(false), &config(Raw::of(1)), SENDER, &arrived, &read).is_err());
}

/// Raw public keys of both ends in EncryptedExtensions.
const RAW_KEYS: &[u8] = &[0, 10, 0, 19, 0, 1, 2, 0, 20, 0, 1, 2];
/// A CertificateRequest: no context, signature_algorithms with ecdsa_secp256r1_sha256.
const REQUEST: &[u8] = &[0, 0, 8, 0, 13, 0, 4, 0, 2, 4, 3];

/// A Certificate message with this context, and so many times this key.
fn certificate(context: &[u8], count: usize, of: u8) -> Vec<u8> {
    let spki = spki(&key_pair(of).1);
    let entry = [&[0, 0, spki.len() as u8][..], &spki, &[0, 0]].concat().repeat(count);
    [&[context.len() as u8][..], context, &(entry.len() as u32).to_be_bytes()[1..], &entry].concat()
}

#[test]
fn each_message_that_the_server_must_not_send_has_its_alert() {
    let extensions = (Kind::EncryptedExtensions, RAW_KEYS.to_vec());
    let request = (Kind::CertificateRequest, REQUEST.to_vec());
    let own = (Kind::Certificate, certificate(&[], 1, 1));
    for (messages, expected) in [
        (std::vec![extensions.clone(), request.clone(), own.clone()], None),
        // X.509, which was not offered, by name and by silence.
        (std::vec![(Kind::EncryptedExtensions, [0, 5, 0, 20, 0, 1, 0].to_vec())], Some(47)),
        (std::vec![(Kind::EncryptedExtensions, [0, 0].to_vec())], Some(43)),
        // No certificate; two requests; a request with a context; one that takes no signature of this end.
        (std::vec![extensions.clone(), (Kind::Finished, [7; 32].to_vec())], Some(10)),
        (std::vec![extensions.clone(), request.clone(), request.clone()], Some(10)),
        (std::vec![extensions.clone(), (Kind::CertificateRequest, [&[1, 9][..], &REQUEST[1..]].concat())], Some(47)),
        (
            std::vec![extensions.clone(), (Kind::CertificateRequest, [0, 0, 8, 0, 13, 0, 4, 0, 2, 5, 3].to_vec())],
            Some(40),
        ),
        // Certificates: with a context, none, two, of a stranger; and no proof that the key is the server's.
        (std::vec![extensions.clone(), (Kind::Certificate, certificate(&[9], 1, 1))], Some(47)),
        (std::vec![extensions.clone(), (Kind::Certificate, certificate(&[], 0, 1))], Some(50)),
        (std::vec![extensions.clone(), (Kind::Certificate, certificate(&[], 2, 1))], Some(42)),
        (std::vec![extensions.clone(), (Kind::Certificate, certificate(&[], 4, 1))], Some(42)),
        (std::vec![extensions.clone(), (Kind::Certificate, certificate(&[], 1, 2))], Some(46)),
        (std::vec![extensions, own, (Kind::Finished, [7; 32].to_vec())], Some(10)),
    ] {
        let (mut client, mut server) = after_server_hello(config(Raw::of(0)), config(Raw::of(1)));
        for (kind, body) in &messages {
            assert_eq!(client.refused(), None, "{messages:?}");
            let datagram = server.message(2, *kind, body);
            client.receive(&datagram);
        }
        assert_eq!(client.refused(), expected, "{messages:?}");
    }
}

/// The client's message after the server's flight: the alert of the server, which has asked for a certificate.
#[test]
fn each_message_that_the_client_must_not_send_has_its_alert() {
    for (kind, body, expected) in [
        (Kind::Certificate, certificate(&[], 1, 0), None),
        // certificate_required; unexpected_message.
        (Kind::Certificate, certificate(&[], 0, 0), Some(116)),
        (Kind::CertificateRequest, REQUEST.to_vec(), Some(10)),
        (Kind::Finished, [7; 32].to_vec(), Some(10)),
    ] {
        let (mut client, hello) = End::client(config(Raw::of(0)));
        let mut server = End::server(config(Raw::of(1)), &hello);
        for datagram in server.transmit(MTU) {
            client.receive(&datagram);
        }
        client.transmit(MTU);
        client.connection.sender.next = 1;
        let datagram = client.message(2, kind, &body);
        server.receive(&datagram);
        assert_eq!(server.refused(), expected, "{kind:?}");
    }
}

/// Python's `hashlib`, of 64 spaces, the text and 32 times the octet 1 (the example in RFC 8446, section 4.4.3).
#[test]
fn each_end_signs_in_its_own_name() {
    let digest = |role| {
        signed_digest(&mut crypto(true), role, &[1; 32])
            .iter()
            .map(|octet| std::format!("{octet:02x}"))
            .collect::<std::string::String>()
    };
    assert_eq!(digest(Role::Server), "c77c68e9bbbd2a07754bb3f85bec5fedbebf7afa09e22b4304b24f6ee7938a6c");
    assert_eq!(digest(Role::Client), "e8dd44affaa96f95becf86068ccb967612efa9ce694526df4c7167c80ef441fe");
}
