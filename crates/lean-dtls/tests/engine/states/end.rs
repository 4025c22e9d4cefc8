//! A client or a server with any credentials, always with the same random numbers.

use lean_dtls::{Client, Config, Credentials, Instant, Server, Status};

use super::spy::{Spy, Window};
use crate::network::At as _;
use crate::world::{Address, PEER};

const NOW: Instant = Instant::from_millis(0);

/// Octets of the buffers: enough for chains of certificates.
const BUFFER: usize = 2048;

/// One end.
pub trait End {
    /// Begins, if it is a client.
    fn start(&mut self);

    /// Returns how often it has delivered application data.
    fn receive_counting(&mut self, datagram: &mut [u8]) -> usize;

    fn transmit(&mut self) -> Vec<Vec<u8>>;

    /// `None` for a server without a connection.
    fn status(&self) -> Option<Status>;

    fn close(&mut self);

    /// Sends application data.
    fn send(&mut self, data: &[u8]);

    #[cfg(feature = "dtls13")]
    fn update_keys(&mut self);

    fn receive(&mut self, datagram: &mut [u8]) {
        self.receive_counting(datagram);
    }
}

impl<K: Credentials> End for Client<K, Spy, BUFFER> {
    fn start(&mut self) {
        self.connect();
    }

    fn receive_counting(&mut self, datagram: &mut [u8]) -> usize {
        let mut delivered = 0;
        Client::receive(self, datagram, |_| delivered += 1);
        delivered
    }

    fn transmit(&mut self) -> Vec<Vec<u8>> {
        let mut output = [0; 3000];
        let mut sent = Vec::new();
        while let length @ 1.. = self.poll_transmit(NOW, &mut output) {
            sent.push(output[..length].to_vec());
        }
        sent
    }

    fn status(&self) -> Option<Status> {
        Some(Client::status(self))
    }

    fn close(&mut self) {
        Client::close(self);
    }

    fn send(&mut self, data: &[u8]) {
        Client::send(self, data, &mut [0; 100]).unwrap();
    }

    #[cfg(feature = "dtls13")]
    fn update_keys(&mut self) {
        Client::update_keys(self);
    }
}

impl<K: Credentials> End for Server<K, Spy, Address, 1, BUFFER> {
    fn start(&mut self) {}

    fn receive_counting(&mut self, datagram: &mut [u8]) -> usize {
        let mut delivered = 0;
        self.hear(PEER, datagram, |_| delivered += 1);
        delivered
    }

    fn transmit(&mut self) -> Vec<Vec<u8>> {
        let mut output = [0; 3000];
        let mut sent = Vec::new();
        while let Some((_, length)) = self.poll_transmit(NOW, &mut output) {
            sent.push(output[..length].to_vec());
        }
        sent
    }

    fn status(&self) -> Option<Status> {
        self.status_at(PEER)
    }

    fn close(&mut self) {
        self.close_at(PEER);
    }

    fn send(&mut self, data: &[u8]) {
        self.send_at(PEER, data, &mut [0; 100]).unwrap();
    }

    #[cfg(feature = "dtls13")]
    fn update_keys(&mut self) {
        self.update_keys_at(PEER);
    }
}

type Make = Box<dyn Fn(Spy) -> Box<dyn End>>;

/// Makes clients and servers that fit each other.
pub struct Pair {
    client: Make,
    server: Make,
}

impl Pair {
    /// Both with this configuration.
    pub fn new<K: Credentials + 'static>(config: impl Fn() -> Config<K> + Copy + 'static) -> Self {
        Self::of(config, config)
    }

    /// With a configuration each.
    pub fn of<K: Credentials + 'static, L: Credentials + 'static>(
        client: impl Fn() -> Config<K> + 'static,
        server: impl Fn() -> Config<L> + 'static,
    ) -> Self {
        Self {
            client: Box::new(move |crypto| Box::new(Client::<_, _, BUFFER>::new(client(), crypto))),
            server: Box::new(move |crypto| Box::new(Server::<_, _, Address, 1, BUFFER>::new(server(), crypto))),
        }
    }

    pub fn client(&self) -> (Box<dyn End>, Window) {
        let (crypto, window) = Spy::new(1);
        ((self.client)(crypto), window)
    }

    pub fn server(&self) -> (Box<dyn End>, Window) {
        let (crypto, window) = Spy::new(99);
        ((self.server)(crypto), window)
    }
}
