//! lean-dtls with both versions, with peers that speak both, DTLS 1.2 only, or DTLS 1.3 only: in both roles, over a path with faults.

use std::time::Duration;

use slowhand_interop::Peer;
use slowhand_sessions::{CredentialKind, FailureKind, Protocol, Resumption, Session, Status, Suite};

use crate::case::{Beside, Case, Group};
use crate::limits::does_not_survive;
use crate::run::{Fault, Pair, build, run, run_without_faults};

/// The case that both ends agree on, and the suite of the other version.
const PSK_12: (Case, Suite) = (
    Case::new(Protocol::Dtls12, Suite::TLS_PSK_WITH_AES_128_CCM_8, CredentialKind::Psk, None),
    Suite::TLS_AES_128_CCM_8_SHA256,
);
const X509_12: (Case, Suite) = (
    Case::new(
        Protocol::Dtls12,
        Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        CredentialKind::Certificate,
        Some(Group::P256),
    ),
    Suite::TLS_AES_128_GCM_SHA256,
);
const RAW_12: (Case, Suite) = (
    Case::new(
        Protocol::Dtls12,
        Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        CredentialKind::RawPublicKey,
        Some(Group::P256),
    ),
    Suite::TLS_AES_128_CCM_8_SHA256,
);
const PSK_13: (Case, Suite) = (
    Case::new(Protocol::Dtls13, Suite::TLS_AES_128_CCM_8_SHA256, CredentialKind::Psk, None),
    Suite::TLS_PSK_WITH_AES_128_CCM_8,
);
const PSK_AGREEMENT_13: (Case, Suite) = (
    Case::new(Protocol::Dtls13, Suite::TLS_AES_128_GCM_SHA256, CredentialKind::Psk, Some(Group::P256)),
    Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256,
);
const X509_13: (Case, Suite) = (
    Case::new(Protocol::Dtls13, Suite::TLS_AES_128_GCM_SHA256, CredentialKind::Certificate, Some(Group::P256)),
    Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
);
const RAW_13: (Case, Suite) = (
    Case::new(Protocol::Dtls13, Suite::TLS_AES_128_CCM_8_SHA256, CredentialKind::RawPublicKey, Some(Group::P256)),
    Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
);

/// The session of lean-dtls with a peer, in both roles: without faults, and with every fault of each datagram.
fn speaks(wrong: &mut Vec<String>, peer: Peer, has_both: bool, (case, other): (Case, Suite)) {
    let peers_other = has_both.then_some(other);
    for (peers, others) in
        [([Peer::LeanDtls, peer], [Some(other), peers_other]), ([peer, Peer::LeanDtls], [peers_other, Some(other)])]
    {
        let case = case.with_other_suites(others);
        let name = format!("{case}, {} to {}", peers[0], peers[1]);
        let pair = Pair { peers, mtus: [None, None] };
        let datagrams = match run_without_faults(&case, &pair) {
            Ok(transcript) => {
                println!("{name}: {:?}", transcript.sizes());
                transcript.datagrams.len()
            }
            Err(why) => {
                wrong.push(format!("{name}: {why}"));
                continue;
            }
        };
        let role = if peers[0] == peer { slowhand_sessions::Role::Client } else { slowhand_sessions::Role::Server };
        for fault in Fault::all(datagrams) {
            if let Err(why) = run(&case, &pair, &fault.path())
                && does_not_survive(peer, role, &case, None, Some(fault)).is_none()
            {
                wrong.push(format!("{name}, {fault:?}: {why}"));
            }
        }
    }
}

#[test]
fn with_a_peer_that_speaks_both_it_speaks_dtls13() {
    let mut wrong = Vec::new();
    for case in [PSK_13, PSK_AGREEMENT_13, X509_13, RAW_13] {
        speaks(&mut wrong, Peer::Wolfssl, true, case);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn with_a_peer_that_speaks_dtls13_only_it_speaks_dtls13() {
    let mut wrong = Vec::new();
    for case in [PSK_13, PSK_AGREEMENT_13, X509_13] {
        speaks(&mut wrong, Peer::Wolfssl, false, case);
    }
    speaks(&mut wrong, Peer::Dimpl, false, X509_13);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn with_a_peer_that_speaks_dtls12_only_it_speaks_dtls12() {
    let mut wrong = Vec::new();
    for peer in [Peer::Mbedtls, Peer::Openssl, Peer::Tinydtls, Peer::Gnutls, Peer::Wolfssl, Peer::Dimpl] {
        speaks(&mut wrong, peer, false, PSK_12);
    }
    for peer in [Peer::Mbedtls, Peer::Openssl, Peer::Gnutls, Peer::Wolfssl, Peer::Dimpl] {
        speaks(&mut wrong, peer, false, X509_12);
    }
    for peer in [Peer::Tinydtls, Peer::Gnutls] {
        speaks(&mut wrong, peer, false, RAW_12);
    }
    let resumed = [Beside::ConnectionId, Beside::Resumption(Resumption::Id), Beside::Resumption(Resumption::Ticket)];
    for beside in resumed {
        speaks(&mut wrong, Peer::Mbedtls, false, (PSK_12.0.with(beside), PSK_12.1));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes supported_versions (43) an extension that nobody knows.
fn strip(datagram: &mut [u8]) -> bool {
    let is_it = |octets: &[u8]| octets[..3] == [0, 43, 0] && octets[3] == octets[4] + 1 && octets[5] == 0xfe;
    let place = datagram.windows(6).position(is_it);
    place.into_iter().for_each(|place| datagram[place] = 0x99);
    place.is_some()
}

/// The status of the client of a session whose offer of DTLS 1.3 somebody on the path takes out.
fn client_without_its_offer(peers: [Peer; 2]) -> Status {
    let (case, other) = PSK_13;
    let case = case.with_other_suites([Some(other); 2]);
    let [mut client, mut server] = build(&case, &Pair { peers, mtus: [None, None] }, &[None, None], false).unwrap();
    let sent = |end: &mut dyn Session| {
        let mut datagrams = Vec::new();
        while let Some(sent) = end.poll_transmit() {
            datagrams.push(sent.bytes.to_vec());
        }
        datagrams
    };
    client.start(Duration::ZERO);
    let mut stripped = 0;
    for _ in 0..5 {
        for mut datagram in sent(&mut *client) {
            stripped += u32::from(strip(&mut datagram));
            server.handle_input(Duration::ZERO, &datagram);
        }
        for datagram in sent(&mut *server) {
            client.handle_input(Duration::ZERO, &datagram);
        }
    }
    assert!(stripped > 0, "the client has offered DTLS 1.3");
    client.status()
}

/// RFC 8446, section 4.1.3: the sign in the server's random number is the one that the other library looks for, and the one that it
/// gives.
#[test]
fn a_downgrade_is_seen_by_the_client_whose_ever_the_ends_are() {
    for peers in [[Peer::LeanDtls, Peer::Wolfssl], [Peer::Wolfssl, Peer::LeanDtls], [Peer::LeanDtls, Peer::LeanDtls]] {
        let status = client_without_its_offer(peers);
        let Status::Failed(failure) = &status else { panic!("{peers:?}: {status:?}") };
        // wolfSSL's VERSION_ERROR; illegal_parameter.
        let words = if peers[0] == Peer::Wolfssl { "ersion" } else { "AlertSent(47)" };
        assert!(failure.kind != FailureKind::TimedOut && failure.reason.contains(words), "{peers:?}: {failure:?}");
    }
}
