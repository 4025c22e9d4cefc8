//! `[session]`: the protocol, the libraries and their settings.

use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use slowhand_sessions::{
    Arithmetic, Carrier, CertificateCompression, Coap, Credential, CredentialKind, Cryptography, Curve, Dtls, Family,
    Growth, KeyExchange, LeanSwitch, Protocol, PskMode, Resumption, Role, Security, SessionConfig, Stack, Suite,
    Timers, Tls, Version, best_common_suite,
};

use super::coap::{CoapSettings, EdhocSettings};
use super::psk::Psk;
use crate::input::{Integer, PositiveSeconds};

/// The secure session, and the settings of the libraries that open it. The keys that only DTLS uses (cookie, timeouts,
/// MTU, connection identifiers) have no effect on TLS over TCP; QUIC has timeouts and the MTU. Of the `transport` section `client`
/// and `server` have no effect on protocols over UDP, and `dccp` has one only with `carrier`.
/// What only TLS and DTLS use (libraries, suite, credential) has no effect on `coap`, `coap+tcp`, `oscore`, `edhoc` and `less`,
/// which have one implementation each.
/// So the same scenario can be run with all of them: only `protocol` changes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The client's library of TLS or DTLS; `slowhand stacks` lists them.
    #[schemars(schema_with = "stack_schema")]
    pub stack: Stack,
    /// The server's library. Default: the client's.
    #[serde(default)]
    #[schemars(schema_with = "stack_schema")]
    pub server_stack: Option<Stack>,
    /// The protocol: DTLS over UDP, TLS over TCP (see `transport`), or QUIC (RFC 9000, rustls only, with certificates), which carry
    /// the data of an application as they are; or CoAP messages (see `coap`) over UDP, alone (`coap`), protected by OSCORE (`oscore`,
    /// RFC 8613, with a context that both
    /// ends have from the beginning: its master secret is `psk`, and there is no handshake; `edhoc`, RFC 9528, whose handshake
    /// gives that context), or over DTLS, or in records of DTLS 1.2 whose keys two exchanges of CoAP give, from `psk` (`less`,
    /// draft-bhattacharyya-dice-less-on-coap-01); or CoAP messages over TCP (`coap+tcp`, RFC 8323) or TLS. Default: `dtls1.2`.
    #[serde(default = "default_protocol")]
    #[schemars(schema_with = "protocol_schema")]
    pub protocol: Protocol,
    /// The carrier of the datagrams of DTLS: UDP (`udp`), or
    ///
    /// - `coap`: each flight of the handshake is the body of a CoAP request or of its response (DTLS as a CoAP resource, Capossele et
    ///   al. 2015). `session.coap` has the timers and the size of blocks; `timeout_s` and `datagram_packing` have no effect. After the
    ///   handshake records are datagrams of UDP.
    /// - `dccp`: DCCP, which has congestion control and acknowledgements (RFC 5238). The connection opens first, with a round trip of
    ///   its own; see `transport.dccp`. Only with `dtls1.2` and `dtls1.3`.
    ///
    /// Default: `udp`.
    #[serde(default)]
    pub carrier: Carrier,
    /// The cipher suite, by its IANA name. Default: the client library's first choice among the suites that fit `auth`
    /// and that both libraries support (`slowhand stacks` lists them in order of preference).
    #[serde(default)]
    #[schemars(schema_with = "suite_schema")]
    pub suite: Option<Suite>,
    /// The length in octets of the certificate of each end (DER): at least the default length, at most 8000. A comment
    /// extension makes the certificate longer. Default: the length of a certificate with little more than the key. That
    /// is 332 octets with secp256r1, 246 with secp192r1, and 467, 728 and 984 with RSA keys of 1024, 2048 and 3072
    /// bits.
    pub certificate_length: Option<Integer<1, 8_000>>,
    /// Which ends authenticate themselves. Default: `psk` with a PSK suite. `mutual` with any other suite, or if no
    /// suite is given; a password (`ecjpake`) is always `mutual`. In DTLS 1.3 every suite goes with each of them.
    pub auth: Option<Auth>,
    /// With what the ends authenticate themselves. A suite and `auth` leave a choice only to a library with certificates and
    /// raw public keys, as lean-dtls. Default: `psk` with a PSK suite or with `auth = "psk"`, `ecjpake` with its suite. Otherwise
    /// a key pair: the first that both libraries have, in the client's order (`slowhand stacks`).
    pub credential: Option<CredentialKind>,
    /// The curve for key exchange and ECDSA signatures. Default: `secp256r1`.
    #[serde(default = "default_curve")]
    pub curve: Curve,
    /// The length in bits of the RSA keys in the certificates: 1024, 2048 or 3072. No effect without RSA.
    /// Default: 2048.
    #[serde(default = "default_rsa_bits")]
    #[schemars(extend("enum" = [1_024, 2_048, 3_072]))]
    pub rsa_bits: Integer<1, 65_535>,
    /// True if the server answers the first ClientHello with a cookie (HelloVerifyRequest, RFC 6347
    /// section 4.2.1; in DTLS 1.3 HelloRetryRequest, RFC 9147 section 5.1). In DTLS 1.2 the server of lean-dtls leaves it out with a
    /// pre-shared key alone. Default: true.
    #[serde(default = "default_cookie")]
    pub cookie: bool,
    /// The first retransmission timeout of both ends; `server_timeout_s` replaces it for the server. Default: the
    /// library's own (1 for mbedTLS and OpenSSL, 2 for tinyDTLS). With QUIC the first probe timeout, before a round trip is
    /// measured (RFC 9002 section 6.2): three times the initial round trip, 0.999 by default.
    pub timeout_s: Option<PositiveSeconds>,
    /// The value at which the retransmission timeouts of both ends stop doubling. Default: the
    /// library's own (60 for mbedTLS and OpenSSL, as in RFC 6347 section 4.2.4.1; always 128 times the first timeout
    /// for tinyDTLS).
    pub max_timeout_s: Option<PositiveSeconds>,
    /// The server's first retransmission timeout. Default: `timeout_s`.
    pub server_timeout_s: Option<PositiveSeconds>,
    /// An end that has measured a round trip waits as long as RFC 6298 has it before it repeats a new flight, and at least this
    /// long; `timeout_s` is for its flights until then. Choose more than a peer computes for an answer. Only with lean-dtls at
    /// both ends. Default: none, nothing is measured.
    pub timeout_floor_s: Option<PositiveSeconds>,
    /// The growth of the retransmission timeouts of both ends. `double`: each is twice the one before (RFC 6347 section
    /// 4.2.4.1). `cocoa`: by the variable back-off factor of CoCoA (draft-ietf-core-cocoa-03 section 4.2.1), which the first
    /// timeout of a flight decides: threefold below 1 s, by half above 3 s, twofold between; and all timeouts of an end are
    /// longer by the same random share of up to a half, so that ends that began together do not repeat together. A handshake
    /// is too short for the estimators of CoCoA: see `timeout_floor_s`. Only with lean-dtls at both ends. Default: `double`.
    #[serde(default)]
    pub backoff: Growth,
    /// The maximum fragment length that the client asks for (RFC 6066 section 4). Default: none.
    #[schemars(extend("enum" = [512, 1_024, 2_048, 4_096]))]
    pub max_fragment_length: Option<Integer<1, 65_535>>,
    /// The limit that each end tells the other: the most octets of content in encrypted records for it (RFC 8449). Default:
    /// none.
    pub record_size_limit: Option<Integer<64, 16_384>>,
    /// The compression of the ends' certificates (RFC 8879): with `zlib`. Only with rustls at both ends, in TLS 1.3 and QUIC.
    /// It takes no time and no energy here (assumed). What `certificate_length` adds to a certificate nearly vanishes, which
    /// is more than compression does for a real one of that length. Default: none.
    pub certificate_compression: Option<CertificateCompression>,
    /// The most octets of a datagram (the payload of UDP or DCCP) that either end sends. Default: no limit in the library.
    /// A 6LoWPAN datagram has at most 2047 octets (RFC 4944 section 5.3), 48 of them for IPv6 and UDP, and up to 320 for IPv6 and
    /// DCCP: 64 of headers, and an Ack Vector. QUIC needs 1200 or more
    /// (RFC 9000 section 14.1), and has 1200 by default.
    pub mtu: Option<Integer<1, 1_999>>,
    /// True if an end puts as many records of a flight into a datagram as there is room for. False if it sends each in a
    /// datagram of its own, which only lean-dtls can do on demand (tinyDTLS always does). Default: true.
    #[serde(default = "default_datagram_packing")]
    pub datagram_packing: bool,
    /// The length in octets of the connection identifier that each end asks for (RFC 9146). Default:
    /// none, the extension is not sent.
    pub connection_id: Option<Integer<0, 32>>,
    /// With what the sessions compute: `real` cryptography, or `weightless` stand-ins that protect nothing. Messages, times and
    /// records are the same with both, but a run is faster with `weightless`, and Wireshark cannot decrypt its capture. Only
    /// lean-dtls with a pre-shared key can do without. Default: `real`.
    #[serde(default)]
    pub cryptography: Cryptography,
    /// Who computes on the curve secp256r1, and for RSA: each `library` with its own code, OpenSSL's `assembly` for all libraries
    /// (only on x86-64; elsewhere each library), or the same with a `memo` of what was computed before. All results are the same with
    /// each: only the time of a run changes. Default: `memo`, the fastest.
    #[serde(default)]
    pub arithmetic: Arithmetic,
    /// The number of sets of random numbers that the sessions draw from (nonces, ephemeral keys): the sessions of a world have
    /// those of the world whose seed is the remainder of its own by this number. The network keeps the random numbers of its own
    /// seed. So handshakes with certificates mostly compute what was computed before, and a long run is faster; but what follows
    /// from the sessions' random numbers, such as the length of a signature, has no more than so many values. Default: none,
    /// every world has its own.
    pub nonces: Option<Integer<1, 1_000_000>>,
    /// True if the client sends its first data behind its own Finished, before it has verified the server's (False Start, RFC
    /// 7918): a round trip earlier. The server takes them in any case, but the standard is for TLS: over datagrams a server that takes
    /// data as a sign that its own last flight has arrived, as mbedTLS does, cannot mend the loss of that flight. lean-dtls as
    /// the server knows of it. The price is security: the client encrypts before it knows that
    /// nobody has changed the hellos, so an attacker on the path can have made both ends choose the weakest suite that the client
    /// offers, and the reader has proved its key by the signature in ServerKeyExchange alone. What arrives before the client's
    /// Finished is lost. Only for DTLS 1.2 of lean-dtls, with certificates or raw public keys (section 5.3), without resumption.
    /// It shows in `data_s`, so it needs `application.requests` and `coap+dtls1.2`. Default: false.
    #[serde(default)]
    pub false_start: bool,
    /// The parts of DTLS 1.2 that both ends leave out: switches of the lean profile of lean-dtls, or `slides` for those of
    /// Pittoli et al. 2016, or `all`. `all` has `server_finished_first` too, which makes handshakes slower where an end
    /// computes slowly or datagrams get lost: name the others there. Only with lean-dtls at both ends. Default: none.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub lean: Vec<LeanSwitch>,
    /// The use of a pre-shared key in DTLS 1.3: alone (`psk_ke`), or with key agreement (`psk_dhe_ke`), which takes longer,
    /// and after which who learns the key cannot read the session (RFC 8446 section 4.2.9). Default: `psk_ke`.
    #[serde(default)]
    pub psk_mode: PskMode,
    /// True if the pre-shared key of DTLS is one that neither end had before (S3K, Raza et al. 2016): before each handshake the client asks
    /// a trust anchor for it, by CoAP with OSCORE, at the address of the server. `psk` is then the key between server and anchor, and
    /// `psk_identity` has no effect. Not with `resumption`, nor with `carrier`. Default: false.
    #[serde(default)]
    pub trust_anchor: bool,
    /// The message layer of CoAP.
    #[serde(default)]
    pub coap: CoapSettings,
    /// The handshake of EDHOC.
    #[serde(default)]
    pub edhoc: EdhocSettings,
    /// The way in which the session resumes an earlier session of the two ends: by the session ID (`id`) or by a ticket. The
    /// earlier session is not part of the run. Default: none, the handshake is a full handshake.
    pub resumption: Option<Resumption>,
    /// The identity that goes with the pre-shared key, 1 to 32 octets. Default: `Client_identity`.
    #[schemars(length(min = 1, max = 32))]
    pub psk_identity: Option<String>,
    /// The pre-shared key, in hexadecimal digits: 1 to 64 octets, as far as the libraries take so many (tinyDTLS 16, mbedTLS 48).
    /// Another key of the same length changes no size and no time. With a key of your own, a program that has it can be the peer
    /// of an emulated end. Results carry it, in the text of their scenario, so only their owner may read them. Default:
    /// `736c6f7768616e642d746573746b6579`, the text
    /// `slowhand-testkey`.
    pub psk: Option<Psk>,
    /// The server's UDP, TCP or DCCP port. Default: 5684 (coaps, RFC 7252 section 6.2); 5683 (coap, section 6.1) with `coap`,
    /// `coap+tcp`, `oscore`, `edhoc` and `less`, and with `carrier = "coap"`.
    pub server_port: Option<Integer<1, 65_535>>,
    /// The UDP, TCP or DCCP port of a client is this number plus the number of its node. Default: 61616 (0xF0B0,
    /// where RFC 6282 section 4.3.3 begins to compress ports to 4 bits).
    #[serde(default = "compressed_ports")]
    pub client_port: Integer<1, 65_535>,
    /// A handshake (with an application above the session: a conversation) that takes longer is recorded as `gave_up`.
    /// Default: 300.
    #[serde(default = "five_minutes")]
    pub give_up_s: PositiveSeconds,
}

/// Which ends authenticate themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// Both ends, with a pre-shared key.
    Psk,
    /// The server only, with a certificate or a raw public key.
    Server,
    /// Both ends, with certificates, raw public keys or a password.
    Mutual,
}

impl Session {
    /// The server's port.
    pub fn server_port(&self) -> u16 {
        let is_coaps = self.protocol.transport().is_some() && self.carrier != Carrier::Coap;
        let default = if is_coaps { COAPS } else { slowhand_coap::PORT };
        self.server_port.map_or(default, |port| port.get() as u16)
    }

    /// The server's library.
    pub fn server_stack(&self) -> Stack {
        self.server_stack.unwrap_or(self.stack)
    }

    /// Which ends authenticate themselves.
    pub fn auth(&self) -> Auth {
        self.auth.unwrap_or(match self.suite.map(Suite::key_exchange) {
            Some(exchange) if exchange.has_psk() => Auth::Psk,
            None if self.credential == Some(CredentialKind::Psk) => Auth::Psk,
            _ => Auth::Mutual,
        })
    }

    /// The cipher suite of the scenario. If it has none: the client library's first choice among the suites that both
    /// libraries support. `None` if there is no such suite, or if the protocol has none.
    pub fn suite(&self) -> Option<Suite> {
        let transport = self.protocol.transport()?;
        let stacks = [self.stack, self.server_stack()];
        self.suite.or_else(|| best_common_suite(stacks, transport, self.credential_kind(self.stack)))
    }

    /// The kind of credential of an end with this library.
    pub(super) fn credential_kind(&self, stack: Stack) -> CredentialKind {
        if self.protocol.transport().is_none() {
            return CredentialKind::Psk;
        }
        if let Some(credential) = self.credential {
            return credential;
        }
        let exchange = self.suite.map(Suite::key_exchange);
        if exchange == Some(KeyExchange::Ecjpake) {
            return CredentialKind::Ecjpake;
        }
        if exchange.is_some_and(KeyExchange::has_psk) || self.auth() == Auth::Psk {
            return CredentialKind::Psk;
        }
        let both = [self.stack, self.server_stack()].map(Stack::capabilities);
        let mut kinds = both[0].asymmetric_credentials();
        let common = kinds.find(|kind| both.iter().all(|end| end.credentials.contains(kind)));
        common.unwrap_or(stack.capabilities().asymmetric_credential())
    }

    /// One end of the session; its seed is still to be set.
    pub fn config(&self, role: Role) -> SessionConfig {
        let (stack, timeout) = match role {
            Role::Client => (self.stack, self.timeout_s),
            Role::Server => (self.server_stack(), self.server_timeout_s.or(self.timeout_s)),
        };
        let mut family = self.protocol.family();
        if let Family::Coap(coap) = &mut family {
            self.coap.apply(coap);
            self.edhoc.apply(coap);
        }
        if let Some(tls) = family.tls_mut() {
            self.set_tls(tls);
        }
        let mut config = SessionConfig::new(role, stack, family, self.credential(stack));
        let with_settings = |is_used: bool| {
            let mut coap = Coap::new(Security::None);
            self.coap.apply(&mut coap);
            is_used.then(|| Box::new(coap))
        };
        config.in_coap = with_settings(self.carrier == Carrier::Coap);
        config.trust_anchor = with_settings(self.trust_anchor);
        config.cryptography = self.cryptography;
        config.arithmetic = self.arithmetic;
        if !self.protocol.is_stream() {
            let duration = |seconds: PositiveSeconds| Duration::from_micros(seconds.micros());
            config.mtu = self.mtu.map(|mtu| mtu.get() as u16);
            config.datagram_packing = self.datagram_packing;
            config.timers = Timers {
                first: timeout.map(duration),
                maximum: self.max_timeout_s.map(duration),
                floor: self.timeout_floor_s.map(duration),
                growth: self.backoff,
            };
        }
        config
    }

    fn set_tls(&self, tls: &mut Tls) {
        tls.suite = self.suite();
        tls.auth = match self.auth() {
            Auth::Server => slowhand_sessions::Auth::Server,
            Auth::Mutual | Auth::Psk => slowhand_sessions::Auth::Mutual,
        };
        tls.curve = self.curve;
        tls.resumption = self.resumption;
        tls.false_start = self.false_start;
        tls.certificate_compression = self.certificate_compression;
        tls.record_size_limit = self.record_size_limit.map(|limit| limit.get() as u16);
        tls.max_fragment_length = self.max_fragment_length.map(|length| length.get() as u16);
        if let Some(dtls) = tls.version.dtls_mut() {
            let connection_id = self.connection_id.map(|length| length.get() as u8);
            let lean = self.lean.iter().copied().collect();
            *dtls = Dtls { cookie: self.cookie, connection_id, lean, psk_mode: self.psk_mode };
        }
    }

    fn credential(&self, stack: Stack) -> Credential {
        let mut credential = self.credential_kind(stack).into();
        match &mut credential {
            Credential::Psk { identity, key } => {
                if let Some(chosen) = &self.psk_identity {
                    identity.clone_from(chosen);
                }
                if let Some(chosen) = &self.psk {
                    *key = chosen.octets().into();
                }
            }
            Credential::Certificate { rsa_bits, length } => {
                *rsa_bits = self.rsa_bits.get() as u16;
                *length = self.certificate_length.map(|length| length.get() as u16);
            }
            _ => {}
        }
        credential
    }
}

fn stack_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Stack::names() })
}

fn protocol_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Protocol::ALL })
}

fn suite_schema(_: &mut SchemaGenerator) -> Schema {
    let built_in = Stack::BUILT_IN.iter().map(|stack| stack.capabilities());
    let mut suites: Vec<Suite> = built_in.flat_map(|capabilities| capabilities.tls.suites).copied().collect();
    suites.sort_by_key(|suite| suite.iana());
    suites.dedup();
    json_schema!({ "enum": suites })
}

fn default_protocol() -> Protocol {
    Protocol::Dtls12
}

fn default_curve() -> Curve {
    Tls::new(Version::DTLS12).curve
}

fn default_rsa_bits() -> Integer<1, 65_535> {
    let Credential::Certificate { rsa_bits, .. } = CredentialKind::Certificate.into() else {
        unreachable!("a credential has the kind that it is made from")
    };
    Integer::constant(rsa_bits.into())
}

fn default_datagram_packing() -> bool {
    let family = Protocol::Dtls12.family();
    SessionConfig::new(Role::Client, Stack::LEAN_DTLS, family, CredentialKind::Psk.into()).datagram_packing
}

fn default_cookie() -> bool {
    Dtls::DEFAULT.cookie
}

/// The port of CoAP over DTLS (RFC 7252 section 6.2).
const COAPS: u16 = 5_684;

fn compressed_ports() -> Integer<1, 65_535> {
    Integer::constant(61_616)
}

fn five_minutes() -> PositiveSeconds {
    PositiveSeconds::constant(300.0)
}
