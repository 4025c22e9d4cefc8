//! lean-dtls with peers that have DTLS 1.3, in both roles, over a path with faults.

use slowhand_interop::Peer;
use slowhand_sessions::{CredentialKind, Protocol, Suite};

use crate::case::{Beside, Case, Group};
use crate::run::{Fault, Pair, run, run_without_faults};

const fn psk(suite: Suite, group: Option<Group>) -> Case {
    Case::new(Protocol::Dtls13, suite, CredentialKind::Psk, group)
}

const fn certificate(suite: Suite, credential: CredentialKind, group: Group) -> Case {
    Case::new(Protocol::Dtls13, suite, credential, Some(group))
}

const CASES: &[Case] = &[
    psk(Suite::TLS_AES_128_CCM_8_SHA256, None),
    psk(Suite::TLS_AES_128_CCM_8_SHA256, None).with(Beside::ConnectionId),
    psk(Suite::TLS_AES_128_CCM_SHA256, Some(Group::P256)),
    psk(Suite::TLS_AES_128_GCM_SHA256, Some(Group::X25519)),
    certificate(Suite::TLS_AES_128_CCM_8_SHA256, CredentialKind::RawPublicKey, Group::P256),
    certificate(Suite::TLS_AES_128_CCM_8_SHA256, CredentialKind::Certificate, Group::P256),
    certificate(Suite::TLS_AES_128_GCM_SHA256, CredentialKind::Certificate, Group::X25519),
];

#[test]
fn lean_dtls_speaks_dtls13_with_wolfssl_whatever_is_lost_repeated_or_late() {
    let mut wrong = Vec::new();
    for case in CASES {
        for peers in
            [[Peer::LeanDtls, Peer::Wolfssl], [Peer::Wolfssl, Peer::LeanDtls], [Peer::LeanDtls, Peer::LeanDtls]]
        {
            let name = format!("{case}, {} to {}", peers[0], peers[1]);
            let pair = Pair { peers, mtus: [None, None] };
            let datagrams = match run_without_faults(case, &pair) {
                Ok(transcript) => {
                    println!("{name}: {:?}", transcript.sizes());
                    transcript.datagrams.len()
                }
                Err(why) => {
                    wrong.push(format!("{name}: {why}"));
                    continue;
                }
            };
            for fault in Fault::all(datagrams) {
                if let Err(why) = run(case, &pair, &fault.path()) {
                    wrong.push(format!("{name}, {fault:?}: {why}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
