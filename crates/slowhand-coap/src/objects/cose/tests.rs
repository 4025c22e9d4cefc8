use slowhand_testing::hex::octets;

use super::*;
use crate::oscore::Crypto as _;
use crate::oscore::RustCrypto;

/// The content of all examples of the COSE working group (github.com/cose-wg/Examples, at 53c9d63).
const CONTENT: &[u8] = b"This is the content.";
/// The key 11 of these examples, x and then y.
const KEY_11: &str = "bac5b11cad8f99f9c72b05cf4b9e26d244dc189f745228255a219a86d6a09eff\
    20138bf82dc1b6d562be0fa54ab7804a3a64b6d72ccfed6b6fb6ed28bbfc117e";

/// RFC8152/Appendix_C_2_1.json and sign1-tests/sign-fail-02.json, without their tags.
#[test]
fn a_signature_of_the_working_group_is_verified() {
    let key: PublicKey = octets(KEY_11).try_into().unwrap();
    assert_eq!(
        to_be_signed(&[], CONTENT),
        octets("846A5369676E61747572653143A101264054546869732069732074686520636F6E74656E742E")
    );
    let example = |last: &str| {
        octets(&format!(
            "8443A10126A10442313154546869732069732074686520636F6E74656E74{last}58408EB33E4CA31D1C465AB05AAC34CC6B23D58FEF\
             5C083106C4D25A91AEF0B0117E2AF9A291AA32E14AB834DC56ED2A223444547E01F11D3B0916E5A4C345CACB36"
        ))
    };
    assert_eq!(verify1(&key, &[], &example("2E"), &mut RustCrypto), Ok(CONTENT));
    assert_eq!(verify1(&key, &[], &example("2F"), &mut RustCrypto), Err(Error::Signature));
    assert_eq!(verify1(&key, &[0x40], &example("2E"), &mut RustCrypto), Err(Error::Signature), "other external data");
}

/// The private key of the same examples.
#[test]
fn a_public_key_is_that_of_its_private_key() {
    let private = octets("57c92077664146e876760c9520d054aa93c3afb04e306705db6090308507b4d3").try_into().unwrap();
    assert_eq!(public_key(&private).map(|key| key.to_vec()), Ok(octets(KEY_11)));
    assert_eq!(public_key(&[0; 32]), Err(Error::Key));
}

/// hkdf-hmac-sha-examples/hmac-sha-256-01.json: the context, the key, and what is encrypted with it in COSE_Encrypt.
#[test]
fn a_key_is_derived_as_the_working_group_does() {
    let secret = octets("849b57219dae48de646d07dbb533566e976686457c1491be3a76dcea6c427188");
    let context = kdf_context(&octets("83F6F6F6"));
    assert_eq!(context, octets("840A83F6F6F683F6F6F682188043A10129"));
    let derived = key(&secret, b"aabbccddeeffgghh", &context, &mut RustCrypto);
    assert_eq!(derived[..], octets("32547753D1E24F41579D770BA852D4C9"));
}

/// RFC8152/Appendix_C_4_2.json: COSE_Encrypt0 with a Partial IV. Its key has a Context IV, ours has none.
#[test]
fn what_the_working_group_has_encrypted_is_decrypted() {
    assert_eq!(associated(), octets("8368456E63727970743043A1010A40"));
    let number = Number(0x61a7);
    let context_iv = octets("89F52F65A1C580930000000000");
    let nonce: Vec<u8> = number.nonce().iter().zip(&context_iv).map(|(number, context)| number ^ context).collect();
    assert_eq!(nonce, octets("89F52F65A1C5809300000061A7"));
    let key = octets("849B5786457C1491BE3A76DCEA6C4271").try_into().unwrap();
    let ciphertext = octets("252A8911D465C125B6764739700F0141ED09192DE139E053BD09ABCA");
    let (content, tag) = ciphertext.split_last_chunk::<TAG>().unwrap();
    let (mut content, nonce) = (content.to_vec(), nonce.try_into().unwrap());
    let with = Protection { key: &key, nonce: &nonce, associated: &associated() };
    RustCrypto.open(&with, &mut content, tag).unwrap();
    assert_eq!(content, CONTENT);
}

/// RFC 9052, section 3.1: leading zeros are left out; RFC 8613, section 6.1 has 0 in one octet.
#[test]
fn numbers_have_one_form() {
    for (number, written) in
        [(0, "00"), (1, "01"), (255, "ff"), (256, "0100"), (0x61a7, "61a7"), (u64::MAX, "ffffffffffffffff")]
    {
        assert_eq!(Number(number).octets(), octets(written));
        assert_eq!(Number::read(&octets(written)), Some(Number(number)));
    }
    for refused in ["", "0001", "000000000000000001", "010000000000000000"] {
        assert_eq!(Number::read(&octets(refused)), None, "{refused}");
    }
}

/// By hand from RFC 9052 section 7 and RFC 9053 tables 17 to 21.
#[test]
fn a_grant_is_a_key_set() {
    let secret = AccessSecret { id: vec![5], value: [7; KEY] };
    let of_secret = format!("a4 01 04 02 41 05 03 29 20 50 {}", "07".repeat(16));
    let alone = Grant { secret: secret.clone(), signer: None };
    assert_eq!(*alone.write(), octets(&format!("81 {of_secret}")));
    let key: PublicKey = octets(KEY_11).try_into().unwrap();
    let both = Grant { secret, signer: Some(key) };
    let (x, y) = KEY_11.split_at(64);
    assert_eq!(*both.write(), octets(&format!("82 {of_secret} a4 01 02 20 01 21 5820 {x} 22 5820 {y}")));
    for grant in [alone, both] {
        let written = grant.write();
        assert!(written.len() <= GRANT, "it has not moved");
        assert_eq!(Grant::read(&written), Ok(grant));
        for length in 0..written.len() {
            assert_eq!(Grant::read(&written[..length]), Err(Error::Malformed), "{length} octets");
        }
        assert_eq!(Grant::read(&[&written[..], &[0]].concat()), Err(Error::Malformed));
    }
}
