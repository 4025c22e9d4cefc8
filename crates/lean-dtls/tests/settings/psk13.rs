//! lean-dtls 0.1.0, both ends: the session of psk-tinydtls.toml.

use lean_dtls::crypto::Aead;
use lean_dtls::{Config, ConfigError, Psk, Timeouts, Versions};

pub fn configure(key: &[u8]) -> Result<Config<[Psk<'_>; 1]>, ConfigError> {
    let credentials = [Psk { identity: b"Client_identity", key }];
    // Milliseconds: the first timeout, and where it stops doubling.
    let timeouts = Timeouts { initial_ms: 9000, maximum_ms: 60000, ..Timeouts::DEFAULT };
    // Octets of a datagram, without the headers of IP and UDP (6LoWPAN carries no more).
    let config = Config::new(credentials, 1999, timeouts)?;
    let config = config.with_versions(Versions::Dtls13);
    let config = config.with_aeads(&[Aead::Ccm8]);
    let config = config.without_cookie();
    Ok(config)
}
