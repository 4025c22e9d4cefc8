//! The programs at the ends of conversations, and their sockets.

use crate::relay::Line;
use crate::world::World;
use mio::net::{TcpStream, UdpSocket};
use mio::{Interest, Registry, Token};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_linger;
use slowhand_lab::live::{ConversationId, StreamState};
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::observer::Observer;
use slowhand_sessions::Role;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// A conversation, and the programs at its ends.
pub(crate) struct Conversation {
    pub(crate) id: ConversationId,
    /// Its number in events, from 1.
    pub(crate) session: u64,
    pub(crate) node: NodeId,
    /// The listener by which its client came.
    pub(crate) listener: usize,
    /// The address of the client, if it is a program.
    pub(crate) client: Option<SocketAddr>,
    /// The programs at both ends, the client first. `None`: the end is emulated, or outside.
    pub(crate) plugs: [Option<Plug>; 2],
    pub(crate) began: Instant,
    /// When a program sent or received something last.
    pub(crate) active: Instant,
    /// True once the server has answered.
    pub(crate) is_answered: bool,
    pub(crate) is_established: bool,
    /// Since when it is over.
    pub(crate) ended: Option<Instant>,
}

/// A program at an end.
pub(crate) struct Plug {
    pub(crate) line: Line,
    pub(crate) socket: Socket,
}

pub(crate) enum Socket {
    /// A client that has no socket of its own here: it has sent to the listener.
    OfListener,
    Datagrams(UdpSocket),
    /// A server that gets a connection when the emulated connection is open, or a socket with the first datagram.
    Unconnected(SocketAddr),
    Stream(Stream),
    /// A connection that has failed.
    Gone,
}

impl Plug {
    /// Hands what has arrived to a server that speaks datagrams. The socket is made for the first one. Returns whether the
    /// server has something new, and a message if it cannot be reached.
    pub(crate) fn send_datagrams(&mut self, registry: &Registry, token: Token) -> (bool, Option<String>) {
        let mut failed = None;
        let mut has_sent = false;
        while let Some(octets) = self.line.next() {
            if let Socket::Unconnected(server) = self.socket {
                match datagrams(server, registry, token) {
                    Ok(socket) => self.socket = Socket::Datagrams(socket),
                    Err(error) => failed = Some(unreachable(server, &error)), // a client that begins anew tries it again
                }
            }
            let Socket::Datagrams(socket) = &self.socket else { continue };
            match socket.send(&octets) {
                Ok(_) => has_sent = true,
                Err(error) if is_lost(&error) => {}
                Err(error) => failed = socket.peer_addr().ok().map(|server| unreachable(server, &error)),
            }
        }
        (has_sent, failed)
    }

    /// The next datagram of a server: its length, or why it cannot be reached. What it has sent before may stand behind
    /// such an error.
    pub(crate) fn receive_datagram(&self, buffer: &mut [u8]) -> Option<Result<usize, String>> {
        let Socket::Datagrams(socket) = &self.socket else { return None };
        loop {
            return match socket.recv(buffer) {
                Ok(length) => Some(Ok(length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => None,
                Err(error) if is_lost(&error) => continue,
                Err(error) => Some(Err(unreachable(socket.peer_addr().ok()?, &error))),
            };
        }
    }
}

/// True if one datagram is lost, as on any network, and the next one need not be: the buffer was full, or the path takes
/// fragments only, which Linux makes from then on (ip(7), `IP_MTU_DISCOVER`).
fn is_lost(error: &io::Error) -> bool {
    let is_too_long = error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error());
    is_too_long || matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A TCP connection to a program.
pub(crate) struct Stream {
    stream: TcpStream,
    peer: SocketAddr,
    is_readable: bool,
    is_writable: bool,
    /// True if the program sends no more.
    is_at_end: bool,
    /// True if nothing more is sent to the program.
    is_shut: bool,
}

/// Octets that are read from a program at once, and that may wait for the emulated TCP. *Assumed*: some segments.
const CHUNK: usize = 4096;

impl Stream {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr) -> Self {
        let _ = stream.set_nodelay(true); // what the program wrote is not held back
        Self { stream, peer, is_readable: true, is_writable: true, is_at_end: false, is_shut: false }
    }

    fn is_done(&self) -> bool {
        self.is_at_end && self.is_shut
    }

    /// The program sees a reset when the connection is closed here. Otherwise it would see an end.
    fn reset(&self) {
        let _ = set_socket_linger(&self.stream, Some(std::time::Duration::ZERO));
    }
}

impl Conversation {
    /// The token of an end's socket.
    pub(crate) fn token(session: u64, role: Role, first: usize) -> Token {
        Token(first + 2 * session as usize + usize::from(role == Role::Server))
    }

    /// The conversation and the end of a token.
    pub(crate) fn of_token(Token(token): Token, first: usize) -> Option<(u64, Role)> {
        let number = token.checked_sub(first)?;
        Some((number as u64 / 2, if number.is_multiple_of(2) { Role::Client } else { Role::Server }))
    }

    pub(crate) fn plug(&mut self, role: Role) -> Option<&mut Plug> {
        self.plugs[role].as_mut()
    }

    /// True if the programs at both ends have closed their connections. False over UDP.
    pub(crate) fn are_streams_done(&self) -> bool {
        let is_done = |plug: &Plug| match &plug.socket {
            Socket::Stream(stream) => stream.is_done(),
            Socket::Gone => true,
            _ => false,
        };
        let mut plugs = self.plugs.iter().flatten().peekable();
        plugs.peek().is_some() && plugs.all(is_done)
    }

    /// True if nothing waits for a program.
    pub(crate) fn has_handed_over(&self) -> bool {
        let is_reached = |plug: &&Plug| !matches!(plug.socket, Socket::Gone | Socket::Unconnected(_));
        self.plugs.iter().flatten().filter(is_reached).all(|plug| plug.line.is_empty())
    }

    /// The programs of connections that are cut off see a reset, not an end.
    pub(crate) fn reset_unfinished(&mut self) {
        for plug in self.plugs.iter().flatten() {
            if let Socket::Stream(stream) = &plug.socket
                && !stream.is_done()
            {
                stream.reset();
            }
        }
    }

    /// True if a program has said that the session is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.plugs.iter().flatten().any(|plug| plug.line.is_closed())
    }

    /// True if the ends speak DTLS or TLS. An emulated end does.
    pub(crate) fn is_secure(&self) -> bool {
        self.plugs.iter().flatten().count() < 2 || self.plugs.iter().flatten().any(|plug| plug.line.is_secure())
    }

    /// True if it is over, and its handshake was not complete.
    pub(crate) fn has_failed(&self) -> bool {
        self.ended.is_some() && !self.is_established && self.is_secure()
    }

    /// Removes the sockets from the poll.
    pub(crate) fn deregister(&mut self, registry: &Registry) {
        for plug in self.plugs.iter_mut().flatten() {
            let _ = match &mut plug.socket {
                Socket::Datagrams(socket) => registry.deregister(socket),
                Socket::Stream(stream) => registry.deregister(&mut stream.stream),
                Socket::OfListener | Socket::Unconnected(_) | Socket::Gone => Ok(()),
            }; // it is closed next
        }
    }

    /// A socket is ready.
    pub(crate) fn note_ready(&mut self, role: Role, is_readable: bool, is_writable: bool) {
        if let Some(Plug { socket: Socket::Stream(stream), .. }) = self.plug(role) {
            stream.is_readable |= is_readable;
            stream.is_writable |= is_writable;
        }
    }

    /// Moves octets between the stream of a program and its end of the conversation, as far as both allow. Returns a message
    /// if the program cannot be reached.
    pub(crate) fn pump_stream(
        &mut self,
        role: Role,
        world: &mut World<'_>,
        registry: &Registry,
        first_token: usize,
        observer: &mut dyn Observer,
    ) -> Option<String> {
        let (id, session, token) = (self.id, self.session, Self::token(self.session, role, first_token));
        let now = world.now();
        let state = world.stream(id, role)?;
        let has_arrived = |plug: &mut Plug| !plug.line.is_empty();
        self.is_answered |= role == Role::Client && self.plug(role).is_some_and(has_arrived);
        let active = &mut self.active;
        let plug = self.plugs[role].as_mut()?;
        if let Socket::Unconnected(server) = plug.socket
            && state.is_open
        {
            match connect(server, registry, token) {
                Ok(stream) => plug.socket = Socket::Stream(stream),
                Err(error) => {
                    world.took(session, role, drained(&plug.line));
                    plug.socket = Socket::Gone;
                    world.abort_stream(session, role);
                    return Some(unreachable(server, &error));
                }
            }
        }
        let Plug { line, socket: Socket::Stream(stream) } = plug else { return None };
        let (mut sent, mut taken) = (Vec::new(), 0);
        let read = to_network(stream, state, now, active, &mut sent);
        let has_read = !sent.is_empty();
        sent.into_iter().for_each(|octets| world.put(session, role, octets));
        let result = read.and_then(|ends| {
            if has_read {
                world.wake(session, role, observer);
            }
            if ends {
                world.finish_stream(session, role);
            }
            to_program(stream, line, world.stream(id, role).unwrap_or_default(), active, now, &mut taken)
        });
        world.took(session, role, taken);
        match result {
            Ok(true) => world.wake(session, role, observer), // there is room for more
            Ok(false) => {}
            Err(error) => {
                (stream.is_at_end, stream.is_shut) = (true, true);
                world.abort_stream(session, role);
                world.took(session, role, drained(line));
                if role == Role::Server && !state.at_end {
                    return Some(unreachable(stream.peer, &error));
                }
            }
        }
        // The emulated connection has failed: the program sees a reset, and does not take what it has for the whole.
        if state.error.is_some() && !stream.is_done() && line.is_empty() {
            stream.reset();
            plug.socket = Socket::Gone;
        }
        None
    }
}

/// Takes all that waits for a program; returns how many octets.
fn drained(line: &Line) -> usize {
    std::iter::from_fn(|| line.next()).map(|octets| octets.len()).sum()
}

/// Reads what the program `sent`, as long as the emulated TCP has room. Returns whether it sends no more.
fn to_network(
    stream: &mut Stream,
    state: StreamState,
    now: Instant,
    active: &mut Instant,
    sent: &mut Vec<Vec<u8>>,
) -> io::Result<bool> {
    let mut room = if state.is_open { CHUNK.saturating_sub(state.backlog) } else { 0 };
    while stream.is_readable && !stream.is_at_end && room > 0 {
        let mut octets = vec![0; room];
        match stream.stream.read(&mut octets) {
            Ok(0) => {
                stream.is_at_end = true;
                return Ok(true);
            }
            Ok(length) => {
                octets.truncate(length);
                room -= length;
                sent.push(octets);
                *active = now;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                stream.is_readable = false;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Writes what arrived for the program, as long as it takes it, and the end of the stream behind it. Counts the octets that
/// were `taken`. Returns true if there is room for what waits in the emulated TCP.
fn to_program(
    stream: &mut Stream,
    line: &Line,
    state: StreamState,
    active: &mut Instant,
    now: Instant,
    taken: &mut usize,
) -> io::Result<bool> {
    let mut has_written = false;
    while stream.is_writable && !stream.is_shut {
        let Some(octets) = line.next() else { break };
        match stream.stream.write(&octets) {
            Ok(length) => {
                *taken += length;
                if length < octets.len() {
                    line.put_back(octets[length..].to_vec());
                }
                (*active, has_written) = (now, true);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                stream.is_writable = false;
                line.put_back(octets);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => line.put_back(octets),
            Err(error) => return Err(error),
        }
    }
    if state.at_end && line.is_empty() && !stream.is_shut && stream.is_writable {
        stream.is_shut = true;
        match stream.stream.shutdown(std::net::Shutdown::Write) {
            Err(error) if error.kind() != ErrorKind::NotConnected => return Err(error),
            _ => {}
        }
    }
    Ok(has_written && state.unread > 0)
}

fn connect(server: SocketAddr, registry: &Registry, token: Token) -> io::Result<Stream> {
    let mut stream = TcpStream::connect(server)?;
    registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
    Ok(Stream { is_writable: false, ..Stream::new(stream, server) })
}

/// A socket to a server that speaks datagrams.
fn datagrams(server: SocketAddr, registry: &Registry, token: Token) -> io::Result<UdpSocket> {
    let own: SocketAddr = match server {
        SocketAddr::V4(server) if server.ip().is_loopback() => (Ipv4Addr::LOCALHOST, 0).into(),
        SocketAddr::V6(server) if server.ip().is_loopback() => (Ipv6Addr::LOCALHOST, 0).into(),
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let mut socket = UdpSocket::bind(own)?;
    socket.connect(server)?; // then only this server can send to it
    registry.register(&mut socket, token, Interest::READABLE)?;
    Ok(socket)
}

/// The message for a server that does not answer.
pub(crate) fn unreachable(server: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("nothing listens at {server}: start the server there"),
        ErrorKind::ConnectionReset => format!("{server} has reset the connection"),
        _ => format!("{server} cannot be reached: {error}"),
    }
}
