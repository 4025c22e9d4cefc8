//! The settings of a session, with every default filled in.

use std::time::Duration;

use serde::Serialize;
use slowhand_sessions::{
    Carrier, CertificateCompression, Credential, CredentialKind, Curve, Growth, LeanSwitch, Protocol, PskMode,
    Resumption, Role, Stack, Suite,
};

use super::session::{Auth, Session};

/// The configuration of the ends.
#[derive(Clone, Debug, Serialize)]
pub struct SessionSettings {
    /// The client.
    pub client: EndSettings,
    /// The server.
    pub server: EndSettings,
}

/// The configuration of an end. Where the scenario leaves something out, it is the default of the scenario or of the library.
#[derive(Clone, Debug, Serialize)]
pub struct EndSettings {
    /// The library.
    pub stack: Stack,
    /// The protocol.
    pub protocol: Protocol,
    /// The suite. A scenario that was loaded has one.
    pub suite: Option<Suite>,
    /// With what the end authenticates itself.
    pub credential: CredentialKind,
    /// Which ends authenticate themselves.
    pub auth: Auth,
    /// The curve, if the suite has one.
    pub curve: Option<Curve>,
    /// The length of RSA keys in bits, if the suite has such.
    pub rsa_bits: Option<u32>,
    /// The identity that goes with a pre-shared key.
    pub psk_identity: Option<String>,
    /// The use of a pre-shared key in DTLS 1.3; none with another version or credential.
    pub psk_mode: Option<PskMode>,
    /// The retransmission timer; none over a stream, and where messages of CoAP carry DTLS.
    pub timer: Option<TimerSettings>,
    /// The most octets of a datagram that the end sends; none without a limit, and over a stream.
    pub mtu: Option<u32>,
    /// The maximum fragment length to negotiate.
    pub max_fragment_length: Option<u32>,
    /// The most octets of content in encrypted records for this end, which it tells its peer.
    pub record_size_limit: Option<u32>,
    /// The length in octets of this end's connection identifier; none over a stream.
    pub connection_id: Option<u32>,
    /// True if a server asks for a cookie; none over a stream.
    pub cookie: Option<bool>,
    /// The way in which an earlier session is resumed.
    pub resumption: Option<Resumption>,
    /// True if a client sends data before the server's Finished.
    pub false_start: bool,
    /// The compression of the ends' certificates.
    pub certificate_compression: Option<CertificateCompression>,
    /// The parts of DTLS 1.2 that are left out.
    pub lean: Vec<LeanSwitch>,
}

/// The retransmission timer, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimerSettings {
    /// The first timeout.
    pub first_ms: f64,
    /// The value at which it stops doubling.
    pub maximum_ms: f64,
    /// The least timeout of an end that measures round trips.
    pub floor_ms: Option<f64>,
    /// Its growth.
    pub growth: Growth,
}

impl Session {
    /// The configuration of its ends.
    pub fn settings(&self) -> SessionSettings {
        SessionSettings { client: self.end(Role::Client), server: self.end(Role::Server) }
    }

    fn end(&self, role: Role) -> EndSettings {
        let config = self.config(role);
        let capabilities = config.stack.capabilities();
        let is_stream = self.protocol.is_stream();
        let may_have_dtls = !is_stream && self.protocol != Protocol::Quic;
        let exchange = self.suite().map(Suite::key_exchange);
        let credential = config.credential.kind();
        let timer = capabilities.datagrams.filter(|_| !is_stream && self.carrier != Carrier::Coap).map(|datagrams| {
            let (first, maximum) = datagrams.timer.values(config.timers.first, config.timers.maximum);
            let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
            TimerSettings {
                first_ms: milliseconds(first),
                maximum_ms: milliseconds(maximum),
                floor_ms: config.timers.floor.map(milliseconds),
                growth: config.timers.growth,
            }
        });
        let psk_identity = match config.credential {
            Credential::Psk { identity, .. } => Some(identity),
            _ => None,
        };
        EndSettings {
            stack: config.stack,
            protocol: self.protocol,
            suite: self.suite(),
            credential,
            auth: self.auth(),
            curve: exchange.filter(|exchange| exchange.has_curve()).map(|_| self.curve),
            rsa_bits: exchange.filter(|exchange| exchange.has_rsa()).map(|_| self.rsa_bits.get()),
            psk_identity,
            psk_mode: Some(self.psk_mode)
                .filter(|_| self.protocol.transport() == Some(Protocol::Dtls13) && credential == CredentialKind::Psk),
            timer,
            mtu: config.mtu.map(Into::into),
            max_fragment_length: self.max_fragment_length.map(|length| length.get()),
            record_size_limit: self.record_size_limit.map(|limit| limit.get()),
            connection_id: self.connection_id.map(|length| length.get()).filter(|_| may_have_dtls),
            cookie: Some(self.cookie).filter(|_| may_have_dtls),
            resumption: self.resumption,
            false_start: self.false_start && role == Role::Client,
            certificate_compression: self.certificate_compression,
            lean: if may_have_dtls { self.lean.clone() } else { Vec::new() },
        }
    }
}
