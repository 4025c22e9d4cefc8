//! The TCP proxy: transparent to both ends, whatever is lost on either side.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{LossSpread, internet};
use slowhand_net::random::Probability;
use slowhand_net::transport::pep::Side;
use slowhand_net::transport::tcp::{Connection, ConnectionError, Nagle, State, Statistics, TcpConfig};

/// The configuration of a node: MSS 844 as in Claeys et al. 2021, table 2.
fn node() -> TcpConfig {
    TcpConfig { mss: 844, send_buffer: 4_096, receive_buffer: 4_096, nagle: Nagle::Off, ..TcpConfig::constrained() }
}

fn linux() -> TcpConfig {
    TcpConfig::linux()
}

fn content(length: u32, factor: u32) -> Vec<u8> {
    (0..length).map(|n| (n * factor) as u8).collect()
}

/// A node that connects to a server on the Internet; and how many octets each end sends.
fn conversation(setting: &Setting, octets: [u32; 2]) -> Conversation {
    let [question, answer] = [content(octets[0], 7), content(octets[1], 13)];
    setting.conversation(setting.node(), [&node(), &linux()], [&question, &answer])
}

/// The statistics of the proxy's connection to an end.
fn statistics(conversation: &Conversation, side: Side) -> Statistics {
    let end = |connection: &Connection| Endpoint::new(connection.local().address, connection.local().port);
    let [first, second] = [end(&conversation.ends[0]), end(&conversation.ends[1])];
    let of_first = Host::of_address(first.address) == Some(Host::Internet);
    let (local, remote) = if of_first == (side == Side::Internet) { (second, first) } else { (first, second) };
    *conversation.network.tcp_proxy().unwrap().statistics(side, local, remote).unwrap()
}

#[test]
fn a_client_is_answered_the_short_way() {
    for delay in [10, 50, 2_000].map(Duration::from_millis) {
        let mut setting = Setting::proxied();
        setting.internet.delay = delay;
        let mut conversation = conversation(&setting, [1, 0]);
        conversation.exchange();
        // The SYN takes slot 1, the proxy's SYN-ACK slot 2, both with MSS 4, SACK permitted 2, padding 2.
        let slot = Duration::from_millis(20);
        assert_eq!(
            conversation.opened[0],
            Some(Instant::ZERO + slot * 2 + exchange(28)),
            "whatever the Internet takes"
        );
        // The server gets the proxy's SYN as soon as the client's has reached the border router.
        assert_eq!(conversation.first_arrival, Some(Instant::ZERO + slot + exchange(28) + delay));
        // A round trip later it is open. The client's octet arrives in slot 6 and waits at the border router until
        // then.
        let octet = Instant::ZERO + slot * 6 + exchange(21);
        let server_open = conversation.first_arrival.unwrap() + delay * 2;
        assert_eq!(conversation.opened[1], Some(server_open));
        assert_eq!(conversation.received_at[1], Some(server_open.max(octet + delay)), "{delay}");
    }
}

#[test]
fn the_internet_host_measures_the_internet_alone() {
    let mut conversation = conversation(&Setting::proxied(), [0, 1_500]);
    conversation.exchange();
    let server = &conversation.ends[1];
    assert_eq!(server.smoothed_rtt(), Some(Duration::from_millis(100)), "each acknowledgement comes at once");
    assert_eq!(server.statistics().retransmissions, 0);
}

/// The failure that the proxy avoids (Claeys et al. 2021, section 5): small segments set the timer, then a large one
/// takes much longer.
#[test]
fn large_segments_are_not_sent_again_in_vain() {
    for hops in 1..=3 {
        let run = |setting: Setting| {
            let mut conversation = conversation(&Setting { hops, slotframe: 21, ..setting }, [1, 800]);
            conversation.exchange();
            assert_eq!(conversation.lost, 0);
            conversation
        };
        let (plain, proxied) = (run(Setting::plain()), run(Setting::proxied()));
        let of_server = |conversation: &Conversation| conversation.ends[1].statistics().retransmissions;
        assert!(of_server(&plain) > 0, "{hops} hops: nothing is lost, and yet the server sends it again");
        assert_eq!((of_server(&proxied), statistics(&proxied, Side::Mesh).retransmissions), (0, 0), "{hops} hops");
    }
}

#[test]
fn the_timer_follows_from_schedule_and_fragments() {
    // The only segment of 500 octets is lost: its first fragment, the fourth frame after SYN, SYN-ACK and the octet that
    // acknowledges it and is acknowledged by the answer.
    let first_loss = |frame| {
        let mut setting = Setting::proxied();
        setting.internet.delay = Duration::ZERO;
        setting.dropped_frames = vec![frame];
        let mut conversation = conversation(&setting, [1, 500]);
        conversation.exchange();
        (conversation.now, statistics(&conversation, Side::Mesh).timeouts)
    };
    let (lossless, none) = first_loss(1_000);
    let (with_loss, one) = first_loss(6);
    assert_eq!((none, one), (0, 1));
    // 500 octets and 80 of headers at most: 7 fragments of 96, a slotframe of 100 ms each and a slot of 20 ms; an
    // acknowledgement of 80 octets back, 120 ms; and 500 ms for which a peer may delay it.
    let timer = Duration::from_millis(7 * 100 + 20 + 120 + 500);
    let late = with_loss.since(lossless);
    assert!(late >= timer && late <= timer + Duration::from_millis(200), "{late}");
}

#[test]
fn content_is_intact_whatever_is_lost_in_the_mesh() {
    for frame in 1..=60 {
        let setting = Setting { dropped_frames: vec![frame], ..Setting::proxied() };
        let mut conversation = conversation(&setting, [2_000, 3_000]);
        conversation.exchange();
        assert_eq!(conversation.ends[1].statistics().retransmissions, 0, "frame {frame} is no business of the server");
    }
}

/// The server's segment of 1,200 octets makes two, which the proxy sends at once; the first fragment of the first is lost, the
/// fourth frame after SYN, SYN-ACK and ACK.
#[test]
fn a_loss_spreads_over_what_the_proxy_sends_at_once() {
    let lost = |loss_spread| {
        let setting = Setting { loss_spread, dropped_frames: vec![4], ..Setting::proxied() };
        let mut conversation = conversation(&setting, [0, 1_200]);
        conversation.exchange();
        (conversation.lost, statistics(&conversation, Side::Mesh).retransmissions)
    };
    assert_eq!(lost(LossSpread::Fragment), (1, 1));
    assert_eq!(lost(LossSpread::Flight), (2, 2));
}

#[test]
fn content_is_intact_whatever_is_lost_on_the_internet() {
    for loss in [0.05, 0.2] {
        let mut setting = Setting { fragment_loss: 0.05, ..Setting::proxied() };
        setting.internet = internet::InternetConfig { loss: Probability::new(loss), ..setting.internet };
        conversation(&setting, [20_000, 30_000]).exchange();
    }
    // The server's SYN-ACK, and what follows it.
    for datagram in 1..=8 {
        let mut setting = Setting::proxied();
        setting.internet.dropped = vec![datagram];
        let mut conversation = conversation(&setting, [200, 1_500]);
        conversation.exchange();
        let mesh = statistics(&conversation, Side::Mesh);
        assert_eq!(mesh.retransmissions, 0, "the mesh does not feel it");
        assert_eq!(conversation.ends[0].statistics().duplicates_received, 0);
    }
}

#[test]
fn a_host_on_the_internet_can_open_too() {
    for dropped in [vec![], vec![1], vec![2], vec![1, 2, 3]] {
        let setting = Setting { hops: 2, dropped_frames: dropped, ..Setting::proxied() };
        let [question, answer] = [content(2_000, 7), content(3_000, 13)];
        let mut conversation = setting.conversation(Host::Internet, [&linux(), &node()], [&question, &answer]);
        conversation.exchange();
        assert_eq!(conversation.opened[0], Some(Instant::ZERO + Duration::from_millis(100)), "at once");
        assert_eq!(conversation.ends[0].statistics().retransmissions, 0);
    }
}

#[test]
fn the_end_of_a_stream_is_passed_on() {
    let mut conversation = conversation(&Setting::proxied(), [2_000, 3_000]);
    conversation.run_until(|this| this.opened.iter().all(Option::is_some));
    conversation.exchange();
    conversation.ends[0].close();
    conversation.run_until(|this| this.ends[1].at_end() && this.ends[0].state() == State::FinWait2);
    assert_eq!(conversation.ends[1].state(), State::CloseWait, "the other direction is open");
    conversation.ends[1].close();
    conversation.run_until(|this| this.ends[1].state() == State::Closed && this.ends[0].state() == State::Closed);
    assert!(conversation.ends[0].at_end() && conversation.open.is_empty() && conversation.originated.is_empty());
    assert!(conversation.ends.iter().all(|end| end.error().is_none()));
    while let Some(deadline) = conversation.network.deadline() {
        conversation.network.handle_deadline(deadline, &mut Default::default(), &mut ());
    }
    assert_eq!(conversation.network.tcp_proxy().unwrap().connections(), 0, "nothing is left behind");
}

#[test]
fn a_reset_is_passed_on() {
    for who in 0..2 {
        let mut conversation = conversation(&Setting::proxied(), [200, 300]);
        conversation.exchange();
        conversation.ends[who].abort();
        conversation.run_until(|this| this.ends[1 - who].state() == State::Closed);
        assert_eq!(conversation.ends[1 - who].error(), Some(ConnectionError::Reset));
    }
}

#[test]
fn a_closed_port_resets_the_client() {
    let mut conversation = conversation(&Setting::proxied(), [1, 0]);
    conversation.ends[1].close();
    conversation.run_until(|this| this.ends[0].state() == State::Closed);
    assert!(conversation.opened[0].is_some(), "it was open, in good faith");
    assert_eq!(conversation.ends[0].error(), Some(ConnectionError::Reset));
    assert_eq!(conversation.network.tcp_proxy().unwrap().connections(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_pattern_of_losses_is_repaired(
        // A SYN is sent seven times.
        frames in prop::collection::btree_set(1..60_u64, 0..=6),
        datagrams in prop::collection::btree_set(1..12_u64, 0..=6),
        hops in 1..=3_u16,
        jitter in 0..200_u64,
        octets in (0..3_000_u32, 0..4_000_u32),
    ) {
        let mut setting = Setting { hops, slotframe: 7, dropped_frames: frames.into_iter().collect(), ..Setting::proxied() };
        setting.internet.dropped = datagrams.into_iter().collect();
        setting.internet.jitter = Duration::from_millis(jitter);
        conversation(&setting, [octets.0, octets.1]).exchange();
    }
}
