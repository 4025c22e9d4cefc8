//! QUIC (RFC 9000, RFC 9001), by quinn-proto with the TLS 1.3 of rustls.
//!
//! quinn-proto does no I/O, has no thread, and is told what time it is. Its random numbers, connection IDs and keys come from the
//! device, so a session is the same with the same seed. Datagrams have at most [`LEAST_MTU`] octets, or those of the session's
//! configuration: nothing probes for more.
//!
//! Each write of an application is a unidirectional stream of its own, which carries these octets and ends. So a message arrives
//! as a whole, is sent again if it is lost, and does not wait for others. It has at most [`MAX_BODY`] octets: a peer that sends more on
//! a stream is told to stop. A session without resumption has no 0-RTT, and neither
//! has one with it: data wait for the handshake.
//!
//! A server answers the first datagram without a Retry: it sends at most three times what has arrived, until the client has shown
//! that it receives at its address (RFC 9000 section 8.1). There is no idle timeout: as with DTLS, the owner of a session decides
//! how long it waits.

mod crypto;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent,
    Dir, Endpoint, EndpointConfig, Event, Incoming, ReadError, ServerConfig, StreamEvent, StreamId, TransportConfig,
    VarInt, WriteError,
};

use self::crypto::{Client, NoTokens, ResetKey, Server};
use super::config;
use crate::check::Checked;
use crate::coap::MAX_BODY;
use crate::config::{Negotiated, Protocol, Role};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::session::{Failure, FailureKind, Resumable};
use crate::tls::Suite;

/// The version of the protocol (RFC 9000 section 15).
const VERSION: u32 = 1;

/// The least limit of datagrams, in octets: what an Initial needs (RFC 9000 section 14.1).
pub(crate) const LEAST_MTU: u16 = 1200;

/// The probe timeout before a round trip is measured: that many times the initial round trip, which is 333 ms (RFC 9002 section
/// 6.2.2): the round trip and four times its deviation, which is half of it.
const FIRST_TIMEOUT_IN_ROUND_TRIPS: u32 = 3;

/// The first timeout of the library's default.
pub(crate) const FIRST_TIMEOUT: Duration = Duration::from_millis(333).saturating_mul(FIRST_TIMEOUT_IN_ROUND_TRIPS);

/// The factor by which the timeout becomes longer at most (`MAX_BACKOFF_EXPONENT` of quinn-proto).
pub(crate) const MAXIMUM_BACKOFF: u32 = 1 << 16;

/// Octets of the connection IDs of each end, the default of quinn-proto; a client's first guess of its server's has no fewer
/// (RFC 9000 section 7.2).
const CONNECTION_ID: usize = 8;

/// The only other end that there is. It is in no packet.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 1);

/// The code of an application that closes without an error: *assumed*, 0 as HTTP/0.9 and many others have it.
const NO_ERROR: VarInt = VarInt::from_u32(0);

/// The instant at which the clock of every device is zero. Only differences of instants matter.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> Instant {
    *EPOCH + device::clock()
}

/// One end of a session.
pub(crate) struct Quic {
    endpoint: Endpoint,
    /// The configuration that a client starts with. `None` for a server.
    client: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// True once the endpoint has forgotten the connection.
    is_drained: bool,
    state: State,
    /// Messages that wait for a stream, or for room in theirs.
    waiting: VecDeque<Message>,
    /// The parts of messages that have arrived.
    arriving: BTreeMap<StreamId, Vec<u8>>,
    /// True once the application has closed the session, and its peer has not been told yet.
    is_closing: bool,
    suite: Suite,
    /// The configuration, which keeps the session for resumption.
    resumable: Option<Resumable>,
}

struct Message {
    stream: Option<StreamId>,
    rest: Bytes,
}

impl Quic {
    /// A session of a checked configuration. It resumes `previous`.
    ///
    /// # Errors
    /// The library's own error if it refuses the configuration.
    pub(crate) fn new(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Self, Failure> {
        let transport = Arc::new(transport(checked));
        let (mut client, mut server) = (None, None);
        let resumable = match checked.config.role {
            Role::Client => {
                let tls = config::client(checked, previous).map_err(|error| config::failure(&error))?;
                let mut config = ClientConfig::new(Arc::new(Client(tls.clone())));
                config.transport_config(transport).initial_dst_cid_provider(Arc::new(connection_id));
                client = Some(config);
                Resumable::new(tls)
            }
            Role::Server => {
                let tls = config::server(checked, previous).map_err(|error| config::failure(&error))?;
                let mut config = ServerConfig::new(Arc::new(Server(tls.clone())), Arc::new(NoTokens));
                config.transport_config(transport);
                server = Some(Arc::new(config));
                Resumable::new(tls)
            }
        };
        let mut config = EndpointConfig::new(Arc::new(ResetKey::new()));
        // Without the extension of RFC 9287: packets keep the bit by which others know them.
        config.rng_seed(Some(device::random())).supported_versions(vec![VERSION]).grease_quic_bit(false);
        config.cid_generator(|| Box::new(OfTheDevice));
        if let Some(mtu) = checked.config.mtu {
            // The peer sends no more than what this end says that it takes.
            let limited = config.max_udp_payload_size(mtu);
            limited.map_err(|error| Failure::library(0, error.to_string()))?;
        }
        Ok(Self {
            endpoint: Endpoint::new(Arc::new(config), server, false, None),
            client,
            connection: None,
            is_drained: false,
            state: State::Handshaking,
            waiting: VecDeque::new(),
            arriving: BTreeMap::new(),
            is_closing: false,
            suite: checked.suite,
            resumable: checked.tls.resumption.map(|_| resumable),
        })
    }

    /// A datagram that belongs to no connection. The first one opens it, the others are of attempts that failed, or are copies
    /// from before.
    fn accept(&mut self, incoming: Incoming) {
        if self.connection.is_some() {
            return self.endpoint.ignore(incoming);
        }
        let mut answer = Vec::new();
        match self.endpoint.accept(incoming, now(), &mut answer, None) {
            Ok(connection) => self.connection = Some(connection),
            // The server waits for another client, as it did before.
            Err(error) => {
                if let Some(transmit) = error.response {
                    device::transmit(&answer[..transmit.size]);
                }
            }
        }
    }

    /// Does all that follows from a call: takes what has arrived, and sends.
    fn drive(&mut self) -> Progress {
        while self.step() {}
        let deadline = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        Progress { state: self.state.clone(), deadline: deadline.map(|at| at.saturating_duration_since(*EPOCH)) }
    }

    /// A part of that. Returns true if more may follow.
    fn step(&mut self) -> bool {
        let Some((handle, connection)) = &mut self.connection else { return false };
        let mut is_new = false;
        while let Some(event) = connection.poll_endpoint_events().filter(|_| !self.is_drained) {
            self.is_drained = event.is_drained();
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
            is_new = true;
        }
        while let Some(event) = connection.poll() {
            is_new = true;
            match event {
                Event::Connected => self.state = State::Established,
                Event::ConnectionLost { reason } => self.state = ended(reason, &self.state),
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    while let Some(stream) = connection.streams().accept(Dir::Uni) {
                        read(connection, stream, &mut self.arriving);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => read(connection, id, &mut self.arriving),
                _ => {}
            }
        }
        while self.waiting.front_mut().is_some_and(|message| write(connection, message)) {
            self.waiting.pop_front();
        }
        if self.is_closing && self.waiting.is_empty() && connection.streams().send_streams() == 0 {
            self.is_closing = false;
            connection.close(now(), NO_ERROR, Bytes::new());
        }
        let mut datagram = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now(), 1, &mut datagram) {
            device::transmit(&datagram[..transmit.size]);
            datagram.clear();
            is_new = true;
        }
        is_new
    }
}

fn transport(checked: &Checked<'_>) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_rtt(checked.first_timeout / FIRST_TIMEOUT_IN_ROUND_TRIPS)
        .initial_mtu(checked.config.mtu.unwrap_or(LEAST_MTU))
        .min_mtu(LEAST_MTU)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(MAX_BODY as u32))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        .enable_segmentation_offload(false);
    transport
}

/// The connection IDs of an end.
struct OfTheDevice;

impl ConnectionIdGenerator for OfTheDevice {
    fn generate_cid(&mut self) -> ConnectionId {
        connection_id()
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn connection_id() -> ConnectionId {
    ConnectionId::new(&device::random::<CONNECTION_ID>())
}

/// Writes as much of a message as there is room for. Returns true if all of it is written, or if the peer does not want it.
fn write(connection: &mut Connection, message: &mut Message) -> bool {
    let Some(id) = message.stream.or_else(|| connection.streams().open(Dir::Uni)) else { return false };
    message.stream = Some(id);
    let mut stream = connection.send_stream(id);
    while !message.rest.is_empty() {
        match stream.write(&message.rest) {
            Ok(octets) => drop(message.rest.split_to(octets)),
            Err(WriteError::Blocked) => return false,
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return true,
        }
    }
    // It fails if the peer does not want the rest.
    let _ = stream.finish();
    true
}

/// Reads what has arrived on a stream. Delivers the message if it is whole. What is longer than a message is not wanted.
fn read(connection: &mut Connection, id: StreamId, arriving: &mut BTreeMap<StreamId, Vec<u8>>) {
    let mut stream = connection.recv_stream(id);
    // It fails if the stream has ended.
    let Ok(mut chunks) = stream.read(true) else { return };
    let message = arriving.entry(id).or_default();
    let mut is_too_long = false;
    let is_over = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) if message.len() + chunk.bytes.len() > MAX_BODY => {
                is_too_long = true;
                break true;
            }
            Ok(Some(chunk)) => message.extend_from_slice(&chunk.bytes),
            Ok(None) => {
                device::deliver(message);
                break true;
            }
            Err(ReadError::Blocked) => break false,
            Err(ReadError::Reset(_)) => break true,
        }
    };
    // The datagrams that this asks for are sent below, whatever it says.
    let _ = chunks.finalize();
    if is_over {
        arriving.remove(&id);
    }
    if is_too_long {
        // It fails if the stream has ended.
        let _ = connection.recv_stream(id).stop(NO_ERROR);
    }
}

/// The state of a connection that is lost.
fn ended(reason: ConnectionError, state: &State) -> State {
    let failed = |kind| State::Failed(Failure { kind, reason: reason.to_string() });
    match &reason {
        ConnectionError::ApplicationClosed(close)
            if close.error_code == NO_ERROR && matches!(state, State::Established) =>
        {
            State::ClosedByPeer
        }
        ConnectionError::TimedOut => failed(FailureKind::TimedOut),
        ConnectionError::ConnectionClosed(close) => failed(match alert(close.error_code.into()) {
            Some(description) => FailureKind::AlertReceived { description },
            None => FailureKind::Library { code: 0 },
        }),
        _ => failed(FailureKind::Library { code: 0 }),
    }
}

/// The alert of TLS that a transport error stands for (RFC 9000 section 20.1, `CRYPTO_ERROR`).
fn alert(code: u64) -> Option<u8> {
    code.checked_sub(0x100).and_then(|alert| u8::try_from(alert).ok())
}

impl Library for Quic {
    fn start(&mut self) -> Progress {
        if let Some(config) = self.client.take() {
            // The name is not sent: see `Client`.
            match self.endpoint.connect(now(), config, PEER, "") {
                Ok(connection) => self.connection = Some(connection),
                Err(error) => self.state = State::Failed(Failure::library(0, error.to_string())),
            }
        }
        self.drive()
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        let mut answer = Vec::new();
        match self.endpoint.handle(now(), PEER, None, None, BytesMut::from(input), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming),
            Some(DatagramEvent::Response(transmit)) => device::transmit(&answer[..transmit.size]),
            None => {}
        }
        self.drive()
    }

    fn handle_timeout(&mut self) -> Progress {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now());
        }
        self.drive()
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.waiting.push_back(Message { stream: None, rest: Bytes::copy_from_slice(data) });
        self.drive()
    }

    fn max_data(&self) -> Option<usize> {
        Some(MAX_BODY)
    }

    /// QUIC closes both directions at once, and what was not acknowledged by then is lost. So this waits until the peer has all.
    fn close(&mut self) -> Progress {
        self.is_closing = matches!(self.state, State::Established);
        self.drive()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        // This end offers or accepts no other suite.
        Some(Negotiated::Tls { protocol: Protocol::Quic, suite: self.suite, connection_id: None })
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.resumable.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{CredentialKind, SessionConfig, Stack};
    use crate::library::LibrarySession;
    use crate::memory::Path;
    use crate::operation::Weightless;
    use crate::session::Session;

    /// A client that sends messages of any length.
    struct Unlimited(Quic);

    impl Library for Unlimited {
        fn start(&mut self) -> Progress {
            self.0.start()
        }

        fn handle_input(&mut self, input: &[u8]) -> Progress {
            self.0.handle_input(input)
        }

        fn handle_timeout(&mut self) -> Progress {
            self.0.handle_timeout()
        }

        fn write(&mut self, data: &[u8]) -> Progress {
            self.0.write(data)
        }

        fn max_data(&self) -> Option<usize> {
            None
        }

        fn close(&mut self) -> Progress {
            self.0.close()
        }

        fn negotiated(&self) -> Option<Negotiated> {
            self.0.negotiated()
        }

        fn resumable(&mut self) -> Option<Resumable> {
            self.0.resumable()
        }
    }

    /// The stream is stopped, and the session goes on.
    #[test]
    fn a_message_that_is_too_long_is_not_kept() {
        let [of_client, of_server] = Role::BOTH.map(|role| {
            SessionConfig::new(role, Stack::RUSTLS, Protocol::Quic.family(), CredentialKind::Certificate.into())
        });
        let checked = of_client.stack.capabilities().check(&of_client).unwrap();
        let (clock, by) = (crate::device::WORLD_BEGAN.into(), Arc::new(Weightless));
        let client = || Quic::new(&checked, None).map(Unlimited);
        let mut client = LibrarySession::new(&of_client, by.clone(), clock, client).unwrap();
        let mut server = crate::building::build(&of_server, by).unwrap();
        let mut now = Path::default().run_until_quiet(&mut client, &mut *server).at;
        for length in [MAX_BODY + 1, 3 * MAX_BODY, MAX_BODY, 7] {
            client.write(now, &vec![5; length]).unwrap();
        }
        assert!(server.write(now, &vec![5; MAX_BODY + 1]).is_err(), "no end sends what its peer does not take");
        let mut received = Vec::new();
        for _ in 0..2_000 {
            now += Duration::from_millis(5); // a congestion window opens with time
            client.handle_timeout(now);
            server.handle_timeout(now);
            while let Some(datagram) = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                server.handle_input(now, &datagram);
            }
            while let Some(datagram) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                client.handle_input(now, &datagram);
            }
            while let Some(data) = server.poll_received() {
                received.push(data.bytes.len());
            }
        }
        received.sort_unstable();
        assert_eq!(received, [7, MAX_BODY]);
    }
}
