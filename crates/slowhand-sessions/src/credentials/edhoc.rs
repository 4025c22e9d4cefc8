//! The credentials of EDHOC: the public test keys of RFC 9529 chapter 3.

use crate::config::Role;

/// CRED_I and CRED_R: CWT Claims Sets with a public key of P-256 and a `kid` of one octet (RFC 9529 section 3.3).
pub(crate) const fn ccs(role: Role) -> &'static [u8] {
    match role {
        Role::Client => include_bytes!("../../credentials/edhoc-client.cbor"),
        Role::Server => include_bytes!("../../credentials/edhoc-server.cbor"),
    }
}

/// SK_I and SK_R: their private keys.
pub(crate) const fn private(role: Role) -> &'static [u8; 32] {
    match role {
        Role::Client => include_bytes!("../../credentials/edhoc-client.key"),
        Role::Server => include_bytes!("../../credentials/edhoc-server.key"),
    }
}
