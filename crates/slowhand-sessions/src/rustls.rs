//! rustls.
//!
//! The library does no I/O. It takes the time from a [`TimeProvider`] and all its cryptography from a provider. The
//! provider here ([`provider`]) takes randomness from the device, and its operations advance the device's clock. The
//! library does not report when it verifies the peer's Finished, so the handshake is complete at the end of that call.
//!
//! All that a call sends is one write. Without resumption, the server sends no tickets. With resumption, it sends one.
//! This ticket is only the name of a session that the server keeps, because the library encrypts tickets only with its
//! own cryptography.
//!
//! QUIC ([`quic`]) is quinn-proto, with the TLS 1.3 and the packet protection of rustls. [`config`] has the configurations of both.

mod config;
mod packets;
pub(crate) mod provider;
pub(crate) mod quic;
mod symmetric;

use std::io::{self, IoSlice, Read, Write};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, Error, ServerConnection};

use self::config::{failure, general};
use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::check::Checked;
use crate::config::{CredentialKind, Negotiated, Protocol, Role, Stack};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::operation::Curve;
use crate::session::{Failure, Resumable};
use crate::tls::{CertificateCompression, Resumption, Suite};

/// The capabilities of the library.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    stack: Stack::RUSTLS,
    is_built: true,
    // The library does not report its version; `build.rs` gets it from cargo.
    version: env!("SLOWHAND_RUSTLS_VERSION"),
    licence: "Apache-2.0 OR ISC OR MIT",
    credentials: &[CredentialKind::Certificate],
    datagrams: Some(Datagrams {
        minimum_mtu: &[(CredentialKind::Certificate, quic::LEAST_MTU)],
        minimum_mtu_reason: "QUIC pads its first datagrams to that, RFC 9000 section 14.1",
        fragments: true,
        without_packing: false,
        timer: Timer {
            first: quic::FIRST_TIMEOUT,
            maximum: MaximumTimeout::TimesFirst(quic::MAXIMUM_BACKOFF),
            least: Duration::from_millis(3),
            most: Duration::from_secs(3600),
            measures: false,
            backs_off: false,
        },
    }),
    weightless: &[],
    tls: TlsCapabilities {
        suites: provider::SUITES,
        versions: &[
            TlsVersion {
                protocol: Protocol::Tls12,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[Resumption::Id],
                certificate_compressions: &[],
            },
            TlsVersion {
                protocol: Protocol::Tls13,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[Resumption::Ticket],
                certificate_compressions: &[CertificateCompression::Zlib],
            },
            TlsVersion {
                protocol: Protocol::Quic,
                curves: &[Curve::Secp256r1],
                fragment_lengths: &[],
                resumptions: &[Resumption::Ticket],
                certificate_compressions: &[CertificateCompression::Zlib],
            },
        ],
        rsa_bits: &[],
        connection_id: None,
        lean: false,
        without_cookie: false,
        needs_cookie_for_public_keys: false,
        cookieless: false,
        identity_with_nul: false,
        longest_psk: 0,
        psk_modes: &[],
        imports_psk: false,
        record_size_limit: false,
        takes_any_chain: false,
        false_start: false,
        forgets_flight_on_data: false,
    },
    remarks: &["one write per flight", "QUIC by quinn-proto"],
};

/// One end of a rustls session.
pub(crate) struct Rustls {
    end: End,
    /// The configuration, which keeps the session for resumption.
    resumable: Option<Resumable>,
    protocol: Protocol,
}

enum End {
    /// A client that has not started. It has no connection, because a new connection computes a ClientHello at once.
    Idle(Arc<ClientConfig>),
    Connected(Box<Connection>),
}

impl Rustls {
    /// A session of a checked configuration. It resumes `previous`.
    ///
    /// # Errors
    /// The library's own error if it refuses the configuration.
    pub(crate) fn new(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<Self, Failure> {
        let (end, resumable) = end(checked, previous).map_err(|error| failure(&error))?;
        let resumable = checked.tls.resumption.map(|_| resumable);
        Ok(Self { end, resumable, protocol: checked.config.protocol() })
    }

    /// Calls `act` with the connection, then writes what the library sends. `act` returns true if the peer has closed
    /// the session.
    fn drive(&mut self, act: impl FnOnce(&mut Connection) -> Result<bool, Error>) -> Progress {
        let End::Connected(connection) = &mut self.end else { return progress(State::Handshaking) };
        let acted = act(connection);
        // Also after an error: the library may send an alert.
        let written = write(connection);
        progress(match (written, acted) {
            (Err(error), _) | (_, Err(error)) => State::Failed(failure(&error)),
            (Ok(()), Ok(true)) => State::ClosedByPeer,
            (Ok(()), Ok(false)) if connection.is_handshaking() => State::Handshaking,
            (Ok(()), Ok(false)) => State::Established,
        })
    }
}

/// The library has no timers.
fn progress(state: State) -> Progress {
    Progress { state, deadline: None }
}

/// Gives all of the input to the library. Returns true if the peer has closed the session.
fn read(connection: &mut Connection, mut input: &[u8]) -> Result<bool, Error> {
    let mut data = [0; 4096];
    let mut is_closed = false;
    while !input.is_empty() && !is_closed {
        connection.read_tls(&mut input).map_err(general)?;
        is_closed = connection.process_new_packets()?.peer_has_closed();
        // Takes all data out, because the library reads no more when its buffer is full.
        while let Ok(length @ 1..) = connection.reader().read(&mut data) {
            device::deliver(&data[..length]);
        }
    }
    Ok(is_closed)
}

/// Writes what the library sends.
fn write(connection: &mut Connection) -> Result<(), Error> {
    while connection.wants_write() {
        connection.write_tls(&mut Socket).map_err(general)?;
    }
    Ok(())
}

/// The destination of the library's writes. Each call is one write to the stream.
struct Socket;

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        device::transmit(bytes);
        Ok(bytes.len())
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write(&pieces.iter().flat_map(|piece| piece.iter().copied()).collect::<Vec<u8>>())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Library for Rustls {
    fn start(&mut self) -> Progress {
        if let End::Idle(config) = &self.end {
            // The library needs a name, but neither sends it nor checks the certificate for it.
            let name = ServerName::from(Ipv6Addr::LOCALHOST);
            match ClientConnection::new(config.clone(), name) {
                Ok(connection) => self.end = End::Connected(Box::new(connection.into())),
                Err(error) => return progress(State::Failed(failure(&error))),
            }
        }
        self.drive(|_| Ok(false))
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        self.drive(|connection| read(connection, input))
    }

    fn handle_timeout(&mut self) -> Progress {
        self.drive(|_| Ok(false))
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.drive(|connection| {
            let mut rest = data;
            // The library's buffer has a limit, so it is written out before more data goes in.
            while !rest.is_empty() {
                let taken = connection.writer().write(rest).map_err(general)?;
                rest = &rest[taken..];
                write(connection)?;
            }
            Ok(false)
        })
    }

    fn max_data(&self) -> Option<usize> {
        None
    }

    fn close(&mut self) -> Progress {
        self.drive(|connection| {
            connection.send_close_notify();
            Ok(false)
        })
    }

    fn negotiated(&self) -> Option<Negotiated> {
        let End::Connected(connection) = &self.end else { return None };
        let suite = connection.negotiated_cipher_suite()?.suite();
        let suite = Suite::from_iana(suite.into())?;
        Some(Negotiated::Tls { protocol: self.protocol, suite, connection_id: None })
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.resumable.clone()
    }
}

fn end(checked: &Checked<'_>, previous: Option<&Resumable>) -> Result<(End, Resumable), Error> {
    Ok(match checked.config.role {
        Role::Client => {
            let config = config::client(checked, previous)?;
            (End::Idle(config.clone()), Resumable::new(config))
        }
        Role::Server => {
            let config = config::server(checked, previous)?;
            let connection = ServerConnection::new(config.clone())?;
            (End::Connected(Box::new(connection.into())), Resumable::new(config))
        }
    })
}
