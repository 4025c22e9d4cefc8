//! The join proxy, which keeps nothing of a pledge (section 7.1): what it needs to know of it is in the token of what it forwards,
//! protected with a key of its own.
//!
//! The protection is a matter of the proxy alone (RFC 8974 section 5.2). Here it is AES-CCM-16-64-128, as in OSCORE, with a
//! counter: the token has 4 octets of the counter, the state, and a tag of 8.

use coap_lite::{CoapOption, MessageType, Packet};
use zeroize::Zeroizing;

use super::pledge::octets_of;
use super::{EUI64, Error, SCHEME};
use crate::message;
use crate::oscore::crypto::{KEY, NONCE, Protection, TAG};
use crate::oscore::{self, Crypto};

/// Where a pledge is: on the link of its proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface identifier of its link-local address.
    pub identifier: [u8; EUI64],
    /// Its UDP port.
    pub port: u16,
}

/// Octets of the counter in a token.
const COUNTER: usize = 4;

/// Octets of the state before the pledge's own token: identifier, port, message ID, type.
const STATE: usize = EUI64 + 2 + 2 + 1;

/// The longest token that the length in the header says (RFC 7252 section 3).
const SHORT: usize = 12;

/// The length in the header of a token of `SHORT + 1` to 268 octets (RFC 8974 section 2.1): one octet more says it.
const EXTENDED: u8 = 13;

/// A join proxy.
pub struct Proxy {
    key: Zeroizing<[u8; KEY]>,
    /// The number of requests that it has forwarded. It is the nonce.
    counter: u32,
    message_id: u16,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("counter", &self.counter).finish_non_exhaustive()
    }
}

impl Proxy {
    /// A proxy with this key, which nobody else has, and which is new each time that the device starts.
    pub fn new(key: [u8; KEY]) -> Self {
        Self { key: Zeroizing::new(key), counter: 0, message_id: 0 }
    }

    /// The datagram for the registrar, of one that a pledge has sent: not confirmable, because nothing is kept to send it again,
    /// without Proxy-Scheme (RFC 7252 section 5.7.2), and with the state in its token.
    ///
    /// # Errors
    /// It is no request for a proxy, or this one has used all its nonces.
    pub fn forward(&mut self, from: Address, datagram: &[u8], crypto: &mut impl Crypto) -> Result<Vec<u8>, Error> {
        let mut request = message::decode(datagram)?;
        let is_for_proxy =
            request.get_first_option(CoapOption::ProxyScheme).is_some_and(|scheme| scheme == SCHEME.as_bytes());
        if !is_for_proxy || message::class(&request) != message::Class::Request {
            return Err(Error::Purpose);
        }
        self.counter = self.counter.checked_add(1).ok_or(Error::Oscore(oscore::Error::Exhausted))?;
        let is_confirmable = request.header.get_type() == MessageType::Confirmable;
        let mut state = Vec::with_capacity(STATE + request.get_token().len());
        state.extend(from.identifier);
        state.extend(from.port.to_be_bytes());
        state.extend(request.header.message_id.to_be_bytes());
        state.push(u8::from(is_confirmable));
        state.extend(request.get_token());
        let tag = crypto.seal(&self.protection(&nonce(self.counter)), &mut state).map_err(|_| Error::Token)?;
        let token = [&self.counter.to_be_bytes()[..], &state, &tag].concat();
        request.clear_option(CoapOption::ProxyScheme);
        request.header.set_type(MessageType::NonConfirmable);
        request.header.message_id = self.next_message_id();
        with_token(&mut request, &token)
    }

    /// The datagram for a pledge, of one that the registrar has sent, and where the pledge is. The answer to a confirmable
    /// request acknowledges it.
    ///
    /// # Errors
    /// The token is not one of this proxy.
    pub fn back(&mut self, datagram: &[u8], crypto: &mut impl Crypto) -> Result<(Address, Vec<u8>), Error> {
        let (mut response, token) = split_token(datagram)?;
        let (counter, sealed) = token.split_first_chunk::<COUNTER>().ok_or(Error::Token)?;
        let (state, tag) = sealed.split_last_chunk::<TAG>().ok_or(Error::Token)?;
        let mut state = state.to_vec();
        let nonce = nonce(u32::from_be_bytes(*counter));
        crypto.open(&self.protection(&nonce), &mut state, tag).map_err(|_| Error::Token)?;
        let (state, own_token) = state.split_first_chunk::<STATE>().ok_or(Error::Token)?;
        let [identifier @ .., port_high, port_low, id_high, id_low, is_confirmable] = *state;
        match is_confirmable {
            0 => {
                response.header.set_type(MessageType::NonConfirmable);
                response.header.message_id = self.next_message_id();
            }
            _ => {
                response.header.set_type(MessageType::Acknowledgement);
                response.header.message_id = u16::from_be_bytes([id_high, id_low]);
            }
        }
        response.set_token(own_token.to_vec());
        Ok((Address { identifier, port: u16::from_be_bytes([port_high, port_low]) }, octets_of(&response)?))
    }

    fn protection<'a>(&'a self, nonce: &'a [u8; NONCE]) -> Protection<'a> {
        Protection { key: &self.key, nonce, associated: &[] }
    }

    fn next_message_id(&mut self) -> u16 {
        self.message_id = self.message_id.wrapping_add(1);
        self.message_id
    }
}

fn nonce(counter: u32) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[NONCE - COUNTER..].copy_from_slice(&counter.to_be_bytes());
    nonce
}

/// The octets of a message with a token that may have up to 268 octets (RFC 8974 section 2.1).
pub(super) fn with_token(packet: &mut Packet, token: &[u8]) -> Result<Vec<u8>, Error> {
    packet.set_token(Vec::new());
    let octets = octets_of(packet)?;
    let (header, rest) = octets.split_first_chunk::<4>().ok_or(Error::Token)?;
    let mut header = *header;
    let mut written = match token.len().checked_sub(SHORT + 1).map(u8::try_from) {
        None => {
            header[0] |= token.len() as u8;
            header.to_vec()
        }
        Some(Ok(longer)) => {
            header[0] |= EXTENDED;
            [&header[..], &[longer]].concat()
        }
        Some(Err(_)) => return Err(Error::Token),
    };
    written.extend_from_slice(token);
    written.extend_from_slice(rest);
    Ok(written)
}

/// A message without its token, which may have up to 268 octets, and the token.
pub(super) fn split_token(datagram: &[u8]) -> Result<(Packet, &[u8]), Error> {
    let Some((header, rest)) = datagram.split_first_chunk::<4>() else {
        return Err(message::decode(datagram).err().map_or(Error::Token, Error::Message));
    };
    let (length, rest) = match header[0] & 0xf {
        length @ 0..EXTENDED => (usize::from(length), rest),
        EXTENDED => {
            let (longer, rest) = rest.split_first().ok_or(Error::Token)?;
            (SHORT + 1 + usize::from(*longer), rest)
        }
        _ => return Err(Error::Token),
    };
    let (token, rest) = rest.split_at_checked(length).ok_or(Error::Token)?;
    let mut header = *header;
    header[0] &= 0xf0;
    Ok((message::decode(&[&header[..], rest].concat())?, token))
}
