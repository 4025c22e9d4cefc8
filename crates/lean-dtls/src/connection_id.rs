//! Connection IDs (RFC 9146).

use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::crypto::Crypto;
use crate::extension::{self, CONNECTION_ID, Extensions};
use crate::features::{self, Feature, Off, OrOff, Switch};
use crate::octets::Octets;

/// Octets of the longest connection ID of an end. (Assumed: enough for all devices of a server.)
pub const MAX_CONNECTION_ID: usize = 8;

/// The ID by which the receiver of a record finds its connection. Empty: by its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionId(OrOff<{ features::CONNECTION_ID }, Octets<MAX_CONNECTION_ID>>);

impl Off for Octets<MAX_CONNECTION_ID> {
    const OFF: &'static Self = &Self::EMPTY;
}

impl ConnectionId {
    /// The ID of a peer. `None` if it is longer than this end can keep.
    pub(crate) fn new(id: &[u8]) -> Option<Self> {
        match features::CONNECTION_ID {
            true => Octets::new(id).map(|id| Self(Feature::<{ features::CONNECTION_ID }>::or_off(id))),
            false => id.is_empty().then(Self::default),
        }
    }

    /// A new one of so many octets. `None` beyond [`MAX_CONNECTION_ID`].
    pub(crate) fn draw<C: Crypto>(crypto: &mut C, length: u8) -> Option<Self> {
        let mut octets = [0; MAX_CONNECTION_ID];
        let id = octets.get_mut(..length.into()).filter(|_| features::CONNECTION_ID)?;
        crypto.random(id);
        Self::new(id)
    }

    pub(crate) fn octets(&self) -> &[u8] {
        self.0.octets()
    }

    /// Octets that it adds to a record: itself, and the content type that the header does not have any more.
    pub(crate) fn overhead(&self) -> usize {
        match self.octets().len() {
            0 => 0,
            length => length + 1,
        }
    }
}

/// The IDs of this end and of its peer, if both have agreed on any.
pub(crate) const fn agreed(ids: &Option<[ConnectionId; 2]>) -> Option<[ConnectionId; 2]> {
    *ids
}

/// Writes the extension: the connection ID of the end that sends it.
pub(crate) fn write(writer: &mut Writer<'_>, own: &ConnectionId) -> Result<(), Full> {
    extension::write(writer, CONNECTION_ID, |writer| writer.vector(1, |writer| writer.put(own.octets())))
}

/// The ID that is sent in the extension. `None` if it is longer than this end can keep.
fn read(content: &[u8]) -> Result<Option<ConnectionId>, u8> {
    let mut reader = Reader::new(content);
    let id = reader.vector(1).filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?;
    Ok(ConnectionId::new(id))
}

/// Returns what a server with this ID takes of the client's offer: nothing, if it could not keep the client's ID.
pub(crate) fn accept(extensions: Extensions<'_>, own: Option<ConnectionId>) -> Result<Option<[ConnectionId; 2]>, u8> {
    let peers = extensions.find_if(features::CONNECTION_ID, CONNECTION_ID).map(read).transpose()?.flatten();
    Ok(own.zip(peers).map(<[ConnectionId; 2]>::from))
}

/// Reads the server's answer for a client with this ID. It cannot speak with a server whose ID is too long to keep.
pub(crate) fn confirm(extensions: Extensions<'_>, own: Option<ConnectionId>) -> Result<Option<[ConnectionId; 2]>, u8> {
    let Some(content) = extensions.find_if(features::CONNECTION_ID, CONNECTION_ID) else { return Ok(None) };
    let peers = read(content)?.ok_or(alert::HANDSHAKE_FAILURE)?;
    Ok(own.map(|own| [own, peers]))
}
