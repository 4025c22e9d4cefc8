//! The echo over a radio that is only a register: code that no compiler can leave out, and as little as possible of it. The
//! size of the images is what counts.

use core::hint::black_box;
use core::marker::PhantomData;

use crate::echo::{self, Instant, MTU, Network};
use crate::settings::{BUFFER, End, config};

/// The register of a board's radio, which takes and gives octets.
pub trait Register {
    /// Takes an octet out of it.
    fn read() -> u8;

    /// Puts an octet into it.
    fn write(octet: u8);
}

/// A radio with such a register. It is the clock and the source of random numbers, too.
pub struct Radio<R>(PhantomData<R>);

impl<R> Default for Radio<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> Radio<R> {
    /// The radio.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R: Register> Network for Radio<R> {
    type Address = [u8; 2];

    fn now(&self) -> Instant {
        Instant::from_millis(R::read().into())
    }

    fn random(octets: &mut [u8]) {
        octets.iter_mut().for_each(|octet| *octet = R::read());
    }

    fn send(&mut self, _: [u8; 2], datagram: &[u8]) {
        datagram.iter().for_each(|octet| R::write(*octet));
    }

    fn receive(&mut self, _: Option<Instant>, datagram: &mut [u8]) -> Option<([u8; 2], usize)> {
        let length = usize::from(R::read()).min(datagram.len());
        datagram.iter_mut().take(length).for_each(|octet| *octet = R::read());
        (length > 0).then_some(([R::read(), R::read()], length))
    }
}

/// A client.
pub fn client<R: Register>() {
    if let Some(config) = config(End::Client) {
        let deliver = &mut |data: &[u8]| _ = black_box(data);
        black_box(echo::client::<BUFFER, _>(&mut Radio::<R>::new(), config, [0, 1], b"22.5 C", deliver));
    }
}

/// A server.
pub fn server<R: Register>() {
    if let Some(config) = config(End::Server) {
        echo::serve::<BUFFER, _>(&mut Radio::<R>::new(), config);
    }
}

/// A client, and then a server.
pub fn both<R: Register>() {
    client::<R>();
    server::<R>();
}

/// An echo without security.
pub fn plain<R: Register>() -> ! {
    let (mut radio, mut datagram) = (Radio::<R>::new(), [0; MTU]);
    loop {
        if let Some((client, length)) = radio.receive(None, &mut datagram) {
            radio.send(client, black_box(&datagram[..length]));
        }
    }
}
