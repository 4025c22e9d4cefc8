//! One connection, of whichever version.

use core::mem::swap;

use crate::config::{Config, Packing, Versions};
use crate::connection_id::{self, ConnectionId};
use crate::credentials::Credentials;
use crate::crypto::{Crypto, Hash};
use crate::dtls12::{self, Resuming, record};
use crate::dtls13;
use crate::dtls13::client::Dtls13;
use crate::features::{CERTIFICATES, CONNECTION_ID, DTLS13, Feature, If, LEAN, RESUMPTION, Switch};
use crate::replay::Heard;
use crate::session::Kept;
use crate::status::{HeartbeatError, Liveness, SendError, Status};
use crate::time::{Instant, Timeouts};

/// One end's half of a connection.
#[allow(clippy::large_enum_variant)] // there is no heap to put the larger one on
pub(crate) enum Connection<C: Crypto, const BUFFER: usize> {
    Dtls12(dtls12::Connection<C, BUFFER>),
    #[cfg(feature = "dtls13")]
    Dtls13(dtls13::Connection<C, BUFFER>),
}

/// Calls the same function of either version.
macro_rules! either {
    ($connection:expr, $it:ident => $what:expr) => {
        match $connection {
            Connection::Dtls12($it) => $what,
            #[cfg(feature = "dtls13")]
            Connection::Dtls13($it) => $what,
        }
    };
}

impl<C: Crypto, const BUFFER: usize> Connection<C, BUFFER> {
    /// The connection of a client that has not started.
    pub(crate) fn of_client<K>(crypto: &mut C, config: &Config<K>) -> Self {
        #[cfg(feature = "dtls13")]
        if config.options.dtls13.versions == Versions::Dtls13 {
            return Self::Dtls13(dtls13::Connection::new(crypto, true, config.timeouts));
        }
        Self::Dtls12(dtls12::Connection::new(crypto, true, config.timeouts))
    }

    /// Begins the handshake of a client.
    pub(crate) fn start(&mut self, crypto: &mut C, config: &Config<impl Credentials>, kept: &mut Kept) {
        match self {
            Self::Dtls12(connection) => dtls12::client::start::<Dtls13, _, _>(connection, crypto, config, kept),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => {
                dtls13::client::start::<dtls12::client::Dtls12, _, _>(connection, crypto, config, kept)
            }
        }
    }

    /// Processes a datagram of the server.
    pub(crate) fn receive_from_server(
        &mut self,
        crypto: &mut C,
        config: &Config<impl Credentials>,
        kept: &mut Kept,
        datagram: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
    ) {
        #[cfg_attr(not(feature = "dtls13"), allow(irrefutable_let_patterns))]
        if let Self::Dtls12(connection) = self {
            connection.receive(crypto, datagram, deliver, &mut |connection, crypto| {
                dtls12::client::handle::<Dtls13, _, _>(connection, crypto, config, kept)
            });
            #[cfg(feature = "dtls13")]
            if connection.has_chosen_dtls13() {
                *self = Self::Dtls13(take_over(connection, crypto, config.timeouts));
            }
        }
        // The datagram in which the server chooses DTLS 1.3 begins again: nothing in it was encrypted for DTLS 1.2.
        #[cfg(feature = "dtls13")]
        if let Self::Dtls13(connection) = self {
            connection.receive(crypto, datagram, deliver, &mut |connection, crypto| {
                dtls13::client::handle::<dtls12::client::Dtls12, _, _>(connection, crypto, config, kept)
            });
        }
    }

    /// Processes a datagram of the client. Says what it was to the connection.
    pub(crate) fn receive_from_client(
        &mut self,
        crypto: &mut C,
        config: &Config<impl Credentials>,
        resuming: &Option<If<RESUMPTION, Resuming<'_>>>,
        datagram: &mut [u8],
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Heard {
        match self {
            Self::Dtls12(connection) => connection.receive(crypto, datagram, deliver, &mut |connection, crypto| {
                dtls12::server::handle(connection, crypto, config, resuming)
            }),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => {
                connection.receive(crypto, datagram, deliver, &mut |connection, crypto| {
                    dtls13::server::handle(connection, crypto, config)
                });
                connection.heard()
            }
        }
    }

    /// The ID of this end, which it has offered.
    pub(crate) fn own_id(&self) -> Option<ConnectionId> {
        match self {
            Self::Dtls12(connection) => connection.own_id(),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => connection.own_id,
        }
    }

    /// Octets of the IDs of this end and of the peer, if both have agreed on any.
    pub(crate) fn connection_ids(&self) -> Option<[usize; 2]> {
        let ids = match self {
            Self::Dtls12(connection) => connection_id::agreed(&connection.agreed.connection_ids),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => connection.connection_ids(),
        };
        ids.map(|ids| ids.map(|id| id.octets().len()))
    }

    /// True if the handshake resumes a session.
    pub(crate) fn is_resumed(&self) -> bool {
        match self {
            Self::Dtls12(connection) => connection.is_resumed(),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(_) => false,
        }
    }

    /// The identity of the peer's pre-shared key. Empty: it has none, or one that is too long.
    pub(crate) fn identity(&self) -> &[u8] {
        either!(self, connection => connection.identity.octets())
    }

    /// The public key in the peer's certificate.
    pub(crate) fn peers_key(&self) -> Option<&[u8; crate::crypto::MAX_PUBLIC]> {
        match self {
            Self::Dtls12(connection) => Feature::<CERTIFICATES>::borrow(&connection.keys.first()?.certified),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => connection.certificates.first()?.peers_key.as_ref(),
        }
    }

    /// The versions that the connection can have: one, if the server has chosen.
    pub(crate) const fn versions(&self) -> Versions {
        match self {
            Self::Dtls12(connection) if connection.dtls13.is_some() => Versions::Both,
            Self::Dtls12(_) => Versions::Dtls12,
            #[cfg(feature = "dtls13")]
            Self::Dtls13(_) => Versions::Dtls13,
        }
    }

    /// Asks the peer whether it is there (RFC 6520). DTLS 1.3 of this engine does not.
    pub(crate) fn start_heartbeat(&mut self, crypto: &mut C) -> Result<(), HeartbeatError> {
        match self {
            Self::Dtls12(connection) => connection.start_heartbeat(crypto),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(_) => Err(HeartbeatError::NotAgreed),
        }
    }

    pub(crate) fn liveness(&self) -> Liveness {
        match self {
            Self::Dtls12(connection) => connection.liveness(),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(_) => Liveness::Unknown,
        }
    }

    /// True if it answers the ClientHello with this random number.
    pub(crate) fn has_answered(&self, client_random: &[u8; 32]) -> bool {
        match self {
            Self::Dtls12(connection) => connection.randoms[0] == *client_random,
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => connection.client_random == *client_random,
        }
    }

    /// The ClientHello that it answers came again, with so many octets.
    pub(crate) fn hear_hello_again(&mut self, octets: usize) {
        either!(self, connection => {
            if connection.allowance.is_limited() {
                connection.allowance.receive(octets);
            }
            connection.hear_hello_again();
        });
    }

    /// True if the client may not be where it says: neither a cookie nor an encrypted record has come from there.
    pub(crate) fn is_unverified(&self) -> bool {
        either!(self, connection => connection.allowance.is_limited())
    }

    /// The most octets of application data in a datagram of `room` octets.
    pub(crate) fn max_data(&self, room: usize) -> usize {
        either!(self, connection => connection.max_data(room))
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        either!(self, connection => connection.deadline())
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        either!(self, connection => connection.handle_timeout(now));
    }

    /// Writes the next datagram. Returns 0 if there is nothing to send.
    pub(crate) fn poll_transmit(&mut self, crypto: &mut C, now: Instant, packing: Packing, output: &mut [u8]) -> usize {
        either!(self, connection => connection.poll_transmit(crypto, now, packing, output))
    }

    /// True if this end may send data: the connection is established, or, with False Start, nearly.
    pub(crate) fn may_send(&self) -> bool {
        match self {
            Self::Dtls12(connection) => connection.may_send(),
            #[cfg(feature = "dtls13")]
            Self::Dtls13(connection) => connection.status == Status::Established,
        }
    }

    /// Encrypts application data into a datagram.
    pub(crate) fn send(&mut self, crypto: &mut C, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        either!(self, connection => connection.send(crypto, data, output))
    }

    #[cfg(feature = "dtls13")]
    pub(crate) fn update_keys(&mut self) {
        if let Self::Dtls13(connection) = self {
            connection.update_keys(true);
        }
    }

    /// Ends an established connection, and tells the peer.
    pub(crate) fn close(&mut self) {
        either!(self, connection => connection.close());
    }

    pub(crate) const fn status(&self) -> Status {
        either!(self, connection => connection.status)
    }

    /// True if it has ended, and has nothing more to say.
    pub(crate) fn is_over(&self) -> bool {
        either!(self, connection => {
            matches!(connection.status, Status::Closing | Status::Closed | Status::Failed(_)) && connection.alert.is_none()
        })
    }
}

/// Goes on with the connection of a client that has offered both versions, and whose server has chosen DTLS 1.3: the ClientHello is
/// the same, and so is what has arrived.
fn take_over<C: Crypto, const BUFFER: usize>(
    earlier: &mut dtls12::Connection<C, BUFFER>,
    crypto: &mut C,
    timeouts: Timeouts,
) -> dtls13::Connection<C, BUFFER> {
    let mut connection = dtls13::Connection::new(crypto, true, timeouts);
    connection.client_random = earlier.randoms[0];
    connection.own_id = earlier.own_id();
    connection.share = earlier.dtls13.take().and_then(|mut offered| offered.share.take());
    connection.timer = earlier.timer;
    swap(&mut connection.incoming, &mut earlier.incoming);
    let sender = &mut connection.sender;
    swap(&mut sender.flight, &mut earlier.sender.flight);
    sender.next = earlier.sender.next;
    sender.outbound.start_at(earlier.sender.outbound.next_in_clear());
    if let Some((kind, body)) = sender.flight.first() {
        sender.transcript.update(&dtls13::transcript_header(kind, body.len()));
        sender.transcript.update(body);
    }
    connection
}

/// The ID in the first record of a datagram, if it is encrypted and has one.
pub(crate) fn connection_id_of(datagram: &[u8], length: usize) -> Option<&[u8]> {
    let id = record::connection_id_of(datagram, length).filter(|_| CONNECTION_ID);
    id.or_else(|| dtls13::record::connection_id_of(datagram, length).filter(|_| DTLS13))
}

/// True if a datagram begins with a record that belongs to a handshake: a message or a ChangeCipherSpec of DTLS 1.2, encrypted or not
/// (also with the short header of the lean profile), or a record of epoch 2 of DTLS 1.3. No connection begins in another epoch.
pub(crate) fn is_of_handshake(datagram: &[u8]) -> bool {
    match datagram.first() {
        Some(20 | 22) => true,
        Some(29) => LEAN,
        Some(first @ 0x20..0x40) => DTLS13 && first & 0b11 == 2,
        _ => false,
    }
}
