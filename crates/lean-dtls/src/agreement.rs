//! Key agreement: an ephemeral key pair (RFC 8446, section 4.2.8).

#[cfg(feature = "ecdhe")]
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::config::Config;
use crate::credentials::Credentials;
use crate::crypto::{Crypto, Group, SCALAR};

/// An ephemeral key pair.
#[cfg(feature = "ecdhe")]
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Share {
    #[zeroize(skip)]
    group: Group,
    private: [u8; SCALAR],
    #[zeroize(skip)]
    public: [u8; crate::crypto::MAX_PUBLIC],
}

#[cfg(feature = "ecdhe")]
impl Share {
    /// A new one. `None` if the implementation does not have the group.
    pub(crate) fn generate<C: Crypto>(crypto: &mut C, group: Group) -> Option<Self> {
        let mut public = [0; crate::crypto::MAX_PUBLIC];
        let private = crypto.generate(group, &mut public[..group.public()]).ok()?;
        Some(Self { group, private, public })
    }

    pub(crate) const fn group(&self) -> Group {
        self.group
    }

    pub(crate) fn public(&self) -> &[u8] {
        &self.public[..self.group.public()]
    }

    /// The secret that is shared with the owner of this public key. `None` if that is no key of the group.
    pub(crate) fn agree<C: Crypto>(&self, crypto: &mut C, public: &[u8]) -> Option<[u8; SCALAR]> {
        if public.len() != self.group.public() {
            return None;
        }
        crypto.agree(self.group, &self.private, public).ok()
    }
}

/// There is none without the feature `ecdhe`.
#[cfg(not(feature = "ecdhe"))]
pub(crate) enum Share {}

#[cfg(not(feature = "ecdhe"))]
impl Share {
    pub(crate) fn generate<C: Crypto>(_: &mut C, _: Group) -> Option<Self> {
        None
    }

    pub(crate) const fn group(&self) -> Group {
        match *self {}
    }

    pub(crate) const fn public(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn agree<C: Crypto>(&self, _: &mut C, _: &[u8]) -> Option<[u8; SCALAR]> {
        match *self {}
    }
}

/// A key pair in the group that this client prefers, if it offers any.
pub(crate) fn generate_share<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>) -> Option<Share> {
    config.offered_groups().first().and_then(|group| Share::generate(crypto, *group))
}
