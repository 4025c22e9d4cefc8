//! The output of `slowhand settings` for lean-dtls: `tests/settings/make.py` has written the modules, and `tests/test_settings.py`
//! of the project compares them. Here they are compiled, and the library takes each configuration.

#[path = "../settings"]
mod printed {
    pub mod agreement;
    pub mod agreement13;
    pub mod certificate;
    pub mod certificate13;
    pub mod lean;
    pub mod psk;
    pub mod psk13;
    pub mod raw_public_key;
    pub mod resumed;
}

use lean_dtls::{Config, ConfigError, Psk, RawPublicKey};
use printed::{agreement, agreement13, certificate, certificate13, lean, psk, psk13, raw_public_key, resumed};

const KEY: &[u8] = b"0123456789abcdef";

type WithPsk = for<'k> fn(&'k [u8]) -> Result<Config<[Psk<'k>; 1]>, ConfigError>;

#[test]
fn configurations_with_a_pre_shared_key_are_taken() {
    let all: [WithPsk; 6] = [
        agreement::configure,
        agreement13::configure,
        lean::configure,
        psk::configure,
        psk13::configure,
        resumed::configure,
    ];
    for configure in all {
        assert!(configure(KEY).is_ok());
        assert_eq!(configure(b"").err(), Some(ConfigError::Key));
    }
}

#[test]
fn configurations_with_other_credentials_are_taken() {
    let credentials = RawPublicKey { own: None, trusted: &[] };
    for configure in [certificate::configure, certificate13::configure, raw_public_key::configure] {
        assert!(configure(credentials).is_ok());
    }
}

#[test]
fn the_timer_is_that_of_the_scenario() {
    let printed = format!("{:?}", lean::configure(KEY).expect("the key has octets"));
    assert!(
        printed.contains("initial_ms: 9000, maximum_ms: 60000, retransmissions: 7, floor_ms: Some(400)"),
        "{printed}"
    );
    assert!(printed.contains("mtu: 96"), "{printed}");
}
