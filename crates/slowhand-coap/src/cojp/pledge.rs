//! The device that joins.

use coap_lite::{CoapOption, MessageClass, MessageType, Packet, ResponseType};

use super::{Configuration, EUI64, Error, HOST, JoinRequest, PATH, REGISTRAR, SCHEME};
use crate::message::{self, RequestType};
use crate::oscore::{self, ClientExchange, Context, Crypto};

/// A device that joins: its context with the registrar, and the request that is open.
#[derive(Debug)]
pub struct Pledge {
    context: Context,
    open: Option<ClientExchange>,
}

impl Pledge {
    /// The device with this EUI-64, which shares `secret` with the registrar (section 7.3).
    ///
    /// # Errors
    /// None with these lengths: what [`Context::derive`] says.
    pub fn new(secret: &[u8; 16], device: [u8; EUI64], crypto: &mut impl Crypto) -> Result<Self, Error> {
        Ok(Self { context: super::context(secret, &device, [&[], REGISTRAR], crypto)?, open: None })
    }

    /// The datagram with a Join Request (section 8.1.1), without token: there is one request at a time. A response to an
    /// earlier one is no longer accepted. A confirmable request is sent again as it is.
    ///
    /// # Errors
    /// Of OSCORE: no sequence number is left.
    pub fn request(
        &mut self,
        object: &JoinRequest,
        message_id: u16,
        is_confirmable: bool,
        crypto: &mut impl Crypto,
    ) -> Result<Vec<u8>, Error> {
        let mut request = message::request(RequestType::Post, PATH);
        let kind = if is_confirmable { MessageType::Confirmable } else { MessageType::NonConfirmable };
        request.header.set_type(kind);
        request.header.message_id = message_id;
        request.add_option(CoapOption::UriHost, HOST.into());
        request.add_option(CoapOption::ProxyScheme, SCHEME.into());
        request.payload = object.write();
        let (request, exchange) = self.context.protect_request(&request, crypto)?;
        self.open = Some(exchange);
        octets_of(&request)
    }

    /// The result of a Join Response (section 8.1.2).
    ///
    /// # Errors
    /// The datagram is not the response to the last request, or the registrar refuses it.
    pub fn receive(&mut self, datagram: &[u8], crypto: &mut impl Crypto) -> Result<Configuration, Error> {
        let response = message::decode(datagram)?;
        let exchange = self.open.as_mut().filter(|open| !open.is_finished()).ok_or(Error::Unexpected)?;
        let response = self.context.unprotect_response(&response, exchange, crypto)?;
        match response.header.code {
            MessageClass::Response(ResponseType::Changed) => Configuration::read(&response.payload),
            code => Err(Error::Refused(code.into())),
        }
    }
}

/// The octets of a message that was made here.
pub(super) fn octets_of(packet: &Packet) -> Result<Vec<u8>, Error> {
    packet.to_bytes_unlimited().map_err(|_| Error::Oscore(oscore::Error::TooLong))
}
