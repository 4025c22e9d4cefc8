//! The kernel's IPv6 at both sides of the network: packets, path MTU, TCP, and what is left behind.
//!
//! Each test runs in a mount and a network namespace of its own, with an empty `/run`, so it changes nothing of this
//! computer. Where no such namespace can be made, it prints why, and is skipped.

mod kernel;

use kernel::{Icmp, Program, Raw, SKIPPED, alone, inside, ip};
use rustix::process::{Pid, Signal};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::Outcome;
use slowhand_lab::scenario::Scenario;
use slowhand_live::tun::{LARGEST_PACKET, Side, Tun};
use slowhand_live::{EndReason, Event, Interface, Live, Recording, Setup, Ways, replay};
use slowhand_net::address::{NodeId, internet_address, mesh_address};
use slowhand_net::ip::{Endpoint, udp_datagram};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Two hops, and queues for what a kernel sends at once: ten segments of 14 fragments.
const SCENARIO: &str = r#"
    network = { topology = { kind = "line", hops = 2 } }
    mac = { kind = "tsch", slotframe = 9, cells = { shared = 1, up = 2, down = 1 }, queue = 200 }
    client = { device = "openmote-cc2538" }
    session = { stack = "openssl", protocol = "PROTOCOL", suite = "TLS_PSK_WITH_AES_128_GCM_SHA256" }
"#;

/// The speed of the network, as a multiple of real time.
const SPEED: f64 = 20.0;

/// A network with a kernel at each side that has the name of a namespace.
fn start(device: Option<&str>, internet: Option<&str>, protocol: &str) -> Live {
    recorded(device, internet, protocol, None)
}

/// A network as [`start`] makes it, with a recording.
fn recorded(device: Option<&str>, internet: Option<&str>, protocol: &str, record: Option<PathBuf>) -> Live {
    let [device, internet] = [device, internet].map(|name| name.map(|name| Interface::Namespace(name.to_owned())));
    let setup = Setup {
        seed: 1,
        speed: SPEED,
        ways: Ways::Interfaces { device, internet },
        capture: None,
        record,
        control: None,
        duration: None,
        handshakes: None,
    };
    Live::start(&SCENARIO.replace("PROTOCOL", protocol).parse().unwrap(), setup).unwrap()
}

/// A network between two kernels.
fn between(device: &str, internet: &str) -> Live {
    start(Some(device), Some(internet), "dtls1.2")
}

/// The number of packets that were refused.
fn refused(live: &Live) -> u64 {
    live.snapshot().unwrap().report.sessions.refused
}

fn node(number: u16) -> Ipv6Addr {
    mesh_address(NodeId(number))
}

#[test]
fn echo_requests_are_answered_by_every_address_from_both_sides() {
    if !alone("echo_requests_are_answered_by_every_address_from_both_sides") {
        return;
    }
    let _network = between("device", "internet");
    let device = inside("device", || Icmp::bind(node(1)));
    assert_eq!(device.echo(internet_address(), 20), 20);
    assert_eq!(device.echo(node(0), 3), 3);
    let internet = inside("internet", || Icmp::bind(internet_address()));
    assert_eq!([1, 2].map(|number| internet.echo(node(number), 3)), [3, 3]);
}

#[test]
fn datagrams_cross_intact_both_ways() {
    if !alone("datagrams_cross_intact_both_ways") {
        return;
    }
    let _network = between("device", "internet");
    let device = inside("device", || udp(node(2)));
    let internet = inside("internet", || udp(internet_address()));
    let mut buffer = [0; 2000];
    // 1,232 octets are the most that fits the MTU: 1,280 - 40 - 8.
    for length in [0, 1, 50, 100, 500, 1000, 1232] {
        let data: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
        device.send_to(&data, internet.local_addr().unwrap()).unwrap();
        let (received, sender) = internet.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..received], sender), (&data[..], device.local_addr().unwrap()));
        internet.send_to(&data, sender).unwrap();
        let (received, sender) = device.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..received], sender), (&data[..], internet.local_addr().unwrap()));
    }
}

/// Both ends are the kernel's TCP. The stream is 8 segments each way.
#[test]
fn streams_of_the_kernels_cross_intact_both_ways() {
    if !alone("streams_of_the_kernels_cross_intact_both_ways") {
        return;
    }
    let _network = between("device", "internet");
    let listener = inside("internet", || TcpListener::bind((internet_address(), 0)).unwrap());
    let server = listener.local_addr().unwrap();
    let data: Vec<u8> = (0..8 * 1220_u32).map(|at| (at % 251) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, client) = listener.accept().unwrap();
            assert_eq!(client.ip(), node(1)); // the address of a socket that was bound to none
            let mut received = vec![0; data.len()];
            stream.read_exact(&mut received).unwrap();
            stream.write_all(&received).unwrap();
        });
        let mut stream = inside("device", || TcpStream::connect(server).unwrap());
        stream.write_all(&data).unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        assert!(received == data, "the content differs");
    });
}

/// RFC 8201: the border router says Packet Too Big, and the kernel keeps the MTU of the path. Then the datagram is sent
/// in fragments of IPv6.
#[test]
fn a_packet_too_big_sets_the_mtu_of_the_path() {
    if !alone("a_packet_too_big_sets_the_mtu_of_the_path") {
        return;
    }
    let _network = between("device", "internet");
    let device = inside("device", || udp(node(1)));
    let internet = inside("internet", || udp(internet_address()));
    internet.connect(device.local_addr().unwrap()).unwrap();
    let data = [7; 1400];
    internet.send(&data).unwrap();
    let error = internet.recv(&mut [0; 2000]).unwrap_err(); // what the router said about the socket's datagram
    assert_eq!(error.raw_os_error(), Some(90), "{error}"); // EMSGSIZE
    let route = ip(&["-n", "internet", "-6", "route", "get", &node(1).to_string()]);
    // The longest packet that a node puts together with the numbers of OpenWSN.
    assert!(route.contains("mtu 1320"), "{route}");
    internet.send(&data).unwrap();
    let mut buffer = [0; 2000];
    assert_eq!(device.recv(&mut buffer).unwrap(), data.len());
    assert_eq!(buffer[..data.len()], data);
}

/// Packets that the kernels let a program write itself, header and all.
#[test]
fn malformed_and_spoofed_packets_are_refused_and_change_nothing() {
    if !alone("malformed_and_spoofed_packets_are_refused_and_change_nothing") {
        return;
    }
    let network = between("device", "internet");
    let (server, elsewhere) = (internet_address(), "2001:db8:9::1".parse().unwrap());
    let sides = [("device", node(1), server), ("internet", server, node(1))];
    let echo = |rounds| {
        for (side, own, peer) in sides {
            assert_eq!(inside(side, || Icmp::bind(own)).echo(peer, rounds), rounds);
        }
    };
    let mut sent = 0;
    for (side, own, peer) in sides {
        let raw = inside(side, || Raw::new(peer));
        let mut send = |packet: &[u8]| {
            raw.send(packet);
            sent += 1;
        };
        let ff02 = "ff02::1".parse().unwrap();
        let fe80 = "fe80::1".parse().unwrap();
        // No host of this side: the other side, nobody, a group, an address of the link; in the mesh, node 9 of 3.
        for source in [peer, Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST, ff02, fe80, node(9)] {
            send(&kernel::packet(source, peer, 20));
        }
        for destination in [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST, ff02, fe80] {
            send(&kernel::packet(own, destination, 20));
        }
        let whole = kernel::packet(own, peer, 20);
        send(&whole[..whole.len() - 1]);
        send(&[&whole[..], &[0]].concat());
        send(&[&[0x40], &whole[1..]].concat()); // version 4
        send(&whole[..40]); // its header says 20 more
    }
    let foreign = inside("device", || Raw::new(server));
    foreign.send(&kernel::packet(elsewhere, server, 20));
    sent += 1;
    echo(5);
    assert_eq!(refused(&network), sent);
    let oversized = inside("device", || Raw::new(server).try_send(&kernel::packet(node(1), server, 1300)));
    assert_eq!(oversized.unwrap_err().raw_os_error(), 90); // EMSGSIZE, from the kernel
    assert_eq!(warnings(&network), [""; 0]);
}

/// 10,000 packets at each side, 100,000 if `SLOWHAND_FULL` is set. Each of them is counted, and no other packet is lost.
/// They come as fast as they are taken: the queue of a TUN interface has room for 500.
#[test]
fn a_flood_at_each_side_changes_nothing() {
    if !alone("a_flood_at_each_side_changes_nothing") {
        return;
    }
    let network = between("device", "internet");
    let rounds = if std::env::var_os("SLOWHAND_FULL").is_some() { 1_000 } else { 100 };
    let (device, server) = (node(1), internet_address());
    let floods = [("device", device, server), ("internet", server, device)].map(|(side, own, peer)| {
        let [whole, spoofed] = [own, peer].map(|source| kernel::packet(source, peer, 1000));
        (inside(side, || Raw::new(peer)), [spoofed, whole[..1000].to_vec(), whole[..40].to_vec()])
    });
    let flood = || {
        for round in 1..=rounds {
            for (raw, packets) in &floods {
                packets.iter().cycle().take(100).for_each(|packet| raw.send(packet));
            }
            wait("the count of the flood", || refused(&network) == 200 * round);
        }
    };
    let ping = inside("device", || Icmp::bind(node(2)));
    std::thread::scope(|scope| {
        let flood = scope.spawn(flood);
        while !flood.is_finished() {
            assert_eq!(ping.echo(server, 1), 1);
        }
    });
}

#[test]
fn a_deleted_interface_is_named_and_the_other_one_goes_on() {
    if !alone("a_deleted_interface_is_named_and_the_other_one_goes_on") {
        return;
    }
    let network = between("device", "internet");
    assert_eq!(ip(&["-n", "internet", "link", "delete", "slowhand0"]), "");
    let raw = inside("device", || Raw::new(internet_address()));
    raw.send(&kernel::packet(internet_address(), internet_address(), 20)); // spoofed
    wait("the device side", || refused(&network) == 1);
    let expected = "the interface slowhand0 in the network namespace internet was deleted; the network goes on without it; start it again to have the interface back";
    assert_eq!(warnings(&network), [expected]);
    assert_eq!(ip(&["-n", "device", "link", "delete", "slowhand0"]), "");
    assert_eq!(end(&network).0, EndReason::Interfaces);
}

#[test]
fn nothing_is_left_behind() {
    if !alone("nothing_is_left_behind") {
        return;
    }
    ip(&["netns", "add", "kept"]);
    let interfaces = || ip(&["-n", "kept", "-brief", "link"]);
    let is_gone = || ip(&["netns"]) == "kept\n" && !interfaces().contains("slowhand0");
    let network = between("made", "kept");
    assert!(ip(&["netns"]).contains("made") && interfaces().contains("slowhand0"));
    drop(network);
    assert!(is_gone(), "{}{}", ip(&["netns"]), interfaces());
    for signal in [Signal::TERM, Signal::KILL, Signal::INT] {
        // Who starts the tests in the background lets them ignore SIGINT.
        let default = ["env", "--default-signal=INT,TERM"];
        let mut child = kernel::again("a_program_with_both_interfaces", &default).spawn().unwrap();
        wait("the interfaces", || ip(&["netns"]).contains("made") && interfaces().contains("slowhand0"));
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(!child.wait().unwrap().success());
        wait("the end of all", is_gone);
    }
}

/// Started by another test, which kills it.
#[test]
#[ignore = "only started by nothing_is_left_behind"]
fn a_program_with_both_interfaces() {
    let _network = between("made", "kept");
    std::thread::sleep(Duration::from_secs(60));
}

/// An interface that root made for a user, opened by that user, who has no privileges.
#[test]
fn an_interface_that_exists_needs_no_privileges() {
    if !alone("an_interface_that_exists_needs_no_privileges") {
        return;
    }
    let user = kernel::ordinary_user();
    let owner = user.unwrap_or(0).to_string(); // the only user of a user namespace
    for command in [
        &["tuntap", "add", "dev", "mine", "mode", "tun", "user", &owner][..],
        &["link", "set", "dev", "mine", "mtu", "1280", "addrgenmode", "none", "multicast", "off", "up"],
        &["address", "add", "2001:db8::12:7400:0:1/128", "dev", "mine", "nodad"],
        &["-6", "route", "add", "default", "dev", "mine"],
    ] {
        assert_eq!(ip(command), "", "{command:?}");
    }
    let drop_all: &[&str] = if user.is_some() { &["setpriv", "--reuid", &owner, "--clear-groups"] } else { &[] };
    let mut child = kernel::again("a_program_that_reads_one_packet", drop_all).spawn().unwrap();
    let socket = udp(node(1));
    wait("the program", || {
        let _ = socket.send_to(b"hello", (internet_address(), 9)); // before the interface is open, it has no carrier
        child.try_wait().unwrap().is_some()
    });
    assert!(child.wait().unwrap().success());
    assert!(ip(&["tuntap"]).contains("mine"), "it is not ours to remove");
}

/// Started by another test, which sends the packet.
#[test]
#[ignore = "only started by an_interface_that_exists_needs_no_privileges"]
fn a_program_that_reads_one_packet() {
    slowhand_live::privileges::give_up().unwrap();
    let new = Tun::open(Side::Device, &Interface::Namespace("new".to_owned()), 2).unwrap_err().to_string();
    assert!(new.contains("cannot be made: mount") && new.contains("unshare -Urnm"), "{new}");
    let tun = Tun::open(Side::Device, &Interface::Existing("mine".to_owned()), 2).unwrap();
    let mut buffer = vec![0; LARGEST_PACKET];
    wait("the packet", || {
        let length = tun.read(&mut buffer).unwrap();
        length.is_some_and(|length| buffer[..length].ends_with(b"hello") && tun.side().is_source_of(&buffer[..length]))
    });
}

/// As root: what an ordinary user sees, in the namespaces that such a user may make.
#[test]
fn an_ordinary_user_needs_no_privileges() {
    if !alone("an_ordinary_user_needs_no_privileges") {
        return;
    }
    let Some(user) = kernel::ordinary_user() else { return }; // then all of these tests run as one
    let test = "echo_requests_are_answered_by_every_address_from_both_sides";
    let user = user.to_string();
    let output = kernel::outside(test, &["setpriv", "--reuid", &user, "--clear-groups"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    match said.contains(SKIPPED) {
        true => kernel::tell(&said),
        false => assert!(output.status.success(), "{said}"),
    }
}

#[test]
fn refusals_say_what_to_do() {
    if !alone("refusals_say_what_to_do") {
        return;
    }
    let open = |interface| Tun::open(Side::Device, &interface, 2).map(drop).unwrap_err().to_string();
    let namespace = |name: &str| open(Interface::Namespace(name.to_owned()));
    let existing = |name: &str| open(Interface::Existing(name.to_owned()));
    for (said, expected) in [
        (namespace(""), "is no name of a network namespace"),
        (namespace("-n"), "is no name of a network namespace"),
        (namespace("/nowhere"), "the network namespace /nowhere cannot be entered: No such file"),
        (namespace("/proc/self/ns/mnt"), "cannot be entered: Invalid argument"),
        (existing("a b"), "is no name of an interface: allowed are 1 to 15 octets"),
        (existing("none0"), "there is no interface none0: make it with sudo ip tuntap add dev none0 mode tun"),
        (existing("lo"), "the interface lo cannot be opened: Invalid argument (os error 22); it is no TUN interface"),
    ] {
        assert!(said.contains(expected), "{said}");
    }
    let _one = Tun::open(Side::Internet, &Interface::Namespace("both".to_owned()), 2).unwrap();
    assert!(namespace("both").contains("slowhand0 in the network namespace both is there already"));
}

/// The thread that carries packets, and what it starts, may do nothing that an ordinary user may not do.
#[test]
fn the_thread_of_the_network_has_no_privileges() {
    if !alone("the_thread_of_the_network_has_no_privileges") {
        return;
    }
    let _network = between("device", "internet");
    let is_of_network =
        |task: &PathBuf| fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "live network\n");
    let has_none = |task: &PathBuf| {
        fs::read_to_string(task.join("status")).is_ok_and(|status| status.contains("CapEff:\t0000000000000000\n"))
    };
    wait("the end of its privileges", || {
        let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let threads: Vec<_> = tasks.filter(is_of_network).collect();
        threads.len() == 1 && threads.iter().all(has_none)
    });
}

/// The emulated clients, over the emulated UDP and TCP, and a server of OpenSSL on the kernel's.
#[test]
fn emulated_clients_reach_a_server_on_the_kernel() {
    if !alone("emulated_clients_reach_a_server_on_the_kernel") {
        return;
    }
    ip(&["netns", "add", "internet"]); // the server is there first
    for (protocol, option, table) in [("dtls1.2", "-dtls1_2", "udp6"), ("tls1.2", "-tls1_2", "tcp6")] {
        let server = Program::openssl("internet", &["s_server", "-6", "-accept", "5684", "-nocert", option]);
        wait("the server", || server.listens(table, 5684));
        let recording = recording(&format!("internet-{protocol}"));
        let network = recorded(None, Some("internet"), protocol, Some(recording.clone()));
        let ended = end(&network);
        assert_eq!(ended, (EndReason::Finished, vec![Outcome::Completed]), "{protocol}");
        comes_again(&recording, network, &ended.1);
    }
}

/// A client of OpenSSL on the kernel's UDP and TCP, and the emulated server, which answers data with the same data.
#[test]
fn a_client_on_the_kernel_reaches_the_emulated_server() {
    if !alone("a_client_on_the_kernel_reaches_the_emulated_server") {
        return;
    }
    let address = format!("[{}]:5684", internet_address());
    for (protocol, option) in [("dtls1.2", "-dtls1_2"), ("tls1.2", "-tls1_2")] {
        let recording = recording(&format!("device-{protocol}"));
        let network = recorded(Some("device"), None, protocol, Some(recording.clone()));
        let mut client = Program::openssl("device", &["s_client", "-connect", &address, option, "-quiet"]);
        let mut input = client.0.stdin.take().unwrap();
        input.write_all(b"from the kernel\n").unwrap();
        let mut output = client.0.stdout.take().unwrap();
        let answer = std::thread::spawn(move || {
            let mut answer = [0; 16];
            output.read_exact(&mut answer).map(|()| answer)
        });
        wait("the answer", || answer.is_finished());
        assert_eq!(&answer.join().unwrap().unwrap(), b"from the kernel\n", "{protocol}");
        let open = network.snapshot().unwrap().open;
        assert_eq!(open.iter().map(|open| (open.node, open.state)).collect::<Vec<_>>(), [(1, "data")], "{protocol}");
        network.stop();
        let (_, outcomes) = end(&network);
        comes_again(&recording, network, &outcomes);
    }
}

/// Who has an address of the mesh that no node has, or does not begin with a ClientHello, opens no session.
#[test]
fn packets_that_begin_nothing_open_no_session() {
    if !alone("packets_that_begin_nothing_open_no_session") {
        return;
    }
    let network = start(Some("device"), None, "dtls1.2");
    let raw = inside("device", || Raw::new(internet_address()));
    let source = |number, payload: &[u8]| {
        let [from, to] = [node(number), internet_address()].map(|address| Endpoint::new(address, 5684));
        let mut packet = vec![0; 48 + payload.len()];
        udp_datagram(from, to, payload, &mut packet).unwrap();
        packet
    };
    // A record of DTLS 1.2 with a ClientHello (RFC 6347 sections 4.1 and 4.2.2); the network reads no further.
    let hello = [&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 1, 0, 0, 2][..], &[0; 10]].concat();
    raw.send(&source(500, &hello));
    raw.send(&source(2, b"hello"));
    wait("the refusal", || refused(&network) == 1);
    assert!(network.snapshot().unwrap().open.is_empty());
    raw.send(&source(2, &hello));
    wait("the session", || matches!(network.next_event(Duration::ZERO), Some(Event::Opened { .. })));
}

fn recording(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.slowhand"))
}

/// Checks that the packets of a kernel make the same network again, in virtual time.
fn comes_again(path: &Path, network: Live, outcomes: &[Outcome]) {
    let frames = network.finish().unwrap().frames;
    let recording = Recording::read(path).unwrap_or_else(|error| panic!("{error}"));
    let scenario = Scenario::from_sources(&recording.header().sources).unwrap();
    let again = replay(&recording, &scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
    let again_outcomes: Vec<Outcome> = again.records.iter().map(|record| record.outcome).collect();
    assert_eq!((again.frames, &*again_outcomes), (frames, outcomes));
}

/// Takes events until the network ends: why it ended, and the outcome of each handshake.
fn end(network: &Live) -> (EndReason, Vec<Outcome>) {
    let (mut reason, mut outcomes) = (None, Vec::new());
    wait("the end", || {
        match network.next_event(Duration::ZERO) {
            Some(Event::Closed { record, .. }) => outcomes.push(record.outcome),
            Some(Event::Ended { reason: why, .. }) => reason = Some(why),
            _ => {}
        }
        reason.is_some()
    });
    (reason.unwrap(), outcomes)
}

/// The warnings of the network so far. Other events are taken too.
fn warnings(network: &Live) -> Vec<String> {
    let events = std::iter::from_fn(|| network.next_event(Duration::from_millis(100)));
    events.filter_map(|event| if let Event::Warning { message, .. } = event { Some(message) } else { None }).collect()
}

/// A UDP socket of the namespace of the calling thread, that waits for twenty seconds.
fn udp(address: Ipv6Addr) -> UdpSocket {
    let socket = UdpSocket::bind((address, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Waits until something is true, twenty seconds at most: a busy computer is slow.
fn wait(what: &str, mut is_true: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed().as_secs() < 20, "{what} does not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}
