//! The asynchronous client over a radio that is only a register.

#![no_std]
#![no_main]

use core::convert::Infallible;
use core::future::poll_fn;
use core::hint::black_box;
use core::task::Poll;

use embassy_futures::block_on;
use embedded_hal_async::delay::DelayNs;
use embedded_nal_async::ConnectedUdp;
use firmware_cortex_m3::Mps2;
use firmware_session::echo::{Instant, Network};
use firmware_session::nal::{Device, client};
use firmware_session::settings::{BUFFER, End, config};

type Radio = firmware_session::Radio<Mps2>;

struct Socket(Radio);

impl ConnectedUdp for Socket {
    type Error = Infallible;

    async fn send(&mut self, data: &[u8]) -> Result<(), Infallible> {
        self.0.send([0, 1], data);
        Ok(())
    }

    async fn receive_into(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|_| self.0.receive(None, buffer).map_or(Poll::Pending, |(_, length)| Poll::Ready(Ok(length)))).await
    }
}

struct Clock(Radio);

impl DelayNs for Clock {
    async fn delay_ns(&mut self, ns: u32) {
        let end = self.now().as_millis() + u64::from(ns / 1_000_000);
        poll_fn(|_| if self.now().as_millis() < end { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

impl Device for Clock {
    fn now(&self) -> Instant {
        Network::now(&self.0)
    }

    fn random(octets: &mut [u8]) {
        <Radio as Network>::random(octets);
    }
}

#[unsafe(no_mangle)]
extern "C" fn main() {
    if let Some(config) = config(End::Client) {
        let (mut socket, mut clock) = (Socket(Radio::new()), Clock(Radio::new()));
        let mut deliver = |data: &[u8]| _ = black_box(data);
        let client = client::<BUFFER, _, _>(&mut socket, &mut clock, config, b"22.5 C", &mut deliver);
        let _ = black_box(block_on(client));
    }
}
