//! QUIC: somebody on the path drops, repeats, changes and invents datagrams.
#![no_main]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_fuzz::path::{Path, recorded};
use slowhand_sessions::{
    Auth, CredentialKind, Protocol, Resumption, Role, Session, SessionConfig, Stack, Status, Weightless, build_pair,
};

/// The most octets that both ends, and what the path has of their datagrams, may take (assumed: two connections of quinn-proto, each with
/// a window of 64 KiB for a stream, and a few hundred datagrams of 1,200 octets).
const MOST_MEMORY: u64 = 2 << 20;

/// The time that the ends may take for a handshake when the path has become good. The probe timeout is 1 s at first, and doubles for each
/// datagram without an answer (RFC 9002 section 6.2.1), up to 65,536 times (quinn-proto, `MAX_BACKOFF_EXPONENT`). *Assumed*: four
/// of the longest are enough.
const PATIENCE: Duration = Duration::from_secs(4 * 65_536);

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let kind = input.octet();
    let (foreign, ends) = (foreign(), ends(kind, [1, 2]));
    let info = allocation_counter::measure(|| {
        let mut path = Path::new(ends, foreign);
        path.disturb(&mut input);
        let statuses = path.settle(PATIENCE);
        // A server has room for one client, and takes the first that comes.
        assert!(path.is_mixed || statuses[0] != Status::Handshaking, "{statuses:?}");
    });
    assert!(info.bytes_max < MOST_MEMORY, "{info:?}");
});

/// A client and a server of one of several kinds.
fn ends(kind: u8, seeds: [u8; 2]) -> [Box<dyn Session>; 2] {
    let config = |role: Role| {
        let credential = CredentialKind::Certificate.into();
        let mut config = SessionConfig::new(role, Stack::RUSTLS, Protocol::Quic.family(), credential);
        config.seed = [seeds[role]; 32];
        if let Some(tls) = config.family.tls_mut() {
            tls.auth = if kind & 1 == 0 { Auth::Server } else { Auth::Mutual };
            tls.resumption = (kind & 2 != 0).then_some(Resumption::Ticket);
        }
        config
    };
    let [client, server] = Role::BOTH.map(config);
    build_pair([&client, &server], [Arc::new(Weightless), Arc::new(Weightless)]).expect("a configuration that can be")
}

/// The datagrams of another session.
fn foreign() -> &'static [Vec<u8>] {
    static FOREIGN: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FOREIGN.get_or_init(|| recorded(ends(0, [3, 4])))
}
