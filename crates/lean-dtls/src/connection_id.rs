//! Connection IDs (RFC 9146).

#[cfg(any(feature = "connection-id", feature = "dtls13"))]
use crate::codec::{Full, Writer};
#[cfg(any(feature = "connection-id", feature = "dtls13"))]
use crate::extension::{self, CONNECTION_ID};
#[cfg(feature = "connection-id")]
pub(crate) use negotiation::{accept, confirm};

/// Octets of the longest connection ID of an end. (Assumed: enough for all devices of a server.)
pub const MAX_CONNECTION_ID: usize = 8;

/// What the receiver of a record finds its connection by. Empty: by its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    #[cfg(feature = "connection-id")]
    octets: [u8; MAX_CONNECTION_ID],
    #[cfg(feature = "connection-id")]
    length: u8,
}

impl ConnectionId {
    /// The ID of a peer. `None` if it is longer than [`MAX_CONNECTION_ID`].
    #[cfg(feature = "dtls13")]
    pub(crate) fn new(id: &[u8]) -> Option<Self> {
        #[cfg(feature = "connection-id")]
        {
            let mut octets = [0; MAX_CONNECTION_ID];
            octets.get_mut(..id.len())?.copy_from_slice(id);
            Some(Self { octets, length: id.len() as u8 })
        }
        #[cfg(not(feature = "connection-id"))]
        id.is_empty().then_some(Self {})
    }

    pub(crate) fn octets(&self) -> &[u8] {
        #[cfg(feature = "connection-id")]
        return self.octets.get(..usize::from(self.length)).unwrap_or(&[]);
        #[cfg(not(feature = "connection-id"))]
        &[]
    }

    /// Octets that it adds to a record: itself, and the content type that the header does not have any more.
    pub(crate) fn overhead(&self) -> usize {
        match self.octets().len() {
            0 => 0,
            length => length + 1,
        }
    }
}

/// Writes the extension: the connection ID of the end that sends it.
#[cfg(any(feature = "connection-id", feature = "dtls13"))]
pub(crate) fn write(writer: &mut Writer<'_>, own: &ConnectionId) -> Result<(), Full> {
    extension::write(writer, CONNECTION_ID, |writer| writer.vector(1, |writer| writer.put(own.octets())))
}

#[cfg(feature = "connection-id")]
mod negotiation {
    use super::{ConnectionId, MAX_CONNECTION_ID};
    use crate::alert;
    use crate::codec::Reader;
    use crate::crypto::Crypto;
    use crate::extension::{CONNECTION_ID, Extensions};

    impl ConnectionId {
        /// A new one of so many octets. `None` beyond [`MAX_CONNECTION_ID`].
        pub(crate) fn draw<C: Crypto>(crypto: &mut C, length: u8) -> Option<Self> {
            let mut octets = [0; MAX_CONNECTION_ID];
            crypto.random(octets.get_mut(..length.into())?);
            Some(Self { octets, length })
        }

        fn read(content: &[u8]) -> Result<Option<Self>, u8> {
            let mut reader = Reader::new(content);
            let id = reader.vector(1).filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?;
            let mut octets = [0; MAX_CONNECTION_ID];
            let Some(start) = octets.get_mut(..id.len()) else { return Ok(None) };
            start.copy_from_slice(id);
            Ok(Some(Self { octets, length: id.len() as u8 }))
        }
    }

    /// What a server with this ID takes of the client's offer: nothing, if it could not keep the client's ID.
    pub(crate) fn accept(
        extensions: Extensions<'_>,
        own: Option<ConnectionId>,
    ) -> Result<Option<[ConnectionId; 2]>, u8> {
        let peers = extensions.find(CONNECTION_ID).map(ConnectionId::read).transpose()?.flatten();
        Ok(own.zip(peers).map(<[ConnectionId; 2]>::from))
    }

    /// What a client with this ID reads in the server's answer. It cannot speak with a server whose ID is too long to keep.
    pub(crate) fn confirm(
        extensions: Extensions<'_>,
        own: Option<ConnectionId>,
    ) -> Result<Option<[ConnectionId; 2]>, u8> {
        let Some(content) = extensions.find(CONNECTION_ID) else { return Ok(None) };
        let peers = ConnectionId::read(content)?.ok_or(alert::HANDSHAKE_FAILURE)?;
        Ok(own.map(|own| [own, peers]))
    }
}
