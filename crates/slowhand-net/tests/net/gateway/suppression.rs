//! Suppression across a whole mesh. Two ends repeat their flights by RFC 6347 section 4.2.4. Their datagrams are those
//! of a recorded handshake.

use super::*;
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Event, Events, Network, gateway};
use slowhand_net::queue::EventQueue;
use slowhand_testing::recordings;
use std::collections::BTreeMap;

/// The datagrams of the flights in the recording: flights 1 to 6.
const FLIGHTS: [usize; 6] = [0, 1, 2, 3, 4, 12];

/// The datagram with the certificate of flight 4, which the server fragmented in another way when it repeated the
/// flight.
const CERTIFICATE: usize = 8;

fn recorded(numbers: &[usize]) -> Vec<Vec<u8>> {
    let datagrams = recordings::datagrams(recordings::OPENSSL);
    numbers.iter().map(|&number| datagrams[number].octets.clone()).collect()
}

/// The number of frames of each datagram on the air.
fn frames(air: &Recorder) -> BTreeMap<DatagramId, usize> {
    let mut frames = BTreeMap::new();
    air.frames.iter().for_each(|frame| *frames.entry(frame.datagram).or_default() += 1);
    frames
}

/// An action that is due.
enum Action {
    Send {
        flight: usize,
    },
    /// A timer, its length in seconds, and the latest flight of its end when it was set.
    Timer {
        flight: usize,
        seconds: u64,
    },
}

/// A client in the mesh and a server on the Internet.
struct Handshake {
    network: Network,
    ends: [Endpoint; 2],
    flights: Vec<Vec<u8>>,
    actions: EventQueue<Action>,
    /// The time that the client computes before flight 5.
    computes: Duration,
    /// First timeouts of the client and of the server, in seconds.
    timeouts: [u64; 2],
    /// The latest flight that each end has sent.
    latest: [Option<usize>; 2],
    sent: Vec<usize>,
    /// The number of times that each flight has been delivered.
    delivered: [usize; 6],
    suppressed: Vec<DatagramId>,
    air: Recorder,
    done: Option<Instant>,
}

impl Handshake {
    fn run(setting: &Setting, timeouts: [u64; 2]) -> Self {
        let mut handshake = Self {
            network: setting.network(),
            ends: [Endpoint::new(setting.node().address(), 61_617), Endpoint::new(Host::Internet.address(), 5_684)],
            flights: recorded(&FLIGHTS),
            actions: EventQueue::default(),
            computes: Duration::from_secs(3),
            timeouts,
            latest: [None; 2],
            sent: Vec::new(),
            delivered: [0; 6],
            suppressed: Vec::new(),
            air: Recorder::default(),
            done: None,
        };
        handshake.actions.push(Instant::ZERO, Action::Send { flight: 0 });
        handshake.drive();
        handshake
    }

    /// Runs until the last flight has arrived and nothing is under way; an hour at most.
    fn drive(&mut self) {
        let mut events = Events::default();
        while let Some(now) = [self.network.deadline(), self.actions.next_at()].into_iter().flatten().min() {
            if now > Instant::ZERO + Duration::from_secs(3_600) {
                return;
            }
            while let Some(action) = self.actions.pop_due(now) {
                self.handle(now, action, &mut events);
            }
            if self.network.deadline() == Some(now) {
                self.network.handle_deadline(now, &mut events, &mut self.air);
            }
            for event in std::mem::take(&mut events).iter() {
                match event {
                    Event::Delivered { datagram, .. } => self.receive(now, self.sent[datagram as usize]),
                    Event::Lost { datagram, reason: DropReason::Suppressed, .. } => self.suppressed.push(datagram),
                    _ => {}
                }
            }
        }
    }

    fn handle(&mut self, now: Instant, action: Action, events: &mut Events) {
        match action {
            Action::Send { flight } => {
                let end = flight % 2;
                if self.latest[end] < Some(flight) {
                    self.latest[end] = Some(flight);
                    // No timer is set for flight 2, whose sender keeps no state, and for flight 6, which is repeated
                    // with flight 5.
                    if ![1, 5].contains(&flight) {
                        let seconds = self.timeouts[end];
                        self.actions.push(now + Duration::from_secs(seconds), Action::Timer { flight, seconds });
                    }
                }
                let (source, destination) = (self.ends[end], self.ends[1 - end]);
                let number = self.sent.len() as DatagramId;
                self.sent.push(flight);
                self.network.send(now, source, destination, &self.flights[flight], number, events).unwrap();
            }
            // The answer to a flight is the next one.
            Action::Timer { flight, seconds } if self.done.is_none() && self.delivered[flight + 1] == 0 => {
                self.actions.push(now, Action::Send { flight });
                let seconds = (seconds * 2).min(60); // RFC 6347 section 4.2.4.1
                self.actions.push(now + Duration::from_secs(seconds), Action::Timer { flight, seconds });
            }
            Action::Timer { .. } => {}
        }
    }

    /// An end answers a flight when it comes for the first time. The server also answers it when it comes again.
    fn receive(&mut self, now: Instant, flight: usize) {
        self.delivered[flight] += 1;
        let (first, of_client) = (self.delivered[flight] == 1, flight.is_multiple_of(2));
        match flight {
            5 => self.done = self.done.or(Some(now)),
            3 if first => self.actions.push(now + self.computes, Action::Send { flight: 4 }),
            _ if first || of_client => self.actions.push(now, Action::Send { flight: flight + 1 }),
            _ => {}
        }
    }

    /// The number of times that the client received a flight that it had already.
    fn spurious(&self) -> usize {
        [1, 3, 5].map(|flight| self.delivered[flight].saturating_sub(1)).into_iter().sum()
    }
}

fn suppressing() -> Setting {
    let suppression = Some(gateway::suppression::SuppressionConfig::default());
    Setting { gateway: gateway::GatewayConfig { suppression, ..Default::default() }, ..Setting::plain() }
}

#[test]
fn repeats_of_an_impatient_server_stay_at_the_border() {
    for hops in 1..=4 {
        let run = |setting: Setting| Handshake::run(&Setting { hops, slotframe: 11, ..setting }, [60, 1]);
        let (plain, suppressed) = (run(Setting::plain()), run(suppressing()));
        assert!(plain.spurious() >= 2, "{hops} hops: nothing is lost, and yet flights come again");
        assert_eq!(suppressed.spurious(), 0, "{hops} hops");
        assert!(suppressed.done.unwrap() <= plain.done.unwrap(), "{hops} hops");
        // The server sends as often as before until the answer comes. A suppressed datagram is reported, and is never
        // on the air.
        assert!(!suppressed.suppressed.is_empty());
        let frames = frames(&suppressed.air);
        for datagram in &suppressed.suppressed {
            assert_eq!(suppressed.sent[*datagram as usize], 3);
            assert!(!frames.contains_key(datagram));
        }
        assert_eq!(frames.len() + suppressed.suppressed.len(), suppressed.sent.len());
    }
}

#[test]
fn what_the_mesh_lost_is_sent_again_when_the_client_asks() {
    // 500 ms for each hop's frame at most; the client repeats after 5 s.
    let lossless = Handshake::run(&Setting { slotframe: 11, ..suppressing() }, [5, 1]);
    let [hello, verify, cookie, flight_4] = [0, 1, 2, 3].map(|number| frames(&lossless.air)[&number] as u64 / 2);
    let first_of_flight_4 = hello + verify + cookie + 1;
    for frame in first_of_flight_4..first_of_flight_4 + flight_4 {
        let setting = Setting { slotframe: 11, dropped_frames: vec![frame], ..suppressing() };
        let handshake = Handshake::run(&setting, [5, 1]);
        let late = handshake.done.unwrap().since(lossless.done.unwrap());
        assert!(late <= Duration::from_secs(5 + 3), "frame {frame}: its timer, and flight 4 once more: {late}");
        assert_eq!(handshake.spurious(), 0, "frame {frame}");
    }
}

#[test]
fn what_the_mesh_lost_is_sent_again_in_any_case() {
    // The client never repeats anything.
    let setting = Setting { dropped_frames: vec![8], ..suppressing() };
    let handshake = Handshake::run(&setting, [1_000, 1]);
    let lossless = Handshake::run(&suppressing(), [1_000, 1]);
    assert_eq!((lossless.delivered[3], handshake.delivered[3]), (1, 1));
    // Flight 4, 710 octets in 8 fragments of 96, gets one cell in 100 ms and then a slot of 20 ms: 820 ms. The router
    // allows as much for an answer as long as it, and 9 s in which a device may compute.
    let late = handshake.done.unwrap().since(lossless.done.unwrap());
    let patience = Duration::from_millis(2 * 820 + 9_000);
    assert!(late >= patience && late <= patience + Duration::from_millis(200), "{late}");
}

/// The router releases held copies of flight 4 while its own queue is full. It knows that they are lost, and lets the
/// next copy pass at once.
#[test]
fn copies_that_find_the_queue_full_make_way_for_the_next() {
    let setting = Setting { dropped_frames: vec![1], ..suppressing() };
    let (mut network, mut events) = (setting.network(), Events::default());
    let server = Endpoint::new(Host::Internet.address(), 5_684);
    let client = Endpoint::new(setting.node().address(), 61_617);
    let datagrams = recorded(&[FLIGHTS[3], CERTIFICATE]);
    let (flight_4, certificate) = (&datagrams[0], &datagrams[1]);
    // 50 ms to the border router, which holds a flight for the 10,640 ms of the test above: the first copy is released
    // after 10,690 ms. By then two datagrams of 11 fragments each have come. At most two of the 20 frames in the queue
    // are sent. Those take 2 s.
    let other = vec![0; 1_000];
    let copies = [
        (0, flight_4),
        (1_000, flight_4),
        (2_000, certificate),
        (10_480, &other),
        (10_480, &other),
        (13_500, flight_4),
    ];
    let mut sends =
        (0..).zip(copies.map(|(at, content)| (Instant::ZERO + Duration::from_millis(at), content))).peekable();
    let (mut lost, mut delivered) = (Vec::new(), Vec::new());
    while let Some(now) = [network.deadline(), sends.peek().map(|(_, send)| send.0)].into_iter().flatten().min() {
        while let Some((number, (_, content))) = sends.next_if(|(_, send)| send.0 == now) {
            network.send(now, server, client, content, number, &mut events).unwrap();
        }
        if network.deadline() == Some(now) {
            network.handle_deadline(now, &mut events, &mut ());
        }
        for event in events.iter() {
            match event {
                Event::Lost { datagram, reason, .. } if !lost.contains(&(datagram, reason)) => {
                    lost.push((datagram, reason))
                }
                Event::Delivered { datagram, .. } => delivered.push((datagram, now)),
                _ => {}
            }
        }
        events.clear();
    }
    let full = |datagram| (datagram, DropReason::QueueFull);
    assert_eq!(lost[..4], [(0, DropReason::InjectedLoss), full(4), full(1), full(2)]);
    // 50 ms, and the 820 ms that flight 4 takes.
    let [(3, _), (5, at)] = delivered[..] else { panic!("{delivered:?}") };
    assert!(at <= Instant::ZERO + Duration::from_millis(13_500 + 50 + 820), "{at}");
}

/// Five of a hundred fragments are lost at every hop. The server's timer is 1 s.
#[test]
fn no_handshake_fails_that_succeeded_before_and_few_flights_are_spurious() {
    let mut spurious = [0; 2];
    for hops in 1..=4 {
        for seed in 0..25 {
            let run = |setting: Setting| {
                let setting = Setting { hops, slotframe: 11, fragment_loss: 0.05, seed, ..setting };
                Handshake::run(&setting, [5, 1])
            };
            let (plain, suppressed) = (run(Setting::plain()), run(suppressing()));
            assert!(suppressed.done.is_some(), "{hops} hops, seed {seed}");
            spurious[0] += plain.spurious();
            spurious[1] += suppressed.spurious();
        }
    }
    assert!(spurious[1] * 20 <= spurious[0], "{spurious:?}");
}
