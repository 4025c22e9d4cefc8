//! The actions of readers, producer, proxy and authorization server.

use slowhand_coap::endpoint::{self, Delivery, Incoming, SendError};
use slowhand_coap::message::{self, Class, CoapOption, Packet, RequestType, ResponseType};
use slowhand_coap::objects::{self, AccessSecret, CONTENT_FORMAT, Consumer, Grant, Producer};
use slowhand_net::address::Host;
use slowhand_net::clock::{Duration, Instant};

use super::{Due, World};
use crate::ids::{ComputerId, EndId};
use crate::readers::ends::{Computer, Member, Part, State};
use crate::readers::record::Way;
use crate::world::{from_std, to_std};

/// The name of the value at the producer and at the proxy, and that of the access secret (assumed: short ones).
const VALUE: &str = "v";
const SECRET: &str = "s";

/// CoAP's Content-Formats of a value and of an access secret (RFC 7252 section 12.3; RFC 9052 section 11.3.2).
const OCTET_STREAM: u32 = 42;
const COSE_KEY_SET: u32 = 102;

/// Max-Age where a response does not say it (RFC 7252 section 5.10.5), in seconds.
const DEFAULT_MAX_AGE: u32 = 60;

/// The name of the producer in objects (assumed: one octet).
const PRODUCER: &[u8] = b"p";

/// An object that somebody keeps.
struct Kept {
    octets: Vec<u8>,
    fresh_until: Instant,
}

impl Kept {
    /// The seconds for which it is still fresh. `None`: it is not.
    fn max_age(&self, now: Instant) -> Option<u32> {
        let left = (now < self.fresh_until).then(|| self.fresh_until.since(now))?;
        u32::try_from(left.as_micros() / 1_000_000).ok().filter(|&seconds| seconds > 0)
    }
}

/// Whoever keeps an object, and who waits for one.
#[derive(Default)]
pub(super) struct Shelf {
    kept: Option<Kept>,
    waiting: Vec<(EndId, Incoming)>,
    /// True if a new one is being made or fetched.
    is_renewing: bool,
}

impl World<'_> {
    /// A client has opened its session.
    pub(super) fn opened(&mut self, now: Instant, number: EndId) {
        match self.ends[number].part {
            Part::Reader(reader) | Part::Member(Member::Reader(reader)) => self.ask(now, reader),
            Part::Member(Member::Producer) => self.request(now, number, SECRET),
            _ => {}
        }
    }

    pub(super) fn happen(&mut self, now: Instant, number: EndId, event: endpoint::Event) {
        let part = self.ends[number].part;
        match event {
            endpoint::Event::Request { from, .. } => match part {
                Part::Authority(member) => self.grant(now, number, from, member),
                Part::Producer(_) => self.serve(now, number, from),
                Part::Proxy => self.pass_on(now, number, from),
                Part::Reader(_) | Part::Fetch | Part::Member(_) => {}
            },
            endpoint::Event::Response { packet, .. } => {
                self.ends[number].is_asking = false;
                let is_good = message::class(&packet) == Class::Success;
                match part {
                    Part::Reader(reader) if is_good => self.receive_value(now, reader, packet.payload),
                    Part::Fetch if is_good => self.fetched(now, Some(&packet)),
                    Part::Member(member) if is_good => self.granted(now, member, &packet),
                    _ => self.unanswered(now, part),
                }
            }
            endpoint::Event::Failed { .. } => {
                self.ends[number].is_asking = false;
                self.unanswered(now, part);
            }
            endpoint::Event::Notification { .. } | endpoint::Event::Undelivered { .. } => {}
        }
    }

    /// Ends the wait of an end for something that does not come.
    pub(super) fn unanswered(&mut self, now: Instant, part: Part) {
        match part {
            Part::Reader(reader) | Part::Member(Member::Reader(reader)) => self.lose(now, reader),
            Part::Fetch => self.fetched(now, None),
            Part::Member(Member::Producer) => self.answer_waiting(now, |world| &mut world.at_producer),
            Part::Proxy | Part::Producer(_) | Part::Authority(_) => {}
        }
    }

    /// The next reading of a reader is due. If an earlier one has no answer yet, that one is missing, and its answer counts for this.
    pub(super) fn begin_reading(&mut self, now: Instant, number: usize) {
        let reader = &mut self.readers[number];
        reader.due += 1;
        reader.since = Some(now);
        if reader.due < u64::from(self.plan.readers.readings.get()) {
            self.due.push(now + self.plan.readers.period_s.duration(), Due::Reading(number));
        }
        self.ask(now, number);
    }

    /// A reader asks for the value, if it wants one and can ask; with objects for the access secret first, if it has none.
    fn ask(&mut self, now: Instant, number: usize) {
        let reader = &self.readers[number];
        let (Some(since), None) = (reader.since, reader.asked) else { return };
        let (part, path) = match self.way {
            Way::Oscar if reader.consumer.is_none() => (Part::Member(Member::Reader(number)), SECRET),
            Way::Oscar | Way::Dtls => (Part::Reader(number), VALUE),
        };
        let Some(end) = self.end_of(part).filter(|&end| self.ends[end].state == State::Open) else { return };
        self.readers[number].asked = Some(since);
        self.record.requests_to_producer += u64::from(matches!(self.ends[end.peer()].part, Part::Producer(_)));
        self.request(now, end, path);
    }

    /// The end of the client that does this.
    fn end_of(&self, part: Part) -> Option<EndId> {
        self.clients.get(&part).copied()
    }

    fn request(&mut self, now: Instant, end: EndId, path: &str) {
        let request = message::request(RequestType::Get, path);
        let now = self.ready(now, end);
        if let Err(error) = self.ends[end].coap.request(to_std(now), request, Delivery::Confirmable) {
            self.note_unsent(&error);
            return self.unanswered(now, self.ends[end].part);
        }
        self.ends[end].is_asking = true;
        self.flush(now, end);
        self.set_timer(now, end);
    }

    fn respond(&mut self, now: Instant, end: EndId, from: Incoming, packet: Packet) {
        let now = self.ready(now, end);
        match self.ends[end].coap.respond(to_std(now), from, packet) {
            // The request may be so old that nobody waits for its response.
            Ok(()) | Err(SendError::NoSuchRequest) => {}
            Err(error) => self.note_unsent(&error),
        }
        self.flush(now, end);
        self.set_timer(now, end);
    }

    /// The authorization server gives a member what it needs.
    fn grant(&mut self, now: Instant, end: EndId, from: Incoming, member: Member) {
        let (secret, left) = self.secret(now);
        let signer = matches!(member, Member::Reader(_)).then_some(self.public);
        let mut packet = content(Grant { secret, signer }.write().to_vec(), COSE_KEY_SET);
        message::set_number(&mut packet, CoapOption::MaxAge, left);
        self.respond(now, end, from, packet);
    }

    /// The access secret of now, and for how many seconds it counts.
    fn secret(&self, now: Instant) -> (AccessSecret, u32) {
        let (number, left) = match self.plan.readers.secret_lifetime_s.map(|lifetime| lifetime.micros().max(1)) {
            None => (0, u32::MAX),
            Some(lifetime) => {
                let (number, gone) = (now.as_micros() / lifetime, now.as_micros() % lifetime);
                (number, u32::try_from((lifetime - gone).div_ceil(1_000_000)).unwrap_or(u32::MAX))
            }
        };
        let octets = number.to_be_bytes();
        let id = octets[octets.len() - octets_of(number)..].to_vec();
        let derived = self.streams.derive("access secret", number);
        let mut value = [0; 16];
        value.copy_from_slice(&derived[..16]);
        (AccessSecret { id, value }, left)
    }

    fn granted(&mut self, now: Instant, member: Member, packet: &Packet) {
        let Ok(grant) = Grant::read(&packet.payload) else { return self.unanswered(now, Part::Member(member)) };
        match member {
            Member::Producer => {
                let seconds = message::number(packet, CoapOption::MaxAge).unwrap_or(DEFAULT_MAX_AGE);
                let until = now + Duration::from_secs(seconds.into());
                let producer = match self.producer.take() {
                    Some((mut producer, _)) => {
                        producer.change(grant.secret);
                        producer
                    }
                    None => Producer::new(PRODUCER, &self.private, grant.secret, 0),
                };
                self.producer = Some((producer, until));
                self.make(now);
            }
            Member::Reader(number) => {
                let reader = &mut self.readers[number];
                match &mut reader.consumer {
                    Some(consumer) => consumer.change(grant.secret),
                    None => match Consumer::new(PRODUCER, grant) {
                        Ok(consumer) => reader.consumer = Some(consumer),
                        Err(_) => return self.lose(now, number),
                    },
                }
                match reader.object.take() {
                    // It was made with another secret again: the next reading may have more luck.
                    Some(object) => {
                        self.open_object(now, number, &object, |world, now, number, _| world.lose(now, number))
                    }
                    None => {
                        reader.asked = None;
                        self.ask(now, number);
                    }
                }
            }
        }
    }

    /// The producer is asked for its value.
    fn serve(&mut self, now: Instant, end: EndId, from: Incoming) {
        if self.way == Way::Dtls {
            let value = vec![0; self.plan.readers.value_bytes.get() as usize];
            return self.respond(now, end, from, content(value, OCTET_STREAM));
        }
        let shelf = &mut self.at_producer;
        if let Some(packet) = shelf.answer(now) {
            return self.respond(now, end, from, packet);
        }
        shelf.waiting.push((end, from));
        self.make(now);
    }

    /// The producer makes an object for those that wait, if it has an access secret that counts. Else it asks for one first. If it gets
    /// none any more, they hear that.
    pub(super) fn make(&mut self, now: Instant) {
        let shelf = &mut self.at_producer;
        if shelf.waiting.is_empty() || shelf.is_renewing {
            return;
        }
        let computer = self.computer_of(Host::Node(self.plan.producer), 0);
        let has_secret = self.producer.as_ref().is_some_and(|&(_, until)| now < until);
        if !has_secret {
            let part = Part::Member(Member::Producer);
            let Some(end) = self.end_of(part) else { return };
            return match self.ends[end].state {
                State::Open if self.ends[end].is_asking => {}
                State::Open => self.request(now, end, SECRET),
                // It asks when it is open.
                State::New => {}
                State::Failed => self.unanswered(now, part),
            };
        }
        let now = now.max(self.computers[computer].busy_until);
        let Some((producer, _)) = &mut self.producer else { return };
        let value = vec![0; self.plan.readers.value_bytes.get() as usize];
        let objects = &mut self.computers[computer].objects;
        let Ok(object) = objects.protect(to_std(now), producer, VALUE, &value) else {
            return self.unanswered(now, Part::Member(Member::Producer));
        };
        self.at_producer.is_renewing = true;
        self.record.signatures += 1;
        let ready = self.computed_object(now, computer);
        self.due.push(ready, Due::Made(object));
        self.compute(now, computer, ready);
    }

    /// Takes what a computer has computed of an object. Returns when it is ready.
    fn computed_object(&mut self, now: Instant, computer: ComputerId) -> Instant {
        let Computer { objects, computed, .. } = &mut self.computers[computer];
        objects.drain_operations(&mut |performed| *computed += performed.took);
        from_std(objects.busy_until()).max(now)
    }

    pub(super) fn made(&mut self, now: Instant, octets: Vec<u8>) {
        let fresh_until = now + Duration::from_secs(self.plan.readers.max_age_s.get().into());
        self.at_producer.kept = Some(Kept { octets, fresh_until });
        self.answer_waiting(now, |world| &mut world.at_producer);
    }

    /// The proxy is asked for the value.
    fn pass_on(&mut self, now: Instant, end: EndId, from: Incoming) {
        let shelf = &mut self.at_proxy;
        if let Some(packet) = shelf.answer(now) {
            return self.respond(now, end, from, packet);
        }
        shelf.waiting.push((end, from));
        if !std::mem::replace(&mut shelf.is_renewing, true)
            && let Some(end) = self.end_of(Part::Fetch)
        {
            self.record.requests_to_producer += 1;
            self.request(now, end, VALUE);
        }
    }

    /// The proxy has an answer of the producer, or gets none.
    fn fetched(&mut self, now: Instant, packet: Option<&Packet>) {
        self.at_proxy.kept = packet.map(|packet| {
            let seconds = message::number(packet, CoapOption::MaxAge).unwrap_or(DEFAULT_MAX_AGE);
            Kept { octets: packet.payload.clone(), fresh_until: now + Duration::from_secs(seconds.into()) }
        });
        self.answer_waiting(now, |world| &mut world.at_proxy);
    }

    /// Answers those that wait with what is kept, or tells them that there is nothing.
    fn answer_waiting(&mut self, now: Instant, shelf: fn(&mut Self) -> &mut Shelf) {
        let at = shelf(self);
        at.is_renewing = false;
        let answer = at.answer(now).unwrap_or_else(|| message::response(ResponseType::GatewayTimeout, []));
        for (end, from) in std::mem::take(&mut at.waiting) {
            self.respond(now, end, from, answer.clone());
        }
    }

    /// A reader has an answer.
    fn receive_value(&mut self, now: Instant, number: usize, payload: Vec<u8>) {
        match self.way {
            Way::Dtls => self.got(now, number),
            Way::Oscar => self.open_object(now, number, &payload, Self::ask_for_secret),
        }
    }

    /// A reader opens an object. `unknown`: what it does if the object was made with another access secret than its own.
    fn open_object(
        &mut self,
        now: Instant,
        number: usize,
        object: &[u8],
        unknown: fn(&mut Self, Instant, usize, &[u8]),
    ) {
        let host = self.plan.nodes.as_ref().map_or(Host::Internet, |nodes| Host::Node(nodes[number]));
        let computer = self.computer_of(host, number);
        let now = now.max(self.computers[computer].busy_until);
        let Some(consumer) = &mut self.readers[number].consumer else { return };
        let result = self.computers[computer].objects.open(to_std(now), consumer, VALUE, object);
        let ready = self.computed_object(now, computer);
        self.compute(now, computer, ready);
        match result {
            Ok(_) => self.due.push(ready, Due::Opened(number)),
            Err(objects::Error::UnknownSecret) => unknown(self, ready, number, object),
            Err(_) => self.lose(ready, number),
        }
    }

    fn ask_for_secret(&mut self, now: Instant, number: usize, object: &[u8]) {
        let end = self.end_of(Part::Member(Member::Reader(number))).filter(|&end| self.ends[end].state == State::Open);
        match end {
            Some(end) => {
                self.readers[number].object = Some(object.to_vec());
                self.request(now, end, SECRET);
            }
            None => self.lose(now, number),
        }
    }

    /// A reading brings nothing. If the next is due already, the reader asks again, once for each.
    fn lose(&mut self, now: Instant, number: usize) {
        let reader = &mut self.readers[number];
        reader.object = None;
        if reader.asked.take() == reader.since {
            reader.since = None;
        } else {
            self.ask(now, number);
        }
    }

    /// A reader has a value.
    pub(super) fn got(&mut self, now: Instant, number: usize) {
        let reader = &mut self.readers[number];
        reader.asked = None;
        let Some(since) = reader.since.take() else { return };
        self.record.got += 1;
        if std::mem::replace(&mut reader.has_value, true) {
            self.later = (self.later.0 + now.since(since), self.later.1 + 1);
            return;
        }
        let took = now.since(reader.begin);
        self.first = (self.first.0 + took, self.first.1 + 1);
        let seconds = took.as_secs_f64();
        self.record.first_longest_s = Some(self.record.first_longest_s.map_or(seconds, |longest| longest.max(seconds)));
    }
}

impl Shelf {
    /// The response that is kept, if it is fresh.
    fn answer(&self, now: Instant) -> Option<Packet> {
        let kept = self.kept.as_ref()?;
        let max_age = kept.max_age(now)?;
        let mut packet = content(kept.octets.clone(), CONTENT_FORMAT);
        if max_age != DEFAULT_MAX_AGE {
            message::set_number(&mut packet, CoapOption::MaxAge, max_age);
        }
        Some(packet)
    }
}

/// The octets that a number takes, 1 at least.
pub(in crate::readers) const fn octets_of(number: u64) -> usize {
    match number.leading_zeros() {
        64 => 1,
        zeros => 8 - zeros as usize / 8,
    }
}

/// A response with content.
fn content(payload: Vec<u8>, format: u32) -> Packet {
    let mut packet = message::response(ResponseType::Content, payload);
    message::set_number(&mut packet, CoapOption::ContentFormat, format);
    packet
}
