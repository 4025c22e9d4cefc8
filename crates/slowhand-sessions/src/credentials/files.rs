//! The keys and certificates of `credentials/`.

use crate::config::Role;
use crate::operation::Curve;

/// The lengths of the RSA keys in bits.
pub(crate) const RSA_BITS: &[u16] = &[1024, 2048, 3072];

/// A certificate with its private key.
pub(crate) struct End {
    /// An X.509 certificate, DER.
    pub(crate) certificate: &'static [u8],
    /// Its private key: ECPrivateKey of RFC 5915 or RSAPrivateKey of RFC 8017, DER.
    pub(crate) key: &'static [u8],
}

/// A key pair of secp256r1, not encoded.
pub(crate) struct RawKey {
    pub(crate) private: &'static [u8; 32],
    pub(crate) public_x: &'static [u8],
    pub(crate) public_y: &'static [u8],
    /// ECPrivateKey of RFC 5915, DER.
    pub(crate) encoded: &'static [u8],
}

impl RawKey {
    /// The public key, not compressed (SEC 1, section 2.3.3).
    pub(crate) fn public(&self) -> [u8; 65] {
        let mut public = [4; 65];
        public[1..33].copy_from_slice(self.public_x);
        public[33..].copy_from_slice(self.public_y);
        public
    }
}

impl End {
    /// The key pair in the file, which must be a key of secp256r1.
    ///
    /// All fields have a fixed length (RFC 5915 section 3): the private key comes after 7 octets, and the uncompressed
    /// point is the last 64 octets.
    fn raw(&self) -> RawKey {
        RawKey {
            private: self.private_scalar(),
            public_x: &self.key[57..89],
            public_y: &self.key[89..121],
            encoded: self.key,
        }
    }

    /// The private key in the file, which must be a key of secp256r1.
    pub(crate) fn private_scalar(&self) -> &'static [u8; 32] {
        assert_eq!(self.key.len(), 121, "an ECPrivateKey of secp256r1 with its public key has 121 octets");
        self.key[7..].first_chunk().expect("it has 121 octets")
    }
}

/// The kind of the keys of certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateKey {
    /// A key on a curve.
    Curve(Curve),
    /// An RSA key of this number of bits, one of [`RSA_BITS`].
    Rsa(u16),
}

/// The certificates that an end needs.
pub(crate) struct Chain {
    /// The certificate of the authority that both trust.
    pub(crate) authority: &'static [u8],
    /// This end's own certificate.
    pub(crate) own: End,
}

/// The certificates in the files, for keys of one kind.
struct Files {
    authority: &'static [u8],
    /// The certificates of the two ends, client first.
    ends: [End; 2],
    /// The issuer of certificates of other lengths.
    issuer: End,
}

const fn files(key: CertificateKey) -> Files {
    macro_rules! file {
        ($($part:literal),*) => {
            include_bytes!(concat!("../../credentials/", $($part),*))
        };
    }
    macro_rules! end {
        ($name:literal, $who:literal) => {
            End { certificate: file!($name, $who, ".der"), key: file!($name, $who, "-key.der") }
        };
    }
    macro_rules! files {
        ($name:literal) => {
            Files {
                authority: file!($name, "-authority.der"),
                ends: [end!($name, "-client"), end!($name, "-server")],
                issuer: end!($name, "-issuer"),
            }
        };
    }
    match key {
        CertificateKey::Curve(Curve::Secp192r1) => files!("secp192r1"),
        CertificateKey::Curve(Curve::Secp256r1) => files!("secp256r1"),
        CertificateKey::Rsa(1024) => files!("rsa1024"),
        CertificateKey::Rsa(3072) => files!("rsa3072"),
        CertificateKey::Rsa(_) => files!("rsa2048"),
    }
}

/// The certificates of an end in the files.
pub(crate) fn in_file(key: CertificateKey, role: Role) -> Chain {
    let Files { authority, ends: [client, server], .. } = files(key);
    let own = match role {
        Role::Client => client,
        Role::Server => server,
    };
    Chain { authority, own }
}

/// An issuer: its certificate and private key.
pub(crate) const fn issuer(key: CertificateKey) -> End {
    files(key).issuer
}

/// The raw key pair of an end, on secp256r1.
pub(crate) fn raw_key(role: Role) -> RawKey {
    in_file(CertificateKey::Curve(Curve::Secp256r1), role).own.raw()
}
