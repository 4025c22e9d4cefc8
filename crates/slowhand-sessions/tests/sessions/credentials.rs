//! Pre-shared keys of one's own, and the credentials of the ends as files.

use std::fs;

use slowhand_sessions::credentials::{PASSWORD, PSK_IDENTITY};
use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{Auth, Credential, CredentialKind, Stack, Suite, credential_files};

use crate::pair::{Pair, psk, set_rsa_bits, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const ECDHE_RSA: Suite = Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;

fn key(octets: Vec<u8>) -> Credential {
    Credential::Psk { identity: PSK_IDENTITY.to_owned(), key: octets.into() }
}

/// RFC 4279 section 2 puts the key, which it does not limit, into the premaster secret. Both ends with the longest key of one
/// library, against each library that takes so many octets.
#[test]
fn ends_with_the_same_key_complete_and_others_do_not() {
    let stacks = [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS];
    let longest = |stack: Stack| stack.capabilities().tls.longest_psk;
    assert_eq!(stacks.map(longest), [64, 48, 512, 16]);
    for client in stacks {
        for server in stacks {
            let mut pair = Pair::new(client, PSK);
            pair.server.stack = server;
            let octets: Vec<u8> = (0..=255).cycle().take(longest(client).min(longest(server))).collect();
            (pair.client.credential, pair.server.credential) = (key(octets.clone()), key(octets.clone()));
            let transcript = pair.run(&Path::default());
            assert_eq!(transcript.end, End::Completed, "{client}, {server}: {transcript:?}");
            let mut other = octets;
            *other.last_mut().unwrap() ^= 1;
            pair.client.credential = key(other);
            assert_ne!(pair.run(&Path::default()).end, End::Completed, "{client}, {server}");
        }
    }
}

#[test]
fn the_files_have_the_keys_and_certificates_that_the_sessions_use() {
    let mut pair = Pair::new(Stack::MBEDTLS, ECDHE);
    let files = |pair: &Pair| credential_files([&pair.client, &pair.server]).unwrap();
    let decoded = |text: &str| pem_rfc7468::decode_vec(text.as_bytes()).map(|(label, der)| (label.to_owned(), der));
    let check = |pair: &Pair, curve: &str, label: &str| {
        let files = files(pair);
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            ["ca.pem", "client.key", "client.pem", "server.key", "server.pem"]
        );
        for (name, text) in files {
            let (file, label) = match name.split_once('.').unwrap() {
                ("ca", _) => ("authority".to_owned(), "CERTIFICATE"),
                (role, "key") => (format!("{role}-key"), label),
                (role, _) => (role.to_owned(), "CERTIFICATE"),
            };
            let der = fs::read(format!("credentials/{curve}-{file}.der")).unwrap();
            assert_eq!(decoded(&text).unwrap(), (label.to_owned(), der), "{name}");
        }
    };
    check(&pair, "secp256r1", "EC PRIVATE KEY");
    for end in [&mut pair.client, &mut pair.server] {
        tls(end).suite = Some(ECDHE_RSA);
        set_rsa_bits(end, 3072);
    }
    check(&pair, "rsa3072", "RSA PRIVATE KEY");
}

#[test]
fn an_end_has_files_for_what_it_proves() {
    let names = |pair: &Pair| credential_files([&pair.client, &pair.server]).unwrap().into_keys().collect::<Vec<_>>();
    let mut pair = Pair::new(Stack::MBEDTLS, ECDHE).both(|end| tls(end).auth = Auth::Server);
    assert_eq!(names(&pair), ["ca.pem", "server.key", "server.pem"]);
    for end in [&mut pair.client, &mut pair.server] {
        end.credential = Credential::Certificate { rsa_bits: 2048, length: Some(700) };
    }
    let server = credential_files([&pair.client, &pair.server]).unwrap().remove("server.pem").unwrap();
    assert_eq!(pem_rfc7468::decode_vec(server.as_bytes()).unwrap().1.len(), 700);
    assert_eq!(names(&Pair::new(Stack::TINYDTLS, ECDHE)), ["client.key", "client.pub", "server.key", "server.pub"]);
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECJPAKE_WITH_AES_128_CCM_8)
        .both(|end| end.credential = CredentialKind::Ecjpake.into());
    let password = credential_files([&pair.client, &pair.server]).unwrap();
    assert_eq!(password.into_iter().collect::<Vec<_>>(), [("password.txt".to_owned(), format!("{PASSWORD}\n"))]);
}

/// The text "slowhand-testkey" is 736c...; `#` and digits are how GnuTLS has an identity that is not plain.
#[test]
fn a_pre_shared_key_is_a_line_that_gnutls_reads() {
    for (identity, written) in [("sensor 1", "sensor 1"), ("a:b", "#613a62"), ("a\nb", "#610a62"), ("#61", "#233631")] {
        let mut pair = Pair::new(Stack::MBEDTLS, PSK);
        (pair.client.credential, pair.server.credential) = (psk(identity), psk(identity));
        let line = format!("{written}:736c6f7768616e642d746573746b6579\n");
        let files = credential_files([&pair.client, &pair.server]).unwrap();
        assert_eq!(files.into_iter().collect::<Vec<_>>(), [("psk.txt".to_owned(), line)]);
    }
}
