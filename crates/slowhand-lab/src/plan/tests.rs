use super::*;
use std::collections::HashSet;

#[test]
fn no_two_sessions_have_the_same_seed() {
    let streams = [1, 2].map(Streams::new);
    let all = streams.iter().flat_map(|streams| (1..1_000).flat_map(|client| seeds(NodeId(client), streams)));
    assert_eq!(all.collect::<HashSet<_>>().len(), 2 * 999 * 2);
}

/// A client and its border router. Certificates of a chosen length are of another authority, which the others do not trust.
fn with_certificates(changes: &str) -> Scenario {
    format!(
        r#"
        network = {{ topology = {{ kind = "line", hops = 1 }} }}
        mac = {{ kind = "tsch", slotframe = 5, cells = {{ shared = 1, up = 2, down = 1 }} }}
        client = {{ device = "openmote-cc2538", compute_factor = 0 }}
        {changes}
        stack = "mbedtls"
        suite = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"
        auth = "server"
        timeout_s = 9
        give_up_s = 60
        "#
    )
    .parse()
    .unwrap()
}

#[test]
fn the_border_router_stops_a_false_server_that_its_client_would_take() {
    use crate::record::Outcome;
    let run = |gateway: &str, has_judge: bool| {
        let mut plan = Plan::new(&with_certificates(&format!("{gateway}\n[session]"))).unwrap();
        plan.sessions[1] = with_certificates("[session]\ncertificate_length = 600").session_config(Role::Server);
        if !has_judge {
            plan.network.gateway.judge = None;
        }
        plan.run(1, &mut ()).remove(0)
    };
    let before = "gateway = { pre_validation = true }";
    assert_eq!(run("", true).outcome, Outcome::Error, "the client verifies");
    let stopped = run(before, true);
    assert_ne!(stopped.outcome, Outcome::Completed);
    assert!(stopped.lost_because()["unvalidated"] > 0, "{:?}", stopped.losses);
    assert_eq!(
        run(before, false).outcome,
        Outcome::Completed,
        "behind another border router the client takes any chain"
    );
}
