//! Programs at both ends, by sockets.

use super::peers::{loopback, octets};
use super::{ONE_HOP, setup, start, stop, wait_for};
use slowhand_live::{Event, Proxy, Setup, Transport, Ways};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

fn proxy(transport: Transport, server: SocketAddr) -> Ways {
    Ways::Proxies(vec![Proxy { transport, listen: loopback(), server }])
}

/// A server that answers each datagram with the same.
fn echo_datagrams() -> SocketAddr {
    let socket = UdpSocket::bind(loopback()).unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..length], from).unwrap();
        }
    });
    address
}

/// A server that answers each stream with the same, to its end.
fn echo_streams() -> SocketAddr {
    let listener = TcpListener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let (mut reader, mut writer) = (stream.as_ref().unwrap(), stream.as_ref().unwrap());
                std::io::copy(&mut reader, &mut writer).unwrap();
            });
        }
    });
    address
}

#[test]
fn datagrams_cross_the_network_and_come_back() {
    let live = start(ONE_HOP, setup(proxy(Transport::Udp, echo_datagrams())));
    let address = live.addresses()[0].listen;
    let client = UdpSocket::bind(loopback()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let began = std::time::Instant::now();
    for length in [1, 60, 500, 1200] {
        client.send_to(&octets(length), address).unwrap();
        let mut buffer = [0; 2000];
        let (received, from) = client.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..received], from), (&octets(length)[..], address));
    }
    let node = wait_for(&live, |event| match event {
        Event::Opened { node, client: address, .. } => {
            assert_eq!(*address, client.local_addr().ok());
            Some(*node)
        }
        _ => None,
    });
    assert_eq!(node, 1);
    let (records, report) = stop(live);
    assert_eq!(records.len(), 1);
    assert_eq!((report.datagrams.sent, report.datagrams.delivered), (8, 8));
    // 1, 1, 6 and 14 frames a way at least, one of them in a slotframe of 30 ms.
    assert!(began.elapsed() > Duration::from_millis(20 * 30), "{:?}", began.elapsed());
    assert!(report.frames > 40, "{report:?}");
}

/// An alert that closes a session of DTLS 1.2 takes longer than a session that is closed lingers. Its server answers all the
/// same.
#[test]
fn a_server_may_answer_the_end_of_a_session() {
    let text = ONE_HOP.replace("slot_ms = 10, slotframe = 3,", "slot_ms = 10, slotframe = 601,");
    let server = UdpSocket::bind(loopback()).unwrap();
    let live = start(&text, Setup { speed: 2.0, ..setup(proxy(Transport::Udp, server.local_addr().unwrap())) });
    let client = UdpSocket::bind(loopback()).unwrap();
    for socket in [&client, &server] {
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    }
    client.connect(live.addresses()[0].listen).unwrap();
    let mut buffer = [0; 2000];
    let mut client_says = |datagram: &[u8]| {
        client.send(datagram).unwrap();
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], datagram);
        from
    };
    let [hello, verify, finished, alert] =
        [record(22, 0, &HELLO), record(22, 0, &VERIFY), record(22, 1, &[0; 32]), record(21, 1, &[0; 18])];
    let mut answer = [0; 2000];
    let client_of = client_says(&hello);
    server.send_to(&verify, client_of).unwrap();
    client.recv(&mut answer).unwrap();
    client_says(&finished);
    server.send_to(&finished, client_of).unwrap();
    client.recv(&mut answer).unwrap();
    client_says(&alert);
    server.send_to(&alert, client_of).unwrap();
    let length = client.recv(&mut answer).unwrap();
    assert_eq!(answer[..length], alert);
}

/// A record of DTLS 1.2 (RFC 6347 section 4.1).
fn record(content_type: u8, epoch: u8, fragment: &[u8]) -> Vec<u8> {
    let header = [content_type, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 1, 0, fragment.len() as u8];
    [&header, fragment].concat()
}

/// The header of a handshake message (RFC 6347 section 4.2.2) without a body: a ClientHello, and a HelloVerifyRequest.
const HELLO: [u8; 12] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const VERIFY: [u8; 12] = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn streams_cross_the_network_to_their_ends() {
    let text = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    // In a queue of the usual length the first window of Linux does not find room, and what is left of its packets blocks
    // the reassembly buffers for a minute.
    let text = text.replace("slotframe = 3,", "slotframe = 3, queue = 200,");
    let live = start(&text, setup(proxy(Transport::Tcp, echo_streams())));
    let mut client = TcpStream::connect(live.addresses()[0].listen).unwrap();
    client.write_all(&octets(5000)).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    assert!(received == octets(5000));
    wait_for(&live, |event| matches!(event, Event::Closed { .. }).then_some(()));
    let (_, report) = stop(live);
    assert_eq!((report.sessions.open, report.datagrams.waiting), (0, 0));
}

/// Connections stay, however idle, and others wait for a place.
#[test]
fn an_idle_connection_gives_way_to_nobody() {
    let text = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    let live = start(&text, Setup { speed: 20.0, ..setup(proxy(Transport::Tcp, echo_streams())) });
    let address = live.addresses()[0].listen;
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    };
    let mut connections: Vec<TcpStream> = (0..8).map(|_| connect()).collect();
    connections.iter_mut().for_each(echo);
    let mut ninth = connect();
    ninth.write_all(b"9").unwrap();
    std::thread::sleep(Duration::from_millis(500)); // ten seconds of the network
    connections.iter_mut().for_each(echo);
    drop(connections.pop());
    let mut answer = [0; 1];
    ninth.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"9");
    let (_, report) = stop(live);
    assert_eq!(report.sessions.open, 0);
}

fn echo(stream: &mut TcpStream) {
    stream.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
}

/// Who is reset does not take what it has for the whole.
#[test]
fn a_reset_crosses_the_network_as_a_reset() {
    let text = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    let listener = TcpListener::bind(loopback()).unwrap();
    let server = listener.local_addr().unwrap();
    let (has_read, was_read) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        (&stream).write_all(b"half").unwrap();
        was_read.recv().unwrap();
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    let live = start(&text, setup(proxy(Transport::Tcp, server)));
    let mut client = TcpStream::connect(live.addresses()[0].listen).unwrap();
    let mut received = [0; 4];
    client.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"half");
    has_read.send(()).unwrap();
    assert_eq!(client.read(&mut received).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

/// Octets of a stream that closes at once, over links that lose frames.
#[test]
fn nothing_is_cut_off_at_the_end_of_a_stream() {
    let text = r#"
        network = { topology = { kind = "line", hops = 3 }, link_pdr = 0.7 }
        mac = { kind = "tsch", slot_ms = 10, slotframe = 7, cells = { shared = 1, up = 1, down = 1 }, queue = 100 }
        client = { device = "nrf52840" }
        session = { stack = "mbedtls", protocol = "tls1.2", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
        transport = { client = { mss = 300 } }
    "#;
    let live = start(text, Setup { speed: 50.0, ..setup(proxy(Transport::Tcp, echo_streams())) });
    let address = live.addresses()[0].listen;
    std::thread::scope(|scope| {
        for length in [1, 2_000, 4_000] {
            scope.spawn(move || {
                let mut client = TcpStream::connect(address).unwrap();
                client.write_all(&octets(length)).unwrap();
                client.shutdown(std::net::Shutdown::Write).unwrap();
                let mut received = Vec::new();
                client.read_to_end(&mut received).unwrap();
                assert!(received == octets(length), "{length} octets");
            });
        }
    });
}

/// The border router splits the connection of two programs, as that of emulated ends.
#[test]
fn the_proxy_of_the_border_router_serves_programs() {
    let text = format!(
        "{}gateway = {{ tcp_proxy = true }}\n",
        ONE_HOP
            .replace("session = {", "session = { protocol = \"tls1.2\",")
            .replace("slotframe = 3,", "slotframe = 3, queue = 200,")
    );
    let live = start(&text, setup(proxy(Transport::Tcp, echo_streams())));
    let mut client = TcpStream::connect(live.addresses()[0].listen).unwrap();
    client.write_all(&octets(2000)).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    assert!(received == octets(2000));
    let split = |event: &Event| match event {
        Event::Closed { record, .. } => Some(record.datagrams),
        _ => None,
    };
    // The two ends sent some; what the proxy sent in their names is not among them, but crossed the air too.
    let sent = wait_for(&live, split);
    let (_, report) = stop(live);
    assert!(report.datagrams.sent > sent, "{sent} of {report:?}");
}
