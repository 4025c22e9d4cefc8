//! The world, and all that comes into it from outside. The driver changes the world here only, so that a recording has
//! everything, and a replay does the same again.

use crate::applications::{Echo, OpenAndClose};
use crate::recording::{EndKind, Input, Opening, Recorder};
use crate::relay::{Bell, Line, relay};
use slowhand_lab::application::OpenAndStop;
use slowhand_lab::live::{ConversationId, End, Hosts, Live, NewConversation, to_std};
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{InputError, Override, Scenario};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::SendError;
use slowhand_net::observer::Observer;
use slowhand_sessions::Role;
use std::collections::BTreeMap;
use std::ops::Deref;

/// A world, its conversations by their numbers in events, and what is kept of all that came into it.
pub(crate) struct World<'a> {
    live: Live<'a>,
    is_stream: bool,
    conversations: BTreeMap<u64, Entry>,
    /// Rings when something has arrived for a program.
    pub(crate) bell: Bell,
    pub(crate) recorder: Option<Recorder>,
}

/// A conversation of the world.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) id: ConversationId,
    /// The lines to the programs at both ends, the client first.
    pub(crate) lines: [Option<Line>; 2],
}

/// Reading the world changes nothing.
impl<'a> Deref for World<'a> {
    type Target = Live<'a>;

    fn deref(&self) -> &Live<'a> {
        &self.live
    }
}

impl<'a> World<'a> {
    pub(crate) fn new(plan: &'a Plan, seed: u64, outside: Hosts, is_stream: bool) -> Self {
        let live = Live::new(plan, seed, outside);
        Self { live, is_stream, conversations: BTreeMap::new(), bell: Bell::default(), recorder: None }
    }

    fn record(&mut self, input: &Input<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(self.live.now(), input);
        }
    }

    /// Notes what came in, and does it to its conversation, if that is not closed.
    fn apply(&mut self, input: &Input<'_>, session: u64, change: impl FnOnce(&mut Live<'a>, ConversationId)) {
        self.record(input);
        if let Some(Entry { id, .. }) = self.conversations.get(&session) {
            change(&mut self.live, *id);
        }
    }

    /// The conversation of this number. `None` if it is closed.
    pub(crate) fn entry(&self, session: u64) -> Option<&Entry> {
        self.conversations.get(&session)
    }

    /// The numbers of all conversations.
    pub(crate) fn sessions(&self) -> Vec<u64> {
        self.conversations.keys().copied().collect()
    }

    /// Runs the world until an instant. If it has run until then already, it does what became due since.
    pub(crate) fn run_until(&mut self, at: Instant, observer: &mut dyn Observer) {
        if at <= self.live.now() && self.live.deadline().is_some_and(|due| due <= at) {
            self.record(&Input::Run);
        }
        self.live.run_until(at, observer);
    }

    /// Takes the packets that have arrived at hosts that are outside.
    pub(crate) fn take_packets(&mut self, packets: &mut Vec<(Host, Vec<u8>)>) {
        self.live.take_packets(packets);
    }

    /// Opens a conversation, with lines to the programs at its ends.
    pub(crate) fn open(&mut self, session: u64, opening: &Opening) -> Entry {
        self.record(&Input::Open(session, *opening));
        let mut lines = [None, None];
        let ends = Role::BOTH.map(|role| match opening.ends[role] {
            EndKind::Stops => End::Library(Box::new(OpenAndStop)),
            EndKind::Closes => End::Library(Box::<OpenAndClose>::default()),
            EndKind::Echoes => End::Library(Box::<Echo>::default()),
            EndKind::Outside => End::Outside,
            EndKind::Program => {
                let (program, line) = relay(role, self.is_stream, session, &self.bell);
                lines[role] = Some(line);
                End::Own(Box::new(program))
            }
        });
        let id = self.live.open(NewConversation {
            client: NodeId(opening.node),
            client_port: opening.client_port,
            server_port: opening.server_port,
            at: opening.starts_now.then_some(self.live.now()),
            ends,
            gives_up: opening.gives_up,
        });
        let entry = Entry { id, lines };
        self.conversations.insert(session, entry.clone());
        entry
    }

    /// The program's side of an end, if it has a program.
    pub(crate) fn line(&self, session: u64, role: Role) -> Option<&Line> {
        self.conversations.get(&session)?.lines[role].as_ref()
    }

    /// A program has sent this: a datagram, or a piece of a stream. It waits until the conversation is woken.
    pub(crate) fn put(&mut self, session: u64, role: Role, octets: Vec<u8>) {
        self.record(&Input::Put(session, role, (&*octets).into()));
        if let Some(line) = self.line(session, role) {
            line.send(to_std(self.live.now()), octets);
        }
    }

    /// A program has taken so many octets of its stream from its line.
    pub(crate) fn took(&mut self, session: u64, role: Role, octets: usize) {
        if octets > 0 {
            self.record(&Input::Took(session, role, octets));
        }
    }

    /// An end has something to send, or room for input again.
    pub(crate) fn wake(&mut self, session: u64, role: Role, observer: &mut dyn Observer) {
        self.apply(&Input::Wake(session, role), session, |live, id| live.wake(id, role, observer));
    }

    /// A program cannot be reached. Returns false if that was known.
    pub(crate) fn lose(&mut self, session: u64, role: Role, reason: &str, observer: &mut dyn Observer) -> bool {
        let is_new = self.line(session, role).is_some_and(|line| line.fail(reason.to_owned()));
        if is_new {
            self.apply(&Input::Lose(session, role, reason.into()), session, |live, id| live.wake(id, role, observer));
        }
        is_new
    }

    /// The program of an end sends no more.
    pub(crate) fn finish_stream(&mut self, session: u64, role: Role) {
        self.apply(&Input::Finish(session, role), session, |live, id| live.finish_stream(id, role));
    }

    /// The program of an end has reset its connection.
    pub(crate) fn abort_stream(&mut self, session: u64, role: Role) {
        self.apply(&Input::Abort(session, role), session, |live, id| live.abort_stream(id, role));
    }

    /// Ends a conversation, as if both applications had finished.
    pub(crate) fn complete(&mut self, session: u64) {
        self.apply(&Input::Complete(session), session, Live::complete);
    }

    /// A conversation without handshake carries data from now on.
    pub(crate) fn skip_handshake(&mut self, session: u64) {
        self.apply(&Input::SkipHandshake(session), session, Live::skip_handshake);
    }

    /// Ends a conversation: it has failed at this end.
    pub(crate) fn fail(&mut self, session: u64, role: Role, reason: &str) {
        self.apply(&Input::Fail(session, role, reason.into()), session, |live, id| live.fail(id, role, reason));
    }

    /// Forgets a conversation.
    pub(crate) fn close(&mut self, session: u64) {
        self.record(&Input::Close(session));
        if let Some(Entry { id, .. }) = self.conversations.remove(&session) {
            self.live.close(id);
        }
    }

    /// Forgets what no report asks for any more.
    pub(crate) fn prune(&mut self) {
        self.record(&Input::Prune);
        self.live.prune();
    }

    /// Sends a packet from a host that is outside.
    ///
    /// # Errors
    /// The network refuses it.
    pub(crate) fn send_packet(&mut self, packet: &[u8], observer: &mut dyn Observer) -> Result<(), SendError> {
        self.record(&Input::Packet(packet.into()));
        self.live.send_packet(packet, observer)
    }

    /// Changes a key of the scenario; returns the change as it was understood.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn set(&mut self, scenario: &mut Scenario, change: &str) -> Result<String, String> {
        let change: Override = change.parse().map_err(|error: InputError| error.to_string())?;
        let (changed, changes) = scenario.changed(std::slice::from_ref(&change)).map_err(|error| error.to_string())?;
        let change = change.to_string();
        self.record(&Input::Set((&*change).into()));
        changes.iter().for_each(|change| change.apply(self.live.network()));
        *scenario = changed;
        Ok(change)
    }

    /// Switches the radio of a node off or on.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn switch(&mut self, scenario: &Scenario, node: u16, on: bool) -> Result<(), String> {
        let id = scenario.switchable(node).map_err(|error| error.to_string())?;
        self.record(&Input::Switch(node, on));
        let now = self.live.now();
        self.live.network().switch_radio(now, id, on);
        Ok(())
    }
}
