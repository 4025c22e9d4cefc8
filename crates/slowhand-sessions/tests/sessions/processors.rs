//! A library calls the [`Processor`] in the middle of C. Whatever the processor does there, it harms neither the
//! library nor the process.

use std::mem::{Discriminant, discriminant};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{CredentialKind, Operation, Processor, Protocol, Resumption, Session, Stack, Suite};

use crate::pair::{Pair, psk, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const GCM: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
const TLS13: Suite = Suite::TLS_AES_128_GCM_SHA256;

/// Sessions that perform all operations of each library.
fn pairs() -> Vec<Pair> {
    use Protocol::{Dtls12, Tls12, Tls13};
    let kinds = [
        (Stack::MBEDTLS, Dtls12, PSK),
        (Stack::MBEDTLS, Dtls12, Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA),
        (Stack::MBEDTLS, Dtls12, Suite::TLS_RSA_WITH_AES_128_CBC_SHA),
        (Stack::MBEDTLS, Tls12, GCM),
        (Stack::MBEDTLS, Tls13, TLS13),
        (Stack::OPENSSL, Dtls12, PSK),
        (Stack::OPENSSL, Dtls12, Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA),
        (Stack::OPENSSL, Dtls12, Suite::TLS_RSA_WITH_AES_128_CBC_SHA),
        (Stack::OPENSSL, Tls12, GCM),
        (Stack::OPENSSL, Tls13, TLS13),
        (Stack::RUSTLS, Tls12, GCM),
        (Stack::RUSTLS, Tls13, TLS13),
        (Stack::TINYDTLS, Dtls12, PSK),
        (Stack::TINYDTLS, Dtls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    ];
    let mut pairs: Vec<_> =
        kinds.into_iter().map(|(stack, protocol, suite)| Pair::of(stack, protocol, suite)).collect();
    // A ticket is encrypted while the library holds a lock.
    pairs.push(Pair::new(Stack::MBEDTLS, PSK).both(|config| tls(config).resumption = Some(Resumption::Ticket)));
    // The server refuses the client.
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = Pair::new(stack, PSK);
        pair.client.credential = psk("someone else");
        pairs.push(pair);
    }
    pairs
}

/// A handshake, some data, and the end of the session.
fn run(client: &mut dyn Session, server: &mut dyn Session) -> Transcript {
    let transcript = Path::default().run(client, server);
    if transcript.end == End::Completed {
        client.write(transcript.at, b"22.5 C").unwrap();
        client.close(transcript.at);
        while let Some(transmit) = client.poll_transmit() {
            server.handle_input(transcript.at, transmit.bytes);
        }
        server.close(transcript.at);
    }
    transcript
}

/// The kinds of the operations of a session.
fn kinds(session: &mut dyn Session) -> Vec<Discriminant<Operation>> {
    let mut kinds = Vec::new();
    session.drain_operations(&mut |performed| kinds.push(discriminant(&performed.operation)));
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    kinds
}

const BROKEN: &str = "this processor is broken";

/// A processor that panics at one kind of operation.
struct Broken(Discriminant<Operation>);

impl Processor for Broken {
    fn time(&self, operation: Operation) -> Duration {
        if discriminant(&operation) == self.0 {
            panic::resume_unwind(Box::new(BROKEN)); // a panic that prints nothing
        }
        Duration::ZERO
    }
}

#[test]
fn a_panic_at_any_operation_is_a_panic_of_the_call() {
    let mut panics = 0;
    for pair in pairs() {
        let (mut client, mut server) = pair.build();
        let transcript = run(&mut *client, &mut *server);
        let name = format!("{} {}", pair.client.stack, pair.client.protocol());
        for (is_client, kind) in kinds(&mut *client)
            .into_iter()
            .map(|kind| (true, kind))
            .chain(kinds(&mut *server).into_iter().map(|kind| (false, kind)))
        {
            let mut broken = pair.clone();
            let processor = if is_client { &mut broken.client_processor } else { &mut broken.server_processor };
            *processor = Arc::new(Broken(kind));
            // Building takes no time, so the processor does not panic there.
            let (mut client, mut server) = broken.build();
            let panic = panic::catch_unwind(AssertUnwindSafe(|| run(&mut *client, &mut *server)));
            let panic = panic.map(|_| ()).expect_err(&name);
            assert_eq!(panic.downcast_ref::<&str>(), Some(&BROKEN), "{name}");
            // The session that it happened to still takes calls, and can be dropped.
            for end in [&mut client, &mut server] {
                let _ = panic::catch_unwind(AssertUnwindSafe(|| {
                    end.handle_timeout(Duration::from_secs(9));
                    end.handle_input(Duration::from_secs(9), &[22; 60]);
                    end.close(Duration::from_secs(9));
                }));
            }
            panics += 1;
        }
        // Nothing is left behind on this thread.
        let (mut client, mut server) = pair.build();
        assert_eq!(run(&mut *client, &mut *server), transcript, "{name}");
    }
    assert!(panics > 100, "{panics}");
}

/// A processor that runs a whole session of its own when an operation of a kind comes for the first time.
struct Nesting {
    inner: Pair,
    expected: Transcript,
    seen: Mutex<Vec<Discriminant<Operation>>>,
}

impl Processor for Nesting {
    fn time(&self, operation: Operation) -> Duration {
        let mut seen = self.seen.lock().unwrap();
        if !seen.contains(&discriminant(&operation)) {
            seen.push(discriminant(&operation));
            let (mut client, mut server) = self.inner.build();
            assert_eq!(run(&mut *client, &mut *server), self.expected, "inside {operation:?}");
        }
        Duration::ZERO
    }
}

/// Each library inside each library, also with sessions that fail. Before, tinyDTLS waited for its own lock, and went
/// on without its session.
#[test]
fn a_processor_may_run_sessions() {
    let run = |pair: &Pair| {
        let (mut client, mut server) = pair.build();
        run(&mut *client, &mut *server)
    };
    let pairs: Vec<_> = pairs().into_iter().map(|pair| (run(&pair), pair)).collect();
    let is_quick =
        |pair: &Pair| pair.client.credential.kind() == CredentialKind::Psk || pair.client.stack == Stack::RUSTLS;
    for (outer_transcript, outer) in &pairs {
        for (inner_transcript, inner) in pairs.iter().filter(|(_, pair)| is_quick(pair)) {
            let nesting = || {
                let (inner, expected) = (inner.clone(), inner_transcript.clone());
                Arc::new(Nesting { inner, expected, seen: Mutex::default() })
            };
            let (client, server) = (nesting(), nesting());
            let mut outer = outer.clone();
            (outer.client_processor, outer.server_processor) = (client.clone(), server.clone());
            assert_eq!(run(&outer), *outer_transcript, "{} around {}", outer.client.stack, inner.client.stack);
            assert!(!client.seen.lock().unwrap().is_empty(), "{} around {}", outer.client.stack, inner.client.stack);
            assert!(!server.seen.lock().unwrap().is_empty(), "{} around {}", outer.client.stack, inner.client.stack);
        }
    }
}
