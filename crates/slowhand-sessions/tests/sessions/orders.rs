//! Every order of calls, of every library, protocol and role. `tools/sanitize` runs this module with the C code
//! compiled with AddressSanitizer: then an access to memory that the library has freed ends the process.

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use slowhand_sessions::{CredentialKind, KeyExchange, Role, Session, Stack, Suite};

use crate::pair::Pair;

/// The acts of the owner of a session.
#[derive(Clone, Copy, Debug)]
enum Call {
    Start,
    /// The next that the peer has sent.
    Input,
    /// The last input once more.
    Repeated,
    /// The first flight of another client.
    ForeignHello,
    Garbage,
    Timeout,
    Write,
    Close,
    /// Gives the peer what the session has sent, and takes its answer.
    Exchange,
}

const CALLS: [Call; 9] = [
    Call::Start,
    Call::Input,
    Call::Repeated,
    Call::ForeignHello,
    Call::Garbage,
    Call::Timeout,
    Call::Write,
    Call::Close,
    Call::Exchange,
];

/// A handshake record with nonsense in it.
const GARBAGE: [u8; 60] = [22; 60];

/// A session and its peer, without a network.
struct Bench {
    session: Box<dyn Session>,
    peer: Box<dyn Session>,
    /// The datagrams of the peer.
    waiting: VecDeque<Vec<u8>>,
    last: Vec<u8>,
    foreign_hello: Vec<u8>,
    now: Duration,
}

impl Bench {
    fn new(pair: &Pair, role: Role) -> Self {
        let mut other = pair.clone();
        other.client.seed = [9; 32];
        let mut stranger = other.build().0;
        stranger.start(Duration::ZERO);
        let foreign_hello = stranger.poll_transmit().map(|transmit| transmit.bytes.to_vec()).unwrap_or_default();
        let (client, server) = pair.build();
        let (session, mut peer) = if role == Role::Client { (client, server) } else { (server, client) };
        peer.start(Duration::ZERO);
        let mut bench =
            Self { session, peer, waiting: VecDeque::new(), last: Vec::new(), foreign_hello, now: Duration::ZERO };
        bench.collect();
        bench
    }

    fn collect(&mut self) {
        while let Some(transmit) = self.peer.poll_transmit() {
            self.waiting.push_back(transmit.bytes.to_vec());
        }
    }

    fn call(&mut self, call: Call) {
        self.now += Duration::from_millis(1);
        let (session, now) = (&mut self.session, self.now);
        match call {
            Call::Start => session.start(now),
            Call::Input => {
                if let Some(octets) = self.waiting.pop_front() {
                    session.handle_input(now, &octets);
                    self.last = octets;
                }
            }
            Call::Repeated => session.handle_input(now, &self.last),
            Call::ForeignHello => session.handle_input(now, &self.foreign_hello),
            Call::Garbage => session.handle_input(now, &GARBAGE),
            Call::Timeout => {
                self.now = session.deadline().unwrap_or(now).max(now);
                session.handle_timeout(self.now);
            }
            Call::Write => drop(session.write(now, b"22.5 C")),
            Call::Close => session.close(now),
            Call::Exchange => {
                while let Some(transmit) = session.poll_transmit() {
                    self.peer.handle_input(now, transmit.bytes);
                }
                while session.poll_received().is_some() {}
                session.drain_operations(&mut |_| {});
                self.collect();
            }
        }
        let _ = (session_state(&mut *self.session), session_state(&mut *self.peer));
    }

    /// Runs the handshake to its end.
    fn establish(&mut self) {
        self.call(Call::Start);
        for _ in 0..6 {
            self.call(Call::Exchange);
            while !self.waiting.is_empty() {
                self.call(Call::Input);
            }
        }
    }
}

/// All that can be asked.
fn session_state(session: &mut dyn Session) -> bool {
    let asked = (session.status(), session.deadline(), session.busy_until(), session.key_log(), session.negotiated());
    session.resumable().is_some() && asked.4.is_some()
}

/// Each library with each protocol, with the suite that takes the least time.
fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for stack in Stack::BUILT_IN.iter().copied() {
        let capabilities = stack.capabilities();
        for protocol in capabilities.protocols() {
            let suites: Vec<Suite> = capabilities.suites(protocol).collect();
            let fits = |suite: &&Suite| suite.key_exchange() == KeyExchange::Psk;
            let suite = suites.iter().find(fits).unwrap_or(&suites[0]);
            pairs.push(Pair::of(stack, protocol, *suite));
        }
    }
    pairs.push(Pair::new(Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8));
    pairs
}

/// The length of the sequences: three calls in the full size.
fn length() -> u32 {
    if std::env::var_os("SLOWHAND_FULL").is_some() { 3 } else { 2 }
}

/// Runs each sequence of so many calls, in a new session that `prepare` has prepared.
fn run_all(pair: &Pair, length: u32, prepare: fn(&mut Bench)) {
    for role in [Role::Client, Role::Server] {
        for number in 0..CALLS.len().pow(length) {
            let mut bench = Bench::new(pair, role);
            prepare(&mut bench);
            for place in 0..length {
                bench.call(CALLS[number / CALLS.len().pow(place) % CALLS.len()]);
            }
        }
    }
}

#[test]
fn any_calls_from_the_beginning() {
    pairs().iter().for_each(|pair| run_all(pair, length(), |_| ()));
}

/// A handshake with curves takes most of the time, so there it is one call less.
#[test]
fn any_calls_after_a_handshake() {
    for pair in pairs() {
        let has_curve = pair.client.credential.kind() != CredentialKind::Psk;
        run_all(&pair, length() - u32::from(has_curve), Bench::establish);
    }
}

/// Before, rustls panicked here.
#[test]
fn nonsense_after_a_close() {
    for pair in pairs() {
        let mut bench = Bench::new(&pair, Role::Client);
        bench.establish();
        [Call::Close, Call::Garbage, Call::Close, Call::Exchange].into_iter().for_each(|call| bench.call(call));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn many_calls(kind in any::<prop::sample::Index>(), is_client: bool,
                  calls in prop::collection::vec(prop::sample::select(&CALLS[..]), 4..40)) {
        let pairs = pairs();
        let role = if is_client { Role::Client } else { Role::Server };
        let mut bench = Bench::new(kind.get(&pairs), role);
        calls.into_iter().for_each(|call| bench.call(call));
    }
}
