//! A client that offers both versions in one ClientHello: what each version asks of the other, which it does not know. `connection`
//! brings them together.

use crate::agreement::{Share, generate_share};
use crate::codec::{Full, Writer};
use crate::config::Config;
use crate::connection_id::ConnectionId;
use crate::credentials::Credentials;
use crate::crypto::Crypto;
use crate::session::Kept;

/// The end of the random number of a server that speaks DTLS 1.3, and chooses DTLS 1.2 (RFC 8446, section 4.1.3).
pub(crate) const DOWNGRADE: [u8; 8] = *b"DOWNGRD\x01";

/// True if this is the random number of a server that speaks DTLS 1.3: the last octet says which earlier version it has chosen.
pub(crate) fn is_downgrade(random: &[u8; 32]) -> bool {
    random[24..31] == DOWNGRADE[..7] && random[31] <= 1
}

/// The offer of DTLS 1.2 that a client makes beside DTLS 1.3 in the same ClientHello.
pub(crate) trait Beside {
    /// Writes its suites, which the client prefers.
    fn write_suites(&self, writer: &mut Writer<'_>) -> Result<(), Full>;

    /// Writes its extensions, which end the hello. Those that both versions have are among them.
    fn write_extensions(&self, writer: &mut Writer<'_>) -> Result<(), Full>;
}

/// DTLS 1.3, for a client of DTLS 1.2 that offers it too.
pub(crate) trait Later {
    /// The part of the offer in the ClientHello.
    type Offer<'a>: Beside + Copy;

    /// Returns the part of its ClientHello beside the offer of DTLS 1.2.
    fn offer<'a>(
        offered: &'a Offered,
        config: &'a Config<impl Credentials>,
        connection_id: Option<ConnectionId>,
    ) -> Self::Offer<'a>;

    /// Completes the body of a ClientHello with such an offer. The transcript is what comes before it.
    fn bind<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>, transcript: &C::Hash, body: &mut [u8]);

    /// True if the server chooses it with a ServerHello of this body.
    fn is_chosen(body: &[u8]) -> bool;
}

/// DTLS 1.2, for a client of DTLS 1.3 that offers it too.
pub(crate) trait Earlier {
    /// Writes the body of a ClientHello that offers both.
    fn write_hello(
        writer: &mut Writer<'_>,
        random: &[u8; 32],
        config: &Config<impl Credentials>,
        connection_id: Option<ConnectionId>,
        kept: &Kept,
        later: &impl Beside,
    ) -> Result<(), Full>;
}

/// The state that a client that offers DTLS 1.2 too needs if the server chooses DTLS 1.3.
pub(crate) struct Offered {
    pub(crate) share: Option<Share>,
    pub(crate) is_chosen: bool,
}

impl Offered {
    pub(crate) fn new<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>) -> Self {
        Self { share: generate_share(crypto, config), is_chosen: false }
    }
}
