//! Certificates, their keys, and signatures: any octets, and the certificates of a server with octets changed.
#![no_main]

use lean_dtls::{Certificate, Credentials, EcdsaP256Sha256, Role, X509, fuzzing};
use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;

const AUTHORITY: &[u8] = include_bytes!("../../crates/lean-dtls/tests/credentials/authority.der");
const CHAIN: [&[u8]; 2] = [
    include_bytes!("../../crates/lean-dtls/tests/credentials/server.der"),
    include_bytes!("../../crates/lean-dtls/tests/credentials/issuer.der"),
];

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    if let Some((written, length)) = fuzzing::signature(octets) {
        assert_eq!(&written[..length], octets, "a signature has one encoding");
    }
    let _ = fuzzing::subject_public_key_info(octets);
    let mut chain: Vec<Vec<u8>> = match input.below(3) {
        0 => (0..1 + input.below(3)).map(|_| input.string().to_vec()).collect(),
        _ => CHAIN.map(<[u8]>::to_vec).to_vec(),
    };
    while !input.is_empty() {
        let (number, place) = (input.below(chain.len()), input.number());
        let certificate = &mut chain[number];
        let place = usize::from(place) % (certificate.len() + 1);
        match input.below(4) {
            0 => certificate.iter_mut().skip(place).take(1).for_each(|octet| *octet = input.octet()),
            1 => certificate.splice(place..place, input.string().iter().copied()).for_each(drop),
            2 => {
                certificate.drain(place..(place + 1 + input.below(16)).min(certificate.len()).max(place)).for_each(drop)
            }
            _ => certificate.truncate(place),
        }
    }
    let chain: Vec<&[u8]> = chain.iter().map(Vec::as_slice).collect();
    let certificate = Certificate::X509(&chain);
    let key = certificate.public_key();
    let _ = Certificate::RawPublicKey(octets).public_key();
    let trusting = X509 {
        own: None,
        authorities: &[AUTHORITY],
        server_name: Some("sensors.example"),
        unix_time: || 1_893_456_000, // 2030-01-01
        algorithms: EcdsaP256Sha256::ONLY,
    };
    if trusting.check_peer(Role::Server, &certificate).is_ok() {
        assert_eq!(key, Certificate::X509(&CHAIN).public_key(), "a certificate that nobody has issued");
    }
});
