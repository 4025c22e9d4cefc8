//! Which certificates are believed. `tests/credentials/make.sh` has made them.

use lean_dtls::{
    Certificate, CertificateError, CertificateType, CertifiedKey, Config, ConfigError, Credentials, EcdsaP256Sha256,
    RawPublicKey, Role, Timeouts, X509, spki,
};
use p256::elliptic_curve::sec1::ToSec1Point;

const AUTHORITY: &[u8] = include_bytes!("../credentials/authority.der");
const OTHER: &[u8] = include_bytes!("../credentials/other.der");
const ISSUER: &[u8] = include_bytes!("../credentials/issuer.der");
const SERVER: &[u8] = include_bytes!("../credentials/server.der");
const CLIENT: &[u8] = include_bytes!("../credentials/client.der");
const EXPIRED: &[u8] = include_bytes!("../credentials/expired.der");

/// 2030-01-01.
fn year_2030() -> u64 {
    1_893_456_000
}

const TRUST: X509<'_> = X509 {
    own: None,
    authorities: &[OTHER, AUTHORITY],
    server_name: Some("sensors.example"),
    unix_time: year_2030,
    algorithms: EcdsaP256Sha256::ONLY,
};

fn check(trust: &X509<'_>, peer: Role, chain: &[&[u8]]) -> Result<(), CertificateError> {
    trust.check_peer(peer, &Certificate::X509(chain))
}

#[test]
fn a_chain_is_accepted_that_leads_to_a_trusted_authority() {
    assert_eq!(check(&TRUST, Role::Server, &[SERVER, ISSUER]), Ok(()));
    assert_eq!(check(&TRUST, Role::Server, &[SERVER, ISSUER, AUTHORITY]), Ok(()));
    assert_eq!(check(&TRUST, Role::Client, &[CLIENT, ISSUER]), Ok(()));
    assert_eq!(check(&X509 { server_name: Some("2001:db8::1"), ..TRUST }, Role::Server, &[SERVER, ISSUER]), Ok(()));
    assert_eq!(check(&X509 { authorities: &[ISSUER], ..TRUST }, Role::Server, &[SERVER]), Ok(()));
}

#[test]
fn every_other_chain_is_refused_for_its_reason() {
    use CertificateError::{BadCertificate, CertificateExpired, UnknownCa};
    let refused = |trust: &X509<'_>, peer, chain: &[&[u8]]| check(trust, peer, chain).unwrap_err();
    assert_eq!(refused(&X509 { authorities: &[OTHER], ..TRUST }, Role::Server, &[SERVER, ISSUER]), UnknownCa);
    assert_eq!(refused(&TRUST, Role::Server, &[SERVER]), UnknownCa, "the issuer is missing");
    assert_eq!(refused(&TRUST, Role::Client, &[EXPIRED, ISSUER]), CertificateExpired);
    assert_eq!(refused(&X509 { unix_time: || 0, ..TRUST }, Role::Client, &[CLIENT, ISSUER]), CertificateExpired);
    for name in ["actuators.example", "sensors.example.org", "2001:db8::2", "no name"] {
        let trust = X509 { server_name: Some(name), ..TRUST };
        assert_eq!(refused(&trust, Role::Server, &[SERVER, ISSUER]), BadCertificate, "{name}");
    }
    // For other uses than theirs.
    assert_eq!(refused(&TRUST, Role::Server, &[CLIENT, ISSUER]), BadCertificate);
    assert_eq!(refused(&TRUST, Role::Client, &[SERVER, ISSUER]), BadCertificate);
    // One bit of the signature, the last octet, is wrong.
    let mut forged = SERVER.to_vec();
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(refused(&TRUST, Role::Server, &[&forged, ISSUER]), BadCertificate);
    // Not a certificate; more certificates than a chain has.
    assert_eq!(refused(&TRUST, Role::Server, &[&[], ISSUER]), BadCertificate);
    assert_eq!(refused(&TRUST, Role::Server, &[SERVER, ISSUER, AUTHORITY, OTHER]), BadCertificate);
}

/// The key in the certificate, as `openssl x509 -pubkey` finds it: the key pair signs and verifies.
#[test]
fn the_public_key_of_a_certificate_is_that_of_its_private_key() {
    let private = include_bytes!("../credentials/server.key");
    let public = p256::SecretKey::from_slice(private).unwrap().public_key().to_sec1_point(false);
    let found = Certificate::X509(&[SERVER, ISSUER]).public_key().unwrap();
    assert_eq!(found[..], *public.as_bytes());
    assert_eq!(Certificate::RawPublicKey(&spki(&found)).public_key(), Some(found));
    for end in 0..SERVER.len() {
        assert_eq!(Certificate::X509(&[&SERVER[..end]]).public_key(), None, "{end} octets of the certificate");
    }
}

#[test]
fn a_raw_public_key_is_accepted_if_it_is_known() {
    let [known, unknown] = [SERVER, CLIENT].map(|file| Certificate::X509(&[file]).public_key().unwrap());
    let trust = RawPublicKey { own: None, trusted: &[known] };
    assert_eq!(trust.check_peer(Role::Server, &Certificate::RawPublicKey(&spki(&known))), Ok(()));
    let refused = trust.check_peer(Role::Server, &Certificate::RawPublicKey(&spki(&unknown)));
    assert_eq!(refused, Err(CertificateError::CertificateUnknown));
    let refused = trust.check_peer(Role::Server, &Certificate::RawPublicKey(&spki(&known)[1..]));
    assert_eq!(refused, Err(CertificateError::UnsupportedCertificate));
}

#[test]
fn a_chain_that_cannot_be_sent_is_refused_at_once() {
    let private_key = include_bytes!("../credentials/server.key");
    let config = |chain| {
        let own = Some(CertifiedKey { certificate: Certificate::X509(chain), private_key });
        Config::new(X509 { own, ..TRUST }, 1200, Timeouts::DEFAULT).err()
    };
    assert_eq!(config(&[SERVER, ISSUER, AUTHORITY]), None);
    assert_eq!(config(&[]), Some(ConfigError::Chain));
    assert_eq!(config(&[SERVER, ISSUER, AUTHORITY, OTHER]), Some(ConfigError::Chain));
}

/// Who says which certificates it accepts, but not how it checks them, trusts nobody.
#[test]
fn without_the_hook_nobody_is_believed() {
    struct Trusting;
    impl Credentials for Trusting {
        fn accepted(&self) -> &[CertificateType] {
            &[CertificateType::X509, CertificateType::RawPublicKey]
        }
    }
    let refused = Err(CertificateError::CertificateUnknown);
    assert_eq!(Trusting.check_peer(Role::Server, &Certificate::X509(&[SERVER, ISSUER])), refused);
    assert_eq!(Trusting.check_peer(Role::Client, &Certificate::X509(&[CLIENT, ISSUER])), refused);
}
