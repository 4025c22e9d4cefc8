//! The registrar and coordinator of a network (JRC): it knows the devices that may join, and gives them keys.

use std::collections::BTreeMap;

use coap_lite::{MessageClass, MessageType, Packet, ResponseType};

use super::proxy::{split_token, with_token};
use super::{Configuration, EUI64, Error, JoinRequest, Key, PATH, REGISTRAR, ShortIdentifier, device_of};
use crate::message::{self, RequestType};
use crate::oscore::{self, Context, Crypto, Incoming};

/// A registrar.
#[derive(Debug)]
pub struct Registrar {
    network: Vec<u8>,
    keys: Vec<Key>,
    members: BTreeMap<[u8; EUI64], Member>,
    message_id: u16,
}

/// A device that may join.
#[derive(Debug)]
struct Member {
    context: Context,
    short_identifier: ShortIdentifier,
    /// The protected payload of its last request, and the answer.
    last: Option<(Vec<u8>, Packet)>,
}

impl Registrar {
    /// A registrar of the network with this identifier, which gives these keys.
    pub fn new(network: &[u8], keys: Vec<Key>) -> Self {
        Self { network: network.to_vec(), keys, members: BTreeMap::new(), message_id: 0 }
    }

    /// Lets the device with this EUI-64 join, with whom it shares `secret` (section 3). Devices get the short addresses 1, 2, and
    /// so on, for ever.
    ///
    /// # Errors
    /// None with these lengths: what [`Context::derive`] says.
    pub fn provision(&mut self, device: [u8; EUI64], secret: &[u8; 16], crypto: &mut impl Crypto) -> Result<(), Error> {
        let address = (self.members.len() as u16 + 1).to_be_bytes();
        let short_identifier = ShortIdentifier { address, lease_hours: None };
        let context = super::context(secret, &device, [REGISTRAR, &[]], crypto)?;
        self.members.insert(device, Member { context, short_identifier, last: None });
        Ok(())
    }

    /// The datagram that answers a Join Request (section 8.1.2), with the token of the request.
    ///
    /// A request that comes again, octet by octet as OSCORE has protected it, gets the same answer: a pledge that has not heard
    /// the first answer sends the same message again (RFC 7252 section 4.5), and a proxy without state cannot know that it did.
    ///
    /// # Errors
    /// It is no Join Request of a device that is provisioned.
    pub fn answer(&mut self, datagram: &[u8], crypto: &mut impl Crypto) -> Result<Vec<u8>, Error> {
        let (request, token) = split_token(datagram)?;
        let member = self.members.get_mut(&device_of(&request)?).ok_or(Error::UnknownDevice)?;
        let mut response = match &member.last {
            Some((last, answer)) if *last == request.payload => answer.clone(),
            _ => {
                let answer = member.answer(&request, &self.network, &self.keys, crypto)?;
                member.last = Some((request.payload, answer.clone()));
                answer
            }
        };
        self.message_id = self.message_id.wrapping_add(1);
        response.header.message_id = self.message_id;
        with_token(&mut response, token)
    }
}

impl Member {
    fn answer(
        &mut self,
        request: &Packet,
        network: &[u8],
        keys: &[Key],
        crypto: &mut impl Crypto,
    ) -> Result<Packet, Error> {
        let (request, mut exchange) = match self.context.unprotect_request(request, crypto)? {
            Incoming::Request(request, exchange) => (request, exchange),
            // This context has never lost its window.
            Incoming::Challenge(_) => return Err(Error::Oscore(oscore::Error::Replayed)),
        };
        let is_post = request.header.code == MessageClass::Request(RequestType::Post);
        if !is_post || message::path(&request) != PATH {
            return Err(Error::Purpose);
        }
        if JoinRequest::read(&request.payload)?.network != network {
            return Err(Error::Purpose);
        }
        let short_identifier = Some(self.short_identifier);
        let configuration = Configuration { keys: keys.to_vec(), short_identifier, registrar: None };
        let mut response = message::response(ResponseType::Changed, configuration.write());
        response.header.set_type(MessageType::NonConfirmable);
        Ok(self.context.protect_response(&response, &mut exchange, crypto)?)
    }
}
