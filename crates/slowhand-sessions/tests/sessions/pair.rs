//! A client and a server that fit each other.

use std::sync::Arc;

use slowhand_sessions::credentials::PSK;
use slowhand_sessions::memory::{Path, Transcript};
use slowhand_sessions::{
    Credential, Dtls, Failure, Negotiated, Processor, Protocol, Role, Session, SessionConfig, Stack, Status, Suite,
    Tls, Version, Weightless, build_pair,
};

/// One end of a session.
pub fn config(role: Role, stack: Stack, protocol: Protocol, suite: Suite) -> SessionConfig {
    let credential = stack.capabilities().credential(suite).into();
    let mut config = SessionConfig::new(role, stack, protocol.family(), credential);
    tls(&mut config).suite = Some(suite);
    config
}

/// The default key, under an identity.
pub fn psk(identity: &str) -> Credential {
    Credential::Psk { identity: identity.to_owned(), key: PSK.to_vec().into() }
}

/// The options of TLS and DTLS.
pub fn tls(config: &mut SessionConfig) -> &mut Tls {
    let Some(tls) = config.family.tls_mut() else { panic!("a session of TLS or DTLS") };
    tls
}

/// The options of DTLS alone.
pub fn dtls(config: &mut SessionConfig) -> &mut Dtls {
    match &mut tls(config).version {
        Version::Dtls12(dtls) | Version::Dtls13(dtls) => dtls,
        version => panic!("{version:?}"),
    }
}

/// Gives the certificates a length.
pub fn set_length(config: &mut SessionConfig, octets: Option<u16>) {
    match &mut config.credential {
        Credential::Certificate { length, .. } => *length = octets,
        credential => panic!("{credential:?}"),
    }
}

/// Gives the RSA keys a length.
pub fn set_rsa_bits(config: &mut SessionConfig, bits: u16) {
    match &mut config.credential {
        Credential::Certificate { rsa_bits, .. } => *rsa_bits = bits,
        credential => panic!("{credential:?}"),
    }
}

/// The parameters that an established session has agreed on.
pub fn negotiated(session: &dyn Session) -> (Protocol, Suite, Option<u8>) {
    match session.negotiated().unwrap() {
        Negotiated::Tls { protocol, suite, connection_id } => (protocol, suite, connection_id),
        other => panic!("{other:?}"),
    }
}

/// Why a session has failed.
pub fn failure(status: &Status) -> &Failure {
    match status {
        Status::Failed(failure) => failure,
        status => panic!("{status:?}"),
    }
}

/// Both ends of a session, to be changed before they are built.
#[derive(Clone)]
pub struct Pair {
    pub client: SessionConfig,
    pub server: SessionConfig,
    pub client_processor: Arc<dyn Processor>,
    pub server_processor: Arc<dyn Processor>,
}

impl Pair {
    pub fn new(stack: Stack, suite: Suite) -> Self {
        Self::of(stack, Protocol::Dtls12, suite)
    }

    /// A session of this protocol and suite.
    pub fn of(stack: Stack, protocol: Protocol, suite: Suite) -> Self {
        let end = |role, seed| SessionConfig { seed: [seed; 32], ..config(role, stack, protocol, suite) };
        Self {
            client: end(Role::Client, 1),
            server: end(Role::Server, 2),
            client_processor: Arc::new(Weightless),
            server_processor: Arc::new(Weightless),
        }
    }

    /// Changes both ends alike.
    pub fn both(mut self, change: impl Fn(&mut SessionConfig)) -> Self {
        change(&mut self.client);
        change(&mut self.server);
        self
    }

    pub fn build(&self) -> (Box<dyn Session>, Box<dyn Session>) {
        let processors = [self.client_processor.clone(), self.server_processor.clone()];
        let [client, server] = build_pair([&self.client, &self.server], processors).unwrap();
        (client, server)
    }

    pub fn run(&self, path: &Path) -> Transcript {
        let (mut client, mut server) = self.build();
        path.run(&mut *client, &mut *server)
    }
}
