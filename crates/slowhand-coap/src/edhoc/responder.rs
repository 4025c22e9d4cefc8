//! The responder: it sends message_2 (sections 5.2.3, 5.3.2 and 5.4.3).

use lakers::{EdhocMessageBuffer, ResponderStart, WaitM3};
use zeroize::Zeroizing;

use super::credential::{ConnectionId, Credential, Identity, find};
use super::crypto::Crypto;
use super::established::Established;
use super::wiped::Wiped;
use super::{Error, bridge, check};

/// An end that has sent message_2.
#[derive(Debug)]
pub struct Responder {
    state: Wiped<WaitM3>,
    c_i: ConnectionId,
    c_r: ConnectionId,
}

impl Responder {
    /// Processes message_1, and composes message_2: a key pair and two agreements. C_R is the first of `choices` that is not C_I
    /// (RFC 9668, section 4.1.2): no session of this server, and no context of OSCORE, has it.
    ///
    /// # Errors
    /// [`Error::SameIds`] if there is no such choice; else errors that have a [message](Error::message) for the peer.
    pub fn start(
        message_1: &[u8],
        choices: &[ConnectionId],
        own: &Identity,
        crypto: &mut impl Crypto,
    ) -> Result<(Self, Vec<u8>), Error> {
        let c_i = check::message_1(message_1)?;
        let c_r = *choices.iter().find(|choice| **choice != c_i).ok_or(Error::SameIds)?;
        let id = own.credential.id(own.transfer)?;
        // The plaintext has a MAC of 9 octets behind the identifiers.
        let plaintext = c_r.encoded().len() + id.as_encoded_value().len() + 9;
        check::room(c_r.encoded(), id.as_full_value(), own.credential.octets(), plaintext, 0)?;
        let message_1 = EdhocMessageBuffer::new_from_slice(message_1).map_err(|_| Error::TooLong)?;

        let pair = crypto.generate();
        let start = Wiped(ResponderStart { method: lakers::EDHOC_METHOD, y: *pair.private, g_y: pair.public });
        let (state, ..) = bridge::call(crypto, |crypto| lakers::r_process_message_1(&start, crypto, &message_1))?;
        let state = Wiped(state);
        let (state, message) = bridge::call(crypto, |crypto| {
            let Identity { credential, private, transfer } = own;
            lakers::r_prepare_message_2(&state, crypto, credential.0, private, c_r.0, (*transfer).into(), &None)
        })?;
        Ok((Self { state: Wiped(state), c_i, c_r }, message.as_slice().to_vec()))
    }

    /// By what the initiator names this session.
    pub const fn c_r(&self) -> &ConnectionId {
        &self.c_r
    }

    /// Processes message_3, or an error message in its place: one agreement. The initiator is then who it says.
    ///
    /// # Errors
    /// [`Error::Peer`], and errors that have a [message](Error::message) for the peer.
    pub fn receive(
        mut self,
        message_3: &[u8],
        known: &[Credential],
        crypto: &mut impl Crypto,
    ) -> Result<Established, Error> {
        check::string(message_3)?;
        let message_3 = EdhocMessageBuffer::new_from_slice(message_3).map_err(|_| Error::TooLong)?;
        let (state, id, external) = bridge::call_with(crypto, check::plaintext_3, |crypto| {
            lakers::r_parse_message_3(&mut self.state, crypto, &message_3)
        })?;
        let mut state = Wiped(state);
        let peer = find(known, id)?;
        check::room(&[], id.as_full_value(), peer.octets(), state.plaintext_3.len, check::length(&external))?;
        let (keys, prk_out) = bridge::call(crypto, |crypto| lakers::r_verify_message_3(&mut state, crypto, peer.0))?;
        drop(Zeroizing::new(prk_out));
        Ok(Established { keys: Wiped(keys), peer, own_id: self.c_r, peer_id: self.c_i })
    }
}
