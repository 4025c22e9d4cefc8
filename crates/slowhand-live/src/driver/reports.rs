//! Reports of a live network, and the commands that change it.

use super::Driver;
use crate::capture::Ended;
use crate::control::Request;
use crate::event::{DatagramCounts, Event, NodeState, OpenSession, Report, Seen, SessionCounts, Snapshot};
use crate::programs::Conversation;
use mio::Token;
use slowhand_lab::live::ConversationId;
use slowhand_net::address::NodeId;
use std::collections::BTreeMap;
use std::path::Path;

impl Driver<'_> {
    pub(super) fn tell(&self, event: Event) {
        self.events.tell(event);
    }

    pub(crate) fn warn(&self, message: String) {
        self.tell(Event::Warning { time_s: self.world.now().as_secs_f64(), message, ends_capture: false });
    }

    pub(super) fn warn_of_capture(&self, message: String) {
        self.tell(Event::Warning { time_s: self.world.now().as_secs_f64(), message, ends_capture: true });
    }

    /// Captures have ended. One that was asked for meanwhile may: who reads it has seen enough.
    pub(super) fn warn_of_captures(&self, ended: Vec<Ended>) {
        for Ended { message, is_first } in ended {
            if is_first { self.warn_of_capture(message) } else { self.warn(message) }
        }
    }

    /// Starts a capture into a FIFO.
    fn start_capture(&mut self, fifo: &Path) -> Result<(), String> {
        let ids: Vec<ConversationId> = self.conversations.values().map(|conversation| conversation.id).collect();
        let secrets: Vec<String> = ids.into_iter().flat_map(|id| self.world.key_log(id)).collect();
        self.watch.captures.ask(&self.scenario, fifo, &secrets)
    }

    /// Something is not let in. The owner hears of the first, the tenth, the hundredth ...
    pub(super) fn refuse(&mut self, reason: &'static str) {
        let count = self.refused.entry(reason).or_default();
        *count += 1;
        let count = *count;
        if 10u64.pow(count.ilog10()) == count {
            self.tell(Event::Refused { time_s: self.world.now().as_secs_f64(), reason: reason.to_owned(), count });
        }
    }

    /// A handshake is complete.
    pub(super) fn note_established(&mut self, session: u64, node: u16, id: ConversationId) {
        self.completed += 1;
        let duration_s = self.world.handshake_s(id);
        self.tell(Event::Established { time_s: self.world.now().as_secs_f64(), session, node, duration_s });
        let key_log = self.world.key_log(id);
        let ended = self.watch.captures.each(|capture| capture.secrets(&key_log));
        self.warn_of_captures(ended);
    }

    pub(super) fn report(&self) -> Report {
        let counts = self.world.datagrams();
        let lost: BTreeMap<&'static str, u64> = counts
            .lost
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(reason, count)| (reason.name(), *count))
            .collect();
        let count = |is_one: fn(&Conversation) -> bool| {
            self.conversations.values().filter(|conversation| is_one(conversation)).count() as u64
        };
        Report {
            sessions: SessionCounts {
                open: count(|conversation| conversation.ended.is_none()),
                established: count(|conversation| conversation.ended.is_none() && conversation.is_established),
                completed: self.completed,
                failed: self.failed + count(Conversation::has_failed),
                refused: self.refused.values().sum(),
            },
            refused: self.refused.clone(),
            datagrams: DatagramCounts {
                sent: counts.sent,
                delivered: counts.arrived,
                waiting: self.world.datagrams_on_their_way(),
                lost,
            },
            bytes_phy: self.watch.tally.bytes_phy,
            frames: self.watch.tally.frames,
            lateness_ms: self.lateness.report(),
        }
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        let mut nodes: Vec<NodeState> =
            (0..self.parents.len()).map(|node| self.node_state(NodeId(node as u16))).collect();
        let open = self.conversations.values().filter(|conversation| conversation.ended.is_none());
        open.clone().for_each(|conversation| nodes[conversation.node.index()].sessions += 1);
        let open = open.map(|conversation| OpenSession {
            session: conversation.session,
            node: conversation.node.0,
            client: conversation.client,
            state: self.world.state(conversation.id).phase.name(),
            time_s: conversation.began.as_secs_f64(),
        });
        Snapshot {
            time_s: self.world.now().as_secs_f64(),
            speed: self.setup.speed,
            report: self.report(),
            queued: nodes.iter().map(|node| node.queued).sum(),
            open: open.collect(),
            links: self.watch.tally.links(),
            nodes,
        }
    }

    /// A node without its sessions.
    fn node_state(&self, node: NodeId) -> NodeState {
        let level = self.watch.tally.level(node);
        NodeState {
            node: node.0,
            parent: self.parents[node.index()].map(|parent| parent.0),
            on: !self.off[node.index()],
            queued: level.queued,
            reassembly_bytes: level.octets,
            sessions: 0,
        }
    }

    /// Changes a key of the scenario.
    pub(super) fn set(&mut self, change: &str) -> Result<(), String> {
        let change = self.world.set(&mut self.scenario, change)?;
        self.tell(Event::Changed { time_s: self.world.now().as_secs_f64(), change });
        Ok(())
    }

    /// Switches a node off or on.
    pub(super) fn switch(&mut self, node: u16, on: bool) -> Result<(), String> {
        self.world.switch(&self.scenario, node, on)?;
        self.off[usize::from(node)] = !on;
        let change = format!("node {node} {}", if on { "on" } else { "off" });
        self.tell(Event::Changed { time_s: self.world.now().as_secs_f64(), change });
        Ok(())
    }

    /// A connection of the control socket has commands, or room for answers.
    pub(super) fn handle_requests(&mut self, token: Token) {
        let Some(control) = &mut self.opened.control else { return };
        let requests = control.requests(token);
        self.advance();
        for request in requests {
            let answer = match request {
                Err(message) => error(&message),
                Ok(Request::Set { set }) => done(self.set(&set)),
                Ok(Request::Switch { node, on }) => done(self.switch(node, on)),
                Ok(Request::Capture { capture }) => done(self.start_capture(&capture)),
                Ok(Request::Status { .. }) => {
                    serde_json::to_string(&self.snapshot()).unwrap_or_else(|_| error("no status"))
                }
                Ok(Request::Frames { .. }) => {
                    let seen = Seen { seen: self.watch.recent.take(), snapshot: self.snapshot() };
                    serde_json::to_string(&seen).unwrap_or_else(|_| error("no frames"))
                }
            };
            if let Some(control) = &mut self.opened.control {
                control.answer(token, Some(answer));
            }
        }
        if let Some(control) = &mut self.opened.control {
            control.answer(token, None);
        }
    }
}

fn done(result: Result<(), String>) -> String {
    match result {
        Ok(()) => r#"{"ok":true}"#.to_owned(),
        Err(message) => error(&message),
    }
}

fn error(message: &str) -> String {
    serde_json::json!({ "error": message }).to_string()
}
