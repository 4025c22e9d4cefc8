//! The names of what the ends send.

use crate::record::Phase;
use crate::world::retransmission::Reader;
use crate::world::trace::Payload;
use slowhand_coap::edhoc;
use slowhand_coap::less;
use slowhand_coap::message::{self as coap, CoapOption, MessageClass, Packet};
use slowhand_coap::observe::REGISTER;
use slowhand_coap::stream::{self, Signal};
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_wire::{ContentType, Coverage, MessageType, RangeSet, dtls, quic, tls};
use std::collections::BTreeMap;

/// Reads what one end sends, in order.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// True if the end has sent a ChangeCipherSpec: it encrypts what follows.
    is_encrypted: bool,
}

impl Names {
    /// The content of a datagram of DTLS or of CoAP: the first octet tells them apart (RFC 7983 section 7).
    pub(super) fn of_datagram(&mut self, datagram: &Payload, connection_id: u8) -> String {
        match coap::is_coap(&datagram.octets) {
            true => name_of_coap(&datagram.octets),
            false => joined(&self.of_dtls(datagram, connection_id)),
        }
    }

    /// The messages in a datagram of DTLS.
    fn of_dtls(&mut self, datagram: &Payload, connection_id: u8) -> Vec<String> {
        let mut names = Vec::new();
        for record in datagram.records(connection_id) {
            match record {
                Some(record) => self.add_names(&record, &mut names),
                None => names.push("encrypted record".to_owned()),
            }
        }
        names
    }

    fn add_names(&mut self, record: &dtls::Record<'_>, names: &mut Vec<String>) {
        if record.content_type != ContentType::Handshake || record.is_protected() {
            return names.push(self.other_record(record.content_type));
        }
        for fragment in record.fragments().flatten() {
            let name = name_of(fragment.message_type);
            let is_whole = fragment.body.len() == fragment.length as usize;
            names.push(if is_whole { name } else { format!("a part of {name}") });
        }
    }

    /// The messages that an end writes to its stream.
    pub(super) fn of_stream(&mut self, octets: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        for record in tls::records(octets).map_while(Result::ok) {
            if record.content_type == ContentType::Handshake && !self.is_encrypted {
                let messages = tls::messages(record.fragment).map_while(Result::ok);
                names.extend(messages.map(|message| name_of(message.message_type)));
            } else {
                names.push(self.other_record(record.content_type));
            }
        }
        names
    }

    fn other_record(&mut self, content_type: ContentType) -> String {
        let is_encrypted = self.is_encrypted;
        self.is_encrypted |= content_type == ContentType::ChangeCipherSpec;
        match content_type {
            ContentType::ChangeCipherSpec => "ChangeCipherSpec",
            ContentType::Handshake | ContentType::Tls12Cid if is_encrypted => "Finished",
            ContentType::Alert => "alert",
            ContentType::ApplicationData => "encrypted record",
            ContentType::Heartbeat => "heartbeat",
            ContentType::Ack => "ACK",
            _ => "record",
        }
        .to_owned()
    }
}

/// The datagrams of DTLS or of CoAP that one end sends, for one who sees them from outside.
#[derive(Debug, Default)]
pub struct DatagramReader {
    names: Names,
    sent: Coverage,
    /// True after a record of DTLS.
    is_dtls: bool,
}

impl DatagramReader {
    /// The messages of the next datagram in words, and whether it is a retransmission, as records count them. `phase`: in which the
    /// conversation is.
    pub fn read(&mut self, datagram: &[u8], phase: Phase) -> (String, bool) {
        let payload = Payload::from(datagram);
        // RFC 7983 section 7: the first octet tells them apart; versions of DTLS are negative numbers. A protected record of DTLS 1.3 has
        // no version (RFC 9147 section 4): the end has sent another one before.
        self.is_dtls |= matches!(datagram, [20..=31, 0xfe, ..]);
        let words = match datagram.first() {
            Some(20..=63) if self.is_dtls => joined(&self.names.of_dtls(&payload, 0)),
            _ if coap::is_coap(datagram) && coap::decode(datagram).is_ok() => name_of_coap(datagram),
            _ => return ("datagram".to_owned(), false),
        };
        let records = Reader::Datagrams { connection_id_length: 0 }.read(&payload, phase);
        let is_again = records.is_in(&self.sent);
        records.add_to(&mut self.sent);
        (words, is_again)
    }
}

/// The segments of TCP that one end sends, for one who sees them from outside.
#[derive(Debug, Default)]
pub struct SegmentReader {
    names: Names,
    /// The first sequence number: from there all others count.
    start: Option<u32>,
    sent: RangeSet,
    /// The content of each segment with data, by its first number.
    said: BTreeMap<u32, String>,
    /// The point to which the stream has been read.
    next: u32,
    /// The begin of a record of TLS.
    unread: Vec<u8>,
    /// True if the stream is not TLS.
    is_other: bool,
}

impl SegmentReader {
    /// The content of the next segment in words, and whether it is a retransmission, as records count them.
    pub fn read(&mut self, octets: &[u8]) -> (String, bool) {
        let Ok(segment) = Segment::parse(octets) else { return ("segment".to_owned(), false) };
        let first = segment.seq.0.wrapping_sub(*self.start.get_or_insert(segment.seq.0));
        let span = first..first.saturating_add(segment.seq_len());
        let is_again = !span.is_empty() && self.sent.contains(&span);
        self.sent.insert(span);
        let is = |flag| segment.flags.contains(flag);
        if is(Flags::RST) || is(Flags::SYN) {
            self.next = 1;
            return (if is(Flags::RST) { "RST".to_owned() } else { name_of_segment(octets) }, is_again);
        }
        let mut names = Vec::new();
        let end = first.saturating_add(segment.payload.len() as u32);
        if first <= self.next && end > self.next {
            names = self.messages(&segment.payload[(self.next - first) as usize..]);
            self.next = end;
            self.said.insert(first, joined(&names));
        } else if !segment.payload.is_empty() {
            names.push(self.said.get(&first).map_or("data", String::as_str).to_owned());
        }
        if is(Flags::FIN) {
            names.push("FIN".to_owned());
        }
        (if names.is_empty() { "ACK".to_owned() } else { joined(&names) }, is_again)
    }

    /// The messages that end in the next octets of the stream.
    fn messages(&mut self, octets: &[u8]) -> Vec<String> {
        self.unread.extend_from_slice(octets);
        let records = || tls::records(&self.unread).map_while(Result::ok);
        let whole: usize = records().map(|record| tls::RECORD_HEADER + record.fragment.len()).sum();
        // RFC 8446 section 5.1: the type, and a version that begins with 3.
        self.is_other |= match self.unread[whole..] {
            [] => false,
            [kind] => !(20..=24).contains(&kind),
            [kind, major, ..] => !(20..=24).contains(&kind) || major != 3,
        };
        if self.is_other {
            self.unread = Vec::new();
            return vec!["data".to_owned()];
        }
        let mut names = self.names.of_stream(&self.unread[..whole]);
        self.unread.drain(..whole);
        if names.is_empty() {
            let kind = self.unread.get(tls::RECORD_HEADER).filter(|_| !self.names.is_encrypted);
            let is_handshake =
                self.unread.first().is_some_and(|&kind| ContentType::from(kind) == ContentType::Handshake);
            let of = kind.filter(|_| is_handshake).map(|&kind| name_of(MessageType::from(kind)));
            names.push(format!("a part of {}", of.unwrap_or_else(|| "a record".to_owned())));
        }
        names
    }
}

/// The name of a datagram of QUIC: the types of its packets, `Initial and Handshake`.
pub(super) fn name_of_quic(octets: &[u8]) -> String {
    joined(&quic::packets(octets).map_while(Result::ok).map(|packet| packet.name().to_owned()).collect::<Vec<_>>())
}

/// The name of a datagram of CoAP: `CON POST`, `ACK 2.04 with OSCORE`, `NON 2.05 notification`.
pub(super) fn name_of_coap(octets: &[u8]) -> String {
    let Ok(packet) = coap::decode(octets) else { return "datagram".to_owned() };
    let kind = match packet.header.get_type() {
        coap::MessageType::Confirmable => "CON",
        coap::MessageType::NonConfirmable => "NON",
        coap::MessageType::Acknowledgement => "ACK",
        coap::MessageType::Reset => "RST",
    };
    if packet.header.code == MessageClass::Empty {
        return kind.to_owned();
    }
    let code = name_of_code(&packet);
    let protection = if packet.get_option(CoapOption::Oscore).is_some() { " with OSCORE" } else { "" };
    format!("{kind} {code}{protection}{}{}", edhoc_of(&packet), less_of(&packet))
}

/// The name of a message of CoAP in a stream: `CSM`, `POST`, `2.04`.
pub(super) fn name_of_coap_in_stream(octets: &[u8]) -> String {
    let Ok(Some(packet)) = stream::decode(octets) else { return "message".to_owned() };
    let name = match Signal::read(&packet) {
        Ok(Signal::Csm { .. }) => "CSM",
        Ok(Signal::Ping(_)) => "Ping",
        Ok(Signal::Pong(_)) => "Pong",
        Ok(Signal::Release) => "Release",
        Ok(Signal::Abort { .. }) => "Abort",
        Err(_) => return name_of_code(&packet),
    };
    name.to_owned()
}

fn name_of_code(packet: &Packet) -> String {
    // OSCORE leaves it readable.
    let observe = coap::number(packet, CoapOption::Observe);
    match packet.header.code {
        MessageClass::Request(method) => {
            let observe = if observe == Some(REGISTER) { " to observe" } else { "" };
            format!("{method:?}").to_uppercase() + observe
        }
        _ => packet.header.get_code() + if observe.is_some() { " notification" } else { "" },
    }
}

/// The part of EDHOC that a message carries (RFC 9528 appendix A.2, RFC 9668 section 3).
fn edhoc_of(packet: &Packet) -> &'static str {
    let is_error = |message: &[u8]| edhoc::ErrorMessage::read(message).is_some();
    match coap::number(packet, CoapOption::ContentFormat) {
        Some(edhoc::coap::CID_EDHOC) => match edhoc::coap::read_request(packet) {
            Ok(edhoc::coap::Request::First { .. }) => " with EDHOC message_1",
            Ok(edhoc::coap::Request::Later { message, .. }) if is_error(message) => EDHOC_ERROR,
            Ok(edhoc::coap::Request::Later { .. }) => " with EDHOC message_3",
            Err(_) => " with an EDHOC message",
        },
        Some(edhoc::coap::EDHOC) if is_error(&packet.payload) => EDHOC_ERROR,
        Some(edhoc::coap::EDHOC) => " with an EDHOC message",
        _ if packet.get_option(CoapOption::from(edhoc::combined::OPTION)).is_some() => " and EDHOC message_3",
        _ => "",
    }
}

/// The part of LESS that a request carries.
fn less_of(packet: &Packet) -> &'static str {
    match less::read(packet) {
        Ok(less::Message::Initiation(_)) => " with an identity of LESS",
        Ok(less::Message::Response(_)) => " with a response of LESS",
        Err(_) => "",
    }
}

/// The name of a TCP segment.
pub(super) fn name_of_segment(octets: &[u8]) -> String {
    let Ok(segment) = Segment::parse(octets) else { return "segment".to_owned() };
    let is = |flag| segment.flags.contains(flag);
    match (is(Flags::SYN), segment.payload.len()) {
        (true, _) if is(Flags::ACK) => "SYN-ACK".to_owned(),
        (true, _) => "SYN".to_owned(),
        (false, 0) => "ACK".to_owned(),
        (false, length) => format!("segment of {length} B"),
    }
}

/// The name of the message that ends a handshake that failed (RFC 9528 section 6).
const EDHOC_ERROR: &str = " with an EDHOC error message";

/// Several names in a row: of more than two, the first and the last.
pub(super) fn joined(names: &[String]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    match names.as_slice() {
        [] => "datagram".to_owned(),
        [first, _, .., last] => format!("{first} to {last}"),
        names => names.join(", "),
    }
}

fn name_of(message: MessageType) -> String {
    match message {
        MessageType::Other(8) => "EncryptedExtensions".to_owned(),
        MessageType::Other(number) => format!("message {number}"),
        known => format!("{known:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowhand_net::transport::tcp::{Options, SeqNumber};
    use std::net::Ipv6Addr;

    fn segment(seq: u32, flags: Flags, payload: &[u8]) -> Vec<u8> {
        let segment = Segment {
            source_port: 1,
            destination_port: 2,
            seq: SeqNumber(seq),
            ack: SeqNumber(0),
            flags,
            window: 0,
            urgent: 0,
            options: Options::default(),
            payload,
        };
        let mut octets = vec![0; segment.wire_len()];
        segment.emit(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, &mut octets).unwrap();
        octets
    }

    /// A ClientHello in two segments, of which the first is sent again, from a sequence number that wraps.
    #[test]
    fn segments_have_the_messages_that_end_in_them() {
        let hello = [&[22, 3, 1, 0, 104, 1, 0, 0, 100][..], &[7; 100]].concat();
        let start = u32::MAX - 20;
        let at = |octets: u32| start.wrapping_add(1).wrapping_add(octets);
        let mut reader = SegmentReader::default();
        let mut read = |seq, flags, payload: &[u8]| reader.read(&segment(seq, flags, payload));
        let said = |words: &str, again| (words.to_owned(), again);
        assert_eq!(read(start, Flags::SYN, &[]), said("SYN", false));
        assert_eq!(read(at(0), Flags::ACK, &[]), said("ACK", false));
        assert_eq!(read(at(0), Flags::ACK, &hello[..60]), said("a part of ClientHello", false));
        assert_eq!(read(at(60), Flags::ACK, &hello[60..]), said("ClientHello", false));
        assert_eq!(read(at(0), Flags::ACK, &hello[..60]), said("a part of ClientHello", true));
        assert_eq!(read(at(109), Flags::ACK | Flags::FIN, &[]), said("FIN", false));
    }

    #[test]
    fn segments_of_other_protocols_have_data() {
        let mut reader = SegmentReader::default();
        reader.read(&segment(0, Flags::SYN, &[]));
        for (seq, payload) in [(1, &b"G"[..]), (2, b"ET / HTTP/1.1")] {
            assert_eq!(reader.read(&segment(seq, Flags::ACK, payload)), ("data".to_owned(), false));
        }
        assert_eq!(reader.read(&segment(15, Flags::RST, &[])), ("RST".to_owned(), false));
    }
}
