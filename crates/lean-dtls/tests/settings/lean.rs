//! lean-dtls 0.1.0, both ends: the session of psk-tinydtls.toml.
//! A server finds the key by Credentials::find_psk_by_address().

use lean_dtls::{Config, ConfigError, Lean, Psk, Suite, Timeouts};

pub fn configure(key: &[u8]) -> Result<Config<[Psk<'_>; 1]>, ConfigError> {
    let credentials = [Psk { identity: b"Client_identity", key }];
    // Milliseconds: the first timeout, and where it stops doubling.
    let timeouts = Timeouts { initial_ms: 9000, maximum_ms: 60000, floor_ms: Some(400), ..Timeouts::DEFAULT };
    // Octets of a datagram, without the headers of IP and UDP.
    let config = Config::new(credentials, 96, timeouts)?;
    let config = config.with_suites(&[Suite::TLS_PSK_WITH_AES_128_CCM_8]);
    let config = config.with_lean(Lean::ALL.with(Lean::KNOWN_ADDRESS));
    Ok(config)
}
