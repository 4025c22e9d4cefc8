//! The initiator: it sends message_1 and message_3 (sections 5.2.2, 5.3.3 and 5.4.2).

use lakers::{
    EdhocBuffer, EdhocMessageBuffer, InitiatorStart, P256_ELEM_LEN, ProcessedM3, ProcessingM2, SHA256_DIGEST_LEN,
    WaitM2,
};
use zeroize::Zeroizing;

use super::credential::{ConnectionId, Credential, Identity, find};
use super::crypto::Crypto;
use super::established::Established;
use super::wiped::Wiped;
use super::{Error, bridge, check};
use crate::cbor::Cbor;

/// Method 3 (section 3.2).
const METHOD: u8 = lakers::EDHOC_METHOD;
/// The label of KEYSTREAM_2 (section 4.1.2).
const KEYSTREAM_2: u8 = 0;

/// An end that has sent message_1.
#[derive(Debug)]
pub struct Initiator {
    state: Wiped<WaitM2>,
    c_i: ConnectionId,
}

/// Why message_2 was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The error.
    pub error: Error,
    /// Where a CoAP client sends the error message to: it is known if message_2 was read that far.
    pub c_r: Option<ConnectionId>,
}

impl Initiator {
    /// Composes message_1: a key pair and a hash. `suites` are all cipher suites that this end prefers to the one that it selects, in
    /// its order, then the selected one (section 5.2.2). It must be 2: `&[2]`, or `&[6, 2]` after an error message that says so.
    ///
    /// # Errors
    /// [`Error::Suites`].
    pub fn start(c_i: ConnectionId, suites: &[u8], crypto: &mut impl Crypto) -> Result<(Self, Vec<u8>), Error> {
        let is_fine = suites.split_last().is_some_and(|(selected, preferred)| {
            // `lakers` writes 24 as one octet.
            *selected == lakers::EDHOC_SUPPORTED_SUITES[0]
                && preferred.iter().all(|suite| *suite < 24 && suite != selected)
        });
        let Some(suites_i) = EdhocBuffer::new_from_slice(suites).ok().filter(|_| is_fine) else {
            return Err(Error::Suites(suites.to_vec()));
        };
        let pair = crypto.generate();
        let state = Wiped(InitiatorStart { suites_i, method: METHOD, x: *pair.private, g_x: pair.public });
        let (state, message) =
            bridge::call(crypto, |crypto| lakers::i_prepare_message_1(&state, crypto, c_i.0, &None))?;
        Ok((Self { state: Wiped(state), c_i }, message.as_slice().to_vec()))
    }

    /// Processes message_2, or an error message in its place, and composes message_3. This end may send protected requests from now
    /// on; if the responder is to prove that it has got message_3, it sends message_4 or a protected message (section 5.4.2).
    ///
    /// It takes three agreements: of both ephemeral keys, and of each end's static key with the other's ephemeral one.
    ///
    /// # Errors
    /// [`Error::Peer`], and all errors that have a [message](Error::message) for the peer.
    pub fn receive(
        self,
        message_2: &[u8],
        own: &Identity,
        known: &[Credential],
        crypto: &mut impl Crypto,
    ) -> Result<(Established, Vec<u8>), Failure> {
        let mut c_r = None;
        self.process(message_2, own, known, &mut c_r, crypto).map_err(|error| Failure { error, c_r })
    }

    fn process(
        self,
        message_2: &[u8],
        own: &Identity,
        known: &[Credential],
        found: &mut Option<ConnectionId>,
        crypto: &mut impl Crypto,
    ) -> Result<(Established, Vec<u8>), Error> {
        let (g_y, ciphertext) = check::string(message_2)?.split_first_chunk().ok_or(Error::Malformed)?;
        let state = self.decrypt(g_y, ciphertext, found, crypto)?;
        let c_r = ConnectionId(state.c_r);
        // RFC 9668, section 4.1.3.
        if c_r == self.c_i {
            return Err(Error::SameIds);
        }
        let peer = find(known, state.id_cred_r)?;
        let id = own.credential.id(own.transfer)?;
        check::room(
            c_r.encoded(),
            state.id_cred_r.as_full_value(),
            peer.octets(),
            state.plaintext_2.len,
            check::length(&state.ead_2),
        )?;
        // The plaintext has a MAC of 9 octets behind the identifier.
        check::room(&[], id.as_full_value(), own.credential.octets(), id.as_encoded_value().len() + 9, 0)?;

        let verified = bridge::call(crypto, |crypto| lakers::i_verify_message_2(&state, crypto, peer.0, &own.private))?;
        let verified = Wiped(verified);
        let (state, message, prk_out) = bridge::call(crypto, |crypto| {
            lakers::i_prepare_message_3(&verified, crypto, own.credential.0, own.transfer.into(), &None)
        })?;
        drop(Zeroizing::new(prk_out));
        let state = Wiped(state);
        let keys = Wiped(ProcessedM3 {
            prk_4e3m: state.prk_4e3m,
            th_4: state.th_4,
            prk_out: state.prk_out,
            prk_exporter: state.prk_exporter,
        });
        let established = Established { keys, peer, own_id: self.c_i, peer_id: c_r };
        Ok((established, message.as_slice().to_vec()))
    }

    /// Decrypts and reads message_2 (section 5.3.3). `lakers` does both in one, and panics at a plaintext with a long C_R, which
    /// whoever sends message_2 chooses.
    fn decrypt(
        &self,
        g_y: &[u8; P256_ELEM_LEN],
        ciphertext: &[u8],
        found: &mut Option<ConnectionId>,
        crypto: &mut impl Crypto,
    ) -> Result<Wiped<ProcessingM2>, Error> {
        let hashed = Cbor::default().octets(g_y).octets(&self.state.h_message_1).finish();
        let th_2 = crypto.hash(&hashed);
        let g_xy = crypto.agree(&bridge::scalar(&self.state.x), g_y).map_err(|_| Error::Key)?;
        let prk_2e = crypto.extract(&th_2, &g_xy[..]);
        let mut context = [0; lakers::MAX_KDF_CONTEXT_LEN];
        context[..SHA256_DIGEST_LEN].copy_from_slice(&th_2);
        let (info, length) = lakers::encode_info(KEYSTREAM_2, &context, SHA256_DIGEST_LEN, ciphertext.len());
        let mut plaintext = Zeroizing::new(vec![0; ciphertext.len()]);
        crypto.expand_to(&prk_2e, &info[..length], &mut plaintext);
        plaintext.iter_mut().zip(ciphertext).for_each(|(octet, cipher)| *octet ^= cipher);
        *found = Some(check::plaintext_2(&plaintext)?);
        let plaintext_2 = EdhocMessageBuffer::new_from_slice(&plaintext).map_err(|_| Error::TooLong)?;
        let (c_r, id_cred_r, mac_2, ead_2) = lakers::decode_plaintext_2(&plaintext_2)?;
        Ok(Wiped(ProcessingM2 {
            mac_2,
            prk_2e: *prk_2e,
            th_2,
            x: self.state.x,
            g_y: *g_y,
            plaintext_2,
            c_r,
            id_cred_r,
            ead_2,
        }))
    }
}
