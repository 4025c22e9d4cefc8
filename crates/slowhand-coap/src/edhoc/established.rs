//! The result of message_3 for both ends: keys for whatever they like, and who the peer is.

use lakers::{Completed, EdhocMessageBuffer, ProcessedM3, WaitM4};
use zeroize::{Zeroize, Zeroizing};

use super::credential::{ConnectionId, Credential};
use super::crypto::Crypto;
use super::wiped::Wiped;
use super::{Error, bridge, check};
use crate::oscore::{Context, Parameters};

/// Octets of the Master Secret and of the Master Salt of OSCORE (appendix A.1).
const MASTER_SECRET: usize = 16;
const MASTER_SALT: usize = 8;
/// The labels by which they are derived (section 10.1).
const MASTER_SECRET_LABEL: u8 = 0;
const MASTER_SALT_LABEL: u8 = 1;

/// A session with an authenticated peer.
#[derive(Debug)]
pub struct Established {
    pub(super) keys: Wiped<ProcessedM3>,
    pub(super) peer: Credential,
    /// C_I of the initiator, C_R of the responder.
    pub(super) own_id: ConnectionId,
    pub(super) peer_id: ConnectionId,
}

impl Established {
    /// Who the peer is: one of the known credentials.
    pub const fn peer(&self) -> &Credential {
        &self.peer
    }

    /// By what messages to this end name the session.
    pub const fn own_id(&self) -> &ConnectionId {
        &self.own_id
    }

    /// By what messages to the peer name the session.
    pub const fn peer_id(&self) -> &ConnectionId {
        &self.peer_id
    }

    /// Composes message_4, which proves to the initiator that the responder has got message_3 (section 5.5.2). It is the same
    /// each time. The initiator does not send it.
    ///
    /// # Errors
    /// [`Error::TooLong`] if the cryptography refuses it.
    pub fn message_4(&self, crypto: &mut impl Crypto) -> Result<Vec<u8>, Error> {
        let (completed, message) =
            bridge::call(crypto, |crypto| lakers::r_prepare_message_4(&self.keys, crypto, &None))?;
        drop(Wiped(completed));
        Ok(message.as_slice().to_vec())
    }

    /// Verifies message_4, or reads an error message in its place (section 5.5.3).
    ///
    /// # Errors
    /// [`Error::Peer`], and errors that have a [message](Error::message) for the peer. The session is then over.
    pub fn verify_message_4(&self, message_4: &[u8], crypto: &mut impl Crypto) -> Result<(), Error> {
        check::string(message_4)?;
        let message_4 = EdhocMessageBuffer::new_from_slice(message_4).map_err(|_| Error::TooLong)?;
        let ProcessedM3 { prk_4e3m, th_4, prk_out, prk_exporter } = *self.keys;
        let mut state = Wiped(WaitM4 { prk_4e3m, th_4, prk_out, prk_exporter });
        let (completed, _) = bridge::call_with(crypto, check::plaintext_4, |crypto| {
            lakers::i_process_message_4(&mut state, crypto, &message_4)
        })?;
        drop(Wiped(completed));
        Ok(())
    }

    /// EDHOC_Exporter (section 4.2.1): fills `output` with octets that both ends have, and nobody else.
    ///
    /// # Errors
    /// [`Error::Export`].
    pub fn export(&self, label: u8, context: &[u8], output: &mut [u8], crypto: &mut impl Crypto) -> Result<(), Error> {
        // `lakers` writes the label and both lengths in one octet each.
        if label > 23 || context.len() > u8::MAX.into() || output.len() > u8::MAX.into() {
            return Err(Error::Export);
        }
        let state = Wiped(Completed { prk_out: self.keys.prk_out, prk_exporter: self.keys.prk_exporter });
        let mut room = [0; lakers::MAX_KDF_CONTEXT_LEN];
        room[..context.len()].copy_from_slice(context);
        let mut exported = bridge::call(crypto, |crypto| {
            Ok(lakers::edhoc_exporter(&state, crypto, label, &room, context.len(), output.len()))
        })?;
        output.copy_from_slice(&exported[..output.len()]);
        exported.zeroize();
        Ok(())
    }

    /// Derives the context of OSCORE (appendix A.1): two exports, and what [`Context::derive`] takes. The Sender ID of an end is the
    /// connection identifier of its peer.
    ///
    /// There is one context of a session: another one would use each nonce again.
    ///
    /// # Errors
    /// None: the connection identifiers are different and short enough.
    pub fn oscore(&self, crypto: &mut impl Crypto) -> Result<Context, Error> {
        let mut secret = Zeroizing::new([0; MASTER_SECRET]);
        let mut salt = [0; MASTER_SALT];
        self.export(MASTER_SECRET_LABEL, &[], &mut secret[..], crypto)?;
        self.export(MASTER_SALT_LABEL, &[], &mut salt, crypto)?;
        let parameters = Parameters {
            master_secret: &secret[..],
            master_salt: &salt,
            id_context: None,
            sender_id: self.peer_id().octets(),
            recipient_id: self.own_id().octets(),
        };
        Context::derive(&parameters, crypto).map_err(|_| Error::SameIds)
    }
}
