//! The messages between a joiner router and the border agent: RLY_RX.ntf with what a joiner has sent, RLY_TX.ntf with what
//! it is to receive. Each is a request of CoAP (RFC 7252) that asks for no answer, with TLVs of Thread's commissioning.

/// Version 1, not confirmable, a token of 2 octets (`OT_COAP_DEFAULT_TOKEN_LENGTH`; RFC 7252 section 3).
const NON_CONFIRMABLE: u8 = 0b0101_0010;

/// POST (RFC 7252 section 12.1.1).
const POST: u8 = 0x02;

/// The options Uri-Path (11) "c" and "rx" or "tx", as differences from the number before (RFC 7252 section 3.1), up to the
/// first letter of the second (`uri_paths.cpp`).
const URI_PATH: [u8; 3] = [0xb1, b'c', 0x02];

/// Between options and payload.
const PAYLOAD_MARKER: u8 = 0xff;

/// Types of TLVs (`openthread/dataset.h`, `OT_MESHCOP_TLV_JOINER_*`).
mod tlv {
    pub const JOINER_DTLS_ENCAPSULATION: u8 = 17;
    pub const JOINER_UDP_PORT: u8 = 18;
    pub const JOINER_IID: u8 = 19;
    pub const JOINER_ROUTER_LOCATOR: u8 = 20;
    /// In the place of a length: a length of two octets follows (`ExtendedTlv`).
    pub const EXTENDED: u8 = 255;
}

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the joiner: RLY_RX.ntf.
    FromJoiner,
    /// To the joiner: RLY_TX.ntf.
    ToJoiner,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay<'a> {
    /// Which way the datagram goes.
    pub direction: Direction,
    /// The message ID of CoAP.
    pub message_id: u16,
    /// The token of CoAP.
    pub token: [u8; 2],
    /// The UDP port of the joiner.
    pub joiner_port: u16,
    /// The interface identifier of the joiner.
    pub joiner_identifier: [u8; 8],
    /// The short address of the joiner router.
    pub joiner_router: u16,
    /// The datagram, which the joiner has sent or is to receive.
    pub datagram: &'a [u8],
}

impl<'a> Relay<'a> {
    /// The octets of a message beside the datagram: 12 of CoAP, 22 of TLVs.
    pub const OVERHEAD: usize = 34;

    /// Adds the message to `out`, with the TLVs in the order of `JoinerRouter::HandleUdpReceive`. The datagram has at most
    /// 65,535 octets: it came in a packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([NON_CONFIRMABLE, POST]);
        out.extend(self.message_id.to_be_bytes());
        out.extend(self.token);
        out.extend(URI_PATH);
        out.extend(match self.direction {
            Direction::FromJoiner => b"rx",
            Direction::ToJoiner => b"tx",
        });
        out.push(PAYLOAD_MARKER);
        out.extend([tlv::JOINER_UDP_PORT, 2]);
        out.extend(self.joiner_port.to_be_bytes());
        out.extend([tlv::JOINER_IID, 8]);
        out.extend(self.joiner_identifier);
        out.extend([tlv::JOINER_ROUTER_LOCATOR, 2]);
        out.extend(self.joiner_router.to_be_bytes());
        out.extend([tlv::JOINER_DTLS_ENCAPSULATION, tlv::EXTENDED]);
        out.extend((self.datagram.len() as u16).to_be_bytes());
        out.extend(self.datagram);
    }

    /// Reads a message. TLVs may have any order, and others may stand between them. `None` if it is not such a message.
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        let (&[NON_CONFIRMABLE, POST, id_high, id_low, token_high, token_low], rest) = octets.split_first_chunk()?
        else {
            return None;
        };
        let (path, rest) = rest.strip_prefix(&URI_PATH)?.split_at_checked(2)?;
        let direction = match path {
            b"rx" => Direction::FromJoiner,
            b"tx" => Direction::ToJoiner,
            _ => return None,
        };
        let tlvs = rest.strip_prefix(&[PAYLOAD_MARKER])?;
        Some(Self {
            direction,
            message_id: u16::from_be_bytes([id_high, id_low]),
            token: [token_high, token_low],
            joiner_port: u16::from_be_bytes(find(tlvs, tlv::JOINER_UDP_PORT)?.try_into().ok()?),
            joiner_identifier: find(tlvs, tlv::JOINER_IID)?.try_into().ok()?,
            joiner_router: u16::from_be_bytes(find(tlvs, tlv::JOINER_ROUTER_LOCATOR)?.try_into().ok()?),
            datagram: find(tlvs, tlv::JOINER_DTLS_ENCAPSULATION)?,
        })
    }
}

/// The value of the first TLV of a type.
fn find(mut tlvs: &[u8], wanted: u8) -> Option<&[u8]> {
    loop {
        let (&[kind, length], rest) = tlvs.split_first_chunk()?;
        let (length, rest) = match length {
            tlv::EXTENDED => rest.split_first_chunk().map(|(length, rest)| (u16::from_be_bytes(*length), rest))?,
            length => (length.into(), rest),
        };
        let (value, rest) = rest.split_at_checked(length.into())?;
        if kind == wanted {
            return Some(value);
        }
        tlvs = rest;
    }
}

#[cfg(test)]
mod tests;
