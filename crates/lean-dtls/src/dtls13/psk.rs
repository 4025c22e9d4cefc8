//! Pre-shared keys, as DTLS 1.3 uses them: as they are, or imported (RFC 9258).

use super::connection::transcript_header;
use super::record::VERSION;
use super::schedule::{Origin, Secret};
use crate::codec::{Full, Reader, Writer};
use crate::credentials::{Credentials, Psk, import_context, is_key};
use crate::crypto::{Crypto, DIGEST, Hash};
use crate::handshake::Kind;

/// HKDF_SHA256, the function for which keys are imported (RFC 9258, section 10).
const KDF: u16 = 1;

/// A pre-shared key that both ends have.
#[derive(Clone, Copy)]
pub(crate) struct Key<'k> {
    psk: Psk<'k>,
    /// With what it is imported. `None`: it is used as it is.
    context: Option<&'k [u8]>,
}

impl<'k> Key<'k> {
    /// The key that a client uses.
    pub(crate) fn own(credentials: &'k impl Credentials) -> Option<Self> {
        let psk = credentials.psk().filter(|psk| is_key(psk.key))?;
        Some(Self { psk, context: import_context(credentials, psk.identity) })
    }

    /// The key that a server knows under the identity that a client sends. A key has one use only: who imports it does
    /// not use it as it is (RFC 9258, section 4).
    pub(crate) fn find(credentials: &'k impl Credentials, sent: &'k [u8]) -> Option<Self> {
        let known = |identity, context| {
            let key = credentials.find_psk(identity).filter(|key| is_key(key))?;
            let is_used_so = import_context(credentials, identity) == context;
            is_used_so.then_some(Self { psk: Psk { identity, key }, context })
        };
        known(sent, None).or_else(|| {
            let (identity, context) = read_imported(sent)?;
            known(identity, Some(context))
        })
    }

    /// The name of the key, without the context of its import.
    pub(crate) const fn identity(&self) -> &'k [u8] {
        self.psk.identity
    }

    /// Writes the identity that a client sends: if the key is imported, an ImportedIdentity (RFC 9258, section 5.1).
    pub(crate) fn write_identity(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        let Some(context) = self.context else { return writer.put(self.psk.identity) };
        writer.vector(2, |writer| writer.put(self.psk.identity))?;
        writer.vector(2, |writer| writer.put(context))?;
        writer.number(VERSION.into(), 2)?;
        writer.number(KDF.into(), 2)
    }

    /// The early secret.
    pub(crate) fn early<C: Crypto>(&self, crypto: &mut C) -> Secret {
        let Some(context) = self.context else { return Secret::early(crypto, Some(self.psk.key)) };
        let mut identity = crypto.hash();
        for vector in [self.psk.identity, context] {
            identity.update(&(vector.len() as u16).to_be_bytes());
            identity.update(vector);
        }
        identity.update(&VERSION.to_be_bytes());
        identity.update(&KDF.to_be_bytes());
        Secret::early_imported(crypto, self.psk.key, &identity.digest())
    }

    /// The binder, from the early secret and the digest of the ClientHello up to the binders.
    pub(crate) fn binder<C: Crypto>(&self, crypto: &mut C, early: &Secret, hello: &[u8; DIGEST]) -> [u8; DIGEST] {
        early.binder(crypto, if self.context.is_some() { Origin::Imported } else { Origin::External }, hello)
    }
}

/// The digest of a ClientHello after this transcript, up to the binders: they cover so many octets of its body.
pub(crate) fn covered_digest(transcript: &impl Hash, body: &[u8], covered: usize) -> [u8; DIGEST] {
    let mut transcript = transcript.clone();
    transcript.update(&transcript_header(Kind::ClientHello, body.len()));
    transcript.update(&body[..covered]);
    transcript.digest()
}

/// The external identity and the context in an ImportedIdentity for this version and [`KDF`].
fn read_imported(sent: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = Reader::new(sent);
    let (identity, context) = (reader.vector(2)?, reader.vector(2)?);
    let is_for_this = (reader.u16()?, reader.u16()?) == (VERSION, KDF);
    (is_for_this && reader.is_empty()).then_some((identity, context))
}

#[cfg(all(test, feature = "rustcrypto"))]
mod tests {
    use super::*;
    use crate::credentials::ImportedPsk;
    use crate::crypto::RustCrypto;

    fn hex(octets: &[u8]) -> std::string::String {
        octets.iter().map(|octet| std::format!("{octet:02x}")).collect()
    }

    /// The expected values are those of Python's `hmac` and `hashlib`, from the formulas of RFC 9258, section 5, and
    /// RFC 8446, section 7, with the prefix of DTLS 1.3 (RFC 9147, section 5.9).
    #[test]
    fn an_imported_key_is_that_of_another_implementation() {
        for (context, identity, early, binder) in [
            (
                &b""[..],
                "000973656e736f722d31370000fefc0001",
                "cfc3211f1b2aba812cd621ac600c00b3319ee6233f640199d84c1683149513c4",
                "c712f0152447d42863119a44edd74489751007a12049d21187b8afb5fc12f3e5",
            ),
            (
                b"sensor-17 to gateway",
                "000973656e736f722d3137001473656e736f722d313720746f2067617465776179fefc0001",
                "12f2e76915762a74d9b5f16d81a32462dd468e708aaf22188ea1608ccbccaa8b",
                "2db8d795ebc5daf7ec83387c154f987201a02a8e3995b2da074b584dbc5cefd6",
            ),
        ] {
            let crypto = &mut RustCrypto::new(|_: &mut [u8]| {});
            let credentials = [ImportedPsk { identity: b"sensor-17", key: b"0123456789abcdef", context }];
            let own = Key::own(&credentials).unwrap();
            let mut octets = [0; 64];
            let mut writer = Writer::new(&mut octets);
            own.write_identity(&mut writer).unwrap();
            let length = writer.len();
            let sent = &octets[..length];
            assert_eq!(hex(sent), identity);
            let mut hello = crypto.hash();
            hello.update(b"hello");
            for key in [own, Key::find(&credentials, sent).unwrap()] {
                let secret = key.early(crypto);
                assert_eq!(hex(secret.octets()), early);
                assert_eq!(hex(&key.binder(crypto, &secret, &hello.digest())), binder);
            }
        }
    }
}
