//! A stack in Rust to start from: a toy protocol with a pre-shared key. It protects nothing: data are not encrypted, and a tag has 64
//! bits. docs/own-stack.md explains it. It is the protocol of `slowhand/toy.c`, and each is the other's peer.
//!
//! ```text
//!   client                           server
//!   HELLO, random C         -->
//!                           <--      CHALLENGE, random S, tag
//!   PROOF, tag              -->
//!                           <--      DONE, tag
//!   DATA, number, tag, octets, and CLOSE in both directions
//! ```
//!
//! The client repeats its last message until it is answered. A tag is SipHash-2-4 (Aumasson and Bernstein 2012) of the type of the
//! message, both random numbers, the number of the message and its octets.

mod siphash;

use std::ffi::CStr;
use std::time::Duration;

use slowhand_stack::{
    Capabilities, CredentialName, Failure, Options, Progress, Protocol, ProtocolName, Stack, State, Timer, host,
};

const KEY: usize = 16;
const RANDOM: usize = 16;
const TAG: usize = 8;
/// The type of a message, its number and its tag.
const HEAD: usize = 1 + 4 + TAG;
/// The most octets of data in a message.
const MOST: usize = 1200;
const RETRANSMISSIONS: u32 = 7;

const HELLO: u8 = 1;
const CHALLENGE: u8 = 2;
const PROOF: u8 = 3;
const DONE: u8 = 4;
const DATA: u8 = 5;
const CLOSE: u8 = 6;

/// TLS_PSK_WITH_AES_128_CCM_8: the toy stands in the place of DTLS 1.2 with this suite.
const SUITE: u16 = 0xC0A8;

slowhand_stack::export!(Toy);

struct Toy {
    is_server: bool,
    state: State,
    mtu: usize,
    key: [u8; KEY],
    /// The client's, then the server's.
    random: [u8; 2 * RANDOM],
    /// The client's last message.
    flight: Vec<u8>,
    first: Duration,
    timeout: Duration,
    deadline: Option<Duration>,
    repeated: u32,
    /// Numbers of the last message with data, from 1.
    sent: u32,
    received: u32,
}

impl Toy {
    /// The tag of a message. A table of a device has no SipHash: it counts as one compression of SHA-256.
    fn tag(&self, kind: u8, number: u32, data: &[u8]) -> [u8; TAG] {
        let octets = [&[kind], &number.to_le_bytes()[..], &self.random, data].concat();
        host::sha256(1);
        siphash::siphash(&self.key, &octets).to_le_bytes()
    }

    /// Sends a message: its type, a number, its tag and its octets. A client keeps it and starts its timer.
    fn send(&mut self, kind: u8, number: u32, data: &[u8]) {
        // With the HELLO there is no random number of the server yet.
        let tag = if kind == HELLO { [0; TAG] } else { self.tag(kind, number, data) };
        let message = [&[kind], &number.to_le_bytes()[..], &tag, data].concat();
        host::transmit(&message);
        if kind == HELLO || kind == PROOF {
            self.flight = message;
            (self.timeout, self.repeated) = (self.first, 0);
            self.deadline = Some(host::now() + self.timeout);
        }
    }

    fn establish(&mut self) {
        self.state = State::Established;
        self.deadline = None;
        host::verified();
    }

    fn progress(&self) -> Progress {
        Progress { state: self.state.clone(), deadline: self.deadline }
    }
}

impl Stack for Toy {
    const CAPABILITIES: Capabilities = Capabilities {
        protocols: &[Protocol::new(ProtocolName::Dtls12)],
        credentials: &[(CredentialName::Psk, (HEAD + RANDOM) as u16)],
        suites: &[SUITE],
        fragments: true, // all messages fit into the smallest datagram
        identity_with_nul: true,
        longest_psk: KEY,
        remark: Some(c"a toy that protects nothing, in the place of DTLS"),
        ..Capabilities::new(c"MIT OR Apache-2.0", Timer::doubling(Duration::from_secs(1), 1 << RETRANSMISSIONS))
    };
    const VERSION: &'static CStr = c"1.0";

    fn create(options: &Options<'_>) -> Result<Self, Failure> {
        let (psk, _) = options.psk.ok_or_else(|| Failure::new(0, "no key"))?;
        let mut key = [0; KEY];
        let place = key.get_mut(..psk.len()).ok_or_else(|| Failure::new(0, "a key that is too long"))?;
        place.copy_from_slice(psk);
        Ok(Self {
            is_server: options.is_server,
            state: State::Handshaking,
            mtu: options.mtu.map_or(HEAD + MOST, |mtu| usize::from(mtu).min(HEAD + MOST)),
            key,
            random: [0; 2 * RANDOM],
            flight: Vec::new(),
            first: options.first_timeout,
            timeout: options.first_timeout,
            deadline: None,
            repeated: 0,
            sent: 0,
            received: 0,
        })
    }

    fn start(&mut self) -> Progress {
        let mut random = [0; RANDOM];
        host::random(&mut random);
        self.random[..RANDOM].copy_from_slice(&random);
        self.send(HELLO, 0, &random);
        self.progress()
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        let Some((&[kind, n0, n1, n2, n3, ref tag @ ..], data)) = input.split_first_chunk::<HEAD>() else {
            return self.progress();
        };
        let number = u32::from_le_bytes([n0, n1, n2, n3]);
        let waits = self.state == State::Handshaking;
        let is_awaited = !self.is_server && waits && self.flight.first() == Some(&HELLO);
        if kind == HELLO && self.is_server && waits && data.len() == RANDOM {
            // A repeated HELLO gets the same answer.
            if self.random[..RANDOM] != *data {
                self.random[..RANDOM].copy_from_slice(data);
                host::random(&mut self.random[RANDOM..]);
            }
            let random = self.random;
            self.send(CHALLENGE, 0, &random[RANDOM..]);
        } else if kind == CHALLENGE && is_awaited && data.len() == RANDOM {
            self.random[RANDOM..].copy_from_slice(data);
        }
        let is_true = self.tag(kind, number, data) == *tag;
        match kind {
            CHALLENGE if is_awaited && is_true => self.send(PROOF, 0, &[]),
            CHALLENGE if is_awaited => self.state = State::Failed(Failure::new(0, "the peer has another key")),
            PROOF if self.is_server && is_true => {
                if waits {
                    self.establish();
                }
                self.send(DONE, 0, &[]);
            }
            DONE if !self.is_server && waits && is_true => self.establish(),
            DATA | CLOSE if !waits && is_true && number > self.received => {
                self.received = number;
                match kind {
                    CLOSE => self.state = State::ClosedByPeer,
                    _ => host::deliver(data),
                }
            }
            _ => {}
        }
        self.progress()
    }

    fn handle_timeout(&mut self) -> Progress {
        if self.deadline.is_some_and(|deadline| host::now() >= deadline) {
            if self.repeated == RETRANSMISSIONS {
                self.state = State::TimedOut("the peer does not answer".to_owned());
            } else {
                self.repeated += 1;
                self.timeout *= 2;
                host::transmit(&self.flight);
                self.deadline = Some(host::now() + self.timeout);
            }
        }
        self.progress()
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.sent += 1;
        self.send(DATA, self.sent, data);
        self.progress()
    }

    fn close(&mut self) -> Progress {
        self.sent += 1;
        self.send(CLOSE, self.sent, &[]);
        self.progress()
    }

    fn max_data(&self) -> Option<usize> {
        Some(self.mtu - HEAD)
    }

    fn suite(&self) -> u16 {
        SUITE
    }
}
