//! A socket, a device and an executor of a computer with an operating system.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use embedded_hal_async::delay::DelayNs;
use embedded_nal_async::ConnectedUdp;

use crate::nal::Device;

/// A UDP socket of the standard library, which is connected.
pub struct Socket(UdpSocket);

impl Socket {
    /// A socket for datagrams to and from this server.
    pub fn connect(server: SocketAddr) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        socket.set_nonblocking(true)?;
        socket.connect(server)?;
        Ok(Self(socket))
    }
}

impl ConnectedUdp for Socket {
    type Error = Infallible;

    async fn send(&mut self, data: &[u8]) -> Result<(), Infallible> {
        // A datagram that is not sent is a datagram that is lost.
        let _ = self.0.send(data);
        Ok(())
    }

    async fn receive_into(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        // An error says that nobody was there for a datagram (ICMP). Anybody can say so.
        poll_fn(|_| self.0.recv(buffer).map_or(Poll::Pending, |length| Poll::Ready(Ok(length)))).await
    }
}

/// The clock of this computer.
pub struct Computer(Instant);

impl Computer {
    /// Its time begins now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl DelayNs for Computer {
    async fn delay_ns(&mut self, ns: u32) {
        let end = Instant::now() + Duration::from_nanos(ns.into());
        poll_fn(|_| if Instant::now() < end { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

impl Device for Computer {
    fn now(&self) -> lean_dtls::Instant {
        lean_dtls::Instant::from_millis(self.0.elapsed().as_millis() as u64)
    }

    fn random(octets: &mut [u8]) {
        use std::io::Read;
        let source = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(octets));
        source.expect("without random numbers nothing is secret");
    }
}

/// Runs a future. An executor of a device sleeps until an interrupt; this one asks again each millisecond.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
