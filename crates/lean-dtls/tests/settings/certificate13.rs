//! lean-dtls 0.1.0, both ends: the session of psk-tinydtls.toml.

use lean_dtls::crypto::{Aead, Group};
use lean_dtls::{Config, ConfigError, Credentials, Timeouts, Versions};

/// The credentials are an `X509`.
pub fn configure<K: Credentials>(credentials: K) -> Result<Config<K>, ConfigError> {
    // Milliseconds: the first timeout, and where it stops doubling.
    let timeouts = Timeouts { initial_ms: 9000, maximum_ms: 60000, ..Timeouts::DEFAULT };
    // Octets of a datagram, without the headers of IP and UDP (6LoWPAN carries no more).
    let config = Config::new(credentials, 1999, timeouts)?;
    let config = config.with_versions(Versions::Dtls13);
    let config = config.with_aeads(&[Aead::Gcm]);
    let config = config.with_groups(&[Group::P256]);
    Ok(config)
}
