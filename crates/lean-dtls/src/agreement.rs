//! Key agreement: an ephemeral key pair (RFC 8446, section 4.2.8).

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::config::Config;
use crate::credentials::Credentials;
use crate::crypto::{Crypto, Group, MAX_PUBLIC, SCALAR};
use crate::features::{ECDHE, Feature, If, Switch};

/// An ephemeral key pair. There is none without the feature `ecdhe`.
pub(crate) type Share = If<ECDHE, KeyPair>;

#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct KeyPair {
    #[zeroize(skip)]
    group: Group,
    private: [u8; SCALAR],
    #[zeroize(skip)]
    public: [u8; MAX_PUBLIC],
}

impl KeyPair {
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

/// A new key pair. `None` if the implementation does not have the group.
pub(crate) fn generate<C: Crypto>(crypto: &mut C, group: Group) -> Option<Share> {
    if !ECDHE {
        return None;
    }
    let mut public = [0; MAX_PUBLIC];
    let private = crypto.generate(group, &mut public[..group.public()]).ok()?;
    Feature::<ECDHE>::only(|| KeyPair { group, private, public })
}

/// A key pair in the group that this client prefers, if it offers any.
pub(crate) fn generate_share<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>) -> Option<Share> {
    config.offered_groups().first().and_then(|group| generate(crypto, *group))
}
