//! The list of all libraries. No other module knows all of them.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::c_library::CLibrary;
use crate::capabilities::Capabilities;
use crate::check::{Checked, check_coap, check_help};
use crate::config::{Arithmetic, ConfigError, CredentialKind, Protocol, SessionConfig, Stack};
use crate::device::{Clock, Device, WORLD_BEGAN};
use crate::holes::{Holes, holes};
use crate::interface::{slowhand_library, slowhand_mbedtls, slowhand_openssl, slowhand_stack, slowhand_tinydtls};
use crate::lean::LeanDtls;
use crate::library::LibrarySession;
use crate::messages::below_coap;
use crate::operation::Processor;
use crate::own::{OF_MESSAGES, StackError};
use crate::rustls::Rustls;
use crate::rustls::quic::Quic;
use crate::session::{Failure, Resumable, Session};
use crate::tls::Suite;
use crate::{declared, host, lean, own, rustls};

/// A library: its capabilities and its adapter.
struct Entry {
    capabilities: Capabilities,
    adapter: Adapter,
    /// Of a stack of the user: what was built.
    digest: Option<String>,
}

enum Adapter {
    C(&'static slowhand_library),
    LeanDtls,
    Rustls,
    /// The library is not in this build: its capabilities refuse each session.
    Nothing,
}

/// The libraries that are built in, in the order of [`Stack::BUILT_IN`].
static BUILT_IN: LazyLock<[Entry; 5]> = LazyLock::new(|| {
    let rust = |capabilities, adapter| Entry { capabilities, adapter, digest: None };
    // Constants: they are right for each run, or for none.
    let c = |stack, table| linked(stack, table).unwrap_or_else(|problem| panic!("{stack}: {problem}"));
    [
        rust(lean::CAPABILITIES, Adapter::LeanDtls),
        c(Stack::MBEDTLS, &slowhand_mbedtls),
        c(Stack::OPENSSL, &slowhand_openssl),
        rust(rustls::CAPABILITIES, Adapter::Rustls),
        c(Stack::TINYDTLS, &slowhand_tinydtls),
    ]
});

/// A library in C that this program has been linked with.
fn linked(stack: Stack, linked: &'static slowhand_stack) -> Result<Entry, String> {
    host::attach(linked);
    // SAFETY: it is a constant of this program, as the header says.
    let (library, declared) = unsafe { (linked.library.as_ref(), &*linked.capabilities) };
    // SAFETY: likewise.
    let capabilities = unsafe { declared::read(stack, declared, library) }?;
    Ok(Entry { capabilities, adapter: library.map_or(Adapter::Nothing, Adapter::C), digest: None })
}

/// The stacks of the user that have been loaded, by name.
static OWN: RwLock<BTreeMap<&'static str, &'static Entry>> = RwLock::new(BTreeMap::new());

fn entry(stack: Stack) -> &'static Entry {
    match Stack::BUILT_IN.iter().position(|built_in| *built_in == stack) {
        Some(at) => &BUILT_IN[at],
        // There is no other way to have such a name than `Stack::named`, which has loaded it.
        None => OWN.read().unwrap_or_else(PoisonError::into_inner)[stack.0],
    }
}

/// Why no stack has this name, or why it cannot be used: what is allowed, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is none.
    #[error("{}", one_of(.0))]
    Unknown(Vec<String>),
    /// There is none, but slowhand knows how to make it.
    #[error("a stack that is here: `slowhand stacks add {0}` makes it")]
    NotMade(String),
    /// There is one of the user, but it cannot be used.
    #[error("a stack that can be used; {0}")]
    Unusable(#[from] StackError),
}

fn unknown(name: &str) -> NameError {
    let known: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(include_str!("../csrc/known.json")).unwrap_or_default();
    match known.contains_key(name) {
        true => NameError::NotMade(name.to_owned()),
        false => NameError::Unknown(Stack::names()),
    }
}

fn one_of(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("one of {}", quoted.join(", "))
}

impl Stack {
    /// The stack of this name: a library that is built in, or one of the user ([`stacks_folder`](crate::stacks_folder)),
    /// which is loaded the first time.
    ///
    /// # Errors
    /// There is none of this name, or it cannot be used.
    pub fn named(name: &str) -> Result<Self, NameError> {
        if let Some(built_in) = Self::BUILT_IN.iter().find(|stack| stack.0 == name) {
            return Ok(*built_in);
        }
        let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((loaded, _)) = own.get_key_value(name) {
            return Ok(Self(loaded));
        }
        // Only what is in the folder is kept for ever.
        let Some(found) = own::own_names().into_iter().find(|own| own == name) else { return Err(unknown(name)) };
        let name = found.leak();
        let loaded = own::load(name)?.ok_or_else(|| unknown(name))?;
        let entry = Entry {
            capabilities: loaded.capabilities,
            adapter: Adapter::C(loaded.library),
            digest: Some(loaded.digest),
        };
        own.insert(name, Box::leak(Box::new(entry)));
        Ok(Self(name))
    }

    /// Makes a stack of this program itself one that can be named, as those of the user are. It has the interface of
    /// `csrc/slowhand/stack.h`.
    ///
    /// # Errors
    /// It says of itself what slowhand does not know.
    ///
    /// # Safety
    /// The stack is a constant as the header says, and stays as long as the program.
    pub unsafe fn link(name: &'static str, stack: *const c_void) -> Result<Self, String> {
        // SAFETY: the caller's duty.
        let stack: &'static slowhand_stack = unsafe { &*stack.cast() };
        let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
        if !own.contains_key(name) {
            // The stack may use the host already, and has a device that nobody sees.
            let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
            own.insert(name, Box::leak(Box::new(device.run(|| linked(Self(name), stack))?)));
        }
        Ok(Self(name))
    }

    /// True if this process has loaded the stack of the user that has this name: it stays as it was then.
    pub fn is_loaded(name: &str) -> bool {
        OWN.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// The names of all: those that are built in, then those of the user, which perhaps cannot be used.
    pub fn names() -> Vec<String> {
        let built_in = Self::BUILT_IN.iter().map(Self::to_string);
        let is_new = |name: &String| Self::BUILT_IN.iter().all(|stack| stack.0 != name);
        built_in.chain(own::own_names().into_iter().filter(is_new)).collect()
    }

    /// The capabilities of the library.
    pub fn capabilities(self) -> &'static Capabilities {
        &entry(self).capabilities
    }

    /// Of a stack of the user: what was built, as `slowhand stacks add` names it, or the begin of SHA-256 of the object if it was
    /// put there otherwise. `None` for a library that is built in.
    pub fn digest(self) -> Option<&'static str> {
        entry(self).digest.as_deref()
    }
}

/// The name, as in a scenario.
impl<'de> Deserialize<'de> for Stack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Stack;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&one_of(&Stack::names()))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Stack, E> {
                Stack::named(name).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Name)
    }
}

impl SessionConfig {
    /// Checks if the library supports this configuration.
    ///
    /// # Errors
    /// The first value that the library does not support.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_help(self)?;
        match self.transport() {
            Some(transport) => {
                let capabilities = self.stack.capabilities();
                match transport.in_coap {
                    None => capabilities.check(&transport).map(|_| ()),
                    Some(_) => capabilities.check(&below_coap(&transport, capabilities)).map(|_| ()),
                }
            }
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
            Box::new(LibrarySession::new(config, processor, clock, || CLibrary::new(functions, checked, previous))?)
        }
        Adapter::Nothing => return Err(Failure::library(0, "the library is not in this build")),
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
        Adapter::Rustls if config.protocol() == Protocol::Quic => {
            Box::new(LibrarySession::new(config, processor, clock, || Quic::new(checked, previous))?)
        }
        Adapter::Rustls => Box::new(LibrarySession::new(config, processor, clock, || Rustls::new(checked, previous))?),
    })
}

fn has_long_certificates(checked: &Checked<'_>) -> bool {
    checked.certificate().and_then(|(_, length)| length).is_some_and(|length| length > lean::SHORT_CERTIFICATE)
}

/// An entry in the list of libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StackInfo {
    /// Its name; that of a library of TLS or DTLS is the one in a scenario.
    pub name: String,
    /// The version that the library reports.
    pub version: String,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The protocols that it supports here.
    pub protocols: Vec<Protocol>,
    /// The cipher suites that it supports here, in its order of preference.
    pub suites: Vec<Suite>,
    /// The ways in which an end can prove its identity.
    pub credentials: &'static [CredentialKind],
    /// The features that a configuration can choose, in words.
    pub features: Vec<String>,
    /// Whose arithmetic is replaced, unless a configuration has [`Arithmetic::Library`](crate::Arithmetic::Library).
    pub replaced: Vec<&'static str>,
    /// The known holes of this version. `None` for a stack of the user, whose holes nobody has looked up.
    pub holes: Option<Holes>,
    /// Of a stack of the user: what was built ([`Stack::digest`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Of a stack of the user that cannot be used: why. It has nothing else but a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The protocols that have one implementation each, which a scenario does not name.
fn of_messages() -> [StackInfo; 2] {
    let info = |name: &str, version: &str, licence, protocols: &[Protocol], credentials, features: &[&str]| StackInfo {
        name: name.to_owned(),
        version: version.to_owned(),
        licence,
        protocols: protocols.to_vec(),
        credentials,
        features: features.iter().map(|feature| (*feature).to_owned()).collect(),
        holes: Some(Holes::default()),
        ..StackInfo::default()
    };
    let of_coap = Protocol::ALL.iter().copied().filter(|protocol| protocol.is_coap() && *protocol != Protocol::Edhoc);
    let of_coap: Vec<Protocol> = of_coap.collect();
    let coap = info(
        OF_MESSAGES[1],
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_LICENSE"),
        &of_coap,
        &[CredentialKind::Psk],
        &[
            "the messages of CoAP above a library of DTLS or TLS, or alone over UDP and TCP",
            "blocks",
            "OSCORE with AES-CCM-16-64-128 and HKDF-SHA-256",
            "LESS with records of DTLS 1.2 and AES-128-CCM-8",
            "timer of RFC 7252 or CoCoA",
            "application data",
        ],
    );
    // The version in Cargo.lock, which a test compares; the licence of its crate.
    let lakers = info(
        OF_MESSAGES[0],
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

/// All implementations of protocols: all libraries of TLS and DTLS, then what stands alone.
pub fn implementations() -> Vec<StackInfo> {
    stacks().into_iter().chain(of_messages()).collect()
}

/// All libraries of TLS and DTLS: those that are built in, then those of the user.
pub fn stacks() -> Vec<StackInfo> {
    Stack::names().into_iter().map(named).collect()
}

/// The library of TLS and DTLS that has this name.
pub fn named(name: String) -> StackInfo {
    match Stack::named(&name) {
        Ok(stack) => info(stack),
        Err(error) => StackInfo { name, problem: Some(error.to_string()), ..StackInfo::default() },
    }
}

fn info(stack: Stack) -> StackInfo {
    let capabilities = stack.capabilities();
    let is_built_in = stack.digest().is_none();
    StackInfo {
        name: stack.to_string(),
        version: capabilities.version.to_owned(),
        licence: capabilities.licence,
        protocols: capabilities.protocols().collect(),
        suites: capabilities.tls.suites.to_vec(),
        credentials: capabilities.credentials,
        features: capabilities.features(),
        // A stack of the user decides itself whose arithmetic it uses.
        replaced: if is_built_in { capabilities.replaced() } else { Vec::new() },
        holes: is_built_in.then(|| holes(stack)),
        digest: stack.digest().map(str::to_owned),
        problem: None,
    }
}
