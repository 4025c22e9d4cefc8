//! Memory of a session on the heap.

use std::thread;

use slowhand_sessions::{CountingAllocator, CredentialKind, Protocol, Resumption, Stack, Suite, session_heap};

use crate::pair::{Pair, tls};

/// So that the libraries in Rust are counted too.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const ECDSA: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;

/// The most content of a record (RFC 5246 section 6.2.1), for which mbedTLS has a buffer in each direction, unless it is
/// configured for less.
const RECORD: usize = 1 << 14;

fn heap(pair: &Pair) -> [usize; 2] {
    session_heap([&pair.client, &pair.server]).unwrap().map(Option::unwrap)
}

fn with(stack: Stack, credential: CredentialKind) -> Pair {
    let suite = if credential == CredentialKind::Psk { Suite::TLS_PSK_WITH_AES_128_CCM_8 } else { ECDSA };
    Pair::new(stack, suite).both(|end| end.credential = credential.into())
}

fn of_tls13(stack: Stack) -> Pair {
    Pair::of(stack, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256)
}

fn assert_less(less: [usize; 2], more: [usize; 2]) {
    assert!(less[0] < more[0] && less[1] < more[1], "{less:?} {more:?}");
}

#[test]
fn small_libraries_take_less() {
    for credential in [CredentialKind::Psk, CredentialKind::Certificate] {
        let [lean, mbedtls, openssl] =
            [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL].map(|stack| heap(&with(stack, credential)));
        assert_less(lean, mbedtls);
        assert_less([2 * RECORD; 2], mbedtls);
        assert_less(mbedtls, openssl);
    }
    let [lean, tinydtls] =
        [Stack::LEAN_DTLS, Stack::TINYDTLS].map(|stack| heap(&with(stack, CredentialKind::RawPublicKey)));
    let mbedtls = heap(&with(Stack::MBEDTLS, CredentialKind::Certificate));
    assert_less(lean, mbedtls);
    // tinyDTLS has its buffers on the stack.
    assert_less(tinydtls, lean);
    assert_less(heap(&of_tls13(Stack::RUSTLS)), heap(&of_tls13(Stack::MBEDTLS)));
}

#[test]
fn certificates_take_more_than_a_shared_key() {
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL] {
        assert_less(heap(&with(stack, CredentialKind::Psk)), heap(&with(stack, CredentialKind::Certificate)));
    }
    assert_less(
        heap(&with(Stack::TINYDTLS, CredentialKind::Psk)),
        heap(&with(Stack::TINYDTLS, CredentialKind::RawPublicKey)),
    );
}

/// It is nearly the same with another library at the other end: only the datagrams that arrive differ.
#[test]
fn each_end_has_its_own_account() {
    let lean = Pair::new(Stack::LEAN_DTLS, ECDSA);
    for stack in [Stack::MBEDTLS, Stack::OPENSSL] {
        let other = Pair::new(stack, ECDSA);
        let mixed = heap(&Pair { server: other.server.clone(), ..lean.clone() });
        for (mixed, own) in mixed.into_iter().zip([heap(&lean)[0], heap(&other)[1]]) {
            assert!(mixed.abs_diff(own) < own / 20, "{stack}: {mixed} {own}");
        }
    }
}

#[test]
fn a_session_takes_the_same_each_time_and_on_each_thread() {
    let mut pairs = vec![of_tls13(Stack::MBEDTLS), of_tls13(Stack::RUSTLS), with(Stack::TINYDTLS, CredentialKind::Psk)];
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL] {
        pairs.push(with(stack, CredentialKind::Certificate));
    }
    pairs.push(Pair::new(Stack::MBEDTLS, ECDSA).both(|end| tls(end).resumption = Some(Resumption::Ticket)));
    let heaps = |pairs: &[Pair]| pairs.iter().map(heap).collect::<Vec<_>>();
    let expected = heaps(&pairs);
    assert_eq!(heaps(&pairs), expected);
    thread::scope(|scope| {
        let others = [0, 1, 2].map(|_| scope.spawn(|| heaps(&pairs)));
        others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), expected));
    });
}
