//! A client and a server that fit each other.

use std::sync::Arc;

use slowhand_sessions::memory::{Path, Transcript};
use slowhand_sessions::{Processor, Protocol, Role, Session, SessionConfig, Stack, Suite, Weightless, build_pair};

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
        let end = |role, seed| SessionConfig { seed: [seed; 32], ..SessionConfig::new(role, stack, suite) };
        Self {
            client: end(Role::Client, 1),
            server: end(Role::Server, 2),
            client_processor: Arc::new(Weightless),
            server_processor: Arc::new(Weightless),
        }
    }

    /// A session of this protocol and suite.
    pub fn of(stack: Stack, protocol: Protocol, suite: Suite) -> Self {
        Self::new(stack, suite).both(|config| config.protocol = protocol)
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
