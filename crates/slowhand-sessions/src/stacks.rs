//! The libraries that are built in: the one place that knows them all.

use std::sync::Arc;

use serde::Serialize;

use crate::c_library::{CLibrary, slowhand_library};
use crate::capabilities::Capabilities;
use crate::check::Checked;
use crate::config::{ConfigError, CredentialKind, Protocol, SessionConfig, Stack};
use crate::library::LibrarySession;
use crate::operation::Processor;
use crate::rustls::Rustls;
use crate::session::{Failure, Resumable, Session};
use crate::tls::Suite;
use crate::{mbedtls, openssl, rustls, tinydtls};

/// A library: what it can do, and what its sessions are made with.
struct Entry {
    capabilities: &'static Capabilities,
    adapter: Adapter,
}

enum Adapter {
    C(fn() -> &'static slowhand_library),
    Rustls,
}

static MBEDTLS: Entry = Entry { capabilities: &mbedtls::CAPABILITIES, adapter: Adapter::C(mbedtls::functions) };
static OPENSSL: Entry = Entry { capabilities: &openssl::CAPABILITIES, adapter: Adapter::C(openssl::functions) };
static RUSTLS: Entry = Entry { capabilities: &rustls::CAPABILITIES, adapter: Adapter::Rustls };
static TINYDTLS: Entry = Entry { capabilities: &tinydtls::CAPABILITIES, adapter: Adapter::C(tinydtls::functions) };

fn entry(stack: Stack) -> &'static Entry {
    match stack {
        Stack::Mbedtls => &MBEDTLS,
        Stack::Openssl => &OPENSSL,
        Stack::Rustls => &RUSTLS,
        Stack::Tinydtls => &TINYDTLS,
    }
}

impl Stack {
    /// What the library can do.
    pub fn capabilities(self) -> &'static Capabilities {
        entry(self).capabilities
    }
}

impl SessionConfig {
    /// Whether the library can do this.
    ///
    /// # Errors
    /// The first field that it cannot, with what was found and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.stack.capabilities().check(self).map(|_| ())
    }
}

/// The suite that two libraries use if none is chosen: of those that both have for this protocol and credential, the one
/// that comes first in the client's order of preference.
pub fn best_common_suite(
    [client, server]: [Stack; 2],
    protocol: Protocol,
    credential: CredentialKind,
) -> Option<Suite> {
    let [client, server] = [client, server].map(Stack::capabilities);
    let servers: Vec<_> = server.suites(protocol).filter(|suite| server.credential(*suite) == credential).collect();
    client.suites(protocol).find(|suite| client.credential(*suite) == credential && servers.contains(suite))
}

/// Makes a session of a configuration that has been checked, to resume what `previous` says.
pub(crate) fn session(
    checked: &Checked<'_>,
    processor: Arc<dyn Processor>,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, Failure> {
    let config = checked.config;
    let (role, seed) = (config.role, config.seed);
    Ok(match entry(config.stack).adapter {
        Adapter::C(functions) => {
            Box::new(LibrarySession::new(role, seed, processor, || CLibrary::new(functions(), checked, previous))?)
        }
        Adapter::Rustls => Box::new(LibrarySession::new(role, seed, processor, || Rustls::new(checked, previous))?),
    })
}

/// A library and what it can do here, as a list of libraries has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackInfo {
    /// Its name in a scenario.
    pub name: Stack,
    /// The version of the sources that are built in, asked from the library.
    pub version: String,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The protocols that it speaks here.
    pub protocols: Vec<Protocol>,
    /// The cipher suites that are built in, in the library's order of preference.
    pub suites: Vec<Suite>,
    /// What an end can authenticate with.
    pub credentials: &'static [CredentialKind],
    /// What can be chosen, in words.
    pub features: Vec<String>,
}

/// The libraries that are built in.
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
    };
    capabilities.map(info).collect()
}
