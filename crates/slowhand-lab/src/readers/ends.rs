//! The ends between which messages of CoAP go, with DTLS below them or without it, and the computers on which they run.

use std::collections::VecDeque;

use slowhand_coap::endpoint;
use slowhand_net::address::Host;
use slowhand_net::clock::Instant;
use slowhand_net::ip;
use slowhand_sessions::{ObjectDevice, Session};

use crate::ids::{ComputerId, EndId};

/// Who asks the authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member {
    Producer,
    Reader(usize),
}

/// The purpose of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A reader, towards the producer or the proxy.
    Reader(usize),
    /// The proxy, towards a reader.
    Proxy,
    /// The proxy, towards the producer.
    Fetch,
    /// The producer, towards this reader or the proxy.
    Producer(Option<usize>),
    /// A member, towards the authorization server.
    Member(Member),
    /// The authorization server, towards a member.
    Authority(Member),
}

/// The progress of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is not established. An end without a session is open from the beginning.
    New,
    Open,
    Failed,
}

/// One end of a path.
pub(super) struct End {
    pub(super) part: Part,
    pub(super) host: Host,
    pub(super) computer: ComputerId,
    /// Its own address, and that of the other end.
    pub(super) addresses: [ip::Endpoint; 2],
    /// The session below CoAP.
    pub(super) session: Option<Box<dyn Session>>,
    pub(super) coap: endpoint::Endpoint,
    pub(super) state: State,
    /// True if a request of it waits for its response.
    pub(super) is_asking: bool,
    /// When its timer in the queue is due.
    pub(super) timer: Option<Instant>,
}

impl End {
    /// True if what it sends is no request for the value and no value.
    pub(super) fn is_of_setup(&self) -> bool {
        matches!(self.part, Part::Member(_) | Part::Authority(_))
    }

    /// When it has to do something.
    pub(super) fn deadline(&self) -> Option<std::time::Duration> {
        let of_session = self.session.as_ref().and_then(|session| session.deadline());
        let of_coap = self.coap.deadline().filter(|_| self.state == State::Open);
        of_session.into_iter().chain(of_coap).min()
    }
}

/// The computer of a host, which does one thing at a time.
pub(super) struct Computer {
    pub(super) busy_until: Instant,
    /// Datagrams that wait, and their ends.
    pub(super) waiting: VecDeque<(EndId, Vec<u8>)>,
    /// The device that computes objects.
    pub(super) objects: ObjectDevice,
    pub(super) computed: std::time::Duration,
    /// The part of that in which a TPM computed.
    pub(super) tpm: std::time::Duration,
}

impl Computer {
    pub(super) fn new(objects: ObjectDevice) -> Self {
        let none = std::time::Duration::ZERO;
        Self { busy_until: Instant::ZERO, waiting: VecDeque::new(), objects, computed: none, tpm: none }
    }
}
