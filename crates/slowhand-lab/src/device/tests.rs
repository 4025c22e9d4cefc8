use super::*;

fn device(name: &str) -> Device {
    Device::load(name, Path::new("")).unwrap()
}

#[test]
fn the_devices_that_are_built_in_are_read() {
    for name in Device::names() {
        assert!(!device(name).description.is_empty());
    }
    let openmote = device("openmote-cc2538");
    assert_eq!(openmote.current.radio_rx_ma.value, 20.0);
    assert!(!openmote.current.radio_rx_ma.is_assumed());
    assert!(openmote.supply_v.is_assumed());
}

/// By hand, from the constants in the file.
#[test]
fn operations_take_what_their_parts_take() {
    let openmote = device("openmote-cc2538");
    let time = |operation| openmote.time(operation).as_nanos();
    assert_eq!(time(Operation::Sha256 { blocks: 3 }), 3 * 179_400);
    assert_eq!(time(Operation::EcdsaVerify(Curve::Secp256r1)), 522_200_000);
    assert_eq!(time(Operation::EcdhKeyGeneration(Curve::Secp192r1)), 106_000_000);
    let aead = Aead { mode: AeadMode::Ccm, key_bits: 128, tag: 8, octets: 64, additional: 13 };
    // B0, one of additional data, four of plaintext twice, the tag's: 11 blocks.
    assert_eq!(time(Operation::Seal(aead)), 11 * 178_500);
    assert_eq!(time(Operation::Open(Aead { key_bits: 256, ..aead })), 11 * 178_500 * 14 / 10);
    // GCM: the hash key, four of plaintext, the tag's: 6 AES blocks; GHASH over 1 + 4 + 1.
    assert_eq!(time(Operation::Seal(Aead { mode: AeadMode::Gcm, ..aead })), 12 * 178_500);
}

#[test]
fn every_operation_has_its_price_on_every_device() {
    let aead = Aead { mode: AeadMode::Gcm, key_bits: 128, tag: 16, octets: 1, additional: 13 };
    for name in Device::names() {
        for curve in [Curve::Secp192r1, Curve::Secp256r1] {
            for operation in [
                Operation::Sha1 { blocks: 1 },
                Operation::Sha256 { blocks: 1 },
                Operation::Sha512 { blocks: 1 },
                Operation::Seal(aead),
                Operation::Open(aead),
                Operation::EcdhKeyGeneration(curve),
                Operation::EcdhSharedSecret(curve),
                Operation::EcdsaSign(curve),
                Operation::EcdsaVerify(curve),
                Operation::CbcEncrypt(Cbc { key_bits: 128, octets: 16 }),
                Operation::CbcDecrypt(Cbc { key_bits: 128, octets: 16 }),
                Operation::RsaSign(1024),
                Operation::RsaVerify(1024),
                Operation::RsaEncrypt(2048),
                Operation::RsaDecrypt(3072),
            ] {
                assert!(device(name).time(operation) > Duration::ZERO, "{name}: {operation:?}");
            }
        }
    }
}

/// By hand, from the constants in the file: the TPM has room for 2048 bits, and 255 octets are five blocks of SHA-1 and 16
/// of AES.
#[test]
fn a_tpm_does_rsa_as_far_as_its_keys_reach() {
    let opal = device("opal-tpm");
    let millis = |operation| opal.time(operation).as_secs_f64() * 1e3;
    assert_eq!(millis(Operation::RsaSign(2048)), 1700.0);
    assert_eq!(millis(Operation::RsaDecrypt(1024)), 212.5);
    assert_eq!(millis(Operation::RsaVerify(2048)), 57.0);
    assert_eq!(millis(Operation::Sha1 { blocks: 5 }), 9.0);
    assert_eq!(millis(Operation::CbcEncrypt(Cbc { key_bits: 128, octets: 256 })), 12.0);
    assert_eq!(millis(Operation::CbcDecrypt(Cbc { key_bits: 256, octets: 256 })), 16.8);
    for bits in [1024, 2048] {
        for operation in [Operation::RsaSign, Operation::RsaVerify, Operation::RsaEncrypt, Operation::RsaDecrypt] {
            assert!(opal.is_for_tpm(operation(bits)));
        }
    }
    assert!(!opal.is_for_tpm(Operation::RsaSign(3072)));
    assert!(!opal.is_for_tpm(Operation::Sha1 { blocks: 1 }));
    assert!(!device("wismote").is_for_tpm(Operation::RsaSign(1024)));
}

#[test]
fn an_unknown_device_is_told_which_there_are() {
    let error = Device::load("openmote", Path::new("")).unwrap_err().to_string();
    assert!(error.contains("found \"openmote\"") && error.contains("\"wismote\""), "{error}");
}
