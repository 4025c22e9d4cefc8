//! The timeline: what happened in every layer, each event with its cause.

use super::air::OnAir;
use super::comments;
use super::context::name_of;
use super::document::{Event, Lane};
use super::losses::{self, Loss};
use super::sources::Sources;
use crate::ids::EndId;
use crate::world::trace::{Cause, Sender, StepId};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::observer::FrameKind;
use slowhand_sessions::Operation;
use std::collections::{BTreeMap, BTreeSet};

/// The identity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The messages that an end sends, by the datagram, or by the number of the write to a stream.
    Messages(DatagramId),
    Written(usize),
    Datagram(DatagramId),
    /// A datagram on one hop.
    Packet(DatagramId, NodeId, NodeId),
    OnAir(usize),
    Computing(StepId),
    Timer(usize),
    /// The loss of a datagram.
    Loss(DatagramId),
}

/// A row, in the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Messages(EndId),
    Datagrams(EndId),
    Segments(EndId),
    Fragments(NodeId, NodeId),
    Frames(NodeId),
    Radio(NodeId),
    Computing(Host),
    Timers(EndId),
}

/// An event that has no number yet.
struct Draft {
    row: Row,
    key: Option<Key>,
    cause: Option<Key>,
    kind: &'static str,
    from: Instant,
    to: Instant,
    name: String,
    detail: Vec<(&'static str, String)>,
    state: &'static str,
}

/// The rows and events of a handshake, and the number of each event that has a key.
pub(super) struct Timeline {
    pub(super) lanes: Vec<Lane>,
    pub(super) events: Vec<Event>,
    pub(super) numbers: BTreeMap<Key, usize>,
}

impl Sources<'_> {
    /// The timeline, in which the events of `critical` are marked.
    pub(super) fn timeline(&self, critical: &BTreeSet<Key>) -> Timeline {
        let mut drafts = Vec::new();
        self.add_messages(&mut drafts);
        self.add_packets(&mut drafts);
        self.add_frames(&mut drafts);
        self.add_radios(&mut drafts);
        self.add_computing(&mut drafts);
        self.add_timers(&mut drafts);
        self.number(drafts, critical)
    }

    fn number(&self, mut drafts: Vec<Draft>, critical: &BTreeSet<Key>) -> Timeline {
        let span = self.trace.spans[self.conversation];
        drafts.retain(|draft| draft.from <= span.end && draft.to >= span.start);
        drafts.sort_by_key(|draft| (draft.from, draft.row));
        let mut rows: Vec<Row> = drafts.iter().map(|draft| draft.row).collect();
        rows.sort_unstable();
        rows.dedup();
        let numbers: BTreeMap<Key, usize> =
            drafts.iter().enumerate().filter_map(|(number, draft)| Some((draft.key?, number))).collect();
        let event = |(id, draft): (usize, Draft)| Event {
            id,
            lane: rows.binary_search(&draft.row).unwrap_or(0), // each row is one of these
            kind: draft.kind,
            from_s: draft.from.as_secs_f64(),
            to_s: draft.to.as_secs_f64(),
            name: draft.name,
            detail: draft.detail,
            state: draft.state,
            cause: draft.cause.and_then(|cause| numbers.get(&cause).copied()).filter(|&cause| cause != id),
            critical: draft.key.is_some_and(|key| critical.contains(&key)),
        };
        let events = drafts.into_iter().enumerate().map(event).collect();
        let lanes = rows.iter().map(|row| self.lane(*row)).collect();
        Timeline { lanes, events, numbers }
    }

    fn lane(&self, row: Row) -> Lane {
        let of_end = |what: &str, end: EndId, layer| Lane {
            name: format!("{} {what}", end.role()),
            host: name_of(self.context.host_of(end)),
            layer,
        };
        let of_node = |what: &str, node: NodeId, layer| {
            let host = name_of(Host::Node(node));
            Lane { name: format!("{what} of {host}"), host, layer }
        };
        match row {
            Row::Messages(end) => of_end("messages", end, "messages"),
            Row::Datagrams(end) => of_end("datagrams", end, "datagrams"),
            Row::Segments(end) => of_end("segments", end, "segments"),
            Row::Fragments(from, to) => {
                let host = name_of(Host::Node(from));
                Lane { name: format!("{host} to {}", name_of(Host::Node(to))), host, layer: "fragments" }
            }
            Row::Frames(node) => of_node("frames", node, "frames"),
            Row::Radio(node) => of_node("radio", node, "radio"),
            Row::Computing(host) => {
                let host = name_of(host);
                Lane { name: format!("computing at {host}"), host, layer: "computing" }
            }
            Row::Timers(end) => of_end("timers", end, "timers"),
        }
    }

    /// The event that a step is, or that caused it.
    fn of_step(&self, step: StepId) -> Option<Key> {
        match self.trace.computed.binary_search_by_key(&step, |computed| computed.step) {
            Ok(_) => Some(Key::Computing(step)),
            Err(_) => self.cause_of_step(step),
        }
    }

    fn cause_of_step(&self, step: StepId) -> Option<Key> {
        match self.trace.steps[step as usize].cause {
            Cause::Start => None,
            Cause::Arrival { datagram, .. } => Some(self.last_packet(datagram)),
            Cause::Ready { by } | Cause::Read { by } => self.of_step(by),
            Cause::Timer { .. } => self.trace.ended_run(step).map(Key::Timer),
        }
    }

    /// The last hop of a datagram in the mesh: that of the frame with which it arrived. Later ones may have acknowledged its
    /// fragments, or repeated them.
    fn last_packet(&self, datagram: DatagramId) -> Key {
        let last = self.trace.arrived.get(&datagram).and_then(|&(at, host)| {
            let node = match host {
                Host::Node(node) => node,
                Host::Internet => NodeId::ROOT,
            };
            self.air.last_handled(node, datagram, at)
        });
        last.map_or(Key::Datagram(datagram), |frame| {
            let frame = &self.air.frames[frame];
            Key::Packet(datagram, frame.from, frame.to)
        })
    }

    fn is_own(&self, datagram: DatagramId) -> bool {
        self.trace.sent.get(&datagram).is_some_and(|sent| sent.end.conversation() == self.conversation)
    }

    fn name(&self, datagram: DatagramId) -> String {
        self.names.get(&datagram).cloned().unwrap_or_else(|| "datagram".to_owned())
    }

    fn state(&self, datagram: DatagramId) -> &'static str {
        match (self.losses.contains_key(&datagram), self.trace.repeated.get(&datagram)) {
            (true, _) => "lost",
            (_, Some(true)) => "needed",
            (_, Some(false)) => "spurious",
            _ => "ok",
        }
    }

    /// The messages that the ends send, and the datagrams or segments with them.
    fn add_messages(&self, drafts: &mut Vec<Draft>) {
        for (number, name) in self.written {
            let step = self.trace.written[*number].step;
            let found = self.trace.steps[step as usize];
            let (row, key, cause) = (Row::Messages(found.end), Some(Key::Written(*number)), self.cause_of_step(step));
            let detail = vec![("octets", self.trace.written[*number].octets.len().to_string())];
            let (from, to, name) = (found.at, found.at, name.clone());
            drafts.push(Draft { row, key, cause, kind: "message", from, to, name, detail, state: "ok" });
        }
        for (&datagram, sent) in self.trace.sent.iter().filter(|(_, sent)| sent.end.conversation() == self.conversation)
        {
            let (step, before) = match sent.by {
                Sender::End(step) => (Some(step), self.cause_of_step(step)),
                Sender::Proxy { after } => (None, after.map(|earlier| self.last_packet(earlier))),
            };
            let is_stream = !self.written.is_empty() || self.context.is_stream();
            let (name, state) = (self.name(datagram), self.state(datagram));
            let mut cause = before;
            if is_stream {
                let written = self.trace.written.iter().position(|written| Some(written.step) == step);
                cause = written.map(Key::Written).or(cause);
            } else {
                let (row, key, from, to) = (Row::Messages(sent.end), Some(Key::Messages(datagram)), sent.at, sent.at);
                let (name, detail) = (name.clone(), Vec::new());
                drafts.push(Draft { row, key, cause, kind: "message", from, to, name, detail, state });
                cause = key;
            }
            let (row, kind) = match is_stream {
                true => (Row::Segments(sent.end), "segment"),
                false => (Row::Datagrams(sent.end), "datagram"),
            };
            let mut detail = vec![("octets", sent.payload.octets.len().to_string())];
            let loss = self.losses.get(&datagram);
            if let Some(loss) = loss {
                detail.push(("lost", losses::words(self.air, self.context, loss, &name)));
            }
            let ended = self.trace.arrived.get(&datagram).map(|&(at, _)| at).or(loss.map(|loss| loss.at));
            let (from, to, key) = (sent.at, ended.unwrap_or(sent.at), Some(Key::Datagram(datagram)));
            drafts.push(Draft { row, key, cause, kind, from, to, name, detail, state });
            if let Some(loss) = loss {
                self.add_loss(drafts, datagram, loss, row);
            }
        }
    }

    fn add_loss(&self, drafts: &mut Vec<Draft>, datagram: DatagramId, loss: &Loss, row: Row) {
        let frame = loss.frame.map(|frame| &self.air.frames[frame]);
        let row = frame.map_or(row, |frame| Row::Fragments(frame.from, frame.to));
        let words = losses::words(self.air, self.context, loss, &self.name(datagram));
        // A frame that arrived and was discarded may be sent again, because its acknowledgement was lost.
        let attempts = frame.into_iter().flat_map(|frame| frame.attempts.iter().rev());
        let on_air = { attempts }.find(|attempt| attempt.at <= loss.at).map(|attempt| Key::OnAir(attempt.on_air));
        drafts.push(Draft {
            row,
            key: Some(Key::Loss(datagram)),
            cause: on_air.or(Some(Key::Datagram(datagram))),
            kind: "loss",
            from: loss.at,
            to: loss.at,
            name: losses::reason_words(loss.reason).to_owned(),
            detail: vec![("lost", words)],
            state: "lost",
        });
    }

    /// The datagrams of the handshake on each hop.
    fn add_packets(&self, drafts: &mut Vec<Draft>) {
        let mut hops: BTreeMap<(DatagramId, NodeId, NodeId), (Instant, Instant, usize)> = BTreeMap::new();
        for frame in self.air.frames.iter().filter(|frame| self.is_own(frame.datagram)) {
            let end = frame.handled.or(frame.attempts.last().map(|attempt| attempt.end)).unwrap_or(frame.queued_at);
            let hop = (frame.datagram, frame.from, frame.to);
            let packet = hops.entry(hop).or_insert((frame.queued_at, end, 0));
            *packet = (packet.0.min(frame.queued_at), packet.1.max(end), packet.2 + 1);
        }
        for (&(datagram, node, next), &(from, to, frames)) in &hops {
            let of_datagram = hops.range((datagram, NodeId(0), NodeId(0))..).take_while(|(hop, _)| hop.0 == datagram);
            let before = of_datagram.filter(|(hop, packet)| hop.2 == node && packet.1 <= from);
            let before = before.max_by_key(|(_, packet)| packet.1).map(|(hop, _)| Key::Packet(hop.0, hop.1, hop.2));
            let fragments = if frames == 1 { String::new() } else { format!(" ({frames} fragments)") };
            drafts.push(Draft {
                row: Row::Fragments(node, next),
                key: Some(Key::Packet(datagram, node, next)),
                cause: before.or(Some(Key::Datagram(datagram))),
                kind: "packet",
                from,
                to,
                name: self.name(datagram) + &fragments,
                detail: vec![("to", name_of(Host::Node(next))), ("frames", frames.to_string())],
                state: self.state(datagram),
            });
        }
    }

    /// The frames of the nodes on the way, also those of other sessions.
    fn add_frames(&self, drafts: &mut Vec<Draft>) {
        let hosts = self.context.hosts(self.conversation);
        // The last strobes of each node: the first of them, how many, and the number of their draft.
        let mut trains: BTreeMap<NodeId, (&OnAir, usize, usize)> = BTreeMap::new();
        for (number, seen) in self.air.on_air.iter().enumerate() {
            if !hosts.contains(&Host::Node(seen.from)) {
                continue;
            }
            // The strobes before a frame are one event.
            if seen.kind == FrameKind::Strobe {
                let of = |strobe: &OnAir| (strobe.to, strobe.datagram, strobe.attempt);
                if let Some((first, count, draft)) = trains.get_mut(&seen.from)
                    && of(first) == of(seen)
                {
                    *count += 1;
                    (drafts[*draft].to, drafts[*draft].name) = (seen.end, format!("strobes ({count})"));
                    continue;
                }
                trains.insert(seen.from, (seen, 1, drafts.len()));
            } else {
                trains.remove(&seen.from);
            }
            drafts.push(self.frame(number));
        }
    }

    fn frame(&self, number: usize) -> Draft {
        let seen = &self.air.on_air[number];
        let mut name = self.air.name(seen);
        if seen.datagram != NO_DATAGRAM && !self.is_own(seen.datagram) {
            name += if self.trace.sent.contains_key(&seen.datagram) { ", other session" } else { ", other traffic" };
        }
        let to = match seen.kind.is_for_all() {
            true => "all neighbours".to_owned(),
            false => name_of(Host::Node(seen.to)),
        };
        let mut detail = vec![
            ("to", to),
            ("attempt", (u32::from(seen.attempt) + 1).to_string()),
            ("octets", seen.octets.to_string()),
            ("channel", seen.channel.to_string()),
        ];
        if self.is_own(seen.datagram) {
            detail.push(("carries", self.name(seen.datagram)));
        }
        let is_spurious = self.trace.repeated.get(&seen.datagram) == Some(&false);
        let state = match (seen.received, is_spurious) {
            (false, _) => "lost",
            (true, true) => "spurious",
            (true, false) => "ok",
        };
        if let Some(why) = comments::why_not_received(self.air, self.context, number) {
            detail.push(("lost", why));
        }
        let cause = match (seen.kind, seen.frame) {
            (FrameKind::Ack, Some(frame)) => {
                let before = self.air.frames[frame].attempts.iter().rev().find(|attempt| attempt.at < seen.at);
                before.map(|attempt| Key::OnAir(attempt.on_air))
            }
            (_, Some(frame)) => {
                let frame = &self.air.frames[frame];
                Some(Key::Packet(frame.datagram, frame.from, frame.to))
            }
            _ => None,
        };
        let (row, key, from, to) = (Row::Frames(seen.from), Some(Key::OnAir(number)), seen.at, seen.end);
        Draft { row, key, cause, kind: "frame", from, to, name, detail, state }
    }

    fn add_radios(&self, drafts: &mut Vec<Draft>) {
        let hosts = self.context.hosts(self.conversation);
        let span = self.trace.spans[self.conversation];
        for interval in self.air.radio.iter().filter(|interval| hosts.contains(&Host::Node(interval.node))) {
            let (from, to) = (interval.from.max(span.start), interval.to.min(span.end));
            if from < to {
                let (row, name) = (Row::Radio(interval.node), interval.state.name().to_owned());
                let (key, cause, detail) = (None, None, Vec::new());
                drafts.push(Draft { row, key, cause, kind: "radio", from, to, name, detail, state: "ok" });
            }
        }
    }

    fn add_computing(&self, drafts: &mut Vec<Draft>) {
        for computed in &self.trace.computed {
            let step = self.trace.steps[computed.step as usize];
            if step.end.conversation() != self.conversation {
                continue;
            }
            drafts.push(Draft {
                row: Row::Computing(self.context.host_of(step.end)),
                key: Some(Key::Computing(computed.step)),
                cause: self.cause_of_step(computed.step),
                kind: "computing",
                from: step.at,
                to: computed.until,
                name: format!("the {} computes", step.end.role()),
                detail: operations_in_words(&computed.operations),
                state: "ok",
            });
        }
    }

    fn add_timers(&self, drafts: &mut Vec<Draft>) {
        for (number, run) in
            self.trace.timers.iter().enumerate().filter(|(_, run)| run.end.conversation() == self.conversation)
        {
            let end = self.trace.spans[self.conversation].end;
            let (from, stopped) = (self.trace.steps[run.set_by as usize].at, run.ended_by);
            let ended = stopped.map_or(run.due, |step| self.trace.steps[step as usize].at);
            let is_due = stopped.is_some_and(|step| {
                matches!(self.trace.steps[step as usize].cause, Cause::Timer { .. })
                    && self.trace.steps[step as usize].end == run.end
            });
            let of = run.timer.name();
            let name = format!("{of}{}", if is_due { ", due" } else { ", stopped" });
            drafts.push(Draft {
                row: Row::Timers(run.end),
                key: Some(Key::Timer(number)),
                cause: self.of_step(run.set_by),
                kind: "timer",
                from,
                to: ended.min(end).max(from),
                name,
                detail: vec![("due", format!("{} s", run.due.as_secs_f64()))],
                state: "ok",
            });
        }
    }
}

/// The operations that a device computed, the longest first.
fn operations_in_words(operations: &[(Operation, std::time::Duration)]) -> Vec<(&'static str, String)> {
    let mut times: BTreeMap<&'static str, (usize, std::time::Duration)> = BTreeMap::new();
    for &(operation, took) in operations {
        let time = times.entry(name_of_operation(operation)).or_default();
        *time = (time.0 + 1, time.1 + took);
    }
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by_key(|&(_, (_, took))| std::cmp::Reverse(took));
    let words = |(name, (count, took)): (&'static str, (usize, std::time::Duration))| {
        (name, format!("{count} in {:.6} s", took.as_secs_f64()))
    };
    times.into_iter().map(words).collect()
}

fn name_of_operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Sha256 { .. } => "SHA-256",
        Operation::Sha512 { .. } => "SHA-512",
        Operation::Sha1 { .. } => "SHA-1",
        Operation::CbcEncrypt(_) => "AES-CBC encryption",
        Operation::CbcDecrypt(_) => "AES-CBC decryption",
        Operation::Seal(_) => "AEAD encryption",
        Operation::Open(_) => "AEAD decryption",
        Operation::EcdhKeyGeneration(_) => "ECDH key pair",
        Operation::EcdhSharedSecret(_) => "ECDH shared secret",
        Operation::EcdsaSign(_) => "ECDSA signature",
        Operation::EcdsaVerify(_) => "ECDSA verification",
        Operation::RsaSign(_) => "RSA signature",
        Operation::RsaVerify(_) => "RSA verification",
        Operation::RsaEncrypt(_) => "RSA encryption",
        Operation::RsaDecrypt(_) => "RSA decryption",
        _ => "other operation",
    }
}
