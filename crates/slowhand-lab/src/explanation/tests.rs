//! The parts of an explanation add up, and name what was planted.

use super::messages::name_of_coap;
use super::parts::Short;
use super::*;
use slowhand_net::clock::Duration;
use slowhand_sessions::Role;
use std::path::Path;

fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let overrides: Vec<_> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Scenario::load(&path, &overrides).unwrap()
}

/// Each example that runs fast, and what makes other parts of the network work.
const EXAMPLES: [(&str, &[&str]); 38] = [
    ("quickstart", &[]),
    ("quickstart", &["session.protocol=tls1.2"]),
    (
        "psk-tinydtls",
        &[
            "session.stack=openssl",
            "session.protocol=tls1.3",
            "session.suite=TLS_AES_128_GCM_SHA256",
            "session.auth=mutual",
        ],
    ),
    (
        "psk-tinydtls",
        &[
            "session.stack=lean-dtls",
            "session.protocol=dtls1.3",
            "session.suite=TLS_AES_128_CCM_8_SHA256",
            "session.auth=psk",
            "lowpan.frame_loss=0.05",
        ],
    ),
    ("quickstart", &["network.frame_handling_ms=5"]),
    ("quickstart", &["network.topology={ kind = \"star\", leaves = 3 }", "mac.slotframe=17"]),
    ("quickstart", &["network.outages=[{ node = 0, from_s = 0.5, until_s = 4 }]", "lowpan.fragment_loss=0.05"]),
    ("lossy-line", &[]),
    ("lossy-line", &["lowpan.reassembly=forwarding"]),
    ("lossy-line", &["lowpan.reassembly=recovery", "lowpan.fragment_loss=0.05"]),
    ("psk-tinydtls", &[]),
    ("beacon", &[]),
    ("beacon", &["network.topology={ kind = \"line\", hops = 3 }"]),
    ("xmac", &[]),
    ("xmac", &["network.topology={ kind = \"line\", hops = 3 }", "network.link_pdr=0.9"]),
    ("csma", &[]),
    ("thread", &["network.link_pdr=0.8"]),
    ("thread-commissioning", &[]),
    ("gateway", &["gateway.suppress_spurious_flights=true", "lowpan.fragment_loss=0.05"]),
    ("gateway", &["session.protocol=tls1.2", "gateway.tcp_proxy=true"]),
    ("rpl", &[]),
    ("minimal", &[]),
    ("interference", &[]),
    ("busy", &[]),
    ("security", &[]),
    // Given up, while timers were running.
    ("gateway", &["session.give_up_s=3"]),
    ("gateway", &["session.give_up_s=9"]),
    ("gateway", &["session.protocol=tls1.2", "session.give_up_s=3"]),
    ("gateway", &["session.protocol=tls1.2", "session.give_up_s=9"]),
    ("gateway", &["session.protocol=tls1.2", "gateway.tcp_proxy=true", "session.give_up_s=3"]),
    ("gateway", &["session.protocol=tls1.2", "gateway.tcp_proxy=true", "session.give_up_s=9"]),
    ("minimal", &["network.link_pdr=0.7", "session.give_up_s=3"]),
    ("interference", &["session.give_up_s=3"]),
    ("quickstart", &["session.give_up_s=0.00001"]),
    ("thread", &[]),
    ("lossy-line", &["lowpan.reassembly=recovery", "network.outages=[{ node = 1, from_s = 1, until_s = 5 }]"]),
    ("quickstart", &["session.protocol=tls1.2", "network.outages=[{ node = 1, from_s = 0.3, until_s = 40 }]"]),
    (
        "quickstart",
        &[
            "network.topology={ kind = \"star\", leaves = 4 }",
            "mac.slotframe=17",
            "server.device=openmote-cc2538",
            "session.timeout_s=20",
        ],
    ),
];

/// The hand-over is a part, and then the path of the resumed handshake.
#[test]
fn the_wait_for_a_delegate_is_a_part() {
    for delegate in ["border-router", "internet"] {
        let delegation = format!("gateway.delegation={delegate}");
        let scenario = scenario("gateway", &[&delegation, "session.resumption=id", "lowpan.fragment_loss=0.05"]);
        let plan = Plan::new(&scenario).unwrap();
        for seed in 1..=5 {
            let told = Told::of_world(&plan, seed, &Interrupt::default()).unwrap();
            assert_eq!(told.records, plan.run(seed, &mut ()));
            let explanation = told.explain(&scenario, &plan, 0, &Interrupt::default()).unwrap();
            let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
            assert!(told.records[0].duration_s.is_none_or(|duration_s| duration_s == explanation.duration_s));
            assert_eq!(Duration::from_micros(sum), Duration::from_secs_f64(explanation.duration_s));
            let kinds: Vec<&str> = explanation.parts.iter().map(|part| part.kind).collect();
            // Where the hand-over itself has failed, its own path is told.
            let is_over = told.trace.attempts[0].iter().all(|attempt| attempt.is_hand_over);
            assert!(kinds.contains(&"hand-over") != is_over && !kinds.contains(&"other"), "{kinds:?}");
            // Without a delegate the whole handshake would come.
            let mut waits = explanation.parts.iter().filter(|part| part.kind == "hand-over");
            assert!(waits.all(|part| part.remedy.is_none()), "{:?}", explanation.parts);
            let scene = told.scene(&scenario, &plan, slowhand_net::clock::Instant::from_micros(u64::MAX));
            assert!(scene.datagrams.iter().any(|datagram| datagram.name.contains("OSCORE")));
        }
    }
}

/// The hand-over takes longer than CoAP waits: its message is sent again, and the resumed handshake waits behind that. There is no other
/// session.
#[test]
fn what_a_hand_over_sends_again_is_of_the_same_session() {
    let delegation = ["gateway.delegation=border-router", "session.resumption=id", "session.stack=mbedtls"];
    let queued = |seed: u64, more: &[&str]| -> Vec<Part> {
        let scenario = scenario("helped", &[&delegation[..], more].concat());
        let explanation = explain(&scenario, seed, None, &Interrupt::default()).unwrap().unwrap();
        explanation.parts.into_iter().filter(|part| part.kind == "queue").collect()
    };
    let is_of_coap = |part: &&Part| part.remedy.as_deref() == Some("raise session.coap.ack_timeout_s");
    let mut waited = 0.0;
    for seed in 1..=5 {
        let parts = queued(seed, &[]);
        assert!(parts.iter().all(|part| !part.text.contains("other sessions")), "{parts:#?}");
        let again: Vec<&Part> = parts.iter().filter(is_of_coap).collect();
        assert!(again.iter().all(|part| part.text.ends_with("behind what the client's timer sent again needlessly")));
        waited += again.iter().map(|part| part.seconds).sum::<f64>();
        let longer = queued(seed, &["session.coap.ack_timeout_s=6"]);
        assert!(!longer.iter().any(|part| is_of_coap(&part)), "{longer:#?}");
    }
    assert!(waited > 5.0, "{waited}");
}

/// The lengths of timers in the parts of a kind, in seconds, with the words that follow.
fn timers<'a>(parts: &'a [Part], whose: &str) -> Vec<(f64, &'a str)> {
    let length = |part: &'a Part| {
        let (length, why) = part.text.strip_prefix(&format!("waiting for the {whose} of "))?.split_once(" s, ")?;
        Some((length.parse().unwrap(), why))
    };
    parts.iter().filter_map(length).collect()
}

/// With False Start the timer of the request runs inside that of the flight. It does not cut it into pieces.
#[test]
fn a_timer_of_coap_does_not_cut_that_of_dtls() {
    let early = ["session.false_start=true", "session.protocol=coap+dtls1.2", "application.requests=1"];
    let scenario = scenario("helped", &[&early[..], &["lowpan.frame_loss=0.05"]].concat());
    for seed in 1..=20 {
        let Explanation { parts, .. } = explain(&scenario, seed, None, &Interrupt::default()).unwrap().unwrap();
        for role in Role::BOTH {
            let timers = timers(&parts, &format!("{}'s timer", role.name()));
            assert!(timers.iter().all(|(length, _)| [9.0, 18.0, 36.0, 60.0].contains(length)), "{seed}: {timers:?}");
            let is_lossless = |(_, why): &(f64, &str)| why.contains("although nothing was lost");
            assert!(seed != 1 || !timers.iter().any(is_lossless), "{timers:?}");
        }
        if seed == 1 {
            let of_client = timers(&parts, "client's timer");
            for length in [9.0, 18.0, 36.0] {
                let is_it =
                    |timer: &&(f64, &str)| timer.0 == length && timer.1.contains("Certificate to Finished was lost");
                assert!(of_client.iter().any(|timer| is_it(&timer)), "{length} s: {of_client:?}");
            }
            let is_raised = |part: &Part| part.remedy.as_deref() == Some("raise session.timeout_s");
            assert!(!parts.iter().any(is_raised), "{parts:#?}");
        }
    }
}

/// An acknowledgement of DCCP that was delayed does not begin the wait for the congestion window.
#[test]
fn an_acknowledgement_does_not_cut_the_timer_of_dccp() {
    let scenario = scenario("helped", &["session.carrier=dccp", "lowpan.frame_loss=0.05"]);
    for (seed, what) in [(18, "fragment 2 of 8 of ServerHello to ServerHelloDone was lost"), (1, "of ServerHello")] {
        let Explanation { parts, .. } = explain(&scenario, seed, None, &Interrupt::default()).unwrap().unwrap();
        let timers = timers(&parts, "server's DCCP timer");
        let longest = timers.iter().max_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
        assert!(longest.0 == 60.0 && longest.1.contains(what), "{timers:?}");
    }
}

/// The step before DTLS is one part, but for the waits for timers. Without losses it ends when the ClientHello leaves.
#[test]
fn what_goes_before_dtls_is_a_part() {
    let psk = ["session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.auth=psk", "session.timeout_s=20"];
    for (help, kind) in [("session.trust_anchor=true", "anchor"), ("session.carrier=dccp", "opening")] {
        let before = |more: &[&str]| {
            let explanation = explained("quickstart", &[&psk[..], &["network.link_pdr=1.0", help], more].concat());
            let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
            assert_eq!(Duration::from_micros(sum), Duration::from_secs_f64(explanation.duration_s));
            let is_hello = |event: &&Event| event.name.contains("ClientHello");
            let hello = explanation.events.iter().find(is_hello).unwrap().from_s;
            let own = explanation.parts.into_iter().filter(|part| part.kind == kind).collect::<Vec<_>>();
            let [part] = &own[..] else { panic!("{own:?}") };
            (part.seconds, hello - explanation.start_s)
        };
        let (quiet, until) = before(&[]);
        assert!((quiet - until).abs() < 0.1 && quiet > 0.05, "{help}: {quiet} s of {until}");
        let (lossy, until) = before(&["lowpan.dropped_frames=[1]"]);
        assert!(until - lossy > 0.5, "{help}: the wait for the timer is another part: {lossy} s of {until}");
    }
    let plain = explained("quickstart", &psk);
    assert!(plain.parts.iter().all(|part| !["anchor", "opening"].contains(&part.kind)));
}

#[test]
fn parts_add_up_to_the_duration_of_the_same_record() {
    for (name, overrides) in EXAMPLES {
        let scenario = scenario(name, overrides);
        let plan = Plan::new(&scenario).unwrap();
        for seed in 1..=20 {
            let told = Told::of_world(&plan, seed, &Interrupt::default()).unwrap();
            assert_eq!(told.records, plan.run(seed, &mut ()), "{name} {overrides:?}, seed {seed}");
            // Of several clients, the last one.
            let last = told.records.len() - 1;
            let explanation = told.explain(&scenario, &plan, last, &Interrupt::default()).unwrap();
            let what = || format!("{name} {overrides:?}, seed {seed}: {:#?}", explanation.parts);
            let Span { start, end } = told.trace.spans[told.trace.attempts[last][0].conversation];
            let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
            assert_eq!(Duration::from_micros(sum), end.since(start), "{}", what());
            if let Some(duration_s) = told.records[last].duration_s {
                assert_eq!(duration_s.to_bits(), explanation.duration_s.to_bits(), "{}", what());
            }
            let mut at = explanation.start_s;
            for piece in &explanation.path {
                assert!(piece.from_s == at && piece.to_s > at, "{}", what());
                at = piece.to_s;
            }
            assert_eq!(at, explanation.end_s, "{}", what());
            let is_known = |part: &Part| KINDS.iter().any(|(kind, _)| *kind == part.kind) && part.kind != "other";
            assert!(explanation.parts.iter().all(is_known), "{}", what());
        }
    }
}

/// A cause of a slow handshake that a scenario asks for.
struct Planted {
    what: &'static str,
    example: &'static str,
    /// The keys of both scenarios.
    base: &'static [&'static str],
    /// The keys that plant the cause.
    plant: &'static [&'static str],
    /// The part that must name it: its kind, its host, and words of its text.
    kind: &'static str,
    host: &'static str,
    words: &'static [&'static str],
    /// The least time of this part.
    least_s: f64,
    /// The key that changes it.
    remedy: Option<&'static str>,
}

/// One hop without losses, and a timer that never ends too early. mbedTLS never sends a flight again if its first timeout is
/// the longest one.
const QUIET: &[&str] = &["network.link_pdr=1.0", "session.timeout_s=20"];

/// Quiet, over TCP.
const QUIET_TCP: &[&str] = &["network.link_pdr=1.0", "session.protocol=tls1.2", "session.timeout_s=20"];

const PLANTED: [Planted; 27] = [
    Planted {
        what: "lost acknowledgements, which are no lost frames",
        example: "quickstart",
        base: QUIET,
        plant: &["network.ack_pdr=0.3", "mac.max_retries=200"],
        kind: "retries",
        host: "node 0",
        words: &["sending again from node 0 to node 1 what arrived, but whose acknowledgement did not"],
        least_s: 0.5,
        remedy: Some("raise network.ack_pdr"),
    },
    Planted {
        what: "a timer that is too short in DTLS 1.3: its first value is what the scenario says",
        example: "lossy-line",
        base: &[
            "network.link_pdr=1.0",
            "network.ack_pdr=1.0",
            "session.stack=lean-dtls",
            "session.protocol=dtls1.3",
            "session.suite=TLS_AES_128_CCM_8_SHA256",
            "session.timeout_s=20",
        ],
        plant: &["session.server_timeout_s=0.5"],
        kind: "queue",
        host: "node 2",
        words: &["behind what the server's timer (0.5 s at first) sent again needlessly"],
        least_s: 0.05,
        remedy: Some("raise session.server_timeout_s"),
    },
    Planted {
        what: "a client that gives up, which is not a timer",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=4"],
        plant: &["network.outages=[{ node = 0, from_s = 0.0, until_s = 200 }]"],
        kind: "giving-up",
        host: "node 1",
        words: &[
            "until the client gave up after 60 s, because",
            "ClientHello was lost on its way from node 1 to node 0",
        ],
        least_s: 10.0,
        remedy: Some("change network.outages"),
    },
    Planted {
        what: "a lost fragment: frame 8 is the third fragment of the server's flight",
        example: "quickstart",
        base: QUIET,
        plant: &["lowpan.dropped_frames=[8]"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of 20 s", "fragment 3 of 8 of ServerHello", "was lost at node 1", "asks for it"],
        least_s: 10.0,
        remedy: Some("lower session.timeout_s"),
    },
    Planted {
        what: "a lost message: the first frame with its only fragment",
        example: "quickstart",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "session.suite=TLS_PSK_WITH_AES_128_CCM_8",
            "session.auth=psk",
        ],
        plant: &["lowpan.dropped_frames=[3]"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of 20 s", "because HelloVerifyRequest was lost at node 1"],
        least_s: 10.0,
        remedy: Some("lower session.timeout_s"),
    },
    Planted {
        what: "a lost message of CoAP that carries DTLS",
        example: "quickstart",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "session.suite=TLS_PSK_WITH_AES_128_CCM_8",
            "session.auth=psk",
            "session.carrier=coap",
        ],
        plant: &["lowpan.dropped_frames=[1]"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of"],
        least_s: 0.5,
        remedy: Some("lower session.coap.ack_timeout_s"),
    },
    Planted {
        what: "a lost request to the trust anchor",
        example: "quickstart",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "session.suite=TLS_PSK_WITH_AES_128_CCM_8",
            "session.auth=psk",
            "session.trust_anchor=true",
        ],
        plant: &["lowpan.dropped_frames=[1]"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of"],
        least_s: 0.5,
        remedy: Some("lower session.coap.ack_timeout_s"),
    },
    Planted {
        what: "a lost message of DTLS behind the exchange with the anchor",
        example: "quickstart",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "session.suite=TLS_PSK_WITH_AES_128_CCM_8",
            "session.auth=psk",
            "session.trust_anchor=true",
        ],
        plant: &["lowpan.dropped_frames=[5]"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of 20 s"],
        least_s: 0.5,
        remedy: Some("lower session.timeout_s"),
    },
    Planted {
        what: "a server that never sends its last flight again: frame 10 has its Finished",
        example: "psk-tinydtls",
        base: &[],
        plant: &["lowpan.dropped_frames=[10]"],
        kind: "timer",
        host: "node 1",
        words: &[
            "the client's timer of 127.64 s",
            "because Finished was lost at node 1 (the scenario asks for it), and the server never sent it again",
        ],
        least_s: 100.0,
        remedy: None,
    },
    Planted {
        what: "a full reassembly buffer: another flow takes the only one of node 1, and then the rest of a refused datagram",
        example: "lossy-line",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "lowpan.fragment_loss=0.0",
            "client.start_s=20",
            "traffic=[{ from = \"internet\", to = 3, pattern = \"periodic\", interval_ms = 700, octets = 200 }]",
        ],
        plant: &["lowpan.reassembly_buffers=1"],
        kind: "timer",
        host: "Internet",
        words: &[
            "timer of",
            "was lost at node",
            "its reassembly buffers were full: 1 of 1 held datagrams that had lost a fragment",
            "lowpan.reassembly_timeout_s says",
        ],
        least_s: 1.0,
        remedy: Some("raise lowpan.reassembly_buffers"),
    },
    Planted {
        what: "a buffer of node 1 that waits for a fragment of another flow, which frame 3 would carry",
        example: "lossy-line",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "lowpan.reassembly_buffers=1",
            "client.start_s=21",
            "traffic=[{ from = \"internet\", to = 3, pattern = \"periodic\", interval_ms = 20000, octets = 300 }]",
        ],
        plant: &["lowpan.dropped_frames=[3]"],
        kind: "timer",
        host: "node 3",
        words: &[
            "was lost at node 1",
            "its reassembly buffers were full: 1 of 1 held datagrams that had lost a fragment",
            "lowpan.reassembly_timeout_s says",
        ],
        least_s: 1.0,
        remedy: Some("lower lowpan.reassembly_timeout_s"),
    },
    Planted {
        what: "a full queue",
        example: "quickstart",
        base: QUIET,
        plant: &["mac.queue=7"],
        kind: "timer",
        host: "node 1",
        words: &["the client's timer of", "ServerHello", "was lost at node 0", "its queue was full"],
        least_s: 1.0,
        remedy: Some("raise mac.queue"),
    },
    Planted {
        what: "a timer that is too short: the server sends its flight again and again",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=20", "client.compute_factor=0.1", "mac.slotframe=31"],
        plant: &["session.server_timeout_s=1"],
        kind: "queue",
        host: "node 0",
        words: &["behind what the server's timer (1 s at first) sent again needlessly"],
        least_s: 1.0,
        remedy: Some("raise session.server_timeout_s"),
    },
    Planted {
        what: "a slow device",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=20", "client.compute_factor=0.1"],
        plant: &["client.compute_factor=5"],
        kind: "computing",
        host: "node 1",
        words: &["the client computes"],
        least_s: 3.0,
        remedy: Some("change client.device"),
    },
    Planted {
        what: "the server's timer is long, and it is needed",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=20", "session.server_timeout_s=15"],
        plant: &["lowpan.dropped_frames=[8]"],
        kind: "timer",
        host: "Internet",
        words: &["the server's timer of 15 s", "fragment 3 of 8 of ServerHello", "was lost at node 1"],
        least_s: 5.0,
        remedy: Some("lower session.server_timeout_s"),
    },
    Planted {
        what: "an outage",
        example: "quickstart",
        base: QUIET,
        plant: &["network.outages=[{ node = 0, from_s = 0.5, until_s = 7.5 }]"],
        kind: "outage",
        host: "node 0",
        words: &["while the radio of node 0 was switched off"],
        least_s: 3.0,
        remedy: Some("change network.outages"),
    },
    Planted {
        what: "an outage that is longer than the retries",
        example: "quickstart",
        base: QUIET,
        plant: &["network.outages=[{ node = 0, from_s = 0.3, until_s = 40 }]"],
        kind: "timer",
        host: "node 1",
        words: &[
            "the client's timer of",
            "was lost on its way from node 1 to node 0",
            "while the radio of node 0 was switched off",
        ],
        least_s: 10.0,
        remedy: Some("change network.outages"),
    },
    Planted {
        what: "Wi-Fi on the only channel",
        example: "interference",
        base: &["network.link_pdr=1.0", "session.timeout_s=60", "network.wifi=[]", "mac.hopping_sequence=[17]"],
        plant: &["network.wifi=[{ channel = 6, duty = 0.7, burst_ms = 2, loss = 0.9 }]"],
        kind: "retries",
        host: "node 1",
        words: &["sending again from node 1 to node 0 what did not arrive, probably because of Wi-Fi"],
        least_s: 1.0,
        remedy: Some("change network.wifi"),
    },
    Planted {
        what: "a timer of TCP that is too short",
        example: "gateway",
        base: &["session.protocol=tls1.2", "transport.client.min_rto_s=20", "transport.client.initial_rto_s=20"],
        plant: &["transport.client.min_rto_s=1"],
        kind: "queue",
        host: "node 2",
        words: &["behind what the client's TCP timer of", "sent again needlessly"],
        least_s: 0.4,
        remedy: Some("raise transport.client.min_rto_s"),
    },
    Planted {
        what: "an outage that is longer than the handshake, over TCP",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.protocol=tls1.2", "session.give_up_s=20"],
        plant: &["network.outages=[{ node = 1, from_s = 0.3, until_s = 40 }]"],
        kind: "tcp",
        host: "node 1",
        words: &["the client's TCP timer of 8 s", "the radio of node 1 was switched off, and its frames waited"],
        least_s: 7.0,
        remedy: Some("change network.outages"),
    },
    Planted {
        what: "a bad link",
        example: "quickstart",
        base: QUIET,
        plant: &["network.link_pdr=0.2", "mac.max_retries=200"],
        kind: "retries",
        host: "node 0",
        words: &["sending again from node 0 to node 1 what did not arrive"],
        least_s: 1.0,
        remedy: Some("raise network.link_pdr"),
    },
    Planted {
        what: "other traffic in the queue",
        example: "quickstart",
        base: &[
            "network.link_pdr=1.0",
            "session.timeout_s=20",
            "client.compute_factor=0.1",
            "client.start_s=10",
            "mac.queue=100",
            "mac.slotframe=17",
        ],
        plant: &["traffic=[{ from = \"internet\", to = 1, pattern = \"periodic\", interval_ms = 400, octets = 160 }]"],
        kind: "queue",
        host: "node 0",
        words: &["in the queue of node 0 behind other traffic"],
        least_s: 1.0,
        remedy: Some("change traffic"),
    },
    Planted {
        what: "few cells",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=50", "client.compute_factor=0.1"],
        plant: &["mac.slotframe=101"],
        kind: "cells",
        host: "node 1",
        words: &["waiting for cells of the schedule at node 1"],
        least_s: 1.0,
        remedy: Some("lower mac.slotframe"),
    },
    Planted {
        what: "a slow Internet",
        example: "quickstart",
        base: QUIET,
        plant: &["server.internet_delay_ms=2000"],
        kind: "internet",
        host: "Internet",
        words: &["crossing the Internet"],
        least_s: 4.0,
        remedy: Some("lower server.internet_delay_ms"),
    },
    Planted {
        what: "a retransmission of TCP after a loss",
        example: "quickstart",
        base: QUIET_TCP,
        plant: &["server.internet_dropped=[1]", "transport.client.syn_timeout_s=8", "transport.server.syn_timeout_s=9"],
        kind: "tcp",
        host: "node 1",
        words: &["the client's TCP timer of 8 s, because SYN-ACK was lost on the Internet"],
        least_s: 7.0,
        remedy: None,
    },
    Planted {
        what: "fragment recovery",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=20", "lowpan.reassembly=recovery"],
        plant: &["lowpan.dropped_frames=[8]", "lowpan.recovery.arq_timeout_s=8", "lowpan.recovery.adaptive=false"],
        kind: "recovery",
        host: "node 1",
        words: &[
            "node 1 waited for the timer of fragment recovery",
            "of ClientHello was lost on its way to node 0",
            "asks for it",
        ],
        least_s: 5.0,
        remedy: Some("lower lowpan.recovery.arq_timeout_s"),
    },
    Planted {
        what: "slow processors",
        example: "quickstart",
        base: &["network.link_pdr=1.0", "session.timeout_s=20", "client.compute_factor=0.1"],
        plant: &["network.frame_handling_ms=100"],
        kind: "handling",
        host: "node 1",
        words: &["the processor of node 1 handles frames"],
        least_s: 1.0,
        remedy: Some("lower network.frame_handling_ms"),
    },
];

fn explained(example: &str, overrides: &[&str]) -> Explanation {
    let scenario = scenario(example, overrides);
    explain(&scenario, 1, None, &Interrupt::default()).unwrap().unwrap()
}

/// All that the client sends is lost. With shorter waits CoAP would only give up sooner.
#[test]
fn what_coap_has_given_up_is_to_be_sent_more_often() {
    let psk = ["session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.auth=psk"];
    let lost = ["network.link_pdr=1.0", "lowpan.frame_loss=1", "session.coap.max_retransmit=2"];
    for help in ["session.carrier=coap", "session.trust_anchor=true", "session.protocol=less"] {
        let explanation = explained("quickstart", &[&psk[..], &lost, &[help]].concat());
        assert_eq!(explanation.outcome, "timed_out", "{help}");
        let waits: Vec<_> =
            explanation.parts.iter().filter(|part| ["timer", "giving-up"].contains(&part.kind)).collect();
        assert!(waits.iter().any(|part| part.kind == "giving-up"), "{help}: {:?}", explanation.parts);
        for part in waits {
            assert_eq!(part.remedy.as_deref(), Some("raise session.coap.max_retransmit"), "{help}: {part:?}");
        }
    }
}

#[test]
fn the_words_name_what_was_planted() {
    let mut missed = Vec::new();
    for planted in &PLANTED {
        let is_it = |part: &Part| {
            part.kind == planted.kind
                && part.host == planted.host
                && planted.words.iter().all(|w| part.text.contains(w))
        };
        let with = explained(planted.example, &[planted.base, planted.plant].concat());
        let without = explained(planted.example, planted.base);
        let told = |explanation: &Explanation| format!("{}, {:#?}", explanation.summary, explanation.parts);
        let Some(found) = with.parts.iter().position(is_it) else {
            missed.push(format!("{}: not named: {}", planted.what, told(&with)));
            continue;
        };
        // A schedule with few cells, for example, makes two parts: one for each node.
        let part = &with.parts[found];
        let is_long = part.seconds >= planted.least_s;
        let usual = without.parts.iter().filter(|part| is_it(part)).map(|part| part.microseconds).sum::<u64>();
        if !is_long || part.microseconds < 3 * usual || part.remedy.as_deref() != planted.remedy {
            missed.push(format!("{}: part {found}, before {usual} us: {}", planted.what, told(&with)));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_train_of_strobes_is_one_event_and_lost_answers_are_others() {
    let scenario = scenario("xmac", &["network.link_pdr=0.6"]);
    let explanation = explain(&scenario, 2, None, &Interrupt::default()).unwrap().unwrap();
    let of_frames = |event: &&Event| event.kind == "frame";
    let events = || explanation.events.iter().filter(of_frames);
    assert!(events().any(|event| event.name == "strobe acknowledgement" && event.state == "lost"));
    assert!(events().any(|event| event.name.starts_with("strobes (")));
    // Each frame on the air is one of the events, or one of the strobes of an event.
    let count = |event: &Event| match event.name.strip_prefix("strobes (") {
        Some(count) => count.trim_end_matches(')').parse().unwrap(),
        None => 1,
    };
    let plan = Plan::new(&scenario).unwrap();
    let told = Told::of_world(&plan, 2, &Interrupt::default()).unwrap();
    let span = told.trace.spans[told.trace.attempts[0][0].conversation];
    let is_inside = |seen: &&air::OnAir| seen.end >= span.start && seen.at <= span.end;
    let on_air = |from: u16| told.air.on_air.iter().filter(is_inside).filter(|seen| seen.from.0 == from).count();
    for node in [0, 1] {
        let lane = explanation.lanes.iter().position(|lane| lane.name == format!("frames of node {node}")).unwrap();
        let told: usize = events().filter(|event| event.lane == lane).map(count).sum();
        assert!(told >= on_air(node), "node {node}: {told} of {}", on_air(node));
    }
}

#[test]
fn what_a_client_computes_before_its_first_datagram_is_told() {
    let explanation = explained("quickstart", &["session.give_up_s=0.00001"]);
    assert_eq!(explanation.summary, "0.00 s: 0.00 s computing at the client");
    // DTLS 1.3 makes its key before the ClientHello: 1.9 s on this device.
    let dtls13 = ["session.stack=lean-dtls", "session.protocol=dtls1.3", "session.suite=TLS_AES_128_CCM_8_SHA256"];
    let credential = ["session.credential=certificate", "client.device=wismote"];
    let explanation = explained("lossy-line", &[&dtls13[..], &credential].concat());
    let first = explanation.path[0];
    assert_eq!(
        (explanation.parts[first.part].kind, explanation.parts[first.part].host.as_str()),
        ("computing", "node 3")
    );
    assert!(first.from_s == explanation.start_s && first.to_s - first.from_s > 1.0, "{first:?}");
    let parts: f64 = explanation.parts.iter().map(|part| part.seconds).sum();
    assert!((parts - explanation.duration_s).abs() < 1e-6);
}

/// The queue of the client refuses a whole datagram. Nothing of it is on the air before its timer is due.
#[test]
fn a_timer_of_recovery_before_the_first_frame_is_told() {
    let changes = [
        "network.topology={ kind = \"tree\", depth = 2, fan_out = 2, nodes = 7 }",
        "mac={ kind = \"xmac\", data_ack = true }",
        "lowpan.reassembly=recovery",
        "lowpan.forwarding.entries=1",
        "client.device=opal-tpm",
        "session.stack=openssl",
        "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        "session.max_timeout_s=60",
    ];
    let mut waits = 0;
    for client in 0..4 {
        let scenario = scenario("lossy-line", &changes);
        let Some(explanation) = explain(&scenario, 1, Some(3 + client), &Interrupt::default()).unwrap() else {
            continue;
        };
        assert!(explanation.parts.iter().all(|part| part.kind != "other"), "{:#?}", explanation.parts);
        waits += usize::from(explanation.parts.iter().any(|part| part.kind == "recovery"));
    }
    assert!(waits > 0, "no timer of recovery ends");
}

#[test]
fn timers_of_one_reason_are_one_in_the_summary() {
    // The name of a datagram may have words that the sentence has too.
    let reason = "because a datagram of 3 s, or of the client; was lost at node 1 (all 8 attempts failed)";
    let part = |seconds: u64, length: u64| {
        let short =
            Short::Timer { whose: "the client's timer".to_owned(), length: length * 1_000_000, why: reason.to_owned() };
        let part = Part {
            kind: "timer",
            host: "node 1".to_owned(),
            seconds: seconds as f64,
            microseconds: seconds * 1_000_000,
            text: String::new(),
            remedy: None,
            causes: Vec::new(),
            spans: Vec::new(),
        };
        Grouped { part, short, causes: Vec::new() }
    };
    let parts = [part(960, 960), part(840, 480), part(60, 60)];
    let all = parts::summary(1860.0, &parts);
    assert_eq!(all, format!("1860.00 s: 1860.00 s waiting for the client's timers (60 s to 960 s), {reason}"));
    let one = parts::summary(60.0, &parts[2..]);
    assert_eq!(one, format!("60.00 s: 60.00 s waiting for the client's timer of 60 s, {reason}"));
}

/// By hand (RFC 7252 section 3): POST for /.well-known/edhoc with a Content-Format of 65, and 4.00 with one of 64. What they carry is
/// `true` or C_R before a message, or an error message: a code and its information (RFC 9528 section 6 and appendix A.2).
#[test]
fn an_error_of_edhoc_is_none_of_its_messages() {
    let request = |payload: &[u8]| {
        let head = [0x40, 0x02, 0x00, 0x01, 0xbb];
        name_of_coap(&[&head, &b".well-known\x05edhoc\x11\x41\xff"[..], payload].concat())
    };
    assert_eq!(request(&[0xf5, 0x03, 0x02]), "CON POST with EDHOC message_1");
    assert_eq!(request(&[0x27, 0x42, 0xca, 0xfe]), "CON POST with EDHOC message_3");
    assert_eq!(request(&[0x27, 0x01, 0x62, 0x4e, 0x6f]), "CON POST with an EDHOC error message");
    assert_eq!(request(&[0x27, 0x03, 0xf5]), "CON POST with an EDHOC error message");
    let refusal = [0x60, 0x80, 0x00, 0x01, 0xc1, 0x40, 0xff, 0x02, 0x02];
    assert_eq!(name_of_coap(&refusal), "ACK 4.00 with an EDHOC error message");
}

/// RFC 7983 section 7: the first octet of DTLS is 20 to 63. So is that of other texts: "1" is 49.
#[test]
fn a_datagram_that_is_no_dtls_is_not_read_as_such() {
    let mut reader = DatagramReader::default();
    for _ in 0..2 {
        assert_eq!(reader.read(b"1 degree, 2 degrees", Phase::Data), ("datagram".to_owned(), false));
    }
    let hello_verify_request =
        [&[22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 3, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3][..], &[0xfe, 0xff, 0]]
            .concat();
    assert_eq!(reader.read(&hello_verify_request, Phase::Handshake), ("HelloVerifyRequest".to_owned(), false));
    // A record of DTLS 1.3 (RFC 9147 section 4) of this end, which speaks DTLS.
    assert_eq!(reader.read(&[0x2e, 0, 1, 2, 3, 4], Phase::Data).0, "encrypted record");
}
