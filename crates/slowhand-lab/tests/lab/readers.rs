//! Readers of one value: by DTLS to each, or by objects that are signed once.

use slowhand_lab::input::Blame;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::readers::{ReadersPlan, ReadersRecord, Way};
use slowhand_lab::scenario::Scenario;
use slowhand_sessions::{Aead, AeadMode, Curve, Operation, Processor};

/// One hop without losses, and these keys.
fn scenario(changes: &[&str]) -> Scenario {
    let sections = [
        "network.topology = { kind = \"line\", hops = 1 }",
        "mac = { kind = \"tsch\", slotframe = 11 }",
        "client.device = \"openmote-cc2538\"",
        "session.stack = \"lean-dtls\"",
        "session.suite = \"TLS_PSK_WITH_AES_128_CCM_8\"",
    ];
    let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
    let replaced = |line: &&str| !changes.iter().any(|change| key(change) == key(line));
    let lines: Vec<&str> = sections.iter().copied().filter(replaced).chain(changes.iter().copied()).collect();
    lines.join("\n").parse().unwrap_or_else(|error| panic!("{lines:?}: {error}"))
}

fn plan(changes: &[&str]) -> ReadersPlan {
    ReadersPlan::new(&scenario(changes)).unwrap()
}

fn run(plan: &ReadersPlan, way: Way, readers: u32) -> ReadersRecord {
    plan.run(way, readers, 1, &Interrupt::default(), &mut ()).unwrap()
}

/// Octets of a frame beside its payload: 21 of the MAC header with 64-bit addresses, and 2 of the check sequence.
const FRAME: u64 = 21 + 2;
/// Headers of a datagram between an Internet host and node 1: IPHC 3 with the byte of contexts, 8 of the host's address, 1 of the next
/// header, 3 of ports of which one is compressed, 2 of the checksum. A datagram that comes from the Internet has a hop limit of its own.
const FROM_NODE: u64 = 3 + 8 + 1 + 3 + 2;
const FROM_INTERNET: u64 = FROM_NODE + 1;
/// A record of DTLS 1.2 with CCM_8: header 13, nonce 8, tag 8.
const RECORD: u64 = 13 + 8 + 8;
/// CoAP's header and a token of 4 octets; GET with Uri-Path of one octet; a response with Content-Format and the marker.
const GET: u64 = 4 + 4 + 2;
const CONTENT: u64 = 4 + 4 + 2 + 1;
/// The datagrams of the handshake with a cookie, as 6LoWPAN has them: 3 of each end, whichever is the client, 9 frames.
const HANDSHAKE: u64 = 824;

#[test]
fn one_reader_over_one_hop_costs_what_the_formula_says() {
    let plan = plan(&[]);
    let dtls = run(&plan, Way::Dtls, 1);
    let reading = (FRAME + FROM_INTERNET + RECORD + GET) + (FRAME + FROM_NODE + RECORD + CONTENT + 8);
    assert_eq!((dtls.got, dtls.reading_frames, dtls.reading_octets), (10, 20, 10 * reading));
    assert_eq!((dtls.setup_frames, dtls.setup_octets), (9, HANDSHAKE));

    // The root asks with two ports of CoAP: IPHC 2, next header 1, ports 4, checksum 2. The object of 8 octets has 103, with 88 of its
    // message in the first fragment, behind 4 of its header; the second has a header of 5.
    let within = 2 + 1 + 4 + 2;
    let object = slowhand_coap::objects::OVERHEAD as u64 + 8;
    let fragments = (FRAME + 4 + within + 88) + (FRAME + 5 + CONTENT + object - 88);
    let oscar = run(&plan, Way::Oscar, 1);
    assert_eq!((oscar.got, oscar.reading_frames), (10, 30));
    assert_eq!(oscar.reading_octets, 10 * (FRAME + within + GET + fragments));
    // One handshake, that of the producer, and one access secret: Max-Age has 4 octets, the key set 27.
    let secret = (FRAME + FROM_NODE + RECORD + GET) + (FRAME + FROM_INTERNET + RECORD + CONTENT + 1 + 4 + 27);
    assert_eq!((oscar.setup_frames, oscar.setup_octets), (11, HANDSHAKE + secret));
    assert_eq!((oscar.signatures, oscar.requests_to_producer), (10, 10), "each reading comes after max_age_s");
}

#[test]
fn with_a_proxy_readers_on_the_internet_cost_nothing_on_the_air() {
    let plan = plan(&["readers.max_age_s = 3600"]);
    let [alone, few, many] = [1, 5, 50].map(|readers| run(&plan, Way::Oscar, readers));
    for record in [&alone, &few, &many] {
        assert_eq!((record.signatures, record.requests_to_producer), (1, 1));
        assert_eq!((record.got, record.setup_octets), (record.readings, alone.setup_octets));
    }
    assert_eq!([few.reading_octets, many.reading_octets], [alone.reading_octets; 2]);
    let [one, five] = [1, 5].map(|readers| run(&plan, Way::Dtls, readers));
    assert_eq!((five.setup_octets, five.reading_octets), (5 * one.setup_octets, 5 * one.reading_octets));
}

#[test]
fn without_a_proxy_each_reading_reaches_the_producer_but_it_signs_once() {
    let record = run(&plan(&["readers.proxy = false", "readers.max_age_s = 3600"]), Way::Oscar, 5);
    assert_eq!((record.got, record.requests_to_producer, record.signatures), (50, 50, 1));
}

/// Each secret costs a request and a response; its Max-Age has one octet, because the lifetime is below 256 s.
#[test]
fn a_new_access_secret_is_asked_for_in_the_session_that_is_there() {
    let plan = plan(&["readers.secret_lifetime_s = 200", "readers.period_s = 60"]);
    let record = run(&plan, Way::Oscar, 3);
    let secret = (FRAME + FROM_NODE + RECORD + GET) + (FRAME + FROM_INTERNET + RECORD + CONTENT + 1 + 1 + 27);
    // It changes at 200, 400 and 600 s, and the last readings begin before 600 s.
    assert_eq!((record.got, record.setup_octets), (30, HANDSHAKE + 3 * secret));
    assert_eq!(run(&plan, Way::Dtls, 3).setup_octets, 3 * HANDSHAKE);
}

#[test]
fn a_reader_without_a_slot_gets_nothing() {
    let plan = plan(&["readers.slots = 2", "readers.readings = 3", "session.give_up_s = 50"]);
    let record = run(&plan, Way::Dtls, 5);
    assert_eq!((record.refused, record.failed_sessions, record.got, record.readings), (3, 3, 6, 15));
    assert_eq!(run(&plan, Way::Oscar, 5).got, 15, "the producer has one session");
}

/// The fourth datagram to the producer is its access secret, and the eighth that of the reader in the mesh.
#[test]
fn an_access_secret_that_was_lost_is_asked_for_again() {
    let once = "session.coap.max_retransmit = 0";
    let record = run(&plan(&[once, "server.internet_dropped = [4]"]), Way::Oscar, 1);
    assert_eq!((record.got, record.signatures), (10, 10), "{record:?}");
    let in_mesh = ["network.topology = { kind = \"line\", hops = 2 }", "readers.at = \"mesh\""];
    let record = run(&plan(&[in_mesh[0], in_mesh[1], once, "server.internet_dropped = [8]"]), Way::Oscar, 1);
    assert_eq!((record.got, record.readings), (9, 10), "{record:?}");
}

/// The session of the producer takes more than half a second, those of readers on the Internet do not.
#[test]
fn a_producer_without_a_session_says_so() {
    let record = run(&plan(&["session.give_up_s = 0.5"]), Way::Oscar, 2);
    assert_eq!((record.failed_sessions, record.got, record.signatures), (1, 0, 0), "{record:?}");
    assert_eq!(record.requests_to_producer, 20, "nobody waits for an answer when the next reading is due: {record:?}");
}

/// The first request is lost, and fails when the second reading is due already.
#[test]
fn a_reading_that_became_due_meanwhile_is_asked_for() {
    let timers =
        ["session.coap.ack_timeout_s = 9.5", "session.coap.ack_random_factor = 1", "session.coap.max_retransmit = 0"];
    let readings = ["readers.period_s = 10", "readers.readings = 2", "server.internet_dropped = [4]"];
    let record = run(&plan(&[timers, readings].concat()), Way::Dtls, 1);
    assert_eq!((record.got, record.readings), (1, 2), "{record:?}");
}

/// Both ends seal one message of a reading and open one, which takes their devices long here.
#[test]
fn a_reader_has_a_value_when_it_has_decrypted_it() {
    const FACTOR: f64 = 20_000.0;
    let plan = plan(&[
        "network.topology = { kind = \"line\", hops = 2 }",
        "readers.at = \"mesh\"",
        "readers.readings = 2",
        "client.compute_factor = 20000",
        "session.coap.ack_timeout_s = 60",
        "session.timeout_s = 100",
        "session.give_up_s = 2000",
        "readers.period_s = 3000",
    ]);
    let record = run(&plan, Way::Dtls, 1);
    let aead = Aead { mode: AeadMode::Ccm, key_bits: 128, tag: 8, octets: 10, additional: 13 };
    let took = FACTOR * scenario(&[]).client_device.time(Operation::Open(aead)).as_secs_f64();
    assert!(took > 2.0 && record.later_s.unwrap() > 4.0 * took, "{took}: {record:?}");
}

/// The message IDs of one end are used up: no world panics, and the record says why readings are missing.
#[test]
fn a_message_that_cannot_be_sent_is_counted() {
    let often = ["readers.period_s = 0.001", "readers.readings = 60000", "readers.max_age_s = 3600"];
    let record = run(&plan(&[&often[..], &["server.internet_delay_ms = 0"]].concat()), Way::Oscar, 1);
    assert!(record.got > 30_000 && record.unsent > 0 && record.got + record.unsent <= record.readings, "{record:?}");
    assert!(record.unsent_reason.as_ref().unwrap().contains("message IDs are used up"), "{record:?}");
}

#[test]
fn what_is_lost_is_sent_again() {
    let plan = plan(&[
        "network.link_pdr = 0.7",
        "server.internet_loss = 0.2",
        "mac = { kind = \"tsch\", slotframe = 11, max_retries = 1 }",
    ]);
    for way in Way::ALL {
        let record = run(&plan, way, 3);
        let whole = run(&self::plan(&[]), way, 3);
        assert!(record.got * 10 >= record.readings * 8, "{record:?}");
        assert!(record.setup_octets > whole.setup_octets && record.reading_octets > whole.reading_octets, "{record:?}");
    }
}

#[test]
fn readers_in_the_mesh_have_sessions_that_cross_it() {
    let line = "network.topology = { kind = \"line\", hops = 4 }";
    let plan = plan(&[line, "readers.at = \"mesh\"", "readers.producer = 2", "readers.readings = 3"]);
    assert_eq!(plan.most_readers(), 3);
    let records = Way::ALL.map(|way| run(&plan, way, 3));
    for record in &records {
        assert_eq!((record.got, record.failed_sessions), (9, 0), "{record:?}");
        assert!(record.others_mj > record.others_idle_mj && record.producer_mj > record.producer_idle_mj);
    }
    let on_internet = run(&self::plan(&[line, "readers.producer = 2", "readers.readings = 3"]), Way::Oscar, 3);
    assert!(records[1].setup_octets > on_internet.setup_octets);
    assert_eq!(
        plan.check_readers(4).unwrap_err().to_string(),
        "readers: found 4, allowed: 1 to 3: in the mesh each reader has a node of its own"
    );
}

/// Of all that is computed here with a pre-shared key, only signatures take long.
#[test]
fn signatures_take_the_time_of_the_device() {
    let plan = plan(&["readers.readings = 2"]);
    let [dtls, oscar] = Way::ALL.map(|way| run(&plan, way, 1));
    let sign = Operation::EcdsaSign(Curve::Secp256r1);
    let took = scenario(&[]).client_device.time(sign).as_secs_f64();
    let signed = oscar.producer_compute_s - 2.0 * took;
    assert!(dtls.producer_compute_s < 0.1 && (0.0..0.1).contains(&signed), "{dtls:?} {oscar:?}");
}

#[test]
fn the_same_seeds_give_the_same_bits_on_any_number_of_threads() {
    let plan = plan(&["network.link_pdr = 0.8", "readers.readings = 2"]);
    let run = |threads| plan.run_all(&[1, 3], 5, 3, threads, &Interrupt::default());
    let records = run(1);
    assert_eq!(records, run(2));
    let order: Vec<_> = records.iter().map(|record| (record.readers, record.way, record.seed)).collect();
    let expected = [1, 3]
        .into_iter()
        .flat_map(|readers| Way::ALL.into_iter().flat_map(move |way| (5..8).map(move |seed| (readers, way, seed))));
    assert_eq!(order, expected.collect::<Vec<_>>());
    let last = plan.run_all(&[1], u64::MAX - 1, 5, 3, &Interrupt::default());
    let seeds = [u64::MAX - 1, u64::MAX];
    assert_eq!(last.iter().map(|record| record.seed).collect::<Vec<_>>(), [seeds, seeds].concat());
    let alone = plan.run(Way::Oscar, 3, 6, &Interrupt::default(), &mut ()).unwrap();
    assert!(records.contains(&alone));
}

#[test]
fn an_interrupt_stops_a_world() {
    let interrupt = Interrupt::default();
    interrupt.set();
    assert_eq!(plan(&[]).run(Way::Oscar, 2, 1, &interrupt, &mut ()), None);
}

const CERTIFICATES: &str = "session.suite = \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8\"";

#[test]
fn what_does_not_go_with_readers_is_refused_by_name() {
    for (changes, key) in [
        (&["session.protocol = \"tls1.2\"", "session.stack = \"mbedtls\""][..], "session.protocol"),
        (&["server.slots = 3"], "server.slots"),
        (&["session.mtu = 154"], "session.mtu"),
        (&["session.server_port = 5683"], "session.server_port"),
        (&["session.max_fragment_length = 512", "readers.value_bytes = 512"], "session.max_fragment_length"),
        (&["readers.at = \"mesh\""], "readers.at"),
        (&["gateway.delegation = \"internet\"", "session.resumption = \"id\"", CERTIFICATES], "gateway.delegation"),
        (&["gateway.pre_validation = true", CERTIFICATES], "gateway.pre_validation"),
        (
            &[
                "session.false_start = true",
                "session.protocol = \"coap+dtls1.2\"",
                "application.requests = 1",
                CERTIFICATES,
            ],
            "session.false_start",
        ),
        (&["session.trust_anchor = true"], "session.trust_anchor"),
    ] {
        assert_eq!(Blame::from(ReadersPlan::new(&scenario(changes)).unwrap_err()).key, key);
    }
    // The key set with both keys has 102 octets, its message 16 more, and a record 37.
    assert_eq!(run(&plan(&["session.mtu = 155"]), Way::Oscar, 1).got, 10);
    let leaves = ["network.topology = { kind = \"star\", leaves = 3 }", "server.at = \"leaves\""];
    assert_eq!(Blame::from(ReadersPlan::new(&scenario(&leaves)).unwrap_err()).key, "server.at");
}

#[test]
fn every_link_layer_and_version_carries_both_ways() {
    for changes in [
        &["mac = { kind = \"csma\" }"][..],
        &["mac = { kind = \"xmac\", check_interval_ms = 125 }"],
        &[
            "session.protocol = \"coap+dtls1.3\"",
            "session.suite = \"TLS_AES_128_CCM_8_SHA256\"",
            "session.auth = \"psk\"",
        ],
    ] {
        let plan = plan(&[changes, &["readers.readings = 2"]].concat());
        for way in Way::ALL {
            let record = run(&plan, way, 2);
            assert_eq!((record.got, record.failed_sessions), (4, 0), "{changes:?}: {record:?}");
        }
    }
}
