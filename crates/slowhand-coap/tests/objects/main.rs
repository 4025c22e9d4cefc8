//! Objects by other software: cbor2 and the package cryptography, in a script.

use std::process::{Command, Output};

use slowhand_coap::objects::{AccessSecret, Consumer, Grant, Producer, public_key};
use slowhand_coap::oscore::RustCrypto;
use slowhand_testing::hex::{octets, text};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects/peer.py");

const SECRET: [u8; 16] = [0x5a; 16];
const PRIVATE: [u8; 32] = [0x37; 32];

fn peer(arguments: [&str; 3]) -> Output {
    let mut python = Command::new(PYTHON);
    python.arg("-B").arg(SCRIPT).args(arguments);
    python.output().unwrap_or_else(|error| panic!("{PYTHON}: {error}: install it with ./test python"))
}

fn lines(output: &Output) -> Vec<Vec<u8>> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(octets).collect()
}

fn grant() -> Grant {
    let secret = AccessSecret { id: vec![1], value: SECRET };
    Grant { secret, signer: Some(public_key(&PRIVATE).unwrap()) }
}

#[test]
fn an_object_of_the_other_software_is_opened() {
    let made = lines(&peer(["make", &text(&SECRET), &text(&PRIVATE)]));
    let [object, key_set] = &made[..] else { panic!("two lines: {made:?}") };
    assert_eq!(Grant::read(key_set), Ok(grant()));
    let mut consumer = Consumer::new(b"p", grant()).unwrap();
    assert_eq!(consumer.open("t", object, &mut RustCrypto).unwrap(), b"21.5");
}

#[test]
fn the_other_software_opens_ours() {
    let mut producer = Producer::new(b"p", &PRIVATE, grant().secret, 0);
    let grant = text(&grant().write());
    for value in [&b""[..], b"21.5", &[7; 300]] {
        let object = producer.protect("t", value, &mut RustCrypto).unwrap();
        assert_eq!(lines(&peer(["open", &text(&object), &grant])), [value]);
    }
    let mut changed = producer.protect("t", b"21.5", &mut RustCrypto).unwrap();
    *changed.last_mut().unwrap() ^= 1;
    assert!(!peer(["open", &text(&changed), &grant]).status.success());
}
