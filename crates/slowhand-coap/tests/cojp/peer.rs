//! aiocoap as the other end: it reads our request and writes the response, with OSCORE of its own.

use std::io::Write;
use std::process::{Command, Stdio};

use slowhand_coap::oscore::RustCrypto;
use slowhand_testing::hex::{octets, text};

use super::{key, pledge, request_of};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cojp/aiocoap_registrar.py");

#[test]
fn aiocoap_as_registrar() {
    let mut pledge = pledge();
    let request = request_of(&mut pledge, true);
    let mut python = Command::new(PYTHON);
    python.arg("-B").arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python =
        python.spawn().unwrap_or_else(|error| panic!("{PYTHON}: {error}: install aiocoap with ./test python"));
    python.stdin.take().unwrap().write_all(text(&request).as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..3], ["POST", "6tisch.arpa j coap", "a10542cafe"]);
    let configuration = pledge.receive(&octets(lines[3]), &mut RustCrypto).unwrap();
    assert_eq!(configuration.keys, [key()]);
    assert_eq!(configuration.short_identifier.unwrap().address, [0xaf, 0x93]);
}
