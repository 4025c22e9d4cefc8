//! Equal seeds make equal octets, on any number of threads.

use std::thread;

use slowhand_sessions::memory::{Path, Transcript};
use slowhand_sessions::{CertificateCompression, Protocol, Stack, Suite};

use crate::pair::{Pair, tls};

fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for seed in 1..=6 {
        for (stack, suite) in [
            (Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
            (Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
            (Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_CCM_8),
            (Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
            (Stack::OPENSSL, Suite::TLS_RSA_WITH_AES_128_CBC_SHA),
            (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
            (Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
        ] {
            let mut pair = Pair::new(stack, suite);
            pair.client.seed = [seed; 32];
            pair.server.seed = [seed + 100; 32];
            pairs.push(pair);
        }
        for (stack, protocol, suite) in [
            (Stack::MBEDTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
            (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_CCM_8_SHA256),
            (Stack::OPENSSL, Protocol::Tls12, Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
            (Stack::OPENSSL, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
            (Stack::RUSTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
            (Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
        ] {
            let compression =
                (stack == Stack::RUSTLS && protocol == Protocol::Tls13).then_some(CertificateCompression::Zlib);
            let mut pair =
                Pair::of(stack, protocol, suite).both(|config| tls(config).certificate_compression = compression);
            pair.client.seed = [seed; 32];
            pair.server.seed = [seed + 100; 32];
            pairs.push(pair);
        }
    }
    pairs
}

fn run_all(pairs: &[Pair]) -> Vec<Transcript> {
    let (lossless, lossy) = (Path::default(), Path { dropped: vec![3, 7], ..Path::default() });
    pairs.iter().map(|pair| pair.run(if pair.client.protocol().is_stream() { &lossless } else { &lossy })).collect()
}

#[test]
fn sessions_on_two_threads_at_once_make_the_octets_of_one_thread() {
    let pairs = pairs();
    let alone = run_all(&pairs);
    let mut reversed = pairs.clone();
    reversed.reverse();
    let (forwards, mut backwards) = thread::scope(|scope| {
        let forwards = scope.spawn(|| run_all(&pairs));
        let backwards = scope.spawn(|| run_all(&reversed));
        (forwards.join().unwrap(), backwards.join().unwrap())
    });
    backwards.reverse();
    assert_eq!(alone, forwards);
    assert_eq!(alone, backwards);
}

#[test]
fn a_session_can_move_to_another_thread() {
    for pair in &pairs()[..13] {
        let (client, server) = pair.build();
        let moved = thread::spawn(move || {
            let (mut client, mut server) = (client, server);
            Path::default().run(&mut *client, &mut *server)
        });
        assert_eq!(moved.join().unwrap(), pair.run(&Path::default()));
    }
}

#[test]
fn other_seeds_make_other_octets() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        let one = pair.run(&Path::default());
        pair.client.seed = [9; 32];
        let other = pair.run(&Path::default());
        assert_ne!(one.datagrams[0].bytes, other.datagrams[0].bytes);
    }
}

#[test]
fn losses_do_not_change_the_randoms() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        let hello = |transcript: &Transcript| transcript.datagrams[0].bytes.clone();
        let lossless = pair.run(&Path::default());
        let lossy = pair.run(&Path { dropped: vec![0], ..Path::default() });
        assert_eq!(hello(&lossless), hello(&lossy));
    }
}
