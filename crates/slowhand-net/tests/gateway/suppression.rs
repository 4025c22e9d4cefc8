//! Suppression across a real mesh: two ends that repeat their flights as RFC 6347 section 4.2.4 has it, with the datagrams of
//! a recorded handshake.

use super::harness::Setting;
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Event, Events, Network, gateway};
use slowhand_net::observer::{Observer, Transmission};
use slowhand_net::queue::EventQueue;
use std::collections::BTreeMap;

/// The datagrams of the flights in the recording: flights 1 to 6.
const FLIGHTS: [usize; 6] = [0, 1, 2, 3, 4, 12];

/// The datagram with the certificate of flight 4, which the server cut otherwise when it sent it again.
const CERTIFICATE: usize = 8;

fn recorded(numbers: &[usize]) -> Vec<Vec<u8>> {
    let text = include_str!("../../../slowhand-wire/tests/golden/openssl.txt");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let octet = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let datagram = |line: &str| {
        let (_, hex) = line.split_once(' ').unwrap();
        (0..hex.len()).step_by(2).map(|at| octet(hex, at)).collect()
    };
    numbers.iter().map(|&number| datagram(lines[number])).collect()
}

/// The frames of each datagram on the air.
#[derive(Default)]
struct Frames(BTreeMap<DatagramId, usize>);

impl Observer for Frames {
    fn transmission(&mut self, transmission: &Transmission<'_>) {
        *self.0.entry(transmission.datagram).or_default() += 1;
    }
}

enum Happening {
    Send {
        flight: usize,
    },
    /// A timer that was set when this flight was the latest of its end, and its length in seconds.
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
    happenings: EventQueue<Happening>,
    /// How long the client computes before flight 5.
    computes: Duration,
    /// First timeouts of the client and of the server, in seconds.
    timeouts: [u64; 2],
    /// The latest flight that each end has sent.
    latest: [Option<usize>; 2],
    sent: Vec<usize>,
    /// How often each flight has been delivered.
    delivered: [usize; 6],
    suppressed: Vec<DatagramId>,
    frames: Frames,
    done: Option<Instant>,
}

impl Handshake {
    fn run(setting: &Setting, timeouts: [u64; 2]) -> Self {
        let mut handshake = Self {
            network: setting.network(),
            ends: [Endpoint::new(setting.node().address(), 61_617), Endpoint::new(Host::Internet.address(), 5_684)],
            flights: recorded(&FLIGHTS),
            happenings: EventQueue::default(),
            computes: Duration::from_secs(3),
            timeouts,
            latest: [None; 2],
            sent: Vec::new(),
            delivered: [0; 6],
            suppressed: Vec::new(),
            frames: Frames::default(),
            done: None,
        };
        handshake.happenings.push(Instant::ZERO, Happening::Send { flight: 0 });
        handshake.drive();
        handshake
    }

    /// Until nothing is on its way any more after the last flight has arrived; an hour at most.
    fn drive(&mut self) {
        let mut events = Events::default();
        while let Some(now) = [self.network.deadline(), self.happenings.next_at()].into_iter().flatten().min() {
            if now > Instant::ZERO + Duration::from_secs(3_600) {
                return;
            }
            while let Some(happening) = self.happenings.pop_due(now) {
                self.handle(now, happening, &mut events);
            }
            if self.network.deadline() == Some(now) {
                self.network.handle_deadline(now, &mut events, &mut self.frames);
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

    fn handle(&mut self, now: Instant, happening: Happening, events: &mut Events) {
        match happening {
            Happening::Send { flight } => {
                let end = flight % 2;
                if self.latest[end] < Some(flight) {
                    self.latest[end] = Some(flight);
                    // Flight 2 is sent without state, flight 6 is repeated when flight 5 is.
                    if ![1, 5].contains(&flight) {
                        let seconds = self.timeouts[end];
                        self.happenings.push(now + Duration::from_secs(seconds), Happening::Timer { flight, seconds });
                    }
                }
                let (source, destination) = (self.ends[end], self.ends[1 - end]);
                let number = self.sent.len() as DatagramId;
                self.sent.push(flight);
                self.network.send(now, source, destination, &self.flights[flight], number, events).unwrap();
            }
            // The answer to a flight is the next one.
            Happening::Timer { flight, seconds } if self.done.is_none() && self.delivered[flight + 1] == 0 => {
                self.happenings.push(now, Happening::Send { flight });
                let seconds = (seconds * 2).min(60); // RFC 6347 section 4.2.4.1
                self.happenings.push(now + Duration::from_secs(seconds), Happening::Timer { flight, seconds });
            }
            Happening::Timer { .. } => {}
        }
    }

    /// What comes for the first time is answered; what the server has answered already it answers again.
    fn receive(&mut self, now: Instant, flight: usize) {
        self.delivered[flight] += 1;
        let (first, of_client) = (self.delivered[flight] == 1, flight.is_multiple_of(2));
        match flight {
            5 => self.done = self.done.or(Some(now)),
            3 if first => self.happenings.push(now + self.computes, Happening::Send { flight: 4 }),
            _ if first || of_client => self.happenings.push(now, Happening::Send { flight: flight + 1 }),
            _ => {}
        }
    }

    /// How often the client was given what it had.
    fn in_vain(&self) -> usize {
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
        assert!(plain.in_vain() >= 2, "{hops} hops: nothing is lost, and yet flights come again");
        assert_eq!(suppressed.in_vain(), 0, "{hops} hops");
        assert!(suppressed.done.unwrap() <= plain.done.unwrap(), "{hops} hops");
        // The server sends just as often until the answer comes; what is held back is named, and never on the air.
        assert!(!suppressed.suppressed.is_empty());
        for datagram in &suppressed.suppressed {
            assert_eq!(suppressed.sent[*datagram as usize], 3);
            assert!(!suppressed.frames.0.contains_key(datagram));
        }
        assert_eq!(suppressed.frames.0.len() + suppressed.suppressed.len(), suppressed.sent.len());
    }
}

#[test]
fn what_the_mesh_lost_is_sent_again_when_the_client_asks() {
    // 500 ms for each hop's frame at most; the client repeats after 5 s.
    let lossless = Handshake::run(&Setting { slotframe: 11, ..suppressing() }, [5, 1]);
    let [hello, verify, cookie, flight_4] = [0, 1, 2, 3].map(|number| lossless.frames.0[&number] as u64 / 2);
    let first_of_flight_4 = hello + verify + cookie + 1;
    for frame in first_of_flight_4..first_of_flight_4 + flight_4 {
        let setting = Setting { slotframe: 11, dropped_frames: vec![frame], ..suppressing() };
        let handshake = Handshake::run(&setting, [5, 1]);
        let late = handshake.done.unwrap().since(lossless.done.unwrap());
        assert!(late <= Duration::from_secs(5 + 3), "frame {frame}: its timer, and flight 4 once more: {late}");
        assert_eq!(handshake.in_vain(), 0, "frame {frame}");
    }
}

#[test]
fn what_the_mesh_lost_is_sent_again_in_any_case() {
    // The client never repeats anything.
    let setting = Setting { dropped_frames: vec![8], ..suppressing() };
    let handshake = Handshake::run(&setting, [1_000, 1]);
    let lossless = Handshake::run(&suppressing(), [1_000, 1]);
    assert_eq!((lossless.delivered[3], handshake.delivered[3]), (1, 1));
    // Flight 4, 710 octets in 8 fragments of 96, gets a cell each 100 ms and a slot of 20 ms: 820 ms, and as many for an
    // answer as long as it; then the 9 s in which a device may compute.
    let late = handshake.done.unwrap().since(lossless.done.unwrap());
    let patience = Duration::from_millis(2 * 820 + 9_000);
    assert!(late >= patience && late <= patience + Duration::from_millis(200), "{late}");
}

/// The copies of flight 4 that were held find the border router's own queue full: the router knows that they are lost, and
/// lets the next one go on at once.
#[test]
fn copies_that_find_the_queue_full_make_way_for_the_next() {
    let setting = Setting { dropped_frames: vec![1], ..suppressing() };
    let (mut network, mut events) = (setting.network(), Events::default());
    let server = Endpoint::new(Host::Internet.address(), 5_684);
    let client = Endpoint::new(setting.node().address(), 61_617);
    let datagrams = recorded(&[FLIGHTS[3], CERTIFICATE]);
    let (flight_4, certificate) = (&datagrams[0], &datagrams[1]);
    // 50 ms to the border router, where a flight is held for the 10,640 ms of the test above: the first copy goes on after
    // 10,690 ms. By then two datagrams of 11 fragments each have come, and two of the 20 frames that a queue holds are
    // gone at most. Those take 2 s.
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

/// Five of a hundred fragments are lost at every hop, and the server's timer is 1 s.
#[test]
fn no_handshake_fails_that_succeeded_before_and_few_flights_are_in_vain() {
    let mut in_vain = [0; 2];
    for hops in 1..=4 {
        for seed in 0..25 {
            let run = |setting: Setting| {
                let setting = Setting { hops, slotframe: 11, fragment_loss: 0.05, seed, ..setting };
                Handshake::run(&setting, [5, 1])
            };
            let (plain, suppressed) = (run(Setting::plain()), run(suppressing()));
            assert!(suppressed.done.is_some(), "{hops} hops, seed {seed}");
            in_vain[0] += plain.in_vain();
            in_vain[1] += suppressed.in_vain();
        }
    }
    assert!(in_vain[1] * 20 <= in_vain[0], "{in_vain:?}");
}
