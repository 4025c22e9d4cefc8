use super::*;
use slowhand_net::address::NodeId;
use slowhand_net::datagram::{NO_DATAGRAM, ROUTER_DATAGRAMS};

const FIRST: ConversationId = ConversationId::FIRST;
const SECOND: ConversationId = ConversationId::SECOND;
const CLIENT: EndId = EndId::of(FIRST, Role::Client);
const SERVER: EndId = EndId::of(FIRST, Role::Server);
const SECOND_CLIENT: EndId = EndId::of(SECOND, Role::Client);

const LOSS: DropReason = DropReason::FrameLost;
const NODE: Host = Host::Node(NodeId(1));

const READER: Reader = Reader::Datagrams { connection_id_length: 0 };

/// The account of two conversations without connection IDs.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    [FIRST, SECOND].into_iter().for_each(|conversation| ledger.open(conversation, READER));
    ledger
}

#[test]
fn a_datagram_is_on_its_way_until_it_arrives_or_is_lost() {
    let mut ledger = ledger();
    assert!(!ledger.any_on_its_way());
    let first = ledger.sent(CLIENT, Phase::Handshake, &(&[1; 10][..]).into());
    let second = ledger.sent(SECOND_CLIENT, Phase::Handshake, &(&[2; 20][..]).into());
    ledger.originated(ROUTER_DATAGRAMS, SERVER, Phase::Handshake, &[]);
    ledger.arrived(first);
    assert!(ledger.any_on_its_way());
    ledger.lost(second, LOSS, NODE, Holders::default());
    assert!(ledger.any_on_its_way());
    ledger.arrived(ROUTER_DATAGRAMS);
    assert!(!ledger.any_on_its_way());
    // Of several copies the first that arrives counts, also after a loss, and nothing is lost after that.
    ledger.arrived(first);
    ledger.lost(first, LOSS, NODE, Holders::default());
    assert_eq!((ledger.losses(&[FIRST]), ledger.any_on_its_way()), (Vec::new(), false));
    assert_eq!(ledger.losses(&[SECOND]), [Loss { reason: LOSS, host: NODE, count: 1, holders: Holders::default() }]);
    ledger.lost(second, DropReason::QueueFull, Host::Internet, Holders::default());
    assert_eq!(
        ledger.losses(&[SECOND]),
        [Loss { reason: LOSS, host: NODE, count: 1, holders: Holders::default() }],
        "the first reason counts"
    );
    ledger.arrived(second);
    assert_eq!((ledger.losses(&[SECOND]), ledger.any_on_its_way()), (Vec::new(), false));
    // Frames that carry no datagram.
    ledger.arrived(NO_DATAGRAM);
    ledger.lost(NO_DATAGRAM, LOSS, NODE, Holders::default());
    assert!(!ledger.any_on_its_way());
}

#[test]
fn a_conversation_is_settled_when_its_last_data_has_arrived_or_was_lost() {
    let mut ledger = ledger();
    let handshake = ledger.sent(CLIENT, Phase::Handshake, &(&[0; 10][..]).into());
    assert!(!ledger.has_data_on_its_way(FIRST));
    let data = ledger.sent(CLIENT, Phase::Data, &(&[0; 10][..]).into());
    let closing = ledger.sent(SERVER, Phase::Closing, &(&[0; 10][..]).into());
    ledger.originated(ROUTER_DATAGRAMS, SERVER, Phase::Data, &[]);
    assert!(ledger.has_data_on_its_way(FIRST) && !ledger.has_data_on_its_way(SECOND));
    ledger.arrived(data);
    ledger.arrived(ROUTER_DATAGRAMS);
    assert!(ledger.has_data_on_its_way(FIRST));
    assert_eq!(ledger.pop_settled(), None);
    ledger.lost(closing, LOSS, NODE, Holders::default());
    assert!(!ledger.has_data_on_its_way(FIRST) && ledger.any_on_its_way(), "the handshake's is no data");
    assert_eq!((ledger.pop_settled(), ledger.pop_settled()), (Some(FIRST), None));
    ledger.arrived(handshake);
    assert_eq!((ledger.pop_settled(), ledger.any_on_its_way()), (None, false));
    // The losses are those of the handshake.
    assert_eq!(ledger.losses(&[FIRST]), []);
}

#[test]
fn frames_are_on_the_account_of_their_datagram() {
    let mut ledger = ledger();
    let handshake = ledger.sent(SERVER, Phase::Handshake, &(&[0; 10][..]).into());
    let data = ledger.sent(SECOND_CLIENT, Phase::Data, &(&[0; 20][..]).into());
    ledger.carried(handshake, 40);
    ledger.carried(handshake, 50);
    ledger.carried(data, 60);
    ledger.acknowledged(handshake, 5);
    ledger.controlled(handshake, 7);
    ledger.controlled(handshake, 8);
    for none in [NO_DATAGRAM, ROUTER_DATAGRAMS, 2] {
        ledger.carried(none, 99);
        ledger.acknowledged(none, 99);
        ledger.controlled(none, 99);
    }
    let expected = Costs {
        datagrams: 1,
        bytes_payload: 10,
        frames: 2,
        bytes_phy: 90,
        frames_ack: 1,
        bytes_ack: 5,
        frames_control: 2,
        bytes_control: 15,
    };
    assert_eq!(ledger.costs(&[FIRST], Phase::Handshake), expected);
    let expected = Costs { datagrams: 1, bytes_payload: 20, frames: 1, bytes_phy: 60, ..Costs::default() };
    assert_eq!(ledger.costs(&[SECOND], Phase::Data), expected);
    assert_eq!((ledger.costs(&[FIRST], Phase::Data), ledger.costs(&[SECOND], Phase::Handshake)), Default::default());
}

#[test]
fn a_conversation_that_is_forgotten_leaves_nothing_behind() {
    let mut ledger = ledger();
    let handshake = ledger.sent(CLIENT, Phase::Handshake, &(&[1; 10][..]).into());
    let second = ledger.sent(SECOND_CLIENT, Phase::Handshake, &(&[2; 10][..]).into());
    let data = ledger.sent(CLIENT, Phase::Data, &(&[3; 10][..]).into());
    ledger.originated(ROUTER_DATAGRAMS, SERVER, Phase::Data, &[]);
    assert_eq!((ledger.on_their_way_of(FIRST), ledger.on_their_way_of(SECOND)), (3, 1));
    ledger.forget(FIRST);
    assert_eq!((ledger.on_their_way_of(FIRST), ledger.on_their_way_of(SECOND), ledger.any_on_its_way()), (0, 1, true));
    // A datagram that belongs to none any more counts for none, also if another conversation has its place now.
    ledger.open(FIRST, READER);
    for id in [handshake, data, ROUTER_DATAGRAMS] {
        ledger.carried(id, 100);
        ledger.arrived(id);
        ledger.lost(id, LOSS, NODE, Holders::default());
    }
    assert_eq!((ledger.costs(&[FIRST], Phase::Handshake), ledger.pop_settled()), (Costs::default(), None));
    assert!(ledger.losses(&[FIRST]).is_empty() && !ledger.has_data_on_its_way(FIRST));
    let again = ledger.sent(CLIENT, Phase::Handshake, &(&[1; 10][..]).into());
    assert!(again > data, "numbers are never used again");
    ledger.arrived(again);
    ledger.arrived(second);
    assert!(!ledger.any_on_its_way());
    ledger.forget(FIRST);
    ledger.forget(SECOND);
    assert!(ledger.datagrams.is_empty() && ledger.of_gateway.is_empty());
}

#[test]
fn what_no_report_asks_for_does_not_stay_in_memory() {
    let mut ledger = ledger();
    let handshake = ledger.sent(CLIENT, Phase::Handshake, &(&[1; 10][..]).into());
    ledger.arrived(handshake);
    let late = ledger.sent(CLIENT, Phase::Data, &(&[2; 10][..]).into());
    for _ in 0..100 {
        let data = ledger.sent(SERVER, Phase::Data, &(&[3; 10][..]).into());
        ledger.arrived(data);
    }
    ledger.prune();
    assert_eq!(ledger.datagrams.len(), 102, "frames of the newest may follow");
    ledger.prune();
    assert_eq!((ledger.datagrams.len(), ledger.earlier.len()), (0, 2));
    ledger.carried(handshake, 50);
    assert_eq!(ledger.costs(&[FIRST], Phase::Handshake).frames, 1);
    ledger.lost(late, LOSS, NODE, Holders::default());
    assert!(!ledger.any_on_its_way());
    ledger.prune();
    assert_eq!(ledger.earlier.len(), 1);
    let again = ledger.sent(CLIENT, Phase::Handshake, &(&[1; 10][..]).into());
    ledger.arrived(again);
    assert_eq!(ledger.waiting(&[FIRST]), 0);
    ledger.forget(FIRST);
    assert!(ledger.datagrams.is_empty() && ledger.earlier.is_empty());
}
