//! Checks if a library supports a configuration.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::time::Duration;

use slowhand_coap::less::LONGEST_IDENTITY;

use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsVersion};
use crate::coap::{Coap, Security, Transfer};
use crate::config::{
    Carrier, ConfigError, Credential, CredentialKind, Cryptography, Family, Growth, Protocol, Role, SessionConfig,
    Stack, Timers,
};
use crate::credentials::{self, CertificateKey};
use crate::operation::Curve;
use crate::tls::{Dtls, ECJPAKE_CURVES, KeyExchange, LeanProfile, PskMode, Suite, Tls};

/// A configuration that its library supports, with the library's defaults.
pub(crate) struct Checked<'a> {
    pub(crate) config: &'a SessionConfig,
    pub(crate) tls: &'a Tls,
    pub(crate) suite: Suite,
    /// Zero for a stream.
    pub(crate) first_timeout: Duration,
    /// Zero for a stream.
    pub(crate) maximum_timeout: Duration,
}

impl Checked<'_> {
    /// The keys and the length of the session's certificates, if it uses certificates.
    pub(crate) fn certificate(&self) -> Option<(CertificateKey, Option<u16>)> {
        certificate(&self.config.credential, self.tls, self.suite)
    }
}

impl Capabilities {
    /// Checks if the library supports this configuration.
    ///
    /// # Errors
    /// The first value that the library does not support.
    pub(crate) fn check<'a>(&self, config: &'a SessionConfig) -> Result<Checked<'a>, ConfigError> {
        if !self.is_built {
            let built: Vec<_> = built().map(|other| other.stack).collect();
            return Err(refusal("stack", &self.stack, format!("{} (this build has no other)", list(&built))));
        }
        let (protocol, protocols) = (config.protocol(), self.protocols().collect::<Vec<_>>());
        let tls = match &config.family {
            Family::Tls(tls) if protocols.contains(&protocol) => tls,
            _ => {
                let others = with_another(protocol, |other| other.protocols().any(|each| each == protocol));
                return Err(refusal("protocol", &protocol, format!("{}{others}", list(&protocols))));
            }
        };
        let suite = self.check_suite(config, tls)?;
        self.check_keys(config, tls, suite)?;
        self.check_cryptography(config)?;
        self.check_extensions(config, tls)?;
        if let Some(dtls) = tls.version.dtls() {
            self.check_dtls(config, *dtls, suite)?;
        }
        let (first_timeout, maximum_timeout) = match &self.datagrams {
            Some(datagrams) if !config.protocol().is_stream() => check_datagrams(datagrams, config)?,
            _ => check_stream(config)?,
        };
        Ok(Checked { config, tls, suite, first_timeout, maximum_timeout })
    }

    fn check_cryptography(&self, config: &SessionConfig) -> Result<(), ConfigError> {
        if config.cryptography == Cryptography::Real || self.weightless.contains(&config.credential.kind()) {
            return Ok(());
        }
        let allowed = match self.weightless {
            [] => "real".to_owned(),
            credentials => format!("real (weightless only with credential {})", list(credentials)),
        };
        Err(refusal("cryptography", &config.cryptography, allowed))
    }

    fn check_suite(&self, config: &SessionConfig, tls: &Tls) -> Result<Suite, ConfigError> {
        let (protocol, credential) = (config.protocol(), config.credential.kind());
        let suites: Vec<_> = self.suites(protocol).collect();
        let Some(suite) = tls.suite.or_else(|| self.best_suite(protocol, credential)) else {
            let fits = |kind: &&CredentialKind| {
                suites.iter().any(|suite| self.credentials(protocol, *suite).any(|fitting| fitting == **kind))
            };
            let credentials: Vec<_> = self.credentials.iter().filter(fits).collect();
            return Err(refusal("credential", &credential, list(&credentials)));
        };
        one_of("suite", suite, &suites)?;
        let credentials: Vec<_> = self.credentials(protocol, suite).collect();
        let allowed = format_args!("{} with {suite}", list(&credentials));
        check("credential", &credential, allowed, |credential| credentials.contains(credential))?;
        Ok(suite)
    }

    fn check_keys(&self, config: &SessionConfig, tls: &Tls, suite: Suite) -> Result<(), ConfigError> {
        if suite.key_exchange().has_curve() {
            let curves = match suite.key_exchange() {
                KeyExchange::Ecjpake => ECJPAKE_CURVES,
                _ => self.version_of(config).map_or(&[][..], |version| version.curves),
            };
            one_of("curve", tls.curve, curves)?;
        }
        match &config.credential {
            Credential::Psk { identity, key } => {
                let found = identity.escape_debug();
                let allowed = format_args!("1 to {LONGEST_IDENTITY} octets");
                check("psk_identity", &found, allowed, |_| (1..=LONGEST_IDENTITY).contains(&identity.len()))?;
                let (allowed, can) = ("text without NUL (the library takes a C string)", self.tls.identity_with_nul);
                check("psk_identity", &found, allowed, |_| can || !identity.contains('\0'))?;
                let found = format_args!("{} octets", key.len());
                let allowed = format_args!("1 to {} octets", self.tls.longest_psk);
                check("psk", &found, allowed, |_| (1..=self.tls.longest_psk).contains(&key.len()))?;
            }
            Credential::Ecjpake { password } => {
                let found = format_args!("{} octets", password.len());
                check("password", &found, "6 to 32 octets", |_| (6..=32).contains(&password.len()))?;
            }
            Credential::Certificate { rsa_bits, .. } if suite.key_exchange().has_rsa() => {
                one_of("rsa_bits", *rsa_bits, self.tls.rsa_bits)?;
            }
            Credential::Certificate { .. } | Credential::RawPublicKey => {}
        }
        let Some((key, Some(length))) = certificate(&config.credential, tls, suite) else { return Ok(()) };
        let lengths = credentials::lengths(key, config.role);
        let allowed = format!("{} to {} octets", lengths.start(), lengths.end());
        check("certificate_length", &length, &allowed, |length| lengths.contains(length))?;
        let allowed = format_args!("{allowed} except {length} (no DER encoding has this length)");
        check("certificate_length", &length, allowed, |length| *length != credentials::IMPOSSIBLE_LENGTH)
    }

    fn check_extensions(&self, config: &SessionConfig, tls: &Tls) -> Result<(), ConfigError> {
        let Some(version) = self.version_of(config) else { return Ok(()) };
        if let Some(length) = tls.max_fragment_length {
            self.one_of_version("max_fragment_length", length, version, |version| version.fragment_lengths)?;
        }
        if let Some(limit) = tls.record_size_limit {
            let can = self.tls.record_size_limit;
            check("record_size_limit", &limit, "none (the library has no RFC 8449)", |_| can)?;
            check("record_size_limit", &limit, "64 to 16384 octets", |limit| RECORD_SIZES.contains(limit))?;
        }
        if let Some(algorithm) = tls.certificate_compression {
            let compressions = |version: &TlsVersion| version.certificate_compressions;
            self.one_of_version("certificate_compression", algorithm, version, compressions)?;
        }
        if tls.pre_validated && config.role == Role::Client {
            let others = with_another("true", |other| other.tls.takes_any_chain);
            let allowed = format_args!("false (the library cannot leave the verification of chains out){others}");
            check("pre_validated", "true", allowed, |_| self.tls.takes_any_chain)?;
            check_visible(config, tls)?;
        }
        if tls.false_start && config.role == Role::Client {
            self.check_false_start(config, tls)?;
        }
        if let Some(resumption) = tls.resumption {
            let can = config.credential.kind() != CredentialKind::Ecjpake;
            check("resumption", &resumption, "none (a password opens one session)", |_| can)?;
            self.one_of_version("resumption", resumption, version, |version| version.resumptions)?;
        }
        Ok(())
    }

    /// RFC 7918 section 5.3: only with these key exchanges, of which the built-in libraries have one.
    fn check_false_start(&self, config: &SessionConfig, tls: &Tls) -> Result<(), ConfigError> {
        let is_asymmetric = config.credential.kind().is_asymmetric();
        let others = with_another("true", |other| other.tls.false_start);
        let none = format!("false (the library has no False Start){others}");
        [
            (self.tls.false_start, &*none),
            (config.protocol() == Protocol::Dtls12, "false (only DTLS 1.2 has it with this library)"),
            (is_asymmetric, "false with this credential (RFC 7918 section 5.3: public keys and ECDHE)"),
            (tls.resumption.is_none(), "false with resumption (the client's Finished is the last message)"),
        ]
        .into_iter()
        .try_for_each(|(can, allowed)| check("false_start", &true, allowed, |_| can))
    }

    fn check_dtls(&self, config: &SessionConfig, dtls: Dtls, suite: Suite) -> Result<(), ConfigError> {
        if let Some(length) = dtls.connection_id {
            let longest = self.tls.connection_id;
            let none = "none (the library has no RFC 9146)".to_owned();
            let allowed = longest.map_or(none, |longest| format!("0 to {longest} octets"));
            check("connection_id", &length, &allowed, |length| longest.is_some_and(|longest| *length <= longest))?;
        }
        let others = with_another("the lean profile", |other| other.tls.lean);
        let none = format_args!("none (the library has no lean profile){others}");
        check("lean", &dtls.lean, none, |lean| self.tls.lean || *lean == LeanProfile::NONE)?;
        let is_12 = config.protocol() == Protocol::Dtls12;
        check("lean", &dtls.lean, "none (only DTLS 1.2 has it)", |lean| is_12 || *lean == LeanProfile::NONE)?;
        // A server takes no switch with another suite (docs/reference/lean-profile.md, "Agreement").
        let is_plain = suite.key_exchange() == KeyExchange::Psk;
        let allowed = format_args!("none with {suite} (only a pre-shared key without key agreement has it)");
        check("lean", &dtls.lean, allowed, |lean| is_plain || *lean == LeanProfile::NONE)?;
        let is_13 = config.protocol() == Protocol::Dtls13;
        let allowed = "psk_ke (only DTLS 1.3 has another)";
        check("psk_mode", &dtls.psk_mode, allowed, |mode| is_13 || *mode == PskMode::PskKe)?;
        if is_13 && config.credential.kind() == CredentialKind::Psk {
            one_of("psk_mode", dtls.psk_mode, self.tls.psk_modes)?;
        }
        if config.role == Role::Server {
            self.check_cookie(dtls.cookie, is_12 && !is_plain, suite)?;
        }
        Ok(())
    }

    /// `computes`: the server of DTLS 1.2 computes with public keys for its first flight.
    fn check_cookie(&self, cookie: bool, computes: bool, suite: Suite) -> Result<(), ConfigError> {
        let allowed = match (self.tls.cookieless, self.tls.without_cookie) {
            (true, _) if cookie => "false (the library has no cookie)".to_owned(),
            (false, false) if !cookie => "true (the library always challenges)".to_owned(),
            (false, true) if !cookie && computes && self.tls.needs_cookie_for_public_keys => {
                format!("true with {suite} (in DTLS 1.2 the library computes with no public key before the cookie)")
            }
            _ => return Ok(()),
        };
        Err(refusal("cookie", &cookie, allowed))
    }

    /// One of the values that a protocol version of the library has. Where only another version has any, the version is the
    /// reason, and not the library.
    fn one_of_version<T: Copy + Display + PartialEq + 'static>(
        &self,
        field: &'static str,
        found: T,
        version: &TlsVersion,
        allowed: impl Fn(&TlsVersion) -> &'static [T],
    ) -> Result<(), ConfigError> {
        let is_of_version =
            allowed(version).is_empty() && self.tls.versions.iter().any(|other| !allowed(other).is_empty());
        if is_of_version {
            return Err(refusal(field, &found, format!("not in {} with this library", version.protocol)));
        }
        let has = |other: &TlsVersion| other.protocol == version.protocol && allowed(other).contains(&found);
        let others = || {
            let others = with_another(found, |other| other.tls.versions.iter().any(has));
            if others.is_empty() && allowed(version).is_empty() { in_another(found, &allowed) } else { others }
        };
        let listed = || format!("{}{}", list(allowed(version)), others());
        if allowed(version).contains(&found) { Ok(()) } else { Err(refusal(field, &found, listed())) }
    }

    fn version_of(&self, config: &SessionConfig) -> Option<&'static TlsVersion> {
        self.tls.versions.iter().find(|version| version.protocol == config.protocol())
    }
}

fn certificate(credential: &Credential, tls: &Tls, suite: Suite) -> Option<(CertificateKey, Option<u16>)> {
    let Credential::Certificate { rsa_bits, length } = credential else { return None };
    let is_rsa = suite.key_exchange().has_rsa();
    let key = if is_rsa { CertificateKey::Rsa(*rsa_bits) } else { CertificateKey::Curve(tls.curve) };
    Some((key, *length))
}

fn check_datagrams(datagrams: &Datagrams, config: &SessionConfig) -> Result<(Duration, Duration), ConfigError> {
    if let Some(mtu) = config.mtu {
        let of_kind = datagrams.minimum_mtu.iter().find(|(kind, _)| *kind == config.credential.kind());
        let least = of_kind.map_or(0, |(_, least)| *least);
        let allowed = format_args!("{least} octets or more ({})", datagrams.minimum_mtu_reason);
        check("mtu", &mtu, allowed, |mtu| *mtu >= least)?;
    }
    let can = datagrams.without_packing;
    let allowed = if can { "true or false" } else { "true (the library alone decides)" };
    check("datagram_packing", &config.datagram_packing, allowed, |packing| *packing || can)?;
    let timer = &datagrams.timer;
    let (first, maximum) = timer.values(config.timers.first, config.timers.maximum);
    let allowed = format_args!("{} to {}", Seconds(timer.least), Seconds(timer.most));
    check("first_timeout", &Seconds(first), allowed, |s| (timer.least..=timer.most).contains(&s.0))?;
    match timer.maximum {
        MaximumTimeout::TimesFirst(times) => {
            let own = first.saturating_mul(times);
            let allowed = format_args!("{} (fixed: the first timeout, doubled at each retransmission)", Seconds(own));
            check("maximum_timeout", &Seconds(maximum), allowed, |s| s.0 == own)?;
        }
        MaximumTimeout::Chosen(_) => {
            let allowed = format_args!("{} (the first timeout) to {}", Seconds(first), Seconds(timer.most));
            check("maximum_timeout", &Seconds(maximum), allowed, |s| (first..=timer.most).contains(&s.0))?;
        }
    }
    let growth = config.timers.growth;
    let has =
        |other: &Capabilities, can: fn(&Timer) -> bool| other.datagrams.as_ref().is_some_and(|own| can(&own.timer));
    let others = with_another(growth, |other| has(other, |timer| timer.backs_off));
    let allowed = format_args!("double (the library has no other){others}");
    check("backoff", &growth, allowed, |_| timer.backs_off || growth == Growth::Double)?;
    if let Some(floor) = config.timers.floor {
        let allowed = match timer.measures {
            true => format!("{} to {} (the maximum timeout)", Seconds(timer.least), Seconds(maximum)),
            false if config.protocol() == Protocol::Quic => "none (QUIC always measures round trips)".to_owned(),
            false => {
                let others = with_another("a floor", |other| has(other, |timer| timer.measures));
                format!("none (the library measures no round trip){others}")
            }
        };
        check("timeout_floor", &Seconds(floor), allowed, |s| timer.measures && (timer.least..=maximum).contains(&s.0))?;
    }
    Ok((first, maximum))
}

/// Checks that the border router sees the certificate of a session, and can validate it.
pub(crate) fn check_visible(config: &SessionConfig, tls: &Tls) -> Result<(), ConfigError> {
    let refuse = |found: &dyn Display, allowed: &str| {
        Err(refusal("pre_validated", &format!("true with {found}"), format!("false, or {allowed}")))
    };
    match (config.protocol(), config.credential.kind()) {
        (Protocol::Dtls12, CredentialKind::Certificate) => {}
        (Protocol::Dtls12, kind) => return refuse(&kind, "credential certificate: others have nobody who issues them"),
        (protocol, _) => return refuse(&protocol, "dtls1.2, where certificates are not encrypted, and no stream"),
    }
    if tls.suite.is_some_and(|suite| suite.key_exchange().has_rsa()) || tls.curve != Curve::Secp256r1 {
        return refuse(&"RSA or another curve", "ECDSA on secp256r1, which the border router verifies");
    }
    Ok(())
}

/// The limits of records that are allowed, in octets (RFC 8449 section 4): no more than the version itself allows.
const RECORD_SIZES: RangeInclusive<u16> = 64..=1 << 14;

/// A session over a stream has no datagrams and no timers.
fn check_stream(config: &SessionConfig) -> Result<(Duration, Duration), ConfigError> {
    let seconds = |value: Duration| Seconds(value).to_string();
    for (field, found) in [
        ("mtu", config.mtu.map(|octets| format!("{octets} octets"))),
        ("first_timeout", config.timers.first.map(seconds)),
        ("maximum_timeout", config.timers.maximum.map(seconds)),
        ("timeout_floor", config.timers.floor.map(seconds)),
    ] {
        if let Some(found) = found {
            let allowed = format!("none ({} runs over a stream: no datagrams, no timers)", config.protocol());
            return Err(refusal(field, &found, allowed));
        }
    }
    Ok((Duration::ZERO, Duration::ZERO))
}

/// The smallest limit for the size of a CoAP message: *assumed*, room for a short one with OSCORE.
const COAP_MINIMUM: u16 = 64;

/// The longest messages of a handshake of EDHOC: the request with message_1 of 37 octets if credentials are sent by reference, else
/// that with message_3 of 128. Each has 30 more: header and token 8, path 18, Content-Format 2, marker and prefix 2.
const EDHOC_MINIMUM: [u16; 2] = [37 + 30, 128 + 30];

/// Checks what helps a session of DTLS: the messages of CoAP that carry its flights, and a trust anchor. Another session has neither.
pub(crate) fn check_help(config: &SessionConfig) -> Result<(), ConfigError> {
    let is_dtls = config.family.tls().is_some_and(|tls| tls.version.dtls().is_some());
    if config.in_coap.is_some() {
        let allowed = format_args!("udp with {} (coap carries DTLS)", config.protocol());
        check("carrier", &Carrier::Coap, allowed, |_| is_dtls)?;
        check_timers_in_coap(&config.timers)?;
        let allowed = "false with carrier coap (the client's Finished waits in a request for its response)";
        let has_false_start = config.family.tls().is_some_and(|tls| tls.false_start);
        check("false_start", &true, allowed, |_| !has_false_start)?;
    }
    if config.trust_anchor.is_some() {
        let (protocol, kind) = (config.protocol(), config.credential.kind());
        let resumption = config.family.tls().and_then(|tls| tls.resumption);
        for (can, with) in [
            (is_dtls, &*format!("{protocol} (the key is one of DTLS)")),
            (kind == CredentialKind::Psk, &format!("a {kind} (only a pre-shared key comes from an anchor)")),
            (resumption.is_none(), "resumption (a session that is resumed needs no key of the anchor)"),
            (config.in_coap.is_none(), "carrier coap (the anchor's messages are CoAP on the same port)"),
        ] {
            check("trust_anchor", &true, format_args!("false with {with}"), |_| can)?;
        }
    }
    if let Some(mtu) = config.mtu.filter(|_| config.in_coap.is_some() || config.trust_anchor.is_some()) {
        check("mtu", &mtu, format_args!("{COAP_MINIMUM} octets or more"), |mtu| *mtu >= COAP_MINIMUM)?;
    }
    Ok(())
}

/// The messages of CoAP repeat what is lost: DTLS has no timer of its own.
fn check_timers_in_coap(timers: &Timers) -> Result<(), ConfigError> {
    let allowed = "with carrier coap, whose own timer repeats messages";
    let none = format_args!("none {allowed}");
    for (field, found) in [("timeout_floor", timers.floor), ("maximum_timeout", timers.maximum)] {
        if let Some(found) = found {
            check(field, &Seconds(found), none, |_| false)?;
        }
    }
    check("backoff", &timers.growth, format_args!("double {allowed}"), |growth| *growth == Growth::Double)
}

/// Checks a session of CoAP without TLS or DTLS. What only these have has no effect on it.
pub(crate) fn check_coap(config: &SessionConfig) -> Result<(), ConfigError> {
    if let Some(mtu) = config.mtu.filter(|_| !config.protocol().is_stream()) {
        let least = match &config.family {
            Family::Coap(Coap { security: Security::Edhoc(edhoc), .. }) => match edhoc.transfer {
                Transfer::Reference => EDHOC_MINIMUM[0],
                Transfer::Value => EDHOC_MINIMUM[1],
            },
            _ => COAP_MINIMUM,
        };
        let allowed = format_args!("{least} octets or more");
        check("mtu", &mtu, allowed, |mtu| *mtu >= least)?;
    }
    if config.protocol().is_stream() {
        check_stream(config)?;
    }
    if let Family::Coap(Coap { security: Security::Edhoc(edhoc), .. }) = &config.family {
        let allowed = "false with combined (RFC 9668 section 3.2.1: it has no message_4)";
        check("message_4", &edhoc.message_4, allowed, |message_4| !message_4 || !edhoc.combined)?;
    }
    if let (Protocol::Less, Credential::Psk { identity, key }) = (config.protocol(), &config.credential) {
        let (allowed, lengths) = (format_args!("1 to {LONGEST_IDENTITY} octets"), 1..=LONGEST_IDENTITY);
        check("psk_identity", &identity.escape_debug(), allowed, |_| lengths.contains(&identity.len()))?;
        let found = format_args!("{} octets", key.len());
        check("psk", &found, "16 octets (LESS: a key of AES-128)", |_| key.len() == 16)?;
    }
    let allowed = "real (only lean-dtls can do without cryptography)";
    check("cryptography", &config.cryptography, allowed, |found| *found == Cryptography::Real)
}

struct Seconds(Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

fn check<T: Display + ?Sized>(
    field: &'static str,
    found: &T,
    allowed: impl Display,
    is_allowed: impl FnOnce(&T) -> bool,
) -> Result<(), ConfigError> {
    if is_allowed(found) { Ok(()) } else { Err(refusal(field, found, allowed.to_string())) }
}

fn one_of<T: Display + PartialEq>(field: &'static str, found: T, allowed: &[T]) -> Result<(), ConfigError> {
    if allowed.contains(&found) { Ok(()) } else { Err(refusal(field, &found, list(allowed))) }
}

/// Names the libraries that have this value, as words behind the list of what this library has. Empty if there are none.
fn with_another<T: Display>(found: T, has: impl Fn(&Capabilities) -> bool) -> String {
    let names: Vec<_> = built().filter(|other| has(other)).map(|other| other.stack).collect();
    if names.is_empty() { String::new() } else { format!("; {found} with {}", list(&names)) }
}

/// Names the versions that have this value with a library of this build, as words behind the list of what this version has. Empty
/// if there are none.
fn in_another<T: Copy + Display + PartialEq + 'static>(
    found: T,
    allowed: impl Fn(&TlsVersion) -> &'static [T],
) -> String {
    let versions = |other: &'static Capabilities| other.tls.versions.iter().map(|version| (version, other.stack));
    let has = built().flat_map(versions).filter(|(version, _)| allowed(version).contains(&found));
    let names: Vec<_> = has.map(|(version, stack)| format!("{} with {stack}", version.protocol)).collect();
    if names.is_empty() { String::new() } else { format!("; {found} in {}", list(&names)) }
}

/// The libraries of this build.
fn built() -> impl Iterator<Item = &'static Capabilities> {
    Stack::BUILT_IN.iter().map(|stack| stack.capabilities()).filter(|capabilities| capabilities.is_built)
}

fn list<T: Display>(allowed: &[T]) -> String {
    if allowed.is_empty() {
        return "not with this library".to_owned();
    }
    allowed.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn refusal<T: Display + ?Sized>(field: &'static str, found: &T, allowed: String) -> ConfigError {
    ConfigError { field, found: found.to_string(), allowed }
}
