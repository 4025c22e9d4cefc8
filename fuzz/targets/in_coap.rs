//! DTLS whose flights are in CoAP messages: somebody on the path drops, repeats, changes and invents datagrams of both kinds.
#![no_main]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use slowhand_coap::block::BlockSize;
use slowhand_coap::message::is_coap;
use slowhand_fuzz::input::Input;
use slowhand_fuzz::path::{Path, recorded};
use slowhand_sessions::{
    Coap, CredentialKind, Cryptography, Protocol, Resumption, Role, Security, Session, SessionConfig, Stack, Status,
    Weightless, build_pair,
};

/// The most octets that both ends, and what the path has of their datagrams, may take (assumed: each of them may keep a body of 64 KiB,
/// twice, and the path a few hundred datagrams).
const MOST_MEMORY: u64 = 1 << 20;

/// The longest time until a client knows that its handshake has failed: MAX_TRANSMIT_WAIT of RFC 7252 section 4.8.2 is 93 s. After it
/// the client waits as long again for a server that has ignored its flight.
const PATIENCE: Duration = Duration::from_secs(400);

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let kind = input.octet();
    let foreign = foreign();
    let info = allocation_counter::measure(|| {
        let mut path = Path::new(ends(kind, [1, 2]), foreign);
        path.disturb(&mut input);
        let statuses = path.settle(PATIENCE);
        // A server may wait for another client, a client for nobody.
        assert!(statuses[0] != Status::Handshaking, "{statuses:?}");
    });
    assert!(info.bytes_max < MOST_MEMORY, "{info:?}");
});

/// A client and a server of one of several kinds.
fn ends(kind: u8, seeds: [u8; 2]) -> [Box<dyn Session>; 2] {
    let (protocol, credential) = match kind & 3 {
        0 => (Protocol::Dtls12, CredentialKind::Psk),
        1 => (Protocol::Dtls12, CredentialKind::RawPublicKey),
        2 => (Protocol::Dtls13, CredentialKind::Psk),
        _ => (Protocol::Dtls12, CredentialKind::Psk),
    };
    let block = [1024, 64, 32, 256][usize::from(kind >> 2 & 3)];
    let config = |role: Role| {
        let mut config = SessionConfig::new(role, Stack::LEAN_DTLS, protocol.family(), credential.into());
        let block = BlockSize::new(block).expect("a size of RFC 7959");
        config.in_coap = Some(Box::new(Coap { block, ..Coap::new(Security::None) }));
        if credential == CredentialKind::Psk {
            config.cryptography = Cryptography::Weightless;
        }
        config.mtu = (kind & 16 != 0).then_some(128);
        config.seed = [seeds[role]; 32];
        if let Some(tls) = config.family.tls_mut() {
            tls.resumption = (kind & 3 == 3).then_some(Resumption::Id);
        }
        config
    };
    let [client, server] = Role::BOTH.map(config);
    build_pair([&client, &server], [Arc::new(Weightless), Arc::new(Weightless)]).expect("a configuration that can be")
}

/// The datagrams of another session.
fn foreign() -> &'static [Vec<u8>] {
    static FOREIGN: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FOREIGN.get_or_init(|| {
        let datagrams = recorded(ends(4, [3, 4]));
        assert!(datagrams.iter().all(|datagram| is_coap(datagram)));
        datagrams
    })
}
