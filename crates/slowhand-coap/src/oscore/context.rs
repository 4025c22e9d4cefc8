//! The security context (section 3): what an end derives from the secret that it shares with its peer.

use std::fmt;

use zeroize::Zeroizing;

use super::Error;
use super::crypto::{ALGORITHM, Crypto, KEY, NONCE, Secret};
use super::option::{PartialIv, Value};
use super::replay::Window;
use crate::cbor::Cbor;

/// The number of sequence numbers that a recipient remembers (section 3.2.2, the default).
const REPLAY_WINDOW: u64 = 32;

/// Octets of the longest Sender ID: those of the nonce without six (section 3.3).
const MAX_ID: usize = NONCE - 6;

/// Octets of the longest ID Context, whose length takes one octet (section 6.1).
const MAX_ID_CONTEXT: usize = 255;

/// Octets of the Echo value of [`Context::after_restart`]: 64 bits, as RFC 9175, section 5, asks for at least.
pub const ECHO: usize = 8;

/// The parameters that both ends agree on beforehand (section 3.2). The algorithms are the mandatory ones: AES-CCM-16-64-128 and HKDF with
/// SHA-256.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    /// A secret of any length that nobody else knows, with 128 bits of entropy or more (section 12.3).
    pub master_secret: &'a [u8],
    /// May be empty.
    pub master_salt: &'a [u8],
    /// Tells apart contexts with the same secret and IDs. Requests carry it: at most 255 octets.
    pub id_context: Option<&'a [u8]>,
    /// The name of this end: 0 to 7 octets. Requests carry it.
    pub sender_id: &'a [u8],
    /// The name of the peer, another one.
    pub recipient_id: &'a [u8],
}

/// A key of AES-128. It is wiped when it goes, and is never printed.
pub(super) struct Key(pub(super) Zeroizing<[u8; KEY]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// The context that an end shares with one peer. Both may be client and server at once.
///
/// There is one copy of it: two copies would use a nonce twice.
#[derive(Debug)]
pub struct Context {
    pub(super) common_iv: [u8; NONCE],
    pub(super) id_context: Option<Vec<u8>>,
    pub(super) sender_id: Vec<u8>,
    pub(super) sender_key: Key,
    /// The Sender Sequence Number: that of the next message.
    sequence_number: u64,
    pub(super) recipient_id: Vec<u8>,
    pub(super) recipient_key: Key,
    pub(super) received: Received,
}

/// Which requests of the peer have been received.
#[derive(Debug)]
pub(super) enum Received {
    /// The numbers of the Replay Window.
    Known(Window<REPLAY_WINDOW>),
    /// Nobody knows: a request that repeats this value is the first one (appendix B.1.2).
    Lost { echo: [u8; ECHO] },
}

impl Context {
    /// Derives a context that has never been used (section 3.2): one HKDF-Extract and three HKDF-Expand.
    ///
    /// # Errors
    /// [`Error::IdTooLong`], [`Error::IdContextTooLong`], [`Error::SameIds`].
    pub fn derive(parameters: &Parameters<'_>, crypto: &mut impl Crypto) -> Result<Self, Error> {
        let Parameters { master_secret, master_salt, id_context, sender_id, recipient_id } = *parameters;
        if let Some(id) = [sender_id, recipient_id].into_iter().find(|id| id.len() > MAX_ID) {
            return Err(Error::IdTooLong(id.len()));
        }
        if let Some(context) = id_context.filter(|context| context.len() > MAX_ID_CONTEXT) {
            return Err(Error::IdContextTooLong(context.len()));
        }
        if sender_id == recipient_id {
            return Err(Error::SameIds);
        }
        let extracted = crypto.extract(master_salt, master_secret);
        let mut key = |id| Key(Zeroizing::new(first(&crypto.expand(&extracted, &info(id, id_context, "Key", KEY)))));
        let (sender_key, recipient_key) = (key(sender_id), key(recipient_id));
        let common_iv = first(&crypto.expand(&extracted, &info(&[], id_context, "IV", NONCE)));
        Ok(Self {
            common_iv,
            id_context: id_context.map(<[u8]>::to_vec),
            sender_id: sender_id.to_vec(),
            sender_key,
            sequence_number: 0,
            recipient_id: recipient_id.to_vec(),
            recipient_key,
            received: Received::Known(Window::default()),
        })
    }

    /// The context of an end that has lost what changes in it: it has been used, and was derived anew (appendix B.1).
    ///
    /// No message may have had `sequence_number` or a larger one. A device stores [each](Self::sequence_number) that is a
    /// multiple of some K, and goes on K and a reserve after the one that is stored. A server does not accept a request before a
    /// client has repeated `echo`, which is random and new at each restart.
    #[must_use]
    pub fn after_restart(self, sequence_number: u64, echo: [u8; ECHO]) -> Self {
        Self { sequence_number, received: Received::Lost { echo }, ..self }
    }

    /// The sequence number of the next message that gets one.
    pub const fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    /// True if a request with this option is for this context (section 8.2): with its Recipient ID, and no ID Context but its own.
    pub fn is_named_by(&self, option: &Value) -> bool {
        option.kid.as_ref() == Some(&self.recipient_id)
            && (option.kid_context.is_none() || option.kid_context == self.id_context)
    }

    /// A sequence number that no message has had.
    pub(super) fn next_sequence_number(&mut self) -> Result<PartialIv, Error> {
        let partial_iv = PartialIv::new(self.sequence_number).ok_or(Error::Exhausted)?;
        self.sequence_number += 1;
        Ok(partial_iv)
    }
}

/// For what a key or the Common IV is derived (section 3.2.1).
fn info(id: &[u8], id_context: Option<&[u8]>, kind: &str, length: usize) -> Vec<u8> {
    let info = Cbor::array(5).octets(id);
    let info = match id_context {
        Some(context) => info.octets(context),
        None => info.null(),
    };
    info.unsigned(ALGORITHM.into()).text(kind).unsigned(length).finish()
}

/// The first octets of HKDF's output.
fn first<const N: usize>(output: &Secret) -> [u8; N] {
    const { assert!(N <= super::crypto::DIGEST) };
    std::array::from_fn(|place| output[place])
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::{octets, text};

    use super::super::RustCrypto;
    use super::*;

    /// Appendices C.1 to C.3, at the client and at the server.
    #[test]
    fn contexts_are_those_of_the_standard() {
        let secret = octets("0102030405060708090a0b0c0d0e0f10");
        let salt = octets("9e7ca92223786340");
        let id_context = octets("37cbf3210017a2d3");
        for (salt, id_context, client, keys, common_iv) in [
            (
                &salt[..],
                None,
                &[][..],
                ["f0910ed7295e6ad4b54fc793154302ff", "ffb14e093c94c9cac9471648b4f98710"],
                "4622d4dd6d944168eefb54987c",
            ),
            (
                &[],
                None,
                &[0],
                ["321b26943253c7ffb6003b0b64d74041", "e57b5635815177cd679ab4bcec9d7dda"],
                "be35ae297d2dace910c52e99f9",
            ),
            (
                &salt,
                Some(&id_context[..]),
                &[],
                ["af2a1300a5e95788b356336eeecd2b92", "e39a0c7c77b43f03b4b39ab9a268699f"],
                "2ca58fb85ff1b81c0b7181b85e",
            ),
        ] {
            for (sender_id, recipient_id, [sender_key, recipient_key]) in
                [(client, &[1][..], keys), (&[1], client, [keys[1], keys[0]])]
            {
                let parameters =
                    Parameters { master_secret: &secret, master_salt: salt, id_context, sender_id, recipient_id };
                let context = Context::derive(&parameters, &mut RustCrypto).unwrap();
                assert_eq!(text(&context.sender_key.0[..]), sender_key);
                assert_eq!(text(&context.recipient_key.0[..]), recipient_key);
                assert_eq!(text(&context.common_iv), common_iv);
                assert_eq!(context.sequence_number(), 0);
                assert!(!format!("{context:?}").contains(&sender_key[..4]), "a key was printed");
            }
        }
    }

    /// Appendices C.1 to C.3.
    #[test]
    fn infos_are_those_of_the_standard() {
        let context = octets("37cbf3210017a2d3");
        for (id, id_context, kind, length, expected) in [
            (&[][..], None, "Key", KEY, "8540f60a634b657910"),
            (&[1], None, "Key", KEY, "854101f60a634b657910"),
            (&[], None, "IV", NONCE, "8540f60a6249560d"),
            (&[0], None, "Key", KEY, "854100f60a634b657910"),
            (&[], Some(&context[..]), "Key", KEY, "85404837cbf3210017a2d30a634b657910"),
            (&[1], Some(&context), "Key", KEY, "8541014837cbf3210017a2d30a634b657910"),
            (&[], Some(&context), "IV", NONCE, "85404837cbf3210017a2d30a6249560d"),
        ] {
            assert_eq!(text(&info(id, id_context, kind, length)), expected);
        }
    }

    #[test]
    fn parameters_that_would_break_the_protection_are_refused() {
        let parameters = Parameters {
            master_secret: &[7; 16],
            master_salt: &[],
            id_context: None,
            sender_id: &[1; 7],
            recipient_id: &[2; 7],
        };
        let error = |parameters: Parameters<'_>| Context::derive(&parameters, &mut RustCrypto).err();
        assert_eq!(error(parameters), None);
        assert_eq!(error(Parameters { sender_id: &[1; 8], ..parameters }), Some(Error::IdTooLong(8)));
        assert_eq!(error(Parameters { recipient_id: &[1; 9], ..parameters }), Some(Error::IdTooLong(9)));
        assert_eq!(error(Parameters { recipient_id: &[1; 7], ..parameters }), Some(Error::SameIds));
        assert_eq!(error(Parameters { id_context: Some(&[1; 255]), ..parameters }), None);
        assert_eq!(error(Parameters { id_context: Some(&[1; 256]), ..parameters }), Some(Error::IdContextTooLong(256)));
    }
}
