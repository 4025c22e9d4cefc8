//! The datagrams in the network have the sizes that they have without a network.

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, MBEDTLS_PSK_TLS, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_sessions::memory::Path;
use slowhand_sessions::{Processor, Role, SessionConfig, Weightless};
use std::sync::Arc;

/// The sizes of the datagrams of a handshake without a network. The seeds are those of the network, because the length
/// of signatures varies with them.
fn in_memory(changes: &[&str], seed: u64) -> Vec<usize> {
    let streams = slowhand_net::random::Streams::new(seed);
    let scenario = scenario(changes);
    let configs = [(Role::Client, 2), (Role::Server, 3)]
        .map(|(role, end)| SessionConfig { seed: streams.derive("session", end), ..scenario.session.config(role) });
    let processors = [0, 1].map(|_| Arc::new(Weightless) as Arc<dyn Processor>);
    let [mut client, mut server] = slowhand_sessions::build_pair(configs.each_ref(), processors).unwrap();
    Path::default().run(&mut *client, &mut *server).sizes()
}

/// The payload octets of each datagram's frames: PSDU less 802.15.4 header and FCS.
#[derive(Default)]
struct Payloads(Vec<usize>);

impl Observer for Payloads {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        if frame.kind == FrameKind::Data {
            let datagram = frame.datagram as usize;
            self.0.resize(self.0.len().max(datagram + 1), 0);
            self.0[datagram] += frame.octets.len() - 21;
        }
    }
}

#[test]
fn every_datagram_has_the_size_it_has_in_memory() {
    let resumed = ["id", "ticket"].map(|how| format!("session.resumption={how}"));
    let [id, ticket] = resumed.each_ref().map(|how| [MBEDTLS_ECDHE, &[how.as_str()]].concat());
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK, MBEDTLS_ECDHE, OPENSSL_ECDHE, &id, &ticket] {
        for seed in 1..4 {
            let mut payloads = Payloads::default();
            plan(changes).run(seed, &mut payloads);
            let expected: Vec<usize> = in_memory(changes, seed).into_iter().map(with_headers).collect();
            assert_eq!(payloads.0, expected, "{changes:?}, seed {seed}");
        }
    }
}

/// Measured with mbedTLS in plain C programs with tags of 8 octets: 133/60/165/179/67. Here they have 16, and two records
/// are protected. Nobody computes on a curve.
#[test]
fn a_session_that_is_resumed_costs_what_is_left_of_a_handshake() {
    let changes = [MBEDTLS_ECDHE, &["session.resumption=id", "client.device=openmote-cc2538"]].concat();
    let record = plan(&changes).run(1, &mut ()).remove(0);
    assert_eq!(record.outcome, slowhand_lab::record::Outcome::Completed);
    assert_eq!((record.datagrams, record.bytes_payload), (5, 133 + 60 + 165 + 179 + 67 + 2 * 8));
    // One operation on the curve alone takes 251 ms or more.
    assert!(record.compute_client_s > 0.0 && record.compute_client_s < 0.1, "{record:?}");
}

#[test]
fn every_octet_of_a_stream_is_one_of_those_in_memory() {
    let ecdhe = "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
    let tls13 = ["session.protocol=tls1.3", "session.suite=TLS_AES_128_GCM_SHA256", "session.auth=mutual"];
    let rustls = ["session.stack=rustls", ecdhe];
    let ticket = [&tls13[..], &["session.resumption=ticket"]].concat();
    for changes in [&[][..], &[ecdhe], &tls13, &rustls, &[&rustls[..1], &tls13].concat(), &ticket] {
        let changes = [MBEDTLS_PSK_TLS, changes].concat();
        let record = plan(&changes).run(1, &mut ()).remove(0);
        assert_eq!(record.outcome, slowhand_lab::record::Outcome::Completed, "{changes:?}: {record:?}");
        assert_eq!(record.retransmissions_needed + record.retransmissions_spurious, 0, "{changes:?}: {record:?}");
        let expected: usize = in_memory(&changes, 1).iter().sum();
        assert_eq!(record.bytes_payload, expected as u64, "{changes:?}");
    }
}

/// Octets of 6LoWPAN for a datagram of `udp` octets (see the derivation in `timing.rs`): 8 of headers, and in frames of 104
/// octets fragments: the first has 4 + 8 + 88 octets, the others 5 + 96, the last the rest.
fn with_headers(udp: usize) -> usize {
    match udp + 8 {
        whole @ ..=104 => whole,
        _ => {
            let rest = udp - 88;
            // The last fragment may fill the 99 octets behind its header: it is not bound to units of 8.
            let later = 1 + rest.saturating_sub(99).div_ceil(96);
            4 + 8 + 88 + 5 * later + rest
        }
    }
}
