//! Connections to other hosts: the octets between the sockets of programs and TCP, and the segments.

use super::ends::{End, Taken};
use super::{Outgoing, State, Streams, address, options};
use crate::linux::clocks::Nanos;
use rand_core::Rng;
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Ecn, Endpoint, Ipv6Header, next_header};
use slowhand_net::transport::tcp::{
    self, Connection, ConnectionError, Flags, Segment, SeqNumber, TcpConfig, checksum_holds,
};
use std::net::Ipv6Addr;

/// The octets that are moved at once. *Assumed*.
const PIECE: usize = 4096;

/// A connection to another host.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) connection: Connection,
    pub(super) opener: Opener,
    /// The other end of the program's socket. `None`: the program has none yet, or none any more.
    pub(super) end: Option<End>,
    /// The inode of the program's socket, when it has one.
    pub(super) inode: Option<u64>,
    /// True until the program knows that it is open, or why it is not.
    pub(super) is_opening: bool,
    /// True if a program that listens can accept it, or has done so.
    is_offered: bool,
    /// Octets that have arrived, and that the program's socket has no room for.
    left: Vec<u8>,
    /// True if the program sends no more.
    has_finished: bool,
    /// True if the program has been told that the peer sends no more.
    is_told: bool,
    /// The octets for which the sockets have room beside TCP.
    pub(super) room: u32,
}

/// Who has opened a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opener {
    /// A program, with this socket.
    Program {
        inode: u64,
        /// True if the call did not wait: the socket is full until the connection is open.
        fills: bool,
    },
    /// A segment, for a program that listens with this socket.
    Network { listener: u64 },
}

impl Connected {
    pub(super) fn new(connection: Connection, config: &TcpConfig, opener: Opener) -> Self {
        let inode = match opener {
            Opener::Program { inode, .. } => Some(inode),
            Opener::Network { .. } => None,
        };
        Self {
            connection,
            opener,
            end: None,
            inode,
            is_opening: true,
            is_offered: false,
            left: Vec::new(),
            has_finished: false,
            is_told: false,
            room: config.receive_buffer,
        }
    }

    /// True if nothing comes of it any more.
    pub(super) fn is_past(&self) -> bool {
        matches!(self.connection.state(), tcp::State::Closed | tcp::State::TimeWait)
    }

    /// True if both ends have agreed.
    pub(super) fn is_open(&self) -> bool {
        !matches!(
            self.connection.state(),
            tcp::State::Closed | tcp::State::Listen | tcp::State::SynSent | tcp::State::SynReceived
        )
    }

    /// The program has closed its socket before the connection was open.
    pub(super) fn abandon(&mut self) {
        self.connection.abort();
        (self.is_opening, self.end) = (false, None);
    }

    /// Why it has failed, if the program's socket could not be told.
    pub(super) fn untold_error(&self) -> Option<i32> {
        self.connection.error().filter(|_| self.end.is_none()).map(number_of)
    }

    fn ends(&self) -> Option<(Endpoint, Endpoint)> {
        Some((self.connection.local(), self.connection.remote()?))
    }

    /// Octets of the program go to TCP, as far as it has room. Returns true if the program's socket has more room then.
    fn take(&mut self, outgoing: &mut Vec<Outgoing>, lingers: bool) -> bool {
        let mut any = false;
        let mut octets = [0; PIECE];
        while let Some(end) = self.end.as_mut().filter(|_| !self.has_finished)
            && self.connection.writable() > 0
        {
            let most = self.connection.writable().min(PIECE);
            match end.take(&mut octets[..most]) {
                Taken::Octets(count) => {
                    any = true;
                    let _ = self.connection.write(&octets[..count]); // it is open, and has room
                    self.note(outgoing, true, &octets[..count]);
                }
                Taken::Nothing => break,
                Taken::Finished => {
                    self.has_finished = true;
                    if lingers || !end.is_closed() { self.connection.close() } else { self.connection.abort() }
                }
                Taken::Reset => {
                    self.has_finished = true;
                    self.connection.abort();
                }
            }
        }
        any
    }

    /// Octets that have arrived go to the program, as far as its socket has room. Returns true if it can see something new.
    fn give(&mut self, outgoing: &mut Vec<Outgoing>) -> bool {
        let mut any = false;
        while let Some(end) = &mut self.end {
            if self.left.is_empty() {
                self.left.resize(self.connection.readable().min(PIECE), 0);
                let count = self.connection.read(&mut self.left).unwrap_or(0);
                self.left.truncate(count);
                if count == 0 {
                    break;
                }
                let octets = std::mem::take(&mut self.left);
                self.note(outgoing, false, &octets);
                self.left = octets;
                continue;
            }
            let count = end.give(&self.left);
            self.left.drain(..count);
            any |= count > 0;
            if !self.left.is_empty() {
                break;
            }
        }
        if let Some(end) =
            self.end.as_ref().filter(|_| self.has_given_all() && self.connection.at_end() && !self.is_told)
        {
            end.finish();
            (self.is_told, any) = (true, true);
        }
        any
    }

    fn has_given_all(&self) -> bool {
        self.left.is_empty() && self.connection.readable() == 0
    }

    /// Lets go of a socket that the program has closed. What it has not read is lost: the peer is told (RFC 2525 section 2.17).
    fn leave(&mut self) {
        if self.has_finished && self.end.as_ref().is_some_and(End::is_closed) {
            self.end = None;
            if !self.has_given_all() {
                self.left.clear();
                self.connection.abort();
            }
        }
        if self.end.is_none() && !self.is_opening && self.connection.readable() > 0 {
            self.connection.abort();
        }
    }

    fn note(&self, outgoing: &mut Vec<Outgoing>, is_sent: bool, octets: &[u8]) {
        let Some((own, peer)) = self.ends() else { return };
        outgoing.push(Outgoing::Octets { own, peer, is_sent, octets: octets.to_vec() });
    }
}

impl Streams {
    /// When a connection has something to do. What waits for its end alone (RFC 9293 section 3.4.2) has not.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let busy = self.connections.values().filter(|connected| !connected.is_past());
        let deadlines = busy.filter_map(|connected| connected.connection.deadline());
        deadlines.min().map(|at| at.as_micros().saturating_mul(1000))
    }

    /// True if an end has sent what its peer has not acknowledged: programs may have ended before it arrives.
    pub(crate) fn are_busy(&self) -> bool {
        self.connections.values().any(|connected| !connected.is_past() && !connected.connection.all_acknowledged())
    }

    /// Everything that is due.
    pub(crate) fn fire(&mut self, now: Instant) {
        for number in self.those(|connected| connected.connection.deadline().is_some_and(|at| at <= now)) {
            if let Some(connected) = self.connections.get_mut(&number) {
                connected.connection.handle_timeout(now);
            }
            self.advance(number, now);
        }
    }

    /// Moves the octets of all programs.
    pub(crate) fn move_octets(&mut self, now: Instant) {
        for number in self.those(|connected| connected.end.is_some()) {
            self.advance(number, now);
        }
    }

    /// The numbers of the connections that a condition is true of.
    fn those(&self, condition: impl Fn(&Connected) -> bool) -> Vec<u64> {
        self.connections.iter().filter(|(_, each)| condition(each)).map(|(number, _)| *number).collect()
    }

    /// A segment has arrived.
    pub(crate) fn receive(&mut self, packet: &[u8], now: Instant) {
        let Ok((header, octets)) = Ipv6Header::parse_packet(packet) else { return };
        let Ok(segment) = Segment::parse(octets) else { return };
        let is_ours = header.destination == self.site.address;
        if !is_ours || !checksum_holds(header.source, header.destination, octets) {
            return;
        }
        let own = Endpoint::new(header.destination, segment.destination_port);
        let peer = Endpoint::new(header.source, segment.source_port);
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST);
        let known = self.of_ends.get(&(own, peer)).copied();
        let is_past = known.and_then(|number| self.connections.get(&number)).is_none_or(Connected::is_past);
        let number = match known {
            Some(number) if !(opens && is_past) => Some(number),
            _ if opens => match self.listen_to(own, peer) {
                Ok(number) => number,
                Err(NoListener) => return self.refuse(&header, &segment),
            },
            _ => return self.refuse(&header, &segment),
        };
        let Some(number) = number else { return };
        if let Some(connected) = self.connections.get_mut(&number) {
            let ecn = Ecn::of_traffic_class(header.traffic_class);
            let _ = connected.connection.handle_segment(now, header.source, ecn, octets); // it has been checked
        }
        self.advance(number, now);
    }

    /// A connection for a program that listens. `None`: it has too many that it has not accepted, as tcp(7) has it.
    fn listen_to(&mut self, own: Endpoint, peer: Endpoint) -> Result<Option<u64>, NoListener> {
        let address = address::of(own);
        let listener = self.listener(address).ok_or(NoListener)?;
        let number = self.number();
        let socket = self.sockets.get_mut(&listener).ok_or(NoListener)?;
        let State::Listening { backlog, pending } = &mut socket.state else { return Err(NoListener) };
        if *pending > *backlog {
            return Ok(None);
        }
        *pending += 1;
        let config = options::configured(&self.site.tcp, &socket.options);
        let first = SeqNumber(self.site.random.next_u32());
        let connection = Connection::listen(&config, own, first).map_err(|_| NoListener)?;
        let connected = Connected::new(connection, &config, Opener::Network { listener });
        self.keep((own, peer), number, connected);
        Ok(Some(number))
    }

    /// Answers a segment of no connection (RFC 9293 section 3.10.7.1).
    fn refuse(&mut self, header: &Ipv6Header, segment: &Segment<'_>) {
        let Some(reply) = segment.reset_reply() else { return };
        let mut octets = vec![0; reply.wire_len()];
        if reply.emit(header.destination, header.source, &mut octets).is_ok() {
            let (own, peer) = (header.destination, header.source);
            let packet = packet(own, peer, Ecn::NotCapable, &octets);
            self.outgoing.push(Outgoing::Packet(packet));
        }
    }

    /// Goes on with a connection to which something has happened.
    pub(super) fn advance(&mut self, number: u64, now: Instant) {
        if let Some(connected) = self.connections.get_mut(&number).filter(|connected| connected.is_opening) {
            match connected.end.as_ref().is_some_and(End::is_closed) {
                true => connected.abandon(),
                false => self.go_on_opening(number),
            }
        }
        let Some(connected) = self.connections.get_mut(&number) else { return };
        let site = &mut self.site;
        if !connected.is_opening {
            let socket = connected.inode.and_then(|inode| self.sockets.get_mut(&inode));
            let lingers = socket.as_ref().is_none_or(|socket| !options::resets(&socket.options));
            if connected.connection.error().is_none() {
                site.has_changed |= connected.take(&mut self.outgoing, lingers);
            }
            site.has_changed |= connected.give(&mut self.outgoing);
            connected.leave();
            if let Some(error) = connected.connection.error()
                && connected.end.is_some()
                && connected.has_given_all()
            {
                connected.end = None;
                site.has_changed = true;
                if let Some(socket) = socket {
                    socket.error = Some(number_of(error));
                }
            }
        }
        self.transmit(number, now);
        self.forget(number);
    }

    /// Sends the segments of a connection that are due.
    pub(super) fn transmit(&mut self, number: u64, now: Instant) {
        let Some(connected) = self.connections.get_mut(&number) else { return };
        let Some((own, peer)) = connected.ends() else { return };
        let mut octets = vec![0; connected.connection.max_segment_len()];
        while let Some(sent) = connected.connection.poll_transmit(now, &mut octets) {
            let packet = packet(own.address, peer.address, sent.ecn, &octets[..sent.len]);
            self.outgoing.push(Outgoing::Packet(packet));
        }
    }

    /// Tells a program that its connection is open, or why it is not.
    fn go_on_opening(&mut self, number: u64) {
        let Some(connected) = self.connections.get_mut(&number) else { return };
        let site = &mut self.site;
        let error = connected.connection.error();
        if error.is_none() && !connected.is_open() {
            return;
        }
        match connected.opener {
            // The call that waits sees it.
            Opener::Program { fills: false, .. } => site.has_changed = true,
            Opener::Program { inode, .. } => {
                let Some(socket) = self.sockets.get_mut(&inode) else { return };
                site.has_changed = true;
                connected.is_opening = false;
                if let Some(error) = error {
                    (socket.state, socket.error) = (State::Failed, Some(number_of(error)));
                    connected.end = None; // what it was filled with is lost: the program sees an error
                    return;
                }
                let ends = connected.ends();
                if let (Some(end), Some((_, peer))) = (&mut connected.end, ends) {
                    end.empty();
                    let peer = address::of(peer);
                    socket.state = State::Open { peer, connection: Some(number), is_told: false };
                    socket.needs_room = true;
                }
            }
            Opener::Network { listener } => {
                connected.is_opening = false;
                let socket = self.sockets.get_mut(&listener);
                let named = socket.as_ref().map(|socket| socket.number).filter(|_| error.is_none());
                let end = named.and_then(|named| {
                    site.namespace.enter().ok()?;
                    End::connect_to(named, number, connected.room).ok()
                });
                if end.is_some() {
                    site.has_changed = true;
                    (connected.end, connected.is_offered) = (end, true);
                } else {
                    connected.connection.abort();
                    if let Some(State::Listening { pending, .. }) = socket.map(|socket| &mut socket.state) {
                        *pending = pending.saturating_sub(1);
                    }
                }
            }
        }
    }

    /// Forgets a connection that is over. Where a call waits for it, that is told first.
    pub(super) fn forget(&mut self, number: u64) {
        let Some(connected) = self.connections.get(&number) else { return };
        let is_closed = connected.connection.state() == tcp::State::Closed && connected.end.is_none();
        let is_to_come = connected.is_opening || (connected.is_offered && connected.inode.is_none());
        if is_closed && !is_to_come {
            self.drop_connection(number);
        }
    }

    pub(super) fn drop_connection(&mut self, number: u64) {
        let Some(ends) = self.connections.remove(&number).and_then(|connected| connected.ends()) else { return };
        if self.of_ends.get(&ends) == Some(&number) {
            self.of_ends.remove(&ends);
        }
    }
}

/// No program listens.
struct NoListener;

/// The error of a call for why a connection has failed (connect(2), tcp(7)).
pub(super) fn number_of(error: ConnectionError) -> i32 {
    match error {
        ConnectionError::Refused => libc::ECONNREFUSED,
        ConnectionError::Reset => libc::ECONNRESET,
        ConnectionError::TimedOut => libc::ETIMEDOUT,
        _ => libc::ECONNABORTED,
    }
}

/// A segment as an IPv6 packet. The MSS bounds its length.
fn packet(own: Ipv6Addr, peer: Ipv6Addr, ecn: Ecn, segment: &[u8]) -> Vec<u8> {
    let header = Ipv6Header::new(own, peer, next_header::TCP, segment.len() as u16).with_ecn(ecn);
    [&header.emit(), segment].concat()
}
