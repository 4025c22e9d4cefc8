//! Handshakes with a server whose certificates the tests make up: a chain is good if its first certificate begins with `good`.

use super::*;
use crate::address::{Host, NodeId};
use crate::ip::udp_datagram;
use proptest::prelude::*;
use std::sync::Mutex;

#[derive(Debug, Default)]
struct Counting(Mutex<usize>);

impl Judge for Counting {
    fn is_good(&self, _: Instant, chain: &[&[u8]]) -> bool {
        *self.0.lock().unwrap() += 1;
        chain.first().is_some_and(|own| own.starts_with(b"good"))
    }
}

const CERTIFICATE: u8 = 11;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;

fn list(certificates: &[&[u8]]) -> Vec<u8> {
    let vector = |octets: &[u8]| [&(octets.len() as u32).to_be_bytes()[1..], octets].concat();
    vector(&certificates.iter().flat_map(|certificate| vector(certificate)).collect::<Vec<u8>>())
}

/// A record of epoch 0 with a fragment of a handshake message.
fn record(message_type: u8, message_seq: u16, message: &[u8], part: std::ops::Range<usize>) -> Vec<u8> {
    let number = |number: usize| (number as u32).to_be_bytes()[1..].to_vec();
    let body = &message[part.clone()];
    let header = [
        vec![message_type],
        number(message.len()),
        message_seq.to_be_bytes().to_vec(),
        number(part.start),
        number(body.len()),
    ];
    let fragment = [&header.concat(), body].concat();
    let length = (fragment.len() as u16).to_be_bytes();
    [&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0][..], &length, &fragment].concat()
}

fn whole(message_type: u8, message_seq: u16, message: &[u8]) -> Vec<u8> {
    record(message_type, message_seq, message, 0..message.len())
}

struct BorderRouter {
    validation: Validation,
    judge: Arc<Counting>,
}

impl BorderRouter {
    /// One that has seen a ClientHello.
    fn in_handshake() -> Self {
        let judge = Arc::new(Counting::default());
        let mut router = Self { validation: Validation::new(judge.clone()), judge };
        router.up(&whole(CLIENT_HELLO, 0, b"hello"));
        router
    }

    fn up(&mut self, payload: &[u8]) {
        let packet = packet(Host::Node(NodeId(1)), Host::Internet, payload);
        self.validation.handle_upward(Instant::ZERO, &UdpDatagram::parse(&packet).unwrap());
    }

    fn down(&mut self, payload: &[u8]) -> bool {
        let packet = packet(Host::Internet, Host::Node(NodeId(1)), payload);
        self.validation.admits(Instant::ZERO, &UdpDatagram::parse(&packet).unwrap())
    }

    fn judged(&self) -> usize {
        *self.judge.0.lock().unwrap()
    }
}

fn packet(from: Host, to: Host, payload: &[u8]) -> Vec<u8> {
    let mut octets = vec![0; UdpDatagram::HEADERS + payload.len()];
    let [from, to] = [from, to].map(|host| Endpoint::new(host.address(), 5684));
    udp_datagram(from, to, payload, &mut octets).unwrap();
    octets
}

const WITH_ID: [u8; 15] = [25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0];
const PROTECTED: [u8; 14] = [22, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0];
/// Records behind which a node may read on.
const HIDING: [&[u8]; 6] =
    [&WITH_ID, &PROTECTED, &[29, 0, 0], &[1], &[22, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &UNREADABLE_MESSAGE];
const UNREADABLE_MESSAGE: [u8; 14] = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 11];

#[test]
fn a_good_chain_passes_and_is_judged_once() {
    let mut router = BorderRouter::in_handshake();
    let message = list(&[b"good server", b"issuer"]);
    let flight = [whole(SERVER_HELLO, 1, b"hello"), whole(CERTIFICATE, 2, &message), whole(14, 3, b"")].concat();
    assert!(router.down(&flight) && router.down(&flight));
    assert_eq!(router.judged(), 1);
    // A record that the border router cannot read may pass now: no Certificate begins in it.
    assert!(router.down(&[25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 7]) && router.down(&PROTECTED));
}

#[test]
fn of_a_bad_chain_the_last_octets_never_arrive() {
    let message = list(&[b"false server"]);
    for cut in 1..message.len() {
        let parts = [record(CERTIFICATE, 2, &message, 0..cut), record(CERTIFICATE, 2, &message, cut..message.len())];
        for order in [[0, 1], [1, 0]] {
            let mut router = BorderRouter::in_handshake();
            assert!(router.down(&parts[order[0]]));
            assert!(!router.down(&parts[order[1]]));
            assert!(!router.down(&parts[order[0]]) && !router.down(&whole(CERTIFICATE, 2, &message)));
            assert!(router.down(&whole(SERVER_HELLO, 1, b"hello")), "other messages may arrive");
        }
    }
}

#[test]
fn a_node_sees_no_other_chain_than_its_border_router() {
    let (good, other) = (list(&[b"good server"]), list(&[b"gxxx server"]));
    let half = good.len() / 2;
    let mut router = BorderRouter::in_handshake();
    assert!(router.down(&record(CERTIFICATE, 2, &other, 0..8)), "nothing is wrong so far");
    assert!(!router.down(&record(CERTIFICATE, 2, &good, 0..half)), "it says something else");
    assert!(!router.down(&whole(CERTIFICATE, 3, &good)), "a second Certificate message");
    assert!(!router.down(&whole(CERTIFICATE, 2, &list(&[b"good longer server"]))), "another length");
    // Repeated by the client, the same ClientHello opens no new handshake: the node may have kept the fragments.
    router.up(&whole(CLIENT_HELLO, 0, b"hello"));
    router.up(&whole(CLIENT_HELLO, 1, b"hello with its cookie"));
    assert!(!router.down(&whole(CERTIFICATE, 2, &good)));
    router.up(&whole(CLIENT_HELLO, 0, b"another hello"));
    assert!(router.down(&whole(CERTIFICATE, 2, &good)));
}

#[test]
fn what_cannot_be_read_hides_no_certificate() {
    let bad = whole(CERTIFICATE, 2, &list(&[b"false"]));
    for hiding in HIDING {
        let mut router = BorderRouter::in_handshake();
        assert!(!router.down(&[hiding, &bad].concat()), "{hiding:?}");
        assert_eq!(router.judged(), 0);
    }
    // Nobody has asked.
    let mut router = BorderRouter::in_handshake();
    router.validation.handshakes.clear();
    for hiding in HIDING {
        assert!(!router.down(&[hiding, &bad].concat()), "{hiding:?}");
    }
    assert!(!router.down(&bad) && router.down(&whole(SERVER_HELLO, 1, b"hello")) && router.down(b"other data"));
}

/// A frame of the good chain may be lost in the mesh, so the node may still take another.
#[test]
fn nothing_hides_a_false_chain_behind_a_good_one() {
    let bad = whole(CERTIFICATE, 2, &list(&[b"false"]));
    for hiding in HIDING {
        let mut router = BorderRouter::in_handshake();
        let good = whole(CERTIFICATE, 2, &list(&[b"good server"]));
        assert!(router.down(&good));
        assert!(!router.down(&[hiding, &bad].concat()), "{hiding:?}");
        assert!(router.down(&[&PROTECTED[..], &good].concat()));
    }
}

#[test]
fn the_memory_for_handshakes_is_bounded() {
    let mut router = BorderRouter::in_handshake();
    let hello = whole(CLIENT_HELLO, 0, b"hello");
    let open = |router: &mut BorderRouter, node: usize| {
        let packet = packet(Host::Node(NodeId(node as u16)), Host::Internet, &hello);
        router.validation.handle_upward(Instant::from_micros(node as u64), &UdpDatagram::parse(&packet).unwrap());
    };
    let message = list(&[b"good server"]);
    assert!(router.down(&record(CERTIFICATE, 2, &message, 0..4)));
    let kept = |router: &BorderRouter| {
        let message = router.validation.handshakes.values().next().unwrap().message.as_ref().unwrap();
        (message.octets.len(), message.arrived.len())
    };
    assert_eq!(kept(&router), (4, 1), "only what has arrived");
    assert!(router.down(&whole(CERTIFICATE, 2, &message)));
    assert_eq!(kept(&router), (message.len(), 0));
    (2..=MOST_HANDSHAKES).for_each(|node| open(&mut router, node));
    assert!(router.down(&whole(CERTIFICATE, 2, &message)));
    open(&mut router, MOST_HANDSHAKES + 1);
    assert_eq!(router.validation.handshakes.len(), MOST_HANDSHAKES);
    assert!(!router.down(&whole(CERTIFICATE, 2, &message)), "the oldest one is gone");
}

#[test]
fn chains_that_are_no_list_or_too_long_are_bad() {
    let cut = &list(&[b"good"])[..6];
    let trailing = [list(&[b"good"]), vec![0]].concat();
    for message in [&[][..], &[0, 0, 0], &[0, 0], cut, &trailing] {
        let mut router = BorderRouter::in_handshake();
        assert!(!router.down(&whole(CERTIFICATE, 2, message)), "{message:?}");
    }
    let mut long = whole(CERTIFICATE, 2, &list(&[b"good"]));
    long[14..17].copy_from_slice(&(LONGEST + 1).to_be_bytes()[1..]);
    assert!(!BorderRouter::in_handshake().down(&long));
}

proptest! {
    /// Whatever a server sends, in whatever fragments: what has been forwarded never completes a chain that is not good.
    #[test]
    fn no_bad_chain_is_complete_in_the_mesh(
        parts in prop::collection::vec((0usize..3, 0usize..20, 1usize..20, 2u16..4), 1..40),
    ) {
        let chains = [list(&[b"good server"]), list(&[b"evil server"]), list(&[b"good serverX"])];
        let mut router = BorderRouter::in_handshake();
        // The messages that the node may have, by number: of each octet all values that it has seen.
        let mut seen = BTreeMap::<u16, BTreeMap<usize, Vec<u8>>>::new();
        for (which, start, length, number) in parts {
            let message = &chains[which];
            let start = start.min(message.len());
            let part = start..(start + length).min(message.len());
            if router.down(&record(CERTIFICATE, number, message, part.clone())) {
                for place in part {
                    seen.entry(number).or_default().entry(place).or_default().push(message[place]);
                }
            }
        }
        for places in seen.values() {
            prop_assert!(places.values().all(|values| values.iter().all(|value| *value == values[0])));
            let octets: Vec<u8> = places.values().map(|values| values[0]).collect();
            prop_assert!(octets != chains[1] || places.len() < chains[1].len());
        }
        prop_assert!(seen.len() <= 1, "one message");
    }

    #[test]
    fn any_octets_are_read(datagram in prop::collection::vec(any::<u8>(), 0..200)) {
        chain(&datagram);
        BorderRouter::in_handshake().down(&datagram);
    }
}
