//! The credentials of a session as files, so that another program can be one of its ends.

use std::collections::BTreeMap;

use lean_dtls::spki;
use pem_rfc7468::{LineEnding, encode_string};

use crate::building::BuildError;
use crate::config::{Credential, Role, SessionConfig};
use crate::credentials::{self, CertificateKey};
use crate::device::hex;
use crate::tls::Auth;

/// The credentials of the two ends, client first: the names of files and their texts.
///
/// | credential | files |
/// | --- | --- |
/// | pre-shared key | `psk.txt`: identity, colon, key in hexadecimal digits, as GnuTLS and mosquitto read it |
/// | password | `password.txt` |
/// | raw public keys | `client.pub`, `server.pub` (SubjectPublicKeyInfo), `client.key`, `server.key` |
/// | certificates | `ca.pem`, `server.pem`, `server.key`; also `client.pem`, `client.key` if both ends authenticate themselves |
///
/// Certificates and keys are PEM (RFC 7468). The private keys are ECPrivateKey of RFC 5915 or RSAPrivateKey of RFC 8017.
///
/// # Errors
/// A library does not support its configuration, or a certificate could not be issued.
pub fn credential_files(ends: [&SessionConfig; 2]) -> Result<BTreeMap<String, String>, BuildError> {
    let mut files = BTreeMap::new();
    let mut add = |name: String, text: String| drop(files.insert(name, text));
    for config in ends {
        let Some(transport) = config.transport() else { continue };
        let checked = config.stack.capabilities().check(&transport)?;
        let proves_itself = config.role == Role::Server || checked.tls.auth == Auth::Mutual;
        match (&config.credential, checked.certificate()) {
            (Credential::Psk { identity, key }, _) => add("psk.txt".to_owned(), psk_line(identity, key)),
            (Credential::Ecjpake { password }, _) => add("password.txt".to_owned(), format!("{password}\n")),
            (Credential::Certificate { .. }, Some((key, length))) => {
                let chain = credentials::chain(key, config.role, length).map_err(BuildError::Library)?;
                add("ca.pem".to_owned(), pem("CERTIFICATE", chain.authority));
                if proves_itself {
                    let label = match key {
                        CertificateKey::Curve(_) => "EC PRIVATE KEY",
                        CertificateKey::Rsa(_) => "RSA PRIVATE KEY",
                    };
                    add(format!("{}.pem", config.role), pem("CERTIFICATE", chain.own.certificate));
                    add(format!("{}.key", config.role), pem(label, chain.own.key));
                }
            }
            _ if proves_itself => {
                let key = credentials::raw_key(config.role);
                add(format!("{}.pub", config.role), pem("PUBLIC KEY", &spki(&key.public())));
                add(format!("{}.key", config.role), pem("EC PRIVATE KEY", key.encoded));
            }
            _ => {}
        }
    }
    Ok(files)
}

/// The line of a key as `psktool` of GnuTLS writes it: an identity that would not be read as such is in hexadecimal digits.
fn psk_line(identity: &str, key: &[u8]) -> String {
    let is_plain = !identity.starts_with('#') && !identity.contains(|c: char| c == ':' || c.is_control());
    let identity = if is_plain { identity.to_owned() } else { format!("#{}", hex(identity.as_bytes())) };
    format!("{identity}:{}\n", hex(key))
}

fn pem(label: &str, der: &[u8]) -> String {
    // It fails only for a wrong label, or if the text does not fit into memory.
    encode_string(label, LineEnding::LF, der)
        .expect("the label is one of RFC 7468, and the octets are a key or a certificate")
}
