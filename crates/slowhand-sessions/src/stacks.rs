//! The list of all libraries. No other module knows all of them.

use std::sync::Arc;

use serde::Serialize;

use crate::c_library::{CLibrary, slowhand_library};
use crate::capabilities::Capabilities;
use crate::check::{Checked, check_coap};
use crate::config::{ConfigError, CredentialKind, Protocol, SessionConfig, Stack};
use crate::device::Clock;
use crate::holes::{Holes, holes};
use crate::lean::LeanDtls;
use crate::library::LibrarySession;
use crate::operation::Processor;
use crate::rustls::Rustls;
use crate::session::{Failure, Resumable, Session};
use crate::tls::Suite;
use crate::{lean, mbedtls, openssl, rustls, tinydtls};

/// A library: its capabilities and its adapter.
struct Entry {
    capabilities: &'static Capabilities,
    adapter: Adapter,
}

enum Adapter {
    C(fn() -> &'static slowhand_library),
    LeanDtls,
    Rustls,
}

static LEAN_DTLS: Entry = Entry { capabilities: &lean::CAPABILITIES, adapter: Adapter::LeanDtls };
static MBEDTLS: Entry = Entry { capabilities: &mbedtls::CAPABILITIES, adapter: Adapter::C(mbedtls::functions) };
static OPENSSL: Entry = Entry { capabilities: &openssl::CAPABILITIES, adapter: Adapter::C(openssl::functions) };
static RUSTLS: Entry = Entry { capabilities: &rustls::CAPABILITIES, adapter: Adapter::Rustls };
static TINYDTLS: Entry = Entry { capabilities: &tinydtls::CAPABILITIES, adapter: Adapter::C(tinydtls::functions) };

fn entry(stack: Stack) -> &'static Entry {
    match stack {
        Stack::LeanDtls => &LEAN_DTLS,
        Stack::Mbedtls => &MBEDTLS,
        Stack::Openssl => &OPENSSL,
        Stack::Rustls => &RUSTLS,
        Stack::Tinydtls => &TINYDTLS,
    }
}

impl Stack {
    /// What the library supports.
    pub fn capabilities(self) -> &'static Capabilities {
        entry(self).capabilities
    }
}

impl SessionConfig {
    /// Checks if the library supports this configuration.
    ///
    /// # Errors
    /// The first value that the library does not support.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.transport() {
            Some(transport) => self.stack.capabilities().check(&transport).map(|_| ()),
            None => check_coap(self),
        }
    }
}

/// True if the library is written in C.
pub(crate) fn is_in_c(stack: Stack) -> bool {
    matches!(entry(stack).adapter, Adapter::C(_))
}

/// The suite that two libraries use by default: the first one, in the client's order of preference, that both support
/// with this protocol and credential.
pub fn best_common_suite(
    [client, server]: [Stack; 2],
    protocol: Protocol,
    credential: CredentialKind,
) -> Option<Suite> {
    let [client, server] = [client, server].map(Stack::capabilities);
    let takes =
        |capabilities: &Capabilities, suite| capabilities.credentials(protocol, suite).any(|kind| kind == credential);
    let servers: Vec<_> = server.suites(protocol).filter(|suite| takes(server, *suite)).collect();
    client.suites(protocol).find(|suite| takes(client, *suite) && servers.contains(suite))
}

/// Makes a session of a checked configuration, on a device with this clock. It resumes `previous`.
pub(crate) fn session(
    checked: &Checked<'_>,
    processor: Arc<dyn Processor>,
    clock: Clock,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, Failure> {
    let config = checked.config;
    Ok(match entry(config.stack).adapter {
        Adapter::C(functions) => {
            Box::new(LibrarySession::new(config, processor, clock, || CLibrary::new(functions(), checked, previous))?)
        }
        Adapter::LeanDtls if config.credential.kind() == CredentialKind::Psk => {
            Box::new(LibrarySession::new(config, processor, clock, || {
                LeanDtls::<{ lean::PSK_BUFFER }>::new(checked, previous)
            })?)
        }
        Adapter::LeanDtls if has_long_certificates(checked) => {
            Box::new(LibrarySession::new(config, processor, clock, || {
                LeanDtls::<{ lean::LONG_CERTIFICATE_BUFFER }>::new(checked, previous)
            })?)
        }
        Adapter::LeanDtls => Box::new(LibrarySession::new(config, processor, clock, || {
            LeanDtls::<{ lean::CERTIFICATE_BUFFER }>::new(checked, previous)
        })?),
        Adapter::Rustls => Box::new(LibrarySession::new(config, processor, clock, || Rustls::new(checked, previous))?),
    })
}

fn has_long_certificates(checked: &Checked<'_>) -> bool {
    checked.certificate().and_then(|(_, length)| length).is_some_and(|length| length > lean::SHORT_CERTIFICATE)
}

/// An entry in the list of libraries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackInfo<Name = Stack> {
    /// Its name; that of a library of TLS or DTLS is the one in a scenario.
    pub name: Name,
    /// The version that the library reports.
    pub version: String,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The protocols that it supports here.
    pub protocols: Vec<Protocol>,
    /// The cipher suites that it supports here, in its order of preference.
    pub suites: Vec<Suite>,
    /// How an end can prove its identity.
    pub credentials: &'static [CredentialKind],
    /// What a configuration can choose, in words.
    pub features: Vec<String>,
    /// Whose arithmetic is replaced, unless a configuration has [`Arithmetic::Library`](crate::Arithmetic::Library).
    pub replaced: Vec<&'static str>,
    /// The known holes of this version.
    pub holes: Holes,
}

/// The protocols that have one implementation each, which a scenario does not name.
fn of_messages() -> [StackInfo<String>; 2] {
    let info = |name: &str, version: &str, licence, protocols: &[Protocol], credentials, features: &[&str]| StackInfo {
        name: name.to_owned(),
        version: version.to_owned(),
        licence,
        protocols: protocols.to_vec(),
        suites: Vec::new(),
        credentials,
        features: features.iter().map(|feature| (*feature).to_owned()).collect(),
        replaced: Vec::new(),
        holes: Holes::default(),
    };
    let of_coap = Protocol::ALL.iter().copied().filter(|protocol| protocol.is_coap() && *protocol != Protocol::Edhoc);
    let of_coap: Vec<Protocol> = of_coap.collect();
    let coap = info(
        "slowhand-coap",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_LICENSE"),
        &of_coap,
        &[CredentialKind::Psk],
        &[
            "the messages of CoAP above a library of DTLS or TLS, or alone over UDP and TCP",
            "blocks",
            "OSCORE with AES-CCM-16-64-128 and HKDF-SHA-256",
            "timer of RFC 7252 or CoCoA",
            "application data",
        ],
    );
    // The version in Cargo.lock, which a test compares; the licence of its crate.
    let lakers = info(
        "lakers",
        LAKERS,
        "BSD-3-Clause",
        &[Protocol::Edhoc],
        &[],
        &[
            "method 3 (static Diffie-Hellman keys at both ends), cipher suite 2 (P-256)",
            "credentials by key identifier, or CWT Claims Sets",
            "message_4",
            "message_3 with the first request (RFC 9668)",
            "messages and OSCORE of slowhand-coap",
            "application data",
        ],
    );
    [lakers, coap]
}

/// The version of lakers in Cargo.lock.
const LAKERS: &str = "0.8.0";

/// What has a protocol: all libraries of TLS and DTLS, then what stands alone.
pub fn implementations() -> Vec<StackInfo<String>> {
    let named = |StackInfo { name, version, licence, protocols, suites, credentials, features, replaced, holes }| {
        let name = Stack::to_string(&name);
        StackInfo { name, version, licence, protocols, suites, credentials, features, replaced, holes }
    };
    stacks().into_iter().map(named).chain(of_messages()).collect()
}

/// All libraries of TLS and DTLS.
pub fn stacks() -> Vec<StackInfo> {
    let capabilities = Stack::ALL.iter().map(|stack| stack.capabilities());
    let info = |capabilities: &Capabilities| StackInfo {
        name: capabilities.stack,
        version: capabilities.version(),
        licence: capabilities.licence,
        protocols: capabilities.protocols().collect(),
        suites: capabilities.tls.suites.to_vec(),
        credentials: capabilities.credentials,
        features: capabilities.features(),
        replaced: capabilities.replaced(),
        holes: holes(capabilities.stack),
    };
    capabilities.map(info).collect()
}
