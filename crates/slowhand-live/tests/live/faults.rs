//! Faults outside of the network: files, programs.

use super::peers::{client, loopback, octets, server};
use super::{ONE_HOP, scenario, setup, start, stop, wait_for};
use slowhand_lab::record::Outcome;
use slowhand_live::{Event, Live, LiveError, Proxy, Setup, Transport, Ways};
use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn warning(live: &Live) -> String {
    wait_for(live, |event| match event {
        Event::Warning { message, .. } => Some(message.clone()),
        _ => None,
    })
}

fn proxy(server: SocketAddr) -> Ways {
    Ways::Proxies(vec![Proxy { transport: Transport::Udp, listen: loopback(), server }])
}

const TIMED: &str = "timeout_s = 1,";

fn timed() -> String {
    ONE_HOP.replace("session = {", &format!("session = {{ {TIMED}"))
}

/// /dev/full: every write says that the disk is full (full(4)).
#[test]
fn a_full_disk_ends_the_capture_and_nothing_else() {
    let text = timed();
    let scenario = scenario(&text);
    let capture = Some(PathBuf::from("/dev/full"));
    let live = start(&text, Setup { capture, ..setup(proxy(server(&scenario))) });
    let address = live.addresses()[0].listen;
    client(&scenario, address, &octets(40), Duration::from_secs(20)).unwrap();
    let message = warning(&live);
    assert!(message.starts_with("/dev/full: cannot write the capture: No space left on device"), "{message}");
    client(&scenario, address, &octets(40), Duration::from_secs(20)).unwrap();
    assert_eq!(stop(live).1.sessions.completed, 2);
}

#[test]
fn a_server_that_does_not_run_is_named_and_may_come_back() {
    let text = timed();
    let scenario = scenario(&text);
    // An address of its own: nobody else gets this port meanwhile.
    let free = UdpSocket::bind("127.0.0.2:0").unwrap().local_addr().unwrap();
    let live = start(&text, setup(proxy(free)));
    let address = live.addresses()[0].listen;
    let waiting = std::thread::spawn({
        let scenario = scenario.clone();
        move || client(&scenario, address, &octets(40), Duration::from_secs(30))
    });
    assert_eq!(warning(&live), format!("nothing listens at {free}: start the server there"));
    // The client sends again after a second; now there is a server.
    let server = server(&scenario);
    let forward = UdpSocket::bind(free).unwrap();
    std::thread::spawn(move || forward_to(&forward, server));
    waiting.join().unwrap().unwrap();
    assert_eq!(stop(live).1.sessions.completed, 1);
}

#[test]
fn a_server_that_cannot_be_reached_is_named() {
    let server = "255.255.255.255:9".parse().unwrap(); // a broadcast needs SO_BROADCAST (socket(7))
    let scenario = scenario(&timed());
    for ways in [proxy(server), Ways::Clients { server }] {
        let live = start(&timed(), setup(ways));
        let listen = live.addresses().first().map(|address| address.listen);
        std::thread::scope(|scope| {
            let client = |address| client(&scenario, address, &octets(40), Duration::from_secs(2));
            scope.spawn(move || listen.map(client));
            let message = warning(&live);
            assert!(message.starts_with("255.255.255.255:9 cannot be reached: "), "{message}");
        });
        let (records, _) = stop(live);
        assert!(!records.is_empty() && records.iter().all(|record| record.outcome != Outcome::Completed));
    }
}

#[test]
fn what_is_on_its_way_at_the_end_is_counted() {
    let text = ONE_HOP.replace("slotframe = 3,", "slotframe = 1001,");
    let live = start(&text, setup(proxy(loopback())));
    UdpSocket::bind(loopback()).unwrap().send_to(&octets(60), live.addresses()[0].listen).unwrap();
    wait_for(&live, |event| matches!(event, Event::Opened { .. }).then_some(()));
    let counts = stop(live).1.datagrams;
    assert_eq!((counts.sent, counts.delivered, counts.waiting, counts.lost.len()), (1, 0, 1, 0));
}

/// Passes datagrams between one client at a time and a server.
fn forward_to(socket: &UdpSocket, server: SocketAddr) {
    let (mut client, mut buffer) = (server, [0; 2048]);
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let to = if from == server { client } else { server };
        if from != server {
            client = from;
        }
        socket.send_to(&buffer[..length], to).unwrap();
    }
}

/// Clients that have gone hold no place that others need.
#[test]
fn clients_that_vanish_give_way() {
    let text = timed();
    let scenario = scenario(&text);
    let live = start(&text, Setup { speed: 20.0, ..setup(proxy(server(&scenario))) });
    let address = live.addresses()[0].listen;
    for _ in 0..20 {
        UdpSocket::bind(loopback()).unwrap().send_to(&octets(60), address).unwrap();
    }
    client(&scenario, address, &octets(40), Duration::from_secs(30)).unwrap();
    let (records, report) = stop(live);
    assert_eq!(report.sessions.completed, 1, "{report:?}");
    assert!(records.len() <= 21);
}

#[test]
fn a_fifo_is_read_while_the_network_runs() {
    let fifo = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("capture-fifo");
    let _ = std::fs::remove_file(&fifo); // of a test that has failed
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let text = timed();
    let scenario = scenario(&text);
    let live = start(&text, Setup { capture: Some(fifo.clone()), ..setup(proxy(server(&scenario))) });
    let address = live.addresses()[0].listen;
    client(&scenario, address, &octets(40), Duration::from_secs(20)).unwrap();
    let mut reader = std::fs::File::open(&fifo).unwrap();
    let mut first = [0; 4];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(first, [0x0a, 0x0d, 0x0d, 0x0a], "the section header block of pcapng");
    drop(reader);
    client(&scenario, address, &octets(40), Duration::from_secs(20)).unwrap();
    let message = warning(&live);
    assert!(message.contains("nobody reads it any more"), "{message}");
    assert_eq!(stop(live).1.sessions.completed, 2);
    std::fs::remove_file(fifo).unwrap();
}

/// An emulated client of TLS, and a server that closes each connection at once.
#[test]
fn a_server_that_closes_fails_the_handshake_at_once() {
    let text = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    let listener = TcpListener::bind(loopback()).unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            stream.shutdown(Shutdown::Write).unwrap();
            // The thread reads all that comes: else the kernel would answer it with a reset.
            std::thread::spawn(move || std::io::copy(&mut &stream, &mut std::io::sink()));
        }
    });
    let began = Instant::now();
    let live = start(&text, setup(Ways::Clients { server }));
    let records = super::records(&live);
    let failure = records[0].failure.as_ref().unwrap();
    assert_eq!((records.len(), records[0].outcome), (1, Outcome::Reset));
    assert_eq!(failure.reason, "the other end closed the connection during the handshake");
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// A network that no processor can follow still listens to its owner.
#[test]
fn a_network_that_is_too_fast_can_be_stopped() {
    let text = r#"
        network = { topology = { kind = "tree", depth = 3, fan_out = 4 } }
        mac = { kind = "csma" }
        client = { device = "nrf52840", start_s = 100_000 }
        session = { stack = "lean-dtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
        traffic = [{ from = "nodes", to = "internet", pattern = "periodic", interval_ms = 1000, octets = 40 }]
    "#;
    let live = start(text, Setup { speed: 1e6, ..setup(Ways::Emulated) });
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    let snapshot = live.snapshot().unwrap();
    assert!(snapshot.time_s < 50_000.0, "it is behind: {}", snapshot.time_s);
    let (_, report) = stop(live);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed()); // what is left takes minutes
    assert!(report.lateness_ms.is_exceeded());
}

#[test]
fn what_cannot_be_opened_is_named() {
    let taken = UdpSocket::bind(loopback()).unwrap();
    let address = taken.local_addr().unwrap();
    let refuse = |setup: Setup| Live::start(&scenario(ONE_HOP), setup).map(drop).unwrap_err();
    let listen = refuse(setup(Ways::Server { listen: address }));
    let remedy = "another program has this port: end it, or take another one, or port 0";
    assert_eq!(
        listen.to_string(),
        format!("{address}: cannot listen on this address: Address already in use (os error 98); {remedy}")
    );
    let tcp =
        refuse(setup(Ways::Proxies(vec![Proxy { transport: Transport::Tcp, listen: loopback(), server: address }])));
    assert!(matches!(tcp, LiveError::Transport { .. }), "{tcp}");
    for speed in [0.0, -1.0, 1e-22, 1e7, f64::NAN, f64::INFINITY] {
        assert!(matches!(refuse(Setup { speed, ..setup(Ways::Emulated) }), LiveError::Speed(_)), "{speed}");
    }
    let capture = refuse(Setup { capture: Some("/nowhere/file.pcapng".into()), ..setup(Ways::Emulated) });
    assert!(
        capture.to_string().starts_with("/nowhere/file.pcapng: cannot write the capture: No such file"),
        "{capture}"
    );
    let control = refuse(Setup { control: Some("/nowhere/socket".into()), ..setup(Ways::Emulated) });
    assert!(control.to_string().starts_with("/nowhere/socket: cannot make the socket for commands"), "{control}");
}

/// Programs have sockets of UDP, and know of no anchor: what only an emulated end can do is refused before anything is opened.
#[test]
fn what_a_program_cannot_do_is_refused_by_name() {
    let ways = || Ways::Server { listen: loopback() };
    let with = |key: &str| scenario(&ONE_HOP.replace("session = {", &format!("session = {{ {key},")));
    let refused = |key: &str| Live::start(&with(key), setup(ways())).err().map(|error| error.to_string());
    for (key, named) in [
        ("carrier = \"coap\"", "session.carrier: found \"coap\""),
        ("trust_anchor = true", "session.trust_anchor: found true"),
        ("protocol = \"less\"", "session.protocol: found less"),
    ] {
        assert!(refused(key).is_some_and(|message| message.starts_with(named)), "{key}");
        Live::start(&with(key), setup(Ways::Emulated)).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    let certificates = "\"TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8\", auth = \"mutual\"";
    let gateway = |key: &str, resumption: &str| {
        let text = ONE_HOP.replace("\"TLS_PSK_WITH_AES_128_CCM_8\"", &format!("{certificates}{resumption}"));
        scenario(&format!("{text}\n[gateway]\n{key}\n"))
    };
    let validating = gateway("pre_validation = true", "");
    let refused = Live::start(&validating, setup(ways())).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.starts_with("gateway.pre_validation: found true"), "{refused}");
    let delegating = gateway("delegation = \"border-router\"", ", resumption = \"id\"");
    for ways in [ways(), Ways::Emulated] {
        let refused = Live::start(&delegating, setup(ways)).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.starts_with("gateway.delegation: found \"border-router\""), "{refused}");
    }
}
