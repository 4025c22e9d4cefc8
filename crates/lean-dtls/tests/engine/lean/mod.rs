//! The lean profile: every set of switches completes, its octets are those of the document, and nothing that is forged,
//! altered or left out is accepted.

mod attacks;
mod losses;
mod octets;
mod policy;
mod sets;

use lean_dtls::{Admission, Config, Credentials, Lean, Psk, RustCrypto, Server, Status, Timeouts};

use crate::network::At as _;
use crate::world::{PEER, TestClient, TestServer, random, run};

/// A key that a server knows by identity and, if it is `is_by_address`, by the address [`PEER`].
#[derive(Clone, Copy)]
pub struct Known {
    pub psk: Psk<'static>,
    pub is_by_address: bool,
    /// A server asks the client at [`PEER`] for no cookie.
    pub is_known: bool,
}

/// As long as the laboratory's.
pub const IDENTITY: &[u8] = b"client-identity";

pub const KNOWN: Known =
    Known { psk: Psk { identity: IDENTITY, key: b"0123456789abcdef" }, is_by_address: true, is_known: false };

impl Credentials for Known {
    fn psk(&self) -> Option<Psk<'_>> {
        Some(self.psk)
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        (identity == self.psk.identity).then_some(self.psk.key)
    }

    fn is_known(&self, address: &[u8]) -> bool {
        self.is_known && address == PEER
    }

    fn find_psk_by_address(&self, address: &[u8]) -> Option<&[u8]> {
        (self.is_by_address && address == PEER).then_some(self.psk.key)
    }
}

const SWITCHES: [Lean; 7] = [
    Lean::OMIT_MESSAGES,
    Lean::SHORT_NONCE,
    Lean::SERVER_FINISHED_FIRST,
    Lean::SHORT_HEADER,
    Lean::ACKNOWLEDGE,
    Lean::KNOWN_ADDRESS,
    Lean::SHORT_FINISHED,
];

/// The set of the switches whose bits are set.
pub fn set(bits: u8) -> Lean {
    let chosen = SWITCHES.into_iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
    chosen.fold(Lean::NONE, |set, (_, switch)| set.with(switch))
}

/// All sets.
pub fn sets() -> impl Iterator<Item = Lean> {
    (0..1 << SWITCHES.len()).map(set)
}

fn config(known: Known, mtu: u16, lean: Lean) -> Config<Known> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    Config::new(known, mtu, timeouts).unwrap().with_lean(lean)
}

pub fn client(seed: u64, mtu: u16, lean: Lean) -> TestClient<Known> {
    TestClient::new(config(KNOWN, mtu, lean), RustCrypto::new(random(seed)))
}

pub fn server(mtu: u16, lean: Lean) -> TestServer<Known> {
    Server::new(config(KNOWN, mtu, lean).with_admission(Admission::Refuse), RustCrypto::new(random(99)))
}

/// A client and a server with a connection.
pub fn established(lean: Lean) -> (TestClient<Known>, TestServer<Known>) {
    let (mut client, mut server) = (client(1, 256, lean), server(256, lean));
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)), "{lean:?}");
    (client, server)
}
