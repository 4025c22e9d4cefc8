//! S3K (Raza et al. 2016): a pre-shared key of DTLS that neither end had before. A trust anchor has a key with each of them. The client asks
//! it for a key to the server; the server computes that key from its own key with the anchor and the identity that the client tells it. The
//! libraries know nothing of it.
//!
//! Of the paper the abstract could be read. *Assumed*: the exchange is one request of CoAP with OSCORE and its response; the identity is a
//! number that the anchor draws, in 16 hexadecimal digits; the key is the begin of HMAC-SHA-256 of the identity. The anchor stands where the
//! server stands, at the same address and port, and is so fast that it takes no time. The server knows the identity from the anchor beside it,
//! and computes the key when the first datagram of DTLS has come: a library takes its key before it reads the identity. It compares the
//! identity that the client sends later.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use slowhand_coap::message::is_coap;
use slowhand_coap::oscore::Crypto;
use zeroize::Zeroizing;

use crate::coap::{Coap, Protection, Security};
use crate::config::{Credential, Family, Negotiated, PSK, Role, SessionConfig};
use crate::device::{self, Clock, Device, hex};
use crate::library::LibrarySession;
use crate::messages::{CoapEnd, Counting};
use crate::operation::{Performed, Processor, Weightless};
use crate::session::{Failure, Received, Resumable, Session, Status, Transmit, WriteError};

/// The key between client and anchor: 16 octets. *Assumed*: any key.
const CLIENT_KEY: [u8; KEY] = *b"client to anchor";

/// Octets of a key.
const KEY: usize = 16;

/// By what the client names the server. *Assumed*.
const SERVER: &[u8] = b"server";

/// Octets of the number that is the identity.
const NUMBER: usize = 8;

/// Makes the session of DTLS once its key is known.
type Make = Box<dyn Fn(&SessionConfig, Clock) -> Result<Box<dyn Session>, Failure> + Send>;

/// One end of a session of DTLS whose key comes from a trust anchor.
pub(crate) struct Anchored {
    config: SessionConfig,
    make: Make,
    began: Duration,
    /// The client's session with the anchor, or that of the anchor, at the server.
    with_anchor: Box<dyn Session>,
    /// The session of DTLS, once its key is known.
    dtls: Option<Box<dyn Session>>,
    /// The device that computes a key at the server, and draws numbers at the anchor.
    device: Device,
    /// The identity that the anchor has told the client.
    identity: Option<String>,
    performed: VecDeque<Performed>,
    failure: Option<Failure>,
}

impl Anchored {
    /// An end with this configuration, which `make` builds without an anchor.
    ///
    /// # Errors
    /// OSCORE refuses a key.
    pub(crate) fn new(
        config: &SessionConfig,
        coap: &Coap,
        processor: Arc<dyn Processor>,
        clock: Clock,
        make: Make,
    ) -> Result<Self, Failure> {
        let config = SessionConfig { trust_anchor: None, ..config.clone() };
        // The session of DTLS draws from the other seed.
        let seed = config.seed.map(|octet| !octet);
        let own = Coap { security: Security::Oscore, ..coap.clone() };
        let credential = Credential::Psk { identity: String::new(), key: Arc::new(CLIENT_KEY) };
        let of_anchor = SessionConfig { family: Family::Coap(own.clone()), credential, seed, ..config.clone() };
        let by: Arc<dyn Processor> = match config.role {
            Role::Client => Arc::clone(&processor),
            Role::Server => Arc::new(Weightless),
        };
        let set_up = || CoapEnd::new(&of_anchor, &own, Protection::Oscore);
        let with_anchor = LibrarySession::new(&of_anchor, by, clock, set_up)?;
        let mut device = Device::new(None, seed.map(|octet| octet ^ 0x55), clock, config.arithmetic);
        device.begin(processor);
        Ok(Self {
            config,
            make,
            began: clock.began,
            with_anchor: Box::new(with_anchor),
            dtls: None,
            device,
            identity: None,
            performed: VecDeque::new(),
            failure: None,
        })
    }

    /// Takes in what came from the anchor, or from a client to it.
    fn take(&mut self) {
        while let Some(Received { at, bytes }) = self.with_anchor.poll_received() {
            let octets = Zeroizing::new(bytes.to_vec());
            match self.config.role {
                Role::Client => self.open(at, &octets),
                Role::Server => self.issue(at, &octets),
            }
        }
    }

    /// The anchor answers with an identity and its key.
    fn issue(&mut self, at: Duration, asked: &[u8]) {
        let answer = Zeroizing::new(match asked {
            SERVER if self.dtls.is_none() => {
                let identity = hex(&self.device.run(device::random::<NUMBER>));
                let key = derived(&self.key(), &identity, &mut slowhand_coap::oscore::RustCrypto);
                let answer = [identity.as_bytes(), &key[..]].concat();
                self.identity = Some(identity);
                answer
            }
            _ => Vec::new(),
        });
        _ = self.with_anchor.write(at, &answer);
    }

    /// The client has its key.
    fn open(&mut self, at: Duration, answer: &[u8]) {
        match read(answer) {
            Some((identity, key)) if self.dtls.is_none() => {
                self.build(at, identity, key);
                if let Some(dtls) = &mut self.dtls {
                    dtls.start(at);
                }
            }
            Some(_) => {}
            None => self.fail(Failure::library(0, "the trust anchor has sent no key")),
        }
    }

    /// The server computes the key of the identity that was issued, when a client opens a session.
    fn derive(&mut self, now: Duration) {
        let Some(identity) = self.identity.clone() else { return };
        self.device.advance_clock(now);
        let with_anchor = self.key();
        let key = self.device.run(|| derived(&with_anchor, &identity, &mut Counting));
        self.device.drain_operations(&mut |performed| self.performed.push_back(performed));
        let at = self.device.clock();
        self.build(at, &identity, &key);
    }

    /// The key between server and anchor.
    fn key(&self) -> Arc<[u8]> {
        match &self.config.credential {
            Credential::Psk { key, .. } => Arc::clone(key),
            _ => Arc::new(PSK),
        }
    }

    fn build(&mut self, at: Duration, identity: &str, key: &[u8; KEY]) {
        let credential = Credential::Psk { identity: identity.to_owned(), key: Arc::from(&key[..]) };
        let config = SessionConfig { credential, ..self.config.clone() };
        match (self.make)(&config, Clock { began: self.began, now: at }) {
            Ok(dtls) => self.dtls = Some(dtls),
            Err(failure) => self.fail(failure),
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }
}

/// The key of an identity: one HMAC, with the key between server and anchor.
fn derived(with_anchor: &[u8], identity: &str, crypto: &mut impl Crypto) -> Zeroizing<[u8; KEY]> {
    let (mut key, digest) =
        (Zeroizing::new([0; KEY]), Zeroizing::new(crypto.extract(with_anchor, identity.as_bytes())));
    key.copy_from_slice(&digest[..KEY]);
    key
}

/// An identity and its key in the anchor's answer.
fn read(answer: &[u8]) -> Option<(&str, &[u8; KEY])> {
    let (identity, key) = answer.split_last_chunk()?;
    let identity = str::from_utf8(identity).ok()?;
    let is_number = identity.len() == 2 * NUMBER && identity.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then_some((identity, key))
}

impl Session for Anchored {
    fn start(&mut self, now: Duration) {
        self.with_anchor.start(now);
        if self.config.role == Role::Client && self.dtls.is_none() && self.failure.is_none() {
            // A client that has started is established: there is no handshake with the anchor.
            if let Err(error) = self.with_anchor.write(now, SERVER) {
                self.fail(Failure::library(0, error.to_string()));
            }
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        if is_coap(input) {
            self.with_anchor.handle_input(now, input);
            return self.take();
        }
        if self.dtls.is_none() && self.config.role == Role::Server && self.failure.is_none() {
            self.derive(now);
        }
        let at = now.max(self.device.clock());
        if let Some(dtls) = &mut self.dtls {
            dtls.handle_input(at, input);
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.with_anchor.deadline().is_some_and(|deadline| deadline <= now) {
            self.with_anchor.handle_timeout(now);
            self.take();
        }
        if let Some(dtls) = &mut self.dtls {
            dtls.handle_timeout(now);
        }
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        match &mut self.dtls {
            Some(dtls) => dtls.write(now, data),
            None => Err(WriteError::NotEstablished),
        }
    }

    fn close(&mut self, now: Duration) {
        if let Some(dtls) = &mut self.dtls {
            dtls.close(now);
        }
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        match self.with_anchor.poll_transmit() {
            None => self.dtls.as_mut()?.poll_transmit(),
            transmit => transmit,
        }
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        self.dtls.as_mut()?.poll_received()
    }

    fn deadline(&self) -> Option<Duration> {
        let of_dtls = self.dtls.as_ref().and_then(|dtls| dtls.deadline());
        [self.with_anchor.deadline(), of_dtls].into_iter().flatten().min().filter(|_| self.failure.is_none())
    }

    fn busy_until(&self) -> Duration {
        let of_dtls = self.dtls.as_ref().map_or(Duration::ZERO, |dtls| dtls.busy_until());
        of_dtls.max(self.with_anchor.busy_until()).max(self.device.clock())
    }

    fn status(&self) -> Status {
        match (&self.failure, &self.dtls, self.with_anchor.status()) {
            (Some(failure), ..) => Status::Failed(failure.clone()),
            (None, Some(dtls), _) => dtls.status(),
            (None, None, Status::Failed(failure)) if self.config.role == Role::Client => Status::Failed(failure),
            (None, None, _) => Status::Handshaking,
        }
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        match self.config.role {
            Role::Client => self.with_anchor.drain_operations(receive),
            // The anchor is another computer.
            Role::Server => self.with_anchor.drain_operations(&mut |_| ()),
        }
        self.performed.drain(..).for_each(&mut *receive);
        if let Some(dtls) = &mut self.dtls {
            dtls.drain_operations(receive);
        }
    }

    fn key_log(&self) -> Vec<String> {
        self.dtls.as_ref().map_or_else(Vec::new, |dtls| dtls.key_log())
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.dtls.as_mut()?.resumable()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        self.dtls.as_ref()?.negotiated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_and_a_key() {
        let key = [7; KEY];
        let with = |identity: &str| [identity.as_bytes(), &key].concat();
        assert_eq!(read(&with("0123456789abcdef")), Some(("0123456789abcdef", &key)));
        for identity in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0"] {
            assert_eq!(read(&with(identity)), None, "{identity}");
        }
        assert_eq!(read(&key[1..]), None);
    }

    /// Python: `hmac.new(b"slowhand-testkey", b"0123456789abcdef", "sha256").hexdigest()[:32]`.
    #[test]
    fn a_key_is_that_of_an_independent_computation() {
        let key = derived(&PSK, "0123456789abcdef", &mut slowhand_coap::oscore::RustCrypto);
        assert_eq!(key.map(|octet| format!("{octet:02x}")).concat(), "99576076ec24ce21908e451499b04ee3");
    }
}
