//! lean-dtls 0.1.0, both ends: the session of psk-tinydtls.toml.

use lean_dtls::crypto::Group;
use lean_dtls::{Config, ConfigError, Psk, Suite, Timeouts};

pub fn configure(key: &[u8]) -> Result<Config<[Psk<'_>; 1]>, ConfigError> {
    let credentials = [Psk { identity: b"Client_identity", key }];
    // Milliseconds: the first timeout, and where it stops doubling.
    let timeouts = Timeouts { initial_ms: 9000, maximum_ms: 60000, ..Timeouts::DEFAULT };
    // Octets of a datagram, without the headers of IP and UDP (6LoWPAN carries no more).
    let config = Config::new(credentials, 1999, timeouts)?;
    let config = config.with_suites(&[Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256]);
    let config = config.with_groups(&[Group::P256]);
    Ok(config)
}
