//! The octets of a frame in lines of words, from the link layer to the records of DTLS. Where tshark is at hand, it says more.

use serde::Serialize;
use slowhand_coap::message::is_coap;
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::ip::{self, Ipv6Header, control, discovery};
use slowhand_net::lowpan::context::Contexts;
use slowhand_net::lowpan::fragment::FragmentHeader;
use slowhand_net::lowpan::mesh::MeshHeader;
use slowhand_net::lowpan::recovery::{Rfrag, RfragAck};
use slowhand_net::lowpan::{Link, MAX_DECOMPRESSED, decompress};
use slowhand_net::radio::frame::{Address, FCS, FrameType, FrameView};
use slowhand_net::transport::dccp;
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_wire::dtls;
use std::collections::BTreeMap;

/// Frames in words, each line once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Decoded {
    /// The lines. Two spaces in front stand for one layer of depth.
    pub lines: Vec<String>,
    /// The places of the lines of each frame.
    pub frames: Vec<Vec<usize>>,
    #[serde(skip)]
    places: BTreeMap<String, usize>,
}

impl Decoded {
    /// Adds a frame, in words.
    pub(super) fn add(&mut self, words: Vec<String>) {
        let frame = words.into_iter().map(|line| {
            let next = self.lines.len();
            *self.places.entry(line).or_insert_with_key(|line| {
                self.lines.push(line.clone());
                next
            })
        });
        let frame = frame.collect();
        self.frames.push(frame);
    }
}

/// Reads frames of one network.
pub(super) struct Dissector {
    pub(super) contexts: Contexts,
    /// The length of connection IDs.
    pub(super) connection_id: u8,
    pub(super) is_dtls: bool,
}

impl Dissector {
    /// A frame with its FCS, from one node to another, as it is on the air.
    pub(super) fn lines(&self, octets: &[u8], from: NodeId, to: NodeId) -> Vec<String> {
        let mut lines = Vec::new();
        let frame = octets.len().checked_sub(FCS).map(|end| FrameView::parse(&octets[..end]));
        let Some(Ok(frame)) = frame else {
            return vec![format!("{} octets that are no frame of IEEE 802.15.4", octets.len())];
        };
        let header = frame.header();
        let kind = match header.frame_type {
            FrameType::Beacon => "beacon",
            FrameType::Data => "data",
            FrameType::Ack => "acknowledgement",
            FrameType::Command => "MAC command",
        };
        lines.push(format!("IEEE 802.15.4: {kind}, {} octets", octets.len()));
        let mut add = |line: String| lines.push(format!("  {line}"));
        if let Some(sequence) = header.sequence {
            add(format!("sequence number {sequence}"));
        }
        add(format!("version {:?}", header.version).to_lowercase().replace("version v", "frame version "));
        for (what, pan, address) in
            [("destination", header.destination_pan, header.destination), ("source", header.source_pan, header.source)]
        {
            if let Some(address) = address {
                let pan = pan.map_or(String::new(), |pan| format!(", PAN {pan:#06x}"));
                add(format!("{what} {}{pan}", address_in_words(address)));
            }
        }
        if header.ack_request {
            add("it asks for an acknowledgement".to_owned());
        }
        if header.frame_pending {
            add("more frames are pending".to_owned());
        }
        let [header_ies, payload_ies] = [frame.header_ies().count(), frame.payload_ies().count()];
        if header_ies + payload_ies > 0 {
            add(format!("information elements: {header_ies} in the header, {payload_ies} in the payload"));
        }
        if let Some(security) = header.security {
            add(format!("secured: {:?}, {} octets of MIC", security.level, frame.mic().len()));
            return lines;
        }
        if header.frame_type == FrameType::Data && !frame.payload().is_empty() {
            let link = Link { source: Eui64::of_node(from), destination: Eui64::of_node(to) };
            self.lowpan(frame.payload(), link, &mut lines);
        }
        lines
    }

    fn lowpan(&self, payload: &[u8], link: Link, lines: &mut Vec<String>) {
        if let Ok((mesh, rest)) = MeshHeader::parse(payload) {
            let MeshHeader { hops_left, originator, destination } = mesh;
            lines.push(format!("6LoWPAN mesh header: node {originator} to node {destination}, {hops_left} hops left"));
            // Headers below were compressed for these two.
            let [source, destination] = [originator, destination].map(|node| Eui64::of_node(NodeId(node)));
            return self.lowpan(rest, Link { source, destination }, lines);
        }
        if let Ok((header, rest)) = FragmentHeader::parse(payload) {
            let FragmentHeader { datagram_size, datagram_tag, datagram_offset } = header;
            let what = if datagram_offset.is_none() { "first fragment" } else { "fragment" };
            lines.push(format!("6LoWPAN {what} (RFC 4944): tag {datagram_tag}, datagram of {datagram_size} octets"));
            match datagram_offset {
                Some(offset) => {
                    let begin = 8 * usize::from(offset);
                    lines.push(format!("  {} octets from octet {begin} of the datagram", rest.len()));
                }
                None => self.packet(rest, link, Some(datagram_size.into()), lines),
            }
            return;
        }
        if let Ok((header, rest)) = Rfrag::parse(payload) {
            let Rfrag { tag, sequence, fragment_size, fragment_offset, wants_acknowledgement, .. } = header;
            lines.push(format!(
                "6LoWPAN recoverable fragment (RFC 8931): tag {tag}, number {sequence}, {fragment_size} octets"
            ));
            if wants_acknowledgement {
                lines.push("  it asks for an acknowledgement".to_owned());
            }
            match sequence {
                0 => self.packet(rest, link, None, lines),
                _ => lines.push(format!("  from octet {fragment_offset} of the compressed datagram")),
            }
            return;
        }
        if let Ok(RfragAck { tag, bitmap, .. }) = RfragAck::parse(payload) {
            lines.push(format!("6LoWPAN acknowledgement of fragments (RFC 8931): tag {tag}, bitmap {bitmap:032b}"));
            return;
        }
        self.packet(payload, link, None, lines);
    }

    /// A packet, or what the first fragment has of it.
    fn packet(&self, payload: &[u8], link: Link, size: Option<usize>, lines: &mut Vec<String>) {
        let mut headers = [0; MAX_DECOMPRESSED];
        let done = match decompress(payload, link, &self.contexts, size, &mut headers) {
            Ok(done) => done,
            Err(error) => return lines.push(format!("6LoWPAN: not read: {error}")),
        };
        let (consumed, written) = (done.consumed, done.written);
        let what = if done.payload {
            "header compression (RFC 6282), with the payload"
        } else {
            "header compression (RFC 6282)"
        };
        lines.push(format!("6LoWPAN {what}: {consumed} octets for {written}"));
        let packet = [&headers[..written], &payload[consumed..]].concat();
        let Ok(header) = Ipv6Header::parse(&packet) else { return };
        let Ipv6Header { source, destination, hop_limit, payload_length, next_header, .. } = header;
        lines.push(format!("IPv6: {source} to {destination}"));
        lines.push(format!("  hop limit {hop_limit}, payload of {payload_length} octets, next header {next_header}"));
        let body = &packet[Ipv6Header::LENGTH.min(packet.len())..];
        match next_header {
            ip::next_header::UDP => self.udp(body, lines),
            ip::next_header::TCP => tcp(body, lines),
            ip::next_header::DCCP => self.dccp(body, lines),
            ip::next_header::ICMPV6 => {
                let of_rpl = control::parse(&packet).map(|(_, message)| format!("{message:?}"));
                let of_discovery = || {
                    let (_, discovery::Message { kind, ghc }) = discovery::parse(&packet)?;
                    let told = if ghc { ", with a 6CIO: GHC is understood (RFC 7400)" } else { "" };
                    Some(format!("{kind:?}{told}"))
                };
                let what = of_rpl.or_else(of_discovery);
                let number = || format!("type {}", body.first().copied().unwrap_or_default());
                let what = what.unwrap_or_else(number);
                lines.push(format!("ICMPv6: {what}"));
            }
            _ => {}
        }
    }

    fn udp(&self, body: &[u8], lines: &mut Vec<String>) {
        let Ok(header) = ip::udp::UdpHeader::parse(body) else { return };
        let ip::udp::UdpHeader { source_port, destination_port, length, .. } = header;
        lines.push(format!("UDP: port {source_port} to {destination_port}, {length} octets with header"));
        self.records(&body[ip::udp::UdpHeader::LENGTH..], lines);
    }

    fn dccp(&self, body: &[u8], lines: &mut Vec<String>) {
        let Ok(packet) = dccp::Packet::parse(body) else {
            return lines.push("DCCP: a packet that goes on in later fragments".to_owned());
        };
        let dccp::Packet { source_port, destination_port, seq, body, payload, .. } = packet;
        lines.push(format!(
            "{}: port {source_port} to {destination_port}, {} octets of payload",
            body.name(),
            payload.len()
        ));
        lines.push(format!("  sequence number {seq}"));
        if let Some(ack) = body.ack() {
            lines.push(format!("  acknowledgement number {ack}"));
        }
        self.records(payload, lines);
    }

    /// The records of DTLS in a datagram.
    fn records(&self, datagram: &[u8], lines: &mut Vec<String>) {
        // A message of CoAP carries a flight of DTLS, or comes before it.
        if !self.is_dtls || is_coap(datagram) {
            return;
        }
        for record in dtls::records(datagram, Some(self.connection_id)) {
            let Ok(record) = record else {
                lines.push("DTLS: a record that goes on in later fragments, or has a short header".to_owned());
                return;
            };
            let (kind, octets) = (format!("{:?}", record.content_type), record.fragment.len());
            let dtls::Record { epoch, sequence_number, .. } = record;
            lines.push(format!("DTLS record: {kind}, epoch {epoch}, number {sequence_number}, {octets} octets"));
            if record.is_protected() {
                lines.push("  encrypted".to_owned());
            }
            for message in record.fragments().map_while(Result::ok) {
                let (begin, end) = (message.fragment_offset, message.end());
                lines.push(format!("  {:?}: octets {begin} to {end} of {}", message.message_type, message.length));
            }
        }
    }
}

fn tcp(body: &[u8], lines: &mut Vec<String>) {
    let Ok(segment) = Segment::parse(body) else {
        return lines.push("TCP: a segment that goes on in later fragments".to_owned());
    };
    let Segment { source_port, destination_port, window, flags, .. } = segment;
    lines.push(format!("TCP: port {source_port} to {destination_port}, {} octets of payload", segment.payload.len()));
    let names =
        [(Flags::SYN, "SYN"), (Flags::ACK, "ACK"), (Flags::PSH, "PSH"), (Flags::FIN, "FIN"), (Flags::RST, "RST")];
    let set: Vec<&str> = names.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).collect();
    lines.push(format!("  {}, sequence number {}, window {window}", set.join(" "), segment.seq.0));
    if flags.contains(Flags::ACK) {
        lines.push(format!("  it acknowledges all before {}", segment.ack.0));
    }
}

fn address_in_words(address: Address) -> String {
    match address {
        Address::Short(address) => format!("{address:#06x}"),
        Address::Extended(Eui64(octets)) => {
            let octets: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            octets.join(":")
        }
    }
}
