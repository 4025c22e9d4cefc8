//! The loop: the world until now, then what programs and interfaces have, then sleep until something is due.

mod clients;
mod opened;
mod reports;

use crate::admission::Refusal;
use crate::capture::Captures;
use crate::clock::{Clock, FAR_BEHIND, Lateness};
use crate::control::LONGEST_SILENCE;
use crate::event::{EndReason, Event, Report, Snapshot};
use crate::event_queue::Teller;
use crate::programs::{Conversation, Plug, Socket};
use crate::recent::Recent;
use crate::recording::{EndKind, Input, Opening, Recorder};
use crate::setup::{Setup, Ways};
use crate::tally::Tally;
use crate::tun::{LARGEST_PACKET, Side, TunError};
use crate::world::{Entry, World};
use mio::{Events, Token};
use slowhand_lab::live::{AFTERMATH, GivesUp};
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Phase};
use slowhand_lab::scenario::Scenario;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::observer::{BufferLevel, Observer, Transmission};
use slowhand_sessions::Role;
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration as WallDuration;

pub(crate) use opened::Opened;
use opened::Source;

/// The period of looks at conversations that nothing has happened to. *Assumed*: nobody notices it.
const HOUSEKEEPING: WallDuration = WallDuration::from_millis(50);

/// The longest that the world runs in one turn of the loop. *Assumed*.
const SLICE: WallDuration = WallDuration::from_millis(20);

/// The period after which data is forgotten that no report asks for. *Assumed*: longer than a datagram takes ([`AFTERMATH`]).
const PRUNING: WallDuration = WallDuration::from_secs(120);

/// The time that a conversation goes on after its ends have closed it, for what they still send. *Assumed*: a few round trips of one
/// hop.
const LINGER: Duration = Duration::from_secs(2);

/// The time in which no place is looked for after one was not found. *Assumed*: no client notices it.
const NO_PLACE: WallDuration = WallDuration::from_millis(5);

/// Datagrams, packets or connections that are taken from one socket before the world goes on. *Assumed*: that takes less
/// than a millisecond.
const AT_ONCE: usize = 64;

/// A wish of the owner.
pub(crate) enum Command {
    Set(String, Sender<Result<(), String>>),
    Switch(u16, bool, Sender<Result<(), String>>),
    Snapshot(Sender<Snapshot>),
    Stop,
}

/// A live network: the world, the programs at its ends, and what both have done.
pub(crate) struct Driver<'a> {
    /// As it is now, with all changes.
    scenario: Scenario,
    world: World<'a>,
    setup: Setup,
    opened: Opened,
    clock: Clock,
    watch: Watch,
    conversations: BTreeMap<u64, Conversation>,
    /// The conversation of a program's address, by listener.
    of_client: HashMap<(usize, SocketAddr), u64>,
    /// The conversation of a port of a node, for clients behind an interface.
    of_port: HashMap<(NodeId, u16), u64>,
    next_session: u64,
    /// The number of conversations that each node had.
    had: Vec<u64>,
    /// True if the sessions run over TCP.
    is_stream: bool,
    clients: Vec<NodeId>,
    off: Vec<bool>,
    parents: Vec<Option<NodeId>>,
    completed: u64,
    failed: u64,
    refused: BTreeMap<&'static str, u64>,
    lateness: Lateness,
    was_far_behind: bool,
    events: Teller,
    commands: Receiver<Command>,
    stops: bool,
    /// When this turn of the loop began.
    turn_began: std::time::Instant,
    /// When the last sleep ended.
    slept: std::time::Instant,
    /// When there was no place for a new client, and why.
    no_place: Option<(std::time::Instant, Refusal)>,
    buffer: Vec<u8>,
    packets: Vec<(Host, Vec<u8>)>,
}

/// Sees every frame.
struct Watch {
    tally: Tally,
    recent: Recent,
    captures: Captures,
}

impl Observer for Watch {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.tally.transmission(frame);
        self.recent.transmission(frame);
        self.captures.transmission(frame);
    }

    fn watches_buffers(&self) -> bool {
        self.tally.watches_buffers()
    }

    fn buffers(&mut self, level: &BufferLevel) {
        self.tally.buffers(level);
    }
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        scenario: Scenario,
        plan: &'a Plan,
        setup: Setup,
        mut opened: Opened,
        events: Teller,
        commands: Receiver<Command>,
    ) -> Self {
        let hosts = opened.outside();
        let routes = scenario.mesh().routes();
        let is_stream = scenario.session.protocol.is_stream();
        let parents = (0..plan.nodes()).map(|node| routes.parent(NodeId(node as u16))).collect();
        let captures = Captures::new(opened.capture.take());
        let mut world = World::new(plan, setup.seed, hosts, is_stream);
        world.recorder = opened.recorder.take();
        Self {
            scenario,
            world,
            clock: Clock::start(setup.speed),
            watch: Watch { tally: Tally::new(plan.nodes()), recent: Recent::default(), captures },
            conversations: BTreeMap::new(),
            of_client: HashMap::new(),
            of_port: HashMap::new(),
            next_session: 1,
            had: vec![0; plan.nodes()],
            is_stream,
            clients: plan.clients().to_vec(),
            off: vec![false; plan.nodes()],
            parents,
            completed: 0,
            failed: 0,
            refused: BTreeMap::new(),
            lateness: Lateness::new(),
            was_far_behind: false,
            events,
            commands,
            stops: false,
            turn_began: std::time::Instant::now(),
            slept: std::time::Instant::now(),
            no_place: None,
            buffer: vec![0; LARGEST_PACKET],
            packets: Vec::new(),
            setup,
            opened,
        }
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> Report {
        self.clock = Clock::start(self.setup.speed);
        self.tell(Event::Started { addresses: self.opened.addresses().to_vec(), control: self.setup.control.clone() });
        self.open_clients();
        let began = std::time::Instant::now();
        let (mut looked, mut pruned) = (began, began);
        self.slept = began;
        let mut ready = Events::with_capacity(256);
        let reason = loop {
            self.turn_began = std::time::Instant::now();
            self.advance();
            if looked.elapsed() >= HOUSEKEEPING {
                looked = std::time::Instant::now();
                self.look_at_all();
            }
            if pruned.elapsed() >= PRUNING {
                pruned = std::time::Instant::now();
                self.world.prune();
            }
            if let Some(reason) = self.end_reason(began) {
                break reason;
            }
            let most =
                if self.opened.has_more() { WallDuration::ZERO } else { HOUSEKEEPING.saturating_sub(looked.elapsed()) };
            self.sleep(&mut ready, most);
            for event in &ready {
                self.handle_ready(event.token(), event.is_readable() || event.is_read_closed(), event.is_writable());
            }
            self.opened.take_again().into_iter().for_each(|source| self.read(source));
            self.handle_commands();
        };
        self.finish(reason)
    }

    /// Opens the conversations of emulated clients.
    fn open_clients(&mut self) {
        let (ends, server) = match self.setup.ways {
            Ways::Emulated => ([EndKind::Stops, EndKind::Stops], None),
            Ways::Clients { server } => ([EndKind::Closes, EndKind::Program], Some(server)),
            Ways::Interfaces { .. } if self.opened.tun(Side::Device).is_none() => {
                ([EndKind::Closes, EndKind::Outside], None)
            }
            Ways::Interfaces { .. } | Ways::Proxies(_) | Ways::Server { .. } => return,
        };
        for client in self.clients.clone() {
            let opening = Opening {
                node: client.0,
                client_port: None,
                server_port: None,
                starts_now: false,
                ends,
                gives_up: GivesUp::Always,
            };
            self.open(opening, [None, server.map(Socket::Unconnected)], None);
        }
    }

    /// Opens a conversation, with the sockets of the programs at its ends; returns its number. A client that is a program came
    /// by a listener, from an address.
    fn open(&mut self, opening: Opening, sockets: [Option<Socket>; 2], client: Option<(usize, SocketAddr)>) -> u64 {
        let session = self.next_session;
        self.next_session += 1;
        let node = NodeId(opening.node);
        self.had[node.index()] += 1;
        let Entry { id, lines } = self.world.open(session, &opening);
        let mut plugs =
            lines.into_iter().zip(sockets).map(|(line, socket)| Some(Plug { line: line?, socket: socket? }));
        let plugs = [plugs.next().flatten(), plugs.next().flatten()];
        let now = self.world.now();
        let conversation = Conversation {
            id,
            session,
            node,
            listener: client.map_or(0, |(listener, _)| listener),
            client: client.map(|(_, address)| address),
            plugs,
            began: now,
            active: now,
            is_answered: false,
            is_established: false,
            ended: None,
        };
        if let Some(client) = client {
            self.of_client.insert(client, session);
        }
        self.conversations.insert(session, conversation);
        self.tell(Event::Opened {
            time_s: now.as_secs_f64(),
            session,
            node: node.0,
            client: client.map(|(_, address)| address),
        });
        session
    }

    /// Runs the world until now, and hands over what has arrived. A world that is too slow does not catch up at once: sockets
    /// and commands are served in between.
    fn advance(&mut self) {
        let now = self.clock.now();
        let mut has_caught_up = true;
        while let Some(at) = self.world.deadline().filter(|&at| at <= now) {
            if self.turn_began.elapsed() >= SLICE {
                has_caught_up = false;
                break;
            }
            self.note_lateness(self.clock.since(at));
            self.world.run_until(at, &mut self.watch);
        }
        if has_caught_up {
            self.world.run_until(now, &mut self.watch);
        }
        self.hand_over();
    }

    fn note_lateness(&mut self, late: WallDuration) {
        self.lateness.add(late);
        let is_far_behind = late >= FAR_BEHIND;
        if is_far_behind && !self.was_far_behind {
            let time_s = self.world.now().as_secs_f64();
            self.tell(Event::Late { time_s, late_ms: late.as_secs_f64() * 1e3 });
        }
        self.was_far_behind = is_far_behind;
    }

    /// Hands what has arrived to programs and interfaces.
    fn hand_over(&mut self) {
        while let Some(session) = self.world.bell.next() {
            self.pump(session);
            self.look_at(session);
        }
        let mut packets = std::mem::take(&mut self.packets);
        self.world.take_packets(&mut packets);
        for (host, packet) in packets.drain(..) {
            self.write_packet(Side::of(host), &packet);
        }
        self.packets = packets;
    }

    /// Moves octets between a conversation and its programs.
    fn pump(&mut self, session: u64) {
        let is_stream = self.is_stream;
        for role in Role::BOTH {
            let Some(conversation) = self.conversations.get_mut(&session) else { return };
            let client = conversation.client;
            let listener = conversation.listener;
            let now = self.world.now();
            let Some(plug) = conversation.plug(role) else { continue };
            let failed = match &plug.socket {
                Socket::OfListener => {
                    let line = plug.line.clone();
                    while let Some(octets) = line.next() {
                        if let (Some(address), Some(socket)) = (client, self.opened.udp(listener)) {
                            let _ = socket.send_to(&octets, address); // a program that has gone loses it, as on any network
                        }
                        (conversation.active, conversation.is_answered) = (now, true);
                    }
                    None
                }
                Socket::Gone => None,
                _ if !is_stream => {
                    let token = Conversation::token(session, role, Opened::FIRST_CONVERSATION);
                    let (has_sent, failed) = plug.send_datagrams(self.opened.poll.registry(), token);
                    if has_sent {
                        conversation.active = now;
                    }
                    failed
                }
                _ => conversation.pump_stream(
                    role,
                    &mut self.world,
                    self.opened.poll.registry(),
                    Opened::FIRST_CONVERSATION,
                    &mut self.watch,
                ),
            };
            if let Some(message) = failed {
                self.fail(session, role, message);
            }
        }
    }

    /// A program cannot be reached.
    fn fail(&mut self, session: u64, role: Role, message: String) {
        let Some(conversation) = self.conversations.get_mut(&session) else { return };
        if conversation.plug(role).is_some() && self.world.lose(session, role, &message, &mut self.watch) {
            self.warn(message);
        }
    }

    /// Hands a packet to the kernel of a side.
    fn write_packet(&mut self, side: Side, packet: &[u8]) {
        if side == Side::Device {
            self.note_packet(packet, true);
        }
        let Some(tun) = self.opened.tun(side) else { return };
        match tun.write(packet) {
            Ok(()) => {}
            Err(TunError::Deleted(_)) => self.lose_interface(side),
            Err(TunError::Io { .. }) => self.refuse("a packet that the kernel did not take: is the interface up?"),
        }
    }

    fn lose_interface(&mut self, side: Side) {
        if let Some(tun) = self.opened.take_tun(side) {
            self.warn(format!(
                "{} was deleted; the network goes on without it; start it again to have the interface back",
                tun.name()
            ));
        }
    }

    /// Sleeps until something is due or a socket is ready.
    fn sleep(&mut self, ready: &mut Events, most: WallDuration) {
        let due = self.world.deadline().map_or(most, |at| self.clock.until(at).min(most));
        if !due.is_zero() {
            self.was_far_behind = false; // it has caught up
        }
        // The poll counts in milliseconds and wakes late. The rest of the time is slept apart.
        let whole = WallDuration::from_millis(due.as_millis() as u64);
        if let Err(error) = self.opened.poll.poll(ready, Some(whole))
            && error.kind() != ErrorKind::Interrupted
        {
            self.warn(format!("the system does not say which programs have sent something: {error}"));
        }
        // Who takes longer, as a process that is suspended, is late for programs also when nothing else was due.
        let late = self.slept.elapsed().saturating_sub(due);
        self.slept = std::time::Instant::now();
        if late >= FAR_BEHIND {
            self.note_lateness(late);
        }
        if ready.is_empty()
            && let Some(rest) =
                self.world.deadline().map(|at| self.clock.until(at)).filter(|rest| rest.as_millis() == 0)
        {
            std::thread::sleep(rest);
        }
    }

    fn handle_ready(&mut self, token: Token, is_readable: bool, is_writable: bool) {
        match token {
            Opened::WAKER => {}
            Opened::CONTROL => self.opened.accept_control(),
            Token(number) if Opened::is_tun(number) => self.read(Source::Interface(Opened::side_of(number))),
            Token(number) if Opened::is_listener(number) => {
                self.read(Source::Listener(number - Opened::FIRST_LISTENER));
            }
            Token(number) if number < Opened::FIRST_CONVERSATION => self.handle_requests(token),
            token => {
                let Some((session, role)) = Conversation::of_token(token, Opened::FIRST_CONVERSATION) else { return };
                let Some(conversation) = self.conversations.get_mut(&session) else { return };
                conversation.note_ready(role, is_readable, is_writable);
                match conversation.plug(role).map(|plug| &plug.socket) {
                    Some(Socket::Datagrams(_)) => self.read(Source::Server(session)),
                    Some(_) => {
                        self.advance();
                        self.pump(session);
                    }
                    None => {}
                }
            }
        }
    }

    /// Reads from a source until nothing is left. After many turns the others have theirs, and it is read again.
    fn read(&mut self, source: Source) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let may_have_more = (0..AT_ONCE).all(|_| match source {
            Source::Listener(listener) => self.read_listener(listener, &mut buffer),
            Source::Interface(side) => self.read_packet(side, &mut buffer),
            Source::Server(session) => self.read_server(session, &mut buffer),
        });
        if may_have_more {
            self.opened.read_again(source);
        }
        self.buffer = buffer;
    }

    /// Reads a packet that the kernel of a side has sent. True if there may be more.
    fn read_packet(&mut self, side: Side, buffer: &mut [u8]) -> bool {
        let Some(tun) = self.opened.tun(side) else { return false };
        match tun.read(buffer) {
            Ok(None) => {}
            Ok(Some(length)) => {
                self.advance();
                self.take_packet(side, &buffer[..length]);
                return true;
            }
            Err(TunError::Deleted(_)) => self.lose_interface(side),
            Err(TunError::Io { .. }) => {
                self.refuse("a packet of the kernel that could not be read: is the interface up?");
            }
        }
        false
    }

    /// The kernel of a side has sent a packet.
    fn take_packet(&mut self, side: Side, packet: &[u8]) {
        if !side.is_source_of(packet) {
            return self.refuse("a packet whose source address is not one of its side");
        }
        if side == Side::Device && self.opened.tun(Side::Internet).is_none() {
            self.admit_packet(packet);
            self.note_packet(packet, false);
        }
        match self.world.send_packet(packet, &mut self.watch) {
            Ok(()) => self.hand_over(),
            Err(_) => self.refuse("a packet that the network cannot carry"),
        }
    }

    /// Looks at every conversation: is it established, over, or closed.
    fn look_at_all(&mut self) {
        let sessions: Vec<u64> = self.conversations.keys().copied().collect();
        for session in sessions {
            self.pump(session);
            self.look_at(session);
        }
        for listener in self.opened.take_full() {
            self.read(Source::Listener(listener));
        }
        self.opened.accept_control(); // one that came when no descriptor was left
        if let Some(control) = &mut self.opened.control {
            control.close_silent(LONGEST_SILENCE);
        }
        let now = self.world.now();
        let ended = self.watch.captures.each(|capture| capture.write_until(now));
        self.warn_of_captures(ended);
        if let Some(message) = self.world.recorder.as_mut().and_then(Recorder::flush) {
            self.world.recorder = None;
            self.warn_of_capture(message);
        }
    }

    fn look_at(&mut self, session: u64) {
        let now = self.world.now();
        self.look_at_handshake(session);
        self.look_at_stream(session);
        let Some(conversation) = self.conversations.get(&session) else { return };
        let state = self.world.state(conversation.id);
        let has_said_all = self.has_said_all(conversation);
        let is_of_programs = conversation.plugs.iter().all(Option::is_some);
        let is_closed = is_of_programs && !self.is_stream && conversation.is_closed() && has_said_all;
        let has_ended = state.is_over || conversation.are_streams_done() || is_closed;
        if has_ended && conversation.ended.is_none() {
            self.end_conversation(session);
        }
        let Some(conversation) = self.conversations.get(&session) else { return };
        let Some(ended) = conversation.ended else { return };
        // Where both programs have closed their connections, nobody waits for the acknowledgement of a FIN.
        let is_acknowledged = conversation.are_streams_done() || self.is_acknowledged(conversation);
        let is_settled = is_acknowledged && state.on_their_way == 0 && conversation.has_handed_over();
        let has_lingered = now.since(ended) >= LINGER;
        if !self.is_finite() && ((is_settled && has_lingered) || now.since(ended) >= AFTERMATH) {
            self.close_conversation(session);
        }
    }

    /// Tells that the handshake of a conversation is complete, once.
    fn look_at_handshake(&mut self, session: u64) {
        let Some(conversation) = self.conversations.get_mut(&session) else { return };
        let id = conversation.id;
        if !conversation.is_secure() {
            if conversation.is_answered && self.world.state(id).phase == Phase::Handshake {
                self.world.skip_handshake(session); // so that what crosses is no handshake, and does not stay in memory
            }
            return;
        }
        if self.world.state(id).phase != Phase::Handshake && !conversation.is_established {
            (conversation.is_established, conversation.is_answered) = (true, true);
            let node = conversation.node.0;
            self.note_established(session, node, id);
        }
    }

    /// True if all that both ends wrote is acknowledged, their FINs too, or their connection has failed.
    fn is_acknowledged(&self, conversation: &Conversation) -> bool {
        Role::BOTH
            .into_iter()
            .filter_map(|role| self.world.stream(conversation.id, role))
            .all(|stream| stream.all_acknowledged || stream.error.is_some())
    }

    /// True if nothing of a conversation is on its way, and its programs have been silent for a while.
    fn has_said_all(&self, conversation: &Conversation) -> bool {
        let is_silent = self.world.now().since(conversation.active) >= LINGER;
        is_silent && self.world.is_settled(conversation.id)
    }

    /// A library does not see that the connection below it was closed: then nothing is left to wait for.
    fn look_at_stream(&mut self, session: u64) {
        let Some(conversation) = self.conversations.get(&session) else { return };
        let id = conversation.id;
        if matches!(self.setup.ways, Ways::Emulated) || self.world.state(id).is_over {
            return;
        }
        let is_library = |role: &Role| {
            let side = if *role == Role::Client { Side::Device } else { Side::Internet };
            conversation.plugs[*role].is_none() && self.opened.tun(side).is_none()
        };
        let is_at_end = |role: &Role| self.world.stream(id, *role).is_some_and(|stream| stream.at_end);
        let ended = Role::BOTH.into_iter().filter(is_library).find(is_at_end);
        let has_said_all = self.has_said_all(conversation);
        match ended {
            Some(_) if !has_said_all => {}
            Some(_) if conversation.is_established => self.end_conversation(session),
            Some(role) => self.world.fail(session, role, "the other end closed the connection during the handshake"),
            None => {}
        }
    }

    /// True if the network ends when the sessions of the scenario are over.
    fn is_finite(&self) -> bool {
        match &self.setup.ways {
            Ways::Emulated | Ways::Clients { .. } => true,
            Ways::Interfaces { device, .. } => device.is_none(),
            Ways::Proxies(_) | Ways::Server { .. } => false,
        }
    }

    /// A conversation is over. What it sent may still be on its way.
    fn end_conversation(&mut self, session: u64) {
        let Some(conversation) = self.conversations.get_mut(&session) else { return };
        if conversation.ended.is_some() {
            return;
        }
        self.look_at_handshake(session);
        let Some(conversation) = self.conversations.get_mut(&session) else { return };
        conversation.ended = Some(self.world.now());
        let emulated = Role::BOTH.map(|role| conversation.plug(role).is_none());
        self.world.complete(session);
        for role in Role::BOTH.into_iter().filter(|role| emulated[*role]) {
            self.world.finish_stream(session, role);
        }
        self.world.run_until(self.world.now(), &mut self.watch);
    }

    /// Forgets a conversation, and tells what it took.
    fn close_conversation(&mut self, session: u64) {
        let Some(mut conversation) = self.conversations.remove(&session) else { return };
        conversation.reset_unfinished();
        conversation.deregister(self.opened.poll.registry());
        if let Some(client) = conversation.client {
            self.of_client.remove(&(conversation.listener, client));
        }
        self.of_port.retain(|_, of| *of != session);
        for role in Role::BOTH {
            // Otherwise a proxy of the border router would keep the connection for ever.
            if self
                .world
                .stream(conversation.id, role)
                .is_some_and(|stream| !(stream.at_end && stream.all_acknowledged))
            {
                self.world.abort_stream(session, role);
            }
        }
        let record = self.world.report(conversation.id).handshake;
        let secure = conversation.is_secure();
        if secure && record.outcome != Outcome::Completed {
            self.failed += 1;
        }
        self.world.close(session);
        let time_s = self.world.now().as_secs_f64();
        self.tell(Event::Closed { time_s, session, node: conversation.node.0, secure, record: Box::new(record) });
    }

    fn handle_commands(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.advance();
            // Who asked may have stopped waiting for the answer.
            match command {
                Command::Stop => self.stops = true,
                Command::Snapshot(answer) => drop(answer.send(self.snapshot())),
                Command::Set(change, answer) => drop(answer.send(self.set(&change))),
                Command::Switch(node, on, answer) => drop(answer.send(self.switch(node, on))),
            }
        }
    }

    /// Why the network ends now.
    fn end_reason(&self, began: std::time::Instant) -> Option<EndReason> {
        if self.stops {
            return Some(EndReason::Stopped);
        }
        if self.setup.duration.is_some_and(|duration| began.elapsed() >= duration) {
            return Some(EndReason::Duration);
        }
        if self.setup.handshakes.is_some_and(|handshakes| self.completed >= handshakes) {
            return Some(EndReason::Handshakes);
        }
        if let Ways::Interfaces { .. } = self.setup.ways
            && self.opened.has_no_tun()
        {
            return Some(EndReason::Interfaces);
        }
        let is_over = self.is_finite() && self.world.has_ended();
        let has_handed_over = || {
            self.conversations.values().all(|conversation| {
                let is_long_over = |ended| self.world.now().since(ended) >= AFTERMATH;
                conversation.has_handed_over() || conversation.ended.is_some_and(is_long_over)
            })
        };
        let has_lingered = |conversation: &Conversation| {
            let is_emulated =
                conversation.plugs.iter().all(Option::is_none) && matches!(self.setup.ways, Ways::Emulated);
            is_emulated || conversation.ended.is_some_and(|ended| self.world.now().since(ended) >= LINGER)
        };
        (is_over && has_handed_over() && self.conversations.values().all(has_lingered)).then_some(EndReason::Finished)
    }

    /// Ends the network: tells what its conversations took.
    fn finish(mut self, reason: EndReason) -> Report {
        self.advance();
        let sessions: Vec<u64> = self.conversations.keys().copied().collect();
        for session in sessions {
            self.look_at(session);
            self.end_conversation(session);
            self.close_conversation(session);
        }
        let recorded = self.world.recorder.take().and_then(|mut recorder| {
            recorder.write(self.world.now(), &Input::End);
            recorder.finish()
        });
        if let Some(message) = recorded {
            self.warn_of_capture(message);
        }
        let ended = self.watch.captures.finish();
        self.warn_of_captures(ended);
        let report = self.report();
        let time_s = self.world.now().as_secs_f64();
        self.tell(Event::Ended { time_s, reason, summary: Box::new(report.clone()) });
        report
    }
}
