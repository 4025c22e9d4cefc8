//! lean-dtls 0.1.0, both ends: the session of psk-tinydtls.toml.

use lean_dtls::crypto::Group;
use lean_dtls::{Config, ConfigError, Credentials, MaxFragmentLength, Suite, Timeouts};

/// The credentials are an `X509`.
pub fn configure<K: Credentials>(credentials: K) -> Result<Config<K>, ConfigError> {
    // Milliseconds: the first timeout, and where it stops doubling.
    let timeouts = Timeouts { initial_ms: 9000, maximum_ms: 60000, ..Timeouts::DEFAULT };
    // Octets of a datagram, without the headers of IP and UDP (6LoWPAN carries no more).
    let config = Config::new(credentials, 1999, timeouts)?;
    let config = config.with_suites(&[Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]);
    let config = config.with_groups(&[Group::P256]);
    let config = config.with_max_fragment_length(MaxFragmentLength::Octets512);
    let config = config.with_connection_id(0)?;
    Ok(config)
}
