//! Protects and verifies requests and responses (section 8).

use coap_lite::{CoapOption, Packet};

use super::context::{Context, Key, Received};
use super::cose::{self, Binding};
use super::crypto::{Crypto, NONCE, Protection, TAG};
use super::exchange::{ClientExchange, ServerExchange};
use super::message::{self, Kind, Split};
use super::option::{PartialIv, Value};
use super::replay::Window;
use super::{Error, echo};

/// A request that was verified.
#[derive(Debug)]
#[must_use]
pub enum Incoming {
    /// A request that is new, and with what its responses are protected.
    Request(Packet, ServerExchange),
    /// After a restart, the server does not know if the request is new. This is the answer, already protected: the client is to
    /// repeat the request with an Echo option (appendix B.1.2). The request must not be processed.
    ///
    /// If the request is not confirmable, the Message ID of the answer is to be replaced.
    Challenge(Packet),
}

impl Context {
    /// Protects a request (section 8.1): Message ID, token, Uri-Host, Uri-Port and Proxy-Scheme stay as they are; its code, its
    /// other options and its payload are encrypted; Observe is on both sides. It costs 12 octets and those of the sequence
    /// number and of the Sender ID, and with an ID Context one more and those of it.
    ///
    /// A retransmission is not protected again: it is the same octets.
    ///
    /// # Errors
    /// [`Error::Code`], [`Error::Nested`], [`Error::ProxyUri`], [`Error::TooLong`], [`Error::Exhausted`].
    pub fn protect_request(
        &mut self,
        request: &Packet,
        crypto: &mut impl Crypto,
    ) -> Result<(Packet, ClientExchange), Error> {
        let split = message::split(request, Kind::Request)?;
        let partial_iv = self.next_sequence_number()?;
        let binding = Binding { kid: self.sender_id.clone(), partial_iv };
        let nonce = cose::nonce(&self.common_iv, &self.sender_id, partial_iv);
        let option = Value {
            partial_iv: Some(partial_iv),
            kid_context: self.id_context.clone(),
            kid: Some(self.sender_id.clone()),
        };
        let protected = self.seal(split, &option, &nonce, &binding, crypto)?;
        Ok((protected, ClientExchange::new(binding, is_registration(request))))
    }

    /// Verifies a request (section 8.2). Its Outer blocks have been put together before.
    ///
    /// # Errors
    /// [`Error::NotProtected`], [`Error::Block`]; those with an [answer](Error::answer): [`Error::Malformed`],
    /// [`Error::UnknownContext`], [`Error::Replayed`], [`Error::Decryption`]; [`Error::Plaintext`]. After a restart also those of
    /// [`protect_response`](Self::protect_response).
    pub fn unprotect_request(&mut self, received: &Packet, crypto: &mut impl Crypto) -> Result<Incoming, Error> {
        let option = option_of(received, Kind::Request)?;
        let (Some(kid), Some(partial_iv)) = (&option.kid, option.partial_iv) else { return Err(Error::Malformed) };
        if !self.is_named_by(&option) {
            return Err(Error::UnknownContext);
        }
        let sequence = partial_iv.sequence();
        if let Received::Known(window) = &self.received
            && !window.is_new(sequence)
        {
            return Err(Error::Replayed);
        }
        let binding = Binding { kid: kid.clone(), partial_iv };
        let nonce = cose::nonce(&self.common_iv, &self.recipient_id, partial_iv);
        let plaintext = open(received, &self.recipient_key, &nonce, &binding, crypto)?;
        if let Received::Known(window) = &mut self.received {
            window.receive(sequence);
        }
        let request = message::join(received, &plaintext, Kind::Request)?;
        let mut exchange = ServerExchange::new(binding);
        if let Received::Lost { echo } = self.received {
            if !echo::is_repeated(&request, &echo) {
                // A request may come twice, and so its nonce must not be used.
                exchange.use_own_sequence_number();
                let challenge = echo::challenge(received, &echo);
                return self.protect_response(&challenge, &mut exchange, crypto).map(Incoming::Challenge);
            }
            self.received = Received::Known(Window::from(sequence));
        }
        Ok(Incoming::Request(request, exchange))
    }

    /// Protects a response (section 8.3), also an error of the application, and each notification of an observation.
    ///
    /// The first response to a request costs 11 octets, because it uses the nonce of the request. All others have a
    /// sequence number of the server, as section 4.1.3.5.2 asks of notifications.
    ///
    /// # Errors
    /// [`Error::Code`], [`Error::Nested`], [`Error::TooLong`], [`Error::Exhausted`].
    pub fn protect_response(
        &mut self,
        response: &Packet,
        exchange: &mut ServerExchange,
        crypto: &mut impl Crypto,
    ) -> Result<Packet, Error> {
        let split = message::split(response, Kind::Response)?;
        let request = &exchange.request;
        let (partial_iv, nonce) = match exchange.is_nonce_left() {
            true => (None, cose::nonce(&self.common_iv, &request.kid, request.partial_iv)),
            false => {
                let partial_iv = self.next_sequence_number()?;
                (Some(partial_iv), cose::nonce(&self.common_iv, &self.sender_id, partial_iv))
            }
        };
        exchange.use_own_sequence_number();
        let option = Value { partial_iv, ..Value::default() };
        self.seal(split, &option, &nonce, &exchange.request, crypto)
    }

    /// Verifies a response to a request of this context (section 8.4). Its Outer blocks have been put together before.
    ///
    /// The Observe option of a notification is then the lower 24 bits of its sequence number, and 0 if it has none. They grow
    /// from one notification to the next: each that is not later than all before it is refused.
    ///
    /// # Errors
    /// [`Error::NotProtected`] for a response of [`Error::answer`], or of a proxy; [`Error::Block`], [`Error::Malformed`],
    /// [`Error::UnknownContext`], [`Error::Replayed`], [`Error::Decryption`], [`Error::Plaintext`], [`Error::Notification`]. The
    /// response is then to be ignored: the right one may still come.
    pub fn unprotect_response(
        &self,
        received: &Packet,
        exchange: &mut ClientExchange,
        crypto: &mut impl Crypto,
    ) -> Result<Packet, Error> {
        let option = option_of(received, Kind::Response)?;
        let is_own = option.kid.as_ref().is_none_or(|kid| *kid == self.recipient_id)
            && (option.kid_context.is_none() || option.kid_context == self.id_context);
        if !is_own {
            return Err(Error::UnknownContext);
        }
        if exchange.is_finished() {
            return Err(Error::Replayed);
        }
        let nonce = match option.partial_iv {
            Some(partial_iv) => cose::nonce(&self.common_iv, &self.recipient_id, partial_iv),
            None => cose::nonce(&self.common_iv, &exchange.request.kid, exchange.request.partial_iv),
        };
        let plaintext = open(received, &self.recipient_key, &nonce, &exchange.request, crypto)?;
        let mut response = message::join(received, &plaintext, Kind::Response)?;
        let is_notification = response.get_first_option(CoapOption::Observe).is_some();
        exchange.receive(is_notification, option.partial_iv)?;
        if is_notification {
            let sequence = option.partial_iv.map_or(0, PartialIv::sequence);
            response.set_observe_value(sequence as u32 & 0xff_ffff);
        }
        Ok(response)
    }

    /// Encrypts a message that was taken apart, and puts it together again.
    fn seal(
        &self,
        split: Split,
        option: &Value,
        nonce: &[u8; NONCE],
        request: &Binding,
        crypto: &mut impl Crypto,
    ) -> Result<Packet, Error> {
        let Split { outer: mut message, plaintext: mut content } = split;
        let with = Protection { key: &self.sender_key.0, nonce, associated: &cose::associated(request) };
        let tag = crypto.seal(&with, &mut content).map_err(|_| Error::TooLong)?;
        content.extend_from_slice(&tag);
        message.add_option(CoapOption::Oscore, option.write());
        message.payload = content;
        Ok(message)
    }
}

/// The OSCORE option of a whole message.
fn option_of(received: &Packet, kind: Kind) -> Result<Value, Error> {
    let option = Value::of(received)?.ok_or(Error::NotProtected)?;
    if message::is_block(received, kind) { Err(Error::Block) } else { Ok(option) }
}

/// Decrypts the payload.
fn open(
    received: &Packet,
    key: &Key,
    nonce: &[u8; NONCE],
    request: &Binding,
    crypto: &mut impl Crypto,
) -> Result<Vec<u8>, Error> {
    // A protected message has a payload (section 2), with a code and a tag at least.
    let (content, tag) = received.payload.split_last_chunk::<TAG>().ok_or(Error::Malformed)?;
    let mut content = content.to_vec();
    let with = Protection { key: &key.0, nonce, associated: &cose::associated(request) };
    crypto.open(&with, &mut content, tag).map_err(|_| Error::Decryption)?;
    Ok(content)
}

/// True if the request asks for notifications: Observe is 0 (RFC 7641, section 2).
fn is_registration(request: &Packet) -> bool {
    request.get_first_option(CoapOption::Observe).is_some_and(|value| value.iter().all(|octet| *octet == 0))
}
