//! Handshakes that somebody else does: a delegate opens the session and hands it over, or the border router validates the chain of
//! the server.

use crate::Path;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};

/// One hop, and a client that computes as long as RFC 7925 advises for.
const ONE_HOP: &str = "network.topology={ kind = \"line\", hops = 1 }";
const BY_ID: [&str; 2] = ["gateway.delegation=border-router", "session.resumption=id"];
const BEFORE: &str = "gateway.pre_validation=true";

/// lean-dtls at the client, and at both ends.
const LEAN: [&str; 2] = ["session.stack=lean-dtls", "session.server_stack=mbedtls"];
const LEAN_BOTH: [&str; 1] = ["session.stack=lean-dtls"];

fn scenario(changes: &[&str]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gateway.toml");
    let changes = [&[ONE_HOP, "server.internet_delay_ms=40"], changes].concat();
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(changes: &[&str]) -> Plan {
    Plan::new(&scenario(changes)).unwrap()
}

/// The record of the only client.
fn run(seed: u64, changes: &[&str]) -> Record {
    let mut records = plan(changes).run(seed, &mut ());
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn is_complete(record: &Record, what: &dyn std::fmt::Debug) {
    let Record { outcome, failure, losses, .. } = record;
    assert_eq!(*outcome, Outcome::Completed, "{what:?}: {failure:?}, {losses:?}");
}

#[test]
fn a_node_resumes_what_its_delegate_has_opened() {
    for stacks in [&[][..], &LEAN, &LEAN_BOTH] {
        let full = run(1, stacks);
        for delegate in ["border-router", "internet"] {
            // lean-dtls keeps no ticket that is as long as that of mbedTLS, which has the client's certificate in it.
            let kinds = if stacks == LEAN { &["id"][..] } else { &["id", "ticket"] };
            for resumption in kinds {
                let delegation = format!("gateway.delegation={delegate}");
                let resumption = format!("session.resumption={resumption}");
                let helped = run(1, &[stacks, &[&delegation, &resumption]].concat());
                is_complete(&helped, &(stacks, &delegation, &resumption));
                assert_eq!((helped.attempts, helped.datagrams_lost), (1, 0));
                // No signature and no key agreement.
                let [computed, before] = [&helped, &full].map(|record| record.compute_client_s);
                assert!(10.0 * computed < before, "{computed} s, without a delegate {before}");
                assert!(helped.bytes_phy < full.bytes_phy, "{} octets, without {}", helped.bytes_phy, full.bytes_phy);
                assert!(helped.duration_s < full.duration_s && helped.energy_client.cpu_mj < full.energy_client.cpu_mj);
            }
        }
    }
}

/// lean-dtls keeps 256 octets of a ticket. That of mbedTLS has the client's certificate in it.
#[test]
fn a_session_that_the_client_cannot_keep_is_warned_of() {
    let warnings =
        |stacks: &[&str], delegation: &[&str]| slowhand_lab::warnings(&scenario(&[stacks, delegation].concat()));
    let by_ticket = ["gateway.delegation=internet", "session.resumption=ticket"];
    let all = warnings(&LEAN, &by_ticket);
    let [warning] = &all[..] else { panic!("{all:?}") };
    assert!(warning.starts_with("session.resumption: ") && warning.contains("choose \"id\""), "{warning}");
    // It is so: the client verifies signatures.
    let [full, helped] = [run(1, &LEAN), run(1, &[&LEAN[..], &by_ticket].concat())];
    assert!(helped.compute_client_s > 0.9 * full.compute_client_s);
    for (stacks, delegation) in [(&LEAN[..], &BY_ID), (&LEAN_BOTH, &by_ticket), (&[], &by_ticket), (&[], &BY_ID)] {
        assert_eq!(warnings(stacks, delegation), [""; 0], "{stacks:?} {delegation:?}");
    }
}

#[test]
fn the_delegates_way_to_the_server_takes_time() {
    let with = |delegate: &str, delay: &str| {
        let delegation = format!("gateway.delegation={delegate}");
        run(1, &[&delegation, "session.resumption=id", delay, "session.cookie=true"]).duration_s.unwrap()
    };
    for delegate in ["border-router", "internet"] {
        let [near, far] =
            ["server.internet_delay_ms=0", "server.internet_delay_ms=500"].map(|delay| with(delegate, delay));
        // Three round trips of the delegate with its cookie, two of the node, whose last datagram ends the handshake.
        assert!(far - near > 4.5, "{delegate}: {near} s, then {far} s");
    }
}

#[test]
fn lossy_networks_small_datagrams_and_overtaking_change_nothing_but_time() {
    let hard = [
        "session.mtu=256",
        "lowpan.fragment_loss=0.03",
        "network.link_pdr=0.9",
        "network.ack_pdr=0.7",
        "server.internet_jitter_ms=200",
        "server.internet_loss=0.1",
    ];
    for helped in [&BY_ID[..], &["gateway.delegation=internet", "session.resumption=ticket"], &[BEFORE]] {
        for stacks in [&[][..], &LEAN] {
            let changes = [helped, stacks, &hard].concat();
            let plan = plan(&changes);
            let records: Vec<Record> = (1..=6).flat_map(|seed| plan.run(seed, &mut ())).collect();
            let again: Vec<Record> = (1..=6).flat_map(|seed| plan.run(seed, &mut ())).collect();
            assert_eq!(records, again, "the same scenario and seed");
            records.iter().for_each(|record| is_complete(record, &(helped, stacks, record.seed)));
        }
    }
}

#[test]
fn every_client_has_its_own_session_and_its_data() {
    let star = [
        "network.topology={ kind = \"star\", leaves = 3 }",
        "application={ requests = 2, response_bytes = 30 }",
        "session.protocol=coap+dtls1.2",
    ];
    let records = plan(&[&BY_ID[..], &star].concat()).run(3, &mut ());
    assert_eq!(records.iter().map(|record| record.client).collect::<Vec<_>>(), [1, 2, 3]);
    for record in &records {
        is_complete(record, &record.client);
        assert_eq!(record.data.as_ref().unwrap().outcome, Outcome::Completed);
    }
}

#[test]
fn a_delegate_that_reaches_no_server_says_so_and_the_client_tries_again() {
    let unreachable = ["server.internet_loss=1", "session.timeout_s=1", "session.max_timeout_s=1"];
    let retry = "application.retry={ kind = \"fixed\", wait_s = 5, attempts = 2 }";
    let alone = run(1, &[&BY_ID[..], &unreachable].concat());
    assert_eq!((alone.outcome, alone.attempts), (Outcome::Error, 1));
    assert_eq!(alone.failure.as_ref().unwrap().reason, "the delegate has opened no session");
    let twice = run(1, &[&BY_ID[..], &unreachable, &[retry]].concat());
    assert_eq!((twice.outcome, twice.attempts), (Outcome::Error, 2));
    assert!(twice.frames > alone.frames);
    // The client gives up before its delegate does.
    let given_up = run(1, &[&BY_ID[..], &unreachable[..1], &["session.give_up_s=5"]].concat());
    assert_eq!((given_up.outcome, given_up.attempts), (Outcome::GaveUp, 1));
}

/// The server answers the cookie and computes its flight, which is lost: what it has computed and what was sent counts in each
/// attempt.
#[test]
fn a_hand_over_that_fails_counts_what_was_done_for_it() {
    let lost: Vec<String> = (2..80).map(|number: u32| number.to_string()).collect();
    let lost = format!("server.internet_dropped=[{}]", lost.join(", "));
    let short = ["session.timeout_s=1", "session.server_timeout_s=1", "session.max_timeout_s=4"];
    let changes = [&BY_ID[..], &short, &[&lost]].concat();
    let retry = "application.retry={ kind = \"fixed\", wait_s = 5, attempts = 2 }";
    let (once, twice) = (run(1, &changes), run(1, &[&changes[..], &[retry]].concat()));
    assert_eq!([once.outcome, twice.outcome], [Outcome::Error; 2]);
    let full = run(1, &[]);
    // A key and a signature: about a quarter of what a whole handshake takes.
    assert!(once.compute_server_s > 0.2 * full.compute_server_s, "{once:?}");
    assert!(once.datagrams_lost > 1 && once.retransmissions_needed > 0, "{once:?}");
    assert!(twice.datagrams_lost > once.datagrams_lost, "{once:?}\n{twice:?}");
    // The second attempt loses its first ClientHello too.
    assert!(twice.compute_server_s > once.compute_server_s, "{once:?}\n{twice:?}");
    assert!(twice.start_s == once.start_s && twice.end_s > once.end_s);
}

/// The time that the device takes to verify with ECDSA on secp256r1.
const VERIFICATION_S: f64 = 0.5222;

#[test]
fn a_chain_that_is_validated_before_costs_its_node_no_verification() {
    for stacks in
        [&[][..], &LEAN, &LEAN_BOTH, &["session.auth=server", "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"]]
    {
        // Nothing is sent twice.
        let patient = [stacks, &["session.server_timeout_s=9"]].concat();
        let (own, before) = (run(2, &patient), run(2, &[&patient[..], &[BEFORE]].concat()));
        is_complete(&before, &stacks);
        let saved = own.compute_client_s - before.compute_client_s;
        // The time that the device takes for it (`devices/openmote-cc2538.toml`), and for one hash of a certificate.
        assert!(
            (VERIFICATION_S..VERIFICATION_S + 0.01).contains(&saved),
            "{stacks:?}: {saved} s of {}",
            own.compute_client_s
        );
        assert_eq!(own.bytes_payload, before.bytes_payload, "{stacks:?}");
        // The server verifies its client as ever: the border router validates the certificates of servers.
        assert_eq!(own.compute_server_s, before.compute_server_s, "{stacks:?}");
    }
}
