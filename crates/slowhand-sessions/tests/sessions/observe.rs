//! Observe (RFC 7641) in sessions of CoAP: one request, and then what the server sends by itself, under faults too.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::{
    Delivery, FailureKind, Family, Protocol, REQUEST_OVERHEAD, RESPONSE_OVERHEAD, Session, SessionConfig, Status,
    Weightless, build,
};

use crate::coap::{DELAY, Fault, REQUEST, Seen, both, converse, pass_all, variants};

/// The number of states that a client gets: the answer, and three notifications.
const STATES: usize = 4;

/// Longer than a confirmable message waits for its acknowledgement until it is sent for the fourth time. With False Start, what answers
/// it cannot be read before a lost Finished comes again, after 9 s (RFC 7925 section 11), and a newer state would take its place.
const PERIOD: Duration = Duration::from_secs(30);

fn observing(mut configs: [SessionConfig; 2], delivery: Delivery) -> [SessionConfig; 2] {
    for config in &mut configs {
        let Family::Coap(coap) = &mut config.family else { panic!("a session of CoAP") };
        coap.notifications = Some(delivery);
    }
    configs
}

/// The state with this number.
fn state(number: usize) -> Vec<u8> {
    format!("state {number}").into_bytes()
}

fn observe(configs: &[SessionConfig; 2], period: Duration, fault: Fault) -> Seen {
    converse(configs, STATES, |_| REQUEST.to_vec(), state, Some(period), fault)
}

fn states(numbers: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    numbers.into_iter().map(state).collect()
}

#[track_caller]
fn is_well(seen: &Seen, what: &str) {
    assert_eq!(seen.received[1], [REQUEST], "{what}: the client asks once");
    assert!(seen.status.iter().all(|status| matches!(status, Status::Established { .. })), "{what}: {:?}", seen.status);
}

#[test]
fn confirmable_notifications_come_whatever_happens_to_one_datagram() {
    for (name, configs) in variants() {
        let configs = observing(configs, Delivery::Confirmable);
        let whole = observe(&configs, PERIOD, Fault::None);
        is_well(&whole, name);
        assert_eq!(whole.received[0], states(0..STATES), "{name}");
        assert_eq!(observe(&configs, PERIOD, Fault::None), whole, "{name}: the same seeds, the same octets");
        // TCP repeats what is lost below a stream.
        let is_stream = configs[0].protocol().is_stream();
        for number in 0..if is_stream { 0 } else { whole.sent.len() } {
            for fault in [Fault::Lost(number), Fault::Twice(number), Fault::Late(number)] {
                let what = format!("{name}, {fault:?}");
                let seen = observe(&configs, PERIOD, fault);
                is_well(&seen, &what);
                assert_eq!(seen.received[0], states(0..STATES), "{what}");
            }
        }
    }
}

#[test]
fn a_notification_that_is_not_confirmable_is_lost_alone() {
    for (name, configs) in variants().into_iter().filter(|(_, configs)| !configs[0].protocol().is_stream()) {
        let configs = observing(configs, Delivery::NonConfirmable);
        let whole = observe(&configs, PERIOD, Fault::None);
        is_well(&whole, name);
        assert_eq!(whole.received[0], states(0..STATES), "{name}");
        // The last datagrams are the notifications: nobody acknowledges them.
        let first = whole.sent.len() - (STATES - 1);
        for number in 0..whole.sent.len() {
            let what = format!("{name}, {number}");
            let seen = observe(&configs, PERIOD, Fault::Lost(number));
            is_well(&seen, &what);
            let lost = number.checked_sub(first).map(|notification| notification + 1);
            assert_eq!(seen.received[0], states((0..STATES).filter(|state| Some(*state) != lost)), "{what}");
            for fault in [Fault::Twice(number), Fault::Late(number)] {
                assert_eq!(observe(&configs, PERIOD, fault).received[0], states(0..STATES), "{name}, {fault:?}");
            }
        }
    }
}

/// RFC 7641 section 3.4, RFC 8613 section 7.4.1: the state that comes late is older than what the client has.
#[test]
fn a_notification_that_was_overtaken_is_dropped() {
    for protocol in [Protocol::Coap, Protocol::Oscore, Protocol::Edhoc, Protocol::CoapDtls12, Protocol::CoapDtls13] {
        let configs = observing(both(protocol, |_| ()), Delivery::NonConfirmable);
        let whole = observe(&configs, DELAY, Fault::None);
        // The answer goes before them.
        let first = whole.sent.len() - (STATES - 1);
        let seen = observe(&configs, DELAY, Fault::Late(first));
        is_well(&seen, &protocol.to_string());
        assert_eq!(seen.received[0], states([0, 2, 3]), "{protocol}");
    }
}

/// RFC 7641 section 4.5.2: the first notification is lost, and the second one waits for its acknowledgement.
#[test]
fn a_state_that_waits_is_replaced_by_a_later_one() {
    let configs = observing(both(Protocol::Coap, |_| ()), Delivery::Confirmable);
    let seen = observe(&configs, Duration::from_millis(500), Fault::Lost(2));
    assert_eq!(seen.received[0], states([0, 1, 3]));
}

/// RFC 7641 section 2: Observe is an octet in the request (an empty option) and two in the first responses. OSCORE (RFC 8613) adds 13
/// and 11 octets and has Observe twice, inside without a value (section 4.1.3.5); notifications have a Partial IV, of an octet
/// (section 4.1.3.5.2), before which the empty value of the option gets its flags. Over a stream Observe is empty (RFC 8323
/// section 7.1).
#[test]
fn messages_have_the_octets_of_their_formats() {
    let sizes = |protocol| {
        let configs = observing(both(protocol, |_| ()), Delivery::NonConfirmable);
        observe(&configs, PERIOD, Fault::None).sent.iter().map(Vec::len).collect::<Vec<_>>()
    };
    let (request, state) = (REQUEST_OVERHEAD + REQUEST.len() + 1, RESPONSE_OVERHEAD + state(0).len() + 2);
    assert_eq!(sizes(Protocol::Coap), [request, state, state, state, state]);
    let protected = state + 11 + 1;
    assert_eq!(sizes(Protocol::Oscore), [request + 13 + 1, protected, protected + 2, protected + 2, protected + 2]);
    let csm = 1 + 1 + 3 + 1;
    let in_stream = 1 + 1 + 4 + 1 + 1 + self::state(0).len();
    let expected = [csm, 1 + 1 + 1 + 4 + 1 + 2 + 1 + REQUEST.len(), csm, in_stream, in_stream, in_stream, in_stream];
    assert_eq!(sizes(Protocol::CoapTcp), expected);
}

/// A pair that has exchanged the first request and its answer.
fn begun(protocol: Protocol, delivery: Delivery) -> [Box<dyn Session>; 2] {
    let configs = observing(both(protocol, |_| ()), delivery);
    let mut ends = configs.each_ref().map(|config| build(config, Arc::new(Weightless)).unwrap());
    ends[0].start(Duration::ZERO);
    ends[0].write(Duration::ZERO, REQUEST).unwrap();
    pass_all(&mut ends, Duration::ZERO);
    ends[1].write(Duration::ZERO, b"first").unwrap();
    pass_all(&mut ends, Duration::ZERO);
    ends
}

fn sent(end: &mut dyn Session) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| end.poll_transmit().map(|transmit| transmit.bytes.to_vec())).collect()
}

/// RFC 7641 section 3.6: what a client does that has forgotten the observation, as after a restart.
#[test]
fn a_client_that_rejects_a_notification_ends_the_observation() {
    for (protocol, delivery) in [
        (Protocol::Coap, Delivery::Confirmable),
        (Protocol::Coap, Delivery::NonConfirmable),
        (Protocol::Oscore, Delivery::Confirmable),
    ] {
        let [_, mut server] = begun(protocol, delivery);
        server.write(PERIOD, b"second").unwrap();
        let notification = sent(&mut *server).remove(0);
        let reset = [0x70, 0, notification[2], notification[3]];
        server.handle_input(PERIOD, &reset);
        server.write(2 * PERIOD, b"third").unwrap();
        assert_eq!(sent(&mut *server), [[0; 0]; 0], "{protocol}: nobody observes");
        assert!(matches!(server.status(), Status::Established { .. }) && server.deadline().is_none(), "{protocol}");
    }
}

/// The server still has the observation from before the restart.
#[test]
fn a_client_that_restarts_observes_again() {
    let [_, server] = begun(Protocol::Coap, Delivery::NonConfirmable);
    let [config, _] = observing(both(Protocol::Coap, |config| config.seed = [7; 32]), Delivery::NonConfirmable);
    let mut ends = [build(&config, Arc::new(Weightless)).unwrap(), server];
    ends[0].start(PERIOD);
    ends[0].write(PERIOD, REQUEST).unwrap();
    pass_all(&mut ends, PERIOD);
    ends[1].write(PERIOD, b"second").unwrap();
    pass_all(&mut ends, PERIOD);
    ends[1].write(2 * PERIOD, b"third").unwrap();
    let notifications = sent(&mut *ends[1]);
    assert_eq!(notifications.len(), 2, "one for each observation");
    for notification in notifications {
        ends[0].handle_input(2 * PERIOD, &notification);
    }
    pass_all(&mut ends, 2 * PERIOD);
    let received: Vec<_> = std::iter::from_fn(|| ends[0].poll_received().map(|data| data.bytes.to_vec())).collect();
    assert_eq!(received, [&b"second"[..], b"third"]);
    ends[1].write(3 * PERIOD, b"fourth").unwrap();
    assert_eq!(sent(&mut *ends[1]).len(), 1, "the client has rejected the other one");
}

#[test]
fn a_client_that_is_silent_fails_the_session_of_the_server() {
    let [_, mut server] = begun(Protocol::Coap, Delivery::Confirmable);
    server.write(PERIOD, b"second").unwrap();
    while let Some(deadline) = server.deadline() {
        server.handle_timeout(deadline);
    }
    let Status::Failed(failure) = server.status() else { panic!("{:?}", server.status()) };
    assert_eq!(failure.kind, FailureKind::TimedOut);
}

/// RFC 7641 section 4.5.
#[test]
fn one_notification_in_24_hours_is_confirmable() {
    let [_, mut server] = begun(Protocol::Coap, Delivery::NonConfirmable);
    let hour = Duration::from_secs(3_600);
    let kinds = [12, 23, 24, 25, 49].map(|hours| {
        server.write(hours * hour, b"state").unwrap();
        let notification = sent(&mut *server).remove(0);
        server.handle_input(hours * hour, &[0x60, 0, notification[2], notification[3]]);
        notification[0] >> 4 & 3
    });
    assert_eq!(kinds, [1, 1, 0, 1, 0], "1 is not confirmable, 0 is");
}

#[test]
fn what_needs_blocks_is_refused() {
    let mut ends = begun(Protocol::Coap, Delivery::Confirmable);
    ends[1].write(PERIOD, &[7; 1_025]).unwrap_err();
    let Status::Failed(failure) = ends[1].status() else { panic!("{:?}", ends[1].status()) };
    assert!(failure.reason.contains("1025 octets need blocks"), "{failure}");
}

/// A server that does not know the option answers, and no more.
#[test]
fn a_peer_that_sends_no_notifications_is_named() {
    for protocol in [Protocol::Coap, Protocol::Oscore, Protocol::CoapTcp] {
        let [client, _] = observing(both(protocol, |_| ()), Delivery::Confirmable);
        let [_, server] = both(protocol, |_| ());
        let seen = observe(&[client, server], PERIOD, Fault::None);
        assert_eq!(seen.received[0], states([0]), "{protocol}");
        let Status::Failed(failure) = &seen.status[0] else { panic!("{protocol}: {:?}", seen.status) };
        assert!(failure.reason.contains("no notifications"), "{protocol}: {failure}");
    }
}
