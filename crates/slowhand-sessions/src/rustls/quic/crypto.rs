//! The cryptography of quinn-proto: the TLS 1.3 and the packet protection of rustls.
//!
//! quinn-proto has an adapter of its own, but only together with the cryptography of ring.

use std::any::Any;
use std::io::Cursor;
use std::net::Ipv6Addr;
use std::sync::Arc;

use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use bytes::BytesMut;
use quinn_proto::crypto::{
    self, AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::crypto::hmac::Hmac;
use rustls::pki_types::ServerName;
use rustls::quic::{
    ClientConnection, Connection, DirectionalKeys, HeaderProtectionKey, KeyChange, PacketKey as RustlsPacketKey,
    Secrets, ServerConnection, Version,
};
use subtle::ConstantTimeEq;

use super::super::provider;
use super::super::symmetric::SHA256;
use super::VERSION;
use crate::device;

/// The configuration of a client.
pub(super) struct Client(pub(super) Arc<rustls::ClientConfig>);

/// The configuration of a server.
pub(super) struct Server(pub(super) Arc<rustls::ServerConfig>);

impl ClientConfig for Client {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        // The library needs a name, but neither sends it nor checks the certificate for it.
        let name = ServerName::from(Ipv6Addr::LOCALHOST);
        let connection = ClientConnection::new(self.0.clone(), Version::V1, name, octets(parameters));
        let connection = connection.map_err(|error| ConnectError::InvalidServerName(error.to_string()))?;
        Ok(Box::new(Tls { connection: connection.into(), next_secrets: None }))
    }
}

impl ServerConfig for Server {
    fn initial_keys(&self, version: u32, connection_id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version == VERSION { Ok(initial_keys(connection_id, Side::Server)) } else { Err(UnsupportedVersion) }
    }

    fn retry_tag(&self, _version: u32, original: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        retry_tag(original, packet)
    }

    fn start_session(self: Arc<Self>, _version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        let connection = ServerConnection::new(self.0.clone(), Version::V1, octets(parameters));
        // It refuses a configuration without TLS 1.3, or without a suite for QUIC: each of these has both.
        let connection = connection.expect("the configuration is one for QUIC");
        Box::new(Tls { connection: connection.into(), next_secrets: None })
    }
}

/// The handshake of one end.
struct Tls {
    connection: Connection,
    /// The secrets from which the keys after the next key update follow.
    next_secrets: Option<Secrets>,
}

impl Session for Tls {
    fn initial_keys(&self, connection_id: &ConnectionId, side: Side) -> Keys {
        initial_keys(connection_id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    fn read_handshake(&mut self, octets: &[u8]) -> Result<bool, TransportError> {
        let read = self.connection.read_hs(octets);
        read.map(|()| false).map_err(|error| TransportError {
            code: match self.connection.alert() {
                Some(alert) => TransportErrorCode::crypto(alert.into()),
                None => TransportErrorCode::PROTOCOL_VIOLATION,
            },
            frame: None,
            reason: error.to_string(),
        })
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let side = match self.connection {
            Connection::Client(_) => Side::Client,
            Connection::Server(_) => Side::Server,
        };
        let Some(octets) = self.connection.quic_transport_parameters() else { return Ok(None) };
        Ok(Some(TransportParameters::read(side, &mut Cursor::new(octets))?))
    }

    fn write_handshake(&mut self, octets: &mut Vec<u8>) -> Option<Keys> {
        Some(match self.connection.write_hs(octets)? {
            KeyChange::Handshake { keys } => of_both(keys),
            KeyChange::OneRtt { keys, next } => {
                self.next_secrets = Some(next);
                of_both(keys)
            }
        })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next_secrets.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(Packets(keys.local)), remote: Box::new(Packets(keys.remote)) })
    }

    fn is_valid_retry(&self, original: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let Some((payload, tag)) = payload.split_last_chunk() else { return false };
        retry_tag(original, &[header, payload].concat()) == *tag
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let exported = self.connection.export_keying_material(output, label, Some(context));
        exported.map(|_| ()).map_err(|_| ExportKeyingMaterialError)
    }
}

fn octets(parameters: &TransportParameters) -> Vec<u8> {
    let mut octets = Vec::new();
    parameters.write(&mut octets);
    octets
}

fn initial_keys(connection_id: &ConnectionId, side: Side) -> Keys {
    let side = match side {
        Side::Client => rustls::Side::Client,
        Side::Server => rustls::Side::Server,
    };
    of_both(provider::initial_suite().keys(connection_id, side, Version::V1))
}

fn of_both(keys: rustls::quic::Keys) -> Keys {
    let of_one = |keys: DirectionalKeys| (Box::new(Headers(keys.header)), Box::new(Packets(keys.packet)));
    let ((local_header, local_packet), (header, packet)) = (of_one(keys.local), of_one(keys.remote));
    Keys {
        header: KeyPair { local: local_header, remote: header },
        packet: KeyPair { local: local_packet, remote: packet },
    }
}

/// The tag of a Retry packet (RFC 9001 section 5.8), whose key and nonce everybody knows. No server here sends such a packet.
fn retry_tag(original: &ConnectionId, packet: &[u8]) -> [u8; 16] {
    const KEY: [u8; 16] = 0xbe0c_690b_9f66_575a_1d76_6b54_e368_c84e_u128.to_be_bytes();
    const NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];
    let pseudo_packet = [&[original.len() as u8], &original[..], packet].concat();
    let sealed =
        Aes128Gcm::new(&KEY.into()).encrypt_inout_detached(&NONCE.into(), &pseudo_packet, (&mut [][..]).into());
    sealed.expect("a packet has less octets than the limit of GCM").into()
}

struct Packets(Box<dyn RustlsPacketKey>);

impl PacketKey for Packets {
    fn encrypt(&self, number: u64, packet: &mut [u8], header: usize) {
        let (header, payload) = packet.split_at_mut(header);
        let (payload, tag) = payload.split_at_mut(payload.len() - self.0.tag_len());
        let sealed = self.0.encrypt_in_place(number, header, payload);
        tag.copy_from_slice(sealed.expect("a packet has less octets than the limit of GCM").as_ref());
    }

    fn decrypt(&self, number: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let opened = self.0.decrypt_in_place(number, header, payload).map_err(|_| CryptoError)?;
        let length = opened.len();
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

struct Headers(Box<dyn HeaderProtectionKey>);

impl Headers {
    /// Splits a packet into its first octet, its packet number, as if that had all four octets, and the sample behind it
    /// (RFC 9001 section 5.4.2). The library gives packets that are long enough.
    fn split<'a>(&self, number: usize, packet: &'a mut [u8]) -> (&'a [u8], &'a mut u8, &'a mut [u8]) {
        let (header, rest) = packet.split_at_mut(number + 4);
        let (first, header) = header.split_at_mut(1);
        (&rest[..self.0.sample_len()], &mut first[0], &mut header[number - 1..])
    }
}

impl HeaderKey for Headers {
    fn decrypt(&self, number: usize, packet: &mut [u8]) {
        let (sample, first, number) = self.split(number, packet);
        self.0.decrypt_in_place(sample, first, number).expect("the sample has its length");
    }

    fn encrypt(&self, number: usize, packet: &mut [u8]) {
        let (sample, first, number) = self.split(number, packet);
        self.0.encrypt_in_place(sample, first, number).expect("the sample has its length");
    }

    fn sample_size(&self) -> usize {
        self.0.sample_len()
    }
}

/// The key from which an end derives its tokens for stateless resets (RFC 9000 section 10.3.2).
pub(super) struct ResetKey([u8; 32]);

impl ResetKey {
    /// A key of the device.
    pub(super) fn new() -> Self {
        Self(device::random())
    }
}

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], output: &mut [u8]) {
        output.copy_from_slice(SHA256.with_key(&self.0).sign(&[data]).as_ref());
    }

    fn signature_len(&self) -> usize {
        SHA256.hash_output_len()
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let own = SHA256.with_key(&self.0).sign(&[data]);
        if own.as_ref().ct_eq(signature).into() { Ok(()) } else { Err(CryptoError) }
    }
}

/// A server here gives no tokens of address validation to its clients (RFC 9000 section 8.1), so it takes none.
pub(super) struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for NoTokens {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(crypto::CryptoError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet of RFC 9001 appendix A.4: first octet, version, connection IDs, the text "token", the tag.
    #[test]
    fn the_retry_in_appendix_a() {
        let original = ConnectionId::new(&[0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08]);
        let header = [0xff, 0, 0, 0, 1, 0, 8, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5];
        let tag = 0x04a2_65ba_2eff_4d82_9058_fb3f_0f24_96ba_u128.to_be_bytes();
        assert_eq!(retry_tag(&original, &[&header[..], b"token"].concat()), tag);
    }
}
