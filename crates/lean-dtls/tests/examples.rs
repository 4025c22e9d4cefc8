//! The examples, run over real sockets of this computer.

#[path = "../examples/echo/mod.rs"]
mod echo;
#[path = "../examples/echo/host.rs"]
mod host;
#[path = "../examples/nal/mod.rs"]
mod nal;
#[path = "../examples/nal/host.rs"]
mod nal_host;

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use embedded_hal_async::delay::DelayNs;
use embedded_nal_async::ConnectedUdp;
use lean_dtls::{Config, Psk, Status, Timeouts};

const MESSAGE: &[u8] = b"22.5 C";

/// An echo server, which runs until this process ends. Its address.
fn server() -> SocketAddr {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut network = host::Host::new(&address.to_string()).unwrap();
    thread::spawn(move || echo::serve::<{ host::BUFFER }, _>(&mut network, host::config()));
    address
}

#[test]
fn the_echo_client_gets_its_answer() {
    let server = server();
    let mut network = host::Host::new("0.0.0.0:0").unwrap();
    let mut answers = Vec::new();
    let mut keep = |data: &[u8]| answers.push(data.to_vec());
    let ended = echo::client::<{ host::BUFFER }, _>(&mut network, host::config(), server.into(), MESSAGE, &mut keep);
    assert_eq!((ended, answers), (Status::Closing, vec![MESSAGE.to_vec()]));
}

fn config() -> Config<[Psk<'static>; 1]> {
    let keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
    // Short, because some datagrams get lost here.
    Config::new(keys, nal::MTU as u16, Timeouts { initial_ms: 100, ..Timeouts::DEFAULT }).unwrap()
}

/// A socket that loses the datagram with this number, of those in both directions.
struct Lossy {
    socket: nal_host::Socket,
    lost: usize,
    count: usize,
}

impl Lossy {
    fn is_lost(&mut self) -> bool {
        self.count += 1;
        self.count - 1 == self.lost
    }
}

impl ConnectedUdp for Lossy {
    type Error = Infallible;

    async fn send(&mut self, data: &[u8]) -> Result<(), Infallible> {
        if self.is_lost() { Ok(()) } else { self.socket.send(data).await }
    }

    async fn receive_into(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        loop {
            let length = self.socket.receive_into(buffer).await?;
            if !self.is_lost() {
                return Ok(length);
            }
        }
    }
}

/// Eight datagrams: two ClientHellos, HelloVerifyRequest, ServerHello, the Finished of each end, the message, and its answer.
#[test]
fn the_asynchronous_client_gets_its_answer_whatever_is_lost() {
    let server = server();
    for lost in 0..9 {
        let mut socket = Lossy { socket: nal_host::Socket::connect(server).unwrap(), lost, count: 0 };
        let (mut computer, mut answers) = (nal_host::Computer::new(), Vec::new());
        let mut keep = |data: &[u8]| answers.push(data.to_vec());
        let client = nal::client::<512, _, _>(&mut socket, &mut computer, config(), MESSAGE, &mut keep);
        let Ok(ended) = nal_host::block_on(client);
        assert_eq!((ended, &answers[..]), (Status::Closing, &[MESSAGE.to_vec()][..]), "datagram {lost}");
        assert!(socket.count > 8);
    }
}

/// The time of a device in milliseconds, which changes between two polls only, and the end of its last wait.
#[derive(Default)]
struct Time {
    now: Cell<u64>,
    end: Cell<u64>,
}

impl Time {
    fn has_come(&self) -> Poll<()> {
        if self.now.get() < self.end.get() { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// A socket that has a datagram only when the device's wait is over: both come at once.
struct Late<'a> {
    socket: UdpSocket,
    time: &'a Time,
    sent: usize,
}

impl ConnectedUdp for Late<'_> {
    type Error = Infallible;

    async fn send(&mut self, data: &[u8]) -> Result<(), Infallible> {
        self.sent += 1;
        self.socket.send(data).unwrap();
        Ok(())
    }

    async fn receive_into(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|_| self.time.has_come()).await;
        Ok(self.socket.recv(buffer).unwrap())
    }
}

struct Stepping<'a>(&'a Time);

impl DelayNs for Stepping<'_> {
    async fn delay_ns(&mut self, ns: u32) {
        self.0.end.set(self.0.now.get() + u64::from(ns / 1_000_000));
        poll_fn(|_| self.0.has_come()).await;
    }
}

impl nal::Device for Stepping<'_> {
    fn now(&self) -> lean_dtls::Instant {
        lean_dtls::Instant::from_millis(self.0.now.get())
    }

    fn random(octets: &mut [u8]) {
        nal_host::Computer::random(octets);
    }
}

/// A datagram that comes together with the deadline is taken: no flight is sent twice.
#[test]
fn a_datagram_that_comes_with_the_deadline_wins() {
    let time = Time::default();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.connect(server()).unwrap();
    let mut socket = Late { socket, time: &time, sent: 0 };
    let mut answers = Vec::new();
    let mut keep = |data: &[u8]| answers.push(data.to_vec());
    let mut device = Stepping(&time);
    let ended = {
        let mut client = pin!(nal::client::<512, _, _>(&mut socket, &mut device, config(), MESSAGE, &mut keep));
        loop {
            if let Poll::Ready(ended) = client.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                break ended;
            }
            time.now.set(time.now.get() + 1);
        }
    };
    assert_eq!((ended, &answers[..]), (Ok(Status::Closing), &[MESSAGE.to_vec()][..]));
    // Two ClientHellos, the flight with Finished, the message, the close.
    assert_eq!(socket.sent, 5);
}
